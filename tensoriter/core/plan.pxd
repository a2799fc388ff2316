"""Programs: what the core runs of a plan, instructions in C over a table of buffers."""
from cpython.object cimport PyObject
from cython cimport final

from tensoriter.core.array_api cimport npy_intp, PyArrayObject
from tensoriter.core.dtypes cimport Loop
from tensoriter.core.instructions cimport Frame, Instruction, Place

cdef enum BufferKind:
    INPUT       # an argument
    CONSTANT
    TEMPORARY   # in the arena
    RESULT      # a new array in each run, or one that was given
    OBJECT      # what a CALL returns

cdef enum ResultKind:
    WHOLE       # the buffer's array itself
    VIEW        # a view of it
    SCALAR

# `like` has the dtype, shape and strides; its memory is not there.
cdef struct Buffer:
    BufferKind kind
    PyArrayObject* like
    bint fortran
    bint plain              # in C or Fortran order, so that the free list may have one
    npy_intp place          # TEMPORARY: in the arena

cdef struct Result:
    ResultKind kind
    int buffer
    npy_intp offset
    PyArrayObject* like


# Memory for the temporaries of one run, and the addresses of all buffers.
@final
cdef class Arena:
    cdef char* memory
    cdef char** bases
    cdef PyObject** objects     # arrays of inputs and constants (borrowed), of results and calls (owned)
    cdef void* allocated


@final
cdef class Program:
    cdef Instruction* code
    cdef Buffer* buffers
    cdef Result* results
    cdef int* fresh                 # the buffers whose arrays are made in each run
    cdef int fresh_count
    cdef readonly int instructions_count
    cdef readonly int inputs_count
    cdef readonly int buffers_count
    cdef readonly int results_count
    cdef readonly npy_intp arena_bytes
    cdef npy_intp work              # elements of all instructions
    cdef bint floating
    cdef bint extended
    cdef bint grouped               # there are groups, whose threads may want the GIL
    cdef readonly bint calls        # Python callables
    cdef object spare               # an arena that nobody uses
    cdef list kept                  # what the pointers in here need alive
    cdef list callables
    cdef dict constants

    cdef int add_buffer(self, Buffer* buffer, int k, BufferKind kind, array, value) except -1
    cdef int add_instruction(self, Instruction* target, source) except -1
    cdef object like(self, int buffer)
    cdef Loop* take_loop(self, Instruction* target, source) except NULL
    cdef int add_block_loop(self, Instruction* target, source) except -1
    cdef int add_loop(self, Instruction* target, source) except -1
    cdef int add_group(self, Instruction* target, source) except -1
    cdef int add_take(self, Instruction* target, source) except -1
    cdef int run(self, PyObject* const* inputs, PyObject* const* outs, PyObject** results,
                 int* raised) except -1
    cdef int enter(self, Arena arena, PyObject* const* inputs, PyObject* const* outs) except -1
    cdef int place_outs(self, Arena arena, PyObject* const* outs) except -1
    cdef int go(self, Arena arena, int* raised) except -1
    cdef int go_calling(self, Arena arena, Frame* frame) except -1
    cdef bint call_recorded(self, Arena arena, Instruction* instruction, Frame* frame) except -1
    cdef bint call(self, Arena arena, Instruction* instruction) except -1
    cdef object view(self, Arena arena, Place* place, array)
    cdef int collect(self, Arena arena, PyObject** results) except -1
    cdef object result(self, Arena arena, Result* result)
    cdef int leave(self, Arena arena) except -1
