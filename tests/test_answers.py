"""NumPy's rules, each by itself.

Every call is compared with np.add in all that the oracle sees; the literals say what the rule is.
"""

from functools import partial

import numpy as np
import pytest
from layouts import laid_out, swapped
from oracle import compare

import tensoriter

add = partial(compare, tensoriter.add, np.add)

U1 = np.array([1, 2], "u1")
F4 = np.array([1, 2], "f4")
WARN = {"all": "warn"}
RAISE = {"all": "raise"}
MAX = {code: np.finfo(code).max for code in "efd"}


def gives(dtype, values, /, *args, **kwargs):
    """The call answers with `dtype` and `values`, and says nothing."""
    outcome = add(*args, **kwargs)
    assert outcome.error is None
    assert not outcome.warned
    assert outcome.value.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(outcome.value, values, strict=False)
    return outcome.value


def refuses(error, /, *args, **kwargs):
    outcome = add(*args, **kwargs)
    assert outcome.error is not None, "the call went through"
    assert issubclass(outcome.error, error)


class IntOf(int):
    """A subclass of int, which NumPy takes for an array."""


class TestWeakScalars:
    """Rule 1: Python's int, float and complex take on the array's dtype."""

    @pytest.mark.parametrize(("array", "scalar", "dtype"), [
        (F4, 1.5, "f4"), (F4, 1, "f4"), (F4, True, "f4"), (F4, 1j, "F"),
        (U1, 1, "u1"), (U1, True, "u1"), (U1, 1.5, "f8"), (U1, 1j, "D"),
        (np.array([1], "e"), 1.5, "e"), (np.array([1], "e"), 1j, "F"),
        (np.array([True]), True, "?"), (np.array([True]), 1, "i8"),
        (np.array([True]), 1.5, "f8"), (np.array([1], "g"), 1, "g"),
        (np.array([1], "F"), 1.5, "F"), (np.array([1], "q"), 1, "q"),
    ])  # fmt: skip
    def test_weak(self, array, scalar, dtype):
        gives(dtype, array + scalar, array, scalar)
        gives(dtype, scalar + array, scalar, array)

    @pytest.mark.parametrize(("array", "strong", "dtype"), [
        (F4, np.float64(1.5), "f8"), (F4, np.array(1.5), "f8"), (F4, [1.5, 1.5], "f8"),
        (F4, np.float32(1.5), "f4"), (U1, [1, 1], "i8"),
        (U1, np.uint8(1), "u1"), (U1, np.int8(1), "i2"), (U1, np.True_, "u1"),
    ])  # fmt: skip
    def test_strong(self, array, strong, dtype):
        gives(dtype, array + np.asarray(strong), array, strong)
        gives(dtype, array + np.asarray(strong), strong, array)

    def test_subclass_of_int_is_strong(self):
        dtype = add(U1, IntOf(1)).value.dtype  # has been compared with NumPy's; in NumPy 2.0 it was weak
        assert dtype == np.int64 or np.lib.NumpyVersion(np.__version__) < "2.1.0"

    def test_zero_dimensional_array_takes_weak_scalar(self):
        gives("f4", 2.5, np.array(1, "f4"), 1.5)
        gives("u1", 4, np.uint8(3), 1)


class TestRangeOfWeakScalars:
    """Rule 2: an int that the dtype cannot hold is an error, a float becomes infinite."""

    @pytest.mark.parametrize("scalar", [300, -1, 2**64, -(2**70)])
    @pytest.mark.parametrize("array", [U1, U1[:0], np.uint8(1)])
    def test_integer_out_of_range(self, array, scalar):
        refuses(OverflowError, array, scalar)
        refuses(OverflowError, scalar, array)

    @pytest.mark.parametrize(("code", "scalar"), [("b", 128), ("h", -(2**15) - 1), ("l", 2**63)])
    def test_signed_integers_too(self, code, scalar):
        refuses(OverflowError, np.zeros(2, code), scalar)

    def test_float_overflows_in_cast(self):
        outcome = add(F4, 1e39, errstate=WARN)
        np.testing.assert_array_equal(outcome.value, np.full(2, np.inf, "f4"))
        assert outcome.texts == ["overflow encountered in cast"]
        refuses(FloatingPointError, F4, 1e39, errstate=RAISE)

    def test_infinity_is_no_overflow(self):
        gives("f4", [np.inf, np.inf], F4, np.inf, errstate=WARN)

    @pytest.mark.parametrize("code", "efd")
    def test_integer_beyond_every_float(self, code):
        refuses(OverflowError, np.zeros(2, code), 10**400)

    def test_large_integer_with_float_array(self):
        gives("f8", [2.0**64], np.zeros(1), 2**64)


class TestTwoPythonScalars:
    """Rule 3: two Python scalars take their default dtypes."""

    @pytest.mark.parametrize(("x1", "x2", "kind"), [
        (1, 2, np.int64), (1, 2.5, np.float64), (1.0, 2j, np.complex128), (True, True, np.bool_),
        (True, 2, np.int64), (2**62, 2**62 - 1, np.int64),
    ])  # fmt: skip
    def test_type(self, x1, x2, kind):
        assert type(add(x1, x2).value) is kind

    def test_out_of_range(self):
        refuses(OverflowError, 2**63, 1)


class TestOverlap:
    """Rule 4: operands that share memory with out are read as if copied before."""

    def test_shifted_by_one(self):
        b = np.arange(6)
        gives("i8", [1, 2, 3, 4, 5], b[:-1], 1, out=b[1:])
        gives("i8", [2, 3, 4, 5, 6], b[1:], 1, out=b[:-1])

    def test_broadcast_row_of_out(self):
        m = np.arange(4).reshape(2, 2)
        gives("i8", [[0, 2], [2, 4]], m, m[0], out=m)

    def test_transposed_out(self):
        m = np.arange(9.0).reshape(3, 3)
        gives("f8", m + m.T, m, m.T, out=m)
        gives("f8", m.T + 1, m.T, 1, out=m.T)

    def test_same_place_other_dtype(self):
        b = np.arange(4.0)
        gives("f4", np.arange(4) + 1, b, 1, out=b.view("f4")[::2])

    @pytest.mark.parametrize("step", [-3, -2, -1, 1, 2, 3])
    @pytest.mark.parametrize("shift", range(-4, 5))
    def test_sweep_of_shifts(self, shift, step):
        base = np.arange(40)
        x = base[10 + shift : 30 + shift][::step]
        add(x, x, out=base[10:30][: len(x)])
        add(x, base[10 : 10 + len(x)], out=base[10:30][: len(x)])


class TestZeroDimensionalResults:
    """Rule 5: a 0-d result is a scalar, unless out was given or asked for by an ellipsis."""

    @pytest.mark.parametrize(("x1", "x2"), [
        (np.array(1.0), np.array(2.0)), (np.float64(1), 2), (np.array(1.0), 2.0), (1.0, 2),
    ])  # fmt: skip
    def test_scalar(self, x1, x2):
        assert type(add(x1, x2).value) is np.float64

    def test_ellipsis_gives_array(self):
        if np.lib.NumpyVersion(np.__version__) >= "2.3.0":  # older ones refuse the ellipsis
            assert type(add(1.0, 2.0, out=...).value) is np.ndarray
        add(1.0, 2.0, out=...)
        add(F4, F4, out=...)

    def test_out_is_returned(self):
        x = np.array(3.0)
        assert tensoriter.add(x, x, out=x) is x
        assert tensoriter.add(1.0, 2.0, x) is x
        assert tensoriter.add(1.0, 2.0, out=(x,)) is x
        assert x == 3.0
        add(1, 2, out=x)


class TestPromotion:
    """Rule 6: the result's dtype."""

    @pytest.mark.parametrize(("x1", "x2", "result"), [
        ("i1", "u1", "i2"), ("i8", "u8", "f8"), ("i4", "f4", "f8"), ("i2", "e", "f4"),
        ("?", "?", "?"), ("?", "i1", "i1"), ("e", "F", "F"), ("i8", "F", "D"), ("g", "D", "G"),
    ])  # fmt: skip
    def test_pairs(self, x1, x2, result):
        one = np.ones(2, x1)
        gives(result, one + np.ones(2, x2), one, np.ones(2, x2))

    def test_bool_is_or(self):
        gives("?", [False, True, True, True], np.array([0, 0, 1, 1], "?"),
              np.array([0, 1, 0, 1], "?"))

    @pytest.mark.parametrize(("x1", "x2"), ["ll", "qq", "lq", "ql", "LQ", "QL", "QQ"])
    def test_type_characters_of_equal_integers(self, x1, x2):
        add(np.ones(3, x1), np.ones(3, x2))

    def test_q_stays_q(self):
        assert add(np.ones(3, "q"), np.ones(3, "q")).value.dtype.char == "q"


class TestOutDoesNotChooseTheLoop:
    """Rule 7: the sum is made in the operands' dtype, then cast into out by same_kind."""

    def test_wraps_before_the_cast(self):
        x = np.array([200], "u1")
        gives("i8", [144], x, x, out=np.zeros(1, "i8"))

    @pytest.mark.parametrize(("x", "out"), [("f8", "i8"), ("i8", "u8"), ("F", "f4"), ("i4", "?")])
    def test_refused(self, x, out):
        refuses(TypeError, np.ones(3, x), np.ones(3, x), out=np.full(3, 7).astype(out))

    def test_narrowing(self):
        x = np.array([1.5, 1e-3])
        gives("f4", (x + x).astype("f4"), x, x, out=np.zeros(2, "f4"))
        x = np.array([100, 200], "i8")
        gives("i1", [-56, -112], x, x, out=np.zeros(2, "i1"))

    def test_casting_unsafe_allows_it(self):
        x = np.array([1.5, 2.5])
        gives("i8", [3, 5], x, x, out=np.zeros(2, "i8"), casting="unsafe")
        refuses(TypeError, x, x, out=np.zeros(2, "f4"), casting="safe")


class TestDtypeChoosesTheLoop:
    """Rule 8: dtype= is the dtype of the sum."""

    def test_wider(self):
        x = np.array([200], "u1")
        gives("i2", [400], x, x, dtype="i2")

    def test_floats_do_not_become_integers(self):
        refuses(TypeError, np.ones(2), np.ones(2), dtype="i8")

    def test_byte_order_is_not_for_dtype(self):
        refuses(TypeError, np.ones(2), np.ones(2), dtype=swapped("f8"))

    def test_with_out(self):
        x = np.array([200], "u1")
        gives("i8", [400], x, x, dtype="i2", out=np.zeros(1, "i8"))
        refuses(TypeError, F4, F4, dtype="f8", out=np.zeros(2, "i4"))

    @pytest.mark.parametrize("dtype", ["e", "f", "d", "g", "F", "q", "l", "?", None, float])
    def test_any(self, dtype):
        add(U1, U1, dtype=dtype)
        add(U1, 1, dtype=dtype)
        add(1, 2.0, dtype=dtype)
        add(U1, 1.5, dtype=dtype, casting="unsafe")


class TestFloatingPointStatus:
    """Rule 9: one warning a call, for this call, for elements that count, as errstate says."""

    @pytest.mark.parametrize("code", "efdFD")
    @pytest.mark.parametrize("n", [1, 2, 7, 100, 9000])
    def test_one_warning_a_call(self, code, n):
        real = np.zeros(0, code).real.dtype.char
        top, endless = np.full(n, MAX[real], code), np.full(n, np.inf, code)
        assert add(top, top, errstate=WARN).texts == ["overflow encountered in add"]
        outcome = add(endless, -endless, errstate=WARN)
        assert outcome.texts == ["invalid value encountered in add"]
        both = add(np.append(top, endless), np.append(top, -endless), errstate=WARN)
        assert len(both.texts) == 2

    def test_flags_from_before_are_not_blamed(self):
        with np.errstate(all="ignore"):
            np.array([1.0]) / np.array([0.0])
            np.array([MAX["d"]]) * 2
            np.array([np.inf]) - np.inf
        assert not add(np.ones(3), np.ones(3), errstate=WARN).warned
        assert not add(np.ones(3), 1, errstate=RAISE).error

    @pytest.mark.parametrize("code", "efdgFD")
    def test_spare_lanes_are_silent(self, code):
        for n in range(40):
            whole = np.full(n + 40, np.inf, code)
            whole[:n] = 1
            assert not add(whole[:n], (-whole)[:n], errstate=WARN).warned

    def test_masked_elements_are_silent(self):
        x = np.array([np.inf, 1.0])
        outcome = add(x, -x, out=np.zeros(2), where=np.array([False, True]), errstate=WARN)
        assert not outcome.warned

    @pytest.mark.parametrize("mode", ["ignore", "warn", "raise", "call", "log", "print"])
    def test_errstate_of_the_call(self, mode):
        top = np.full((2, 3), MAX["d"])
        for x in (top[0, :1], top[0, 0], top[:, ::2]):
            outcome = add(x, x, errstate={"all": mode})
            assert bool(outcome.warned) == (mode == "warn")
            assert (outcome.error is FloatingPointError) == (mode == "raise")
            assert bool(outcome.told) == (mode in ("call", "log"))

    def test_each_kind_by_its_own_mode(self):
        x = np.array([np.inf, MAX["d"]])
        mixed = {"over": "ignore", "invalid": "raise"}
        assert add(x, np.array([1, MAX["d"]]), errstate=mixed).error is None
        refuses(FloatingPointError, x, -x, errstate=mixed)

    def test_casting_into_out_is_named_after_add(self):
        x = np.array([1e300, 1.0])
        outcome = add(x, x, out=np.zeros(2, "f4"), errstate=WARN)
        assert outcome.texts == ["overflow encountered in add"]

    def test_casting_an_operand_is_named_after_cast(self):
        x = np.array([1e300, 1.0])
        outcome = add(x, F4, dtype="f4", errstate=WARN)
        assert outcome.texts == ["overflow encountered in cast"]

    def test_warning_as_error(self):
        x = np.array([MAX["d"]])
        with np.errstate(over="warn"), pytest.warns(RuntimeWarning, match="overflow") as caught:
            tensoriter.add(x, x)
        assert caught[0].filename == __file__


class TestIntegersWrap:
    """Rule 10: integers wrap without a word, NumPy scalars through add included."""

    @pytest.mark.parametrize("code", "bBhHiIlLqQ")
    def test_wrap(self, code):
        info = np.iinfo(code)
        top, low = np.array([info.max], code), np.array([info.min], code)
        gives(code, [info.min], top, np.ones(1, code), errstate=RAISE)
        gives(code, [2 * info.min % 2**info.bits], low, low, errstate=RAISE)
        gives(code, info.min, top[0], np.ones(1, code)[0], errstate=RAISE)


class TestOrderK:
    """Rule 11: the result keeps the operands' order of axes, and no negative strides."""

    def test_fortran_stays_fortran(self):
        f = np.asfortranarray(np.ones((2, 3)))
        assert add(f, f).value.strides == (8, 16)

    def test_transposed(self):
        x = np.ones((2, 3, 4)).transpose(2, 0, 1)
        assert add(x, x).value.strides == x.strides
        add(x, 1)
        add(1, x)

    def test_c_with_f_gives_c(self):
        c = np.ones((2, 3))
        f = np.asfortranarray(c)
        assert add(c, f).value.flags.c_contiguous
        assert add(f, c).value.flags.c_contiguous

    def test_negative_strides_are_not_kept(self):
        assert add(np.ones(4)[::-1], 1.0).value.strides == (8,)
        assert add(np.ones((2, 3))[::-1, ::-1], 1.0).value.strides == (24, 8)

    @pytest.mark.parametrize("order", "KACF")
    @pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
    @pytest.mark.parametrize("steps", [(1, 1, 1), (-1, 1, 2), (0, 1, -1), (2, 0, 1)])
    def test_any_order(self, order, axes, steps):
        x = laid_out(np.ones((2, 3, 4)), axes=axes, steps=steps)
        add(x, x, order=order)
        add(x, np.ones((3, 1)), order=order)
        add(x, laid_out(np.ones((2, 3, 4), "f4"), axes=axes[::-1]), order=order)


class TestWhere:
    """Rule 13: where."""

    def test_without_out_warns(self):
        outcome = add(F4, F4, where=np.array([True, False]))
        newer = np.lib.NumpyVersion(np.__version__) >= "2.4.0"  # older ones say nothing
        assert [category for category, _ in outcome.warned] == [UserWarning] * newer

    def test_out_none_silences(self):
        assert not add(F4, F4, where=np.array([True, False]), out=None).warned

    def test_joins_the_broadcasting(self):
        outcome = add(F4, F4, where=np.array([[True], [False], [True]]), out=None)
        assert outcome.value.shape == (3, 2)
        add(F4, F4, where=np.array([[True], [False], [True]]), out=np.zeros((3, 2)))
        refuses(ValueError, F4, F4, where=np.ones((3, 2), bool), out=np.zeros(2, "f4"))
        refuses(ValueError, F4, F4, where=np.ones(3, bool), out=None)

    @pytest.mark.parametrize("where", [[1, 1], [True, False], [0, 0], True, False, np.True_, 1])
    def test_lists_and_bools(self, where):
        add(F4, F4, where=where, out=np.zeros(2, "f4"))

    @pytest.mark.parametrize("code", "biBd")
    def test_arrays_must_be_bool(self, code):
        refuses(TypeError, F4, F4, where=np.array([1, 1], code), out=np.zeros(2, "f4"))

    def test_masked_elements_keep_their_values(self):
        gives("f8", [9.0, 4.0], F4, F4, where=np.array([False, True]), out=np.full(2, 9.0))

    def test_bytes_of_the_mask(self):
        mask = np.array([0, 1, 2, 255], "u1").view(bool)
        add(np.ones(4), np.ones(4), where=mask, out=np.full(4, 9.0))
        add(np.ones((4, 4)), np.ones(4), where=mask[::-1], out=np.full((4, 4), 9.0))

    def test_mask_overlapping_out(self):
        mask = np.array([True, False, True, True])
        add(mask[::-1], True, where=mask, out=mask)
        add(mask[:-1], True, where=mask[:-1], out=mask[1:])


class TestShapeOfOut:
    """Rule 14: out may be larger than the operands, never smaller; it must be writeable."""

    def test_larger(self):
        gives("f4", np.full((3, 2), F4 + F4), F4, F4, out=np.zeros((3, 2), "f4"))
        gives("f4", np.full((3, 1, 2), F4 + 1), F4, 1, out=np.zeros((3, 1, 2), "f4"))

    @pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1), (0,)])
    def test_never_smaller(self, shape):
        refuses(ValueError, F4, F4, out=np.zeros(shape, "f4"))

    @pytest.mark.parametrize("n", [0, 1, 2])
    def test_read_only(self, n):
        out = np.zeros(n)
        out.flags.writeable = False
        refuses(ValueError, np.zeros(n), 1, out=out)

    @pytest.mark.parametrize("out", [None, (None,)])
    def test_none(self, out):
        gives("f4", F4 + F4, F4, F4, out=out)

    def test_positional(self):
        gives("f4", F4 + F4, F4, F4, None)
        gives("f4", F4 + F4, F4, F4, np.zeros(2, "f4"))
        refuses(TypeError, F4, F4, (None,))
        refuses(TypeError, F4, F4, (np.zeros(2, "f4"),))
        refuses(TypeError, F4, F4, np.zeros(2), out=np.zeros(2))

    @pytest.mark.parametrize("out", [[0, 0], (), (None, None), 1, "x", ([0, 0],)])
    def test_not_an_array(self, out):
        refuses((TypeError, ValueError), F4, F4, out=out)


class TestLayoutOfOperands:
    """Rule 15: any byte order and alignment comes in, the native and aligned goes out."""

    @pytest.mark.parametrize("code", "hilefdgFDG")
    def test_byte_swapped(self, code):
        x = np.array([1, 2, 3], swapped(code))
        assert gives(code, [2, 4, 6], x, x).dtype.isnative
        assert gives(code, [2, 3, 4], x, 1).dtype.isnative
        out = np.zeros(3, swapped(code))
        assert not gives(swapped(code), [2, 4, 6], x, x, out=out).dtype.isnative

    def test_misaligned(self):
        x = laid_out(np.arange(5.0), offset=3)
        assert gives("f8", np.arange(5) * 2, x, x).flags.aligned
        gives("f8", np.arange(5) + 1, x, 1, out=laid_out(np.zeros(5), offset=1))

    @pytest.mark.parametrize("n", [1, 4, 16, 50])
    def test_bytes_of_a_bool(self, n):
        odd = np.resize(np.array([0, 1, 2, 255], "u1"), n).view(bool)
        expected = np.resize([False, True, True, True], n)
        gives("?", expected, odd, np.zeros(n, bool))
        gives("?", expected, odd, False)
        gives("?", expected[::-1], odd[::-1], odd[::-1])
        for code in "bBife":
            add(odd, np.zeros(n, code))
            add(odd, odd, out=np.zeros(n, code))


class TestSignedZeroAndSubnormals:
    """Rule 16."""

    @pytest.mark.parametrize("code", "efdg")
    def test_signed_zero(self, code):
        minus = np.array([-0.0, -0.0], code)
        outcome = add(minus, np.array([0.0, -0.0], code))
        np.testing.assert_array_equal(np.signbit(outcome.value), [False, True])
        assert np.signbit(add(minus, -0.0).value).all()
        assert not np.signbit(add(minus, 0).value).any()

    @pytest.mark.parametrize("code", "efdg")
    def test_subnormals(self, code):
        tiny = np.full(9, np.finfo(code).smallest_subnormal, code)
        outcome = add(tiny, tiny, errstate=RAISE)
        np.testing.assert_array_equal(outcome.value, tiny * 2)
        assert (outcome.value > 0).all()

    def test_literal(self):
        gives("f8", 1e-323, 5e-324, 5e-324)


class TestShapes:
    """Rule 17."""

    def test_empty(self):
        gives("f8", np.zeros(0), np.zeros(0), np.zeros(1))
        refuses(ValueError, np.zeros(0), np.zeros(2))

    def test_64_dimensions(self):
        x = np.ones((1,) * 63 + (2,))
        gives("f8", x * 2, x, x)
        gives("f8", np.full((2,) + (1,) * 62 + (2,), 2.0), x, x.T)


class TestPassedThrough:
    """Rule 18: dtypes that are not ours are NumPy's."""

    def test_objects(self):
        add(np.array([1, "a"], object), np.array([2, "b"], object))
        outcome = add(np.array(1, object), np.array(2, object))
        assert type(outcome.value) is int
        add(np.array([1, 2], object), 1.5)
        refuses(TypeError, np.array([1, "a"], object), 1)

    def test_strings(self):
        gives("U5", ["abcde"], np.array(["ab"]), np.array(["cde"]))
        gives("S5", [b"abcde"], np.array([b"ab"]), np.array([b"cde"]))
        refuses(TypeError, np.array(["ab"]), np.array([b"cde"]))
        refuses(TypeError, np.array(["ab"]), 1)

    def test_datetimes(self):
        day = np.array(["2020-01-01", "NaT"], "M8[D]")
        expected = np.array(["2020-01-01T01:30", "NaT"], "M8[m]")
        gives("M8[m]", expected, day, np.timedelta64(90, "m"))
        refuses(TypeError, day, day)
        add(np.array([1, 2], "m8[s]"), np.array([1], "m8[ms]"))

    def test_structured(self):
        refuses(TypeError, np.zeros(2, "i4,i4"), np.zeros(2, "i4,i4"))
        refuses(TypeError, np.zeros(2, "i4,i4"), 1)


class TestKeywords:
    """Rule 19: operands are positional; a call that is not one is a TypeError."""

    @pytest.mark.parametrize(("args", "kwargs"), [
        ((), {"x1": 1, "x2": 2}), ((1,), {"x2": 2}), ((), {}), ((1,), {}), ((1, 2, None, 4), {}),
        ((1, 2), {"bogus": 1}), ((1, 2), {"casting": "bogus"}), ((1, 2), {"casting": 3}),
        ((1, 2), {"order": "X"}), ((1, 2), {"order": 1}), ((1, 2), {"subok": 2}),
        ((1, 2), {"dtype": "bogus"}), ((1, 2), {"dtype": object}), ((1, 2), {"signature": "bogus"}),
        ((1, 2), {"dtype": "f8", "signature": "dd->d"}), ((1, 2), {"sig": "dd->d"}),
        ((F4, F4), {"where": None}), ((F4, F4), {"where": "yes"}), ((F4, F4), {"where": 1.5}),
        ((None, 1), {}), ((F4, None), {}), (("a", 1), {}), ((F4, "1"), {}), ((object(), 1), {}),
        (([[1], [1, 2]], 1), {}), ((F4, np.zeros(3)), {}), ((F4, {}), {}), ((F4, slice(1)), {}),
        ((1, 2), {"axis": 0}), ((1, 2), {"keepdims": True}), ((1, 2), {"extobj": [1, 2, 3]}),
    ])  # fmt: skip
    def test_as_numpy_answers(self, args, kwargs):
        add(*args, **kwargs)

    def test_operands_are_positional(self):
        refuses(TypeError, x1=1, x2=2)
