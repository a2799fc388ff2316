"""The command ``tensoriter``, also ``python -m tensoriter``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

import tensoriter
from tensoriter.commands import COMMANDS, UsageError

INTERRUPTED = 130  # what a shell reports for a command ended by Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return its exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    chosen = next((argument for argument in argv if not argument.startswith("-")), None)
    parser, subparsers = make_parser(chosen)
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 0
    try:
        return arguments.run(arguments)
    except UsageError as error:
        subparsers[arguments.command].error(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED


def make_parser(
    chosen: str | None,
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of all commands, with the arguments of the `chosen` one, and the subparsers."""
    parser = argparse.ArgumentParser(
        prog="tensoriter",
        description="NumPy's element-wise operators without the operator overhead.",
    )
    parser.add_argument(
        "--version", action="version", version=f"tensoriter {tensoriter.__version__}"
    )
    adder = parser.add_subparsers(dest="command", metavar="COMMAND")
    subparsers = {}
    for command in COMMANDS:
        subparser = subparsers[command.name] = adder.add_parser(
            command.name,
            help=command.summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if command.name == chosen:
            module = importlib.import_module(f"tensoriter.commands.{command.module}")
            subparser.description = module.__doc__
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    return parser, subparsers


if __name__ == "__main__":
    sys.exit(main())
