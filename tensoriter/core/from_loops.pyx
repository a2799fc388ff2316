"""A ufunc of C functions that somebody hands over as pointers, so that `Op.from_ufunc` can take its loops."""
import ctypes

import numpy as np

from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free

from tensoriter.core.array_api cimport (
    _import_array, _import_umath, Py_INCREF, PyUFunc_FromFuncAndData, PyUFunc_None, PyUFuncObject,
)
from tensoriter.core.dtypes cimport element_of, MAX_OPERANDS

_import_array()
_import_umath()


cdef class LoopArrays:
    """What a ufunc points at: the ufunc owns this, and this owns the functions."""
    cdef void** functions
    cdef void** data
    cdef bytes types, name, doc
    cdef list owners        # of the functions: ctypes or numba objects

    def __cinit__(self, str name, str doc, list loops):
        cdef int k
        self.name = name.encode()
        self.doc = doc.encode()
        self.types = b"".join([types for types, _ in loops])
        self.owners = [pointer for _, pointer in loops]
        self.functions = <void**>calloc(len(loops), sizeof(void*))
        self.data = <void**>calloc(len(loops), sizeof(void*))
        if self.functions is NULL or self.data is NULL:
            raise MemoryError
        for k in range(len(loops)):
            self.functions[k] = <void*><uintptr_t>address_of(self.owners[k])

    def __dealloc__(self):
        free(self.functions)
        free(self.data)


def ufunc_of_loops(str name, loops, nin, str doc):
    """The ufunc for {types: pointer}, see `Op.from_loops`."""
    if not loops:
        raise ValueError("an op needs one loop at least")
    numbers = [(types_of(types, nin), pointer) for types, pointer in loops.items()]
    counts = {(nin, len(types)) for (types, nin), _ in numbers}
    if len(counts) > 1:
        raise ValueError(f"the loops of {name} differ in their number of operands")
    (inputs, operands), = counts
    if not 0 < inputs < operands < MAX_OPERANDS:
        raise ValueError(f"{name} has {inputs} inputs and {operands - inputs} outputs: an op has at least "
                         f"one of each, and {MAX_OPERANDS - 1} together at most")
    cdef LoopArrays arrays = LoopArrays(name, doc, [(types, pointer) for (types, _), pointer in numbers])
    ufunc = PyUFunc_FromFuncAndData(arrays.functions, arrays.data, arrays.types, len(numbers), inputs,
                                    operands - inputs, PyUFunc_None, arrays.name, arrays.doc, 0)
    Py_INCREF(<PyObject*>arrays)
    (<PyUFuncObject*><PyObject*>ufunc).obj = <PyObject*>arrays
    return ufunc


cdef tuple types_of(types, nin):
    """(type numbers as bytes, number of inputs) of ('d', 'd', 'd') or 'dd->d'."""
    if isinstance(types, str):
        inputs, arrow, outputs = types.partition("->")
        if not arrow:
            raise ValueError(f"the types of a loop look like 'dd->d' or ('d', 'd', 'd'), not {types!r}")
        types, nin = inputs + outputs, len(inputs)
    numbers = [np.dtype(dtype).num for dtype in types]
    for dtype, number in zip(types, numbers, strict=True):
        if element_of(number) < 0:
            raise ValueError(f"{dtype!r} is not a numeric type")
    return bytes(numbers), len(numbers) - 1 if nin is None else nin


def address_of(pointer):
    """The address of a C function: an int, a ctypes function pointer, or what has it as .address."""
    address = getattr(pointer, "address", pointer)
    if isinstance(address, ctypes._CFuncPtr):
        address = ctypes.cast(address, ctypes.c_void_p).value
    if not isinstance(address, int) or address <= 0:
        raise TypeError(f"a loop is the address of a C function, a ctypes function pointer or an object with"
                        f" .address (numba.cfunc), not {pointer!r}")
    return address
