"""The collector that counts: instructions, by callgrind, without noise.

It counts around the loop alone: a few client requests, compiled from client_requests.c, switch it on
and mark the lengths. Where valgrind's headers or a compiler are missing it counts from the start (slow
to come to the loop), and os.getppid marks the lengths (see measured.Marks). Either way the loop runs in
two lengths, and their difference is what is reported, per add.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import tensoriter
from tensoriter.commands import UsageError
from tensoriter.overhead import callgrind_dump, process
from tensoriter.overhead.measured import LONG, SHORT

UNIT = "instructions"
MISSING = "Counting instructions needs valgrind, which is not installed: apt install valgrind"
CLIENT_REQUESTS = Path(__file__).with_name("client_requests.c")


def check() -> None:
    """Refuse where the tool is missing."""
    if not shutil.which("valgrind"):
        raise UsageError(MISSING)


def measure(subject: process.Subject, folder: Path) -> process.Measured:
    """Count the instructions of an add; `folder` is for what comes in between."""
    dumps, marks = f"{folder}/dump", compile_marks(folder)
    before = command(dumps, marks, addresses=True)
    facts = process.run(before, "callgrind", marks, subject, environment())
    pair = last_two(dumps)
    if facts.get("absent") or not pair:
        return process.Measured(facts, None)
    return process.Measured(facts, callgrind_dump.profile(*pair, LONG - SHORT))


def compile_marks(folder: Path) -> str:
    """The path of the compiled client requests, "" where they cannot be compiled."""
    library = f"{folder}/client_requests.so"
    compiler = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", library]
    try:
        done = subprocess.run([*compiler, str(CLIENT_REQUESTS)], capture_output=True)
    except FileNotFoundError:
        return ""
    return library if done.returncode == 0 else ""


def command(dumps: str, marks: str, addresses: bool = False) -> list[str]:
    """What to put before a command so that its marks leave the files `dumps`.1, `dumps`.2, ...

    `addresses` keeps apart what each address costs, as callgrind_dump wants it.
    """
    return [
        *without_random_addresses(),
        *("valgrind", "--quiet", "--tool=callgrind", "--dump-line=no"),
        "--instr-atstart=no" if marks else "--dump-before=getppid",
        *(["--dump-instr=yes"] if addresses else []),
        f"--callgrind-out-file={dumps}",
    ]


@cache
def without_random_addresses() -> list[str]:
    """The command that runs another at the same addresses each time, where there is one."""
    command = ["setarch", platform.machine(), "-R"]
    try:
        allowed = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return []
    return command if allowed else []  # a container may forbid it


def environment() -> dict[str, str]:
    """What makes two runs alike, and keeps to instructions that valgrind knows."""
    settings = {"PYTHONHASHSEED": "0"}
    if "avx512" in tensoriter.info()["isa_built"] and "TENSORITER_ISA" not in os.environ:
        settings["TENSORITER_ISA"] = "avx2"
    return settings


def last_two(dumps: str) -> tuple[Path, Path] | None:
    """The dumps of SHORT and of LONG calls; None if the process left none."""
    path = Path(dumps)
    numbered = [found for found in path.parent.glob(f"{path.name}.*") if found.suffix[1:].isdigit()]
    if len(numbered) < 3:  # up to the warm-up, of SHORT calls, of LONG calls
        return None
    short, long = sorted(numbered, key=lambda path: int(path.suffix[1:]))[-2:]
    return short, long


def instructions_per_call(dumps: str) -> float | None:
    """The difference of the two lengths; None where there was nothing to count."""
    pair = last_two(dumps)
    return pair and (_total(pair[1]) - _total(pair[0])) / (LONG - SHORT)


def _total(dump: Path) -> int:
    totals = re.findall(r"^totals: (\d+)", dump.read_text("utf-8", "replace"), re.MULTILINE)
    return int(totals[-1])
