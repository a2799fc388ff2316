"""Show the versions, the instruction sets built and chosen, and the number of threads."""

from __future__ import annotations

import argparse

import tensoriter
from tensoriter.commands.display import print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`info` takes none."""


def run(arguments: argparse.Namespace) -> int:
    """Print `tensoriter.info()`, a line per fact."""
    print_table(["what", "value"], [[name, as_text(v)] for name, v in tensoriter.info().items()])
    return 0


def as_text(value: object) -> str:
    """A value of `tensoriter.info()` for people: sequences without their brackets."""
    return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
