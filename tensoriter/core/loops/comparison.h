/* Comparisons and truth: the result is a bool.

   As NumPy does, a comparison leaves no floating-point flags: ordered ones are quiet about NaN where the
   instruction set can be, and what is set all the same is cleared.

   Left to NumPy's loops: the order of complex numbers, long double, and isnan and its like of float32 and
   float64, which are as fast there. */

#define INTEGER_COMPARE(OP, SIGN, EXPRESSION)                                                      \
    PLAIN_BINARY_LOOP(OP##_##SIGN##8, npy_##SIGN##8, npy_bool, EXPRESSION, (void)0)                \
    PLAIN_BINARY_LOOP(OP##_##SIGN##16, npy_##SIGN##16, npy_bool, EXPRESSION, (void)0)              \
    PLAIN_BINARY_LOOP(OP##_##SIGN##32, npy_##SIGN##32, npy_bool, EXPRESSION, (void)0)              \
    PLAIN_BINARY_LOOP(OP##_##SIGN##64, npy_##SIGN##64, npy_bool, EXPRESSION, (void)0)
#define FLOAT_COMPARE(OP, EXPRESSION)                                                              \
    PLAIN_BINARY_LOOP(OP##_float32, float, npy_bool, EXPRESSION, fp_clear(0))                      \
    PLAIN_BINARY_LOOP(OP##_float64, double, npy_bool, EXPRESSION, fp_clear(0))
#define COMPLEX_COMPARE(OP, EXPRESSION)                                                            \
    PLAIN_BINARY_LOOP(OP##_complex64, complex64, npy_bool, EXPRESSION, fp_clear(0))                \
    PLAIN_BINARY_LOOP(OP##_complex128, complex128, npy_bool, EXPRESSION, fp_clear(0))

INTEGER_COMPARE(equal, uint, a == b)
INTEGER_COMPARE(not_equal, uint, a != b)
INTEGER_COMPARE(less, uint, a < b)
INTEGER_COMPARE(less_equal, uint, a <= b)
INTEGER_COMPARE(greater, uint, a > b)
INTEGER_COMPARE(greater_equal, uint, a >= b)
INTEGER_COMPARE(less, int, a < b)
INTEGER_COMPARE(less_equal, int, a <= b)
INTEGER_COMPARE(greater, int, a > b)
INTEGER_COMPARE(greater_equal, int, a >= b)
FLOAT_COMPARE(equal, a == b)
FLOAT_COMPARE(not_equal, a != b)
FLOAT_COMPARE(less, isless(a, b))
FLOAT_COMPARE(less_equal, islessequal(a, b))
FLOAT_COMPARE(greater, isgreater(a, b))
FLOAT_COMPARE(greater_equal, isgreaterequal(a, b))
COMPLEX_COMPARE(equal, (a.re == b.re) & (a.im == b.im))
COMPLEX_COMPARE(not_equal, (a.re != b.re) | (a.im != b.im))

/* A NaN is true. */
INTEGER_COMPARE(logical_and, uint, (a != 0) & (b != 0))
INTEGER_COMPARE(logical_or, uint, (a | b) != 0)
INTEGER_COMPARE(logical_xor, uint, (a != 0) ^ (b != 0))
FLOAT_COMPARE(logical_and, (a != 0) & (b != 0))
FLOAT_COMPARE(logical_or, (a != 0) | (b != 0))
PLAIN_BINARY_LOOP(logical_xor_float32, float, npy_bool, (a != 0) ^ (b != 0), (void)0)
PLAIN_BINARY_LOOP(logical_xor_float64, double, npy_bool, (a != 0) ^ (b != 0), (void)0)
UNARY_LOOP(logical_not_float32, float, npy_bool, a == 0, (void)0)
UNARY_LOOP(logical_not_float64, double, npy_bool, a == 0, (void)0)

#define COMPLEX_KINDS(NAME, CTYPE, PART, MAGNITUDE)                                                \
    UNARY_LOOP(isnan_##NAME, CTYPE, npy_bool, isunordered(a.re, a.im), fp_clear(0))                \
    UNARY_LOOP(isinf_##NAME, CTYPE, npy_bool,                                                      \
               (MAGNITUDE(a.re) == (PART)INFINITY) | (MAGNITUDE(a.im) == (PART)INFINITY), fp_clear(0))\
    UNARY_LOOP(isfinite_##NAME, CTYPE, npy_bool,                                                   \
               isless(MAGNITUDE(a.re), (PART)INFINITY) & isless(MAGNITUDE(a.im), (PART)INFINITY),  \
               fp_clear(0))
COMPLEX_KINDS(complex64, complex64, float, fabsf)
COMPLEX_KINDS(complex128, complex128, double, fabs)
