"""Bugs that were each reported once to some array library, with NumPy's answer."""

from functools import partial

import numpy as np
from oracle import compare

import tensoriter

add = partial(compare, tensoriter.add, np.add)


def gives(dtype, values, /, *args, **kwargs):
    """The call answers with `dtype` and `values`, and says nothing."""
    outcome = add(*args, **kwargs)
    assert not outcome.warned
    assert outcome.value.dtype == np.dtype(dtype)
    assert outcome.value.tolist() == values


def test_reversed_in_place():
    x = np.arange(5)[::-1]
    add(x[1:], x[:-1], out=x[1:])
    tensoriter.add(x[1:], x[:-1], out=x[1:])
    assert x.tolist() == [4, 7, 5, 3, 1]


def test_big_endian_ones():
    ones = np.ones(3, ">f4")
    gives("=f4", [2.0] * 3, ones, ones)


def test_strided_float32_plus_one():
    gives("f4", [1, 3], np.arange(4, dtype="f4")[::2], 1)


def test_int32_wraps():
    top = np.full(2, 2**31 - 1, "i4")
    gives("i4", [-(2**31)] * 2, top, np.ones(2, "i4"))
    gives("i4", [-(2**31)] * 2, top, 1)


def test_uint8_plus_300():
    assert add(np.array([1, 2], "u1"), 300).error is OverflowError


def test_uint64_plus_int64():
    gives("f8", [3.0, 5.0], np.array([1, 2], "u8"), np.array([2, 3], "i8"))


def test_float16_rounds_or_overflows():
    top = np.array([65504], "e")
    gives("e", [65504], top, np.array([15], "e"), errstate={"all": "warn"})
    outcome = add(top, np.array([16], "e"), errstate={"all": "warn"})
    assert outcome.value == np.inf
    assert outcome.texts == ["overflow encountered in add"]


def test_nan_is_no_error():
    assert add(np.array([np.nan]), np.ones(1), errstate={"all": "raise"}).error is None
    endless = np.array([np.inf])
    assert add(endless, -endless, errstate={"all": "raise"}).error is FloatingPointError


def test_result_does_not_fit_0d_out():
    assert add(1.0, [1.0, 2.0], out=np.empty(())).error is ValueError


def test_empty_broadcast():
    assert add(np.zeros(()), np.zeros((0, 2, 2))).value.shape == (0, 2, 2)
    assert add(np.zeros((2, 1)), np.zeros((0, 1))).error is ValueError


def test_0d_with_0d():
    x, out = np.array(1.5), np.array(0.0)
    assert type(add(x, x).value) is np.float64
    assert tensoriter.add(x, x, out=out) is out
    assert out == 3.0


def test_strides_of_the_result():
    f = np.ones((2, 3), order="F")
    assert add(f, f).value.strides == (8, 16)
    # Laid out (2, 3, 4) and seen as (3, 4, 2): the result keeps that order of axes.
    x = np.ones((2, 3, 4)).transpose(1, 2, 0)
    assert add(x, x).value.strides == (32, 8, 96)
