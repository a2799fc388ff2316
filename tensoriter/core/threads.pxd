"""Threads: how many compute, and how work is handed to them."""
from tensoriter.core.array_api cimport npy_intp

cdef enum:
    # Elements, and bytes of output, that a thread has to have to itself: starting and ending a parallel
    # region costs 5 to 20 microseconds.
    GRAIN = 32768
    GRAIN_BYTES = 131072

cdef extern from "experience.h":
    # Zeros to begin with.
    ctypedef struct Experience:
        int losses
        int rests
        int rest

ctypedef void (*part_function)(int part, bint is_caller, void* context) noexcept nogil
# Both return whether it was faster than one thread.
ctypedef bint (*part_runner)(int parts, part_function function, void* context) noexcept nogil
ctypedef bint (*task_runner)(int threads, int tasks, part_function function, void* context) noexcept nogil

cdef void set_runners(part_runner parts, task_runner tasks) noexcept
cdef void run_tasks_side_by_side(Experience* experience, int tasks, part_function function,
                                 void* context) noexcept nogil
cdef int parts_for(npy_intp size, int item_size) noexcept nogil
cdef bint is_resting(npy_intp size) noexcept nogil
cdef void run_side_by_side(int parts, npy_intp size, part_function function, void* context) noexcept nogil
