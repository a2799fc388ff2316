"""Hooks: where a profiler plugs into the core, which does not know it.

What can be called (an op, a bound call, a method, a plan) keeps the function that callers jump to in an
Entry. While nobody records, that is its own function, so that it costs a call nothing; while somebody does,
it is `call_recorded`. Whatever runs by other ways (the instructions of a plan, on any thread, with the GIL or
without) asks once, at its beginning, whether `recorder` is there, and if so hands it an Event at the end:

    cdef Event event
    cdef recorder_function send = recorder      # at the plan's entry: decided there, and holds to its exit
    if send is not NULL:
        describe(&event, Kind.INSTRUCTION, name, 0)
        noter(&event, NULL, 0)                  # at the plan's entry, too: its instructions share event.scope
        event.handle = handle                   # which `profiler.trace.describe_handles` puts into words
        event.begin = now()
    ...                                         # the work
    if send is not NULL:
        event.end = now()
        send(&event)
"""
from cpython.object cimport PyObject

from tensoriter.core.array_api cimport vectorcallfunc

cdef extern from "hooks.h":
    # Nanoseconds of a monotonic clock; 20 to 25 ns a call.
    long long now() noexcept nogil
    # Where an object keeps the function that calls it: an Entry, if it is one that has been added.
    void* place_of_call(PyObject* object) noexcept nogil

# How a call went.
cdef enum Path:
    CONTIGUOUS
    STRIDED
    NUMPYS
    PATHS
    NO_PATH = PATHS     # not the call of an op

cdef enum Kind:
    OP              # a call of an op, a bound call, an op's method: the caller has the GIL
    PUBLIC          # a call of another public function: the caller has the GIL
    PLAN            # a run of a plan
    INSTRUCTION     # an instruction within it
    KINDS

# Something that was done. Names are given as the numbers that `name_number` has for them.
cdef struct Event:
    unsigned int name
    unsigned int task       # the name of the same thing as a task of whoever calls; 0: it is none
    unsigned int scope      # the names that go before it; 0: none
    unsigned int shapes     # of the inputs, and their dtypes; 0: unknown
    unsigned short kind
    unsigned short path
    long long begin         # of `now`
    long long end
    long long bytes         # of the operands, results included
    long long handle        # a plan's debug handle; 0: none

# Keeps the event. Any thread may call it, with the GIL or without; it takes some 10 ns and does not fail.
ctypedef void (*recorder_function)(const Event* event) noexcept nogil
# Notes in the event, at its beginning and with the GIL, what cannot be known later: scope and shapes.
ctypedef void (*noter_function)(Event* event, PyObject* const* inputs, Py_ssize_t count) noexcept

cdef recorder_function recorder     # NULL while nobody records
cdef noter_function noter

cdef struct Entry:
    vectorcallfunc call     # what callers jump to; the first member, since tp_vectorcall_offset leads here
    vectorcallfunc own      # what stands there while nobody records
    unsigned int name
    unsigned int task
    Kind kind               # OP unless it is set; OP and PLAN go this way
    int path                # of a call that says no other
    int nin                 # positional arguments that are inputs
    Entry* previous
    Entry* next

cdef class public_call:
    cdef recorder_function send
    cdef Event event
    cdef unsigned int name

cpdef unsigned int name_number(str name) except 0
cdef void add_entry(Entry* entry) noexcept
cdef void remove_entry(Entry* entry) noexcept
cdef void install(recorder_function send, noter_function note) noexcept
cdef void uninstall() noexcept
cdef void set_path(int path) noexcept
cdef PyObject* call_recorded(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames) noexcept


cdef inline void describe(Event* event, Kind kind, unsigned int name, unsigned int task) noexcept nogil:
    """Fills an event with what is known of it before it begins: nothing else yet."""
    event.kind = kind
    event.name = name
    event.task = task
    event.scope = event.shapes = 0
    event.path = Path.NO_PATH
    event.bytes = event.handle = 0


cdef inline void say_path(int path) noexcept:
    """Says how the call that this thread is in goes, where that is not as its entry has it."""
    if recorder is not NULL:
        set_path(path)
