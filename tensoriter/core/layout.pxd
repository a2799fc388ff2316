"""Shapes and strides: broadcasting, the order of dimensions, coalescing, overlap in memory."""
from tensoriter.core.array_api cimport NPY_ORDER, npy_intp, PyArrayObject
from tensoriter.core.iterator cimport Iterator, Operand

cdef int broadcast(Iterator* it) noexcept nogil
cdef void order_dimensions(Iterator* it) noexcept nogil
cdef void coalesce(Iterator* it) noexcept nogil
cdef bint all_in_order(Iterator* it, NPY_ORDER order, bint* fortran) noexcept nogil
cdef void output_strides(Iterator* it, NPY_ORDER order, npy_intp item_size, npy_intp* strides) noexcept nogil
cdef bint is_plain_order(int ndim, npy_intp* shape, npy_intp* strides, npy_intp item_size,
                         bint* fortran) noexcept nogil
cdef void extent(Operand* operand, npy_intp* low, npy_intp* high) noexcept nogil
cdef bint overlaps_itself(Operand* operand) noexcept nogil
cdef bint must_copy(Iterator* it, Operand* source, Operand* target) noexcept nogil


cdef inline void extent_of(int ndim, const npy_intp* shape, const npy_intp* strides, npy_intp item_size,
                           npy_intp* low, npy_intp* high) noexcept nogil:
    """The bytes that elements laid out so touch, as offsets from the first one: low <= x < high."""
    cdef int axis
    cdef npy_intp span
    low[0] = 0
    high[0] = item_size
    for axis in range(ndim):
        span = (shape[axis] - 1) * strides[axis]
        if span < 0:
            low[0] += span
        else:
            high[0] += span
