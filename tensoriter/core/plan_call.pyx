"""The call of a captured function: as long as its arguments are what they were, straight to the program.

What is remembered of the last call is a list of what to expect, argument by argument and depth first. A call
that meets anything else goes to Python, which finds or makes the plan for it.
"""
import functools
import weakref

import numpy as np

cimport cython
from cpython.object cimport Py_EQ, PyObject, PyTypeObject
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from tensoriter.core.arguments cimport OUT_KEYWORD
from tensoriter.core.array_api cimport (
    _import_array, enable_vectorcall, flags_of, is_plain_array, NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE,
    Py_TYPE, PyArray_DESCR, PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES, PyArrayObject,
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyLong_CheckExact, PyTuple_CheckExact, PyTuple_GET_ITEM,
    PyTuple_GET_SIZE, PyVectorcall_NARGS, steal, vectorcallfunc,
)
from tensoriter.core.fpstatus cimport fp_numpy_flags
from tensoriter.core.hooks cimport add_entry, Entry, Kind, name_number, Path, remove_entry
from tensoriter.core.paths cimport forcing
from tensoriter.core.plan cimport Program

cdef extern from "Python.h":
    bint PyList_CheckExact(PyObject*)
    bint PyDict_CheckExact(PyObject*)
    Py_ssize_t PyList_GET_SIZE(PyObject*)
    PyObject* PyList_GET_ITEM(PyObject*, Py_ssize_t)
    Py_ssize_t PyDict_Size(PyObject*)
    bint PyDict_Next(PyObject*, Py_ssize_t*, PyObject**, PyObject**)
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) except -1
    PyObject* PyTuple_New(Py_ssize_t) except NULL
    void PyTuple_SET_ITEM(PyObject*, Py_ssize_t, PyObject*)

cdef extern from *:
    """
    /* step.method(...) through an instance's class makes no bound method on the way. */
    static inline void make_method_descriptor(PyTypeObject *type)
    {
        type->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
        PyType_Modified(type);
    }
    """
    void make_method_descriptor(PyTypeObject*)

_import_array()

cdef tuple PLAIN = (bool, int, float, complex, str, bytes, type(None), type)

cdef enum:
    MOST_ARRAYS = 64        # of a call that goes straight to the program
    MOST_POSITIONAL = 32

cdef enum ExpectedKind:
    ARRAY
    VALUE
    TUPLE
    LIST
    DICT

# What is remembered holds as long as nothing that plans depend on has changed for the process.
cdef unsigned long long era = 0


def begin_era():
    """Lets the next call of every captured function look for its plan anew."""
    global era
    era += 1


cdef struct Expected:
    ExpectedKind kind
    PyObject* object        # a value; the keys of a dict
    Py_ssize_t count        # of items
    PyArrayObject* like


@cython.no_gc_clear     # what is kept has to live as long as the pointers to it
cdef class PlanCall:
    """What a captured function is when it is called; `tensoriter.graph.capture` makes them.

    A subclass has a method `_call(*args, **kwargs)`, which any call may go to, and which lets `_remember`
    know what it found.
    """
    cdef Entry entry
    cdef object plan
    cdef Program program
    cdef Expected* expected
    cdef int expected_count
    cdef Py_ssize_t arguments_count
    cdef unsigned long long era     # in which the rest was remembered
    cdef list held              # what the pointers above need alive
    cdef list attributes        # (dict or list, its contents when it was traced, as a tuple)
    cdef bint own_out           # `out` is a parameter of the function itself
    cdef object form            # of the result: a position, a tuple of positions, or a function of a list
    cdef object __weakref__
    cdef dict __dict__

    def __cinit__(self, *args, **kwargs):
        self.entry.own = <vectorcallfunc>call_plan
        self.entry.kind = Kind.PLAN
        self.entry.path = Path.NO_PATH
        self.entry.nin = MOST_POSITIONAL
        self._is_named("plan")
        add_entry(&self.entry)

    def __dealloc__(self):
        remove_entry(&self.entry)
        free(self.expected)

    def __call__(self, *args, **kwargs):
        # What PlanCall.__call__(step, ...) reaches; a call of the step itself goes through vectorcall.
        return self._call(*args, **kwargs)

    def _is_named(self, str name):
        """Says what a profiler is to call it."""
        self.entry.name = self.entry.task = name_number(name)

    def _forget(self):
        """Lets every call go to `_call`."""
        self.program = None
        self.held = self.attributes = None

    def _remember(self, plan, tuple args, list attributes, form, bint own_out=False):
        """Lets calls with arguments like these go straight to the plan's program.

        args : of a call that the plan is for
        attributes : (dict or list, a tuple of its contents) of what the arguments' attributes lie in, which
            must hold the very same objects in a later call
        form : the position of the only result, a tuple of positions, or a function that takes the list of
            results
        own_out : whether `out` is a parameter of the function itself
        """
        expected = []
        self.program = None
        if plan.program is None or len(args) > MOST_POSITIONAL:
            return
        if not all([expect(value, expected, plan.buffers) for value in args]):
            return
        if sum([entry[0] == ARRAY for entry in expected]) != plan.program.inputs_count:
            return
        free(self.expected)
        self.expected = <Expected*>calloc(len(expected) + 1, sizeof(Expected))
        if self.expected is NULL:
            raise MemoryError
        self.held = [plan]
        for k, (kind, value, count) in enumerate(expected):
            self.held.append(self.hold(kind, value))
            self.expected[<int>k].kind = kind
            self.expected[<int>k].object = <PyObject*>value
            self.expected[<int>k].count = count
            self.expected[<int>k].like = <PyArrayObject*><PyObject*>value
        self.arguments_count = len(args)
        self.era = era
        self.attributes = attributes
        self.form = form
        self.own_out = own_out
        self.plan = plan
        self.program = plan.program

    cdef object hold(self, kind, value):
        """What keeps the pointer to a value good: the value itself if it is plain, else what ends it all when
        the value goes, which nobody shall wait for."""
        if kind != VALUE or isinstance(value, PLAIN):
            return value
        try:
            return weakref.ref(value, functools.partial(object_is_gone, weakref.ref(self)))
        except TypeError:
            return value


def object_is_gone(step, reference):
    """An object is gone that calls were expected to have as an argument."""
    if step() is not None:
        step()._forget()


cdef bint expect(value, list expected, list buffers) except -1:
    """Appends what this argument is; False for what no call with it can be told apart by."""
    cdef object kind = type(value)
    if kind is np.ndarray:
        position = len([entry for entry in expected if entry[0] == ARRAY])
        if position >= min(len(buffers), MOST_ARRAYS):
            return False
        expected.append((ARRAY, buffers[position].array, 0))
        return True
    if isinstance(value, np.generic):
        return False
    if kind is not tuple and kind is not list and kind is not dict:
        expected.append((VALUE, value, 0))
        return True
    items = list(value.values()) if kind is dict else value
    number = TUPLE if kind is tuple else LIST if kind is list else DICT
    expected.append((number, tuple(value) if kind is dict else None, len(items)))
    return all([expect(item, expected, buffers) for item in items])


# ---------------------------------------------------------------- is it the same again?

cdef inline bint array_is_like(PyArrayObject* array, PyArrayObject* like) noexcept:
    cdef int k, ndim = PyArray_NDIM(like)
    if (PyArray_DESCR(array) is not PyArray_DESCR(like) or PyArray_NDIM(array) != ndim
            or (flags_of(array) ^ flags_of(like)) & NPY_ARRAY_ALIGNED):
        return False
    for k in range(ndim):
        if (PyArray_DIMS(array)[k] != PyArray_DIMS(like)[k]
                or PyArray_STRIDES(array)[k] != PyArray_STRIDES(like)[k]):
            return False
    return True


cdef inline bint value_is(PyObject* value, PyObject* known) noexcept:
    """The same object, or an equal int or, bit by bit, float."""
    cdef double a, b
    if value is known:
        return True
    if Py_TYPE(value) is not Py_TYPE(known):
        return False
    if PyFloat_CheckExact(value):
        a, b = PyFloat_AS_DOUBLE(value), PyFloat_AS_DOUBLE(known)
        return memcmp(&a, &b, sizeof(double)) == 0
    return PyLong_CheckExact(value) and PyObject_RichCompareBool(value, known, Py_EQ) == 1


cdef bint matches(Expected** next_one, PyObject* value, PyObject** arrays, int* found) noexcept:
    """Whether a value is what is expected next; its arrays are appended to `arrays`."""
    cdef Expected* expected = next_one[0]
    cdef Py_ssize_t k, position = 0
    cdef PyObject* key
    cdef PyObject* item
    next_one[0] += 1
    if expected.kind == ARRAY:
        arrays[found[0]] = value
        found[0] += 1
        return is_plain_array(value) and array_is_like(<PyArrayObject*>value, expected.like)
    if expected.kind == VALUE:
        return value_is(value, expected.object)
    if expected.kind == TUPLE:
        if not PyTuple_CheckExact(value) or PyTuple_GET_SIZE(value) != expected.count:
            return False
        for k in range(expected.count):
            if not matches(next_one, PyTuple_GET_ITEM(value, k), arrays, found):
                return False
        return True
    if expected.kind == LIST:
        if not PyList_CheckExact(value) or PyList_GET_SIZE(value) != expected.count:
            return False
        for k in range(expected.count):
            if not matches(next_one, PyList_GET_ITEM(value, k), arrays, found):
                return False
        return True
    if not PyDict_CheckExact(value) or PyDict_Size(value) != expected.count:
        return False
    k = 0
    while PyDict_Next(value, &position, &key, &item):
        if key is not PyTuple_GET_ITEM(expected.object, k) or not matches(next_one, item, arrays, found):
            return False
        k += 1
    return True


cdef bint attributes_are(list known) noexcept:
    """Whether dicts and lists hold the very objects that they held."""
    cdef Py_ssize_t k, position
    cdef PyObject* container
    cdef PyObject* contents
    cdef PyObject* key
    cdef PyObject* item
    for pair in known:
        container = PyTuple_GET_ITEM(<PyObject*>pair, 0)
        contents = PyTuple_GET_ITEM(<PyObject*>pair, 1)
        k = position = 0
        if PyList_CheckExact(container):
            if PyList_GET_SIZE(container) != PyTuple_GET_SIZE(contents):
                return False
            for k in range(PyTuple_GET_SIZE(contents)):
                if PyList_GET_ITEM(container, k) is not PyTuple_GET_ITEM(contents, k):
                    return False
            continue
        if 2 * PyDict_Size(container) != PyTuple_GET_SIZE(contents):
            return False
        while PyDict_Next(container, &position, &key, &item):
            if (key is not PyTuple_GET_ITEM(contents, k) or item is not PyTuple_GET_ITEM(contents, k + 1)):
                return False
            k += 2
    return True


# ---------------------------------------------------------------- the call

cdef object call_plan(PyObject* self, PyObject* const* args, size_t count, PyObject* kwnames):
    cdef PlanCall step = <PlanCall>self
    cdef PyObject* arrays[MOST_ARRAYS]
    cdef Expected* next_one
    cdef Py_ssize_t k
    cdef int found = 0
    if (step.program is None or forcing != 0 or step.era != era
            or PyVectorcall_NARGS(count) != step.arguments_count):
        return call_slowly(step, args, count, kwnames)
    if kwnames is not NULL:
        if step.own_out or PyTuple_GET_SIZE(kwnames) != 1 or PyTuple_GET_ITEM(kwnames, 0) is not OUT_KEYWORD:
            return call_slowly(step, args, count, kwnames)
    next_one = step.expected
    for k in range(step.arguments_count):
        if not matches(&next_one, args[k], arrays, &found):
            return call_slowly(step, args, count, kwnames)
    if step.attributes and not attributes_are(step.attributes):
        return call_slowly(step, args, count, kwnames)
    if kwnames is not NULL:
        return call_into(step, arrays, args, count, kwnames)
    return compute(step, arrays, NULL)


cdef object call_slowly(PlanCall step, PyObject* const* args, size_t count, PyObject* kwnames):
    cdef Py_ssize_t k, given = PyVectorcall_NARGS(count)
    positional = tuple([<object>args[k] for k in range(given)])
    if kwnames is NULL:
        return step._call(*positional)
    names = <object>kwnames
    return step._call(*positional, **{names[k]: <object>args[given + k] for k in range(len(names))})


cdef object call_into(PlanCall step, PyObject** arrays, PyObject* const* args, size_t count,
                      PyObject* kwnames):
    """step(..., out=arrays), where each result gets an array of its dtype and shape."""
    cdef PyObject* outs[MOST_ARRAYS]
    cdef PyObject* value = args[step.arguments_count]
    cdef int k, results = step.program.results_count
    cdef bint fits = results <= MOST_ARRAYS
    if fits and type(step.form) is int:
        outs[0] = value
    elif (fits and type(step.form) is tuple and PyTuple_CheckExact(value)
            and PyTuple_GET_SIZE(value) == results):
        for k in range(results):
            outs[k] = NULL
        for k in range(results):
            outs[<int>step.form[k]] = PyTuple_GET_ITEM(value, k)
    else:
        fits = False
    for k in range(results if fits else 0):
        fits = fits and outs[k] is not NULL and is_plain_array(outs[k]) and fits_out(
            <PyArrayObject*>outs[k], step.program.results[k].like)
    if not fits:
        return call_slowly(step, args, count, kwnames)
    return compute(step, arrays, outs)


cdef bint fits_out(PyArrayObject* array, PyArrayObject* like) noexcept:
    cdef int k, ndim = PyArray_NDIM(like)
    if (PyArray_DESCR(array) is not PyArray_DESCR(like) or PyArray_NDIM(array) != ndim
            or not flags_of(array) & NPY_ARRAY_WRITEABLE):
        return False
    for k in range(ndim):
        if PyArray_DIMS(array)[k] != PyArray_DIMS(like)[k]:
            return False
    return True


cdef inline object compute(PlanCall step, PyObject** arrays, PyObject** outs):
    cdef Program program = step.program
    cdef PyObject* few[8]
    cdef PyObject** results = few
    cdef int error, raised = 0
    if program.results_count > 8:
        return compute_many(step, arrays, outs)
    error = program.run(arrays, outs, results, &raised)
    if error or raised or outs is not NULL:
        return finish(step, arrays, outs, results if not error else NULL, raised)
    return build(step, results)


cdef object compute_many(PlanCall step, PyObject** arrays, PyObject** outs):
    cdef Program program = step.program
    cdef int error, raised = 0
    cdef PyObject** results = <PyObject**>calloc(program.results_count, sizeof(PyObject*))
    if results is NULL:
        raise MemoryError
    try:
        error = program.run(arrays, outs, results, &raised)
        if error or raised or outs is not NULL:
            return finish(step, arrays, outs, results if not error else NULL, raised)
        return build(step, results)
    finally:
        free(results)


cdef object finish(PlanCall step, PyObject** arrays, PyObject** outs, PyObject** results, int raised):
    """Something has happened that a warning or error may be due for, or results have a place to go to."""
    cdef Program program = step.program
    cdef int k
    form = step.form
    found = None if results is NULL else [steal(results[k]) for k in range(program.results_count)]
    given = None if outs is NULL else [<object>outs[k] for k in range(program.results_count)]
    found = step.plan.finish([<object>arrays[k] for k in range(program.inputs_count)], given, found,
                             fp_numpy_flags(raised))
    if type(form) is int:
        return found[form]
    return tuple([found[k] for k in form]) if type(form) is tuple else form(found)


cdef inline object build(PlanCall step, PyObject** results):
    """The result in its form; takes the references."""
    cdef PyObject* form = <PyObject*>step.form
    cdef PyObject* built
    cdef Py_ssize_t k, place, count = step.program.results_count
    if PyLong_CheckExact(form):
        return steal(results[0])
    if PyTuple_CheckExact(form) and PyTuple_GET_SIZE(form) == count:    # positions in their order
        built = PyTuple_New(count)
        for k in range(count):
            PyTuple_SET_ITEM(built, k, results[k])
        return steal(built)
    return step.form([steal(results[place]) for place in range(count)])


def enable_fast_calls(type subclass):
    """Makes instances of a subclass of PlanCall callable through vectorcall, also as methods: Python lets
    classes inherit neither."""
    cdef PlanCall step = PlanCall.__new__(PlanCall)
    enable_vectorcall(<PyTypeObject*><PyObject*>subclass, <char*>&step.entry - <char*><PyObject*>step)
    make_method_descriptor(<PyTypeObject*><PyObject*>subclass)


enable_fast_calls(PlanCall)
