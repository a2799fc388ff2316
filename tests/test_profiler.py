"""The profiler's counts: every call once, by the path that it took, in every domain where it stands."""

import contextlib
import gc
import itertools
import json
import sys
import threading

import numpy as np
import pytest

import tensoriter
from tensoriter import add, checked, force_path, multiply, profiler
from tensoriter.profiler import recording

K = 7
X = np.arange(100, dtype="f4")
GRID = np.arange(100.0).reshape(10, 10)
BYTES = np.full(10, 200, "u1")
LARGE = np.ones(100_000)


@pytest.fixture(autouse=True)
def fresh():
    """The profiler off and empty, before and after."""
    clear()
    yield
    clear()


def clear():
    profiler.stop()
    profiler.set_config(aggregate_stats=True, profile_operators=True, profile_api=True, profile_memory=True,
                        shapes=False, continuous_dump=False)  # fmt: skip
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


class Subclass(np.ndarray):
    pass


# Calls as (op, operands, keywords); the path of each is what `explain` says.
CALLS = {
    "contiguous": (add, (X, X), {}),
    "contiguous, 2-d": (add, (GRID, GRID), {}),
    "contiguous, Fortran": (add, (GRID.T, GRID.T), {}),
    "scalar": (add, (X, 1.5), {}),
    "scalar first": (add, (2, X), {}),
    "NumPy scalar": (add, (X, np.float32(2)), {}),
    "two scalars": (add, (1.0, 2.0), {}),
    "0-d": (add, (np.array(1.0), np.array(2.0)), {}),
    "out": (add, (X, X, np.empty_like(X)), {}),
    "out=": (add, (X, X), {"out": np.empty_like(X)}),
    "out=(out,)": (add, (X, X), {"out": (np.empty_like(X),)}),
    "unary": (tensoriter.negative, (X,), {}),
    "unary, strided": (tensoriter.negative, (X[::2],), {}),
    "strided": (add, (X[::2], X[1::2]), {}),
    "transposed": (add, (GRID, GRID.T), {}),
    "broadcast": (add, (GRID, GRID[0]), {}),
    "three dimensions": (add, (GRID.reshape(2, 5, 10), GRID[:5]), {}),
    "mixed": (add, (X, X.astype("i4")), {}),
    "swapped": (add, (X, X.astype(">f4")), {}),
    "dtype=": (add, (X, X), {"dtype": "f8"}),
    "order=": (add, (GRID, GRID), {"order": "F"}),
    "where=": (add, (X, X), {"where": X > 5, "out": np.zeros_like(X)}),
    "checked=": (add, (X.astype("i4"), 1), {"checked": True}),
    "checked=, out=": (add, (X.astype("i4"), 1), {"checked": True, "out": np.empty(100, "i4")}),
    "checked=, first keyword": (add, (BYTES, 5), {"checked": True, "dtype": "i8"}),
    "list": (add, (X, [1] * 100), {}),
    "objects": (add, (np.array([1, 2], object), 1), {}),
    "subclass": (add, (X.view(Subclass), X), {}),
    "dates": (add, (np.array(["2020-01-01"], "M8[D]"), 1), {}),
    "signature=": (add, (X, X), {"signature": "dd->d"}),
    "masked comparison": (tensoriter.less, (X, X), {"where": X > 5, "out": np.zeros(100, bool)}),
    "borrowed": (tensoriter.arctan2, (X, X), {}),
    "borrowed, strided": (tensoriter.arctan2, (X[::2], X[1::2]), {}),
    "two outputs": (tensoriter.divmod, (X, 3), {}),
    "one input, two outputs": (tensoriter.modf, (X,), {}),
    "extremum": (tensoriter.maximum, (X, X), {}),
    "generalized": (tensoriter.matmul, (GRID, GRID), {}),
    "large": (add, (LARGE, LARGE), {}),
    "large, strided": (add, (LARGE[::2], LARGE[1::2]), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_each_call_counts_once_by_its_path(name):
    op, operands, keywords = CALLS[name]
    expected = tensoriter.explain(*operands, op=op, **keywords).path
    with profiler.profile():
        for _ in range(K):
            op(*operands, **keywords)
    entry = domain()[op.__name__]
    assert counts() == {op.__name__: K}
    assert entry["path"] == {"contiguous": 0, "strided": 0, "numpy": 0} | {expected: K}


@pytest.mark.parametrize("path", ["strided", "numpy"])
@pytest.mark.parametrize("name", ["contiguous", "scalar", "out=", "transposed"])
def test_forced_paths(name, path):
    op, operands, keywords = CALLS[name]
    with profiler.profile(), force_path(path):
        op(*operands, **keywords)
    assert domain()[op.__name__]["path"][path] == 1


def test_alpha():
    with profiler.profile():
        add(X, X, alpha=2)
        with pytest.raises(TypeError):
            multiply(X, X, alpha=2)
    assert counts() == {"add": 1, "multiply": 1}
    assert domain()["add"]["path"]["strided"] == 1


def test_a_checked_block_and_an_overflow():
    with profiler.profile(), checked():
        add(BYTES, 1)
        add(BYTES, [1] * 10)
        with pytest.raises(OverflowError):
            add(BYTES, 100)
    assert counts() == {"add": 3}


def test_calls_that_raise_count():
    with profiler.profile():
        with pytest.raises(ValueError):
            add(X, X[:3])
        with pytest.raises(TypeError):
            add(X)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            tensoriter.divide(X, 0.0)
    assert counts() == {"add": 2, "divide": 1}
    assert domain()["add"]["path"]["numpy"] == 2


@pytest.mark.parametrize("method, arguments", [
    ("reduce", (X,)), ("accumulate", (X,)), ("outer", (X, X)), ("reduceat", (X, [0, 5])),
    ("at", (X.copy(), [1, 2], 1)),
])  # fmt: skip
def test_methods(method, arguments):
    before = getattr(add, method)
    with profiler.profile():
        for _ in range(K):
            getattr(add, method)(*arguments)
        before(*arguments)  # fetched while the profiler was off
    after = getattr(add, method)
    after(*arguments)
    assert counts() == {f"add.{method}": K + 1}
    assert domain()[f"add.{method}"]["path"]["numpy"] == K + 1


def test_a_call_by_name():
    with profiler.profile():
        tensoriter.Op.__call__(add, X, X)
        add.__call__(X, X, out=X.copy())
        add.reduce.__call__(X)
    assert counts() == {"add": 2, "add.reduce": 1}


@pytest.mark.parametrize("operands, others", [
    ((X, X), (X[::2], X[::2])), ((X[::2], X[::2]), (X, X)), ((GRID, GRID[0]), (GRID, [1.0] * 10)),
    ((X, 2), ([1], [2])), (([1], [2]), (X, X)),
], ids=str)  # fmt: skip
def test_bound_calls(operands, others):
    f = add.bind(*operands)
    paths = [tensoriter.explain(*x).path for x in (operands, others)]
    with profiler.profile():
        f()
        f(*others)
        new = add.bind(*operands)  # one that is made while the profiler is on
        new()
    entry = domain()["add"]
    assert entry["count"] == 3
    expected = [paths[0], paths[1], paths[0]]
    assert entry["path"] == {path: expected.count(path) for path in ("contiguous", "strided", "numpy")}


def test_operators():
    huge = np.ones(200_000)
    with profiler.profile(), tensoriter.operators():
        _ = X + X, X * 2, -X, X == X, 2 - X
        y = X.copy()
        y += 1
        _ = huge + huge + huge  # NumPy would compute in the place of the temporary
    assert counts() == {"add": 4, "multiply": 1, "negative": 1, "equal": 1, "subtract": 1}


def test_a_reduce_that_calls_an_op():
    rows = np.empty(K + 1, object)
    rows[:] = [X] * (K + 1)
    with profiler.profile(), tensoriter.operators():
        add.reduce(rows)
    assert counts() == {"add.reduce": 1, "add": K}
    entry = domain()
    assert entry["add"]["path"]["contiguous"] == K
    assert entry["add.reduce"]["path"]["numpy"] == 1
    assert entry["add.reduce"]["max"] >= entry["add"]["total"]


class Calls:
    """An operand whose __array_ufunc__ calls something."""

    def __init__(self, function):
        self.function = function

    def __array_ufunc__(self, *arguments, **keywords):
        return self.function()


def test_a_call_within_a_call_of_the_same_op():
    with profiler.profile():
        add(X, Calls(lambda: add(X, Calls(lambda: add(X, X)))))
    assert domain()["add"]["path"] == {"contiguous": 1, "strided": 0, "numpy": 2}


def test_what_has_begun_is_recorded_and_what_had_begun_is_not():
    def off():
        profiler.stop()
        return add(X, X)  # begins while it is off

    def on():
        profiler.start()
        return multiply(X, X)

    profiler.start()
    add(X, Calls(off))
    assert counts() == {"add": 1}
    assert domain()["add"]["path"]["numpy"] == 1
    tensoriter.subtract(X, Calls(on))
    profiler.stop()
    assert counts() == {"add": 1, "multiply": 1}


def test_ops_made_while_it_is_on_and_ones_that_died():
    made = tensoriter.Op(np.add)
    with profiler.profile():
        own = tensoriter.Op(np.multiply)
        own(X, X), made(X, X)
        f = own.bind(X, X)
        f()
        del own, f, made
        gc.collect()
        add(X, X)
    assert counts() == {"multiply": 2, "add": 2}
    add(X, X)
    assert counts() == {"multiply": 2, "add": 2}


def test_an_op_that_is_initialised_twice():
    op = tensoriter.Op(np.add)
    with pytest.raises(TypeError, match="stays"):
        op.__init__(np.multiply)
    with profiler.profile():
        op(X, X)
    assert counts() == {"add": 1}


def test_each_op_counts_k_times():
    ops = {name: value for name, value in vars(tensoriter).items() if isinstance(value, tensoriter.Op)}
    called = {}
    with profiler.profile(), np.errstate(all="ignore"):
        for op in set(ops.values()):
            operands = [np.ones((2, 2), "i4")] * op.nin
            with contextlib.suppress(TypeError):
                for _ in range(K):
                    called[op.__name__] = called.get(op.__name__, 0) + 1
                    op(*operands)
    assert counts() == called


# ---------------------------------------------------------------- domains


DOMAINS = {
    "both": (True, True, {"add": K}, {}),
    "operators": (True, False, {"add": K}, {}),
    "api": (False, True, {}, {"tensoriter.add": K}),
    "neither": (False, False, {}, {}),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_a_call_counts_once_whatever_domains_are_on(name, tmp_path):
    operators, api, in_operator, in_api = DOMAINS[name]
    with profiler.profile(profile_operators=operators, profile_api=api, profile_memory=False):
        for _ in range(K):
            add(X, X)
    assert counts("operator") == in_operator
    assert counts("api") == in_api
    profiler.set_config(filename=tmp_path / "trace.json")
    events = json.loads((tmp_path / profiler.dump()).read_text())["traceEvents"]
    phases = [(event["ph"], event["cat"]) for event in events if "cat" in event]
    assert phases.count(("X", "operator")) == K * operators
    assert phases.count(("b", "api")) == phases.count(("e", "api")) == K * api


def test_a_profile_operator_counts_once_and_both_its_events_are_traced(tmp_path):
    operator = profiler.ProfileOperator("mine")
    assert operator.enable_aggregate
    assert not operator.as_task.enable_aggregate
    with profiler.profile():
        for _ in range(K):
            with operator:
                pass
    assert counts("operator") == {"mine": K}
    assert counts("api") == {}
    assert len([e for e in trace_events(tmp_path) if e["name"] == "mine"]) == K
    assert len([e for e in trace_events(tmp_path, "b") if e["name"] == "mine"]) == K


def test_a_task_that_aggregates_would_count_twice():
    """What the flag is for."""
    operator = profiler.ProfileOperator("mine")
    operator.as_task.enable_aggregate = True
    with profiler.profile(), operator:
        pass
    assert counts("operator") == counts("api") == {"mine": 1}


def test_other_public_functions_are_tasks_of_the_api():
    with profiler.profile():
        tensoriter.explain(X, X)
        f = add.bind(X, X)
        tensoriter.Op.from_ufunc(np.exp)
        f()
    assert counts("api") == {"tensoriter.explain": 1, "tensoriter.Op.bind": 1, "tensoriter.Op.from_ufunc": 1}


def test_shapes():
    with profiler.profile(shapes=True):
        for _ in range(K):
            add(X, X)
            add(X, 1.5)
            add(GRID, GRID[0], out=GRID.copy())
            add(np.array(1), np.int64(2))
            add.reduce(X)
            add(X, [0] * 100)
        add(X.astype("f8"), X)
    assert counts() == {
        "add [float32[100], float32[100]]": K, "add [float32[100], float]": K,
        "add [float64[10, 10], float64[10]]": K, "add [int64[], int64]": K, "add.reduce [float32[100]]": K,
        "add [float32[100], list]": K, "add [float64[100], float32[100]]": 1,
    }  # fmt: skip


def test_many_shapes_are_told_apart():
    with profiler.profile(shapes=True):
        for n in range(1, 600):
            add(np.zeros(n), 1)
            add(np.zeros((n, 2)), 1)
    assert set(counts().values()) == {1}
    assert len(counts()) == 2 * 599


def test_more_dimensions_than_a_line_holds():
    deep = np.zeros((1,) * 40)
    with profiler.profile(shapes=True):
        add(deep, deep)
    assert counts() == {"add": 1}


def test_bytes():
    out = np.empty(100, "f4")
    with profiler.profile():
        add(X, X, out)
        multiply(X, 2.0)
        tensoriter.divmod(X, 3.0)
        add.reduce(X)
    found = {name: entry["bytes"] for name, entry in domain().items()}
    assert found == {"add": 1200, "multiply": 800, "divmod": 1200, "add.reduce": 400}


def test_memory_is_in_counts_and_bytes(fresh_list):
    kind = np.zeros((3, 5, 7))
    with profiler.profile():
        for _ in range(K):
            add(kind, kind)
    memory = statistics()["memory"]
    assert memory["free-list misses"]["last"] == memory["allocations"]["last"] == 1
    assert memory["free-list hits"]["last"] == K - 1
    assert memory["bytes held"]["last"] == kind.nbytes
    assert "memory" not in statistics()["domains"]
    lines = profiler.dumps().splitlines()
    heading = next(line for line in lines if line.startswith("memory"))
    assert heading.split() == ["memory", "last", "min", "max"]


def test_memory_while_the_free_list_is_off(fresh_list):
    tensoriter.free_list.enabled = False
    with profiler.profile():
        for _ in range(K):
            add(X, X)
    memory = statistics()["memory"]
    assert memory["allocations"]["last"] == K
    assert memory["free-list hits"]["last"] == memory["free-list misses"]["last"] == 0


def test_memory_off():
    with profiler.profile(profile_memory=False):
        add(X, X)
    assert statistics()["memory"] == {}


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
    assert heading.split() == ["operator", "count", "total", "ms", "avg", "us", "min", "us", "p50", "us", "p99",
                               "us", "max", "us", "MB", "path"]  # fmt: skip
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
    ({"dump_period": 0}, ValueError), ({"dump_period": -1}, ValueError), ({"dump_period": float("nan")}, ValueError),
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
