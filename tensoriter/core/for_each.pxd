"""Running a loop over all that an iterator describes."""
from tensoriter.core.iterator cimport Iterator

cdef void for_each(Iterator* it, void* data) noexcept nogil
cdef void for_each_from(Iterator* it, char** pointers, void* data) noexcept nogil
