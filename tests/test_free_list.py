"""The free list: what it admits, its bounds, and that nothing can tell a reused array."""

import gc
import itertools
import pickle
import sys
import tracemalloc
import weakref

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name
from oracle import facts

import tensoriter
from tensoriter import free_list

KEYS = {"hits", "misses", "entries", "bytes", "large_entries", "large_bytes"}
LARGE = (400, 400)  # of float32: 640,000 bytes

# Some rules are about attributes whose setting newer NumPy deprecates.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.usefixtures("fresh_list"),
]


def entries():
    info = free_list.info()
    return info["entries"] + info["large_entries"]


def want(shape=(100,), dtype="f4", order="C"):
    """Make the list want arrays of a kind and hold none; returns one, to be an operand."""
    operand = np.ones(shape, dtype, order)
    tensoriter.add(operand, operand)
    free_list.clear()
    assert entries() == 0
    return operand


def reused(shape=(100,), dtype="f4", order="C"):
    """A result that certainly came from the list."""
    operand = want(shape, dtype, order)
    tensoriter.add(operand, operand)
    hits = free_list.info()["hits"]
    result = tensoriter.add(operand, operand)
    assert free_list.info()["hits"] == hits + 1
    return result


def test_public_name():
    assert tensoriter.free_list is free_list
    assert "free_list" in tensoriter.__all__


# ------------------------------------------------------------------------------- admission

class Sub(np.ndarray):
    pass


def exported(array):
    with memoryview(array):
        pass
    return array


def with_attribute(array, name, value):
    setattr(array, name, value)
    return array


def read_only(array):
    array.flags.writeable = False
    return array


def plain(dtype="f4"):
    return np.ones(100, dtype)


# Each makes an array like a wanted one but for one thing, and what has to outlive it.
NOT_ADMITTED = {
    "a subclass": lambda: (np.ndarray.__new__(Sub, 100, "f4"),),
    "a view": lambda: (lambda base: (base[:], base))(plain()),
    "other memory": lambda: (lambda memory: (np.frombuffer(memory, "f4"), memory))(bytearray(400)),
    "memory of nobody": lambda: (lambda a: (np.ndarray(100, "f4", a), a))(plain()),
    "a living weak reference": lambda: (lambda a: (a, weakref.ref(a)))(plain()),
    "a callback": lambda: (lambda a: (a, weakref.ref(a, lambda r: None)))(plain()),
    "a finalizer": lambda: (lambda a: (a, weakref.finalize(a, int)))(plain()),
    "a buffer once exported": lambda: (exported(plain()),),
    "read-only": lambda: (read_only(plain()),),
    "strides changed": lambda: (with_attribute(plain(), "strides", (0,)),),
    "shape changed": lambda: (with_attribute(plain(), "shape", (10, 10)),),
    "dtype changed": lambda: (with_attribute(plain(), "dtype", "i4"),),
    "item size changed": lambda: (with_attribute(plain(), "dtype", "f8"),),
    "metadata": lambda: (plain(np.dtype("f4", metadata={"unit": "m"})),),
    "byte-swapped": lambda: (plain(np.dtype("f4").newbyteorder("S")),),
    "another dtype": lambda: (plain("i4"),),
    "another shape": lambda: (np.ones(101, "f4"),),
    "another dimension": lambda: (np.ones((100, 1), "f4"),),
    "0-d": lambda: (np.ones((), "f4"),),
    "objects": lambda: (np.ones(100, object),),
}


class TestAdmission:
    @pytest.mark.parametrize("make", [np.ones, np.empty, np.zeros, np.arange])
    def test_a_dead_array_of_a_wanted_kind(self, make):
        operand = want()  # noqa: F841 - alive, or it would be the first to be kept
        array = make(100, dtype="f4")
        assert entries() == 0
        del array
        assert entries() == 1
        assert free_list.info()["bytes"] == 400

    @pytest.mark.parametrize("name", NOT_ADMITTED)
    def test_not_admitted(self, name):
        operand = want()  # noqa: F841 - alive, or it would be the first to be kept
        array, *others = NOT_ADMITTED[name]()
        del array
        assert entries() == 0
        del others

    @pytest.mark.parametrize("name", NOT_ADMITTED)
    def test_not_admitted_where_everything_else_is_wanted(self, name):
        """No other kind's place takes it either, and what comes from the list is sound."""
        kinds = list(itertools.product([(100,), (10, 10), (100, 1), (50,)], ["f4", "i4", "f8"]))
        for shape, dtype in kinds:
            want(shape, dtype)
        array, *others = NOT_ADMITTED[name]()
        del array, others
        for shape, dtype in kinds:
            operand = np.full(shape, 3, dtype)
            results = [tensoriter.add(operand, operand) for _ in range(3)]
            for result in results:
                assert result.flags.num == np.empty(shape, dtype).flags.num
                assert result.strides == np.empty(shape, dtype).strides
                assert (result == 6).all()

    def test_dead_weak_reference(self):
        """A reference that is gone before the array leaves no trace."""
        operand = want()  # noqa: F841 - alive, or it would be the first to be kept
        array = plain()
        reference = weakref.ref(array)
        del reference
        del array
        assert entries() == 1

    def test_flags_put_back(self):
        operand = want()  # noqa: F841 - alive, or it would be the first to be kept
        array = read_only(plain())
        array.flags.writeable = True
        del array
        assert entries() == 1
        assert reused().flags.writeable

    @pytest.mark.parametrize("order", "CF")
    def test_order_is_part_of_the_kind(self, order):
        operand = want((4, 3), "f4", order)
        other = np.ones((4, 3), "f4", order="CF"[order == "C"])
        del other
        assert entries() == 0
        result = tensoriter.add(operand, operand)
        del result
        assert entries() == 1
        assert tensoriter.add(operand, operand).strides == operand.strides

    @pytest.mark.parametrize(("change", "shape", "dtype"), [
        (("shape", (10, 10)), (10, 10), "f4"),
        (("dtype", "i4"), (100,), "i4"),
        (("dtype", "f8"), (50,), "f8"),
    ])  # fmt: skip
    def test_an_array_changed_into_a_wanted_kind(self, change, shape, dtype):
        operand = want(shape, dtype)
        array = with_attribute(plain(), *change)
        del array
        result = tensoriter.add(operand, operand)
        assert result.shape == shape
        assert (result == 2).all()
        assert result.dtype is np.dtype(dtype)

    def test_a_resized_array(self):
        operand = want((1000,))
        array = np.ones(10, "f4")
        array.resize(1000, refcheck=False)
        del array
        result = tensoriter.add(operand, operand)
        result[:] = 7
        np.testing.assert_array_equal(tensoriter.add(result, operand), np.full(1000, 8, "f4"))

    def test_not_wanted(self):
        for n in range(1, 200):
            np.ones(n, "f4")
        assert entries() == 0

    def test_more_than_four_dimensions(self):
        for ndim in range(5, 9):
            operand = np.ones((2,) * ndim)
            for _ in range(3):
                np.testing.assert_array_equal(tensoriter.add(operand, operand), operand * 2)
        assert entries() == 0

    def test_no_dimensions(self):
        operand = np.array(1.5)
        for _ in range(3):
            assert type(tensoriter.add(operand, operand)) is np.float64
        assert entries() == 0

    @pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
    def test_empty(self, shape):
        operand = np.ones(shape)
        for _ in range(4):
            assert facts(tensoriter.add(operand, operand)) == facts(np.add(operand, operand))

    def test_longdouble_and_second_names(self):
        for code in "gGqQlL":
            operand = want((6,), code)
            for _ in range(3):
                assert tensoriter.add(operand, operand).dtype.char == code

    def test_kinds_that_take_turns(self):
        """A matrix and a vector of one program are both found again."""
        for n in (4, 10, 64):
            operands = [np.ones((n, n)), np.ones(n), np.asfortranarray(np.ones((n, n)))]
            for operand in operands * 2:
                tensoriter.add(operand, operand)
            misses = free_list.info()["misses"]
            for operand in operands * 5:
                tensoriter.add(operand, operand)
            assert free_list.info()["misses"] == misses


# ------------------------------------------------------------------------ bounds, switching

class TestBounds:
    def test_info(self):
        info = free_list.info()
        assert set(info) == KEYS
        assert all(type(value) is int for value in info.values())

    def test_hits_and_misses(self):
        before = free_list.info()
        operand = np.ones(123)
        for _ in range(5):
            tensoriter.add(operand, operand)
        after = free_list.info()
        assert after["misses"] - before["misses"] == 1
        assert after["hits"] - before["hits"] == 4

    @pytest.mark.parametrize("bound", [0, 1, 2, 3, 7])
    def test_entries(self, bound):
        assert free_list.limit(entries=bound)["entries"] == bound
        self.fill(shapes=[(n,) for n in range(1, 40)])
        assert free_list.info()["entries"] <= bound

    @pytest.mark.parametrize("bound", [0, 399, 400, 1000, 10_000])
    def test_bytes(self, bound):
        assert free_list.limit(bytes=bound)["bytes"] == bound
        self.fill(shapes=[(n,) for n in range(1, 40)] + [(100,), (5000,)])
        assert free_list.info()["bytes"] <= bound

    @pytest.mark.parametrize(("name", "held", "bound"), [
        ("large_entries", "large_entries", 0), ("large_entries", "large_entries", 1),
        ("large_entries", "large_entries", 3), ("large_bytes", "large_bytes", 0),
        ("large_bytes", "large_bytes", 700_000), ("large_bytes", "large_bytes", 3_000_000),
    ])  # fmt: skip
    def test_large(self, name, held, bound):
        assert free_list.limit(**{name: bound})[name] == bound
        self.fill(shapes=[(400, 400 + n) for n in range(6)], alive=4)
        assert free_list.info()[held] <= bound
        assert free_list.info()["entries"] == 0

    @staticmethod
    def fill(shapes, alive=10):
        """Let many results of each shape die together, in turns."""
        for shape in shapes * 2:
            operand = np.ones(shape, "f4")
            results = [tensoriter.add(operand, operand) for _ in range(alive)]
            del results
            del operand

    def test_a_bound_applies_at_once(self):
        self.fill([(n,) for n in range(1, 20)])
        assert entries() > 0
        free_list.limit(entries=0)
        assert entries() == 0

    def test_large_and_small_do_not_share(self):
        free_list.limit(entries=0)
        operand = want(LARGE)
        tensoriter.add(operand, operand)
        assert free_list.info()["large_entries"] == 1
        assert free_list.info()["large_bytes"] == 640_000

    def test_large_is_reused(self):
        result = reused(LARGE)
        assert (result == 2).all()

    def test_every_kind_gets_its_turn(self):
        """Two large kinds in turns, where there is room for one: each is kept when it comes again,
        wherever the search for room begins."""
        free_list.limit(large_bytes=700_000)
        kinds = [np.ones((400, 400 + n), "f4") for n in range(12)]
        for first, second in itertools.permutations(kinds, 2):
            for operand in (first, second):
                tensoriter.add(operand, operand)
            free_list.limit()
            for operand in (first, second):
                tensoriter.add(operand, operand)
                assert free_list.info()["large_entries"] == 1
            free_list.limit()

    def test_a_kind_that_never_fits_takes_nobody_s_room(self):
        free_list.limit(large_bytes=3_000_000)
        tensoriter.add(np.ones(LARGE, "f4"), 1)
        assert free_list.info()["large_entries"] > 0
        held = free_list.info()["large_bytes"]
        tensoriter.add(np.ones((1000, 1000), "f4"), 1)
        assert free_list.info()["large_bytes"] >= held

    def test_refused_bounds(self):
        before = free_list.limit()
        for name in before:
            with pytest.raises(ValueError):
                free_list.limit(**{name: -1})
            with pytest.raises(TypeError):
                free_list.limit(**{name: "many"})
        with pytest.raises(TypeError):
            free_list.limit(more=1)
        with pytest.raises(TypeError):
            free_list.limit(5)
        assert free_list.limit() == before

    def test_a_bound_too_large_to_hold_sets_nothing(self):
        before = free_list.limit()
        with pytest.raises(OverflowError):
            free_list.limit(entries=before["entries"] + 1, bytes=10**30)
        assert free_list.limit() == before

    def test_clear(self):
        operand = want()
        results = [tensoriter.add(operand, operand) for _ in range(5)]
        del results
        assert entries() > 0
        free_list.clear()
        info = free_list.info()
        assert [info[name] for name in sorted(KEYS - {"hits", "misses"})] == [0] * 4
        assert (tensoriter.add(operand, operand) == 2).all()

    def test_disabled(self):
        operand = want()
        tensoriter.add(operand, operand)
        assert entries() == 1
        free_list.enabled = False
        assert free_list.enabled is False
        before = free_list.info()
        assert entries() == 0
        for _ in range(5):
            assert (tensoriter.add(operand, operand) == 2).all()
        assert free_list.info()["hits"] == before["hits"]
        assert entries() == 0
        free_list.enabled = True
        assert free_list.enabled is True
        tensoriter.add(operand, operand)
        tensoriter.add(operand, operand)
        assert free_list.info()["hits"] > before["hits"]


# --------------------------------------------------------------- as good as a fresh array

KINDS = [((100,), "f4", "C"), ((3, 4), "f8", "F"), ((2, 3, 4), "i2", "C"), ((1, 5), "F", "C"),
         ((2, 1, 3, 1), "?", "F"), ((0, 3), "f8", "C"), (LARGE, "f4", "C")]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
class TestLikeFresh:
    def test_attributes(self, kind):
        result, fresh = reused(*kind), np.empty(*kind)
        for name in ("shape", "strides", "ndim", "size", "nbytes", "dtype", "base", "itemsize"):
            assert getattr(result, name) == getattr(fresh, name)
        assert result.dtype is fresh.dtype
        assert result.flags.num == fresh.flags.num
        assert type(result) is np.ndarray
        assert sys.getsizeof(result) == sys.getsizeof(fresh)
        assert get_handler_name(result) == get_handler_name(fresh) == "default_allocator"
        assert result.ctypes.data == result.__array_interface__["data"][0]
        assert result.ctypes.data % fresh.itemsize == 0
        assert not gc.is_tracked(result)

    def test_references(self, kind):
        result, fresh = reused(*kind), np.empty(*kind)
        assert sys.getrefcount(result) == sys.getrefcount(fresh)

    def test_resize(self, kind):
        result = reused(*kind)
        values = result.ravel(order="K").copy()
        assert sys.getrefcount(result) == sys.getrefcount(values)  # what resize's own check looks at
        result.resize(result.size + 5, refcheck=sys.version_info < (3, 14))
        np.testing.assert_array_equal(result[: values.size], values)
        assert not result[values.size :].any()
        result.resize(2, refcheck=False)
        assert result.shape == (2,)

    def test_weak_references(self, kind):
        result, called = reused(*kind), []
        assert weakref.getweakrefcount(result) == 0
        reference = weakref.ref(result, called.append)
        assert reference() is result
        del result
        assert called == [reference]
        assert reference() is None
        again = reused(*kind)
        assert reference() is None
        del again
        assert called == [reference]

    def test_buffers(self, kind):
        result = reused(*kind)
        with memoryview(result) as view:
            assert view.shape == result.shape
            assert view.tobytes() == result.tobytes()
            assert not view.readonly

    def test_copies(self, kind):
        result = reused(*kind)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            loaded = pickle.loads(pickle.dumps(result, protocol))
            assert facts(loaded)["bits"] == facts(result)["bits"]
        state = result.__reduce__()[2]
        result.__setstate__(state)
        np.testing.assert_array_equal(result, result.copy())

    def test_dies_again(self, kind):
        result = reused(*kind)
        held = entries()
        del result
        assert entries() == held + 1


class TestBalances:
    def test_dtypes_and_classes(self):
        watched = [np.dtype(code) for code in "?bhilqfdgFDGe"] + [np.ndarray]
        operands = [np.ones(5, dtype) for dtype in watched[:-1]]

        def counts():
            free_list.limit()
            return [sys.getrefcount(thing) for thing in watched]

        before = counts()
        for _ in range(500):
            for operand in operands:
                tensoriter.add(operand, operand)
        assert counts() == before

    def test_tracemalloc(self):
        operands = [np.ones(n) for n in (1, 7, 100, 3000, 50_000)]
        free_list.limit()
        only_data = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)

        def traced():
            snapshot = tracemalloc.take_snapshot().filter_traces([only_data])
            return sum(trace.size for trace in snapshot.traces)

        tracemalloc.start()
        try:
            before = traced()
            for operand in operands * 20:
                kept = [tensoriter.add(operand, operand) for _ in range(3)]
                del kept
            info = free_list.info()
            held = info["bytes"] + info["large_bytes"]
            assert held > 0
            assert traced() - before == held
            free_list.clear()
            assert traced() == before
        finally:
            tracemalloc.stop()

    def test_allocated_blocks(self):
        operand = np.ones(50)
        free_list.limit()
        before = sys.getallocatedblocks()
        for _ in range(2000):
            tensoriter.add(operand, operand)
        free_list.limit()
        assert abs(sys.getallocatedblocks() - before) < 50
