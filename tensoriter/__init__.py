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
__all__ = [  # noqa: F405
    "CaptureError", "Explanation", "Op", "TensorIterator", "capture", "checked", "explain", "force_path",
    "free_list", "get_include", "info", "load_plan", "num_threads", "operators", "parallel_ops", "profiler",
    "set_num_threads", "threads", *_op_names,
]

# Imported when they are first asked for, so that who uses none of them does not wait for them.
_LATER = {
    "CaptureError": "tensoriter.graph.trace",
    "capture": "tensoriter.graph.capture",
    "load_plan": "tensoriter.graph.saved",
    "parallel_ops": "tensoriter.graph.passes.parallel",
    "profiler": "tensoriter",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "profiler":
        return import_module("tensoriter.profiler")
    globals()[name] = getattr(import_module(_LATER[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


if _os.environ.get("TENSORITER_PROFILE"):
    from tensoriter.profiler.session import start_as_environment_says as _start

    _start()
