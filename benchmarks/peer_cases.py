"""The cases of ``python -m benchmarks.peers``: calls with 4,000 elements and more, and what is asked.

Each comes with a fresh output and with a given one. Inputs and given outputs start 16 bytes past a
64-byte line, where malloc puts large arrays.

>>> from benchmarks.peer_cases import CASES
>>> CASES[0].label(100_000)
'float32, fresh, n = 100,000'
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cases import (
    Case,
    Maker,
    Operands,
    byte_swapped,
    every_second,
    fresh,
    int32_float64,
    own_shape,
    shapes,
    values,
)
from tensoriter.timing import at_line_offset

Cell = tuple[Case, int]  # a case at one size

NOT_SLOWER = 1.0  # what is asked where no factor over np.add is

# By elements. NumPy loses 2 times where the output is off its line, and only a given one surely is.
FRESH_IN_CACHE = dict.fromkeys((4_000, 10_000, 100_000), NOT_SLOWER)
OUT_IN_CACHE = dict.fromkeys((4_000, 10_000, 100_000), 1.8)

PERMUTED = (2, 0, 1)
CEILING_AT_LEAST = {"float64, out=, n = 10,000,000": 0.9}  # of what a STREAM-like add reaches


def into_given(make: Maker) -> Maker:
    """The same operands with an output, laid out as np.add would lay out a fresh one."""

    def make_with_out(size: int, dtype: np.dtype[Any]) -> Operands:
        operands = make(size, dtype)
        answer = np.add(operands.x1, operands.x2)
        axes = sorted(range(answer.ndim), key=lambda axis: -answer.strides[axis])
        placed = at_line_offset(answer.transpose(axes))
        return operands._replace(out=placed.transpose(np.argsort(axes)))

    return make_with_out


def whole_transpose(_: int, dtype: np.dtype[Any]) -> Operands:
    """A (2000, 2000) array and its own transpose."""
    array = values(0, (2000, 2000), dtype)
    return Operands(array, array.T)


def one_permuted(_: int, dtype: np.dtype[Any]) -> Operands:
    """Two (64, 32, 128) arrays; the second one's memory runs along other axes."""
    return Operands(values(0, (64, 32, 128), dtype), values(1, (32, 128, 64), dtype).transpose(PERMUTED))


def all_permuted(_: int, dtype: np.dtype[Any]) -> Operands:
    """Two (64, 32, 128) arrays whose memory runs alike, though not along the last axis."""
    first, second = (values(seed, (32, 128, 64), dtype).transpose(PERMUTED) for seed in (0, 1))
    return Operands(first, second)


def pair(
    name: str,
    make: Maker,
    fresh_at_least: dict[int, float],
    out_at_least: dict[int, float],
    dtype: str = "float64",
) -> tuple[Case, Case]:
    """The case with a fresh output and with a given one, in the sizes for which something is asked."""
    return (
        Case(f"{name}, fresh", make, fresh_at_least, dtype, tuple(fresh_at_least)),
        Case(f"{name}, out=", into_given(make), out_at_least, dtype, tuple(out_at_least)),
    )


def alike(name: str, make: Maker, at_least: dict[int, float], dtype: str = "float64") -> tuple[Case, Case]:
    """A pair of which the same is asked."""
    return pair(name, make, at_least, at_least, dtype)


def named(shape: str, make: Maker, at_least: float) -> tuple[Case, Case]:
    """A pair of which the same is asked, with its shape in its name."""
    return alike(shape, make, own_shape(at_least)["at_least"])


CASES = (
    *pair("float32", fresh, FRESH_IN_CACHE, OUT_IN_CACHE, "float32"),
    *pair(
        "float64",
        fresh,
        {**FRESH_IN_CACHE, 10**6: 1.7, 10**7: 2.5},
        {**OUT_IN_CACHE, 10**6: 1.7, 10**7: 2},
    ),
    *pair("complex64", fresh, FRESH_IN_CACHE, OUT_IN_CACHE, "complex64"),
    *pair("int64", fresh, {10**6: NOT_SLOWER, 10**7: 2.3}, {10**6: NOT_SLOWER, 10**7: 1.6}, "int64"),
    *named("(1000, 1000) + (1000,)", shapes((1000, 1000), (1000,)), 2),
    *named("(1000, 1) + (1, 1000)", shapes((1000, 1), (1, 1000)), 4),
    *named("A + A.T of (2000, 2000)", whole_transpose, 2.6),
    *named("(64, 32, 128), one permuted", one_permuted, 3),
    *named("(64, 32, 128), all permuted", all_permuted, 1.2),
    *alike("x[::2] + y[::2]", every_second, {10**4: 1.7, 10**6: 1.7}),
    *alike("int32 + float64", int32_float64, {10**4: 2.4, 10**6: 2.4}),
    *alike("byte-swapped float64", byte_swapped, {10**4: 3, 10**6: 3}),
    *alike("float16", fresh, {10**4: 50, 10**6: 25}, "float16"),
)


def all_cells() -> list[Cell]:
    """Each case at each of its sizes."""
    return [(case, size) for case in CASES for size in case.sizes]


def labels(cells: list[Cell]) -> list[str]:
    """The names of these cells."""
    return [case.label(size) for case, size in cells]
