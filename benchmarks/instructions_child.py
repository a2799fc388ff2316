"""What ``python -m benchmarks.instructions`` runs under callgrind; it measures nothing by itself.

Each argument is a contestant and the label of a case, separated by a tab. For each it forks, so
that no measurement finds another's leavings in its caches and free lists, and says on stdout which
process had which. A call of getppid tells callgrind to write down what it has counted, and to count
from zero: the instructions of SHORT and of LONG calls are in two dumps of their own.
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

WARM_UP, SHORT, LONG = 300, 500, 1_500  # calls; int objects above 256 are no longer cached


def main() -> None:
    """Measure each job in a process of its own."""
    jobs = [job.split("\t") for job in sys.argv[1:]]
    if any(contestant == "torch" for contestant, _ in jobs):
        import torch  # noqa: F401 - once, here, not in each fork
    gc.collect()
    gc.freeze()
    gc.disable()
    held = fill_pools()  # noqa: F841
    os.getppid()  # the imports' counts go into a dump of this process, not of each fork
    for contestant, label in jobs:
        process = os.fork()
        if not process:
            count(contestant, label)
        _, status = os.waitpid(process, 0)
        print(process, status, contestant, label, sep="\t", flush=True)


def fill_pools() -> list[object]:
    """Objects that fill CPython's partly used memory pools, of which each 16 bytes have their own.

    Taking the last block of a pool and giving it back costs more instructions than in mid-pool. How
    full the imports leave the pools depends on everything; after this, loops start on new pools.
    """
    each = range(4_000)
    overhead = b"".__sizeof__()
    held: list[object] = [object() for _ in each]  # 16 bytes
    held += [1_000_000 + number for number in each]  # 32 bytes
    held += [bytes(size - overhead) for size in range(48, 513, 16) for _ in each]
    return held


def count(contestant: str, label: str) -> None:
    """Run the loop for two lengths and leave, without the interpreter's clearing up."""
    try:
        loop = find_loop(contestant, label)
        if loop:
            loop(WARM_UP)
            os.getppid()
            loop(SHORT)
            os.getppid()
            loop(LONG)
            os.getppid()
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
