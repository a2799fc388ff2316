"""Random operands and keywords of an element-wise call, for hypothesis.

Each function here takes hypothesis's `draw` first and draws one thing: shapes and dtypes feed
arrays, arrays and scalars make operands, an out reuses the memory of operands now and then. Only
`calls` is a strategy itself; other kinds of call are written like it. (Strategies built afresh in
every example cost more than all calls together.) Values are drawn by seed from layouts.pool, so
that an example costs a handful of choices whatever its size.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from layouts import counting, filled, laid_out, swapped
from oracle import describe

CASTINGS = st.sampled_from(["same_kind", "unsafe", "safe", "equiv", "no"])
ORDERS = st.sampled_from("KCFA")
CODES = st.sampled_from("dfilB?eFDbhHILgGqQ")
LIST_CODES = st.sampled_from("ld?D")  # what lists of Python numbers come out as
LENGTHS = st.sampled_from([64, 67, 17, 33, 130, 1000, 8200])  # 8200 passes NumPy's buffer
FEW_EXTENTS = st.lists(st.sampled_from([3, 2, 1, 4, 7, 0]), max_size=2)
MANY_EXTENTS = st.lists(st.sampled_from([2, 3, 1, 5]), min_size=2, max_size=4)
STEPS = st.sampled_from([1, -1, 2, -2, 3, 0])
OUT_STEPS = st.sampled_from([1, -1, 2, -2, 3])
OFFSETS = st.sampled_from([0, 1, 2, 3, 4, 8, 16, 31, 63])
SEEDS = st.integers(0, 40)
SHIFTS = st.integers(-24, 24)
CHANCE = st.integers(0, 11)  # most kinds of thing are chosen by one of these
YES = st.booleans()
PYTHON_SCALARS = st.sampled_from([
    0, 1, 2, 3, 1.5, True, False, -1, 127, 128, 255, 256, -129, 2**31, 2**63 - 1, 2**63, -(2**63),
    2**64 - 1, 2**64, 10**30, 10**400, -0.0, 1e39, -1e39, 1e300, 65520.0, 5e-324, 1e-8, math.inf,
    -math.inf, math.nan, 1j, complex(1e39, -0.0), complex(math.nan, math.inf),
])  # fmt: skip
MODES = ("ignore", "warn", "raise", "call")
ERRSTATES = st.sampled_from(
    [{"all": "warn"}] * 4
    + [{"all": mode} for mode in MODES]
    + [{"over": over, "invalid": invalid} for over in MODES for invalid in MODES]
)


@dataclass
class Call:
    """One call: what stands between the parentheses, and the errstate around it."""

    args: tuple
    kwargs: dict = field(default_factory=dict)
    errstate: dict = field(default_factory=dict)

    def _repr_pretty_(self, printer, cycle):
        printer.text("call of\n" + describe(self.args, self.kwargs, self.errstate))


@st.composite
def calls(draw, ufunc=np.add):
    """A call with as many inputs and outputs as that ufunc has."""
    shape = a_shape(draw)
    args = [an_operand(draw, shape)]
    while len(args) < ufunc.nin:
        args.append(an_operand(draw, shape) if draw(CHANCE) else args[0])
    keywords = _defined(ufunc, args, some_keywords(draw, args, ufunc))
    if ufunc.nout == 1 and any(type(arg) is int for arg in args) and result_dtypes(ufunc, args)[0] == "?":
        keywords.pop("where", None)  # NumPy 2.4 crashes when it compares with an int out of range
    errstate = draw(ERRSTATES)
    if ufunc is not np.add and overlaps(args, keywords.get("out")):
        errstate = {"all": "warn"}  # an error leaves such an out written or not: NumPy does both
    return Call(tuple(args), keywords, errstate)


def overlaps(args, outs):
    """Whether an output shares memory with an input that it is not itself."""
    outs = outs if isinstance(outs, tuple) else (outs,)
    return any(out is not arg and isinstance(arg, np.ndarray) and np.may_share_memory(out, arg)
               for out in outs if out is not None for arg in args)


def _defined(ufunc, args, kwargs):
    """Without casting='unsafe' where C leaves undefined what a float becomes as an integer."""
    if kwargs.get("casting") == "unsafe" and any(dtype.kind in "fc" for dtype in result_dtypes(ufunc, args)):
        return {**kwargs, "casting": "same_kind"}
    return kwargs


# ------------------------------------------------------------------------- shapes and dtypes

def a_dtype(draw):
    code = draw(CODES)
    return swapped(code) if draw(CHANCE) > 8 else np.dtype(code)


def a_shape(draw):
    """Up to four small dimensions, or one that fills vectors and now and then NumPy's buffer."""
    kind = draw(CHANCE)
    if kind > 8:
        return (draw(LENGTHS),)
    return tuple(draw(MANY_EXTENTS if kind > 4 else FEW_EXTENTS))


def a_part(draw, shape):
    """A shape that broadcasts to `shape`; seldom one that may not."""
    kind = draw(CHANCE)
    if kind < 7:
        return shape
    if kind == 11:
        return a_shape(draw)
    kept = shape[kind - 7 :]
    return tuple(1 if draw(YES) else n for n in kept)


# ---------------------------------------------------------------------------------- operands

def an_operand(draw, shape):
    """Whatever can take part in a call as an input that broadcasts to `shape`."""
    kind = draw(CHANCE)
    if kind < 7:
        return an_array(draw, a_part(draw, shape))
    if kind == 7:
        return some_values(draw, a_part(draw, shape[-2:]), draw(LIST_CODES)).tolist()
    if kind == 8:
        return an_array(draw, ())
    return a_numpy_scalar(draw) if kind == 9 else draw(PYTHON_SCALARS)


def an_array(draw, shape, dtype=None, steps=STEPS):
    """An array of `shape`, laid out in any way; a bool's bytes may be other than 0 and 1."""
    dtype = a_dtype(draw) if dtype is None else np.dtype(dtype)
    array = laid_out(some_values(draw, shape, dtype), **a_layout(draw, len(shape), steps))
    if dtype.kind == "b" and draw(YES):
        array.view("u1")[...] *= 3
    return array


def some_values(draw, shape, dtype):
    """Plain values to look at first, then those at which adders go wrong."""
    seed = draw(SEEDS)
    return counting(shape, dtype, seed) if seed < 8 else filled(shape, dtype, seed)


def a_layout(draw, ndim, steps):
    """Keywords for laid_out: half of the time none at all."""
    if draw(YES):
        return {}
    axes = sorted(range(ndim), key=lambda axis: draw(SEEDS)) if draw(YES) else None
    return {"axes": axes, "steps": [draw(steps) for _ in range(ndim)], "offset": draw(OFFSETS)}


def a_numpy_scalar(draw):
    return some_values(draw, (), draw(CODES))[()]


# ---------------------------------------------------------------------------------- keywords

def some_keywords(draw, args, ufunc):
    """Nothing is the commonest call, and out the commonest keyword."""
    kind = draw(CHANCE)
    shape = broadcast_shape(args)
    if kind < 3:
        return {}
    if kind < 6:
        return {"out": some_outs(draw, args, shape, ufunc)}
    ways = {
        "out": lambda: some_outs(draw, args, shape, ufunc),
        "where": lambda: a_where(draw, shape),
        "dtype": lambda: draw(CODES),
        "casting": lambda: draw(CASTINGS),
        "order": lambda: draw(ORDERS),
    }
    return {name: way() for name, way in ways.items() if draw(CHANCE) < 5}


def broadcast_shape(args):
    """The shape that `args` have together, () if they have none."""
    try:
        return np.broadcast_shapes(*map(np.shape, args))
    except ValueError:
        return ()


def result_dtypes(ufunc, args):
    """The dtypes of the ufunc's results for such operands: float64 if it takes none such."""
    dtypes = [np.asarray(arg).dtype for arg in args]
    try:
        with np.errstate(all="ignore"):
            results = ufunc(*(np.ones((), dtype) for dtype in dtypes))
    except (TypeError, ValueError, AttributeError):  # AttributeError: objects have no such method
        return [np.dtype("d")] * ufunc.nout
    return [np.asarray(result).dtype for result in (results if ufunc.nout > 1 else [results])]


def some_outs(draw, args, shape, ufunc):
    """What out= is given: a single place, or a tuple of as many as the ufunc has outputs."""
    dtypes = result_dtypes(ufunc, args)
    outs = [an_out(draw, args, shape, dtype) for dtype in dtypes]
    if len(outs) == 1:
        return outs[0]
    return tuple(out[0] if isinstance(out, tuple) else out for out in outs) if draw(CHANCE) else outs[0]


def an_out(draw, args, shape, dtype):
    """A place for a result: of any dtype and layout, over the operands, or of no use."""
    kind = draw(CHANCE)
    sources = [arg for arg in args if isinstance(arg, np.ndarray) and arg.size and all(arg.strides)]
    if kind == 0:
        return None
    if kind < 6 and sources:
        return a_view(draw, sources[kind % len(sources)])
    shape = (2, *shape) if kind == 8 else a_shape(draw) if kind == 9 else shape
    out = an_array(draw, shape, dtype if draw(YES) else None, OUT_STEPS)
    out.flags.writeable = kind != 10
    return (out,) if kind == 11 else out


def a_view(draw, array):
    """A view into an operand's own memory: itself, reversed, transposed, shifted, another dtype."""
    kind = draw(CHANCE)
    base = array.base
    if kind == 0:
        return array[(slice(None, None, -1),) * array.ndim]
    if kind == 1:
        return array.T
    if kind < 5 or base is None:
        return array
    start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    shift = draw(SHIFTS) * (1 if kind > 9 else array.itemsize)
    return _viewed(array, base, start + shift, a_dtype(draw) if kind > 8 else array.dtype)


def _viewed(array, base, start, dtype):
    """`array`'s strides from another start and of another dtype, if they stay within `base` and
    elements do not come to lie over each other."""
    reach = [step * (n - 1) for step, n in zip(array.strides, array.shape, strict=True)]
    low = start + sum(min(0, r) for r in reach)
    high = start + sum(max(0, r) for r in reach) + dtype.itemsize
    fits = low >= 0 and high <= base.nbytes and dtype.itemsize <= array.itemsize
    return np.ndarray(array.shape, dtype, base, start, array.strides) if fits else array


def a_where(draw, shape):
    """A mask that joins the broadcasting; seldom one that is refused."""
    kind = draw(CHANCE)
    if kind == 0:
        return draw(YES)
    if kind == 1:
        return an_array(draw, a_part(draw, shape))
    mask = an_array(draw, a_part(draw, shape), "?")
    return mask.tolist() if kind == 2 else mask


EXAMPLES = os.environ.get("TENSORITER_EXAMPLES")


def profile(examples):
    """Settings: the same examples in every run, or TENSORITER_EXAMPLES of them, new ones each time."""
    return settings(
        max_examples=int(EXAMPLES or examples),
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
