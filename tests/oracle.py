"""The oracle: one call of a tensoriter function beside the same call of NumPy's.

`compare(tensoriter.add, np.add, x, y, out=z)` makes the call with each function on the same
operands in the same memory, puts the memory back after each, and raises AssertionError naming
whatever differs: result bits (signed zeros kept; payload and sign of a NaN and padding bytes of a
longdouble aside), dtype, shape, strides, flags, exact Python type, whether the result is one of
the operands, every byte of every operand's backing buffer, warnings, exception type. Nothing in it
knows which operation it compares.
"""

from __future__ import annotations

import contextlib
import ctypes
import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.lib.array_utils import byte_bounds

# An x87 longdouble uses 10 of its 12 or 16 bytes (63 + 1 mantissa bits); others have no padding.
_LONGDOUBLE_BYTES = 10 if np.finfo(np.longdouble).nmant == 63 else np.dtype("g").itemsize


# ---------------------------------------------------------------------------------- values

signs_of_zero = True  # whether zeros of two signs are two values


@contextlib.contextmanager
def as_exact_as(name):
    """Comparisons as exact as NumPy is with itself: of 0 and -0 its fmax and fmin give the first or the
    second, depending on where in a vector they lie."""
    global signs_of_zero
    signs_of_zero = name not in ("fmax", "fmin")
    try:
        yield
    finally:
        signs_of_zero = True


def bits(array) -> bytes | list:
    """The values of `array` in C order, as bytes that are equal exactly if the values are."""
    array = np.asarray(array)
    if array.dtype.hasobject:
        return [(type(item), repr(item)) for item in array.ravel().tolist()]
    if not array.dtype.isnative and array.dtype.names is None:
        array = array.byteswap().view(array.dtype.newbyteorder("="))
    if array.dtype.kind not in "fc":
        return array.tobytes()
    real = array.real.dtype
    floats = np.frombuffer(array.tobytes(), real)
    used = _LONGDOUBLE_BYTES if real.char == "g" else real.itemsize
    raw = floats.view("u1").reshape(-1, real.itemsize)[:, :used].copy()
    with np.errstate(all="ignore"):
        raw[np.isnan(floats)] = 0xFF  # one NaN for all; no number has these bits
    if not signs_of_zero:
        raw[floats == 0] = 0
    return raw.tobytes()


def facts(result, operands=(), mask=None) -> dict:
    """Everything about a result that a program could tell; elements outside `mask` aside."""
    if isinstance(result, tuple):
        return {f"[{i}]": facts(item, operands, mask) for i, item in enumerate(result)}
    known = {"type": type(result), "operand": _position(result, operands)}
    if isinstance(result, np.ma.MaskedArray):
        known |= {"mask": facts(np.ma.getmaskarray(result)), "fill": repr(result.fill_value)}
    if not isinstance(result, (np.ndarray, np.generic)):
        return known | {"value": repr(result)}
    array = np.asarray(result)
    known |= {
        "dtype": (array.dtype.str, array.dtype.char, array.dtype.fields, array.dtype.metadata),
        "shape": array.shape,
        "bits": bits(array if mask is None else array[np.broadcast_to(mask, array.shape)]),
    }
    if isinstance(result, np.ndarray):
        known |= {"strides": result.strides, "flags": result.flags.num, "base": type(result.base)}
    return known


def _position(result, operands):
    return next((i for i, operand in enumerate(operands) if operand is result), None)


# ---------------------------------------------------------------------------------- memory

def arrays_in(value) -> list[np.ndarray]:
    """The arrays in a call's arguments, those inside lists, tuples and dicts included."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in arrays_in(item)]
    return []


def _root(array):
    """The last array of a chain of views: the owner of the memory as far as NumPy knows."""
    root, base = array, array.base
    while base is not None:
        root = base if isinstance(base, np.ndarray) else root
        base = getattr(base, "base", None)
    return root


class Memory:
    """The backing buffers of a call's operands, remembered so that they can be put back."""

    def __init__(self, operands):
        roots = {id(root): root for root in map(_root, operands)}.values()
        self._objects = [(root, root.copy()) for root in roots if root.dtype.hasobject]
        plain = [root for root in roots if root.size and not root.dtype.hasobject]
        self._spans = [(low, high - low) for low, high in map(byte_bounds, plain)]
        self._bytes = [ctypes.string_at(*span) for span in self._spans]

    def restore(self):
        """Put every buffer back as it was; bytes that did not change are not written."""
        for (address, size), saved in zip(self._spans, self._bytes, strict=True):
            if ctypes.string_at(address, size) != saved:
                ctypes.memmove(address, saved, size)
        for root, saved in self._objects:
            root[...] = saved

    def contents(self, outs) -> list:
        """The buffers as they are now, `outs` by value: those may hold any NaN and any padding."""
        found = [self._outside(outs, *span) for span in self._spans]
        found += [bits(root) for root, _ in self._objects]
        return found + [bits(out) for out in outs]

    @staticmethod
    def _outside(outs, address, size) -> bytes:
        buffer = bytearray(ctypes.string_at(address, size))
        for out in outs:
            start = out.__array_interface__["data"][0] - address
            if out.size and 0 <= start < size and not out.dtype.hasobject:
                whole = np.dtype(f"V{out.itemsize}")
                np.ndarray(out.shape, whole, buffer, start, out.strides)[...] = np.void(b"")
        return bytes(buffer)


def poison(like):
    """Fill the memory that the next results will be made in, so that a loop which does not write
    an element cannot be right by finding the last call's answer there."""
    if isinstance(like, np.ndarray) and like.dtype.kind in "biufc":
        waiting = 10 if like.nbytes < 1 << 16 else 1  # more than NumPy and malloc keep of a size
        dying = [np.empty(like.shape, like.dtype) for _ in range(waiting)]
        for array in dying:
            ctypes.memset(array.ctypes.data, 0xA5, array.nbytes)


# ----------------------------------------------------------------------------------- calls

@dataclass
class Outcome:
    """What one call did. `value` is a copy of what it returned, `told` what np.errstate's
    `call` object heard; `warned` holds (category, text) pairs."""

    value: object = None
    error: type | None = None
    warned: list = field(default_factory=list)
    told: list = field(default_factory=list)
    result: dict = field(default_factory=dict)
    memory: list = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.warned]


class _Ear:
    """Both kinds of object that np.errstate's `call` takes: a function and a log."""

    def __init__(self):
        self.heard = []

    def __call__(self, *args):
        self.heard.append(args)

    write = __call__


def run(function, args, kwargs, errstate=None) -> Outcome:
    """Make one call and put the operands' memory back."""
    operands = arrays_in([args, kwargs])
    memory, ear, outcome = Memory(operands), _Ear(), Outcome()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with np.errstate(call=ear, **(errstate or {})):
            try:
                result = function(*args, **kwargs)
            except Exception as error:  # any type is an answer
                outcome.error = type(error)
            else:
                outcome.value = result.copy("K") if isinstance(result, np.ndarray) else result
                outcome.result = facts(result, operands, _mask(function, args, kwargs))
    outcome.memory = memory.contents(_outs(function, args, kwargs))
    memory.restore()
    outcome.warned = [(w.category, str(w.message)) for w in caught]
    outcome.told = ear.heard
    return outcome


def _outs(function, args, kwargs):
    positional = args[getattr(function, "nin", 2):]
    return arrays_in([positional, kwargs.get("out")])


def _mask(function, args, kwargs):
    """`where`, if the elements it leaves out are whatever the allocator found."""
    where = kwargs.get("where", True)
    return None if where is True or _outs(function, args, kwargs) else np.asarray(where, bool)


def compare(ours, theirs, /, *args, errstate=None, **kwargs) -> Outcome:
    """Call `ours` and `theirs` alike and return our Outcome; AssertionError if they differ.

    `errstate` is a dict for np.errstate.
    """
    expected = run(theirs, args, kwargs, errstate)
    poison(expected.value)
    actual = run(ours, args, kwargs, errstate)
    differences = list(_differences(actual, expected))
    if differences:
        call = describe(args, kwargs, errstate)
        raise AssertionError("\n".join([f"{theirs!r} answers otherwise:", *differences, call]))
    return actual


def _differences(actual, expected):
    for name in ("error", "warned", "told"):
        ours, theirs = getattr(actual, name), getattr(expected, name)
        if ours != theirs:
            yield f"  {name}: {ours}, NumPy: {theirs}"
    for name in sorted(actual.result.keys() | expected.result.keys(), key=str):
        ours, theirs = actual.result.get(name), expected.result.get(name)
        if ours != theirs and name == "bits":
            yield f"  values:\n{_short(actual.value)}\n  NumPy:\n{_short(expected.value)}"
        elif ours != theirs:
            yield f"  {name}: {ours}, NumPy: {theirs}"
    if actual.memory != expected.memory:
        yield "  memory of the operands after the call"


# ---------------------------------------------------------------------------- descriptions

def describe(args, kwargs, errstate=None) -> str:
    """The call in words: dtype, shape, strides, offset and values of each operand."""
    operands = arrays_in([args, kwargs])
    lines = [f"  x{i + 1} = {_describe(arg, operands)}" for i, arg in enumerate(args)]
    lines += [f"  {name} = {_describe(value, operands)}" for name, value in kwargs.items()]
    return "\n".join(lines + ([f"  errstate = {errstate}"] if errstate else []))


def _short(value) -> str:
    return np.array2string(np.asarray(value), threshold=40, separator=", ")


def _describe(value, operands) -> str:
    if not isinstance(value, np.ndarray):
        return f"{value!r} ({type(value).__name__})"
    address = value.__array_interface__["data"][0]
    shared = [i for i, other in enumerate(operands)
              if other is not value and np.may_share_memory(other, value)]
    return (f"{value.dtype.str}{list(value.shape)} strides {value.strides} at line + "
            f"{address % 64}, writeable {value.flags.writeable}, overlaps arrays {shared}:\n"
            f"{_short(value)}")
