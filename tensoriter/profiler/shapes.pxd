"""The dtypes and shapes of a call's inputs, as a number."""
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t

cdef uint32_t number_of_shapes(PyObject* const* inputs, Py_ssize_t count) noexcept
