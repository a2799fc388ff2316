"""A graph evaluated node by node with NumPy: what a plan has to equal, and how errors and warnings are made.

A plan only notices that something is wrong. The graph is then run again here, in the order in which it was
written, each node as if it were called at its line of the source: so a warning is issued there, whatever
errstate and the warning filters make of it, and an exception carries the calls that led there.
"""

from __future__ import annotations

import ast
import contextlib
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from tensoriter.core.checked import checked
from tensoriter.graph.calls import function_of
from tensoriter.graph.debug import SourceRange, add_note, describe_handle
from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.shapes import view

# As this NumPy writes it: versions differ in a full stop.
_EMPTY_MEAN = next(
    text for text in (*np._core._methods._mean.__code__.co_consts, "Mean of empty slice")
    if isinstance(text, str) and text.startswith("Mean of empty slice")
)
_REDUCE = {"sum": np.add, "max": np.maximum, "min": np.minimum}


def evaluate(graph: Graph, arrays: Sequence[Any]) -> list[Any]:
    """The results of the graph for these arrays, which stand for its inputs.

    >>> from tensoriter.graph.trace import trace
    >>> evaluate(trace(lambda x, y: x + y, (np.ones(2), 1)).graph, [np.arange(2.0)])
    [array([1., 2.])]
    """
    values: dict[Node, Any] = {}
    for node, array in zip(graph.inputs, arrays, strict=True):
        values[node] = np.asarray(array)[()] if node.is_scalar else array
    for node in graph.nodes:
        if node.kind != "input":
            values[node] = _evaluate_node(graph, node, [values[x] for x in node.inputs])
    return [values[node] for node in graph.outputs]


def rerun(graph: Graph, arrays: Sequence[Any]) -> list[Any]:
    """The same as the function was written, before passes: what warns or fails does so where NumPy does."""
    return evaluate(graph.traced or graph, arrays)


def _evaluate_node(graph: Graph, node: Node, values: list[Any]) -> Any:
    try:
        with _modes(node):
            return apply(node, values, _at_source(graph, node))
    except Exception as error:
        for handle in node.handles:
            add_note(error, describe_handle(graph.debug, handle))
        raise


def _modes(node: Node) -> Any:
    """The errstate and the checking that the function had set where the node stands."""
    modes = contextlib.ExitStack()
    if "errstate" in node.attributes:
        modes.enter_context(np.errstate(**node.attributes["errstate"]))
    if node.attributes.get("checked"):
        modes.enter_context(checked())
    return modes


Caller = Callable[..., Any]  # caller(function, *args, **kwargs) calls it


def directly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call from here."""
    return function(*args, **kwargs)


def apply(node: Node, values: Sequence[Any], at: Caller = directly) -> Any:
    """The result of a node of any kind but 'input', for these values of its inputs; `at` makes its calls."""
    value = _KINDS[node.kind](node, values, at)
    # What was written in place is an array, though a new result without dimensions is a scalar.
    if isinstance(value, np.ndarray):
        return value[()] if node.is_scalar else value
    return np.asarray(value) if isinstance(value, np.generic) and not node.is_scalar else value


# ---------------------------------------------------------------- kinds

def _constant(node: Node, values: Sequence[Any], at: Caller) -> Any:
    value = node.attributes["value"]
    if node.attributes["weak"]:
        return _Weak(value, np.array(value, node.dtype))
    return value


class _Weak(tuple[Any, np.ndarray]):
    """A number of Python's, and the same in the dtype that it takes."""

    def __new__(cls, *both: Any) -> _Weak:
        return super().__new__(cls, both)


def _ufunc(node: Node, values: Sequence[Any], at: Caller) -> Any:
    function = node.attributes["function"]
    if node.attributes.get("operator"):
        return at(function_of(f"operator.{_OPERATORS[node.op]}"), *[_number(value) for value in values])
    return at(function, *[_array(value) for value in values])


_OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "less": "lt", "less_equal": "le",
    "equal": "eq", "not_equal": "ne", "greater": "gt", "greater_equal": "ge", "negative": "neg",
    "positive": "pos", "absolute": "abs",
}  # fmt: skip


def _array(value: Any) -> Any:
    return value[1] if type(value) is _Weak else value


def _number(value: Any) -> Any:
    return value[0] if type(value) is _Weak else value


def _where(node: Node, values: Sequence[Any], at: Caller) -> Any:
    return at(np.where, *map(_array, values))


def _cast(node: Node, values: Sequence[Any], at: Caller) -> Any:
    value, order = _array(values[0]), node.attributes.get("order", "K")
    if node.op == "copy":
        return np.array(value, order=order, copy=True)
    return at(value.astype, node.dtype, casting=node.attributes["casting"])


def _view(node: Node, values: Sequence[Any], at: Caller) -> Any:
    return at(view, _array(values[0]), node.attributes["method"], node.attributes["argument"])


def _take(node: Node, values: Sequence[Any], at: Caller) -> Any:
    rows, index = map(_array, values)
    axis = node.attributes["axis"]
    if node.attributes.get("indexed"):
        return at(rows.__getitem__, (*(slice(None),) * axis, index))
    return at(np.take, rows, index, axis=axis, mode=node.attributes["mode"])


def _concatenate(node: Node, values: Sequence[Any], at: Caller) -> Any:
    return at(np.concatenate, list(map(_array, values)), axis=node.attributes["axis"])


def _reduce(node: Node, values: Sequence[Any], at: Caller) -> Any:
    function, given = node.attributes["function"], node.attributes
    keywords = {"axis": given["axis"], "keepdims": given["keepdims"]}
    if "dtype" in given:
        keywords["dtype"] = given["dtype"]
    if function == "mean":
        return mean(_array(values[0]), at, **keywords)
    return at(_REDUCE[function].reduce, _array(values[0]), **keywords)


def mean(array: Any, at: Caller, axis: Any, keepdims: bool, dtype: Any = None) -> Any:
    """np.mean, in the steps that NumPy takes, so that each warns where `at` says."""
    array = np.asarray(array)
    over = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    count = np.intp(np.prod([array.shape[k] for k in over], dtype=np.intp))
    if count == 0:
        at(warnings.warn, _EMPTY_MEAN, RuntimeWarning)
    is_half = dtype is None and array.dtype.char == "e"
    if dtype is None and array.dtype.kind in "biu":
        dtype = np.dtype("f8")
    total = at(np.add.reduce, array, axis=axis, dtype=np.dtype("f4") if is_half else dtype, keepdims=keepdims)
    if isinstance(total, np.ndarray):
        result = at(np.true_divide, total, count, out=total, casting="unsafe")
        return at(result.astype, array.dtype) if is_half else result
    quotient = at(function_of("operator.truediv"), total, count)
    return at((array.dtype if is_half else total.dtype).type, quotient)


def _fused(node: Node, values: Sequence[Any], at: Caller) -> Any:
    results = evaluate(node.attributes["body"], values)
    return results if len(results) > 1 else results[0]


def _call(node: Node, values: Sequence[Any], at: Caller) -> Any:
    function = function_of(node.attributes["function"])
    return at(function, *map(_number, values), **node.attributes["keywords"])


_KINDS: dict[str, Callable[[Node, Sequence[Any], Caller], Any]] = {
    "constant": _constant,
    "ufunc": _ufunc,
    "item": lambda node, values, at: values[0][node.attributes["index"]],
    "where": _where,
    "cast": _cast,
    "view": _view,
    "take": _take,
    "concatenate": _concatenate,
    "reduce": _reduce,
    "call": _call,
    "fused": _fused,
}


# ---------------------------------------------------------------- a call from another line

def _at_source(graph: Graph, node: Node) -> Caller:
    """A function that calls others as if it stood where the node was written: it has that file, line and
    module, so that a warning in it is counted and shown there, and a traceback goes through there."""
    info = graph.debug.get(node.handles[0]) if graph.debug is not None and node.handles else None
    if info is None:
        return directly
    return caller_at(info.source, info.calls[-1].module, info.calls[-1].function)


@lru_cache(maxsize=1024)
def caller_at(source: SourceRange, module: str, name: str) -> Caller:
    """The function that stands there."""
    tree = ast.parse("lambda function, *args, **kwargs: function(*args, **kwargs)", mode="eval")
    column = source.column or 0
    for found in ast.walk(tree):
        if hasattr(found, "lineno"):
            found.lineno, found.end_lineno = source.line, max(source.line, source.end_line)
            found.col_offset, found.end_col_offset = column, max(column + 1, source.end_column or 0)
    code = compile(tree, source.file, "eval").co_consts[0].replace(co_name=name.rpartition(".")[2])
    return FunctionType(code, _globals_of(module, source.file))


def _globals_of(module: str, file: str) -> dict[str, Any]:
    """The module's own dict, which remembers what was warned of; a new one if the source is not here."""
    found = vars(sys.modules[module]) if module in sys.modules else {}
    return found if found.get("__file__") == file else {"__name__": module, "__builtins__": {}}
