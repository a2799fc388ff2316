"""The cases that the benchmarks of small calls share: their operands, their calls, their targets.

Contestants that are timed against each other share one set of operands: how two arrays lie to each
other within a page can double the time of a large add.

Used by ``python -m benchmarks.small`` (time) and ``python -m benchmarks.instructions`` (counts).

>>> from benchmarks.cases import CASES, numpy_loop
>>> numpy_loop(CASES[0], CASES[0].operands(100))(3).shape  # three calls, the last one's result
(100,)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import tensoriter
from tensoriter.timing import at_line_offset, own_code

SIZES = (1, 3, 10, 100, 1_000, 10_000, 100_000)  # elements of x1, in the cases that scale

# What the fresh-output case at n = 100 is asked for, beyond the factors over np.add in CASES.
FRESH_NO_OP_AT_MOST = 1.9  # times the time of a no-op call, both with their loop
FRESH_TORCH_AT_LEAST = 25.0  # times as fast as torch's +
FRESH_INSTRUCTIONS_AT_MOST = 850  # a call, with its loop

NO_OP = operator.is_
"""The no-op that calls are held against.

It should be an instance called through vectorcall that returns its first argument; Python has none
ready-made. This built-in is the nearest: two positional arguments, no parsing, a result that exists
already. Being a built-in function it costs 2 to 5 ns less than such an instance.
"""

Loop = Callable[[int], Any]  # makes that many calls and returns the last one's result


class Operands(NamedTuple):
    """What a call is given."""

    x1: Any
    x2: Any
    out: Any = None
    where: Any = None


Maker = Callable[[int, np.dtype[Any]], Operands]


@dataclass(frozen=True)
class Case:
    """One kind of call.

    `make(size, dtype)` gives its operands. `at_least` says how many times as fast as np.add it is
    asked to be, by size; 1 stands for "not slower". A case with one size has its shape in its name.
    `bound` is the call where it goes through ``f = tensoriter.add.bind(x1, x2, out=out)``.
    """

    name: str
    make: Maker
    at_least: dict[int, float] = field(hash=False)
    dtype: str = "float32"
    sizes: tuple[int, ...] = SIZES
    bound: str = ""

    def operands(self, size: int) -> Operands:
        """Operands of this size that share nothing with earlier ones."""
        return self.make(size, np.dtype(self.dtype))

    def label(self, size: int) -> str:
        """The name of the case at this size."""
        return self.name if len(self.sizes) == 1 else f"{self.name}, n = {size:,}"


def values(seed: int, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Random values below 1 (below 100 for integers), 16 bytes past a 64-byte line."""
    dtype = np.dtype(dtype)
    drawn = np.random.default_rng(seed).random(shape)
    return at_line_offset((drawn * 100 if dtype.kind in "iu" else drawn).astype(dtype))


def fresh(size: int, dtype: np.dtype[Any]) -> Operands:
    """Two arrays; the result is a new one."""
    return Operands(values(0, size, dtype), values(1, size, dtype))


def in_place(size: int, dtype: np.dtype[Any]) -> Operands:
    """The first array is the output as well."""
    x1, x2 = values(0, size, dtype), values(1, size, dtype)
    return Operands(x1, x2, out=x1)


def other_out(size: int, dtype: np.dtype[Any]) -> Operands:
    """Two arrays into a third."""
    return Operands(values(0, size, dtype), values(1, size, dtype), out=values(2, size, dtype))


def array_float(size: int, dtype: np.dtype[Any]) -> Operands:
    """An array and a Python float."""
    return Operands(values(0, size, dtype), 1.5)


def float_array(size: int, dtype: np.dtype[Any]) -> Operands:
    """A Python float and an array."""
    return Operands(1.5, values(0, size, dtype))


def array_numpy_scalar(size: int, dtype: np.dtype[Any]) -> Operands:
    """An array and a NumPy scalar of its dtype."""
    return Operands(values(0, size, dtype), dtype.type(1.5))


def zero_d_arrays(_: int, dtype: np.dtype[Any]) -> Operands:
    """Two 0-d arrays."""
    return Operands(np.array(0.25, dtype), np.array(1.5, dtype))


def numpy_scalars(_: int, dtype: np.dtype[Any]) -> Operands:
    """Two NumPy scalars."""
    return Operands(dtype.type(0.25), dtype.type(1.5))


def shapes(first: tuple[int, ...], second: tuple[int, ...]) -> Maker:
    """A maker of two arrays of these shapes."""
    return lambda _, dtype: Operands(values(0, first, dtype), values(1, second, dtype))


def with_transpose(_: int, dtype: np.dtype[Any]) -> Operands:
    """A (4, 4) array and its own transpose."""
    array = values(0, (4, 4), dtype)
    return Operands(array, array.T)


def c_and_f(_: int, dtype: np.dtype[Any]) -> Operands:
    """Two (10, 10) arrays, one in C, one in Fortran order."""
    return Operands(values(0, (10, 10), dtype), values(1, (10, 10), dtype).T)


def every_second(size: int, dtype: np.dtype[Any]) -> Operands:
    """Every second element of two arrays."""
    return Operands(values(0, 2 * size, dtype)[::2], values(1, 2 * size, dtype)[::2])


def int32_float64(size: int, dtype: np.dtype[Any]) -> Operands:
    """Arrays of two dtypes."""
    return Operands(values(0, size, "int32"), values(1, size, dtype))


def byte_swapped(size: int, dtype: np.dtype[Any]) -> Operands:
    """Two arrays in the byte order that is not this machine's."""
    swapped = dtype.newbyteorder("S")
    return Operands(values(0, size, swapped), values(1, size, swapped))


def masked_out(size: int, dtype: np.dtype[Any]) -> Operands:
    """Two arrays into a third where a mask, true for about half of it, says so."""
    return other_out(size, dtype)._replace(where=values(3, size, "float64") < 0.5)


def own_shape(at_least: float) -> dict[str, Any]:
    """The arguments of a `Case` whose shape is in its name."""
    return {"at_least": {1: at_least}, "sizes": (1,)}


CASES = (
    Case("fresh output", fresh, {100: 7, 1_000: 5}),
    Case("out= in place", in_place, {100: 8}),
    Case("out= another array", other_out, {100: 8}),
    Case("array + Python float", array_float, {100: 9}),
    Case("Python float + array", float_array, {100: 9}),
    Case("array + NumPy scalar", array_numpy_scalar, {100: 9}),
    Case("0-d + 0-d", zero_d_arrays, **own_shape(6)),
    Case("two NumPy scalars", numpy_scalars, **own_shape(6)),
    Case("(3, 3) float64", shapes((3, 3), (3, 3)), dtype="float64", **own_shape(7)),
    Case("(4, 4) float64", shapes((4, 4), (4, 4)), dtype="float64", **own_shape(7)),
    Case("(4, 3) + (3,)", shapes((4, 3), (3,)), **own_shape(8)),
    Case("(10, 10) + (10, 1)", shapes((10, 10), (10, 1)), **own_shape(8)),
    Case("A + A.T of (4, 4)", with_transpose, **own_shape(8)),
    Case("C + F of (10, 10)", c_and_f, **own_shape(8)),
    Case("x[::2] + y[::2]", every_second, {100: 5}),
    Case("int32 + float64", int32_float64, {100: 6}, "float64"),
    Case("byte-swapped float64", byte_swapped, {100: 7}, "float64"),
    Case("float16", fresh, {100: 12}, "float16"),
    Case("float64", fresh, {100: 1}, "float64"),
    Case("int64", fresh, {100: 1}, "int64"),
    Case("complex128", fresh, {100: 1}, "complex128"),
    Case("where= with out=", masked_out, {100: 1}),
    Case("bound f()", fresh, {100: 1}, bound="f()"),
    Case("bound f(x1, x2)", fresh, {100: 1}, bound="f(x1, x2)"),
    Case("bound f() with out=", other_out, {100: 1}, bound="f()"),
)


def available_cases() -> tuple[Case, ...]:
    """The cases that the installed tensoriter can take part in."""
    return tuple(case for case in CASES if hasattr(tensoriter.add, "bind") or not case.bound)


def target_cells() -> Iterator[tuple[Case, int]]:
    """Each case at each size for which it has a target."""
    for case in available_cases():
        for size in case.at_least:
            yield case, size


def repeat_call(add: Callable[..., Any], x1: Any, x2: Any, steps: int) -> Any:
    """Calls with two operands; the last result dies when the next is there, as a user's would."""
    output = None
    for _ in range(steps):
        output = add(x1, x2)
    return output


def repeat_out(add: Callable[..., Any], x1: Any, x2: Any, out: Any, steps: int) -> Any:
    """Calls that are given their output."""
    output = None
    for _ in range(steps):
        output = add(x1, x2, out=out)
    return output


def repeat_where(
    add: Callable[..., Any], x1: Any, x2: Any, out: Any, where: Any, steps: int
) -> Any:
    """Calls that are given their output and a mask."""
    output = None
    for _ in range(steps):
        output = add(x1, x2, out=out, where=where)
    return output


def repeat_bound(bound: Callable[[], Any], steps: int) -> Any:
    """Calls without operands."""
    output = None
    for _ in range(steps):
        output = bound()
    return output


def repeat_plus(x1: Any, x2: Any, steps: int) -> Any:
    """The operator."""
    output = None
    for _ in range(steps):
        output = x1 + x2
    return output


def repeat_nothing(steps: int) -> None:
    """The loop alone: it is part of every other one."""
    for _ in range(steps):
        pass


def calling(add: Callable[..., Any], operands: Operands) -> Loop:
    """A loop of the call that these operands ask for."""
    x1, x2, out, where = operands
    if where is not None:
        return partial(own_code(repeat_where), add, x1, x2, out, where)
    if out is not None:
        return partial(own_code(repeat_out), add, x1, x2, out)
    return partial(own_code(repeat_call), add, x1, x2)


def numpy_loop(case: Case, operands: Operands) -> Loop:
    """The case with np.add."""
    return calling(np.add, operands)


def tensoriter_loop(case: Case, operands: Operands) -> Loop:
    """The case with tensoriter.add."""
    if not case.bound:
        return calling(tensoriter.add, operands)
    bound = tensoriter.add.bind(operands.x1, operands.x2, out=operands.out)
    if case.bound == "f()":
        return partial(own_code(repeat_bound), bound)
    return partial(own_code(repeat_call), bound, operands.x1, operands.x2)


def no_op_loop(case: Case, operands: Operands) -> Loop:
    """The no-op with the case's first two operands."""
    return calling(NO_OP, Operands(operands.x1, operands.x2))


def torch_loop(case: Case, operands: Operands) -> Loop | None:
    """The case with torch's + (torch.add where there is an output), on one thread.

    None where torch is not installed or has no such call: NumPy scalars, byte-swapped arrays,
    where=, bound calls.
    """
    if not find_spec("torch") or case.bound or operands.where is not None:
        return None
    import torch

    torch.set_num_threads(1)
    if any(isinstance(operand, np.generic) for operand in operands):
        return None
    try:
        x1, x2, out = (
            torch.from_numpy(operand) if isinstance(operand, np.ndarray) else operand
            for operand in operands[:3]
        )
    except (TypeError, ValueError):  # a dtype that torch has not
        return None
    if out is None:
        return partial(own_code(repeat_plus), x1, x2)
    return partial(own_code(repeat_out), torch.add, x1, x2, out)


LOOPS: dict[str, Callable[[Case, Operands], Loop | None]] = {
    "numpy": numpy_loop,
    "tensoriter": tensoriter_loop,
    "torch": torch_loop,
}
