"""What a collector found out about one subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Function(NamedTuple):
    """A compiled function by the object that it lies in."""

    where: str
    name: str


class Place(NamedTuple):
    """Where something was spent.

    `names` are the functions there, the innermost first: more than one where code was inlined and the
    object tells (see lines.py). The last is the compiled function. So are `file` and `line`: "" and 0
    where nothing tells.
    """

    where: str
    names: tuple[str, ...]
    file: str = ""
    line: int = 0

    @property
    def compiled(self) -> Function:
        """The function that the object's symbols know."""
        return Function(self.where, self.names[-1])


@dataclass(frozen=True)
class Profile:
    """What each place of a subject costs by itself, per add: instructions or nanoseconds.

    `callers` says from where a function was called, with what it cost then, callees included: by that
    [caller] functions are divided. `inclusive` is what a function costs with its callees. `samples` is
    the number that a sampling collector took, 0 where instructions are counted.
    """

    own: Mapping[Place, float]
    callers: Mapping[Function, Mapping[Place, float]]
    inclusive: Mapping[Function, float] = field(default_factory=dict)
    samples: int = 0

    @property
    def total(self) -> float:
        """What an add costs."""
        return sum(self.own.values())
