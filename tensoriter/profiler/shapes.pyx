"""The dtypes and shapes of a call's inputs, as a number that is the same for the same ones.

The numbers that were asked for lately stand in a small table by a hash of 64 bits; the others in a dict.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t

from tensoriter.core.array_api cimport (
    _import_array, Py_TYPE, PyArray_DESCR, PyArray_DIMS, PyArray_NDIM, PyArrayObject,
)

cdef extern from *:
    """
    static inline int is_any_array(PyObject *object) { return PyArray_Check(object); }
    """
    bint is_any_array(PyObject* object) noexcept nogil

_import_array()

cdef enum:
    SHAPES_WORDS = 64
    SHAPES_CACHE = 256

cdef struct KnownShapes:
    uint64_t hash
    uint32_t number

cdef KnownShapes[SHAPES_CACHE] known_shapes
cdef dict shapes_numbers = {}
shapes_texts = [""]     # by number


cdef uint32_t number_of_shapes(PyObject* const* inputs, Py_ssize_t count) noexcept:
    """A number for the dtypes and shapes of the inputs; 0 where they are too long a story."""
    cdef uint64_t words[SHAPES_WORDS]
    cdef uint64_t hash = 14695981039346656037ULL
    cdef Py_ssize_t k, axis, length = 0
    cdef PyArrayObject* array
    for k in range(count):
        if not is_any_array(inputs[k]):
            if length >= SHAPES_WORDS:
                return 0
            words[length] = <uint64_t>Py_TYPE(inputs[k])
            length += 1
            continue
        array = <PyArrayObject*>inputs[k]
        if length + 1 + PyArray_NDIM(array) > SHAPES_WORDS:
            return 0
        words[length] = (<uint64_t>PyArray_DESCR(array).type_num << 8) + PyArray_NDIM(array) + 1
        length += 1
        for axis in range(PyArray_NDIM(array)):
            words[length] = <uint64_t>PyArray_DIMS(array)[axis]
            length += 1
    for k in range(length):
        hash = (hash ^ words[k]) * 1099511628211ULL
        hash ^= hash >> 29
    cdef KnownShapes* known = &known_shapes[hash % SHAPES_CACHE]
    if known.hash != hash or known.number == 0:
        known.hash = hash
        known.number = find_shapes((<char*>words)[:length * sizeof(uint64_t)], inputs, count)
    return known.number


cdef uint32_t find_shapes(bytes key, PyObject* const* inputs, Py_ssize_t count) noexcept:
    cdef Py_ssize_t k
    found = shapes_numbers.get(key)
    if found is None:
        operands = [<object>inputs[k] for k in range(count)]
        number = len(shapes_texts)
        shapes_texts.append(", ".join(map(shape_text, operands)))
        found = shapes_numbers[key] = (number, [type(operand) for operand in operands])     # kept alive
    return found[0]


def shape_text(operand):
    """As `tensoriter explain` takes it: 'float32[3, 4]'; of what is no array, its type."""
    if not is_any_array(<PyObject*>operand):
        return type(operand).__name__
    return f"{operand.dtype.newbyteorder('=').name}{list(operand.shape)}"
