"""The tables that ``python -m benchmarks.peers`` prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks import several_threads
from benchmarks.peer_cases import NOT_SLOWER, Cell
from benchmarks.peer_libraries import PEERS
from benchmarks.peer_results import (
    CEILING,
    OURS,
    THEIRS,
    UNSTEADY,
    Result,
    contestants_in,
    verdict,
    with_threads,
)
from tensoriter.commands.display import print_table
from tensoriter.timing import Turns

Results = dict[Cell, Result]


def print_installed(versions: Mapping[str, str]) -> None:
    """Which peers are here in which version, and which are not."""
    print("Peers: " + ", ".join(f"{name} {number}" for name, number in versions.items()) + ".")
    if missing := [name for name in PEERS if name not in versions]:
        print(f"Not installed: {', '.join(missing)} (pip install '.[peers]').")


def print_times(results: Results, rounds: int) -> None:
    """Cases by contestants: medians, then how many times as fast as np.add, with quartiles."""
    names = contestants_in(results.values())
    print(f"\nMedians of {rounds} turns of each, µs per call:\n")
    print_by_contestant(results, names, lambda turns, name: f"{turns.median(name) / 1e3:,.1f}")
    print("\nTimes as fast as np.add (quartiles), formed within a round:\n")
    others = [name for name in names if name not in (THEIRS, CEILING)]
    print_by_contestant(results, others, lambda turns, name: str(turns.speed(name, THEIRS)))


def print_by_contestant(results: Results, names: list[str], text: Callable[[Turns, str], str]) -> None:
    """A line per case, a column per contestant."""
    rows = [
        [case.label(size), *(text(result.turns, name) if result.has(name) else "" for name in names)]
        for (case, size), result in results.items()
    ]
    print_table(["case", *names], rows, right=True)


def print_targets(results: Results) -> None:
    """A line per case: the ratios that are asked for, and whether they are reached."""
    print("\nTargets on one thread; the ratios with their quartiles:\n")
    columns = ["case", "/ np.add", "asked", "best peer", "/ best peer", "of the ceiling", "verdict"]
    rows = [target_row(case.label(size), result) for (case, size), result in results.items()]
    print_table(columns, rows, right=True)
    met = sum(not result.unmet() for result in results.values())
    print(f"\n{met} of {len(results)} cases are met. / is: times as fast as.")
    if unsteady := sum(result.unsteady for result in results.values()):
        print(f"Unsteady: {unsteady}, with quartiles {UNSTEADY} times apart: measure on a machine at rest.")
    if rates := [result.ceiling_rate for result in results.values() if result.has(CEILING)]:
        print(f"The ceiling: {min(rates):.1f} to {max(rates):.1f} GB/s by case; caches can help past it.")


def target_row(label: str, result: Result) -> list[str]:
    """A case's line in the table of targets."""
    asked, rival = result.asked.times_numpy, result.best_rival
    return [
        label,
        str(result.turns.speed(OURS, THEIRS)),
        f"{asked:g}" if asked != NOT_SLOWER else "",
        rival,
        str(result.turns.speed(OURS, rival)),
        str(result.of_ceiling or ""),
        verdict(result.unmet()) + (" (unsteady)" if result.unsteady else ""),
    ]


def print_threads(results: Results, busy: Mapping[Cell, Turns], asked: int, threads: int) -> None:
    """Several threads against one, on free cores and on busy ones."""
    if threads < asked:
        cores = several_threads.available_cores()
        print(f"\n{asked} threads are not measured: they need as many cores ({cores} here) and OpenMP.")
    compared = {cell: result.turns for cell, result in results.items() if several_threads.asked_of(cell)}
    if threads == 1 or not compared:
        return
    many = with_threads(threads)
    print(f"\n{threads} threads against one:\n")
    print_table(
        ["case", "times as fast", "asked", "verdict"],
        [several_threads.gain_row(cell, turns.speed(many, OURS)) for cell, turns in compared.items()],
        right=True,
    )
    if not busy:
        return
    print("\nThe same while as many other processes as there are cores do nothing but spin:\n")
    print_table(
        ["case", "times the time", "at most", "verdict"],
        [several_threads.busy_row(cell, turns.speed(OURS, many)) for cell, turns in busy.items()],
        right=True,
    )
