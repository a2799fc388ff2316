"""Show the source that debug handles stand for.

FILE is a plan that was saved, or debug information by itself (DebugMap.save). HANDLE is the number by which an
error, a trace of the profiler or an instruction of the plan names where it comes from.

examples:
  tensoriter symbolicate step.plan 17
  tensoriter symbolicate step.plan 17 18 --show source
"""

from __future__ import annotations

import argparse

from tensoriter.commands import UsageError
from tensoriter.graph.debug import DebugInfo, DebugMap, describe_handle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tensoriter symbolicate`."""
    parser.add_argument("file", metavar="FILE", help="a plan, or debug information")
    parser.add_argument("handles", metavar="HANDLE", nargs="+", type=number, help="17, or 0x11")
    parser.add_argument(
        "--show", choices=["source", "chain", "both"], default="both",
        help="the line of the operation, the calls that led there, or both (default)",
    )  # fmt: skip


def number(text: str) -> int:
    """A handle, decimal or with 0x in front."""
    return int(text, 0)


def run(arguments: argparse.Namespace) -> int:
    """Print what is known of each handle; 1 if nothing is of one."""
    try:
        infos = DebugMap.load(arguments.file)
    except OSError as error:
        raise UsageError(f"cannot read {arguments.file}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
    for handle in arguments.handles:
        info = infos.get(handle)
        if info is None or arguments.show == "both":
            print(describe_handle(infos, handle))
        else:
            print(f"{handle}: {source_text(info) if arguments.show == 'source' else chain_text(info)}")
    return 0 if all(handle in infos for handle in arguments.handles) else 1


def source_text(info: DebugInfo) -> str:
    """file:line:column and the text there."""
    source = info.source
    column = "" if source.column is None else f":{source.column + 1}"
    return f"{source.file}:{source.line}{column}  {source.text.strip()}"


def chain_text(info: DebugInfo) -> str:
    """The functions, outermost first, and the op."""
    names = [f"{call.module}.{call.function}{f' ({call.instance})' if call.instance else ''}" for call in info.calls]
    return " > ".join([*names, info.op.rpartition(":")[2]])
