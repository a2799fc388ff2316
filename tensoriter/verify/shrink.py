"""Makes a failing case smaller, as long as it keeps failing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tensoriter.verify.cases import Case
from tensoriter.verify.operands import Array

MOST_TRIES = 500


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest case found from `case` by single simplifications for which `fails` holds."""
    tries = 0
    progress = True
    while progress:
        progress = False
        for simpler in simplifications(case):
            tries += 1
            if tries > MOST_TRIES:
                return case
            if fails(simpler):
                case, progress = simpler, True
                break
    return case


def simplifications(case: Case) -> Iterator[Case]:
    """Every case that is one step simpler, the biggest steps first."""
    for name, simplest in {"errstate": {}, "where": None, "out": None, "strided": False}.items():
        if getattr(case, name) != simplest:
            yield replace(case, **{name: simplest})
    for name in case.keywords:
        yield replace(case, keywords={k: v for k, v in case.keywords.items() if k != name})
    if case.out_form != "keyword":
        yield replace(case, out_form="keyword")
    yield from _smaller_shapes(case)
    for name in ("x1", "x2", "out", "where"):
        array = getattr(case, name)
        if isinstance(array, Array):
            for simpler in _simpler_arrays(array):
                yield replace(case, **{name: simpler})


def _smaller_shapes(case: Case) -> Iterator[Case]:
    """Axes, counted from the last as broadcasting does, dropped or shortened in all arrays."""
    names = [n for n in ("x1", "x2", "out", "where") if isinstance(getattr(case, n), Array)]
    arrays = {name: getattr(case, name) for name in names}
    for axis in range(1, 1 + max((len(array.shape) for array in arrays.values()), default=0)):
        yield replace(case, **{name: _without_axis(a, axis) for name, a in arrays.items()})
        for length in (0, 1, 2, 3, 9, 70, 1000):
            shorter = {name: _shortened(array, axis, length) for name, array in arrays.items()}
            if shorter != arrays:
                yield replace(case, **shorter)


def _without_axis(array: Array, from_last: int) -> Array:
    gone = len(array.shape) - from_last
    if gone < 0:
        return array
    shape, steps = (numbers[:gone] + numbers[gone + 1 :] for numbers in (array.shape, array.steps))
    axes = tuple(axis - (axis > gone) for axis in array.axes if axis != gone)
    return replace(array, shape=shape, steps=steps, axes=axes)


def _shortened(array: Array, from_last: int, length: int) -> Array:
    axis = len(array.shape) - from_last
    if axis < 0 or array.shape[axis] <= max(1, length):
        return array
    return replace(array, shape=(*array.shape[:axis], length, *array.shape[axis + 1 :]))


def _simpler_arrays(array: Array) -> Iterator[Array]:
    ndim = len(array.shape)
    for dtype in ("d", np.dtype(array.dtype).newbyteorder("=").char):
        if np.dtype(dtype) != np.dtype(array.dtype):
            yield replace(array, dtype=dtype)
    signs = tuple(max(-1, min(1, step)) for step in array.steps)
    if signs != array.steps:
        yield replace(array, steps=signs)
    simplest = {
        "owned": True, "axes": tuple(range(ndim)), "gap": 0, "offset": 0, "steps": (1,) * ndim,
        "values": "small",
    }  # fmt: skip
    for name, value in simplest.items():
        if getattr(array, name) != value:
            yield replace(array, **{name: value})
