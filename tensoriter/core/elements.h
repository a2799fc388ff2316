/* NumPy's type numbers and our element types: constant tables, so that each extension has them at
   hand without a call into another one. */
#ifndef TENSORITER_ELEMENTS_H
#define TENSORITER_ELEMENTS_H

#include "loops/loops.h"

/* Type numbers below this are NumPy's own; NPY_HALF is the highest of ours. */
enum { TYPE_NUMBERS = 24 };

#define ELEMENT_BY_SIZE(size, of8, of4) ((size) == 8 ? (of8) : (of4))

/* The element type, plus one: 0 says "not ours" (object, datetime, string, structured). */
static const unsigned char element_plus_one[TYPE_NUMBERS] = {
    [NPY_BOOL] = BOOL + 1,
    [NPY_BYTE] = INT8 + 1,
    [NPY_UBYTE] = UINT8 + 1,
    [NPY_SHORT] = INT16 + 1,
    [NPY_USHORT] = UINT16 + 1,
    [NPY_INT] = INT32 + 1,
    [NPY_UINT] = UINT32 + 1,
    [NPY_LONG] = ELEMENT_BY_SIZE(NPY_SIZEOF_LONG, INT64, INT32) + 1,
    [NPY_ULONG] = ELEMENT_BY_SIZE(NPY_SIZEOF_LONG, UINT64, UINT32) + 1,
    [NPY_LONGLONG] = INT64 + 1,
    [NPY_ULONGLONG] = UINT64 + 1,
    [NPY_HALF] = FLOAT16 + 1,
    [NPY_FLOAT] = FLOAT32 + 1,
    [NPY_DOUBLE] = FLOAT64 + 1,
    [NPY_LONGDOUBLE] = LONGDOUBLE + 1,
    [NPY_CFLOAT] = COMPLEX64 + 1,
    [NPY_CDOUBLE] = COMPLEX128 + 1,
    [NPY_CLONGDOUBLE] = CLONGDOUBLE + 1,
};

/* The element type of a type number, or -1. */
static inline int element_of(int type_number)
{
    return (unsigned)type_number < TYPE_NUMBERS ? element_plus_one[type_number] - 1 : -1;
}

static const unsigned char element_size[ELEMENT_TYPES] = {
    1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, sizeof(npy_longdouble), 8, 16, 2 * sizeof(npy_longdouble),
};

/* What a change of byte order reverses: a complex element is two units. */
static const unsigned char element_unit[ELEMENT_TYPES] = {
    1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, sizeof(npy_longdouble), 4, 8, sizeof(npy_longdouble),
};

static inline int is_signed_element(int element)
{
    return element == INT8 || element == INT16 || element == INT32 || element == INT64;
}

/* On x86 long double sets the floating-point flags of another unit. */
static inline int is_complex_element(int element)
{
    return element >= COMPLEX64;
}

static inline int is_extended_element(int element)
{
    return element == LONGDOUBLE || element == CLONGDOUBLE;
}

/* Whether an integer is in the range of an integer type. */
static inline int integer_fits(long long value, int element)
{
    const int bits = 8 * element_size[element];
    if (is_signed_element(element)) {
        return bits == 64 || (value >= -(1LL << (bits - 1)) && value < 1LL << (bits - 1));
    }
    return value >= 0 && (bits == 64 || value < 1LL << bits);
}

/* Bools count as integers here: no floating-point flag comes of them. */
static inline int is_integer_element(int element) { return element <= UINT64; }

#endif
