"""Floating-point flags: cleared before a loop, looked at after it, reported as NumPy's errstate asks."""
from tensoriter.core.array_api cimport PyUFunc_GiveFloatingpointErrors

cdef extern from "fpstatus.h":
    enum:
        FE_ALL_EXCEPT
        FE_OVERFLOW
    int feraiseexcept(int) nogil
    int fp_status(bint extended) noexcept nogil
    void fp_clear(bint extended) noexcept nogil
    ctypedef struct fenv_t:
        pass
    int fegetenv(fenv_t*) noexcept nogil
    void fp_enter(const fenv_t* callers, fenv_t* own) noexcept nogil
    void fp_leave(const fenv_t* own, int* raised, bint extended) noexcept nogil
    void fp_note(int status, int* raised) noexcept nogil
    void fp_raise(int status) noexcept nogil
    int fp_numpy_flags(int status) noexcept nogil
    int fp_from_numpy(int flags) noexcept nogil


cdef inline bint fp_raises(int status, const char* name, bint extended) noexcept:
    """fp_report for callers that clean up first: whether an exception is set."""
    fp_clear(extended)
    return PyUFunc_GiveFloatingpointErrors(name, fp_numpy_flags(status)) < 0


cdef inline int fp_report(int status, const char* name, bint extended) except -1:
    """Warns, raises, calls or logs "... encountered in NAME" as the errstate of this moment says.

    The flags are cleared first, so that what the report runs starts clean, as after NumPy.
    """
    fp_clear(extended)
    return PyUFunc_GiveFloatingpointErrors(name, fp_numpy_flags(status))
