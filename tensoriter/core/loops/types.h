/* The C type of each element type, and how a value is read from and written to storage. */
#ifndef TENSORITER_TYPES_H
#define TENSORITER_TYPES_H

#include "loops.h"

typedef struct { float re, im; } complex64;
typedef struct { double re, im; } complex128;
typedef struct { npy_longdouble re, im; } clongdouble;

/* Integers: X(name, element type, C type, the unsigned type whose arithmetic wraps as NumPy's does:
   signed overflow is undefined in C, and small types would widen to int). */
#define FOR_EACH_SIGNED(X)                                                                         \
    X(int8, INT8, npy_int8, npy_uint8)                                                             \
    X(int16, INT16, npy_int16, npy_uint16)                                                         \
    X(int32, INT32, npy_int32, npy_uint32)                                                         \
    X(int64, INT64, npy_int64, npy_uint64)
#define FOR_EACH_UNSIGNED(X)                                                                       \
    X(uint8, UINT8, npy_uint8, npy_uint8)                                                          \
    X(uint16, UINT16, npy_uint16, npy_uint16)                                                      \
    X(uint32, UINT32, npy_uint32, npy_uint32)                                                      \
    X(uint64, UINT64, npy_uint64, npy_uint64)
#define FOR_EACH_INTEGER(X) FOR_EACH_SIGNED(X) FOR_EACH_UNSIGNED(X)

/* Real floating-point types that C computes in. */
#define FOR_EACH_REAL(X)                                                                           \
    X(float32, FLOAT32, float)                                                                     \
    X(float64, FLOAT64, double)                                                                    \
    X(longdouble, LONGDOUBLE, npy_longdouble)

/* Complex types: X(name, element type, C type, type of a part). */
#define FOR_EACH_COMPLEX(X)                                                                        \
    X(complex64, COMPLEX64, complex64, float)                                                      \
    X(complex128, COMPLEX128, complex128, double)                                                  \
    X(clongdouble, CLONGDOUBLE, clongdouble, npy_longdouble)

/* The loops below may be vectorised although their pointers may be equal: see the promise that
   loops.h states (exactly the same or no overlap), which leaves no dependence between elements.
   UNROLLED saves a loop of 100 elements a fifth of its instructions, at four times the code. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define UNROLLED
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLLED _Pragma("GCC unroll 4")
#elif defined(_MSC_VER)
#define INDEPENDENT __pragma(loop(ivdep))
#define UNROLLED
#else
#define INDEPENDENT
#define UNROLLED
#endif

#endif
