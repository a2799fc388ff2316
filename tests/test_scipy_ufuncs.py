"""Every ufunc of scipy.special as an op: SciPy's loops under our iterator answer as under NumPy's."""

import numpy as np
import pytest
import scipy.special
from layouts import laid_out, swapped
from oracle import compare

import tensoriter
from tensoriter import Op

UFUNCS = {ufunc.__name__: ufunc for ufunc in vars(scipy.special).values() if isinstance(ufunc, np.ufunc)}
# By the number of inputs: with extreme values of several parameters, some of SciPy's series take hours.
SPECIAL = {1: [0.0, -0.0, 1.0, -1.0, 30.0, 1e-300, 1e300, np.inf, -np.inf, np.nan],
           2: [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 30.0]}
MODERATE = [0.0, -0.0, 1.0, 0.5, 2.0]


@pytest.fixture(autouse=True)
def scipys_warnings():
    """SciPy's loops warn where they are told to: of each element, in a Python call that takes the GIL."""
    with scipy.special.errstate(all="warn"):
        yield


def operand(dtype, seed, special=MODERATE, shape=(5, 7)):
    """Moderate numbers, special ones among them. Integers are small: some count the steps of a loop."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(-3, 8, shape)
    if np.dtype(dtype).kind in "biu":
        return np.abs(x).astype(dtype)
    x.flat[generator.choice(x.size, x.size // 3, replace=False)] = generator.choice(special, x.size // 3)
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
    if np.dtype(dtype).kind == "c":
        x.imag = generator.uniform(-3, 3, shape)
    return x


MIXTURES = ("dflbe", "fhd?l", "gdfed", "eFdlf", "lllll", "?????")


def operands_of(ufunc):
    """For each signature of the ufunc operands of just those types, then mixtures that have to be cast."""
    special = SPECIAL.get(ufunc.nin, MODERATE)
    signatures = [*(types.partition("->")[0] for types in ufunc.types), *MIXTURES]
    if ufunc.__name__.startswith(("obl_", "pro_")):  # SciPy's search in float32 does not end
        signatures = ["ddddd", "lldld"]
    for number, types in enumerate(signatures):
        yield [operand(types[k], number + 10 * k, special) for k in range(ufunc.nin)]


@pytest.mark.parametrize("name", sorted(UFUNCS))
class TestEveryUfunc:
    def test_values(self, name):
        ufunc = UFUNCS[name]
        op = Op.from_ufunc(ufunc)
        for x in operands_of(ufunc):
            for _ in range(2):  # once through the general set-up, then the shortest way
                compare(op, ufunc, *x)
            compare(op, ufunc, *(a.item(3) for a in x))
            compare(op, ufunc, *(a[1, 2] for a in x))
            compare(op, ufunc, *(a.ravel() for a in x))

    def test_broadcasting(self, name):
        ufunc = UFUNCS[name]
        op = Op.from_ufunc(ufunc)
        for x in operands_of(ufunc):
            compare(op, ufunc, x[0], *(a[k % 5] for k, a in enumerate(x[1:])))
            compare(op, ufunc, *(a[:, :1] if k % 2 else a[2] for k, a in enumerate(x)))
            compare(op, ufunc, *(a.T[::-2] for a in x))
            compare(op, ufunc, *(laid_out(a, axes=[1, 0], steps=[-1, 2]) for a in x))
            compare(op, ufunc, *(a.astype(swapped(a.dtype)) for a in x))
            compare(op, ufunc, *(a[:0] for a in x))

    def test_out_and_where(self, name):
        ufunc = UFUNCS[name]
        op = Op.from_ufunc(ufunc)
        mask = np.arange(35).reshape(5, 7) % 3 > 0
        for x in operands_of(ufunc):
            for dtype in "dfFg":
                outs = tuple(np.full((5, 7), -1, dtype) for _ in range(ufunc.nout))
                compare(op, ufunc, *x, out=outs)
                compare(op, ufunc, *x, out=outs, where=mask)
            if ufunc.nout == 1:
                compare(op, ufunc, *x, out=x[0])
                compare(op, ufunc, *(a[:-1] for a in x), out=x[-1][1:], where=mask[1:])

    def test_a_mask_alone(self, name):
        ufunc = UFUNCS[name]
        x = [operand("d", k) for k in range(ufunc.nin)]
        compare(Op.from_ufunc(ufunc), ufunc, *x, where=x[0] > 0)


def test_there_is_no_ufunc_that_is_refused():
    assert len(UFUNCS) > 200
    for ufunc in UFUNCS.values():
        assert Op.from_ufunc(ufunc).ufunc is ufunc


def test_the_loops_run_under_our_iterator():
    gammaln = Op.from_ufunc(scipy.special.gammaln)
    x = np.linspace(1, 5, 100)
    assert tensoriter.explain(x, op=gammaln).path == "contiguous"
    assert tensoriter.explain(x.astype(">f8"), op=gammaln).path == "strided"
    assert tensoriter.explain(x, op=gammaln).loop == "gammaln d->d"


def test_errors_that_scipy_raises():
    """From within a loop that runs without the GIL, over few elements and many."""
    gammaln = Op.from_ufunc(scipy.special.gammaln)
    with scipy.special.errstate(all="raise"):
        for n in (1, 100, 50_000):
            x = np.zeros(n)
            with pytest.raises(scipy.special.SpecialFunctionError, match="singularity"):
                gammaln(x)
            compare(gammaln, scipy.special.gammaln, x, out=np.ones(n))
            compare(gammaln, scipy.special.gammaln, x[0])
