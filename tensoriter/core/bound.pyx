"""A bound call: an op on operands of known dtypes, shapes and strides.

Everything that depends on these alone is decided once. A call then compares each operand's description
with the one that was bound, and where they differ it goes to the op as any other call.
"""
import numpy as np

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from tensoriter.core.arguments cimport Arguments, call_by, parse_arguments
from tensoriter.core.array_api cimport (
    _import_array, _import_umath, enable_vectorcall, flags_of, is_plain_array, npy_intp, Py_DECREF,
    Py_INCREF, PyArray_BYTES, PyArray_Descr, PyArray_DESCR, PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES,
    PyArrayObject, PyErr_Occurred, PyVectorcall_NARGS, steal,
    vectorcallfunc,
)
from tensoriter.core.dtypes cimport LoopTable, WEAK_INT
from tensoriter.core.for_each cimport for_each_from
from tensoriter.core.fpstatus cimport fp_clear, fp_raises, fp_status
from tensoriter.core.freelist cimport new_array
from tensoriter.core.iterator cimport Iterator, Operand, RELEASE_FROM, set_up
from tensoriter.core.hooks cimport add_entry, Entry, name_number, Path, public_call, remove_entry, say_path
from tensoriter.core.layout cimport extent, is_plain_order
from tensoriter.core.op cimport Op
from tensoriter.core.paths cimport forcing
from tensoriter.core.prepare cimport clear, prepare
from tensoriter.core.short_ways cimport convert_number, Short, short_way

_import_array()
_import_umath()

cdef enum:
    OPERANDS = 3
    KNOWN_NDIM = 8

# What must be the same of an operand for what was decided to hold.
cdef struct Description:
    PyObject* scalar                    # not an array: this very object
    PyArray_Descr* dtype
    int ndim
    int flags
    npy_intp extents[2 * KNOWN_NDIM]    # shape, then strides, as they lie in an array
    npy_intp offset                     # of the first element to be read or written
    npy_intp low                        # the bytes touched, from the array's data on
    npy_intp high


@cython.no_gc_clear     # the operands have to live as long as the pointers to them
cdef class BoundCall:
    """What op.bind(x1, x2, out=None) returns.

    f() computes the op of the bound operands as they are now, f(x1, x2) of others, into `out` where one
    was bound. The result is always that of the op itself; it comes fastest where the operands have the
    dtypes, shapes and strides that were bound. The operands are kept alive.

    >>> import numpy as np, tensoriter
    >>> x = np.arange(3.0)
    >>> f = tensoriter.add.bind(x, x)
    >>> f()
    array([0., 2., 4.])
    >>> f(x, np.ones(3))
    array([1., 2., 3.])
    """
    cdef Entry entry
    cdef object op, x1, x2, out
    cdef PyObject* operands[OPERANDS]   # the three above
    cdef bytes encoded_name
    cdef const char* name               # of the bytes above
    cdef list dtypes                    # kept alive: what is compared is their addresses
    cdef bint fortran                   # the order of a result to be allocated
    cdef bint ready                     # whether calls can be short
    cdef Description known[OPERANDS]
    cdef npy_intp steps[OPERANDS]
    cdef bint single_run                # the loop is called once, on the operands themselves
    cdef Iterator* it

    def __cinit__(self, op, x1, x2, out):
        if not isinstance(op, Op):
            raise TypeError(f"an op is bound, not {op!r}")
        self.op, self.x1, self.x2, self.out = op, x1, x2, out
        self.operands[0] = <PyObject*>x1
        self.operands[1] = <PyObject*>x2
        self.operands[2] = <PyObject*>out
        self.dtypes = []
        self.encoded_name = op.ufunc.__name__.encode()
        self.name = self.encoded_name
        self.it = <Iterator*>malloc(sizeof(Iterator))
        if self.it is NULL:
            raise MemoryError
        self.ready = self.decide()
        self.entry.own = <vectorcallfunc>call_bound
        self.entry.name = name_number(op.ufunc.__name__)
        self.entry.task = name_number(f"tensoriter.{op.ufunc.__name__}.bind()")
        self.entry.path = Path.CONTIGUOUS if self.is_short() else Path.STRIDED
        self.entry.nin = 2
        add_entry(&self.entry)

    def __dealloc__(self):
        remove_entry(&self.entry)
        free(self.it)

    def __call__(self, *operands):
        # For those who look for __call__; a call itself goes through vectorcall.
        return call_by(self.entry.call, self, operands, {})

    def __repr__(self):
        texts = [f"{x.dtype}{list(x.shape)}" if hasattr(x, "shape") else repr(x)
                 for x in (self.x1, self.x2, self.out)]
        out = "" if self.out is None else f", out={texts[2]}"
        return f"<tensoriter.{self.op.ufunc.__name__} bound to {texts[0]}, {texts[1]}{out}>"

    cdef bint is_short(self) noexcept:
        """Whether the op itself goes the contiguous path with these operands."""
        cdef Short way
        cdef PyObject* out
        return short_way(&way, &(<LoopTable>self.op).table, 2, self.operands, 2 if self.out is None else 3,
                         NULL, &out)

    cdef bint decide(self) except -1:
        """Whether calls can be short: ours, and without anything that depends on values or addresses."""
        cdef Arguments arguments
        cdef long double converted[2]
        cdef Operand* operand
        cdef int k
        arguments.nin = 2
        arguments.nout = 1
        if not parse_arguments(&arguments, self.operands, OPERANDS, NULL):
            return False
        if not set_up(self.it, &arguments, <LoopTable>self.op) or self.it.overlapping or self.it.ndim == 0:
            return False
        for k in range(2):
            operand = &self.it.operands[k]
            if operand.cast_whole and operand.ndim > 0:
                return False
            # Of what is cast once, only a Python number keeps its value, and it must not overflow.
            if operand.buffered and operand.ndim == 0 and (
                    operand.code < WEAK_INT
                    or not convert_number(converted, self.operands[k], operand.loop_element)):
                return False
        try:
            prepare(self.it, &arguments)
            return self.describe()
        finally:
            clear(self.it)

    cdef bint describe(self) except -1:
        """Notes what operands and result look like; False where that is beyond the ordinary."""
        cdef int k
        cdef Operand* operand
        cdef Description* known
        self.single_run = self.it.dims_count == 1 and self.it.size > 0
        for k in range(OPERANDS):
            operand = &self.it.operands[k]
            known = &self.known[k]
            self.steps[k] = operand.steps[0]
            self.single_run = self.single_run and not operand.buffered
            known.scalar = NULL
            if operand.array is NULL:
                known.scalar = self.operands[k]
                continue
            if operand.ndim > KNOWN_NDIM or (
                    operand.ndim > 0 and operand.own_strides is not operand.shape + operand.ndim):
                return False
            known.dtype = PyArray_DESCR(operand.array)
            self.dtypes.append(<object><PyObject*>known.dtype)
            known.ndim = operand.ndim
            known.flags = flags_of(operand.array)
            if operand.ndim > 0:
                memcpy(known.extents, operand.shape, 2 * operand.ndim * sizeof(npy_intp))
            known.offset = operand.data - PyArray_BYTES(operand.array)
            operand.data = PyArray_BYTES(operand.array)
            extent(operand, &known.low, &known.high)
        return self.out is not None or is_plain_order(
            known.ndim, known.extents, &known.extents[known.ndim], self.it.loop.steps[2], &self.fortran)


def bind(op, x1, x2, out):
    """A bound call, made as part of a public call of Op.bind."""
    with public_call("tensoriter.Op.bind"):
        return BoundCall(op, x1, x2, out)


cdef inline bint has_changed(Description* known, PyObject* value) noexcept:
    """Whether this operand is another than was bound, in anything but its values and its place."""
    cdef PyArrayObject* array = <PyArrayObject*>value
    cdef npy_intp* extents
    cdef int k
    if known.scalar is not NULL:
        return value is not known.scalar
    if (not is_plain_array(value) or PyArray_DESCR(array) is not known.dtype
            or flags_of(array) != known.flags or PyArray_NDIM(array) != known.ndim):
        return True
    extents = PyArray_DIMS(array)
    if known.ndim > 0 and PyArray_STRIDES(array) is not extents + known.ndim:
        return True
    for k in range(2 * known.ndim):     # a call of memcmp would cost more
        if extents[k] != known.extents[k]:
            return True
    return False


cdef inline bint lies_as_bound(BoundCall self, int k, PyObject* value) noexcept:
    """Whether input k lies to the bound output as it did at the binding, or nowhere near it."""
    cdef Description* known = &self.known[k]
    cdef Description* target = &self.known[2]
    cdef char* out = PyArray_BYTES(<PyArrayObject*>self.operands[2])
    if known.scalar is not NULL:
        return True
    cdef char* data = PyArray_BYTES(<PyArrayObject*>value)
    return (data - out == self.it.operands[k].data - self.it.operands[2].data
            or data + known.high <= out + target.low or out + target.high <= data + known.low)


cdef inline char* first_element(BoundCall self, int k, PyObject* value) noexcept:
    if self.known[k].scalar is not NULL:
        return self.it.operands[k].data
    return PyArray_BYTES(<PyArrayObject*>value) + self.known[k].offset


cdef object call_bound(PyObject* bound, PyObject* const* args, size_t count, PyObject* kwnames):
    cdef Py_ssize_t given = PyVectorcall_NARGS(count)
    cdef PyObject* const* inputs = args
    if kwnames is not NULL or (given != 0 and given != 2):
        raise TypeError(f"a bound call takes its two operands or none, not {given} and no keywords")
    if given == 0:
        inputs = (<BoundCall>bound).operands
    return compute(<BoundCall>bound, inputs)


cdef inline object compute(BoundCall self, PyObject* const* inputs):
    cdef PyObject* result = self.operands[2]
    cdef bint allocates = self.out is None
    if (not self.ready or forcing != 0 or has_changed(&self.known[0], inputs[0])
            or has_changed(&self.known[1], inputs[1])):
        return call_op(self, inputs)
    if allocates:
        result = new_array(self.known[2].dtype, self.known[2].ndim, self.known[2].extents, self.fortran)
        if result is NULL:
            return steal(NULL)
    elif (has_changed(&self.known[2], result) or not lies_as_bound(self, 0, inputs[0])
            or not lies_as_bound(self, 1, inputs[1])):
        return call_op(self, inputs)
    else:
        Py_INCREF(result)
    if run_raises(self, inputs, result):
        Py_DECREF(result)
        return steal(NULL)
    return steal(result)


cdef inline bint run_raises(BoundCall self, PyObject* const* inputs, PyObject* result) noexcept:
    """Runs the loop; whether errstate made an exception of what it did."""
    cdef Iterator* it = self.it
    cdef char* pointers[OPERANDS]
    pointers[0] = first_element(self, 0, inputs[0])
    pointers[1] = first_element(self, 1, inputs[1])
    pointers[2] = PyArray_BYTES(<PyArrayObject*>result) + self.known[2].offset
    if it.floating:
        fp_clear(it.extended)
    if self.single_run and it.size < RELEASE_FROM:
        it.loop.function(pointers, &it.size, self.steps, it.loop.data)
    elif it.size >= RELEASE_FROM:
        with nogil:
            for_each_from(it, pointers, it.loop.data)
    else:
        for_each_from(it, pointers, it.loop.data)
    if it.loop.borrowed and PyErr_Occurred() is not NULL:
        return True
    return (it.floating and not it.loop.silent and fp_status(it.extended)
            and fp_raises(fp_status(it.extended), self.name, it.extended))


cdef object call_op(BoundCall self, PyObject* const* inputs):
    """The way of any other call: by the op's own function, since this one is what is recorded."""
    cdef PyObject* values[OPERANDS]
    values[0] = inputs[0]
    values[1] = inputs[1]
    values[2] = self.operands[2]
    say_path(Path.CONTIGUOUS)
    return steal((<Op>self.op).entry.own(<PyObject*>self.op, values, 2 if self.out is None else 3, NULL))


def _enable_vectorcall():
    cdef BoundCall bound = BoundCall(Op(np.add), None, None, None)
    enable_vectorcall(<PyTypeObject*><PyObject*>BoundCall, <char*>&bound.entry - <char*><PyObject*>bound)


_enable_vectorcall()
