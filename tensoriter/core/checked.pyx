"""Checked integers: calls that raise OverflowError where a result does not fit, instead of wrapping.

A checked call goes through the iterator like any other, with two differences: its loop is one that notes
overflow (loops/checked.h), and a given output is computed elsewhere until all is known to fit, so that an
error leaves it as it was. Which element is to blame is looked for only when there is one.
"""
import warnings
from contextvars import ContextVar

import numpy as np

from cpython.object cimport PyObject

from tensoriter.core cimport paths
from tensoriter.core.arguments cimport Arguments, Reason
from tensoriter.core.array_api cimport _import_array, npy_intp, PyArray_BYTES, PyArray_DESCR, PyArrayObject
from tensoriter.core.dtypes cimport (
    dtype_of_code, element_of, element_size, is_integer_element, is_signed_element, LoopTable,
    MAX_OPERANDS, WEAK_INT,
)
from tensoriter.core.iterator cimport Operand
from tensoriter.core.loops.table cimport BOOL, loop_function

_import_array()

cdef enum:
    UNCHECKED, IN_BLOCK, ASKED      # by checked=True: what cannot be checked is refused

cdef object how_checked = ContextVar("tensoriter_checked", default=UNCHECKED)

# How a call of an op that has checked loops reads in an error.
cdef dict FORMULAS = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "square": "{0} * {0}",
    "negative": "-({})", "absolute": "abs({})", "left_shift": "{} << {}", "right_shift": "{} >> {}",
}

cdef enum:
    CHUNK = 4096    # elements that are looked at in one go when the first overflow is looked for


class checked:
    """with checked(): integers that overflow raise OverflowError within the block, instead of wrapping.

    Checked are add, subtract, multiply, square, negative, absolute, left_shift and right_shift of integers,
    and every op's casts of integers to a narrower integer dtype, of results into `out` as well as of
    operands that dtype= asks for. The error names the first element in C order that does not fit, by its
    index in the result and its values; `out` is then as it was, an operand that is `out` included. A shift
    overflows where bits are lost and where its count is negative, negative of an unsigned number unless it
    is 0. Elements that `where` masks are not looked at.

    Not checked: floating point, power and integer division, casts from floating point, methods such as
    add.reduce, and calls that are NumPy's own business (subclasses of ndarray, objects, signature=;
    `tensoriter.explain` tells). ndarray's operators are checked where they are on tensoriter
    (`tensoriter.operators`). A single call is checked, or left out of a block, by its argument checked=.

    The block holds for the current thread or task, as contextvars do, and may be nested; checked(False)
    ends it for the block within. TypeError unless its argument is a bool.

    >>> import numpy as np, tensoriter
    >>> x = np.array([100, 200], "u1")
    >>> with tensoriter.checked():
    ...     tensoriter.add(x, 100)
    Traceback (most recent call last):
        ...
    OverflowError: add at index 1: 200 + 100 does not fit uint8
    >>> tensoriter.add(x, 100)
    array([200,  44], dtype=uint8)
    """

    def __init__(self, on=True):
        if type(on) is not bool:
            raise TypeError(f"checked takes True or False, not {on!r}")
        self.on = on
        self._tokens = []

    def __enter__(self):
        self._tokens.append(how_checked.set(IN_BLOCK if self.on else UNCHECKED))
        paths.forcing += 1
        return self

    def __exit__(self, *exception):
        paths.forcing -= 1
        how_checked.reset(self._tokens.pop())

    def __repr__(self):
        return f"checked({self.on})"


cdef bint is_checking() except -1:
    """Whether calls in this context are checked."""
    return how_checked.get() != UNCHECKED


def is_on():
    """The same, for Python."""
    return is_checking()


cdef void watch(Check* check, Loop* loop) noexcept:
    """Makes `check.loop` do what `loop` does, and note overflow where that can be."""
    check.loop = loop[0]
    check.overflowed = 0
    if loop.checked is not NULL:
        check.loop.function = loop.checked
        check.loop.data = &check.overflowed
        check.loop.borrowed = check.loop.floating = check.loop.silent = False


# ---------------------------------------------------------------- before and after the loop

cdef int check_before(Check* check, Iterator* it, Arguments* arguments, op) except -1:
    """Looks at what becomes of the inputs on the way to the loop, and lets it write where nobody sees it."""
    cdef int k
    cdef Operand* operand
    for k in range(it.nin):
        operand = &it.operands[k]
        if operand.code < WEAK_INT and narrows(operand.element, operand.loop_element):
            check_cast(np.broadcast_to(<object>arguments.inputs[k], shape_of(it)), loop_dtype(it, k),
                       mask_of(arguments), f"{op.__name__}{{}}: x{k + 1} is {{}}, which")
    watch(check, it.loop)
    it.loop = &check.loop
    for k in range(it.nin, it.nin + it.nout):
        operand = &it.operands[k]
        if operand.array is not NULL and (
                check.loop.checked is not NULL or narrows(operand.loop_element, operand.element)):
            it.overlapping = operand.overlapped = True
    return 0


cdef int check_after(Check* check, Iterator* it, Arguments* arguments, op) except -1:
    """Raises what the loop has noted, and looks at what becomes of its results on the way to the outputs."""
    cdef int k
    cdef Operand* operand
    if check.overflowed:
        raise overflow(check, it, arguments, op)
    for k in range(it.nin, it.nin + it.nout):
        operand = &it.operands[k]
        if operand.home is not NULL and operand.array is not operand.home:
            home = <object><PyObject*>operand.home
            if narrows(operand.loop_element, dtype_element(operand.home)):
                name = "out" if it.nout == 1 else f"out[{k - it.nin}]"
                check_cast(<object><PyObject*>operand.array, home.dtype, mask_of(arguments),
                           f"{op.__name__}{{}}: the result {{}} for {name}")
    return 0


cdef int dtype_element(PyArrayObject* array) noexcept:
    return element_of(PyArray_DESCR(array).type_num)


cdef bint narrows(int source, int target) noexcept:
    """Whether there are integers of the one type that the other does not hold. (A bool holds truth, which
    every number has.)"""
    if not is_integer_element(source) or not is_integer_element(target) or source == BOOL or target == BOOL:
        return False
    if is_signed_element(source) != is_signed_element(target):
        return is_signed_element(source) or element_size[target] <= element_size[source]
    return element_size[target] < element_size[source]


cdef object check_cast(array, dtype, where, sentence):
    """Raises OverflowError for the first element in C order that the dtype does not hold."""
    limits = np.iinfo(dtype)
    if (array.min(where=where, initial=0) >= limits.min and array.max(where=where, initial=0) <= limits.max):
        return
    lost = ((array < limits.min) | (array > limits.max)) & where
    index = np.unravel_index(lost.argmax(), lost.shape)
    raise OverflowError(f"{sentence.format(place(index), array[index])} does not fit {limits.dtype}")


# ---------------------------------------------------------------- the first overflow

cdef object overflow(Check* check, Iterator* it, Arguments* arguments, op):
    """The exception that names the first element in C order at which the checked loop notes an overflow."""
    cdef npy_intp start, i, size = it.size
    cdef int k
    shape = shape_of(it)
    dtypes = [loop_dtype(it, k) for k in range(it.nin + 1)]
    inputs = [np.broadcast_to(<object>arguments.inputs[k], shape).flat for k in range(it.nin)]
    mask = np.broadcast_to(mask_of(arguments), shape).flat
    for start in range(0, size, CHUNK):
        places = np.flatnonzero(mask[start:start + CHUNK])
        chunk = [x[start:start + CHUNK][places].astype(dtype) for x, dtype in zip(inputs, dtypes)]
        chunk.append(np.empty(len(places), dtypes[it.nin]))
        if not overflows(check.loop.checked, chunk, 0, len(places)):
            continue
        for i in range(len(places)):
            if overflows(check.loop.checked, chunk, i, 1):
                index = np.unravel_index(start + places[i], shape)
                formula = FORMULAS[op.__name__].format(*[x[i] for x in chunk])
                return OverflowError(f"{op.__name__}{place(index)}: {formula} does not fit {dtypes[it.nin]}")
    return OverflowError(f"{op.__name__}: integer overflow, of operands that have changed since")


cdef bint overflows(loop_function function, list operands, npy_intp first, npy_intp n) except -1:
    """Whether the loop notes overflow among n elements; the operands are contiguous."""
    cdef char* pointers[MAX_OPERANDS]
    cdef npy_intp steps[MAX_OPERANDS]
    cdef int k, overflowed = 0
    for k in range(len(operands)):
        steps[k] = operands[k].itemsize
        pointers[k] = PyArray_BYTES(<PyArrayObject*><PyObject*>operands[k]) + first * steps[k]
    function(pointers, &n, steps, &overflowed)
    return overflowed != 0


cdef object place(index):
    """Where in the result, in words: nothing for one without dimensions."""
    index = tuple([int(i) for i in index])
    return f" at index {index[0] if len(index) == 1 else index}" if index else ""


cdef tuple shape_of(Iterator* it):
    cdef int axis
    return tuple([it.shape[it.ndim - 1 - axis] for axis in range(it.ndim)])


cdef object loop_dtype(Iterator* it, int k):
    return <object><PyObject*>dtype_of_code[it.loop.types[k]]


cdef object mask_of(Arguments* arguments):
    return True if arguments.where is NULL else <object>arguments.where


# ---------------------------------------------------------------- one call, and what the set-up refuses

cdef object begin_asking(value, LoopTable table):
    """Sets this context to what checked= says of one call; `end_asking` of the result sets it back."""
    if not table.checkable:
        raise TypeError(f"{table.ufunc.__name__}() got an unexpected keyword argument 'checked': nothing"
                        " that it computes is checked")
    if value is None:       # as if it were not given
        how = how_checked.get()
    elif type(value) is bool:
        how = ASKED if value else UNCHECKED
    else:
        raise TypeError(f"checked= takes True, False or None, not {value!r}")
    token = how_checked.set(how)
    paths.forcing += 1
    return token


cdef int end_asking(token) except -1:
    paths.forcing -= 1
    how_checked.reset(token)
    return 0


def refuse_if_asked(op, reason, operand):
    """Raises for a call with checked=True that is NumPy's, which does not check."""
    if how_checked.get() == ASKED:
        from tensoriter.core.reasons import refusal
        raise refusal(reason or Reason.FORCED, operand, f"{op.__name__} with checked=True", op.nin, op.nout)


def put_otherwise(operands, keywords, nin, reason):
    """Changes a call that the general set-up does not take into one that means the same and may be taken;
    False where there is nothing to change.

    >>> operands = [[1, 2], 3]
    >>> put_otherwise(operands, {}, 2, Reason.OPERAND_TYPE), operands
    (True, [array([1, 2]), 3])
    """
    if reason == Reason.WHERE_WITHOUT_OUT:
        warnings.warn("'where' used without 'out', expect uninitialized memory in output. If this is"
                      " intentional, use out=None.", UserWarning, stacklevel=1)    # as NumPy does
        keywords["out"] = None
        return True
    changed = False
    unsigned = any([getattr(x, "dtype", None) == np.uint64 for x in operands[:nin]])
    for k, x in enumerate(operands[:nin]):
        if type(x) in (list, tuple):
            operands[k] = np.asarray(x)
        elif type(x) is int and unsigned and 2**63 <= x < 2**64:
            operands[k] = np.uint64(x)      # which a Python integer beside a uint64 becomes
        changed |= operands[k] is not x
    if type(keywords.get("where")) in (list, tuple):
        keywords["where"] = np.asarray(keywords["where"])
        changed = True
    return changed
