"""The profiler's statistics, its states, and its bounds under threads."""

import ctypes
import itertools
import json
import sys
import threading

import numpy as np
import pytest
from profiling import counts, domain, fresh, statistics, trace_events  # noqa: F401

import tensoriter
from tensoriter import add, multiply, profiler
from tensoriter.core import hooks
from tensoriter.profiler import recording

K = 7
X = np.arange(100, dtype="f4")
GRID = np.arange(100.0).reshape(10, 10)
BYTES = np.full(10, 200, "u1")
LARGE = np.ones(100_000)


# ---------------------------------------------------------------- statistics


def nearest_rank(values, share):
    return sorted(values)[max(0, int(np.ceil(share * len(values))) - 1)]


@pytest.mark.parametrize("count", [1, 2, 3, 63, 64, 65, 100, 5000])
def test_times_are_those_of_the_trace(count, tmp_path):
    with profiler.profile():
        for _ in range(count):
            add(X, X)
    entry = domain()["add"]
    times = [round(event["dur"] * 1000) for event in trace_events(tmp_path)]
    assert entry["count"] == len(times) == count
    assert entry["total"] == sum(times)
    assert (entry["min"], entry["max"]) == (min(times), max(times))
    assert entry["avg"] == pytest.approx(sum(times) / count)
    for share, name in ((0.5, "p50"), (0.99, "p99")):
        exact = nearest_rank(times, share)
        assert entry[name] == exact if count <= 64 else abs(entry[name] - exact) <= 0.016 * exact


@pytest.mark.parametrize("scale", [1, 40, 1000, 10**6, 10**10])
def test_percentiles_are_right_to_1_6_percent_at_any_scale(scale):
    generator = np.random.default_rng(3)
    times = (generator.lognormal(0, 1, 1000) * scale).astype(int).tolist()
    profiler.start()
    number = profiler.Domain("made up").number
    for time in times:
        recording.add(recording.RecordType.EVENT, 3, number, number, 10**6, 10**6 + time)
    entry = domain("made up")["made up"]
    for share, name in ((0.5, "p50"), (0.99, "p99")):
        exact = nearest_rank(times, share)
        assert abs(entry[name] - exact) <= 0.016 * exact


def test_times_beyond_the_histogram():
    profiler.start()
    number = profiler.Domain("long").number
    for _ in range(100):
        recording.add(recording.RecordType.EVENT, 3, number, number, 0, 2**60)
    assert domain("long")["long"]["p99"] == domain("long")["long"]["max"] == 2**60


def test_statistics_add_up_until_they_are_reset():
    for _ in range(2):
        with profiler.profile():
            add(X, X)
    assert counts() == {"add": 2}
    profiler.dumps(reset=True)
    assert counts() == {}
    with profiler.profile():
        add(X, X)
    assert counts() == {"add": 1}


def test_reset_while_it_is_on():
    profiler.start()
    add(X, X)
    profiler.dumps(reset=True)
    add(X, X)
    assert counts() == {"add": 1}


def test_many_names():
    with profiler.profile():
        for k in range(5000):
            with profiler.Event(f"step {k}"):
                pass
    assert counts("event") == {f"step {k}": 1 for k in range(5000)}


@pytest.mark.parametrize("sort_by", ["total", "avg", "min", "max", "count", "p50", "p99"])
@pytest.mark.parametrize("ascending", [False, True])
def test_order(sort_by, ascending):
    with profiler.profile():
        for k, op in enumerate((add, multiply, tensoriter.subtract, tensoriter.arctan2)):
            for _ in range(K + k):
                op(LARGE[: 10 ** (k + 1)], 2.0)
    text = profiler.dumps(format="json", sort_by=sort_by, ascending=ascending)
    entries = json.loads(text)["domains"]["operator"]
    values = [entry[sort_by] for entry in entries.values()]
    assert values == sorted(values, reverse=not ascending)
    table = profiler.dumps(sort_by=sort_by, ascending=ascending).splitlines()
    assert [line.split()[0] for line in table[2:6]] == list(entries)


def test_the_table():
    with profiler.profile():
        for _ in range(K):
            add(X, X)
        add(X[::2], X[::2])
    table = profiler.dumps()
    heading, _, line, *_ = table.splitlines()
    heading = " ".join(heading.split())
    assert heading == "operator count total ms avg us min us p50 us p99 us max us MB path"
    assert line.split()[:2] == ["add", "8"]
    assert line.endswith(f"contiguous {K}, strided 1")
    assert "Recording took about" in table.splitlines()[-1]


def test_the_table_of_nothing():
    profiler.set_config(profile_memory=False)
    assert profiler.dumps().startswith("Nothing was recorded.")


def test_a_terrible_name_stays_on_one_line_of_the_table():
    name = 'quotes " and \\ and\nlines \x00' + "x" * 10_000
    with profiler.profile(profile_memory=False), profiler.Event(name):
        pass
    assert counts("event") == {name: 1}
    lines = profiler.dumps().splitlines()
    assert len(lines) == 5
    assert max(map(len, lines)) < 200


# ---------------------------------------------------------------- on and off


def test_off_is_off():
    add(X, X)
    profiler.start()
    profiler.stop()
    add(X, X)
    add.reduce(X)
    assert counts() == {}


def test_pause_and_resume():
    profiler.start()
    add(X, X)
    profiler.pause()
    assert not profiler.is_running()
    add(X, X)
    profiler.pause()
    profiler.resume()
    assert profiler.is_running()
    add(X, X)
    profiler.resume()
    profiler.stop()
    assert counts() == {"add": 2}


def test_orders_out_of_place_do_nothing():
    for order in (profiler.stop, profiler.pause, profiler.resume, profiler.stop):
        order()
        assert not profiler.is_running()
    profiler.start()
    profiler.start()
    add(X, X)
    profiler.pause()
    profiler.start()
    add(X, X)
    profiler.stop()
    profiler.stop()
    profiler.resume()
    assert not profiler.is_running()
    assert counts() == {"add": 2}


def test_a_second_configuration_while_it_is_on_is_refused_and_loses_nothing():
    profiler.start()
    add(X, X)
    with pytest.raises(RuntimeError, match="stop"):
        profiler.set_config(shapes=True)
    with pytest.raises(RuntimeError, match="stop"), profiler.profile(shapes=True):
        pass
    profiler.pause()
    with pytest.raises(RuntimeError, match="stop"):
        profiler.set_config(shapes=True)
    profiler.resume()
    add(X, X)
    assert counts() == {"add": 2}


def test_dumps_without_statistics_is_an_error_and_loses_nothing(tmp_path):
    with profiler.profile(aggregate_stats=True):
        add(X, X)
    profiler.set_config(aggregate_stats=False)
    profiler.start()
    multiply(X, X)
    with profiler.Event("own"):
        pass
    for reset in (True, False):
        with pytest.raises(RuntimeError, match="aggregate_stats"):
            profiler.dumps(reset=reset)
    profiler.stop()
    profiler.set_config(aggregate_stats=True)
    assert counts() == {"add": 1}
    assert counts("operator") | statistics()["domains"].get("event", {}) == {"add": 1}
    assert [e["name"] for e in trace_events(tmp_path)] == ["add", "multiply", "own"]


@pytest.mark.parametrize("arguments, message", [
    ({"format": "xml"}, "format"), ({"sort_by": "median"}, "sort_by"),
])  # fmt: skip
def test_dumps_refuses_what_it_does_not_know(arguments, message):
    with profiler.profile():
        add(X, X)
    with pytest.raises(ValueError, match=message):
        profiler.dumps(reset=True, **arguments)
    assert counts() == {"add": 1}


@pytest.mark.parametrize("arguments, error", [
    ({"dump_period": 0}, ValueError), ({"dump_period": -1}, ValueError),
    ({"dump_period": float("nan")}, ValueError),
    ({"filename": "/no/such/folder/trace.json"}, OSError), ({"filename": "/"}, OSError),
    ({"unknown": 1}, TypeError),
], ids=str)  # fmt: skip
def test_a_bad_configuration_is_refused_whole(arguments, error):
    with pytest.raises(error):
        profiler.set_config(profile_api=False, **arguments)
    with profiler.profile(profile_operators=False):
        add(X, X)
    assert counts("api") == {"tensoriter.add": 1}


def test_a_profile_block_ends_after_an_exception_and_gives_the_configuration_back():
    with pytest.raises(ZeroDivisionError), profiler.profile(shapes=True):
        add(X, X)
        raise ZeroDivisionError
    assert not profiler.is_running()
    with profiler.profile():
        add(X, X)
    assert counts() == {"add [float32[100], float32[100]]": 1, "add": 1}


def test_results_are_the_same():
    expected = [np.add(X, X).tolist(), np.add(GRID, GRID.T).tolist(), np.add.reduce(X)]
    with profiler.profile(shapes=True):
        found = [add(X, X).tolist(), add(GRID, GRID.T).tolist(), add.reduce(X)]
        with pytest.raises(ValueError, match="broadcast"):
            add(X, X[:3])
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            tensoriter.divide(X + 1, 0.0)
    assert found == expected


def test_references_are_kept_in_order():
    out = np.empty_like(X)
    with profiler.profile(shapes=True):
        add(X, X, out=out)
        before = [sys.getrefcount(thing) for thing in (X, out, add)]
        for _ in range(3000):
            add(X, X, out=out)
            add.reduce(X)
        assert [sys.getrefcount(thing) for thing in (X, out, add)] == before


# ---------------------------------------------------------------- threads and bounds


def test_threads_lose_nothing():
    def work(op, k):
        for _ in range(k):
            op(LARGE, 1.0)  # lets others run meanwhile
            op(X, X)

    threads = [threading.Thread(target=work, args=(op, 500)) for op in (add, multiply, add)]
    with profiler.profile():
        for thread in threads:
            thread.start()
        for _ in range(20):
            statistics()  # while they record
        for thread in threads:
            thread.join()
    assert counts() == {"add": 2000, "multiply": 1000}


def test_paths_of_threads_do_not_mix():
    barrier = threading.Barrier(2)

    def work(operands):
        barrier.wait()
        for _ in range(300):
            add(*operands)

    swapped = LARGE.astype(">f8")
    threads = [threading.Thread(target=work, args=(x,)) for x in ((LARGE, LARGE), (swapped, LARGE))]
    with profiler.profile():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert domain()["add"]["path"] == {"contiguous": 300, "strided": 300, "numpy": 0}


def test_threads_that_ended_with_records_unread():
    with profiler.profile():
        for _ in range(50):
            thread = threading.Thread(target=lambda: [add(X, X) for _ in range(10)])
            thread.start()
            thread.join()
    assert counts() == {"add": 500}


class Event(ctypes.Structure):
    """As in core/hooks.pxd."""

    _fields_ = [(name, ctypes.c_uint) for name in ("name", "task", "scope", "shapes")]
    _fields_ += [(name, ctypes.c_ushort) for name in ("kind", "path")]
    _fields_ += [(name, ctypes.c_longlong) for name in ("begin", "end", "bytes", "handle")]


def test_the_core_records_without_the_gil():
    """As a plan's instructions do: ctypes gives the GIL away before it calls the recorder."""
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))  # fmt: skip
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    capsule = hooks.__pyx_capi__["recorder"]
    place = ctypes.c_void_p.from_address(address_of(capsule, name_of(capsule)))
    assert place.value is None  # nobody records
    instruction = 3
    event = Event(hooks.name_number("fused"), 0, 0, 0, instruction, 3, 1000, 3000, 64, 7)
    profiler.start()
    send = ctypes.CFUNCTYPE(None, ctypes.POINTER(Event))(place.value)
    threads = [threading.Thread(target=lambda: [send(event) for _ in range(3000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        statistics()
    for thread in threads:
        thread.join()
    profiler.stop()
    send(event)  # one that began before
    entry = domain("plan")["fused"]
    assert (entry["count"], entry["total"], entry["bytes"]) == (12_001, 12_001 * 2000, 12_001 * 64)


def test_more_calls_than_a_ring_holds():
    with profiler.profile():
        for _ in itertools.repeat(None, 10_000):
            add(X, X)
    assert counts() == {"add": 10_000}


def test_a_full_trace_drops_and_says_so_but_counts_on(tmp_path):
    limit = recording.limit_trace(100)
    try:
        with profiler.profile(profile_memory=False):
            for _ in range(2500):
                add(X, X)
        found = statistics()
        assert found["domains"]["operator"]["add"]["count"] == 2500
        assert found["dropped"] == 2400
        assert "2,400 records did not fit into the trace" in profiler.dumps()
        assert len(trace_events(tmp_path)) == 100
        assert json.loads((tmp_path / "trace.json").read_text())["otherData"]["dropped"] == 2400
    finally:
        recording.limit_trace(limit)
