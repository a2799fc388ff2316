"""Start the measured process, and take what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tensoriter.overhead.profile import Profile
from tensoriter.overhead.subjects import SUBJECTS

SCRIPT = Path(__file__).with_name("measured.py")
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Subject:
    """What is measured: a name of subjects.SUBJECTS or module:function, with n values of a dtype."""

    name: str
    n: int
    dtype: str
    python: str = sys.executable

    def label(self, facts: Mapping[str, Any]) -> str:
        """Its name, with the library's version where that is not said elsewhere."""
        library = SUBJECTS[self.name].library if self.name in SUBJECTS else ""
        version = str(facts.get("version", "")).partition("+")[0]
        if library in ("", "numpy", "tensoriter") or not version:
            return self.name
        return self.name.replace(library, f"{library} {version}", 1)


class Measured(NamedTuple):
    """What the measured process said, and the profile; None where the subject was absent."""

    facts: dict[str, Any]
    profile: Profile | None


def run(
    before: Sequence[str],
    collector: str,
    where: str,
    subject: Subject,
    settings: Mapping[str, str],
) -> dict[str, Any]:
    """Run a subject under the command `before`; {"absent": why} where it could not be."""
    what = [collector, where, subject.name, str(subject.n), subject.dtype]
    environment = os.environ | ONE_THREAD | settings
    try:
        done = subprocess.run(
            [*before, subject.python, str(SCRIPT), *what],
            env=environment, capture_output=True, text=True,
        )  # fmt: skip
    except OSError as error:
        return {"absent": f"{before[0]} could not be run: {error.strerror}"}
    said = done.stdout.strip().rpartition("\n")[2]
    if said.startswith("{"):
        return dict(json.loads(said))
    last = (done.stderr.strip() or f"exit code {done.returncode}").rpartition("\n")[2]
    return {"absent": f"its process ended early: {last}"}
