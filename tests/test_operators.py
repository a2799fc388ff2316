"""ndarray's operators on tensoriter: the same answers, NumPy's rules for what is not ours, and back."""

import copy
import ctypes
import operator
import subprocess
import sys
import threading
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from oracle import compare

from tensoriter import operators
from tensoriter.core import number_slots
from tensoriter.operators import find_op

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "divmod": divmod,
}  # fmt: skip
COMPARISONS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
IN_PLACE = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv,
    "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow, "&=": operator.iand,
    "|=": operator.ior, "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift,
}  # fmt: skip
UNARY = {"-": operator.neg, "+": operator.pos, "abs": abs, "~": operator.inv}
TWO_OPERANDS = {**BINARY, **COMPARISONS, **IN_PLACE}

DTYPES = "?bBhHiIlLqQefdgFDG"


class On:
    """A function as it is with the operators on; the oracle compares it with itself."""

    def __init__(self, function):
        self.function = function
        self.nin = 1 if function in UNARY.values() else 2

    def __call__(self, *operands):
        with operators():
            return self.function(*operands)


def same(function, *operands, **options):
    return compare(On(function), function, *operands, **options)


def message(function, *operands):
    """The type and the text of what a call raises; None if it raises nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*operands)
    except Exception as error:
        return type(error), str(error)


def same_with_message(function, *operands):
    """As `same`, and the text of the exception as well."""
    same(function, *operands)
    if not any(isinstance(operand, np.ndarray) and function in IN_PLACE.values() for operand in operands):
        assert message(On(function), *operands) == message(function, *operands)


def values(dtype, count=6):
    """Small numbers of both signs, one of them zero."""
    numbers = np.array([1, 3, 0, 2, 5, 1, 4, 7][:count])
    dtype = np.dtype(dtype)
    array = numbers.astype(dtype)
    return -array if dtype.kind in "ifc" else array


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
            same(function, values(dtype), values(other))

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
        if name not in IN_PLACE:
            same_with_message(function, other, x)
        elif isinstance(other, np.ndarray):
            same_with_message(function, other, x)


@pytest.mark.parametrize("name", ["**", "**="])
def test_powers_that_numpy_treats_on_their_own(name):
    exponents = (-1, 0, 1, 2, 0.5, -1.0, 0.0, 1.0, 2.0, -0.5, True, np.int64(2), np.float64(2),
                 np.float32(0.5), np.array(2), np.array(0.5), np.array([2]), np.array([0.5]), 2 + 0j, 2**64, -(2**64))
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

class OptsOut:
    """NumPy's operators leave it alone."""

    __array_ufunc__ = None

    def __add__(self, other):
        return "forward"

    def __radd__(self, other):
        return "reflected"

    def __eq__(self, other):
        return "equal"

    __hash__ = None


class OptsOutHelpless:
    __array_ufunc__ = None


class HighPriority:
    __array_priority__ = 1000

    def __radd__(self, other):
        return "reflected"

    def __lt__(self, other):
        return "less"


class LowPriority(HighPriority):
    __array_priority__ = -1000


class Reflected:
    def __radd__(self, other):
        return f"reflected {other!r}"

    def __rpow__(self, other):
        return f"reflected power {other!r}"


class Recorder:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method, len(inputs), sorted(kwargs)


class Fails:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        raise ZeroDivisionError("from the operand")


class ArrayLike:
    def __array__(self, dtype=None, copy=None):
        return np.arange(6.0)


class IntSubclass(int):
    def __radd__(self, other):
        return "int's heir"

    def __gt__(self, other):
        return "greater"


class FloatSubclass(float):
    pass


class Float64Subclass(np.float64):
    def __radd__(self, other):
        return "float64's heir"


class Plain(np.ndarray):
    """A subclass without operators."""


class OwnOperators(np.ndarray):
    def __add__(self, other):
        return "own add", super().__add__(other).tolist()

    def __radd__(self, other):
        return "own radd", super().__radd__(other).tolist()

    def __iadd__(self, other):
        return "own iadd"

    def __lt__(self, other):
        return "own less"


class Wrapped(np.ndarray):
    __array_priority__ = 5

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return "wrapped", array.tolist(), context is not None and context[0].__name__


class OverridesUfuncs(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "overridden", ufunc.__name__, [type(x).__name__ for x in inputs], sorted(kwargs)


class OptsOutArray(np.ndarray):
    __array_ufunc__ = None


def others():
    """One of each kind of operand that is not ours."""
    x = np.arange(6.0)
    yield from (OptsOut(), OptsOutHelpless(), HighPriority(), LowPriority(), Reflected(), Recorder(),
                Fails(), ArrayLike(), IntSubclass(2), FloatSubclass(2), Float64Subclass(2), object(), None, NotImplemented,
                [1, 2, 3, 4, 5, 6], (1.0,) * 6, [1, 2], "text", b"text", {}, {1}, Decimal(2), Fraction(1, 2),
                range(6), np.dtype("f8"), Ellipsis, [[1], [2]], [None] * 6)
    yield from (x.view(kind) for kind in (Plain, OwnOperators, Wrapped, OverridesUfuncs, OptsOutArray,
                                          np.recarray))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "the matrix subclass is not the recommended way"
        yield np.matrix(x)
    yield np.ma.array(x, mask=x == 2)
    yield np.ma.masked
    yield np.ma.array([(1, 2)] * 6, dtype="i4,i4")


OTHERS = list(others())


def answer(function, *operands):
    """What an operation gives, as text: that of foreign types says enough."""
    operands = [x if x is np.ma.masked else copy.copy(x) for x in operands]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*operands)
            text = f"{type(result)} {result!r}"
        except Exception as error:
            text = f"{type(error)} {error}"
    return text, [(warning.category, str(warning.message), warning.filename) for warning in caught]


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


# ---------------------------------------------------------------- on and off

POINTER = ctypes.c_void_p
AS_NUMBER, RICHCOMPARE, NUMBER_SLOTS = 12, 25, 36  # places in PyTypeObject, counted in pointers


def slots(kind):
    """The address in every number slot of a type, and in tp_richcompare."""
    words = (POINTER * (RICHCOMPARE + 1)).from_address(id(kind))
    return [*(POINTER * NUMBER_SLOTS).from_address(words[AS_NUMBER]), words[RICHCOMPARE]]


NUMPYS = slots(np.ndarray)


def changed(kind=np.ndarray):
    return sum(slot != numpys for slot, numpys in zip(slots(kind), NUMPYS, strict=True))


def test_every_slot_comes_back():
    assert changed() == 0
    with operators():
        assert changed() == 11 * 2 + 2 + 1 + 4 + 1  # binary, power, divmod, unary, comparisons
    assert changed() == 0


def test_repeated_and_nested_use_is_counted():
    operators.enable()
    operators.enable()
    with operators(), operators():
        assert operators.enabled
    operators.disable()
    assert operators.enabled
    assert changed()
    operators.disable()
    assert not operators.enabled
    assert not changed()


def test_disable_without_enable():
    with pytest.raises(RuntimeError, match="without enable"):
        operators.disable()
    assert not changed()


def test_disable_inside_a_block():
    with pytest.raises(RuntimeError, match="without enable"), operators():
        operators.disable()
    assert not changed()


def test_an_exception_leaves_the_block():
    with pytest.raises(ZeroDivisionError), operators():
        raise ZeroDivisionError
    assert not changed()
    with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"), operators():
        with np.errstate(all="raise"):
            np.ones(2) / 0
    assert not changed()


def test_repr():
    assert repr(operators) == "<tensoriter.operators: off>"
    with operators() as given:
        assert given is operators
        assert repr(operators) == "<tensoriter.operators: on>"


def test_a_warning_names_the_line_of_the_operator():
    with operators(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.array([1e308]) * 10
    assert [str(warning.message) for warning in caught] == ["overflow encountered in multiply"]
    assert caught[0].filename == __file__


def test_no_reference_is_kept_or_lost():
    x, y = np.ones(50), np.ones(50)
    before = sys.getrefcount(x), sys.getrefcount(y)
    with operators():
        for function in (*BINARY.values(), *COMPARISONS.values(), *IN_PLACE.values()):
            for other in (y, 2, 2.0, "text", None):
                message(function, x, other)
        for function in UNARY.values():
            message(function, x)
    assert before == (sys.getrefcount(x), sys.getrefcount(y))


@pytest.fixture
def calls():
    """The operators call this instead of their ops: it notes the name and how many operands there were."""
    noted = []

    def spy_of(name):
        return lambda *operands: noted.append((name, operands))

    number_slots.connect_ops(spy_of)
    yield noted
    number_slots.connect_ops(find_op)


UFUNCS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder",
    "**": "power", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift",
    ">>": "right_shift", "divmod": "divmod", "==": "equal", "!=": "not_equal", "<": "less",
    "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip


@pytest.mark.parametrize("name", TWO_OPERANDS)
def test_two_operands_reach_the_op(name, calls):
    x, y = np.ones(3), np.full(3, 2)
    function = TWO_OPERANDS[name]
    swapped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(name, name)
    with operators():
        # Of a scalar exponent of another type NumPy's versions think differently.
        more = () if name.startswith("**") else (1j, True, np.float64(3), np.int8(3))
        for other in (y, 3, 3.5, *more):
            function(x, other)
            if name in IN_PLACE:
                assert calls == [(UFUNCS[name[:-1]], (x, other, x))]
            else:
                assert calls == [(UFUNCS[name], (x, other))]
            calls.clear()
        if name not in IN_PLACE:
            function(3, x)
            assert calls == [(UFUNCS[swapped], (x, 3) if name in COMPARISONS else (3, x))]


@pytest.mark.parametrize("name", UNARY)
def test_one_operand_reaches_the_op(name, calls):
    x = np.ones(3)
    with operators():
        UNARY[name](x)
    assert calls == [({"-": "negative", "+": "positive", "abs": "absolute", "~": "invert"}[name], (x,))]


@pytest.mark.parametrize(("exponent", "op"), [(2, "square"), (-1, "reciprocal"), (0.5, "sqrt")])
def test_powers_with_an_op_of_their_own(exponent, op, calls):
    x = np.ones(3)
    with operators():
        x ** exponent
        x **= exponent
    assert [(name, len(operands)) for name, operands in calls] == [(op, 1), (op, 2)]


def test_what_is_not_ours_reaches_no_op(calls):
    x = np.ones(6)
    with operators():
        for function in TWO_OPERANDS.values():
            for other in OTHERS:
                # These have methods that use operators on plain arrays themselves.
                if not isinstance(other, (np.ma.MaskedArray, Fraction)):
                    message(function, x, other)
                    message(function, other, x)
        for function in COMPARISONS.values():
            for dtype in ("U1", "O", "M8[s]", "i4,i4"):
                strange = np.zeros(6, dtype)
                message(function, strange, strange)
                message(function, x, strange)
        for function in UNARY.values():
            message(function, x.view(Plain))
    assert calls == []


def test_ops_stand_for_the_ufuncs():
    unary = "negative", "positive", "absolute", "invert", "square", "sqrt", "reciprocal"
    for name in (*UFUNCS.values(), *unary):
        assert find_op(name).ufunc is getattr(np, name)


# ---------------------------------------------------------------- types made while on

def test_classes_made_while_on():
    with operators():
        class Made(np.ndarray):
            pass

        class MadeOptingOut(np.ndarray):
            __array_ufunc__ = None

        assert not changed(Made)  # Python takes the slots of a class from ndarray.__add__ and so on
    kinds = (Made, MadeOptingOut, Plain, OptsOutArray, np.ndarray)
    x = np.arange(3.0)
    for function in (BINARY | COMPARISONS).values():
        for first in kinds:
            for second in kinds:
                operands = x.view(first), x.view(second)
                assert answer(On(function), *operands) == answer(function, *operands)


class TypeSpec(ctypes.Structure):
    """CPython's PyType_Spec."""

    _fields_ = [("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int),
                ("flags", ctypes.c_uint), ("slots", ctypes.c_void_p)]


def made_in_c(name, **attributes):
    """A subclass of ndarray as C makes one: it inherits what stands in the slots at that time."""
    default_and_base_type = 1 << 18 | 1 << 10
    no_slots = (ctypes.c_void_p * 2)()
    text = f"tests.{name}".encode()
    spec = TypeSpec(text, 0, 0, default_and_base_type, ctypes.addressof(no_slots))
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.argtypes, make.restype = [ctypes.c_void_p, ctypes.py_object], ctypes.py_object
    kind = make(ctypes.addressof(spec), (np.ndarray,))
    KEPT.append((text, no_slots, spec))
    for attribute, value in attributes.items():
        setattr(kind, attribute, value)
    return kind


KEPT = []


@pytest.mark.parametrize("attributes", [{}, {"__array_ufunc__": None}, {"__array_priority__": 9}], ids=str)
def test_types_made_in_c_while_on(attributes):
    before = made_in_c("Kind", **attributes)
    with operators():
        kind = made_in_c("Kind", **attributes)
        assert changed(kind)
    assert changed(kind)    # it keeps what it inherited
    assert not changed(before)
    x = np.arange(3.0)
    for function in (BINARY | COMPARISONS | IN_PLACE).values():
        for other in (x, 2, 2.0, [1, 2, 3], None, x.view(Plain), x.view(OptsOutArray), OptsOut(),
                      Decimal(2)):
            expected = answer(function, x.view(before), other), answer(function, other, x.view(before))
            for call in (function, On(function)):
                assert (answer(call, x.view(kind), other), answer(call, other, x.view(kind))) == expected
        expected = answer(function, x.view(before), x.view(before))
        for call in (function, On(function)):
            assert answer(call, x.view(kind), x.view(kind)) == expected
    for function in UNARY.values():
        for call in (function, On(function)):
            assert answer(call, x.view(kind)) == answer(function, x.view(before))


# ---------------------------------------------------------------- threads, processes

def test_threads_turn_it_on_and_off_while_others_compute():
    stop, wrong, rounds = threading.Event(), [], []

    def compute():
        x, y = np.arange(200.0), np.arange(200)
        expected = [np.add(x, y), np.multiply(x, 2), np.less(x, 100), np.negative(x), np.divide(x, x + 1)]
        while not stop.is_set():
            for _ in range(50):
                results = [x + y, x * 2, x < 100, -x, x / (x + 1)]
                if not all(map(np.array_equal, results, expected)):
                    wrong.append(results)
            rounds.append(1)

    def switch():
        while not stop.is_set():
            with operators():
                np.ones(3) + 1

    threads = [threading.Thread(target=target) for target in (compute, compute, switch, switch, switch)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        stop.wait(2)
        stop.set()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
    assert len(rounds) > 2
    assert not operators.enabled
    assert not changed()


def test_all_threads_use_it():
    seen = []
    with operators():
        thread = threading.Thread(target=lambda: seen.append((operators.enabled, changed() > 0)))
        thread.start()
        thread.join()
    assert seen == [(True, True)]


def python(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_import_leaves_the_slots_alone():
    assert python("""
import ctypes, numpy as np
def slots():
    words = (ctypes.c_void_p * 26).from_address(id(np.ndarray))
    return [*(ctypes.c_void_p * 36).from_address(words[12]), words[25]]
before = slots()
import tensoriter
print(before == slots(), tensoriter.operators.enabled)
""") == "True False\n"


def test_the_interpreter_may_end_with_it_on():
    assert python("""
import atexit, numpy as np, tensoriter
class Late:
    def __del__(self):
        x = np.arange(3.0)
        x + x, x < 2, -x
late = Late()
atexit.register(lambda: print((np.ones(2) + 1).tolist()))
tensoriter.operators.enable()
""") == "[2.0, 2.0]\n"


def test_a_fork_keeps_it():
    assert python("""
import os, numpy as np, tensoriter
with tensoriter.operators():
    child = os.fork()
    if child == 0:
        assert tensoriter.operators.enabled and (np.ones(2) + 1).tolist() == [2, 2]
        tensoriter.operators.disable()
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), tensoriter.operators.enabled)
""") == "7 True\n"


def test_who_comes_later_keeps_its_slot():
    """Whatever else has wrapped a slot in the meantime is neither undone nor wrapped again."""
    binary = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)
    words = (POINTER * (RICHCOMPARE + 1)).from_address(id(np.ndarray))
    table = (POINTER * NUMBER_SLOTS).from_address(words[AS_NUMBER])
    numpys = table[0]
    with operators():
        below = binary(table[0])
        wrapper = binary(lambda x1, x2: ("wrapped", below(x1, x2).tolist()))
        table[0] = ctypes.cast(wrapper, POINTER).value
        try:
            assert np.ones(1) + 1 == ("wrapped", [2.0])
            assert changed() > 1
            operators.disable()
            assert changed() == 1
            assert np.ones(1) + 1 == ("wrapped", [2.0])
            operators.enable()
            assert np.ones(1) + 1 == ("wrapped", [2.0])
        finally:
            table[0] = numpys
    assert changed() == 0
