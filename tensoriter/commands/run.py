"""Run a Python script with ndarray's operators on tensoriter, as `python` would run it.

    tensoriter run script.py [arguments]
    tensoriter run -m module [arguments]

The script needs no change: results are the same, small arrays take less time. What it starts as processes
of their own runs on NumPy unless they are forks.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

import tensoriter
from tensoriter.commands import UsageError

INTERRUPTED = 130  # what a shell reports for a command ended by Ctrl-C


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options for the script come after its name."""
    parser.add_argument("-m", dest="is_module", action="store_true", help="run a module of that name")
    parser.add_argument("script", help="a script, or whatever else `python` runs by its path")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="sys.argv[1:] of the script")


def run(arguments: argparse.Namespace) -> int:
    """Run the script with the operators on; its exit code."""
    return run_script(arguments, tensoriter.operators())


def run_script(arguments: argparse.Namespace, block: AbstractContextManager[object]) -> int:
    """Run the script within `block`; its exit code. SystemExit goes on to the interpreter, which knows it."""
    sys.argv = [arguments.script, *arguments.arguments]
    if arguments.is_module:
        set_first_path(os.getcwd())
        return finish(lambda: runpy.run_module(arguments.script, run_name="__main__", alter_sys=True), block)
    if not os.path.exists(arguments.script):
        raise UsageError(f"can't open file {arguments.script!r}: there is none")
    if os.path.isfile(arguments.script):  # of a folder or a zip archive, runpy puts itself there
        set_first_path(str(Path(arguments.script).resolve().parent))
    return finish(lambda: runpy.run_path(arguments.script, run_name="__main__"), block)


def set_first_path(folder: str) -> None:
    """Put `folder` where Python puts a script's, unless it was told to put nothing there (-P)."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def finish(execute: Callable[[], object], block: AbstractContextManager[object]) -> int:
    """Run it within `block`. What it does not catch is shown as Python shows it, less our frames."""
    try:
        with block:
            execute()
    except (Exception, KeyboardInterrupt) as error:
        error = error.with_traceback(below_runpy(error.__traceback__))
        sys.excepthook(type(error), error, error.__traceback__)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def below_runpy(traceback: TracebackType | None) -> TracebackType | None:
    """The part of the traceback that is the script's."""
    ours = {__file__, runpy.run_path.__code__.co_filename}
    while traceback is not None and traceback.tb_frame.f_code.co_filename in ours:
        traceback = traceback.tb_next
    return traceback
