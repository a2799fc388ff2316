"""What ``python -m benchmarks.instructions`` runs under callgrind; it measures nothing by itself.

The first argument is that of `Marks`, each further one a contestant and the label of a case, separated
by a tab. For each it forks, so that no measurement finds another's leavings in its caches and free
lists, and says on stdout which process had which.
"""

from __future__ import annotations

import gc
import os
import sys

from benchmarks.cases import (
    CASES,
    LOOPS,
    NO_OP,
    Loop,
    Operands,
    calling,
    repeat_nothing,
)
from tensoriter.overhead.measured import Marks, fill_pools


def main() -> None:
    """Measure each job in a process of its own."""
    marks = Marks(sys.argv[1])
    jobs = [job.split("\t") for job in sys.argv[2:]]
    if any(contestant == "torch" for contestant, _ in jobs):
        import torch  # noqa: F401 - once, here, not in each fork
    gc.collect()
    gc.freeze()
    gc.disable()
    held = fill_pools()  # noqa: F841
    marks.mark()  # where the imports were counted, they go into a dump of this process, not of each fork
    for contestant, label in jobs:
        process = os.fork()
        if not process:
            count(marks, contestant, label)
        _, status = os.waitpid(process, 0)
        print(process, status, contestant, label, sep="\t", flush=True)


def count(marks: Marks, contestant: str, label: str) -> None:
    """Run the loop for two lengths and leave, without the interpreter's clearing up."""
    try:
        loop = find_loop(contestant, label)
        if loop:
            marks.run(loop)
    except BaseException as error:
        print(f"{contestant}, {label}: {error!r}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def find_loop(contestant: str, label: str) -> Loop | None:
    """The loop of this name; None where the contestant has no such call."""
    if contestant == "loop":
        return repeat_nothing
    if contestant == "no-op":
        return calling(NO_OP, Operands(*CASES[0].operands(100)[:2]))
    for case in CASES:
        for size in case.at_least:
            if case.label(size) == label:
                return LOOPS[contestant](case, case.operands(size))
    raise LookupError("no such case")


if __name__ == "__main__":
    main()
