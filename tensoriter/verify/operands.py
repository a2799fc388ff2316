"""Operands as descriptions that can be built again and again, each time with the same memory."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

CACHE_LINE = 64  # bytes; arrays in a buffer of their own start at a chosen offset past one
MARGIN = 128  # bytes before and after an array in a buffer, to see writes outside it
FILLING = 0xA5  # what the bytes that are no element hold


@dataclass(frozen=True)
class Literal:
    """An operand given as it is: a Python or NumPy scalar, or a list."""

    value: Any

    def __str__(self) -> str:
        return f"{type(self.value).__name__} {self.value!r}"


@dataclass(frozen=True)
class Alias:
    """An array that is, or overlaps, the operand number `of`: 'same', 'shifted' or 'reversed'."""

    of: int
    kind: str
    shift: int = 0  # elements, where shifted

    def __str__(self) -> str:
        how = f"shifted by {self.shift} elements" if self.kind == "shifted" else self.kind
        return f"the memory of x{self.of + 1}, {how}"


@dataclass(frozen=True)
class Array:
    """An array: its dtype, shape, layout in memory, and where its values come from.

    `steps` has one number per axis: 1 is dense, 2 leaves gaps, -1 is reversed, 0 repeats one
    element. `axes` names the axes from the outermost to the innermost in memory. `offset` is in
    bytes past a cache line and `gap` in bytes after each element; neither need keep the array
    aligned. `values` names a style of `make_values`. An `owned` array is a plain C- or F-ordered
    one in memory of its own; of its layout only `axes` counts.
    """

    dtype: str
    shape: tuple[int, ...]
    values: str
    seed: int
    axes: tuple[int, ...]
    steps: tuple[int, ...]
    offset: int = 0
    gap: int = 0
    owned: bool = True

    def build(self) -> Built:
        """A new array of this description."""
        dtype = np.dtype(self.dtype)
        values = make_values(dtype, math.prod(self.shape), self.values, self.seed)
        values = values.reshape(self.shape)
        if self.owned or dtype.hasobject:
            order = "F" if self.axes != tuple(range(len(self.shape))) else "C"
            return Built(np.array(values, dtype, order=order))
        strides, before, nbytes = self.layout(dtype.itemsize)
        room = np.full(nbytes + 2 * MARGIN + 2 * CACHE_LINE, FILLING, np.uint8)
        start = (self.offset - address(room)) % CACHE_LINE
        room = room[start : start + nbytes + 2 * MARGIN]
        array = np.ndarray(self.shape, dtype, room, MARGIN + before, strides)
        array[...] = values
        return Built(array, room, MARGIN + before)

    def layout(self, itemsize: int) -> tuple[tuple[int, ...], int, int]:
        """The byte strides, the bytes before the first element, and the bytes in all."""
        strides = [0] * len(self.shape)
        unit = itemsize + self.gap
        for axis in reversed(self.axes):
            strides[axis] = unit * self.steps[axis]
            unit *= max(1, self.shape[axis] * abs(self.steps[axis]))
        reach = [s * max(0, n - 1) for s, n in zip(strides, self.shape, strict=True)]
        before = -sum(r for r in reach if r < 0)
        return tuple(strides), before, before + sum(r for r in reach if r > 0) + itemsize

    def __str__(self) -> str:
        array = self.build().array
        return f"{layout_text(array)}: {values_text(array)}"


@dataclass(frozen=True)
class Built:
    """An array and the buffer it lies in, if that is more than the array itself."""

    array: np.ndarray
    room: np.ndarray | None = None
    start: int = 0

    def aliased(self, alias: Alias) -> np.ndarray:
        """A view on the same memory."""
        if alias.kind == "same":
            return self.array
        if alias.kind == "reversed":
            return self.array[(slice(None, None, -1),) * self.array.ndim]
        start = self.start + alias.shift * self.array.itemsize
        return np.ndarray(self.array.shape, self.array.dtype, self.room, start, self.array.strides)

    def outside(self, out: Any) -> bytes:
        """The buffer's bytes that are no element of the array, nor of an `out` overlapping it."""
        if self.room is None:
            return b""
        rest = self.room.copy()
        for array in (self.array, out) if isinstance(out, np.ndarray) else (self.array,):
            start = address(array) - address(self.room)
            if -1 < start < rest.nbytes:
                shape, strides = (*array.shape, array.itemsize), (*array.strides, 1)
                np.ndarray(shape, np.uint8, rest, start, strides)[...] = 0
        return rest.tobytes()


def layout_text(array: np.ndarray) -> str:
    """dtype, shape and strides, for people."""
    alignment = "" if array.flags.aligned else ", misaligned"
    return f"{array.dtype.str} {array.shape}, strides {array.strides}{alignment}"


def values_text(array: np.ndarray) -> str:
    """The values on one line, with all the digits that tell them apart; of many, some."""
    options: Any = {"separator": ", ", "threshold": 32, "floatmode": "unique"}
    return " ".join(np.array2string(array, **options).split())


def address(array: np.ndarray) -> int:
    """Where the array's first element lies."""
    return array.__array_interface__["data"][0]


def make_values(dtype: np.dtype[Any], count: int, style: str, seed: int) -> np.ndarray:
    """`count` values: 'small' integers, 'ordinary' fractions, 'special' values or raw 'bits'."""
    source = random.Random(seed)
    native = dtype.newbyteorder("=")
    if style == "bits" and native.kind in "biufc" and native.char not in "gG":
        return np.frombuffer(source.randbytes(count * native.itemsize), native).astype(dtype)
    if style == "special" and native.kind in "biufc":
        table = special_values(native)
        return table[np.frombuffer(source.randbytes(count), np.uint8) % len(table)].astype(dtype)
    if style == "ordinary" and native.kind in "fc":
        parts = np.frombuffer(source.randbytes(8 * count), np.int32).reshape(2, count) / 2**21
        return (parts[0] + 1j * parts[1] if native.kind == "c" else parts[0]).astype(dtype)
    small = np.frombuffer(source.randbytes(count), np.uint8) % 5
    return small.astype(np.int64).astype(dtype)


def special_values(dtype: np.dtype[Any]) -> np.ndarray:
    """The values at which arithmetic of that dtype turns: limits, zeros, infinities, NaN."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max], dtype)
    real = np.finfo(dtype).dtype
    most, least = np.finfo(dtype).max, np.finfo(dtype).smallest_normal
    halves = [most, -most, np.inf, -np.inf, np.nan, 0.0, -0.0, least, least / 3, 1, -1, most / 2]
    table = np.array(halves, real)
    if dtype.kind == "f":
        return table
    pairs = np.empty((len(table), len(table)), dtype)
    pairs.real, pairs.imag = table, table[:, None]
    return pairs.reshape(-1)
