"""Run a Python script as `python` would, then print where its time went and write a trace.

    tensoriter profile script.py [arguments]
    tensoriter profile -m module [arguments]

Counted are tensoriter's ops, each call once; with --operators, ndarray's + - * / run on tensoriter and are
counted, too. The trace opens in https://ui.perfetto.dev. Both come also after an error or sys.exit().
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import tensoriter
from tensoriter import profiler
from tensoriter.commands import UsageError, run as run_command
from tensoriter.commands.output_files import check_output_files
from tensoriter.profiler.report import SORT_BY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command come before the script, the script's after its name."""
    parser.add_argument("--output", metavar="FILE", default="profile.json", help="the trace (profile.json)")
    parser.add_argument("--plot", metavar="FILE.png", help="draw it, too (needs matplotlib)")
    parser.add_argument("--sort-by", choices=SORT_BY, default="total", help="the table's order (total)")
    parser.add_argument("--shapes", action="store_true", help="a line for each op, dtypes and shapes")
    parser.add_argument("--operators", action="store_true", help="ndarray's operators on tensoriter")
    run_command.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the script while the profiler is on; its exit code."""
    check_output_files(arguments.output, arguments.plot)
    profiler.stop()  # the environment may have started it
    try:
        profiler.set_config(filename=os.path.abspath(arguments.output), shapes=arguments.shapes)
    except OSError as error:
        raise UsageError(str(error)) from None
    return run_command.run_script(arguments, profiled(arguments))


@contextmanager
def profiled(arguments: argparse.Namespace) -> Iterator[None]:
    """The block in which the script runs; at its end, the table, the trace and the picture."""
    plot = arguments.plot and os.path.abspath(arguments.plot)
    with ExitStack() as stack:
        if arguments.operators:
            stack.enter_context(tensoriter.operators())
        profiler.start()
        try:
            yield
        finally:
            profiler.stop()
            print(profiler.dumps(sort_by=arguments.sort_by))
            try:
                print(f"Trace: {profiler.dump()} (open it in https://ui.perfetto.dev)")
                if plot:
                    profiler.plot(plot)
            except OSError as error:
                raise UsageError(f"cannot write: {error}") from None
