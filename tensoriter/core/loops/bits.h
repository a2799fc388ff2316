/* Bitwise ops and shifts: one loop a width, for numbers with and without a sign, but for the right shift.

   A shift by the width or more, or by a count below 0 (which is past the width, too, when it is read without
   its sign), leaves nothing but, to the right, the sign. So NumPy has it; C leaves it undefined. */

BITS_BINARY(bitwise_and, a & b)
BITS_BINARY(bitwise_or, a | b)
BITS_BINARY(bitwise_xor, a ^ b)
BITS_UNARY(invert, ~a)

#define SHIFT_COUNT(b) ((b) & (8 * sizeof(b) - 1))
#define SHIFTS_OUT(b) ((b) >= 8 * sizeof(b))
#define LEFT_SHIFT(BITS, UNSIGNED)                                                                 \
    PLAIN_BINARY_LOOP(left_shift_##BITS, UNSIGNED, UNSIGNED, (void)data,                           \
                      (UNSIGNED)(SHIFTS_OUT(b) ? 0 : (UNSIGNED)(1u * a << SHIFT_COUNT(b))), (void)0)
LEFT_SHIFT(bits8, npy_uint8)
LEFT_SHIFT(bits16, npy_uint16)
LEFT_SHIFT(bits32, npy_uint32)
LEFT_SHIFT(bits64, npy_uint64)

/* Numbers below 0 are inverted before and after, as no vector of 64-bit ones is shifted with its sign. */
#define RIGHT_SHIFT_SIGNED(NAME, TYPE, CTYPE, UNSIGNED)                                            \
    ISA_TARGET static inline UNSIGNED shifted_right_##NAME(UNSIGNED a, UNSIGNED b)                 \
    {                                                                                              \
        const UNSIGNED sign = (CTYPE)a < 0 ? (UNSIGNED)-1 : 0;                                     \
        return sign ^ (SHIFTS_OUT(b) ? 0 : (UNSIGNED)((UNSIGNED)(a ^ sign) >> SHIFT_COUNT(b)));    \
    }                                                                                              \
    PLAIN_BINARY_LOOP(right_shift_##NAME, UNSIGNED, UNSIGNED, (void)data, shifted_right_##NAME(a, b), (void)0)
FOR_EACH_SIGNED(RIGHT_SHIFT_SIGNED)
#define RIGHT_SHIFT_UNSIGNED(NAME, TYPE, CTYPE, UNSIGNED)                                          \
    PLAIN_BINARY_LOOP(right_shift_##NAME, UNSIGNED, UNSIGNED, (void)data,                          \
                      (UNSIGNED)(SHIFTS_OUT(b) ? 0 : a >> SHIFT_COUNT(b)), (void)0)
FOR_EACH_UNSIGNED(RIGHT_SHIFT_UNSIGNED)
