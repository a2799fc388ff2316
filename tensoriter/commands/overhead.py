"""Show where the time of a small add goes, in NumPy, in tensoriter and beside others.

The loop ``output = output + x`` runs in a process of its own for each subject, under valgrind's
callgrind, which counts instructions, and under Linux's perf, which samples time. The functions found
are sorted into buckets: Python, dispatcher, operator set-up, allocation, no-op autograd, computation.
Whichever of the two tools is installed is used; libraries that are not installed are left out.
docs/where-the-time-goes.md says what the buckets mean, and what was found.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from tensoriter.commands import UsageError, natural, positive
from tensoriter.commands.display import progress_bar
from tensoriter.commands.machine import machine_facts
from tensoriter.commands.operands import numeric_dtype
from tensoriter.commands.output_files import check_output_files, write_json
from tensoriter.overhead import buckets, callgrind, perf, report
from tensoriter.overhead.process import Measured, Subject
from tensoriter.overhead.subjects import SUBJECTS

COLLECTORS: dict[str, ModuleType] = {"callgrind": callgrind, "perf": perf}
UNITS = {
    "callgrind": "Instructions per add, counted by callgrind",
    "perf": "Nanoseconds per add, divided by perf's samples",
}
INLINED = (
    "tensoriter was built without -g: what is inlined into a function counts where that does "
    "(CONTRIBUTING.md, the build named frames, tells them apart)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `tensoriter overhead`."""
    parser.add_argument(
        "--subjects", default="", metavar="TEXT,TEXT",
        help=f"only subjects with one of these in their name; there are: {'; '.join(SUBJECTS)}",
    )  # fmt: skip
    parser.add_argument(
        "--mine", action="append", default=[], metavar="MODULE:FUNCTION",
        help="measure output = function(output, x), too (again for more)",
    )  # fmt: skip
    parser.add_argument(
        "--python", action="append", default=[], metavar="PATH",
        help="measure torch in this other interpreter, too (again for more)",
    )  # fmt: skip
    parser.add_argument("--collector", choices=COLLECTORS, help="use this one alone")
    parser.add_argument("--n", type=natural, default=100, help="elements of x (default 100)")
    parser.add_argument("--dtype", default="float32", help="dtype of x (default float32)")
    parser.add_argument(
        "--buckets", action="append", default=[], metavar="FILE",
        help=f"a table of patterns to try before the libraries' own, those in {buckets.FOLDER}",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=perf.SECONDS, help=f"perf's time for each (default {perf.SECONDS})"
    )
    parser.add_argument(
        "--stacks", choices=perf.STACKS, default="dwarf",
        help="how perf finds callers: dwarf (default), or fp where all is built with frame pointers",
    )  # fmt: skip
    parser.add_argument("--functions", type=positive, metavar="N", help="print the N dearest functions, too")
    parser.add_argument("--lines", type=positive, metavar="N", help="print the N dearest source lines, too")
    parser.add_argument("--json", metavar="FILE", help="write machine, buckets, functions and lines there")
    parser.add_argument("--plot", metavar="FILE.png", help="draw FILE.png and FILE.svg (needs matplotlib)")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and write what was asked for."""
    check_output_files(arguments.json, arguments.plot)
    subjects = chosen_subjects(arguments)
    collectors = chosen_collectors(arguments.collector)
    table = buckets.load(arguments.buckets)
    found = []
    with progress_bar("measuring", len(subjects) * len(collectors)) as show:
        for name in collectors:
            findings = report.Findings(name, COLLECTORS[name].UNIT, table)
            for measured in measure_all(name, subjects, arguments):
                findings.add(*measured)
                show(len(found) * len(subjects) + len(findings.profiles) + len(findings.absent))
            found.append(findings)
    show_all(found, arguments)
    return 0 if all(findings.profiles for findings in found) else 1


def chosen_subjects(arguments: argparse.Namespace) -> list[Subject]:
    """The subjects of this interpreter that were asked for, the user's own, and other interpreters' torch."""
    wanted = [text.strip().lower() for text in arguments.subjects.split(",")]
    names = [name for name in SUBJECTS if any(text in name.lower() for text in wanted)]
    if not names and not (arguments.mine or arguments.python):
        raise UsageError(f"no subject has {arguments.subjects!r} in its name: {'; '.join(SUBJECTS)}")
    for name in arguments.mine:
        if not all(name.partition(":")):
            raise UsageError(f"--mine takes module:function, not {name!r}")
    for path in arguments.python:
        if not Path(path).is_file():
            raise UsageError(f"--python: there is no {path}")
    numeric_dtype(arguments.dtype)  # or a sentence; libraries other than NumPy take the name
    what = arguments.n, arguments.dtype
    place = names.index("torch +") if "torch +" in names else len(names)
    return [
        *(Subject(name, *what) for name in names[:place]),
        *(Subject("torch +", *what, python=path) for path in arguments.python),
        *(Subject(name, *what) for name in (*names[place:], *arguments.mine)),
    ]


def chosen_collectors(wanted: str | None) -> list[str]:
    """The collectors that can work here; each that cannot says why, and is an error if none is left."""
    usable, refused = [], []
    for name in [wanted] if wanted else COLLECTORS:
        try:
            COLLECTORS[name].check()
            usable.append(name)
        except UsageError as error:
            refused.append(str(error))
    if not usable:
        raise UsageError(". ".join(refused))
    for sentence in refused:
        print(sentence, file=sys.stderr)
    return usable


def measure_all(
    name: str, subjects: list[Subject], arguments: argparse.Namespace
) -> Iterator[tuple[Subject, Measured]]:
    """Each subject with what the collector makes of it."""
    settings = {"stacks": arguments.stacks, "seconds": arguments.seconds} if name == "perf" else {}
    for subject in subjects:
        library = SUBJECTS[subject.name].library if subject.name in SUBJECTS else ""
        if library and subject.python == sys.executable and not find_spec(library):
            yield subject, Measured({"absent": f"{library} is not installed"}, None)
            continue
        with tempfile.TemporaryDirectory() as folder:
            yield subject, COLLECTORS[name].measure(subject, Path(folder), **settings)


def show_all(found: list[report.Findings], arguments: argparse.Namespace) -> None:
    """Print tables, then write the files."""
    what = f"output = output + x, {arguments.n:,} {arguments.dtype} values"
    for findings in found:
        report.print_findings(findings, f"{UNITS[findings.collector]}: {what}")
        if arguments.functions:
            report.print_functions(findings, arguments.functions)
        if arguments.lines:
            report.print_lines(findings, arguments.lines)
    if not report.tells_inlined():
        print(f"\n{INLINED}")
    if arguments.json:
        parameters = {"n": arguments.n, "dtype": arguments.dtype}
        facts = {"machine": machine_facts(), "parameters": parameters}
        collectors = {findings.collector: report.as_facts(findings) for findings in found}
        write_json(arguments.json, facts | {"collectors": collectors})
    if arguments.plot and any(findings.profiles for findings in found):
        from tensoriter.overhead.picture import draw

        draw(found, what, arguments.plot)
