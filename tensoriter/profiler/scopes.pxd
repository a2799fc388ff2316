"""Scopes: names that go before the names of what is recorded."""
from libc.stdint cimport uint32_t

cdef int open_scopes    # in any thread; while there are none, this is all that is looked at

cdef uint32_t current_scope() noexcept
