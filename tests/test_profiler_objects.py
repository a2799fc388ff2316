"""What a program records itself: domains, tasks, events, frames, counters, markers and scopes."""

import asyncio
import contextvars
import json
import threading

import numpy as np
import pytest

from tensoriter import add, profiler
from tensoriter.profiler import recording

X = np.arange(10.0)
SPANS = {
    "task": lambda: profiler.Task("domain", "name"),
    "frame": lambda: profiler.Frame("domain", "name"),
    "event": lambda: profiler.Event("name", "domain"),
    "operator": lambda: profiler.ProfileOperator("name"),
}


@pytest.fixture(autouse=True)
def fresh():
    clear()
    yield
    clear()


def clear():
    profiler.stop()
    profiler.dumps(reset=True)
    recording.forget_trace()


def found(part="domains"):
    return json.loads(profiler.dumps(format="json"))[part]


def names(domain="operator"):
    return {name: entry["count"] for name, entry in found()[domain].items()}


# ---------------------------------------------------------------- spans


@pytest.mark.parametrize("kind", SPANS)
class TestSpans:
    def test_start_and_stop(self, kind):
        span = SPANS[kind]()
        with profiler.profile():
            span.start()
            span.stop()
            with span as same:
                assert same is span
        assert names(span.domain.name) == {"name": 2}

    def test_the_end_comes_also_after_an_exception(self, kind):
        span = SPANS[kind]()
        with profiler.profile(), pytest.raises(KeyError), span:
            raise KeyError
        assert names(span.domain.name) == {"name": 1}

    @pytest.mark.parametrize("on", [False, True])
    def test_out_of_order(self, kind, on):
        span = SPANS[kind]()
        if on:
            profiler.start()
        with pytest.raises(RuntimeError, match="not been started"):
            span.stop()
        span.start()
        with pytest.raises(RuntimeError, match="not stopped"):
            span.start()
        span.stop()
        with pytest.raises(RuntimeError, match="not been started"):
            span.stop()
        profiler.stop()
        assert (found().get(span.domain.name) or {}).keys() == ({"name"} if on else set())

    def test_what_begins_decides(self, kind):
        begun_on, begun_off = SPANS[kind](), SPANS[kind]()
        begun_off.start()
        profiler.start()
        begun_off.stop()
        begun_on.start()
        profiler.stop()
        begun_on.stop()
        assert names(begun_on.domain.name) == {"name": 1}

    def test_aggregate_off(self, kind):
        span = SPANS[kind]()
        span.enable_aggregate = False
        with profiler.profile(profile_memory=False), span:
            pass
        assert not found().get(span.domain.name)
        assert recording.traced_records() == (2 if kind == "operator" else 1)

    def test_it_says_what_it_is(self, kind):
        assert "'name'" in repr(SPANS[kind]())


@pytest.mark.parametrize("kind", ["task", "frame"])
def test_a_task_may_end_in_another_thread(kind):
    span = SPANS[kind]()
    with profiler.profile():
        span.start()
        thread = threading.Thread(target=span.stop)
        thread.start()
        thread.join()
    assert names("domain") == {"name": 1}


@pytest.mark.parametrize("kind", ["event", "operator"])
def test_an_event_may_not(kind):
    span = SPANS[kind]()
    errors = []

    def end():
        try:
            span.stop()
        except RuntimeError as error:
            errors.append(str(error))

    with profiler.profile():
        span.start()
        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        span.stop()
    assert "a Task may cross threads" in errors[0]
    assert names(span.domain.name) == {"name": 1}


@pytest.mark.parametrize("make", [
    profiler.Domain, profiler.Event, profiler.ProfileOperator, lambda name: profiler.Task("d", name),
    lambda name: profiler.Frame("d", name), lambda name: profiler.Counter("d", name), profiler.scope,
    lambda name: profiler.Marker("d", name), lambda name: profiler.Task(name, "n"),
])  # fmt: skip
@pytest.mark.parametrize("name, error", [("", ValueError), (None, TypeError), (b"bytes", TypeError)])
def test_names(make, name, error):
    with pytest.raises(error):
        make(name)


def test_what_a_domain_makes():
    domain = profiler.Domain("domain")
    with profiler.profile(), domain.new_task("task"), domain.new_frame("frame"):
        domain.new_marker("marker").mark()
        domain.new_counter("counter", 3).increment()
    assert names("domain") == {"task": 1, "frame": 1}
    assert found("counters") == {"domain": {"counter": {"last": 4, "min": 4, "max": 4, "changes": 1}}}
    assert repr(domain) == "Domain('domain')"


# ---------------------------------------------------------------- counters and markers


def test_counters():
    counter = profiler.Counter("domain", "counter", 10)
    counter += 5  # counts, but is not recorded
    with profiler.profile():
        counter += 5
        counter -= 30
        counter.set(2.5)
        counter.increment()
        counter.decrement(0.5)
    assert counter.value == 3
    assert found("counters")["domain"]["counter"] == {"last": 3, "min": -10, "max": 20, "changes": 5}
    assert found()["operator"] == {}
    assert repr(counter) == "Counter('domain', 'counter', 3.0)"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_counter_is_finite(value):
    counter = profiler.Counter("domain", "counter", 1)
    for change in (counter.set, counter.increment, counter.decrement):
        with pytest.raises(ValueError, match="finite"):
            change(value)
    assert counter.value == 1
    with pytest.raises(ValueError):
        profiler.Counter("domain", "counter", value)


def test_a_counter_on_many_threads():
    counter = profiler.Counter("domain", "counter")
    threads = [threading.Thread(target=lambda: [counter.increment() for _ in range(1000)]) for _ in range(4)]
    with profiler.profile():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counter.value == 4000
    assert found("counters")["domain"]["counter"]["changes"] == 4000


def test_markers():
    marker = profiler.Marker("domain", "marker")
    with pytest.raises(ValueError, match="scope"):
        marker.mark("everywhere")
    marker.mark()
    assert recording.traced_records() == 0
    assert repr(marker) == "Marker('domain', 'marker')"


# ---------------------------------------------------------------- scopes


def test_scopes_go_before_every_name():
    with profiler.profile():
        with profiler.scope("outer"):
            add(X, X)
            with profiler.scope("inner"), profiler.Event("event"), profiler.Task("event", "task"):
                add.reduce(X)
            add(X, X)
        add(X, X)
    assert names() == {"outer:add": 2, "outer:inner:add.reduce": 1, "add": 1}
    assert names("event") == {"outer:inner:event": 1, "outer:inner:task": 1}


def test_a_scope_that_began_before_the_profiler():
    with profiler.scope("outer"), profiler.profile():
        add(X, X)
    assert names() == {"outer:add": 1}


def test_a_scope_ends_after_an_exception():
    with profiler.profile():
        with pytest.raises(KeyError), profiler.scope("outer"):
            raise KeyError
        add(X, X)
    assert names() == {"add": 1}


def test_one_scope_nested_in_itself_and_used_again():
    scope = profiler.scope("again")
    with profiler.profile():
        with scope, scope:
            add(X, X)
        with scope:
            add(X, X)
        add(X, X)
    assert names() == {"again:again:add": 1, "again:add": 1, "add": 1}


def test_scopes_left_in_another_order_do_not_leak():
    first, second = profiler.scope("first"), profiler.scope("second")
    with profiler.profile():
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        add(X, X)
        second.__exit__(None, None, None)
        add(X, X)
    assert names() == {"first:second:add": 1, "add": 1}


def test_a_generator_that_is_abandoned_leaks_no_scope():
    def steps():
        with profiler.scope("generator"):
            yield add(X, X)
            yield add(X, X)

    with profiler.profile():
        generator = steps()
        next(generator)
        with profiler.scope("mine"):
            del generator
            add(X, X)
        add(X, X)
    assert names()["add"] == 1
    assert names()["generator:add"] == 1


def test_a_scope_left_in_another_context_does_not_leak():
    scope = profiler.scope("here")
    with profiler.profile():
        scope.__enter__()
        contextvars.Context().run(scope.__exit__, None, None, None)
        add(X, X)
    assert names() == {"add": 1}


def test_scopes_of_threads_and_tasks_are_their_own():
    def work():
        add(X, X)

    async def step(name):
        with profiler.scope(name):
            await asyncio.sleep(0)
            add(X, X)
            await asyncio.sleep(0)

    async def both():
        await asyncio.gather(step("a"), step("b"))

    with profiler.profile():
        with profiler.scope("main"):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        asyncio.run(both())
    assert names() == {"add": 1, "a:add": 1, "b:add": 1}


def test_a_scope_that_is_left_twice():
    scope = profiler.scope("once")
    with scope:
        pass
    with pytest.raises(RuntimeError, match="not open"):
        scope.__exit__(None, None, None)
    assert repr(scope) == "scope('once')"
