"""Operands with a say of their own: __array_ufunc__, __array_wrap__, subclasses, other dtypes."""

from functools import partial

import numpy as np
import pytest
from oracle import compare

import tensoriter

add = partial(compare, tensoriter.add, np.add)

X = np.array([1.0, 2.0, 3.0])


class Recorder:
    """Answers every ufunc with what it was asked."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return type(self).__name__, ufunc, method, inputs, kwargs


class RecordingArray(Recorder, np.ndarray):
    pass


class Younger(Recorder):
    pass


class Declines:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented


class OptsOut:
    __array_ufunc__ = None


class Fails:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        raise ZeroDivisionError


class TestArrayUfunc:
    """Rule 12: asked wherever it stands, the subclass first, with NumPy's own ufunc."""

    @pytest.mark.parametrize("thing", [Recorder(), X.view(RecordingArray)])
    @pytest.mark.parametrize("kwargs", [
        {}, {"where": True}, {"dtype": "f4"}, {"casting": "unsafe", "order": "F"}, {"out": None},
        {"out": X}, {"out": (X,)}, {"where": np.array([True, False, True])}, {"subok": False},
    ])  # fmt: skip
    def test_input(self, thing, kwargs):
        for args in ((thing, X), (X, thing), (thing, 1), (1, thing), (thing, thing)):
            ours, theirs = tensoriter.add(*args, **kwargs), np.add(*args, **kwargs)
            assert ours[1] is np.add
            assert str(ours) == str(theirs)

    @pytest.mark.parametrize("place", ["out", "where"])
    def test_only_keyword(self, place):
        thing = Recorder()
        name, ufunc, method, inputs, kwargs = tensoriter.add(X, 1, **{place: thing})
        assert (name, ufunc, method) == ("Recorder", np.add, "__call__")
        assert inputs[0] is X
        assert inputs[1] == 1
        assert kwargs == {place: (thing,) if place == "out" else thing}

    def test_out_is_handed_on_as_a_tuple(self):
        thing, out = Recorder(), np.zeros(3)
        for call in ((thing, X, out), (thing, X)):
            kwargs = {} if len(call) == 3 else {"out": out}
            handed = tensoriter.add(*call, **kwargs)[4]["out"]
            assert type(handed) is tuple
            assert handed[0] is out

    def test_out_subclass(self):
        out = np.zeros(3).view(RecordingArray)
        answer = tensoriter.add(X, X, out=out)
        assert answer[0] == "RecordingArray"
        assert not out.view(np.ndarray).any()

    def test_subclass_goes_first(self):
        class Child(Recorder):
            pass

        assert tensoriter.add(Recorder(), Child())[0] == "Child"
        assert tensoriter.add(Child(), Recorder())[0] == "Child"
        assert tensoriter.add(Recorder(), X, out=(Child(),))[0] == "Child"
        assert tensoriter.add(Younger(), Child())[0] == "Younger"

    def test_declined_is_handed_on(self):
        assert tensoriter.add(Declines(), Recorder())[0] == "Recorder"
        assert tensoriter.add(Declines(), X, out=(Recorder(),))[0] == "Recorder"

    @pytest.mark.parametrize("thing", [Declines(), OptsOut()])
    def test_nobody_answers(self, thing):
        for args, kwargs in (((thing, X), {}), ((X, thing), {}), ((X, X), {"out": thing}),
                             ((X, X), {"where": thing}), ((thing, thing), {})):  # fmt: skip
            assert add(*args, **kwargs).error is TypeError

    def test_exception_comes_through(self):
        assert add(Fails(), X).error is ZeroDivisionError
        assert add(X, X, out=Fails()).error is ZeroDivisionError

    def test_ndarrays_own_is_no_override(self):
        class Plain(np.ndarray):
            pass

        assert type(add(X.view(Plain), X).value) is Plain
        assert type(add(X, X, out=np.zeros(3).view(Plain)).value) is Plain
        add(X.view(Plain), X, subok=False)
        add(X.view(Plain)[0], 1)
        add(np.array(1.0).view(Plain), 1)


class Wrapped(np.ndarray):
    """A subclass from before __array_ufunc__: keeps what __array_wrap__ is told."""

    told = None
    __array_priority__ = 5.0

    def __array_finalize__(self, obj):
        self.unit = getattr(obj, "unit", None)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        Wrapped.told = (type(array), array.shape, context, return_scalar)
        return super().__array_wrap__(array, context, return_scalar)


class HigherPriority(Wrapped):
    __array_priority__ = 50.0


class Scalarless:
    """Not an array: converts by __array__ and dresses the result."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0, 3.0])

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return "dressed", array.tolist(), context[0].__name__, context[2], return_scalar


class TestArrayWrap:
    def told(self, function, *args, **kwargs):
        Wrapped.told = None
        function(*args, **kwargs)
        return Wrapped.told

    @pytest.mark.parametrize("kwargs", [{}, {"out": np.zeros(3)}, {"dtype": "f4"}])
    def test_context(self, kwargs):
        x = X.view(Wrapped)
        for args in ((x, X), (X, x), (x, 1), (x, x)):
            ours, theirs = (self.told(f, *args, **kwargs) for f in (tensoriter.add, np.add))
            assert str(ours) == str(theirs)
            add(*args, **kwargs)
        assert self.told(tensoriter.add, x, X)[2][0] is np.add

    def test_priority(self):
        low, high = X.view(Wrapped), X.view(HigherPriority)
        for args in ((low, high), (high, low), (high, X)):
            assert type(add(*args).value) is HigherPriority

    def test_zero_dimensions(self):
        x = np.array(1.0).view(Wrapped)
        add(x, 1)
        assert str(self.told(tensoriter.add, x, 1)) == str(self.told(np.add, x, 1))

    def test_without_being_an_array(self):
        assert tensoriter.add(Scalarless(), X) == np.add(Scalarless(), X)
        assert tensoriter.add(1, Scalarless())[0] == "dressed"


class TestArrayProtocol:
    """Objects that only know how to become an array."""

    class Converts:
        def __init__(self, array):
            self.array = array

        def __array__(self, dtype=None, copy=None):
            return self.array

    class FailsToConvert:
        def __array__(self, dtype=None, copy=None):
            raise ZeroDivisionError

    def test_converted(self):
        for array in (X, X.astype("f4"), X[::-1], np.array(1.0), np.array([1, 2, 3], "u1")):
            add(self.Converts(array), X)
            add(X, self.Converts(array), out=np.zeros(3))

    def test_failing(self):
        assert add(self.FailsToConvert(), X).error is ZeroDivisionError
        assert add(X, self.FailsToConvert(), out=np.zeros(3)).error is ZeroDivisionError

    def test_buffers(self):
        add(memoryview(b"\1\2\3"), X)
        add(bytearray(b"\1\2\3"), X)
        add(range(3), X)
        add((1, 2, 3), X)
        add([[1], [2.5]], X)


class TestSubclassesOfNumpy:
    MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])

    def test_masked_arrays(self):
        outcome = add(self.MASKED, X)
        assert type(outcome.value) is np.ma.MaskedArray
        assert outcome.value.mask.tolist() == [False, True, False]
        add(X, self.MASKED)
        add(self.MASKED, self.MASKED[::-1])
        add(self.MASKED, 1, out=np.ma.zeros(3))
        add(self.MASKED, np.ma.masked)
        add(self.MASKED, np.array([np.inf, 1, 1]), errstate={"all": "warn"})

    def test_matrix(self):
        m = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
        assert type(add(m, m).value) is np.matrix
        add(m, m.A)
        add(m, 1)
        add(m.A, m.A, out=m)
        add(m, m[0], subok=False)

    def test_memmap(self, tmp_path):
        mapped = np.memmap(tmp_path / "x", dtype="f8", mode="w+", shape=(3,))
        mapped[:] = X
        add(mapped, X)
        add(mapped, mapped)
        tensoriter.add(mapped, 1, out=mapped)
        np.testing.assert_array_equal(np.asarray(mapped), X + 1)

    def test_recarray(self):
        records = np.rec.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
        add(records.a, records.b)
        add(records.b, 1, out=np.zeros(2))
        assert add(records, records).error is not None

    def test_chararray_and_poly(self):
        add(np.char.array(["a", "b"]), np.array(["c", "d"]))
        add(np.poly1d([1, 2]), X[:2])


class TestOtherDtypes:
    """Rule 18: not ours, and NumPy's to the letter."""

    DAYS = np.array(["2020-01-01", "NaT"], "M8[D]")
    HOURS = np.array([1, 2], "m8[h]")
    OBJECTS = np.array([1, "a", None], object)

    @pytest.mark.parametrize(("x1", "x2"), [
        (DAYS, HOURS), (HOURS, DAYS), (HOURS, HOURS), (HOURS, 1), (DAYS, 1), (DAYS, DAYS),
        (DAYS, X[:2]), (HOURS, np.timedelta64(1, "s")),
        (np.datetime64("2020"), np.timedelta64(1, "D")),
        (OBJECTS, OBJECTS), (OBJECTS[:1], 1.5), (OBJECTS[:1], X), (np.array(1, object), 2),
        (np.array([1], object), np.array([[1], [2]], object)), (object(), object()),
        (np.array(["a", "bc"]), np.array(["d", "e"])), (np.array([b"a"]), np.array([b"b"])),
        (np.array(["a"]), "b"), (np.array(["a"]), 1), ("a", "b"),
        (np.zeros(2, "i4,f8"), np.zeros(2, "i4,f8")), (np.zeros(2, "V4"), np.zeros(2, "V4")),
        (np.array(["a"], np.dtypes.StringDType()), np.array(["b"], np.dtypes.StringDType())),
    ])  # fmt: skip
    def test_passed_through(self, x1, x2):
        add(x1, x2)

    def test_out(self):
        add(X, X, out=np.zeros(3, object))
        add(self.DAYS, self.HOURS, out=self.DAYS.astype("M8[h]"))
        add(X, X, out=np.zeros(3, "U8"))
        add(X, X, out=np.zeros(3, "M8[D]"))
        add(X, 1, out=np.zeros(3, "i4,f8"))
        add(self.OBJECTS[:1], 1, out=np.zeros(1))

    @pytest.mark.parametrize("dtype", ["O", "U", "M8[D]", "i4,f8", object])
    def test_dtype(self, dtype):
        add(X, X, dtype=dtype)

    @pytest.mark.parametrize("signature", ["dd->d", "ff->f", "ii->i", ("f", "f", "f"), "bogus", 3,
                                           (None, None, "f")])  # fmt: skip
    def test_signature(self, signature):
        add(X, X, signature=signature)
        add(X, X, signature=signature, casting="unsafe")

    def test_dtype_with_metadata(self):
        noted = np.dtype("f8", metadata={"unit": "m"})
        x = np.ones(3, noted)
        for args in ((x, x), (x, X), (X, x), (x, 1), (1, x), (x[::2], X[::2])):
            assert add(*args).error is None
