"""Threads: how many compute, and how work is handed to them."""
from tensoriter.core.array_api cimport npy_intp

cdef enum:
    # Elements, and bytes of output, that a thread has to have to itself: starting and ending a parallel
    # region costs 5 to 20 microseconds.
    GRAIN = 32768
    GRAIN_BYTES = 131072

ctypedef void (*part_function)(int part, bint is_caller, void* context) noexcept nogil
# Returns whether it was faster than one thread.
ctypedef bint (*runner)(int parts, part_function function, void* context) noexcept nogil

cdef void set_runner(runner function) noexcept
cdef int parts_for(npy_intp size, int item_size) noexcept nogil
cdef bint is_resting(npy_intp size) noexcept nogil
cdef void run_side_by_side(int parts, npy_intp size, part_function function, void* context) noexcept nogil
