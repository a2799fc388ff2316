"""Checked integers: what Python's exact integers say fits is NumPy's answer, and the rest is an error."""

from __future__ import annotations

import asyncio
import itertools
import operator
import threading
import warnings

import numpy as np
import pytest

import tensoriter
from tests.layouts import laid_out, swapped

INTEGERS = "bBhHiIlLqQ"
BINARY = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "left_shift": lambda x, n: exact_shift(x, n), "right_shift": lambda x, n: exact_shift(x, -n),
}
UNARY = {"negative": operator.neg, "absolute": abs, "square": lambda x: x * x}
LENGTHS = range(71)


def exact_shift(x: int, n: int):
    """x * 2**n, rounded down."""
    if n >= 0:
        return x << min(n, 128)  # by more, nothing fits that did not before, but for 0
    return x >> min(-n, 128)


def truth(name: str, dtype: np.dtype, *values: int):
    """The exact result; None where it does not fit the dtype, and for shifts by less than nothing."""
    if "shift" in name and values[1] < 0:
        return None
    result = (BINARY | UNARY)[name](*values)
    limits = np.iinfo(dtype)
    return result if limits.min <= result <= limits.max else None


def edges(dtype) -> np.ndarray:
    """Values about which integers overflow, among them shift counts about the width."""
    limits = np.iinfo(dtype)
    bits, root = limits.bits, 1 << (limits.bits // 2)
    near = [0, 1, 2, 3, 5, bits - 2, bits - 1, bits, bits + 1, root - 1, root, root + 1, limits.max // 2]
    values = {v for n in near for v in (n, -n, limits.max - n, limits.min + n)}
    return np.array(sorted(v for v in values if limits.min <= v <= limits.max), dtype)


def fitting(name: str, dtype, *operands: np.ndarray) -> np.ndarray:
    """Which elements fit, by exact integers."""
    flat = [x.ravel().tolist() for x in np.broadcast_arrays(*operands)]
    fits = [truth(name, dtype, *values) is not None for values in zip(*flat, strict=True)]
    return np.array(fits, bool).reshape(np.broadcast_shapes(*[x.shape for x in operands]))


def overflow_of(call, *args, **kwargs) -> str:
    """The sentence of the OverflowError that has to come."""
    with pytest.raises(OverflowError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


# ---------------------------------------------------------------- every op, dtype and value


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", BINARY | UNARY)
def test_every_pair_of_edges_is_checked_alone(name, dtype):
    op, ufunc = getattr(tensoriter, name), getattr(np, name)
    values = edges(dtype)
    for pair in itertools.product(*[values] * ufunc.nin):
        arrays = [np.array([x]) for x in pair]
        if truth(name, np.dtype(dtype), *[int(x) for x in pair]) is not None:
            assert op(*arrays, checked=True) == ufunc(*arrays)
        else:
            sentence = overflow_of(op, *arrays, checked=True)
            assert f"{name} at index 0: " in sentence
            assert sentence.endswith(f"does not fit {np.dtype(dtype)}")
            assert all(str(int(x)) in sentence for x in pair)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", BINARY | UNARY)
def test_what_fits_comes_out_as_from_numpy(name, dtype):
    op, ufunc = getattr(tensoriter, name), getattr(np, name)
    values = edges(dtype)
    operands = [values] if ufunc.nin == 1 else [x.ravel() for x in np.meshgrid(values, values)]
    fits = fitting(name, dtype, *operands)
    operands = [x[fits] for x in operands]
    for step in (1, 2, -1, 3):
        views = [x[::step] for x in operands]
        with tensoriter.checked():
            result = op(*views)
        np.testing.assert_array_equal(result, ufunc(*views))
        assert result.dtype == ufunc(*views).dtype


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", BINARY | UNARY)
def test_one_overflow_is_found_wherever_it_is(name, dtype):
    op, ufunc = getattr(tensoriter, name), getattr(np, name)
    values = edges(dtype)
    bad = [p for p in itertools.product(*[values] * ufunc.nin) if truth(name, dtype, *map(int, p)) is None]
    if not bad:
        assert name in ("absolute", "right_shift") and dtype in "BHILQ"
        return
    rng = np.random.default_rng(5)
    for n in LENGTHS:
        for step in (1, 2, -1):
            operands = [laid_out(np.ones(n, dtype), steps=[step]) for _ in range(ufunc.nin)]
            if name == "negative" and dtype in "BHILQ":
                operands = [laid_out(np.zeros(n, dtype), steps=[step])]
            with tensoriter.checked():
                np.testing.assert_array_equal(op(*operands), ufunc(*operands))
            if n == 0:
                continue
            at = rng.integers(n)
            for x, value in zip(operands, bad[rng.integers(len(bad))], strict=True):
                x[at] = value
            assert f"at index {at}: " in overflow_of(op, *operands, checked=True)


# ---------------------------------------------------------------- the first index


def test_the_first_in_c_order_is_named_whatever_the_layout():
    values = np.full((4, 5, 6), 100, "i1")
    for where in ((3, 4, 5), (0, 0, 5), (0, 4, 0), (2, 1, 3)):
        x = values.copy()
        x[where] = x[3, 4, 5] = 120
        for axes in itertools.permutations(range(3)):
            for steps in ((1, 1, 1), (2, -1, 1)):
                view = laid_out(x, axes=axes, steps=steps)
                sentence = overflow_of(tensoriter.add, view, np.int8(10), checked=True)
                assert sentence == f"add at index {where}: 120 + 10 does not fit int8"


def test_broadcasting_names_an_index_of_the_result():
    x, y = np.array([[1], [2], [100]], "i1"), np.array([1, 2, 27, 28], "i1")
    sentence = overflow_of(tensoriter.add, x, y, checked=True)
    assert sentence == "add at index (2, 3): 100 + 28 does not fit int8"
    sentence = overflow_of(tensoriter.subtract, np.zeros(3, "u2"), np.ones((2, 1), "u2"), checked=True)
    assert sentence == "subtract at index (0, 0): 0 - 1 does not fit uint16"
    big = np.broadcast_to(np.uint8(1), (3, 5000)).copy()
    big[2, 4321] = 255
    sentence = overflow_of(tensoriter.add, big, np.uint8(1), checked=True)
    assert sentence == "add at index (2, 4321): 255 + 1 does not fit uint8"


@pytest.mark.parametrize("dtype", "bHiQ")
def test_other_byte_orders_and_dtypes(dtype):
    top = int(np.iinfo(dtype).max)
    x = np.array([1, top, 3], dtype)
    sentence = f"add at index 1: {top} + 1 does not fit {np.dtype(dtype)}"
    assert overflow_of(tensoriter.add, x.astype(swapped(dtype)), np.ones(3, dtype), checked=True) == sentence
    assert overflow_of(tensoriter.add, x, 1, checked=True) == sentence
    buffer = np.zeros(x.nbytes + 1, "u1")
    odd = np.ndarray(x.shape, x.dtype, buffer, 1)
    odd[...] = x
    assert overflow_of(tensoriter.add, odd, np.ones(3, dtype), checked=True) == sentence
    assert overflow_of(tensoriter.add, x, np.ones(3, "?"), checked=True) == sentence


def test_promotion_comes_first():
    x, y = np.array([200], "u1"), np.array([100], "i1")
    assert tensoriter.add(x, y, checked=True).dtype == "i2"
    top = np.array([2**63 - 1])
    assert tensoriter.add(top, np.ones(1, "u8"), checked=True).dtype == "f8"
    assert tensoriter.add(x, x, dtype="i2", checked=True) == 400
    assert tensoriter.add(x, 1e308, checked=True).dtype == "f8"


def test_scalars():
    with tensoriter.checked():
        assert overflow_of(tensoriter.add, np.int8(127), np.int8(1)) == "add: 127 + 1 does not fit int8"
        assert overflow_of(tensoriter.add, np.array(127, "i1"), 1) == "add: 127 + 1 does not fit int8"
        assert overflow_of(tensoriter.multiply, 2**62, 2) == f"multiply: {2**62} * 2 does not fit int64"
        assert overflow_of(tensoriter.negative, np.uint8(1)) == "negative: -(1) does not fit uint8"
        result = tensoriter.add(np.int8(126), np.int8(1))
        assert result == 127 and type(result) is np.int8
        assert tensoriter.negative(np.uint8(0)) == 0


def test_floats_bools_and_objects_are_as_ever():
    with tensoriter.checked(), np.errstate(over="ignore"):
        assert tensoriter.add(np.array([1.7e308]), 1.7e308) == np.inf
        assert tensoriter.add(np.array([True]), True).dtype == bool
        assert tensoriter.multiply(np.array([True]), True).dtype == bool
        assert tensoriter.add(np.array([2**64], object), 1) == 2**64 + 1
        assert tensoriter.exp(np.array([1, 2])).dtype == "f8"
        assert tensoriter.equal(np.array([255], "u1"), 255).dtype == bool


# ---------------------------------------------------------------- out, where, dtype


def test_out_is_as_it_was_after_an_error():
    x = np.array([1, 2, 250, 255], "u1")
    for dtype in ("u1", swapped("u2"), "i1", "i8", "f4"):
        out = np.arange(4).astype(dtype)
        before = out.copy()
        assert "at index 3: 255 + 5" in overflow_of(tensoriter.add, x, 5, out=out, checked=True)
        np.testing.assert_array_equal(out, before)
    before = x.copy()
    assert "at index 3: 255 + 5" in overflow_of(tensoriter.add, x, 5, out=x, checked=True)
    np.testing.assert_array_equal(x, before)
    assert "at index 2: 255 + 1" in overflow_of(tensoriter.add, x[1:], 1, out=x[:-1], checked=True)
    np.testing.assert_array_equal(x, before)
    assert tensoriter.add(x[:2], 5, out=x[1:3], checked=True) is not None
    np.testing.assert_array_equal(x, [1, 6, 7, 255])


@pytest.mark.parametrize("loop,out", [p for p in itertools.product(INTEGERS, repeat=2)
                                      if np.can_cast(*p, "same_kind")])
def test_results_that_out_does_not_hold(loop, out):
    limits = np.iinfo(out)
    for value in edges(loop):
        x, target = np.array([[0, value]], loop), np.full((1, 2), 7, out)
        if limits.min <= int(value) <= limits.max:
            assert tensoriter.add(x, 0, out=target, checked=True) is target
            assert target.tolist() == x.tolist()
        else:
            sentence = overflow_of(tensoriter.add, x, 0, out=target, checked=True)
            assert sentence == f"add at index (0, 1): the result {value} for out does not fit {np.dtype(out)}"
            assert target.tolist() == [[7, 7]]


def test_casts_into_out_are_checked_in_a_block_whatever_the_op():
    x, out = np.array([1, 300]), np.zeros(2, "i1")
    with tensoriter.checked():
        for op in (tensoriter.maximum, tensoriter.bitwise_or):
            assert "index 1: the result 300 for out does not fit int8" in overflow_of(op, x, 0, out=out)
        assert "index 1: the result 300 for out" in overflow_of(tensoriter.positive, x, out=out)
        quotient, rest = np.zeros(2, "i1"), np.zeros(2, "i1")
        sentence = overflow_of(tensoriter.divmod, x, 1, out=(quotient, rest))
        assert sentence == "divmod at index 1: the result 300 for out[0] does not fit int8"
        assert not quotient.any() and not rest.any()
    assert not out.any()
    assert tensoriter.maximum(x, 0, out=out).tolist() == [1, 44]


def test_operands_that_dtype_narrows():
    x, y = np.array([1, 300]), np.array([[1], [2]])
    sentence = overflow_of(tensoriter.add, x, y, dtype="i1", casting="same_kind", checked=True)
    assert sentence == "add at index (0, 1): x1 is 300, which does not fit int8"
    sentence = overflow_of(tensoriter.add, y - 2, x, dtype="u1", casting="unsafe", checked=True)
    assert sentence == "add at index (0, 0): x1 is -1, which does not fit uint8"
    where, out = np.array([[True, False]]), np.zeros((2, 2), "i1")
    tensoriter.add(x, y, out, dtype="i1", where=where, checked=True)
    assert out.tolist() == [[2, 0], [3, 0]]


def test_what_where_masks_is_not_looked_at():
    x, where = np.array([250, 251, 252, 253], "u1"), np.array([True, False, True, False])
    for dtype in ("u1", "i8", swapped("u2")):
        out = np.full(4, 9, dtype)
        tensoriter.add(x, 3, out=out, where=where, checked=True)
        assert out.tolist() == [253, 9, 255, 9]
        out = np.full(4, 9, dtype)
        sentence = overflow_of(tensoriter.add, x, 4, out=out, where=where, checked=True)
        assert sentence == "add at index 2: 252 + 4 does not fit uint8"
        assert out.tolist() == [9, 9, 9, 9]
    wide, out = np.array([300, 301, 3, 4]), np.full(4, 9, "i1")
    tensoriter.add(wide, 0, out=out, where=~where & (wide < 128), checked=True)
    assert out.tolist() == [9, 9, 9, 4]
    sentence = overflow_of(tensoriter.add, wide, 0, out=out, where=~where, checked=True)
    assert sentence == "add at index 1: the result 301 for out does not fit int8"
    tensoriter.add(x, 3, out=x, where=where, checked=True)
    assert x.tolist() == [253, 251, 255, 253]


def test_where_without_out_is_checked_and_warned_of():
    x = np.array([250, 251], "u1")
    with tensoriter.checked(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert "index 1: 251 + 5" in overflow_of(tensoriter.add, x, 5, where=np.array([False, True]))
        assert tensoriter.add(x, 5, where=[True, False])[0] == 255
    with warnings.catch_warnings(record=True) as numpys:
        warnings.simplefilter("always")
        np.add(x, 5, where=np.array([False, True]))
    kinds = {(w.category, str(w.message).split(",")[0]) for w in caught + numpys}
    assert len(kinds) == 1 and len(caught) == 2
    assert {w.filename for w in caught} <= {__file__}


# ---------------------------------------------------------------- blocks and the keyword


def wraps() -> bool:
    """Whether calls here and now are unchecked."""
    try:
        return bool(tensoriter.add(np.array([255], "u1"), 1) == 0)
    except OverflowError:
        return False


def test_blocks_nest_and_the_keyword_has_the_last_word():
    x = np.array([255], "u1")
    assert wraps()
    with tensoriter.checked():
        assert not wraps()
        with tensoriter.checked(False):
            assert wraps()
            with tensoriter.checked():
                assert not wraps()
            overflow_of(tensoriter.add, x, 1, checked=True)
        assert not wraps()
        assert tensoriter.add(x, 1, checked=False) == 0
        with tensoriter.force_path("strided"):
            assert not wraps()
        overflow_of(tensoriter.add, x, 1, checked=None)
        mask, out = np.array([True]), np.zeros(1, "u1")
        sentence = overflow_of(tensoriter.add, x, 1, checked=True, where=mask, out=out)
        assert sentence == "add at index 0: 255 + 1 does not fit uint8"
    assert wraps()
    assert tensoriter.add(x, 1, checked=None) == 0
    again = tensoriter.checked()
    with again, again:
        assert not wraps()
    assert wraps()
    with pytest.raises(ZeroDivisionError), tensoriter.checked():
        raise ZeroDivisionError
    assert wraps()


def test_a_block_is_its_threads_own():
    inside, looked = threading.Event(), threading.Event()
    seen = []

    def other():
        inside.wait()
        seen.append(wraps())
        with tensoriter.checked():
            seen.append(wraps())
        looked.set()

    thread = threading.Thread(target=other)
    thread.start()
    with tensoriter.checked():
        inside.set()
        looked.wait()
        assert not wraps()
    thread.join()
    assert seen == [True, False]


def test_a_block_is_its_tasks_own():
    async def checking(turn):
        with tensoriter.checked():
            for _ in range(3):
                await asyncio.sleep(0)
                assert not wraps()

    async def wrapping():
        for _ in range(3):
            assert wraps()
            await asyncio.sleep(0)

    async def both():
        await asyncio.gather(checking(1), wrapping(), checking(2))

    asyncio.run(both())
    assert wraps()


def test_a_generators_block_ends_with_it():
    def generator():
        with tensoriter.checked():
            yield wraps()

    steps = generator()
    assert next(steps) is False
    assert list(steps) == []
    assert wraps()


def test_what_cannot_be_checked_says_so():
    x = np.array([255], "u1")
    for op in (tensoriter.exp, tensoriter.power, tensoriter.maximum):
        with pytest.raises(TypeError, match="unexpected keyword argument 'checked'"):
            op(*[x] * op.nin, checked=True)
    for value in (1, 0.0, "yes"):
        with pytest.raises(TypeError, match="takes True"):
            tensoriter.add(x, x, checked=value)
        with pytest.raises(TypeError, match="takes True"):
            tensoriter.checked(value)
    with pytest.raises(TypeError, match="x1 is neither a plain ndarray nor a number"):
        tensoriter.add(np.ma.array(x), 1, checked=True)
    with pytest.raises(TypeError, match="x1 has a dtype that is not numeric"):
        tensoriter.add(x.astype(object), 1, checked=True)
    with pytest.raises(ValueError, match="do not broadcast"):
        tensoriter.add(np.ones(2, "i1"), np.ones(3, "i1"), checked=True)
    with pytest.raises(TypeError, match="cannot be checked"):
        tensoriter.add(x, x, alpha=2, checked=True)
    with pytest.raises(TypeError, match="cannot be checked"), tensoriter.checked():
        tensoriter.add(x, x, alpha=2)
    assert tensoriter.add(x, x, alpha=2, checked=False) == 253
    assert tensoriter.add(np.ones(1), 1, alpha=2, checked=True) == 3


def test_in_a_block_what_is_numpys_stays_numpys():
    with tensoriter.checked():
        assert tensoriter.add(np.ma.array([255], dtype="u1"), 1) == 0
        assert tensoriter.add.reduce(np.array([255, 1], "u1"), dtype="u1") == 0
        with pytest.raises(ValueError, match="could not be broadcast"):
            tensoriter.add(np.ones(2, "i1"), np.ones(3, "i1"))
        with pytest.raises(OverflowError, match="out of bounds"):
            tensoriter.add(np.ones(2, "i1"), 300)


def test_lists_and_large_python_integers_are_checked():
    with tensoriter.checked():
        assert overflow_of(tensoriter.add, [1, 2**62], [1, 2**62]).startswith("add at index 1: ")
        assert tensoriter.add([1, 2], (3, 4)).tolist() == [4, 6]
        x = np.array([1], "u8")
        sentence = overflow_of(tensoriter.add, x, 2**64 - 1)
        assert sentence == f"add at index 0: 1 + {2**64 - 1} does not fit uint64"
        assert tensoriter.add(x, 2**64 - 2) == 2**64 - 1
    assert "at index 1" in overflow_of(tensoriter.add, [1, 2**62], [1, 2**62], checked=True)


def test_bound_calls_are_checked_in_a_block():
    x = np.array([100, 200], "u1")
    f = tensoriter.add.bind(x, x, out=x)
    with tensoriter.checked():
        assert "index 1: 200 + 200" in overflow_of(f)
        assert x.tolist() == [100, 200]
    assert f().tolist() == [200, 144]


# ---------------------------------------------------------------- operators, threads, explain


def test_ndarrays_operators_are_checked():
    x, small = np.array([100, 27], "i1"), np.array([1, 2], "i1")
    with tensoriter.operators(), tensoriter.checked():
        assert (x + small).tolist() == [101, 29]
        for call in (lambda: x + 100, lambda: 100 + x, lambda: x * x, lambda: -x - x, lambda: x << small * 6,
                     lambda: -(x - x - 64 - 64), lambda: abs(x - x - 64 - 64), lambda: x**2):
            overflow_of(call)
        before = x.copy()
        for name in ("iadd", "isub", "imul", "ilshift"):
            overflow_of(getattr(operator, name), x, np.array([1, 127 if name != "isub" else -128], "i1"))
            np.testing.assert_array_equal(x, before)
    with tensoriter.operators():
        assert (x + 100).tolist() == [-56, 127]


def test_temporaries_of_operators_are_checked_too():
    x = np.ones(1 << 19, "i1")
    with tensoriter.operators(), tensoriter.checked():
        assert "at index 0: 101 + 100" in overflow_of(lambda: x + 100 + 100)
        assert "at index 0: -(-128)" in overflow_of(lambda: -(x - 65 - 64))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_threads_tell_of_overflow(count):
    n = 1 << 19
    x, y = np.ones(n, "i4"), np.arange(n, dtype="i4")
    with tensoriter.threads(count):
        np.testing.assert_array_equal(tensoriter.add(x, y, checked=True), x + y)
        for at in (0, n // 3, n // 2, n - 1):
            x[at] = 2**31 - 1
            sentence = overflow_of(tensoriter.add, x, y + 1, checked=True)
            assert sentence == f"add at index {at}: {2**31 - 1} + {at + 1} does not fit int32"
            x[at] = 1


def test_explain():
    x = np.ones(3, "i4")
    with tensoriter.checked():
        assert tensoriter.explain(x, x).path == "contiguous"
        assert tensoriter.explain(x, x, out=x).path == "strided"
        assert "checked" in tensoriter.explain(x, x, out=x).reason
        assert tensoriter.explain(x * 1.0, x * 1.0, out=x * 1.0).path == "contiguous"
    assert tensoriter.explain(x, x, checked=True).path == "contiguous"
    assert tensoriter.explain(x, x, out=x).path == "contiguous"
    assert tensoriter.TensorIterator(x, x, out=x, checked=True).path == "strided"
    with pytest.raises(TypeError, match="checked"):
        tensoriter.explain(x, op=tensoriter.exp, checked=True)


def test_help_and_signature():
    import inspect

    for op in (tensoriter.add, tensoriter.absolute):
        assert "checked=" in op.__doc__ and "checked" in inspect.signature(op).parameters
    for op in (tensoriter.exp, tensoriter.maximum):
        assert "checked=" not in op.__doc__ and "checked" not in inspect.signature(op).parameters
