/* Checked loops: integers as in the unchecked loops, and a note where a result does not fit its type.

   `data` points at an int, which becomes 1 if any element overflowed; which one it was is found out
   afterwards. Nothing branches on values, so that the loops are vectorised: what each element LOST is
   collected by or, and looked at once, at the end of the run.

   All is computed unsigned, as overflow of signed integers is undefined in C. */

/* Several threads may say so at once, and all say the same. */
static inline void note_overflow(void *data)
{
#if defined(__GNUC__)
    __atomic_store_n((int *)data, 1, __ATOMIC_RELAXED);
#else
    *(volatile int *)data = 1;
#endif
}

/* RESULT of a and b, and LOST, which has a bit of MASK set exactly where the result r is not the true one. */
#define CHECKED_BINARY(NAME, UNSIGNED, RESULT, LOST, MASK)                                         \
    CHECKED_BINARY_BY(UNSIGNED, NAME, UNSIGNED, RESULT, LOST, MASK)
#define CHECKED_UNARY(NAME, UNSIGNED, RESULT, LOST, MASK)                                          \
    CHECKED_UNARY_BY(UNSIGNED, NAME, UNSIGNED, RESULT, LOST, MASK)

/* The same, with what is LOST collected in another type. */
#define CHECKED_BINARY_BY(COLLECTED, NAME, UNSIGNED, RESULT, LOST, MASK)                           \
    PLAIN_BINARY_LOOP(NAME, UNSIGNED, UNSIGNED, COLLECTED lost = 0; UNSIGNED r,                    \
                      (r = (UNSIGNED)(RESULT), lost |= (COLLECTED)(LOST), r),                      \
                      if (lost & (MASK)) note_overflow(data))
#define CHECKED_UNARY_BY(COLLECTED, NAME, UNSIGNED, RESULT, LOST, MASK)                            \
    UNARY_LOOP_WITH(NAME, UNSIGNED, UNSIGNED, COLLECTED lost = 0; UNSIGNED r,                      \
                    (r = (UNSIGNED)(RESULT), lost |= (COLLECTED)(LOST), r),                        \
                    if (lost & (MASK)) note_overflow(data))

#define BITS_OF(TYPE) (8 * sizeof(TYPE))
#define IS_SIGNED(CTYPE) ((CTYPE)-1 < (CTYPE)1)
#define TOP_BIT(UNSIGNED) ((UNSIGNED)((UNSIGNED)1 << (BITS_OF(UNSIGNED) - 1)))
#define ALL_BITS(UNSIGNED) ((UNSIGNED)-1)

/* ---------------------------------------------------------------- sums, differences, signs */

/* A sum is lost where both operands have the sign that it has not; a difference where the first operand's
   sign is neither the second's nor the result's. Without signs: the carry, and the borrow. */
#define CHECKED_SIGNED(NAME, UNSIGNED)                                                             \
    CHECKED_BINARY(add_checked_##NAME, UNSIGNED, 1u * a + b, (a ^ r) & (b ^ r), TOP_BIT(UNSIGNED)) \
    CHECKED_BINARY(subtract_checked_##NAME, UNSIGNED, 1u * a - b, (a ^ b) & (a ^ r), TOP_BIT(UNSIGNED))\
    CHECKED_UNARY(negative_checked_##NAME, UNSIGNED, 0u - a, a & r, TOP_BIT(UNSIGNED))             \
    CHECKED_UNARY(absolute_checked_##NAME, UNSIGNED, a & TOP_BIT(UNSIGNED) ? 0u - a : 1u * a, r,   \
                  TOP_BIT(UNSIGNED))
#define CHECKED_UNSIGNED(NAME, UNSIGNED)                                                           \
    CHECKED_BINARY(add_checked_##NAME, UNSIGNED, 1u * a + b, (a & b) | ((a | b) & ~r), TOP_BIT(UNSIGNED))\
    CHECKED_BINARY(subtract_checked_##NAME, UNSIGNED, 1u * a - b, (~a & b) | (~(a ^ b) & r), TOP_BIT(UNSIGNED))\
    CHECKED_UNARY(negative_checked_##NAME, UNSIGNED, 0u - a, a, ALL_BITS(UNSIGNED))

CHECKED_SIGNED(int8, npy_uint8)
CHECKED_SIGNED(int16, npy_uint16)
CHECKED_SIGNED(int32, npy_uint32)
CHECKED_SIGNED(int64, npy_uint64)
CHECKED_UNSIGNED(uint8, npy_uint8)
CHECKED_UNSIGNED(uint16, npy_uint16)
CHECKED_UNSIGNED(uint32, npy_uint32)
CHECKED_UNSIGNED(uint64, npy_uint64)

/* ---------------------------------------------------------------- products */

/* Up to 16 bits: of the exact product, in twice the width, the upper half has to repeat the lower one's sign,
   or, without signs, to be 0. (The vectoriser makes more of this than of a comparison.) */
#define PRODUCT_OF_SIGNED(NAME, CTYPE, UNSIGNED, WIDE, UNSIGNED_WIDE)                              \
    static inline UNSIGNED lost_of_product_##NAME(UNSIGNED a, UNSIGNED b)                          \
    {                                                                                              \
        const WIDE exact = (WIDE)((WIDE)(CTYPE)a * (WIDE)(CTYPE)b);                                \
        return (UNSIGNED)((UNSIGNED)((UNSIGNED_WIDE)exact >> BITS_OF(CTYPE)) ^                     \
                          (UNSIGNED)((CTYPE)exact >> (BITS_OF(CTYPE) - 1)));                       \
    }
PRODUCT_OF_SIGNED(int8, npy_int8, npy_uint8, npy_int16, npy_uint16)
PRODUCT_OF_SIGNED(int16, npy_int16, npy_uint16, npy_int32, npy_uint32)

#define PRODUCT_OF_UNSIGNED(NAME, UNSIGNED, WIDE)                                                  \
    static inline UNSIGNED lost_of_product_##NAME(UNSIGNED a, UNSIGNED b)                          \
    {                                                                                              \
        return (UNSIGNED)((WIDE)((WIDE)a * (WIDE)b) >> BITS_OF(UNSIGNED));                         \
    }
PRODUCT_OF_UNSIGNED(uint8, npy_uint8, npy_uint16)
PRODUCT_OF_UNSIGNED(uint16, npy_uint16, npy_uint32)

#if defined(__GNUC__)
static inline npy_uint64 lost_of_product_int64(npy_uint64 a, npy_uint64 b)
{
    npy_int64 product;
    return __builtin_mul_overflow((npy_int64)a, (npy_int64)b, &product);
}
static inline npy_uint64 lost_of_product_uint64(npy_uint64 a, npy_uint64 b)
{
    npy_uint64 product;
    return __builtin_mul_overflow(a, b, &product);
}
#else
static inline npy_uint64 lost_of_product_uint64(npy_uint64 a, npy_uint64 b)
{
    return a != 0 && (a * b) / a != b;
}
/* By the magnitudes: the lowest number has one more than the highest. */
static inline npy_uint64 lost_of_product_int64(npy_uint64 a, npy_uint64 b)
{
    const npy_uint64 top = TOP_BIT(npy_uint64);
    const npy_uint64 x = a & top ? 0u - a : a, y = b & top ? 0u - b : b;
    return lost_of_product_uint64(x, y) || x * y > top - (((a ^ b) & top) == 0);
}
#endif

#define CHECKED_PRODUCTS(NAME, UNSIGNED)                                                           \
    CHECKED_BINARY(multiply_checked_##NAME, UNSIGNED, 1u * a * b, lost_of_product_##NAME(a, b),    \
                   ALL_BITS(UNSIGNED))                                                             \
    CHECKED_UNARY(square_checked_##NAME, UNSIGNED, 1u * a * a, lost_of_product_##NAME(a, a),       \
                  ALL_BITS(UNSIGNED))
CHECKED_PRODUCTS(int8, npy_uint8)
CHECKED_PRODUCTS(uint8, npy_uint8)
CHECKED_PRODUCTS(int16, npy_uint16)
CHECKED_PRODUCTS(uint16, npy_uint16)
CHECKED_PRODUCTS(int64, npy_uint64)
CHECKED_PRODUCTS(uint64, npy_uint64)

/* 32 bits: the upper half is looked at where it is, after numbers with a sign were moved up. */
#define UPPER_HALF 0xffffffff00000000u
#define PRODUCT_OF_INT32(a, b) ((npy_uint64)((npy_int64)(npy_int32)(a) * (npy_int32)(b)))
#define PRODUCT_OF_UINT32(a, b) ((npy_uint64)(a) * (b))
CHECKED_BINARY_BY(npy_uint64, multiply_checked_int32, npy_uint32, PRODUCT_OF_INT32(a, b),
                  PRODUCT_OF_INT32(a, b) + 0x80000000u, UPPER_HALF)
CHECKED_UNARY_BY(npy_uint64, square_checked_int32, npy_uint32, PRODUCT_OF_INT32(a, a),
                 PRODUCT_OF_INT32(a, a) + 0x80000000u, UPPER_HALF)
CHECKED_BINARY_BY(npy_uint64, multiply_checked_uint32, npy_uint32, PRODUCT_OF_UINT32(a, b),
                  PRODUCT_OF_UINT32(a, b), UPPER_HALF)
CHECKED_UNARY_BY(npy_uint64, square_checked_uint32, npy_uint32, PRODUCT_OF_UINT32(a, a),
                 PRODUCT_OF_UINT32(a, a), UPPER_HALF)

/* ---------------------------------------------------------------- shifts */

/* By how many bits, and what is left of a: NumPy's answers for counts past the width. A count below 0 is
   past it, too, when it is read without its sign. */
#define IN_WIDTH(UNSIGNED) (b < BITS_OF(UNSIGNED))
#define COUNT(UNSIGNED) (b & (BITS_OF(UNSIGNED) - 1))
#define SHIFTED_LEFT(UNSIGNED) (IN_WIDTH(UNSIGNED) ? 1u * a << COUNT(UNSIGNED) : 0)

/* Left: what shifting back does not bring back is lost; so is the meaning of a count below 0. (Signed numbers
   shift their sign in, in every compiler that builds NumPy.) */
#define CHECKED_LEFT_SHIFT(NAME, TYPE, CTYPE, UNSIGNED)                                            \
    CHECKED_BINARY(left_shift_checked_##NAME, UNSIGNED, SHIFTED_LEFT(UNSIGNED),                    \
                   (a ^ (UNSIGNED)((CTYPE)r >> COUNT(UNSIGNED))) |                                 \
                       (IS_SIGNED(CTYPE) && b & TOP_BIT(UNSIGNED)),                                \
                   ALL_BITS(UNSIGNED))
FOR_EACH_INTEGER(CHECKED_LEFT_SHIFT)

/* Right: floor(a / 2**b) always fits; without a sign there is nothing to check. */
#define CHECKED_RIGHT_SHIFT(NAME, CTYPE, UNSIGNED)                                                 \
    CHECKED_BINARY(right_shift_checked_##NAME, UNSIGNED,                                           \
                   (CTYPE)a >> (IN_WIDTH(UNSIGNED) ? b : BITS_OF(UNSIGNED) - 1), b, TOP_BIT(UNSIGNED))
CHECKED_RIGHT_SHIFT(int8, npy_int8, npy_uint8)
CHECKED_RIGHT_SHIFT(int16, npy_int16, npy_uint16)
CHECKED_RIGHT_SHIFT(int32, npy_int32, npy_uint32)
CHECKED_RIGHT_SHIFT(int64, npy_int64, npy_uint64)

/* ---------------------------------------------------------------- the table */

#define CHECKED_ENTRY(OP, NAME, TYPE) {#OP, TYPE, TYPE, OP##_checked_##NAME},
#define CHECKED_ENTRIES(NAME, TYPE, CTYPE, UNSIGNED)                                               \
    CHECKED_ENTRY(add, NAME, TYPE) CHECKED_ENTRY(subtract, NAME, TYPE) CHECKED_ENTRY(multiply, NAME, TYPE)\
    CHECKED_ENTRY(square, NAME, TYPE) CHECKED_ENTRY(negative, NAME, TYPE)                          \
    CHECKED_ENTRY(left_shift, NAME, TYPE)
#define CHECKED_ENTRIES_OF_SIGNED(NAME, TYPE)                                                      \
    CHECKED_ENTRY(absolute, NAME, TYPE) CHECKED_ENTRY(right_shift, NAME, TYPE)

static const loop_entry checked_loops[] = {
    FOR_EACH_INTEGER(CHECKED_ENTRIES)
    CHECKED_ENTRIES_OF_SIGNED(int8, INT8) CHECKED_ENTRIES_OF_SIGNED(int16, INT16)
    CHECKED_ENTRIES_OF_SIGNED(int32, INT32) CHECKED_ENTRIES_OF_SIGNED(int64, INT64)
    {NULL, BOOL, BOOL, NULL},
};
