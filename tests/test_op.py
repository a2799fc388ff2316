"""Op: signature and attributes as np.add has them, pickling, methods, and alpha."""

import copy
import inspect
import pickle
import threading
from functools import partial
from itertools import product

import numpy as np
import pytest
from layouts import ALIASES, NUMERIC, WIDEST, counting, filled, laid_out, swapped
from oracle import compare, run

import tensoriter


class TestAttributes:
    @pytest.mark.parametrize(
        "name", ["nin", "nout", "nargs", "ntypes", "types", "identity", "__name__", "signature"]
    )
    def test_as_numpy_has_them(self, name):
        assert getattr(tensoriter.add, name) == getattr(np.add, name)

    def test_kind(self):
        assert isinstance(tensoriter.add, tensoriter.Op)
        assert tensoriter.add.ufunc is np.add
        assert callable(tensoriter.add)

    def test_signature_is_numpys_and_alpha(self):
        ours = inspect.signature(tensoriter.add).parameters
        theirs = ["x1", "x2", "out", "where", "casting", "order", "dtype", "subok", "signature"]
        defaults = [inspect.Parameter.empty] * 2 + [None, True, "same_kind", "K", None, True, None]
        assert [name for name in ours if name not in ("alpha", "checked")] == theirs
        assert [ours[name].default for name in theirs] == defaults
        assert [ours[name].kind for name in theirs[:2]] == [inspect.Parameter.POSITIONAL_ONLY] * 2
        assert ours["out"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        for name in [*theirs[3:], "alpha"]:
            assert ours[name].kind is inspect.Parameter.KEYWORD_ONLY

    def test_docstring_states_the_rounding_of_alpha(self):
        text = tensoriter.add.__doc__
        assert "alpha" in text
        assert "round" in text

    def test_repr_names_it(self):
        assert "add" in repr(tensoriter.add)

    def test_unknown_attribute(self):
        with pytest.raises(AttributeError):
            tensoriter.add.no_such_attribute  # noqa: B018

    def test_attributes_are_read_only(self, monkeypatch):
        with pytest.raises((AttributeError, TypeError)):
            monkeypatch.setattr(tensoriter.add, "nin", 3)

    def test_called_through_vectorcall(self):
        has_vectorcall = 1 << 11  # Py_TPFLAGS_HAVE_VECTORCALL, object.h
        assert tensoriter.Op.__flags__ & has_vectorcall

    @pytest.mark.parametrize("dtypes", [
        ("f8", "f4", None), ("i8", "u8", None), ("f4", float, None), ("u1", int, None),
        ("?", "?", "?"),
    ])  # fmt: skip
    def test_resolve_dtypes(self, dtypes):
        dtypes = tuple(np.dtype(d) if isinstance(d, str) else d for d in dtypes)
        assert tensoriter.add.resolve_dtypes(dtypes) == np.add.resolve_dtypes(dtypes)


class TestCopies:
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickles_to_itself(self, protocol):
        text = pickle.dumps(tensoriter.add, protocol)
        assert pickle.loads(text) is tensoriter.add
        assert b"tensoriter" in text

    def test_copies_to_itself(self):
        assert copy.copy(tensoriter.add) is tensoriter.add
        assert copy.deepcopy(tensoriter.add) is tensoriter.add
        assert copy.deepcopy([tensoriter.add])[0] is tensoriter.add

    def test_hashes_and_compares(self):
        assert {tensoriter.add: 1}[tensoriter.add] == 1
        assert tensoriter.add != np.add


class TestMethods:
    """reduce and its kin are the ufunc's own."""

    X = np.arange(12.0).reshape(3, 4)

    @pytest.mark.parametrize(("method", "args", "kwargs"), [
        ("reduce", (X,), {}), ("reduce", (X, 1), {"keepdims": True}), ("reduce", (X[:0],), {}),
        ("reduce", (X,), {"axis": (0, 1), "dtype": "f4", "initial": 5}),
        ("accumulate", (X,), {"axis": 1}), ("outer", (X, [1, 2]), {}),
        ("reduceat", (X, [0, 2]), {}), ("reduceat", (X, [0, 9]), {}),
    ])  # fmt: skip
    def test_as_numpy(self, method, args, kwargs):
        compare(getattr(tensoriter.add, method), getattr(np.add, method), *args, **kwargs)

    def test_at(self):
        ours, theirs = np.zeros(3), np.zeros(3)
        assert tensoriter.add.at(ours, [0, 0, 2], 1.5) is None
        np.add.at(theirs, [0, 0, 2], 1.5)
        np.testing.assert_array_equal(ours, theirs)


class TestThreads:
    def test_calls_from_many_threads(self):
        x, y = counting(500, "d", 1), laid_out(counting(500, "f", 2), steps=[-2])
        expected, wrong = np.add(x, y), []

        def work():
            for _ in range(300):
                if not np.array_equal(tensoriter.add(x, y), expected):
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


# ------------------------------------------------------------------------------------- alpha

def scaled_add(x1, x2, alpha):
    """x1 + alpha * x2 by NumPy, rounded as tensoriter's docstring says.

    The dtype T is that of np.add(x1, x2). Real T: product, then sum, each rounded to T (float16:
    each made in float32, then rounded, as NumPy's own do). Complex T: each product and each sum
    of the parts rounded by itself; np.multiply may fuse them, depending on the machine.
    """
    with np.errstate(all="ignore"):
        total = np.add(x1, x2)
        a = np.asarray(alpha).astype(total.dtype)[()]
        if total.dtype.kind != "c":
            return np.add(x1, np.multiply(x2, a))
        left, right = (np.asarray(x).astype(total.dtype) for x in (x1, x2))
        result = np.empty_like(np.asarray(total))
        result.real = left.real + (a.real * right.real - a.imag * right.imag)
        result.imag = left.imag + (a.real * right.imag + a.imag * right.real)
        return result if result.ndim else result[()]


def check_alpha(x1, x2, alpha, **kwargs):
    def theirs(x1, x2, out=None, where=True):
        result = scaled_add(x1, x2, alpha)
        if out is None:
            return result
        np.copyto(out, result, where=where, casting="same_kind")
        return out

    ours = partial(tensoriter.add, alpha=alpha)
    return compare(ours, theirs, x1, x2, errstate={"all": "ignore"}, **kwargs)


def alphas(code):
    """Numbers that cast to `code` by the same_kind rule, Python's and NumPy's."""
    kind = np.dtype(code).kind
    numbers = [0, 1, 2, 3, True, np.int8(2)]
    if kind == "u":
        numbers = [0, 1, 2, 3, True, np.uint8(2)]
    if kind in "fc":
        numbers += [-1, 0.1, -0.0, np.inf, np.nan, 1e-5, np.float32(0.3), np.float64(0.3)]
    if kind == "c":
        numbers += [1j, 0.1 - 3j, complex(np.inf, 0), np.complex64(1 + 1j)]
    return numbers


CODES = [code for code in [*NUMERIC, *WIDEST, *ALIASES] if code != "?"]


@pytest.mark.parametrize("code", CODES)
class TestAlpha:
    def test_every_length(self, code):
        for n, alpha in product(range(68), alphas(code)[2:4]):
            check_alpha(filled(n, code, n), filled(n, code, n + 50), alpha)

    def test_every_alpha(self, code):
        x, y = filled(300, code, 1), filled(300, code, 2)
        for alpha in alphas(code):
            check_alpha(x, y, alpha)
            check_alpha(x[::3], y[::-3], alpha)

    def test_rounding(self, code):
        generator = np.random.default_rng(4)
        x, y = (generator.uniform(1, 100, 1000).astype(code) for _ in "xy")
        for alpha in alphas(code):
            check_alpha(x, y, alpha)

    def test_layouts(self, code):
        x = laid_out(filled((3, 4), code, 1), axes=(1, 0), steps=(-2, 1), offset=3)
        y = laid_out(filled((3, 4), swapped(code), 2), steps=(1, 2))
        for pair in ((x, y), (y, x), (x, y[0]), (x[:, :1], y), (x, x), (x[0, 0], y[1, 1])):
            check_alpha(*pair, 3)

    def test_scalars(self, code):
        x = filled(9, code, 1)
        check_alpha(x, 2, 3)
        check_alpha(2, x, 3)
        check_alpha(x, x[0], 3)
        check_alpha(x[0], x[1], 3)
        check_alpha(np.array(x[0]), x[1], 3)

    def test_out(self, code):
        x, y = filled((3, 4), code, 1), filled((3, 4), code, 2)
        check_alpha(x, y, 2, out=np.zeros_like(x))
        check_alpha(x, y, 2, out=x)
        check_alpha(x, y, 2, out=y)
        check_alpha(x, y[0], 2, out=np.zeros((2, 3, 4), swapped(code)))
        check_alpha(x, y, 2, out=laid_out(x, axes=(1, 0), offset=1))

    def test_overlap(self, code):
        x = filled(40, code, 1)
        check_alpha(x[:-1], x[1:], 2, out=x[1:])
        check_alpha(x[1:], x[:-1], 2, out=x[1:])
        check_alpha(x, x[::-1], 2, out=x)

    def test_where(self, code):
        x, y = filled((3, 4), code, 1), filled((3, 4), code, 2)
        mask = filled((3, 4), "?", 3)
        check_alpha(x, y, 2, out=np.zeros_like(x), where=mask)
        check_alpha(x, y, 2, out=np.zeros_like(x), where=mask[0])

    def test_mixed_dtypes(self, code):
        x = filled(70, code, 1)
        for other in CODES:
            check_alpha(x, filled(70, other, 2), 2)
            check_alpha(filled(70, other, 2), x, 2)
        check_alpha(x, filled(70, "?", 2), 2)


class TestAlphaByItself:
    def test_literal(self):
        x = np.array([1.0, 2.0])
        np.testing.assert_array_equal(tensoriter.add(x, x, alpha=10), [11.0, 22.0])
        result = tensoriter.add(np.array([1, 2], "i4"), [1, 1], alpha=3)
        np.testing.assert_array_equal(result, [4, 5])

    def test_integers_wrap(self):
        x = np.array([200], "u1")
        assert run(tensoriter.add, (x, x), {"alpha": 2}).value == np.array([88], "u1")

    def test_takes_no_part_in_promotion(self):
        f4 = np.ones(3, "f4")
        assert tensoriter.add(f4, f4, alpha=np.float64(0.1)).dtype == "f4"
        assert tensoriter.add(np.ones(3, "u1"), 1, alpha=2).dtype == "u1"
        assert tensoriter.add(np.ones(3, "i1"), np.ones(3, "u1"), alpha=2).dtype == "i2"

    def test_one_is_add(self):
        x, y = filled(50, "d", 1), filled(50, "d", 2)
        compare(partial(tensoriter.add, alpha=1), np.add, x, y, errstate={"all": "warn"})
        compare(partial(tensoriter.add, alpha=1.0), np.add, x, y, errstate={"all": "raise"})

    def test_dtype_decides(self):
        x = np.array([200], "u1")
        result = tensoriter.add(x, x, alpha=300, dtype="i4")
        assert result.dtype == "i4"
        assert result == 200 + 300 * 200

    def test_overflow_is_reported_once(self):
        x = np.array([1e308, 1.0])
        outcome = run(tensoriter.add, (x, x), {"alpha": 10.0}, {"all": "warn"})
        assert outcome.texts == ["overflow encountered in add"]
        outcome = run(tensoriter.add, (x, x), {"alpha": 10.0}, {"all": "raise"})
        assert outcome.error is FloatingPointError

    @pytest.mark.parametrize(("x1", "x2", "alpha", "error"), [
        (np.ones(2, "i4"), np.ones(2, "i4"), 1.5, TypeError),
        (np.ones(2, "i4"), np.ones(2, "i4"), np.float32(1), TypeError),
        (np.ones(2, "u4"), np.ones(2, "u4"), np.int8(1), TypeError),
        (np.ones(2), np.ones(2), 1j, TypeError),
        (np.ones(2), np.ones(2), "2", TypeError),
        (np.ones(2), np.ones(2), object(), TypeError),
        (np.ones(2, "u1"), np.ones(2, "u1"), 256, OverflowError),
        (np.ones(2, "u1"), np.ones(2, "u1"), -1, OverflowError),
        (np.ones(2, "i8"), 1, 2**63, OverflowError),
        (np.ones(2), np.ones(2), 10**400, OverflowError),
        (np.ones(2, "?"), np.ones(2, "?"), 2, TypeError),
        (np.ones(2, "?"), np.ones(2, "?"), True, TypeError),
        (True, False, 1, TypeError),
        (np.array([1, 2], object), 1, 2, TypeError),
        (np.ones((1, 2)).view(np.matrix), 1, 2, TypeError),
        (1, np.ma.array([1, 2]), 2, TypeError),
        (np.array(["a"]), np.array(["b"]), 2, TypeError),
        (np.array(["2020"], "M8[D]"), np.array([1], "m8[D]"), 2, TypeError),
        (np.ones(2), np.ones(3), 2, ValueError),
    ])  # fmt: skip
    def test_refused(self, x1, x2, alpha, error):
        outcome = run(tensoriter.add, (x1, x2), {"alpha": alpha})
        assert outcome.error is not None
        assert issubclass(outcome.error, error)

    def test_out_keeps_its_bytes_when_refused(self):
        x, out = np.ones(2, "i4"), np.full(2, 7, "i4")
        with pytest.raises(TypeError):
            tensoriter.add(x, x, out=out, alpha=1.5)
        with pytest.raises(OverflowError):
            tensoriter.add(x, x, out=out, alpha=2**40)
        with pytest.raises(TypeError):
            tensoriter.add(x, 1.5, out=out, alpha=2)
        np.testing.assert_array_equal(out, [7, 7])

    def test_lists(self):
        check_alpha([1, 2], [3.5, 4.5], 2)
        check_alpha([1, 2], 3, 2)
        check_alpha(1, 2, 3)
        check_alpha(1.5, 2, 3)

    def test_empty(self):
        check_alpha(np.zeros(0), np.zeros(1), 2)
        outcome = run(tensoriter.add, (np.zeros(0, "u1"), 1), {"alpha": 300})
        assert outcome.error is OverflowError

    def test_zero_dimensional_result_is_a_scalar(self):
        assert type(tensoriter.add(np.float32(1), np.array(2, "f4"), alpha=2)) is np.float32

    @pytest.mark.parametrize("order", "KCFA")
    def test_order(self, order):
        x = np.asfortranarray(np.ones((2, 3)))
        ours = tensoriter.add(x, x[:, ::-1], alpha=2, order=order)
        assert ours.strides == np.add(x, x[:, ::-1], order=order).strides

    def test_is_numpys_error_where_numpy_has_none(self):
        with pytest.raises(TypeError):
            np.add(1, 2, alpha=3)
