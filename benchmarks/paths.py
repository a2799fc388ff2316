"""Compare tensoriter.add's contiguous path with its strided path and np.add, size by size.

    python -m benchmarks.paths [--sizes 1,100,10000] [--dtype float32] [--rounds 40]
                               [--json FILE] [--plot FILE.png]

Adds two arrays into a fresh one. The three take turns of about a millisecond, or of one add where
that takes longer. Inputs start 16 bytes past a 64-byte line, where malloc puts large arrays; fresh
outputs move about the heap from turn to turn. Cells in which tensoriter loses are printed as they
are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import tensoriter
from tensoriter.commands import UsageError, positive
from tensoriter.commands.display import print_table, progress_bar
from tensoriter.commands.machine import machine_facts
from tensoriter.commands.output_files import (
    check_output_files,
    new_figure,
    save_figure,
    write_json,
)
from tensoriter.timing import (
    Contestant,
    Turns,
    at_line_offset,
    moved_heap,
    own_code,
    steps_lasting,
    take_turns,
)

SIZES = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000, 10_000_000)
REFERENCE = "np.add"
CONTIGUOUS = "contiguous path"
STRIDED = "strided path"
TURN_SECONDS = 1e-3

Loop = Callable[[int], None]  # makes that many adds


def main(argv: Sequence[str] | None = None) -> None:
    """Measure every size, print the table, write what was asked for."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    try:
        check_output_files(arguments.json, arguments.plot)
    except UsageError as error:
        parser.error(str(error))
    results = {}
    with progress_bar("sizes", len(arguments.sizes)) as show:
        for done, size in enumerate(arguments.sizes, 1):
            results[size] = measure(size, arguments.dtype, arguments.rounds)
            show(done)
    print_results(results, arguments.dtype, arguments.rounds)
    if arguments.json:
        write_json(arguments.json, as_facts(results, arguments.dtype, arguments.rounds))
    if arguments.plot:
        draw(results, arguments.dtype, arguments.plot)


def make_parser() -> argparse.ArgumentParser:
    """The options of this benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paths",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=sizes, default=SIZES, help="elements, as 1,100,10000")
    parser.add_argument("--dtype", type=np.dtype, default=np.dtype("float32"), help="(float32)")
    parser.add_argument("--rounds", type=positive, default=40, help="turns of each (default 40)")
    parser.add_argument("--json", metavar="FILE", help="write machine, rounds and summary there")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the result (needs matplotlib)")
    return parser


def sizes(text: str) -> tuple[int, ...]:
    """The value of --sizes."""
    return tuple(positive(size) for size in text.split(","))


def repeat_fresh(add: Callable[..., Any], x1: Any, x2: Any, steps: int) -> None:
    """Adds into a fresh array, `steps` times; the last result dies when the next is there."""
    for _ in range(steps):
        output = add(x1, x2)  # noqa: F841 - a user keeps the result


def make_operands(size: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of `size` values below 1, or below 100 where the dtype is an integer."""
    values = np.random.default_rng(0).random((2, size)) * (100 if dtype.kind in "iu" else 1)
    return at_line_offset(values[0].astype(dtype)), at_line_offset(values[1].astype(dtype))


def make_loops(size: int, dtype: np.dtype) -> dict[str, Loop]:
    """The three contestants' loops over the same operands."""
    x1, x2 = make_operands(size, dtype)

    def adding(add: Callable[..., Any]) -> Loop:
        return partial(own_code(repeat_fresh), add, x1, x2)

    strided = adding(tensoriter.add)

    def on_strided_path(steps: int) -> None:
        with tensoriter.force_path("strided"):
            strided(steps)

    contiguous = adding(tensoriter.add)
    return {REFERENCE: adding(np.add), CONTIGUOUS: contiguous, STRIDED: on_strided_path}


def measure(size: int, dtype: np.dtype, rounds: int) -> Turns:
    """Let the three take turns at one size. Times are in ns per add."""
    loops = make_loops(size, dtype)
    steps = steps_lasting(TURN_SECONDS, loops[REFERENCE])
    contestants = [Contestant(name, partial(loop, steps), steps) for name, loop in loops.items()]
    return take_turns(contestants, rounds, before_turn=moved_heap(size * dtype.itemsize))


def print_results(results: dict[int, Turns], dtype: np.dtype, rounds: int) -> None:
    """A line per size: the medians, and how many times as fast as np.add each path is."""
    print(f"tensoriter.add of two contiguous {dtype} arrays, {rounds} turns of each by size.")
    print(f"ns per add (median), and how many times as fast as {REFERENCE} (quartiles):\n")
    rows = []
    for size, turns in results.items():
        times = [f"{turns.median(name):,.0f}" for name in (REFERENCE, CONTIGUOUS, STRIDED)]
        ratios = [str(turns.speed(name, REFERENCE)) for name in (CONTIGUOUS, STRIDED)]
        rows.append([f"{size:,}", *times, *ratios])
    columns = ["n", REFERENCE, CONTIGUOUS, STRIDED, "contiguous / np.add", "strided / np.add"]
    print_table(columns, rows, right=True)


def as_facts(results: dict[int, Turns], dtype: np.dtype, rounds: int) -> dict[str, Any]:
    """Everything about this run, for --json. Times are in ns per add."""
    return {
        "machine": machine_facts(),
        "parameters": {"dtype": str(dtype), "rounds": rounds, "sizes": list(results)},
        "sizes": {
            str(size): {"ns_per_add": turns.nanoseconds, "summary": turns.summary(REFERENCE)}
            for size, turns in results.items()
        },
    }


def draw(results: dict[int, Turns], dtype: np.dtype, path: str) -> None:
    """Times by size, log-log, above how many times as fast as np.add the two paths are."""
    figure = new_figure(8, 7)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    styles = {
        REFERENCE: ("dimgrey", "o"),
        STRIDED: ("tab:blue", "s"),
        CONTIGUOUS: ("tab:orange", "o"),
    }
    for name, (colour, marker) in styles.items():
        medians = [turns.median(name) for turns in results.values()]
        label = name if name == REFERENCE else f"tensoriter.add, {name}"
        above.loglog(list(results), medians, color=colour, marker=marker, label=label)
        if name == REFERENCE:
            continue
        ratios = [turns.speed(name, REFERENCE) for turns in results.values()]
        below.semilogx(list(results), [r.median for r in ratios], color=colour, marker=marker)
        low, high = [r.low for r in ratios], [r.high for r in ratios]
        below.fill_between(list(results), low, high, color=colour, alpha=0.2, linewidth=0)
    above.set_ylabel("ns per add (median)")
    above.set_title(f"out = x1 + x2, contiguous {dtype} arrays, fresh output")
    above.legend(frameon=False)
    below.axhline(1, color="dimgrey")
    below.set_ylim(bottom=0)
    below.set_ylabel(f"times as fast as {REFERENCE}\n(band: quartiles)")
    below.set_xlabel("elements")
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


if __name__ == "__main__":
    main()
