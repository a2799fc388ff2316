"""The second part of the general set-up: it acts on what the first part decided.

Casts what is cast before the loop, lets outputs that inputs overlap be computed elsewhere, allocates the
results, and arranges the dimensions.
"""
import numpy as np

from cpython.object cimport PyObject

from tensoriter.core.array_api cimport (
    _import_array, _import_umath, has_metadata, is_native, NPY_CORDER, NPY_FORTRANORDER,
    NPY_KEEPORDER, npy_intp, NPY_MAXDIMS, NPY_ORDER,
    Py_DECREF, Py_INCREF, PyArray_CastToType, PyArray_CopyInto, PyArray_Descr, PyArray_DESCR,
    PyArray_DescrNewByteorder, PyArray_NewFromDescr, PyArray_NewLikeArray, PyArray_Type,
    PyArrayObject,
)
from tensoriter.core.dtypes cimport (
    dtype_of_code, element_size, element_unit, SCALARS_HAVE_NO_STEPS, WEAK_INT,
)
from tensoriter.core.fpstatus cimport FE_ALL_EXCEPT, FE_OVERFLOW, fp_clear, fp_report, fp_status
from tensoriter.core.freelist cimport new_array
from tensoriter.core.iterator cimport Operand, set_array
from tensoriter.core.layout cimport (
    all_in_order, coalesce, is_plain_order, order_dimensions, output_strides,
)
from tensoriter.core.loops.table cimport copy_swapped, own_cast
from tensoriter.core.tiles cimport plan_tiles

_import_array()
_import_umath()


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
    if it.size == 1 and it.nout == 1 and not it.masked:
        set_single_steps(it, arguments.order)
    plan_tiles(it)
    return 0


cdef void set_single_steps(Iterator* it, NPY_ORDER order) noexcept:
    """Gives a single element the steps that NumPy gives it, since some of its loops compute otherwise for
    step 0: that is nditer's, which operands of one number of dimensions do not come to, nor in place."""
    cdef int k
    cdef Operand* operand
    if it.ndim > 1 and (order == NPY_CORDER or order == NPY_FORTRANORDER):
        return
    if (SCALARS_HAVE_NO_STEPS and it.nin == 1
            and it.operands[0].array is NULL and it.operands[1].array is NULL and order == NPY_KEEPORDER
            and it.loop.types[0] == it.loop.types[1]):
        return
    for k in range(it.nin + 1):
        operand = &it.operands[k]
        if k < it.nin and operand.data == it.operands[it.nin].data:
            return
        if operand.buffered or (operand.ndim != it.ndim and (operand.ndim > 0 or k == it.nin)):
            return
    for k in range(it.nin + 1):
        operand = &it.operands[k]
        if operand.ndim == 1:
            operand.steps[0] = operand.own_strides[0]
        elif operand.ndim > 1 or k == it.nin:
            operand.steps[0] = element_size[operand.element]


cdef int redirect_output(Iterator* it, int k) except -1:
    """Lets an output that inputs overlap be computed elsewhere, in the loop's type; `write_back` brings
    it home. So does NumPy, and so an error after the loop leaves such an output as it was."""
    cdef Operand* operand = &it.operands[k]
    cdef PyArray_Descr* dtype = dtype_of_code[it.loop.types[k]]
    operand.home = operand.array
    Py_INCREF(<PyObject*>dtype)
    return adopt(it, operand, PyArray_NewLikeArray(operand.array, NPY_KEEPORDER, dtype, 0))


cdef int write_back(Iterator* it) except -1:
    cdef int k
    cdef Operand* operand
    for k in range(it.nin, it.nin + it.nout):
        operand = &it.operands[k]
        if operand.home is NULL:
            continue
        if it.masked:
            # The mask may lie where the output goes.
            mask = np.array(<object><PyObject*>it.operands[it.count - 1].array)
            np.copyto(<object><PyObject*>operand.home, <object><PyObject*>operand.array, casting="unsafe",
                      where=mask)
        else:
            PyArray_CopyInto(operand.home, operand.array)
        operand.array = operand.home
    return 0


cdef int adopt(Iterator* it, Operand* operand, PyObject* array) except -1:
    """Puts a new array, which the iterator owns from here on, in the place of an operand's own."""
    cdef int axis, ndim
    if array is NULL:
        return -1
    keep(it, array)
    set_array(operand, <PyArrayObject*>array)
    operand.buffered = operand.element != operand.loop_element or operand.swapped
    ndim = operand.ndim
    for axis in range(ndim):
        operand.strides[axis] = 0
        if operand.shape[ndim - 1 - axis] != 1:
            operand.strides[axis] = operand.own_strides[ndim - 1 - axis]
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
        adopt(it, operand, PyArray_CastToType(operand.array, dtype, 0))
        if it.floating:
            fp_clear(it.extended)   # NumPy's cast has reported them, and leaves the x87 unit's standing
        return 0
    copy = PyArray_NewFromDescr(&PyArray_Type, dtype, 1, operand.shape, NULL, NULL, 0, NULL)
    adopt(it, operand, copy)
    own_cast(source.element, source.loop_element)(
        source.data, source.own_strides[0], operand.data, element_size[operand.element], operand.shape[0])
    return report_cast(it, FE_ALL_EXCEPT)


cdef int report_cast(Iterator* it, int reported) except -1:
    cdef int status = fp_status(it.extended) if it.floating else 0
    return fp_report(status & reported, b"cast", it.extended) if status else 0


cdef int allocate_outputs(Iterator* it, NPY_ORDER order) except -1:
    """Gives each output that was not given an array (or, without dimensions, room for a scalar)."""
    cdef int k
    cdef Operand* operand
    for k in range(it.nin, it.nin + it.nout):
        operand = &it.operands[k]
        if operand.array is not NULL:
            continue
        if it.ndim == 0:
            operand.data = <char*>it.scratch[it.scratch_count]
            it.scratch_count += 1
        else:
            adopt(it, operand, allocate(it, k, order))
    return 0


cdef PyObject* allocate(Iterator* it, int k, NPY_ORDER order) except NULL:
    """Output k, laid out as NumPy lays it out."""
    cdef npy_intp shape[NPY_MAXDIMS]
    cdef npy_intp strides[NPY_MAXDIMS]
    cdef bint fortran, plain = lay_out(it, k, order, shape, strides, &fortran)
    cdef PyArray_Descr* dtype = result_dtype(it, k)
    cdef PyObject* array
    if not plain:
        return PyArray_NewFromDescr(&PyArray_Type, dtype, it.ndim, shape, strides, NULL, 0, NULL)
    array = new_array(dtype, it.ndim, shape, fortran)
    Py_DECREF(<PyObject*>dtype)
    return array


cdef bint lay_out(Iterator* it, int k, NPY_ORDER order, npy_intp* shape, npy_intp* strides,
                  bint* fortran) noexcept:
    """The shape and, where the layout is not plain C or Fortran order (False), the strides of output k."""
    cdef int axis
    fortran[0] = False
    for axis in range(it.ndim):
        shape[axis] = it.shape[it.ndim - 1 - axis]
    # NumPy skips nditer for ufuncs of one output only.
    if it.ndim > 1 and (it.nout > 1 or not all_in_order(it, order, fortran)):
        output_strides(it, order, element_size[it.operands[k].element], strides)
        return is_plain_order(it.ndim, shape, strides, element_size[it.operands[k].element], fortran)
    return True


cdef PyArray_Descr* result_dtype(Iterator* it, int k) except NULL:
    """A new reference to output k's dtype: the first input's own where the types agree, with its
    metadata, as in NumPy; in native byte order."""
    cdef PyArray_Descr* dtype = dtype_of_code[it.loop.types[k]]
    cdef Operand* first = &it.operands[0]
    if first.array is not NULL and first.code == it.loop.types[k]:
        if is_native(PyArray_DESCR(first.array)):
            dtype = PyArray_DESCR(first.array)
        elif has_metadata(PyArray_DESCR(first.array)):
            return PyArray_DescrNewByteorder(PyArray_DESCR(first.array), b"=")
    Py_INCREF(<PyObject*>dtype)
    return dtype


cdef void clear(Iterator* it) noexcept:
    """Gives back what `prepare` took."""
    cdef int k
    for k in range(it.temporaries_count):
        Py_DECREF(it.temporaries[k])
    it.temporaries_count = 0
