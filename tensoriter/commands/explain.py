"""Show which path tensoriter.add takes for such operands, and why not a shorter one.

An operand is an array or a scalar:
  float32[100]       an array of shape (100,);  float32[3,4]  of (3, 4);  float32[]  of ()
  >f8[100]           any dtype that NumPy reads: here byte-swapped float64
  1   2.5   1j       a Python scalar (should a negative one be taken for an option,
                     write -- before it)
  float32(1.5)       a NumPy scalar
An array may be laid out differently, by suffixes that apply from left to right:
  float32[3,4]:F     in Fortran order
  float32[3,4]:T     then transposed: a view of shape (4, 3)
  float32[100]::2    then sliced, as x[::2]: a view of shape (50,);  ::-1 reverses;
                     float32[8,8]::2,::2 slices both axes
  float32[100]:misaligned   starting one byte past an aligned address
  float32[100]:readonly     not writeable

examples:
  tensoriter explain 'float32[100]' 'float32[100]'
  tensoriter explain 'float32[8,100]' 'float32[100,8]:T'
  tensoriter explain 'float32[100]' 2.5 --out x1
"""

from __future__ import annotations

import argparse
from typing import Any

import tensoriter
from tensoriter.commands.operands import make_array, make_operand


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the operands and keywords of `tensoriter explain`."""
    parser.add_argument("x1", metavar="X1", help="first operand")
    parser.add_argument("x2", metavar="X2", help="second operand")
    parser.add_argument("--out", metavar="SPEC", help="an array as above, or x1 or x2: in place")
    parser.add_argument("--where", metavar="SPEC", help="a bool array as above")
    parser.add_argument("--dtype", help="dtype to compute in")
    parser.add_argument(
        "--casting", choices=["no", "equiv", "safe", "same_kind", "unsafe"], help="casting rule"
    )
    parser.add_argument("--order", choices=["K", "A", "C", "F"], help="memory order of the result")


def run(arguments: argparse.Namespace) -> int:
    """Build the operands and print the explanation."""
    x1, x2 = make_operand(arguments.x1), make_operand(arguments.x2)
    print(tensoriter.explain(x1, x2, **make_keywords(arguments, x1, x2)))
    return 0


def make_keywords(arguments: argparse.Namespace, x1: Any, x2: Any) -> dict[str, Any]:
    """The keywords given on the command line, those with arrays built."""
    keywords: dict[str, Any] = {}
    if arguments.out:
        same = {"x1": x1, "x2": x2}
        keywords["out"] = (
            same[arguments.out] if arguments.out in same else make_array(arguments.out)
        )
    if arguments.where:
        keywords["where"] = make_array(arguments.where)
    names = ("dtype", "casting", "order")
    return keywords | {name: getattr(arguments, name) for name in names if getattr(arguments, name)}
