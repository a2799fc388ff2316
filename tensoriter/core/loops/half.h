/* float16 in software: exact to read, rounded to nearest even to write, with the floating-point
   flags that the hardware's own conversion raises. Used where the CPU has no such conversion, and
   for what that cannot do in one rounding (float64 to float16). */
#ifndef TENSORITER_HALF_H
#define TENSORITER_HALF_H

#include <stdint.h>
#include <string.h>

/* The flags are raised by arithmetic that has them, in the unit that computes float32: C's
   feraiseexcept may set those of another (x87) instead. */
static inline void half_raise_overflow(void)
{
    volatile float large = 0x1p127f;
    large = large * large;
}

static inline void half_raise_underflow(void)
{
    volatile float small = 0x1p-126f;
    small = small * small;
}

static inline float half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    uint32_t bits;
    if (magnitude >= 0x7c00u) { /* infinity or NaN: all exponent bits set, payload moved up */
        bits = 0x7f800000u | ((magnitude & 0x3ffu) << 13);
    }
    else if (magnitude >= 0x0400u) { /* normal: the exponent's bias goes from 15 to 127 */
        bits = (magnitude << 13) + ((127u - 15u) << 23);
    }
    else { /* zero or subnormal: a multiple of 2**-24, exact in float32 */
        const float value = (float)magnitude * 0x1p-24f;
        memcpy(&bits, &value, sizeof(bits));
    }
    bits |= sign;
    float result;
    memcpy(&result, &bits, sizeof(result));
    return result;
}

/* Not by way of float32: that would raise the invalid flag for a signalling NaN, which NumPy leaves to
   the arithmetic that follows. */
static inline double half_to_double(uint16_t half)
{
    const uint64_t magnitude = half & 0x7fffu;
    if (magnitude < 0x7c00u) {
        return half_to_float(half);
    }
    const uint64_t bits = (uint64_t)(half & 0x8000u) << 48 | UINT64_C(0x7ff) << 52 |
                          (magnitude & 0x3ffu) << 42;
    double result;
    memcpy(&result, &bits, sizeof(result));
    return result;
}

/* The bits above `shift` of a significand, rounded to nearest even by those below. */
static inline uint64_t half_round_shift(uint64_t significand, int shift)
{
    const uint64_t kept = significand >> shift;
    const uint64_t rest = significand & ((UINT64_C(1) << shift) - 1);
    const uint64_t tie = UINT64_C(1) << (shift - 1);
    return kept + (rest > tie || (rest == tie && (kept & 1)));
}

/* Infinity, or a NaN by the upper bits of its payload: a signalling one stays one, as in NumPy, which leaves
   the invalid flag to the arithmetic that follows. */
static inline uint16_t half_special(uint16_t sign, unsigned payload, int is_nan)
{
    return (uint16_t)(sign | 0x7c00u | (is_nan && payload == 0 ? 1u : payload));
}

static inline uint16_t half_from_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    const uint16_t sign = (uint16_t)((bits >> 48) & 0x8000u);
    const int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 1024) {
        return half_special(sign, (unsigned)(fraction >> 42), fraction != 0);
    }
    if (exponent >= -14) { /* normal; a carry out of the fraction is a larger exponent, as wanted */
        const uint64_t base = (uint64_t)(exponent + 15) << 52 | fraction;
        const uint64_t rounded = exponent > 15 ? 0x7c00u : half_round_shift(base, 42);
        if (rounded >= 0x7c00u) {
            half_raise_overflow();
            return (uint16_t)(sign | 0x7c00u);
        }
        return (uint16_t)(sign | rounded);
    }
    if (exponent < -25) { /* below half of the smallest subnormal */
        if (bits << 1 != 0) {
            half_raise_underflow();
        }
        return sign;
    }
    const uint64_t significand = UINT64_C(1) << 52 | fraction;
    const int shift = 42 - 14 - exponent;
    if (significand & ((UINT64_C(1) << shift) - 1)) {
        half_raise_underflow();
    }
    return (uint16_t)(sign | half_round_shift(significand, shift));
}

/* Every float32 is a float64, so this rounds once; but making a double of a signalling NaN would raise the
   invalid flag. */
static inline uint16_t half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return half_special((uint16_t)((bits >> 16) & 0x8000u), (bits & 0x7fffffu) >> 13, 1);
    }
    return half_from_double(value);
}

#endif
