"""The C loops of the arithmetic family against NumPy's, on arrays that meet every way of a loop.

Values, floating-point warnings and the types of results are compared by the oracle. Lengths lie around
those of vectors, offsets off cache lines, and operands hold every pair of special values.
"""

import hashlib
import itertools
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from oracle import bits, compare

import tensoriter

BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum", "fmax",
          "fmin", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "bitwise_and",
          "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor", "left_shift",
          "right_shift", "copysign", "fmod"]
UNARY = ["negative", "positive", "absolute", "square", "sqrt", "invert", "logical_not", "sign", "reciprocal",
         "isnan", "isinf", "isfinite", "signbit", "fabs"]
CODES = "?bBhHiIlLefdgFDG"
LENGTHS = [*range(0, 20), 23, 31, 32, 33, 47, 63, 64, 65, 70, 300, 1031]

LINE = 64
"""Bytes of a cache line: large outputs are written in two stretches, the second from a line."""


def types_of(name):
    """The type codes for which NumPy has a loop whose operands are all of that type."""
    inputs = {signature.split("->")[0] for signature in getattr(np, name).types}
    return [code for code in CODES if any(set(codes) == {code} for codes in inputs)]


def cases(names):
    return [pytest.param(name, code, id=f"{name}-{code}") for name in names for code in types_of(name)]


def special_values(code):
    """Values at the edges of a type: extremes, zeros of both signs, infinities, NaN, subnormals."""
    if code == "?":
        return np.array([False, True])
    dtype = np.dtype(code)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        near = [0, 1, 2, 3, 7, 10, 31, 32, 63, 64, -1, -2, -7, limits.max, limits.max - 1, limits.min,
                limits.min + 1, limits.max // 2]
        return np.array(sorted({value for value in near if limits.min <= value <= limits.max}), dtype)
    real = np.empty(0, dtype).real.dtype
    limits = np.finfo(real)
    parts = np.array([0, -0.0, 1, -1, 2, 0.5, -0.5, 3, -7.25, np.inf, -np.inf, np.nan], real)
    edges = np.array([limits.max, -limits.max, limits.tiny, limits.smallest_subnormal], real)
    if dtype.kind == "f":
        return np.concatenate([parts, edges])
    some = np.concatenate([parts[[0, 1, 2, 3, 4, 9, 10, 11]], edges[:1]])
    values = np.empty(len(some) ** 2, dtype)
    values.real, values.imag = np.repeat(some, len(some)), np.tile(some, len(some))
    return values


def pairs_of_specials(code):
    values = special_values(code)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def some_values(code, n, seed):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(code)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        any_bits = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
        return np.where(rng.random(n) < 0.5, any_bits, rng.integers(max(limits.min, -9), 9, n).astype(dtype))
    if dtype.kind == "b":
        return rng.random(n) < 0.5
    values = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3, n)
    return (values + 1j * rng.permutation(values) if dtype.kind == "c" else values).astype(dtype)


def at_offset(values, offset):
    """A copy of an array that starts `offset` bytes after a cache line."""
    buffer = np.empty(values.nbytes + 2 * LINE, np.uint8)
    start = -buffer.ctypes.data % LINE + offset
    copy = buffer[start:start + values.nbytes].view(values.dtype)
    copy[:] = values
    return copy


def spread(values, step):
    """The same values in memory `step` elements apart."""
    room = np.zeros((len(values), abs(step)), values.dtype)
    room[:, 0] = values
    return room.reshape(-1)[::step] if step > 0 else np.ascontiguousarray(values[::-1])[::-1]


def check(name, *operands, **keywords):
    compare(getattr(tensoriter, name), getattr(np, name), *operands, **keywords)


@pytest.mark.parametrize(("name", "code"), cases(BINARY))
def test_every_pair_of_special_values(name, code):
    x1, x2 = pairs_of_specials(code)
    check(name, x1, x2)
    check(name, spread(x1, 2), spread(x2, 2))
    check(name, spread(x1, 3), spread(x2, -1))


@pytest.mark.parametrize(("name", "code"), cases(BINARY))
def test_every_special_value_as_constant(name, code):
    values = special_values(code)
    for value in values[:: max(1, len(values) // 20)]:
        check(name, np.full(1, value), values)
        check(name, values, np.full(1, value))


@pytest.mark.parametrize(("name", "code"), cases(BINARY))
def test_binary_lengths_and_steps(name, code):
    for n in LENGTHS:
        x1, x2 = some_values(code, n, n), some_values(code, n, n + 1)
        check(name, at_offset(x1, 16), at_offset(x2, 32))
        check(name, x1[:1], x2)
        check(name, x1, x2[:1])
        for step1, step2 in [(2, 2), (2, 1), (-1, 3)]:
            check(name, spread(x1, step1), spread(x2, step2))


@pytest.mark.parametrize(("name", "code"), cases(UNARY))
def test_unary_lengths_steps_and_specials(name, code):
    values = special_values(code)
    for x in [values, *(values[i:i + 1] for i in range(len(values)))]:
        check(name, x)
    for n in LENGTHS:
        x = some_values(code, n, n)
        check(name, at_offset(x, 16))
        for step in (2, 3, -1):
            check(name, spread(x, step))


NANS = {"e": [0x7e00, 0xfe00, 0x7e01, 0xfdff, 0x7c01], "f": [0x7fc00000, 0xffc00000, 0x7fc12345, 0xff812345],
        "d": [0x7ff8 << 48, 0xfff8 << 48, (0x7ff8 << 48) + 77, (0xfff << 52) + 12345]}
"""NaN of both signs, with a payload, and signalling."""


@pytest.mark.parametrize("code", NANS)
@pytest.mark.parametrize("name", ["maximum", "minimum", "copysign", "negative", "positive",
                                  "absolute", "fabs", "sign"])
def test_which_nan_comes_out(name, code):
    """Ops that compute nothing hand on a NaN's sign and payload as NumPy does, at every place."""
    unsigned = np.dtype(f"u{np.dtype(code).itemsize}")
    nans = np.array(NANS[code], unsigned)
    values = np.concatenate([nans, np.array([0, -0.0, 1, -np.inf], code).view(unsigned)])
    operands = [np.repeat(values, len(values)), np.tile(values, len(values))][:getattr(np, name).nin]
    for n, step in itertools.product([1, 3, 8, 13, len(operands[0])], [1, 2]):
        if name == "fabs" and code == "e":
            continue        # by way of float32, which makes some signalling NaN quiet
        for start in range(0, len(operands[0]), n):
            inputs = [spread(x[start:start + n], step).view(code) for x in operands]
            with np.errstate(all="ignore"):
                ours, numpys = getattr(tensoriter, name)(*inputs), getattr(np, name)(*inputs)
            np.testing.assert_array_equal(ours.view(unsigned), numpys.view(unsigned))


@pytest.mark.parametrize("name", [name for name in BINARY + UNARY if "?" in types_of(name)])
def test_every_byte_but_0_is_a_true_bool(name):
    bytes_ = np.arange(256, dtype="u1")
    operands = [np.repeat(bytes_, 256).view("?"), np.tile(bytes_, 256).view("?")][:getattr(np, name).nin]
    ours, numpys = getattr(tensoriter, name)(*operands), getattr(np, name)(*operands)
    np.testing.assert_array_equal(ours.view("u1"), numpys.view("u1"))


@pytest.mark.parametrize(("name", "code"), cases(BINARY + UNARY))
def test_in_place(name, code):
    function, n_in = getattr(np, name), getattr(np, name).nin
    for n in (5, 70, 2100):
        operands = [at_offset(some_values(code, n, n + k), 16) for k in range(n_in)]
        with np.errstate(all="ignore"):
            same_type = function(*operands).dtype == operands[0].dtype
        for out in operands if same_type else []:
            check(name, *operands, out=out)


@pytest.mark.parametrize("code", "fdeFD")
def test_a_warning_from_any_position(code):
    """One element that warns, in the vectors and in what is left over after them."""
    ops = ["add", "multiply", "divide", "remainder"] if code in "fde" else ["add"]
    for name, position in itertools.product(ops, [0, 7, 31, 32, 65, 69]):
        x1, x2 = np.ones(70, code), np.ones(70, code)
        check(name, x1, x2)
        x1[position], x2[position] = np.inf, 0 if name in ("multiply", "divide", "remainder") else -np.inf
        check(name, x1, x2)


@pytest.mark.parametrize("code", "efdFD")
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_elements_between_those_of_a_step_warn_of_nothing(name, code):
    for gap, n in itertools.product([np.finfo(code).max, np.finfo(code).tiny, np.inf, 0], [4, 8, 33, 64]):
        x1, x2 = np.full(2 * n, gap, code), np.full(2 * n, -gap if gap < 1 else gap, code)
        x1[::2] = x2[::2] = 1
        with np.errstate(all="raise"):
            check(name, x1[::2], x2[::2])


@pytest.mark.parametrize("code", "efd")
@pytest.mark.parametrize("name", ["square", "sqrt", "reciprocal", "absolute"])
def test_elements_between_those_of_a_step_warn_of_nothing_unary(name, code):
    for gap, n in itertools.product([np.finfo(code).max, np.finfo(code).tiny, np.inf, 0, -1], [4, 8, 33, 64]):
        x = np.full(2 * n, gap, code)
        x[::2] = 1
        with np.errstate(all="raise"):
            check(name, x[::2])


@pytest.mark.parametrize("code", "hHiIbBlL")
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_integer_division_is_exact_at_its_edges(name, code):
    limits = np.iinfo(code)
    divisors = np.array([1, 2, 3, 7, 10, limits.max, limits.max - 1, limits.max // 2 + 1], code)
    if limits.min:
        divisors = np.concatenate([divisors, -divisors, [limits.min]]).astype(code)
    for divisor in divisors:
        multiples = np.arange(-3, 4).astype(code) * divisor
        extremes = np.array([limits.max, limits.min], code)
        near = np.concatenate([multiples - 1, multiples, multiples + 1, extremes]).astype(code)
        check(name, near, np.full(1, divisor))
        check(name, near, np.full_like(near, divisor))


@pytest.mark.parametrize("code", "fd")
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_float_division_is_exact_at_its_edges(name, code):
    """Multiples of a divisor and their neighbours, of quotients short and long, alone and by blocks."""
    rng = np.random.default_rng(5)
    lengths = [1, 4, 12, 20, 24, 25, 26, 27, 30, 60]
    for bits_of_quotient, exponent in itertools.product(lengths, [0, 50, -61, 90]):
        divisors = (rng.normal(size=400) * 2.0 ** rng.integers(-3, 3, 400) * 2.0 ** exponent).astype(code)
        factors = np.rint(rng.normal(size=400) * 2.0 ** bits_of_quotient)
        with np.errstate(over="ignore"):
            multiples = (divisors.astype("g") * factors).astype(code)
        around = [np.nextafter(multiples, np.array(to, code)) for to in (np.inf, -np.inf)]
        for x1 in [multiples, *around, rng.permutation(multiples)]:
            check(name, x1, divisors)
            check(name, spread(x1, 2), spread(divisors, -1))
            check(name, x1, divisors[:1])


@pytest.mark.parametrize("code", "fd")
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_one_operand_of_a_block_is_out_of_the_ordinary(name, code):
    limits = np.finfo(code)
    for value, place in itertools.product([0, -0.0, np.inf, np.nan, limits.tiny, limits.smallest_subnormal,
                                           limits.max, 1e30], [0, 63, 64, 99]):
        for k in (0, 1):
            operands = [np.linspace(-9, 9, 100).astype(code), np.linspace(5, 0.3, 100).astype(code)]
            operands[k][place] = value
            check(name, *operands)


@pytest.mark.parametrize("code", "bfdFDg")
@pytest.mark.parametrize("n", [300, 2100])
@pytest.mark.parametrize("name", ["add", "subtract", "positive"])
def test_outputs_at_every_offset_of_a_cache_line(name, code, n):
    function = getattr(tensoriter, name)
    values, others = (np.arange(n) % 89 - 40).astype(code), (np.arange(n) % 31).astype(code)
    operands = [values, others][:getattr(np, name).nin]
    expected = getattr(np, name)(*operands)
    for offset, apart in itertools.product(range(0, LINE, np.dtype(code).alignment), (0, 16)):
        inputs = [at_offset(x, (offset + k * apart) % LINE) for k, x in enumerate(operands)]
        out = at_offset(np.zeros_like(values), offset)
        np.testing.assert_array_equal(function(*inputs, out=out), expected)
        for k in range(len(inputs)):
            copies = [at_offset(x, (offset + k * apart) % LINE) for x in operands]
            np.testing.assert_array_equal(function(*copies, out=copies[k]), expected)


@pytest.mark.parametrize("constant_first", [True, False])
def test_a_constant_operand_and_an_output_off_its_line(constant_first):
    values = np.arange(900, dtype="f8")
    for offset in range(0, LINE, 8):
        x = at_offset(values, offset)
        operands = (2.5, x) if constant_first else (x, 2.5)
        out = at_offset(np.zeros_like(values), offset)
        np.testing.assert_array_equal(tensoriter.add(*operands, out=out), values + 2.5)
        np.testing.assert_array_equal(tensoriter.add(*operands, out=x), values + 2.5)


def digests():
    """The bits that every op gives for special and other values, by op and type."""
    found = {}
    with np.errstate(all="ignore"):
        for name, code in (case.values for case in cases(BINARY + UNARY)):
            specials = pairs_of_specials(code)
            operands = [np.concatenate([specials[k], some_values(code, 777, k)]) for k in range(2)]
            result = getattr(tensoriter, name)(*operands[:getattr(np, name).nin])
            found[f"{name}-{code}"] = hashlib.sha256(bits(result)).hexdigest()
    return found


def test_bits_do_not_depend_on_the_instruction_set():
    program = "import json, test_family_loops; print(json.dumps(test_family_loops.digests()))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                            env=os.environ | {"TENSORITER_ISA": "baseline",
                                              "PYTHONPATH": os.pathsep.join(sys.path)})
    assert json.loads(answer.stdout) == digests()


@pytest.mark.parametrize(
    "name", ["maximum", "minimum", "fmax", "fmin", "add", "copysign", "negative", "absolute"]
)
@pytest.mark.parametrize(
    "dtype, out", [("d", "e"), ("d", "f"), ("f", "e"), ("g", "d"), ("D", "F"), ("L", "e")]
)
@pytest.mark.parametrize("shape", [(), (3,), (5000,)], ids=str)
def test_a_cast_of_the_output_warns_as_numpy(name, dtype, out, shape):
    op, ufunc = getattr(tensoriter, name), getattr(np, name)
    x = np.full(shape, 1e300 if dtype in "dgD" else 1e18).astype(dtype)
    answers = []
    for function in (op, ufunc):
        target = np.zeros(shape, out)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                function(*[x] * ufunc.nin, out=target, casting="same_kind" if dtype != "L" else "unsafe")
            except TypeError as error:
                answers.append(type(error))
                continue
        answers.append((target.tobytes(), [str(warning.message) for warning in caught]))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "signbit", "logical_not"])
@pytest.mark.parametrize("dtype", "efdgFD")
@pytest.mark.parametrize("shape", [(70,), (2, 9, 16, 2)], ids=str)
def test_kinds_are_written_into_outputs_with_gaps(name, dtype, shape):
    """Where NumPy 2.4 leaves elements out, what is right is what it gives without gaps."""
    ufunc = getattr(np, name)
    if f"{dtype}->?" not in ufunc.types:
        return
    x = np.resize(np.array([1, -1, np.nan, np.inf, -np.inf, 0, -0.0, 3]), shape).astype(dtype)
    expected = ufunc(x)
    for gap in (2, 3):
        room = np.ones((*shape, gap), bool)
        getattr(tensoriter, name)(x, out=room[..., 0])
        assert np.array_equal(room[..., 0], expected)
        assert room[..., 1:].all()
    # The walk may find gaps in an output that has none.
    wide = np.broadcast_to(x[..., None], (*shape, 2))
    assert np.array_equal(getattr(tensoriter, name)(wide), ufunc(np.ascontiguousarray(wide)))
