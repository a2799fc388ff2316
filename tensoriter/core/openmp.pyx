"""OpenMP, in an extension of its own: it is loaded when more than one thread is first asked for, and a
build without it works without this module.
"""
from tensoriter.core.threads cimport part_function, set_runner

cdef extern from "parallel.h":
    bint HAS_OPENMP
    bint run_parts(int parts, part_function function, void* context) noexcept nogil

if HAS_OPENMP:
    set_runner(run_parts)
