"""What nodes cost: measured here, on this machine, once for each op and its dtypes.

Estimates, for decisions between nodes: of operands that lie in the cache, with values of no difficulty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from time import perf_counter_ns
from typing import Any

import numpy as np

from tensoriter.core.threads import region_nanoseconds
from tensoriter.graph.graph import Node

FEW, MANY = 256, 4096  # elements between which an element's time is measured
ROUNDS = 25  # of which the fastest counts: other work on the CPUs only makes them slower
TABLE_BYTES = 1 << 22  # of a table whose rows are taken: most of them are not in the first cache
# ns. Less is measured where the threads have not had the time to fall asleep; more only while other work
# keeps the CPUs busy.
LEAST_REGION, MOST_REGION = 5_000.0, 20_000.0


def nanoseconds(node: Node) -> float:
    """How long the node takes on its own, without being called from Python. 0 for what is not computed
    (inputs, views) and for what is not estimated (reductions, functions of NumPy)."""
    if node.kind == "fused":
        return sum(nanoseconds(inner) for inner in node.attributes["body"])
    size = math.prod(node.shape)
    if node.kind == "ufunc":
        types = tuple(np.dtype(dtype).char for dtype in node.attributes["types"])
        return size * of_element(node.attributes["function"], types)
    if node.kind == "take":
        row = max(1, size // max(1, math.prod(node.inputs[1].shape))) * node.dtype.itemsize
        return math.prod(node.inputs[1].shape) * of_row(power_of_two(row))
    if node.kind in ("where", "cast", "concatenate"):
        return size * node.dtype.itemsize * of_byte()
    return 0.0


@cache
def of_element(function: Any, types: tuple[str, ...]) -> float:
    """ns that an op takes for an element of operands of these types (inputs first)."""
    inputs = [np.ones(MANY, dtype) for dtype in types[: function.nin]]
    outputs = tuple(np.ones(MANY, dtype) for dtype in types[function.nin :])

    def call(n: int) -> Callable[[], object]:
        operands, out = [x[:n] for x in inputs], tuple(x[:n] for x in outputs)
        return lambda: function(*operands, out=out, casting="unsafe")

    with np.errstate(all="ignore"):
        return max(0.0, (best(call(MANY)) - best(call(FEW))) / (MANY - FEW))


@cache
def of_row(nbytes: int) -> float:
    """ns to take a row of so many bytes from a table."""
    table = np.ones((max(1, TABLE_BYTES // nbytes), nbytes), np.uint8)
    rows = np.random.default_rng(0).integers(0, len(table), max(16, min(MANY, TABLE_BYTES // nbytes)))
    out = np.empty((len(rows), nbytes), np.uint8)
    return best(lambda: np.take(table, rows, axis=0, out=out, mode="clip")) / len(rows)


@cache
def of_byte() -> float:
    """ns to copy a byte."""
    source = np.ones(1 << 16, np.uint8)
    target = np.empty_like(source)
    return best(lambda: np.copyto(target, source)) / source.size


@cache
def of_region(threads: int) -> float:
    """ns to have so many threads start and end."""
    return min(MOST_REGION, max(LEAST_REGION, float(region_nanoseconds(threads))))


def best(call: Callable[[], object]) -> float:
    """The fastest of a few calls, in ns, after one that does not count."""
    call()
    times = []
    for _ in range(ROUNDS):
        start = perf_counter_ns()
        call()
        times.append(perf_counter_ns() - start)
    return float(min(times))


def power_of_two(n: int) -> int:
    """The next power of two: so few numbers stand for all."""
    return 1 << max(0, n - 1).bit_length()
