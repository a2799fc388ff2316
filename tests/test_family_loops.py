"""The C loops of the arithmetic family against NumPy's, on arrays that meet every way of a loop."""

import numpy as np
import pytest

import tensoriter

LINE = 64
"""Bytes of a cache line: large outputs are written in two stretches, the second from a line."""


def at_offset(shape_like, offset):
    """A copy of an array that starts `offset` bytes after a cache line."""
    buffer = np.empty(shape_like.nbytes + 2 * LINE, np.uint8)
    start = -buffer.ctypes.data % LINE + offset
    copy = buffer[start:start + shape_like.nbytes].view(shape_like.dtype)
    copy[:] = shape_like
    return copy


@pytest.mark.parametrize("dtype", ["i1", "f4", "f8", "F", "D", "g"])
@pytest.mark.parametrize("n", [300, 2100])
def test_outputs_at_every_offset_of_a_cache_line(dtype, n):
    values = (np.arange(n) % 89 - 40).astype(dtype)
    others = (np.arange(n) % 31).astype(dtype)
    expected = np.add(values, others)
    for offset in range(0, LINE, np.dtype(dtype).alignment):
        for apart in (0, 16):
            x1, x2 = at_offset(values, offset), at_offset(others, (offset + apart) % LINE)
            out = at_offset(np.zeros_like(values), offset)
            np.testing.assert_array_equal(tensoriter.add(x1, x2, out=out), expected)
            np.testing.assert_array_equal(tensoriter.add(x1, x2, out=x1), expected)
            np.testing.assert_array_equal(tensoriter.add(at_offset(values, offset), x2, out=x2), expected)


@pytest.mark.parametrize("constant_first", [True, False])
def test_a_constant_operand_and_an_output_off_its_line(constant_first):
    values = np.arange(900, dtype="f8")
    for offset in range(0, LINE, 8):
        x = at_offset(values, offset)
        operands = (2.5, x) if constant_first else (x, 2.5)
        out = at_offset(np.zeros_like(values), offset)
        np.testing.assert_array_equal(tensoriter.add(*operands, out=out), values + 2.5)
        np.testing.assert_array_equal(tensoriter.add(*operands, out=x), values + 2.5)
