"""The short ways: calls of which one look at the operands tells all there is to know.

Each operand is an array that is walked from end to end, or a single value that stays; all arrays have one
dtype, one shape and one order. No temporary and no Python object is made but the result.
"""
from cpython.object cimport PyObject, PyTypeObject

from tensoriter.core.arguments cimport OUT_KEYWORD
from tensoriter.core.array_api cimport (
    flags_of, is_native, is_plain_array, NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_F_CONTIGUOUS,
    NPY_ARRAY_WRITEABLE, NPY_BOOL, NPY_CDOUBLE, NPY_DOUBLE, npy_intp, NPY_LONG, Py_False, Py_True, Py_TYPE,
    PyArray_BYTES, PyArray_Descr, PyArray_DESCR, PyArray_DIMS, PyArray_NDIM, PyArrayObject,
    PyComplex_CheckExact, PyComplex_ImagAsDouble, PyComplex_RealAsDouble, PyFloat_AS_DOUBLE,
    PyFloat_CheckExact, PyLong_AsLongLongAndOverflow, PyLong_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE,
)
from tensoriter.core.dtypes cimport (
    dtype_of_code, element_of, element_size, integer_fits, is_integer_element, Loop, LoopTableState,
    scalar_type_number, scalar_types_by_number, SCALARS_HAVE_NO_STEPS, TYPE_NUMBERS, WEAK_COMPLEX, WEAK_FLOAT,
    WEAK_INT,
)
from tensoriter.core.iterator cimport contiguous_set_up
from tensoriter.core.loops.table cimport COMPLEX128, COMPLEX64, FLOAT32, FLOAT64

cdef extern from "scalars.h":
    char* scalar_value(PyObject*) nogil
    object new_scalar(int type_number, const void* value, PyArray_Descr* dtype)

cdef extern from "<math.h>":
    bint isinf(double) nogil

cdef struct Short:
    Loop* loop
    npy_intp size
    PyArrayObject* like         # the array that gives the result its shape and order; NULL: none
    PyArray_Descr* dtype        # the result's
    int layout                  # C and F flags that all arrays share
    char* pointers[3]           # inputs, then the output
    npy_intp steps[3]
    int codes[2]                # type numbers and weak codes, where there is a Python number
    bint weak                   # there is one
    long double values[2][2]    # of Python numbers, in the loop's type
    long double scalar[2]       # the result, where it is no array


cdef inline npy_intp size_of(PyArrayObject* array) noexcept nogil:
    """The number of elements (NumPy's own function for it is a call)."""
    cdef npy_intp size = 1
    cdef int k
    for k in range(PyArray_NDIM(array)):
        size *= PyArray_DIMS(array)[k]
    return size


cdef inline bint short_way(Short* way, LoopTableState* table, int nin, PyObject* const* args,
                           Py_ssize_t given, PyObject* kwnames, PyObject** out) noexcept:
    """Whether a call goes a short way: one or two inputs that fit, with or without an output, which may be
    named. `out` is NULL where it is to be allocated; otherwise all is ready for the loop."""
    out[0] = NULL
    if kwnames is not NULL:
        if given != nin or PyTuple_GET_SIZE(kwnames) != 1 or PyTuple_GET_ITEM(kwnames, 0) is not OUT_KEYWORD:
            return False
        given = nin + 1
    if given == nin + 1:
        out[0] = args[nin]
        if not is_plain_array(out[0]):
            return False
    elif given != nin:
        return False
    way.weak = False
    if not (one_set_up(way, table, args[0]) if nin == 1 else two_set_up(way, table, args[0], args[1])):
        return False
    if way.weak and not is_weakly_resolved(way, table, nin):
        return False
    way.dtype = dtype_of_result(way.loop, nin, way.dtype)
    way.steps[nin] = way.loop.steps[nin]
    if (nin == 1 and way.like is NULL and out[0] is NULL and SCALARS_HAVE_NO_STEPS and way.loop.borrowed
            and way.loop.types[0] == way.loop.types[1]):
        way.steps[1] = 0    # by which complex square chooses its last bit: see set_single_steps in prepare
    return out[0] is NULL or accepts_output(way, nin, <PyArrayObject*>out[0])


cdef inline PyArray_Descr* dtype_of_result(Loop* loop, int nin, PyArray_Descr* first) noexcept:
    """A native first input's own dtype where the types agree, with its metadata, as in NumPy."""
    return first if first.type_num == loop.types[nin] else dtype_of_code[loop.types[nin]]


cdef inline bint is_weakly_resolved(Short* way, LoopTableState* table, int nin) noexcept:
    """Whether NumPy has been asked about these Python numbers, and meant this loop."""
    cdef int known = table.resolved[way.codes[0]][way.codes[1] if nin == 2 else 0]
    return &table.loops[known] is way.loop


cdef inline bint one_set_up(Short* way, LoopTableState* table, PyObject* x) noexcept:
    """All but the output for a single input."""
    cdef PyArrayObject* array = <PyArrayObject*>x
    cdef PyArray_Descr* dtype
    cdef int flags, number
    if not is_plain_array(x):
        way.like = NULL
        way.layout = 0
        number = scalar_type_number(Py_TYPE(x))
        if number < 0:
            number = type_number_of_python(x)
        return take_single(way, table, x, number) if number >= 0 else take_rarer(way, table, x)
    dtype = PyArray_DESCR(array)
    flags = flags_of(array)
    if <unsigned int>dtype.type_num >= TYPE_NUMBERS or not is_native(dtype):
        return False
    if not flags & NPY_ARRAY_ALIGNED or not flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS):
        return False
    way.loop = table.same_type[dtype.type_num]
    way.like = array
    way.size = size_of(array)
    way.dtype = dtype
    way.layout = flags
    way.pointers[0] = PyArray_BYTES(array)
    if way.loop is NULL:
        return False
    way.steps[0] = way.loop.steps[0] if PyArray_NDIM(array) > 0 else 0
    return True


cdef inline bint take_single(Short* way, LoopTableState* table, PyObject* x, int number) noexcept:
    way.loop = table.same_type[number]
    way.size = 1
    way.dtype = dtype_of_code[number]
    return way.loop is not NULL and take_value(way, x, 0, number)


cdef inline bint take_rarer(Short* way, LoopTableState* table, PyObject* x) noexcept:
    """A Python complex or bool, alone."""
    cdef double* parts = <double*>way.values[0]
    way.weak = PyComplex_CheckExact(x)
    way.steps[0] = 0
    way.pointers[0] = <char*>parts
    if way.weak:
        way.codes[0] = WEAK_COMPLEX
        parts[0] = PyComplex_RealAsDouble(x)
        parts[1] = PyComplex_ImagAsDouble(x)
    elif x is Py_True or x is Py_False:
        way.codes[0] = NPY_BOOL
        way.pointers[0][0] = x is Py_True
    else:
        return False
    way.dtype = dtype_of_code[way.codes[0]]
    way.loop = table.same_type[way.dtype.type_num]
    way.size = 1
    return way.loop is not NULL


cdef inline int type_number_of_python(PyObject* x) noexcept:
    """The type number of what NumPy makes of a Python float or int, -1 for anything else."""
    if PyFloat_CheckExact(x):
        return NPY_DOUBLE
    return NPY_LONG if PyLong_CheckExact(x) else -1


cdef inline bint two_set_up(Short* way, LoopTableState* table, PyObject* x1, PyObject* x2) noexcept:
    """All but the output for two inputs."""
    cdef PyArrayObject* a = <PyArrayObject*>x1
    cdef PyArrayObject* b = <PyArrayObject*>x2
    if not is_plain_array(x1):
        return with_value(way, table, b, x1, 0) if is_plain_array(x2) else of_scalars(way, table, x1, x2)
    if not is_plain_array(x2):
        return with_value(way, table, a, x2, 1)
    way.loop = contiguous_set_up(table, a, b, &way.size)
    if way.loop is NULL:
        if PyArray_NDIM(b) == 0:
            return with_value(way, table, a, x2, 1)
        return PyArray_NDIM(a) == 0 and with_value(way, table, b, x1, 0)
    way.like = a
    way.dtype = PyArray_DESCR(a)
    way.layout = flags_of(a) & flags_of(b)
    way.pointers[0] = PyArray_BYTES(a)
    way.pointers[1] = PyArray_BYTES(b)
    # Without dimensions an operand stays, as in NumPy: some of its loops compute otherwise where it does not.
    way.steps[0] = way.steps[1] = way.loop.steps[0] if PyArray_NDIM(a) > 0 else 0
    return True


cdef inline bint of_scalars(Short* way, LoopTableState* table, PyObject* x1, PyObject* x2) noexcept:
    """Two NumPy scalars of one type, one and a Python number that its type takes, or two Python numbers."""
    cdef int number = scalar_type_number(Py_TYPE(x1))
    if number < 0:
        number = scalar_type_number(Py_TYPE(x2))
        if number < 0:
            number = max(type_number_of_python(x1), type_number_of_python(x2))
            if number < 0:
                return False
    way.loop = table.same_type[number]
    if (way.loop is NULL or not take_value(way, x1, 0, number) or not take_value(way, x2, 1, number)):
        return False
    way.like = NULL
    way.size = 1
    way.dtype = dtype_of_code[number]
    way.layout = 0
    return True


cdef inline bint take_value(Short* way, PyObject* value, int place, int number) noexcept:
    """Points operand `place` at a single value of that type number; False where `value` is not one."""
    cdef PyArrayObject* array = <PyArrayObject*>value
    way.steps[place] = 0
    way.codes[place] = number
    if Py_TYPE(value) is scalar_types_by_number[number]:
        way.pointers[place] = scalar_value(value)
        return True
    if is_plain_array(value):
        way.pointers[place] = PyArray_BYTES(array)
        # A dtype instance of its own (with metadata) would have to be handed on to the result.
        return PyArray_DESCR(array) is dtype_of_code[number] and flags_of(array) & NPY_ARRAY_ALIGNED
    way.weak = True
    way.codes[place] = WEAK_FLOAT if PyFloat_CheckExact(value) else WEAK_INT
    way.pointers[place] = <char*>way.values[place]
    return convert_number(way.values[place], value, element_of(number))


cdef inline bint with_value(Short* way, LoopTableState* table, PyArrayObject* array, PyObject* value,
                            int place) noexcept:
    """An array with a 0-d array or NumPy scalar of its dtype, or a Python number that its dtype takes
    (`place`: which operand that is)."""
    cdef PyArray_Descr* dtype = PyArray_DESCR(array)
    cdef int flags = flags_of(array)
    if <unsigned int>dtype.type_num >= TYPE_NUMBERS or not is_native(dtype):
        return False
    if place == 0 and dtype is not dtype_of_code[dtype.type_num]:
        return False    # an instance of its own (with metadata) is handed on by the first operand only
    if not flags & NPY_ARRAY_ALIGNED or not flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS):
        return False
    way.loop = table.same_type[dtype.type_num]
    if way.loop is NULL or not take_value(way, value, place, dtype.type_num):
        return False
    way.like = array
    way.size = size_of(array)
    way.dtype = dtype
    way.layout = flags
    way.pointers[1 - place] = PyArray_BYTES(array)
    way.steps[1 - place] = way.loop.steps[0]
    way.codes[1 - place] = dtype.type_num
    return True


cdef inline bint convert_number(void* target, PyObject* value, int element) noexcept:
    """Writes a Python float or int as an element of that type; False where the general set-up has to look
    (another dtype would come out, the value does not fit, or the cast overflows)."""
    cdef int overflow = 0
    cdef long long integer
    cdef double real
    if PyFloat_CheckExact(value):
        real = PyFloat_AS_DOUBLE(value)
    elif PyLong_CheckExact(value):
        integer = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow:
            return False
        if is_integer_element(element):
            return write_integer(target, integer, element)
        real = <double>integer      # and from there to float32, as NumPy rounds
    else:
        return False
    if element == FLOAT64 or element == COMPLEX128:
        (<double*>target)[0] = real
        (<double*>target)[1] = 0
        return True
    if element == FLOAT32 or element == COMPLEX64:
        (<float*>target)[0] = <float>real
        (<float*>target)[1] = 0
        return not isinf((<float*>target)[0]) or isinf(real)
    return False


cdef inline bint write_integer(void* target, long long value, int element) noexcept:
    """False for bool, with which an int promotes, and out of range."""
    cdef int size = element_size[element]
    if element == 0 or not integer_fits(value, element):
        return False
    if size == 8:
        (<long long*>target)[0] = value
    elif size == 4:
        (<int*>target)[0] = <int>value
    elif size == 2:
        (<short*>target)[0] = <short>value
    else:
        (<signed char*>target)[0] = <signed char>value
    return True


cdef inline bint accepts_output(Short* way, int nin, PyArrayObject* out) noexcept:
    """Whether the result can be written into `out` as it stands: of its dtype, laid out like the operands,
    and either exactly one of them or apart from all."""
    cdef int ndim = PyArray_NDIM(out)
    cdef int k
    cdef int flags = flags_of(out)
    cdef npy_intp apart
    if way.like is NULL or PyArray_DESCR(out) is not way.dtype or ndim != PyArray_NDIM(way.like):
        return False
    if not flags & NPY_ARRAY_WRITEABLE or not flags & NPY_ARRAY_ALIGNED:
        return False
    if not flags & way.layout & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS):
        return False
    for k in range(ndim):
        if PyArray_DIMS(out)[k] != PyArray_DIMS(way.like)[k]:
            return False
    way.pointers[nin] = PyArray_BYTES(out)
    for k in range(nin):
        apart = way.pointers[nin] - way.pointers[k]
        if apart == 0 and way.steps[k] == way.steps[nin] and (way.size > 1 or not way.loop.borrowed):
            continue    # of a single element see set_single_steps in prepare.pyx
        # One element of way.loop.steps[k] bytes where the operand stays.
        if (apart + way.size * way.steps[nin] > 0
                and apart < (way.size * way.steps[k] if way.steps[k] != 0 else way.loop.steps[k])):
            return False
    return True
