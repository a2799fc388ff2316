"""Paths that calls are made to take."""

# How many force_path blocks are open, in any thread: calls look at the context only if there are some.
cdef int forcing

cdef bint is_forced(str path) except -1
