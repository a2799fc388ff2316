"""TensorIterator, explain and force_path: what a call would do, and why."""

import threading
from functools import partial

import numpy as np
import pytest
from layouts import filled, laid_out, swapped
from oracle import compare

import tensoriter
from tensoriter import TensorIterator, explain, force_path

A = np.ones((3, 4))
B = np.ones((4, 3)).T
SWAPPED = np.ones(3, swapped("f8"))
ODD = laid_out(np.ones(3), offset=1)
OBJECTS = np.array([1, 2, 3], object)
READ_ONLY = np.ones(3)
READ_ONLY.flags.writeable = False

# The operands and keywords of a call, its path, and words that its reason has to hold.
REPRESENTATIVE = {
    "same shape": ((A, A), {}, "contiguous", []),
    "same shape in F order": ((B, B), {}, "contiguous", []),
    "one dimension": ((A[0], A[1]), {}, "contiguous", []),
    "transposed": ((A, B), {}, "strided", ["x2", "strides (8, 24)"]),
    "gaps": ((A[:, ::2], A[:, ::2]), {}, "strided", ["x1", "strides (32, 16)"]),
    "backwards": ((A[0], A[0][::-1]), {}, "strided", ["x2", "strides (-8,)"]),
    "broadcast": ((A, A[0]), {}, "strided", ["shape", "(3, 4)", "(4,)"]),
    "mixed dtypes": ((A, A.astype("f4")), {}, "strided", ["float64", "float32"]),
    "python scalar": ((A, 1), {}, "contiguous", []),
    "python scalar that promotes": ((np.arange(3), 1.5), {}, "strided", ["x2"]),
    "numpy scalar": ((np.float64(1), A), {}, "contiguous", []),
    "numpy scalar that promotes": ((np.float32(1), np.arange(3)), {}, "strided", ["x1"]),
    "byte-swapped": ((SWAPPED, SWAPPED), {}, "strided", ["x1", "byte"]),
    "misaligned": ((ODD, ODD), {}, "strided", ["x1", "align"]),
    "out": ((A, A), {"out": np.zeros((3, 4))}, "contiguous", []),
    "out of another order": ((A, A), {"out": np.zeros((4, 3)).T}, "strided", ["out"]),
    "where": ((A, A), {"where": A > 0, "out": None}, "strided", ["where"]),
    "dtype": ((A, A), {"dtype": "g"}, "strided", ["dtype"]),
    "order": ((A, A), {"order": "F"}, "strided", ["order"]),
    "objects": ((OBJECTS, OBJECTS), {}, "numpy", ["x1", "dtype"]),
    "strings": ((np.array(["a"]), np.array(["b"])), {}, "numpy", ["dtype"]),
    "matrix": ((A, A.view(np.matrix)), {}, "numpy", ["x2"]),
    "masked array": ((np.ma.array(A), A), {}, "numpy", ["x1"]),
    "list": ((A[0], [1, 2, 3, 4]), {}, "numpy", ["x2"]),
    "signature": ((A, A), {"signature": "dd->d"}, "numpy", ["signature"]),
    "integer out of range": ((np.ones(2, "u1"), 300), {}, "numpy", ["x2", "range"]),
    "shapes do not fit": ((A, np.ones(3)), {}, "numpy", ["shape"]),
    "read-only out": ((READ_ONLY, 1), {"out": READ_ONLY}, "numpy", ["out", "read-only"]),
    "bad cast": ((A, A), {"out": np.ones((3, 4), int)}, "numpy", ["out", "cast"]),
}


@pytest.mark.parametrize("name", REPRESENTATIVE)
class TestPaths:
    def test_path_and_reason(self, name):
        args, kwargs, path, words = REPRESENTATIVE[name]
        iterator = TensorIterator(*args, **kwargs)
        assert iterator.path == path
        assert [word for word in words if word not in iterator.reason] == []
        assert (iterator.reason == "") == (path == "contiguous")

    def test_explain_says_the_same(self, name):
        args, kwargs, path, _ = REPRESENTATIVE[name]
        explanation = explain(*args, **kwargs)
        assert explanation.path == path
        assert explanation.reason == TensorIterator(*args, **kwargs).reason
        assert path in str(explanation)
        assert explanation.reason in str(explanation)

    def test_nothing_is_computed(self, name):
        args, kwargs, *_ = REPRESENTATIVE[name]
        before = [np.array(x) for x in (*args, kwargs.get("out", 0))]
        TensorIterator(*args, **kwargs)
        explain(*args, **kwargs)
        after = [np.array(x) for x in (*args, kwargs.get("out", 0))]
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old, new)

    def test_forced_paths_give_the_same_answer(self, name):
        args, kwargs, path, _ = REPRESENTATIVE[name]
        for forced in ("strided", "numpy"):
            with force_path(forced):
                compare(tensoriter.add, np.add, *args, **kwargs)
                longer = forced if path == "contiguous" or forced == "numpy" else path
                assert explain(*args, **kwargs).path == longer
                assert TensorIterator(*args, **kwargs).path == longer


class TestAttributes:
    @pytest.mark.parametrize(("x1", "x2"), [
        (A, A), (A, A[0]), (A, 1), (A[:1], A[:, :1]), (np.ones(0), 1), (1, 2.0),
        (A.astype("f4"), 1), (np.ones(2, "u8"), np.ones(2, "i8")), (SWAPPED, 1),
        (np.array(1), np.float32(2)),
    ])  # fmt: skip
    def test_result(self, x1, x2):
        iterator, expected = TensorIterator(x1, x2), np.add(x1, x2)
        assert iterator.dtype == expected.dtype
        assert iterator.dtype.isnative
        assert iterator.shape == expected.shape
        assert iterator.ndim == expected.ndim
        assert iterator.size == expected.size

    def test_dtype_keyword(self):
        assert TensorIterator(A, A, dtype="g").dtype == np.longdouble
        assert TensorIterator(A, A, out=np.zeros((3, 4), "f4")).dtype == np.float64

    def test_out_joins_the_shape(self):
        assert TensorIterator(A[0], 1, out=np.zeros((5, 4))).shape == (5, 4)

    def test_attributes_are_read_only(self):
        with pytest.raises(AttributeError):
            TensorIterator(A, A).path = "numpy"

    def test_arguments_are_checked(self):
        for args in ((), (1,), (1, 2, 3, 4)):
            with pytest.raises(TypeError):
                np.add(*args)
            assert self._refused(args)

    @staticmethod
    def _refused(args):
        """TypeError, or at least NumPy's path, where NumPy itself says it."""
        try:
            return TensorIterator(*args).path == "numpy"
        except TypeError:
            return True


class TestLoopOrder:
    """Dimensions are sorted by stride, turned forwards and joined where they run on."""

    def test_contiguous_is_one_run(self):
        x = np.ones((2, 3, 4))
        iterator = TensorIterator(x, x)
        assert iterator.dims == (24,)
        assert iterator.strides == ((8,), (8,), (8,))

    @pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
    def test_same_permutation_is_one_run(self, axes):
        x = np.ones((2, 3, 4)).transpose(axes)
        assert TensorIterator(x, x).dims == (24,)

    def test_broadcast_row(self):
        iterator = TensorIterator(np.ones((2, 3, 4)), np.ones((3, 4)))
        assert iterator.dims == (2, 12)
        assert iterator.strides[:2] == ((96, 8), (0, 8))

    def test_broadcast_column(self):
        iterator = TensorIterator(np.ones((5, 4)), np.ones((5, 1)))
        assert iterator.dims == (5, 4)
        assert iterator.strides == ((32, 8), (8, 0), (32, 8))

    def test_scalar_has_no_strides(self):
        iterator = TensorIterator(np.ones((5, 4)), 2.0)
        assert iterator.dims == (20,)
        assert iterator.strides == ((8,), (0,), (8,))

    def test_gaps_between_rows_do_not_join(self):
        x = np.ones((5, 8))[:, :4]
        assert TensorIterator(x, x).dims == (5, 4)
        x = np.ones((8, 4))[::2]
        assert TensorIterator(x, x).dims == (4, 4)

    def test_evenly_spaced_elements_join(self):
        x = np.ones((5, 8))[:, ::2]
        assert TensorIterator(x, x, out=np.ones((5, 8))[:, ::2]).dims == (20,)

    def test_transposed_operand_does_not_join(self):
        x = np.ones((4, 5))
        iterator = TensorIterator(x, np.ones((5, 4)).T)
        assert iterator.dims == (4, 5)
        assert iterator.strides == ((40, 8), (8, 32), (40, 8))

    def test_one_element_dimensions_vanish(self):
        x = np.ones((1, 3, 1, 4, 1))
        assert TensorIterator(x, x).dims == (12,)

    def test_64_dimensions(self):
        x = np.ones((2, 2) + (1,) * 60 + (3, 3))
        assert TensorIterator(x, x).dims == (36,)

    def test_size_is_kept(self):
        for seed in range(200):
            generator = np.random.default_rng(seed)
            shape = tuple(generator.integers(1, 4, generator.integers(0, 5)))
            axes, steps = generator.permutation(len(shape)), generator.integers(-2, 3, len(shape))
            x = laid_out(np.ones(shape), axes=axes, steps=steps)
            iterator = TensorIterator(x, np.ones(shape[1:]))
            assert np.prod(iterator.dims, dtype=int) == x.size
            assert {len(strides) for strides in iterator.strides} <= {len(iterator.dims)}
            assert iterator.shape == np.add(x, np.ones(shape[1:])).shape


class TestOverlap:
    X = np.arange(10.0)

    @pytest.mark.parametrize(("x1", "x2", "out", "overlap"), [
        (X, X, X, False), (X, 1, X, False), (X, X, np.zeros(10), False), (X[::2], 1, X[::2], False),
        (X[:5], X[:5], X[5:], False), (X[::2], X[::2], X[1::2], False),
        (X[:-1], 1, X[1:], True), (X[1:], 1, X[:-1], True), (1, X[:-1], X[1:], True),
        (X, X[::-1], X, True), (X[:9].reshape(3, 3), X[:3], X[:9].reshape(3, 3), True),
        (X[:9].reshape(3, 3).T, 1, X[:9].reshape(3, 3), True),
    ])  # fmt: skip
    def test_overlap(self, x1, x2, out, overlap):
        assert TensorIterator(x1, x2, out).overlap is overlap
        assert bool(explain(x1, x2, out).copied) is overlap

    def test_none_without_out(self):
        assert TensorIterator(self.X, self.X[::-1]).overlap is False


class TestExplain:
    def test_loop(self):
        x = np.ones(100, "f4")
        explanation = explain(x, x)
        assert explanation.loop == "add_float32"
        assert explanation.isa in ("baseline", "avx2", "avx512")
        assert explanation.dtype == np.float32
        assert explanation.shape == (100,)
        assert not explanation.cast
        assert not explanation.copied

    def test_numpys_path_has_no_loop(self):
        explanation = explain(OBJECTS, 1)
        assert explanation.loop == ""
        assert explanation.isa == "numpy"

    def test_casts_are_named(self):
        explanation = explain(np.ones(3, "i4"), np.ones(3), out=np.ones(3, "f4"))
        assert len(explanation.cast) == 2
        assert "x1" in explanation.cast[0]
        assert "int32" in explanation.cast[0]
        assert "float64" in explanation.cast[0]
        assert "out" in explanation.cast[1]

    def test_copies_are_named(self):
        x = np.ones(5)
        assert "x2" in explain(1, x[1:], out=x[:-1]).copied[0]

    def test_walk(self):
        a = np.ones((100, 100))
        assert explain(a, a).walk == ()
        assert explain(a, a.T).walk == ("in tiles of 8 rows of 100, x2 by columns",)
        assert explain(a.T, a, out=a.T).walk == ("in tiles of 8 rows of 100, x1 and out by columns",)
        assert explain(np.ones((1000, 3)), np.ones(3)).walk == ("in tiles of 3 x 341 elements",)
        assert explain(np.ones(5000, "f4"), np.ones(5000)).walk == ("in tiles of 1 x 1024 elements",)
        assert explain(np.ones(100, "f4"), np.ones(100)).walk == ()
        large = np.broadcast_to(1.0, (1_400_000,)).copy()
        assert explain(large, large).walk == ("the output past the cache",)
        assert explain(large, large, out=large).walk == ()
        with tensoriter.threads(2):
            assert explain(large, large).walk == ("the output past the cache", "on 2 threads")
            assert explain(a, a).walk == ()

    def test_text(self):
        text = str(explain(A, B))
        assert "strides (8, 24)" in text
        assert "float64" in text


class TestForcePath:
    X = np.ones(3)

    def path(self):
        return explain(self.X, self.X).path

    def test_nests(self):
        assert self.path() == "contiguous"
        with force_path("strided"):
            assert self.path() == "strided"
            with force_path("numpy"):
                assert self.path() == "numpy"
            assert self.path() == "strided"
        assert self.path() == "contiguous"

    def test_restores_after_an_exception(self):
        with pytest.raises(ZeroDivisionError), force_path("numpy"):
            raise ZeroDivisionError
        assert self.path() == "contiguous"

    def test_one_object_may_be_entered_twice(self):
        forced = force_path("strided")
        with forced, forced:
            assert self.path() == "strided"
        assert self.path() == "contiguous"

    @pytest.mark.parametrize("path", ["contiguous", "", "fast", None, 3])
    def test_refuses_other_paths(self, path):
        with pytest.raises((ValueError, TypeError)), force_path(path):
            pass
        assert self.path() == "contiguous"

    def test_other_threads_are_free(self):
        seen = []
        with force_path("numpy"):
            thread = threading.Thread(target=lambda: seen.append(self.path()))
            thread.start()
            thread.join()
        assert seen in (["contiguous"], ["strided"])

    @pytest.mark.parametrize("code", "?bBhHiIlLefdgFDG")
    def test_forced_strided_gives_the_same_bits(self, code):
        def forced(*args, **kwargs):
            with force_path("strided"):
                return tensoriter.add(*args, **kwargs)

        check = partial(compare, forced, tensoriter.add)
        for n in [0, 1, 2, 3, 7, 31, 64, 65, 1000, 8193]:
            x, y = filled(n, code, 1), filled(n, code, 2)
            check(x, y)
            check(x, y, out=y)
        x = filled((6, 7), code, 3)
        check(x, x)
        check(x.T, x.T)
        check(x[0, 0], x[1, 1])
