"""Where the C headers lie."""

from pathlib import Path


def get_include() -> str:
    """The directory of the headers that `cimport tensoriter` includes, for a compiler's include_dirs.

    It is needed beside `numpy.get_include()`; examples/hypot3/setup.py uses both.

    >>> import os, tensoriter
    >>> os.path.isfile(os.path.join(tensoriter.get_include(), "loops", "loops.h"))
    True
    """
    return str(Path(__file__).parent / "core")
