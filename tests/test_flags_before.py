"""Floating-point flags that something else left set are not blamed on a call, and change no answer."""

import numpy as np
import pytest
from oracle import compare

import tensoriter

LARGEST = np.finfo("f4").max
LEFTOVERS = {  # plain Python arithmetic, which sets the CPU's flags and never looks at them
    "none": lambda: 0.0,
    "overflow": lambda: float("1e308") * 10,
    "invalid": lambda: float("inf") - float("inf"),
}
LINE, GRID = np.linspace(-3, 3, 100, dtype="f4"), np.linspace(0, 1, 12).reshape(3, 4)
CALLS = {
    "contiguous": (LINE, LINE),
    "two dimensions": (GRID, GRID),
    "array and Python number": (LINE, 1.5),
    "array and NumPy scalar": (np.float32(2), LINE),
    "two NumPy scalars": (np.float64(1), np.float64(3)),
    "NumPy scalar and Python number": (np.float64(1), 3.0),
    "Python number and NumPy scalar": (3.0, np.float32(0.1)),
    "0-d array and Python number": (np.array(0.25), 3),
    "0-d arrays": (np.array(1.5), np.array(2.5)),
    "pair": (GRID, GRID[0]),
    "steps": (LINE[::2], LINE[1::2]),
    "cast": (np.arange(100), LINE),
    "swapped": (GRID.astype(">f8"), GRID),
    "half": (LINE.astype("e"), LINE.astype("e")),
    "long double": (LINE.astype("g"), LINE.astype("g")),
    "overflow of its own": (np.full(9, LARGEST), np.full(9, LARGEST)),
    "overflow of a scalar": (np.float64(1.7e308), 1.7e308),
    "invalid of its own": (np.array([np.inf, 1.0]), np.array([-np.inf, 1.0])),
}


@pytest.mark.parametrize("mode", ["warn", "raise", "call"])
@pytest.mark.parametrize("leftover", LEFTOVERS)
@pytest.mark.parametrize("name", CALLS)
class TestFlagsBefore:
    def test_fresh_output(self, name, leftover, mode):
        def after(op):
            def call(*args, **kwargs):
                LEFTOVERS[leftover]()
                return op(*args, **kwargs)

            return call

        compare(after(tensoriter.add), after(np.add), *CALLS[name], errstate={"all": mode})

    def test_output_given(self, name, leftover, mode):
        def into(op):
            def call(x1, x2, out):
                LEFTOVERS[leftover]()
                return op(x1, x2, out=out)

            return call

        x1, x2 = CALLS[name]
        out = np.empty(np.broadcast_shapes(np.shape(x1), np.shape(x2)), np.result_type(x1, x2))
        compare(into(tensoriter.add), into(np.add), x1, x2, out, errstate={"all": mode})
