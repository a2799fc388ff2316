"""ndarray's operators on tensoriter against NumPy's own: the same line of code with them on and off.

    python -m benchmarks.operators [--n 100] [--dtype float32] [--rounds 41] [--json FILE]

On and off take turns (see tensoriter.timing). Each line is timed in a loop of its own, so that a column says
what the loop with the line costs; the last subtracts what the bare loop costs from both.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np

import tensoriter
from tensoriter.commands.display import print_table
from tensoriter.timing import Contestant, Turns, take_turns

CALLS = 2000  # in one turn

# What a line may use: o and x arrays, s a NumPy scalar, z a 0-d array, i and j integer arrays.
LINES = [
    "o = o + x", "o += x", "o - x", "o * x", "o / x", "o // x", "o % x", "x ** x", "2 * x", "x + 1.5",
    "x + s", "x ** 2", "-x", "abs(x)", "x < o", "x == o", "z + z", "z + 1.0", "i & j", "i << j", "~i",
    "i //= 3",
]  # fmt: skip


def main() -> None:
    arguments = parse_arguments()
    np.seterr(all="ignore")
    rows = measure_all(operands(arguments.n, np.dtype(arguments.dtype)), arguments.rounds)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    print(f"ns a line; n = {arguments.n}, {arguments.dtype}")
    titles = ["line", "numpy", "tensoriter", "times as fast", "without the loop"]
    print_table(titles, [[row["line"], f"{row['numpy']:.0f}", f"{row['ours']:.0f}", f"{row['speed']:.2f}",
                          f"{row['speed_without_loop']:.2f}"] for row in rows], right=True)  # fmt: skip


def parse_arguments() -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--n", type=int, default=100, help="elements of the arrays")
    parser.add_argument("--dtype", default="float32", help="of o, x, s and z")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--json", metavar="FILE", help="write the numbers there, too")
    return parser.parse_args()


def operands(n: int, dtype: np.dtype) -> dict[str, Any]:
    x = np.linspace(0.5, 0.9, n).astype(dtype) if dtype.kind in "fc" else np.ones(n, dtype)
    whole = np.arange(n) % 7 + 1
    return {"x": x, "o": x.copy(), "s": dtype.type(1), "z": np.array(1, dtype), "i": whole, "j": whole % 3}


def measure_all(names: dict[str, Any], rounds: int) -> list[dict[str, Any]]:
    return [measure(line, names, rounds) for line in LINES]


def measure(line: str, names: dict[str, Any], rounds: int) -> dict[str, Any]:
    turns = take_turns(
        [
            Contestant("bare", loop_of("pass", names), CALLS),
            Contestant("numpy", loop_of(line, names), CALLS),
            Contestant("ours", switched_on(loop_of(line, names)), CALLS),
        ],
        rounds,
    )
    return {
        "line": line,
        "numpy": turns.median("numpy"),
        "ours": turns.median("ours"),
        "speed": turns.speed("ours", "numpy").median,
        "speed_without_loop": speed_without_loop(turns),
    }


def speed_without_loop(turns: Turns) -> float:
    rounds = {name: np.array(values) for name, values in turns.nanoseconds.items()}
    return float(np.median((rounds["numpy"] - rounds["bare"]) / (rounds["ours"] - rounds["bare"])))


def loop_of(line: str, names: dict[str, Any]) -> Callable[[], None]:
    """A function that runs the line CALLS times on local variables, as in a user's function."""
    arguments = ", ".join(names)
    source = f"def run({arguments}):\n    for _ in range({CALLS}):\n        {line}\n"
    scope: dict[str, Any] = {}
    exec(source, scope)
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in names.values()]
    return lambda: scope["run"](*copies)


def switched_on(run: Callable[[], None]) -> Callable[[], None]:
    def with_operators() -> None:
        with tensoriter.operators():
            run()

    return with_operators


if __name__ == "__main__":
    main()
