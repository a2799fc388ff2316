"""The second part of the general set-up: it acts on what the first part decided."""
from cpython.object cimport PyObject

from tensoriter.core.arguments cimport Arguments
from tensoriter.core.array_api cimport npy_intp, NPY_ORDER, PyArray_Descr
from tensoriter.core.iterator cimport Iterator

cdef int prepare(Iterator* it, Arguments* arguments) except -1
cdef bint lay_out(Iterator* it, int k, NPY_ORDER order, npy_intp* shape, npy_intp* strides,
                  bint* fortran) noexcept
cdef void set_single_steps(Iterator* it, NPY_ORDER order) noexcept
cdef int write_back(Iterator* it) except -1
cdef PyArray_Descr* result_dtype(Iterator* it, int k) except NULL
cdef void clear(Iterator* it) noexcept
