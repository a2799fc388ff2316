"""No call leaks: each case of leaks.py in a process of its own."""

import pathlib
import subprocess
import sys

import leaks
import pytest


@pytest.mark.parametrize("name", leaks.CASES)
def test_nothing_leaks(name):
    command = [sys.executable, str(pathlib.Path(leaks.__file__)), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("leak", ["reference", "block"])
def test_a_leak_is_found(leak, monkeypatch):
    """The net holds: a call that keeps something is told."""
    kept = []
    keep = (lambda: kept.append(leaks.X)) if leak == "reference" else (lambda: kept.append([]))
    monkeypatch.setitem(leaks.CASES, "kept", (10_000, keep))
    assert leaks.leaks_of("kept")
