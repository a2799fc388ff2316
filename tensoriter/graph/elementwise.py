"""Calls of ufuncs on stand-ins: which loop, which casts, which node. NumPy is asked for each rule."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tensoriter.core.op import Op
from tensoriter.graph.graph import Node
from tensoriter.graph.trace import NUMERIC, Trace, code_of, dtype_of

_COMPARISONS = frozenset(
    (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
)
_WEAK = frozenset((int, float, complex))
# What NumPy's scalars compute by themselves as the ufunc does, warnings aside; of real numbers only.
_LIKE_UFUNC = frozenset(
    ("add", "sub", "mul", "truediv", "lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "abs")
)


@lru_cache(maxsize=1024)
def op_of(ufunc: np.ufunc) -> Op:
    """The op of a ufunc; one without loops of numbers hands each call over."""
    return Op.from_ufunc(ufunc, unsupported="numpy")


@lru_cache(maxsize=4096)
def resolve(
    ufunc: np.ufunc, kinds: Sequence[Any], dtype: np.dtype[Any] | None, casting: str
) -> tuple[np.dtype[Any], ...]:
    """The dtypes of the loop that takes operands of these dtypes, by code, or types of Python's numbers."""
    kinds = [dtype_of(kind) if type(kind) is str else kind for kind in kinds]
    keywords = {"signature": (None,) * ufunc.nin + (dtype,) * ufunc.nout} if dtype is not None else {}
    return ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), casting=casting, **keywords)


def operand(trace: Trace, value: Any) -> Node | int | float | complex:
    """What takes part in an operation: a node, or a number of Python's that adapts its dtype."""
    kind = type(value)
    if kind in _WEAK:
        return value
    node = getattr(value, "_node", None)
    if node is not None:
        return trace.own(value)
    if kind is np.ndarray:
        return trace.array(value)
    if isinstance(value, np.generic):
        array = np.asarray(value)
        if array.dtype.char in NUMERIC:
            return trace.constant(value, array.dtype)
    array = np.asarray(value)  # a list, a bool: fixed in the trace, unless it holds stand-ins
    if array.dtype.char not in NUMERIC or isinstance(value, np.ndarray):
        trace.refuse(f"takes part in it: a {kind.__name__}")
    array.flags.writeable = False
    return trace.array(array) if array.ndim else trace.constant(array[()], array.dtype)


def apply(
    trace: Trace,
    ufunc: np.ufunc,
    values: Sequence[Any],
    *,
    into: Any = None,
    dtype: Any = None,
    casting: str = "same_kind",
    of_scalars: bool = False,
) -> Node | tuple[Node, ...]:
    """The node, or several, of ufunc(*values). `into` is the node that it is to be written over, whose dtype
    and shape the result gets. `of_scalars`: Python's operator on NumPy scalars, which warn by other names."""
    operands = [operand(trace, value) for value in values]
    kinds = _kinds(operands)
    if ufunc in _COMPARISONS:
        operands, kinds = _within_bounds(trace, operands, kinds)
    wanted = np.dtype(dtype) if dtype is not None else None
    types = resolve(ufunc, kinds, wanted, casting)
    if any(t.char not in NUMERIC for t in types):
        trace.refuse(f"{ufunc.__name__} computes in {types[0]} here", "only numbers and bools are captured")
    inputs = [_as(trace, x, t) for x, t in zip(operands, types, strict=False)]
    attributes: dict[str, Any] = {"function": op_of(ufunc), "types": types}
    if of_scalars:
        attributes["operator"] = True
    if into is not None:
        return _in_place(trace, ufunc, inputs, types, into, operands, attributes, casting)
    is_scalar = all(x.shape == () for x in inputs)
    node = trace.add("ufunc", ufunc.__name__, inputs, types[ufunc.nin], is_scalar, **attributes)
    if ufunc.nout == 1:
        return node
    return tuple([
        trace.add("item", ufunc.__name__, [node], dtype, is_scalar, index=k)
        for k, dtype in enumerate(types[ufunc.nin :])
    ])


def _kinds(operands: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([code_of(x.dtype) if isinstance(x, Node) else type(x) for x in operands])


def _in_place(trace: Trace, ufunc: np.ufunc, inputs: list[Node], types: tuple[np.dtype[Any], ...], into: Node,
              operands: list[Any], attributes: dict[str, Any], casting: str) -> Node:
    if not np.can_cast(types[-1], into.dtype, casting):
        ones = [np.ones(1, t) for t in types[:-1]]
        ufunc(*ones, out=np.ones(1, into.dtype), casting=casting)  # NumPy's own error
    if into in operands:
        attributes["in_place"] = operands.index(into)
    else:
        trace.specialised.add("shapes")  # which no node of the graph would compare
        if np.broadcast_shapes(into.shape, *(x.shape for x in inputs)) != into.shape:
            raise ValueError(f"non-broadcastable output operand with shape {into.shape}")
    node = trace.add("ufunc", ufunc.__name__, inputs, types[-1], False, **attributes)
    if node.shape != into.shape:
        trace.refuse("an output that is larger than its inputs", "broadcast them, or use a new array")
    return trace.cast(node, into.dtype, casting)


def _within_bounds(
    trace: Trace, operands: list[Any], kinds: tuple[Any, ...]
) -> tuple[list[Any], tuple[Any, ...]]:
    """Comparisons take any int: those that the other's dtype does not hold are compared as they are."""
    dtypes = [x.dtype for x in operands if isinstance(x, Node)]
    if len(dtypes) == 1 and dtypes[0].kind in "iu" and int in kinds:
        limits = np.iinfo(dtypes[0])
        value = operands[kinds.index(int)]
        if not limits.min <= value <= limits.max:
            found = np.asarray(value)
            if found.dtype.char not in NUMERIC:
                trace.refuse(f"{value} is compared", "it is larger than any integer dtype")
            operands = [trace.constant(found[()], found.dtype) if x is value else x for x in operands]
            kinds = _kinds(operands)
    return operands, kinds


def _as(trace: Trace, value: Any, dtype: np.dtype[Any]) -> Node:
    """The operand in the loop's dtype. Whether it may be cast was decided when the loop was found."""
    if isinstance(value, Node):
        return trace.cast(value, dtype, "unsafe")
    return weak_constant(trace, value, dtype)


def weak_constant(trace: Trace, value: Any, dtype: np.dtype[Any]) -> Node:
    """A number of Python's in that dtype. What it does not hold raises OverflowError if it is an int; a
    float becomes infinite, with a warning in each run."""
    try:
        with np.errstate(all="raise"):
            np.array(value, dtype)
    except FloatingPointError:
        own = np.asarray(value)
        return trace.cast(trace.constant(own[()], own.dtype), dtype, "unsafe")
    return trace.constant(value, dtype, weak=True)


# ---------------------------------------------------------------- operators

class _Asked(Exception):
    """Which ufunc was called."""


class _Asking(np.ndarray):
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        raise _Asked(ufunc)


@lru_cache(maxsize=1024)
def power_of(dtype: np.dtype[Any], kind: type, exponent: Any) -> np.ufunc:
    """The ufunc that x ** exponent calls in this version of NumPy: square for 2, sqrt for 0.5, ...

    >>> power_of(np.dtype("f8"), int, 2), power_of(np.dtype("f8"), int, 3)
    (<ufunc 'square'>, <ufunc 'power'>)
    """
    try:
        np.empty(1, dtype).view(_Asking) ** exponent
    except _Asked as asked:
        return asked.args[0]
    return np.power


def apply_operator(trace: Trace, name: str, ufunc: np.ufunc, values: Sequence[Any]) -> Any:
    """The node of a Python operator. Between NumPy scalars it is their own, which NumPy computes apart from
    its ufuncs: integers warn when they overflow."""
    if all(_is_scalar(value) for value in values):
        return _of_scalars(trace, name, ufunc, values)
    if name == "pow" and type(values[1]) in (int, float):
        node = trace.own(values[0])
        ufunc = power_of(node.dtype, type(values[1]), values[1])
        values = values[: ufunc.nin]
    return apply(trace, ufunc, values)


def _is_scalar(value: Any) -> bool:
    node = getattr(value, "_node", None)
    return node.is_scalar if node is not None else isinstance(value, (np.generic, bool, int, float, complex))


def _of_scalars(trace: Trace, name: str, ufunc: np.ufunc, values: Sequence[Any]) -> Any:
    operands = [operand(trace, value) for value in values]
    if name in _LIKE_UFUNC and all(type(x) in (int, float) or x.dtype.char in "fd" for x in operands):
        return apply(trace, ufunc, values, of_scalars=True)
    inputs = [
        x if isinstance(x, Node) else trace.constant(x, np.asarray(x).dtype, weak=True) for x in operands
    ]
    samples = [np.ones((), x.dtype)[()] if isinstance(x, Node) else x for x in operands]
    with np.errstate(all="ignore"):
        found = getattr(operator, name)(*samples)
    dtype, function = np.asarray(found).dtype, f"operator.{name}"
    return trace.add("call", ufunc.__name__, inputs, dtype, True, function=function, keywords={})
