/* Sums, differences, products and quotients, and what is made of one operand likewise.

   Left out, so that NumPy's own loops run: long double, which spends its time in the x87 unit; products,
   squares and magnitudes of complex numbers, whose last bit depends on NumPy's use of fused multiply-add
   and on the CPU; their quotients, roots and signs, which are as slow here; and reciprocals of integers, as
   that of 0 is what NumPy's compiler makes of infinity. */

#define SIGN_OF_FLOAT32 0x80000000u
#define SIGN_OF_FLOAT64 0x8000000000000000u

/* add: or on bools, sums that wrap on integers. */
BINARY_LOOP(add_bool, npy_bool, npy_bool, (void)data, ((a | b) != 0), (void)0)
BITS_BINARY(add, a + b)
FLOAT_BINARY(add, a + b)
BINARY_LOOP(add_longdouble, npy_longdouble, npy_longdouble, (void)data, a + b, (void)0)
COMPLEX_BINARY(add, a.re + b.re, a.im + b.im)
BINARY_LOOP(add_clongdouble, clongdouble, clongdouble, (void)data, ((clongdouble){a.re + b.re, a.im + b.im}),
            (void)0)

BITS_BINARY(subtract, a - b)
FLOAT_BINARY(subtract, a - b)
COMPLEX_BINARY(subtract, a.re - b.re, a.im - b.im)

/* 1u: small types would widen to int, where products overflow. */
BITS_BINARY(multiply, 1u * a * b)
FLOAT_BINARY(multiply, a * b)

FLOAT_BINARY(divide, a / b)

/* positive copies; it looks at the width only. */
BITS_UNARY(positive, a)
UNARY_LOOP(positive_complex64, complex64, complex64, a, (void)0)
UNARY_LOOP(positive_complex128, complex128, complex128, a, (void)0)

/* negative and absolute of floating point move the sign's bit, that of a NaN, too. */
BITS_UNARY(negative, 0u - a)
UNARY_LOOP(negative_float32, npy_uint32, npy_uint32, a ^ SIGN_OF_FLOAT32, (void)0)
UNARY_LOOP(negative_float64, npy_uint64, npy_uint64, a ^ SIGN_OF_FLOAT64, (void)0)
UNARY_LOOP(negative_complex64, complex64, complex64, ((complex64){-a.re, -a.im}), (void)0)
UNARY_LOOP(negative_complex128, complex128, complex128, ((complex128){-a.re, -a.im}), (void)0)

#define ABSOLUTE_SIGNED(NAME, TYPE, CTYPE, UNSIGNED)                                               \
    UNARY_LOOP(absolute_##NAME, CTYPE, CTYPE, (CTYPE)(UNSIGNED)(a < 0 ? 0u - (UNSIGNED)a : (UNSIGNED)a), (void)0)
FOR_EACH_SIGNED(ABSOLUTE_SIGNED)
UNARY_LOOP(absolute_bool, npy_bool, npy_bool, a != 0, (void)0)
UNARY_LOOP(absolute_float16, npy_uint16, npy_uint16, (npy_uint16)(a & 0x7fffu), (void)0)
UNARY_LOOP(absolute_float32, npy_uint32, npy_uint32, a & ~SIGN_OF_FLOAT32, (void)0)
UNARY_LOOP(absolute_float64, npy_uint64, npy_uint64, a & ~SIGN_OF_FLOAT64, (void)0)

BITS_UNARY(square, 1u * a * a)
FLOAT_UNARY(square, a * a)
UNARY_LOOP(sqrt_float32, float, float, sqrtf(a), (void)0)
UNARY_LOOP(sqrt_float64, double, double, sqrt(a), (void)0)
FLOAT_UNARY(reciprocal, 1 / a)

#define SIGN_SIGNED(NAME, TYPE, CTYPE, UNSIGNED)                                                   \
    UNARY_LOOP(sign_##NAME, CTYPE, CTYPE, (CTYPE)((a > 0) - (a < 0)), (void)0)
FOR_EACH_SIGNED(SIGN_SIGNED)
#define SIGN_UNSIGNED(NAME, TYPE, CTYPE, UNSIGNED) UNARY_LOOP(sign_##NAME, CTYPE, CTYPE, a != 0, (void)0)
FOR_EACH_UNSIGNED(SIGN_UNSIGNED)

/* sign: of a NaN the NaN, of either zero 0.0; by the bits, which sets no flags. */
#define SIGN_FLOAT(NAME, SIGNED, UNSIGNED, INFINITE, ONE)                                          \
    UNARY_LOOP(sign_##NAME, UNSIGNED, UNSIGNED,                                                    \
               ((SIGNED)(a & ~((UNSIGNED)1 << (8 * sizeof(a) - 1))) > INFINITE ? a                 \
                : (UNSIGNED)(a << 1) == 0 ? 0                                                      \
                                          : (UNSIGNED)((a & ((UNSIGNED)1 << (8 * sizeof(a) - 1))) | ONE)),\
               (void)0)
SIGN_FLOAT(float16, npy_int16, npy_uint16, 0x7c00, 0x3c00)
SIGN_FLOAT(float32, npy_int32, npy_uint32, 0x7f800000, 0x3f800000)
SIGN_FLOAT(float64, npy_int64, npy_uint64, 0x7ff0000000000000, 0x3ff0000000000000)

/* copysign moves a bit. */
#define COPYSIGN_BITS(BITS, CTYPE, TOP)                                                            \
    PLAIN_BINARY_LOOP(copysign_##BITS, CTYPE, CTYPE, (void)data,                                   \
                      (CTYPE)((a & (TOP - 1)) | (b & TOP)), (void)0)
COPYSIGN_BITS(bits16, npy_uint16, 0x8000u)
COPYSIGN_BITS(bits32, npy_uint32, 0x80000000u)
COPYSIGN_BITS(bits64, npy_uint64, 0x8000000000000000u)

/* add_scaled: x1 + alpha * x2, where data points at alpha. The product is rounded before the sum is
   (setup.py turns contraction into fused multiply-add off), as if written in two steps. */
#define ADD_SCALED_INTEGER(NAME, TYPE, CTYPE, UNSIGNED)                                            \
    BINARY_LOOP(add_scaled_##NAME, CTYPE, CTYPE, const npy_uint64 alpha = (npy_uint64)*(CTYPE *)data,\
                (CTYPE)(UNSIGNED)((npy_uint64)a + alpha * (npy_uint64)b), (void)0)
FOR_EACH_INTEGER(ADD_SCALED_INTEGER)
#define ADD_SCALED_REAL(NAME, TYPE, CTYPE)                                                         \
    BINARY_LOOP(add_scaled_##NAME, CTYPE, CTYPE, const CTYPE alpha = *(CTYPE *)data, a + alpha * b, (void)0)
FOR_EACH_REAL(ADD_SCALED_REAL)
#define ADD_SCALED_COMPLEX(NAME, TYPE, CTYPE, PART)                                                \
    BINARY_LOOP(add_scaled_##NAME, CTYPE, CTYPE, const CTYPE alpha = *(CTYPE *)data,               \
                ((CTYPE){a.re + (alpha.re * b.re - alpha.im * b.im),                               \
                         a.im + (alpha.re * b.im + alpha.im * b.re)}), (void)0)
FOR_EACH_COMPLEX(ADD_SCALED_COMPLEX)
