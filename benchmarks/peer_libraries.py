"""How each peer makes the call of a case, on one thread.

A peer is a maker of loops: None says that it has no such call. Whether it answers as np.add does is
asked of the loop itself (see `peers.why_absent`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.cases import Case, Loop, Operands, calling, numpy_loop, torch_loop
from tensoriter.timing import own_code

MakeLoop = Callable[[Case, Operands], Loop | None]


def numexpr_loop(_: Case, operands: Operands) -> Loop:
    """numexpr's virtual machine, the expression compiled before."""
    import numexpr
    from numexpr.necompiler import getType

    numexpr.set_num_threads(1)
    types = [("x1", getType(operands.x1)), ("x2", getType(operands.x2))]
    add = partial(numexpr.NumExpr("x1 + x2", types), ex_uses_vml=False, casting="same_kind")
    return calling(add, operands)


@cache
def numba_adds() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compiled adds, the first into a fresh array, the second into a given one.

    With njit: the ufuncs that numba.vectorize makes go through NumPy's machinery and are slower.
    """
    import numba

    def add(x1, x2):
        return x1 + x2

    def add_into(x1, x2, out):
        np.add(x1, x2, out)
        return out

    return numba.njit(add), numba.njit(add_into)


def numba_loop(_: Case, operands: Operands) -> Loop:
    """A function compiled by numba."""
    add, add_into = numba_adds()
    return calling(add if operands.out is None else add_into, operands)


def mkl_umath_loop(_: Case, operands: Operands) -> Loop:
    """mkl_umath's own ufunc. NumPy's is left as it is."""
    os.environ.setdefault("MKL_NUM_THREADS", "1")
    import mkl_umath

    return calling(mkl_umath.add, operands)


def jax_loop(_: Case, operands: Operands) -> Loop | None:
    """jax's compiled add; only fresh outputs and contiguous arrays, for it has no other."""
    arrays = operands.x1, operands.x2
    if operands.out is not None:
        return None
    if not all(array.flags.c_contiguous and array.dtype.isnative for array in arrays):
        return None
    os.environ.setdefault("NPROC", "1")  # XLA's number of threads; it is read once, at the start
    import jax

    jax.config.update("jax_enable_x64", True)
    return partial(own_code(repeat_jax), jax.jit(jax.numpy.add), *map(jax.numpy.asarray, arrays))


def repeat_jax(add: Callable[..., Any], x1: Any, x2: Any, steps: int) -> Any:
    """Calls of which each is finished before the next."""
    output = None
    for _ in range(steps):
        output = add(x1, x2).block_until_ready()
    return output


PEERS: dict[str, MakeLoop] = {
    "numpy": numpy_loop,
    "torch": torch_loop,
    "numexpr": numexpr_loop,
    "numba": numba_loop,
    "mkl_umath": mkl_umath_loop,
    "jax": jax_loop,
}
RIVALS = ("numpy", "torch", "numexpr", "numba", "mkl_umath")
"""The peers of which the best shall not be faster. jax only stands beside: it has no given outputs."""


def installed_peers() -> dict[str, str]:
    """The versions of the peers that are here."""
    return {name: version(name) for name in PEERS if find_spec(name)}
