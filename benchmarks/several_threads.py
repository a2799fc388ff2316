"""tensoriter on several threads against one: for ``python -m benchmarks.peers``.

Once on cores that are free, once with every core kept busy by another process: there a barrier that
spins waits for a thread that does not run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import tensoriter
from benchmarks.cases import Case, Loop, Operands, tensoriter_loop
from benchmarks.peer_cases import NOT_SLOWER, Cell
from benchmarks.peer_results import OURS, slower, verdict, with_threads
from tensoriter.timing import Contestant, Ratio, Turns, steps_lasting, take_turns

NAME = "float64, out="
# Times as fast as one thread, by elements; 32,768 is the grain, below which a call stays on one thread.
AT_LEAST = {4_000: NOT_SLOWER, 10_000: NOT_SLOWER, 100_000: 2.5, 10**6: 1.7, 10**7: 1.7}
BUSY_SIZES = (100_000, 10**6, 10**7)
BUSY_AT_MOST = 1.5  # times the time of one thread
BUSY_TURN_SECONDS = 0.05  # the scheduler's slices are a few ms: a turn has to span several
SPIN = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(10_000))"


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_threads(asked: int) -> int:
    """`asked`, or 1 where there are fewer cores or no OpenMP.

    It loads OpenMP, which has to happen before a peer loads it: how long a waiting thread spins is
    settled by then.
    """
    if asked > available_cores():
        return 1
    with tensoriter.threads(asked):
        return tensoriter.num_threads()


def asked_of(cell: Cell) -> float | None:
    """How many times as fast as one thread this cell shall be; None where it is not said."""
    case, size = cell
    return AT_LEAST.get(size) if case.name == NAME else None


def busy_cells(cells: Sequence[Cell]) -> list[Cell]:
    """Those of these cells that are measured on busy cores as well."""
    return [cell for cell in cells if asked_of(cell) and cell[1] in BUSY_SIZES]


def on_threads(count: int, case: Case, operands: Operands) -> Loop:
    """The case with tensoriter.add on that many threads."""
    loop = tensoriter_loop(case, operands)

    def on_that_many(steps: int) -> object:
        with tensoriter.threads(count):
            return loop(steps)

    return on_that_many


def gain_row(cell: Cell, gain: Ratio) -> list[str]:
    """A line of the table: how many times as fast several threads are, and whether that will do."""
    asked = asked_of(cell) or NOT_SLOWER
    missing = slower(gain) if asked == NOT_SLOWER else gain.median < asked
    unmet = [f"{gain.median:.2f} of {asked:g}"] if missing else []
    return [cell[0].label(cell[1]), str(gain), f"{asked:g}", verdict(unmet)]


def busy_row(cell: Cell, cost: Ratio) -> list[str]:
    """A line of the table for busy cores: how many times the time of one thread several take."""
    unmet = [f"{cost.median:.2f}, not {BUSY_AT_MOST}"] if cost.median > BUSY_AT_MOST else []
    return [cell[0].label(cell[1]), str(cost), f"{BUSY_AT_MOST:g}", verdict(unmet)]


def measure_busy(cell: Cell, rounds: int, threads: int) -> Turns:
    """One thread and several take turns while every core has something else to do."""
    case, size = cell
    operands = case.operands(size)
    contestants = []
    with busy_cores(available_cores()):
        for name, count in ((OURS, 1), (with_threads(threads), threads)):
            loop: Callable[[int], object] = on_threads(count, case, operands)
            steps = steps_lasting(BUSY_TURN_SECONDS, loop)
            contestants.append(Contestant(name, partial(loop, steps), steps))
        return take_turns(contestants, rounds)


@contextmanager
def busy_cores(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep that many cores busy: processes that spin until the end, or until this one is gone."""
    command = [sys.executable, "-c", SPIN, str(os.getpid())]
    spinning = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield spinning
    finally:
        for process in spinning:
            process.kill()
            process.wait()
