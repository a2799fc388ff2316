"""The paths of tensoriter.add beside np.add as a run of pytest-benchmark, grouped by size.

pytest-benchmark runs one after the other: for ratios that survive a noisy machine take
``python -m benchmarks.paths``, where they take turns.
"""

from contextlib import nullcontext

import numpy as np
import pytest

import tensoriter
from benchmarks.paths import CONTIGUOUS, REFERENCE, SIZES, STRIDED, make_operands

ADDS = {CONTIGUOUS: tensoriter.add, STRIDED: tensoriter.add, REFERENCE: np.add}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", list(ADDS))
def test_paths(benchmark, size, name):
    benchmark.group = f"n = {size}"
    x1, x2 = make_operands(size, np.dtype("float32"))
    with tensoriter.force_path("strided") if name == STRIDED else nullcontext():
        answer = benchmark(ADDS[name], x1, x2)
    assert answer.tobytes() == np.add(x1, x2).tobytes()
