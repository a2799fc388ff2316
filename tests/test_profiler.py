"""The profiler's counts: every call once, by the path that it took, in every domain where it stands."""

import contextlib
import gc
import json

import numpy as np
import pytest
from profiling import counts, domain, fresh, statistics, trace_events  # noqa: F401

import tensoriter
from tensoriter import add, checked, force_path, multiply, profiler

K = 7
X = np.arange(100, dtype="f4")
GRID = np.arange(100.0).reshape(10, 10)
BYTES = np.full(10, 200, "u1")
LARGE = np.ones(100_000)


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


def test_a_bound_call_by_name():
    f = add.bind(X, X)
    with profiler.profile():
        f.__call__()
        f.__call__(X, [1] * 100)
    assert counts() == {"add": 2}


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
