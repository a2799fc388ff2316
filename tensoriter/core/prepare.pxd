"""The second part of the general set-up: it acts on what the first part decided."""
from cpython.object cimport PyObject

from tensoriter.core.arguments cimport Arguments
from tensoriter.core.array_api cimport PyArray_Descr
from tensoriter.core.iterator cimport Iterator

cdef int prepare(Iterator* it, Arguments* arguments) except -1
cdef int write_back(Iterator* it) except -1
cdef PyArray_Descr* result_dtype(Iterator* it, int k) except NULL
cdef void clear(Iterator* it) noexcept
