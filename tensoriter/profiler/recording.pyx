"""Recording: from the core's hooks to a thread's ring, and from the rings to statistics and trace.

A record is written without a lock and without a Python object (see buffers.h). From its ring it goes to the
statistic of its name and, as long as there is room, to the trace. Statistics count everything; what no longer
fits into the trace is counted as dropped.
"""
import threading

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from tensoriter.core.array_api cimport enable_vectorcall, Py_DECREF, Py_INCREF, Py_None, vectorcallfunc
from tensoriter.core.freelist cimport count_held, the_list
from tensoriter.core.hooks cimport (
    call_recorded, Entry, Event, install, Kind, name_number, now, Path, recorder, uninstall,
)
from tensoriter.profiler.scopes cimport current_scope, open_scopes
from tensoriter.profiler.shapes cimport number_of_shapes
from tensoriter.profiler.statistics cimport (
    add_time, add_value, as_dict, copy_facts, Facts, forget_statistics, Key, Statistic, statistic_of,
)

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() nogil

cdef extern from "buffers.h":
    enum:
        RING
    ctypedef struct Record:
        int64_t begin
        int64_t end
        int64_t bytes
        int64_t handle
        uint32_t name
        uint32_t task
        uint32_t scope
        uint32_t domain
        uint32_t detail
        uint32_t thread
        unsigned char type
        unsigned char path
        unsigned char flags
    ctypedef struct Buffer:
        Record* records
        uint32_t consumed
        uint32_t ended
        uint32_t thread
        Buffer* next
    Buffer* get_own_buffer() noexcept nogil
    void set_own_buffer(Buffer* buffer) noexcept nogil
    Record* next_record(Buffer* buffer) noexcept nogil
    void publish_record(Buffer* buffer) noexcept nogil
    uint32_t count_written(Buffer* buffer) noexcept nogil
    void set_consumed(Buffer* buffer, uint32_t count) noexcept nogil
    uint32_t ACQUIRE(uint32_t* place) noexcept nogil
    void lock_records() noexcept nogil
    void unlock_records() noexcept nogil
    uint64_t native_thread() noexcept nogil
    void prepare_threads()

prepare_threads()

cdef enum:
    CHUNK = 16384               # records of the trace that are allocated together: 1 MiB
    SAMPLE_EVERY = 1000000      # ns between two looks at the free list

# What a record says of (see trace.py, which writes them).
cpdef enum RecordType:
    EVENT
    TASK
    FRAME
    COUNTER
    MARKER

# A call of an op is an event of its domain and a task of the domain "api". Both reach the trace; the flag
# that a statistic is sent with decides whether it counts, so that a call counts once.
cpdef enum RecordFlags:
    AS_EVENT = 1
    EVENT_COUNTS = 2
    AS_TASK = 4
    TASK_COUNTS = 8

cdef uint32_t api_domain = name_number("api")
cdef uint32_t memory_domain = name_number("memory")
cdef uint32_t domain_of_kind[4]
domain_of_kind[<int>Kind.OP] = name_number("operator")
domain_of_kind[<int>Kind.PUBLIC] = api_domain
domain_of_kind[<int>Kind.PLAN] = domain_of_kind[<int>Kind.INSTRUCTION] = name_number("plan")
cdef unsigned char flags_of_kind[4]
cdef bint with_statistics = False
cdef bint with_shapes = False
cdef bint with_memory = False


# ---------------------------------------------------------------- threads and their rings

cdef struct Thread:
    uint64_t native
    unsigned long ident

cdef Thread* threads = NULL
cdef uint32_t threads_count = 0
cdef uint32_t threads_room = 0
cdef Buffer* buffers = NULL
cdef dict thread_names = {}     # by number, as far as Python knows them


cdef Buffer* own_ring() noexcept nogil:
    """This thread's ring, a new one if it has none yet; NULL for want of memory."""
    cdef Buffer* buffer = get_own_buffer()
    if buffer is NULL:
        lock_records()
        buffer = new_ring()
        unlock_records()
        if buffer is not NULL:
            set_own_buffer(buffer)
    return buffer


cdef Buffer* new_ring() noexcept nogil:
    """One whose thread has ended, or else a new one."""
    global buffers, threads, threads_count, threads_room
    cdef Buffer* buffer = buffers
    cdef Thread* more
    if threads_count == threads_room:
        more = <Thread*>realloc(threads, 2 * (threads_room + 8) * sizeof(Thread))
        if more is NULL:
            return NULL
        threads, threads_room = more, 2 * (threads_room + 8)
    while buffer is not NULL and not ACQUIRE(&buffer.ended):
        buffer = buffer.next
    if buffer is NULL:
        buffer = <Buffer*>calloc(1, sizeof(Buffer))
        if buffer is NULL:
            return NULL
        buffer.next = buffers
        buffers = buffer
    else:
        empty(buffer)
        buffer.ended = 0
    buffer.thread = threads_count
    threads[threads_count].native = native_thread()
    threads[threads_count].ident = PyThread_get_thread_ident()
    threads_count += 1
    return buffer


cdef void meet_thread() noexcept:
    """Gives a thread that has no ring yet its ring, and notes its name while it lives."""
    cdef Buffer* buffer = own_ring()
    if buffer is NULL:
        return
    try:
        for thread in threading.enumerate():
            if thread.ident == threads[buffer.thread].ident:
                thread_names[buffer.thread] = thread.name
    except Exception:
        pass    # it goes without a name


# ---------------------------------------------------------------- from a ring to statistics and trace

cdef Record** chunks = NULL
cdef size_t chunks_room = 0
cdef size_t traced = 0              # records in the trace
cdef size_t trace_limit = 1 << 20
cdef size_t dropped = 0
cdef int64_t emptied = 0            # records, and the time that emptying took
cdef int64_t emptying = 0


cdef void empty(Buffer* buffer) noexcept nogil:
    """Takes what the ring holds. The caller holds the lock."""
    global emptied, emptying
    cdef uint32_t k, first = buffer.consumed, end = count_written(buffer)
    cdef int64_t begin
    if first == end:
        return
    begin = now()
    k = first
    while k != end:
        take(&buffer.records[k % RING])
        k += 1
    set_consumed(buffer, end)
    emptied += end - first
    emptying += now() - begin


cdef inline void take(Record* record) noexcept nogil:
    if record.flags & RecordFlags.EVENT_COUNTS:
        count_statistic(record, record.domain, record.name, record.detail)
    if record.flags & RecordFlags.TASK_COUNTS:
        count_statistic(record, api_domain, record.task, 0)
    append(record)


cdef void count_statistic(Record* record, uint32_t domain, uint32_t name, uint32_t detail) noexcept nogil:
    cdef Key key
    cdef Statistic* statistic
    cdef double value
    key.domain, key.scope, key.name = domain, record.scope, name
    key.detail = detail if record.type == RecordType.EVENT else 0
    key.type = record.type == RecordType.COUNTER
    statistic = statistic_of(&key)
    if statistic is NULL:
        return
    if record.type == RecordType.COUNTER:
        memcpy(&value, &record.bytes, sizeof(value))
        add_value(statistic, value)
        return
    add_time(statistic, record.end - record.begin)
    statistic.facts.bytes += record.bytes
    statistic.facts.paths[record.path] += 1


cdef void append(Record* record) noexcept nogil:
    """To the trace, if there is room."""
    global chunks, chunks_room, traced, dropped
    cdef size_t chunk = traced // CHUNK
    cdef Record** more
    if traced >= trace_limit:
        dropped += 1
        return
    if chunk == chunks_room:
        more = <Record**>realloc(chunks, (chunks_room + 64) * sizeof(Record*))
        if more is NULL:
            dropped += 1
            return
        memset(more + chunks_room, 0, 64 * sizeof(Record*))
        chunks, chunks_room = more, chunks_room + 64
    if chunks[chunk] is NULL:
        chunks[chunk] = <Record*>malloc(CHUNK * sizeof(Record))
        if chunks[chunk] is NULL:
            dropped += 1
            return
    chunks[chunk][traced % CHUNK] = record[0]
    traced += 1


cdef void empty_all() noexcept nogil:
    """The same for every thread's ring."""
    cdef Buffer* buffer
    lock_records()
    buffer = buffers
    while buffer is not NULL:
        empty(buffer)
        buffer = buffer.next
    unlock_records()


cdef void lose() noexcept nogil:
    global dropped
    lock_records()
    dropped += 1
    unlock_records()


# ---------------------------------------------------------------- what the core calls

cdef inline Record* begin_record(Buffer* buffer) noexcept nogil:
    """The place for a record of this thread, whose ring it is; NULL for want of memory."""
    cdef Record* record
    if buffer is NULL:
        lose()
        return NULL
    record = next_record(buffer)
    if record is NULL:
        make_room(buffer)
        record = next_record(buffer)
    record.thread = buffer.thread
    return record


cdef void make_room(Buffer* buffer) noexcept nogil:
    if buffer is scratch:
        set_consumed(buffer, count_written(buffer))
        return
    lock_records()
    empty(buffer)
    unlock_records()


cdef void record_event(const Event* event) noexcept nogil:
    """The core's recorder."""
    cdef Buffer* buffer
    cdef Record* record
    if flags_of_kind[<int>event.kind] == 0:
        return
    buffer = own_ring()
    record = begin_record(buffer)
    if record is NULL:
        return
    record.type = RecordType.EVENT
    record.flags = flags_of_kind[<int>event.kind]
    record.domain = domain_of_kind[<int>event.kind]
    record.path = <unsigned char>event.path
    record.begin = event.begin
    record.end = event.end
    record.bytes = event.bytes
    record.handle = event.handle
    record.name = event.name
    record.task = event.task
    record.scope = event.scope
    record.detail = event.shapes
    publish_record(buffer)
    if with_memory and event.kind <= Kind.PUBLIC and event.end >= next_sample:
        sample_memory(event.end)


cdef void note_call(Event* event, PyObject* const* inputs, Py_ssize_t count) noexcept:
    """The core's noter."""
    if get_own_buffer() is NULL:
        meet_thread()
    if open_scopes > 0:
        event.scope = current_scope()
    if with_shapes:
        event.shapes = number_of_shapes(inputs, count)


# ---------------------------------------------------------------- memory

cdef int64_t next_sample = 0
cdef long long at_start[3]
at_start[0] = at_start[1] = at_start[2] = -1
cdef uint32_t hits_name = name_number("free-list hits")
cdef uint32_t misses_name = name_number("free-list misses")
cdef uint32_t allocations_name = name_number("allocations")
cdef uint32_t held_name = name_number("bytes held")


cdef void sample_memory(int64_t time) noexcept nogil:
    """Records what the free list did since the start and what it holds. The caller has the GIL."""
    global next_sample
    cdef long long entries[2]
    cdef long long bytes[2]
    next_sample = time + SAMPLE_EVERY
    count_held(entries, bytes)
    record_counter(hits_name, memory_domain, time, the_list.hits - at_start[0])
    record_counter(misses_name, memory_domain, time, the_list.misses - at_start[1])
    record_counter(allocations_name, memory_domain, time, the_list.allocations - at_start[2])
    record_counter(held_name, memory_domain, time, bytes[0] + bytes[1])


cdef void record_counter(uint32_t name, uint32_t domain, int64_t time, double value) noexcept nogil:
    cdef Buffer* buffer = own_ring()
    cdef Record* record = begin_record(buffer)
    if record is NULL:
        return
    record.type = RecordType.COUNTER
    record.flags = RecordFlags.AS_EVENT | (RecordFlags.EVENT_COUNTS if with_statistics else 0)
    record.domain, record.name = domain, name
    record.begin = record.end = time
    memcpy(&record.bytes, &value, sizeof(value))
    record.path = Path.NO_PATH
    record.scope = record.detail = record.task = 0
    record.handle = 0
    publish_record(buffer)


# ---------------------------------------------------------------- for Python

def start(*, bint operators, bint api, bint aggregate, bint memory, bint shapes):
    """Records what begins from here on."""
    global with_statistics, with_shapes, with_memory, next_sample
    cdef int counts = RecordFlags.EVENT_COUNTS if aggregate else 0
    cdef int task = RecordFlags.AS_TASK if api else 0
    cdef int task_counts = RecordFlags.TASK_COUNTS if aggregate and api else 0
    # With the operators' own events, a task is for the trace alone: it must not count a second time.
    flags_of_kind[<int>Kind.OP] = (RecordFlags.AS_EVENT | counts | task) if operators else task | task_counts
    flags_of_kind[<int>Kind.PLAN] = flags_of_kind[<int>Kind.OP]
    flags_of_kind[<int>Kind.INSTRUCTION] = (RecordFlags.AS_EVENT | counts) if operators else 0
    flags_of_kind[<int>Kind.PUBLIC] = task | task_counts
    with_statistics, with_shapes, with_memory = aggregate, shapes, memory
    next_sample = 0
    if memory and at_start[2] < 0:
        at_start[0], at_start[1], at_start[2] = the_list.hits, the_list.misses, the_list.allocations
    meet_thread()
    install(record_event, note_call)
    measure_overhead()
    look_at_memory()


def stop():
    """Records nothing that begins from here on."""
    look_at_memory()
    uninstall()


def look_at_memory():
    """Records what the free list did, if that is wanted and somebody records."""
    if with_memory and recorder is not NULL:
        sample_memory(now())


def is_recording():
    return recorder is not NULL


def clock():
    """Nanoseconds of the clock that all records are in."""
    return now()


def thread_number():
    """This thread's number in the records."""
    if get_own_buffer() is NULL:
        meet_thread()
    cdef Buffer* buffer = own_ring()
    return buffer.thread if buffer is not NULL else 0


def scope_number():
    return current_scope() if open_scopes > 0 else 0


def add(int type, int flags, uint32_t domain, uint32_t name, int64_t begin, int64_t end, *,
        uint32_t scope=0, uint32_t task=0, uint32_t detail=0, int64_t handle=0, double value=0.0):
    """Adds a record of something that Python did; `value` is a counter's."""
    if get_own_buffer() is NULL:
        meet_thread()
    cdef Buffer* buffer = own_ring()
    cdef Record* record = begin_record(buffer)
    if record is NULL:
        return
    if not with_statistics:
        flags &= ~RecordFlags.EVENT_COUNTS
    record.type, record.flags, record.path = type, flags, Path.NO_PATH
    record.begin, record.end, record.bytes, record.handle = begin, end, 0, handle
    if type == RecordType.COUNTER:
        memcpy(&record.bytes, &value, sizeof(value))
    record.domain, record.name, record.task = domain, name, task
    record.scope, record.detail = scope, detail
    publish_record(buffer)


def facts():
    """What is known of each name, as dicts."""
    cdef size_t k, count = 0
    cdef Facts* copied
    empty_all()
    lock_records()
    copied = copy_facts(&count)
    unlock_records()
    try:
        return [as_dict(&copied[k]) for k in range(count)]
    finally:
        free(copied)


def traced_records():
    """How many records the trace holds; all that were finished before are among them."""
    empty_all()
    return traced


def records(size_t first, size_t count):
    """The bytes of up to `count` records of the trace, from `first` on (see trace.RECORD)."""
    cdef size_t chunk = first // CHUNK
    cdef size_t within = first % CHUNK
    lock_records()
    count = min(count, CHUNK - within, traced - first) if first < traced else 0
    cdef Record* found = chunks[chunk] + within if count > 0 else NULL
    unlock_records()    # a record of the trace does not change, and is freed by forget_trace alone
    return (<char*>found)[:count * sizeof(Record)] if count > 0 else b""


def forget_trace():
    """Empties the trace. Not while another thread reads it."""
    global traced, dropped, chunks_room, chunks
    cdef size_t k
    empty_all()
    lock_records()
    for k in range(chunks_room):
        free(chunks[k])
    free(chunks)
    chunks = NULL
    chunks_room = traced = dropped = 0
    unlock_records()


def forget_facts():
    """Empties the statistics."""
    global emptied, emptying
    empty_all()
    lock_records()
    forget_statistics()
    emptied = emptying = 0
    unlock_records()
    at_start[0], at_start[1], at_start[2] = the_list.hits, the_list.misses, the_list.allocations


def forget_other_threads():
    """In a child after a fork: the parent's threads are not there, and what they recorded is the parent's."""
    cdef Buffer* buffer
    lock_records()
    buffer = buffers
    while buffer is not NULL:
        set_consumed(buffer, count_written(buffer))
        buffer.ended = buffer is not get_own_buffer()
        buffer = buffer.next
    if get_own_buffer() is not NULL:
        threads[get_own_buffer().thread].native = native_thread()
    unlock_records()
    forget_trace()
    forget_facts()


def count_dropped():
    return dropped


def limit_trace(size_t limit):
    """Sets how many records a trace holds, and returns how many it did."""
    global trace_limit
    before = trace_limit
    trace_limit = limit
    return before


def threads_seen():
    """(native id, name) of each thread by number; the name is None where Python knew none."""
    cdef uint32_t k
    return [(threads[k].native, thread_names.get(k)) for k in range(threads_count)]


# ---------------------------------------------------------------- what recording costs

cdef Buffer* scratch = NULL
cdef double call_overhead = 0.0


cdef class Nothing:
    """Something to call that does nothing."""
    cdef Entry entry


cdef PyObject* do_nothing(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames) noexcept:
    Py_INCREF(Py_None)
    return Py_None


cdef Nothing nothing = Nothing()
nothing.entry.own = <vectorcallfunc>do_nothing
enable_vectorcall(<PyTypeObject*><PyObject*>Nothing, <char*>&nothing.entry - <char*><PyObject*>nothing)


cdef void measure_overhead() noexcept:
    """Times recorded calls of nothing, into a ring that nobody reads: the best of some rounds."""
    global scratch, call_overhead
    cdef Buffer* own = get_own_buffer()
    cdef int64_t begin, best = 0
    cdef int turn
    if own is NULL:
        return
    if scratch is NULL:
        scratch = <Buffer*>calloc(1, sizeof(Buffer))
    if scratch is NULL:
        return
    set_own_buffer(scratch)
    for turn in range(5):
        begin = now()
        for _ in range(64):
            Py_DECREF(call_recorded(<PyObject*>nothing, NULL, 0, NULL))
        if turn == 0 or now() - begin < best:
            best = now() - begin
    set_own_buffer(own)
    call_overhead = best / 64.0


def overhead():
    """What recording adds to a call in ns, emptying the rings included."""
    cdef int64_t count = emptied
    return call_overhead + (emptying / <double>count if count > 0 else 0.0)
