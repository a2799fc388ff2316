"""The short ways: each kind of call that has one of its own, beside NumPy, and as the general
set-up answers it."""

import itertools
import math
import threading
import warnings

import numpy as np
import pytest
from layouts import ALIASES, NUMERIC, WIDEST, counting, filled, laid_out, pool, swapped
from oracle import compare, run

import tensoriter

ALL = NUMERIC + ALIASES + WIDEST
QUIET = {"all": "ignore"}
MODES = [QUIET, {"all": "warn"}, {"all": "raise"}, {"all": "call"}]
TOLD = ["error", "warned", "told", "result", "memory"]
RELEASE = [16383, 16384, 16385, 16400]  # elements: about where other Python threads may run


def strided_add(*args, **kwargs):
    with tensoriter.force_path("strided"):
        return tensoriter.add(*args, **kwargs)


def short_and_strided(*args, errstate=None, **kwargs):
    """The call by its short way and by the general set-up; both as NumPy answers."""
    outcome = compare(tensoriter.add, np.add, *args, errstate=errstate, **kwargs)
    general = run(strided_add, args, kwargs, errstate)
    if any(getattr(general, what) != getattr(outcome, what) for what in TOLD):
        compare(strided_add, np.add, *args, errstate=errstate, **kwargs)  # says what differs
        raise AssertionError("the general set-up answered otherwise, once")
    return outcome


# -------------------------------------------------------------------- same-shape arrays

SHAPES = [(0,), (1,), (2,), (7,), (8,), (33,), (100,), (1, 1), (3, 4), (1, 5), (5, 1), (0, 3), (3, 0),
          (2, 3, 4), (1, 3, 1), (2, 1, 4), (2, 3, 2, 5), (1, 1, 1, 1), (2, 1, 3, 1),
          (2, 1, 2, 1, 3)]  # fmt: skip


class TestSameShape:
    @pytest.mark.parametrize("dtype", ALL)
    @pytest.mark.parametrize("orders", ["CC", "FF", "CF", "FC"])
    def test_orders(self, dtype, orders):
        for shape in SHAPES:
            x1 = np.array(filled(shape, dtype, 1), order=orders[0])
            x2 = np.array(filled(shape, dtype, 2), order=orders[1])
            short_and_strided(x1, x2, errstate=QUIET)

    @pytest.mark.parametrize("dtype", ALL)
    def test_every_small_length(self, dtype):
        for n in range(41):
            short_and_strided(filled((n,), dtype, 3), filled((n,), dtype, 4), errstate=QUIET)

    @pytest.mark.parametrize("n", RELEASE)
    @pytest.mark.parametrize("dtype", "dfliqe?D")
    def test_where_the_interpreter_is_released(self, dtype, n):
        x1, x2 = counting((n,), dtype), counting((n,), dtype, 5)
        short_and_strided(x1, x2)
        short_and_strided(x1, x2, out=x1)
        short_and_strided(x1, x2[:1])
        short_and_strided(x1, x2[3])

    @pytest.mark.parametrize("dtype", "dfgeDFG")
    @pytest.mark.parametrize("errstate", MODES, ids=str)
    @pytest.mark.parametrize("n", [3, 100, 20_000])
    def test_floating_point_status(self, dtype, errstate, n):
        info = np.finfo(dtype)
        plain, top = np.ones(n, dtype), np.ones(n, dtype)
        top[-1] = info.max
        infinite = np.full(n, np.inf, dtype)
        for x1, x2 in [(plain, plain), (top, top), (infinite, -infinite), (plain, top)]:
            short_and_strided(x1, x2, errstate=errstate)
            short_and_strided(x1, x2, x1, errstate=errstate)
            short_and_strided(x1, x2[-1], errstate=errstate)
            short_and_strided(x1[-1], x2[-1], errstate=errstate)

    def test_flags_from_before_are_not_blamed(self):
        x = np.ones(10)
        with np.errstate(all="ignore"):
            np.add(np.full(3, 1e308), 1e308)
            np.log(np.zeros(2))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for call in [(x, x), (x, 1.5), (x, x, x), (x[:1], x), (x[::2], x[::2]), (x[0], x[1])]:
                tensoriter.add(*call)

    def test_metadata(self):
        dtype = np.dtype("d", metadata={"unit": "m"})
        x1, x2 = np.ones(5, dtype), np.ones(5)
        for call in [(x1, x1), (x1, x2), (x2, x1), (x1, 1.0), (1.0, x1), (x1, np.float64(1)),
                     (np.array(1, dtype), 1.0), (np.array(1, dtype), x2)]:  # fmt: skip
            short_and_strided(*call)
            short_and_strided(*call, out=np.zeros(5))

    def test_bytes_of_a_bool(self):
        x = np.arange(8, dtype="u1").view("?")
        for other in (x, x[::-1].copy(), True, False, np.True_, np.array(False)):
            short_and_strided(x, other)
            short_and_strided(other, x)


# ------------------------------------------------------------------ an array and a scalar

def borders(dtype):
    """Integers at the ends of a dtype and just beyond."""
    info = np.iinfo(dtype)
    return [value + by for value in (int(info.min), int(info.max)) for by in (-1, 0, 1)]


HUGE = [2**24 + 1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64 - 1, 2**64, 10**30,
        10**39, 10**309, 10**400, -(10**400),
        # Rounded twice, by way of float64, these come out as another float32.
        2**60 + 2**36 + 1, 2**60 - 2**35 - 1, -(2**60) - 2**36 - 1, 2**54 + 2**30 + 1]  # fmt: skip
FLOATS = [0.0, -0.0, 1.5, 0.1, 1e39, -1e39, 3.4028235677973366e38, 3.4028235677973362e38, 65504.0,
          65519.99, 65520.0, 1 + 2**-11 + 2**-40, 1 + 2**-24 + 2**-50, 1e-46, 1e-45, 5e-324, 1.8e308,
          math.inf, -math.inf, math.nan]  # fmt: skip
COMPLEX = [0j, 1j, complex(-0.0, -0.0), complex(1e39, 1), complex(1, -1e39), complex(math.nan, math.inf)]
SMALL = [0, 1, -1, 2, 100, 127, 128, 255, 256, -128, -129, True, False]


class IntOf(int):
    pass


class FloatOf(float):
    pass


def some_arrays(dtype):
    values = filled((5,), dtype, 6)
    return [values, np.asfortranarray(filled((2, 3), dtype, 7)), values[:0], np.array(values[0])]


@pytest.mark.parametrize("dtype", ALL)
class TestArrayWithScalar:
    def either_side(self, dtype, scalars, errstate=QUIET):
        for array, scalar in itertools.product(some_arrays(dtype), scalars):
            short_and_strided(array, scalar, errstate=errstate)
            short_and_strided(scalar, array, errstate=errstate)

    def test_small_ints(self, dtype):
        self.either_side(dtype, SMALL)

    def test_floats(self, dtype):
        self.either_side(dtype, FLOATS)

    def test_overflow_in_the_cast_is_told(self, dtype):
        scalars = [1e39, 65520.0, 10**39, complex(1e39, 1), math.inf]
        for errstate in MODES[1:]:
            self.either_side(dtype, scalars, errstate)

    def test_complex(self, dtype):
        self.either_side(dtype, COMPLEX)

    def test_huge_ints(self, dtype):
        array = counting((4,), dtype)
        for value in HUGE:
            for errstate in MODES[:3]:
                short_and_strided(array, value, errstate=errstate)
                short_and_strided(value, array, errstate=errstate)
            short_and_strided(array[:0], value)
            short_and_strided(np.array(array[0]), value)

    def test_borders(self, dtype):
        array, empty = counting((4,), dtype), counting((0,), dtype)
        values = sorted({value for code in "bBhHiIlL" for value in borders(code)})
        for value in values:
            short_and_strided(array, value, errstate=QUIET)
            compare(tensoriter.add, np.add, value, array, errstate=QUIET)
            compare(tensoriter.add, np.add, empty, value, errstate=QUIET)

    def test_subclasses_of_numbers(self, dtype):
        self.either_side(dtype, [IntOf(1), FloatOf(1.5), IntOf(2**40), FloatOf(1e39)])

    def test_numpy_scalars(self, dtype):
        array = filled((6,), dtype, 8)
        for other in ALL:
            for value in pool(other)[[1, -1]]:
                short_and_strided(array, value, errstate=QUIET)
                short_and_strided(value, array, errstate=QUIET)
                short_and_strided(array, np.array(value), errstate=QUIET)
                short_and_strided(np.array(value), array, errstate=QUIET)

    def test_every_value_of_the_own_type(self, dtype):
        array = filled((9,), dtype, 9)
        for value in pool(dtype):
            for errstate in MODES[:3]:
                short_and_strided(array, value, errstate=errstate)
                short_and_strided(value, array, array, errstate=errstate)

    def test_of_swapped_and_misaligned_arrays(self, dtype):
        values = filled((6,), dtype, 10)
        array = values.astype(swapped(dtype))
        for scalar in (1, 1.5, values[1], np.array(values[2]), np.array(values[2]).astype(swapped(dtype))):
            short_and_strided(array, scalar, errstate=QUIET)
            short_and_strided(scalar, laid_out(values, offset=1), errstate=QUIET)


# ------------------------------------------------------------------ nothing but scalars

class TestScalars:
    def test_numpy_scalars_of_all_types(self):
        for first, second in itertools.product(ALL, repeat=2):
            one, two = pool(first)[3], pool(second)[2]
            for x1 in (one, np.array(one)):
                for x2 in (two, np.array(two)):
                    short_and_strided(x1, x2, errstate=QUIET)

    @pytest.mark.parametrize("dtype", ALL)
    def test_equal_types(self, dtype):
        for one, two in itertools.product(pool(dtype), repeat=2):
            short_and_strided(one, two, errstate=QUIET)
        short_and_strided(one, one, errstate={"all": "raise"})

    @pytest.mark.parametrize("dtype", ALL)
    def test_with_python_scalars(self, dtype):
        for value, number in itertools.product(pool(dtype)[:3], SMALL + FLOATS + COMPLEX + HUGE):
            short_and_strided(value, number, errstate=QUIET)
            short_and_strided(number, value, errstate=QUIET)

    def test_python_scalars_alone(self):
        numbers = [0, 1, -1, True, 2**63 - 1, 2**63, 10**400, 0.5, -0.0, math.inf, 1e308, 1j]
        for one, two in itertools.product(numbers, repeat=2):
            for errstate in MODES[1:3]:
                short_and_strided(one, two, errstate=errstate)

    @pytest.mark.parametrize("dtype", ALL)
    def test_with_out(self, dtype):
        value = pool(dtype)[2]
        for out in (np.zeros((), dtype), np.zeros(3, dtype), np.zeros((), "D"), np.zeros((), "b")):
            short_and_strided(value, value, out=out, errstate=QUIET)
            short_and_strided(value, value, out, errstate=QUIET)
            short_and_strided(np.array(value), 1, out, errstate=QUIET)
        both = np.array(value)
        assert short_and_strided(both, both, out=both, errstate=QUIET).result["operand"] == 0


# ------------------------------------------------------------------------------- out=

    @pytest.mark.parametrize("name", sorted(
        name for name, ufunc in vars(np).items() if isinstance(ufunc, np.ufunc) and ufunc.nin == 1))
    def test_one_python_number(self, name):
        """Twice each: a type is met the general way, and goes a short one from then on."""
        complexes = [1j, complex(-0.0, math.nan), complex(math.inf, -1)]
        for number in [True, False, 0.5, 2, -1.5, math.nan, *complexes] * 2:
            compare(getattr(tensoriter, name), getattr(np, name), number)


def outs(dtype, shape):
    """Names and makers of outputs beside two operands: f(x1, x2)."""
    size = int(np.prod(shape))
    return {
        "x1": lambda x1, x2: x1,
        "x2": lambda x1, x2: x2,
        "apart": lambda x1, x2: np.zeros(shape, dtype),
        "F": lambda x1, x2: np.zeros(shape, dtype, order="F"),
        "steps": lambda x1, x2: laid_out(np.zeros(shape, dtype), steps=[2] * len(shape)),
        "backwards": lambda x1, x2: laid_out(np.zeros(shape, dtype), steps=[-1] * len(shape)),
        "misaligned": lambda x1, x2: laid_out(np.zeros(shape, dtype), offset=1),
        "swapped": lambda x1, x2: np.zeros(shape, swapped(dtype)),
        "wider": lambda x1, x2: np.zeros(shape, "D"),
        "narrower": lambda x1, x2: np.zeros(shape, "b"),
        "floats": lambda x1, x2: np.zeros(shape, "f"),
        "too small": lambda x1, x2: np.zeros(size + 1, dtype),
        "larger": lambda x1, x2: np.zeros((2, *shape), dtype),
        "metadata": lambda x1, x2: np.zeros(shape, np.dtype(dtype, metadata={"a": 1})),
        "transposed": lambda x1, x2: x1.T,
        "same memory": lambda x1, x2: x1[...],
        "None": lambda x1, x2: None,
    }


def frozen(shape, dtype):
    out = np.zeros(shape, dtype)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize("dtype", ALL)
class TestOut:
    @pytest.mark.parametrize("shape", [(7,), (3, 3), (2, 0)])
    def test_kinds(self, dtype, shape):
        for name, make in outs(dtype, shape).items():
            x1, x2 = filled(shape, dtype, 11), filled(shape, dtype, 12)
            out = make(x1, x2)
            short_and_strided(x1, x2, out=out, errstate=QUIET)
            short_and_strided(x1, x2, out, errstate=QUIET)
            if name != "x2":
                short_and_strided(x1, 1, out=out, errstate=QUIET)
                short_and_strided(x1.flat[0] if x1.size else 1, x1, out, errstate=QUIET)

    def test_shifted(self, dtype):
        """Overlaps by all but one element, by one, by part of one, and just none."""
        n, size = 12, np.dtype(dtype).itemsize
        for shift in {1, -1, n - 1, 1 - n, n, -n}:
            memory = filled((3 * n,), dtype, 13)
            x, out = memory[n : 2 * n], memory[n + shift : 2 * n + shift]
            other = filled((n,), dtype, 14)
            for call in [(x, x, out), (x, other, out), (other, x, out), (x, 1, out), (1, x, out)]:
                short_and_strided(*call, errstate=QUIET)
        buffer = np.zeros(3 * n * size, "u1")
        x = buffer[n * size : 2 * n * size].view(dtype)
        x[...] = counting((n,), dtype)
        for shift in {1, size - 1, n * size - 1, 1 - n * size, -1}:
            out = buffer[n * size + shift :][: n * size].view(dtype)
            short_and_strided(x, x, out, errstate=QUIET)
            short_and_strided(x, 1, out=out, errstate=QUIET)

    def test_over_a_0d_operand(self, dtype):
        memory = filled((8,), dtype, 15)
        for k in (0, 3, 7):
            constant = memory[k : k + 1].reshape(())
            for array in (filled((8,), dtype, 16), memory):
                short_and_strided(array, constant, out=memory, errstate=QUIET)
                short_and_strided(constant, array, memory, errstate=QUIET)
            short_and_strided(memory, memory[k], out=memory, errstate=QUIET)
            short_and_strided(memory[:3], constant, out=memory[5:], errstate=QUIET)
            short_and_strided(memory, memory[k : k + 1], out=memory, errstate=QUIET)

    def test_read_only(self, dtype):
        x = counting((5,), dtype)
        for call in [(x, x), (x, 1), (1, x), (x, x[0])]:
            outcome = short_and_strided(*call, out=frozen((5,), dtype))
            assert outcome.error is ValueError
            assert short_and_strided(*call, frozen((5,), dtype)).error is ValueError
        assert short_and_strided(x[:0], x[:0], out=frozen((0,), dtype)).error is ValueError


@pytest.mark.parametrize("keywords", [
    {"out": 5}, {"out": [0.0]}, {"out": ()}, {"out": (None,)}, {"out": (1, 2)}, {"bogus": 1},
    {"where": True}, {"casting": "no"}, {"order": "F"}, {"dtype": "f"}, {"subok": False},
    {"out": np.float64(1)}, {"out": (np.zeros((3, 3)),)},
])  # fmt: skip
def test_other_single_keywords(keywords):
    x = np.ones((3, 3))
    for call in [(x, x), (x, 1.0), (np.float64(1), 2), (x,), (x, x, x), (x, x, None)]:
        short_and_strided(*call, **keywords)


def test_a_keyword_that_only_equals_out():
    """Not interned: another string object of the same letters."""
    x, out = np.ones(4), np.zeros(4)
    name = "".join(["o", "u", "t"])
    assert tensoriter.add(x, x, **{name: out}) is out
    assert out.tolist() == [2.0] * 4


# ------------------------------------------------------- broadcasts, steps, mixed dtypes

class TestSmallBroadcasts:
    @pytest.mark.parametrize("dtype", ALL)
    def test_shapes(self, dtype):
        pairs = [((4, 3), (3,)), ((10, 10), (10, 1)), ((4, 1), (1, 3)), ((1, 3), (4, 1)), ((3,), (4, 3)),
                 ((4, 3), (1, 3)), ((4, 3), (1, 1)), ((4, 3), (1,)), ((1, 1), (1,)), ((0, 3), (3,)),
                 ((3, 0), (3, 1)), ((2, 3, 4), (3, 4)), ((2, 3, 4), (2, 1, 4)), ((4, 3), (4,)),
                 ((1, 3), (0, 1)), ((5,), (1,)), ((1, 5), (5,)), ((2, 1), (2, 1))]  # fmt: skip
        for first, second in pairs:
            x1, x2 = filled(first, dtype, 17), filled(second, dtype, 18)
            for a, b in [(x1, x2), (x2, x1), (x1.copy("F"), x2), (x1, x2.copy("F"))]:
                short_and_strided(a, b, errstate=QUIET)
            short_and_strided(x1, x2, out=x1, errstate=QUIET)
            short_and_strided(x1, x1[:1], out=x1, errstate=QUIET)

    @pytest.mark.parametrize("dtype", ALL)
    def test_transposes(self, dtype):
        for shape in [(4, 4), (10, 10), (1, 1), (17, 17), (2, 2, 2)]:
            x = filled(shape, dtype, 19)
            for a, b in [(x, x.T), (x.T, x), (x.T, x.T), (x, x.copy("F")), (x.copy("F"), x)]:
                short_and_strided(a, b, errstate=QUIET)
            short_and_strided(x, x.T, out=x, errstate=QUIET)
            short_and_strided(x, x.T, x.T, errstate=QUIET)
        x = filled((3, 5), dtype, 20)
        short_and_strided(x, filled((5, 3), dtype, 21).T, errstate=QUIET)
        short_and_strided(x.T, 1, errstate=QUIET)


class TestSteps:
    @pytest.mark.parametrize("step", [2, 3, -1, -2, -3])
    def test_every_length(self, step):
        for dtype, n in itertools.product("dfi", range(41)):
            x, y = counting((3 * n,), dtype), counting((3 * n,), dtype, 9)
            a, b = x[::step][:n], y[::step][:n]
            short_and_strided(a, b)
            short_and_strided(a, y[:n])
            short_and_strided(y[:n], a, out=y[:n])

    @pytest.mark.parametrize("dtype", ALL)
    def test_every_dtype(self, dtype):
        x, y = filled((60,), dtype, 22), filled((60,), dtype, 23)
        for one, two in itertools.product([1, 2, -1, -2, 5], repeat=2):
            a, b = x[::one][:12], y[::two][:12]
            short_and_strided(a, b, errstate=QUIET)
            short_and_strided(a, x[:12], out=x[:12], errstate=QUIET)
            short_and_strided(a, 1, errstate=QUIET)
        grid = filled((6, 8), dtype, 24)
        short_and_strided(grid[::2, ::2], grid[1::2, ::-2], errstate=QUIET)
        short_and_strided(grid[:, 1:], grid[:, :-1], out=grid[:, 1:], errstate=QUIET)
        short_and_strided(np.broadcast_to(x[:1], 9), y[:9], errstate=QUIET)


class TestTwoDimensions:
    """Two operands of one or two dimensions in every layout: the order of the result's axes too."""

    LAYOUTS = [{"axes": axes, "steps": steps} for axes in [(0, 1), (1, 0)]
               for steps in itertools.product([1, -1, 2, 0], repeat=2)]  # fmt: skip

    @pytest.mark.parametrize("shape", [(2, 3), (3, 3), (1, 3), (3, 1), (1, 1)])
    @pytest.mark.parametrize("other", [(2, 3), (3, 3), (1, 3), (3, 1), (1, 1), (3,), (1,)])
    def test_layouts(self, shape, other):
        x1, y = counting(shape, "f"), counting(other, "d")
        for one, two in itertools.product(self.LAYOUTS, self.LAYOUTS[:: 5 if len(other) == 2 else 16]):
            x2 = laid_out(y, **two) if y.ndim == 2 else y
            compare(tensoriter.add, np.add, laid_out(x1, **one), x2)
            compare(tensoriter.add, np.add, x2.astype("f", order="K"), laid_out(x1, **one))

    @pytest.mark.parametrize("codes", ["ff", "fd", "if", "de", "?b", "Dd", "gf"])
    def test_status_is_blamed_as_numpy_does(self, codes):
        """On the cast or on the op, whichever raised it; nothing where neither did."""
        for shape, errstate in itertools.product([(5,), (2, 3), (2, 9000)], MODES[1:]):
            x1, x2 = filled(shape, codes[0], 31), filled(shape, codes[1], 32)
            short_and_strided(x1[::-1], x2, errstate=errstate)
            short_and_strided(x2, x1[..., :1], errstate=errstate)
            short_and_strided(x2.astype(swapped(codes[1])), x1[..., ::-1], errstate=errstate)
        signalling = np.array([0x7FA00000, 0x3F800000], "u4").view("f")
        short_and_strided(signalling, np.ones(2), errstate=MODES[1])
        short_and_strided(signalling.astype(signalling.dtype.newbyteorder()), np.ones((2, 1)))

    @pytest.mark.parametrize("n", [8191, 8192, 8193, 20_000])
    def test_longer_than_numpys_buffer(self, n):
        for code, other in ["fd", "id", "ef", "dd", "?d"]:
            x1, x2 = counting((n,), code), counting((2, n), other, 7)
            short_and_strided(x1, x2)
            short_and_strided(x2[:, ::-1], x1)
            short_and_strided(x2.T, x1[:, None])


class TestMixedDtypes:
    @pytest.mark.parametrize("first", ALL)
    def test_all_pairs(self, first):
        for second, n in itertools.product(ALL, [0, 1, 5, 33]):
            x1, x2 = filled((n,), first, 25), filled((n,), second, 26)
            short_and_strided(x1, x2, errstate=QUIET)
        for second in ALL:
            x1, x2 = filled((5,), first, 27), filled((5,), second, 28)
            short_and_strided(x1, x2, out=x1, errstate=QUIET)
            short_and_strided(x1.astype(swapped(first)), x2, errstate=QUIET)
            short_and_strided(x1, x2.astype(swapped(second)), errstate=QUIET)
            short_and_strided(x1[::2], x2[:3], errstate={"all": "warn"})

    @pytest.mark.parametrize("dtype", ALL)
    def test_byte_swapped(self, dtype):
        for n in (0, 1, 3, 8, 33):
            x1, x2 = (filled((n,), dtype, seed).astype(swapped(dtype)) for seed in (29, 30))
            for errstate in MODES[:2]:
                short_and_strided(x1, x2, errstate=errstate)
                short_and_strided(x1, x2, out=x1, errstate=errstate)
            short_and_strided(x1[::-1], x2, errstate=QUIET)


# ------------------------------------------------------------------------------ float16

class TestFloat16:
    EVERY = np.arange(1 << 16, dtype="u2").view("e")

    @pytest.mark.parametrize("bits", [0, 0x8000, 1, 0x3FF, 0x400, 0x3C00, 0xBC01, 0x7BFF, 0xFBFF, 0x7C00,
                                      0xFC00, 0x7E00, 0x7C01, 0x1234, 0xD5A7])  # fmt: skip
    def test_every_value(self, bits):
        other = self.EVERY[bits : bits + 1]
        for errstate in MODES[:2]:
            short_and_strided(self.EVERY, other, errstate=errstate)
        compare(tensoriter.add, np.add, self.EVERY, other[0], errstate=QUIET)
        compare(tensoriter.add, np.add, other[0], self.EVERY, errstate=QUIET)

    @pytest.mark.parametrize("turn", [1, 12345, 32768, 54321])
    def test_pairs(self, turn):
        other = np.roll(self.EVERY, turn)
        short_and_strided(self.EVERY, other, errstate=QUIET)
        compare(tensoriter.add, np.add, self.EVERY[::3], other[::3], errstate=QUIET)

    def test_every_small_length_and_status(self):
        for n, errstate in itertools.product(range(1, 20), MODES):
            x = np.ones(n, "e")
            x[-1] = 65504
            short_and_strided(x, x, errstate=errstate)
            short_and_strided(x, np.float16(65504), errstate=errstate)


def test_threads_share_an_op():
    """Short ways keep what they know on the stack of the call."""
    errors = []

    def work(mark):
        x = np.full(50, mark, "f4")
        grid = np.full((4, 3), mark, "f8")
        for _ in range(300):
            for operands in [(x, x), (x, float(mark)), (grid, grid[0]), (x[::2], x[::2]), (x[0], x[1])]:
                result = tensoriter.add(*operands)
                if not (result == 2 * mark).all():
                    errors.append((mark, result))

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
