/* The table: which loop serves an op for a type of its operands. An op has one line a kind of types. */

#define ENTRY(OP, IN, OUT, NAME) {#OP, IN, OUT, OP##_##NAME},

/* The result has the operands' type. */
#define BITS(OP)                                                                                   \
    ENTRY(OP, INT8, INT8, bits8) ENTRY(OP, UINT8, UINT8, bits8)                                    \
    ENTRY(OP, INT16, INT16, bits16) ENTRY(OP, UINT16, UINT16, bits16)                              \
    ENTRY(OP, INT32, INT32, bits32) ENTRY(OP, UINT32, UINT32, bits32)                              \
    ENTRY(OP, INT64, INT64, bits64) ENTRY(OP, UINT64, UINT64, bits64)
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
#define HALF_TO_BOOL(OP) ENTRY(OP, FLOAT16, BOOL, float16)
#define FLOATS_TO_BOOL(OP) ENTRY(OP, FLOAT32, BOOL, float32) ENTRY(OP, FLOAT64, BOOL, float64)
#define COMPLEXES_TO_BOOL(OP) ENTRY(OP, COMPLEX64, BOOL, complex64) ENTRY(OP, COMPLEX128, BOOL, complex128)

#define ENTRY_OF_SCALED(NAME, TYPE, ...) ENTRY(add_scaled, TYPE, TYPE, NAME)

static const loop_entry loops[] = {
    ENTRY(add, BOOL, BOOL, bool) BITS(add) HALF(add) FLOATS(add) COMPLEXES(add)
    ENTRY(add, LONGDOUBLE, LONGDOUBLE, longdouble) ENTRY(add, CLONGDOUBLE, CLONGDOUBLE, clongdouble)
    FOR_EACH_INTEGER(ENTRY_OF_SCALED) HALF(add_scaled)
    FOR_EACH_REAL(ENTRY_OF_SCALED) FOR_EACH_COMPLEX(ENTRY_OF_SCALED)
    BITS(subtract) HALF(subtract) FLOATS(subtract) COMPLEXES(subtract)
    BITS(multiply) HALF(multiply) FLOATS(multiply)
    HALF(divide) FLOATS(divide)
    ENTRY(remainder, INT16, INT16, int16) ENTRY(remainder, UINT16, UINT16, uint16)
    ENTRY(remainder, INT32, INT32, int32) ENTRY(remainder, UINT32, UINT32, uint32)
    BITS(positive) FLOAT_BITS(positive)
    ENTRY(positive, COMPLEX64, COMPLEX64, complex64) ENTRY(positive, COMPLEX128, COMPLEX128, complex128)
    HALF(negative) COMPLEXES(negative)
    HALF(square)
    HALF(sqrt) HALF(reciprocal)
    HALF(sign) FLOATS(sign)
    FLOAT_BITS(copysign)
    HALF(maximum) HALF(minimum) HALF(fmax) HALF(fmin)
    INTEGERS_TO_BOOL(equal, uint) HALF_TO_BOOL(equal) FLOATS_TO_BOOL(equal) COMPLEXES_TO_BOOL(equal)
    INTEGERS_TO_BOOL(not_equal, uint) HALF_TO_BOOL(not_equal) FLOATS_TO_BOOL(not_equal)
    COMPLEXES_TO_BOOL(not_equal)
    INTEGERS_TO_BOOL(less, int) HALF_TO_BOOL(less) FLOATS_TO_BOOL(less)
    INTEGERS_TO_BOOL(less_equal, int) HALF_TO_BOOL(less_equal) FLOATS_TO_BOOL(less_equal)
    INTEGERS_TO_BOOL(greater, int) HALF_TO_BOOL(greater) FLOATS_TO_BOOL(greater)
    INTEGERS_TO_BOOL(greater_equal, int) HALF_TO_BOOL(greater_equal) FLOATS_TO_BOOL(greater_equal)
    HALF_TO_BOOL(logical_and) FLOATS_TO_BOOL(logical_and)
    HALF_TO_BOOL(logical_or) FLOATS_TO_BOOL(logical_or)
    HALF_TO_BOOL(logical_xor) FLOATS_TO_BOOL(logical_xor)
    HALF_TO_BOOL(logical_not) FLOATS_TO_BOOL(logical_not)
    HALF_TO_BOOL(isnan) HALF_TO_BOOL(isinf) HALF_TO_BOOL(isfinite)
    COMPLEXES_TO_BOOL(isnan) COMPLEXES_TO_BOOL(isinf) COMPLEXES_TO_BOOL(isfinite)
    /* Any type of that size. */
    ENTRY(where, UINT8, UINT8, bits8) ENTRY(where, UINT16, UINT16, bits16) ENTRY(where, UINT32, UINT32, bits32)
    ENTRY(where, UINT64, UINT64, bits64) ENTRY(where, COMPLEX128, COMPLEX128, bits128)
    ENTRY(where, CLONGDOUBLE, CLONGDOUBLE, bits256)
    {NULL, BOOL, BOOL, NULL},
};
