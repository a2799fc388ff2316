"""The bound call, `f = tensoriter.add.bind(x1, x2, out=None)`: `f()` and `f(y1, y2)` answer as
np.add answers, whatever the operands are or have become."""

import contextlib
import functools
import gc
import itertools
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest
from hypothesis import given
from layouts import ALIASES, NUMERIC, WIDEST, counting, filled, laid_out, swapped
from oracle import arrays_in, compare
from strategies import calls
from test_differential import profile

import tensoriter

ALL = NUMERIC + ALIASES + WIDEST
QUIET = {"all": "ignore"}
MODES = [QUIET, {"all": "warn"}, {"all": "raise"}, {"all": "call"}]

# Some tests change attributes in place whose setting newer NumPy deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def bind(x1, x2, out=None):
    return tensoriter.add.bind(x1, x2) if out is None else tensoriter.add.bind(x1, x2, out=out)


def repeats(f, x1, x2, out=None, errstate=None):
    """f(), bound to these operands as they are by now, answers as np.add; asked twice."""
    def ours(a, b, out=None):
        return f()

    keywords = {} if out is None else {"out": out}
    compare(ours, np.add, x1, x2, errstate=errstate, **keywords)
    return compare(ours, np.add, x1, x2, errstate=errstate, **keywords)


def takes(f, y1, y2, out=None, errstate=None):
    """f(y1, y2) answers as np.add does for them (and for the out that f is bound to)."""
    def ours(a, b, out=None):
        return f(a, b)

    keywords = {} if out is None else {"out": out}
    return compare(ours, np.add, y1, y2, errstate=errstate, **keywords)


D, F32 = np.arange(12.0), np.arange(12, dtype="f4")
GRID = np.arange(12.0).reshape(4, 3)


class Sub(np.ndarray):
    pass


class Answers:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ("answer", ufunc.__name__, method, len(inputs), sorted(kwargs))


# Two operands for each way that a call can go.
PAIRS = {
    "contiguous": (F32, F32[::-1].copy()),
    "contiguous, F": (np.asfortranarray(GRID), np.asfortranarray(GRID * 2)),
    "twice the same": (D, D),
    "empty": (np.ones((0, 3)), np.ones((0, 3))),
    "Python float": (F32, 1.5),
    "Python int first": (3, np.arange(5, dtype="i2")),
    "Python complex": (1j, F32),
    "Python bool": (np.arange(5), True),
    "NumPy scalar": (F32, np.float32(2.5)),
    "NumPy scalar, other type": (F32, np.float64(2.5)),
    "0-d": (D, np.array(2.5)),
    "0-d, other dtype": (np.array(2, "i1"), D),
    "0-d twice": (np.array(1.5), np.array(2.5)),
    "NumPy scalars": (np.float64(1.5), np.float64(2)),
    "Python scalars": (1, 2.5),
    "rows": (GRID, GRID[0]),
    "columns": (GRID, GRID[:, :1]),
    "outer": (GRID[:, :1], GRID[:1]),
    "transposed": (GRID[:3], GRID[:3].T),
    "C and F": (GRID, np.asfortranarray(GRID)),
    "steps": (D[::2], D[::-2]),
    "mixed": (np.arange(12, dtype="i4"), D),
    "byte-swapped": (D.astype(D.dtype.newbyteorder("S")), D),
    "misaligned": (laid_out(D, offset=1), D),
    "float16": (D.astype("e"), D.astype("e")),
    "bool": (D > 3, D > 6),
    "bytes of bool": (np.arange(8, dtype="u1").view("?"), np.arange(8, dtype="u1").view("?")),
    "longdouble": (D.astype("g"), D.astype("g")),
    "long": (np.arange(20_000.0), np.arange(20_000.0)),
    "list": ([1, 2, 3], np.arange(3)),
    "lists": ([1.5, 2], [3, 4]),
    "tuple": ((1, 2), 3),
    "objects": (np.array([1, "a"], object), np.array([2, "b"], object)),
    "subclass": (D.view(Sub), D),
    "masked": (np.ma.array(D, mask=D > 5), D),
    "matrix": (np.ones((2, 2)).view(np.matrix), 1),
    "dates": (np.array(["2001-01-01"], "M8[D]"), np.array([90], "m8[m]")),
    "strings": (np.array(["ab"]), np.array(["cde"])),
    "out of range": (np.arange(3, dtype="u1"), 300),
    "huge int": (F32, 10**400),
}

# Further operands to give to a bound call: none, some or all of the above.
GIVEN = {**PAIRS, "shapes that do not fit": (D, GRID), "strings and bytes": (np.array(["a"]), b"b"),
         "None": (None, D), "two readers": (D[1:], D[:-1])}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
class TestAnswers:
    def test_repeats(self, name):
        x1, x2 = PAIRS[name]
        f = bind(x1, x2)
        for errstate in MODES:
            repeats(f, x1, x2, errstate=errstate)
            takes(f, x1, x2, errstate=errstate)

    def test_takes_any_others(self, name):
        f = bind(*PAIRS[name])
        for y1, y2 in GIVEN.values():
            takes(f, y1, y2, errstate=QUIET)
            takes(f, y2, y1, errstate=QUIET)
        repeats(f, *PAIRS[name], errstate=QUIET)

    def test_results_are_new(self, name):
        f = bind(*PAIRS[name])
        results = []
        with np.errstate(all="ignore"), contextlib.suppress(OverflowError):
            results = [f() for _ in range(5)]
        for one, two in itertools.combinations(arrays_in(results), 2):
            assert not np.may_share_memory(one, two)

    def test_forced(self, name):
        f = bind(*PAIRS[name])
        for path in ("strided", "numpy"):
            with tensoriter.force_path(path):
                repeats(f, *PAIRS[name], errstate=QUIET)
                takes(f, *PAIRS[name], errstate=QUIET)
                bound_inside = bind(*PAIRS[name])
            repeats(bound_inside, *PAIRS[name], errstate=QUIET)


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(dtype):
    x1, x2 = filled((30,), dtype, 1), filled((30,), dtype, 2)
    f, out = bind(x1, x2), np.zeros(30, dtype)
    g = bind(x1, x2, out)
    for errstate in MODES:
        repeats(f, x1, x2, errstate=errstate)
        repeats(g, x1, x2, out, errstate=errstate)
    for other in ALL:
        y = filled((30,), other, 3)
        takes(f, y, x2, errstate=QUIET)
        takes(f, x1, y, errstate=QUIET)
        takes(f, y, y, errstate=QUIET)
        takes(g, y, x2, out, errstate=QUIET)


def test_override_is_asked():
    answer = ("answer", "add", "__call__", 2, [])
    assert [bind(D, Answers())(), bind(D, D)(D, Answers()), bind(D, D)(Answers(), 1)] == [answer] * 3
    assert bind(D, D, Answers())() == ("answer", "add", "__call__", 2, ["out"])


@profile(375)
@given(calls(), calls())
def test_any_operands(bound, given):
    """Bound to anything, given anything; with a call's out where it has one."""
    out = bound.kwargs.get("out")
    out = out[0] if isinstance(out, tuple) else out
    keywords = {} if out is None else {"out": out}
    for operands, errstate in [(bound.args, bound.errstate), (given.args, given.errstate)]:
        def ours(a, b, operands=operands, **keywords):
            f = tensoriter.add.bind(*bound.args, **keywords)
            return f() if operands is bound.args else f(a, b)

        compare(ours, np.add, *operands, errstate=errstate, **keywords)


# ----------------------------------------------------------------------- what is given

def like(array):
    """A pair of operands that a call bound to (array, array) takes: each differs in one thing."""
    read_only = array.copy()
    read_only.flags.writeable = False
    return {
        "equal": array.copy("K"),
        "read-only": read_only,
        "other dtype": array.astype("f4"),
        "same size, other dtype": array.astype("i8"),
        "byte-swapped": array.astype(swapped(array.dtype)),
        "metadata": array.astype(np.dtype(array.dtype, metadata={"a": 1})),
        "other order": np.array(array, order="F" if array.flags.c_contiguous else "C"),
        "longer": np.concatenate([array, array]),
        "one longer": np.concatenate([array, array[:1]]),
        "shorter": array[:1],
        "flat": array.ravel(),
        "another dimension": array[None],
        "steps": laid_out(array, steps=[2] * array.ndim),
        "backwards": array[::-1],
        "repeated": laid_out(array, steps=[0] * array.ndim),
        "misaligned": laid_out(array, offset=1),
        "subclass": array.view(Sub),
        "masked": np.ma.array(array, mask=array > 2),
        "list": array.tolist(),
        "0-d": np.array(2.5),
        "Python scalar": 2.5,
        "NumPy scalar": np.float64(2.5),
        "objects": array.astype(object),
        "empty": array[:0],
    }


@pytest.mark.parametrize("shape", [(6,), (4, 3), (3, 3)])
@pytest.mark.parametrize("order", "CF")
class TestGiven:
    def test_one_thing_different(self, shape, order):
        x = np.array(counting(shape, "d"), order=order)
        f, out = bind(x, x + 1), np.zeros(shape)
        g = bind(x, x + 1, out)
        for other in like(x).values():
            takes(f, x, other)
            takes(f, other, x)
            takes(f, other, other)
            takes(g, x, other, out)
            takes(g, other, other, out)

    def test_out_overlaps_what_is_given(self, shape, order):
        memory = np.array(counting((3 * shape[0], *shape[1:]), "d"), order=order)
        x, n = memory[: shape[0]], shape[0]
        for start in (0, 1, n - 1, n, n + 1):
            out = memory[start : start + n]
            for f in (bind(np.ones(shape), np.ones(shape), out), bind(x, x, out), bind(x, 1, out)):
                takes(f, x, x, out)
                takes(f, x, np.ones(shape), out)
                takes(f, out[::-1], x, out)
                takes(f, np.ones(shape), out, out)
                takes(f, x.T if shape == (3, 3) else x, out, out)
                takes(f, 1, x, out)

def test_wrong_ways_to_bind():
    for arguments, keywords in [((), {}), ((D,), {}), ((D, D), {"bogus": 1}), ((D, D, D, D), {})]:
        with pytest.raises(TypeError):
            tensoriter.add.bind(*arguments, **keywords)
    for arguments, keywords in [((D,), {}), ((D, D, D, D), {}), ((), {"bogus": 1}), ((D,), {"x2": D})]:
        with pytest.raises(TypeError):
            bind(D, D)(*arguments, **keywords)


@pytest.mark.parametrize(("x1", "x2", "out", "error"), [
    (D, GRID, None, ValueError), (D, D, np.zeros(3), ValueError), (D, D, np.zeros(12, "i8"), TypeError),
    (D, "a", None, TypeError), (D, D, [0.0], TypeError), (D, None, None, TypeError),
])  # fmt: skip
def test_operands_that_no_call_takes(x1, x2, out, error):
    """The error comes from bind or from the call, and it is NumPy's."""
    with pytest.raises(error):
        bind(x1, x2, out)()


# ------------------------------------------------------------------------------- out

class TestOut:
    @pytest.mark.parametrize("make", [
        lambda: np.zeros(12), lambda: np.zeros(12, "f4"), lambda: np.zeros(12, "D"),
        lambda: np.zeros((2, 12)), lambda: np.zeros(12, ">f8"), lambda: laid_out(np.zeros(12), steps=[2]),
        lambda: laid_out(np.zeros(12), steps=[-1]), lambda: laid_out(np.zeros(12), offset=3),
        lambda: np.zeros(12).view(Sub), lambda: np.zeros(12, object), lambda: np.ma.zeros(12),
    ])  # fmt: skip
    def test_kinds(self, make):
        for x1, x2 in [(D, D), (D, 1.5), (F32, D), (D, np.arange(12)), (D[::-1], D), (1, 2.5), (D, D[:1])]:
            out = make()
            f = bind(x1, x2, out)
            repeats(f, x1, x2, out)
            takes(f, x2, x1, out)
            assert f() is out
            assert f(x1, x2) is out

    def test_in_place_accumulates(self):
        total, step = np.zeros(5), np.arange(5.0)
        f = bind(total, step, total)
        for n in range(1, 6):
            assert f() is total
            np.testing.assert_array_equal(total, step * n)
        g = bind(step, total, total)
        g()
        np.testing.assert_array_equal(total, step * 6)

    def test_by_position(self):
        out = np.zeros(12)
        assert tensoriter.add.bind(D, D, out)() is out
        assert tensoriter.add.bind(D, D, out=out)() is out
        assert tensoriter.add.bind(D, D, None)() is not out

    def test_read_only(self):
        out = np.zeros(12)
        f = bind(D, D, out)
        f()
        out[:] = 0
        out.flags.writeable = False
        with pytest.raises(ValueError):
            f()
        with pytest.raises(ValueError):
            f(D, D)
        assert not out.any()
        out.flags.writeable = True
        repeats(f, D, D, out)

# -------------------------------------------------------------------- changed in place

def set_to(name, value):
    return lambda array: setattr(array, name, value)


# What can be done to an array of twelve float64 without making another.
CHANGES = {
    "values": lambda a: a.__setitem__(slice(None), 7),
    "one value": lambda a: a.__setitem__(3, np.inf),
    "shape": set_to("shape", (3, 4)),
    "shape (12, 1)": set_to("shape", (12, 1)),
    "dtype": set_to("dtype", "i8"),
    "dtype of another size": set_to("dtype", "f4"),
    "dtype, complex": set_to("dtype", "D"),
    "dtype, swapped": set_to("dtype", np.dtype("d").newbyteorder("S")),
    "dtype with metadata": set_to("dtype", np.dtype("d", metadata={"a": 1})),
    "dtype, structured": set_to("dtype", [("a", "f4"), ("b", "f4")]),
    "strides": set_to("strides", (0,)),
    "longer": lambda a: a.resize(24, refcheck=False),
    "shorter": lambda a: a.resize(1, refcheck=False),
    "empty": lambda a: a.resize(0, refcheck=False),
    "much longer": lambda a: a.resize(100_000, refcheck=False),
    "2-d": lambda a: a.resize((12, 12), refcheck=False),
    "elsewhere in memory": lambda a: (a.resize(100_000, refcheck=False), a.resize(12, refcheck=False)),
    "no dimensions": lambda a: a.resize((), refcheck=False),
    "read-only": lambda a: a.setflags(write=False),
    "misaligned by name": lambda a: a.setflags(align=False),
    "state of the same kind": lambda a: a.__setstate__((D * 3).__reduce__()[2]),
    "state": lambda a: a.__setstate__(np.arange(5, dtype="i2").__reduce__()[2]),
    "state of another kind": lambda a: a.__setstate__(GRID.T.copy("F").__reduce__()[2]),
}

OPERANDS = {
    "array": lambda: (np.arange(12.0), np.arange(12.0) * 2),
    "itself": lambda: (lambda a: (a, a))(np.arange(12.0)),
    "float": lambda: (np.arange(12.0), 1.5),
    "int first": lambda: (3, np.arange(12.0)),
    "broadcast": lambda: (np.arange(12.0), np.ones((2, 12))),
    "mixed": lambda: (np.arange(12.0), np.arange(12, dtype="i4")),
    "list": lambda: (np.arange(12.0), [1.0] * 12),
}


@pytest.mark.parametrize("change", CHANGES)
class TestChangedInPlace:
    @pytest.mark.parametrize("operands", OPERANDS)
    def test_operands(self, change, operands):
        for place in range(2):
            pair = OPERANDS[operands]()
            if getattr(pair[place], "shape", None) != (12,) or pair[place].dtype != "d":
                continue
            f = bind(*pair)
            f()
            CHANGES[change](pair[place])
            repeats(f, *pair, errstate=QUIET)
            takes(f, *pair, errstate=QUIET)
            takes(f, np.ones(12), np.ones(12))
            repeats(f, *pair, errstate={"all": "warn"})

    @pytest.mark.parametrize("in_place", [True, False])
    def test_out(self, change, in_place):
        out = np.arange(12.0)
        x1, x2 = (out if in_place else np.arange(12.0)), np.arange(12.0)
        f = bind(x1, x2, out)
        f()
        CHANGES[change](out)
        repeats(f, x1, x2, out, errstate=QUIET)
        takes(f, x1, x2, out, errstate=QUIET)
        takes(f, x2, 1, out, errstate=QUIET)

    def test_and_changed_back(self, change):
        x, y = np.arange(12.0), np.arange(12.0)
        f = bind(x, y)
        state = x.__reduce__()[2]
        CHANGES[change](x)
        x.__setstate__(state)
        repeats(f, x, y)

@pytest.mark.parametrize(("first", "then"), [
    (lambda: np.dtype("i4").newbyteorder("S"), lambda: np.dtype("f4").newbyteorder("S")),
    (lambda: np.dtype("i8", metadata={"a": 1}), lambda: np.dtype("f8", metadata={"a": 1})),
])  # fmt: skip
def test_a_dtype_that_dies(first, then):
    """Another dtype instance may come to lie where a bound one lay."""
    x, y = np.arange(6, dtype=first()), np.arange(6.0)
    f = bind(x, y)
    x.dtype = x.dtype.char
    instances = [then() for _ in range(100)]
    for dtype in instances:
        z = np.arange(6).astype(dtype)
        z.dtype = dtype
        takes(f, z, y)


def test_values_are_seen():
    x, y, zero = np.zeros(50), np.zeros(50), np.array(0.0)
    f, g = bind(x, y), bind(x, zero)
    for k in range(5):
        x[:], y[:], zero[()] = k, 10 * k, 100 * k
        assert f().tolist() == [11.0 * k] * 50
        assert g().tolist() == [101.0 * k] * 50


def test_a_list_is_read_again():
    items = [1.0, 2.0]
    f = bind(items, np.ones(2))
    items[0] = 5.0
    assert f().tolist() == [6.0, 3.0]
    items.append(7.0)
    with pytest.raises(ValueError):
        f()


# ------------------------------------------------------------------ lives and references

class TestLives:
    @pytest.mark.parametrize("with_out", [True, False])
    def test_operands_live_as_long_as_it(self, with_out):
        x, y, out = np.ones(9), np.ones(9), np.ones(9)
        f = bind(x, y, out if with_out else None)
        references = [weakref.ref(array) for array in ((x, y, out) if with_out else (x, y))]
        del x, y, out
        assert all(reference() is not None for reference in references)
        assert f().tolist() == [2.0] * 9
        del f
        assert [reference() for reference in references] == [None] * len(references)  # no cycle

    @pytest.mark.parametrize("name", PAIRS)
    def test_references_of_operands(self, name):
        pair = PAIRS[name]
        watched = [*pair, *(x.dtype for x in pair if isinstance(x, np.ndarray)), tensoriter.add, np.add]
        gc.collect()
        before = [sys.getrefcount(thing) for thing in watched]

        def work():
            f = bind(*pair)
            for _ in range(50):
                with contextlib.suppress(OverflowError, TypeError):
                    f()
                    f(*pair)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work()
        gc.collect()
        after = [sys.getrefcount(thing) for thing in watched]
        moved = [b - a for a, b in zip(before, after, strict=True)]
        assert max(map(abs, moved)) < 20, moved

    def test_result_of_given_operands_is_not_kept(self):
        f, y = bind(D, D), np.ones(12)
        reference = weakref.ref(y)
        result = f(y, y)
        results = weakref.ref(result)
        del y, result
        assert reference() is None
        assert results() is None

    def test_memory(self):
        f = bind(D, D)
        for _ in range(100):
            f()
        before = sys.getallocatedblocks()
        for _ in range(20_000):
            f()
        assert sys.getallocatedblocks() - before < 100


# ----------------------------------------------------------------- threads, reentrancy

def test_threads():
    x = np.arange(100.0)
    f, g = bind(x, x), bind(x, x, np.zeros(100))
    errors = []

    def work(mark):
        y = np.full(100, float(mark))
        long = np.full(20_000, float(mark))
        for _ in range(300):
            good = (f() == 2 * x).all() and (f(y, y) == 2 * mark).all() and (f(long, 1) == mark + 1).all()
            if not good or g().shape != (100,):
                errors.append(mark)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors


TOP = np.full(6, 1.7e308)


@pytest.mark.parametrize("x2", [TOP, 1.7e308, np.stack([TOP, TOP]), TOP[::-1]], ids=str)
class TestReentrancy:
    def test_errstate_call(self, x2):
        x1, depth, inner = np.full(6, 1.7e308), [], []
        f = bind(x1, x2)

        def handler(kind, flag):
            if len(depth) < 5:
                depth.append(kind)
                inner.append(f())
                inner.append(f(np.ones(6), np.ones(6)))

        with np.errstate(over="call", call=handler):
            outer = f()
        assert depth == ["overflow"] * 5
        assert np.isinf(outer).all()
        assert [result.ravel()[0] for result in inner].count(2.0) == 5

    def test_a_handler_that_changes_the_operands(self, x2):
        x1 = np.full(6, 1.7e308)
        f = bind(x1, x2)

        def handler(kind, flag):
            x1.resize(3000, refcheck=False)
            x1.shape = (1, 3000)

        with np.errstate(over="call", call=handler):
            assert np.isinf(f()).all()
        repeats(f, x1, x2, errstate=QUIET)

    def test_warnings_that_call_again(self, x2):
        x1 = np.full(6, 1.7e308)
        out = np.zeros(np.broadcast_shapes((6,), np.shape(x2)))
        f, told = bind(x1, x2, out), []

        def show(message, *others, **more):
            told.append(str(message))
            if len(told) < 4:
                f()

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            assert f() is out
        assert told == ["overflow encountered in add"] * 4


def test_an_operand_whose_conversion_calls_again():
    class Converts:
        def __init__(self):
            self.depth = 0

        def __array__(self, dtype=None, copy=None):
            self.depth += 1
            return f(D, D) if self.depth > 1 else f()

    converts = Converts()
    f = bind(D, D)
    np.testing.assert_array_equal(f(converts, 1), D * 2 + 1)
    g = bind(converts, D)
    np.testing.assert_array_equal(g(), D * 3)


# -------------------------------------------------------------------------------- object

def test_repr_names_op_and_operands():
    text = repr(bind(np.ones((4, 3), "f4"), 1.5))
    assert all(part in text for part in ("add", "float32", "4, 3"))
    assert "1.5" in text or "a Python float" in text
    assert "list" in repr(bind([1], D)) or "[1]" in repr(bind([1], D))
    recursive = [1]
    recursive.append(recursive)
    assert repr(bind(np.ones(100_000), recursive))
    assert len(repr(bind(np.ones(100_000), np.ones(100_000)))) < 1000


def test_it_is_a_function():
    f = bind(D, D)
    has_vectorcall = 1 << 11  # Py_TPFLAGS_HAVE_VECTORCALL, object.h
    assert callable(f)
    assert functools.partial(f)().tolist() == (D + D).tolist()
    assert type(f).__flags__ & has_vectorcall
    assert f != bind(D, D)
    with pytest.raises(TypeError):
        type(f)()
