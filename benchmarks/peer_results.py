"""What was measured in one case of ``python -m benchmarks.peers``, and whether it is what is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.peer_cases import NOT_SLOWER
from benchmarks.peer_libraries import PEERS, RIVALS
from tensoriter.timing import Ratio, Turns

UNSTEADY = 1.5  # quartiles that lie further apart, as a factor, tell of a busy machine
THEIRS, OURS, CEILING = "numpy", "tensoriter", "ceiling"


def with_threads(count: int) -> str:
    """The name of tensoriter as a contestant with more than one thread."""
    return f"{OURS}, {count} threads"


@dataclass(frozen=True)
class Asked:
    """What a case is asked for. 1 time np.add is "not slower"; None of the ceiling is nothing."""

    times_numpy: float
    of_ceiling: float | None = None


@dataclass(frozen=True)
class Result:
    """A case's turns; `absent` says of each peer that did not take part why."""

    asked: Asked
    turns: Turns
    bytes_moved: int
    absent: dict[str, str] = field(default_factory=dict)

    @property
    def best_rival(self) -> str:
        """The peer with the smallest median."""
        return min(filter(self.has, RIVALS), key=self.turns.median)

    @property
    def of_ceiling(self) -> Ratio | None:
        """The rate of tensoriter over that of the STREAM-like add, which moves as many bytes."""
        return self.turns.speed(OURS, CEILING) if self.has(CEILING) else None

    @property
    def ceiling_rate(self) -> float:
        """What the STREAM-like add moved, in GB/s."""
        return self.bytes_moved / self.turns.median(CEILING)

    @property
    def unsteady(self) -> bool:
        """Whether this was measured while something else took the processor: worth nothing."""
        speed = self.turns.speed(OURS, THEIRS)
        return speed.high > UNSTEADY * speed.low

    def has(self, name: str) -> bool:
        """Whether this contestant took part."""
        return name in self.turns.nanoseconds

    def unmet(self) -> list[str]:
        """What is asked and not reached, in words."""
        found = []
        times, rival = self.turns.speed(OURS, THEIRS), self.best_rival
        if self.asked.times_numpy != NOT_SLOWER and times.median < self.asked.times_numpy:
            found.append(f"{times.median:.2f} of {self.asked.times_numpy:g} x {THEIRS}")
        if slower(self.turns.speed(OURS, rival)):
            found.append(f"{rival} is faster")
        if self.asked.of_ceiling and self.of_ceiling and self.of_ceiling.median < self.asked.of_ceiling:
            found.append(f"{self.of_ceiling.median:.2f} of {self.asked.of_ceiling:g} of the ceiling")
        return found

    def facts(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {
            "asked": vars(self.asked),
            "bytes_moved": self.bytes_moved,
            "ns_per_call": self.turns.nanoseconds,
            "summary": self.turns.summary(THEIRS),
            "absent": self.absent,
            "best_peer": self.best_rival,
            "speed_over_best_peer": vars(self.turns.speed(OURS, self.best_rival)),
            "of_ceiling": vars(self.of_ceiling) if self.of_ceiling else None,
            "verdict": verdict(self.unmet()),
            "unsteady": self.unsteady,
        }


def contestants_in(results: Iterable[Result]) -> list[str]:
    """All who took part in a case: the peers, then tensoriter, then the ceiling."""
    found = {name for result in results for name in result.turns.nanoseconds}
    ours = sorted(found - PEERS.keys() - {CEILING})
    return [name for name in (*PEERS, *ours, CEILING) if name in found]


def slower(speed: Ratio) -> bool:
    """Whether a contestant is slower beyond noise: in three rounds of four."""
    return speed.high < 1


def verdict(unmet: list[str]) -> str:
    """The word for a target, with what is missing."""
    return "NOT MET: " + "; ".join(unmet) if unmet else "met"
