"""ndarray's operators on and off: the slots of its type, and how often they were asked for.

All of it runs under the GIL, so that a slot is never seen half changed and the count is right whatever
threads do.
"""
from cpython.object cimport PyObject

from tensoriter.core.array_api cimport _import_array, Py_INCREF
from tensoriter.core.hooks cimport recorder
from tensoriter.core.paths cimport forcing

cdef extern from "number_slots.h":
    enum:
        OPERATORS_POSSIBLE
        OPS
    const char* const op_names[]
    const int* open_blocks
    void** recorder_place
    void set_callee(int number, PyObject* op)
    void put_slots()
    void restore_slots()

_import_array()
open_blocks = &forcing
recorder_place = <void**>&recorder

cdef int times_enabled = 0
cdef bint connected = False


def connect_ops(find_op):
    """Gives the operators their ops: find_op(name) is the op that stands for NumPy's ufunc of that name."""
    global connected
    for number in range(OPS):
        op = find_op(op_names[number].decode())
        Py_INCREF(<PyObject*>op)    # for ever: a type may have inherited the slot that calls it
        set_callee(number, <PyObject*>op)
    connected = True


def enable():
    """Puts our functions into ndarray's slots, if they are not there, and counts."""
    global times_enabled
    if not OPERATORS_POSSIBLE:
        raise RuntimeError("this build of Python does not let ndarray's operators be replaced: they can be"
                           " only in CPython with its global lock")
    if not connected:
        raise RuntimeError("ndarray's operators have no ops yet: connect_ops comes first")
    if times_enabled == 0:
        put_slots()
    times_enabled += 1


def disable():
    """Counts down, and at the last puts NumPy's own functions back."""
    global times_enabled
    if times_enabled == 0:
        raise RuntimeError("ndarray's operators are not on tensoriter: disable() without enable()")
    times_enabled -= 1
    if times_enabled == 0:
        restore_slots()


def is_enabled():
    return times_enabled > 0
