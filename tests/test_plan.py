"""Plans: a call goes straight to the program, and answers, warns and fails as the function does."""

import gc
import pickle
import subprocess
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest
import scipy.special
from oracle import bits

import tensoriter
from tensoriter import capture, checked, force_path
from tensoriter.graph.lower import lower
from tensoriter.graph.trace import trace

X = np.linspace(-1.0, 2.0, 100)
V = np.cos(X)


def step(x, v):
    a = 0.5 - 2.0 * x - 0.1 * v
    v = v + 0.01 * a
    return x + 0.01 * v, v


def alike(actual, expected):
    """Arrays of the same type, dtype, strides and bits, in the same containers."""
    assert type(actual) is type(expected)
    if isinstance(expected, dict):
        assert list(actual) == list(expected)
        actual, expected = list(actual.values()), list(expected.values())
    if isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            alike(one, other)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        assert actual.strides == expected.strides or expected.size < 2
        assert bits(actual) == bits(expected)
    else:
        assert actual == expected


def check(function, *calls):
    """A captured function answers as the function for each of these tuples of arguments, twice each."""
    captured = capture(function)
    for args in calls:
        for _ in range(3):
            alike(captured(*args), function(*args))
    return captured


def warned(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    return result, [str(entry.message) for entry in caught]


class TestCalls:
    """The short way is taken only by calls that it is for."""

    def test_other_values_shapes_layouts_and_dtypes(self):
        two = np.ones((4, 6))
        check(step, (X, V), (V, X), (X[:7], V[:7]), (X[::2], V[::2]), (X[::-1], V), (two, two.T.copy().T),
              (X.astype("f4"), V.astype("f4")), (X.astype(">f8"), V), (X, V))  # fmt: skip

    def test_misaligned_arguments(self):
        buffer = np.zeros(8 * 100 + 1, "u1")
        shifted = buffer[1:].view("f8")
        shifted[...] = X
        check(step, (X, V), (shifted, V), (V, shifted), (X, V))

    @pytest.mark.parametrize(
        "numbers", [(0.5, 2.0), (0.0, -0.0), (1, True), (1, 1.0), (2, 3), (float("nan"), 1.0)]
    )
    def test_numbers_are_told_apart(self, numbers):
        def scaled(x, number):
            return x * number, x / (number + 1), number

        captured = capture(scaled)
        for number in numbers * 2:
            actual, expected = captured(X, number), scaled(X, number)
            alike(actual[:2], expected[:2])
            assert type(actual[2]) is type(number)

    def test_containers(self):
        def nested(state, parts, factors):
            return {"x": state["x"] + parts[0] * factors[0], "v": [state["v"] - parts[1] * factors[1]]}

        x, v = X.copy(), V.copy()
        check(nested, ({"x": X, "v": V}, [X, V], (2.0, 3.0)), ({"x": V, "v": X}, [V, X], (2.0, 3.0)),
              ({"v": V, "x": X}, [X, V], (2.0, 3.0)), ({"x": x, "v": v}, [x, v], (2.0, 4.0)))  # fmt: skip

    def test_many_arguments_and_results(self):
        def many(*arrays):
            return tuple([x + 1 for x in arrays])

        check(many, (X,) * 20, (V,) * 20, (X,) * 40, (X,) * 70)

    def test_keywords_and_scalars(self):
        captured = capture(step)
        alike(captured(X, v=V), step(X, V))
        alike(captured(X, np.float64(2)), step(X, np.float64(2)))

    def test_an_argument_that_is_returned_is_itself(self):
        captured = capture(lambda x, y: (x, x[1:], y + 1, y))
        for _ in range(2):
            x, view, _, y = captured(X, V)
            assert x is X and y is V and view.base is X.base or view.base is X

    def test_results_are_fresh(self):
        captured = capture(step)
        first = captured(X, V)
        kept = [x.copy() for x in first]
        second = captured(V, X)
        alike(list(first), kept)
        assert not any(np.may_share_memory(a, b) for a in first for b in second)

    def test_views_of_a_result_keep_it(self):
        captured = capture(lambda x: (x + 1)[10:20])
        found = [captured(X), captured(V)]
        gc.collect()
        alike(found, [(X + 1)[10:20], (V + 1)[10:20]])
        assert found[0].base.shape == (100,)

    def test_attributes_of_an_argument_are_looked_at(self):
        class Model:
            def __init__(self, k):
                self.k, self.parts = k, [1.0]

            @capture
            def step(self, x):
                return x * self.k + self.parts[0]

        model, other = Model(2.0), Model(3.0)
        for _ in range(2):
            alike(model.step(X), X * 2.0 + 1.0)
        alike(other.step(X), X * 3.0 + 1.0)
        model.k = 5.0
        alike(model.step(X), X * 5.0 + 1.0)
        alike(model.step(X), X * 5.0 + 1.0)
        model.parts[0] = 2.0
        alike(model.step(X), X * 5.0 + 2.0)

    def test_an_argument_may_die(self):
        class Model:
            k = 2.0

        captured = capture(lambda model, x: x * model.k)
        model = Model()
        for _ in range(2):
            alike(captured(model, X), X * 2.0)
        gone = weakref.ref(model)
        del model
        gc.collect()
        assert gone() is None
        alike(captured(Model(), X), X * 2.0)

    def test_nothing_is_held(self):
        captured = capture(step)
        x, v = X.copy(), V.copy()
        for _ in range(3):
            captured(x, v)
        before = sys.getrefcount(x), sys.getrefcount(v), sys.getrefcount(x.dtype)
        for _ in range(1000):
            captured(x, v)
        assert before == (sys.getrefcount(x), sys.getrefcount(v), sys.getrefcount(x.dtype))


class TestOut:
    def test_results_go_where_they_are_wanted(self):
        captured = capture(step)
        a, b = np.zeros(100), np.zeros(100)
        for _ in range(3):
            found = captured(X, V, out=(a, b))
            assert found[0] is a and found[1] is b
            alike(found, step(X, V))
        alike(captured(X, V, out=(None, b))[0], step(X, V)[0])

    def test_over_the_arguments(self):
        captured = capture(step)
        x, v, y, w = X.copy(), V.copy(), X.copy(), V.copy()
        for _ in range(5):
            captured(x, v, out=(x, v))
            y, w = step(y, w)
            alike((x, v), (y, w))
        captured(x, v, out=(v, x))
        alike((v, x), step(y, w))

    @pytest.mark.parametrize("shift", [1, 3, -2])
    def test_beside_the_arguments(self, shift):
        memory = np.linspace(0, 1, 120)
        x, out = memory[10:110], memory[10 + shift : 110 + shift]
        expected = step(x, V)[0]
        captured = capture(lambda x, v: step(x, v)[0])
        assert captured(x, V, out=out) is out
        alike(out, expected)

    def test_other_layouts(self):
        captured = capture(lambda x: x * 2 + 1)
        two = np.arange(12.0).reshape(3, 4)
        for out in (np.zeros((3, 4), order="F"), np.zeros((6, 8))[::2, ::2], np.zeros((3, 4))[::-1]):
            for _ in range(2):
                assert captured(two, out=out) is out
                assert (out == two * 2 + 1).all()

    def test_one_place_for_two_results(self):
        captured = capture(lambda x: (x + 1, x + 2))
        for _ in range(2):
            out = np.zeros(100)
            captured(X, out=(out, out))
            alike(out, X + 2)

    def test_what_does_not_fit_is_refused_before_anything_is_written(self):
        captured = capture(step)
        captured(X, V)
        good = np.zeros(100)
        for bad, error in (
            (np.zeros(99), ValueError),
            (np.zeros(100, "f4"), ValueError),
            ([0.0] * 100, TypeError),
        ):
            with pytest.raises(error, match="out must"):
                captured(X, V, out=(good, bad))
        frozen = np.zeros(100)
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            captured(X, V, out=(good, frozen))
        assert not good.any()

    def test_a_view_of_what_is_written_is_as_it_was(self):
        captured = capture(lambda x: (x + 1, x[:3]))
        x = X.copy()
        kept = x[:3].copy()
        found = captured(x, out=(x, None))
        alike(found[1], kept)


class TestFlags:
    """Floating-point flags: seen once, and none is lost or invented."""

    def test_a_silent_loop_does_not_hide_what_was_raised_before(self):
        def function(x):
            y = 1.0 / x
            return y, y < y + float("nan"), np.isnan(y), np.maximum(y, x)

        captured = capture(function)
        for x in (np.zeros(100), np.zeros(30_000), np.array([np.nan, 1.0])):
            expected, said = warned(function, x)
            for _ in range(2):
                found = warned(captured, x)
                alike(found[0], expected)
                assert found[1] == said

    def test_flags_from_before_are_not_blamed_on_the_plan(self):
        captured = capture(lambda x: x + 1)
        with np.errstate(all="ignore"):
            np.float64(1e308) * X
            np.divide(X, 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            captured(X)
            captured(X)

    def test_what_is_ignored_costs_no_second_run(self):
        captured = capture(lambda x: 1.0 / x)
        zeros = np.zeros(100)
        with np.errstate(all="ignore"):
            alike(captured(zeros), 1.0 / zeros)
            alike(captured(zeros), 1.0 / zeros)
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero") as caught:
            captured(zeros)
        assert any("1.0 / x" in note for note in caught.value.__notes__)

    def test_a_node_under_its_own_errstate(self):
        def function(x):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
                y = 1.0 / x
            return y, 2.0 / x

        x = np.array([0.0, 1.0])
        expected, said = warned(function, x)
        assert len(said) == 1
        captured = capture(function)
        for _ in range(2):
            found = warned(captured, x)
            alike(found[0], expected)
            assert found[1] == said

    def test_sums_overflow(self):
        def function(x):
            return (x * 1e308).sum(axis=0), x.max()

        x = np.full((3, 2), 1.5)
        expected, said = warned(function, x)
        captured = capture(function)
        for _ in range(2):
            found = warned(captured, x)
            alike(found[0], expected)
            assert found[1] == said


class TestErrors:
    def test_an_index_out_of_bounds(self):
        captured = capture(lambda table, rows: (table * 2)[rows] + 1)
        table = np.arange(12.0).reshape(4, 3)
        rows = np.array([0, -1, 3, 2])
        for _ in range(2):
            alike(captured(table, rows), (table * 2)[rows] + 1)
        for bad in (4, -5, 2**40):
            with pytest.raises(IndexError, match="out of bounds") as caught:
                captured(table, np.array([0, bad, 0, 0]))
            assert any("(table * 2)[rows]" in note for note in caught.value.__notes__)
        alike(captured(table, rows), (table * 2)[rows] + 1)

    @pytest.mark.parametrize("mode", ["wrap", "clip"])
    def test_take_modes(self, mode):
        check(lambda x, rows: np.take(x, rows, axis=1, mode=mode),
              (np.arange(24.0).reshape(2, 3, 4), np.array([[0, 7], [-9, 2]])))  # fmt: skip

    def test_checked_integers(self):
        captured = capture(lambda x: x * 2 + 1)
        x = np.array([100, 50], "i1")
        alike(captured(x), x * 2 + 1)
        with checked(), pytest.raises(OverflowError, match="100 \\* 2 does not fit int8"):
            captured(x)
        alike(captured(x), x * 2 + 1)

    def test_forced_paths_answer_alike(self):
        captured = capture(step)
        for path in ("strided", "numpy"):
            with force_path(path):
                alike(captured(X, V), step(X, V))

    def test_an_error_leaves_all_usable(self):
        captured = capture(lambda x: (1 / x, x.sum(axis=0), x[::2] + 1))
        zeros = np.zeros((4, 4))
        for _ in range(3):
            with np.errstate(all="raise"), pytest.raises(FloatingPointError):
                captured(zeros)
        with np.errstate(all="ignore"):
            alike(captured(zeros), (1 / zeros, zeros.sum(axis=0), zeros[::2] + 1))

    def test_arrays_of_another_layout_are_refused_by_the_program(self):
        plan = lower(trace(step, (X, V)).graph, [X, V])
        with pytest.raises(ValueError, match="input 1 is not laid out"):
            plan.program([X, X[:50]])
        with pytest.raises(ValueError, match="not as many"):
            plan.program([X])


class TestThreads:
    def test_several_threads_run_one_plan(self):
        n = 40_000  # from where the interpreter is let go
        captured = capture(lambda x: np.sqrt(x * x + 1.0) * 3.0 - x)
        arrays = [np.linspace(k, k + 1, n) for k in range(6)]
        expected = [np.sqrt(x * x + 1.0) * 3.0 - x for x in arrays]
        captured(arrays[0])
        wrong = []

        def work(k):
            for _ in range(30):
                if captured(arrays[k]).tobytes() != expected[k].tobytes():
                    wrong.append(k)

        workers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not wrong

    def test_a_plan_within_a_plan(self):
        """A callable of the outer plan runs the same plan again: each has temporaries of its own."""
        plan = lower(trace(lambda x: (x + 1).sum(axis=0) * 2, (np.ones((3, 2)),)).graph, [np.ones((3, 2))])
        call = next(one for one in plan.instructions if one.kind == "call")
        own, depth = call.function, []

        def nested(x):
            if len(depth) < 3:
                depth.append(1)
                assert plan.run([np.full((3, 2), 5.0)])[0].tolist() == [36.0, 36.0]
            return own(x)

        call.function = nested
        assert plan.run([np.ones((3, 2))])[0].tolist() == [12.0, 12.0]
        assert len(depth) == 3

    def test_the_result_is_the_same_with_several_threads(self):
        # np.add: of a large temporary NumPy's operator would work in place, and so in its order.
        captured = capture(lambda x: np.add(np.exp(x.T), x))
        x = np.random.default_rng(1).random((600, 600))
        expected = np.add(np.exp(x.T), x)
        with tensoriter.threads(2):
            alike(captured(x), expected)


def from_scipy(x, y):
    return (
        scipy.special.erf(x) * 2,
        np.where(x > y, x, 0.5).sum(axis=0),
        x[1:],
        np.longdouble(1) * y,
        y.astype("q"),
    )


class TestKept:
    """A plan can be pickled, saved and loaded where the source is not."""

    ARGS = np.linspace(-1, 1, 20).reshape(4, 5), np.linspace(-0.5, 0.5, 5)

    @pytest.fixture
    def plan(self):
        return capture(from_scipy).plan(*self.ARGS)

    def test_pickled(self, plan):
        again = pickle.loads(pickle.dumps(plan))
        alike(again(*self.ARGS), from_scipy(*self.ARGS))
        assert str(again) == str(plan)

    def test_saved(self, plan, tmp_path):
        plan.save(tmp_path / "step.plan")
        again = tensoriter.load_plan(tmp_path / "step.plan")
        alike(again(*self.ARGS), from_scipy(*self.ARGS))
        assert str(again) == str(plan)
        two, one = self.ARGS
        alike(again(np.asfortranarray(two), one[::-1]), from_scipy(np.asfortranarray(two), one[::-1]))
        with pytest.raises(ValueError, match=r"array 0 must be float64\[4, 5\]"):
            again(one, one)
        with pytest.raises(ValueError, match="takes 2 arrays"):
            again(one)

    def test_in_another_process(self, plan, tmp_path):
        plan.save(tmp_path / "step.plan")
        np.savez(tmp_path / "args.npz", *self.ARGS)
        program = ("import numpy as np, tensoriter, sys; args = np.load('args.npz'); "
                   "plan = tensoriter.load_plan('step.plan'); "
                   "found = plan(args['arr_0'], args['arr_1']); "
            "print([x.astype(float).tobytes().hex() for x in found]); "
                   "assert 'test_plan' not in sys.modules")  # fmt: skip
        command = [sys.executable, "-W", "error", "-c", program]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True,
                              text=True, check=True)  # fmt: skip
        assert done.stdout.strip() == str([x.astype(float).tobytes().hex() for x in from_scipy(*self.ARGS)])

    @pytest.mark.parametrize("debug", [True, False])
    def test_errors_name_the_line_if_that_was_kept(self, debug, tmp_path):
        plan = capture(lambda x: 1.0 / x).plan(X)
        plan.save(tmp_path / "step.plan", debug=debug)
        again = tensoriter.load_plan(tmp_path / "step.plan")
        with np.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
            again(np.zeros(100))
        text = "\n".join(caught.value.__notes__)
        assert ("1.0 / x" in text) is debug
        assert ("no debug information" in text) is not debug

    def test_what_has_no_name_elsewhere_is_refused(self, tmp_path):
        own = tensoriter.Op.from_ufunc(np.frompyfunc(abs, 1, 1), unsupported="numpy")
        graph = trace(lambda x: np.exp(x), (X,)).graph
        graph.outputs[0].attributes["function"] = own
        plan = lower(graph, [X])
        with pytest.raises(TypeError, match="cannot be saved"):
            plan.save(tmp_path / "step.plan")

    def test_other_files_are_refused(self, tmp_path):
        (tmp_path / "text").write_text("no plan")
        with pytest.raises(ValueError, match="no saved plan"):
            tensoriter.load_plan(tmp_path / "text")
        with pytest.raises(FileNotFoundError):
            tensoriter.load_plan(tmp_path / "nothing")

    def test_out(self, plan):
        out = np.zeros((4, 5))
        found = plan(*self.ARGS, out=(out, None, None, None, None))
        assert found[0] is out
        alike(found, from_scipy(*self.ARGS))


def test_a_plan_says_what_it_does():
    text = str(capture(step).plan(X, V))
    assert "run of 8 loops on 100 elements" in text
    assert "multiply ddd" in text
    assert "bytes of temporaries" in text
    assert text.count("result") == 2


def add_outer(x, y):
    return x[:, None] + y[None, :]


@pytest.mark.parametrize("last", [lambda x: x * 2, lambda x: (x * 2).sum()], ids=["result", "temporary"])
def test_no_memory_names_the_line(last):
    step = capture(lambda x, y: last(add_outer(x, y)))
    step(np.ones(3), np.ones(3))
    large = np.ones(10**6)
    for _ in range(2):
        with pytest.raises(MemoryError, match="Unable to allocate 7.28 TiB") as caught:
            step(large, large)
        notes = getattr(caught.value, "__notes__", [str(caught.value)])  # before 3.11 in the text
        assert "return x[:, None] + y[None, :]" in "".join(notes)
    assert step(np.ones(3), np.ones(3)).size in (1, 9)


@pytest.mark.parametrize("last", [lambda x: x, lambda x: x.sum()], ids=["loops", "with a call"])
def test_a_loop_that_raises(last):
    step = capture(lambda x: (last(x), x**-1))
    x = np.arange(1, 4)
    for _ in range(2):
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            step(x)
    assert step(x * 1.0)[1].tobytes() == ((x * 1.0) ** -1).tobytes()
