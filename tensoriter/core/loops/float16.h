/* float16 computes in float32 and rounds each result, as NumPy does. An EXPRESSION holds for a float and
   for a vector of eight: compilers that know __m256 add and multiply it by C's operators.

   What needs no arithmetic (order, sign, kind of number) looks at the 16 bits, which sets no flags. */

#ifdef ISA_HAS_F16C
#define READ_HALF(half) _cvtsh_ss(half)
#define WRITE_HALF(value) _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)
#define READ_HALVES(address) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(address)))
#define WRITE_HALVES(address, vector)                                                              \
    _mm_storeu_si128((__m128i *)(address), _mm256_cvtps_ph(vector, _MM_FROUND_TO_NEAREST_INT))
/* A value rounded to float16, for the ops that round in between. */
ISA_TARGET static inline float round_half(float x) { return READ_HALF(WRITE_HALF(x)); }
ISA_TARGET static inline __m256 round_halves(__m256 x)
{
    return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
ISA_TARGET static inline float root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
ISA_TARGET static inline __m256 roots(__m256 x) { return _mm256_sqrt_ps(x); }
#define ROUND_HALF(x) _Generic((x), float: round_half, __m256: round_halves)(x)
#define ROOT(x) _Generic((x), float: root, __m256: roots)(x)

/* Eight at a time; an operand of step 0 is read once. */
#define HALF_PAIRS(EXPRESSION)                                                                     \
    if (steps[2] == 2 && (steps[0] == 2 || steps[0] == 0) && (steps[1] == 2 || steps[1] == 0) &&   \
        dimensions[0] >= 8) {                                                                      \
        __m256 a = _mm256_set1_ps(READ_HALF(*(npy_uint16 *)args[0]));                              \
        __m256 b = _mm256_set1_ps(READ_HALF(*(npy_uint16 *)args[1]));                              \
        for (; i + 8 <= dimensions[0]; i += 8) {                                                   \
            if (steps[0]) {                                                                        \
                a = READ_HALVES(args[0] + 2 * i);                                                  \
            }                                                                                      \
            if (steps[1]) {                                                                        \
                b = READ_HALVES(args[1] + 2 * i);                                                  \
            }                                                                                      \
            WRITE_HALVES(args[2] + 2 * i, EXPRESSION);                                             \
        }                                                                                          \
    }
#define HALF_SINGLES(EXPRESSION)                                                                   \
    if (steps[1] == 2 && steps[0] == 2) {                                                          \
        for (; i + 8 <= dimensions[0]; i += 8) {                                                   \
            const __m256 a = READ_HALVES(args[0] + 2 * i);                                         \
            WRITE_HALVES(args[1] + 2 * i, EXPRESSION);                                             \
        }                                                                                          \
    }
#else
#define READ_HALF(half) half_to_float(half)
#define WRITE_HALF(value) half_from_float(value)
#define ROUND_HALF(x) READ_HALF(WRITE_HALF(x))
#define ROOT(x) sqrtf(x)
#define HALF_PAIRS(EXPRESSION)
#define HALF_SINGLES(EXPRESSION)
#endif

#define HALF_BINARY(NAME, SETUP, EXPRESSION)                                                       \
    ISA_TARGET static void NAME##_float16(char **args, npy_intp const *dimensions,                 \
                                          npy_intp const *steps, void *data)                       \
    {                                                                                              \
        npy_intp i = 0;                                                                            \
        SETUP;                                                                                     \
        HALF_PAIRS(EXPRESSION)                                                                     \
        for (; i < dimensions[0]; i++) {                                                           \
            const float a = READ_HALF(*(const npy_uint16 *)(args[0] + i * steps[0]));              \
            const float b = READ_HALF(*(const npy_uint16 *)(args[1] + i * steps[1]));              \
            *(npy_uint16 *)(args[2] + i * steps[2]) = WRITE_HALF(EXPRESSION);                      \
        }                                                                                          \
    }
#define HALF_UNARY(NAME, EXPRESSION)                                                               \
    ISA_TARGET static void NAME##_float16(char **args, npy_intp const *dimensions,                 \
                                          npy_intp const *steps, void *data)                       \
    {                                                                                              \
        npy_intp i = 0;                                                                            \
        HALF_SINGLES(EXPRESSION)                                                                   \
        for (; i < dimensions[0]; i++) {                                                           \
            const float a = READ_HALF(*(const npy_uint16 *)(args[0] + i * steps[0]));              \
            *(npy_uint16 *)(args[1] + i * steps[1]) = WRITE_HALF(EXPRESSION);                      \
        }                                                                                          \
    }

HALF_BINARY(add, (void)data, a + b)
HALF_BINARY(add_scaled, const float alpha = READ_HALF(*(npy_uint16 *)data), a + ROUND_HALF(alpha * b))
HALF_BINARY(subtract, (void)data, a - b)
HALF_BINARY(multiply, (void)data, a * b)
HALF_BINARY(divide, (void)data, a / b)
HALF_UNARY(square, a * a)
HALF_UNARY(reciprocal, 1.0f / a)
HALF_UNARY(sqrt, ROOT(a))

#define HALF_MAGNITUDE(half) ((npy_int16)((half) & 0x7fff))
#define HALF_INFINITY 0x7c00
#define HALF_ISNAN(half) (HALF_MAGNITUDE(half) > HALF_INFINITY)
/* A number of the order that the halves have, both zeros alike: the magnitude, negated by the sign. */
#define HALF_SIGN(half) ((npy_int16)(half) >> 15)
#define HALF_ORDER(half) ((npy_int16)((HALF_MAGNITUDE(half) ^ HALF_SIGN(half)) - HALF_SIGN(half)))
#define HALF_BOTH_NUMBERS (!HALF_ISNAN(a) & !HALF_ISNAN(b))
#define HALF_COMPARE(OP, EXPRESSION)                                                               \
    PLAIN_BINARY_LOOP(OP##_float16, npy_uint16, npy_bool, (void)data, EXPRESSION, (void)0)
#define HALF_CHOICE(OP, TAKE_FIRST)                                                                \
    PLAIN_BINARY_LOOP(OP##_float16, npy_uint16, npy_uint16, (void)data, ((TAKE_FIRST) ? a : b), (void)0)
#define HALF_KIND(OP, EXPRESSION) UNARY_LOOP(OP##_float16, npy_uint16, npy_bool, EXPRESSION, (void)0)

HALF_COMPARE(equal, (HALF_ORDER(a) == HALF_ORDER(b)) & HALF_BOTH_NUMBERS)
HALF_COMPARE(not_equal, !((HALF_ORDER(a) == HALF_ORDER(b)) & HALF_BOTH_NUMBERS))
HALF_COMPARE(less, (HALF_ORDER(a) < HALF_ORDER(b)) & HALF_BOTH_NUMBERS)
HALF_COMPARE(less_equal, (HALF_ORDER(a) <= HALF_ORDER(b)) & HALF_BOTH_NUMBERS)
HALF_COMPARE(greater, (HALF_ORDER(a) > HALF_ORDER(b)) & HALF_BOTH_NUMBERS)
HALF_COMPARE(greater_equal, (HALF_ORDER(a) >= HALF_ORDER(b)) & HALF_BOTH_NUMBERS)
/* maximum and minimum hand on the first NaN, fmax and fmin what is none. */
HALF_CHOICE(maximum, HALF_ISNAN(a) | ((HALF_ORDER(a) >= HALF_ORDER(b)) & !HALF_ISNAN(b)))
HALF_CHOICE(minimum, HALF_ISNAN(a) | ((HALF_ORDER(a) <= HALF_ORDER(b)) & !HALF_ISNAN(b)))
HALF_CHOICE(fmax, HALF_ISNAN(b) | ((HALF_ORDER(a) >= HALF_ORDER(b)) & !HALF_ISNAN(a)))
HALF_CHOICE(fmin, HALF_ISNAN(b) | ((HALF_ORDER(a) <= HALF_ORDER(b)) & !HALF_ISNAN(a)))
HALF_COMPARE(logical_and, (HALF_MAGNITUDE(a) != 0) & (HALF_MAGNITUDE(b) != 0))
HALF_COMPARE(logical_or, (HALF_MAGNITUDE(a) != 0) | (HALF_MAGNITUDE(b) != 0))
HALF_COMPARE(logical_xor, (HALF_MAGNITUDE(a) != 0) ^ (HALF_MAGNITUDE(b) != 0))
HALF_KIND(logical_not, HALF_MAGNITUDE(a) == 0)
HALF_KIND(isnan, HALF_ISNAN(a))
HALF_KIND(isinf, HALF_MAGNITUDE(a) == HALF_INFINITY)
HALF_KIND(isfinite, HALF_MAGNITUDE(a) < HALF_INFINITY)
HALF_KIND(signbit, HALF_SIGN(a) != 0)
UNARY_LOOP(negative_float16, npy_uint16, npy_uint16, (npy_uint16)(a ^ 0x8000u), (void)0)
