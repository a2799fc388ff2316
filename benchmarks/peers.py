"""Compare tensoriter.add with NumPy and other libraries in large and awkward calls.

    python -m benchmarks.peers [--cases TEXT] [--rounds 40] [--quick] [--threads 2]
                               [--json FILE] [--plot FILE.png]

np.add, tensoriter.add on one thread and on several, and torch, numexpr, numba, mkl_umath and jax
where they are installed and have such a call (each on one thread), take turns of about a
millisecond, or of one call where that takes longer. A peer that does not answer as np.add does is
left out. In the cases that move 16 MB and more, so does a STREAM-like add in C that moves as many
bytes: the machine's ceiling. It needs a C compiler.

A case is met if it is as many times as fast as np.add as asked, and not slower than the best peer
(jax apart) beyond noise: in three rounds of four. --quick is a look at fewer cases that proves
nothing. Several threads need as many cores; the float64 cases are measured with busy cores as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks import several_threads
from benchmarks.cases import Case, Loop, Operands
from benchmarks.ceiling import NoCeiling, StreamAdd, bytes_moved, ceiling_loop, compile_stream_add
from benchmarks.peer_cases import CEILING_AT_LEAST, Cell, all_cells, labels
from benchmarks.peer_libraries import PEERS, MakeLoop, installed_peers
from benchmarks.peer_plot import draw
from benchmarks.peer_results import CEILING, OURS, Asked, Result, with_threads
from benchmarks.peer_tables import Results, print_installed, print_targets, print_threads, print_times
from benchmarks.small import moved_outputs
from tensoriter.commands import UsageError, positive
from tensoriter.commands.display import progress_bar
from tensoriter.commands.machine import machine_facts
from tensoriter.commands.output_files import check_output_files, write_json
from tensoriter.timing import Contestant, Turns, moved_heap, steps_lasting, take_turns
from tensoriter.verify.compare import canonical

QUICK_ELEMENTS = 10**6  # at most, with --quick
QUICK_ROUNDS = 5
BUSY_ROUNDS = 15
LARGE = 16e6  # bytes moved: below that the caches have more of it than the memory
MAPPED = 1 << 20  # bytes: outputs above lie where they lie, 16 bytes past a page's start


class TakesNoPart(Exception):
    """A contestant cannot make a case's call, or answers otherwise than np.add; the text says how."""


def main(argv: Sequence[str] | None = None) -> None:
    """Measure every case, print the tables, write what was asked for."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    try:
        check_output_files(arguments.json, arguments.plot)
        cells = chosen_cells(arguments.cases, arguments.quick)
    except UsageError as error:
        parser.error(str(error))
    arguments.rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else 40)
    stream_add = ceiling_or_sentence()
    threads = several_threads.usable_threads(arguments.threads)
    results: Results = {}
    busy: dict[Cell, Turns] = {}
    with progress_bar("cases", len(cells)) as show:
        for cell in cells:
            results[cell] = measure(cell, arguments, threads, stream_add)
            show(len(results))
    for cell in several_threads.busy_cells(cells) if threads > 1 else ():
        busy[cell] = several_threads.measure_busy(cell, min(arguments.rounds, BUSY_ROUNDS), threads)
    print_installed(installed_peers())
    print_times(results, arguments.rounds)
    print_targets(results)
    print_threads(results, busy, arguments.threads, threads)
    if arguments.json:
        write_json(arguments.json, as_facts(results, busy, arguments, threads))
    if arguments.plot:
        draw({case.label(size): result for (case, size), result in results.items()}, arguments.plot)


def make_parser() -> argparse.ArgumentParser:
    """The options of this benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", default="", metavar="TEXT", help="only cases named so in part")
    parser.add_argument("--rounds", type=positive, help="turns of each (default 40)")
    parser.add_argument("--quick", action="store_true", help="smaller cases, five short rounds")
    parser.add_argument("--threads", type=positive, default=2, help="of tensoriter (default 2; 1: none)")
    parser.add_argument("--json", metavar="FILE", help="write machine, rounds and summary there")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the result (needs matplotlib)")
    return parser


def chosen_cells(text: str, quick: bool) -> list[Cell]:
    """The cells with `text` in their label; with `quick` only those that take little time."""
    cells = [cell for cell in all_cells() if not quick or cell[1] <= QUICK_ELEMENTS]
    chosen = [(case, size) for case, size in cells if text.lower() in case.label(size).lower()]
    if not chosen:
        raise UsageError(f"no case has {text!r} in its name; there are: {'; '.join(labels(cells))}")
    return chosen


def ceiling_or_sentence() -> StreamAdd | None:
    """The STREAM-like add; None, and why on stdout, where it cannot be compiled."""
    try:
        return compile_stream_add()
    except NoCeiling as reason:
        print(f"{reason}. The column is left out.\n")
        return None


def measure(cell: Cell, arguments: argparse.Namespace, threads: int, stream_add: StreamAdd | None) -> Result:
    """Let all who can make a cell's call take turns. Times are in ns per call."""
    case, size = cell
    operands = case.operands(size)
    answer = np.add(operands.x1, operands.x2)
    loops, absent = peer_loops(case, operands, answer)
    loops |= our_loops(case, operands, answer, threads)
    moved = bytes_moved(operands.x1, operands.x2, answer)
    if stream_add and moved >= LARGE:
        loops[CEILING] = ceiling_loop(stream_add, moved)
    seconds = 2e-4 if arguments.quick else 1e-3
    move = moved_outputs if answer.nbytes < MAPPED else moved_heap
    turns = take_turns(as_contestants(loops, seconds), arguments.rounds, before_turn=move(answer.nbytes))
    asked = Asked(case.at_least[size], CEILING_AT_LEAST.get(case.label(size)))
    return Result(asked, turns, moved, absent)


def peer_loops(
    case: Case, operands: Operands, expected: np.ndarray
) -> tuple[dict[str, Loop], dict[str, str]]:
    """The loops of the installed peers, and why the others among them take no part."""
    loops, absent = {}, {}
    for name in installed_peers():
        try:
            loops[name] = checked_loop(PEERS[name], case, operands, expected)
        except TakesNoPart as reason:
            absent[name] = str(reason)
    return loops, absent


def our_loops(case: Case, operands: Operands, expected: np.ndarray, threads: int) -> dict[str, Loop]:
    """The loops of tensoriter on one thread and on several. A wrong answer of ours ends the run."""
    loops = {}
    for count in sorted({1, threads}):
        name = OURS if count == 1 else with_threads(count)
        make = partial(several_threads.on_threads, count)
        try:
            loops[name] = checked_loop(make, case, operands, expected)
        except TakesNoPart as reason:
            raise AssertionError(f"{case.name}: {name} {reason}") from reason
    return loops


def checked_loop(make: MakeLoop, case: Case, operands: Operands, expected: np.ndarray) -> Loop:
    """A contestant's loop, which has given np.add's answer; `TakesNoPart` if it cannot."""
    if operands.out is not None:
        operands.out.fill(0)  # what the last contestant left there is nobody's answer
    try:
        loop = make(case, operands)
        answer = None if loop is None else np.asarray(loop(1))
    except Exception as error:  # each library has its own for what it does not know
        raise TakesNoPart(f"raises {type(error).__name__}") from error
    if loop is None or answer is None:
        raise TakesNoPart("has no such call")
    if answer.dtype != expected.dtype:
        raise TakesNoPart(f"answers {answer.dtype}")
    if answer.shape != expected.shape or canonical(answer) != canonical(expected):
        raise TakesNoPart("answers with other values")
    return loop


def as_contestants(loops: dict[str, Loop], turn_seconds: float) -> list[Contestant]:
    """Each loop with as many steps as fill a turn."""
    contestants = []
    for name, loop in loops.items():
        steps_lasting(turn_seconds, loop)  # torch's first calls would pass for its usual ones
        steps = steps_lasting(turn_seconds, loop)
        contestants.append(Contestant(name, partial(loop, steps), steps))
    return contestants


def as_facts(
    results: Results, busy: dict[Cell, Turns], arguments: argparse.Namespace, threads: int
) -> dict[str, Any]:
    """Everything about this run, for --json. Times are in ns per call.

    ``cases[label]`` is what `Result.facts` says, ``busy[label]`` the times of one thread and of
    several with every core busy.
    """
    return {
        "machine": machine_facts(),
        "peers": installed_peers(),
        "parameters": {"rounds": arguments.rounds, "quick": arguments.quick, "threads": threads},
        "cases": {case.label(size): result.facts() for (case, size), result in results.items()},
        "busy": {
            case.label(size): {"ns_per_call": turns.nanoseconds, "summary": turns.summary(OURS)}
            for (case, size), turns in busy.items()
        },
    }


if __name__ == "__main__":
    main()
