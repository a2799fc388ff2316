"""Op: a ufunc's drop-in, from arguments to path to result."""
from tensoriter.core.array_api cimport vectorcallfunc
from tensoriter.core.dtypes cimport LoopTable

cdef class Op(LoopTable):
    cdef vectorcallfunc vectorcall
    cdef bytes encoded_name
    cdef const char* name       # of the bytes above
    cdef LoopTable scaled       # the loops of x1 + alpha * x2; None where the op has no alpha=
    cdef object __weakref__
    cdef dict __dict__
