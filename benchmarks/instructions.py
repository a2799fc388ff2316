"""Count the instructions of a call with callgrind: a measure of small calls that has no noise.

    python -m benchmarks.instructions [--cases TEXT] [--torch] [--json FILE] [--check | --update]

Every case runs as a Python loop of two lengths; the difference, by call, leaves out everything but
the loop and the call. Printed are NumPy, tensoriter and, with --torch, torch, beside the empty loop
and a no-op call, which are part of the machine's Python, not of any of them. The counts are those
of AVX2 at most: valgrind knows no AVX-512.

--check compares tensoriter's counts with benchmarks/instruction_budgets.json and exits with 1 if a
case is more than 3 % above its budget; --update writes that file. Budgets hold for one version of
Python and NumPy, one build of Python, one compiler and one instruction set: elsewhere --check says
that it did not check, and exits with 0. Needs valgrind; without it the exit code is 2.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import tensoriter
from benchmarks.cases import FRESH_INSTRUCTIONS_AT_MOST, target_cells
from tensoriter.commands import UsageError
from tensoriter.commands.display import print_table
from tensoriter.commands.machine import machine_facts
from tensoriter.commands.output_files import check_output_files, write_json
from tensoriter.core import op as compiled_core
from tensoriter.overhead import callgrind
from tensoriter.overhead.process import ONE_THREAD

ROOT = Path(__file__).parents[1]
BUDGETS = Path(__file__).with_name("instruction_budgets.json")
ALLOWED = 1.03  # times the budget
PROCESSES = 2  # each pays for importing everything under valgrind, about 10 s
LOOP, NO_OP = ("loop", "empty loop"), ("no-op", "no-op call")

Job = tuple[str, str]  # contestant, label of the case
Counts = dict[Job, float]  # instructions per call, its loop included


def main(argv: Sequence[str] | None = None) -> int:
    """Count, print, compare or write; the exit code."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    try:
        callgrind.check()
        check_arguments(arguments)
        counts = count(make_jobs(arguments.cases, arguments.torch))
    except UsageError as error:
        parser.error(str(error))
    print_counts(counts)
    if arguments.json:
        write_json(arguments.json, as_facts(counts))
    if arguments.update:
        BUDGETS.write_text(json.dumps(as_budgets(counts), indent=1) + "\n", encoding="utf-8")
        print(f"\nWrote {BUDGETS.relative_to(ROOT)}.")
    return check(counts, json.loads(BUDGETS.read_text("utf-8"))) if arguments.check else 0


def make_parser() -> argparse.ArgumentParser:
    """The options of this benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instructions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", default="", metavar="TEXT", help="only cases named so in part")
    parser.add_argument("--torch", action="store_true", help="count torch's + too (slow to start)")
    parser.add_argument("--json", metavar="FILE", help="write machine and counts there")
    budgets = parser.add_mutually_exclusive_group()
    budgets.add_argument("--check", action="store_true", help="compare with the budgets")
    budgets.add_argument("--update", action="store_true", help="write the budgets")
    return parser


def check_arguments(arguments: argparse.Namespace) -> None:
    """Refuse before minutes of counting what could not be done after them."""
    check_output_files(arguments.json, None)
    if arguments.torch and not find_spec("torch"):
        raise UsageError("--torch needs torch, which is not installed: pip install torch")
    if arguments.update and arguments.cases:
        raise UsageError("--update writes the budgets of all cases: leave out --cases")
    if arguments.check and not BUDGETS.exists():
        raise UsageError(f"there are no budgets in {BUDGETS.relative_to(ROOT)}: --update first")


def make_jobs(text: str, with_torch: bool) -> list[Job]:
    """What to count: the loop, the no-op and each contestant at each case with `text` in its name."""
    contestants = ("numpy", "tensoriter", "torch") if with_torch else ("numpy", "tensoriter")
    labels = [case.label(size) for case, size in target_cells()]
    chosen = [label for label in labels if text.lower() in label.lower()]
    if not chosen:
        raise UsageError(f"no case has {text!r} in its name; there are: {'; '.join(labels)}")
    return [LOOP, NO_OP, *((name, label) for name in contestants for label in chosen)]


def count(jobs: Sequence[Job]) -> Counts:
    """Instructions per call of each job. A contestant that has no such call is left out."""
    torch = [job for job in jobs if job[0] == "torch"]
    others = [job for job in jobs if job[0] != "torch"]
    shares = [share for share in (others[::2], others[1::2], torch) if share]
    with ThreadPoolExecutor(PROCESSES) as pool:
        parts = list(pool.map(count_in_one_process, shares))
    return {job: part[job] for job in jobs for part in parts if job in part}


def count_in_one_process(jobs: Sequence[Job]) -> Counts:
    """The same, one after the other in forks of one process under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        marks = callgrind.compile_marks(Path(folder))
        command = [
            *callgrind.command(f"{folder}/%p", marks),
            *(sys.executable, "-m", "benchmarks.instructions_child", marks),
            *("\t".join(job) for job in jobs),
        ]
        environment = os.environ | ONE_THREAD | callgrind.environment()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        reports = [line.split("\t") for line in done.stdout.splitlines()]
        if done.returncode or any(status != "0" for _, status, *_ in reports):
            raise RuntimeError(f"counting failed:\n{done.stderr}")
        found = {
            (name, label): callgrind.instructions_per_call(f"{folder}/{pid}")
            for pid, _, name, label in reports
        }
        return {job: instructions for job, instructions in found.items() if instructions}


def print_counts(counts: Counts) -> None:
    """A line per case, then the loop, the no-op and the target."""
    names = [name for name in ("numpy", "tensoriter", "torch") if any(name == j[0] for j in counts)]
    rows = []
    for label in dict.fromkeys(label for name, label in counts if name == "tensoriter"):
        cells = [counts.get((name, label)) for name in names]
        ratio = counts["numpy", label] / counts["tensoriter", label]
        rows.append([label, *("" if c is None else f"{c:,.0f}" for c in cells), f"{ratio:.2f}"])
    print("Instructions per call, its loop included:\n")
    print_table(["case", *names, "numpy / tensoriter"], rows, right=True)
    print(f"\nThe empty loop takes {counts[LOOP]:,.0f} of these.")
    print(f"A no-op call with its loop takes {counts[NO_OP]:,.0f}.")
    fresh = counts.get(("tensoriter", "fresh output, n = 100"))
    if fresh:
        met = "met" if fresh <= FRESH_INSTRUCTIONS_AT_MOST else "not met"
        print(f"Target: fresh output, n = 100, in at most {FRESH_INSTRUCTIONS_AT_MOST}: {met}.")


def as_facts(counts: Counts) -> dict[str, Any]:
    """Everything about this run, for --json: {"instructions": {case: {contestant: count}}}."""
    by_case: dict[str, dict[str, float]] = {}
    for (name, label), instructions in counts.items():
        by_case.setdefault(label, {})[name] = instructions
    return {"machine": machine_facts() | conditions(), "instructions": by_case}


def conditions() -> dict[str, str]:
    """What counts depend on, besides the code."""
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": ".".join(np.__version__.split(".")[:2]),
        "machine": platform.machine(),
        "isa": callgrind.environment().get("TENSORITER_ISA", str(tensoriter.info()["isa"])),
        "compiler": compiler(),
    }


def compiler() -> str:
    """The compiler's name and version, as it left them in tensoriter's compiled core."""
    built = Path(compiled_core.__file__).read_bytes()
    found = re.search(rb"(GCC: \(.*?\)|clang version) (\d+\.\d+)", built)
    return f"{found[1].split()[0].decode().rstrip(':')} {found[2].decode()}" if found else "unknown"


def as_budgets(counts: Counts) -> dict[str, Any]:
    """The contents of the file of budgets."""
    budgets = {label: round(n) for (name, label), n in counts.items() if name == "tensoriter"}
    own = {label: round(counts[name, label]) for name, label in (LOOP, NO_OP)}
    return {"conditions": conditions(), "python's own": own, "budgets": budgets}


def check(counts: Counts, file: dict[str, Any]) -> int:
    """Print what passed its budget; 1 if something did."""
    differing = differing_conditions(counts, file)
    if differing:
        print(f"\nNot checked: the budgets hold elsewhere. {'; '.join(differing)}.")
        return 0
    measured = {label: n for (name, label), n in counts.items() if name == "tensoriter"}
    missing = sorted(measured.keys() - file["budgets"].keys())
    above = [
        f"{label}: {measured[label]:,.0f} instructions, {measured[label] / budget - 1:+.1%} against "
        f"its budget of {budget:,}"
        for label, budget in file["budgets"].items()
        if label in measured and measured[label] > budget * ALLOWED
    ]
    print(f"\nChecked {len(measured)} against their budgets: {len(above)} above by more than 3 %.")
    print("\n".join(above + [f"{label}: has no budget" for label in missing]))
    return 1 if above or missing else 0


def differing_conditions(counts: Counts, file: dict[str, Any]) -> list[str]:
    """Why the budgets cannot be compared with these counts: a sentence each."""
    there, here = file["conditions"], conditions()
    sentences = [
        f"{name} was {there[name]} there and is {here[name]} here"
        for name in here
        if there[name] != here[name]
    ]
    for job in (LOOP, NO_OP):  # Python built with other options takes other numbers here
        was, now = file["python's own"][job[1]], counts[job]
        if not was / ALLOWED <= now <= was * ALLOWED:
            sentences.append(f"the {job[1]} took {was:,} instructions there, {now:,.0f} here")
    return sentences


if __name__ == "__main__":
    sys.exit(main())
