"""capture: what it refuses, with the line that cannot be captured, and what fallback=True makes of it."""

import re

import numpy as np
import pytest
from test_capture import X, Y, same

from tensoriter import CaptureError, capture


def refusals():
    def branch(x):
        if x.sum() > 0:
            return x
        return -x

    def write(x):
        x += 1
        return x

    def write_part(x):
        y = x * 2
        y[0] = 1
        return y

    def through_a_view(x):
        y = x * 2
        first = y[:2]
        y += 1
        return first

    def foreign(x):
        return np.linalg.norm(x)

    def converted(x):
        return np.asarray(x) + 1

    def table(x):
        return X[x.astype(int)]

    def masked(x):
        return x[x > 0]

    def count(x):
        return range(x[0])

    def number(x):
        return float(x[0])

    def global_write(x):
        np.add(x, 1, out=X)
        return x

    def swallowed(x):
        try:
            return float(x[0])
        except TypeError:
            return 0.0

    def masked_call(x):
        return np.add(x, 1, where=x > 0)

    return [branch, write, write_part, through_a_view, foreign, converted, table, masked, count, number,
            global_write, swallowed, masked_call]


@pytest.mark.parametrize("function", refusals(), ids=lambda function: function.__name__)
def test_what_cannot_be_captured_is_refused_at_its_line(function):
    x = np.array([1.0, 2.0, -3.0])
    with pytest.raises(CaptureError) as refused:
        capture(function)(x)
    code = function.__code__
    file, line, name = re.match(r'File "(.*)", line (\d+), in (\w+): ', str(refused.value)).groups()
    assert file == code.co_filename and name == code.co_name
    assert int(line) in [number for _, _, number in code.co_lines()]
    assert int(line) > code.co_firstlineno
    assert isinstance(refused.value, TypeError)
    same(x, np.array([1.0, 2.0, -3.0]))


@pytest.mark.parametrize("function", refusals(), ids=lambda function: function.__name__)
def test_with_fallback_it_is_the_plain_function(function):
    if function.__name__ == "global_write":
        return
    captured = capture(function, fallback=True)
    for _ in range(2):
        ours, theirs = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
        try:
            expected = function(theirs)
        except (TypeError, IndexError) as error:
            with pytest.raises(type(error)):
                captured(ours)
            continue
        same(captured(ours), expected)
        same(ours, theirs)


@pytest.mark.parametrize(
    "argument",
    [np.ma.array([1.0]), np.zeros(2).view(np.recarray), np.array([None]), np.array(["a"]),
     np.array(["2020"], "M8[D]"), np.zeros(2, [("a", "f4")])],
    ids=lambda argument: type(argument).__name__ + str(argument.dtype),
)  # fmt: skip
def test_arguments_that_are_not_for_plans(argument):
    function = lambda x: x == x  # noqa: E731
    with pytest.raises(CaptureError):
        capture(function)(argument)
    assert type(capture(function, fallback=True)(argument)) is type(function(argument))


def test_a_changed_argument_is_refused_and_put_back():
    class Counter:
        def __init__(self):
            self.total, self.log = X, []

        def add(self, x):
            self.total = self.total + x
            return self.total

        def note(self, x):
            self.log.append(x)
            return x

    counter = Counter()
    for method in (Counter.add, Counter.note):
        with pytest.raises(CaptureError, match="changes an attribute"):
            capture(method)(counter, Y)
        assert counter.total is X and counter.log == []
    same(capture(Counter.add, fallback=True)(counter, Y), X + Y)
    same(counter.total, X + Y)
    state = {"x": X}
    with pytest.raises(CaptureError, match="changes a container"):
        capture(lambda state: state.update(x=state["x"] + 1))(state)
    assert state["x"] is X


def test_a_stand_in_that_outlives_its_trace_is_refused():
    kept = []
    capture(lambda x: kept.append(x))(X)
    for use in (lambda x: x + 1, lambda x: x[0], lambda x: x.sum()):
        with pytest.raises(CaptureError, match="over"):
            use(kept[0])
    with pytest.raises(CaptureError, match="another trace"):
        capture(lambda y: y + kept[0])(Y)


def test_a_result_in_which_arrays_hide_is_refused():
    class Box:
        pass

    with pytest.raises(CaptureError, match="returns a Box"):
        capture(lambda x: Box())(X)


def test_an_error_of_the_function_is_its_own():
    def step(x):
        raise KeyError("mine", x + 1)

    with pytest.raises(KeyError, match="mine"):
        capture(step)(X)
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(3,\) \(2,\)"):
        capture(lambda x, y: x + y)(X, X[:2])
