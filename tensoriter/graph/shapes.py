"""The shape of a node's result, given those of its inputs. Shapes that do not fit raise NumPy's errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensoriter.graph.graph import Node

Shape = tuple[int, ...]


def shape_of(node: Node, inputs: Sequence[Node]) -> Shape:
    """The shape of this node's result, were these its inputs."""
    return RULES[node.kind](node, [x.shape for x in inputs])


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The shape that operands of these shapes have together.

    >>> broadcast([(3, 1), (4,)])
    (3, 4)
    """
    first = shapes[0]
    if all(shape == first or shape == () for shape in shapes):
        return first
    ndim = max(map(len, shapes))
    result = [1] * ndim
    for shape in shapes:
        for axis, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[axis] not in (1, n):
                together = " ".join(map(_as_numpy_writes, shapes))
                raise ValueError(f"operands could not be broadcast together with shapes {together} ")
            if n != 1:
                result[axis] = n
    return tuple(result)


def _as_numpy_writes(shape: Shape) -> str:
    return str(shape).replace(" ", "")


def empty_like_shape(shape: Shape) -> np.ndarray:
    """An array of this shape that takes one byte: all elements are the same."""
    return np.ndarray(shape, "?", b"\0", 0, (0,) * len(shape))


def view(array: Any, method: str, argument: Any) -> Any:
    """The view that a node of kind 'view' stands for."""
    if method == "index":
        return array[argument]
    if method == "reshape":
        return array.reshape(argument)
    return array.transpose(argument)


def _ufunc(node: Node, shapes: list[Shape]) -> Shape:
    shape = broadcast(shapes)
    into = node.attributes.get("in_place")
    if into is not None and shape != shapes[into]:
        raise ValueError(
            f"non-broadcastable output operand with shape {_as_numpy_writes(shapes[into])} doesn't match "
            f"the broadcast shape {_as_numpy_writes(shape)}"
        )
    return shape


def _view(node: Node, shapes: list[Shape]) -> Shape:
    argument = node.attributes["argument"]
    return np.shape(view(empty_like_shape(shapes[0]), node.attributes["method"], argument))


def _take(node: Node, shapes: list[Shape]) -> Shape:
    axis, (rows, index) = node.attributes["axis"], shapes
    if rows[axis] == 0 and np.prod(index) > 0 and node.attributes["mode"] != "raise":
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return rows[:axis] + index + rows[axis + 1 :]


def _concatenate(node: Node, shapes: list[Shape]) -> Shape:
    axis, first = node.attributes["axis"], shapes[0]
    for k, shape in enumerate(shapes):
        for d, (n, m) in enumerate(zip(first, shape, strict=True)):
            if d != axis and n != m:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match exactly, "
                    f"but along dimension {d}, the array at index 0 has size {n} and the array at index {k} "
                    f"has size {m}"
                )
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])


def reduced_axes(axis: int | tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    """The axes that a reduction goes over."""
    if axis is None:
        return tuple(range(ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def _reduce(node: Node, shapes: list[Shape]) -> Shape:
    shape = shapes[0]
    over = reduced_axes(node.attributes["axis"], len(shape))
    function = node.attributes["function"]
    result = tuple([1 if axis in over else n for axis, n in enumerate(shape)])
    if function in ("max", "min") and any(shape[axis] == 0 for axis in over) and 0 not in result:
        name = {"max": "maximum", "min": "minimum"}[function]
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    if node.attributes["keepdims"]:
        return result
    return tuple([n for axis, n in enumerate(shape) if axis not in over])


def _call(node: Node, shapes: list[Shape]) -> Shape:
    from tensoriter.graph.calls import shape_of_call

    return shape_of_call(node, shapes)


def _same(node: Node, shapes: list[Shape]) -> Shape:
    return shapes[0]


RULES: dict[str, Callable[[Node, list[Shape]], Shape]] = {
    "constant": lambda node, shapes: node.shape,
    "ufunc": _ufunc,
    "item": _same,
    "where": _ufunc,
    "cast": _same,
    "view": _view,
    "take": _take,
    "concatenate": _concatenate,
    "reduce": _reduce,
    "call": _call,
}
