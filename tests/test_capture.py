"""capture: a captured function answers as the function does, and says clearly what it cannot capture."""

import copy
import gc
import inspect
import operator
import pickle
import threading
import warnings
import weakref
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.special
from graph_strategies import functions, some_arrays
from hypothesis import given
from hypothesis import strategies as st
from oracle import facts
from strategies import profile

import tensoriter
from tensoriter import CaptureError, capture
from tensoriter.graph.capture import MOST_TRACES

X = np.array([1.0, -2.0, 3.0])
Y = np.array([0.5, 4.0, -1.0])
OWNS_DATA = 4  # the bit in flags.num


def same(actual, expected, operands=()):
    """Both have the same structure and, in it, arrays that a program cannot tell apart."""
    assert type(actual) is type(expected)
    if isinstance(expected, dict):
        assert list(actual) == list(expected)
        actual, expected = list(actual.values()), list(expected.values())
    if isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            same(one, other, operands)
    else:
        assert known(actual, operands) == known(expected, operands)


def known(value, operands):
    """`facts` without strides that lead nowhere, and without whose the memory is."""
    found = facts(value, operands)
    if isinstance(value, np.ndarray):
        found.pop("base")
        found["flags"] &= ~OWNS_DATA
    if isinstance(value, np.generic):
        found.pop("operand")
    if "strides" in found:
        lengths = zip(found["strides"], found["shape"], strict=True)
        found["strides"] = [step for step, n in lengths if n > 1] if 0 not in found["shape"] else None
    return found


def check(function, *args, **kwargs):
    """The captured function answers as the function does, also when it is called again; returns it."""
    captured = capture(function)
    for _ in range(2):
        same(captured(*args, **kwargs), function(*args, **kwargs), [*args])
    return captured


# ---------------------------------------------------------------- random functions

def observe(function, args, errors):
    """What a call gives, warns and tells: all that a program could notice."""
    told = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with np.errstate(all=errors, call=lambda *args: told.append(args)):
            try:
                result = [known(value, args) for value in function(*args)]
            except CaptureError:
                raise
            except Exception as error:
                # Before Python 3.11, the note is in the text.
                result = type(error), str(error).partition("\nIn ")[0].strip()
    return result, [(w.category, str(w.message)) for w in caught], told


@profile(300)
@given(st.data())
def test_random_functions_answer_alike(data):
    errors = data.draw(st.sampled_from(["ignore", "ignore", "warn", "raise", "call"]))
    # A value that nobody uses is not computed, and so does not warn.
    function = data.draw(functions(all_results=errors != "ignore"))
    args, captured = some_arrays(data.draw), capture(function)
    count = 1 if errors == "ignore" else 3
    try:
        actual = [observe(captured, args, errors)[:count] for _ in range(2)]
    except CaptureError:
        return
    assert actual == [observe(function, args, errors)[:count]] * 2


@profile(100)
@given(st.data())
def test_other_arrays_of_the_same_kind_and_other_shapes(data):
    """One trace serves all values, and a new plan all shapes."""
    function, args = data.draw(functions(3)), some_arrays(data.draw)
    captured = capture(function)
    others = [np.asarray(np.repeat(x, 2, 0) if x.ndim and x.shape[0] > 1 else x + 1, x.dtype) for x in args]
    others = [x[()] if isinstance(arg, np.generic) else x for x, arg in zip(others, args, strict=True)]
    try:
        for given_args in (args, others, args):
            assert observe(captured, given_args, "ignore")[0] == observe(function, given_args, "ignore")[0]
    except CaptureError:
        return


# ---------------------------------------------------------------- what is captured

@pytest.mark.parametrize("name", ["add", "multiply", "hypot", "maximum", "less", "divmod", "ldexp"])
def test_numpys_ufuncs_and_ops_are_the_same_node(name):
    y = np.array([1, 2, 3]) if name == "ldexp" else Y
    ufunc, op = getattr(np, name), getattr(tensoriter, name)
    for function in (ufunc, op):
        step = check(lambda x, y, function=function: function(x, y), X, y)
        node = next(node for node in step.graph if node.kind == "ufunc")
        assert node.attributes["function"] is op


def test_scipys_ufuncs():
    erf = tensoriter.Op.from_ufunc(scipy.special.erf)
    check(lambda x: (erf(x), scipy.special.erf(x) + 1, scipy.special.gammaln(x)), X)


def test_arrays_of_the_program_on_either_side():
    table = np.arange(3.0)
    check(lambda x: (table + x, x - table, table < x, np.float32(2) * x, 2 * x, [1, 2, 3] + x), X)


def test_containers():
    Point = namedtuple("Point", "x y")

    @dataclass
    class State:
        position: np.ndarray
        name: str
        more: list = field(default_factory=list)

    def step(state, points, options):
        moved = State(state.position + points[0].x * options["dt"], state.name, [points[1].y])
        return moved, Point(points[1].x, points[0].y * 2), {"all": [state.position, None, "text", 3]}

    points = [Point(X, Y), Point(Y, X)]
    state = State(X, "name")
    result, point, rest = capture(step)(state, points, {"dt": 0.5})
    assert type(result) is State and result.name == "name" and type(point) is Point
    found, expected = {"all": [X, None, "text", 3]}, [X + X * 0.5, X, Y, Y * 2]
    same([result.position, *result.more, *point], expected)
    same(rest, found)
    assert rest["all"][0] is X
    assert state.more == [] and points[0].x is X


@dataclass(frozen=True)
class Frozen:
    x: np.ndarray


def test_frozen_dataclasses_keywords_and_defaults():
    table = np.ones(3)

    def step(state, *more, scale=2, offset=table, **others):
        return Frozen(state.x * scale + offset), more, others

    captured = capture(step)
    result, more, others = captured(Frozen(X), Y, 3, scale=X, last=Y)
    same(result.x, X * X + 1)
    same((more, others), ((Y, 3), {"last": Y}))


def test_functions_closures_and_methods():
    table = np.full(3, 2.0)

    def inner(x):
        return x * table

    class Model:
        def __init__(self, weight):
            self.weight = weight

        @capture
        def __call__(self, x):
            return self.layer(x) + 1

        def layer(self, x):
            return inner(x) * self.weight

    first, second = Model(X), Model(Y)
    same(first(Y), Y * 2 * X + 1)
    same(second(Y), Y * 2 * Y + 1)
    same(first(Y), Y * 2 * X + 1)
    first.weight = Y
    same(first(Y), Y * 2 * Y + 1)  # another array
    first.weight *= 2
    same(first(Y), Y * 2 * first.weight + 1)
    table += 1
    same(second(Y), Y * 3 * second.weight + 1)  # arrays are read in each run


def test_an_objects_attributes_that_are_arrays_of_other_objects():
    class Part:
        pass

    class Whole:
        def __init__(self):
            self.parts, self.options = [Part(), Part()], {"scale": 2.0}
            for k, part in enumerate(self.parts):
                part.weight = X + k

        @capture
        def step(self, x):
            return x * self.parts[0].weight * self.options["scale"] + self.parts[1].weight

    whole = Whole()
    expect = lambda: Y * whole.parts[0].weight * whole.options["scale"] + whole.parts[1].weight  # noqa: E731
    same(whole.step(Y), expect())
    whole.parts[0].weight = Y
    same(whole.step(Y), expect())
    whole.options["scale"] = 3.0
    same(whole.step(Y), expect())
    whole.parts[1] = whole.parts[0]
    same(whole.step(Y), expect())


@dataclass
class Options:
    scale: float
    steps: list


class Holder:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Slotted:
    __slots__ = ("scale", "part")

    def __init__(self, scale, part=None):
        self.scale, self.part = scale, part


def changes():
    """(an argument, what changes it): each is used as x * argument's first number."""
    def attribute(options):
        options.scale += 1

    def first(options):
        options[0] += 1

    def key(options):
        options["scale"] = -options["scale"]

    def nested(options):
        options.part.scale = np.float64(7)

    def within(options):
        options.parts[0]["scale"] *= 3

    return [
        (Options(2.0, []), lambda options: options.scale, attribute),
        ([2, 3], lambda options: options[0], first),
        ({"scale": 0.0}, lambda options: options["scale"], key),
        (([2.0], 1), lambda options: options[0][0], lambda options: first(options[0])),
        (Holder(scale=1), lambda options: options.scale, attribute),
        (Holder(part=Holder(scale=1.5)), lambda options: options.part.scale, nested),
        (Holder(parts=[{"scale": 1}]), lambda options: options.parts[0]["scale"], within),
        (Options(X.copy(), [1]), lambda options: options.scale, attribute),
        (Slotted(2.0), lambda options: options.scale, attribute),
        (Slotted(2.0, Slotted(X)), lambda options: options.part.scale, nested),
        (Holder(part=Slotted(1.0)), lambda options: options.part.scale, nested),
        (Options(1.5, [X]), lambda options: options.scale, attribute),
    ]


@pytest.mark.parametrize(("options", "number", "change"), changes(), ids=str)
def test_a_change_between_calls_is_seen(options, number, change):
    def function(x, options):
        return x * number(options)

    captured = capture(function)
    for _ in range(3):
        for _ in range(3):
            same(captured(X, options), function(X, options))
        change(options)


def test_an_object_is_not_kept_alive():
    class Model:
        def __init__(self):
            self.weight = X.copy()

        @capture
        def step(self, x):
            return x * self.weight

    model = Model()
    model.step(Y)
    seen, weight = weakref.ref(model), weakref.ref(model.weight)
    del model
    Model().step(Y)  # of the last call, something may be remembered
    gc.collect()
    assert seen() is None and weight() is None


def test_a_captured_function_within_another_is_a_part_of_it():
    @capture
    def inner(x):
        return np.sqrt(x) + 1

    outer = capture(lambda x: inner(x * x) * 2)
    same(outer(X), (np.sqrt(X * X) + 1) * 2)
    found = [node.op for node in outer.graph if node.kind == "ufunc"]
    assert found == ["multiply", "sqrt", "add", "multiply"]
    assert inner.graph is None


def test_in_place_on_what_the_function_made():
    def step(x, y):
        t = x + 1
        alias = t
        t += y
        t *= 2
        np.subtract(t, 1, out=t)
        np.sqrt(y * y, out=t)
        u = x.astype("f4")
        u /= y
        return alias + t, t, u, np.zeros_like(x).__iadd__(y)

    check(step, X, Y)
    check(lambda x, y: operator.ipow(x * 1, 2) + operator.ipow(x * 1, y), X, Y)


def test_a_scalar_is_bound_anew():
    def step(x):
        total = x.sum()
        before = total
        total += 1
        return before, total, x.mean() ** 2, x[0] / 0.5, -x.max() < 3

    check(step, X)
    check(step, np.arange(3))
    check(step, np.arange(3, dtype="f2"))


def test_indexing_shapes_and_joins():
    def step(x, rows):
        a, b = np.split(x, 2)
        first, *rest = x
        return (x[1], x[:, 0], x[..., None], x[::-1, 1:], x[1, 2], x[rows], x[:, rows], np.take(x, rows),
                x.T @ x, a + b, first, len(rest), x.reshape(-1, 2), x.reshape(len(x), -1), np.stack([a, b]),
                np.concatenate([a, b], axis=1), x.shape, x.ndim, np.moveaxis(x, 0, 1), x.ravel())  # fmt: skip

    x = np.arange(12.0).reshape(4, 3)
    step = check(step, x, np.array([0, 2, -1]))
    y = np.arange(30.0).reshape(10, 3)
    same(step(y, np.array([1])), step.function(y, np.array([1])))


def test_an_index_out_of_bounds_is_numpys_error_in_each_call():
    step = capture(lambda x, rows: np.take(x, rows) + x[rows])
    step(X, np.array([0]))
    for _ in range(2):
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
            step(X, np.array([3]))
        same(step(X, np.array([-1])), np.array([6.0]))


def test_errstate_in_the_function_holds_there_alone():
    def step(x, y):
        with np.errstate(divide="ignore"):
            a = x / y
        with np.errstate(divide="raise"):
            b = y / x
        return a, b, x / y

    captured, zero = capture(step), np.zeros(3)
    for errors in ("ignore", "warn", "ignore"):
        assert observe(captured, (X, zero), errors) == observe(step, (X, zero), errors)
        assert observe(captured, (zero, X), errors)[0][0] is FloatingPointError


def test_checked_integers_around_and_in_the_function():
    x = np.array([100, 50], "i1")

    def step(x):
        with tensoriter.checked():
            y = tensoriter.add(x, x)
        return y

    for function in (capture(step), capture(lambda x: np.add(x, x))):
        same(function(x[1:]), np.array([100], "i1"))
        with tensoriter.checked(), pytest.raises(OverflowError, match=r"add at index 0: 100 \+ 100"):
            function(x)
    with pytest.raises(OverflowError):
        capture(step)(x)
    same(capture(lambda x: np.add(x, x))(x), np.array([-56, 100], "i1"))


# ---------------------------------------------------------------- keys

def test_numbers_are_told_apart_by_type_and_bits():
    step = capture(lambda x, n: x * n)
    for n in (1, True, 1.0, 0.0, -0.0, float("nan"), 2j, 0, False, -1, np.float32(1), np.array(1.0), 2**62):
        for x in (X.astype("f4"), np.arange(3, dtype="i1"), np.arange(3)):
            try:
                expected = x * n
            except OverflowError:
                with pytest.raises(OverflowError):
                    step(x, n)
                continue
            same(step(x, n), expected)


def test_numpy_scalars_are_arguments_like_arrays():
    step = capture(lambda x, t: x * t)
    for t in map(np.float64, range(20)):
        same(step(X, t), X * t)
    assert len(step._entries) == 1


def test_what_retraces_and_what_does_not():
    calls = []

    @capture
    def step(x, name="a"):
        calls.append(x)
        return x + 1

    for x in (X, Y, X[:2], X[::-1], np.ones(1000)):
        same(step(x), x + 1)
    assert len(calls) == 1
    step(X.astype("f4"))
    step(X[:, None])
    step(X, name="b")
    assert len(calls) == 4
    step(X.astype("f4")[:1])
    assert len(calls) == 4


def test_a_function_that_reads_shapes_is_traced_for_each():
    step = capture(lambda x: x / len(x) if x.shape[0] > 2 else x)
    for x in (X, X[:2], np.ones(7), X):
        same(step(x), x / len(x) if len(x) > 2 else x)


def test_traces_are_bounded():
    step = capture(lambda x, n: x + n)
    for n in range(MOST_TRACES + 50):
        same(step(X, n), X + n)
    assert len(step._entries) == len(step._kinds) == MOST_TRACES


def test_two_threads_trace_at_once():
    results, barrier = {}, threading.Barrier(4)

    def work(k):
        step = capture(lambda x: (x + k) * k)
        barrier.wait()
        for _ in range(20):
            step._entries.clear()
            results[k] = step(X)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for k in range(4):
        same(results[k], (X + k) * k)


# ---------------------------------------------------------------- out=, attributes

def test_out_takes_the_results():
    step = capture(lambda x, y: {"sum": x + y, "both": (x * y, y)})
    total, product = np.empty(3), np.empty(3)
    result = step(X, Y, out={"sum": total, "both": (product, None)})
    assert result["sum"] is total and result["both"][0] is product and result["both"][1] is Y
    same([total, product], [X + Y, X * Y])
    x = X.copy()
    step(x, Y, out={"sum": x, "both": (None, None)})
    same(x, X + Y)


@pytest.mark.parametrize(
    ("out", "error"),
    [(np.empty(2), ValueError), (np.empty(3, "f4"), ValueError), ([np.empty(3)], TypeError),
     ("text", TypeError)],
)
def test_an_out_that_does_not_fit_is_refused(out, error):
    with pytest.raises(error):
        capture(lambda x: x + 1)(X, out=out)
    frozen = np.empty(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        capture(lambda x: x + 1)(X, out=frozen)


def test_a_function_with_an_out_of_its_own():
    step = capture(lambda x, out=1: x + out)
    same(step(X, out=2), X + 2)
    same(step(X), X + 1)


def test_the_captured_function_looks_like_the_function():
    @capture
    def step(x):
        """What it does."""
        return x + 1

    assert (step.__name__, step.__doc__, step.__module__) == ("step", "What it does.", __name__)
    assert step.__wrapped__ is step.function
    assert step.graph is None
    step(X)
    assert step.graph.name.endswith("step")
    assert "step" in repr(step)
    assert capture(fallback=True)(step.function).fallback


@capture
def by_name(x):
    return x + 1


def test_captured_functions_are_pickled_and_copied_as_functions_are():
    assert pickle.loads(pickle.dumps(by_name)) is by_name
    assert copy.deepcopy(by_name) is by_name
    other = capture(by_name.function, fallback=True)
    same(by_name(X), X + 1)
    again = pickle.loads(pickle.dumps(capture(np.sqrt, fallback=True)))
    assert again.fallback
    same(again(X * X), np.abs(X))
    assert copy.copy(other).function is by_name.function
    assert list(inspect.signature(by_name).parameters) == ["x"]


def test_a_captured_method_belongs_to_its_instance():
    class Model:
        @capture
        def step(self, x):
            return x + 1

    model = Model()
    same(model.step(X), X + 1)
    assert model.step.graph is Model.step.graph
    assert model.step.plan(X) is Model.step.plan(model, X)


def test_a_python_complex_before_a_float64_is_refused():
    with pytest.raises(CaptureError, match="give a Python complex; make it"):
        capture(lambda x: 2j + x)(np.float64(1.0))
    check(lambda x: x + 2j, np.float64(1.0))
    check(lambda x: 2j + x, np.float32(1.0))
    check(lambda x: 2j + x, np.ones(3))
