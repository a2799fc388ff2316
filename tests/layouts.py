"""Arrays laid out in memory as a test asks: order of axes, steps, offset, byte order."""

from __future__ import annotations

import numpy as np

LINE = 64  # bytes: a cache line, and the widest vector

# The 14 numeric dtypes, in NumPy's order; longdouble, its complex, and second names of integers
# (on Linux 'l' and 'q' are two types of 64 bits) come beside them.
NUMERIC = "?bBhHiIlLefdFD"
WIDEST = "gG"
ALIASES = "qQ"


def swapped(dtype) -> np.dtype:
    """`dtype` in the other byte order (itself where it has none)."""
    return np.dtype(dtype).newbyteorder("S")


def laid_out(values, *, axes=None, steps=None, offset=0):
    """A writeable view equal to `values` in a buffer of its own, with guard bytes around it.

    `axes` orders the axes in memory, outermost first (C order if None). `steps` gives each axis
    its step in elements: 2 leaves gaps, negative runs backwards, 0 repeats one element, which
    then is the last along that axis. `offset` is that of the lowest byte within a cache line.
    """
    values = np.asarray(values)
    axes = range(values.ndim) if axes is None else axes
    steps = [1] * values.ndim if steps is None else steps
    strides, start, span = [0] * values.ndim, 0, values.itemsize
    for axis in reversed(axes):
        strides[axis] = steps[axis] * span
        start -= min(0, strides[axis] * max(0, values.shape[axis] - 1))
        span *= max(1, abs(steps[axis]) * values.shape[axis])
    view = _view(values, strides, start, span, offset)
    view[...] = values
    return view


def _view(values, strides, start, span, offset):
    buffer = np.full(span + 4 * LINE, 0x5A, "u1")  # 0x5A: a float of no note, a true bool
    lead = -buffer.__array_interface__["data"][0] % LINE + LINE + offset
    return np.ndarray(values.shape, values.dtype, buffer, lead + start, strides)


def pool(dtype) -> np.ndarray:
    """Values of `dtype` at which adders go wrong: zeros, extremes, subnormals, NaN."""
    dtype = np.dtype(dtype).newbyteorder("=")
    if dtype.kind == "b":
        return np.array([0, 1, 1, 0], "?")
    if dtype.kind in "iu":
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        return np.array([0, 1, 2, 3, 100, low, low + 1, high, high - 1, high // 2], dtype)
    real = np.zeros(0, dtype).real.dtype
    info = np.finfo(real)
    few = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 100.0, np.nan, np.inf, -np.inf]
    edge = [info.max, info.min, info.tiny, info.smallest_subnormal, info.eps, 1 + info.eps]
    floats = np.concatenate([np.array(few, real), np.array(edge, real)])
    if dtype.kind == "f":
        return floats
    pairs = np.empty((floats.size, 2), real)
    pairs[:, 0], pairs[:, 1] = floats, np.roll(floats, 5)
    return pairs.view(dtype)[:, 0]


def filled(shape, dtype, seed=0) -> np.ndarray:
    """An array of values drawn from `pool(dtype)`, in C order and in the dtype's byte order."""
    picks = np.random.default_rng(seed).integers(0, 1 << 20, shape)
    values = pool(dtype)
    return np.asarray(values[picks % len(values)]).astype(dtype)


def counting(shape, dtype, first=0) -> np.ndarray:
    """Small whole numbers, first, first + 1, … in C order, modulo 100 (bools: modulo 2)."""
    modulus = 2 if np.dtype(dtype).kind == "b" else 100
    size = int(np.prod(shape))
    return ((np.arange(size) + first) % modulus).reshape(shape).astype(dtype)
