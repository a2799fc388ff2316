"""What tests of the profiler share: it is off and empty around each, and what it has counted."""

import json

import pytest

from tensoriter import profiler
from tensoriter.profiler import recording


@pytest.fixture(autouse=True)
def fresh():
    """The profiler off and empty, before and after."""
    clear()
    yield
    clear()


def clear():
    profiler.stop()
    profiler.set_config(aggregate_stats=True, profile_operators=True, profile_api=True, profile_memory=True,
                        shapes=False, continuous_dump=False, dump_period=1.0)  # fmt: skip
    profiler.dumps(reset=True)
    recording.forget_trace()


def statistics():
    return json.loads(profiler.dumps(format="json"))


def domain(name="operator"):
    return statistics()["domains"][name]


def counts(name="operator"):
    return {key: entry["count"] for key, entry in domain(name).items()}


def trace_events(tmp_path, phase="X"):
    profiler.set_config(filename=tmp_path / "trace.json")
    events = json.loads((tmp_path / profiler.dump()).read_text())["traceEvents"]
    return [event for event in events if event["ph"] == phase]
