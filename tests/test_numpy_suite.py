"""NumPy's own tests, as its wheel ships them, with tensoriter's ops where NumPy's ufuncs stood.

The files run in a process of their own (numpy_suite/replace_ops.py replaces the ops there). What
did not pass runs once more on NumPy alone, which tells what fails, or skips itself, whatever the
ops are. The rest must be listed in numpy_suite/known_failures.txt with a reason. About two minutes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SUITE = Path(__file__).with_name("numpy_suite")
NUMPY = Path(np.__file__).parent
TESTS = NUMPY / "_core" / "tests"
FILES = ("test_ufunc", "test_umath", "test_nep50_promotions", "test_mem_overlap", "test_half",
         "test_umath_complex", "test_overrides", "test_multiarray", "test_scalarmath")

# They take a third of the time and call no op: they try np.may_share_memory on thousands of pairs
# of views and np.count_nonzero on every bool array of 17 elements. Their small sisters do run. (The last
# one counts references to float64's dtype, which dead arrays in the free list hold, too.)
LEFT_OUT = ("test_may_share_memory_easy_fuzz", "test_may_share_memory_harder_fuzz",
            "test_diophantine_fuzz", "test_count_nonzero_all", "test_scalar_interface")


def run_numpy_suite(folder: Path, name: str, paths: list[Path], *options: str) -> dict:
    """Run these files under the plugin in a new process and return the plugin's report."""
    report = folder / f"{name}.json"
    # No plugins but ours, no options of the outer run, the same test ids in both runs, and no
    # tests that fill the memory (NumPy skips those that need more than it is told there is: three
    # that need 6 to 18 GB, for dot and minimum.reduce).
    environment = {key: value for key, value in os.environ.items() if key != "PYTEST_ADDOPTS"}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONHASHSEED": "0",
                    "NPY_AVAILABLE_MEM": "4GB", "PYTHONPATH": os.pathsep.join(
                        filter(None, [str(SUITE), environment.get("PYTHONPATH")]))}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "replace_ops", "-c", SUITE / "suite.ini",
         "--rootdir", NUMPY, "--report", report, "-k", f"not ({' or '.join(LEFT_OUT)})", *options,
         *paths],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=7200)
    # 0: all passed; 1: some failed; 5: none was to be run. A crash has another code.
    assert run.returncode in (0, 1, 5), run.stdout[-5000:] + run.stderr[-5000:]
    return json.loads(report.read_text())


def known_failures() -> dict[str, str]:
    """The reason by test, from known_failures.txt."""
    lines = (SUITE / "known_failures.txt").read_text().splitlines()
    entries = [line.split("  # ", 1) for line in lines if line and not line.startswith("#")]
    return {test.strip(): reason for test, reason in entries}


def differences(replaced: dict, numpy: dict) -> dict[str, str]:
    """Each test that does something else with our ops than on NumPy alone, and what it does."""
    changed = {test: f"{outcome}: {message}"
               for test, (outcome, message) in replaced["outcomes"].items()
               if outcome != numpy["outcomes"].get(test, ["passed"])[0]}
    vanished = set(numpy["collected"]) - set(replaced["collected"])
    return changed | dict.fromkeys(vanished, "not collected")


def run_and_repeat(folder: Path, paths: list[Path], option: str) -> tuple[dict, dict]:
    """The report with that option, and that of NumPy alone on what did not pass with it."""
    replaced = run_numpy_suite(folder, "replaced", paths, option)
    again = [test for test, (outcome, _) in replaced["outcomes"].items() if outcome != "passed"]
    only = folder / "only.txt"
    only.write_text("\n".join(again))
    return replaced, run_numpy_suite(folder, "numpy", paths, "--only", str(only))


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> tuple[dict, dict]:
    folder = tmp_path_factory.mktemp("numpy_suite")
    return run_and_repeat(folder, [TESTS / f"{file}.py" for file in FILES], "--replace-ops")


def test_ops_stand_where_ufuncs_stood(reports):
    places = reports[0]["replaced"]["add"]
    assert {"numpy.add", "numpy._core.umath.add", "numpy._core.numeric.add",
            "numpy._core._multiarray_umath.add"} <= set(places)


def test_most_tests_pass(reports):
    outcomes = [outcome for outcome, _ in reports[0]["outcomes"].values()]
    assert outcomes.count("passed") > 0.98 * len(reports[1]["collected"])


def test_what_differs_is_known(reports):
    known = known_failures()
    unknown = [f"{test}\n    {what}" for test, what in differences(*reports).items()
               if test not in known]
    assert not unknown, "\n".join(unknown)


def test_what_is_known_still_differs(reports):
    differing = differences(*reports)
    stale = [test for test in known_failures()
             if test in reports[1]["collected"] and test not in differing]
    assert not stale, "\n".join(stale)
