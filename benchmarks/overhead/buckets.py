"""Tables of patterns that say which bucket a function's cost belongs to.

A table is a text file (those of the libraries lie in the folder buckets): a bucket's name in brackets,
and under it the functions that belong there, a pattern of their object file's name and a pattern of
their own a line. ``*`` stands for anything, ``#`` begins a comment, the first pattern that fits counts.

>>> table = Table.parse("[allocation]\\nlibc.so*  malloc  # its memory\\n[caller]\\nlibc.so*  mem*")
>>> table.bucket("/lib/libc.so.6", "malloc"), table.bucket("/lib/libc.so.6", "free")
('allocation', 'unknown')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tensoriter.commands import UsageError

BUCKETS = (
    "Python", "dispatcher", "operator set-up", "allocation", "no-op autograd", "computation",
)  # fmt: skip
"""What the post sorted costs into; the tables may use other names, too."""

CALLER = "caller"
"""Not a bucket: what these functions cost belongs to whoever called them."""

UNKNOWN = "unknown"
"""What no pattern fits."""

FOLDER = Path(__file__).with_name("buckets")


@dataclass(frozen=True)
class Rule:
    """A line of a table."""

    where: re.Pattern[str]
    function: re.Pattern[str]
    bucket: str


@dataclass(frozen=True)
class Table:
    """The lines of one or more tables, in the order in which they are tried."""

    rules: tuple[Rule, ...]

    @classmethod
    def parse(cls, text: str, name: str = "table") -> Table:
        """The table in `text`; `name` is what errors call it."""
        rules = []
        bucket = ""
        for number, line in enumerate(text.splitlines(), 1):
            line = re.sub(r"(^|\s)#.*", "", line).strip()
            if re.fullmatch(r"\[[^\]]+\]", line):
                bucket = line[1:-1].strip()
            elif line:
                where, _, function = line.partition(" ")
                if not bucket or not function:
                    raise UsageError(
                        f"{name}, line {number}: {line!r} is neither [bucket] nor, under one, an object's "
                        "and a function's pattern with a blank between them"
                    )
                rules.append(Rule(_pattern(where), _pattern(function.strip()), bucket))
        return cls(tuple(rules))

    @lru_cache(maxsize=100_000)  # noqa: B019 - a command has one table, for as long as it lives
    def bucket(self, where: str, function: str) -> str:
        """The bucket of a function in an object file."""
        file = where.rpartition("/")[2]
        for rule in self.rules:
            if rule.where.match(file) and rule.function.match(function):
                return rule.bucket
        return UNKNOWN


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("*"))) + r"\Z", re.DOTALL)


def load(files: Iterable[str] = ()) -> Table:
    """The user's tables, then those of the libraries."""
    rules: list[Rule] = []
    for path in [*map(Path, files), *sorted(FOLDER.glob("*.txt"))]:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        rules += Table.parse(text, path.name).rules
    return Table(tuple(rules))


def in_order(names: Iterable[str]) -> list[str]:
    """The buckets that have something, as they are shown: the post's, a user's own, and always unknown."""
    found = set(names)
    own = sorted(found - {*BUCKETS, UNKNOWN})
    return [*(name for name in BUCKETS if name in found), *own, UNKNOWN]
