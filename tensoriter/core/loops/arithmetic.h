/* The arithmetic loops, expanded once for each instruction set.

   A binary loop meets its operands in one of these ways, told apart by their steps:

       contiguous      x1 ▮▮▮▮       x2 ▮▮▮▮       out ▮▮▮▮     vectorised
       x1 constant     x1 ▮           x2 ▮▮▮▮       out ▮▮▮▮     vectorised
       x2 constant     x1 ▮▮▮▮       x2 ▮           out ▮▮▮▮     vectorised
       every other     x1 ▮·▮·▮·▮·   x2 ▮·▮·▮·▮·   out ▮▮▮▮     vectorised, as [::2] is common
       strided         x1 ▮·▮·        x2 ▮··▮       out ▮·▮·     one element after the other

   The test of the steps costs six comparisons, about 1 ns. A large output is brought onto
   a cache line first (stretches.h). */

/* Runs STATEMENTS for i from 0 to n. */
#define EACH(PRAGMAS, ...)                                                                         \
    PRAGMAS for (npy_intp i = 0; i < n; i++)                                                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#define BINARY_LOOP(NAME, CTYPE, SETUP, EXPRESSION)                                                \
    ISA_TARGET static void NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,    \
                                void *data)                                                        \
    {                                                                                              \
        const npy_intp n = dimensions[0], size = sizeof(CTYPE);                                    \
        if (n >= PEEL_FROM / size && lead_to_line(2, args, n, steps, size)) {                      \
            run_from_line(NAME, 2, args, dimensions, steps, data);                                 \
            return;                                                                                \
        }                                                                                          \
        const npy_intp step1 = steps[0], step2 = steps[1], out_step = steps[2];                    \
        const CTYPE *x1 = (const CTYPE *)args[0];                                                  \
        const CTYPE *x2 = (const CTYPE *)args[1];                                                  \
        CTYPE *out = (CTYPE *)args[2];                                                             \
        SETUP;                                                                                     \
        if (out_step == size && step1 == size && step2 == size) {                                  \
            EACH(INDEPENDENT UNROLLED, const CTYPE a = x1[i], b = x2[i]; out[i] = EXPRESSION;)     \
        }                                                                                          \
        else if (n > 0 && out_step == size && step1 == 0 && step2 == size) {                       \
            const CTYPE a = *x1;                                                                   \
            EACH(INDEPENDENT UNROLLED, const CTYPE b = x2[i]; out[i] = EXPRESSION;)                \
        }                                                                                          \
        else if (n > 0 && out_step == size && step1 == size && step2 == 0) {                       \
            const CTYPE b = *x2;                                                                   \
            EACH(INDEPENDENT UNROLLED, const CTYPE a = x1[i]; out[i] = EXPRESSION;)                \
        }                                                                                          \
        else if (out_step == size && step1 == 2 * size && step2 == 2 * size) {                     \
            EACH(INDEPENDENT, const CTYPE a = x1[2 * i], b = x2[2 * i]; out[i] = EXPRESSION;)      \
        }                                                                                          \
        else if (n > 0 && step1 == 0) {                                                            \
            const CTYPE a = *x1;                                                                   \
            STRIDED_LOOP(const CTYPE b = *x2; *out = EXPRESSION;)                                  \
        }                                                                                          \
        else if (n > 0 && step2 == 0) {                                                            \
            const CTYPE b = *x2;                                                                   \
            STRIDED_LOOP(const CTYPE a = *x1; *out = EXPRESSION;)                                  \
        }                                                                                          \
        else {                                                                                     \
            STRIDED_LOOP(const CTYPE a = *x1, b = *x2; *out = EXPRESSION;)                         \
        }                                                                                          \
    }

/* Steps through x1, x2 and out by bytes. */
#define STRIDED_LOOP(...)                                                                          \
    UNROLLED for (npy_intp i = 0; i < n; i++)                                                      \
    {                                                                                              \
        __VA_ARGS__                                                                                \
        x1 = (const void *)((const char *)x1 + step1);                                             \
        x2 = (const void *)((const char *)x2 + step2);                                             \
        out = (void *)((char *)out + out_step);                                                    \
    }

/* add: or on bools, sums that wrap on integers. */
BINARY_LOOP(add_bool, npy_bool, (void)data, ((a | b) != 0))
#define ADD_INTEGER(NAME, TYPE, CTYPE, UNSIGNED)                                                   \
    BINARY_LOOP(add_##NAME, CTYPE, (void)data, (CTYPE)(UNSIGNED)((UNSIGNED)a + (UNSIGNED)b))
FOR_EACH_INTEGER(ADD_INTEGER)
#define ADD_REAL(NAME, TYPE, CTYPE) BINARY_LOOP(add_##NAME, CTYPE, (void)data, a + b)
FOR_EACH_REAL(ADD_REAL)
#define ADD_COMPLEX(NAME, TYPE, CTYPE, PART)                                                       \
    BINARY_LOOP(add_##NAME, CTYPE, (void)data, ((CTYPE){a.re + b.re, a.im + b.im}))
FOR_EACH_COMPLEX(ADD_COMPLEX)

/* add_scaled: x1 + alpha * x2, where data points at alpha. The product is rounded before the sum is
   (setup.py turns contraction into fused multiply-add off), as if written in two steps. */
#define ADD_SCALED_INTEGER(NAME, TYPE, CTYPE, UNSIGNED)                                            \
    BINARY_LOOP(add_scaled_##NAME, CTYPE, const npy_uint64 alpha = (npy_uint64)*(CTYPE *)data,     \
                (CTYPE)(UNSIGNED)((npy_uint64)a + alpha * (npy_uint64)b))
FOR_EACH_INTEGER(ADD_SCALED_INTEGER)
#define ADD_SCALED_REAL(NAME, TYPE, CTYPE)                                                         \
    BINARY_LOOP(add_scaled_##NAME, CTYPE, const CTYPE alpha = *(CTYPE *)data, a + alpha * b)
FOR_EACH_REAL(ADD_SCALED_REAL)
#define ADD_SCALED_COMPLEX(NAME, TYPE, CTYPE, PART)                                                \
    BINARY_LOOP(add_scaled_##NAME, CTYPE, const CTYPE alpha = *(CTYPE *)data,                      \
                ((CTYPE){a.re + (alpha.re * b.re - alpha.im * b.im),                               \
                         a.im + (alpha.re * b.im + alpha.im * b.re)}))
FOR_EACH_COMPLEX(ADD_SCALED_COMPLEX)

/* float16 computes in float32 and rounds each result, as NumPy does. */
#define HALF_LOOP(NAME, SETUP, EXPRESSION, VECTOR_SETUP, VECTOR_EXPRESSION)                        \
    ISA_TARGET static void NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,    \
                                void *data)                                                        \
    {                                                                                              \
        npy_intp i = 0;                                                                            \
        SETUP;                                                                                     \
        HALF_VECTORS(VECTOR_SETUP, VECTOR_EXPRESSION)                                              \
        for (; i < dimensions[0]; i++) {                                                           \
            const float a = READ_HALF(*(const npy_uint16 *)(args[0] + i * steps[0]));              \
            const float b = READ_HALF(*(const npy_uint16 *)(args[1] + i * steps[1]));              \
            *(npy_uint16 *)(args[2] + i * steps[2]) = WRITE_HALF(EXPRESSION);                      \
        }                                                                                          \
    }

#ifdef ISA_HAS_F16C
#define READ_HALF(half) _cvtsh_ss(half)
#define WRITE_HALF(value) _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)
#define ROUND_HALF(vector) _mm256_cvtph_ps(_mm256_cvtps_ph(vector, _MM_FROUND_TO_NEAREST_INT))
/* Eight at a time; an operand of step 0 is read once. */
#define HALF_VECTORS(VECTOR_SETUP, VECTOR_EXPRESSION)                                              \
    if (steps[2] == 2 && (steps[0] == 2 || steps[0] == 0) && (steps[1] == 2 || steps[1] == 0) &&   \
        dimensions[0] >= 8) {                                                                      \
        VECTOR_SETUP;                                                                              \
        __m256 a = _mm256_set1_ps(READ_HALF(*(npy_uint16 *)args[0]));                              \
        __m256 b = _mm256_set1_ps(READ_HALF(*(npy_uint16 *)args[1]));                              \
        for (; i + 8 <= dimensions[0]; i += 8) {                                                   \
            if (steps[0]) {                                                                        \
                a = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(args[0] + 2 * i)));          \
            }                                                                                      \
            if (steps[1]) {                                                                        \
                b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(args[1] + 2 * i)));          \
            }                                                                                      \
            _mm_storeu_si128((__m128i *)(args[2] + 2 * i),                                         \
                             _mm256_cvtps_ph(VECTOR_EXPRESSION, _MM_FROUND_TO_NEAREST_INT));       \
        }                                                                                          \
    }
#else
#define READ_HALF(half) half_to_float(half)
#define WRITE_HALF(value) half_from_float(value)
#define HALF_VECTORS(VECTOR_SETUP, VECTOR_EXPRESSION)
#endif

HALF_LOOP(add_float16, (void)data, a + b, (void)data, _mm256_add_ps(a, b))
HALF_LOOP(add_scaled_float16, const float alpha = READ_HALF(*(npy_uint16 *)data),
          a + READ_HALF(WRITE_HALF(alpha * b)), const __m256 alphas = _mm256_set1_ps(alpha),
          _mm256_add_ps(a, ROUND_HALF(_mm256_mul_ps(alphas, b))))

#define ADD_ENTRY(NAME, TYPE, ...) {"add", TYPE, add_##NAME},
#define ADD_SCALED_ENTRY(NAME, TYPE, ...) {"add_scaled", TYPE, add_scaled_##NAME},

static const loop_entry loops[] = {
    ADD_ENTRY(bool, BOOL)
    FOR_EACH_INTEGER(ADD_ENTRY)
    ADD_ENTRY(float16, FLOAT16)
    FOR_EACH_REAL(ADD_ENTRY)
    FOR_EACH_COMPLEX(ADD_ENTRY)
    FOR_EACH_INTEGER(ADD_SCALED_ENTRY)
    ADD_SCALED_ENTRY(float16, FLOAT16)
    FOR_EACH_REAL(ADD_SCALED_ENTRY)
    FOR_EACH_COMPLEX(ADD_SCALED_ENTRY)
    {NULL, BOOL, NULL},
};
