"""Hooks: where a profiler plugs into the core, which does not know it."""
from functools import wraps

from cpython.object cimport PyObject

from tensoriter.core.array_api cimport (
    _import_array, npy_intp, PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyVectorcall_NARGS,
    vectorcallfunc,
)

cdef extern from *:
    """
    #include "thread_local.h"

    /* The recorded call that this thread is in, the innermost one. */
    static THREAD_LOCAL void *innermost = NULL;
    static inline void **place_of_innermost(void) { return &innermost; }
    """
    void** place_of_innermost() noexcept nogil

cdef extern from *:
    """
    static inline int is_any_array(PyObject *object) { return PyArray_Check(object); }
    /* PyArray_NBYTES without its call. */
    static inline npy_intp bytes_of_array(PyObject *object)
    {
        PyArrayObject *array = (PyArrayObject *)object;
        npy_intp bytes = PyArray_ITEMSIZE(array);
        for (int k = 0; k < PyArray_NDIM(array); k++) {
            bytes *= PyArray_DIM(array, k);
        }
        return bytes;
    }
    """
    bint is_any_array(PyObject* object) noexcept nogil
    npy_intp bytes_of_array(PyObject* object) noexcept nogil

_import_array()

cdef recorder_function recorder = NULL
cdef noter_function noter = NULL
cdef Entry* first_entry = NULL

# Every name that was given a number, by number; 0 is no name.
names = [""]
cdef dict numbers = {}


# What puts debug handles into words for a profiler: functions from a handle to a text, or to None where it is
# not theirs. Whoever issues handles adds one.
handle_describers = []


cpdef unsigned int name_number(str name) except 0:
    """The number of that name, the same for as long as the process lives."""
    number = numbers.get(name)
    if number is None:
        number = len(names)
        names.append(name)
        numbers[name] = number
    return number


# ---------------------------------------------------------------- entries

cdef void add_entry(Entry* entry) noexcept:
    """Makes calls of an object (whose `own` and names are set) visible; before it dies, `remove_entry`."""
    global first_entry
    entry.call = entry.own if recorder is NULL else <vectorcallfunc>call_recorded
    entry.previous = NULL
    entry.next = first_entry
    if first_entry is not NULL:
        first_entry.previous = entry
    first_entry = entry


cdef void remove_entry(Entry* entry) noexcept:
    """Of one that was never added, too, as long as it is all zero."""
    global first_entry
    if entry.next is not NULL:
        entry.next.previous = entry.previous
    if entry.previous is not NULL:
        entry.previous.next = entry.next
    elif first_entry is entry:
        first_entry = entry.next
    entry.previous = entry.next = NULL


cdef void install(recorder_function send, noter_function note) noexcept:
    """From here on calls that begin are recorded."""
    global recorder, noter
    cdef Entry* entry = first_entry
    noter = note
    recorder = send
    while entry is not NULL:
        entry.call = <vectorcallfunc>call_recorded
        entry = entry.next


cdef void uninstall() noexcept:
    """From here on calls that begin are not recorded; those that have begun are."""
    global recorder
    cdef Entry* entry = first_entry
    recorder = NULL
    while entry is not NULL:
        entry.call = entry.own
        entry = entry.next


# ---------------------------------------------------------------- recorded calls

cdef struct Call:
    Call* outer
    int path


cdef void set_path(int path) noexcept:
    cdef Call* call = <Call*>place_of_innermost()[0]
    if call is not NULL:
        call.path = path


cdef PyObject* call_recorded(PyObject* self, PyObject* const* args, size_t count,
                             PyObject* kwnames) noexcept:
    """What stands in an entry while somebody records: the object's own function, with a clock around it."""
    cdef Entry* entry = <Entry*>place_of_call(self)
    cdef vectorcallfunc own = entry.own
    cdef recorder_function send = recorder
    cdef void** innermost = place_of_innermost()    # looked up once: that is a call
    cdef Py_ssize_t given = PyVectorcall_NARGS(count)
    cdef PyObject* result
    cdef Event event
    cdef Call call
    if send is NULL:
        return own(self, args, count, kwnames)
    describe(&event, entry.kind, entry.name, entry.task)
    noter(&event, args, min(given, entry.nin))
    call.path = entry.path
    call.outer = <Call*>innermost[0]
    innermost[0] = &call
    event.begin = now()
    result = own(self, args, count, kwnames)
    event.end = now()
    innermost[0] = call.outer
    event.path = call.path
    if kwnames is not NULL:
        given += PyTuple_GET_SIZE(kwnames)
    event.bytes = bytes_of(args, given, result)
    send(&event)
    return result


cdef inline long long bytes_of(PyObject* const* args, Py_ssize_t count, PyObject* result) noexcept:
    """Of the arrays among the arguments and of the results, each object once."""
    cdef long long total = 0
    cdef Py_ssize_t k
    for k in range(count):
        if is_any_array(args[k]):
            total += bytes_of_array(args[k])
    if result is NULL:
        return total
    if PyTuple_CheckExact(result):
        for k in range(PyTuple_GET_SIZE(result)):
            total += bytes_of_result(PyTuple_GET_ITEM(result, k), args, count)
        return total
    return total + bytes_of_result(result, args, count)


cdef inline long long bytes_of_result(PyObject* result, PyObject* const* args, Py_ssize_t count) noexcept:
    cdef Py_ssize_t k
    if not is_any_array(result):
        return 0
    for k in range(count):
        if args[k] is result:
            return 0
    return bytes_of_array(result)


# ---------------------------------------------------------------- other public functions

cdef class public_call:
    """with public_call(name): a call of a public function that is no op, `name` being its full name."""

    def __init__(self, str name):
        self.name = name_number(name)

    def __enter__(self):
        self.send = recorder
        if self.send is not NULL:
            describe(&self.event, Kind.PUBLIC, self.name, self.name)
            noter(&self.event, NULL, 0)
            self.event.begin = now()
        return self

    def __exit__(self, *exception):
        if self.send is not NULL:
            self.event.end = now()
            self.send(&self.event)


def public(function):
    """A decorator for public Python functions: their calls can be recorded. Costs them about 50 ns."""
    name = f"tensoriter.{function.__qualname__}"

    @wraps(function)
    def call(*args, **kwargs):
        if recorder is NULL:
            return function(*args, **kwargs)
        with public_call(name):
            return function(*args, **kwargs)

    return call
