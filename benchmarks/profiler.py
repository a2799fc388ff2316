"""What the profiler costs a call: off, and on with what it may record besides.

    python -m benchmarks.profiler [--n 100] [--rounds 41] [--json FILE]

The contestants take turns of 5,000 calls of tensoriter.add on n float32 (see tensoriter.timing), so that
emptying the full ring of records is among what is timed. "off" calls while the profiler is stopped, which
is what a program pays that never starts it: not one instruction differs (python -m benchmarks.instructions).
"clock" is one look at the clock; a recorded call needs two.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import repeat
from time import perf_counter_ns

import numpy as np

from tensoriter import add, profiler
from tensoriter.commands import positive
from tensoriter.commands.display import print_table
from tensoriter.commands.machine import machine_facts
from tensoriter.commands.output_files import check_output_files, write_json
from tensoriter.profiler import recording
from tensoriter.timing import Contestant, Turns, take_turns

CALLS = 5000  # in one turn
AT_MOST = 150  # ns that recording may add to a call
CONFIGURATIONS = {
    "operators": {"profile_api": False, "profile_memory": False},
    "operators, api, memory": {},
    "with shapes": {"shapes": True},
    "without statistics": {"aggregate_stats": False},
}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, write what was asked for."""
    arguments = parse_arguments(argv)
    check_output_files(arguments.json, None)
    turns = measure(arguments.n, arguments.rounds)
    rows = [[name, f"{turns.median(name):.0f}", f"{added(turns, name):+.0f}"] for name in turns.nanoseconds]
    print(f"ns a call of add on {arguments.n} float32, medians of {arguments.rounds} turns each.\n")
    print_table(["profiler", "ns a call", "added"], rows, right=True)
    most = max(added(turns, name) for name in CONFIGURATIONS)
    print(f"\nAt most {AT_MOST} ns asked: {'met' if most <= AT_MOST else 'not met'}, {most:.0f} at most.")
    print(f"The table's footer says {recording.overhead():.0f} ns.")
    if arguments.json:
        write_json(arguments.json, {"machine": machine_facts(), "ns_per_call": turns.nanoseconds})


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.profiler", description=__doc__, formatter_class=raw
    )
    parser.add_argument("--n", type=positive, default=100, help="elements of the arrays")
    parser.add_argument("--rounds", type=positive, default=41)
    parser.add_argument("--json", metavar="FILE", help="write the numbers there, too")
    return parser.parse_args(argv)


def measure(n: int, rounds: int) -> Turns:
    """Let the configurations take turns; the trace is emptied between them."""
    x = np.ones(n, np.float32)
    contestants = [Contestant("off", lambda: call(x), CALLS), Contestant("clock", look_at_clock, CALLS)]
    contestants += [Contestant(name, recorded(x, **given), CALLS) for name, given in CONFIGURATIONS.items()]
    return take_turns(contestants, rounds, before_turn=recording.forget_trace)


def call(x: np.ndarray) -> None:
    for _ in repeat(None, CALLS):
        add(x, x)


def look_at_clock() -> None:
    for _ in repeat(None, CALLS):
        perf_counter_ns()


def recorded(x: np.ndarray, **given: bool) -> Callable[[], None]:
    """The calls in a block that is profiled so; starting and stopping is 1 % of it."""

    def run() -> None:
        with profiler.profile(**given):
            call(x)

    return run


def added(turns: Turns, name: str) -> float:
    """The median over the rounds of what this takes more than "off", in ns a call."""
    differences = np.subtract(turns.nanoseconds[name], turns.nanoseconds["off"])
    return float(np.median(differences))


if __name__ == "__main__":
    main()
