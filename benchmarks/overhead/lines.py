"""From addresses to source lines and inlined functions, where an object was built with -g."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tensoriter.overhead.profile import Function, Place


class Site(NamedTuple):
    """An address in a compiled function, as the object file of the function counts."""

    function: Function
    address: int


def places(sites: Iterable[Site]) -> dict[Site, Place]:
    """The place of each site; of inlined code, with the functions that it came from."""
    by_object: dict[str, list[Site]] = defaultdict(list)
    for site in sites:
        by_object[site.function.where].append(site)
    found = {}
    for where, there in by_object.items():
        for site, place in zip(there, _ask(where, [site.address for site in there]), strict=True):
            # What another symbol is said to be at is no answer: addresses of stripped or renamed code.
            known = place.names[-1:] == (site.function.name,)
            found[site] = place if known else Place(where, (site.function.name,))
    return found


@cache
def has_lines(where: str) -> bool:
    """Whether an object file was built with -g and binutils are there to read it."""
    if not shutil.which("readelf") or not shutil.which("addr2line") or not Path(where).is_file():
        return False
    done = subprocess.run(["readelf", "--section-headers", "--wide", where], capture_output=True, text=True)
    return " .debug_line " in done.stdout


def _ask(where: str, addresses: Sequence[int]) -> list[Place]:
    """What addr2line says of each address; places without a name if it says nothing."""
    nothing = [Place(where, ())] * len(addresses)
    if not has_lines(where):
        return nothing
    command = ["addr2line", "--addresses", "--functions", "--inlines", "--exe", where]
    wanted = "\n".join(map(hex, addresses))
    done = subprocess.run(command, input=wanted, capture_output=True, text=True)
    found = list(_read(where, done.stdout.splitlines()))
    return found if len(found) == len(addresses) else nothing


def _read(where: str, lines: list[str]) -> Iterator[Place]:
    """Each address is a line, and after it pairs of a function and file:line, the innermost first."""
    starts = [index for index, line in enumerate(lines) if re.fullmatch("0x[0-9a-f]+", line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        names = tuple(lines[start + 1 : end : 2])
        file, _, line = lines[start + 2].split(" (discriminator")[0].rpartition(":")
        yield Place(where, names, file, int(line) if line.isdigit() else 0)
