"""Scopes: names that go before the names of what is recorded."""
from contextvars import ContextVar

from libc.stdint cimport uint32_t

from tensoriter.core.hooks cimport name_number

from tensoriter.core.hooks import names

cdef int open_scopes = 0
cdef object scope_variable = ContextVar("tensoriter_profiler_scope", default=None)


cdef class OpenScope:
    """A scope's stay: it holds for whoever sees it in the context, until it is closed."""
    cdef uint32_t number        # of its name, the outer ones' before it
    cdef bint is_open
    cdef OpenScope outer
    cdef object owner


cdef OpenScope innermost_scope():
    """The innermost scope that is still open: one closed elsewhere may stand in a context."""
    cdef OpenScope found = scope_variable.get()
    while found is not None and not found.is_open:
        found = found.outer
    return found


cdef uint32_t current_scope() noexcept:
    cdef OpenScope found = innermost_scope()
    return found.number if found is not None else 0


cdef class scope:
    """scope(name): a context manager in which `name:` goes before the names of what is recorded.

    Scopes nest, and hold for the thread or task that opened them, as contextvars do. A scope that is
    left ends, in whatever order and by whatever thread. TypeError unless the name is a str, ValueError if it
    is empty, RuntimeError where one is left that is not open.

    >>> from tensoriter import profiler
    >>> with profiler.scope("layer1"):      # calls of add are recorded as layer1:add
    ...     pass
    """
    cdef readonly str name
    cdef list opened

    def __init__(self, str name not None):
        if not name:
            raise ValueError("a scope has a name")
        self.name = name
        self.opened = []

    def __enter__(self):
        global open_scopes
        cdef OpenScope stay = OpenScope()
        stay.outer = innermost_scope()
        prefix = f"{names[stay.outer.number]}:" if stay.outer is not None else ""
        stay.number = name_number(prefix + self.name)
        stay.owner = self
        stay.is_open = True
        self.opened.append(stay)
        scope_variable.set(stay)
        open_scopes += 1
        return self

    def __exit__(self, *exception):
        global open_scopes
        cdef OpenScope stay = scope_variable.get()
        while stay is not None and not (stay.is_open and stay.owner is self):
            stay = stay.outer
        if not self.opened:
            raise RuntimeError(f"{self!r} is not open")
        if stay is None:        # left in another context than it was opened in
            stay = self.opened[len(self.opened) - 1]
        self.opened.remove(stay)
        stay.is_open = False
        stay.owner = None
        open_scopes -= 1
        scope_variable.set(innermost_scope())

    def __repr__(self):
        return f"scope({self.name!r})"
