"""Which loop the dtypes of a call choose.

The rules of promotion are NumPy's own: `ufunc.resolve_dtypes` is asked once for each pair of dtypes
and the answer is remembered by type number, so that no rule stands here a second time.
"""
import numpy as np

from tensoriter.core.array_api cimport (
    _import_array, NPY_CDOUBLE, NPY_DOUBLE, NPY_LONG, PyArray_DescrFromType,
)
from tensoriter.core.loops.table cimport LONGDOUBLE, CLONGDOUBLE, own_loop

_import_array()

cdef tuple WEAK_TYPES = (int, float, complex)
cdef dict TYPE_OF_CHARACTER = {np.dtype(c).char: np.dtype(c).num for c in "?bBhHiIlLqQefdgFDG"}
cdef dict _CHARACTERS = {number: character for character, number in TYPE_OF_CHARACTER.items()}

# Exact types of NumPy's numeric scalars, and the type number of each. A scalar's value lies right
# behind the object's head, so that its address needs no call.
cdef PyTypeObject* scalar_types[18]
cdef int scalar_numbers[18]


def _fill_scalar_types():
    # Often used first: a look-up walks this list, 1 ns a step.
    cdef int i
    for i, character in enumerate("dflqi?DFeBbHhILQgG"):
        dtype = np.dtype(character)
        scalar_types[i] = <PyTypeObject*><PyObject*>dtype.type
        scalar_numbers[i] = dtype.num
        scalar_types_by_number[scalar_numbers[i]] = scalar_types[i]


_fill_scalar_types()

cdef PyArray_Descr* dtype_of_code[27]
for _code in range(TYPE_NUMBERS):
    dtype_of_code[<int>_code] = PyArray_DescrFromType(_code)
dtype_of_code[WEAK_INT] = dtype_of_code[NPY_LONG]
dtype_of_code[WEAK_FLOAT] = dtype_of_code[NPY_DOUBLE]
dtype_of_code[WEAK_COMPLEX] = dtype_of_code[NPY_CDOUBLE]


cdef object dtype_of(int number):
    return np.dtype(_CHARACTERS[number])


cdef int scalar_type_number(PyTypeObject* scalar_type) noexcept:
    """The type number of a NumPy scalar's exact type, -1 for any other type."""
    for i in range(18):
        if scalar_types[i] is scalar_type:
            return scalar_numbers[i]
    return -1


cdef class LoopTable:
    """The loops of one ufunc: ours where we have one, and how dtypes choose among them."""

    def __cinit__(self, ufunc, *args, **kwargs):
        if not isinstance(ufunc, np.ufunc) or ufunc.signature is not None:
            raise TypeError(f"an op stands for an element-wise ufunc, not for {ufunc!r}")
        if ufunc.nargs >= MAX_OPERANDS:     # one place is the mask's
            raise ValueError(f"{ufunc!r} has {ufunc.nargs} operands, and an op at most {MAX_OPERANDS - 1}")
        self.ufunc = ufunc
        self.table.nin = ufunc.nin
        self.table.nout = ufunc.nout
        for row in range(DTYPE_CODES):
            for column in range(DTYPE_CODES):
                self.table.resolved[row][column] = UNRESOLVED

    def _add_own_loops(self, bytes op):
        """Adds our loops of that name, for each of the ufunc's signatures of a single numeric type."""
        cdef int number, k
        cdef Loop* loop
        for signature in self.ufunc.types:
            characters = signature.replace("->", "")
            if len(set(characters)) != 1 or characters[0] not in TYPE_OF_CHARACTER:
                continue
            number = TYPE_OF_CHARACTER[characters[0]]
            loop = &self.table.loops[self.table.count]
            loop.function = own_loop(op, element_of(number))
            if loop.function is NULL:
                continue
            for k in range(self.table.nin + self.table.nout):
                loop.types[k] = number
                loop.steps[k] = element_size[element_of(number)]
            loop.floating = not is_integer_element(element_of(number))
            loop.extended = element_of(number) in (LONGDOUBLE, CLONGDOUBLE)
            self.table.same_type[number] = loop
            self.table.count += 1

    cdef Loop* resolve(self, int* codes) except? NULL:
        """The loop for operands with these codes; NULL where the call is NumPy's."""
        cdef int second = codes[1] if self.table.nin > 1 else 0
        cdef unsigned char* known = &self.table.resolved[codes[0]][second]
        if known[0] == UNRESOLVED:
            known[0] = <unsigned char>self.ask_numpy(codes, -1)
        return NULL if known[0] == LEFT_TO_NUMPY else &self.table.loops[known[0]]

    cdef Loop* resolve_as(self, int* codes, int dtype) except? NULL:
        """The loop for these operands when `dtype=` asks for a result of that type."""
        cdef int index = self.ask_numpy(codes, dtype)
        return NULL if index == LEFT_TO_NUMPY else &self.table.loops[index]

    cdef int ask_numpy(self, int* codes, int dtype) except -1:
        operands = [WEAK_TYPES[codes[k] - WEAK_INT] if codes[k] >= WEAK_INT else dtype_of(codes[k])
                    for k in range(self.table.nin)]
        operands += [None] * self.table.nout
        # How operands may be cast is checked where their own dtypes are known.
        options = {"casting": "unsafe"}
        if dtype >= 0:
            options["signature"] = (None,) * self.table.nin + (dtype_of(dtype),) * self.table.nout
        try:
            chosen = self.ufunc.resolve_dtypes(tuple(operands), **options)
        except (TypeError, ValueError):  # NumPy says the same again when it gets the call
            return LEFT_TO_NUMPY
        return self.find_loop([resolved.num for resolved in chosen])

    cdef int find_loop(self, list numbers) noexcept:
        cdef int i, k
        for i in range(self.table.count):
            for k in range(len(numbers)):
                if self.table.loops[i].types[k] != <int>numbers[k]:
                    break
            else:
                return i
        return LEFT_TO_NUMPY
