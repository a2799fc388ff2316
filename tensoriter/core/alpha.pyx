"""alpha=, the factor of x1 + alpha * x2."""
import numpy as np

from cpython.object cimport PyObject

from tensoriter.core.array_api cimport (
    _import_array, PyArray_Descr, PyArray_DescrFromType, PyArray_Pack, steal,
)

_import_array()


cdef int set_alpha(object value, int type_number, void* target) except -1:
    """Writes alpha as that type; TypeError where that is not a same_kind cast, OverflowError out of range."""
    cdef PyArray_Descr* descr = PyArray_DescrFromType(type_number)
    dtype = steal(<PyObject*>descr)
    if type(value) is int:
        # In range or not is Pack's to say: OverflowError.
        allowed = dtype.kind in "iufc"
    else:
        value = np.asarray(value)[()]
        allowed = np.ndim(value) == 0 and np.can_cast(np.asarray(value).dtype, dtype, "same_kind")
    if not allowed:
        raise TypeError(f"alpha={value!r} is not a number that can be cast to the result's dtype {dtype}"
                        " by the rule 'same_kind'")
    return PyArray_Pack(descr, target, <PyObject*>value)
