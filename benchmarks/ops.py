"""Every op against its ufunc on small operands: a fresh output of 100 elements, scalars, 0-d arrays.

    python -m benchmarks.ops [--op NAME ...] [--dtype f] [--rounds 15] [--json FILE]

The two take turns (see tensoriter.timing). "loop" says whose loop runs: ours, or the one that NumPy's ufunc
brings with it ("borrowed"), whose own time both sides pay: an op of an expensive one (arctan2, gcd) cannot be
twice as fast. "loop ns" is what 100 elements cost there (from the time of 1,000 more).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import tensoriter
from tensoriter.commands.display import print_table
from tensoriter.timing import Contestant, own_code, take_turns
from tensoriter.verify import op_names

CALLS = 400  # in one turn
N = 100


def main() -> None:
    arguments = parse_arguments()
    np.seterr(all="ignore")
    rows = [measure(name, arguments.dtype, arguments.rounds) for name in arguments.op or op_names()]
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    show(rows)


def parse_arguments() -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--op", action="append", metavar="NAME", choices=op_names(), help="only this op")
    parser.add_argument("--dtype", default="f", help="of the operands, where the op takes it (default f)")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="write the numbers there, too")
    return parser.parse_args()


def measure(name: str, wanted: str, rounds: int) -> dict[str, Any]:
    """A row of the table: ns of both sides, and their ratio, for each kind of operand."""
    op, ufunc = getattr(tensoriter, name), getattr(np, name)
    dtypes = input_types(ufunc, wanted)
    row: dict[str, Any] = {"op": name, "dtypes": dtypes}
    if not dtypes:
        return row
    arrays = [values(dtype, N) for dtype in dtypes]
    row["loop"] = "borrowed" if tensoriter.explain(*arrays, op=op).isa == "numpy" else "ours"
    longer = [values(dtype, N + 1000) for dtype in dtypes]
    row["loop ns"] = (best(ufunc, longer) - best(ufunc, arrays)) * N / 1000
    for kind, operands in {
        "arrays": arrays,
        "0-d": [np.array(x[0]) for x in arrays],
        "Python": [x[0].item() for x in arrays],
    }.items():
        row[kind] = compare(op, ufunc, operands, rounds)
    return row


def input_types(ufunc: np.ufunc, wanted: str) -> str:
    """The wanted type for each input where the ufunc has such a loop, or else the types of its first."""
    inputs = [signature.split("->")[0] for signature in ufunc.types]
    numeric = [types for types in inputs if not set(types) - set("?bBhHiIlLqQefdgFDG")]
    for types in (wanted * ufunc.nin, "l" * ufunc.nin):
        if types in numeric:
            return types
    return numeric[-1] if numeric else ""


def values(dtype: str, n: int) -> np.ndarray:
    """Values that every op has an answer for: between 1/2 and 1, or small whole numbers."""
    if dtype in "efdgFDG":
        return np.linspace(0.5, 0.9, n).astype(dtype)
    return (np.arange(n) % 7 + 1).astype(dtype)


def best(function: Callable[..., Any], operands: list[Any]) -> float:
    return take_turns([Contestant("it", turn(function, operands), CALLS)], 5).best("it")


def compare(op: Any, ufunc: np.ufunc, operands: list[Any], rounds: int) -> dict[str, float]:
    """Both by turns: the best ns a call of each (the bare loop's included), and the median ratio."""
    turns = take_turns(
        [Contestant("numpy", turn(ufunc, operands), CALLS), Contestant("ours", turn(op, operands), CALLS)],
        rounds,
    )
    ratio = turns.speed("ours", "numpy").median
    return {"numpy": turns.best("numpy"), "ours": turns.best("ours"), "ratio": ratio}


def turn(function: Callable[..., Any], operands: list[Any]) -> Callable[[], None]:
    return partial(own_code(call_one if len(operands) == 1 else call_two), function, *operands)


def call_one(function: Callable[..., Any], x: Any) -> None:
    for _ in range(CALLS):
        function(x)


def call_two(function: Callable[..., Any], x: Any, y: Any) -> None:
    for _ in range(CALLS):
        function(x, y)


def show(rows: list[dict[str, Any]]) -> None:
    kinds = ("arrays", "0-d", "Python")
    table = [
        [row["op"], row["dtypes"], row["loop"], f"{row['loop ns']:.0f}"]
        + [f"{row[kind]['numpy']:.0f} / {row[kind]['ours']:.0f} = {row[kind]['ratio']:.1f}" for kind in kinds]
        for row in rows
        if row["dtypes"]
    ]
    print(f"NumPy ns / ours ns = ratio a call; arrays of {N} elements")
    print_table(["op", "types", "loop", "loop ns", *kinds], table, right=True)
    for row in rows:
        if not row["dtypes"]:
            print(f"{row['op']} has no loops of numbers")


if __name__ == "__main__":
    main()
