/* The floating-point status of a call.

   Reading the flags costs a few cycles, clearing them 50 to 100 times as much: so they are cleared
   only where one is set. SSE and AVX arithmetic sets flags in MXCSR; long double is computed by the
   x87 unit, which has its own, and only calls that use it pay for looking there. */
#ifndef TENSORITER_FPSTATUS_H
#define TENSORITER_FPSTATUS_H

#include <fenv.h>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/ndarraytypes.h>
#include <numpy/ufuncobject.h>

#define FP_WATCHED (FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID)

/* An empty statement that memory operations may not be moved across: the loop's stores stay between
   the two looks at the flags. */
#if defined(__GNUC__)
#define FP_BARRIER() __asm__ volatile("" ::: "memory")
#else
#define FP_BARRIER() ((void)0)
#endif

/* Which of the watched flags are set, as FE_ bits. */
static inline int fp_status(int extended)
{
    FP_BARRIER();
#if defined(__GNUC__) && defined(__x86_64__)
    if (!extended) { /* MXCSR's low bits are the FE_ bits */
        return (int)__builtin_ia32_stmxcsr() & FP_WATCHED;
    }
#endif
    return fetestexcept(FP_WATCHED);
}

/* Makes the flags speak of what comes next only. */
static inline void fp_clear(int extended)
{
    if (fp_status(extended)) {
        feclearexcept(FP_WATCHED);
    }
    FP_BARRIER();
}

/* A thread that computes a part of another's work does so in that one's floating-point mode, and gives
   back the flags that it raised. */
static inline void fp_enter(const fenv_t *callers, fenv_t *own)
{
    fegetenv(own);
    fesetenv(callers);
    feclearexcept(FE_ALL_EXCEPT);
    FP_BARRIER();
}

static inline void fp_note(int status, int *raised)
{
#if defined(_MSC_VER)
    _InterlockedOr((volatile long *)raised, (long)status);
#else
    __atomic_fetch_or(raised, status, __ATOMIC_RELAXED);
#endif
}

static inline void fp_leave(const fenv_t *own, int *raised, int extended)
{
    const int status = fp_status(extended);
    fesetenv(own);
    fp_note(status, raised);
}

/* Sets flags that other threads have raised. (C's feraiseexcept may set them in the x87 unit alone.) */
static inline void fp_raise(int status)
{
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | (unsigned int)status);
#else
    feraiseexcept(status);
#endif
}

/* NumPy's bits as FE_ ones. */
static inline int fp_from_numpy(int flags)
{
    return (flags & NPY_FPE_DIVIDEBYZERO ? FE_DIVBYZERO : 0) | (flags & NPY_FPE_OVERFLOW ? FE_OVERFLOW : 0) |
           (flags & NPY_FPE_UNDERFLOW ? FE_UNDERFLOW : 0) | (flags & NPY_FPE_INVALID ? FE_INVALID : 0);
}

/* FE_ bits as NumPy's. */
static inline int fp_numpy_flags(int status)
{
    return (status & FE_DIVBYZERO ? NPY_FPE_DIVIDEBYZERO : 0) |
           (status & FE_OVERFLOW ? NPY_FPE_OVERFLOW : 0) |
           (status & FE_UNDERFLOW ? NPY_FPE_UNDERFLOW : 0) |
           (status & FE_INVALID ? NPY_FPE_INVALID : 0);
}

#endif
