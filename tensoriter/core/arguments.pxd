"""What a call was given, taken apart without a Python object."""
from cpython.object cimport PyObject

from tensoriter.core.array_api cimport NPY_CASTING, NPY_ORDER, vectorcallfunc
from tensoriter.core.dtypes cimport MAX_OPERANDS

# Why a call left a shorter path: the sentences stand in tensoriter/explain.py.
cpdef enum Reason:
    NO_REASON = 0
    # Reasons for NumPy's path that the arguments alone show.
    POSITIONAL_COUNT
    KEYWORD
    OUT_KIND
    WHERE_KIND
    WHERE_WITHOUT_OUT
    DTYPE_KIND
    OPTION_VALUE
    # Reasons for NumPy's path that the operands show.
    OPERAND_TYPE
    OPERAND_DTYPE
    NO_LOOP
    SCALAR_RANGE
    CASTING_RULE
    CAST_LEFT_TO_NUMPY
    MASKED_CAST
    MASKED_COMPLEX
    BROADCAST
    OUT_SHAPE
    OUT_READ_ONLY
    OUT_SELF_OVERLAP
    TOO_LARGE
    FORCED

cdef struct Arguments:
    int nin
    int nout
    PyObject* inputs[MAX_OPERANDS]
    PyObject* outputs[MAX_OPERANDS]     # NULL: to be allocated
    PyObject* where                     # NULL: every element
    PyObject* alpha                     # NULL: none
    NPY_CASTING casting
    NPY_ORDER order
    int dtype                           # the type number that dtype= asks for, or -1
    Reason reason
    int reason_operand                  # which operand the reason speaks of

cdef PyObject* OUT_KEYWORD      # the interned name, as calls bring it

cdef bint parse_arguments(Arguments* arguments, PyObject* const* args, Py_ssize_t count,
                          PyObject* kwnames) noexcept
cdef object call_by(vectorcallfunc entry, callee, tuple operands, dict keywords)
cdef tuple taken_apart(PyObject* const* args, size_t count, PyObject* kwnames)
