/* Comparisons and truth: the result is a bool.

   As NumPy does, a comparison leaves no floating-point flags: an ordered one sets the invalid flag where
   it meets a NaN, so that flags are cleared at the end.

   Left to NumPy's loops: long double, which spends its time in the x87 unit, and the order of complex
   numbers, where flags stay that tell in which order NumPy compares the parts. */

/* NumPy's own loops (2.4) of isnan, isinf, isfinite and signbit write only a part of the elements of an output
   with gaps (numpy.isnan(x, out=out[::2])). These write all. */

#ifdef ISA_HAS_AVX2
/* Masks of 32 elements become 32 bools. Packing works on halves of a vector: a permutation restores the
   order. (Compilers do it after each packing, which costs NumPy's time again.) */
ISA_TARGET static inline __m256i bools_of_4_masks(const __m256i *m)
{
    const __m256i words0 = _mm256_packs_epi32(m[0], m[1]), words1 = _mm256_packs_epi32(m[2], m[3]);
    const __m256i bytes = _mm256_packs_epi16(words0, words1);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    return _mm256_and_si256(_mm256_permutevar8x32_epi32(bytes, order), _mm256_set1_epi8(1));
}

#define EVEN_LANES(m0, m1)                                                                         \
    _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(m0), _mm256_castsi256_ps(m1), 0x88))
ISA_TARGET static inline __m256i bools_of_8_masks(const __m256i *m)
{
    const __m256i halves[4] = {EVEN_LANES(m[0], m[1]), EVEN_LANES(m[2], m[3]), EVEN_LANES(m[4], m[5]),
                               EVEN_LANES(m[6], m[7])};
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15,
                                           0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
    return _mm256_shuffle_epi8(bools_of_4_masks(halves), order);
}

/* Elements of 4 or 8 bytes: MASKS vectors make 32 bools. C's operators work on the vectors of those
   compilers that know AVX2. */
#define COMPARE_VECTORS(MASKS, OPERATOR, A, B)                                                     \
    for (; i + 32 <= n; i += 32, vectors += MASKS) {                                               \
        __m256i masks[MASKS];                                                                      \
        for (int k = 0; k < MASKS; k++) {                                                          \
            masks[k] = (__m256i)((A) OPERATOR (B));                                                \
        }                                                                                          \
        _mm256_storeu_si256((__m256i *)(out + i), bools_of_##MASKS##_masks(masks));                \
    }
#define WIDE_COMPARE(NAME, IN, MASKS, OPERATOR, FINISH)                                            \
    typedef IN NAME##_vector __attribute__((vector_size(32), aligned(1), may_alias));              \
    ISA_TARGET static void NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,    \
                                void *data)                                                        \
    {                                                                                              \
        const npy_intp n = dimensions[0], size = sizeof(IN);                                       \
        const npy_intp step1 = steps[0], step2 = steps[1], out_step = steps[2];                    \
        const IN *x1 = (const IN *)args[0];                                                        \
        const IN *x2 = (const IN *)args[1];                                                        \
        npy_bool *out = (npy_bool *)args[2];                                                       \
        npy_intp i = 0, vectors = 0;                                                               \
        if (n >= 32 && out_step == 1) {                                                            \
            const NAME##_vector *v1 = (const void *)x1, *v2 = (const void *)x2;                    \
            if (step1 == size && step2 == size) {                                                  \
                COMPARE_VECTORS(MASKS, OPERATOR, v1[vectors + k], v2[vectors + k])                 \
            }                                                                                      \
            else if (step1 == 0 && step2 == size) {                                                \
                const NAME##_vector a = *x1 - (NAME##_vector){0};                                  \
                COMPARE_VECTORS(MASKS, OPERATOR, a, v2[vectors + k])                               \
            }                                                                                      \
            else if (step1 == size && step2 == 0) {                                                \
                const NAME##_vector b = *x2 - (NAME##_vector){0};                                  \
                COMPARE_VECTORS(MASKS, OPERATOR, v1[vectors + k], b)                               \
            }                                                                                      \
            x1 = (const void *)((const char *)x1 + i * step1);                                     \
            x2 = (const void *)((const char *)x2 + i * step2);                                     \
            out += i;                                                                              \
        }                                                                                          \
        STRIDED_FROM(i, UNROLLED, const IN a = *x1, b = *x2; *out = a OPERATOR b;)                 \
        FINISH;                                                                                    \
    }
/* EXPRESSION of one operand, a bool for a number and masks for a vector of them. */
#define WIDE_KIND(NAME, IN, MASKS, EXPRESSION)                                                     \
    typedef IN NAME##_vector __attribute__((vector_size(32), aligned(1), may_alias));              \
    ISA_TARGET static void NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,    \
                                void *data)                                                        \
    {                                                                                              \
        const npy_intp n = dimensions[0], step = steps[0], out_step = steps[1];                    \
        const char *x = args[0];                                                                   \
        char *out = args[1];                                                                       \
        npy_intp i = 0;                                                                            \
        (void)data;                                                                                \
        if (out_step == 1 && step == sizeof(IN)) {                                                 \
            const NAME##_vector *vectors = (const void *)x;                                        \
            for (; i + 32 <= n; i += 32, vectors += MASKS) {                                       \
                __m256i masks[MASKS];                                                              \
                for (int k = 0; k < MASKS; k++) {                                                  \
                    const NAME##_vector a = vectors[k];                                            \
                    masks[k] = (__m256i)(EXPRESSION);                                              \
                }                                                                                  \
                _mm256_storeu_si256((__m256i *)(out + i), bools_of_##MASKS##_masks(masks));        \
            }                                                                                      \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            const IN a = *(const IN *)(x + i * step);                                              \
            *(npy_bool *)(out + i * out_step) = EXPRESSION;                                        \
        }                                                                                          \
    }
#else
#define WIDE_KIND(NAME, IN, MASKS, EXPRESSION)                                                     \
    UNARY_LOOP(NAME, IN, npy_bool, EXPRESSION, (void)0)
#define WIDE_COMPARE(NAME, IN, MASKS, OPERATOR, FINISH)                                            \
    PLAIN_BINARY_LOOP(NAME, IN, npy_bool, (void)data, a OPERATOR b, FINISH)
#endif

#define INTEGER_COMPARE(OP, SIGN, OPERATOR)                                                        \
    PLAIN_BINARY_LOOP(OP##_##SIGN##8, npy_##SIGN##8, npy_bool, (void)data, a OPERATOR b, (void)0)  \
    PLAIN_BINARY_LOOP(OP##_##SIGN##16, npy_##SIGN##16, npy_bool, (void)data, a OPERATOR b, (void)0)\
    WIDE_COMPARE(OP##_##SIGN##32, npy_##SIGN##32, 4, OPERATOR, (void)0)                            \
    WIDE_COMPARE(OP##_##SIGN##64, npy_##SIGN##64, 8, OPERATOR, (void)0)
#define FLOAT_COMPARE(OP, OPERATOR)                                                                \
    WIDE_COMPARE(OP##_float32, float, 4, OPERATOR, fp_clear(0))                                    \
    WIDE_COMPARE(OP##_float64, double, 8, OPERATOR, fp_clear(0))
#define COMPLEX_KIND(OP, EXPRESSION)                                                               \
    UNARY_LOOP(OP##_complex64, complex64, npy_bool, EXPRESSION, fp_clear(0))                       \
    UNARY_LOOP(OP##_complex128, complex128, npy_bool, EXPRESSION, fp_clear(0))
#define COMPLEX_COMPARE(OP, EXPRESSION)                                                            \
    PLAIN_BINARY_LOOP(OP##_complex64, complex64, npy_bool, (void)data, EXPRESSION, fp_clear(0))    \
    PLAIN_BINARY_LOOP(OP##_complex128, complex128, npy_bool, (void)data, EXPRESSION, fp_clear(0))

INTEGER_COMPARE(equal, uint, ==)
INTEGER_COMPARE(not_equal, uint, !=)
INTEGER_COMPARE(less, uint, <)
INTEGER_COMPARE(less, int, <)
INTEGER_COMPARE(less_equal, uint, <=)
INTEGER_COMPARE(less_equal, int, <=)
INTEGER_COMPARE(greater, uint, >)
INTEGER_COMPARE(greater, int, >)
INTEGER_COMPARE(greater_equal, uint, >=)
INTEGER_COMPARE(greater_equal, int, >=)
FLOAT_COMPARE(equal, ==)
FLOAT_COMPARE(not_equal, !=)
FLOAT_COMPARE(less, <)
FLOAT_COMPARE(less_equal, <=)
FLOAT_COMPARE(greater, >)
FLOAT_COMPARE(greater_equal, >=)
COMPLEX_COMPARE(equal, (a.re == b.re) & (a.im == b.im))
COMPLEX_COMPARE(not_equal, (a.re != b.re) | (a.im != b.im))

/* Any byte but 0 is a true bool. */
#define BOOL_COMPARE(OP, EXPRESSION)                                                               \
    PLAIN_BINARY_LOOP(OP##_bool, npy_bool, npy_bool, (void)data, EXPRESSION, (void)0)
BOOL_COMPARE(equal, (a != 0) == (b != 0))
BOOL_COMPARE(less, (a == 0) & (b != 0))
BOOL_COMPARE(less_equal, (a == 0) | (b != 0))
BOOL_COMPARE(greater, (a != 0) & (b == 0))
BOOL_COMPARE(greater_equal, (a != 0) | (b == 0))

/* ---------------------------------------------------------------- truth */

#define TRUTH_OF_TWO(OP, OPERATOR, FINISH)                                                         \
    PLAIN_BINARY_LOOP(OP##_bool, npy_bool, npy_bool, (void)data, (a != 0) OPERATOR (b != 0), (void)0)\
    PLAIN_BINARY_LOOP(OP##_bits8, npy_uint8, npy_bool, (void)data, (a != 0) OPERATOR (b != 0), (void)0)\
    PLAIN_BINARY_LOOP(OP##_bits16, npy_uint16, npy_bool, (void)data, (a != 0) OPERATOR (b != 0), (void)0)\
    PLAIN_BINARY_LOOP(OP##_bits32, npy_uint32, npy_bool, (void)data, (a != 0) OPERATOR (b != 0), (void)0)\
    PLAIN_BINARY_LOOP(OP##_bits64, npy_uint64, npy_bool, (void)data, (a != 0) OPERATOR (b != 0), (void)0)\
    PLAIN_BINARY_LOOP(OP##_float32, float, npy_bool, (void)data, (a != 0) OPERATOR (b != 0), FINISH)\
    PLAIN_BINARY_LOOP(OP##_float64, double, npy_bool, (void)data, (a != 0) OPERATOR (b != 0), FINISH)
/* A NaN is true. (Complex ones are left to NumPy: which parts it looks at, and so whether a signalling NaN is
   invalid, depends on its compiler.) */
TRUTH_OF_TWO(logical_and, &, fp_clear(0))
TRUTH_OF_TWO(logical_or, |, fp_clear(0))
TRUTH_OF_TWO(logical_xor, ^, (void)0)

UNARY_LOOP(logical_not_bool, npy_bool, npy_bool, a == 0, (void)0)
UNARY_LOOP(logical_not_bits8, npy_uint8, npy_bool, a == 0, (void)0)
UNARY_LOOP(logical_not_bits16, npy_uint16, npy_bool, a == 0, (void)0)
WIDE_KIND(logical_not_bits32, npy_int32, 4, a == 0)
WIDE_KIND(logical_not_bits64, npy_int64, 8, a == 0)

/* ---------------------------------------------------------------- kinds of numbers */

/* By the bits, which sets no flags: infinity's are above those of every finite number, and a NaN's above. */
#define MAGNITUDE_OF_32(a) ((a) & 0x7fffffff)
#define MAGNITUDE_OF_64(a) ((a) & 0x7fffffffffffffff)
#define INFINITY_OF_32 0x7f800000
#define INFINITY_OF_64 0x7ff0000000000000
WIDE_KIND(logical_not_float32, npy_int32, 4, MAGNITUDE_OF_32(a) == 0)
WIDE_KIND(logical_not_float64, npy_int64, 8, MAGNITUDE_OF_64(a) == 0)
WIDE_KIND(isnan_float32, npy_int32, 4, MAGNITUDE_OF_32(a) > INFINITY_OF_32)
WIDE_KIND(isnan_float64, npy_int64, 8, MAGNITUDE_OF_64(a) > INFINITY_OF_64)
WIDE_KIND(isinf_float32, npy_int32, 4, MAGNITUDE_OF_32(a) == INFINITY_OF_32)
WIDE_KIND(isinf_float64, npy_int64, 8, MAGNITUDE_OF_64(a) == INFINITY_OF_64)
WIDE_KIND(isfinite_float32, npy_int32, 4, MAGNITUDE_OF_32(a) < INFINITY_OF_32)
WIDE_KIND(isfinite_float64, npy_int64, 8, MAGNITUDE_OF_64(a) < INFINITY_OF_64)
WIDE_KIND(signbit_float32, npy_int32, 4, a < 0)
WIDE_KIND(signbit_float64, npy_int64, 8, a < 0)

COMPLEX_KIND(isnan, isunordered(a.re, a.im))
#define MAGNITUDE(x) _Generic((x), float: fabsf, double: fabs)(x)
COMPLEX_KIND(isinf, (MAGNITUDE(a.re) == INFINITY) | (MAGNITUDE(a.im) == INFINITY))
COMPLEX_KIND(isfinite, isless(MAGNITUDE(a.re), INFINITY) & isless(MAGNITUDE(a.im), INFINITY))

/* Whole numbers and bools are finite. */
#define SAME_FOR_ALL(NAME, ANSWER)                                                                 \
    UNARY_LOOP(NAME##_bits8, npy_uint8, npy_bool, ((void)a, ANSWER), (void)0)                      \
    UNARY_LOOP(NAME##_bits16, npy_uint16, npy_bool, ((void)a, ANSWER), (void)0)                    \
    UNARY_LOOP(NAME##_bits32, npy_uint32, npy_bool, ((void)a, ANSWER), (void)0)                    \
    UNARY_LOOP(NAME##_bits64, npy_uint64, npy_bool, ((void)a, ANSWER), (void)0)
SAME_FOR_ALL(never, 0)
SAME_FOR_ALL(always, 1)
