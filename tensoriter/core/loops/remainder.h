/* The remainder of integers, of the divisor's sign: a minus b times the quotient rounded down.

   The quotient comes from floating point, where vectors can divide: a + 1/2 over b lies at least 1/2 over
   b from every whole number, so that with enough bits (float32 for 16-bit integers, float64 for 32-bit
   ones) its floor is that of a / b, exactly, and a constant divisor's reciprocal serves for all elements.

   A remainder by zero is 0 and sets the flag of a division by zero. Left to NumPy's loops: integers of 64
   bits, for which no such bits are left, and of 8, where converting costs more; floor_divide, which is
   faster there for a constant divisor (by multiplying integers); and floating point. */

/* The flag comes from arithmetic: feraiseexcept may set that of another unit. */
static inline void raise_division_by_zero(void)
{
    volatile float zero = 0.0f;
    zero = 1.0f / zero;
}

/* The floor of a / b, where a divisor of 0 counts as 1. Below zero, truncation is one too many. What is
   chosen are integers: a choice between results of floating-point operations would not be vectorised. */
ISA_TARGET static inline npy_int16 quotient_int16(npy_int16 a, npy_int16 b)
{
    const float divisor = (float)(npy_int32)(b | (b == 0));
    const float dividend = (float)(npy_int32)a * copysignf(1.0f, divisor);
    const float quotient = (dividend + 0.5f) * (1.0f / fabsf(divisor));
    return (npy_int16)((npy_int32)quotient - (((a ^ b) < 0) & (a != 0)));
}

ISA_TARGET static inline npy_uint16 quotient_uint16(npy_uint16 a, npy_uint16 b)
{
    const float divisor = (float)(npy_int32)(b | (b == 0));
    return (npy_uint16)(npy_int32)(((float)(npy_int32)a + 0.5f) * (1.0f / divisor));
}

/* 2**31, the quotient of the smallest integer and -1, does not fit: instead, the quotient of the smallest
   but one is computed, and its bits are turned. */
ISA_TARGET static inline npy_int32 quotient_int32(npy_int32 a, npy_int32 b)
{
    const npy_int32 overflows = -((a == NPY_MIN_INT32) & (b == -1));
    const double divisor = (double)(b | (b == 0));
    const double dividend = (double)(a - overflows) * copysign(1.0, divisor);
    const double quotient = (dividend + 0.5) * (1.0 / fabs(divisor));
    return ((npy_int32)quotient - (((a ^ b) < 0) & (a != 0))) ^ overflows;
}

/* Vectors convert signed integers only: operands are moved by 2**31, and a divisor of 1, whose quotient
   might not fit, is treated apart. */
ISA_TARGET static inline npy_uint32 quotient_uint32(npy_uint32 a, npy_uint32 b)
{
    const npy_uint32 small = 0u - (b <= 1);
    const double dividend = (double)(npy_int32)(a ^ 0x80000000u) + 0x1p31;
    const double divisor = (double)(npy_int32)((b | (small & 2)) ^ 0x80000000u) + 0x1p31;
    const npy_uint32 whole = (npy_uint32)(npy_int32)((dividend + 0.5) * (1.0 / divisor));
    return (a & small) | (whole & ~small);
}

#define REMAINDER(NAME, CTYPE)                                                                     \
    PLAIN_BINARY_LOOP(remainder_##NAME, CTYPE, CTYPE, CTYPE zero = 0,                              \
                      (zero |= b == 0,                                                             \
                       (CTYPE)((1u * a - 1u * quotient_##NAME(a, b) * b) & -(b != 0))),            \
                      if (zero) { raise_division_by_zero(); })
REMAINDER(int16, npy_int16)
REMAINDER(uint16, npy_uint16)
REMAINDER(int32, npy_int32)
REMAINDER(uint32, npy_uint32)
