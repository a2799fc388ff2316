"""Nodes that NumPy itself computes while a plan runs: as what function, and how their results lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensoriter.graph.graph import Node
from tensoriter.graph.plan import Place


def callable_of(node: Node) -> Callable[..., Any]:
    """A function of the node's inputs, those aside that are Python numbers."""
    weak = [x.attributes["value"] if x.kind == "constant" and x.attributes.get("weak") else None for x in node.inputs]
    scalars = [x.is_scalar for x in node.inputs]
    function = FUNCTIONS[node.kind](node)
    if not any(scalars) and all(value is None for value in weak):
        return function

    def call(*arrays: np.ndarray) -> Any:
        given = iter(arrays)
        operands = [value if value is not None else next(given) for value in weak]
        return function(*(x[()] if scalar and isinstance(x, np.ndarray) else x
                          for x, scalar in zip(operands, scalars, strict=True)))

    return call


def of_reduce(node: Node) -> Callable[..., Any]:
    reduction = getattr(np, node.attributes["function"])
    keywords = {name: node.attributes[name] for name in ("axis", "keepdims", "dtype")
                if node.attributes.get(name) is not None}
    return lambda x: reduction(x, **keywords)


def of_call(node: Node) -> Callable[..., Any]:
    function: Any = np
    for name in node.attributes["function"].split("."):
        function = getattr(function, name)
    keywords = node.attributes.get("keywords") or {}
    return lambda *operands: function(*operands, **keywords)


FUNCTIONS: dict[str, Callable[[Node], Callable[..., Any]]] = {
    "ufunc": lambda node: node.attributes["function"].ufunc,
    "where": lambda node: np.where,
    "cast": lambda node: lambda x: x.astype(node.dtype),
    "take": lambda node: lambda x, indices: np.take(
        x, indices, node.attributes["axis"], mode=node.attributes.get("mode", "raise")),
    "concatenate": lambda node: lambda *arrays: np.concatenate(arrays, node.attributes["axis"]),
    "reduce": of_reduce,
    "call": of_call,
}


def layout_by_example(function: Callable[..., Any], places: list[Place], shape: tuple[int, ...],
                      dtype: np.dtype) -> tuple[int, ...]:
    """The strides of a result, learned from small arrays whose dimensions are nested as these are.

    C order where the function does not take the small ones.
    """
    try:
        with np.errstate(all="ignore"):
            example = np.asarray(function(*(small_example(place.array) for place in places)))
    except Exception:
        return dense_strides(range(len(shape)), shape, dtype.itemsize)
    if example.ndim != len(shape):
        return dense_strides(range(len(shape)), shape, dtype.itemsize)
    inside_out = sorted(range(len(shape)), key=lambda k: (-example.strides[k], -example.shape[k]))
    return dense_strides(inside_out, shape, dtype.itemsize)


def dense_strides(order: Any, shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides without gaps, for axes from the outermost to the innermost."""
    strides = [0] * len(shape)
    for axis in reversed(list(order)):
        strides[axis] = itemsize
        itemsize *= max(shape[axis], 1)
    return tuple(strides)


def small_example(array: np.ndarray) -> np.ndarray:
    """An array of ones with at most 2 elements along each axis, the axes nested as the array's are."""
    shape = tuple(min(length, 2) for length in array.shape)
    order = sorted(range(array.ndim), key=lambda k: -abs(array.strides[k]))
    strides = dense_strides(order, shape, array.itemsize)
    steps = tuple(0 if array.strides[k] == 0 else stride for k, stride in enumerate(strides))
    memory = np.ones(1 << array.ndim, array.dtype)
    return np.lib.stride_tricks.as_strided(memory, shape, steps)
