"""Checked integers: calls that raise OverflowError where a result does not fit, instead of wrapping."""
from tensoriter.core.arguments cimport Arguments
from tensoriter.core.dtypes cimport Loop, LoopTable
from tensoriter.core.iterator cimport Iterator

cdef struct Check:
    Loop loop           # the call's loop, or what notes overflow in its place
    int overflowed      # where it does

cdef bint is_checking() except -1
cdef object begin_asking(value, LoopTable table)
cdef int end_asking(token) except -1
cdef void watch(Check* check, Loop* loop) noexcept
cdef int check_before(Check* check, Iterator* it, Arguments* arguments, op) except -1
cdef int check_after(Check* check, Iterator* it, Arguments* arguments, op) except -1
