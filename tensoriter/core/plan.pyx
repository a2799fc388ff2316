"""Programs: what the core runs of a plan, instructions in C over a table of buffers.

A program is made for operands of known dtypes, shapes and strides. What depends on these alone (loops,
walks, places of temporaries) is decided when it is made. A run fills in where inputs and results lie, goes
through the instructions, and looks at the floating-point flags once.
"""
import numpy as np

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from tensoriter.core.array_api cimport (
    _import_array, flags_of, is_plain_array, NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, npy_intp, NPY_KEEPORDER,
    Py_INCREF, Py_XDECREF, PyArray_BYTES, PyArray_CopyInto, PyArray_DESCR, PyArray_DIMS,
    PyArray_EquivTypes, PyArray_NDIM, PyArray_NewFromDescr, PyArray_STRIDES, PyArray_Type, PyArrayObject,
    PyDataType_ELSIZE, PyErr_Clear, PyErr_Occurred, steal,
)
from tensoriter.core.checked cimport is_checking
from tensoriter.core.dtypes cimport Loop, MAX_OPERANDS
from tensoriter.core.fpstatus cimport fp_clear, fp_from_numpy, fp_numpy_flags, fp_status
from tensoriter.core.freelist cimport new_array
from tensoriter.core.hooks cimport describe, Event, Kind, name_number, noter, now, recorder
from tensoriter.core.instructions cimport (
    begin_event, BLOCK_RUN, CALL, DONE, execute_all, fill, Frame, Group, GROUP, Instruction, ITERATE, LOOP,
    loop_of, mark_buffered, OUT_OF_BOUNDS, Place, Rows, TAKE, TASK,
)
from tensoriter.core.iterator cimport Iterator, Operand, RELEASE_FROM, set_array
from tensoriter.core.layout cimport coalesce, extent_of, is_plain_order, order_dimensions
from tensoriter.core.paths cimport forcing, is_forced
from tensoriter.core.prepare cimport set_single_steps
from tensoriter.core.short_ways cimport new_scalar
from tensoriter.core.tiles cimport plan_tiles

from tensoriter.core.instructions import distance

cdef extern from *:
    """
    static inline int set_base(PyObject *array, PyObject *base)
    {
        Py_INCREF(base);
        return PyArray_SetBaseObject((PyArrayObject *)array, base);
    }
    """
    int set_base(PyObject* array, PyObject* base) except -1

_import_array()

cdef enum:
    LINE = 64   # bytes: where buffers start


# ---------------------------------------------------------------- arrays as they are described

def wants_care():
    """Whether a plan has to be run node by node in this context: checked integers, a path that is forced."""
    return forcing != 0 and (is_checking() or is_forced("strided"))


cdef bint is_like(PyArrayObject* array, PyArrayObject* like) noexcept:
    """Whether an array is laid out as the other, in the same dtype and no worse aligned."""
    cdef int k, ndim = PyArray_NDIM(like)
    if PyArray_NDIM(array) != ndim or not flags_of(array) & NPY_ARRAY_ALIGNED & flags_of(like) == (
            flags_of(like) & NPY_ARRAY_ALIGNED):
        return False
    if PyArray_DESCR(array) is not PyArray_DESCR(like) and not PyArray_EquivTypes(
            PyArray_DESCR(array), PyArray_DESCR(like)):
        return False
    for k in range(ndim):
        if (PyArray_DIMS(array)[k] != PyArray_DIMS(like)[k]
                or PyArray_STRIDES(array)[k] != PyArray_STRIDES(like)[k]):
            return False
    return True


cdef PyObject* new_like(PyArrayObject* like) noexcept:
    """A new array with these strides, which leave no gaps."""
    Py_INCREF(<PyObject*>PyArray_DESCR(like))
    return PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(like), PyArray_NDIM(like), PyArray_DIMS(like),
                                PyArray_STRIDES(like), NULL, 0, NULL)


cdef bint are_apart(PyArrayObject* a, PyArrayObject* b) noexcept:
    """Whether no byte lies between the first and the last of both."""
    cdef npy_intp a_low, a_high, b_low, b_high
    extent_of(PyArray_NDIM(a), PyArray_DIMS(a), PyArray_STRIDES(a), PyDataType_ELSIZE(PyArray_DESCR(a)),
              &a_low, &a_high)
    extent_of(PyArray_NDIM(b), PyArray_DIMS(b), PyArray_STRIDES(b), PyDataType_ELSIZE(PyArray_DESCR(b)),
              &b_low, &b_high)
    cdef npy_intp apart = PyArray_BYTES(b) - PyArray_BYTES(a)
    return apart + b_low >= a_high or apart + b_high <= a_low


# ---------------------------------------------------------------- what one run has to itself

cdef class Arena:
    """Memory for the temporaries of one run, and the addresses of all buffers. Views of temporaries that
    Python callables get keep it alive."""
    def __cinit__(self, Program program):
        cdef npy_intp head = 2 * sizeof(void*) * program.buffers_count + LINE
        cdef int k
        cdef Buffer* buffer
        self.allocated = malloc(head + program.arena_bytes + LINE)
        if self.allocated is NULL:
            raise MemoryError(f"no memory for {program.arena_bytes} bytes of temporaries")
        self.bases = <char**>self.allocated
        self.objects = <PyObject**>(self.bases + program.buffers_count)
        self.memory = <char*>((<uintptr_t>self.allocated + head) & ~<uintptr_t>(LINE - 1))
        for k in range(program.buffers_count):
            buffer = &program.buffers[k]
            self.objects[k] = NULL
            self.bases[k] = self.memory + buffer.place if buffer.kind == TEMPORARY else NULL
            if buffer.kind == CONSTANT:
                self.objects[k] = <PyObject*>program.constants[k]
                self.bases[k] = PyArray_BYTES(<PyArrayObject*>self.objects[k])

    def __dealloc__(self):
        free(self.allocated)


# ---------------------------------------------------------------- the program

cdef inline bint has_raised() noexcept:
    """Whether a loop (integer power, SciPy's) has set an exception, which is for the run node by node."""
    if PyErr_Occurred() is NULL:
        return False
    PyErr_Clear()
    return True


cdef inline void begin_recording(Frame* frame) noexcept:
    """Decides for the whole run whether its instructions are recorded."""
    cdef Event event
    frame.send = recorder
    frame.scope = 0
    if frame.send is not NULL:
        describe(&event, Kind.INSTRUCTION, 0, 0)
        noter(&event, NULL, 0)
        frame.scope = event.scope


def flattened(instructions):
    """Instructions, each followed by those in its body."""
    for instruction in instructions:
        yield instruction
        yield from flattened(instruction.body)


@cython.no_gc_clear     # what it keeps has to live as long as the pointers to it
cdef class Program:
    """Program(buffers, instructions, results, arena_bytes): compiled of what `tensoriter.graph.lower` wrote.

    buffers : (kind, stand-in array, value) of each: the place in the arena of a temporary, the array of a
        constant, None of others; inputs first
    instructions : objects with kind, function, types, nin, places, size, block, body, options
    results : (kind, buffer, stand-in array) of each
    """

    def __init__(self, list buffers, list instructions, list results, npy_intp arena_bytes):
        self.kept = [buffers, results]
        self.constants = {}
        self.callables = []
        self.arena_bytes = arena_bytes
        self.buffers_count = <int>len(buffers)
        self.results_count = <int>len(results)
        flat = list(flattened(instructions))
        self.instructions_count = <int>len(flat)
        self.buffers = <Buffer*>calloc(self.buffers_count + 1, sizeof(Buffer))
        self.results = <Result*>calloc(self.results_count + 1, sizeof(Result))
        self.code = <Instruction*>calloc(self.instructions_count + 1, sizeof(Instruction))
        self.fresh = <int*>calloc(self.buffers_count + 1, sizeof(int))
        if self.buffers is NULL or self.results is NULL or self.code is NULL or self.fresh is NULL:
            raise MemoryError
        for k, (kind, array, value) in enumerate(buffers):
            self.add_buffer(&self.buffers[<int>k], k, kind, array, value)
        for k, (kind, buffer, array) in enumerate(results):
            self.results[<int>k].kind = kind
            self.results[<int>k].buffer = buffer
            self.results[<int>k].like = <PyArrayObject*><PyObject*>array
            self.results[<int>k].offset = distance(array, buffers[buffer][1])
        for k, instruction in enumerate(flat):
            self.add_instruction(&self.code[<int>k], instruction)

    def __dealloc__(self):
        cdef int k
        if self.code is not NULL:
            for k in range(self.instructions_count):
                free(self.code[k].it)
                free(self.code[k].rows)
                free(self.code[k].group)
        free(self.code)
        free(self.buffers)
        free(self.results)
        free(self.fresh)

    cdef int add_buffer(self, Buffer* buffer, int k, BufferKind kind, array, value) except -1:
        cdef PyArrayObject* like = <PyArrayObject*><PyObject*>array
        buffer.kind = kind
        buffer.like = like
        self.inputs_count += kind == INPUT
        if kind == RESULT or kind == OBJECT:
            self.fresh[self.fresh_count] = k
            self.fresh_count += 1
        if kind == TEMPORARY:
            buffer.place = value
        elif kind == CONSTANT:
            self.constants[k] = value
        buffer.plain = is_plain_order(PyArray_NDIM(like), PyArray_DIMS(like), PyArray_STRIDES(like),
                                      PyDataType_ELSIZE(PyArray_DESCR(like)), &buffer.fortran)
        return 0

    cdef int add_instruction(self, Instruction* target, source) except -1:
        cdef int k
        target.count = <int>len(source.places)
        if target.count > MAX_OPERANDS:
            raise ValueError(f"{source.op}: an instruction has at most {MAX_OPERANDS} operands")
        for k in range(target.count):
            place = source.places[k]
            target.places[k].buffer = place.buffer
            target.places[k].offset = distance(place.array, self.like(place.buffer))
        target.size = source.size
        target.name = name_number(source.op)
        target.handle = source.handles[0] if source.handles else 0
        target.bytes = sum([place.array.nbytes for place in source.places])
        self.work += source.size
        if source.kind == "run":
            target.kind = BLOCK_RUN
            target.body = <int>len(source.body)
            target.block = source.block
            target.streams = any([loop.function == "stream" for loop in source.body])
        elif source.kind == "task":
            target.kind = TASK
            target.body = sum([1 for _ in flattened(source.body)])
        elif source.kind == "group":
            self.add_group(target, source)
        elif source.kind == "take":
            self.add_take(target, source)
        elif source.kind == "call":
            target.kind = CALL
            self.calls = self.floating = self.extended = True
            target.silent = source.silent
            target.callable = <int>len(self.callables)
            self.callables.append(source)
        elif source.block:
            self.add_block_loop(target, source)
        else:
            self.add_loop(target, source)
        return 0

    cdef object like(self, int buffer):
        return <object><PyObject*>self.buffers[buffer].like

    cdef Loop* take_loop(self, Instruction* target, source) except NULL:
        """Finds the instruction's loop and notes what it does to the flags."""
        cdef Loop* loop = loop_of(source.function, source.types, self.kept)
        if loop is NULL:
            raise ValueError(f"{source.op} has no loop in C for these types")
        target.function = loop.function
        target.data = loop.data
        target.extended = loop.extended
        target.silent = loop.silent or source.silent
        target.guarded = target.silent or loop.borrowed
        return loop

    cdef int add_block_loop(self, Instruction* target, source) except -1:
        """A loop within a run: each operand is a single value or lies in one piece."""
        cdef Loop* loop = self.take_loop(target, source)
        cdef int k
        target.kind = LOOP
        self.floating |= loop.floating
        self.extended |= loop.extended
        for k in range(target.count):
            place = source.places[k]
            target.steps[k] = loop.steps[k] if place.moves else 0
            target.places[k].advance = loop.steps[k] if place.moves and not place.local else 0
        return 0

    cdef int add_loop(self, Instruction* target, source) except -1:
        cdef Loop* loop = self.take_loop(target, source)
        cdef list arrays = [place.array for place in source.places]
        cdef int k, nin = source.nin, axis, ndim
        cdef bint direct
        cdef Operand* operand
        cdef Iterator* it = <Iterator*>malloc(sizeof(Iterator))
        target.it = it
        if it is NULL:
            raise MemoryError
        if not fill(it, loop, nin, target.count - nin, arrays):
            raise ValueError(f"{source.op} cannot take these operands")
        order_dimensions(it)
        for k in range(nin, target.count):
            operand = &it.operands[k]
            set_array(operand, <PyArrayObject*><PyObject*>arrays[k])
            mark_buffered(it, operand)
            ndim = operand.ndim
            for axis in range(ndim):
                operand.strides[axis] = 0
                if operand.shape[ndim - 1 - axis] != 1:
                    operand.strides[axis] = operand.own_strides[ndim - 1 - axis]
        coalesce(it)
        for k in range(target.count):
            target.places[k].offset += it.operands[k].data - PyArray_BYTES(it.operands[k].array)
            if source.places[k].scalar:
                it.operands[k].array = NULL
        if it.size == 1 and it.nout == 1:
            set_single_steps(it, NPY_KEEPORDER)
        plan_tiles(it)
        self.floating |= it.floating
        self.extended |= it.extended
        target.extended = it.extended
        direct = it.dims_count == 1 and 0 < it.size < RELEASE_FROM
        for k in range(target.count):
            direct = direct and not it.operands[k].buffered
            target.steps[k] = it.operands[k].steps[0]
        target.kind = LOOP if direct else ITERATE
        if direct:
            free(it)
            target.it = NULL
        return 0

    cdef int add_group(self, Instruction* target, source) except -1:
        """Flags of any kind may be raised in it, as far as is known before its tasks are."""
        cdef int k, begin = 0
        target.kind = GROUP
        target.extended = self.grouped = True
        target.group = <Group*>calloc(1, sizeof(Group) + len(source.body) * sizeof(int))
        if target.group is NULL:
            raise MemoryError
        target.group.tasks = <int>len(source.body)
        target.group.begins = <int*>(target.group + 1)
        for k in range(target.group.tasks):
            target.group.begins[k] = begin
            begin += sum([1 for _ in flattened(source.body[k : k + 1])])
        target.body = begin
        return 0

    cdef int add_take(self, Instruction* target, source) except -1:
        target.kind = TAKE
        target.rows = <Rows*>malloc(sizeof(Rows))
        if target.rows is NULL:
            raise MemoryError
        rows = source.options
        target.rows.outer = rows["outer"]
        target.rows.outer_step = rows["outer_step"]
        target.rows.length = rows["length"]
        target.rows.step = rows["step"]
        target.rows.chunk = rows["chunk"]
        target.rows.index_step = rows["index_step"]
        target.rows.target_step = rows["target_step"]
        target.rows.mode = ("raise", "wrap", "clip").index(rows["mode"])
        return 0

    # ------------------------------------------------------------ a run

    cdef int run(self, PyObject* const* inputs, PyObject* const* outs, PyObject** results,
                 int* raised) except -1:
        """Computes new references to the results, and which floating-point flags were raised; 1, without
        results, where a run node by node can tell more. `outs` (or NULL) has an array or NULL for each."""
        cdef Arena arena = self.spare
        cdef int error
        self.spare = None
        try:
            arena = arena or Arena(self)
        except MemoryError:
            return 1
        try:
            self.enter(arena, inputs, outs)
            error = self.go(arena, raised)
            if error == 0:
                self.collect(arena, results)
        except MemoryError:     # NumPy says it of a node, whose place is known
            error = 1
        finally:
            self.leave(arena)
        return error

    cdef int enter(self, Arena arena, PyObject* const* inputs, PyObject* const* outs) except -1:
        """Finds or makes the arrays of inputs and results."""
        cdef int i, k
        cdef PyObject* array
        cdef PyArrayObject* like
        for k in range(self.inputs_count):
            arena.objects[k] = inputs[k]
            arena.bases[k] = PyArray_BYTES(<PyArrayObject*>inputs[k])
        if outs is not NULL:
            self.place_outs(arena, outs)
        for i in range(self.fresh_count):
            k = self.fresh[i]
            if self.buffers[k].kind != RESULT or arena.objects[k] is not NULL:
                continue
            like = self.buffers[k].like
            if self.buffers[k].plain:
                array = new_array(PyArray_DESCR(like), PyArray_NDIM(like), PyArray_DIMS(like),
                                  self.buffers[k].fortran)
            else:
                array = new_like(like)
            if array is NULL:
                return -1
            arena.objects[k] = array
            arena.bases[k] = PyArray_BYTES(<PyArrayObject*>array)
        return 0

    cdef int place_outs(self, Arena arena, PyObject* const* outs) except -1:
        """Lets results be computed where they are wanted, if they fit there as they are and inputs, which a
        second run may need, lie elsewhere."""
        cdef int k, i
        cdef bint apart
        for k in range(self.results_count):
            buffer = self.results[k].buffer
            if (outs[k] is NULL or self.results[k].kind != WHOLE or self.buffers[buffer].kind != RESULT
                    or arena.objects[buffer] is not NULL
                    or not is_like(<PyArrayObject*>outs[k], self.buffers[buffer].like)
                    or not flags_of(<PyArrayObject*>outs[k]) & NPY_ARRAY_WRITEABLE):
                continue
            apart = True
            for i in range(self.buffers_count):
                apart = apart and (arena.objects[i] is NULL or are_apart(
                    <PyArrayObject*>arena.objects[i], <PyArrayObject*>outs[k]))
            if apart:
                Py_INCREF(outs[k])
                arena.objects[buffer] = outs[k]
                arena.bases[buffer] = PyArray_BYTES(<PyArrayObject*>outs[k])
        return 0

    cdef int go(self, Arena arena, int* raised) except -1:
        cdef Frame frame
        cdef int error = DONE
        frame.bases = arena.bases
        frame.raised = 0
        begin_recording(&frame)
        if self.floating:
            fp_clear(self.extended)
        if self.calls:
            error = self.go_calling(arena, &frame)
        elif self.work >= RELEASE_FROM or self.grouped:
            with nogil:
                error = execute_all(self.code, 0, self.instructions_count, &frame)
        else:
            error = execute_all(self.code, 0, self.instructions_count, &frame)
        if self.floating:
            frame.raised |= fp_status(self.extended)
            if frame.raised:
                fp_clear(self.extended)
        if has_raised():
            error = OUT_OF_BOUNDS
        raised[0] = frame.raised
        return error != DONE

    cdef int go_calling(self, Arena arena, Frame* frame) except -1:
        """Instructions with Python callables among them. Of flags that these raise NumPy tells itself: it
        does not always leave them."""
        cdef int i = 0, end, error
        cdef list told = []
        with np.errstate(all="call", call=lambda _kind, flag: told.append(flag)):
            while i < self.instructions_count:
                if self.code[i].kind == CALL:
                    frame.raised |= fp_status(True)
                    if not self.call_recorded(arena, &self.code[i], frame):
                        return OUT_OF_BOUNDS
                    if self.code[i].silent:
                        fp_clear(True)
                    else:
                        for flag in told:
                            frame.raised |= fp_from_numpy(flag)
                    told.clear()
                    i += 1
                    continue
                end = i
                while end < self.instructions_count and self.code[end].kind != CALL:
                    end += 1
                with nogil:
                    error = execute_all(self.code, i, end, frame)
                if error != DONE or has_raised():
                    return OUT_OF_BOUNDS
                i = end
        return DONE

    cdef bint call_recorded(self, Arena arena, Instruction* instruction, Frame* frame) except -1:
        cdef Event event
        if frame.send is NULL:
            return self.call(arena, instruction)
        begin_event(&event, instruction, frame)
        try:
            return self.call(arena, instruction)
        finally:
            event.end = now()
            frame.send(&event)

    cdef bint call(self, Arena arena, Instruction* instruction) except -1:
        """One Python callable on views of its operands; False if it raised."""
        source = self.callables[instruction.callable]
        cdef int k, last = instruction.count - 1, buffer = instruction.places[last].buffer
        cdef list operands = []
        for k in range(last):
            operands.append(self.view(arena, &instruction.places[k], source.places[k].array))
        try:
            result = np.asarray(source.function(*operands))
        except Exception:
            return False
        like = <PyArrayObject*><PyObject*>source.places[last].array
        if self.buffers[buffer].kind != OBJECT:
            memcpy(arena.bases[buffer] + instruction.places[last].offset,
                   PyArray_BYTES(<PyArrayObject*><PyObject*>result), PyDataType_ELSIZE(PyArray_DESCR(like)))
            return True
        if not is_like(<PyArrayObject*><PyObject*>result, like) or result.base is not None:
            own = steal(new_like(like))
            PyArray_CopyInto(<PyArrayObject*><PyObject*>own, <PyArrayObject*><PyObject*>result)
            result = own
        Py_INCREF(<PyObject*>result)
        arena.objects[buffer] = <PyObject*>result
        arena.bases[buffer] = PyArray_BYTES(<PyArrayObject*><PyObject*>result)
        return True

    cdef object view(self, Arena arena, Place* place, array):
        """The operand as an array."""
        cdef PyArrayObject* like = <PyArrayObject*><PyObject*>array
        cdef PyObject* owner = arena.objects[place.buffer]
        cdef PyObject* view
        if owner is NULL:
            owner = <PyObject*>arena
        elif array is self.like(place.buffer):
            return <object>owner
        Py_INCREF(<PyObject*>PyArray_DESCR(like))
        view = PyArray_NewFromDescr(
            &PyArray_Type, PyArray_DESCR(like), PyArray_NDIM(like), PyArray_DIMS(like), PyArray_STRIDES(like),
            arena.bases[place.buffer] + place.offset, flags_of(like) & NPY_ARRAY_WRITEABLE, NULL)
        result = steal(view)
        set_base(view, owner)
        return result

    cdef int collect(self, Arena arena, PyObject** results) except -1:
        """The results as arrays and scalars."""
        cdef int k
        for k in range(self.results_count):
            results[k] = NULL
        try:
            for k in range(self.results_count):
                result = self.result(arena, &self.results[k])
                Py_INCREF(<PyObject*>result)
                results[k] = <PyObject*>result
        except BaseException:
            for k in range(self.results_count):
                Py_XDECREF(results[k])
            raise
        return 0

    cdef object result(self, Arena arena, Result* result):
        cdef Place place
        if result.kind == WHOLE:
            return <object>arena.objects[result.buffer]
        if result.kind == SCALAR:
            return new_scalar(PyArray_DESCR(result.like).type_num, arena.bases[result.buffer] + result.offset,
                              PyArray_DESCR(result.like))
        place.buffer = result.buffer
        place.offset = result.offset
        return self.view(arena, &place, <object><PyObject*>result.like)

    cdef int leave(self, Arena arena) except -1:
        """Lets go of what the run held, and keeps the arena for the next unless a view of it lives."""
        cdef int i, k
        for i in range(self.fresh_count):
            k = self.fresh[i]
            Py_XDECREF(arena.objects[k])
            arena.objects[k] = NULL
        if not self.calls or (<PyObject*>arena).ob_refcnt == 1:
            self.spare = arena
        return 0

    def __call__(self, list inputs, list outs=None):
        """(results, flags): `inputs` and `outs` are arrays laid out as the program was made for; results are
        None where it has to be run node by node. Flags are NumPy's numbers."""
        cdef int raised = 0, k
        cdef PyObject** found
        cdef PyObject** pointers = <PyObject**>malloc(
            (self.inputs_count + 2 * self.results_count + 1) * sizeof(PyObject*))
        if len(inputs) != self.inputs_count or (outs is not None and len(outs) != self.results_count):
            raise ValueError("not as many arrays as the program has inputs or results")
        if pointers is NULL:
            raise MemoryError
        try:
            for k in range(self.inputs_count):
                if not is_plain_array(<PyObject*>inputs[k]) or not is_like(
                        <PyArrayObject*><PyObject*>inputs[k], self.buffers[k].like):
                    raise ValueError(f"input {k} is not laid out as the program was made for")
                pointers[k] = <PyObject*>inputs[k]
            for k in range(self.results_count if outs is not None else 0):
                pointers[self.inputs_count + k] = NULL if outs[k] is None else <PyObject*>outs[k]
            found = pointers + self.inputs_count + self.results_count
            if self.run(pointers, NULL if outs is None else pointers + self.inputs_count, found, &raised):
                return None, fp_numpy_flags(raised)
            return [steal(found[k]) for k in range(self.results_count)], fp_numpy_flags(raised)
        finally:
            free(pointers)
