"""Programs: what the core runs of a plan, instructions in C over a table of buffers."""
from cpython.object cimport PyObject
from cython cimport final

from tensoriter.core.array_api cimport npy_intp, PyArrayObject
from tensoriter.core.dtypes cimport Loop, MAX_OPERANDS
from tensoriter.core.iterator cimport Iterator
from tensoriter.core.loops.table cimport loop_function

cdef enum InstructionKind:
    LOOP        # one loop over all elements
    ITERATE     # a loop under an iterator: several dimensions, casts, tiles, threads
    RUN         # the loops behind it, all of them block by block
    TAKE        # rows by an index array
    CALL        # a Python callable on arrays

# Where an operand begins: in which buffer and how many bytes behind its start, and how far it moves on with
# each element of a run (0: a temporary that holds one block, or a single value).
cdef struct Place:
    npy_intp offset
    npy_intp advance
    int buffer

# Rows by an index array: for each of `outer` pieces, as many rows as there are indices.
cdef struct Rows:
    npy_intp outer
    npy_intp outer_step     # bytes
    npy_intp length         # how many rows there are to choose from ...
    npy_intp step           # ... bytes apart ...
    npy_intp chunk          # ... and long
    int mode

# One instruction: everything about it but the addresses of its buffers. CALL aside it can be run on its own,
# by any thread, without the GIL.
cdef struct Instruction:
    InstructionKind kind
    int count               # operands, outputs last
    bint guarded            # flags of earlier instructions are noted before it, as it may clear them
    bint silent             # and its own are forgotten
    bint extended
    int body                # RUN: how many instructions behind it are its own
    npy_intp size           # elements; TAKE: indices
    npy_intp block          # RUN: elements of a block
    loop_function function
    void* data
    npy_intp steps[MAX_OPERANDS]
    Place places[MAX_OPERANDS]
    Iterator* it            # ITERATE
    Rows* rows              # TAKE
    int callable            # CALL: which

# What one run of instructions has to itself.
cdef struct Frame:
    char** bases            # where each buffer begins
    int raised              # floating-point flags noted so far

# What `execute` says.
cdef enum:
    DONE
    OUT_OF_BOUNDS

cdef int execute(Instruction* instruction, Frame* frame) noexcept nogil

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
    cdef readonly int instructions_count
    cdef readonly int inputs_count
    cdef readonly int buffers_count
    cdef readonly int results_count
    cdef readonly npy_intp arena_bytes
    cdef npy_intp work              # elements of all instructions
    cdef bint floating
    cdef bint extended
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
    cdef int add_take(self, Instruction* target, source) except -1
    cdef int run(self, PyObject* const* inputs, PyObject* const* outs, PyObject** results, int* raised) except -1
    cdef int enter(self, Arena arena, PyObject* const* inputs, PyObject* const* outs) except -1
    cdef int place_outs(self, Arena arena, PyObject* const* outs) except -1
    cdef int go(self, Arena arena, int* raised) except -1
    cdef int go_calling(self, Arena arena, Frame* frame) except -1
    cdef bint call(self, Arena arena, Instruction* instruction) except -1
    cdef object view(self, Arena arena, Place* place, array)
    cdef int collect(self, Arena arena, PyObject* const* outs, PyObject** results) except -1
    cdef object result(self, Arena arena, Result* result)
    cdef int leave(self, Arena arena) except -1
