"""TensorIterator: from the operands of a call to the fewest, longest runs that a loop can take."""
from cpython.object cimport PyObject

from tensoriter.core.arguments cimport Arguments
from tensoriter.core.array_api cimport (
    flags_of, is_native, NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_F_CONTIGUOUS, npy_intp,
    NPY_MAXDIMS, PyArray_BYTES, PyArray_Descr, PyArray_DESCR, PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES,
    PyArrayObject,
)
from tensoriter.core.dtypes cimport (
    element_of, is_integer_element, Loop, LoopTable, LoopTableState, MAX_OPERANDS, TYPE_NUMBERS,
)
from tensoriter.core.loops.table cimport BOOL

cdef enum:
    # Elements from which on other Python threads may run meanwhile: giving the interpreter away and
    # taking it back costs about 50 ns when nobody wants it.
    RELEASE_FROM = 16384

cdef struct Operand:
    PyArrayObject* array            # NULL: a scalar, or an output that is still to be allocated
    char* data
    int code                        # type number or weak code: what promotion sees
    int element                     # what the bytes at `data` are
    int loop_element                # what the loop reads or writes
    bint swapped
    bint buffered                   # has to be cast, swapped or aligned for the loop
    bint in_block                   # goes through a block of the loop's type, see tiles
    bint streamed                   # an output that is written past the cache, see tiles
    bint small                      # an input that NumPy casts before its loop
    bint cast_whole                 # and where that shows
    bint collides                   # an input that overlaps an output
    bint overlapped                 # an output: an input is read from where it is written
    PyArrayObject* home             # an overlapped output's own array, while another stands in for it
    int ndim                        # its own dimensions, outermost first as in NumPy
    npy_intp* shape
    npy_intp* own_strides
    npy_intp strides[NPY_MAXDIMS]   # by dimension of the broadcast shape, innermost first
    npy_intp steps[NPY_MAXDIMS]     # by dimension of the iteration, innermost first

cdef struct Iterator:
    int nin
    int nout
    int count                       # inputs, outputs and the mask
    bint masked
    bint overlapping                # an output is overlapped
    bint floating                   # floating-point flags may be raised ...
    bint extended                   # ... by long double, too
    int ndim
    npy_intp size
    npy_intp shape[NPY_MAXDIMS]     # the broadcast shape, innermost first
    int order[NPY_MAXDIMS]          # dimensions of `shape`, smallest strides first
    int dims_count                  # after coalescing
    npy_intp dims[NPY_MAXDIMS]
    bint tiled                      # cut into tiles, of so many elements and rows
    npy_intp tile_length
    npy_intp tile_rows
    bint streaming                  # an output is streamed
    Loop* loop
    Operand operands[MAX_OPERANDS]
    PyObject* temporaries[2 * MAX_OPERANDS]     # owned
    int temporaries_count
    # A scalar's value, and a constant operand's after its cast.
    long double scratch[2 * MAX_OPERANDS][2]
    int scratch_count


cdef inline Loop* contiguous_set_up(LoopTableState* table, PyArrayObject* x1, PyArrayObject* x2,
                                    npy_intp* size) noexcept nogil:
    """The fast set-up: the loop that runs over all `size` elements of both operands from end to end, NULL
    where that is not so.

    Everything that makes a call short is tested here, in this order: one native dtype that the op has
    a loop for; aligned; both C- or both F-contiguous; the same shape. Costs about 5 ns.
    """
    cdef PyArray_Descr* dtype = PyArray_DESCR(x1)
    cdef PyArray_Descr* other = PyArray_DESCR(x2)
    if dtype is not other and (dtype.type_num != other.type_num or not is_native(other)):
        return NULL
    if <unsigned int>dtype.type_num >= TYPE_NUMBERS or not is_native(dtype):
        return NULL
    cdef int flags = flags_of(x1) & flags_of(x2)
    if not flags & NPY_ARRAY_ALIGNED or not flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS):
        return NULL
    cdef int ndim = PyArray_NDIM(x1)
    if ndim != PyArray_NDIM(x2):
        return NULL
    cdef npy_intp* shape = PyArray_DIMS(x1)
    cdef npy_intp* other_shape = PyArray_DIMS(x2)
    cdef npy_intp product = 1
    cdef int k
    for k in range(ndim):
        if shape[k] != other_shape[k]:
            return NULL
        product *= shape[k]
    size[0] = product
    return table.same_type[dtype.type_num]


cdef int set_up(Iterator* it, Arguments* arguments, LoopTable table) except -1


cdef inline void set_up_line(Iterator* it, LoopTableState* table, Loop* loop, char** pointers, npy_intp size,
                             npy_intp* steps) noexcept nogil:
    """An iterator over one dimension of operands that the loop takes as they lie."""
    cdef int k
    it.nin = table.nin
    it.nout = table.nout
    it.count = it.nin + it.nout
    it.masked = False
    it.floating = loop.floating
    it.extended = loop.extended
    it.size = it.dims[0] = size
    it.dims_count = 1
    it.loop = loop
    for k in range(it.count):
        it.operands[k].data = pointers[k]
        it.operands[k].steps[0] = steps[k]
        it.operands[k].element = it.operands[k].loop_element = element_of(loop.types[k])
        it.operands[k].buffered = it.operands[k].swapped = False


cdef inline bint is_truth_of_inexact(Operand* operand) noexcept nogil:
    """A cast to bool, as logical ops of mixed dtypes have it: NumPy's flags for NaN are not ours."""
    return operand.loop_element == BOOL and not is_integer_element(operand.element)


cdef inline void set_array(Operand* operand, PyArrayObject* array) noexcept:
    """Points the operand at an array; what it is cast to stays."""
    cdef PyArray_Descr* dtype = PyArray_DESCR(array)
    operand.array = array
    operand.data = PyArray_BYTES(array)
    operand.code = dtype.type_num
    operand.element = element_of(dtype.type_num)
    operand.swapped = not is_native(dtype)
    operand.ndim = PyArray_NDIM(array)
    operand.shape = PyArray_DIMS(array)
    operand.own_strides = PyArray_STRIDES(array)
