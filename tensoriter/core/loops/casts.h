/* Casts between element types, expanded once for each instruction set.

   Left out (NULL in the table), so that NumPy does them: from floating point to integers, which C
   leaves undefined out of range, and from complex to real, which warns. Both need casting='unsafe'. */

/* Reads and writes go through memcpy, which needs no alignment and costs one move. */
#define CAST(SOURCE, SOURCE_C, READ, TARGET, TARGET_C, WRITE)                                      \
    ISA_TARGET static void cast_##SOURCE##_to_##TARGET(const char *source, npy_intp source_step,   \
                                                       char *target, npy_intp target_step,         \
                                                       npy_intp n)                                 \
    {                                                                                              \
        SOURCE_C x;                                                                                \
        TARGET_C y;                                                                                \
        if (source_step == sizeof(SOURCE_C) && target_step == sizeof(TARGET_C)) {                  \
            INDEPENDENT for (npy_intp i = 0; i < n; i++)                                           \
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

#define CASTS_TO_BOOL_AND_FLOATING(SOURCE, SOURCE_C, READ, TO_HALF)                                \
    CAST(SOURCE, SOURCE_C, READ, bool, npy_bool, TRUTH)                                            \
    CAST(SOURCE, SOURCE_C, READ, float16, npy_uint16, TO_HALF)                                     \
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
    CASTS_TO_BOOL_AND_FLOATING(NAME, CTYPE, PLAIN, TO_FLOAT16)                                     \
    CASTS_TO_INTEGERS(NAME, CTYPE, PLAIN)

/* A bool's byte may hold anything: other than 0 is true. */
CASTS_TO_BOOL_AND_FLOATING(bool, npy_bool, TRUTH, TO_FLOAT16)
CASTS_TO_INTEGERS(bool, npy_bool, TRUTH)
FOR_EACH_INTEGER(CASTS_FROM_INTEGER)
CASTS_TO_BOOL_AND_FLOATING(float32, float, PLAIN, half_from_float)
CASTS_TO_BOOL_AND_FLOATING(float64, double, PLAIN, half_from_double)
CASTS_TO_BOOL_AND_FLOATING(longdouble, npy_longdouble, PLAIN, TO_FLOAT16)

/* float16 to itself keeps its bits; to anything else it goes through float32, which is exact. */
CAST(float16, npy_uint16, PLAIN, float16, npy_uint16, PLAIN)
CAST(float16, npy_uint16, half_to_float, bool, npy_bool, TRUTH)
CAST(float16, npy_uint16, half_to_float, float32, float, TO_FLOAT32)
CAST(float16, npy_uint16, half_to_double, float64, double, TO_FLOAT64)
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
