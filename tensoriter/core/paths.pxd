"""Paths that calls are made to take."""

# How many blocks are open, in any thread, that calls have to look for in their context (force_path's and
# checked's): while there are none, this is all that they look at.
cdef int forcing

cdef bint is_forced(str path) except -1
