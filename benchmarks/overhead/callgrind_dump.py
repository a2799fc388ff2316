"""Read what callgrind wrote: costs by address, and calls.

The format is that of valgrind's manual, chapter "Callgrind Format Specification".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tensoriter.overhead.lines import Site, places
from tensoriter.overhead.profile import Function, Place, Profile


@dataclass
class Dump:
    """The instructions of each address; number and instructions of the calls from where, of what."""

    own: Counter[Site] = field(default_factory=Counter)
    calls: Counter[tuple[Site, Function]] = field(default_factory=Counter)
    in_calls: Counter[tuple[Site, Function]] = field(default_factory=Counter)

    def subtract(self, other: Dump) -> None:
        """Leave what this has more than the other."""
        self.own.subtract(other.own)
        self.calls.subtract(other.calls)
        self.in_calls.subtract(other.in_calls)


class Names:
    """The functions that lines belong to. A name has a number, and is written out once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._object = ""
        self._called_object: str | None = None  # that of the line's own function, unless told
        self.function = Function("", "")
        self.callee = Function("", "")

    def take(self, key: str, value: str) -> None:
        """Follow a line such as fn=(12) name. Source files (fl, fi, fe, cfi) do not matter here."""
        if key == "ob":
            self._object = self._name(key, value)
        elif key == "fn":
            self.function = Function(self._object, self._function(value))
        elif key == "cob":
            self._called_object = self._name("ob", value)
        elif key == "cfn":
            where = self._object if self._called_object is None else self._called_object
            self.callee = Function(where, self._function(value))
            self._called_object = None

    def _function(self, value: str) -> str:
        return re.sub(r"'\d+$", "", self._name("fn", value))  # 'N: its N-th level of recursion

    def _name(self, kind: str, value: str) -> str:
        number, _, name = value.partition(" ")
        if name or not number.startswith("("):
            self._known[kind, number] = name or number
        return self._known[kind, number]


def read(path: Path) -> Dump:
    """A dump that was made with --dump-instr=yes --dump-line=no."""
    dump = Dump()
    names = Names()
    address = 0
    calls: int | None = None  # the line after calls= is a call's cost; 0: begun before this dump
    for line in path.read_text("utf-8", "replace").splitlines():
        if line[:1] in set("0123456789+-*"):
            position, _, cost = line.partition(" ")
            address = _address(position, address)
            site = Site(names.function, address)
            if calls is not None:
                dump.calls[site, names.callee] += calls
                dump.in_calls[site, names.callee] += int(cost)
                calls = None
            else:
                dump.own[site] += int(cost)
        elif line.startswith("calls="):
            calls = int(line[6:].split()[0])
        elif "=" in line:
            names.take(*line.split("=", 1))
    return dump


def _address(text: str, before: int) -> int:
    if text == "*":
        return before
    return before + int(text) if text[0] in "+-" else int(text, 16)


def profile(short: Path, long: Path, adds: int) -> Profile:
    """What `long` has more than `short`, by add: `adds` is the difference of their lengths."""
    dump = read(long)
    dump.subtract(read(short))
    place_of = places({*dump.own, *(site for site, _ in dump.calls)})
    own: Counter[Place] = Counter()
    inclusive: Counter[Function] = Counter()
    callers: dict[Function, Counter[Place]] = defaultdict(Counter)
    for site, cost in dump.own.items():
        if cost:
            own[place_of[site]] += cost / adds
            inclusive[site.function] += cost / adds
    for call, cost in dump.in_calls.items():
        site, callee = call
        # The calls that lead to the loop are as many in both lengths: they are nobody's share of an add.
        if dump.calls[call] > 0 and callee != site.function:
            callers[callee][place_of[site]] += cost / adds
        if cost and callee != site.function:
            inclusive[site.function] += cost / adds
    total = sum(own.values())  # a function that calls itself by way of others is met more than once
    return Profile(own, callers, {function: min(cost, total) for function, cost in inclusive.items()})
