"""Runs cases for some time, or a number of them, or one alone, and reports."""

from __future__ import annotations

import random
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

import tensoriter
from tensoriter.verify.cases import Call, Case, make_case, op_names
from tensoriter.verify.compare import Outcome, in_circumstances, outcome_of
from tensoriter.verify.operands import layout_text, values_text
from tensoriter.verify.shrink import shrink

REFUSED = "refused by both"


@dataclass(frozen=True)
class Sides:
    """Both sides of a comparison: what was seen of each call, its answer, and our path."""

    expected: Outcome
    expected_answer: Any
    path: str
    actual: Outcome
    answer: Any

    @property
    def differences(self) -> list[str]:
        """The names of what differs, as `Outcome` calls it."""
        return self.expected.differences(self.actual)

    @classmethod
    def of(cls, case: Case, op: Callable[..., Any], reference: np.ufunc) -> Sides:
        """Make both calls, each with arrays of its own."""
        expected, expected_answer = outcome_of(reference, case)
        call = case.build()  # explained and then made: an explanation that writes is seen, too
        path = REFUSED if expected.exception else path_of(case, call)
        actual, answer = outcome_of(in_circumstances(op, case), case, call)
        return cls(expected, expected_answer, path, actual, answer)


@dataclass(frozen=True)
class Mismatch:
    """A case whose two answers differ, made as small as it would go."""

    case: Case
    sides: Sides
    choice: str = ""  # the options that chose the ops

    def __str__(self) -> str:
        case, sides = self.case, self.sides
        given = [name for name in ("x1", "x2", "out", "where") if getattr(case, name) is not None]
        keywords = [f"{name}={value!r}" for name, value in case.keywords.items()]
        if case.out is not None and case.out_form != "keyword":
            keywords.append("out=(out,)" if case.out_form == "tuple" else "out as third argument")
        lines = [
            f"Case {case.index} of seed {case.seed}, a call of {case.op}, differs in "
            f"{', '.join(sides.differences)}.",
            "Made as small as it would go:",
            *(f"  {name:8}  {getattr(case, name)}" for name in given),
            *([f"  keywords  {', '.join(keywords)}"] if keywords else []),
            *([f"  errstate  {case.errstate}"] if case.errstate else []),
            f"  path      {sides.path}" + (", force_path('strided')" if case.strided else ""),
            f"NumPy:       {shown(sides.expected_answer, sides.expected)}",
            f"tensoriter:  {shown(sides.answer, sides.actual)}",
            f"Repeat with: tensoriter verify --seed {case.seed} --case {case.index}{self.choice}",
        ]
        return "\n".join(lines)


@dataclass
class Report:
    """What was run: how many cases, in how many seconds, on which paths, and what differed."""

    seed: int
    cases: int = 0
    seconds: float = 0.0
    paths: Counter[str] = field(default_factory=Counter)
    mismatch: Mismatch | None = None


def verify(
    seconds: float = 60.0,
    seed: int | None = None,
    *,
    cases: int | None = None,
    case: int | None = None,
    ops: Sequence[str] = ("add",),
    op: Callable[..., Any] | None = None,
    on_progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Compare tensoriter's ops of these names with NumPy's ufuncs until something differs.

    Runs for `seconds`, or exactly `cases` cases, or only case number `case`, whatever the time.
    The same `seed` and `ops` give the same cases; without a seed one is drawn. `op` stands in for
    tensoriter's. Some of NumPy's own loops, those of complex numbers above all, round and raise flags
    otherwise for operands that lie otherwise: one such difference in some thousand cases is NumPy's.
    """
    report = Report(new_seed() if seed is None else seed)
    choice = "" if tuple(ops) == ("add",) else "".join(f" --op {name}" for name in ops)
    if list(ops) == op_names():
        choice = " --op all"
    start = time.perf_counter()
    for index in _indices(cases, case):
        _check(make_case(report.seed, index, ops), op, choice, report)
        report.cases += 1
        report.seconds = time.perf_counter() - start
        on_progress(report)
        if report.mismatch or (cases is None and report.seconds >= seconds):
            break
    return report


def new_seed() -> int:
    """A seed that nobody chose."""
    return random.SystemRandom().randrange(2**32)


def _indices(cases: int | None, case: int | None) -> Any:
    if case is not None:
        return range(case, case + 1)
    return count() if cases is None else range(cases)


def _check(case: Case, op: Callable[..., Any] | None, choice: str, report: Report) -> None:
    op, reference = op or getattr(tensoriter, case.op), getattr(np, case.op)
    sides = Sides.of(case, op, reference)
    report.paths[sides.path] += 1
    if sides.actual != sides.expected:
        report.mismatch = explain_mismatch(case, sides, op, reference, choice)


def path_of(case: Case, call: Call) -> str:
    """The path that tensoriter says the call takes."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with tensoriter.force_path("strided") if case.strided else nullcontext():
                op = getattr(tensoriter, case.op)
                return str(tensoriter.explain(*call.arguments, op=op, **call.keywords).path)
        except Exception as error:
            where = f"case {case.index} of seed {case.seed}"
            raise RuntimeError(f"explain fails on {where}, which np.{case.op} answers") from error


def explain_mismatch(
    case: Case, sides: Sides, op: Callable[..., Any], reference: np.ufunc, choice: str = ""
) -> Mismatch:
    """Shrink the case; the answers are those of the last call that differed."""

    def differs(candidate: Case) -> bool:
        nonlocal sides
        now = Sides.of(candidate, op, reference)
        alike = now.differences == sides.differences  # else a simpler case of something else
        if alike:
            sides = now
        return alike

    return Mismatch(shrink(case, differs), sides, choice)


def shown(answer: Any, outcome: Outcome) -> str:
    """An answer for people, with the warnings and errstate calls that came with it."""
    if isinstance(answer, Exception):
        text = f"raises {type(answer).__name__}: {answer}"
    elif isinstance(answer, np.ndarray):
        text = f"{layout_text(answer)}: {values_text(answer)}"
    else:
        text = f"{type(answer).__name__} {answer!r}"
    return "; ".join([text, *outcome.warnings, *outcome.errcalls])
