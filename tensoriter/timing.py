"""Time several ways of doing one thing by turns, so that their ratios survive a noisy machine.

A machine can change its speed by a factor of 1.7 between one second and the next. Contestants that
run one after the other for a second each would be told apart by that. Here each runs for about a
millisecond, then the next, round after round, and ratios are formed within a round.

>>> from tensoriter.timing import Contestant, take_turns
>>> turns = take_turns([Contestant("sum", lambda: sum(range(100))), Contestant("pass", lambda: 0)],
...                    rounds=10)
>>> turns.median("sum") > turns.median("pass")
True
"""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns

import numpy as np

CACHE_LINE = 64  # bytes
MALLOC_OFFSET = 16  # bytes past a line at which glibc's malloc places large arrays


@dataclass(frozen=True)
class Contestant:
    """Something to time: calling ``run()`` does ``steps`` steps of the work."""

    name: str
    run: Callable[[], object]
    steps: int = 1


@dataclass(frozen=True)
class Ratio:
    """The median of the per-round ratios, and the quartiles between which half of them lie."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Turns:
    """What `take_turns` measured: for each contestant the ns per step of every round, in order."""

    nanoseconds: dict[str, list[float]]

    def median(self, name: str) -> float:
        """The median over the rounds, in ns per step."""
        return float(np.median(self.nanoseconds[name]))

    def best(self, name: str) -> float:
        """The fastest round, in ns per step: what the work costs when nothing disturbs it."""
        return min(self.nanoseconds[name])

    def speed(self, name: str, reference: str) -> Ratio:
        """How many times as fast as `reference`: above 1 is faster."""
        ratios = np.divide(self.nanoseconds[reference], self.nanoseconds[name])
        low, median, high = np.percentile(ratios, [25, 50, 75])
        return Ratio(float(median), float(low), float(high))

    def summary(self, reference: str) -> dict[str, dict[str, object]]:
        """For each contestant its median, best and speed against `reference`, ready for JSON."""
        return {
            name: {
                "median_ns": self.median(name),
                "best_ns": self.best(name),
                "speed": vars(self.speed(name, reference)),
            }
            for name in self.nanoseconds
        }


def take_turns(
    contestants: Sequence[Contestant],
    rounds: int,
    *,
    before_turn: Callable[[], object] = lambda: None,
    after_round: Callable[[], object] = lambda: None,
) -> Turns:
    """Let each contestant run once per round, after one round that does not count.

    What `before_turn` returns is kept alive during the turn (see `moved_heap`). Neither hook is
    timed. The garbage collector is off meanwhile, as in `timeit`.
    """
    nanoseconds: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    if len(nanoseconds) < len(contestants):
        raise ValueError("contestants need names of their own")
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for contestant in contestants:
            contestant.run()
        for number in range(rounds):
            for index in turn_order(len(contestants), number):
                contestant = contestants[index]
                held = before_turn()
                elapsed = _elapsed(contestant.run)
                del held
                nanoseconds[contestant.name].append(elapsed / contestant.steps)
            after_round()
    finally:
        if collecting:
            gc.enable()
    return Turns(nanoseconds)


def turn_order(count: int, number: int) -> list[int]:
    """The order of round `number`: rotated by one each round, backwards in every second lap.

    So each contestant is first, second, ... equally often, and does not always follow the same
    neighbour, whose leavings in the caches it would inherit.
    """
    order = [(number + place) % count for place in range(count)]
    return order[::-1] if (number // count) % 2 else order


def steps_lasting(seconds: float, run: Callable[[int], object], most: int = 1 << 40) -> int:
    """How many steps `run(steps)` should be given so that it lasts about `seconds`."""
    steps = 1
    while True:
        elapsed = _elapsed(partial(run, steps)) / 1e9
        if elapsed >= seconds / 2 or steps >= most:
            return max(1, min(most, round(steps * seconds / max(elapsed, 1e-9))))
        steps = min(most, steps * 2)


def own_code(function: types.FunctionType) -> types.FunctionType:
    """The same function with a code object of its own.

    CPython adapts a code object's instructions to what it has seen them called with. A loop shared
    by several contestants would be adapted to one and slow for the others.
    """
    code = function.__code__.replace()
    return types.FunctionType(code, function.__globals__, function.__name__)


def at_line_offset(values: np.ndarray, offset: int = MALLOC_OFFSET) -> np.ndarray:
    """A C-contiguous copy that starts `offset` bytes past a 64-byte cache line.

    From 4,000 elements on, where an array starts within its line changes an add's time by up to
    2 times. Fixing it for the inputs keeps that out of a comparison.
    """
    room = np.empty(values.nbytes + 2 * CACHE_LINE, np.uint8)
    start = (offset - room.__array_interface__["data"][0]) % CACHE_LINE
    placed = np.ndarray(values.shape, values.dtype, buffer=room, offset=start)
    placed[...] = values
    return placed


def moved_heap(nbytes: int, seed: int = 0) -> Callable[[], object]:
    """A `before_turn` that takes a little memory, so that fresh outputs land elsewhere each turn.

    Otherwise a contestant may get one lucky or unlucky address for its outputs and keep it.
    """
    random = np.random.default_rng(seed)
    return lambda: np.empty(nbytes + 16 * int(random.integers(1, 64)), np.uint8)


def _elapsed(run: Callable[[], object]) -> int:
    start = perf_counter_ns()
    run()
    return perf_counter_ns() - start
