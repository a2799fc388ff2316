"""What NumPy's functions, ufuncs and methods do when they meet a stand-in."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tensoriter.graph.elementwise import apply, operand, weak_constant
from tensoriter.graph.graph import Node
from tensoriter.graph.stand_in import Memory, StandIn, new
from tensoriter.graph.trace import Trace, code_of, dtype_of

_NO_VALUE = np._NoValue
_REDUCTIONS = {np.add: "sum", np.maximum: "max", np.minimum: "min"}
_CLIP = np._core.umath.clip


# ---------------------------------------------------------------- ufuncs

def call_ufunc(
    trace: Trace, ufunc: np.ufunc, method: str, values: Sequence[Any], keywords: dict[str, Any]
) -> Any:
    """ufunc(*values, **keywords), or one of its methods."""
    if method == "reduce" and ufunc in _REDUCTIONS:
        return _reduce_ufunc(trace, ufunc, *values, **keywords)
    if method != "__call__":
        return trace.refuse(f"np.{ufunc.__name__}.{method} is used", "a plan has no such operation")
    given = values[ufunc.nin :]
    outs = keywords.pop("out", given) or (None,) * ufunc.nout
    if ufunc.signature is not None:
        return _generalized(trace, ufunc, values, outs, keywords)
    dtype, casting = keywords.pop("dtype", None), keywords.pop("casting", "same_kind")
    _refuse_keywords(trace, ufunc.__name__, keywords)
    if all(out is None for out in outs):
        return new(trace, apply(trace, ufunc, values[: ufunc.nin], dtype=dtype, casting=casting))
    if ufunc.nout > 1 or type(outs[0]) is not StandIn:
        return trace.refuse("writes to an array of the program", "only a new array can be written to")
    into = outs[0]
    into._write(apply(trace, ufunc, values[: ufunc.nin], into=trace.own(into), dtype=dtype, casting=casting))
    return into


def _refuse_keywords(trace: Trace, name: str, keywords: dict[str, Any]) -> None:
    """Keywords that say what holds without them change nothing; any other is refused."""
    for key, value in keywords.items():
        said = value is None or value is True or value is _NO_VALUE or isinstance(value, str) and value == "K"
        if not said and not (isinstance(value, tuple) and all(item is None for item in value)):
            trace.refuse(f"{name} is called with {key}=", "a plan has no such operation")


def _generalized(trace: Trace, ufunc: np.ufunc, values: Sequence[Any], outs: Any, keywords: Any) -> Any:
    if getattr(np, ufunc.__name__, None) is not ufunc or any(out is not None for out in outs):
        trace.refuse(f"{ufunc.__name__} is called", "a plan has no such operation")
    return call(trace, ufunc.__name__, values, keywords)


def _reduce_ufunc(trace: Trace, ufunc: np.ufunc, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
                  keepdims: bool = False, initial: Any = _NO_VALUE, where: Any = True) -> Any:
    _refuse_keywords(trace, ufunc.__name__, {"out": out, "initial": initial, "where": where})
    return reduce(trace, _REDUCTIONS[ufunc], x, axis, dtype, keepdims)


# ---------------------------------------------------------------- nodes of other kinds

def stand_in_of(trace: Trace, value: Any) -> StandIn:
    """A stand-in for a function's argument that may be an array of the program."""
    if type(value) is StandIn:
        trace.own(value)
        return value
    node = operand(trace, value)
    if not isinstance(node, Node):
        node = trace.constant(value, np.asarray(value).dtype)
    return StandIn(trace, node, Memory("an array of the program"))


@lru_cache(maxsize=1024)
def _probe(name: str, kinds: tuple[tuple[str, int, bool], ...], keywords: tuple[tuple[str, Any], ...]
           ) -> tuple[np.dtype[Any], bool]:
    """The dtype of a function's result, and whether it is a scalar, asked of NumPy on the smallest arrays."""
    samples = [np.ones((1,) * ndim, dtype_of(code)) for code, ndim, _ in kinds]
    samples = [x[()] if scalar else x for x, (_, _, scalar) in zip(samples, kinds, strict=True)]
    with np.errstate(all="ignore"):
        found = getattr(np, name)(*samples, **dict(keywords))
    return np.asarray(found).dtype, isinstance(found, np.generic)


def _asked(name: str, nodes: Sequence[Node], **keywords: Any) -> tuple[np.dtype[Any], bool]:
    kinds = tuple([(code_of(x.dtype), len(x.shape), x.is_scalar) for x in nodes])
    wanted = keywords.pop("dtype", None)  # which would warn here of what each run will warn of
    dtype, is_scalar = _probe(name, kinds, tuple(keywords.items()))
    return (dtype if wanted is None else np.dtype(wanted)), is_scalar


def reduce(
    trace: Trace, function: str, x: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False
) -> Any:
    """sum, max, min or mean over axes."""
    node = trace.own(stand_in_of(trace, x))
    keepdims = bool(keepdims) if keepdims is not _NO_VALUE else False
    more = {"dtype": np.dtype(dtype)} if dtype is not None else {}
    axis = tuple(map(operator.index, axis)) if isinstance(axis, (tuple, list)) else axis
    result, is_scalar = _asked(function, [node], axis=axis, keepdims=keepdims, **more)
    if axis is not None and node.shape:
        axis = normalize_axis_tuple(axis, len(node.shape))
        axis = axis[0] if len(axis) == 1 else axis
    elif axis != ():
        axis = None  # NumPy reduces what has no axis over axis 0, too
    attributes = {"function": function, "axis": axis, "keepdims": keepdims, **more}
    return new(trace, trace.add("reduce", function, [node], result, is_scalar, **attributes))


def call(trace: Trace, name: str, values: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A function of NumPy that stays one: matmul, cumsum, roll."""
    nodes = [trace.own(stand_in_of(trace, value)) for value in values]
    given = {key: value for key, value in keywords.items() if value is not _NO_VALUE}
    for key, value in given.items():
        if isinstance(value, list):
            given[key] = tuple(value)
        elif isinstance(value, (StandIn, np.ndarray)):
            trace.refuse(f"np.{name} is called with an array as {key}=", "a plan takes a number there")
    dtype, is_scalar = _asked(name, nodes, **given)
    return new(trace, trace.add("call", name, nodes, dtype, is_scalar, function=name, keywords=given))


def view(x: StandIn, method: str, argument: Any, is_scalar: bool = False) -> StandIn:
    """A view: another stand-in for the same memory, or, of one element, a scalar."""
    trace, node = x._trace, x._trace.own(x)
    found = trace.add("view", method, [node], node.dtype, is_scalar, method=method, argument=argument)
    return StandIn(trace, found, Memory() if is_scalar else x._memory)


# ---------------------------------------------------------------- indexing

def get_item(x: StandIn, index: Any) -> Any:
    """x[index]: slices and integers give views, one index array takes rows."""
    x._trace.own(x)
    parts = index if type(index) is tuple else (index,)
    arrays = [k for k, part in enumerate(parts) if not _is_basic(part)]
    if not x.ndim and any(part is not None and part is not Ellipsis for part in parts):
        sample = np.ones(())
        (sample[()] if x._node.is_scalar else sample)[(0,) * len(parts)]  # NumPy's own error
    if not arrays:
        return _basic(x, tuple(map(_plain, parts)))
    others = [part for k, part in enumerate(parts) if k != arrays[0]]
    if any(not isinstance(part, slice) or part != slice(None) for part in others):
        x._trace.refuse("an array is indexed by an array and more", "use np.take, one axis after the other")
    return take(x._trace, x, parts[arrays[0]], arrays[0], indexed=True)


def _is_basic(part: Any) -> bool:
    basic = part is None or part is Ellipsis or isinstance(part, (slice, int, np.integer))
    return basic and type(part) is not bool


def _plain(part: Any) -> Any:
    """A part of an index without NumPy's integers, which are no constants of Python's."""
    if isinstance(part, slice):
        return slice(*[None if k is None else operator.index(k) for k in (part.start, part.stop, part.step)])
    return operator.index(part) if isinstance(part, (int, np.integer)) else part


def _basic(x: StandIn, parts: tuple[Any, ...]) -> Any:
    integers = sum(isinstance(part, int) for part in parts)
    is_scalar = integers == x.ndim and len(parts) == integers
    if x._node.is_scalar and parts == (Ellipsis,):
        x._trace.refuse("a scalar is indexed by ...", "np.asarray(x) is what it gives")
    return view(x, "index", parts, is_scalar)


def take(trace: Trace, x: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise", *,
         indexed: bool = False) -> Any:
    """Rows of x by an array of indices. `indexed`: it is written x[indices]."""
    _refuse_keywords(trace, "take", {"out": out})
    rows = stand_in_of(trace, x)
    if axis is None or not rows.ndim and axis in (0, -1):
        rows, axis = view(rows, "reshape", (-1,)), 0
    axis = normalize_axis_index(axis, rows.ndim)
    index = trace.own(stand_in_of(trace, indices))
    if index.dtype.kind not in "iu":
        trace.refuse(f"an array is indexed by one of {index.dtype}",
                     "the shape of the result depends on its values: use np.where")
    index = trace.cast(index, np.dtype(np.intp))
    node = trace.own(rows)
    is_scalar = len(node.shape) == 1 and index.shape == ()
    attributes = {"axis": axis, "mode": mode, "indexed": indexed}
    found = trace.add("take", "take", [node, index], node.dtype, is_scalar, **attributes)
    shared = indexed and index.shape == () and not is_scalar
    return StandIn(trace, found, rows._memory if shared else Memory())


# ---------------------------------------------------------------- NumPy's functions

def where(trace: Trace, condition: Any, x: Any = _NO_VALUE, y: Any = _NO_VALUE) -> Any:
    """np.where of three arguments."""
    if x is _NO_VALUE or y is _NO_VALUE:
        trace.refuse("np.where with one argument is used", "how many it finds depends on values")
    operands = [operand(trace, value) for value in (x, y)]
    dtype = np.result_type(*[value.dtype if isinstance(value, Node) else value for value in operands])
    test = trace.own(stand_in_of(trace, condition))
    nodes = [trace.cast(test, np.dtype("?"), "unsafe")]
    nodes += [
        trace.cast(value, dtype, "safe") if isinstance(value, Node) else weak_constant(trace, value, dtype)
        for value in operands
    ]
    return new(trace, trace.add("where", "where", nodes, dtype))


def astype(trace: Trace, x: StandIn, dtype: Any, order: str = "K", casting: str = "unsafe",
           subok: bool = True, copy: bool = True) -> Any:
    """x.astype(dtype)."""
    _refuse_keywords(trace, "astype", {"order": order})
    node, wanted = trace.own(x), np.dtype(dtype)
    if not np.can_cast(node.dtype, wanted, casting):
        np.empty(1, node.dtype).astype(wanted, casting=casting)  # NumPy's own error
    if wanted == node.dtype and not copy:
        return x
    return new(trace, trace.add("cast", "astype", [node], wanted, node.is_scalar, casting=casting))


def copy(trace: Trace, x: Any, order: str = "K", subok: bool = False) -> Any:
    """np.copy(x)."""
    if order not in ("C", "K"):
        trace.refuse("copy is called with order=", "a plan copies to C's order, or keeps it")
    node = trace.own(stand_in_of(trace, x))
    return new(trace, trace.add("cast", "copy", [node], node.dtype, casting="no", order=order))


def reshape(trace: Trace, x: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    """np.reshape(x, shape)."""
    if order != "C" or copy is not None:
        trace.refuse("reshape is called with order= or copy=", "a plan has no such operation")
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    wanted = tuple(map(operator.index, sizes))
    return view(stand_in_of(trace, x), "reshape", wanted)


def transpose(trace: Trace, x: Any, axes: Any = None) -> Any:
    """np.transpose(x, axes)."""
    found = stand_in_of(trace, x)
    if found._node.is_scalar:
        return found
    axes = range(found.ndim)[::-1] if axes is None else axes
    return view(found, "transpose", normalize_axis_tuple(axes, found.ndim))


def moved_axes(trace: Trace, x: Any, source: Any, destination: Any) -> Any:
    """np.moveaxis."""
    found = stand_in_of(trace, x)
    axes = np.moveaxis(np.empty(tuple(range(1, found.ndim + 1)), "?"), source, destination).shape
    return transpose(trace, found, [n - 1 for n in axes])


def swapped_axes(trace: Trace, x: Any, axis1: Any, axis2: Any) -> Any:
    """np.swapaxes."""
    found = stand_in_of(trace, x)
    axes = list(range(found.ndim))
    a, b = normalize_axis_index(axis1, found.ndim), normalize_axis_index(axis2, found.ndim)
    axes[a], axes[b] = axes[b], axes[a]
    return transpose(trace, found, axes)


def expand_dims(trace: Trace, x: Any, axis: Any) -> Any:
    """np.expand_dims."""
    found = stand_in_of(trace, x)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = found.ndim + len(axes)
    added = normalize_axis_tuple(axes, ndim)
    return view(found, "index", tuple([None if k in added else slice(None) for k in range(ndim)]))


def squeeze(trace: Trace, x: Any, axis: Any = None) -> Any:
    """np.squeeze: without axis= the rank of the result depends on the shape."""
    found = stand_in_of(trace, x)
    if found._node.is_scalar:
        return found
    if axis is None:
        axis = tuple([k for k, n in enumerate(found.shape) if n == 1])
    if axis == ():
        return found
    axes = normalize_axis_tuple(axis, found.ndim)
    found._trace.specialised.add("shapes")
    if any(found.shape[k] != 1 for k in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return view(found, "index", (*(0 if k in axes else slice(None) for k in range(found.ndim)), Ellipsis))


def flip(trace: Trace, x: Any, axis: Any = None) -> Any:
    """np.flip."""
    found = stand_in_of(trace, x)
    axes = range(found.ndim) if axis is None else normalize_axis_tuple(axis, found.ndim)
    steps = [-1 if k in axes else None for k in range(found.ndim)]
    return view(found, "index", tuple([slice(None, None, step) for step in steps]))


def concatenate(trace: Trace, arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None,
                casting: str = "same_kind") -> Any:
    """np.concatenate."""
    _refuse_keywords(trace, "concatenate", {"out": out})
    nodes = [trace.own(stand_in_of(trace, x)) for x in arrays]
    if axis is None:
        nodes = [trace.own(view(stand_in_of(trace, x), "reshape", (-1,))) for x in arrays]
    ndims = {len(x.shape) for x in nodes}
    if ndims == {0}:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if len(ndims) > 1:
        np.concatenate([np.empty((0,) * len(x.shape)) for x in nodes])  # NumPy's own error
    wanted = np.dtype(dtype) if dtype is not None else np.result_type(*[x.dtype for x in nodes])
    nodes = [trace.cast(x, wanted, casting) for x in nodes]
    axis = normalize_axis_index(0 if axis is None else axis, ndims.pop())
    return new(trace, trace.add("concatenate", "concatenate", nodes, wanted, axis=axis))


def stack(trace: Trace, arrays: Any, axis: int = 0, out: Any = None, **keywords: Any) -> Any:
    """np.stack."""
    found = [stand_in_of(trace, x) for x in arrays]
    if len({x.ndim for x in found}) > 1:
        raise ValueError("all input arrays must have the same shape")
    if any(x._node.shape != found[0]._node.shape for x in found):
        trace.specialised.add("shapes")
        raise ValueError("all input arrays must have the same shape")
    return concatenate(trace, [expand_dims(trace, x, axis) for x in found],
                       normalize_axis_index(axis, found[0].ndim + 1), out, **keywords)


def _stacked(axis: int, least: int) -> Callable[..., Any]:
    def function(trace: Trace, arrays: Any, **keywords: Any) -> Any:
        found = []
        for x in arrays:
            x = stand_in_of(trace, x)
            if x.ndim < least:
                index = {1: (None,), 2: (None, slice(None)) if x.ndim else (None, None)}[least]
                x = view(x, "index", index)
            found.append(x)
        return concatenate(trace, found, 0 if found[0].ndim == 1 else axis, **keywords)

    return function


def split(trace: Trace, x: Any, sections: Any, axis: int = 0) -> list[Any]:
    """np.split: into equal parts, or at the indices given."""
    found = stand_in_of(trace, x)
    if isinstance(sections, (int, np.integer)) and found.shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(trace, found, sections, axis)


def array_split(trace: Trace, x: Any, sections: Any, axis: int = 0) -> list[Any]:
    """np.array_split: where the parts begin is asked of NumPy."""
    found = stand_in_of(trace, x)
    whole = found.shape[axis]
    axis = normalize_axis_index(axis, found.ndim)
    if isinstance(sections, (int, np.integer)):
        sizes = [len(part) for part in np.array_split(np.empty(whole, "?"), sections)]
        starts = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    else:
        starts = [0, *map(operator.index, sections), None]
    before = (slice(None),) * axis
    return [view(found, "index", (*before, slice(a, b))) for a, b in zip(starts, starts[1:], strict=False)]


def clip(trace: Trace, x: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None,
         max: Any = None, **keywords: Any) -> Any:
    """np.clip, with the rules of ndarray.clip for limits that are missing or out of bounds."""
    found = stand_in_of(trace, x)
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    low, high = (None if limit is _NO_VALUE else limit for limit in (low, high))
    if found.dtype.kind in "iu":
        limits = np.iinfo(found.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is None and high is None:
        ufunc, values = np.positive, (found,)
    elif low is None or high is None:
        ufunc = np.minimum if low is None else np.maximum
        values = (found, high if low is None else low)
    else:
        ufunc, values = _CLIP, (found, low, high)
    return call_ufunc(trace, ufunc, "__call__", values, {"out": (out,), **keywords})


def round_(trace: Trace, x: Any, decimals: int = 0, out: Any = None) -> Any:
    """np.round to integers; NumPy's multiplies and divides for other decimals."""
    found = stand_in_of(trace, x)
    if decimals != 0 or found.dtype.kind != "f" or out is not None:
        trace.refuse("np.round to decimals is used", "scale, np.rint and scale back")
    return new(trace, apply(trace, np.rint, (found,)))


def diff(trace: Trace, x: Any, n: int = 1, axis: int = -1, prepend: Any = _NO_VALUE,
         append: Any = _NO_VALUE) -> Any:
    """np.diff."""
    found = stand_in_of(trace, x)
    if prepend is not _NO_VALUE or append is not _NO_VALUE:
        trace.refuse("np.diff is called with prepend= or append=", "concatenate them")
    if not found.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, found.ndim)
    before = (slice(None),) * axis
    for _ in range(n):
        ufunc = np.not_equal if found.dtype.kind == "b" else np.subtract
        later, earlier = found[(*before, slice(1, None))], found[(*before, slice(None, -1))]
        found = new(trace, apply(trace, ufunc, (later, earlier)))
    return found


def outer(trace: Trace, a: Any, b: Any, out: Any = None) -> Any:
    """np.outer."""
    left, right = (view(stand_in_of(trace, x), "reshape", (-1,)) for x in (a, b))
    return call_ufunc(trace, np.multiply, "__call__", (left[:, None], right[None, :]), {"out": (out,)})


def _reduction(name: str) -> Callable[..., Any]:
    def function(trace: Trace, a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
                 keepdims: Any = False, initial: Any = _NO_VALUE, where: Any = True) -> Any:
        _refuse_keywords(trace, name, {"out": out, "initial": initial, "where": where})
        return reduce(trace, name, a, axis, dtype, keepdims)

    return function


def _extremum(name: str) -> Callable[..., Any]:
    """max and min, which take no dtype."""
    function = _reduction(name)

    def without_dtype(trace: Trace, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False,
                      initial: Any = _NO_VALUE, where: Any = True) -> Any:
        return function(trace, a, axis, None, out, keepdims, initial, where)

    return without_dtype


def _calling(name: str, arrays: int = 1, *names: str) -> Callable[..., Any]:
    """A function that stays one, of `arrays` and of these arguments, which may be given by name."""

    def function(trace: Trace, *values: Any, **keywords: Any) -> Any:
        keywords = {**dict(zip(names, values[arrays:], strict=False)), **keywords}
        others = {key: value for key, value in keywords.items() if key not in names}
        _refuse_keywords(trace, f"np.{name}", others)
        return call(trace, name, values[:arrays], {key: keywords[key] for key in names if key in keywords})

    return function


# By the function itself, so that what NumPy has not is not met.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    getattr(np, name): function
    for name, function in {
        "where": where, "astype": astype, "copy": copy, "reshape": reshape, "transpose": transpose,
        "permute_dims": transpose, "swapaxes": swapped_axes, "moveaxis": moved_axes,
        "expand_dims": expand_dims, "squeeze": squeeze, "flip": flip, "take": take,
        "concatenate": concatenate, "concat": concatenate,
        "stack": stack, "hstack": _stacked(1, 1), "vstack": _stacked(0, 2), "split": split,
        "array_split": array_split, "clip": clip, "round": round_, "around": round_, "diff": diff,
        "outer": outer,
        "ravel": lambda trace, a, order="C": reshape(trace, a, (-1,), order),
        "sum": _reduction("sum"), "mean": _reduction("mean"),
        "max": _extremum("max"), "min": _extremum("min"),
        "amax": _extremum("max"), "amin": _extremum("min"),
        "ndim": lambda trace, a: a.ndim, "shape": lambda trace, a: a.shape,
        "size": lambda trace, a, axis=None: a.size if axis is None else a.shape[axis],
        "dot": _calling("dot", 2), "roll": _calling("roll", 1, "shift", "axis"),
        "cumsum": _calling("cumsum", 1, "axis", "dtype"),
        "cumprod": _calling("cumprod", 1, "axis", "dtype"),
        "prod": _calling("prod", 1, "axis", "dtype", "out", "keepdims"),
        "any": _calling("any", 1, "axis", "out", "keepdims"),
        "all": _calling("all", 1, "axis", "out", "keepdims"),
        "var": _calling("var", 1, "axis", "out", "ddof", "keepdims"),
        "std": _calling("std", 1, "axis", "out", "ddof", "keepdims"),
        "argmax": _calling("argmax", 1, "axis", "out", "keepdims"),
        "argmin": _calling("argmin", 1, "axis", "out", "keepdims"),
        "sort": _calling("sort", 1, "axis", "kind"), "argsort": _calling("argsort", 1, "axis", "kind"),
        "zeros_like": _calling("zeros_like", 1, "dtype"), "ones_like": _calling("ones_like", 1, "dtype"),
        "empty_like": _calling("empty_like", 1, "dtype"),
        "full_like": _calling("full_like", 1, "fill_value", "dtype"),
    }.items()
    if hasattr(np, name)
}  # fmt: skip


def call_function(trace: Trace, function: Any, args: Any, kwargs: Any) -> Any:
    """function(*args, **kwargs), of NumPy's."""
    found = FUNCTIONS.get(function)
    if found is None:
        name = f"{function.__module__}.{function.__name__}"
        return trace.refuse(f"{name} is used", "a plan has no such operation")
    return found(trace, *args, **kwargs)


# ---------------------------------------------------------------- ndarray's methods

def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        return function(self._trace, self, *args, **kwargs)

    return method


def _shaped(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes its numbers one by one or as a tuple."""

    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        several = len(args) > 1 or len(args) == 1 and isinstance(args[0], (int, np.integer))
        return function(self._trace, self, *((args,) if several else args), **kwargs)

    return method


def _flatten(self: StandIn, order: str = "C") -> Any:
    return copy(self._trace, reshape(self._trace, self, (-1,), order))


METHODS: dict[str, Any] = {
    **{name: _method(FUNCTIONS[getattr(np, name)]) for name in (
        "sum", "max", "min", "mean", "take", "swapaxes", "squeeze", "ravel", "round", "dot", "cumsum",
        "cumprod",
        "prod", "any", "all", "var", "std", "argmax", "argmin", "argsort")},
    "clip": _method(lambda trace, x, min=None, max=None, out=None, **kw: clip(trace, x, min, max, out, **kw)),
    "astype": _method(astype), "reshape": _shaped(reshape), "transpose": _shaped(transpose),
    "copy": _method(lambda trace, x, order="C": x if x._node.is_scalar else copy(trace, x, order)),
    "flatten": _flatten,
    "conj": _method(lambda trace, x: new(trace, apply(trace, np.conjugate, (x,)))),
    "conjugate": _method(lambda trace, x: new(trace, apply(trace, np.conjugate, (x,)))),
}  # fmt: skip
