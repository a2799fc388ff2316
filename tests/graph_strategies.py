"""Random functions of arrays, to be captured, for hypothesis.

A `Function` is a list of steps. Called with arrays it is plain NumPy; traced, each step gives the same on
stand-ins. So it is its own oracle.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from layouts import counting, filled, laid_out
from strategies import CHANCE, SEEDS, YES

import tensoriter

CODES = st.sampled_from("dddffilbB?eDFhgq")
SHAPES = st.sampled_from([(3, 4), (3, 4), (4,), (1, 4), (3, 1), (2, 3, 4), (), (1,), (0, 4), (70,), (3,)])
NUMBERS = st.sampled_from([2, 0.5, -1, 3, 0, 1.5, True, -0.0, 0.0, 1, 1.0, 2.0, float("nan"), 1e300, 2j, 200,
                           float("inf"), -7])  # fmt: skip
BINARY = st.sampled_from([
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.eq, operator.ge, operator.and_, operator.or_, operator.lshift,
    np.add, np.maximum, np.hypot, np.arctan2, np.logical_and, np.copysign, np.floor_divide, np.multiply,
    tensoriter.add, tensoriter.multiply, tensoriter.subtract, tensoriter.divide, tensoriter.minimum,
])  # fmt: skip
UNARY = st.sampled_from([
    operator.neg, operator.abs, operator.invert, operator.pos, np.sqrt, np.exp, np.sin, np.square, np.isnan,
    np.sign, np.log, tensoriter.sqrt, tensoriter.tanh, tensoriter.reciprocal, np.floor, np.conjugate,
])  # fmt: skip
IN_PLACE = st.sampled_from([
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.imod,
])  # fmt: skip
REDUCTIONS = st.sampled_from([np.sum, np.max, np.min, np.mean, np.prod, np.any, np.cumsum, np.argmax, np.std])
AXES = st.sampled_from([None, 0, -1, 1, (0, 1), ()])
INDICES = st.sampled_from([
    slice(None), slice(None, None, 2), slice(None, None, -1), 0, -1, Ellipsis, None, (slice(None), 0), (0, 0),
    (slice(1, None), None), (..., slice(0, 2)), slice(5, 1), 3, (0, 0, 0),
])  # fmt: skip
TRANSFORMS = st.sampled_from([
    np.transpose, np.ravel, lambda x: x.T, lambda x: x.reshape(-1), lambda x: np.expand_dims(x, 0),
    lambda x: x.reshape(4, -1), lambda x: np.swapaxes(x, 0, -1), lambda x: np.flip(x), lambda x: x.copy(),
    lambda x: x.flatten(), lambda x: np.zeros_like(x), lambda x: np.roll(x, 1), lambda x: np.diff(x),
    lambda x: x.clip(0, 1), lambda x: np.clip(x, None, 2), lambda x: x.astype("f4"), lambda x: x.astype("?"),
    lambda x: x.astype(x.dtype, copy=False), lambda x: np.sort(x), lambda x: x.squeeze(),
    lambda x: x[:, None], lambda x: x.mean(), lambda x: x.sum(axis=-1, keepdims=True),
    lambda x: np.array_split(x, 2)[1],
    lambda x: np.divmod(x, 2)[1], lambda x: x.sum(dtype="f8"),
])  # fmt: skip
JOINS = st.sampled_from([
    lambda x, y: np.concatenate([x, y]), lambda x, y: np.stack([x, y]),
    lambda x, y: np.stack([x, y], axis=-1), lambda x, y: np.concatenate([x, y], axis=-1),
    lambda x, y: np.hstack([x, y]), lambda x, y: np.vstack([x, y]), lambda x, y: np.outer(x, y),
    lambda x, y: np.matmul(x, y.T), lambda x, y: x @ y, lambda x, y: np.dot(x, y),
    lambda x, y: np.where(x, x, y), lambda x, y: np.where(x > y, x, 1.5), lambda x, y: np.where(y, 0, x),
    lambda x, y: x[np.array([0, -1, 0])] + y, lambda x, y: np.take(x, [1, 0], axis=-1) * y,
])  # fmt: skip


@dataclass
class Step:
    """function(*values[positions]); a number stands where a position is None."""

    function: object
    positions: tuple[int | None, ...]
    number: object = None
    keywords: tuple = ()

    def __call__(self, values):
        operands = [self.number if k is None else values[k % len(values)] for k in self.positions]
        return self.function(*operands, **dict(self.keywords))


class Function:
    """Steps one after the other; the results are the last values, or all that were computed, in a list."""

    def __init__(self, steps, results, in_place):
        self.steps, self.results, self.in_place = steps, results, in_place

    def __call__(self, *arrays):
        values = list(arrays)
        for step in self.steps:
            values.append(step(values))
        for function, number in self.in_place:  # on a new array, which is written over
            values.append(function(values[-1] * 1, number))
        return values[-self.results :] if self.results else values[len(arrays) :]

    def __repr__(self):
        lines = [f"{step.function} {step.positions} {step.number} {step.keywords}" for step in self.steps]
        return "\n".join([*lines, f"in place {self.in_place}", f"the last {self.results}"])


@st.composite
def functions(draw, most=6, all_results=False):
    """A function of any number of arrays. `all_results`: nothing that it computes is dropped."""
    steps = [a_step(draw) for _ in range(draw(st.integers(1, most)))]
    in_place = [(draw(IN_PLACE), draw(NUMBERS)) for _ in range(draw(CHANCE) // 5)]
    return Function(steps, 0 if all_results else draw(st.integers(1, 3)), in_place)


def a_step(draw):
    kind, first, second = draw(CHANCE), draw(SEEDS), draw(SEEDS)
    if kind < 4:
        number = draw(NUMBERS)
        places = [(first, second), (first, None), (None, first), (first, second)][kind]
        if places[0] is None and type(number) is complex:
            places = places[::-1]  # complex.__eq__ and so on take np.float64 for a float: Python's own answer
        return Step(draw(BINARY), places, number)
    if kind < 6:
        return Step(draw(UNARY), (first,))
    if kind == 6:
        return Step(draw(REDUCTIONS), (first,), keywords=(("axis", draw(AXES)),))
    if kind == 7:
        return Step(operator.getitem, (first, None), draw(INDICES))
    return Step(draw(TRANSFORMS), (first,)) if kind < 10 else Step(draw(JOINS), (first, second))


def some_arrays(draw, least=1):
    """Arguments: arrays of all dtypes and layouts, now and then a NumPy scalar."""
    return [an_array(draw) for _ in range(draw(st.integers(least, 3)))]


def an_array(draw):
    shape, dtype, seed = draw(SHAPES), np.dtype(draw(CODES)), draw(SEEDS)
    values = counting(shape, dtype, seed) if seed < 25 else filled(shape, dtype, seed)
    if draw(CHANCE) == 0 and shape == ():
        return values[()]
    axes = sorted(range(len(shape)), key=lambda axis: draw(SEEDS)) if draw(YES) else None
    return laid_out(values, axes=axes) if draw(CHANCE) > 4 else values
