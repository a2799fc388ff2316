"""Show what a function computes of such operands, as a graph: one line for each node.

FUNCTION is module:name, such as examples.oscillators:step; the module is looked for in the current folder, too.
An operand is written as for `tensoriter explain`: float32[100], 'float64[3,4]:F', 1.5, float32(1.5).

examples:
  tensoriter graph mymodule:step 'float64[100]' 'float64[100]' 0.01
  tensoriter graph mymodule:step 'float64[100]' --passes --plot step.png
  tensoriter graph mymodule:step 'float64[100]' --dot | dot -Tsvg > step.svg
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any

from tensoriter.commands import UsageError
from tensoriter.commands.operands import make_operand
from tensoriter.commands.output_files import check_output_files, save_figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tensoriter graph`."""
    parser.add_argument("function", metavar="FUNCTION", help="module:name")
    parser.add_argument("operands", metavar="OPERAND", nargs="*", help="arguments of the function")
    parser.add_argument("--passes", action="store_true", help="after the default passes")
    parser.add_argument("--dot", action="store_true", help="in the language of Graphviz")
    parser.add_argument("--plot", metavar="FILE", help="draw it, in the format that the name ends in")


def run(arguments: argparse.Namespace) -> int:
    """Trace, print, draw."""
    from tensoriter.graph import passes
    from tensoriter.graph.trace import CaptureError, trace

    check_output_files(None, arguments.plot)
    function = find_function(arguments.function)
    try:
        graph = trace(function, [make_operand(text) for text in arguments.operands]).graph
    except CaptureError as error:
        raise UsageError(f"{arguments.function} cannot be captured: {error}") from None
    for change in passes.default if arguments.passes else ():
        graph = change(graph)
    print(graph.to_dot() if arguments.dot else graph)
    if arguments.plot:
        from tensoriter.graph.picture import draw

        save_figure(draw(graph), arguments.plot)
    return 0


def find_function(text: str) -> Any:
    """The function of that name."""
    module_name, _, name = text.partition(":")
    if not name:
        raise UsageError(f"{text}: a function is named by module:name")
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise UsageError(f"cannot import {module_name}: {error}") from None
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"{module_name} has no function {name}")
    return getattr(found, "function", found)
