/* The table: which loop serves an op for a type of its operands. An op has one line a kind of types. */

#define ENTRY(OP, IN, OUT, NAME) {#OP, IN, OUT, OP##_##NAME},

/* The same, by a loop that is named after another op. */
#define ENTRY_OF(OP, IN, OUT, FUNCTION) {#OP, IN, OUT, FUNCTION},

/* The result has the operands' type. */
#define BOOLS(OP) ENTRY(OP, BOOL, BOOL, bool)
#define BITS(OP)                                                                                   \
    ENTRY(OP, INT8, INT8, bits8) ENTRY(OP, UINT8, UINT8, bits8)                                    \
    ENTRY(OP, INT16, INT16, bits16) ENTRY(OP, UINT16, UINT16, bits16)                              \
    ENTRY(OP, INT32, INT32, bits32) ENTRY(OP, UINT32, UINT32, bits32)                              \
    ENTRY(OP, INT64, INT64, bits64) ENTRY(OP, UINT64, UINT64, bits64)
#define SIGNED_INTEGERS(OP)                                                                        \
    ENTRY(OP, INT8, INT8, int8) ENTRY(OP, INT16, INT16, int16)                                     \
    ENTRY(OP, INT32, INT32, int32) ENTRY(OP, INT64, INT64, int64)
#define UNSIGNED_INTEGERS(OP)                                                                      \
    ENTRY(OP, UINT8, UINT8, uint8) ENTRY(OP, UINT16, UINT16, uint16)                               \
    ENTRY(OP, UINT32, UINT32, uint32) ENTRY(OP, UINT64, UINT64, uint64)
#define INTEGERS(OP) SIGNED_INTEGERS(OP) UNSIGNED_INTEGERS(OP)
#define UNSIGNED_BY(OP, LOOP)                                                                      \
    ENTRY_OF(OP, UINT8, UINT8, LOOP##_bits8) ENTRY_OF(OP, UINT16, UINT16, LOOP##_bits16)           \
    ENTRY_OF(OP, UINT32, UINT32, LOOP##_bits32) ENTRY_OF(OP, UINT64, UINT64, LOOP##_bits64)
#define INTEGERS_BY(OP, LOOP)                                                                      \
    ENTRY_OF(OP, INT8, INT8, LOOP##_int8) ENTRY_OF(OP, UINT8, UINT8, LOOP##_uint8)                 \
    ENTRY_OF(OP, INT16, INT16, LOOP##_int16) ENTRY_OF(OP, UINT16, UINT16, LOOP##_uint16)           \
    ENTRY_OF(OP, INT32, INT32, LOOP##_int32) ENTRY_OF(OP, UINT32, UINT32, LOOP##_uint32)           \
    ENTRY_OF(OP, INT64, INT64, LOOP##_int64) ENTRY_OF(OP, UINT64, UINT64, LOOP##_uint64)
#define HALF(OP) ENTRY(OP, FLOAT16, FLOAT16, float16)
#define FLOATS(OP) ENTRY(OP, FLOAT32, FLOAT32, float32) ENTRY(OP, FLOAT64, FLOAT64, float64)
#define FLOAT_BITS(OP)                                                                             \
    ENTRY(OP, FLOAT16, FLOAT16, bits16) ENTRY(OP, FLOAT32, FLOAT32, bits32)                        \
    ENTRY(OP, FLOAT64, FLOAT64, bits64)
#define COMPLEXES(OP) ENTRY(OP, COMPLEX64, COMPLEX64, complex64) ENTRY(OP, COMPLEX128, COMPLEX128, complex128)

/* The result is a bool. */
#define INTEGERS_TO_BOOL(OP, SIGNED)                                                               \
    ENTRY(OP, INT8, BOOL, SIGNED##8) ENTRY(OP, UINT8, BOOL, uint8)                                 \
    ENTRY(OP, INT16, BOOL, SIGNED##16) ENTRY(OP, UINT16, BOOL, uint16)                             \
    ENTRY(OP, INT32, BOOL, SIGNED##32) ENTRY(OP, UINT32, BOOL, uint32)                             \
    ENTRY(OP, INT64, BOOL, SIGNED##64) ENTRY(OP, UINT64, BOOL, uint64)
#define BITS_TO_BOOL(OP, LOOP)                                                                     \
    ENTRY_OF(OP, INT8, BOOL, LOOP##_bits8) ENTRY_OF(OP, UINT8, BOOL, LOOP##_bits8)                 \
    ENTRY_OF(OP, INT16, BOOL, LOOP##_bits16) ENTRY_OF(OP, UINT16, BOOL, LOOP##_bits16)             \
    ENTRY_OF(OP, INT32, BOOL, LOOP##_bits32) ENTRY_OF(OP, UINT32, BOOL, LOOP##_bits32)             \
    ENTRY_OF(OP, INT64, BOOL, LOOP##_bits64) ENTRY_OF(OP, UINT64, BOOL, LOOP##_bits64)
#define HALF_TO_BOOL(OP) ENTRY(OP, FLOAT16, BOOL, float16)
#define FLOATS_TO_BOOL(OP) ENTRY(OP, FLOAT32, BOOL, float32) ENTRY(OP, FLOAT64, BOOL, float64)
#define COMPLEXES_TO_BOOL(OP) ENTRY(OP, COMPLEX64, BOOL, complex64) ENTRY(OP, COMPLEX128, BOOL, complex128)

#define NUMBERS_TO_BOOL(OP) HALF_TO_BOOL(OP) FLOATS_TO_BOOL(OP) COMPLEXES_TO_BOOL(OP)
#define ORDER(OP) BOOLS(OP) INTEGERS_TO_BOOL(OP, int) HALF_TO_BOOL(OP) FLOATS_TO_BOOL(OP)
#define TRUTHS(OP) BOOLS(OP) BITS_TO_BOOL(OP, OP) HALF_TO_BOOL(OP) FLOATS_TO_BOOL(OP)

#define ENTRY_OF_SCALED(NAME, TYPE, ...) ENTRY(add_scaled, TYPE, TYPE, NAME)

static const loop_entry loops[] = {
    BOOLS(add) BITS(add) HALF(add) FLOATS(add) COMPLEXES(add)
    ENTRY(add, LONGDOUBLE, LONGDOUBLE, longdouble) ENTRY(add, CLONGDOUBLE, CLONGDOUBLE, clongdouble)
    FOR_EACH_INTEGER(ENTRY_OF_SCALED) HALF(add_scaled)
    FOR_EACH_REAL(ENTRY_OF_SCALED) FOR_EACH_COMPLEX(ENTRY_OF_SCALED)
    BITS(subtract) HALF(subtract) FLOATS(subtract) COMPLEXES(subtract)
    ENTRY_OF(multiply, BOOL, BOOL, logical_and_bool) BITS(multiply) HALF(multiply) FLOATS(multiply)
    HALF(divide) FLOATS(divide)
    INTEGERS(floor_divide) FLOATS(floor_divide)
    INTEGERS(remainder) FLOATS(remainder) FLOATS(fmod)
    BITS(positive) FLOAT_BITS(positive) COMPLEXES(positive)
    BITS(negative) HALF(negative) FLOATS(negative) COMPLEXES(negative)
    BOOLS(absolute) SIGNED_INTEGERS(absolute) UNSIGNED_BY(absolute, positive) HALF(absolute) FLOATS(absolute)
    ENTRY_OF(fabs, FLOAT32, FLOAT32, absolute_float32) ENTRY_OF(fabs, FLOAT64, FLOAT64, absolute_float64)
    BITS(square) HALF(square) FLOATS(square)
    HALF(sqrt) FLOATS(sqrt)
    HALF(reciprocal) FLOATS(reciprocal)
    INTEGERS(sign) HALF(sign) FLOATS(sign)
    FLOAT_BITS(copysign)
    ENTRY_OF(maximum, BOOL, BOOL, add_bool) INTEGERS(maximum) HALF(maximum) FLOATS_OF_X86(maximum)
    COMPLEXES(maximum)
    ENTRY_OF(minimum, BOOL, BOOL, logical_and_bool) INTEGERS(minimum) HALF(minimum) FLOATS_OF_X86(minimum)
    COMPLEXES(minimum)
    ENTRY_OF(fmax, BOOL, BOOL, add_bool) INTEGERS_BY(fmax, maximum) HALF(fmax) COMPLEXES(fmax)
    ENTRY_OF(fmin, BOOL, BOOL, logical_and_bool) INTEGERS_BY(fmin, minimum) HALF(fmin) COMPLEXES(fmin)
    ENTRY_OF(bitwise_and, BOOL, BOOL, logical_and_bool) BITS(bitwise_and)
    ENTRY_OF(bitwise_or, BOOL, BOOL, add_bool) BITS(bitwise_or)
    ENTRY_OF(bitwise_xor, BOOL, BOOL, logical_xor_bool) BITS(bitwise_xor)
    ENTRY_OF(invert, BOOL, BOOL, logical_not_bool) BITS(invert)
    BITS(left_shift) INTEGERS(right_shift)
    BOOLS(equal) INTEGERS_TO_BOOL(equal, uint) NUMBERS_TO_BOOL(equal)
    ENTRY_OF(not_equal, BOOL, BOOL, logical_xor_bool) INTEGERS_TO_BOOL(not_equal, uint)
    NUMBERS_TO_BOOL(not_equal)
    ORDER(less) ORDER(less_equal) ORDER(greater) ORDER(greater_equal)
    TRUTHS(logical_and) TRUTHS(logical_or) TRUTHS(logical_xor) TRUTHS(logical_not)
    ENTRY_OF(isnan, BOOL, BOOL, never_bits8) BITS_TO_BOOL(isnan, never) NUMBERS_TO_BOOL(isnan)
    ENTRY_OF(isinf, BOOL, BOOL, never_bits8) BITS_TO_BOOL(isinf, never) NUMBERS_TO_BOOL(isinf)
    ENTRY_OF(isfinite, BOOL, BOOL, always_bits8) BITS_TO_BOOL(isfinite, always) NUMBERS_TO_BOOL(isfinite)
    HALF_TO_BOOL(signbit) FLOATS_TO_BOOL(signbit)
    /* Any type of that size. */
    ENTRY(where, UINT8, UINT8, bits8) ENTRY(where, UINT16, UINT16, bits16) ENTRY(where, UINT32, UINT32, bits32)
    ENTRY(where, UINT64, UINT64, bits64) ENTRY(where, COMPLEX128, COMPLEX128, bits128)
    ENTRY(where, CLONGDOUBLE, CLONGDOUBLE, bits256)
    {NULL, BOOL, BOOL, NULL},
};
