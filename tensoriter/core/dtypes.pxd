"""Which loop the dtypes of a call choose."""
from cpython.object cimport PyObject, PyTypeObject

from tensoriter.core.array_api cimport npy_intp, PyArray_Descr
from tensoriter.core.loops.table cimport loop_function

cdef extern from "elements.h":
    enum:
        TYPE_NUMBERS
    int element_of(int type_number) noexcept nogil
    const unsigned char element_size[]
    const unsigned char element_unit[]
    bint is_integer_element(int element) noexcept nogil
    bint is_signed_element(int element) noexcept nogil
    bint is_complex_element(int element) noexcept nogil
    bint is_extended_element(int element) noexcept nogil
    bint integer_fits(long long value, int element) noexcept nogil

cdef enum:
    MAX_OPERANDS = 8        # inputs, outputs and the mask of one call
    # Where type numbers stand for an operand's dtype, these stand for a Python scalar: its kind
    # takes part in promotion, its value does not (NEP 50).
    WEAK_INT = 24
    WEAK_FLOAT = 25
    WEAK_COMPLEX = 26
    DTYPE_CODES = 27
    UNRESOLVED = 255
    LEFT_TO_NUMPY = 254
    MOST_LOOPS = LEFT_TO_NUMPY

cdef struct Loop:
    loop_function function
    void* data                  # of our own loops: the ufunc's, for what ours leave to it
    loop_function checked       # notes overflow in the int at its data; NULL where there is none to note
    int types[MAX_OPERANDS]     # type numbers: inputs, then outputs
    npy_intp steps[MAX_OPERANDS]    # of contiguous operands: the types' sizes
    bint floating               # may raise floating-point flags
    bint extended               # computes in long double, whose flags stand elsewhere on x86
    # The ufunc's own: it may set a Python error (and takes the GIL to do so), may say something each time
    # that it runs, and may look at operands although there are no elements.
    bint borrowed
    # Flags are cleared at the end, as NumPy's own loop does: none of the op nor of a cast is reported.
    bint silent

cdef struct LoopTableState:
    bint is_numpys          # the ufunc is one of NumPy's own
    int nin
    int nout
    int count
    Loop* loops
    # The loop of inputs that are all of one type number, NULL where there is none or it has not been met
    # yet: what the contiguous path looks up.
    Loop* same_type[24]
    # The loop by the codes of one or two inputs, filled as they are first met.
    unsigned char resolved[27][27]

cdef class LoopTable:
    cdef LoopTableState table
    cdef readonly object ufunc
    cdef readonly bint checkable    # integers can overflow in it, and loops of ours find out
    cdef dict resolved_many     # the same by the codes of three or more inputs

    cdef int add_loops(self, const char* own, bint borrowing) except -1
    cdef Loop* resolve(self, int* codes) except? NULL
    cdef Loop* resolve_as(self, int* codes, int dtype) except? NULL
    cdef int resolve_many(self, int* codes) except -1
    cdef void note_same_type(self, int* codes, int index) noexcept
    cdef int ask_numpy(self, int* codes, int dtype) except -1
    cdef int find_loop(self, list numbers) noexcept

# The plain dtype of each code; those of Python scalars are the ones that NumPy makes arrays of them with.
cdef PyArray_Descr* dtype_of_code[27]

# The exact type of a NumPy scalar of each type number.
cdef PyTypeObject* scalar_types_by_number[24]

cdef int scalar_type_number(PyTypeObject* scalar_type) noexcept

# Whether NumPy calls a loop for a single scalar without making arrays: from 2.4 on, once it has met the type.
cdef bint SCALARS_HAVE_NO_STEPS
