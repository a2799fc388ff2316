"""Plans in the profiler: the run once, each of its ops once, with the line that it is from."""

import json

import numpy as np
import pytest
from profiling import domain, fresh  # noqa: F401

import tensoriter
from tensoriter import capture, profiler
from tensoriter.graph.passes import cost, parallel
from tensoriter.graph.passes.parallel import ParallelOps

SMALL, LARGE = np.linspace(0.1, 1.0, 100), np.linspace(0.1, 1.0, 50_000)
RUNS = 7


def chain(x):
    return np.sqrt(x * x + 1.0) - x


def counts():
    return {name: entry["count"] for name, entry in domain("plan").items()}


def name_of(step):
    return next(name for name in counts() if name.endswith(step.__name__))


@pytest.mark.parametrize("x", [SMALL, LARGE], ids=["small", "large"])
def test_a_plan_and_each_of_its_ops_count_once(x):
    step = capture(chain)
    step(x)
    with profiler.profile():
        for _ in range(RUNS):
            step(x)
    found = counts()
    assert found.pop(name_of(step)) == RUNS
    assert found == dict.fromkeys(("multiply", "add", "sqrt", "subtract"), RUNS)
    assert not domain()  # no op was called


def test_paths_and_reductions():
    def step(x, y):
        return (x + y).sum(), x[:, :4] + y[:, :4]

    captured = capture(step)
    x = np.ones((8, 8))
    captured(x, x)
    with profiler.profile():
        captured(x, x)
    found = domain("plan")
    assert found["sum"]["path"] == {"contiguous": 0, "strided": 0, "numpy": 1}
    assert found["add"]["count"] == 2
    assert found["add"]["path"] == {"contiguous": 1, "strided": 1, "numpy": 0}


def test_a_step_called_for_the_first_time_counts_once():
    step = capture(chain)
    with profiler.profile():
        step(SMALL)
    assert counts()[name_of(step)] == 1


def test_ops_of_a_group_count_once_on_their_threads(monkeypatch):
    monkeypatch.setattr(cost, "of_region", lambda threads: -1e12)
    monkeypatch.setattr(parallel, "task_threads", lambda: 2)
    step = capture(
        lambda x: (np.sin(x), np.cos(x), np.tan(x), np.exp(x)),
        parallel_ops=ParallelOps(threshold=2, least_work=0.0, most_work=1e12),
    )
    with tensoriter.threads(2):
        step(LARGE)
        assert [one.kind for one in step.plan(LARGE).instructions] == ["group"]
        with profiler.profile():
            for _ in range(RUNS):
                step(LARGE)
    found = counts()
    assert {name: found[name] for name in ("sin", "cos", "tan", "exp")} == dict.fromkeys(
        ("sin", "cos", "tan", "exp"), RUNS
    )
    assert not any(name.startswith(("group", "task")) for name in found)


def test_the_trace_names_the_line_of_each_op(tmp_path):
    step = capture(chain)
    step(SMALL)
    profiler.set_config(filename=tmp_path / "trace.json")
    with profiler.profile():
        step(SMALL)
    events = json.loads((tmp_path / profiler.dump()).read_text())["traceEvents"]
    slices = {event["name"]: event for event in events if event["ph"] == "X" and event["cat"] == "plan"}
    first = chain.__code__.co_firstlineno
    for op in ("multiply", "add", "sqrt", "subtract"):
        assert slices[op]["args"]["source"] == f"{__file__}:{first + 1} in chain"
    # The run encloses its ops.
    run = next(event for name, event in slices.items() if name.endswith("chain"))
    for op in ("multiply", "add", "sqrt", "subtract"):
        assert run["ts"] <= slices[op]["ts"]
        assert slices[op]["ts"] + slices[op]["dur"] <= run["ts"] + run["dur"] + 0.001


def test_capture_and_load_plan_are_tasks_of_the_api(tmp_path):
    with profiler.profile():
        step = capture(chain)
        step(SMALL)
        step.plan(SMALL).save(tmp_path / "chain.plan")
        tensoriter.load_plan(tmp_path / "chain.plan")
    found = {name: entry["count"] for name, entry in domain("api").items()}
    assert found["tensoriter.capture"] == 1
    assert found["tensoriter.load_plan"] == 1
