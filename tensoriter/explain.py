"""Path and reason of a call, for people."""

import os
import platform
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tensoriter.core.hooks import public
from tensoriter.core.iterator import TensorIterator
from tensoriter.core.loops.table import instruction_sets
from tensoriter.core.plan_call import PlanCall
from tensoriter.core.threads import num_threads


class Explanation(NamedTuple):
    """How a call would go. str() of it is a text for people.

    path : 'contiguous', 'strided' or 'numpy'; 'plan' of a captured function
    reason : the first thing that kept the call off a shorter path, '' on the contiguous one
    loop : the loop that would run: 'add_float32' for one of ours, 'exp f->f' for one that is the ufunc's
        own; '' on NumPy's path
    isa : the instruction set of our loop; 'numpy' for a loop that is the ufunc's and on NumPy's path
    dtype, shape : of the result; None on NumPy's path
    cast, copied : a sentence for each operand that is cast, or copied because out overlaps it
    walk : sentences on how large operands are walked: tiles, columns, streamed outputs, threads; of a plan
        its instructions
    """

    path: str
    reason: str
    loop: str
    isa: str
    dtype: np.dtype | None
    shape: tuple | None
    cast: tuple
    copied: tuple
    walk: tuple

    def __str__(self) -> str:
        rows = [("path", self.path), ("why", self.reason or "nothing kept it off the shortest path")]
        if self.path not in ("numpy", "plan"):
            rows += [("loop", f"{self.loop} ({self.isa})"), ("result", f"{self.dtype}{list(self.shape)}")]
        rows += [("cast", sentence) for sentence in self.cast]
        rows += [("copied", sentence) for sentence in self.copied]
        rows += [("walk", sentence) for sentence in self.walk]
        return "\n".join(f"{name:8}{text}" for name, text in rows)


@public
def explain(*operands, op=None, **keywords) -> Explanation:
    """Tells which path a call op(*operands, **keywords) takes, and why; `op` is tensoriter.add if not given.

    Nothing is computed and nothing written. Operands and keywords are as for the op itself, which may be a
    captured function, too.

    >>> import numpy as np
    >>> print(explain(np.ones((100, 100)), np.ones((100, 100)).T))  # doctest: +ELLIPSIS
    path    strided
    why     x2 is a transposed view: strides (8, 800)
    loop    add_float64 (...)
    result  float64[100, 100]
    walk    in tiles of 8 rows of 100, x2 by columns
    """
    if op is None:
        from tensoriter.ops import add as op
    if isinstance(op, PlanCall):
        return explain_plan(op, operands, keywords)
    iterator = TensorIterator(*operands, op=op, **keywords)
    if iterator.path == "numpy":
        return Explanation("numpy", iterator.reason, "", "numpy", None, None, (), (), ())
    from tensoriter.core.reasons import operand_name  # its words cost 2 ms to import
    names = [operand_name(k, op.nin, op.nout) for k in range(op.nargs)]
    cast = tuple(
        f"{name} from {pair[0]} to {pair[1]}" for name, pair in zip(names, iterator.cast, strict=True) if pair
    )
    copied = tuple(f"{names[k]}, since out overlaps it in memory" for k in iterator.colliding)
    isa = "numpy" if "->" in iterator.loop else instruction_sets()[0]
    return Explanation(
        iterator.path, iterator.reason, iterator.loop, isa, iterator.dtype, iterator.shape, cast, copied,
        tuple(walk_sentences(iterator, names)),
    )


def explain_plan(step: PlanCall, operands: tuple, keywords: dict) -> Explanation:
    """What a captured function would do with these arguments: its instructions, groups with their tasks."""
    plan = step.plan(*operands, **keywords)
    count = len(plan.instructions)
    reason = f"captured: {count} instruction{'s' * (count != 1)}"
    return Explanation("plan", reason, "", "", None, None, (), (), tuple(plan.sentences()))


def walk_sentences(iterator: TensorIterator, names: list[str]) -> Iterator[str]:
    if iterator.columns:
        rows, length = iterator.tile
        by_columns = " and ".join(names[k] for k in iterator.columns)
        yield f"in tiles of {rows} rows of {length}, {by_columns} by columns"
    elif iterator.tile and iterator.tile[0] * iterator.tile[1] < iterator.size:
        rows, length = iterator.tile
        yield f"in tiles of {rows} x {length} elements"
    if iterator.streamed:
        yield "the output past the cache"
    if iterator.threads > 1:
        yield f"on {iterator.threads} threads"


@public
def info() -> dict:
    """Versions, instruction sets and threads, as `tensoriter info` prints them.

    >>> info()["threads"]
    1
    """
    from tensoriter import __version__

    chosen, built = instruction_sets()
    return {
        "tensoriter": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "isa": chosen,
        "isa_built": built,
        "threads": num_threads(),
        "cpus": os.cpu_count(),
    }
