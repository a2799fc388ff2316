"""The machine's own ceiling: a STREAM-like add in C, its buffers reused, with non-temporal stores.

stream_add.c is compiled with the system's C compiler when it is asked for, into a folder that lasts
as long as the run.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tensoriter.timing import at_line_offset

SOURCE = Path(__file__).with_name("stream_add.c")
BYTES_AN_ELEMENT = 3 * 8  # two float64 are read, one is written
NO_COMPILER = "The ceiling needs a C compiler, which is not installed: apt install gcc"

StreamAdd = Callable[..., None]  # (address of a, of b, of c, elements)


class NoCeiling(Exception):
    """It cannot be compiled here; the text says why."""


def find_compiler() -> str | None:
    """The compiler that $CC names, else the system's."""
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        if path := shutil.which(name):
            return path
    return None


def compile_stream_add() -> StreamAdd:
    """The compiled function; `NoCeiling` where there is no compiler that can do it."""
    compiler = find_compiler()
    if compiler is None:
        raise NoCeiling(NO_COMPILER)
    with tempfile.TemporaryDirectory() as folder:  # a loaded library outlives its file
        library = Path(folder) / "stream_add.so"
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoCeiling(f"The ceiling was refused by {compiler}: {done.stderr.strip()}")
        function = ctypes.CDLL(str(library)).stream_add
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t]
    function.restype = None
    return function


def ceiling_loop(stream_add: StreamAdd, nbytes: int) -> Callable[[int], None]:
    """A loop of adds that move as many bytes as a call of the case it is held against."""
    count = nbytes // BYTES_AN_ELEMENT
    buffers = [at_line_offset(np.ones(count), 0) for _ in range(3)]
    return partial(_repeat_stream_add, stream_add, buffers)


def bytes_moved(x1: Any, x2: Any, answer: np.ndarray) -> int:
    """The bytes that one call has to read and write.

    Each stretch of memory counts once, with its gaps, which lie in lines that are fetched all the
    same: A + A.T reads A, and x[::2] all of x.
    """
    bounds = {np.lib.array_utils.byte_bounds(array) for array in (x1, x2, answer)}
    return sum(high - low for low, high in bounds)


def _repeat_stream_add(stream_add: StreamAdd, buffers: list[np.ndarray], steps: int) -> None:
    addresses = [buffer.ctypes.data for buffer in buffers]
    for _ in range(steps):
        stream_add(*addresses, buffers[0].size)
