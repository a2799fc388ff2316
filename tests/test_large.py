"""Sizes at which 32-bit counting breaks, and NumPy's largest number of dimensions.

Large operands are zeros (never touched, so without memory of their own) or views with step 0; one
result of 2 GiB is the only memory used, and serves all tests.
"""

from functools import partial

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from oracle import compare

import tensoriter

add = partial(compare, tensoriter.add, np.add)

HUGE = 2**31 + 70_001  # elements: past int32, and no multiple of a vector
MARKS = [0, 1, 2**31 - 1, 2**31, 2**31 + 1, HUGE - 1]
CHUNK = 2**22  # elements compared at a time: in cache, and no second array of this size


@pytest.fixture(scope="module")
def marked():
    """HUGE zeros with a 3 at each of MARKS."""
    x = np.zeros(HUGE, "u1")
    x[MARKS] = 3
    return x


@pytest.fixture(scope="module")
def total(marked):
    """A result of that size, which the tests then use as out: its pages are dear to touch first."""
    result = tensoriter.add(marked, marked)
    assert type(result) is np.ndarray
    check(result, marks=6, elsewhere=0)
    return result


def check(result, marks, elsewhere):
    assert result.shape == (HUGE,)
    assert result.dtype == np.uint8
    assert (result[MARKS] == marks).all()
    chunks = (result[i : i + CHUNK] for i in range(0, HUGE, CHUNK))
    assert sum(np.count_nonzero(c == elsewhere) for c in chunks) == HUGE - len(MARKS)


class TestMoreElementsThanInt32:
    def test_contiguous(self, marked, total):
        with tensoriter.force_path("strided"):
            assert tensoriter.add(marked, marked[:1], out=total) is total
        check(total, marks=6, elsewhere=3)

    def test_backwards(self, marked, total):
        tensoriter.add(marked[::-1], np.uint8(2), out=total[::-1])
        check(total, marks=5, elsewhere=2)

    def test_two_dimensions(self, marked, total):
        rows = 2**16, 2**15
        tensoriter.add(marked, 1, out=total)
        block = total[: 2**31].reshape(rows)
        tensoriter.add(block, np.ones(2**15, "u1"), out=block)
        assert total[[0, 1, 2**31 - 1, 2**31, HUGE - 1]].tolist() == [5, 5, 5, 4, 4]
        tensoriter.add(total[2**31 :], 1, out=total[2**31 :])
        check(total, marks=5, elsewhere=2)

    def test_mask_of_step_zero(self, marked, total):
        tensoriter.add(marked, 0, out=total)
        nowhere = as_strided(np.array([False]), (HUGE,), (0,))
        assert tensoriter.add(marked, 1, out=total, where=nowhere) is total
        check(total, marks=3, elsewhere=0)


class TestShapesOfGreatExtent:
    FAR = 2**40

    def test_empty(self):
        x = np.zeros((0, self.FAR), "u1")
        assert add(x, x).value.shape == (0, self.FAR)
        assert add(x, 1).value.shape == (0, self.FAR)
        assert add(as_strided(np.zeros(1), (self.FAR, 1, 1), (0, 0, 0)),
                   np.zeros((0, 1))).value.shape == (self.FAR, 0, 1)  # fmt: skip

    def test_more_than_can_be_addressed(self):
        x = as_strided(np.zeros(1), (self.FAR, 1), (0, 0))
        y = as_strided(np.zeros(1), (1, self.FAR), (0, 0))
        assert add(x, y).error is ValueError
        assert add(x, y, out=np.zeros(1)).error is ValueError

    def test_more_than_there_is_memory(self):
        x = as_strided(np.zeros(1), (2**50,), (0,))
        assert issubclass(add(x, x).error, MemoryError)
        assert issubclass(add(x, 1).error, MemoryError)

    def test_dimension_of_one_with_a_far_stride(self):
        x = as_strided(np.ones(3), (1, 3), (2**50, 8))
        add(x, x)
        add(x, np.ones((2, 1)))


class TestManyDimensions:
    @pytest.mark.parametrize("ones", [64, 60, 44])
    def test_64(self, ones):
        shape = (2,) * ((64 - ones) // 2) + (1,) * ones + (2,) * ((64 - ones) // 2)
        x = np.arange(float(np.prod(shape))).reshape(shape)
        add(x, x)
        add(x, x.T)
        add(x.T, 1)
        add(x[::-1, ..., ::-1], x, out=x)
        add(x, x.astype("f4"), where=x > 3, out=None)

    def test_alternating(self):
        x = np.ones((2, 1) * 16 + (1, 1) * 16)
        y = np.ones((1, 2) * 2 + (1, 1) * 30)
        add(x, y)

    def test_65_do_not_exist(self):
        nested = [1.0]
        for _ in range(64):
            nested = [nested]
        add(nested, 1.0)
