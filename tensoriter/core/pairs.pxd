"""Two plain arrays of at most two dimensions, without keywords: set up in one go.

The iterator comes out as the general set-up would leave it, with the fields that running needs and no
others: most calls on small operands that are not contiguous (broadcasts, steps, transposes, mixed dtypes,
swapped bytes) end here, at a third of the general set-up's price.
"""
from tensoriter.core.array_api cimport (
    flags_of, is_native, NPY_ARRAY_ALIGNED, npy_intp, PyArray_BYTES, PyArray_Descr, PyArray_DESCR,
    PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES, PyArrayObject,
)
from tensoriter.core.dtypes cimport (
    element_of, element_size, is_extended_element, is_integer_element, LEFT_TO_NUMPY, LoopTableState,
)
from tensoriter.core.iterator cimport is_truth_of_inexact, Iterator, Operand
from tensoriter.core.loops.table cimport own_cast


cdef inline bint pair_set_up(Iterator* it, LoopTableState* table, PyArrayObject* x1, PyArrayObject* x2,
                             bint* fortran) noexcept nogil:
    """False where the general set-up has to look, `fortran` the order of the output to be allocated."""
    cdef int number1 = PyArray_DESCR(x1).type_num, number2 = PyArray_DESCR(x2).type_num
    cdef int known, output
    if element_of(number1) < 0 or element_of(number2) < 0:
        return False
    known = table.resolved[number1][number2]
    if known >= LEFT_TO_NUMPY:
        return False
    it.loop = &table.loops[known]
    it.floating = it.loop.floating
    it.extended = it.loop.extended
    it.overlapping = it.masked = False
    it.nin = 2
    it.nout = 1
    it.count = 3
    set_pair_input(it, &it.operands[0], x1, it.loop.types[0])
    set_pair_input(it, &it.operands[1], x2, it.loop.types[1])
    if it.operands[0].buffered or it.operands[1].buffered:
        if it.loop.borrowed:
            return False    # whose flags would be set only another run could tell, which may be seen
        if not (is_castable(&it.operands[0]) and is_castable(&it.operands[1])):
            return False
        it.floating |= it.loop.silent
    output = element_of(it.loop.types[2])
    it.operands[2].element = it.operands[2].loop_element = output
    it.operands[2].buffered = it.operands[2].swapped = False
    if is_line(&it.operands[0], &it.operands[1]):
        set_line(it, element_size[output])
        fortran[0] = False
        return True
    if not broadcast_pair(it) or (it.size == 1 and it.loop.borrowed):   # see set_single_steps in prepare.pyx
        return False
    return arrange_pair(it, element_size[output], fortran)


cdef inline bint is_line(Operand* a, Operand* b) noexcept nogil:
    return a.ndim == 1 and b.ndim == 1 and a.shape[0] == b.shape[0] and a.shape[0] > 1


cdef inline void set_line(Iterator* it, npy_intp item_size) noexcept nogil:
    """Two of one dimension and one length: all there is to it."""
    it.ndim = it.dims_count = 1
    it.size = it.shape[0] = it.dims[0] = it.operands[0].shape[0]
    it.operands[0].steps[0] = it.operands[0].own_strides[0]
    it.operands[1].steps[0] = it.operands[1].own_strides[0]
    it.operands[2].steps[0] = item_size


cdef inline void set_pair_input(Iterator* it, Operand* operand, PyArrayObject* array,
                                int loop_type) noexcept nogil:
    cdef PyArray_Descr* dtype = PyArray_DESCR(array)
    operand.array = array
    operand.data = PyArray_BYTES(array)
    operand.code = dtype.type_num
    operand.element = element_of(dtype.type_num)
    operand.loop_element = element_of(loop_type)
    operand.swapped = not is_native(dtype)
    operand.buffered = (operand.swapped or operand.element != operand.loop_element
                        or not flags_of(array) & NPY_ARRAY_ALIGNED)
    operand.ndim = PyArray_NDIM(array)
    operand.shape = PyArray_DIMS(array)
    operand.own_strides = PyArray_STRIDES(array)
    it.extended |= operand.buffered and is_extended_element(operand.element)


cdef inline bint is_castable(Operand* operand) noexcept nogil:
    """Whether we have the cast to what the loop reads."""
    return (operand.element == operand.loop_element
            or (not is_truth_of_inexact(operand)
                and own_cast(operand.element, operand.loop_element) is not NULL))


cdef inline bint broadcast_pair(Iterator* it) noexcept nogil:
    """Shape and strides, innermost first; False for other than 1 or 2 dimensions, for an empty result and
    for shapes that do not go together."""
    cdef Operand* a = &it.operands[0]
    cdef Operand* b = &it.operands[1]
    cdef int axis
    cdef npy_intp length, other
    it.ndim = max(a.ndim, b.ndim)
    it.size = 1
    if it.ndim < 1 or it.ndim > 2:
        return False
    for axis in range(it.ndim):
        a.strides[axis] = b.strides[axis] = 0
        length = other = 1
        if axis < a.ndim:
            length = a.shape[a.ndim - 1 - axis]
            if length != 1:
                a.strides[axis] = a.own_strides[a.ndim - 1 - axis]
        if axis < b.ndim:
            other = b.shape[b.ndim - 1 - axis]
            if other != 1:
                b.strides[axis] = b.own_strides[b.ndim - 1 - axis]
        if length != other:
            if length != 1 and other != 1:
                return False
            length = max(length, other) if length != 0 and other != 0 else 0
        it.shape[axis] = length
        it.size *= length
    return it.size > 0


cdef inline bint arrange_pair(Iterator* it, npy_intp item_size, bint* fortran) noexcept nogil:
    """The order of the two dimensions (see order_dimensions), steps, and whether they are one."""
    cdef int inner = 0, outer, k
    if it.ndim == 2 and in_fortran_order(it):
        inner = 1
    fortran[0] = inner == 1
    outer = 1 - inner
    if it.ndim == 2 and it.shape[inner] == 1:
        inner, outer = outer, inner
    it.dims[0] = it.shape[inner]
    it.operands[2].steps[0] = item_size
    for k in range(2):
        it.operands[k].steps[0] = it.operands[k].strides[inner]
    it.dims_count = 1
    if it.ndim == 1 or it.shape[outer] == 1:
        return True
    for k in range(2):
        it.operands[k].steps[1] = it.operands[k].strides[outer]
    it.operands[2].steps[1] = item_size * it.dims[0]
    if (it.operands[0].steps[1] == it.operands[0].steps[0] * it.dims[0]
            and it.operands[1].steps[1] == it.operands[1].steps[0] * it.dims[0]):
        it.dims[0] = it.size
        return True
    it.dims[1] = it.shape[outer]
    it.dims_count = 2
    return True


cdef inline bint in_fortran_order(Iterator* it) noexcept nogil:
    """Whether the outer dimension has the smaller strides: every operand that moves along both says so."""
    cdef int k
    cdef bint smaller = False
    cdef npy_intp inner, outer
    for k in range(2):
        inner = it.operands[k].strides[0]
        outer = it.operands[k].strides[1]
        if inner != 0 and outer != 0:
            if (inner if inner > 0 else -inner) <= (outer if outer > 0 else -outer):
                return False
            smaller = True
    return smaller
