"""Differential testing: ops against the NumPy ufuncs they stand for, on random calls.

``cases`` makes the calls, case k of seed s always the same; ``compare`` makes one call and records
all that can be seen of it; ``shrink`` makes a failing call smaller; ``run`` puts them together. It
needs NumPy and the standard library only, so that it can run wherever tensoriter is installed.

>>> from tensoriter.verify import verify
>>> report = verify(seed=1, cases=50)
>>> report.cases, report.mismatch
(50, None)
"""

from tensoriter.verify.cases import op_names
from tensoriter.verify.run import Mismatch, Report, new_seed, verify

__all__ = ["Mismatch", "Report", "new_seed", "op_names", "verify"]
