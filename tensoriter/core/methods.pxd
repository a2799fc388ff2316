"""An op's methods: reduce, accumulate, outer, at and reduceat."""
from tensoriter.core.dtypes cimport LoopTable

cdef class UfuncMethods(LoopTable):
    cdef list methods     # as they were first asked for
    cdef object method(self, int number)
