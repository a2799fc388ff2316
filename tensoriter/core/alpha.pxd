"""alpha=, the factor of x1 + alpha * x2."""

cdef int set_alpha(object value, int type_number, void* target) except -1
