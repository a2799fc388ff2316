"""The turn-taking timer: who runs when, and what is made of the times."""

import gc
import time

import numpy as np
import pytest

from tensoriter.timing import (
    Contestant,
    Turns,
    at_line_offset,
    moved_heap,
    own_code,
    steps_lasting,
    take_turns,
    turn_order,
)


def test_each_contestant_runs_once_a_round_after_an_uncounted_one():
    calls = []
    contestants = [Contestant(name, lambda name=name: calls.append(name)) for name in "abc"]
    turns = take_turns(contestants, 4)
    assert calls[:3] == ["a", "b", "c"]
    rounds = [calls[start : start + 3] for start in range(3, len(calls), 3)]
    assert [sorted(names) for names in rounds] == [["a", "b", "c"]] * 4
    assert [len(times) for times in turns.nanoseconds.values()] == [4, 4, 4]


@pytest.mark.parametrize("count", range(1, 7))
def test_each_place_in_the_order_comes_to_each_contestant_equally_often(count):
    orders = [turn_order(count, number) for number in range(2 * count)]
    for place in zip(*orders, strict=True):
        assert sorted(place) == sorted(list(range(count)) * 2)


def test_no_contestant_always_follows_the_same_one():
    orders = [turn_order(5, number) for number in range(10)]
    before = {order[place - 1] for order in orders for place in range(1, 5) if order[place] == 2}
    assert before == {1, 3}


def test_times_are_nanoseconds_per_step():
    turns = take_turns([Contestant("sleep", lambda: time.sleep(0.004), steps=4)], 3)
    assert 1e6 <= turns.best("sleep") < 1e8
    assert turns.best("sleep") <= turns.median("sleep")


def test_the_garbage_collector_is_off_meanwhile_and_on_after_an_error():
    seen = []

    def fail():
        seen.append(gc.isenabled())
        raise KeyError

    with pytest.raises(KeyError):
        take_turns([Contestant("fail", fail)], 1)
    assert seen == [False]
    assert gc.isenabled()


def test_what_before_turn_gives_lives_through_the_turn_only():
    alive = []

    class Held:
        def __init__(self):
            alive.append(self.__class__)

        def __del__(self):
            alive.pop()

    counts = []
    contestant = Contestant("count", lambda: counts.append(len(alive)))
    take_turns([contestant], 3, before_turn=Held)
    assert counts == [0, 1, 1, 1]
    assert alive == []


def test_after_round_is_called_once_a_round():
    done = []
    take_turns([Contestant("a", int), Contestant("b", int)], 3, after_round=lambda: done.append(1))
    assert len(done) == 3


def test_two_contestants_of_one_name_are_refused():
    with pytest.raises(ValueError, match="names of their own"):
        take_turns([Contestant("a", int), Contestant("a", int)], 1)


def test_ratios_are_formed_within_a_round():
    # The machine is ten times slower in the last two rounds; the ratio does not notice.
    turns = Turns({"old": [30.0, 30.0, 300.0, 300.0], "new": [10.0, 10.0, 100.0, 100.0]})
    speed = turns.speed("new", "old")
    assert (speed.median, speed.low, speed.high) == (3.0, 3.0, 3.0)
    assert turns.best("new") == 10.0
    assert turns.median("new") == 55.0


def test_the_spread_is_the_quartiles():
    turns = Turns({"old": [1.0, 2.0, 3.0, 4.0, 5.0], "new": [1.0] * 5})
    speed = turns.speed("new", "old")
    assert (speed.low, speed.median, speed.high) == (2.0, 3.0, 4.0)
    assert str(speed) == "3.00 (2.00 to 4.00)"


def test_steps_lasting_finds_how_many_steps_fill_a_time():
    steps = steps_lasting(0.05, lambda steps: time.sleep(steps * 0.001))
    assert 10 <= steps <= 60
    assert steps_lasting(0.001, lambda steps: time.sleep(0.01)) == 1
    assert steps_lasting(10.0, lambda steps: None, most=128) == 128


@pytest.mark.parametrize("offset", [0, 16, 36])
def test_at_line_offset_fixes_where_an_array_starts_in_its_line(offset):
    values = np.arange(1001, dtype="f4")
    placed = at_line_offset(values, offset)
    assert placed.ctypes.data % 64 == offset
    assert placed.flags.c_contiguous
    assert placed.flags.writeable
    assert placed.tobytes() == values.tobytes()


def test_moved_heap_takes_another_amount_each_time():
    take = moved_heap(1000)
    amounts = {take().nbytes for _ in range(50)}
    assert len(amounts) > 10
    assert min(amounts) > 1000


def test_own_code_copies_a_function_with_a_code_object_of_its_own():
    def double(number):
        return number * 2

    copy = own_code(double)
    assert copy(21) == 42
    assert copy.__code__ is not double.__code__
