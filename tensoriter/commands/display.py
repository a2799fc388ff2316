"""Tables and progress bars: with rich on a terminal, plain otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: bool = False) -> None:
    """Print rows of text under `columns`; `right` sets all columns but the first flush right."""
    if sys.stdout.isatty() and find_spec("rich"):
        _print_rich_table(columns, rows, right)
    else:
        print(plain_table(columns, rows, right))


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: bool = False) -> str:
    """The table as text, its columns two blanks apart.

    >>> print(plain_table(["n", "ns"], [["100", "5"], ["1000", "12"]], right=True))
    n     ns
    ----  --
    100    5
    1000  12
    """
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [columns, ["-" * width for width in widths], *rows]
    return "\n".join(_plain_line(line, widths, right) for line in lines)


def _plain_line(cells: Sequence[str], widths: Sequence[int], right: bool) -> str:
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1])]
    padded += [cell.rjust(width) if right else cell.ljust(width) for cell, width in others]
    return "  ".join(padded).rstrip()


def _print_rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, column in enumerate(columns):
        justify = "right" if right and index else "left"
        table.add_column(column, justify=justify, no_wrap=index == 0)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


@contextmanager
def progress_bar(title: str, total: float) -> Iterator[Callable[[float], None]]:
    """Give a function that sets how much of `total` is done.

    It draws a bar when stderr is a terminal and rich is installed, and nothing otherwise. The bar
    is drawn only during that call: a thread that refreshed it would disturb what is being timed.
    """
    if not (sys.stderr.isatty() and find_spec("rich")):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), auto_refresh=False, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done, refresh=True)
