"""Operators and operands for the tests of tensoriter.operators, and how an operation is compared."""

import copy
import operator
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
from oracle import compare

from tensoriter import operators

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
                Fails(), ArrayLike(), IntSubclass(2), FloatSubclass(2), Float64Subclass(2), object(), None,
                NotImplemented,
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
