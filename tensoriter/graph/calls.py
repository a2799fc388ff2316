"""Functions of NumPy on whole arrays that a node of kind 'call' may stand for: matmul, cumsum, roll, ..."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensoriter.graph.graph import Node
from tensoriter.graph.shapes import broadcast, empty_like_shape, reduced_axes

Shape = tuple[int, ...]


def function_of(name: str) -> Callable[..., Any]:
    """The function of that name: NumPy's, or Python's operator on NumPy scalars ('operator.add').

    >>> function_of("matmul") is np.matmul
    True
    """
    module, dot, attribute = name.rpartition(".")
    return getattr(operator, attribute) if dot else getattr(np, name)


def shape_of_call(node: Node, shapes: Sequence[Shape]) -> Shape:
    """The shape of the result of a node of kind 'call'."""
    name = node.attributes["function"]
    if name.startswith("operator."):
        return ()
    return RULES[name](node.attributes["keywords"], shapes)


def _same(keywords: dict[str, Any], shapes: Sequence[Shape]) -> Shape:
    return shapes[0]


def _reduced(keywords: dict[str, Any], shapes: Sequence[Shape]) -> Shape:
    shape, axis = shapes[0], keywords.get("axis")
    over = [a % len(shape) for a in reduced_axes(axis, len(shape)) if shape]
    if keywords.get("keepdims"):
        return tuple([1 if a in over else n for a, n in enumerate(shape)])
    return tuple([n for a, n in enumerate(shape) if a not in over])


def _accumulated(keywords: dict[str, Any], shapes: Sequence[Shape]) -> Shape:
    return shapes[0] if keywords.get("axis") is not None else (int(np.prod(shapes[0], dtype=np.intp)),)


def _along_last(keywords: dict[str, Any], shapes: Sequence[Shape]) -> Shape:
    return _accumulated({"axis": -1, **keywords}, shapes)


def _generalized(name: str) -> Callable[[dict[str, Any], Sequence[Shape]], Shape]:
    ufunc = getattr(np, name, None)

    def rule(keywords: dict[str, Any], shapes: Sequence[Shape]) -> Shape:
        return generalized_shape(ufunc, shapes)

    return rule


def generalized_shape(ufunc: np.ufunc, shapes: Sequence[Shape]) -> Shape:
    """The shape of the first output of a generalized ufunc.

    >>> generalized_shape(np.matmul, [(5, 2, 3), (3, 4)])
    (5, 2, 4)
    """
    left, _, right = str(ufunc.signature).partition("->")
    sizes: dict[str, int] = {}
    loops = []
    for text, shape in zip(left.strip("()").split("),("), shapes, strict=True):
        names = text.split(",")
        if len(shape) < len(names):  # a dimension that may be missing, as in (n?,k),(k,m?)
            names = [name for name in names if not name.endswith("?")]
        core = shape[len(shape) - len(names) :]
        loops.append(shape[: len(shape) - len(names)])
        fit = [sizes.setdefault(name, n) == n for name, n in zip(names, core, strict=False)]
        if len(core) < len(names) or not all(fit):
            ufunc(*map(empty_like_shape, shapes))  # NumPy's own error
    return (*broadcast(loops), *(sizes[name] for name in right.strip("()").split(",") if name in sizes))


def _dot(keywords: dict[str, Any], shapes: Sequence[Shape]) -> Shape:
    x, y = shapes
    if not x or not y:
        return x or y
    inner = y[-2] if len(y) > 1 else y[0]
    if x[-1] != inner:
        np.dot(empty_like_shape(x), empty_like_shape(y))  # NumPy's own error
    return (*x[:-1], *y[:-2], *y[-1:]) if len(y) > 1 else x[:-1]


RULES: dict[str, Callable[[dict[str, Any], Sequence[Shape]], Shape]] = {
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like", "roll"), _same),
    **dict.fromkeys(("sort", "argsort"), _along_last),
    **dict.fromkeys(("prod", "any", "all", "var", "std", "argmax", "argmin"), _reduced),
    **dict.fromkeys(("cumsum", "cumprod"), _accumulated),
    **{name: _generalized(name) for name in ("matmul", "vecdot", "matvec", "vecmat")},
    "dot": _dot,
}
