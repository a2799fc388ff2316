"""Nodes that NumPy itself computes while a plan runs: by what function, and how their results lie."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tensoriter.graph import reference
from tensoriter.graph.graph import Node

SCALAR_OPERATORS = frozenset(f"operator.{name}" for name in dir(operator))


def callable_of(node: Node) -> Callable[..., Any]:
    """A function of those inputs of the node that are no constants, each as an array."""
    fixed = [reference.apply(x, []) if x.kind == "constant" else None for x in node.inputs]
    scalars = [x.is_scalar for x in node.inputs]

    def call(*arrays: np.ndarray) -> Any:
        given = iter(arrays)
        values = [next(given) if value is None else value for value in fixed]
        values = [
            x[()] if scalar and isinstance(x, np.ndarray) else x
            for x, scalar in zip(values, scalars, strict=True)
        ]
        return reference.apply(node, values)

    def call_of_scalars(*arrays: np.ndarray) -> Any:
        # NumPy's integer scalars report overflow and division by zero without the CPU's flags, which are what
        # a run looks at: an error makes it go the careful way.
        with np.errstate(all="raise"):
            return call(*arrays)

    return call_of_scalars if node.attributes.get("function", "") in SCALAR_OPERATORS else call


def layout_by_example(node: Node, arrays: list[np.ndarray]) -> tuple[int, ...]:
    """The strides of the node's result for inputs laid out as these, learned from small arrays whose
    dimensions are nested as these are. C order where NumPy does not take the small ones."""
    shape, itemsize = node.shape, node.dtype.itemsize
    values = [
        reference.apply(x, []) if x.kind == "constant" and not x.shape else small_example(array)
        for x, array in zip(node.inputs, arrays, strict=True)
    ]
    try:
        with np.errstate(all="ignore"):
            example = np.asarray(reference.apply(node, values))
    except Exception:
        return dense_strides(range(len(shape)), shape, itemsize)
    if example.ndim != len(shape):
        return dense_strides(range(len(shape)), shape, itemsize)
    inside_out = sorted(range(len(shape)), key=lambda k: (-example.strides[k], -example.shape[k]))
    return dense_strides(inside_out, shape, itemsize)


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
