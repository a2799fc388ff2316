"""NumPy's own tests with ndarray's operators on tensoriter: none does anything else than without.

TENSORITER_WHOLE_SUITE=1 in the environment runs all of numpy/_core/tests and numpy/lib/tests; otherwise
it is the files in which operators matter most, about a minute.
"""

import os

import pytest
from test_numpy_suite import NUMPY, TESTS, differences, run_and_repeat

FILES = ("test_multiarray", "test_scalarmath", "test_nep50_promotions", "test_numeric", "test_datetime",
         "test_custom_dtypes", "test_overrides", "test_deprecations")
WHOLE = [TESTS, NUMPY / "lib" / "tests"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> tuple[dict, dict]:
    whole = os.environ.get("TENSORITER_WHOLE_SUITE") == "1"
    paths = WHOLE if whole else [TESTS / f"{file}.py" for file in FILES]
    return run_and_repeat(tmp_path_factory.mktemp("operators"), paths, "--operators")


def test_operators_were_on(reports):
    with_operators, numpy = reports
    assert with_operators["operators"]
    assert not numpy["operators"]


def test_many_tests_pass(reports):
    outcomes = [outcome for outcome, _ in reports[0]["outcomes"].values()]
    assert outcomes.count("passed") > 10_000


def test_nothing_differs(reports):
    unknown = [f"{test}\n    {what}" for test, what in differences(*reports).items()]
    assert not unknown, "\n".join(unknown)
