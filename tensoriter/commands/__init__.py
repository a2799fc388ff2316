"""The subcommands of ``tensoriter``: one line each here, one module each beside this file.

A command's module has ``add_arguments(parser)`` and ``run(arguments) -> int``, the exit code. It is
imported only when its command is chosen, so that ``tensoriter info`` never loads the benchmarks.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import NamedTuple


class Command(NamedTuple):
    """A subcommand: its name, the module in this package, and what it does in a few words."""

    name: str
    module: str
    summary: str


COMMANDS = (
    Command("bad-multiply", "bad_multiply", "time output = output + x by turns against np.add"),
    Command("explain", "explain", "show which path a call takes, and why"),
    Command("graph", "graph", "show what a function computes as a graph"),
    Command("info", "info", "show versions, instruction sets and threads"),
    Command("profile", "profile", "run a Python script, print where its time went, write a trace"),
    Command("run", "run", "run a Python script with ndarray's operators on tensoriter"),
    Command("symbolicate", "symbolicate", "show the source that debug handles of a plan stand for"),
    Command("verify", "verify", "compare tensoriter with the installed NumPy on random calls"),
)


class UsageError(Exception):
    """What the user asked for cannot be done; the text says why. Ends the command, code 2."""


def natural(text: str) -> int:
    """The value of an option that counts: 0, 1, 2, ... (underscores may group the digits)."""
    value = int(text)
    if value < 0:
        raise ArgumentTypeError(f"{value} is negative")
    return value


def positive(text: str) -> int:
    """The value of an option that counts from 1."""
    value = int(text)
    if value < 1:
        raise ArgumentTypeError(f"{value} is less than 1")
    return value
