"""No bit of a result depends on the instruction set, the place in memory, the tile or the threads."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from layouts import LINE, filled, laid_out
from tensoriter.core.loops.table import instruction_sets

import tensoriter

CODES = "?bBhHiIlLefdgFDG"
LENGTHS = (1, 7, 64, 65, 1000, 4099)

# Prints a digest of the sums of all dtypes, NaNs made one.
PROGRAM = """
import hashlib, sys
import numpy as np, tensoriter
sys.path.insert(0, {tests!r})
from test_same_bits import digest, sums
from tensoriter.core.loops.table import instruction_sets
print(instruction_sets()[0], digest(sums(tensoriter.add)))
"""


def canonical(values):
    """The bits, any NaN being the same NaN (its payload is not promised)."""
    parts = values.view(values.real.dtype) if values.dtype.kind == "c" else values
    if parts.dtype.kind == "f":
        parts = np.where(np.isnan(parts), parts.dtype.type(np.nan), parts)
        if parts.dtype.itemsize == 16:  # of a long double's 16 bytes 10 are value
            parts = np.ascontiguousarray(parts).view("u1").reshape(-1, 16)[:, :10]
    return np.ascontiguousarray(parts).tobytes()


def digest(arrays):
    total = hashlib.sha256()
    for array in arrays:
        total.update(canonical(array))
    return total.hexdigest()


def sums(add):
    """Over every dtype: contiguous, strided, transposed and mixed."""
    with np.errstate(all="ignore"):
        for code in CODES:
            for n in LENGTHS:
                x, y = filled(n, code, seed=n), filled(n, code, seed=n + 1)
                yield add(x, y)
                yield add(x[::2], y[::2])
                yield add(x[::-1], y)
                yield add(x, y[0])
                yield add(x, y.astype("d" if code not in "gFDG" else "G"))
                yield add(x.astype(x.dtype.newbyteorder()), y)
            square = filled((67, 67), code)
            yield add(square, square.T)


@pytest.mark.parametrize("limit", instruction_sets()[1])
def test_by_instruction_set(limit):
    """Each set that this CPU has (another one falls to the next below) against NumPy."""
    environment = {**os.environ, "TENSORITER_ISA": limit}
    program = PROGRAM.format(tests=os.path.dirname(__file__))
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                          check=True)
    chosen, found = done.stdout.split()
    assert chosen in instruction_sets()[1]
    assert found == digest(sums(np.add))


@pytest.mark.parametrize("code", CODES)
def test_by_place(code):
    """Each offset from a cache line of each operand, and of the output."""
    n = 3000
    x, y = filled(n, code), filled(n, code, seed=1)
    size = x.dtype.alignment
    with np.errstate(all="ignore"):
        expected = canonical(np.add(x, y))
        for offset in range(0, LINE, size):
            for places in ((offset, 0, 0), (0, offset, 0), (0, 0, offset), (offset,) * 3, (16, 16, offset)):
                values = zip((x, y, np.zeros_like(x)), places, strict=True)
                a, b, out = (laid_out(v, offset=p) for v, p in values)
                assert canonical(tensoriter.add(a, b, out=out)) == expected
                assert canonical(tensoriter.add(a, b, out=a)) == expected


@pytest.mark.parametrize("code", CODES)
def test_by_position_in_the_array(code):
    """The same pair of values at any index gives the same sum."""
    values = filled(64, code)
    with np.errstate(all="ignore"):
        one = [canonical(tensoriter.add(values[i : i + 1], values[63 - i : 64 - i])) for i in range(64)]
        for lead in (0, 1, 5, 31, 1000):
            x, y = np.zeros(lead + 64, values.dtype), np.zeros(lead + 64, values.dtype)
            x[lead:], y[lead:] = values, values[::-1]
            found = tensoriter.add(x, y)[lead:]
            assert [canonical(found[i : i + 1]) for i in range(64)] == one


@pytest.mark.parametrize("count", [2, 3, 8])
def test_by_number_of_threads(count):
    n = 300_001
    with np.errstate(all="ignore"):
        for code in CODES:
            x, y = filled(n, code), filled(n, code, seed=1)
            expected = canonical(np.add(x, y))
            with tensoriter.threads(count):
                assert canonical(tensoriter.add(x, y)) == expected
