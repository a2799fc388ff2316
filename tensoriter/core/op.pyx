"""Op: a ufunc's drop-in, from arguments to path to result.

A call goes the shortest path that it can: contiguous, strided, NumPy's. Which one is decided before
anything is written.
"""
import numpy as np

from cpython.object cimport PyObject, PyObject_GenericSetAttr, PyTypeObject

from tensoriter.core.alpha cimport set_alpha
from tensoriter.core.arguments cimport Arguments, call_by, parse_arguments, taken_apart
from tensoriter.core.array_api cimport (
    _import_array, _import_umath, enable_vectorcall, flags_of, is_plain_array, NPY_ARRAY_C_CONTIGUOUS,
    NPY_ARRAY_F_CONTIGUOUS, npy_intp, Py_DECREF, Py_XDECREF, PyArray_BYTES, PyArray_Descr,
    PyArray_DESCR, PyArray_DIMS, PyArray_NDIM, PyArray_Scalar, PyArrayObject, PyErr_Occurred,
    PyObject_Vectorcall, PyVectorcall_NARGS, steal, vectorcallfunc,
)
from tensoriter.core.checked cimport (
    begin_asking, Check, check_after, check_before, end_asking, is_checking, watch,
)
from tensoriter.core.dtypes cimport (
    dtype_of_code, is_integer_element, Loop, LoopTable, LoopTableState, MAX_OPERANDS,
)
from tensoriter.core.for_each cimport for_each
from tensoriter.core.fpstatus cimport fp_clear, fp_raises, fp_report, fp_status
from tensoriter.core.freelist cimport new_array
from tensoriter.core.hooks cimport add_entry, name_number, Path, remove_entry, say_path
from tensoriter.core.iterator cimport (
    contiguous_set_up, Iterator, Operand, RELEASE_FROM, set_up, set_up_line,
)
from tensoriter.core.methods cimport UfuncMethods
from tensoriter.core.paths cimport forcing, is_forced
from tensoriter.core.pairs cimport pair_set_up
from tensoriter.core.prepare cimport clear, prepare, result_dtype, write_back
from tensoriter.core.short_ways cimport dtype_of_result, new_scalar, Short, short_way
from tensoriter.core.tiles cimport plan_tiles

from tensoriter.core.borrowing import inner_ufunc, module_of, why_not
from tensoriter.core.checked import put_otherwise, refuse_if_asked
from tensoriter.core.hooks import public

_import_array()
_import_umath()

cdef frozenset COMPARISONS = frozenset(
    {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal})


# ---------------------------------------------------------------- the class

cdef class Op(UfuncMethods):
    """An element-wise operation with the signature and the answers of its ufunc.

    Attributes and methods that stand not here are the ufunc's: nin, types, resolve_dtypes and so on; reduce,
    accumulate, outer, at and reduceat call the ufunc's. tensoriter has an op for each of NumPy's ufuncs;
    `Op.from_ufunc` makes one of any other ufunc, `Op.from_loops` one of C functions.

    >>> import numpy as np, tensoriter
    >>> tensoriter.add(np.array([1.0, 2.0]), 1)
    array([2., 3.])
    >>> tensoriter.add.reduce([1, 2, 3])
    np.int64(6)
    """

    def __init__(self, ufunc, *, bint alpha=False):
        self.take(ufunc)
        name = ufunc.__name__
        self.encoded_name = name.encode()
        self.name = self.encoded_name
        is_numpys = getattr(np, name, None) is ufunc
        self.table.is_numpys = is_numpys
        if why_not(ufunc, MAX_OPERANDS - 1) == "":      # one place is the mask's
            self.add_loops(self.name if is_numpys else NULL, True)
        if alpha:
            self.scaled = LoopTable(ufunc)
            scaled_name = self.encoded_name + b"_scaled"
            self.scaled.add_loops(scaled_name, False)
        self.set_entry(name, "tensoriter" if is_numpys else module_of(ufunc))

    cdef int set_entry(self, name, module) except -1:
        """Says where calls begin, and under which names."""
        remove_entry(&self.entry)
        self.entry.own = entry_of(&self.table)
        if self.ufunc is np.maximum or self.ufunc is np.minimum:
            self.entry.own = <vectorcallfunc>call_extremum
        self.entry.name = name_number(name)
        self.entry.task = name_number(f"{module}.{name}")
        self.entry.path = Path.CONTIGUOUS
        self.entry.nin = self.table.nin
        add_entry(&self.entry)
        for attribute, value in (("__name__", name), ("__qualname__", name), ("__module__", module)):
            PyObject_GenericSetAttr(self, attribute, value)
        return 0

    def __dealloc__(self):
        remove_entry(&self.entry)

    @staticmethod
    @public
    def from_ufunc(ufunc, *, unsupported="refuse"):
        """An op that answers as this ufunc does, with its own loops: NumPy's, SciPy's, numba.vectorize's.

        Loops for numbers and bools can be taken, those for other dtypes (objects, datetimes, strings) stay
        NumPy's. A ufunc without any, a generalized one or one of more than 7 operands is refused
        (TypeError), or, with unsupported='numpy', becomes an op whose every call goes to the ufunc.

        >>> import numpy as np, tensoriter
        >>> tensoriter.Op.from_ufunc(np.exp) is tensoriter.exp
        True
        >>> tensoriter.Op.from_ufunc(np.frompyfunc(str, 1, 1))
        Traceback (most recent call last):
            ...
        TypeError: the loops of <ufunc 'str (vectorized)'> cannot be taken: it has none for numbers or bools
        """
        from tensoriter.ops import ops
        ufunc = inner_ufunc(ufunc)
        if unsupported not in ("refuse", "numpy"):
            raise ValueError(f"unsupported= takes 'refuse' or 'numpy', not {unsupported!r}")
        if unsupported == "refuse":
            reason = why_not(ufunc, MAX_OPERANDS - 1)
            if reason:
                raise TypeError(f"the loops of {ufunc!r} cannot be taken: {reason}")
        return ops.get(ufunc) or Op(ufunc)

    @staticmethod
    @public
    def from_loops(name, loops, *, nin=None, doc=""):
        """An op of C functions: `loops` has a pointer for each tuple of types, inputs first.

        A pointer is an address, a ctypes function pointer or a numba.cfunc. The function has the signature
        of NumPy's loops, void (char **args, npy_intp const *dimensions, npy_intp const *steps, void *data):
        for dimensions[0] elements, operand k's i-th lies at args[k] + i * steps[k] bytes. Other threads may
        run meanwhile. Its data is NULL. Types are those of `numpy.dtype`, or one string as in
        `numpy.ufunc.types`, such as 'dd->d'; `nin` inputs (default: all but the last).

        Operands of other types are cast to those of the first loop, in the order given, that takes them by a
        safe cast. ValueError for types that are not numeric or do not go together, TypeError for what is not
        a pointer.

        >>> import ctypes, numpy as np
        >>> pointers = ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_ssize_t)
        >>> @ctypes.CFUNCTYPE(None, *pointers, pointers[1], ctypes.c_void_p)
        ... def twice(args, dimensions, steps, data):
        ...     places = ctypes.cast(args, ctypes.POINTER(ctypes.c_ssize_t))
        ...     for i in range(dimensions[0]):
        ...         x, out = (ctypes.c_double.from_address(places[k] + i * steps[k]) for k in range(2))
        ...         out.value = 2 * x.value
        >>> double = Op.from_loops("double", {("d", "d"): twice})
        >>> double(np.arange(4))
        array([0., 2., 4., 6.])
        """
        from tensoriter.core.from_loops import ufunc_of_loops
        return Op(ufunc_of_loops(name, loops, nin, doc))

    def __call__(self, *args, **kwargs):
        # What Op.__call__(op, ...) reaches; a call of the op itself goes through vectorcall.
        return call_by(self.entry.call, self, args, kwargs)

    def bind(self, x1, x2, out=None):
        """A bound call f of this op: f() repeats it on these operands, f(y1, y2) on others, with what
        depends on dtypes, shapes and strides alone decided once. Ops of two inputs and one output only
        (TypeError).

        >>> import numpy as np, tensoriter
        >>> total, x = np.zeros(3), np.ones(3)
        >>> step = tensoriter.add.bind(total, x, out=total)
        >>> for _ in range(4):
        ...     _ = step()
        >>> total
        array([4., 4., 4.])
        """
        from tensoriter.core.bound import bind
        if self.table.nin != 2 or self.table.nout != 1 or self.ufunc.signature is not None:
            raise TypeError(f"bind is for element-wise ops of two inputs and one output, not for {self!r}")
        return bind(self, x1, x2, out[0] if type(out) is tuple and len(out) == 1 else out)

    def __getattr__(self, name):
        return getattr(self.ufunc, name)

    def __setattr__(self, name, value):
        # As the ufunc's, an op's attributes are what they are; only its docstring may be replaced.
        if name != "__doc__" and (name in ("__module__", "ufunc") or hasattr(self.ufunc, name)):
            raise AttributeError(f"attribute {name!r} of tensoriter.{self.__name__} is not writable")
        PyObject_GenericSetAttr(self, name, value)

    def __delattr__(self, name):
        # A docstring that was replaced comes back, as a ufunc's does.
        if name != "__doc__":
            raise AttributeError(f"attribute {name!r} of tensoriter.{self.__name__} cannot be deleted")
        vars(self).pop(name, None)

    @property
    def __doc__(self):
        # NumPy takes 0.1 ms to put a ufunc's together, so that it is asked for when it is wanted.
        if "__doc__" in vars(self):
            return vars(self)["__doc__"]
        from tensoriter.core.signatures import document
        return document(self.ufunc, self.scaled is not None, self.checkable)

    @__doc__.setter
    def __doc__(self, value):
        vars(self)["__doc__"] = value

    @property
    def __signature__(self):
        from tensoriter.core.signatures import signature_of
        return signature_of(self.ufunc, self.scaled is not None, self.checkable)

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self.ufunc)})

    def __repr__(self):
        return f"<tensoriter.Op {self.__name__!r}>"

    def __reduce__(self):
        from tensoriter.ops import ops
        if ops.get(self.ufunc) is self:
            return self.__name__
        return op_of_any, (self.ufunc,)


def op_of_any(ufunc):
    """What a pickled op of a ufunc that is not NumPy's comes back as."""
    return Op.from_ufunc(ufunc, unsupported="numpy")


def _enable_vectorcall():
    """Makes instances of Op callable through vectorcall (PEP 590), which Cython has no syntax for."""
    cdef Op op = Op.__new__(Op)
    enable_vectorcall(<PyTypeObject*><PyObject*>Op, <char*>&op.entry - <char*><PyObject*>op)


_enable_vectorcall()


# ---------------------------------------------------------------- the way of a call

cdef vectorcallfunc entry_of(LoopTableState* table) noexcept:
    """Where calls of an op with these loops begin."""
    if table.count == 0:
        return <vectorcallfunc>call_numpy
    if table.nout == 1 and table.nin == 2:
        return <vectorcallfunc>call_binary
    if table.nout == 1 and table.nin == 1:
        return <vectorcallfunc>call_unary
    return <vectorcallfunc>call_any


cdef object call_binary(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames):
    """Two inputs. What two contiguous arrays need is tested first and without detours."""
    cdef Loop* loop
    cdef npy_intp size
    if (kwnames is NULL and PyVectorcall_NARGS(count) == 2 and forcing == 0
            and is_plain_array(args[0]) and is_plain_array(args[1])):
        loop = contiguous_set_up(&(<Op>self).table, <PyArrayObject*>args[0], <PyArrayObject*>args[1], &size)
        if loop is NULL:
            return call_pair(self, args, count)
        if PyArray_NDIM(<PyArrayObject*>args[0]) > 0:
            return call_contiguous(self, loop, <PyArrayObject*>args[0], <PyArrayObject*>args[1], size)
    return call_short(self, args, count, kwnames)


cdef object call_extremum(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames):
    """maximum and minimum: NumPy warns of a third argument without a name."""
    if PyVectorcall_NARGS(count) > 2:
        return call_numpy(self, args, count, kwnames)
    return call_binary(self, args, count, kwnames)


cdef object call_unary(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames):
    """One input: an array from end to end, or a scalar, or whatever needs the general set-up."""
    cdef Short way
    cdef PyObject* out
    if not short_way(&way, &(<Op>self).table, 1, args, PyVectorcall_NARGS(count), kwnames, &out):
        return call_general(<Op>self, args, count, kwnames)
    if forcing != 0:
        return call_in_block(self, &way, out, args, count, kwnames)
    return run_short(self, &way, 1, out)


cdef object call_any(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames):
    """Three inputs or two outputs and more."""
    return call_general(<Op>self, args, count, kwnames)


cdef object call_numpy(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames):
    """An op without loops of numbers: every call is the ufunc's."""
    say_path(Path.NUMPYS)
    return PyObject_Vectorcall(<PyObject*>(<Op>self).ufunc, args, count, kwnames)


cdef inline object call_contiguous(PyObject* self, Loop* loop, PyArrayObject* x1, PyArrayObject* x2,
                                   npy_intp size):
    """Both operands from end to end, into a new array laid out as they are."""
    cdef int layout = flags_of(x1) & flags_of(x2) & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS)
    cdef char* pointers[3]
    cdef PyObject* result = new_array(dtype_of_result(loop, 2, PyArray_DESCR(x1)), PyArray_NDIM(x1),
                                      PyArray_DIMS(x1), layout == NPY_ARRAY_F_CONTIGUOUS)
    if result is NULL:
        return steal(NULL)
    pointers[0] = PyArray_BYTES(x1)
    pointers[1] = PyArray_BYTES(x2)
    pointers[2] = PyArray_BYTES(<PyArrayObject*>result)
    if run_fresh_raises(self, loop, pointers, size, loop.steps):
        Py_DECREF(result)
        return steal(NULL)
    return steal(result)


cdef inline void run_loop(LoopTableState* table, Loop* loop, char** pointers, npy_intp size,
                          npy_intp* steps) noexcept:
    if size >= RELEASE_FROM:
        with nogil:
            run_line(table, loop, pointers, size, steps)
    else:
        loop.function(pointers, &size, steps, loop.data)


cdef void run_line(LoopTableState* table, Loop* loop, char** pointers, npy_intp size,
                   npy_intp* steps) noexcept nogil:
    """A run worth an iterator: the output may be streamed, and threads may share the work."""
    cdef Iterator it
    set_up_line(&it, table, loop, pointers, size, steps)
    plan_tiles(&it)
    for_each(&it, loop.data)


cdef inline bint run_raises(PyObject* self, Loop* loop, char** pointers, npy_intp size,
                            npy_intp* steps) noexcept:
    """Runs the loop once; whether it raised an exception, or errstate made one of what it did."""
    if loop.floating:
        fp_clear(loop.extended)
    if loop.borrowed and size == 0:
        return False
    run_loop(&(<Op>self).table, loop, pointers, size, steps)
    if loop.borrowed and PyErr_Occurred() is not NULL:
        return True
    return (loop.floating and fp_status(loop.extended)
            and fp_raises(fp_status(loop.extended), (<Op>self).name, loop.extended))


cdef inline bint run_fresh_raises(PyObject* self, Loop* loop, char** pointers, npy_intp size,
                                  npy_intp* steps) noexcept:
    """The same into an output that no input shares: our own loops can compute it again. So a look at the
    flags before the loop (about 4 ns) is saved, and made up for when one is set after it."""
    if loop.borrowed:
        return run_raises(self, loop, pointers, size, steps)
    run_loop(&(<Op>self).table, loop, pointers, size, steps)
    return (loop.floating and fp_status(loop.extended)
            and run_raises(self, loop, pointers, size, steps))


cdef object call_pair(PyObject* self, PyObject* const* args, size_t count):
    """Two plain arrays that are not contiguous alike: up to two dimensions are set up in one go."""
    cdef Iterator it
    cdef bint fortran
    cdef npy_intp shape[2]
    cdef PyArray_Descr* dtype
    if PyArray_NDIM(<PyArrayObject*>args[0]) == 0 or PyArray_NDIM(<PyArrayObject*>args[1]) == 0:
        return call_short(self, args, count, NULL)
    if not pair_set_up(&it, &(<Op>self).table, <PyArrayObject*>args[0], <PyArrayObject*>args[1], &fortran):
        return call_general(<Op>self, args, count, NULL)
    say_path(Path.STRIDED)
    if it.loop.borrowed:
        fp_clear(it.extended)
    shape[0] = it.shape[it.ndim - 1]
    shape[1] = it.shape[0]
    dtype = result_dtype(&it, 2)
    cdef PyObject* array = new_array(dtype, it.ndim, shape, fortran)
    Py_DECREF(<PyObject*>dtype)
    result = steal(array)
    it.operands[2].data = PyArray_BYTES(<PyArrayObject*>array)
    if it.size >= RELEASE_FROM:
        with nogil:
            run_pair(&it)
    else:
        run_pair(&it)
    if it.loop.borrowed:
        return result if not pair_raises(self, &it) else steal(NULL)
    if it.floating and fp_status(it.extended):
        # Whose flags these are (the op's, a cast's, or somebody's before the call) the general set-up
        # finds out: nothing shares the new output, so that it may be computed again.
        return call_general(<Op>self, args, count, NULL)
    return result


cdef bint pair_raises(PyObject* self, Iterator* it) noexcept:
    """Whether a borrowed loop raised: it ran with clean flags and nothing was cast (see pair_set_up)."""
    if PyErr_Occurred() is not NULL:
        return True
    cdef int status = fp_status(it.extended)
    return status != 0 and fp_raises(status, (<Op>self).name, it.extended)


cdef inline void run_pair(Iterator* it) noexcept nogil:
    """for_each, and the shortest way where that is a single run."""
    cdef char* pointers[3]
    cdef npy_intp steps[3]
    cdef int k
    if (it.dims_count > 1 or it.size >= RELEASE_FROM or it.operands[0].buffered or it.operands[1].buffered):
        plan_tiles(it)
        for_each(it, it.loop.data)
        return
    for k in range(3):
        pointers[k] = it.operands[k].data
        steps[k] = it.operands[k].steps[0]
    it.loop.function(pointers, &it.size, steps, it.loop.data)


cdef object call_short(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames):
    """The other short ways, of contiguous arrays and scalars: (x1, x2), (x1, x2, out), (x1, x2, out=out)."""
    cdef Short way
    cdef PyObject* out
    if not short_way(&way, &(<Op>self).table, 2, args, PyVectorcall_NARGS(count), kwnames, &out):
        return call_general(<Op>self, args, count, kwnames)
    if forcing != 0:
        return call_in_block(self, &way, out, args, count, kwnames)
    return run_short(self, &way, 2, out)


cdef inline object run_short(PyObject* self, Short* way, int nin, PyObject* out):
    if out is NULL:
        return short_result(self, way, nin)
    if run_raises(self, way.loop, way.pointers, way.size, way.steps):
        return steal(NULL)
    return <object>out


cdef inline object short_result(PyObject* self, Short* way, int nin):
    """The result of a short way: a new array laid out as the operands are, or, of 0-d ones, a scalar."""
    cdef int layout = way.layout & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS)
    cdef PyObject* result = NULL
    way.pointers[nin] = <char*>way.scalar
    if way.like is not NULL and PyArray_NDIM(way.like) > 0:
        result = new_array(way.dtype, PyArray_NDIM(way.like), PyArray_DIMS(way.like),
                           layout == NPY_ARRAY_F_CONTIGUOUS)
        if result is NULL:
            return steal(NULL)
        way.pointers[nin] = PyArray_BYTES(<PyArrayObject*>result)
    if run_fresh_raises(self, way.loop, way.pointers, way.size, way.steps):
        Py_XDECREF(result)
        return steal(NULL)
    if result is not NULL:
        return steal(result)
    return new_scalar(way.loop.types[nin], way.scalar, dtype_of_code[way.loop.types[nin]])


cdef object call_general(Op op, PyObject* const* args, size_t count, PyObject* kwnames):
    cdef Arguments arguments
    cdef Iterator it
    arguments.nin = op.table.nin
    arguments.nout = op.table.nout
    cdef bint understood = parse_arguments(&arguments, args, PyVectorcall_NARGS(count), kwnames)
    if not understood and kwnames is not NULL and "checked" in <tuple><object>kwnames:
        return call_asked(op, args, count, kwnames)
    cdef bint checking = forcing != 0 and is_checking()
    if kwnames is not NULL and "alpha" in <tuple><object>kwnames:
        return call_scaled(op, &it, &arguments, understood, checking)
    if understood and not is_forced("numpy") and set_up(&it, &arguments, op):
        if checking:
            return run_checked(op, &it, &arguments)
        return run(op, &it, &arguments, it.loop.data)
    if checking:
        operands, keywords = taken_apart(args, count, kwnames)
        if put_otherwise(operands, keywords, arguments.nin, arguments.reason):
            return call_by(op.entry.own, op, tuple(operands), keywords)
        refuse_if_asked(op, arguments.reason, arguments.reason_operand)
    say_path(Path.NUMPYS)
    if kwnames is not NULL and op.ufunc in COMPARISONS and "where" in <tuple><object>kwnames:
        from tensoriter.core.masked_comparison import compare
        operands, keywords = taken_apart(args, count, kwnames)
        return compare(op.ufunc, tuple(operands), keywords)
    return PyObject_Vectorcall(<PyObject*>op.ufunc, args, count, kwnames)


cdef object run(Op op, Iterator* it, Arguments* arguments, void* data):
    """Everything after the decision."""
    say_path(Path.STRIDED)
    try:
        compute(op, it, arguments, data)
        return hand_over(it, arguments)
    finally:
        clear(it)


cdef inline int compute(Op op, Iterator* it, Arguments* arguments, void* data) except -1:
    prepare(it, arguments)
    if it.floating:
        fp_clear(it.extended)
    if it.size >= RELEASE_FROM:
        with nogil:
            for_each(it, data)
    else:
        for_each(it, data)
    if it.loop.borrowed:
        check_error()
    if it.floating and not it.loop.silent:
        status = fp_status(it.extended)
        if status:
            fp_report(status, op.name, it.extended)
    return 0


cdef inline object hand_over(Iterator* it, Arguments* arguments):
    if it.overlapping:
        write_back(it)
    if it.nout == 1:
        return result_of(it, arguments, 0)
    return tuple([result_of(it, arguments, k) for k in range(it.nout)])


cdef inline int check_error() except? -1:
    """Lets the exception that a loop has set out."""
    return -1 if PyErr_Occurred() is not NULL else 0


cdef object result_of(Iterator* it, Arguments* arguments, int k):
    """The given output itself, the new array, or, without dimensions, a scalar."""
    cdef Operand* operand = &it.operands[it.nin + k]
    if operand.array is not NULL:
        return <object><PyObject*>operand.array
    cdef PyArray_Descr* dtype = result_dtype(it, it.nin + k)
    scalar = PyArray_Scalar(operand.data, dtype, NULL)
    Py_DECREF(<PyObject*>dtype)
    return scalar


# ---------------------------------------------------------------- checked integers

cdef object call_in_block(PyObject* self, Short* way, PyObject* out, PyObject* const* args, size_t count,
                          PyObject* kwnames):
    """A call that could go a short way, while blocks are open. Checked ones may where the output is new: if
    that overflows, the general way computes it again and says where."""
    cdef Check check
    if is_forced("strided"):
        return call_general(<Op>self, args, count, kwnames)
    if way.loop.checked is NULL or not is_checking():
        return run_short(self, way, (<Op>self).table.nin, out)
    if out is NULL:
        watch(&check, way.loop)
        way.loop = &check.loop
        result = short_result(self, way, (<Op>self).table.nin)
        if not check.overflowed:
            return result
    return call_general(<Op>self, args, count, kwnames)


cdef object call_asked(Op op, PyObject* const* args, size_t count, PyObject* kwnames):
    """A call with checked=, which may be its last keyword only: a block around the call without it."""
    cdef Py_ssize_t given = PyVectorcall_NARGS(count)
    cdef tuple names = <tuple><object>kwnames
    cdef Py_ssize_t last = len(names) - 1
    if names[last] != "checked":
        operands, keywords = taken_apart(args, count, kwnames)
        keywords["checked"] = keywords.pop("checked")
        return call_by(op.entry.own, op, tuple(operands), keywords)
    token = begin_asking(<object>args[given + last], op)
    names = names[:last]
    kwnames = <PyObject*>names if last > 0 else NULL
    try:
        return steal(op.entry.own(<PyObject*>op, args, <size_t>given, kwnames))
    finally:
        end_asking(token)


cdef object run_checked(Op op, Iterator* it, Arguments* arguments):
    """run, with nothing written unless all of it fits."""
    cdef Check check
    say_path(Path.STRIDED)
    check_before(&check, it, arguments, op)
    try:
        compute(op, it, arguments, check.loop.data)
        check_after(&check, it, arguments, op)
        return hand_over(it, arguments)
    finally:
        clear(it)


# ---------------------------------------------------------------- x1 + alpha * x2

cdef object call_scaled(Op op, Iterator* it, Arguments* arguments, bint understood, bint checking):
    cdef long double alpha[2]
    if op.scaled is None:
        raise TypeError(f"{op.__name__}() got an unexpected keyword argument 'alpha'")
    converted = []
    if understood:
        for k in range(arguments.nin):
            value = <object>arguments.inputs[k]
            if type(value) in (list, tuple):
                value = np.asarray(value)
                converted.append(value)     # keeps it alive
                arguments.inputs[k] = <PyObject*>value
    if not understood or not set_up(it, arguments, op.scaled):
        from tensoriter.core.reasons import refusal
        raise refusal(arguments.reason, arguments.reason_operand, "add with alpha=", 2, 1)
    if checking and is_integer_element(it.operands[it.nin].loop_element):
        raise TypeError("x1 + alpha * x2 of integers cannot be checked: it takes multiply and add")
    set_alpha(<object>arguments.alpha, it.loop.types[it.nin], alpha)
    return run(op, it, arguments, alpha)
