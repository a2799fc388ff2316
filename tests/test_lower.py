"""Lowering: whatever the dtypes and layouts, a plan gives NumPy's bits and NumPy's strides."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from graph_strategies import functions, some_arrays
from hypothesis import given
from hypothesis import strategies as st
from layouts import NUMERIC, WIDEST, filled, laid_out, swapped
from oracle import bits
from strategies import profile
from test_plan import alike

import tensoriter
from tensoriter.graph import passes
from tensoriter.graph.lower import lower
from tensoriter.graph.reference import evaluate
from tensoriter.graph.trace import trace

DTYPES = NUMERIC + WIDEST


def planned(function, args, chosen=passes.default):
    """The results of a plan of the function, in a list; run twice, as the second run finds used memory."""
    graph = trace(function, args).graph
    graph = replace(graph, traced=graph)
    for change in chosen:
        graph = change(graph)
    plan = lower(graph, args)
    first = plan.run(args)
    for again, once in zip(plan.run(args), first, strict=True):
        assert bits(again) == bits(once)
    return first


@pytest.mark.parametrize("chosen", [[], passes.default], ids=["as traced", "passes"])
@profile(120)
@given(st.data())
def test_random_graphs(chosen, data):
    function, args = data.draw(functions()), some_arrays(data.draw)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            graph = trace(function, args).graph
            expected = evaluate(graph, args)
        except Exception:
            return
        alike(planned(function, args, chosen), expected)


@pytest.mark.parametrize("char", DTYPES)
def test_every_dtype_in_several_blocks(char):
    x, y = filled((5000,), char, 1), filled((5000,), char, 2)

    def function(x, y):
        total = x + y
        return [total, np.where(x > y, total, y), (total * x).astype("D"), x[::-1] * total, x]

    with np.errstate(all="ignore"):
        alike(planned(function, (x, y)), function(x, y))


LAYOUTS = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "reversed": lambda x: laid_out(x, steps=[-1, -1]),
    "gaps": lambda x: laid_out(x, steps=[1, 2]),
    "transposed gaps": lambda x: laid_out(x, axes=[1, 0], steps=[2, 1]),
    "swapped": lambda x: x.astype(swapped(x.dtype)),
    "misaligned": lambda x: laid_out(x, offset=1),
    "row": lambda x: x[0],
    "column": lambda x: x[:, :1],
    "one": lambda x: x[:1, :1],
    "no dimension": lambda x: x[0, 0, ...],
    "repeated": lambda x: np.broadcast_to(x[0], x.shape),
}


@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_layouts(first, second):
    values = np.linspace(0.1, 3.0, 60 * 70).reshape(60, 70)
    x, y = LAYOUTS[first](values), LAYOUTS[second](values + 1)

    def function(x, y):
        z = x * y + x
        return z, np.sqrt(z) - y, z.astype("f4"), np.stack([z, z]), x.T - 1

    for one, other in zip(planned(function, (x, y)), function(x, y), strict=True):
        alike(one, other)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (1, 1), (2, 1, 3), (1, 5, 1)])
def test_shapes_with_little_in_them(shape):
    x = np.ones(shape)
    alike(planned(lambda x: (x + 1, (x * 2).astype("i4"), x[None], (x + 1).reshape(-1)), (x,)),
          [x + 1, (x * 2).astype("i4"), x[None], (x + 1).reshape(-1)])  # fmt: skip


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, (0, 2), (1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axes", [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]])
def test_reductions_are_laid_out_as_numpys(axis, keepdims, axes):
    x = laid_out(np.arange(60.0).reshape(3, 4, 5), axes=axes)

    def function(x):
        return [
            np.sum(x, axis, keepdims=keepdims),
            x.max(axis, keepdims=keepdims),
            x.mean(axis, keepdims=keepdims),
        ]

    alike(planned(function, (x,)), function(x))


@pytest.mark.parametrize("axes", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_joins_and_rows_are_laid_out_as_numpys(axes):
    x = laid_out(np.arange(60.0).reshape(3, 4, 5), axes=axes)
    rows = np.array([[1, 0], [-1, 2]])

    def function(x, rows):
        return [np.concatenate([x, x], axis=1), np.stack([x, x], axis=2), x[rows], x[:, rows], x[:, :, rows],
                np.take(x, rows, axis=2), x @ x.transpose(0, 2, 1), np.cumsum(x, axis=1)]  # fmt: skip

    alike(planned(function, (x, rows)), function(x, rows))


UNARY = sorted({op.__name__ for op in tensoriter.ops.ops.values() if (op.nin, op.nout) == (1, 1)})
BINARY = sorted({op.__name__ for op in tensoriter.ops.ops.values()
                 if (op.nin, op.nout) == (2, 1) and op.signature is None})  # fmt: skip
POSITION_MATTERS = {"fmax", "fmin"}  # of 0 and -0 NumPy gives the one or the other, by place in a vector


@pytest.mark.parametrize("name", UNARY + BINARY)
@pytest.mark.parametrize("char", "fdDl")
def test_every_ufunc_block_by_block(name, char):
    """Bits do not depend on where a block begins."""
    op = getattr(tensoriter, name)
    args = tuple([filled((3001,), char, seed) for seed in range(op.nin)])
    with np.errstate(all="ignore"):
        try:
            expected = [op.ufunc(*args), op.ufunc(*[x[::-1].copy() for x in args])]
        except (TypeError, ValueError):
            return
        if not all(x.dtype.kind in "biufc" for x in expected):
            return

        def function(*args):
            again = [x[::-1].copy() for x in args]
            return [op.ufunc(*args), op.ufunc(*again)]

        actual = planned(function, args)
    if name in POSITION_MATTERS:
        actual, expected = ([x + 0 for x in values] for values in (actual, expected))
    alike(actual, expected)


def test_temporaries_share_memory():
    x = np.ones(1000)

    def function(x):
        for _ in range(50):
            x = np.cumsum(x * 1.5) * 0.5
        return x

    graph = trace(function, (x,)).graph
    assert lower(graph, [x]).arena_bytes <= 3 * 8500


def test_lowering_touches_no_memory():
    """Arrays of 8 TB are lowered as any others."""
    huge = np.broadcast_to(np.zeros(1), (1_000_000, 1_000_000))
    graph = trace(lambda x: (x + 1).sum(), (huge,)).graph
    assert lower(graph, [huge]).buffers[0].nbytes == 8 * 10**12
