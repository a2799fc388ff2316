"""Which loop the dtypes of a call choose.

The rules of promotion are NumPy's own: `ufunc.resolve_dtypes` is asked once for each pair of dtypes
and the answer is remembered by type number, so that no rule stands here a second time.
"""
import numpy as np

from libc.stdlib cimport calloc, free
from libc.string cimport memset

from tensoriter.core.array_api cimport (
    _import_array, NPY_CDOUBLE, NPY_DOUBLE, NPY_LONG, PyArray_DescrFromType, PyUFuncObject,
)
from tensoriter.core.fpstatus cimport FE_OVERFLOW, feraiseexcept, fp_clear, fp_status
from tensoriter.core.loops.table cimport checked_loop, own_loop

_import_array()

cdef bint SCALARS_HAVE_NO_STEPS = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 4)

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


cdef object UFUNC = np.ufunc


cdef class LoopTable:
    """The loops of one ufunc for numbers and bools, and how dtypes choose among them."""

    def __cinit__(self, *args, **kwargs):
        memset(self.table.resolved, UNRESOLVED, sizeof(self.table.resolved))
        self.resolved_many = {}

    def __init__(self, ufunc):
        self.take(ufunc)

    def __dealloc__(self):
        free(self.table.loops)

    def take(self, ufunc):
        """Makes this the table of that ufunc, still without loops."""
        if not isinstance(ufunc, UFUNC):
            raise TypeError(f"an op stands for a ufunc, not for {ufunc!r}")
        if self.ufunc is not None:
            raise TypeError(f"this is the op of {self.ufunc!r}, and stays it")
        self.ufunc = ufunc
        self.table.nin = ufunc.nin
        self.table.nout = ufunc.nout

    cdef int add_loops(self, const char* own, bint borrowing) except -1:
        """Adds a loop for each of the ufunc's signatures of numbers and bools: ours of the name `own` (NULL
        where the ufunc is not NumPy's) if there is one, otherwise, if `borrowing`, the ufunc's."""
        cdef PyUFuncObject* ufunc = <PyUFuncObject*><PyObject*>self.ufunc
        cdef int k
        cdef Loop* loop
        self.table.loops = <Loop*>calloc(max(ufunc.ntypes, 1), sizeof(Loop))
        if self.table.loops is NULL:
            raise MemoryError
        for k in range(ufunc.ntypes):
            loop = &self.table.loops[self.table.count]
            if self.table.count < MOST_LOOPS and fill_loop(loop, ufunc, k, own, borrowing):
                self.table.count += 1
                self.checkable |= loop.checked is not NULL
        return 0

    cdef Loop* resolve(self, int* codes) except? NULL:
        """The loop for operands with these codes; NULL where the call is NumPy's."""
        cdef int index
        cdef int alike[2]
        cdef unsigned char* known
        if self.table.nin > 2:
            index = self.resolve_many(codes)
            return NULL if index == LEFT_TO_NUMPY else &self.table.loops[index]
        known = &self.table.resolved[codes[0]][codes[1] if self.table.nin > 1 else 0]
        if known[0] == UNRESOLVED:
            known[0] = <unsigned char>self.ask_numpy(codes, -1)
            self.note_same_type(codes, known[0])
            if known[0] != LEFT_TO_NUMPY:
                # An array with a Python number goes the short way by what is known of two such arrays.
                alike[0] = alike[1] = self.table.loops[known[0]].types[0]
                if codes[0] != alike[0] or (self.table.nin > 1 and codes[1] != alike[0]):
                    self.resolve(alike)
        return NULL if known[0] == LEFT_TO_NUMPY else &self.table.loops[known[0]]

    cdef int resolve_many(self, int* codes) except -1:
        key = tuple([codes[k] for k in range(self.table.nin)])
        index = self.resolved_many.get(key)
        if index is None:
            index = self.resolved_many[key] = self.ask_numpy(codes, -1)
        return index

    cdef void note_same_type(self, int* codes, int index) noexcept:
        """Lets the contiguous path find the loop if it takes inputs of one type as they are."""
        cdef int k
        if index == LEFT_TO_NUMPY or codes[0] >= WEAK_INT or self.table.nout != 1:
            return
        for k in range(self.table.nin):
            if codes[k] != codes[0] or self.table.loops[index].types[k] != codes[0]:
                return
        self.table.same_type[codes[0]] = &self.table.loops[index]

    cdef Loop* resolve_as(self, int* codes, int dtype) except? NULL:
        """The loop for these operands when `dtype=` asks for a result of that type."""
        cdef int index = self.ask_numpy(codes, dtype)
        return NULL if index == LEFT_TO_NUMPY else &self.table.loops[index]

    cdef int ask_numpy(self, int* codes, int dtype) except -1:
        if self.table.count == 0:
            return LEFT_TO_NUMPY
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


# ---------------------------------------------------------------- one loop

cdef bint fill_loop(Loop* loop, PyUFuncObject* ufunc, int signature, const char* own,
                    bint borrowing) noexcept:
    """Describes the loop of the ufunc's signature of that number; False where it is not for us."""
    cdef const char* types = ufunc.types + signature * ufunc.nargs
    cdef int k, element
    cdef bint alike = True
    loop.extended = False
    for k in range(ufunc.nargs):
        element = element_of(types[k])
        if element < 0:
            return False
        loop.types[k] = types[k]
        loop.steps[k] = element_size[element]
        loop.extended |= is_extended_element(element)
        alike &= k >= ufunc.nin or types[k] == types[0]
    loop.data = NULL
    loop.function = own_loop(own, element_of(types[0])) if own is not NULL and alike else NULL
    loop.checked = checked_loop(own, element_of(types[0])) if own is not NULL and alike else NULL
    loop.borrowed = loop.function is NULL
    loop.silent = False
    loop.floating = True
    if loop.borrowed:
        # Flags that a loop raises by itself, as NumPy's vectorised exp does by feraiseexcept, stand in either
        # unit.
        loop.extended = True
        loop.function = <loop_function>ufunc.functions[signature]
        loop.data = ufunc.data[signature] if ufunc.data is not NULL else NULL
        return borrowing and loop.function is not NULL
    loop.silent = clears_flags(loop, ufunc, signature)
    loop.floating = not loop.silent and (
        not is_integer_element(element_of(types[0])) or divides_by_zero(loop, ufunc, signature))
    return True


cdef bint clears_flags(Loop* loop, PyUFuncObject* ufunc, int signature) noexcept:
    """Whether the ufunc's own loop leaves no floating-point flag behind, not even one that was set before."""
    feraiseexcept(FE_OVERFLOW)
    run_on_zeros(loop, ufunc, signature)
    cdef bint cleared = not fp_status(True)
    fp_clear(True)
    return cleared


cdef bint divides_by_zero(Loop* loop, PyUFuncObject* ufunc, int signature) noexcept:
    """Whether the ufunc's own loop of integers raises a floating-point flag, as for 0 / 0."""
    fp_clear(True)
    run_on_zeros(loop, ufunc, signature)
    cdef bint raised = fp_status(True) != 0
    fp_clear(True)
    return raised


cdef void run_on_zeros(Loop* loop, PyUFuncObject* ufunc, int signature) noexcept:
    cdef long double zeros[MAX_OPERANDS][2]
    cdef char* pointers[MAX_OPERANDS]
    cdef npy_intp one = 1
    cdef int k
    memset(zeros, 0, sizeof(zeros))
    for k in range(ufunc.nargs):
        pointers[k] = <char*>zeros[k]
    (<loop_function>ufunc.functions[signature])(
        pointers, &one, loop.steps, ufunc.data[signature] if ufunc.data is not NULL else NULL)
