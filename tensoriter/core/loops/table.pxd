"""The C loops, seen from Cython. The functions are called through the pointers that this module hands out."""
from tensoriter.core.array_api cimport npy_intp

cdef extern from "loops/loops.h":
    ctypedef void (*loop_function)(char** args, const npy_intp* dimensions, const npy_intp* steps,
                                   void* data) noexcept nogil
    ctypedef void (*cast_function)(const char* source, npy_intp source_step, char* target,
                                   npy_intp target_step, npy_intp n) noexcept nogil
    cdef enum element_type:
        BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64
        FLOAT16, FLOAT32, FLOAT64, LONGDOUBLE, COMPLEX64, COMPLEX128, CLONGDOUBLE
        ELEMENT_TYPES

cdef loop_function own_loop(const char* op, int element) noexcept
cdef loop_function checked_loop(const char* op, int element) noexcept
cdef cast_function own_cast(int source, int target) noexcept nogil
cdef void copy_swapped(const char* source, npy_intp source_step, char* target, npy_intp target_step,
                       npy_intp n, int item_size, int unit_size) noexcept nogil
