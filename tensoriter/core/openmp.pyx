"""OpenMP, in an extension of its own: it is loaded when more than one thread is first asked for, and a
build without it works without this module.
"""
from tensoriter.core.threads cimport part_function, set_runners

cdef extern from "parallel.h":
    bint HAS_OPENMP
    bint run_parts(int parts, part_function function, void* context) noexcept nogil
    bint run_tasks(int threads, int tasks, part_function function, void* context) noexcept nogil

if HAS_OPENMP:
    set_runners(run_parts, run_tasks)
