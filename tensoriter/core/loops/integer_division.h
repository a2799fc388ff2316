/* floor_divide of integers, the quotient rounded down, and remainder, which has the divisor's sign: a minus
   b times that quotient.

   The quotient comes from floating point, where vectors can divide: a + 1/2 over b lies at least 1/2 over
   b from every whole number, so that with enough bits (float32 for 16-bit integers, float64 for 32-bit
   ones) its floor is that of a / b, exactly, and a constant divisor's reciprocal serves for all elements.

   A quotient or remainder by zero is 0 and sets the flag of a division by zero; the quotient of the lowest
   number and -1 wraps, and sets that of overflow.

   Left to NumPy's loops, which data points at: floor_divide by a constant, where they multiply integers; but
   for 0 and -1, where flags may be raised that they raise elsewhere (see below). */

#define LEAVE_CONSTANT_DIVISOR_TO_NUMPY(CTYPE)                                                     \
    if (steps[1] == 0 && data != NULL && dimensions[0] > 0 &&                                      \
        (npy_uint64)*(const CTYPE *)args[1] + 1 > 1) {                                             \
        run_numpys(args, dimensions, steps, data);                                                 \
        return;                                                                                    \
    }

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

#define REMAINDER(NAME, CTYPE, QUOTIENT)                                                           \
    PLAIN_BINARY_LOOP(remainder_##NAME, CTYPE, CTYPE, CTYPE zero = 0,                              \
                      (zero |= b == 0,                                                             \
                       (CTYPE)((1u * a - 1u * QUOTIENT(a, b) * b) & -(b != 0))),                   \
                      if (zero) { raise_division_by_zero(); })
#define FLOOR_DIVIDE(NAME, CTYPE, QUOTIENT, LOWEST)                                                \
    PLAIN_BINARY_LOOP(floor_divide_##NAME, CTYPE, CTYPE,                                           \
                      LEAVE_CONSTANT_DIVISOR_TO_NUMPY(CTYPE) CTYPE zero = 0; CTYPE over = 0,              \
                      (zero |= b == 0, over |= (LOWEST < 0) & (a == LOWEST) & (b == (CTYPE)-1),    \
                       (CTYPE)(QUOTIENT(a, b) & -(b != 0))),                                       \
                      if (zero) { raise_division_by_zero(); } if (over) { half_raise_overflow(); })
#define INTEGER_DIVISION(NAME, CTYPE, QUOTIENT, LOWEST)                                            \
    REMAINDER(NAME, CTYPE, QUOTIENT)                                                               \
    FLOOR_DIVIDE(NAME, CTYPE, QUOTIENT, LOWEST)
INTEGER_DIVISION(int8, npy_int8, quotient_int16, NPY_MIN_INT8)
INTEGER_DIVISION(uint8, npy_uint8, quotient_uint16, 0)
INTEGER_DIVISION(int16, npy_int16, quotient_int16, NPY_MIN_INT16)
INTEGER_DIVISION(uint16, npy_uint16, quotient_uint16, 0)
INTEGER_DIVISION(int32, npy_int32, quotient_int32, NPY_MIN_INT32)
INTEGER_DIVISION(uint32, npy_uint32, quotient_uint32, 0)

/* Copies n elements of so many bytes from one step to another. */
#define COPY_ELEMENTS(SIZE, UNSIGNED)                                                              \
    static void copy_elements_##SIZE(void *target, npy_intp target_step, const void *source, npy_intp step,\
                                     int n)                                                        \
    {                                                                                              \
        if (step == SIZE && target_step == SIZE) {                                                 \
            memcpy(target, source, (size_t)n * SIZE);                                              \
            return;                                                                                \
        }                                                                                          \
        for (int k = 0; k < n; k++) {                                                              \
            *(UNSIGNED *)((char *)target + k * target_step) =                                      \
                *(const UNSIGNED *)((const char *)source + k * step);                              \
        }                                                                                          \
    }
COPY_ELEMENTS(4, npy_uint32)
COPY_ELEMENTS(8, npy_uint64)

/* Division by blocks works on arrays of its own, which leaves one kind of step to vectorise; a block that is
   not full is filled up to whole vectors with ones, as what is left over after them costs more. */
enum { DIVISION_BLOCK = 64 };
#define READ_DIVISION_BLOCK(SIZE)                                                                  \
    const npy_intp left = dimensions[0] - first;                                                   \
    const int count = (int)(left < DIVISION_BLOCK ? left : DIVISION_BLOCK), whole = (count + 7) & ~7;\
    copy_elements_##SIZE(a, SIZE, args[0] + first * steps[0], steps[0], count);                    \
    copy_elements_##SIZE(b, SIZE, args[1] + first * steps[1], steps[1], count);                    \
    for (int k = count; k < whole; k++) {                                                          \
        a[k] = b[k] = 1;                                                                           \
    }
#define WRITE_DIVISION_BLOCK(SIZE)                                                                 \
    copy_elements_##SIZE(args[2] + first * steps[2], steps[2], result, SIZE, count);

/* 64 bits: most numbers have 32 at most, and then so does all else. A block of them goes that way if each is
   less than 2**31 without its sign and none is a divisor of 0; another, element by element. */
#define WIDE_DIVISION(OP, NAME, CTYPE, NARROW, EASY, HARD)                                         \
    ISA_TARGET static inline npy_int32 easy_##OP##_##NAME(npy_int32 a, npy_int32 b) { return EASY; }\
    ISA_TARGET static void OP##_##NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,\
                                       void *data)                                                 \
    {                                                                                              \
        CTYPE a[DIVISION_BLOCK], b[DIVISION_BLOCK], result[DIVISION_BLOCK];                        \
        int zero = 0, over = 0;                                                                    \
        WIDE_SETUP_##OP(CTYPE)                                                                     \
        for (npy_intp first = 0; first < dimensions[0]; first += DIVISION_BLOCK) {                 \
            READ_DIVISION_BLOCK(8)                                                                 \
            npy_uint64 wide = 0;                                                                   \
            for (int k = 0; k < whole; k++) {                                                      \
                wide |= NARROW((npy_uint64)a[k]) | NARROW((npy_uint64)b[k]);                       \
                wide |= (npy_uint64)(b[k] == 0) << 32;                                             \
            }                                                                                      \
            if (wide >> 32 == 0) {                                                                 \
                for (int k = 0; k < whole; k++) {                                                  \
                    result[k] = (CTYPE)easy_##OP##_##NAME((npy_int32)a[k], (npy_int32)b[k]);       \
                }                                                                                  \
            }                                                                                      \
            else {                                                                                 \
                for (int k = 0; k < count; k++) {                                                  \
                    const CTYPE x = a[k], y = b[k];                                                \
                    zero |= y == 0;                                                                \
                    result[k] = y == 0 ? 0 : HARD;                                                 \
                }                                                                                  \
            }                                                                                      \
            WRITE_DIVISION_BLOCK(8)                                                                \
        }                                                                                          \
        if (zero) {                                                                                \
            raise_division_by_zero();                                                              \
        }                                                                                          \
        if (over) {                                                                                \
            half_raise_overflow();                                                                 \
        }                                                                                          \
    }
#define WIDE_SETUP_remainder(CTYPE)
#define WIDE_SETUP_floor_divide(CTYPE) LEAVE_CONSTANT_DIVISOR_TO_NUMPY(CTYPE)
/* Bits from the 32nd on are set where it is not so. */
#define NARROW_SIGNED(x) ((x) + 0x7fffffffu)
#define NARROW_UNSIGNED(x) ((x) >> 31 << 32)
#define EASY_REMAINDER (npy_int32)(1u * a - 1u * quotient_int32(a, b) * b)
#define ROUNDS_DOWN ((x % y != 0) & ((x < 0) != (y < 0)))
/* By -1 apart: C leaves the lowest number's quotient undefined. */
WIDE_DIVISION(remainder, int64, npy_int64, NARROW_SIGNED, EASY_REMAINDER,
              y == -1 ? 0 : x % y + (ROUNDS_DOWN ? y : 0))
WIDE_DIVISION(floor_divide, int64, npy_int64, NARROW_SIGNED, quotient_int32(a, b),
              y != -1 ? x / y - ROUNDS_DOWN : (over |= x == NPY_MIN_INT64, (npy_int64)(0 - (npy_uint64)x)))
WIDE_DIVISION(remainder, uint64, npy_uint64, NARROW_UNSIGNED, EASY_REMAINDER, x % y)
WIDE_DIVISION(floor_divide, uint64, npy_uint64, NARROW_UNSIGNED, quotient_int32(a, b), x / y)
