"""Which ops there are, and ops made of other ufuncs and of C functions."""

import contextlib
import copy
import ctypes
import gc
import itertools
import pickle
import sys
import types
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest
from layouts import ALIASES, NUMERIC, WIDEST, filled, laid_out, swapped
from oracle import as_exact_as, compare, run

import tensoriter
from tensoriter import Op

UFUNCS = {name: getattr(np, name) for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
ELEMENT_WISE = {u.__name__: u for u in UFUNCS.values() if u.signature is None}
CODES = [*NUMERIC, *WIDEST, *ALIASES]


class TestNames:
    def test_one_op_for_each_ufunc(self):
        ops = {name for name in dir(tensoriter) if isinstance(getattr(tensoriter, name), Op)}
        assert ops == set(UFUNCS)
        assert ops <= set(tensoriter.__all__)

    def test_each_stands_for_its_ufunc(self):
        for name, ufunc in UFUNCS.items():
            assert getattr(tensoriter, name).ufunc is ufunc

    def test_aliases_are_one_op(self):
        assert tensoriter.abs is tensoriter.absolute
        assert tensoriter.mod is tensoriter.remainder
        assert tensoriter.true_divide is tensoriter.divide
        assert tensoriter.bitwise_not is tensoriter.invert

    def test_the_stubs_know_them(self):
        stubs = Path(tensoriter.__file__).with_suffix(".pyi").read_text()
        assert all(f"\n{name}: Op\n" in stubs for name in UFUNCS)
        assert all(f'"{name}",' in stubs for name in UFUNCS)

    @pytest.mark.parametrize("name", sorted(ELEMENT_WISE))
    def test_pickles_and_copies_to_itself(self, name):
        op = getattr(tensoriter, name)
        assert pickle.loads(pickle.dumps(op)) is op
        assert copy.deepcopy(op) is op

    def test_alpha_is_adds_alone(self):
        with pytest.raises(TypeError, match="alpha"):
            tensoriter.subtract(1, 2, alpha=3)
        with pytest.raises(TypeError, match="alpha"):
            tensoriter.exp(1.0, alpha=3)


def is_left_unwritten(ufunc, code, out):
    """Whether NumPy 2.4 leaves elements of a bool output with gaps unwritten: see comparison.h."""
    kinds = (np.isnan, np.isinf, np.isfinite, np.signbit)
    return ufunc in kinds and code in "fdl" and out.dtype == bool and out.strides != (1,)


class TestEveryDtype:
    """Plain arrays of each numeric dtype: what the short ways are for, and their loops' own types."""

    @pytest.mark.parametrize("name", sorted(ELEMENT_WISE))
    def test_arrays_and_scalars(self, name):
        op, ufunc = getattr(tensoriter, name), ELEMENT_WISE[name]
        for code in CODES:
            arrays = [filled(70, code, seed) for seed in range(ufunc.nin)]
            for _ in range(2):  # once through the general set-up, then the shortest way
                compare(op, ufunc, *arrays)
                compare(op, ufunc, *(x[0] for x in arrays))
                compare(op, ufunc, *(np.array(x[1]) for x in arrays))
                compare(op, ufunc, *(x[:, None] for x in arrays))
                compare(op, ufunc, *(x[:0] for x in arrays))

    @pytest.mark.parametrize("name", sorted(ELEMENT_WISE))
    def test_python_scalars(self, name):
        op, ufunc = getattr(tensoriter, name), ELEMENT_WISE[name]
        for number in (2.5, 3, True, 2j, -1):
            for _ in range(2):
                compare(op, ufunc, *[number] * ufunc.nin)
                if ufunc.nin == 2:
                    for code in "fdlbD?":
                        compare(op, ufunc, filled(9, code, 1), number)
                        compare(op, ufunc, number, filled(9, code, 1))
                        compare(op, ufunc, number, filled(9, code, 1)[3])
                    compare(op, ufunc, number, 2)

    @pytest.mark.parametrize("name", sorted(n for n, u in ELEMENT_WISE.items() if u.nout == 1))
    def test_out(self, name):
        with as_exact_as(name):
            self.check_out(getattr(tensoriter, name), ELEMENT_WISE[name])

    @staticmethod
    def check_out(op, ufunc):
        for code in "fdlB?D":
            arrays = [filled(70, code, seed) for seed in range(ufunc.nin)]
            outcome = run(ufunc, arrays, {})
            if outcome.error:
                continue
            dtype = outcome.value.dtype
            for out in (np.zeros(70, dtype), np.zeros(70, "D"), laid_out(np.zeros(70, dtype), steps=[-2]),
                        np.zeros(70, swapped(dtype)), *arrays, arrays[0][::-1]):
                if is_left_unwritten(ufunc, code, out):
                    assert np.array_equal(op(*arrays, out=out), ufunc(*arrays))
                    continue
                for _ in range(2):
                    compare(op, ufunc, *arrays, out=out)
            # An output in the same bytes but of another dtype: exactly there, and shifted.
            room = np.zeros(100 * 16, "u1")
            arrays[0] = np.ndarray(70, code, room, 16)
            for start in (16, 16 + np.dtype(dtype).itemsize, 0):
                compare(op, ufunc, *arrays, out=np.ndarray(70, dtype, room, start))

    @pytest.mark.parametrize("name", sorted(n for n, u in ELEMENT_WISE.items() if u.nout == 2))
    def test_two_outputs(self, name):
        op, ufunc = getattr(tensoriter, name), ELEMENT_WISE[name]
        x = [filled((6, 1, 5), "d", seed) for seed in range(ufunc.nin)]
        outs = [result.copy() for result in ufunc(*x)]
        for out in ((None, None), tuple(outs), (outs[0], None), (None, outs[1]), (x[0], None), (outs[0],) * 2,
                    (outs[0],), outs[0], None, outs):
            compare(op, ufunc, *x, out=out)
        compare(op, ufunc, *x, *outs)
        compare(op, ufunc, *x, outs[0])
        for order in "KCFA":
            compare(op, ufunc, *(a.T for a in x), order=order)

    @pytest.mark.parametrize("name", ["square", "multiply", "exp", "sin", "arctan2", "power", "absolute"])
    def test_single_elements(self, name):
        """NumPy's loops of complex numbers round otherwise where a step is 0."""
        op, ufunc = getattr(tensoriter, name), getattr(np, name)
        generator = np.random.default_rng(1)
        for dtype in "Dd":
            with contextlib.suppress(TypeError):    # a scalar's own way opens with the second call
                ufunc(*[np.dtype(dtype).type(1)] * ufunc.nin)
            for shape in ((), (1,), (1, 1)):
                for keywords in ({}, {"order": "F"}, {"out": np.zeros((1, 1), "D")}, {"dtype": "D"}):
                    for _ in range(5):
                        parts = generator.uniform(1, 400, (ufunc.nin, *shape, 2))
                        args = list(parts.view("D")[..., 0] if dtype == "D" else parts[..., 0].copy())
                        compare(op, ufunc, *args, errstate={"all": "ignore"}, **keywords)
                        compare(op, ufunc, *args[:-1], args[-1][None], errstate={"all": "ignore"})

    def test_metadata_is_the_first_operands(self):
        dtype = np.dtype("d", metadata={"unit": "m"})
        x = np.ones(3, dtype)
        for name in ("negative", "multiply", "isnan", "less", "frexp", "maximum"):
            op, ufunc = getattr(tensoriter, name), getattr(np, name)
            for args in ([x] * ufunc.nin, [x[0]] * ufunc.nin, [x[:, None]] * ufunc.nin):
                compare(op, ufunc, *args)
                compare(op, ufunc, *args)


class TestLoopsThatRaise:
    """Integer powers: the loop itself sets the exception, without the GIL where there are many elements."""

    @pytest.mark.parametrize("n", [1, 100, 20_000, 100_000])
    def test_negative_powers(self, n):
        base = np.full(n, 2)
        minus = np.full(n, -1)
        for exponent in (minus, -1, np.int64(-2), np.full((2, n), -1), laid_out(minus, steps=[2])):
            with pytest.raises(ValueError, match="negative integer powers"):
                tensoriter.power(base, exponent)
            compare(tensoriter.power, np.power, base, exponent)
        compare(tensoriter.power, np.power, base, -1, out=base)
        compare(tensoriter.power, np.power, base, np.full(n, -1, ">i4"), where=base == 2, out=base)

    def test_bound(self):
        x = np.full(10, 2)
        bound = tensoriter.power.bind(x, x)
        assert np.array_equal(bound(), np.full(10, 4))
        with pytest.raises(ValueError, match="negative integer powers"):
            bound(x, -x)

    def test_flags_of_integers(self):
        x = np.arange(-3, 4)
        for name in ("divide", "floor_divide", "remainder", "divmod", "fmod", "reciprocal", "power"):
            op, ufunc = getattr(tensoriter, name), getattr(np, name)
            for errstate in ({"all": "warn"}, {"all": "raise"}, {"all": "call"}):
                for _ in range(2):
                    compare(op, ufunc, *[x, x * 0][:ufunc.nin], errstate=errstate)
                    compare(op, ufunc, *[x[:0], x[:0]][:ufunc.nin], errstate=errstate)
                    compare(op, ufunc, *[x[3], x[3]][:ufunc.nin], errstate=errstate)


class TestOverlap:
    """Borrowed loops may write what they have read, as NumPy's do, and nothing else."""

    @pytest.mark.parametrize(
        "name", ["invert", "negative", "absolute", "square", "fmax", "maximum", "bitwise_and"])
    def test_every_direction(self, name):
        op, ufunc = getattr(tensoriter, name), getattr(np, name)
        for code in "hld" if name not in ("invert", "bitwise_and") else "hl":
            for steps in itertools.product((1, 2, -1, -2), repeat=2):
                for shift in range(-6, 7):
                    memory = np.arange(1, 101).astype(code)
                    x = memory[20:60][:: steps[0]][:20]
                    out = memory[20 + shift : 60 + shift][:: steps[1]][:20]
                    compare(op, ufunc, *[x] * ufunc.nin, out=out)


class TestMaskedComparisons:
    """With a Python int that the dtype cannot hold, where= ends NumPy 2.4's process; ours answers."""

    @pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
    def test_out_of_range(self, name):
        op, ufunc = getattr(tensoriter, name), getattr(np, name)
        for code in "bBhHiIlL":
            x = filled(9, code)
            for value in (300, -1, 2**70, -(2**70), 10**30):
                for masks in (np.arange(9) % 2 == 0, [True] * 9, np.array(False)):
                    for args in ((x, value), (value, x)):
                        expected = np.where(masks, ufunc(*args), True)
                        assert (op(*args, out=np.ones(9, "?"), where=masks) == expected).all()
                        assert (op(*args, np.ones(9, "?"), where=masks) == expected).all()
                        assert (op(*args, out=(np.ones(9),), where=masks) == expected).all()

    def test_errors_stay_numpys(self):
        x = np.zeros(3, "b")
        with pytest.raises(ValueError, match="broadcast"):
            tensoriter.less(x, 300, where=np.array([True, False]), out=np.zeros(3, "?"))
        with pytest.raises(TypeError):
            tensoriter.less(x, 300, where=np.array([1, 0, 1]), out=np.zeros(3, "?"))
        with pytest.raises(TypeError):
            tensoriter.less(x, 300, where=True, nonsense=1)


class TestExtrema:
    @pytest.mark.parametrize("name", ["maximum", "minimum"])
    def test_numpy_warns_of_a_third_argument(self, name):
        x = np.arange(3.0)
        compare(getattr(tensoriter, name), getattr(np, name), x, x, np.zeros(3))
        compare(getattr(tensoriter, name), getattr(np, name), x, x, out=np.zeros(3))


class TestFromUfunc:
    def test_of_numpys_it_is_the_op(self):
        assert Op.from_ufunc(np.exp) is tensoriter.exp
        assert Op.from_ufunc(np.pow) is tensoriter.power

    def test_three_inputs(self):
        ufunc = np._core.umath.clip
        clip = Op.from_ufunc(ufunc)
        x = filled((3, 70), "d", 1)
        whole = filled((3, 70), "b", 1)
        for args in ((x, -1.0, 1.0), (x.astype("f"), x[0], 2), (whole.astype("l"), 1, 3.5), (whole, -1, 300),
                     (1, 2, 3), (x, x > 0, x[:, :1])):
            compare(clip, ufunc, *args)
            compare(clip, ufunc, *args)
        assert tensoriter.explain(x, 0.0, 1.0, op=clip).path == "strided"
        assert "x3" in tensoriter.explain(x, 0.0, "1", op=clip).reason

    @pytest.mark.parametrize(("ufunc", "reason"), [
        (np.matmul, "generalized"), (np.frompyfunc(str, 1, 1), "none for numbers"),
        (np.isnat, "none for numbers"), (np.strings.str_len, "none"),
        (np.frompyfunc(lambda *x: x[0], 7, 1), "8 operands"),
    ])  # fmt: skip
    def test_what_cannot_be_taken(self, ufunc, reason):
        with pytest.raises(TypeError, match=f"cannot be taken: .*{reason}"):
            Op.from_ufunc(ufunc)
        op = Op.from_ufunc(ufunc, unsupported="numpy")
        assert op.ufunc is ufunc
        assert op.nin == ufunc.nin
        assert tensoriter.TensorIterator(*[1] * op.nin, op=op).path == "numpy"
        assert op.__doc__.startswith(ufunc.__doc__)
        with pytest.raises(TypeError, match="bind"):
            op.bind(1, 2)

    def test_on_numpys_path(self):
        x = np.arange(9.0).reshape(3, 3)
        compare(tensoriter.matmul, np.matmul, x, x)
        compare(tensoriter.matmul, np.matmul, x, x, axes=[(0, 1), (0, 1), (1, 0)])
        assert tensoriter.isnat(np.datetime64("NaT"))
        assert Op.from_ufunc(np.strings.str_len, unsupported="numpy")(["a", "bc"]).tolist() == [1, 2]

    def test_bad_arguments(self):
        for wrong in (np.sum, abs, None):
            with pytest.raises(TypeError, match="stands for a ufunc"):
                Op.from_ufunc(wrong)
        with pytest.raises(ValueError, match="unsupported"):
            Op.from_ufunc(np.matmul, unsupported="ignore")

    def test_pickles_through_its_ufunc(self, monkeypatch):
        module = types.ModuleType("module_of_a_ufunc")
        module.double = Op.from_loops("double", {"d->d": COPY_DOUBLES}).ufunc
        monkeypatch.setitem(sys.modules, module.__name__, module)
        op = Op.from_ufunc(module.double)
        assert pickle.loads(pickle.dumps(op)).ufunc is module.double
        nowhere = Op.from_loops("nowhere", {"d->d": COPY_DOUBLES})
        with pytest.raises(pickle.PicklingError):
            pickle.dumps(nowhere)

    def test_a_name_of_numpys_does_not_bring_our_loops(self):
        add = Op.from_loops("add", {"dd->d": FIRST_OF_TWO})
        x = np.arange(5.0)
        assert np.array_equal(add(x, x), x)
        assert tensoriter.explain(x, x, op=add).isa == "numpy"


# ------------------------------------------------------------------------------------- from_loops

POINTERS = ctypes.POINTER(ctypes.c_ssize_t)
SIGNATURE = ctypes.CFUNCTYPE(None, POINTERS, POINTERS, POINTERS, ctypes.c_void_p)


def loop_of(function, *types):
    """A C function that computes `function` of one element after the other, through ctypes."""
    def loop(args, dimensions, steps, data):
        for i in range(dimensions[0]):
            *inputs, out = (kind.from_address(args[k] + i * steps[k]) for k, kind in enumerate(types))
            out.value = function(*(x.value for x in inputs))

    return SIGNATURE(loop)


DOUBLE, LONG = ctypes.c_double, ctypes.c_long
COPY_DOUBLES = loop_of(lambda x: x, DOUBLE, DOUBLE)
FIRST_OF_TWO = loop_of(lambda x, y: x, DOUBLE, DOUBLE, DOUBLE)


def length(x, y, z):
    return (x * x + y * y + z * z) ** 0.5


class TestFromLoops:
    hypot3 = Op.from_loops("hypot3", {
        ("l", "l", "l", "d"): loop_of(length, LONG, LONG, LONG, DOUBLE),
        "ddd->d": loop_of(length, DOUBLE, DOUBLE, DOUBLE, DOUBLE),
    }, doc="The length of (x1, x2, x3).")  # fmt: skip

    def test_calls(self):
        x = np.arange(6.0).reshape(2, 3)
        assert np.allclose(self.hypot3(x, x[0], 2), np.sqrt(x**2 + x[0] ** 2 + 4))
        assert self.hypot3(1, 2, 2) == 3.0
        assert np.allclose(self.hypot3(x.astype("f"), 1, 1), np.sqrt(x**2 + 2))
        assert self.hypot3(x, x, x, out=np.zeros((2, 3), "f")).dtype == "f"
        assert tensoriter.explain(1, 2, 2, op=self.hypot3).loop == "hypot3 lll->d"

    def test_it_is_a_ufunc_as_any(self):
        assert self.hypot3.__name__ == "hypot3"
        assert self.hypot3.types == ["lll->d", "ddd->d"]
        assert self.hypot3.__doc__.startswith("hypot3(x1, x2, x3, /")
        assert "The length" in self.hypot3.__doc__
        smaller = Op.from_loops("smaller", {"dd->d": loop_of(min, DOUBLE, DOUBLE, DOUBLE)})
        assert smaller.reduce([3.0, 1.0, 2.0]) == 1.0
        assert smaller([3, 1], [[2], [0]]).tolist() == [[2.0, 1.0], [0.0, 0.0]]
        assert smaller(np.ma.array([1.0, 2.0], mask=[0, 1]), 0.5).mask.tolist() == [False, True]

    def test_addresses(self):
        address = ctypes.cast(COPY_DOUBLES, ctypes.c_void_p).value
        with_address = types.SimpleNamespace(address=address)
        for pointer in (address, with_address, COPY_DOUBLES):
            assert Op.from_loops("same", {("d", np.float64): pointer})(1.5) == 1.5

    def test_several_outputs(self):
        def both(args, dimensions, steps, data):
            for i in range(dimensions[0]):
                x, out1, out2 = (DOUBLE.from_address(args[k] + i * steps[k]) for k in range(3))
                out1.value, out2.value = x.value + 1, x.value - 1

        op = Op.from_loops("both", {"d->dd": SIGNATURE(both)})
        assert [a.tolist() for a in op([1, 2])] == [[2.0, 3.0], [0.0, 1.0]]
        assert Op.from_loops("both", {("d", "d", "d"): SIGNATURE(both)}, nin=1).nout == 2

    def test_pointers_live_as_long_as_the_ufunc(self):
        loop = loop_of(lambda x: x + 1, DOUBLE, DOUBLE)
        alive = weakref.ref(loop)
        op = Op.from_loops("after", {"d->d": loop})
        ufunc = op.ufunc
        del loop, op
        gc.collect()
        assert ufunc(1.0) == 2.0
        del ufunc
        gc.collect()
        assert alive() is None

    def test_an_exception_in_a_callback_is_no_answer_of_ours(self):
        op = Op.from_loops("fails", {"d->d": loop_of(lambda x: x / 0, DOUBLE, DOUBLE)})
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            seen = []
            patch.setattr(sys, "unraisablehook", lambda unraisable: seen.append(unraisable.exc_type))
            op(np.ones(3))
        assert seen == [ZeroDivisionError]

    @pytest.mark.parametrize(("loops", "keywords", "error", "sentence"), [
        ({}, {}, ValueError, "one loop at least"),
        ({"dd": 1}, {}, ValueError, "look like"),
        ({"d->d": 1, "dd->d": 1}, {}, ValueError, "differ"),
        ({("d",): 1}, {}, ValueError, "at least one"),
        ({("d", "O"): 1}, {}, ValueError, "not a numeric type"),
        ({"d" * 8: 1}, {}, ValueError, "look like"),
        ({"ddddddd->d": 1}, {}, ValueError, "7 together at most"),
        ({"d->d": 0}, {}, TypeError, "address"), ({"d->d": "sin"}, {}, TypeError, "address"),
        ({("d", "d"): 1}, {"nin": 2}, ValueError, "at least one"),
    ])  # fmt: skip
    def test_refused(self, loops, keywords, error, sentence):
        with pytest.raises(error, match=sentence):
            Op.from_loops("wrong", loops, **keywords)


class TestExplain:
    @pytest.mark.parametrize(("op", "operands", "path", "loop"), [
        ("exp", (np.ones(3),), "contiguous", "exp d->d"),
        ("exp", (np.ones(3, int),), "strided", "exp d->d"),
        ("exp", (np.ones(6)[::2],), "strided", "exp d->d"),
        ("arctan2", (np.ones(3), 1.5), "contiguous", "arctan2 dd->d"),
        ("modf", (np.ones(3),), "strided", "modf d->dd"),
        ("add", (np.ones(3), 1.5), "contiguous", "add_float64"),
        ("matmul", (np.ones((3, 3)), np.ones(3)), "numpy", ""),
    ])  # fmt: skip
    def test_path_and_loop(self, op, operands, path, loop):
        explanation = tensoriter.explain(*operands, op=getattr(tensoriter, op))
        assert (explanation.path, explanation.loop) == (path, loop)
        assert (explanation.reason == "") == (path == "contiguous")


NUMBERS = "?bBhHiIlLqQefdgFDG"
BINARY = sorted(
    name for name, ufunc in vars(np).items()
    if isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and ufunc.signature is None
)  # fmt: skip


def tried(function, *operands):
    """The results, or the type of the exception."""
    try:
        answer = function(*operands)
    except Exception as error:
        return type(error)
    return answer if isinstance(answer, tuple) else (answer,)


@pytest.mark.parametrize("name", BINARY)
def test_every_pair_of_dtypes(name):
    """Whatever NumPy promotes a pair to, and casts it to: logical ops of mixed dtypes read bools."""
    op, ufunc = getattr(tensoriter, name), getattr(np, name)
    whole = np.arange(12).reshape(3, 4)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for first, second in itertools.product(NUMBERS, repeat=2):
            x, y = (whole * 128 % 300 + 1).astype(first), (whole % 3 + 1).astype(second)
            for operands in ((x, y), (x[::-1], y), (x[..., ::2], y[..., ::2]), (x[0], y)):
                answer, expected = tried(op, *operands), tried(ufunc, *operands)
                if isinstance(expected, type):
                    assert answer is expected, (first, second)
                    continue
                for mine, numpys in zip(answer, expected, strict=True):
                    assert mine.dtype == numpys.dtype, (first, second)
                    assert np.array_equal(mine, numpys, equal_nan=mine.dtype.kind in "fc"), (first, second)
