/* Casts between element types, expanded once for each instruction set.

   Left out (NULL in the table), so that NumPy does them: from floating point to integers, which C
   leaves undefined out of range, and from complex to real, which warns. Both need casting='unsafe'. */

/* Reads and writes go through memcpy, which needs no alignment and costs one move. VECTORS may do the
   first elements of a run without gaps, and says by `done` how many. */
#define CAST_WITH(VECTORS, SOURCE, SOURCE_C, READ, TARGET, TARGET_C, WRITE)                        \
    ISA_TARGET static void cast_##SOURCE##_to_##TARGET(const char *source, npy_intp source_step,   \
                                                       char *target, npy_intp target_step,         \
                                                       npy_intp n)                                 \
    {                                                                                              \
        npy_intp done = 0;                                                                         \
        SOURCE_C x;                                                                                \
        TARGET_C y;                                                                                \
        if (source_step == sizeof(SOURCE_C) && target_step == sizeof(TARGET_C)) {                  \
            VECTORS                                                                                \
            INDEPENDENT for (npy_intp i = done; i < n; i++)                                        \
            {                                                                                      \
                memcpy(&x, source + i * (npy_intp)sizeof(x), sizeof(x));                           \
                y = WRITE(READ(x));                                                                \
                memcpy(target + i * (npy_intp)sizeof(y), &y, sizeof(y));                           \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            memcpy(&x, source + i * source_step, sizeof(x));                                       \
            y = WRITE(READ(x));                                                                    \
            memcpy(target + i * target_step, &y, sizeof(y));                                       \
        }                                                                                          \
    }
#define CAST(...) CAST_WITH(, __VA_ARGS__)

/* float16 by the hardware's conversion, eight at a time, in the cases where it does what the software does:
   it would quiet a signalling NaN and raise the invalid flag for it, and it finds fewer results too small
   (after rounding instead of before). Eight with such a one among them are left to the software. */
#ifdef ISA_HAS_F16C
#define HALF_IS_NAN(eight)                                                                         \
    _mm_movemask_epi8(_mm_cmpgt_epi16(_mm_and_si128(eight, _mm_set1_epi16(0x7fff)),                \
                                      _mm_set1_epi16(0x7c00)))
#define EIGHT_HALVES_TO(TARGET, STORE)                                                             \
    for (; done + 8 <= n; done += 8) {                                                             \
        const __m128i halves = _mm_loadu_si128((const __m128i *)(source + 2 * done));              \
        if (HALF_IS_NAN(halves)) {                                                                 \
            cast_halves_to_##TARGET(source + 2 * done, target + (int)sizeof(y) * done);            \
            continue;                                                                              \
        }                                                                                          \
        const __m256 floats = _mm256_cvtph_ps(halves);                                             \
        STORE                                                                                      \
    }
/* True where a magnitude lies below the smallest normal float16 and is not 0, or is a NaN's. */
#define FLOATS_NEED_SOFTWARE(bits)                                                                 \
    _mm256_movemask_epi8(_mm256_or_si256(                                                          \
        _mm256_cmpgt_epi32(bits, _mm256_set1_epi32(0x7f800000)),                                   \
        _mm256_and_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(0x38800000), bits),                  \
                         _mm256_cmpgt_epi32(bits, _mm256_setzero_si256()))))
#define HALVES_TO_FLOATS                                                                           \
    EIGHT_HALVES_TO(floats, _mm256_storeu_ps((float *)(void *)(target + 4 * done), floats);)
#define HALVES_TO_DOUBLES                                                                          \
    EIGHT_HALVES_TO(doubles, double *out = (double *)(void *)(target + 8 * done);                  \
                    _mm256_storeu_pd(out, _mm256_cvtps_pd(_mm256_castps256_ps128(floats)));        \
                    _mm256_storeu_pd(out + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(floats, 1)));)
#define FLOATS_TO_HALVES                                                                           \
    for (; done + 8 <= n; done += 8) {                                                             \
        const __m256 floats = _mm256_loadu_ps((const float *)(const void *)(source + 4 * done));   \
        const __m256i bits =                                                                       \
            _mm256_and_si256(_mm256_castps_si256(floats), _mm256_set1_epi32(0x7fffffff));          \
        if (FLOATS_NEED_SOFTWARE(bits)) {                                                          \
            cast_floats_to_halves(source + 4 * done, target + 2 * done);                           \
            continue;                                                                              \
        }                                                                                          \
        _mm_storeu_si128((__m128i *)(target + 2 * done),                                           \
                         _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));                      \
    }

/* Eight elements by the software. */
#define CAST_EIGHT(NAME, SOURCE_C, TARGET_C, CONVERT)                                              \
    static void NAME(const char *source, char *target)                                             \
    {                                                                                              \
        SOURCE_C x[8];                                                                             \
        TARGET_C y[8];                                                                             \
        memcpy(x, source, sizeof(x));                                                              \
        for (int i = 0; i < 8; i++) {                                                              \
            y[i] = CONVERT(x[i]);                                                                  \
        }                                                                                          \
        memcpy(target, y, sizeof(y));                                                              \
    }
CAST_EIGHT(cast_halves_to_floats, npy_uint16, float, half_to_float)
CAST_EIGHT(cast_halves_to_doubles, npy_uint16, double, half_to_double)
CAST_EIGHT(cast_floats_to_halves, float, npy_uint16, half_from_float)
#else
#define HALVES_TO_FLOATS
#define HALVES_TO_DOUBLES
#define FLOATS_TO_HALVES
#endif

#define PLAIN(x) (x)
#define TRUTH(x) ((npy_bool)((x) != 0))
#define TO_INT8(v) ((npy_int8)(v))
#define TO_UINT8(v) ((npy_uint8)(v))
#define TO_INT16(v) ((npy_int16)(v))
#define TO_UINT16(v) ((npy_uint16)(v))
#define TO_INT32(v) ((npy_int32)(v))
#define TO_UINT32(v) ((npy_uint32)(v))
#define TO_INT64(v) ((npy_int64)(v))
#define TO_UINT64(v) ((npy_uint64)(v))
/* NumPy rounds float64 to float16 once, and everything else by way of float32. */
#define TO_FLOAT16(v) half_from_float((float)(v))
#define TO_FLOAT32(v) ((float)(v))
#define TO_FLOAT64(v) ((double)(v))
#define TO_LONGDOUBLE(v) ((npy_longdouble)(v))
#define TO_COMPLEX64(v) ((complex64){(float)(v), 0.0f})
#define TO_COMPLEX128(v) ((complex128){(double)(v), 0.0})
#define TO_CLONGDOUBLE(v) ((clongdouble){(npy_longdouble)(v), 0.0L})

#define CASTS_TO_BOOL_AND_FLOATING(SOURCE, SOURCE_C, READ, TO_HALF, HALF_VECTORS)                  \
    CAST(SOURCE, SOURCE_C, READ, bool, npy_bool, TRUTH)                                            \
    CAST_WITH(HALF_VECTORS, SOURCE, SOURCE_C, READ, float16, npy_uint16, TO_HALF)                  \
    CAST(SOURCE, SOURCE_C, READ, float32, float, TO_FLOAT32)                                       \
    CAST(SOURCE, SOURCE_C, READ, float64, double, TO_FLOAT64)                                      \
    CAST(SOURCE, SOURCE_C, READ, longdouble, npy_longdouble, TO_LONGDOUBLE)                        \
    CAST(SOURCE, SOURCE_C, READ, complex64, complex64, TO_COMPLEX64)                               \
    CAST(SOURCE, SOURCE_C, READ, complex128, complex128, TO_COMPLEX128)                            \
    CAST(SOURCE, SOURCE_C, READ, clongdouble, clongdouble, TO_CLONGDOUBLE)

#define CASTS_TO_INTEGERS(SOURCE, SOURCE_C, READ)                                                  \
    CAST(SOURCE, SOURCE_C, READ, int8, npy_int8, TO_INT8)                                          \
    CAST(SOURCE, SOURCE_C, READ, uint8, npy_uint8, TO_UINT8)                                       \
    CAST(SOURCE, SOURCE_C, READ, int16, npy_int16, TO_INT16)                                       \
    CAST(SOURCE, SOURCE_C, READ, uint16, npy_uint16, TO_UINT16)                                    \
    CAST(SOURCE, SOURCE_C, READ, int32, npy_int32, TO_INT32)                                       \
    CAST(SOURCE, SOURCE_C, READ, uint32, npy_uint32, TO_UINT32)                                    \
    CAST(SOURCE, SOURCE_C, READ, int64, npy_int64, TO_INT64)                                       \
    CAST(SOURCE, SOURCE_C, READ, uint64, npy_uint64, TO_UINT64)

#define CASTS_FROM_INTEGER(NAME, TYPE, CTYPE, UNSIGNED)                                            \
    CASTS_TO_BOOL_AND_FLOATING(NAME, CTYPE, PLAIN, TO_FLOAT16, )                                   \
    CASTS_TO_INTEGERS(NAME, CTYPE, PLAIN)

/* A bool's byte may hold anything: other than 0 is true. */
CASTS_TO_BOOL_AND_FLOATING(bool, npy_bool, TRUTH, TO_FLOAT16, )
CASTS_TO_INTEGERS(bool, npy_bool, TRUTH)
FOR_EACH_INTEGER(CASTS_FROM_INTEGER)
CASTS_TO_BOOL_AND_FLOATING(float32, float, PLAIN, half_from_float, FLOATS_TO_HALVES)
CASTS_TO_BOOL_AND_FLOATING(float64, double, PLAIN, half_from_double, )
CASTS_TO_BOOL_AND_FLOATING(longdouble, npy_longdouble, PLAIN, TO_FLOAT16, )

/* float16 to itself keeps its bits; to anything else it goes through float32, which is exact. */
CAST(float16, npy_uint16, PLAIN, float16, npy_uint16, PLAIN)
CAST(float16, npy_uint16, half_to_float, bool, npy_bool, TRUTH)
CAST_WITH(HALVES_TO_FLOATS, float16, npy_uint16, half_to_float, float32, float, TO_FLOAT32)
CAST_WITH(HALVES_TO_DOUBLES, float16, npy_uint16, half_to_double, float64, double, TO_FLOAT64)
CAST(float16, npy_uint16, half_to_float, longdouble, npy_longdouble, TO_LONGDOUBLE)
CAST(float16, npy_uint16, half_to_float, complex64, complex64, TO_COMPLEX64)
CAST(float16, npy_uint16, half_to_double, complex128, complex128, TO_COMPLEX128)
CAST(float16, npy_uint16, half_to_float, clongdouble, clongdouble, TO_CLONGDOUBLE)

#define PARTS_TO_COMPLEX64(z) ((complex64){(float)(z).re, (float)(z).im})
#define PARTS_TO_COMPLEX128(z) ((complex128){(double)(z).re, (double)(z).im})
#define PARTS_TO_CLONGDOUBLE(z) ((clongdouble){(npy_longdouble)(z).re, (npy_longdouble)(z).im})

#define CASTS_FROM_COMPLEX(NAME, TYPE, CTYPE, PART)                                                \
    CAST(NAME, CTYPE, PLAIN, complex64, complex64, PARTS_TO_COMPLEX64)                             \
    CAST(NAME, CTYPE, PLAIN, complex128, complex128, PARTS_TO_COMPLEX128)                          \
    CAST(NAME, CTYPE, PLAIN, clongdouble, clongdouble, PARTS_TO_CLONGDOUBLE)
FOR_EACH_COMPLEX(CASTS_FROM_COMPLEX)

#define ROW_OF_BOOL_AND_FLOATING(SOURCE)                                                           \
    [BOOL] = cast_##SOURCE##_to_bool, [FLOAT16] = cast_##SOURCE##_to_float16,                      \
    [FLOAT32] = cast_##SOURCE##_to_float32, [FLOAT64] = cast_##SOURCE##_to_float64,                \
    [LONGDOUBLE] = cast_##SOURCE##_to_longdouble, [COMPLEX64] = cast_##SOURCE##_to_complex64,      \
    [COMPLEX128] = cast_##SOURCE##_to_complex128, [CLONGDOUBLE] = cast_##SOURCE##_to_clongdouble,
#define ROW_OF_INTEGERS(SOURCE)                                                                    \
    [INT8] = cast_##SOURCE##_to_int8, [UINT8] = cast_##SOURCE##_to_uint8,                          \
    [INT16] = cast_##SOURCE##_to_int16, [UINT16] = cast_##SOURCE##_to_uint16,                      \
    [INT32] = cast_##SOURCE##_to_int32, [UINT32] = cast_##SOURCE##_to_uint32,                      \
    [INT64] = cast_##SOURCE##_to_int64, [UINT64] = cast_##SOURCE##_to_uint64,
#define ROW_FROM_INTEGER(NAME, TYPE, CTYPE, UNSIGNED)                                              \
    [TYPE] = {ROW_OF_BOOL_AND_FLOATING(NAME) ROW_OF_INTEGERS(NAME)},
#define ROW_FROM_REAL(NAME, TYPE, CTYPE) [TYPE] = {ROW_OF_BOOL_AND_FLOATING(NAME)},
#define ROW_FROM_COMPLEX(NAME, TYPE, CTYPE, PART)                                                  \
    [TYPE] = {[COMPLEX64] = cast_##NAME##_to_complex64,                                            \
              [COMPLEX128] = cast_##NAME##_to_complex128,                                          \
              [CLONGDOUBLE] = cast_##NAME##_to_clongdouble},

static const cast_function casts[ELEMENT_TYPES][ELEMENT_TYPES] = {
    [BOOL] = {ROW_OF_BOOL_AND_FLOATING(bool) ROW_OF_INTEGERS(bool)},
    FOR_EACH_INTEGER(ROW_FROM_INTEGER)
    [FLOAT16] = {ROW_OF_BOOL_AND_FLOATING(float16)},
    FOR_EACH_REAL(ROW_FROM_REAL)
    FOR_EACH_COMPLEX(ROW_FROM_COMPLEX)
};
