"""Instructions: what a plan is made of in C, and how each is run."""
from tensoriter.core.array_api cimport npy_intp
from tensoriter.core.dtypes cimport Loop, MAX_OPERANDS
from tensoriter.core.hooks cimport Event, recorder_function
from tensoriter.core.iterator cimport Iterator, Operand
from tensoriter.core.loops.table cimport loop_function
from tensoriter.core.threads cimport Experience

cdef enum InstructionKind:
    LOOP        # one loop over all elements
    ITERATE     # a loop under an iterator: several dimensions, casts, tiles, threads
    BLOCK_RUN   # the loops behind it, all of them block by block
    TAKE        # rows by an index array
    CALL        # a Python callable on arrays
    GROUP       # the tasks behind it, side by side
    TASK        # the instructions behind it, one after the other

# Where an operand begins: in which buffer and how many bytes behind its start, and how far it moves on with
# each element of a run (0: a temporary that holds one block, or a single value).
cdef struct Place:
    npy_intp offset
    npy_intp advance
    int buffer

cdef extern from "take.h":
    # Rows by an index array: for each of `outer` pieces, as many rows as there are indices. In bytes.
    ctypedef struct Rows:
        npy_intp outer
        npy_intp outer_step
        npy_intp length         # how many rows there are to choose from ...
        npy_intp step           # ... bytes apart ...
        npy_intp chunk          # ... and long
        npy_intp index_step
        npy_intp target_step
        int mode
    bint take_rows(const Rows* rows, const char* source, const char* indices, char* target,
                   npy_intp count) noexcept nogil

# Tasks that do not need one another.
cdef struct Group:
    int tasks
    int* begins             # of each task, counted from the instruction behind the group
    Experience experience

# One instruction: everything about it but the addresses of its buffers. CALL aside it can be run on its own,
# by any thread, without the GIL.
cdef struct Instruction:
    InstructionKind kind
    int count               # operands, outputs last
    bint guarded            # flags of earlier instructions are noted before it, as it may clear them
    bint silent             # and its own are forgotten
    bint extended
    int body                # BLOCK_RUN, GROUP, TASK: how many instructions behind it are its own
    bint streams            # BLOCK_RUN: results are written past the cache
    npy_intp size           # elements; TAKE: indices
    npy_intp block          # BLOCK_RUN: elements of a block
    loop_function function
    void* data
    npy_intp steps[MAX_OPERANDS]
    Place places[MAX_OPERANDS]
    Iterator* it            # ITERATE
    Rows* rows              # TAKE
    Group* group            # GROUP
    unsigned int name       # for whoever records: see hooks
    long long handle        # a debug handle; 0: none
    npy_intp bytes          # of all operands
    int callable            # CALL: which

# What one run of instructions has to itself.
cdef struct Frame:
    char** bases            # where each buffer begins
    int raised              # floating-point flags noted so far
    recorder_function send  # NULL: nobody records
    unsigned int scope

# What `execute` says.
cdef enum:
    DONE
    OUT_OF_BOUNDS

cdef int execute(Instruction* instruction, Frame* frame) noexcept nogil
cdef void begin_event(Event* event, const Instruction* instruction, const Frame* frame) noexcept nogil
cdef int execute_all(Instruction* code, int first, int end, Frame* frame) noexcept nogil

cdef Loop* loop_of(function, types, list kept) except? NULL
cdef bint fill(Iterator* it, Loop* loop, int nin, int nout, list arrays) except -1
cdef void mark_buffered(Iterator* it, Operand* operand) noexcept
