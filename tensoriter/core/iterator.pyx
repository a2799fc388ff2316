"""TensorIterator: from the operands of a call to the fewest, longest runs that a loop can take.

The general set-up goes in two parts. `set_up` only looks: it decides whether the call is ours, and a
call that is not goes to NumPy untouched. `prepare` acts: it copies, casts and allocates.
"""
from tensoriter.core.reasons import reason_sentence

from tensoriter.core.arguments cimport parse_arguments, Reason
from tensoriter.core.array_api cimport (
    _import_array, _import_umath, is_plain_array, NPY_ARRAY_WRITEABLE, NPY_BOOL, NPY_CDOUBLE, NPY_DOUBLE,
    NPY_KEEPORDER, NPY_LONG, NPY_ORDER, NPY_SAME_KIND_CASTING, Py_DECREF, Py_False, Py_INCREF, Py_True,
    Py_TYPE, PyArray_BYTES, PyArray_CanCastTypeTo, PyArray_CastToType, PyArray_CopyInto, PyArray_DescrFromType,
    PyArray_DescrNewByteorder, PyArray_NewCopy, PyArray_NewFromDescr, PyArray_NewLikeArray, PyArray_STRIDES, PyArray_Type,
    PyComplex_CheckExact, PyComplex_ImagAsDouble, PyComplex_RealAsDouble, PyFloat_AS_DOUBLE,
    PyFloat_CheckExact, PyLong_AsLongLongAndOverflow, PyLong_CheckExact, PyTuple_GET_ITEM,
    PyTupleObject,
)
from tensoriter.core.dtypes cimport (
    DTYPE_CODES, element_of, element_size, element_unit, is_extended_element, is_integer_element,
    is_signed_element, scalar_type_number, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT,
)
from tensoriter.core.fpstatus cimport FE_ALL_EXCEPT, FE_OVERFLOW, fp_clear, fp_report, fp_status
from tensoriter.core.layout cimport (
    all_in_order, broadcast, coalesce, must_copy, order_dimensions, output_strides, overlaps_itself,
)
from tensoriter.core.paths cimport forcing, is_forced
from tensoriter.core.loops.table cimport BOOL, COMPLEX128, copy_swapped, FLOAT64, INT64, own_cast

_import_array()
_import_umath()

# The plain dtype of each code; those of Python scalars are the ones that NumPy makes arrays of them with.
cdef PyArray_Descr* dtype_of_code[DTYPE_CODES]
for _code in range(TYPE_NUMBERS):
    dtype_of_code[<int>_code] = PyArray_DescrFromType(_code)
dtype_of_code[WEAK_INT] = dtype_of_code[NPY_LONG]
dtype_of_code[WEAK_FLOAT] = dtype_of_code[NPY_DOUBLE]
dtype_of_code[WEAK_COMPLEX] = dtype_of_code[NPY_CDOUBLE]

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


cdef void set_array(Operand* operand, PyArrayObject* array) noexcept:
    cdef PyArray_Descr* dtype = PyArray_DESCR(array)
    operand.array = array
    operand.data = PyArray_BYTES(array)
    operand.code = dtype.type_num
    operand.element = element_of(dtype.type_num)
    operand.swapped = not is_native(dtype)
    operand.ndim = PyArray_NDIM(array)
    operand.shape = PyArray_DIMS(array)
    operand.own_strides = PyArray_STRIDES(array)


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
        if not fits((<long long*>operand.data)[0], operand.loop_element):
            return refuse(arguments, Reason.SCALAR_RANGE, k)
    if own_cast(operand.element, operand.loop_element) is NULL:
        return refuse(arguments, Reason.CAST_LEFT_TO_NUMPY, k)
    return True


cdef bint can_cast_input(Operand* operand, int type_number, Arguments* arguments) noexcept:
    cdef PyArray_Descr* source = dtype_of_code[operand.code]
    if operand.array is not NULL:
        source = PyArray_DESCR(operand.array)
    elif operand.code >= WEAK_INT and arguments.casting < NPY_SAME_KIND_CASTING:
        return False    # a Python scalar has no dtype, and the stricter rules go by dtypes
    return PyArray_CanCastTypeTo(source, dtype_of_code[type_number], arguments.casting)


cdef bint fits(long long value, int element) noexcept:
    """Whether an integer is in the range of an integer type."""
    cdef int bits = 8 * element_size[element]
    if is_signed_element(element):
        return bits == 64 or -(1LL << (bits - 1)) <= value < (1LL << (bits - 1))
    return value >= 0 and (bits == 64 or value < (1LL << bits))


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
        if it.masked and operand.element != operand.loop_element:
            return refuse(arguments, Reason.MASKED_CAST, k)
        operand.overlapped = is_overlapped(it, k)
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
        if not it.nin <= k < it.nin + it.nout and must_copy(it, &it.operands[k], &it.operands[out]):
            if k < it.nin and it.operands[k].small:
                it.operands[k].cast_whole = True
            else:
                overlapped = True
    return overlapped


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
        operand.small = operand.cast_whole = False
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
            it.floating and (arguments.dtype >= 0 or not is_integer_element(operand.element)))


# ---------------------------------------------------------------- prepare: acting

cdef int prepare(Iterator* it, Arguments* arguments) except -1:
    """Everything up to the loop; what is allocated here `clear` gives back. Raises only for want of
    memory, or where the errstate makes an overflow in the cast of a small operand an error."""
    cdef int k
    for k in range(it.nin, it.nin + it.nout):
        if it.operands[k].overlapped:
            redirect_output(it, k)
    if it.floating:
        fp_clear(it.extended)
    cast_small_inputs(it)
    order_dimensions(it)
    allocate_outputs(it, arguments.order)
    if arguments.order != NPY_KEEPORDER:
        order_dimensions(it)    # the order asked for is the result's; the walk's is still free
    coalesce(it)
    return 0


cdef int redirect_output(Iterator* it, int k) except -1:
    """Lets an output that inputs overlap be computed elsewhere, in the loop's type; `write_back` brings
    it home. So does NumPy, and so an error after the loop leaves such an output as it was."""
    cdef Operand* operand = &it.operands[k]
    cdef PyArray_Descr* dtype = dtype_of_code[it.loop.types[k]]
    cdef PyObject* stand_in
    operand.home = operand.array
    if it.masked:   # what the mask hides has to come back unchanged
        stand_in = PyArray_NewCopy(operand.array, NPY_KEEPORDER)
    else:
        Py_INCREF(<PyObject*>dtype)
        stand_in = PyArray_NewLikeArray(operand.array, NPY_KEEPORDER, dtype, 0)
    return replace_array(it, operand, stand_in)


cdef int write_back(Iterator* it) except -1:
    cdef int k
    for k in range(it.nin, it.nin + it.nout):
        if it.operands[k].home is not NULL:
            PyArray_CopyInto(it.operands[k].home, it.operands[k].array)
            it.operands[k].array = it.operands[k].home
    return 0


cdef int replace_array(Iterator* it, Operand* operand, PyObject* array) except -1:
    """Puts a new array, which the iterator owns from here on, in the place of an operand's own."""
    cdef int axis, own
    if array is NULL:
        return -1
    keep(it, array)
    set_array(operand, <PyArrayObject*>array)
    operand.buffered = operand.element != operand.loop_element or operand.swapped
    for axis in range(operand.ndim):
        own = operand.ndim - 1 - axis
        operand.strides[axis] = 0 if operand.shape[own] == 1 else operand.own_strides[own]
    return 0


cdef void keep(Iterator* it, PyObject* owned) noexcept:
    it.temporaries[it.temporaries_count] = owned
    it.temporaries_count += 1


cdef int cast_small_inputs(Iterator* it) except -1:
    """Casts inputs of 0 dimensions once, and those of 1 that `mark_small_inputs` found it to matter for."""
    cdef int k
    cdef Operand* operand
    for k in range(it.nin):
        operand = &it.operands[k]
        if operand.buffered and operand.code >= WEAK_INT:
            cast_constant(it, operand, FE_OVERFLOW)     # all that NumPy says of a Python scalar's cast
    for k in range(it.nin):
        operand = &it.operands[k]
        if operand.buffered and operand.ndim == 0:
            cast_constant(it, operand, FE_ALL_EXCEPT)
        elif operand.buffered and operand.cast_whole:
            cast_array(it, operand, it.loop.types[k])
    return 0


cdef int cast_constant(Iterator* it, Operand* operand, int reported) except -1:
    """Brings a single value into the loop's type, in the iterator's scratch space; `reported` are the
    floating-point flags that are blamed on the cast."""
    cdef long double swapped[2]
    cdef char* source = operand.data
    cdef int size = element_size[operand.element]
    if operand.swapped:
        copy_swapped(source, 0, <char*>swapped, 0, 1, size, element_unit[operand.element])
        source = <char*>swapped
    operand.data = <char*>it.scratch[it.scratch_count]
    it.scratch_count += 1
    own_cast(operand.element, operand.loop_element)(source, 0, operand.data, 0, 1)
    operand.element = operand.loop_element
    operand.swapped = operand.buffered = False
    return report_cast(it, reported)


cdef int cast_array(Iterator* it, Operand* operand, int type_number) except -1:
    """Replaces an operand of one dimension by a copy of it in the loop's type."""
    cdef PyArray_Descr* dtype = dtype_of_code[type_number]
    cdef PyObject* copy
    cdef Operand source = operand[0]
    Py_INCREF(<PyObject*>dtype)
    if operand.swapped:
        return replace_array(it, operand, PyArray_CastToType(operand.array, dtype, 0))
    copy = PyArray_NewFromDescr(&PyArray_Type, dtype, 1, operand.shape, NULL, NULL, 0, NULL)
    replace_array(it, operand, copy)
    own_cast(source.element, source.loop_element)(
        source.data, source.own_strides[0], operand.data, element_size[operand.element], operand.shape[0])
    return report_cast(it, FE_ALL_EXCEPT)


cdef int report_cast(Iterator* it, int reported) except -1:
    cdef int status = fp_status(it.extended) if it.floating else 0
    return fp_report(status & reported, b"cast", it.extended) if status else 0


cdef int allocate_outputs(Iterator* it, NPY_ORDER order) except -1:
    """Gives each output that was not given an array (or, without dimensions, room for a scalar)."""
    cdef npy_intp shape[NPY_MAXDIMS]
    cdef npy_intp strides[NPY_MAXDIMS]
    cdef npy_intp* chosen_strides = NULL
    cdef bint fortran = False
    cdef int k, axis
    cdef Operand* operand
    for axis in range(it.ndim):
        shape[axis] = it.shape[it.ndim - 1 - axis]
    for k in range(it.nin, it.nin + it.nout):
        operand = &it.operands[k]
        if operand.array is not NULL:
            continue
        if it.ndim == 0:
            operand.data = <char*>it.scratch[it.scratch_count]
            it.scratch_count += 1
            continue
        if not all_in_order(it, order, &fortran):
            output_strides(it, order, element_size[operand.element], strides)
            chosen_strides = strides
        replace_array(it, operand, PyArray_NewFromDescr(
            &PyArray_Type, result_dtype(it, k), it.ndim, shape, chosen_strides, NULL, fortran, NULL))
    return 0


cdef PyArray_Descr* result_dtype(Iterator* it, int k) except NULL:
    """A new reference to output k's dtype: the first input's own where the types agree, with its
    metadata, as in NumPy; in native byte order."""
    cdef PyArray_Descr* dtype = dtype_of_code[it.loop.types[k]]
    cdef Operand* first = &it.operands[0]
    if first.array is not NULL and first.code == it.loop.types[k]:
        dtype = PyArray_DESCR(first.array)
        if not is_native(dtype):
            return PyArray_DescrNewByteorder(dtype, b"=")
    Py_INCREF(<PyObject*>dtype)
    return dtype


cdef void clear(Iterator* it) noexcept:
    """Gives back what `prepare` took."""
    cdef int k
    for k in range(it.temporaries_count):
        Py_DECREF(it.temporaries[k])
    it.temporaries_count = 0


# ---------------------------------------------------------------- for Python

cdef class TensorIterator:
    """TensorIterator(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None,
    op=tensoriter.add)

    What an op would do with these operands, without doing it: nothing is computed and nothing written.

    The operands are as for the op: arrays of any shapes that broadcast, NumPy and Python scalars.

    Attributes
    ----------
    path : 'contiguous', 'strided' or 'numpy': the way the call would take
    reason : why not a shorter one, a sentence ('' on the contiguous path)
    dtype : dtype that the loop computes its (first) result in; None on NumPy's path
    shape, ndim, size : of the broadcast operands; None on NumPy's path
    dims : shape of the iteration after reordering and coalescing, outermost first
    strides : for each operand (inputs, outputs, mask) its steps in bytes along `dims`
    overlap : whether an input shares memory with out in a way that has to be copied
    cast : for each operand, (from, to) dtypes where it is cast, else None

    >>> import numpy as np
    >>> it = TensorIterator(np.ones((2, 3, 4)), np.ones((3, 4)))
    >>> it.path, it.shape, it.dims, it.strides
    ('strided', (2, 3, 4), (2, 12), ((96, 8), (0, 8), (96, 8)))
    """
    cdef readonly str path
    cdef readonly str reason
    cdef readonly object dtype
    cdef readonly object shape
    cdef readonly object ndim
    cdef readonly object size
    cdef readonly tuple dims
    cdef readonly tuple strides
    cdef readonly tuple cast
    cdef readonly bint overlap

    def __init__(self, *operands, LoopTable op=None, **keywords):
        cdef Iterator it
        cdef Arguments arguments
        cdef tuple names = tuple(keywords)
        cdef tuple values = operands + tuple(keywords.values())
        if op is None:
            from tensoriter.ops import add as op
        arguments.nin = op.table.nin
        arguments.nout = op.table.nout
        ours = (parse_arguments(&arguments, (<PyTupleObject*>values).ob_item, len(operands),
                                <PyObject*>names if names else NULL)
                and not is_forced("numpy") and set_up(&it, &arguments, op))
        if is_forced("numpy"):
            arguments.reason = Reason.FORCED
        self.path = "strided" if ours else "numpy"
        self.dims = self.strides = self.cast = ()
        if ours:
            self.look(&it, &arguments)
            if not names and len(operands) == 2 and forcing == 0 and self.is_contiguous(op, operands):
                self.path = "contiguous"
        self.reason = reason_sentence(self.path, arguments.reason, arguments.reason_operand, operands, keywords)

    cdef bint is_contiguous(self, LoopTable op, tuple operands):
        cdef PyObject* x1 = PyTuple_GET_ITEM(<PyObject*>operands, 0)
        cdef PyObject* x2 = PyTuple_GET_ITEM(<PyObject*>operands, 1)
        return (is_plain_array(x1) and is_plain_array(x2)
                and contiguous_set_up(&op.table, <PyArrayObject*>x1, <PyArrayObject*>x2) is not NULL)

    cdef int look(self, Iterator* it, Arguments* arguments) except -1:
        cdef int k, axis
        self.dtype = <object><PyObject*>dtype_of_code[it.loop.types[it.nin]]
        self.shape = tuple([it.shape[it.ndim - 1 - axis] for axis in range(it.ndim)])
        self.ndim = it.ndim
        self.size = it.size
        self.overlap = it.overlapping
        self.cast = tuple([cast_of(&it.operands[k], k < it.nin) for k in range(it.nin + it.nout)])
        order_dimensions(it)
        imagine_outputs(it, arguments.order)
        coalesce(it)
        self.dims = tuple([it.dims[axis] for axis in range(it.dims_count - 1, -1, -1)])
        self.strides = tuple([tuple([it.operands[k].steps[axis] for axis in range(it.dims_count - 1, -1, -1)])
                              for k in range(it.count)])
        return 0


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
