"""ndarray's operators on and off: the slots, the ops behind them, types, threads and processes."""

import ctypes
import subprocess
import sys
import threading
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from operator_cases import (
    BINARY,
    COMPARISONS,
    IN_PLACE,
    OTHERS,
    TWO_OPERANDS,
    UNARY,
    On,
    OptsOut,
    OptsOutArray,
    Plain,
    answer,
    message,
)

from tensoriter import operators
from tensoriter.core import number_slots
from tensoriter.operators import find_op


@pytest.fixture(autouse=True)
def stays_off():
    """Each test begins and ends with the operators off."""
    assert not operators.enabled
    yield
    assert not operators.enabled


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
    error = pytest.raises(FloatingPointError, match="divide by zero encountered in divide")
    with error, operators(), np.errstate(all="raise"):
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
                if not isinstance(other, (np.ma.MaskedArray, Fraction, np.float64)):
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
