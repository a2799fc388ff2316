"""The op beside the same written with NumPy's. Squares of these integers are exact, and so is their sum."""

import numpy as np
import pytest
from hypot3 import hypot3

X = np.arange(-12, 12).reshape(4, 6)
Y = np.arange(6) * 7


def expected(x, y, z):
    x, y, z = (np.asarray(operand, float) for operand in (x, y, z))
    return np.sqrt(x * x + y * y + z * z)


@pytest.mark.parametrize("dtype", ["?", "b", "u1", "h", "l", "e", "f", "d", ">f8", ">i2"])
def test_dtypes(dtype):
    x, y = np.abs(X).astype(dtype), Y.astype(dtype)
    result = hypot3(x, y, x)
    assert result.dtype == float
    assert np.array_equal(result, expected(x, y, x))


def test_broadcasting():
    for operands in ((X, Y, 2), (X[:, :1], Y, X), (X[None, ::-1], Y[::-1], X.T[:, :, None, None]), (2, 3, 6)):
        result = hypot3(*operands)
        assert result.shape == expected(*operands).shape
        assert np.array_equal(result, expected(*operands))
    with pytest.raises(ValueError, match="broadcast"):
        hypot3(X, Y[:5], 0)


@pytest.mark.parametrize("dtype", ["f", "d", "g", ">f8"])
def test_out(dtype):
    out = np.zeros((6, 4), dtype).T
    assert hypot3(X, Y, 1, out=out) is out
    assert np.array_equal(out, expected(X, Y, 1).astype(dtype))
    with pytest.raises(TypeError):
        hypot3(X, Y, 1, out=np.zeros((4, 6), int))


def test_out_overlaps_an_operand():
    x = np.arange(10.0)
    wanted = expected(x[:-1], 2, x[1:])
    hypot3(x[:-1], 2, x[1:], out=x[1:])
    assert np.array_equal(x[1:], wanted)


def test_where():
    out = np.full(X.shape, -1.0)
    hypot3(X, Y, X, out=out, where=X > 0)
    assert np.array_equal(out, np.where(X > 0, expected(X, Y, X), -1))


def test_special_values_and_warnings():
    assert np.isnan(hypot3(np.nan, 1, 2))
    assert hypot3(-np.inf, 0, 1) == np.inf
    with pytest.warns(RuntimeWarning, match="overflow encountered in hypot3"):
        assert hypot3(1e200, 0, 0) == np.inf


def test_refused_dtypes():
    for operand in (1j, "a", None):
        with pytest.raises(TypeError):
            hypot3(operand, 1, 1)
