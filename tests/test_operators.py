"""ndarray's operators on tensoriter: NumPy's answers, and NumPy's rules for what is not ours."""

import numpy as np
import pytest
from operator_cases import (
    BINARY,
    COMPARISONS,
    DTYPES,
    IN_PLACE,
    OTHERS,
    TWO_OPERANDS,
    UNARY,
    Fails,
    HighPriority,
    On,
    OptsOut,
    OwnOperators,
    Plain,
    Recorder,
    answer,
    message,
    same,
    same_with_message,
    values,
)

from tensoriter import operators


@pytest.fixture(autouse=True)
def stays_off():
    """Each test begins and ends with the operators off."""
    assert not operators.enabled
    yield
    assert not operators.enabled


# ---------------------------------------------------------------- exact arrays and numbers

@pytest.mark.parametrize("name", TWO_OPERANDS)
class TestTwoOperands:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_arrays_of_every_dtype(self, name, dtype):
        function = TWO_OPERANDS[name]
        same_with_message(function, values(dtype), values(dtype)[::-1].copy())
        for other in DTYPES:
            second = values(other)
            if name == "**=":   # after a negative power, an error, NumPy has written a part
                second = np.abs(second)
            same(function, values(dtype), second)

    @pytest.mark.parametrize("number", [
        2, 0, 1, -1, 3, -2, 300, 2**40, 2**63, 2**70, -2**70, 2.0, 0.5, -1.0, 0.0, 1.0, 1.5, -0.0, 1e39,
        float("nan"), float("inf"), 1j, 2 + 0j, True, False,
    ], ids=repr)  # fmt: skip
    def test_python_scalars_on_both_sides(self, name, number):
        function = TWO_OPERANDS[name]
        for dtype in "?bBlQfdD":
            same_with_message(function, values(dtype), number)
            if name not in IN_PLACE:
                same_with_message(function, number, values(dtype))

    @pytest.mark.parametrize("character", DTYPES)
    def test_numpy_scalars_on_both_sides(self, name, character):
        function = TWO_OPERANDS[name]
        scalar = np.dtype(character).type(2)
        for dtype in "?BiQfD":
            same(function, values(dtype), scalar)
            if name not in IN_PLACE:
                same(function, scalar, values(dtype))

    def test_shapes_and_layouts(self, name):
        function = TWO_OPERANDS[name]
        x = np.arange(24, dtype="i4").reshape(4, 6) % 5
        for other in (x.T.copy().T, x[::-1], x[:, :1], x[0], x[:2], np.array(2, "i4"), x.astype(">i4"),
                      x[:0], x.reshape(4, 6, 1), np.asfortranarray(x), x[:, ::2]):
            same_with_message(function, x, other)
            same_with_message(function, other, x)

    def test_without_dimensions(self, name):
        function = TWO_OPERANDS[name]
        for dtype in "?iQfdD":
            x = np.array(3, dtype)
            for other in (np.array(2, dtype), 2, 0, -1, 0.5, np.float64(2), np.array([1, 2], dtype)):
                same_with_message(function, x, other)
                if name not in IN_PLACE:
                    same_with_message(function, other, x)

    def test_overlap(self, name):
        x = values("i8", 8)
        for first, second in ((x[1:], x[:-1]), (x, x), (x[::-1], x), (x[:4], x[2:6])):
            same(TWO_OPERANDS[name], first, second)

    def test_empty(self, name):
        for dtype in "?id":
            same_with_message(TWO_OPERANDS[name], np.ones(0, dtype), np.ones(0, dtype))
            same_with_message(TWO_OPERANDS[name], np.ones((0, 3), dtype), 300)

    def test_read_only(self, name):
        x = values("i4")
        x.flags.writeable = False
        same_with_message(TWO_OPERANDS[name], x, x)
        assert message(On(TWO_OPERANDS[name]), x, x) == message(TWO_OPERANDS[name], x, x)

    @pytest.mark.parametrize("state", ["warn", "raise", "ignore"])
    def test_floating_point_errors(self, name, state):
        x = np.array([0.0, -1.0, 1e308, np.inf, np.nan, 5e-324])
        for other in (x[::-1].copy(), 0.0, 1e308, np.float64(0), -1, 0.5, 2):
            outcome = same(TWO_OPERANDS[name], x, other, errstate={"all": state})
            assert state == "ignore" or name in "&|^<<>>" or outcome.warned is not None
            with np.errstate(all=state):
                assert name in IN_PLACE or (
                    message(On(TWO_OPERANDS[name]), x, other) == message(TWO_OPERANDS[name], x, other))


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_operand(name, dtype):
    x = np.stack([values(dtype), values(dtype)])
    for operand in (x, x.T, x[:, ::2], x[:0], np.array(3, dtype), x.astype(x.dtype.newbyteorder()),
                    x.view(np.matrix), np.ma.array(x, mask=x == 0)):
        same_with_message(UNARY[name], operand)


@pytest.mark.parametrize("dtype", ["O", "U3", "S3", "M8[D]", "m8[s]", "V4", [("a", "i4"), ("b", "f8")],
                                   np.dtypes.StringDType()], ids=str)
@pytest.mark.parametrize("name", [*TWO_OPERANDS, *(f"unary {name}" for name in UNARY)])
def test_other_dtypes(name, dtype):
    x = np.arange(1, 5).astype(dtype if isinstance(dtype, (str, list)) and dtype != "V4" else "i4")
    x = x.view("V4") if dtype == "V4" else x.astype(dtype)
    if name.startswith("unary"):
        same_with_message(UNARY[name.split()[1]], x)
        return
    function = TWO_OPERANDS[name]
    for other in (x, x[:1], x[:2], np.arange(4), np.arange(4.0), 2, 1.5, "2", b"2", None, np.timedelta64(2),
                  np.datetime64("2020-01-01"), np.str_("2"), x[0], np.array(None), np.array("2")):
        same_with_message(function, x, other)
        if name not in IN_PLACE or isinstance(other, np.ndarray):
            same_with_message(function, other, x)


@pytest.mark.parametrize("name", ["**", "**="])
def test_powers_that_numpy_treats_on_their_own(name):
    exponents = (-1, 0, 1, 2, 0.5, -1.0, 0.0, 1.0, 2.0, -0.5, True, np.int64(2), np.float64(2),
                 np.float32(0.5), np.array(2), np.array(0.5), np.array([2]), np.array([0.5]), 2 + 0j, 2**64,
                 -(2**64))
    for dtype in [*DTYPES, ">f8", "O"]:
        for exponent in exponents:
            if dtype == "O" and type(exponent) is int and abs(exponent) > 2:
                continue  # Python's own ints would grow without end
            for x in (values(dtype), np.array(4, dtype), np.ones((0, 2), dtype), values(dtype)[::2]):
                same_with_message(TWO_OPERANDS[name], x, exponent)


def test_power_with_a_modulus():
    x = np.arange(4)
    for args in ((x, 2, 3), (x, x, x), (2, x, 3), (2, 3, x)):
        assert message(On(pow), *args) == message(pow, *args)
        assert message(pow, *args) is not None
    same(lambda x: pow(x, 2, None), x)


# ---------------------------------------------------------------- operands with a say of their own

@pytest.mark.parametrize("name", TWO_OPERANDS)
@pytest.mark.parametrize("dtype", ["d", "i", "?", "O", "M8[s]"])
def test_other_operands(name, dtype):
    x = np.arange(6).astype(dtype)
    for other in OTHERS:
        for operands in ((x, other), (other, x), (x[0], other), (other, other), (x[:1].reshape(()), other)):
            assert answer(On(TWO_OPERANDS[name]), *operands) == answer(TWO_OPERANDS[name], *operands)


@pytest.mark.parametrize("name", BINARY | COMPARISONS)
def test_subclasses_among_each_other(name):
    arrays = [other for other in OTHERS if isinstance(other, np.ndarray)]
    for first in arrays:
        for second in arrays:
            assert (answer(On(TWO_OPERANDS[name]), first, second)
                    == answer(TWO_OPERANDS[name], first, second))


def test_results_that_show_who_answered():
    x = np.arange(3.0)
    with operators():
        assert x + OptsOut() == "reflected"
        assert x + HighPriority() == "reflected"
        assert x + x.view(OwnOperators) == ("own radd", [0, 2, 4])
        assert type(x + x.view(Plain)) is Plain
        assert x + Recorder() == ("add", "__call__", 2, [])
        with pytest.raises(ZeroDivisionError, match="from the operand"):
            x + Fails()


def test_methods_of_the_type_stay_numpys():
    x = np.arange(3.0)
    before = np.ndarray.__add__, np.ndarray.__lt__, np.add, np.less
    with operators():
        assert before == (np.ndarray.__add__, np.ndarray.__lt__, np.add, np.less)
        assert x.__add__(1).tolist() == [1, 2, 3]
        assert np.ndarray.__add__(x, OptsOut()) is NotImplemented
