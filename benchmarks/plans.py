"""Compare plans with plain NumPy, numba and numexpr, contestants taking turns.

    python -m benchmarks.plans [--rounds 40] [--json FILE]

The oscillators are ten operations on arrays of 100 float64, call included; the expression is
2*a + 3*b*c - d/e on large arrays, on one thread. Answers are compared before. numba and numexpr take part
where they are installed (pip install -e '.[peers]'). The first call of a step of thirty operations traces and
lowers it; its time is the processor's, as nothing takes turns with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import process_time_ns
from typing import Any

import numpy as np

import tensoriter
from tensoriter.commands import positive
from tensoriter.commands.display import print_table
from tensoriter.commands.machine import machine_facts
from tensoriter.commands.output_files import check_output_files, write_json
from tensoriter.timing import Contestant, Turns, steps_lasting, take_turns

PLAN, NUMPY, NUMBA, NUMEXPR = "plan", "numpy", "numba", "numexpr"
EXPRESSION = "2*a + 3*b*c - d/e"
SMALL = 100
LARGE = (1_000_000, 10_000_000)
FIRST_CALL_AT_MOST = 5.0  # ms

# (case, contestant) -> at least so many times as fast
AT_LEAST = {
    ("oscillators", NUMPY): 10.0,
    ("oscillators", NUMBA): 1.0,
    ("expression", NUMPY): 2.5,
    ("expression", NUMEXPR): 1.2,
}


def oscillators(x: Any, v: Any, k: Any, c: Any) -> Any:
    """One step of damped oscillators: ten operations."""
    a = -(k * x) - c * v
    v = v + 0.01 * a
    return x + 0.01 * v, v, 0.5 * v * v


def expression(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    """Six operations."""
    return 2 * a + 3 * b * c - d / e


def thirty(x: Any, v: Any, f: Any) -> Any:
    """Thirty operations."""
    for _ in range(5):
        a = f - 2.0 * x
        v = v + 0.01 * a
        x = x + 0.01 * v
    return x, v


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, write what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.plans", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--rounds", type=positive, default=40, help="turns of each (default 40)")
    parser.add_argument("--json", metavar="FILE", help="write machine and times there")
    arguments = parser.parse_args(argv)
    check_output_files(arguments.json, None)
    results = {("oscillators", SMALL): measure(small_contestants(), arguments.rounds)}
    for n in LARGE:
        results["expression", n] = measure(large_contestants(n), max(5, arguments.rounds // 2))
    first = first_call(arguments.rounds)
    rows = [row for (case, n), turns in results.items() for row in rows_of(case, n, turns)]
    print_table(
        ["case", "n", "against", "its us", "ours, us", "times as fast", "asked", ""], rows, right=True
    )
    met = "met" if first <= FIRST_CALL_AT_MOST else "not met"
    print(f"\nFirst call of thirty operations: {first:.1f} ms; at most {FIRST_CALL_AT_MOST:g} asked, {met}.")
    if arguments.json:
        times = {f"{case} {n}": turns.nanoseconds for (case, n), turns in results.items()}
        write_json(arguments.json, {"machine": machine_facts(), "ns": times, "first_call_ms": first})


def small_contestants() -> dict[str, Callable[[], object]]:
    """The oscillators' step by every way there is."""
    arrays = [np.random.default_rng(k).random(SMALL) for k in range(4)]
    ways = {PLAN: tensoriter.capture(oscillators), NUMPY: oscillators}
    if find_spec("numba"):
        ways[NUMBA] = import_module("numba").njit(oscillators)
    for way in ways.values():
        for found, expected in zip(way(*arrays), oscillators(*arrays), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    return {name: partial(way, *arrays) for name, way in ways.items()}


def large_contestants(n: int) -> dict[str, Callable[[], object]]:
    """The expression by every way there is, on one thread."""
    names = dict(zip("abcde", (np.random.default_rng(k).random(n) + 0.5 for k in range(5)), strict=True))
    ways = {PLAN: partial(tensoriter.capture(expression), *names.values()),
            NUMPY: partial(expression, *names.values())}  # fmt: skip
    if find_spec("numexpr"):
        numexpr = import_module("numexpr")
        numexpr.set_num_threads(1)
        ways[NUMEXPR] = partial(numexpr.evaluate, EXPRESSION, names)
    expected = expression(*names.values())
    assert (ways[PLAN]() == expected).all()
    return ways


def measure(ways: dict[str, Callable[[], object]], rounds: int) -> Turns:
    """The contestants take turns of about a millisecond, or of one call where that takes longer."""
    contestants = []
    for name, way in ways.items():
        way()
        steps = steps_lasting(1e-3, partial(repeat, way))
        contestants.append(Contestant(name, partial(repeat, way, steps), steps))
    return take_turns(contestants, rounds)


def repeat(way: Callable[[], object], steps: int) -> None:
    """Calls it that often."""
    for _ in range(steps):
        way()


def rows_of(case: str, n: int, turns: Turns) -> list[list[str]]:
    """A line for each contestant that a plan is compared with."""
    rows = []
    for name in turns.nanoseconds:
        if name == PLAN:
            continue
        speed, asked = turns.speed(PLAN, name), AT_LEAST[case, name]
        met = "met" if speed.median >= asked else "not met"
        theirs, ours = (f"{turns.median(one) / 1e3:,.2f}" for one in (name, PLAN))
        rows.append([case, f"{n:,}", name, theirs, ours,
                     str(speed), f"{asked:g}", met])  # fmt: skip
    return rows


def first_call(rounds: int) -> float:
    """The median time of a first call, in ms."""
    arrays = [np.random.default_rng(k).random(SMALL) for k in range(3)]
    times = []
    for _ in range(rounds + 1):
        step = tensoriter.capture(thirty)
        begin = process_time_ns()
        step(*arrays)
        times.append((process_time_ns() - begin) / 1e6)
    return median(times[1:])


if __name__ == "__main__":
    main()
