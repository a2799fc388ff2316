"""Shapes and strides: broadcasting, the order of dimensions, coalescing, overlap in memory.

Dimensions are kept innermost first here, since all work goes from the inside out. The rules for the
order of dimensions are those of NumPy's nditer (order 'K'): the result's strides follow from them,
so they are part of the answer and not only of its speed.
"""
from tensoriter.core.arguments cimport Reason
from tensoriter.core.array_api cimport (
    flags_of, NPY_ANYORDER, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_F_CONTIGUOUS, NPY_CORDER, NPY_FORTRANORDER,
    NPY_MAXDIMS,
)
from tensoriter.core.dtypes cimport element_size


cdef inline npy_intp absolute(npy_intp x) noexcept nogil:
    return -x if x < 0 else x


cdef int broadcast(Iterator* it) noexcept nogil:
    """Sets the broadcast shape, its size and each operand's strides in it; a Reason where that fails.

    A dimension of length 1 has stride 0 whatever its array says, as in nditer.
    """
    cdef int k, axis, own
    cdef npy_intp length, common
    cdef Operand* operand
    cdef bint too_large = False
    it.ndim = 0
    it.size = 1
    for k in range(it.count):
        it.ndim = max(it.ndim, it.operands[k].ndim)
    for axis in range(it.ndim):
        common = 1
        for k in range(it.count):
            operand = &it.operands[k]
            own = operand.ndim - 1 - axis
            operand.strides[axis] = 0
            if own >= 0 and operand.shape[own] != 1:
                length = operand.shape[own]
                operand.strides[axis] = operand.own_strides[own]
                if common != length:
                    if common != 1:
                        return Reason.BROADCAST
                    common = length
        it.shape[axis] = common
        too_large |= not multiply(&it.size, common)
    for k in range(it.nin, it.nin + it.nout):
        if it.operands[k].array is not NULL and not has_whole_shape(it, &it.operands[k]):
            return Reason.OUT_SHAPE
    return Reason.TOO_LARGE if too_large and it.size != 0 else Reason.NO_REASON


cdef inline bint multiply(npy_intp* size, npy_intp length) noexcept nogil:
    """False, and the size as it was, where the product could not be counted in bytes."""
    cdef npy_intp small = <npy_intp>1 << (4 * sizeof(npy_intp) - 1)
    cdef npy_intp largest = <npy_intp>1 << (8 * sizeof(npy_intp) - 7)
    # The division, which is slow, is for numbers that call for it.
    if (size[0] >= small or length >= small) and length > 0 and size[0] > largest // length:
        return False
    size[0] *= length
    return True


cdef bint has_whole_shape(Iterator* it, Operand* operand) noexcept nogil:
    """An output may be larger than the inputs, never smaller: it is not broadcast itself."""
    cdef int axis
    if operand.ndim != it.ndim:
        return False
    for axis in range(it.ndim):
        if operand.shape[it.ndim - 1 - axis] != it.shape[axis]:
            return False
    return True


cdef void order_dimensions(Iterator* it) noexcept nogil:
    """Sorts dimensions by stride, smallest first, with the insertion sort and the ties of nditer.

    Two dimensions compare by every operand that moves along both. Where operands disagree, C order wins;
    where none moves along both, the pair has no order and the search goes on.
    """
    cdef int position, place, before
    for position in range(it.ndim):
        it.order[position] = position
    for position in range(1, it.ndim):
        axis = it.order[position]
        place = position
        before = position - 1
        while before >= 0:
            comparison = compare_dimensions(it, axis, it.order[before])
            if comparison > 0:
                break
            if comparison < 0:
                place = before
            before -= 1
        for before in range(position, place, -1):
            it.order[before] = it.order[before - 1]
        it.order[place] = axis


cdef int compare_dimensions(Iterator* it, int axis, int other) noexcept nogil:
    """-1: `axis` belongs inside `other`; 1: outside; 0: no operand moves along both."""
    cdef int k, answer = 0
    for k in range(it.count):
        stride = absolute(it.operands[k].strides[axis])
        other_stride = absolute(it.operands[k].strides[other])
        if stride != 0 and other_stride != 0:
            if other_stride <= stride:
                return 1
            answer = -1
    return answer


cdef void coalesce(Iterator* it) noexcept nogil:
    """Drops dimensions of length 1, turns those round that all operands walk backwards, and merges
    each dimension with the next outer one where every operand crosses from one to the other evenly."""
    cdef int position, k, last = -1
    for position in range(it.ndim):
        axis = it.order[position]
        if it.shape[axis] == 1:
            continue
        turn_round(it, axis)
        if last >= 0 and continues(it, last, axis):
            it.dims[last] *= it.shape[axis]
            continue
        last += 1
        it.dims[last] = it.shape[axis]
        for k in range(it.count):
            it.operands[k].steps[last] = it.operands[k].strides[axis]
    if last < 0:
        last = 0
        it.dims[0] = 1
        for k in range(it.count):
            it.operands[k].steps[0] = 0
    it.dims_count = last + 1


cdef inline bint continues(Iterator* it, int last, int axis) noexcept nogil:
    cdef int k
    for k in range(it.count):
        if it.operands[k].steps[last] * it.dims[last] != it.operands[k].strides[axis]:
            return False
    return True


cdef inline void turn_round(Iterator* it, int axis) noexcept nogil:
    cdef int k
    cdef bint backwards = False
    for k in range(it.count):
        if it.operands[k].strides[axis] > 0:
            return
        backwards |= it.operands[k].strides[axis] < 0
    if backwards:
        for k in range(it.count):
            it.operands[k].data += (it.shape[axis] - 1) * it.operands[k].strides[axis]
            it.operands[k].strides[axis] = -it.operands[k].strides[axis]


cdef bint all_in_order(Iterator* it, NPY_ORDER order, bint* fortran) noexcept nogil:
    """Whether NumPy's ufuncs skip nditer, which lays out an output in plain C or Fortran order then:
    all inputs of one shape (0-d ones aside), ready to use, and contiguous alike.

    It differs from order 'K' only in the strides of dimensions of length 1.
    """
    cdef int wanted = 0
    cdef int both = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS
    if order == NPY_CORDER:
        wanted = NPY_ARRAY_C_CONTIGUOUS
    elif order == NPY_FORTRANORDER:
        wanted = NPY_ARRAY_F_CONTIGUOUS
    cdef int k, axis
    cdef Operand* operand
    if it.masked:
        return False
    for k in range(it.nin):
        operand = &it.operands[k]
        if operand.ndim == 0:
            continue
        if operand.ndim != it.ndim or operand.buffered:
            return False
        for axis in range(it.ndim):
            if operand.shape[it.ndim - 1 - axis] != it.shape[axis]:
                return False
        contiguous = flags_of(operand.array) & both
        if it.ndim > 1:
            if contiguous == 0 or (wanted != 0 and contiguous != wanted):
                return False
            wanted = contiguous
    fortran[0] = wanted == NPY_ARRAY_F_CONTIGUOUS
    return True


cdef void output_strides(Iterator* it, NPY_ORDER order, npy_intp item_size, npy_intp* strides) noexcept nogil:
    """The strides of an output to be allocated, outermost first, for a call that nditer would lay out."""
    cdef int k, axis
    cdef bint fortran = order == NPY_FORTRANORDER
    if order == NPY_ANYORDER:
        fortran = True
        for k in range(it.count):
            if it.operands[k].array is not NULL and it.operands[k].ndim > 0:
                fortran = fortran and (flags_of(it.operands[k].array) & NPY_ARRAY_F_CONTIGUOUS) != 0
    for k in range(it.ndim):
        axis = it.order[k]
        if fortran:
            axis = it.ndim - 1 - k
        elif order == NPY_CORDER or order == NPY_ANYORDER:
            axis = k
        strides[it.ndim - 1 - axis] = item_size
        item_size *= it.shape[axis]


cdef bint is_plain_order(int ndim, npy_intp* shape, npy_intp* strides, npy_intp item_size,
                         bint* fortran) noexcept nogil:
    """Whether these are the strides that an array in C or in Fortran order has anyway."""
    cdef int k
    cdef npy_intp c_stride = item_size, f_stride = item_size
    cdef bint c_order = True, f_order = True
    for k in range(ndim):
        f_order = f_order and strides[k] == f_stride
        c_order = c_order and strides[ndim - 1 - k] == c_stride
        f_stride *= shape[k]
        c_stride *= shape[ndim - 1 - k]
    fortran[0] = f_order and not c_order
    return (c_order or f_order) and c_stride != 0


cdef void extent(Operand* operand, npy_intp* low, npy_intp* high) noexcept nogil:
    """The bytes that the operand touches, as offsets from its data: low <= x < high."""
    extent_of(operand.ndim, operand.shape, operand.own_strides, element_size[operand.element], low, high)


cdef bint overlaps_itself(Operand* operand) noexcept nogil:
    """Whether two of its elements may share memory: sorted by stride, each dimension must step over
    all that lies inside it. (Rare layouts that interleave without sharing are taken for overlapping.)"""
    cdef npy_intp strides[NPY_MAXDIMS]
    cdef npy_intp lengths[NPY_MAXDIMS]
    cdef npy_intp reach = element_size[operand.element]
    cdef int axis, place, count = 0
    for axis in range(operand.ndim - 1, -1, -1):
        if operand.shape[axis] < 2:
            if operand.shape[axis] == 0:
                return False
            continue
        stride = absolute(operand.own_strides[axis])
        place = count
        while place > 0 and strides[place - 1] > stride:
            strides[place] = strides[place - 1]
            lengths[place] = lengths[place - 1]
            place -= 1
        strides[place] = stride
        lengths[place] = operand.shape[axis]
        count += 1
    for place in range(count):
        if strides[place] < reach:
            return True
        reach += strides[place] * (lengths[place] - 1)
    return False


cdef bint must_copy(Iterator* it, Operand* source, Operand* target) noexcept nogil:
    """Whether writing `target` could change what is still to be read from `source`.

    Not where they share no byte, and not where each element is written over the very element that it
    is computed from.
    """
    cdef npy_intp source_low, source_high, target_low, target_high, step, apart
    cdef int axis
    extent(source, &source_low, &source_high)
    extent(target, &target_low, &target_high)
    cdef npy_intp distance = target.data - source.data
    if distance + target_low >= source_high or distance + target_high <= source_low:
        return False
    if distance == 0 and source.element == target.element and source.swapped == target.swapped:
        for axis in range(it.ndim):
            if source.strides[axis] != target.strides[axis]:
                break
        else:
            return False
    # Elements that lie interleaved: all strides are multiples of `step`, and the two differ by less.
    step = 0
    for axis in range(source.ndim):
        step = divisor(step, source.own_strides[axis])
    for axis in range(target.ndim):
        step = divisor(step, target.own_strides[axis])
    if step > 0:
        apart = ((distance % step) + step) % step
        if apart >= element_size[source.element] and step - apart >= element_size[target.element]:
            return False
    return True


cdef inline npy_intp divisor(npy_intp a, npy_intp b) noexcept nogil:
    """Greatest common divisor; of 0 and x it is x."""
    b = absolute(b)
    while b != 0:
        a, b = b, a % b
    return a
