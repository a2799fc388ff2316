"""Makes a call and records all that can be seen of it, so that two of them can be compared."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

import tensoriter
from tensoriter.verify.cases import Call, Case
from tensoriter.verify.operands import Alias

X87_BYTES = 10  # of a 16-byte x87 longdouble; the other 6 are padding with any content
X87_MANTISSA = 63


@dataclass(frozen=True)
class Outcome:
    """What a call gave. Two calls agree if their outcomes are equal."""

    exception: str  # its type's name, or ''
    kind: str  # the type of the result, and 'out' if it is `out` itself
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    values: Any
    memory: tuple[Any, ...]  # of each array given: its elements, and the bytes around them
    warnings: tuple[str, ...]
    errcalls: tuple[str, ...]  # calls of the errstate's function

    def differences(self, other: Outcome) -> list[str]:
        """The names of what differs."""
        pairs = [(f.name, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return [name for name, mine, theirs in pairs if mine != theirs]


def outcome_of(op: Callable[..., Any], case: Case, call: Call | None = None) -> tuple[Outcome, Any]:
    """Make the case's call; return what was seen, and the result or the exception.

    `call` is the case as built, if the caller has done that; a call can be made only once.
    """
    call = case.build() if call is None else call
    errcalls: list[str] = []
    exception = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with np.errstate(**case.errstate, call=lambda kind, _: errcalls.append(kind)):
            try:
                answer = op(*call.arguments, **call.keywords)
            except Exception as error:  # whatever it is, the other side must raise it, too
                answer, exception = error, type(error).__name__
    looks, memory = _looks(answer, case, call), _memory(call, case, exception)
    return Outcome(exception, *looks, memory, _caught(caught, case), tuple(errcalls)), answer


def in_circumstances(op: Callable[..., Any], case: Case) -> Callable[..., Any]:
    """The op, on the strided path if the case says so. For tensoriter's side of a comparison."""

    def called(*arguments: Any, **keywords: Any) -> Any:
        with tensoriter.force_path("strided") if case.strided else nullcontext():
            return op(*arguments, **keywords)

    return called


def _looks(answer: Any, case: Case, call: Call) -> tuple[Any, ...]:
    """Type, dtype, shape, strides and values of a result."""
    if isinstance(answer, Exception):
        return "", "", (), (), None
    if isinstance(answer, tuple):  # of several outputs
        return tuple(zip(*(_looks(item, case, call) for item in answer), strict=True))
    kind = type(answer).__name__ + (", out" if answer is call.out else "")
    array = np.asarray(answer)
    dtype = f"{array.dtype.str} {array.dtype.char}"
    values = canonical(array, case.op)
    if case.where is not None and case.out is None:  # elsewhere NumPy leaves what memory held
        mask = np.broadcast_to(np.asarray(call.keywords["where"], bool), array.shape)
        values = canonical(array[mask], case.op)
    return kind, dtype, array.shape, array.strides, values


def _memory(call: Call, case: Case, exception: str) -> tuple[Any, ...]:
    """The elements of every array given, and the bytes around them.

    Left out is an `out` that overlaps an operand when errstate raises: NumPy has then written it
    or not, depending on whether it worked in a copy.
    """
    torn = exception == "FloatingPointError" and overlaps(case)
    seen = [(torn or canonical(built.array, case.op), built.outside(call.out)) for built in call.arrays]
    if isinstance(call.out, np.ndarray) and not torn:
        seen.append(canonical(call.out, case.op))
    return tuple(seen)


def overlaps(case: Case) -> bool:
    """Whether `out` shares memory with an operand, other than being that operand exactly."""
    return isinstance(case.out, Alias) and (case.out.kind != "same" or isinstance(case.x2, Alias))


def _caught(caught: list[warnings.WarningMessage], case: Case) -> tuple[str, ...]:
    """The warnings as text.

    What overflows when the result is cast into `out` NumPy names after the op, but after cast where
    an overlap made it work in a copy of more than one dimension: not told apart here.
    """
    seen = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    if overlaps(case):
        seen = [re.sub("encountered in .*", "encountered", text) for text in seen]
    return tuple(seen)


def canonical(array: np.ndarray, op: str = "") -> Any:
    """The elements in C order as bytes (objects: as text), every NaN alike, no padding.

    Of 0 and -0 NumPy's fmax and fmin give one or the other, depending on where in a vector they lie.
    """
    if array.dtype.hasobject:
        return [repr(value) for value in array.ravel().tolist()]
    if array.dtype.kind not in "fc":
        return array.tobytes()
    parts = np.array(array, array.dtype.newbyteorder("="), order="C", ndmin=1).reshape(-1)
    if array.dtype.kind == "c":
        parts = parts.view(np.finfo(parts.dtype).dtype)
    parts[np.isnan(parts)] = np.nan
    if op in ("fmax", "fmin"):
        parts[parts == 0] = 0
    if parts.dtype.char == "g" and np.finfo(parts.dtype).nmant == X87_MANTISSA:
        return parts.view(np.uint8).reshape(-1, parts.itemsize)[:, :X87_BYTES].tobytes()
    return parts.tobytes()
