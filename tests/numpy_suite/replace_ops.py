"""A pytest plugin: NumPy's test files see tensoriter's ops where NumPy's ufuncs stood.

It is given to pytest as `-p replace_ops`, with four options of its own:
    --replace-ops   without it the same files run on NumPy's ufuncs
    --operators     ndarray's operators are tensoriter's
    --report FILE   where the report goes
    --only FILE     run the tests named in this file, one a line; still collect all of them

The report is a JSON object:
    replaced   by name of op, the places where it stands now
    operators  whether ndarray's operators were tensoriter's at the end
    collected  every test that pytest found
    outcomes   for each test that ran, its outcome and the message of its failure or skip
A test is named as in known_failures.txt: 'test_ufunc.py::TestUfunc::test_sum'.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

# While these are imported they need NumPy's own ufuncs, so they come before any is replaced: ma
# keys tables by them, random checks their size, _rational_tests registers C loops with them.
import numpy.ma  # isort: skip
import numpy.random  # isort: skip
import numpy._core._rational_tests  # isort: skip

# A test has up to three reports (set-up, call, tear-down): the worst is the test's outcome.
WORST_FIRST = ("failed", "skipped", "xfailed", "passed")


def replace_in_numpy(ops: Mapping[str, object]) -> dict[str, list[str]]:
    """Put ops[name] wherever a loaded NumPy module has the ufunc np.name as an attribute.

    Found by identity, so an alias goes with its ufunc (np.abs is np.absolute). NumPy's C code and
    ndarray's own operators keep their ufuncs, and so does whatever holds one elsewhere than in a
    module's namespace. Returns the places ('numpy.add', 'numpy._core.umath.add') by name of op.
    """
    names = {id(getattr(np, name)): name for name in ops}
    places: dict[str, list[str]] = {name: [] for name in ops}
    for module_name, module in sorted(sys.modules.items()):
        if module_name.partition(".")[0] != "numpy":
            continue
        for attribute, value in list(vars(module).items()):
            name = names.get(id(value))
            if name is not None:
                setattr(module, attribute, ops[name])
                places[name].append(f"{module_name}.{attribute}")
    return places


def tensoriter_ops() -> dict[str, object]:
    """Every op that tensoriter offers under the name of one of NumPy's ufuncs."""
    import tensoriter

    return {name: value for name, value in vars(tensoriter).items()
            if isinstance(value, tensoriter.Op) and isinstance(getattr(np, name, None), np.ufunc)}


def ufunc_or(op_class: type) -> type:
    """A stand-in for np.ufunc that has an op as an instance as well.

    Test files pick what they run on by isinstance(..., np.ufunc): without this, those tests would
    not fail on an op but vanish.
    """
    ufunc = np.ufunc

    class UfuncOrOp(type):
        def __instancecheck__(cls, value):
            return isinstance(value, (ufunc, op_class))

        def __getattr__(cls, name):
            return getattr(ufunc, name)

    return UfuncOrOp("ufunc", (), {})


def replace_all() -> dict[str, list[str]]:
    """Put all of tensoriter's ops into NumPy's namespaces and tell the places by name of op."""
    import tensoriter

    places = replace_in_numpy(tensoriter_ops())
    np.ufunc = ufunc_or(tensoriter.Op)
    return places


def test_name(node_id: str) -> str:
    """pytest's node id less the folders."""
    path, colons, test = node_id.partition("::")
    return Path(path).name + colons + test


def message_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """One line on why a test failed or was skipped; '' if it passed."""
    if isinstance(report.longrepr, tuple):  # a skip: file, line, reason
        return report.longrepr[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr or "")
    return " ".join(text.split())[:300]


class Report:
    """Collects what happens in a session and writes it as JSON at its end."""

    def __init__(self, path: Path, replaced: dict[str, list[str]]):
        self.path = path
        self.replaced = replaced
        self.collected: list[str] = []
        self.outcomes: dict[str, tuple[str, str]] = {}

    @pytest.hookimpl(tryfirst=True)  # before pytest takes away what -k and --only leave out
    def pytest_collection_modifyitems(self, items):
        self.collected = [test_name(item.nodeid) for item in items]

    def pytest_collectreport(self, report):
        if report.failed:
            self.add(report, "failed")

    def pytest_runtest_logreport(self, report):
        expected_to_fail = report.skipped and hasattr(report, "wasxfail")
        self.add(report, "xfailed" if expected_to_fail else report.outcome)

    def add(self, report: pytest.TestReport | pytest.CollectReport, outcome: str) -> None:
        test = test_name(report.nodeid)
        seen = [(outcome, message_of(report)), self.outcomes.get(test, ("passed", ""))]
        self.outcomes[test] = min(seen, key=lambda one: WORST_FIRST.index(one[0]))

    def pytest_sessionfinish(self):
        import tensoriter

        found = {"replaced": self.replaced, "operators": tensoriter.operators.enabled,
                 "collected": self.collected, "outcomes": self.outcomes}
        self.path.write_text(json.dumps(found, indent=1))


class Only:
    """Leaves out every test that is not named in a file."""

    def __init__(self, path: Path):
        self.tests = set(path.read_text().splitlines())

    @pytest.hookimpl(trylast=True)  # after Report has seen them all
    def pytest_collection_modifyitems(self, config, items):
        left_out = [item for item in items if test_name(item.nodeid) not in self.tests]
        items[:] = [item for item in items if test_name(item.nodeid) in self.tests]
        config.hook.pytest_deselected(items=left_out)


def pytest_addoption(parser):
    group = parser.getgroup("replace_ops")
    group.addoption("--replace-ops", action="store_true")
    group.addoption("--operators", action="store_true")
    group.addoption("--report", type=Path, required=True)
    group.addoption("--only", type=Path)


def pytest_configure(config):
    # Test modules are imported after this, so `from numpy import add` in one of them is replaced.
    replaced = replace_all() if config.option.replace_ops else {}
    if config.option.operators:
        import tensoriter

        tensoriter.operators.enable()
    config.pluginmanager.register(Report(config.option.report, replaced))
    if config.option.only:
        config.pluginmanager.register(Only(config.option.only))
