"""TensorIterator: from the operands of a call to the fewest, longest runs that a loop can take.

The general set-up goes in two parts. `set_up` only looks: it decides whether the call is ours, and a
call that is not goes to NumPy untouched. `prepare` acts: it copies, casts and allocates.
"""
from tensoriter.core.arguments cimport parse_arguments, Reason
from tensoriter.core.array_api cimport (
    _import_array, is_plain_array, NPY_ARRAY_WRITEABLE, NPY_BOOL, NPY_KEEPORDER, NPY_ORDER,
    NPY_SAME_KIND_CASTING, Py_False, Py_True, Py_TYPE, PyArray_CanCastTypeTo, PyComplex_CheckExact,
    PyComplex_ImagAsDouble, PyComplex_RealAsDouble, PyFloat_AS_DOUBLE, PyFloat_CheckExact,
    PyLong_AsLongLongAndOverflow, PyLong_CheckExact, PyTupleObject,
)
from tensoriter.core.checked cimport begin_asking, end_asking, is_checking
from tensoriter.core.dtypes cimport (
    dtype_of_code, element_size, integer_fits, is_complex_element, is_extended_element, is_integer_element,
    scalar_type_number, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT,
)
from tensoriter.core.layout cimport (
    broadcast, coalesce, must_copy, order_dimensions, output_strides, overlaps_itself,
)
from tensoriter.core.loops.table cimport BOOL, COMPLEX128, FLOAT64, INT64, LONGDOUBLE, own_cast
from tensoriter.core.paths cimport is_forced
from tensoriter.core.short_ways cimport Short, short_way
from tensoriter.core.threads cimport parts_for
from tensoriter.core.tiles cimport plan_tiles

_import_array()

cdef tuple ELEMENT_NAMES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble",
)

cdef enum:
    CAST_WHOLE_UP_TO = 8192     # elements: the size of NumPy's buffer, see mark_small_inputs


cdef inline bint refuse(Arguments* arguments, int reason, int operand) noexcept:
    arguments.reason = <Reason>reason
    arguments.reason_operand = operand
    return False


# ---------------------------------------------------------------- set_up: looking

cdef int set_up(Iterator* it, Arguments* arguments, LoopTable table) except -1:
    """1 where the call is ours, and then nothing that follows can refuse it; 0, with the reason, where
    it is NumPy's."""
    cdef int k
    it.nin = arguments.nin
    it.nout = arguments.nout
    it.masked = arguments.where is not NULL
    it.count = it.nin + it.nout + it.masked
    it.overlapping = False
    it.scratch_count = it.temporaries_count = 0
    for k in range(it.nin):
        if not set_input(it, k, arguments.inputs[k]):
            return refuse(arguments, Reason.OPERAND_TYPE, k)
        if it.operands[k].element < 0:
            return refuse(arguments, Reason.OPERAND_DTYPE, k)
    for k in range(it.nin, it.nin + it.nout):
        set_output(&it.operands[k], <PyArrayObject*>arguments.outputs[k - it.nin])
    if it.masked:
        set_array(&it.operands[it.count - 1], <PyArrayObject*>arguments.where)
        it.operands[it.count - 1].buffered = False
    if not choose_loop(it, arguments, table):
        return 0
    reason = broadcast(it)
    if reason != Reason.NO_REASON:
        return refuse(arguments, reason, it.nin)
    mark_small_inputs(it, arguments)
    return check_outputs(it, arguments)


cdef void set_output(Operand* operand, PyArrayObject* array) noexcept:
    operand.home = NULL
    operand.overlapped = False
    if array is not NULL:
        set_array(operand, array)
        return
    operand.array = NULL
    operand.data = NULL
    operand.ndim = 0
    operand.swapped = operand.buffered = False


cdef bint set_input(Iterator* it, int k, PyObject* value) except? False:
    """Takes an array, a NumPy scalar or a Python scalar; False for anything else, subclasses included."""
    cdef Operand* operand = &it.operands[k]
    cdef double* scratch = <double*>it.scratch[it.scratch_count]
    cdef int overflow = 0
    if is_plain_array(value):
        set_array(operand, <PyArrayObject*>value)
        return True
    operand.array = NULL
    operand.swapped = False
    operand.ndim = 0
    operand.data = <char*>scratch
    if PyFloat_CheckExact(value):
        operand.code = WEAK_FLOAT
        operand.element = FLOAT64
        scratch[0] = PyFloat_AS_DOUBLE(value)
    elif PyLong_CheckExact(value):
        operand.code = WEAK_INT
        operand.element = INT64
        (<long long*>scratch)[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
    elif value is Py_True or value is Py_False:
        operand.code = NPY_BOOL
        operand.element = BOOL
        operand.data[0] = value is Py_True
    elif PyComplex_CheckExact(value):
        operand.code = WEAK_COMPLEX
        operand.element = COMPLEX128
        scratch[0] = PyComplex_RealAsDouble(value)
        scratch[1] = PyComplex_ImagAsDouble(value)
    else:
        operand.code = scalar_type_number(Py_TYPE(value))
        operand.element = element_of(operand.code)
        # A NumPy scalar's value lies behind the object's head, and stays there while the call runs.
        operand.data = <char*>value + sizeof(PyObject)
        return operand.code >= 0
    it.scratch_count += 1
    return not overflow


cdef bint choose_loop(Iterator* it, Arguments* arguments, LoopTable table) except? False:
    """Finds the loop, and whether each input may become what it reads."""
    cdef int codes[MAX_OPERANDS]
    cdef int k
    for k in range(it.nin):
        codes[k] = it.operands[k].code
    if arguments.dtype >= 0:
        it.loop = table.resolve_as(codes, arguments.dtype)
    else:
        it.loop = table.resolve(codes)
    if it.loop is NULL:
        return refuse(arguments, Reason.NO_LOOP, 0)
    if (it.masked and it.loop.borrowed and table.table.is_numpys
            and is_complex_element(element_of(it.loop.types[0]))):
        return refuse(arguments, Reason.MASKED_COMPLEX, 0)
    it.floating = it.loop.floating
    it.extended = it.loop.extended
    for k in range(it.nin):
        if not fit_input(it, k, arguments):
            return False
    return True


cdef bint fit_input(Iterator* it, int k, Arguments* arguments) except? False:
    cdef Operand* operand = &it.operands[k]
    operand.loop_element = element_of(it.loop.types[k])
    operand.buffered = operand.swapped or operand.element != operand.loop_element
    if operand.array is not NULL and not flags_of(operand.array) & NPY_ARRAY_ALIGNED:
        operand.buffered = True
    # Promotion never needs more than a safe cast: only these two can ask for one that is not allowed.
    if arguments.dtype >= 0 or arguments.casting != NPY_SAME_KIND_CASTING:
        if not can_cast_input(operand, it.loop.types[k], arguments):
            return refuse(arguments, Reason.CASTING_RULE, k)
    if operand.element == operand.loop_element:
        return True
    it.extended |= is_extended_element(operand.element)
    it.floating |= not is_integer_element(operand.loop_element)
    if operand.code == WEAK_INT and is_integer_element(operand.loop_element):
        if not integer_fits((<long long*>operand.data)[0], operand.loop_element):
            return refuse(arguments, Reason.SCALAR_RANGE, k)
    elif operand.code == WEAK_INT and operand.loop_element != LONGDOUBLE:
        # NumPy makes a double of it first (or a complex of doubles).
        (<double*>operand.data)[0] = <double>(<long long*>operand.data)[0]
        operand.element = FLOAT64
    if own_cast(operand.element, operand.loop_element) is NULL or is_truth_of_inexact(operand):
        return refuse(arguments, Reason.CAST_LEFT_TO_NUMPY, k)
    return True


cdef bint can_cast_input(Operand* operand, int type_number, Arguments* arguments) noexcept:
    cdef PyArray_Descr* source = dtype_of_code[operand.code]
    if operand.array is not NULL:
        source = PyArray_DESCR(operand.array)
    elif operand.code >= WEAK_INT and arguments.casting < NPY_SAME_KIND_CASTING:
        return False    # a Python scalar has no dtype, and the stricter rules go by dtypes
    return PyArray_CanCastTypeTo(source, dtype_of_code[type_number], arguments.casting)


cdef bint check_outputs(Iterator* it, Arguments* arguments) noexcept:
    """Whether each given output may be written with what the loop computes."""
    cdef int k, i
    cdef Operand* operand
    for k in range(it.nin, it.nin + it.nout):
        operand = &it.operands[k]
        operand.loop_element = element_of(it.loop.types[k])
        if operand.array is NULL:
            operand.element = operand.loop_element
            continue
        if operand.element < 0:
            return refuse(arguments, Reason.OPERAND_DTYPE, k)
        if not flags_of(operand.array) & NPY_ARRAY_WRITEABLE:
            return refuse(arguments, Reason.OUT_READ_ONLY, k)
        if not PyArray_CanCastTypeTo(dtype_of_code[it.loop.types[k]], PyArray_DESCR(operand.array),
                                     arguments.casting):
            return refuse(arguments, Reason.CASTING_RULE, k)
        if own_cast(operand.loop_element, operand.element) is NULL:
            return refuse(arguments, Reason.CAST_LEFT_TO_NUMPY, k)
        if overlaps_itself(operand):
            return refuse(arguments, Reason.OUT_SELF_OVERLAP, k)
        for i in range(it.nin, k):
            if it.operands[i].array is not NULL and must_copy(it, &it.operands[i], operand):
                return refuse(arguments, Reason.OUT_SELF_OVERLAP, k)
        operand.buffered = (operand.swapped or operand.element != operand.loop_element
                            or not flags_of(operand.array) & NPY_ARRAY_ALIGNED)
        if it.masked and operand.element != operand.loop_element and not (
                is_integer_element(operand.element) and is_integer_element(operand.loop_element)):
            return refuse(arguments, Reason.MASKED_CAST, k)
        # NumPy's maximum clears all flags but those of the casts behind it.
        if it.loop.silent and operand.element != operand.loop_element and not is_integer_element(
                operand.loop_element):
            return refuse(arguments, Reason.CAST_LEFT_TO_NUMPY, k)
        operand.overlapped = is_overlapped(it, k)
        # NumPy casts what the mask hides forth and back.
        if it.masked and operand.element != operand.loop_element and operand.overlapped:
            return refuse(arguments, Reason.MASKED_CAST, k)
        it.overlapping |= operand.overlapped
        it.extended |= is_extended_element(operand.element)
        it.floating |= operand.buffered and not is_integer_element(operand.element)
    return True


cdef bint is_overlapped(Iterator* it, int out) noexcept:
    """Whether an input or the mask is read from where the output is written, and not element by element.

    An input that is cast as a whole before the loop is out of the way by then.
    """
    cdef int k
    cdef bint overlapped = False
    for k in range(it.count):
        if it.loop.borrowed and k < it.nin and is_read_ahead(it, k, out):
            continue
        if not it.nin <= k < it.nin + it.nout and must_copy(it, &it.operands[k], &it.operands[out]):
            it.operands[k].collides = True
            if k < it.nin and it.operands[k].small:
                it.operands[k].cast_whole = True
            else:
                overlapped = True
    return overlapped


cdef bint is_read_ahead(Iterator* it, int k, int out) noexcept:
    """Whether NumPy lets its loop write over what it has just read, nditer aside: operands of one dimension
    and length, and the output nowhere ahead of the input. Then a borrowed loop sees them overlap, by which
    some choose their code, and so the sign of fmax(0.0, -0.0)."""
    cdef Operand* source = &it.operands[k]
    cdef Operand* target = &it.operands[out]
    cdef int i
    if it.masked or it.nout > 1 or it.size < 2:
        return False
    for i in range(it.nin + it.nout):
        if it.operands[i].buffered or it.operands[i].ndim != 1 or it.operands[i].shape[0] != it.size:
            return False
    cdef npy_intp step = source.own_strides[0], target_step = target.own_strides[0]
    if step > 0:
        return step >= target_step and source.data >= target.data
    # (Where all run backwards the walk is turned round, and what was ahead is behind: that is copied.)
    return step < 0 and target_step > 0 and source.data <= target.data


cdef void mark_small_inputs(Iterator* it, Arguments* arguments) noexcept:
    """Marks the inputs that NumPy casts before its loop.

    Those are the ones of 0 dimensions, or of 1 up to the size of its buffer, as long as every input
    before them is ready or small. It shows in three ways: overflow then happens "in cast", order 'A' sees
    a contiguous operand, and an overlap with out is gone.
    """
    cdef int k
    cdef Operand* operand
    for k in range(it.nin):
        operand = &it.operands[k]
        operand.small = operand.cast_whole = operand.collides = False
    if it.masked:
        return
    for k in range(it.nin):
        operand = &it.operands[k]
        if not operand.buffered:
            continue
        if operand.ndim > 1 or (operand.ndim == 1 and operand.shape[0] > CAST_WHOLE_UP_TO):
            return
        operand.small = True
        # In floating point a cast may raise flags: one that narrows, which dtype= asks for, and any of a
        # signalling NaN.
        operand.cast_whole = arguments.order != NPY_KEEPORDER or (
            it.floating and operand.element != operand.loop_element
            and (arguments.dtype >= 0 or not is_integer_element(operand.element)))


# ---------------------------------------------------------------- for Python

cdef class TensorIterator:
    """TensorIterator(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None,
    checked=None, op=tensoriter.add)

    What an op would do with these operands, without doing it: nothing is computed and nothing written.

    The operands are as for the op: arrays of any shapes that broadcast, NumPy and Python scalars.

    Attributes
    ----------
    path : 'contiguous', 'strided' or 'numpy': the way the call would take
    loop : the loop that would run: 'add_float64' for one of ours by the type that it reads, 'exp d->d' for
        one that is the ufunc's own by its types; '' on NumPy's path
    reason : why not a shorter one, a sentence ('' on the contiguous path)
    dtype : dtype that the loop computes its (first) result in; None on NumPy's path
    shape, ndim, size : of the broadcast operands; None on NumPy's path
    dims : shape of the iteration after reordering and coalescing, outermost first
    strides : for each operand (inputs, outputs, mask) its steps in bytes along `dims`
    overlap : whether an input shares memory with out in a way that has to be copied
    colliding : which inputs do, by number
    cast : for each operand, (from, to) dtypes where it is cast, else None
    tile : (rows, length) of the pieces in which the walk is cut where that serves the caches, else None
    columns : which operands are read or written by columns, by number, as they run along another dimension
    streamed : whether an output is written past the cache
    threads : how many threads compute

    >>> import numpy as np
    >>> it = TensorIterator(np.ones((2, 3, 4)), np.ones((3, 4)))
    >>> it.path, it.shape, it.dims, it.strides
    ('strided', (2, 3, 4), (2, 12), ((96, 8), (0, 8), (96, 8)))
    """
    cdef readonly str path
    cdef readonly str reason
    cdef readonly str loop
    cdef readonly object dtype
    cdef readonly object shape
    cdef readonly object ndim
    cdef readonly object size
    cdef readonly tuple dims
    cdef readonly tuple strides
    cdef readonly tuple cast
    cdef readonly bint overlap
    cdef readonly tuple colliding
    cdef readonly tuple tile
    cdef readonly tuple columns
    cdef readonly bint streamed
    cdef readonly int threads

    def __init__(self, *operands, LoopTable op=None, **keywords):
        cdef Iterator it
        cdef Arguments arguments
        if op is None:
            from tensoriter.ops import add as op
        if "checked" in keywords:
            token = begin_asking(keywords.pop("checked"), op)
            try:
                self.__init__(*operands, op=op, **keywords)
            finally:
                end_asking(token)
            return
        cdef tuple names = tuple(keywords)
        cdef tuple values = operands + tuple(keywords.values())
        arguments.nin = op.table.nin
        arguments.nout = op.table.nout
        cdef PyObject** pointers = (<PyTupleObject*>values).ob_item
        cdef PyObject* kwnames = <PyObject*>names if names else NULL
        cdef Short way
        cdef PyObject* out
        cdef bint kept_off = False
        arguments.reason = Reason.NO_LOOP
        arguments.reason_operand = 0
        ours = (op.table.count > 0 and parse_arguments(&arguments, pointers, len(operands), kwnames)
                and not is_forced("numpy") and set_up(&it, &arguments, op))
        if is_forced("numpy"):
            arguments.reason = Reason.FORCED
        self.path = "strided" if ours else "numpy"
        self.dims = self.strides = self.cast = self.colliding = self.columns = ()
        self.loop = ""
        if ours:
            self.loop = name_of(it.loop, op.ufunc)
            self.look(&it, &arguments)
            if (not is_forced("strided") and op.table.nin <= 2 and op.table.nout == 1 and short_way(
                    &way, &op.table, op.table.nin, pointers, len(operands), kwnames, &out)):
                kept_off = is_checking() and out is not NULL and way.loop.checked is not NULL
                self.path = "strided" if kept_off else "contiguous"
        from tensoriter.core.reasons import CHECKED_OUT, reason_sentence    # words that cost 2 ms to import
        self.reason = CHECKED_OUT if kept_off else reason_sentence(
            self.path, arguments.reason, arguments.reason_operand, operands, keywords, op.table.nin,
            op.table.nout)

    cdef int look(self, Iterator* it, Arguments* arguments) except -1:
        cdef int k, axis
        self.dtype = <object><PyObject*>dtype_of_code[it.loop.types[it.nin]]
        self.shape = tuple([it.shape[it.ndim - 1 - axis] for axis in range(it.ndim)])
        self.ndim = it.ndim
        self.size = it.size
        self.colliding = tuple([k for k in range(it.nin) if it.operands[k].collides])
        self.overlap = it.overlapping or len(self.colliding) > 0
        self.cast = tuple([cast_of(&it.operands[k], k < it.nin) for k in range(it.nin + it.nout)])
        order_dimensions(it)
        imagine_outputs(it, arguments.order)
        coalesce(it)
        self.dims = tuple([it.dims[axis] for axis in range(it.dims_count - 1, -1, -1)])
        self.strides = tuple([tuple([it.operands[k].steps[axis] for axis in range(it.dims_count - 1, -1, -1)])
                              for k in range(it.count)])
        self.look_at_tiles(it)
        return 0

    cdef int look_at_tiles(self, Iterator* it) except -1:
        cdef int k
        plan_tiles(it)
        in_blocks = [k for k in range(it.nin + it.nout) if it.operands[k].in_block]
        if it.tiled and (in_blocks or it.tile_rows > 1):
            self.tile = (it.tile_rows, it.tile_length)
            self.columns = tuple([k for k in in_blocks if not it.operands[k].buffered])
        self.streamed = it.streaming
        self.threads = 1 if it.loop.borrowed else parts_for(
            it.size, element_size[it.operands[it.nin].element])
        return 0


cdef str name_of(Loop* loop, ufunc):
    if not loop.borrowed:
        return f"{ufunc.__name__}_{ELEMENT_NAMES[element_of(loop.types[0])]}"
    types = "".join([(<object><PyObject*>dtype_of_code[loop.types[k]]).char for k in range(ufunc.nargs)])
    return f"{ufunc.__name__} {types[:ufunc.nin]}->{types[ufunc.nin:]}"


cdef object cast_of(Operand* operand, bint is_input):
    """(from, to) in words; None where the operand is used as it stands."""
    cdef str own = ELEMENT_NAMES[operand.element], loop = ELEMENT_NAMES[operand.loop_element]
    if operand.element == operand.loop_element and not operand.swapped:
        return None
    if is_input and operand.code >= WEAK_INT:
        own = ("a Python int", "a Python float", "a Python complex")[operand.code - WEAK_INT]
    if operand.swapped:
        own = f"{own} with its bytes swapped"
    return (own, loop) if is_input else (loop, own)


cdef int imagine_outputs(Iterator* it, NPY_ORDER order) except -1:
    """Gives outputs that are still to be allocated the strides that they would have."""
    cdef npy_intp strides[NPY_MAXDIMS]
    cdef int k, axis
    for k in range(it.nin, it.nin + it.nout):
        if it.operands[k].array is NULL:
            output_strides(it, order, element_size[it.operands[k].element], strides)
            for axis in range(it.ndim):
                it.operands[k].strides[axis] = strides[it.ndim - 1 - axis] if it.shape[axis] != 1 else 0
    if order != NPY_KEEPORDER:
        order_dimensions(it)
    return 0
