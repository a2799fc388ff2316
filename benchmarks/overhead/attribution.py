"""Sort what a profile's places cost into buckets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tensoriter.overhead.buckets import CALLER, UNKNOWN, Table
from tensoriter.overhead.profile import Function, Place, Profile

ROUNDS = 100  # of following callers' callers: more than any chain of them is long
ENOUGH = 1e-9  # by which a round has to change a share to be followed by another

Shares = Mapping[str, float]  # by bucket, adding up to 1


class Attribution:
    """A profile sorted by a table.

    A place belongs to the bucket of the innermost of its functions that has one. What the table gives to
    [caller] is divided among the callers as they caused it, and so on until somebody has a bucket.
    """

    def __init__(self, profile: Profile, table: Table) -> None:
        self._profile = profile
        self._table = table
        self._of_callers: dict[Function, Shares] = {}
        for _ in range(ROUNDS):
            if not self._follow_callers():
                break

    def shares(self, place: Place) -> Shares:
        """The share of each bucket in what is spent at a place."""
        return self._shares(place) or {UNKNOWN: 1.0}

    def by_bucket(self) -> dict[str, float]:
        """What an add spends in each bucket; it adds up to the total."""
        sums: Counter[str] = Counter()
        for place, cost in self._profile.own.items():
            for bucket, share in self.shares(place).items():
                sums[bucket] += share * cost
        return dict(sums)

    def _shares(self, place: Place) -> Shares:
        """The same, empty as long as nothing is known of the callers."""
        found = [self._table.bucket(place.where, name) for name in place.names]
        for bucket in found:
            if bucket not in (CALLER, UNKNOWN):
                return {bucket: 1.0}
        if CALLER in found and place.compiled in self._profile.callers:
            return self._of_callers.get(place.compiled, {})
        return {UNKNOWN: 1.0}

    def _follow_callers(self) -> bool:
        """One step up from every function; whether that told anything new.

        Callers of which nothing is known yet are left out, so that in a circle those count who got it going.
        """
        news = False
        for function, sites in self._profile.callers.items():
            sums: Counter[str] = Counter()
            for site, cost in sites.items():
                for bucket, share in self._shares(site).items():
                    sums[bucket] += share * cost
            total = sum(sums.values())
            if total > 0:
                shares = {bucket: cost / total for bucket, cost in sums.items()}
                before = self._of_callers.get(function, {})
                news |= any(abs(share - before.get(bucket, 0)) > ENOUGH for bucket, share in shares.items())
                self._of_callers[function] = shares
        return news
