"""Instructions: what a plan is made of in C, how each is run, and how its operands are described.

An instruction names its operands by buffer and offset; a frame says where the buffers begin. So the same
instructions can be run by several threads, each with a frame of its own.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t
from libc.string cimport memset

from tensoriter.core.array_api cimport (
    _import_array, flags_of, NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, npy_intp, NPY_KEEPORDER, NPY_MAXDIMS,
    Py_INCREF, PyArray_BYTES, PyArray_Descr, PyArray_NewFromDescr, PyArray_Type, PyArrayObject, steal,
)
from tensoriter.core.dtypes cimport (
    element_of, element_size, is_extended_element, is_integer_element, Loop, LoopTable, MAX_OPERANDS,
    MOST_LOOPS,
)
from tensoriter.core.for_each cimport for_each_from
from tensoriter.core.fpstatus cimport fegetenv, fenv_t, fp_clear, fp_enter, fp_leave, fp_note, fp_status
from tensoriter.core.hooks cimport describe, Event, Kind, now, Path
from tensoriter.core.iterator cimport Iterator, Operand, set_array
from tensoriter.core.layout cimport broadcast, order_dimensions, output_strides
from tensoriter.core.loops.table cimport (
    cast_function, CLONGDOUBLE, COMPLEX128, loop_function, own_cast, own_loop, UINT16, UINT32, UINT64, UINT8,
)
from tensoriter.core.prepare cimport lay_out
from tensoriter.core.threads cimport run_tasks_side_by_side

cdef extern from "move.h":
    enum:
        _STREAM_FROM "STREAM_FROM"
        _STREAMING_STORES "STREAMING_STORES"
    void stream_out(char* target, const char* source, npy_intp nbytes) noexcept nogil
    void end_of_stream() noexcept nogil

_import_array()

# A loop of where for each size of element.
cdef tuple ELEMENT_OF_BITS = (UINT8, UINT16, UINT32, UINT64, COMPLEX128, CLONGDOUBLE)

STREAM_FROM = _STREAM_FROM              # see move.h
STREAMING_STORES = bool(_STREAMING_STORES)


cdef enum:
    LINE = 64               # bytes between stand-ins
    MOST_RECORDED = 256     # loops of a run that are told apart


# ---------------------------------------------------------------- executing

cdef int execute(Instruction* instruction, Frame* frame) noexcept nogil:
    """Runs one instruction that is no CALL."""
    cdef char* pointers[MAX_OPERANDS]
    cdef int k
    cdef npy_intp n = instruction.size
    if instruction.kind == BLOCK_RUN:
        run_blocks(instruction, frame, NULL)
        return DONE
    if instruction.kind == GROUP:
        return run_group(instruction, frame)
    if instruction.kind == TASK:
        return execute_all(instruction + 1, 0, instruction.body, frame)
    if instruction.guarded:
        frame.raised |= fp_status(instruction.extended)
    for k in range(instruction.count):
        pointers[k] = frame.bases[instruction.places[k].buffer] + instruction.places[k].offset
    if instruction.kind == LOOP:
        instruction.function(pointers, &n, instruction.steps, instruction.data)
    elif instruction.kind == ITERATE:
        for_each_from(instruction.it, pointers, instruction.data)
    elif instruction.kind == TAKE:
        if not take_rows(instruction.rows, pointers[0], pointers[1], pointers[2], n):
            return OUT_OF_BOUNDS
    if instruction.silent:
        fp_clear(instruction.extended)
    return DONE


cdef void run_blocks(Instruction* run, Frame* frame, long long* spent) noexcept nogil:
    """All loops of a run on one block, then on the next, so that temporaries stay in the first cache. `spent`
    gets the nanoseconds of each loop, if it is not NULL."""
    cdef long long time = 0
    cdef char* pointers[MAX_OPERANDS]
    cdef npy_intp start = 0, n
    cdef int i, k
    cdef Instruction* loop
    while start < run.size:
        n = min(run.block, run.size - start)
        for i in range(run.body):
            loop = run + 1 + i
            for k in range(loop.count):
                pointers[k] = (frame.bases[loop.places[k].buffer] + loop.places[k].offset
                               + start * loop.places[k].advance)
            if loop.guarded:
                frame.raised |= fp_status(loop.extended)
            if spent is not NULL:
                time = now()
            loop.function(pointers, &n, loop.steps, loop.data)
            if spent is not NULL:
                spent[i] += now() - time
            if loop.silent:
                fp_clear(loop.extended)
        start += n
    if run.streams:
        end_of_stream()


cdef struct GroupRun:
    Instruction* group
    Frame* frame
    fenv_t mode
    int error


cdef int run_group(Instruction* instruction, Frame* frame) noexcept nogil:
    """The tasks of a group on threads. Which of them failed a run node by node finds out."""
    cdef GroupRun run
    run.group = instruction
    run.frame = frame
    run.error = DONE
    fegetenv(&run.mode)
    run_tasks_side_by_side(&instruction.group.experience, instruction.group.tasks, run_task, &run)
    return run.error


cdef void run_task(int task, bint is_caller, void* context) noexcept nogil:
    """One task, with flags of its own."""
    cdef GroupRun* run = <GroupRun*>context
    cdef Frame own
    cdef fenv_t before
    cdef int error
    own.bases = run.frame.bases
    own.raised = 0
    own.send = run.frame.send
    own.scope = run.frame.scope
    if not is_caller:
        fp_enter(&run.mode, &before)
    error = execute(run.group + 1 + run.group.group.begins[task], &own)
    if not is_caller:
        fp_leave(&before, &run.frame.raised, run.group.extended)
    fp_note(own.raised, &run.frame.raised)
    if error != DONE:
        run.error = error


cdef void begin_event(Event* event, const Instruction* instruction, const Frame* frame) noexcept nogil:
    """An instruction, for whoever records."""
    describe(event, Kind.INSTRUCTION, instruction.name, 0)
    event.scope = frame.scope
    event.handle = instruction.handle
    event.bytes = instruction.bytes
    if instruction.kind == LOOP:
        event.path = Path.CONTIGUOUS
    elif instruction.kind == ITERATE:
        event.path = Path.STRIDED
    elif instruction.kind == CALL:
        event.path = Path.NUMPYS
    event.begin = now()


cdef int execute_recorded(Instruction* instruction, Frame* frame) noexcept nogil:
    """execute while somebody records: each op is one event, also within a run, where it took what its share
    of all blocks took together."""
    cdef Event event
    cdef long long spent[MOST_RECORDED]
    cdef long long time
    cdef int i, error
    if instruction.kind == GROUP or instruction.kind == TASK:   # whose instructions are events
        return execute(instruction, frame)
    if instruction.kind == BLOCK_RUN and instruction.body <= MOST_RECORDED:
        memset(spent, 0, sizeof(spent))
        time = now()
        run_blocks(instruction, frame, spent)
        for i in range(instruction.body):
            begin_event(&event, instruction + 1 + i, frame)
            event.begin = time
            time += spent[i]
            event.end = time
            frame.send(&event)
        return DONE
    begin_event(&event, instruction, frame)
    error = execute(instruction, frame)
    event.end = now()
    frame.send(&event)
    return error


cdef int execute_all(Instruction* code, int first, int end, Frame* frame) noexcept nogil:
    """Instructions from `first` on, up to `end`."""
    cdef int i = first, error
    while i < end:
        error = execute(&code[i], frame) if frame.send is NULL else execute_recorded(&code[i], frame)
        if error != DONE:
            return error
        i += 1 + code[i].body
    return DONE


cdef void stream_line(char** args, const npy_intp* dimensions, const npy_intp* steps,
                      void* _data) noexcept nogil:
    """A copy past the cache in the shape of a loop."""
    stream_out(args[1], args[0], dimensions[0] * steps[1])


cdef void cast_line(char** args, const npy_intp* dimensions, const npy_intp* steps,
                    void* _data) noexcept nogil:
    """A cast in the shape of a loop."""
    (<cast_function>_data)(args[0], steps[0], args[1], steps[1], dimensions[0])


# ---------------------------------------------------------------- operands that are described, not there

def stand_in(int place, dtype, tuple shape, strides, bint aligned=True):
    """An array of that dtype, shape and strides (None: C order) whose memory is not there.

    It serves to ask NumPy for the layout of what is made of it, and must not be read. `place` tells stand-ins
    apart: those of two places share no address.
    """
    cdef npy_intp extents[NPY_MAXDIMS]
    cdef npy_intp steps[NPY_MAXDIMS]
    cdef int k, ndim = <int>len(shape)
    cdef char* address = <char*><uintptr_t>(LINE * (place + 1) + (0 if aligned else 1))
    for k in range(ndim):
        extents[k] = shape[k]
        if strides is not None:
            steps[k] = strides[k]
    Py_INCREF(<PyObject*>dtype)
    return steal(PyArray_NewFromDescr(&PyArray_Type, <PyArray_Descr*><PyObject*>dtype, ndim, extents,
                                      NULL if strides is None else steps, address, NPY_ARRAY_WRITEABLE, NULL))


def distance(array, base):
    """How many bytes lie between the first elements of two arrays."""
    return (PyArray_BYTES(<PyArrayObject*><PyObject*>array) - PyArray_BYTES(<PyArrayObject*><PyObject*>base))


cdef Loop* loop_of(function, types, list kept) except? NULL:
    """The loop of an op for these types (of inputs and outputs), of 'where', 'cast' or 'stream'; NULL where
    there is none in C. What it needs alive goes into `kept`."""
    cdef int index, k
    cdef Loop* loop
    kept.append(function)
    if isinstance(function, LoopTable):
        index = (<LoopTable>function).find_loop([dtype.num for dtype in types])
        return NULL if index >= MOST_LOOPS else &(<LoopTable>function).table.loops[index]
    memory = bytes(sizeof(Loop))
    kept.append(memory)
    loop = <Loop*><char*>memory
    for k in range(len(types)):
        loop.types[k] = types[k].num
        if element_of(loop.types[k]) < 0:
            return NULL
        loop.steps[k] = element_size[element_of(loop.types[k])]
        loop.extended |= is_extended_element(element_of(loop.types[k]))
    if function == "stream":
        loop.function = <loop_function>stream_line
        return loop
    if function == "cast":
        loop.data = <void*>own_cast(element_of(loop.types[0]), element_of(loop.types[1]))
        loop.function = <loop_function>cast_line
        # A signalling NaN is not only moved.
        loop.floating = not is_integer_element(element_of(loop.types[0])) or not is_integer_element(
            element_of(loop.types[1]))
        return NULL if loop.data is NULL else loop
    for k in range(len(ELEMENT_OF_BITS)):
        if element_size[<int>ELEMENT_OF_BITS[k]] == loop.steps[1]:
            loop.function = own_loop(b"where", ELEMENT_OF_BITS[k])
    return NULL if loop.function is NULL else loop


def is_own(function, types):
    """Whether the loop of result_strides' arguments is one of ours, which may write over an input."""
    cdef list kept = []
    cdef Loop* loop = loop_of(function, types, kept)
    return function != "cast" and loop is not NULL and not loop.borrowed


cdef bint fill(Iterator* it, Loop* loop, int nin, int nout, list arrays) except -1:
    """An iterator over inputs that are described; False where the loop cannot take them."""
    cdef int k
    cdef Operand* operand
    it.nin = nin
    it.nout = nout
    it.count = nin + nout
    it.masked = it.overlapping = False
    it.scratch_count = it.temporaries_count = 0
    it.loop = loop
    it.floating = loop.floating
    it.extended = loop.extended
    for k in range(it.count):
        operand = &it.operands[k]
        operand.home = NULL
        operand.overlapped = operand.small = operand.cast_whole = operand.collides = False
        operand.loop_element = operand.element = element_of(loop.types[k])
        operand.array = NULL
        operand.ndim = 0
        operand.swapped = operand.buffered = False
        if k < nin:
            set_array(operand, <PyArrayObject*><PyObject*>arrays[k])
            if operand.element < 0 or own_cast(operand.element, operand.loop_element) is NULL:
                return False
            mark_buffered(it, operand)
    return broadcast(it) == 0


cdef void mark_buffered(Iterator* it, Operand* operand) noexcept:
    operand.buffered = (operand.swapped or operand.element != operand.loop_element
                        or not flags_of(operand.array) & NPY_ARRAY_ALIGNED)
    it.extended |= is_extended_element(operand.element)
    it.floating |= operand.element != operand.loop_element and not is_integer_element(operand.loop_element)


def result_strides(function, types, int nin, list arrays):
    """The strides of each result of an element-wise op of these (stand-in) inputs, as NumPy lays it out; None
    where there is no loop in C for them. `function` is an op, 'where' or 'cast'."""
    cdef Iterator it
    cdef npy_intp shape[NPY_MAXDIMS]
    cdef npy_intp strides[NPY_MAXDIMS]
    cdef bint fortran = False
    cdef int k, axis
    cdef list kept = []
    cdef Loop* loop = loop_of(function, types, kept)
    if loop is NULL or not fill(&it, loop, nin, <int>len(types) - nin, arrays):
        return None
    order_dimensions(&it)
    found = []
    for k in range(nin, it.count):
        size = element_size[it.operands[k].element]
        if function == "where":     # which is always laid out by nditer
            output_strides(&it, NPY_KEEPORDER, size, strides)
        elif lay_out(&it, k, NPY_KEEPORDER, shape, strides, &fortran):
            for axis in range(it.ndim):
                strides[axis if fortran else it.ndim - 1 - axis] = size
                # As NumPy counts a length of 0.
                size *= max(<npy_intp>1, shape[axis if fortran else it.ndim - 1 - axis])
        found.append(tuple([strides[axis] for axis in range(it.ndim)]))
    return found
