"""Random calls of ops of one or two inputs. Case k of seed s is always the same call of the same op."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import tensoriter
from tensoriter.verify.operands import Alias, Array, Built, Literal

NUMERIC = "?bBhHiIlLqQefdgFDG"
FOREIGN = ("O", "M8[D]", "m8[s]", "m8[h]", "U3", "S2")  # left to NumPy by every path
LENGTHS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 67)
LONG = (100, 255, 1000, 1025, 8191, 8192, 8193, 20000)  # around NumPy's buffer of 8192 elements
MOST_ELEMENTS = 3_000
STYLES = ("small", "small", "ordinary", "special", "bits")
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
OUT_FORMS = ("keyword", "keyword", "tuple", "position")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
ERRSTATES = ("warn", "ignore", "raise", "call")
PYTHON_SCALARS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 127, 128, 255, 256, 300, -129, 65535, 65536, 2**31, -(2**31), 2**63, 2**64),
    *(-(2**63), 10**400, True, False, 0.0, -0.0, 1.5, 1e39, -1e39, 70000.0, 5e-324, 1e300),
    *(float("inf"), float("nan"), 1 + 2j, 1e39j),
)

Operand = Array | Literal
Extra = Array | Alias | Literal | None


@dataclass(frozen=True)
class Case:
    """One call: its operands, its keywords, and the circumstances it is made in."""

    seed: int
    index: int
    x1: Operand
    x2: Operand | Alias | None  # None: the op has one input
    out: Extra = None
    where: Array | Literal | None = None
    keywords: dict[str, str] = field(default_factory=dict)
    errstate: dict[str, str] = field(default_factory=dict)
    out_form: str = "keyword"  # one of OUT_FORMS
    strided: bool = False  # keep the call off the contiguous path
    op: str = "add"  # its name in tensoriter

    def build(self) -> Call:
        """The call with arrays of its own."""
        arrays: list[Built] = []
        values = {name: self._argument(name, arrays) for name in ("x1", "x2", "out", "where")}
        keywords: dict[str, Any] = dict(self.keywords)
        positional = [values["x1"]] if self.x2 is None else [values["x1"], values["x2"]]
        if self.out is not None:
            if self.out_form == "position":
                positional.append(values["out"])
            else:
                keywords["out"] = (values["out"],) if self.out_form == "tuple" else values["out"]
        if self.where is not None:
            keywords["where"] = values["where"]
        return Call(tuple(positional), keywords, arrays, values["out"])

    def _argument(self, name: str, arrays: list[Built]) -> Any:
        description = getattr(self, name)
        if isinstance(description, Array):
            arrays.append(description.build())
            return arrays[-1].array
        if isinstance(description, Alias):
            return arrays[description.of].aliased(description)
        return description.value if isinstance(description, Literal) else None


@dataclass(frozen=True)
class Call:
    """A call ready to be made: its arguments, the arrays behind them, and `out` if given."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    arrays: list[Built]
    out: Any


def op_names() -> list[str]:
    """The ops that there are cases for: element-wise ones, each by one name."""
    ops = {op.__name__: op for op in map(vars(tensoriter).get, tensoriter.__all__)
           if isinstance(op, tensoriter.Op)}
    return sorted(name for name, op in ops.items() if op.nin <= 2 and op.signature is None)


def make_case(seed: int, index: int, ops: Sequence[str] = ("add",)) -> Case:
    """Case number `index` of `seed`, of one of these ops."""
    name = ops[0] if len(ops) == 1 else random.Random(f"{seed} {index} op").choice(ops)
    case = _two_operands(seed, index)
    op = getattr(tensoriter, name)
    changes: dict[str, Any] = {"op": name}
    if op.nin == 1:
        changes["x2"] = None
    if op.nout > 1 or (op.nin == 1 and isinstance(case.out, Alias) and case.out.of > 0):
        changes["out"] = None
    if name in COMPARISONS and any(isinstance(x, Literal) for x in (case.x1, case.x2)):
        changes["where"] = None  # NumPy 2.4 crashes when it compares with an int out of range
    return replace(case, **changes)


def _two_operands(seed: int, index: int) -> Case:
    source = random.Random(f"{seed} {index}")
    shape = _result_shape(source)
    if _happens(source, 0.15):
        return _plain_case(source, seed, index, shape)
    dtypes = _dtypes(source)
    x1 = _operand(source, dtypes[0], shape)
    x2: Operand | Alias = _operand(source, dtypes[1], shape)
    if isinstance(x1, Array) and _happens(source, 0.08):
        x2 = Alias(0, source.choice(("same", "reversed")))
    x1, out = _out(source, x1, shape, dtypes)
    where, keywords = _where(source, shape), _keywords(source, dtypes)
    errstate, out_form = _errstate(source), source.choice(OUT_FORMS)
    strided = _happens(source, 0.3)
    return Case(seed, index, x1, x2, out, where, keywords, errstate, out_form, strided)


def _plain_case(source: random.Random, seed: int, index: int, shape: tuple[int, ...]) -> Case:
    """Two arrays alike in all but values, and no keywords: what the contiguous path is for."""
    dtype, straight = source.choice(NUMERIC), tuple(range(len(shape)))
    axes = straight[::-1] if _happens(source, 0.2) else straight
    x1, x2 = (
        Array(dtype, shape, source.choice(STYLES), source.randrange(2**32), axes, (1,) * len(shape))
        for _ in range(2)
    )
    return Case(seed, index, x1, x2, errstate=_errstate(source))


def _happens(source: random.Random, probability: float) -> bool:
    return source.random() < probability


def _result_shape(source: random.Random) -> tuple[int, ...]:
    if _happens(source, 0.03):
        return (source.choice(LONG),)
    ndim = source.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6))
    lengths = [source.choice(LENGTHS) for _ in range(ndim)]
    while math.prod(max(1, length) for length in lengths) > MOST_ELEMENTS:
        lengths[source.randrange(ndim)] = 2
    return tuple(lengths)


def _dtypes(source: random.Random) -> tuple[str, str]:
    """Half of the pairs are alike: those are the ones with short paths."""
    first = _dtype(source)
    return (first, first) if _happens(source, 0.5) else (first, _dtype(source))


def _dtype(source: random.Random) -> str:
    if _happens(source, 0.02):
        return source.choice(FOREIGN)
    code = source.choice(NUMERIC)
    return np.dtype(code).newbyteorder("S").str if _happens(source, 0.1) else code


def _operand(source: random.Random, dtype: str, shape: tuple[int, ...]) -> Operand:
    if _happens(source, 0.12):
        return Literal(_scalar(source, dtype))
    return _array(source, dtype, _smaller(source, shape))


def _scalar(source: random.Random, dtype: str) -> Any:
    if _happens(source, 0.6):
        return source.choice(PYTHON_SCALARS)
    if _happens(source, 0.15):
        return [source.choice((1, 2.5, True))]
    return _array(source, dtype, ()).build().array[()]


def _smaller(source: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to `shape`, rarely one that does not."""
    if _happens(source, 0.6):
        return shape
    if _happens(source, 0.03):
        return (*shape, 3)
    kept = shape[source.randint(0, len(shape)) :]
    return tuple(1 if _happens(source, 0.3) else length for length in kept)


def _array(source: random.Random, dtype: str, shape: tuple[int, ...]) -> Array:
    ndim = len(shape)
    values, seed = source.choice(STYLES), source.randrange(2**32)
    dense, straight = (1,) * ndim, tuple(range(ndim))
    if _happens(source, 0.5):
        axes = straight[::-1] if _happens(source, 0.25) else straight
        return Array(dtype, shape, values, seed, axes, dense)
    axes = tuple(source.sample(straight, ndim)) if _happens(source, 0.5) else straight
    steps = list(dense)
    if _happens(source, 0.7):
        for axis in source.sample(straight, min(ndim, 2)):  # on more axes memory would explode
            steps[axis] = source.choice((1, -1, -1, 2, -3, 0))
    itemsize = np.dtype(dtype).itemsize
    offset = source.randrange(64) if _happens(source, 0.3) else itemsize * source.randrange(4)
    gap = source.choice((1, 4, itemsize)) if _happens(source, 0.15) else 0
    return Array(dtype, shape, values, seed, axes, tuple(steps), offset, gap, owned=False)


def _out(
    source: random.Random, x1: Operand, shape: tuple[int, ...], dtypes: tuple[str, str]
) -> tuple[Operand, Extra]:
    """`out`, and x1 in the form that `out` needs: to be overlapped it lies in a buffer.

    No shifted longdouble: the padding inside its elements, which may hold anything, would show.
    """
    if _happens(source, 0.55):
        return x1, None
    if isinstance(x1, Array) and 0 not in x1.steps and _happens(source, 0.4):
        kind = source.choice(("same", "same", "shifted", "reversed"))
        if kind == "shifted" and np.dtype(x1.dtype).char not in "OgG":
            buffered = Array(**{**vars(x1), "owned": False})
            return buffered, Alias(0, kind, source.choice((-2, -1, 1, 2, 3)))
        return x1, Alias(0, "same" if kind == "shifted" else kind)
    dtype = source.choice(dtypes) if _happens(source, 0.7) else _dtype(source)
    if _happens(source, 0.06):
        shape = source.choice(((2, *shape), shape[1:], (*shape, 1)))
    array = _array(source, dtype, shape)
    return x1, Array(**{**vars(array), "steps": tuple(step or 1 for step in array.steps)})


def _where(source: random.Random, shape: tuple[int, ...]) -> Array | Literal | None:
    if _happens(source, 0.85):
        return None
    if _happens(source, 0.1):
        return Literal(source.choice((True, False, [True], [1])))
    dtype = "i" if _happens(source, 0.04) else "?"
    return _array(source, dtype, _smaller(source, shape))


def _keywords(source: random.Random, dtypes: tuple[str, str]) -> dict[str, str]:
    keywords = {}
    if _happens(source, 0.15):
        keywords["dtype"] = source.choice(dtypes) if _happens(source, 0.5) else _dtype(source)
    if _happens(source, 0.15):
        keywords["casting"] = source.choice(CASTINGS)
    if _happens(source, 0.2):
        keywords["order"] = source.choice("KACF")
    return keywords


def _errstate(source: random.Random) -> dict[str, str]:
    if _happens(source, 0.5):
        return {}
    return {kind: source.choice(ERRSTATES) for kind in ("over", "under", "invalid", "divide")}
