"""Paths that calls are made to take, to compare one with another."""
from contextvars import ContextVar

cdef object forced_path = ContextVar("tensoriter_forced_path", default="")
cdef int forcing = 0


cdef class force_path:
    """force_path(path): a context manager in which calls take that path, or a longer one.

    `path` is 'strided' (the general set-up even where the fast one would do) or 'numpy' (every call is
    handed over). It holds for the current thread or task, as contextvars do, and may be nested.
    ValueError for any other path.

    >>> import numpy as np, tensoriter
    >>> with tensoriter.force_path("strided"):
    ...     tensoriter.explain(np.ones(3), np.ones(3)).path
    'strided'
    """
    cdef object path
    cdef list tokens

    def __init__(self, path):
        if path not in ("strided", "numpy"):
            raise ValueError(f"force_path takes 'strided' or 'numpy', not {path!r}")
        self.path = path
        self.tokens = []

    def __enter__(self):
        global forcing
        self.tokens.append(forced_path.set(self.path))
        forcing += 1
        return self

    def __exit__(self, *exception):
        global forcing
        forcing -= 1
        forced_path.reset(self.tokens.pop())


cdef bint is_forced(str path) except -1:
    """Whether calls in this context have to take that path, or a longer one."""
    return forcing > 0 and forced_path.get() in (path, "numpy")
