"""tensoriter: NumPy's element-wise operators without the operator overhead.

>>> import numpy as np, tensoriter
>>> tensoriter.add(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
array([4., 6.])
"""

import os as _os

from tensoriter.core.checked import checked
from tensoriter.core.freelist import free_list
from tensoriter.core.iterator import TensorIterator
from tensoriter.core.op import Op
from tensoriter.core.paths import force_path
from tensoriter.core.threads import num_threads, set_num_threads, threads
from tensoriter.explain import Explanation, explain, info
from tensoriter.headers import get_include
from tensoriter.operators import operators
from tensoriter.ops import *  # noqa: F403
from tensoriter.ops import __all__ as _op_names

__version__ = "0.1.0"
__all__ = [
    "Explanation", "Op", "TensorIterator", "checked", "explain", "force_path", "free_list", "get_include",
    "info", "num_threads", "operators", "profiler", "set_num_threads", "threads", *_op_names,
]


def __getattr__(name: str) -> object:
    """The profiler is imported when it is first asked for."""
    if name == "profiler":
        from importlib import import_module

        return import_module("tensoriter.profiler")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if _os.environ.get("TENSORITER_PROFILE"):
    from tensoriter.profiler.session import start_as_environment_says as _start

    _start()
