"""An op's methods: reduce, accumulate, outer, at and reduceat, which are its ufunc's.

They are objects of their own, made once for each op, so that a profiler sees their calls.
"""
from cpython.object cimport PyObject, PyTypeObject

from tensoriter.core.arguments cimport call_by
from tensoriter.core.array_api cimport enable_vectorcall, PyObject_Vectorcall, vectorcallfunc
from tensoriter.core.dtypes cimport LoopTable
from tensoriter.core.hooks cimport add_entry, Entry, name_number, Path, remove_entry

cdef tuple METHODS = ("reduce", "accumulate", "outer", "at", "reduceat")


cdef class Method:
    """A method of an op's ufunc. Its attributes are those of NumPy's method."""
    cdef Entry entry
    cdef object function    # NumPy's

    def __cinit__(self, function):
        self.function = function
        ufunc = function.__self__
        self.entry.name = name_number(f"{ufunc.__name__}.{function.__name__}")
        self.entry.task = name_number(f"tensoriter.{ufunc.__name__}.{function.__name__}")
        self.entry.own = <vectorcallfunc>call_method
        self.entry.path = Path.NUMPYS
        self.entry.nin = 1
        add_entry(&self.entry)

    def __dealloc__(self):
        remove_entry(&self.entry)

    def __call__(self, *args, **kwargs):
        # For those who look for __call__; a call itself goes through vectorcall.
        return call_by(self.entry.call, self, args, kwargs)

    def __getattr__(self, name):
        return getattr(self.function, name)

    @property
    def __doc__(self):
        return self.function.__doc__

    def __repr__(self):
        return f"<method {self.function.__name__!r} of tensoriter.{self.function.__self__.__name__}>"

    def __reduce__(self):
        from tensoriter.core.op import op_of_any
        return method_of, (op_of_any, self.function.__self__, self.function.__name__)


def method_of(find_op, ufunc, name):
    """What a pickled method comes back as."""
    return getattr(find_op(ufunc), name)


cdef object call_method(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames):
    return PyObject_Vectorcall(<PyObject*>(<Method>self).function, args, count, kwnames)


cdef class UfuncMethods(LoopTable):
    """What an op has its methods from."""

    cdef object method(self, int number):
        if self.methods is None:
            self.methods = [None] * len(METHODS)
        if self.methods[number] is None:
            self.methods[number] = Method(getattr(self.ufunc, METHODS[number]))
        return self.methods[number]

    @property
    def reduce(self):
        return self.method(0)

    @property
    def accumulate(self):
        return self.method(1)

    @property
    def outer(self):
        return self.method(2)

    @property
    def at(self):
        return self.method(3)

    @property
    def reduceat(self):
        return self.method(4)


def _enable_vectorcall():
    import numpy as np
    cdef Method method = Method(np.add.reduce)
    enable_vectorcall(<PyTypeObject*><PyObject*>Method, <char*>&method.entry - <char*><PyObject*>method)


_enable_vectorcall()
