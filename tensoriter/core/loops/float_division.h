/* floor_divide, remainder and fmod of float32 and float64.

   The C library's fmod, which NumPy's loops call, takes 10 ns an element, since a quotient may have hundreds
   of bits. Those of everyday operands have few: where all of a BLOCK do, and none is infinite, NaN, 0 as a
   divisor or so large or small that a flag could be raised, fmod is computed in vectors, exactly, as
   a - trunc(a / b) * b. What NumPy makes of fmod follows operation by operation, so that the bits are its
   own.

   Nothing branches: choices are made among integers, by masks, as those between results of floating-point
   operations would not be vectorised. Other blocks go element by element through the C library. */

/* The bits of a number, and back. */
#define BITS_OF_FLOATS(NAME, FLOAT, UNSIGNED)                                                      \
    ISA_TARGET static inline UNSIGNED bits_of_##NAME(FLOAT x)                                      \
    {                                                                                              \
        UNSIGNED bits;                                                                             \
        memcpy(&bits, &x, sizeof(bits));                                                           \
        return bits;                                                                               \
    }                                                                                              \
    ISA_TARGET static inline FLOAT NAME##_of_bits(UNSIGNED bits)                                   \
    {                                                                                              \
        FLOAT x;                                                                                   \
        memcpy(&x, &bits, sizeof(x));                                                              \
        return x;                                                                                  \
    }                                                                                              \
    ISA_TARGET static inline FLOAT NAME##_if(UNSIGNED mask, FLOAT x)                               \
    {                                                                                              \
        return NAME##_of_bits(bits_of_##NAME(x) & mask);                                           \
    }
BITS_OF_FLOATS(float32, float, npy_uint32)
BITS_OF_FLOATS(float64, double, npy_uint64)

/* Whether a quotient is one of those: its exponent below LIMIT, and the operands' within REACH of 1's. */
#define IS_EASY(NAME, FLOAT, UNSIGNED, SIGNED, FRACTION, BIAS, REACH, LIMIT)                       \
    ISA_TARGET static inline UNSIGNED is_easy_##NAME(FLOAT x, FLOAT y)                             \
    {                                                                                              \
        const SIGNED magnitude = (SIGNED)(bits_of_##NAME(x) << 1 >> 1);                            \
        const SIGNED a = (SIGNED)(bits_of_##NAME(x) << 1 >> (FRACTION + 1));                       \
        const SIGNED b = (SIGNED)(bits_of_##NAME(y) << 1 >> (FRACTION + 1));                       \
        return (UNSIGNED)((magnitude == 0) | ((a >= BIAS - REACH) & (a <= BIAS + REACH))) &        \
               (UNSIGNED)((b >= BIAS - REACH) & (b <= BIAS + REACH) & (a - b < LIMIT));            \
    }
IS_EASY(float32, float, npy_uint32, npy_int32, 23, 127, 60, 26)
IS_EASY(float64, double, npy_uint64, npy_int64, 52, 1023, 400, 24)

/* With 53 bits the quotient of two float32 below 2**28 is on the same side of a whole number as the true one:
   their distance, if any, is at least 2**-24 of the divisor. The product has at most 52 bits. */
ISA_TARGET static inline float easy_rest_float32(float a, float b)
{
    const double whole = (double)(npy_int32)((double)a / (double)b);
    return (float)((double)a - whole * (double)b);
}

/* The divisor's halves of 26 and 27 bits times a quotient of 25 fit, and both differences are exact. A
   quotient just below a whole number may have been rounded to it: the remainder then has the wrong sign. */
ISA_TARGET static inline double easy_rest_float64(double a, double b)
{
    const double whole = (double)(npy_int32)(a / b);
    const double upper = float64_of_bits(bits_of_float64(b) & ~(npy_uint64)0x7ffffff), lower = b - upper;
    const double rest = (a - whole * upper) - whole * lower;
    const npy_uint64 top = 0x8000000000000000u, sign = bits_of_float64(a) & top;
    const npy_uint64 wrong = (npy_uint64)0 - (npy_uint64)((((bits_of_float64(rest) ^ sign) & top) != 0) &
                                                          (bits_of_float64(rest) << 1 != 0));
    return rest + float64_if(wrong, float64_of_bits((bits_of_float64(b) & ~top) | sign));
}

#define EASY_DIVISION(NAME, FLOAT, UNSIGNED, TOP)                                                  \
    /* A 0 has the sign of a. */                                                                   \
    ISA_TARGET static inline FLOAT easy_fmod_##NAME(FLOAT a, FLOAT b)                              \
    {                                                                                              \
        return NAME##_of_bits((bits_of_##NAME(easy_rest_##NAME(a, b)) & ~TOP) | (bits_of_##NAME(a) & TOP));\
    }                                                                                              \
    /* All bits where fmod's result m has not the sign of b, and is not 0. */                      \
    ISA_TARGET static inline UNSIGNED turns_##NAME(UNSIGNED m, UNSIGNED b)                         \
    {                                                                                              \
        return (UNSIGNED)0 - (UNSIGNED)((((m ^ b) & TOP) != 0) & ((m & ~TOP) != 0));               \
    }                                                                                              \
    ISA_TARGET static inline FLOAT easy_remainder_##NAME(FLOAT a, FLOAT b)                         \
    {                                                                                              \
        const UNSIGNED m = bits_of_##NAME(easy_fmod_##NAME(a, b)), y = bits_of_##NAME(b);          \
        const UNSIGNED is_zero = (UNSIGNED)0 - (UNSIGNED)((m & ~TOP) == 0);                        \
        const FLOAT turned = NAME##_of_bits(m) + NAME##_if(turns_##NAME(m, y), b);                 \
        return NAME##_of_bits((bits_of_##NAME(turned) & ~is_zero) | (y & TOP & is_zero));          \
    }                                                                                              \
    ISA_TARGET static inline FLOAT easy_floor_divide_##NAME(FLOAT a, FLOAT b)                      \
    {                                                                                              \
        const FLOAT m = easy_fmod_##NAME(a, b), one = 1;                                           \
        const UNSIGNED turns = turns_##NAME(bits_of_##NAME(m), bits_of_##NAME(b));                 \
        const FLOAT quotient = (a - m) / b - NAME##_if(turns, one);                                \
        const FLOAT whole = (FLOAT)(npy_int32)quotient;                                            \
        const FLOAT below = whole - NAME##_if((UNSIGNED)0 - (UNSIGNED)(whole > quotient), one);    \
        const FLOAT nearest =                                                                      \
            below + NAME##_if((UNSIGNED)0 - (UNSIGNED)(quotient - below > (FLOAT)0.5), one);       \
        const UNSIGNED is_zero = (UNSIGNED)0 - (UNSIGNED)(quotient == 0);                          \
        const UNSIGNED sign = (bits_of_##NAME(a) ^ bits_of_##NAME(b)) & TOP;                       \
        return NAME##_of_bits((bits_of_##NAME(nearest) & ~is_zero) | (sign & is_zero));            \
    }
EASY_DIVISION(float32, float, npy_uint32, (npy_uint32)0x80000000u)
EASY_DIVISION(float64, double, npy_uint64, (npy_uint64)0x8000000000000000u)

/* What NumPy computes, in its order, and nothing besides: flags tell of it. (Of its divmod only what the
   result needs is left by its compiler, so that a remainder has no flags of a quotient.) */
#define HARD_DIVISION(NAME, FLOAT, FMOD, FLOOR, COPYSIGN)                                          \
    static FLOAT hard_fmod_##NAME(FLOAT a, FLOAT b) { return FMOD(a, b); }                         \
    static FLOAT hard_remainder_##NAME(FLOAT a, FLOAT b)                                           \
    {                                                                                              \
        const FLOAT rest = FMOD(a, b);                                                             \
        if (b == 0) {                                                                              \
            return rest;                                                                           \
        }                                                                                          \
        if (rest == 0) {                                                                           \
            return COPYSIGN((FLOAT)0, b);                                                          \
        }                                                                                          \
        return isless(b, (FLOAT)0) != isless(rest, (FLOAT)0) ? rest + b : rest;                    \
    }                                                                                              \
    static FLOAT hard_floor_divide_##NAME(FLOAT a, FLOAT b)                                        \
    {                                                                                              \
        if (b == 0) {                                                                              \
            return a / b;                                                                          \
        }                                                                                          \
        const FLOAT rest = FMOD(a, b);                                                             \
        FLOAT quotient = (a - rest) / b;                                                           \
        if (rest != 0 && isless(b, (FLOAT)0) != isless(rest, (FLOAT)0)) {                          \
            quotient -= 1;                                                                         \
        }                                                                                          \
        if (quotient == 0) {                                                                       \
            return COPYSIGN((FLOAT)0, a / b);                                                      \
        }                                                                                          \
        const FLOAT whole = FLOOR(quotient);                                                       \
        return isgreater(quotient - whole, (FLOAT)0.5) ? whole + 1 : whole;                        \
    }
HARD_DIVISION(float32, float, fmodf, floorf, copysignf)
HARD_DIVISION(float64, double, fmod, floor, copysign)

#define DIVISION_LOOP(OP, NAME, FLOAT, SIZE)                                                       \
    ISA_TARGET static void OP##_##NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,\
                                       void *data)                                                 \
    {                                                                                              \
        FLOAT a[DIVISION_BLOCK], b[DIVISION_BLOCK], result[DIVISION_BLOCK];                        \
        for (npy_intp first = 0; first < dimensions[0]; first += DIVISION_BLOCK) {                 \
            READ_DIVISION_BLOCK(SIZE)                                                              \
            int easy = 1;                                                                          \
            for (int k = 0; k < whole; k++) {                                                      \
                easy &= (int)is_easy_##NAME(a[k], b[k]);                                           \
            }                                                                                      \
            if (easy) {                                                                            \
                for (int k = 0; k < whole; k++) {                                                  \
                    result[k] = easy_##OP##_##NAME(a[k], b[k]);                                    \
                }                                                                                  \
            }                                                                                      \
            else {                                                                                 \
                for (int k = 0; k < count; k++) {                                                  \
                    result[k] = hard_##OP##_##NAME(a[k], b[k]);                                    \
                }                                                                                  \
            }                                                                                      \
            WRITE_DIVISION_BLOCK(SIZE)                                                             \
        }                                                                                          \
    }
#define DIVISION_LOOPS(OP)                                                                         \
    DIVISION_LOOP(OP, float32, float, 4)                                                           \
    DIVISION_LOOP(OP, float64, double, 8)
DIVISION_LOOPS(floor_divide)
DIVISION_LOOPS(remainder)
DIVISION_LOOPS(fmod)
