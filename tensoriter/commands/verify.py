"""Compare tensoriter's ops with the installed NumPy's ufuncs on random calls.

The calls vary dtypes, byte order, shapes, broadcasting, strides, alignment, overlapping memory,
Python and NumPy scalars, out, where, dtype, casting, order and errstate. Compared are the result's
bits (any NaN equals any other), dtype, shape, strides and type, the memory of all arrays given, the
warnings, and the type of the exception. It stops at the first difference, with exit code 1.
"""

from __future__ import annotations

import argparse
import faulthandler

from tensoriter.commands import natural, positive
from tensoriter.commands.display import print_table, progress_bar
from tensoriter.verify import Report, new_seed, op_names, verify


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `tensoriter verify`."""
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument(
        "--op", action="append", metavar="NAME", choices=[*op_names(), "all"],
        help="the op to compare, or all (default add; may be repeated)",
    )
    parser.add_argument("--seed", type=natural, help="repeat the cases of this seed")
    parser.add_argument("--cases", type=positive, help="run this many cases, however long it takes")
    parser.add_argument("--case", type=natural, metavar="K", help="run case K of the seed alone")


def run(arguments: argparse.Namespace) -> int:
    """Run the cases, print the counts and, if there is one, the difference."""
    seed = new_seed() if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)  # now, so that it is known even if a call crashes
    faulthandler.enable()
    total = arguments.cases or arguments.seconds
    with progress_bar("comparing with NumPy", total) as show:
        report = verify(
            arguments.seconds,
            seed,
            cases=arguments.cases,
            case=arguments.case,
            ops=op_names() if "all" in (arguments.op or ()) else arguments.op or ("add",),
            on_progress=lambda r: show_now_and_then(show, r, bool(arguments.cases)),
        )
    print_report(report)
    return 1 if report.mismatch else 0


def show_now_and_then(show, report: Report, by_cases: bool) -> None:
    """Redraw the bar once in 200 cases: drawing takes longer than a case."""
    if report.cases % 200 == 0:
        show(report.cases if by_cases else report.seconds)


def print_report(report: Report) -> None:
    """Say what was run and what was found."""
    rate = report.cases / max(report.seconds, 1e-9)
    print(f"{report.cases:,} cases in {report.seconds:.1f} s, {rate:,.0f} a second")
    rows = [[path, f"{number:,}"] for path, number in report.paths.most_common()]
    print_table(["path", "cases"], rows, right=True)
    print()
    print(report.mismatch or "No difference from NumPy.")
