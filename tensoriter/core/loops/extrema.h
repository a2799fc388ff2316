/* maximum and minimum, which hand on the first NaN, and fmax and fmin, which hand on what is none.

   Of equal numbers, zeros of unlike signs included, x86's vectors give the second, and so do NumPy's
   loops there; other CPUs have rules of their own, so that elsewhere NumPy's loops run. So do they for fmax
   and fmin of float32 and float64: of unlike zeros NumPy gives the second within its vectors and the first
   in what is left over after them. Flags are cleared, as comparisons do (see comparison.h). */

#define INTEGER_EXTREMA(NAME, TYPE, CTYPE, UNSIGNED)                                               \
    PLAIN_BINARY_LOOP(maximum_##NAME, CTYPE, CTYPE, (void)data, a > b ? a : b, (void)0)            \
    PLAIN_BINARY_LOOP(minimum_##NAME, CTYPE, CTYPE, (void)data, a < b ? a : b, (void)0)
FOR_EACH_INTEGER(INTEGER_EXTREMA)

#if defined(__x86_64__) || defined(_M_X64)
#define FLOATS_OF_X86(OP) FLOATS(OP)
#define FLOAT_EXTREMUM(OP, CHOICE)                                                                 \
    PLAIN_BINARY_LOOP(OP##_float32, float, float, (void)data, ((CHOICE) ? a : b), fp_clear(0))     \
    PLAIN_BINARY_LOOP(OP##_float64, double, double, (void)data, ((CHOICE) ? a : b), fp_clear(0))
FLOAT_EXTREMUM(maximum, (a > b) | (a != a))
FLOAT_EXTREMUM(minimum, (a < b) | (a != a))
#else
#define FLOATS_OF_X86(OP)
#endif

/* Complex numbers are in the order of their real parts, then of the imaginary ones; a NaN may be in either. */
#define COMPLEX_ORDER(OPERATOR, OR_EQUAL)                                                          \
    (((a.re OPERATOR b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im OR_EQUAL b.im)))
#define COMPLEX_ISNAN(x) ((x.re != x.re) | (x.im != x.im))
#define COMPLEX_EXTREMUM(OP, CHOICE)                                                               \
    PLAIN_BINARY_LOOP(OP##_complex64, complex64, complex64, (void)data, ((CHOICE) ? a : b), fp_clear(0))\
    PLAIN_BINARY_LOOP(OP##_complex128, complex128, complex128, (void)data, ((CHOICE) ? a : b), fp_clear(0))
COMPLEX_EXTREMUM(maximum, COMPLEX_ISNAN(a) | COMPLEX_ORDER(>, >=))
COMPLEX_EXTREMUM(minimum, COMPLEX_ISNAN(a) | COMPLEX_ORDER(<, <=))
COMPLEX_EXTREMUM(fmax, COMPLEX_ISNAN(b) | COMPLEX_ORDER(>, >=))
COMPLEX_EXTREMUM(fmin, COMPLEX_ISNAN(b) | COMPLEX_ORDER(<, <=))
