"""Swept, not sampled: lengths, byte offsets, stride signs, dtype pairs and castings.

A parameter is what names a failure best; the loops inside are what is swept.
"""

from functools import partial
from itertools import product

import numpy as np
import pytest
from layouts import ALIASES, LINE, NUMERIC, WIDEST, counting, filled, laid_out, swapped
from oracle import compare

import tensoriter

add = partial(compare, tensoriter.add, np.add)

CODES = [*NUMERIC, *WIDEST, *ALIASES]
CASTINGS = ["no", "equiv", "safe", "same_kind", "unsafe"]
SCALARS = [True, 1, -1, 3, 1.5, -0.0, np.nan, 1e39, 2 + 1j]


@pytest.mark.parametrize("code", CODES)
class TestLengths:
    """Every length from 0 to 67: each remainder of each vector width, unrolled or not."""

    def sweep(self, code, call, most=68):
        for n in range(most):
            call(n, filled(n, code, seed=n), filled(n, code, seed=n + 100))

    def test_contiguous(self, code):
        self.sweep(code, lambda n, x, y: add(x, y))

    def test_into_out(self, code):
        self.sweep(code, lambda n, x, y: add(x, y, out=laid_out(np.zeros_like(x))))

    def test_in_place(self, code):
        self.sweep(code, lambda n, x, y: [add(x, y, out=x), add(x, y, out=y), add(x, x, out=x)])

    def test_python_scalar(self, code):
        self.sweep(code, lambda n, x, y: [add(x, 1), add(1, x), add(x, 1.5), add(1.5, x)])

    def test_zero_dimensional(self, code):
        one = filled(3, code)[1]
        self.sweep(code, lambda n, x, y: [add(x, one), add(np.array(one), x, out=x)])

    def test_strided(self, code):
        def call(n, x, y):
            gaps, backwards = laid_out(x, steps=[2]), laid_out(y, steps=[-1])
            add(gaps, backwards)
            add(gaps, gaps, out=backwards)

        self.sweep(code, call)

    def test_rows(self, code):
        def call(n, x, y):
            rows = np.stack([y, x, y])
            add(rows, x)
            add(rows, rows[:, :1])
            add(rows.T, x[:, None])

        self.sweep(code, call, most=35)


@pytest.mark.parametrize("code", CODES)
class TestOffsets:
    """Every byte offset within a cache line, the misaligned ones included."""

    N = 37

    @pytest.fixture
    def values(self, code):
        return filled(self.N, code, seed=1), filled(self.N, code, seed=2)

    def test_first_operand(self, values):
        x, y = values
        for offset in range(LINE):
            add(laid_out(x, offset=offset), y)

    def test_second_operand(self, values):
        x, y = values
        for offset in range(LINE):
            add(x, laid_out(y, offset=offset))

    def test_out(self, values):
        x, y = values
        for offset in range(LINE):
            out = laid_out(np.zeros_like(x), offset=offset)
            add(x, y, out=out)
            add(x, 1, out=out)

    def test_all_three(self, values):
        x, y = values
        for offset in range(LINE):
            shifted = laid_out(x, offset=offset), laid_out(y, offset=5 * offset % LINE)
            add(*shifted)
            add(*shifted, out=laid_out(np.zeros_like(x), offset=11 * offset % LINE))


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("codes", ["fff", "fid", "BBh"])
class TestStrides:
    """Every combination of stride signs, zero included, of both operands and of out."""

    SHAPE = (2, 3, 5)
    STEPS = (-2, -1, 0, 1, 3)

    def test_signs(self, codes, ndim):
        shape = self.SHAPE[-ndim:]
        first, second, out = (counting(shape, code, i) for i, code in enumerate(codes))
        signs = list(product((-1, 0, 1), repeat=ndim))
        xs = [laid_out(first, steps=steps) for steps in signs]
        ys = [laid_out(second, steps=steps) for steps in signs]
        outs = [laid_out(out, steps=steps) for steps in product((-1, 1), repeat=ndim)]
        for x, y in product(xs, ys):
            add(x, y)
            for z in outs:
                add(x, y, out=z)

    def test_steps(self, codes, ndim):
        shape = self.SHAPE[-ndim:]
        x, y = counting(shape, codes[0]), counting(shape, codes[1], 7)
        for steps in product(self.STEPS, repeat=ndim):
            strided = laid_out(x, steps=steps)
            add(strided, y)
            add(y, strided)
            add(strided, laid_out(y, steps=steps, axes=range(ndim)[::-1]))
            add(strided, 1)


@pytest.mark.parametrize("first", CODES)
class TestPairs:
    """Every pair of numeric dtypes, in native and swapped byte order."""

    def test_arrays(self, first):
        for second, n in product(CODES, (1, 23)):
            x, y = filled(n, first, seed=3), filled(n, second, seed=4)
            for left, right in product((first, swapped(first)), (second, swapped(second))):
                add(x.astype(left), y.astype(right))

    def test_scalars_of_numpy(self, first):
        x, x0 = filled((3, 5), first, seed=3), filled(1, first, seed=5)[0]
        for second in CODES:
            y0 = filled(1, second, seed=6)[0]
            add(x, y0)
            add(x, np.array(y0, swapped(second)))
            add(x0, y0)
            add(x0, np.array(y0))

    @pytest.mark.parametrize("scalar", SCALARS)
    def test_scalars_of_python(self, first, scalar):
        x = filled(23, first, seed=5)
        for array in (x, x.astype(swapped(first)), x[::-2], x[0], x[:1].reshape(()), x[:0]):
            add(array, scalar)
            add(scalar, array)
        add(x, scalar, out=x)

    def test_strided(self, first):
        for second in CODES:
            x = laid_out(filled((5, 4), first, seed=3), steps=(1, 2))
            y = laid_out(filled((5, 4), second, seed=4), axes=(1, 0))
            add(x, y)
            add(x, y, order="F")


@pytest.mark.parametrize("casting", CASTINGS)
@pytest.mark.parametrize("first", CODES)
class TestCasting:
    """Into every dtype of out, and by every dtype=, under each casting rule.

    The values are small whole numbers: what C makes of a float that its integer type cannot hold
    is not defined, and NumPy's answer then depends on the machine and the length.
    """

    N = 19

    def test_into_out(self, first, casting):
        x = counting(self.N, first)
        for second in NUMERIC:
            y = counting(self.N, second, 5)
            for i, out in enumerate(CODES):
                dtype = swapped(out) if i % 2 else out
                add(x, y, out=np.zeros(self.N, dtype), casting=casting)

    def test_by_dtype(self, first, casting):
        x = counting(self.N, first)
        for dtype in CODES:
            add(x, x, dtype=dtype, casting=casting)
            add(x[::-2], counting(10, "h"), dtype=dtype, casting=casting)
            add(x, 3, dtype=dtype, casting=casting)

    def test_extremes(self, first, casting):
        x = filled(self.N, first, seed=8)
        for out in CODES:
            defined = np.can_cast(first, out, "same_kind")
            if defined:
                add(x, x, out=np.zeros(self.N, out), casting=casting)
                add(x, x, dtype=out, casting=casting)
