"""Op: a ufunc's drop-in, from arguments to path to result."""
from tensoriter.core.dtypes cimport LoopTable
from tensoriter.core.hooks cimport Entry
from tensoriter.core.methods cimport UfuncMethods

cdef class Op(UfuncMethods):
    cdef Entry entry            # where calls begin
    cdef bytes encoded_name
    cdef const char* name       # of the bytes above
    cdef LoopTable scaled       # the loops of x1 + alpha * x2; None where the op has no alpha=
    cdef object __weakref__
    cdef dict __dict__

    cdef int set_entry(self, name, module) except -1
