"""Groups at work: the bits of one after the other, errors and warnings where they are due, forks, threads."""

import multiprocessing
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from graph_strategies import functions, some_arrays
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile
from test_capture import known

import tensoriter
from tensoriter import capture
from tensoriter.graph.passes import cost, parallel
from tensoriter.graph.passes.parallel import ParallelOps

ALWAYS = ParallelOps(threshold=2, least_work=0.0, most_work=1e12)
X = np.linspace(0.1, 1.0, 5000)


@pytest.fixture(autouse=True)
def groups_always_win(monkeypatch):
    monkeypatch.setattr(cost, "of_region", lambda threads: -1e12)
    monkeypatch.setattr(parallel, "task_threads", lambda: 2)
    with tensoriter.threads(2):
        yield


def kinds(step, *args):
    return [instruction.kind for instruction in step.plan(*args).instructions]


def siblings(x):
    return np.sin(x), np.cos(x), np.tan(x), np.exp(x) + x


def test_independent_ops_are_a_group_with_numpys_bits():
    step = capture(siblings, parallel_ops=ALWAYS)
    for result, expected in zip(step(X), siblings(X), strict=True):
        assert result.tobytes() == expected.tobytes()
    assert "group" in kinds(step, X)


@profile(150)
@given(st.data())
def test_serial_equals_parallel(data):
    function, args = data.draw(functions(all_results=True)), some_arrays(data.draw)
    results = []
    for parallel_ops in (False, ALWAYS):
        step = capture(function, fallback=True, parallel_ops=parallel_ops)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results.append([known(value, args) for value in step(*args)])
            except Exception as error:
                results.append((type(error), str(error).partition("\n")[0]))
    assert results[0] == results[1]


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads(threads):
    step = capture(siblings, parallel_ops=ALWAYS)
    with tensoriter.threads(threads):
        for _ in range(50):
            assert all(a.tobytes() == b.tobytes() for a, b in zip(step(X), siblings(X), strict=True))


def test_rows_are_taken_into_what_they_are_joined_to():
    tables = [np.arange(k, k + 40.0).reshape(10, 4) for k in range(6)]
    rows = np.arange(48).reshape(8, 6) % 10

    def look_up(rows, *tables):
        return np.concatenate([np.take(table, rows[:, k], axis=0) for k, table in enumerate(tables)], axis=1)

    step = capture(look_up, parallel_ops=ALWAYS)
    assert step(rows, *tables).tobytes() == look_up(rows, *tables).tobytes()
    assert kinds(step, rows, *tables) == ["group"]
    other = rows[::-1].astype("i4")
    assert step(other, *tables).tobytes() == look_up(other, *tables).tobytes()


def test_an_index_out_of_bounds_in_a_group_names_the_line():
    tables = [np.ones((10, 4)) for _ in range(4)]

    def look_up(rows, *tables):
        found = [np.take(table, rows, axis=0) for table in tables[:3]]
        found.append(np.take(tables[3], rows + 5, axis=0))
        return np.concatenate(found, axis=1)

    step = capture(look_up, parallel_ops=ALWAYS)
    step(np.array([1, 2]), *tables)
    for _ in range(3):
        with pytest.raises(IndexError, match="index 13 is out of bounds") as caught:
            step(np.array([1, 8]), *tables)
        notes = "\n".join(getattr(caught.value, "__notes__", [str(caught.value)]))
        assert "found.append(np.take(tables[3], rows + 5, axis=0))" in notes
    assert step(np.array([1, 2]), *tables).shape == (2, 16)


def test_the_first_error_in_the_programs_order_is_raised():
    def step(x, y):
        return np.sqrt(x), np.log(y), np.exp(x), np.reciprocal(y)

    both = capture(step, parallel_ops=ALWAYS)
    both(X, X)
    bad = X.copy()
    bad[7] = -1.0
    zero = np.zeros_like(X)
    with np.errstate(all="raise"):
        for _ in range(5):
            with pytest.raises(FloatingPointError, match="invalid value encountered in sqrt"):
                both(bad, zero)
            with pytest.raises(FloatingPointError, match="divide by zero encountered in log"):
                both(X, zero)
    assert "group" in kinds(both, X, X)


def test_warnings_come_in_the_programs_order_from_their_lines():
    def step(x):
        a = np.sqrt(x)
        b = np.log(x)
        c = np.exp(x)
        return a, b, c

    both = capture(step, parallel_ops=ALWAYS)
    both(X)
    assert "group" in kinds(both, X)
    for _ in range(3):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            both(-X)
        first = step.__code__.co_firstlineno
        assert [(str(w.message), w.lineno - first) for w in caught] == [
            ("invalid value encountered in sqrt", 1), ("invalid value encountered in log", 2),
        ]  # fmt: skip


def test_flags_of_other_threads_do_not_stay_behind():
    step = capture(siblings, parallel_ops=ALWAYS)
    with np.errstate(all="ignore"):
        step(np.full(5000, np.inf))
    with np.errstate(all="raise"):
        step(X)
        np.add(X, X)


def test_checked_integers_name_the_index():
    def step(x):
        return x + 100, x * 2, x - 1, -x

    both = capture(step, parallel_ops=ALWAYS)
    values = np.arange(5000, dtype="i1") % 20
    values[99] = 90
    both(values)
    with tensoriter.checked(), pytest.raises(OverflowError, match="add at index 99: 90 [+] 100"):
        both(values)


def test_the_graph_and_explain_show_groups():
    step = capture(siblings, parallel_ops=ALWAYS)
    step(X)
    assert "group of 1 sin, 1 cos, 1 tan, 1 exp" in str(step.graph)
    explanation = tensoriter.explain(X, op=step)
    assert explanation.path == "plan"
    assert "group of 4 tasks, side by side" in str(explanation)
    assert "    task cos" in explanation.walk


def test_a_block_and_its_end_take_effect_at_the_next_call():
    step = capture(siblings)
    step(X)
    assert "group" not in kinds(step, X)
    with tensoriter.parallel_ops(threshold=2, least_work=0.0):
        step(X)
        assert "group" in kinds(step, X)
        with tensoriter.parallel_ops(on=False):
            assert "group" not in kinds(step, X)
        assert "group" in kinds(step, X)
    assert "group" not in kinds(step, X)


def test_the_environment_turns_them_on():
    code = (
        "import numpy as np, tensoriter\n"
        "step = tensoriter.capture(lambda x: (np.sin(x), np.cos(x), np.tan(x), np.exp(x)))\n"
        "x = np.linspace(0, 1, 5_000)\n"
        "step(x)\n"
        "print([i.kind for i in step.plan(x).instructions])\n"
    )
    environment = {**os.environ, "TENSORITER_NUM_THREADS": "2", "TENSORITER_PARALLEL_OPS_VERBOSE": "1"}
    for value, grouped in (("1", True), ("0", False)):
        environment["TENSORITER_PARALLEL_OPS"] = value
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("group" in done.stdout) is grouped
        assert done.stderr.count("tensoriter: a group of 1 sin, 1 cos, 1 tan, 1 exp") == grouped


def test_chains_cost_nothing_with_parallel_ops_on():
    def chain(output, x):
        for _ in range(20):
            output = output + x
        return output

    serial, grouped = capture(chain, parallel_ops=False), capture(chain, parallel_ops=ALWAYS)
    serial(X, X), grouped(X, X)
    assert str(serial.plan(X, X)) == str(grouped.plan(X, X))


@pytest.mark.parametrize("method", ["fork"] if hasattr(os, "fork") else [])
def test_a_forked_child_computes_on_its_own(method):
    step = capture(siblings, parallel_ops=ALWAYS)
    expected = [value.tobytes() for value in step(X)]
    queue = multiprocessing.get_context(method).SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 on forks with threads
        child = multiprocessing.get_context(method).Process(
            target=lambda: queue.put([value.tobytes() for value in step(X)] == expected)
        )
        child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get()


@pytest.mark.parametrize("x", [np.array(2.0), np.float64(2.0), np.ones(3), np.ones((3, 1)).T], ids=str)
def test_numbers_belong_to_the_ops_that_use_them(x):
    def step(x):
        return x + 2, 3 * x, x - True, -x

    both = capture(step, parallel_ops=ALWAYS)
    for result, expected in zip(both(x), step(x), strict=True):
        assert type(result) is type(expected)
        assert known(result, [x]) == known(expected, [x])
