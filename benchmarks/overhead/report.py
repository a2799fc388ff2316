"""What was found: tables for people, facts for JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tensoriter.commands.display import print_table
from tensoriter.core import op
from tensoriter.overhead.attribution import Attribution, Shares
from tensoriter.overhead.buckets import Table, in_order
from tensoriter.overhead.lines import has_lines
from tensoriter.overhead.process import Measured, Subject
from tensoriter.overhead.profile import Profile

PYTHON_ITSELF = ("libpython", "python")  # objects whose lines nobody asked for


@dataclass(frozen=True)
class Findings:
    """What one collector found about each subject, by its label; of absent ones, why they are."""

    collector: str
    unit: str
    table: Table
    profiles: dict[str, Profile] = field(default_factory=dict)
    attributions: dict[str, Attribution] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def add(self, subject: Subject, measured: Measured) -> None:
        """Take what was measured of a subject, or why it was not."""
        label = subject.label(measured.facts)
        if measured.profile is None or not measured.profile.total:
            self.absent[label] = measured.facts.get("absent", "nothing was recorded")
        else:
            self.profiles[label] = measured.profile
            self.attributions[label] = Attribution(measured.profile, self.table)
            self.facts[label] = measured.facts

    def buckets(self) -> dict[str, dict[str, float]]:
        """What an add of each subject spends in each bucket, all of them, in order."""
        found = {label: attribution.by_bucket() for label, attribution in self.attributions.items()}
        names = in_order(name for sums in found.values() for name, cost in sums.items() if cost)
        return {label: {name: sums.get(name, 0.0) for name in names} for label, sums in found.items()}


def print_findings(findings: Findings, title: str) -> None:
    """A line per subject: its buckets with their share, and the total."""
    found = findings.buckets()
    print(f"\n{title}\n")
    if found:
        names = list(next(iter(found.values())))
        rows = []
        for label, sums in found.items():
            total = sum(sums.values())
            cells = [f"{cost:,.0f} {cost / total:4.0%}" for cost in sums.values()]
            rows.append([label, *cells, f"{total:,.0f}"])
        print_table(["", *names, "total"], rows, right=True)
    for label, why in findings.absent.items():
        print(f"{label}: not measured ({why})")


def print_functions(findings: Findings, count: int) -> None:
    """The dearest functions of each subject, inlined ones by themselves."""
    for label, profile in findings.profiles.items():
        rows = []
        for name, facts in list(functions(profile, findings.attributions[label]).items())[:count]:
            costs = number(facts["own"]), number(facts["inclusive"])
            rows.append([*costs, facts["bucket"], shortened(name), facts["object"]])
        print(f"\n{label}: {findings.unit} per add, of the function alone and with what it calls\n")
        print_table(["alone", "with calls", "bucket", "function", "object"], rows)


def print_lines(findings: Findings, count: int) -> None:
    """The dearest source lines of each subject that was built with -g, in the order of the files."""
    for label, profile in findings.profiles.items():
        dearest = Counter(lines(profile)).most_common(count)
        rows = [
            [f"{Path(file).name}:{line}", number(cost), source(file, line)]
            for (file, line), cost in sorted(dearest)
        ]
        if rows:
            print(f"\n{label}: {findings.unit} per add of each source line\n")
            print_table(["line", findings.unit, "source"], rows)


def functions(profile: Profile, attribution: Attribution) -> dict[str, dict[str, Any]]:
    """Each function, inlined or not: bucket, object, own cost and cost with callees; the dearest first.

    An inlined function's calls are those of the function that it went into, which has them.
    """
    found: dict[str, dict[str, Any]] = {}
    for place, cost in profile.own.items():
        facts = found.setdefault(place.names[0], {"own": 0.0, "inclusive": 0.0})
        facts["own"] += cost
        facts["inclusive"] = max(facts["own"], facts["inclusive"])
        if len(place.names) == 1:
            facts["inclusive"] = max(facts["inclusive"], profile.inclusive.get(place.compiled, 0.0))
        facts.setdefault("object", Path(place.where).name)
        facts.setdefault("bucket", max_bucket(attribution.shares(place)))
    return dict(sorted(found.items(), key=lambda item: -item[1]["own"]))


def max_bucket(shares: Shares) -> str:
    """The bucket with the largest share."""
    return max(shares, key=lambda bucket: shares[bucket])


def lines(profile: Profile) -> dict[tuple[str, int], float]:
    """The cost of each source line that is known, Python's own left out."""
    sums: Counter[tuple[str, int]] = Counter()
    for place, cost in profile.own.items():
        if place.line and not Path(place.where).name.startswith(PYTHON_ITSELF):
            sums[place.file, place.line] += cost
    return sums


@cache
def source(file: str, line: int) -> str:
    """The text of a source line, '' where the file is not there."""
    if Path(file).with_suffix(".pyx").exists() and file.endswith(".c"):
        return ""  # Cython's: its lines are counted otherwise there
    try:
        return Path(file).read_text("utf-8").splitlines()[line - 1].strip()
    except (OSError, IndexError, UnicodeDecodeError):
        return ""


def shortened(name: str, width: int = 70) -> str:
    """A name that fits a column: Cython's without its prefix, C++'s cut."""
    name = name.removeprefix("__pyx_f_10tensoriter_4core_")
    return name if len(name) <= width else name[: width - 3] + "..."


def number(cost: float) -> str:
    """A cost as text, with a decimal where it is small."""
    return f"{cost:,.0f}" if cost >= 100 else f"{cost:,.1f}"


def tells_inlined() -> bool:
    """Whether tensoriter's compiled parts were built so that inlined functions can be told apart."""
    return has_lines(op.__file__)


def as_facts(findings: Findings) -> dict[str, Any]:
    """Everything that one collector found, for --json. Costs are per add, in the unit given."""
    subjects = {}
    for label, sums in findings.buckets().items():
        profile = findings.profiles[label]
        subjects[label] = {
            "total": profile.total,
            "buckets": sums,
            "shares": {name: cost / profile.total for name, cost in sums.items()},
            "samples": profile.samples,
            **findings.facts[label],
            "functions": functions(profile, findings.attributions[label]),
            "lines": [
                {"file": Path(file).name, "line": line, "cost": cost}
                for (file, line), cost in sorted(lines(profile).items())
            ],
        }
    return {"unit": findings.unit, "subjects": subjects, "absent": findings.absent}
