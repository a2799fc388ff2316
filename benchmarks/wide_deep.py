"""The forward step of a wide & deep model, its 26 embedding look-ups one after the other and side by side.

    python -m benchmarks.wide_deep [--batch 256 ...] [--threads 2] [--file TRAIN.TXT] [--json FILE]

Inputs have the layout of the Criteo data set: a label, 13 numeric columns and 26 categorical ones. They are
generated (seed 0) or read from a file in that layout: lines of 40 fields with tabs between, empty where a
value is missing, categories in hexadecimal digits. Each category is hashed to a row of its column's table.

Three ways take turns on the same operands and have to give the same bits: plain NumPy, a plan
(tensoriter.capture), and the plan with its look-ups as parallel ops. "step" is the whole of it, with the two
dense layers, which are NumPy's matmul in all three; "embedding" the look-ups and their concatenation.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

import tensoriter
from tensoriter.commands.display import print_table
from tensoriter.timing import Contestant, own_code, steps_lasting, take_turns

NUMERIC, CATEGORICAL = 13, 26
FIELDS = 1 + NUMERIC + CATEGORICAL
BATCHES = (1, 16, 64, 256, 1024, 4096)
WAYS = ("numpy", "plan", "parallel")


@dataclass(frozen=True)
class Model:
    """Tables of (rows, width) for the categories, and two dense layers."""

    tables: list[np.ndarray]
    hidden: np.ndarray
    last: np.ndarray
    wide: np.ndarray

    @classmethod
    def random(cls, rows: int, width: int, units: int = 64, seed: int = 0) -> Model:
        normal = np.random.default_rng(seed).standard_normal
        return cls(
            [normal((rows, width), np.float32) for _ in range(CATEGORICAL)],
            normal((CATEGORICAL * width + NUMERIC, units), np.float32) / 100,
            normal((units, 1), np.float32) / 10,
            normal((NUMERIC, 1), np.float32) / 10,
        )

    def embedding(self) -> Callable[[np.ndarray], np.ndarray]:
        """The function categories (batch, 26) -> (batch, 26 x width)."""
        tables = self.tables

        def look_up(categories: np.ndarray) -> np.ndarray:
            rows = [np.take(table, categories[:, k], axis=0) for k, table in enumerate(tables)]
            return np.concatenate(rows, axis=1)

        return look_up

    def step(self, embedding: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
        """The function (numeric, categories) -> the probability of a click (batch, 1)."""

        def forward(numeric: np.ndarray, categories: np.ndarray) -> np.ndarray:
            deep = np.concatenate([embedding(categories), numeric], axis=1)
            deep = np.maximum(deep @ self.hidden, np.float32(0)) @ self.last
            return 1 / (1 + np.exp(-(deep + numeric @ self.wide)))

        return forward


# ---------------------------------------------------------------- inputs


def generated(batch: int, rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(numeric, categories): counts with long tails, and categories of which a few are frequent."""
    random = np.random.default_rng(seed)
    numeric = np.log1p(random.lognormal(2, 2, (batch, NUMERIC)).astype(np.int64)).astype(np.float32)
    return numeric, (random.zipf(1.3, (batch, CATEGORICAL)) * 7919 % rows).astype(np.int64)


def read(path: str, batch: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The first lines of a file in the Criteo layout. ValueError names a line that is not."""
    numeric, categories = [], []
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(islice(file, batch), 1):
            fields = line.rstrip("\n").split("\t")
            if len(fields) != FIELDS:
                raise ValueError(f"{path}, line {number}: {len(fields)} fields, not {FIELDS}")
            numeric.append([max(int(text or 0), 0) for text in fields[1 : 1 + NUMERIC]])
            categories.append([int(text or "0", 16) % rows for text in fields[1 + NUMERIC :]])
    if len(numeric) < batch:
        raise ValueError(f"{path} has {len(numeric)} lines, a batch takes {batch}")
    return np.log1p(numeric).astype(np.float32), np.array(categories, np.int64)


# ---------------------------------------------------------------- measuring


def measure(model: Model, inputs: tuple[np.ndarray, np.ndarray], rounds: int) -> dict[str, Any]:
    """Median us and ratios of the three ways, for the embedding and for the whole step."""
    look_up = model.embedding()
    plan = tensoriter.capture(model.embedding())
    parallel = tensoriter.capture(model.embedding(), parallel_ops=True)
    embeddings = dict(zip(WAYS, (look_up, plan, parallel), strict=True))
    steps = {name: model.step(embedding) for name, embedding in embeddings.items()}
    numeric, categories = inputs
    check_bits([embedding(categories) for embedding in embeddings.values()])
    check_bits([step(numeric, categories) for step in steps.values()])
    row: dict[str, Any] = {"batch": len(categories), "groups": str(parallel.graph).count("group ")}
    for name, ways, arguments in (("embedding", embeddings, (categories,)), ("step", steps, inputs)):
        row[name] = compare(ways, arguments, rounds)
    return row


def check_bits(results: list[np.ndarray]) -> None:
    for result in results[1:]:
        if result.tobytes() != results[0].tobytes():
            raise AssertionError("the ways give different bits")


def compare(ways: dict[str, Callable[..., Any]], arguments: tuple[Any, ...], rounds: int) -> dict[str, float]:
    def run(function: Callable[..., Any], times: int) -> None:
        for _ in range(times):
            function(*arguments)

    times = steps_lasting(0.002, partial(run, ways["numpy"]))
    turns = take_turns(
        [Contestant(name, partial(own_code(run), function, times), times) for name, function in ways.items()],
        rounds,
    )
    figures = {name: turns.median(name) / 1000 for name in ways}
    figures["x numpy"] = turns.speed("parallel", "numpy").median
    figures["x plan"] = turns.speed("parallel", "plan").median
    return figures


def main() -> None:
    arguments = parse_arguments()
    model = Model.random(arguments.rows, arguments.width)
    rows = []
    with tensoriter.threads(arguments.threads):
        for batch in arguments.batch or BATCHES:
            inputs = (
                read(arguments.file, batch, arguments.rows)
                if arguments.file
                else generated(batch, arguments.rows)
            )
            rows.append(measure(model, inputs, arguments.rounds))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    show(rows, arguments)


def show(rows: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    print(
        f"26 tables of {arguments.rows} x {arguments.width} float32, {arguments.threads} threads;"
        " us a call, and how many times as fast the parallel ops are"
    )
    titles = ["part", "batch", "group", *WAYS, "x numpy", "x plan"]
    table = []
    for part in ("embedding", "step"):
        for row in rows:
            figures = row[part]
            table.append(
                [part, str(row["batch"]), "yes" if row["groups"] else "no"]
                + [f"{figures[way]:.1f}" for way in WAYS]
                + [f"{figures['x numpy']:.2f}", f"{figures['x plan']:.2f}"]
            )
    print_table(titles, table, right=True)


def parse_arguments() -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--batch", type=int, action="append", help=f"default: {BATCHES}")
    parser.add_argument("--rows", type=int, default=10_000, help="of each table (default 10000)")
    parser.add_argument("--width", type=int, default=16, help="of each row (default 16)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--file", help="in the layout of the Criteo data set, instead of generated inputs")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", metavar="FILE", help="write the numbers there, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
