"""Calls one case of CASES again and again: reference counts and resident memory must not move.

Run as `python tests/leaks.py NAME`, in a process of its own, so that nothing else allocates; exits
with a sentence if something leaked. Without a name it runs every case, one after the other.
"""

import gc
import pathlib
import resource
import sys
import warnings
from itertools import repeat

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tensoriter import TensorIterator, add, checked, explain, force_path

# What the interpreter's own caches may move. The smallest leak there could be is 16 bytes or one
# reference a call, in 20,000 calls.
BYTES_ALLOWED = 256 << 10
BLOCKS_ALLOWED = 1000
REFERENCES_ALLOWED = 50

X = np.arange(100, dtype="f4")
Y = X[::-1].copy()
ZEROS = np.zeros(100, "f4")
D = np.arange(100.0)
TOP = np.full(100, np.finfo("f8").max)
ROWS = np.ones((10, 10))
WIDE = np.zeros((10, 100), "f4")
MASK = X > 50
SWAPPED = D.astype(D.dtype.newbyteorder("S"))
NARROW = np.arange(100, dtype="u1")
OBJECTS = np.array([1.5, 2.5], object)
MATRIX = np.ones((1, 2)).view(np.matrix)
SCALAR = np.float32(1.5)
ZERO_D = np.array(2.0)
READ_ONLY = np.zeros(100)
READ_ONLY.flags.writeable = False
ENDLESS = as_strided(np.ones(1), (2**50,), (0,))
INTEGERS = np.zeros(100, "i8")
SMALL = np.zeros(100, "i1")


class Answers:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return 1


class Declines:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented


class Fails:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        raise ZeroDivisionError


class FailsToConvert:
    def __array__(self, dtype=None, copy=None):
        raise ZeroDivisionError


ANSWERS, DECLINES, FAILS, NO_ARRAY = Answers(), Declines(), Fails(), FailsToConvert()


def fail_to_handle(kind, flag):
    raise ZeroDivisionError


def forced(path, *args):
    with force_path(path):
        return add(*args)


def checking(*args, **kwargs):
    with checked():
        return add(*args, **kwargs)


# What is called, and how many times: a million times on each path, and as often in vain.
MILLION = 1_000_000
CASES = {
    "contiguous": (MILLION, lambda: add(X, Y)),
    "contiguous, 0-d": (MILLION, lambda: add(ZERO_D, ZERO_D)),
    "strided, gaps": (200_000, lambda: add(X[::2], Y[::-2])),
    "strided, rows": (200_000, lambda: add(WIDE, X)),
    "strided, scalars": (200_000, lambda: (add(X, 1.5), add(2, X), add(X, SCALAR), add(1, 2.0))),
    "strided, dtypes": (200_000, lambda: add(X, D, dtype="f8", order="F")),
    "strided, casts": (200_000, lambda: add(D, D[:1], dtype="f4")),
    "strided, swapped": (200_000, lambda: add(SWAPPED, ZEROS, out=SWAPPED)),
    "strided, out": (200_000, lambda: (add(X, ZEROS, out=X), add(X, Y, D), add(X, Y, out=(D,)))),
    "strided, overlap": (200_000, lambda: add(X[1:], 1, out=X[:-1])),
    "strided, where": (200_000, lambda: add(X, ZEROS, where=MASK, out=X)),
    "strided, forced": (200_000, lambda: forced("strided", X, Y)),
    "strided, alpha": (200_000, lambda: (add(X, Y, alpha=2), add(X, [1.0], alpha=1.5))),
    "checked": (200_000, lambda: (checking(NARROW, 1), checking(NARROW[::2], NARROW[::2]), checking([1], 2))),
    "checked, out": (100_000, lambda: (add(INTEGERS, NARROW, out=INTEGERS, checked=False),
                                       add(NARROW, 0, out=SMALL, checked=True))),
    "numpy, list": (200_000, lambda: add(ZERO_D, [1.5, 2.5])),
    "numpy, objects": (200_000, lambda: add(OBJECTS, OBJECTS)),
    "numpy, subclass": (200_000, lambda: add(MATRIX, 1)),
    "numpy, override": (200_000, lambda: (add(ANSWERS, X), add(X, Y, out=ANSWERS))),
    "numpy, signature": (200_000, lambda: add(X, Y, signature="ff->f")),
    "numpy, forced": (200_000, lambda: forced("numpy", X, Y)),
    "TensorIterator": (50_000, lambda: (TensorIterator(X, D), TensorIterator(X, OBJECTS))),
    "explain": (20_000, lambda: (explain(X, D), str(explain(WIDE, X)))),
}

# The same in vain. With errstate raise, an overflow comes after the loop, with a result to drop.
REFUSED = {
    "shapes": (ValueError, 100_000, lambda: add(X, ROWS)),
    "shape of out": (ValueError, 100_000, lambda: add(X, Y, out=ROWS)),
    "read-only out": (ValueError, 100_000, lambda: add(D, D, out=READ_ONLY)),
    "cast to out": (TypeError, 50_000, lambda: add(D, D, out=INTEGERS)),
    "cast to dtype": (TypeError, 50_000, lambda: add(D, D, dtype="i8")),
    "integer out of range": (OverflowError, 100_000, lambda: add(NARROW, 300)),
    "number of arguments": (TypeError, 100_000, lambda: add(X)),
    "unknown keyword": (TypeError, 100_000, lambda: add(X, Y, bogus=Y)),
    "unknown option": (ValueError, 100_000, lambda: add(X, Y, order="X")),
    "floating point, contiguous": (FloatingPointError, 100_000, lambda: add(TOP, TOP)),
    "floating point, strided": (FloatingPointError, 100_000, lambda: add(TOP[::2], TOP[::2])),
    "floating point, cast": (FloatingPointError, 50_000, lambda: add(TOP, D[:1], dtype="f4")),
    "floating point, 0-d": (FloatingPointError, 100_000, lambda: add(TOP[0], TOP[1])),
    "errstate's call": (ZeroDivisionError, 50_000, lambda: failing_call()),
    "warning as error": (UserWarning, 20_000, lambda: add(X, Y, where=MASK)),
    "override": (ZeroDivisionError, 100_000, lambda: add(X, FAILS)),
    "override of out": (ZeroDivisionError, 100_000, lambda: add(X, Y, out=FAILS)),
    "override declined": (TypeError, 50_000, lambda: add(1, DECLINES)),
    "conversion": (ZeroDivisionError, 100_000, lambda: add(X, NO_ARRAY)),
    "objects": (TypeError, 50_000, lambda: add(OBJECTS, "a")),
    "memory": (MemoryError, 50_000, lambda: add(ENDLESS, 1)),
    "memory after a cast": (MemoryError, 50_000, lambda: add(D[:1], ENDLESS, dtype="f4")),
    "checked": (OverflowError, 20_000, lambda: checking(NARROW, 200)),
    "checked, out": (OverflowError, 20_000, lambda: add(NARROW, 100, out=SMALL, checked=True)),
    "checked, override": (TypeError, 50_000, lambda: add(X, ANSWERS, checked=True)),
    "alpha": (TypeError, 50_000, lambda: add(INTEGERS, INTEGERS, alpha=1.5)),
    "alpha's range": (OverflowError, 50_000, lambda: add(NARROW, NARROW, alpha=300)),
    "alpha of objects": (TypeError, 50_000, lambda: add(OBJECTS, X[:2], alpha=3)),
}


def failing_call():
    with np.errstate(over="call", call=fail_to_handle):
        add(TOP, TOP)


def in_vain(error, call):
    def attempt():
        try:
            call()
        except error:
            return
        raise AssertionError("the call went through")

    return attempt


CASES |= {f"refused, {name}": (n, in_vain(e, call)) for name, (e, n, call) in REFUSED.items()}

# Whatever a call could forget to give back: operands, dtypes, classes, singletons.
WATCHED = {name: thing for name, thing in globals().items() if name.isupper()}
WATCHED |= {f"dtype {code}": np.dtype(code) for code in "?bBhHiIlLqQefdgFDGO"}
WATCHED |= {f"class {c.__name__}": c for c in (np.ndarray, np.float32, np.float64, tuple, dict)}
WATCHED |= {"None": None, "True": True, "False": False, "add": add, "np.add": np.add}


def resident() -> int:
    """Bytes of resident memory; where /proc is missing, their peak, which a leak raises, too."""
    statm = pathlib.Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def state():
    gc.collect()
    counts = {name: sys.getrefcount(thing) for name, thing in WATCHED.items()}
    return counts, sys.getallocatedblocks(), resident()


def call_often(call, times):
    for _ in repeat(None, times):
        call()


def leaks_of(name) -> list[str]:
    """Sentences, one for each thing that grew or shrank while the case was called."""
    times, call = CASES[name]
    call_often(call, times // 10)  # fills whatever cache there is
    state()
    before, blocks_before, bytes_before = state()
    call_often(call, times)
    after, blocks, size = state()
    moved = {thing: after[thing] - before[thing] for thing in before}
    found = [f"{more:+} references to {thing}" for thing, more in moved.items()
             if abs(more) > REFERENCES_ALLOWED]  # fmt: skip
    if blocks - blocks_before > BLOCKS_ALLOWED:
        found.append(f"{blocks - blocks_before} more blocks of memory")
    if size - bytes_before > BYTES_ALLOWED:
        found.append(f"{size - bytes_before} more bytes resident")
    return [f"{name}, {times} calls: {sentence}" for sentence in found]


def main(names):
    warnings.simplefilter("error")
    with np.errstate(over="raise"):
        found = [sentence for name in names or CASES for sentence in leaks_of(name)]
    print(*found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
