"""Time the loop ``output = output + x``, a multiplication done badly, by turns.

Written with np.add, with +, with tensoriter.add, with tensoriter.add forced on the strided path,
and with torch where torch is installed (on one thread). Each answer is checked against NumPy's bits
before anything is timed. The adds are made in rounds of small blocks, in an order that rotates, and
ratios are formed within a round, so that they survive a machine that changes its speed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

import tensoriter
from tensoriter.commands import natural, positive
from tensoriter.commands.display import print_table, progress_bar
from tensoriter.commands.machine import machine_facts
from tensoriter.commands.operands import numeric_dtype
from tensoriter.commands.output_files import (
    check_output_files,
    new_figure,
    save_figure,
    write_json,
)
from tensoriter.timing import Contestant, Turns, at_line_offset, own_code, steps_lasting, take_turns
from tensoriter.verify.compare import canonical

REFERENCE = "np.add"
EMPTY = "empty loop"
STRIDED = "tensoriter.add, strided"
MOST_ROUNDS = 100
FEWEST_STEPS = 100  # per turn, as long as k allows: about what a turn needs to outlast the clock

Loop = Callable[[int], Any]  # makes that many steps and returns the last output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `tensoriter bad-multiply`."""
    parser.add_argument("--n", type=natural, default=100, help="elements of x (default 100)")
    parser.add_argument(
        "--k", type=positive, default=300_000, help="adds of each implementation (default 300000)"
    )
    parser.add_argument("--dtype", default="float32", help="dtype of x (default float32)")
    parser.add_argument("--json", metavar="FILE", help="write machine, rounds and summary there")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the result (needs matplotlib)")


def run(arguments: argparse.Namespace) -> int:
    """Check, time, print, and write what was asked for."""
    check_output_files(arguments.json, arguments.plot)
    x = make_x(arguments.n, arguments.dtype)
    rounds, steps = split(arguments.k)
    loops = make_loops(x)
    wrong = differing(loops, steps)
    if wrong:
        print(f"Not timed: after {steps} adds {wrong} differs from {REFERENCE}.", file=sys.stderr)
        return 1
    contestants = make_contestants(loops, steps)
    print_heading(x, rounds, steps)
    with progress_bar("taking turns", rounds) as show:
        done = iter(range(1, rounds + 1))
        turns = take_turns(contestants, rounds, after_round=lambda: show(next(done)))
    print_result(turns, {contestant.name: contestant.steps for contestant in contestants})
    if arguments.json:
        write_json(arguments.json, as_facts(turns, x, contestants, rounds))
    if arguments.plot:
        draw(turns, x, arguments.plot)
    return 0


def make_x(n: int, dtype: str) -> np.ndarray:
    """The array that is added: n random values below 1 (below 100 where dtype is an integer)."""
    wanted = numeric_dtype(dtype)
    values = np.random.default_rng(0).random(n)
    return at_line_offset((values * 100 if wanted.kind in "iu" else values).astype(wanted))


def split(k: int) -> tuple[int, int]:
    """Rounds, and adds per round, that come to k adds (or just below, if k does not divide)."""
    rounds = max(1, min(MOST_ROUNDS, k // FEWEST_STEPS))
    return rounds, k // rounds


def repeat_add(add: Callable[..., Any], zeros: Any, x: Any, k: int) -> Any:
    """The loop of the post, as a user would write it."""
    output = zeros
    for _ in range(k):
        output = add(output, x)
    return output


def repeat_plus(zeros: Any, x: Any, k: int) -> Any:
    """The same, written with the operator."""
    output = zeros
    for _ in range(k):
        output = output + x
    return output


def repeat_nothing(k: int) -> None:
    """The loop alone: its time is part of every other one's."""
    for _ in range(k):
        pass


def make_loops(x: np.ndarray) -> dict[str, Loop]:
    """The implementations by name, NumPy's first; torch only where it can take part."""
    zeros = np.zeros_like(x)

    def adding(add: Callable[..., Any]) -> Loop:
        return partial(own_code(repeat_add), add, zeros, x)

    strided = adding(tensoriter.add)

    def on_strided_path(k: int) -> np.ndarray:
        with tensoriter.force_path("strided"):
            return strided(k)

    loops = {
        REFERENCE: adding(np.add),
        "+ on arrays": partial(own_code(repeat_plus), zeros, x),
        "tensoriter.add": adding(tensoriter.add),
        STRIDED: on_strided_path,
    }
    return loops | torch_loop(x)


def torch_loop(x: np.ndarray) -> dict[str, Loop]:
    """torch.add on one thread, if torch is installed and has x's dtype."""
    if not find_spec("torch"):
        return {}
    import torch

    torch.set_num_threads(1)
    try:
        tensor = torch.from_numpy(x.copy())
        loop = partial(own_code(repeat_add), torch.add, torch.zeros_like(tensor), tensor)
        loop(1)
    except (TypeError, RuntimeError) as error:
        print(f"torch is left out: {error}", file=sys.stderr)
        return {}
    return {"torch.add": loop}


def differing(loops: dict[str, Loop], steps: int) -> str:
    """The first implementation whose output after `steps` adds has not NumPy's bits, or ''."""
    with np.errstate(all="ignore"):
        expected = loops[REFERENCE](steps)
        for name, loop in loops.items():
            answer = np.asarray(loop(steps))
            if answer.dtype != expected.dtype or canonical(answer) != canonical(expected):
                return name
    return ""


def make_contestants(loops: dict[str, Loop], steps: int) -> list[Contestant]:
    """Each loop with the steps of its turn: torch's fewer, so that its turn lasts no longer."""
    contestants = [Contestant(EMPTY, partial(repeat_nothing, steps), steps)]
    for name, loop in loops.items():
        own_steps = steps
        if name == "torch.add":
            loops[REFERENCE](steps)
            seconds = take_turns([Contestant(name, partial(loops[REFERENCE], steps))], 5)
            own_steps = steps_lasting(seconds.median(name) / 1e9, loop, most=steps)
        contestants.append(Contestant(name, partial(loop, own_steps), own_steps))
    return contestants


def print_heading(x: np.ndarray, rounds: int, steps: int) -> None:
    """Say what is measured before it takes its time."""
    print(
        f"output = output + x, {rounds * steps:,} times with {x.size:,} {x.dtype} values:\n"
        f"{counted(rounds, 'round')} of {counted(steps, 'add')}, taking turns. "
        f"After {counted(steps, 'add')} all answers have the bits of {REFERENCE}.\n"
    )


def counted(number: int, noun: str) -> str:
    """`number` with its noun, in the plural where it needs one."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def print_result(turns: Turns, steps: dict[str, int]) -> None:
    """Print the table and, after it, the result in a sentence."""
    rounds = len(turns.nanoseconds[REFERENCE])
    rows = []
    for name in turns.nanoseconds:
        speed = "" if name == EMPTY else str(turns.speed(name, REFERENCE))
        times = [f"{turns.median(name):,.1f}", f"{turns.best(name):,.1f}"]
        rows.append([name, *times, speed, f"{rounds * steps[name]:,}"])
    columns = ["", "ns per add", "best round", f"speed, {REFERENCE} = 1 (quartiles)", "adds"]
    print_table(columns, rows, right=True)
    print("\nThe empty loop's time is part of every other line's. Speeds above 1 are faster.")
    print(sentence(turns))


def sentence(turns: Turns) -> str:
    """What was found, in one sentence."""
    ours, theirs = turns.median("tensoriter.add"), turns.median(REFERENCE)
    ratio = turns.speed("tensoriter.add", REFERENCE)
    return (
        f"An add takes {ours:,.0f} ns with tensoriter.add and {theirs:,.0f} ns with {REFERENCE}: "
        f"tensoriter.add is {ratio.median:.2f} times as fast."
    )


def as_facts(
    turns: Turns, x: np.ndarray, contestants: list[Contestant], rounds: int
) -> dict[str, Any]:
    """Everything about this run, for --json. Times are in ns per add."""
    steps = {contestant.name: contestant.steps for contestant in contestants}
    return {
        "machine": machine_facts(),
        "parameters": {
            "n": x.size,
            "k": rounds * steps[REFERENCE],
            "dtype": str(x.dtype),
            "rounds": rounds,
            "adds_per_round": steps,
        },
        "ns_per_add": turns.nanoseconds,
        "summary": turns.summary(REFERENCE),
    }


def draw(turns: Turns, x: np.ndarray, path: str) -> None:
    """A bar for each implementation's median, with the rounds' quartiles as a whisker."""
    names = [name for name in turns.nanoseconds if name != EMPTY]
    medians = [turns.median(name) for name in names]
    quartiles = np.array([np.percentile(turns.nanoseconds[name], [25, 75]) for name in names]).T
    figure = new_figure(8, 1.3 + 0.55 * len(names))
    axes = figure.add_subplot()
    colours = ["tab:orange" if "tensoriter" in name else "lightsteelblue" for name in names]
    axes.barh(names, medians, xerr=np.abs(quartiles - medians), color=colours, ecolor="dimgrey")
    for row, (name, upper) in enumerate(zip(names, quartiles[1], strict=True)):
        ratio = turns.speed(name, REFERENCE).median
        text = f"{medians[row]:,.0f} ns" + ("" if name == REFERENCE else f", {ratio:.2f}x")
        axes.annotate(text, (upper, row), (6, 0), textcoords="offset points", va="center")
    axes.axvline(turns.median(EMPTY), color="dimgrey", linestyle=":", label="the empty loop")
    axes.set_xlim(0, max(quartiles[1]) * 1.25)
    axes.invert_yaxis()
    axes.set_xlabel(f"ns per add (2x: twice as fast as {REFERENCE})")
    axes.set_title(f"output = output + x with {x.size:,} {x.dtype} values")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower right", frameon=False)
    save_figure(figure, path)
