"""Nodes that NumPy itself computes while a plan runs: by what function, and how their results lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensoriter.graph import reference
from tensoriter.graph.graph import Node
from tensoriter.graph.plan import Place


def callable_of(node: Node) -> Callable[..., Any]:
    """A function of those inputs of the node that are no constants, each as an array."""
    fixed = [reference.apply(x, []) if x.kind == "constant" else None for x in node.inputs]
    scalars = [x.is_scalar for x in node.inputs]

    def call(*arrays: np.ndarray) -> Any:
        given = iter(arrays)
        values = [next(given) if value is None else value for value in fixed]
        values = [x[()] if scalar and isinstance(x, np.ndarray) else x
                  for x, scalar in zip(values, scalars, strict=True)]
        return reference.apply(node, values)

    return call


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
    """An array of zeros with at most 2 elements along each axis, the axes nested as the array's are."""
    shape = tuple(min(length, 2) for length in array.shape)
    order = sorted(range(array.ndim), key=lambda k: -abs(array.strides[k]))
    strides = dense_strides(order, shape, array.itemsize)
    steps = tuple(0 if array.strides[k] == 0 else stride for k, stride in enumerate(strides))
    memory = np.zeros(1 << array.ndim, array.dtype)
    return np.lib.stride_tricks.as_strided(memory, shape, steps)
