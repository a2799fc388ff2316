"""The oracle itself: np.add agrees with np.add, and each way of being wrong is seen."""

import warnings

import numpy as np
import pytest
from layouts import filled, laid_out
from oracle import bits, compare, run

X = np.array([1.0, -0.0, 3.0, 4.0])
Y = np.array([2.0, -0.0, 1.0, 1.0])
PADDED = laid_out(np.zeros(4), steps=[2])


def wrong_value(x, y, out=None):
    return np.add(x, y) + [0, 0, 0, 1e-15]


def wrong_sign_of_zero(x, y, out=None):
    return np.add(x, y) + 0.0


def wrong_dtype(x, y, out=None):
    return np.add(x, y).astype("f4")


def wrong_type_character(x, y, out=None):
    return np.add(x, y).astype(np.dtype("f8", metadata={"a": 1}))


def wrong_byte_order(x, y, out=None):
    return np.add(x, y).astype(">f8")


def wrong_shape(x, y, out=None):
    return np.add(x, y)[None]


def wrong_strides(x, y, out=None):
    return np.add(x, y)[::-1].copy()[::-1]


def wrong_type(x, y, out=None):
    return np.ma.array(np.add(x, y))


def no_array_of_its_own(x, y, out=None):
    return np.add(x, y)[:]


def wrong_identity(x, y, out=None):
    return np.add(x, y, out=out)[:] if out is not None else x


def spoilt_operand(x, y, out=None):
    result = np.add(x, y, out=out)
    x[0] = 17
    return result


def written_beside_out(x, y, out=None):
    result = np.add(x, y, out=out)
    (PADDED if out is None else out).base[:] |= 1
    return result


def warns(x, y, out=None):
    warnings.warn("overflow encountered in add", RuntimeWarning, stacklevel=1)
    return np.add(x, y, out=out)


def raises(x, y, out=None):
    raise ValueError


def wrong_exception(x, y, out=None):
    if x.dtype.kind == "U":
        raise ValueError
    return np.add(x, np.inf)


def unwritten_element(x, y, out=None):
    result = np.empty_like(x)
    result[:-1] = (x + y)[:-1]
    return result


WRONG = [wrong_value, wrong_sign_of_zero, wrong_dtype, wrong_type_character, wrong_byte_order,
         wrong_shape, wrong_strides, wrong_type, no_array_of_its_own, wrong_identity,
         spoilt_operand, written_beside_out, warns, raises, wrong_exception, unwritten_element]  # fmt: skip


@pytest.mark.parametrize("function", WRONG)
def test_wrong_is_seen(function):
    kwargs = {"out": PADDED} if function in (wrong_identity, written_beside_out) else {}
    with pytest.raises(AssertionError, match="answers otherwise"):
        compare(function, np.add, X, Y, **kwargs)


def test_wrong_exception_is_seen():
    with pytest.raises(AssertionError, match="error"):
        compare(wrong_exception, np.add, np.array(["a"]), np.array([b"b"]))


def test_unwritten_element_is_seen_each_time():
    """Even when the allocator gives back memory that held the right answer."""
    for _ in range(50):
        with pytest.raises(AssertionError, match="values"):
            compare(unwritten_element, np.add, X, Y)


@pytest.mark.parametrize("code", "?bHqefdgFDG")
def test_agrees_with_itself(code):
    x, y = filled((3, 4), code, 1), filled((3, 4), code, 2)
    mask = filled((3, 4), "?", 3)
    for kwargs in ({}, {"out": x}, {"out": PADDED[:3]}, {"where": mask}, {"where": mask, "out": y}):
        compare(np.add, np.add, x, y, errstate={"all": "warn"}, **kwargs)


def test_memory_is_put_back():
    x = np.arange(5.0)
    outcome = run(np.add, (x, 1), {"out": x[::-1]})
    np.testing.assert_array_equal(outcome.value, np.arange(5) + 1)
    np.testing.assert_array_equal(x, np.arange(5))


def test_payload_of_nan_and_padding_do_not_count():
    quiet = np.array([0x7FF8000000000000, 0xFFF8000000000123], "u8").view("f8")
    assert bits(quiet[:1]) == bits(quiet[1:])
    assert bits(np.array([0.0])) != bits(np.array([-0.0]))
    long = np.ones(2, "g")
    long.view("u1")[15::16] ^= 0x55 * (np.finfo("g").nmant == 63)
    assert bits(long) == bits(np.ones(2, "g"))


def test_byte_order_is_no_value():
    assert bits(np.arange(3, dtype=">i4")) == bits(np.arange(3, dtype="<i4"))


def test_several_results():
    compare(np.divmod, np.divmod, np.arange(5), 3)
    with pytest.raises(AssertionError):
        compare(lambda x, y: np.divmod(x, y)[::-1], np.divmod, np.arange(5), 3)
