"""Compare tensoriter.add with np.add in every case of small calls, size by size.

    python -m benchmarks.small [--rounds 40] [--quick] [--json FILE] [--plot FILE.png]

For each case and size np.add, tensoriter.add and a no-op call (and torch's + on one thread, where
torch is installed and the case has a target) take turns of about a millisecond. Their answers are
compared before. Inputs and given outputs start 16 bytes past a 64-byte line, where malloc puts large
arrays; fresh outputs move about the heap from turn to turn. Times include the loop, about 15 ns.

Printed are the cases with a target and, for the README, how many times as fast as np.add each case
is at each size. Cells in which tensoriter loses are printed as they are, with a mark. --quick is a
look at the sizes 1, 100 and 10,000 that takes seconds and proves nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import tensoriter
from benchmarks.cases import (
    CASES,
    FRESH_NO_OP_AT_MOST,
    FRESH_TORCH_AT_LEAST,
    NO_OP,
    SIZES,
    Case,
    available_cases,
    no_op_loop,
    numpy_loop,
    tensoriter_loop,
    torch_loop,
)
from tensoriter.commands import UsageError, positive
from tensoriter.commands.display import print_table, progress_bar
from tensoriter.commands.machine import machine_facts
from tensoriter.commands.output_files import (
    check_output_files,
    new_figure,
    save_figure,
    write_json,
)
from tensoriter.timing import Contestant, Ratio, Turns, moved_heap, steps_lasting, take_turns
from tensoriter.verify.compare import canonical

THEIRS, OURS, NO_OP_NAME, TORCH = "np.add", "tensoriter.add", "no-op call", "torch +"
OWN_SHAPE = "as named"  # the column of the cases whose shape is in their name
QUICK_SIZES = (1, 100, 10_000)
QUICK_ROUNDS = 7
WARM_UP = 20  # calls
LOSES, LOSES_CLEARLY = "!", "!!"

Cell = tuple[Case, int]  # a case at one size
Results = dict[Cell, Turns]


def main(argv: Sequence[str] | None = None) -> None:
    """Compare the answers, measure every cell, print the tables, write what was asked for."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    try:
        check_output_files(arguments.json, arguments.plot)
    except UsageError as error:
        parser.error(str(error))
    rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else 40)
    turn_seconds = 2e-4 if arguments.quick else 1e-3
    cells = make_cells(QUICK_SIZES if arguments.quick else SIZES)
    results: Results = {}
    with progress_bar("cells", len(cells)) as show:
        for cell in cells:
            check_answer(*cell)
            results[cell] = measure(*cell, rounds, turn_seconds)
            show(len(results))
    print_targets(results, rounds)
    print_sizes(results)
    if arguments.json:
        write_json(arguments.json, as_facts(results, rounds, turn_seconds))
    if arguments.plot:
        draw(results, arguments.plot)


def make_parser() -> argparse.ArgumentParser:
    """The options of this benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.small",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=positive, help="turns of each (default 40)")
    parser.add_argument("--quick", action="store_true", help="three sizes, seven short rounds")
    parser.add_argument("--json", metavar="FILE", help="write machine, rounds and summary there")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the result (needs matplotlib)")
    return parser


def make_cells(sizes: Sequence[int]) -> list[Cell]:
    """Every case at each of these sizes; one whose shape is in its name once.

    A case's sizes with a target are always among them.
    """
    return [
        (case, size)
        for case in available_cases()
        for size in case.sizes
        if size in sizes or size in case.at_least
    ]


def check_answer(case: Case, size: int) -> None:
    """Refuse to time a wrong answer: three calls must leave np.add's bits."""
    expected = numpy_loop(case, case.operands(size))(3)
    answer = tensoriter_loop(case, case.operands(size))(3)
    if answer.dtype != expected.dtype or canonical(answer) != canonical(expected):
        raise AssertionError(f"{case.label(size)}: tensoriter.add differs from np.add")


def measure(case: Case, size: int, rounds: int, turn_seconds: float) -> Turns:
    """Let the contestants take turns in one cell. Times are in ns per call."""
    operands = case.operands(size)
    loops = {
        THEIRS: numpy_loop(case, operands),
        OURS: tensoriter_loop(case, operands),
        NO_OP_NAME: no_op_loop(case, operands),
    }
    torch = torch_loop(case, operands) if size in case.at_least else None
    if torch:
        loops[TORCH] = torch
    contestants = []
    for name, loop in loops.items():
        loop(WARM_UP)  # torch's first calls take milliseconds, and would pass for its usual ones
        steps = steps_lasting(turn_seconds, loop)
        contestants.append(Contestant(name, partial(loop, steps), steps))
    nbytes = size * np.dtype(case.dtype).itemsize
    return take_turns(contestants, rounds, before_turn=moved_outputs(nbytes))


def moved_outputs(nbytes: int) -> Callable[[], object]:
    """A `before_turn` after which fresh outputs land elsewhere, those from the free list too."""
    move = moved_heap(nbytes)
    free_list = getattr(tensoriter, "free_list", None)

    def before_turn() -> object:
        if free_list:
            free_list.clear()  # costs each turn a miss or two
        return move()

    return before_turn


def print_targets(results: Results, rounds: int) -> None:
    """A line for each case with a target: the times, the ratios, and whether it is met."""
    rows = [target_row(case, size, results[case, size]) for case, size in with_target(results)]
    print(f"Medians of {rounds} turns each, ns per call; ratios are formed within a round.\n")
    columns = ["case", THEIRS, OURS, "times as fast (quartiles)", "asked", "", "/ no-op", "torch /"]
    print_table(columns, rows, right=True)
    print(f"\n/ no-op: tensoriter's time over that of {NO_OP.__name__}(x1, x2), loops included.")
    print("torch /: torch's time over tensoriter's.")
    print_fresh_targets(results[CASES[0], 100])


def print_fresh_targets(turns: Turns) -> None:
    """What is asked of the first case besides a factor over np.add."""
    no_op = turns.speed(NO_OP_NAME, OURS).median
    met = verdict(no_op <= FRESH_NO_OP_AT_MOST)
    print(f"First case: {no_op:.2f} no-op calls; at most {FRESH_NO_OP_AT_MOST} asked, {met}.")
    if TORCH not in turns.nanoseconds:
        print(f"First case: {FRESH_TORCH_AT_LEAST:g} x torch asked, but torch is not installed.")
        return
    torch = turns.speed(OURS, TORCH).median
    met = verdict(torch >= FRESH_TORCH_AT_LEAST)
    print(f"First case: {torch:.1f} x torch; at least {FRESH_TORCH_AT_LEAST:g} asked, {met}.")


def with_target(results: Results) -> list[Cell]:
    """The cells for which something is asked."""
    return [(case, size) for case, size in results if size in case.at_least]


def target_row(case: Case, size: int, turns: Turns) -> list[str]:
    """A cell's line in the table of targets."""
    speed, asked = turns.speed(OURS, THEIRS), case.at_least[size]
    torch = f"{turns.speed(OURS, TORCH).median:.1f}" if TORCH in turns.nanoseconds else ""
    return [
        case.label(size),
        f"{turns.median(THEIRS):,.0f}",
        f"{turns.median(OURS):,.0f}",
        str(speed),
        f"{asked:g}",
        verdict(speed.median >= asked),
        f"{turns.speed(NO_OP_NAME, OURS).median:.2f}",
        torch,
    ]


def verdict(met: bool) -> str:
    """The word for a target."""
    return "met" if met else "not met"


def print_sizes(results: Results) -> None:
    """The README's table, and a sentence about the cells that lose."""
    columns = size_columns(results)
    rows = [
        [case.name, *(mark(by_column[c]) if c in by_column else "" for c in columns)]
        for case, by_column in by_case(results).items()
    ]
    print(f"\nTimes as fast as {THEIRS}, by number of elements:\n")
    print_table(["case", *columns], rows, right=True)
    marks = [mark(turns.speed(OURS, THEIRS)) for turns in results.values()]
    clearly = sum(text.endswith(LOSES_CLEARLY) for text in marks)
    losing = sum(text.endswith(LOSES) for text in marks)
    print(
        f"\n{losing} of {len(marks)} cells are slower than {THEIRS} ({LOSES}), {clearly} of them "
        f"beyond noise: in three rounds of four ({LOSES_CLEARLY})."
    )


def size_columns(results: Results) -> list[str]:
    """The sizes as headings, and one heading for the cases with a shape of their own."""
    sizes = sorted({size for case, size in results if len(case.sizes) > 1})
    return [*(f"{size:,}" for size in sizes), OWN_SHAPE]


def by_case(results: Results) -> dict[Case, dict[str, Ratio]]:
    """The ratios over np.add, by case and then by heading."""
    found: dict[Case, dict[str, Ratio]] = {}
    for (case, size), turns in results.items():
        column = f"{size:,}" if len(case.sizes) > 1 else OWN_SHAPE
        found.setdefault(case, {})[column] = turns.speed(OURS, THEIRS)
    return found


def mark(speed: Ratio) -> str:
    """The ratio as text, marked where tensoriter loses."""
    text = f"{speed.median:.2f}"
    if speed.median >= 1:
        return text
    return text + (LOSES_CLEARLY if speed.high < 1 else LOSES)


def as_facts(results: Results, rounds: int, turn_seconds: float) -> dict[str, Any]:
    """Everything about this run, for --json. Times are in ns per call.

    ``cases[name][size]`` has "asked" (the factor over np.add, or null), "ns_per_call" (contestant
    -> a number per round) and "summary" (contestant -> median_ns, best_ns, speed over np.add).
    """
    cases: dict[str, dict[str, Any]] = {}
    for (case, size), turns in results.items():
        cases.setdefault(case.name, {})[str(size) if len(case.sizes) > 1 else OWN_SHAPE] = {
            "asked": case.at_least.get(size),
            "ns_per_call": turns.nanoseconds,
            "summary": turns.summary(THEIRS),
        }
    parameters = {"rounds": rounds, "turn_seconds": turn_seconds}
    return {"machine": machine_facts(), "parameters": parameters, "cases": cases}


def draw(results: Results, path: str) -> None:
    """A heat map of cases by sizes: orange where tensoriter is faster, blue where it loses."""
    columns, rows = size_columns(results), by_case(results)
    grid = np.full((len(rows), len(columns)), np.nan)
    for row, by_column in enumerate(rows.values()):
        for column, speed in by_column.items():
            grid[row, columns.index(column)] = speed.median
    figure = new_figure(1.5 + 1.0 * len(columns) + 2.5, 1.5 + 0.34 * len(rows))
    axes = figure.add_subplot()
    image = axes.imshow(np.log2(grid), cmap="PuOr_r", vmin=-4, vmax=4, aspect="auto")
    for (row, column), speed in np.ndenumerate(grid):
        if not np.isnan(speed):
            weight = "bold" if speed < 1 else "normal"
            colour = "white" if abs(np.log2(speed)) > 2.8 else "black"
            axes.text(
                column, row, f"{speed:.2f}", ha="center", va="center", color=colour, weight=weight
            )
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), [case.name for case in rows])
    axes.set_xlabel("elements")
    axes.set_title(f"{OURS}: times as fast as {THEIRS} (bold: slower)")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    bar = figure.colorbar(image, ticks=range(-4, 5), shrink=0.6)
    bar.ax.set_yticklabels([f"{2.0**power:g}x" for power in range(-4, 5)])
    save_figure(figure, path)


if __name__ == "__main__":
    main()
