"""The loop ``output = output + x`` as a run of pytest-benchmark, grouped by size.

pytest-benchmark runs one after the other: for ratios that survive a noisy machine take
``tensoriter bad-multiply``, where they take turns.
"""

from functools import partial

import numpy as np
import pytest

from tensoriter.commands.bad_multiply import make_loops, make_x, repeat_nothing

ADDS = 1000  # in each measured call
NAMES = tuple(make_loops(make_x(1, "float32")))


@pytest.mark.parametrize("n", [1, 100, 10_000])
@pytest.mark.parametrize("name", NAMES)
def test_bad_multiply(benchmark, n, name):
    benchmark.group = f"{ADDS} times output = output + x, n = {n}"
    x = make_x(n, "float32")
    output = benchmark(make_loops(x)[name], ADDS)
    np.testing.assert_allclose(np.asarray(output), x * ADDS, rtol=1e-3)


def test_empty_loop(benchmark):
    benchmark.group = f"{ADDS} times nothing"
    assert benchmark(partial(repeat_nothing, ADDS)) is None
