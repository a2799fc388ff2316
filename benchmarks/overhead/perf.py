"""The collector that samples: time, by Linux's perf, at full speed.

perf starts with its events off; the measured process turns them on before its loop and off after it, so
that neither the interpreter's start nor the imports are seen. The ns per add are timed before that,
without perf; the samples say which part of them is whose.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tensoriter.commands import UsageError
from tensoriter.overhead import process
from tensoriter.overhead.lines import Site, places
from tensoriter.overhead.profile import Function, Place, Profile

UNIT = "ns"
MISSING = "Sampling needs Linux's perf, which is not installed: apt install linux-perf (or linux-tools)"
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
RATE = 2_000  # samples per second
SECONDS = 1.5
STACKS = {
    "dwarf": "dwarf,4096",  # bytes of stack, enough for the callers that matter here
    "fp": "fp",
}


def check() -> None:
    """Refuse where the tool is missing or may not look."""
    if not shutil.which("perf"):
        raise UsageError(MISSING)
    if not event():
        level = PARANOID.read_text().strip() if PARANOID.exists() else "unknown"
        raise UsageError(
            f"perf may not look at processes here: kernel.perf_event_paranoid is {level}. As root: sysctl -w "
            "kernel.perf_event_paranoid=2 (a container needs --cap-add PERFMON, too)"
        )


@cache
def event() -> str:
    """The clock to sample by: the processor's cycles, else the software clock, '' if neither is allowed.

    Only the process's own time, which is what anybody may see.
    """
    for name in ("cycles:u", "cpu-clock:u"):
        command = ["perf", "stat", "--event", name, "--field-separator", ",", "true"]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"})
        if done.returncode == 0 and re.match(r"[\d.]+,", done.stderr.strip()):
            return name
    return ""


def measure(
    subject: process.Subject, folder: Path, stacks: str = "dwarf", seconds: float = SECONDS
) -> process.Measured:
    """Sample the loop for so many seconds; `folder` is for what comes in between."""
    control, answers, data = (f"{folder}/{name}" for name in ("control", "answers", "data"))
    os.mkfifo(control)
    os.mkfifo(answers)
    before = [
        *("perf", "record", "--quiet", "--no-buildid-cache"),
        *("--delay=-1", f"--control=fifo:{control},{answers}"),
        *("--event", event(), "--freq", str(RATE), "--call-graph", STACKS[stacks]),
        *("--output", data, "--"),
    ]
    facts = process.run(before, "perf", f"{control},{answers},{seconds}", subject, {})
    if facts.get("absent"):
        return process.Measured(facts, None)
    return process.Measured(facts, profile(_script(data), facts["ns_per_add"]))


def _script(data: str) -> str:
    # --no-inline: perf would look inlined functions up one by one, for minutes; lines.py does it at once.
    command = ["perf", "script", "--input", data, "--no-inline", "--fields", "ip,sym,dso"]
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout


def profile(script: str, ns_per_add: float) -> Profile:
    """What `perf script` printed, in ns per add."""
    stacks = list(read(script))
    place_of = places({site for stack in stacks for site in stack})
    each = ns_per_add / max(1, len(stacks))
    own: Counter[Place] = Counter()
    inclusive: Counter[Function] = Counter()
    callers: dict[Function, Counter[Place]] = defaultdict(Counter)
    for stack in stacks:
        own[place_of[stack[0]]] += each
        for function in {site.function for site in stack}:
            inclusive[function] += each
        calls = {}
        for callee, caller in zip(stack, stack[1:], strict=False):
            if callee.function != caller.function:
                calls.setdefault(callee.function, place_of[caller])
        for called, place in calls.items():
            callers[called][place] += each
    return Profile(own, callers, inclusive, len(stacks))


def read(script: str) -> Iterator[list[Site]]:
    """The stack of each sample, innermost first."""
    for sample in script.split("\n\n"):
        found = re.findall(r"^\s+([0-9a-f]+) (.*) \((.*)\)$", sample, re.MULTILINE)
        # All but the innermost are where a call returns to: the call itself is before that.
        stack = [
            Site(Function(where, name), int(address, 16) - (depth > 0))
            for depth, (address, name, where) in enumerate(found)
        ]
        if stack:
            yield stack
