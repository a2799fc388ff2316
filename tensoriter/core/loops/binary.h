/* The ways of a binary loop, expanded once for each instruction set.

   A binary loop meets its operands in one of these ways, told apart by their steps:

       contiguous      x1 ▮▮▮▮       x2 ▮▮▮▮       out ▮▮▮▮     vectorised
       x1 constant     x1 ▮           x2 ▮▮▮▮       out ▮▮▮▮     vectorised
       x2 constant     x1 ▮▮▮▮       x2 ▮           out ▮▮▮▮     vectorised
       every other     x1 ▮·▮·▮·▮·   x2 ▮·▮·▮·▮·   out ▮▮▮▮     vectorised, as [::2] is common
       strided         x1 ▮·▮·        x2 ▮··▮       out ▮·▮·     one element after the other

   The test of the steps costs six comparisons, about 1 ns. A large output is brought onto
   a cache line first (stretches.h). */

/* Runs NumPy's own loop, which data points at, for what ours leaves to it. */
static inline void run_numpys(char **args, npy_intp const *dimensions, npy_intp const *steps, void *data)
{
    loop_function numpys;
    memcpy(&numpys, &data, sizeof(numpys));
    numpys(args, dimensions, steps, NULL);
}

/* Runs STATEMENTS for i from 0 to n. */
#define EACH(PRAGMAS, ...)                                                                         \
    PRAGMAS for (npy_intp i = 0; i < n; i++)                                                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* EXPRESSION of a and b, which are of type IN, for every element; SETUP runs before them and FINISH after. */
#define BINARY_LOOP(NAME, IN, OUT, SETUP, EXPRESSION, FINISH)                                      \
    ISA_TARGET static void NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,    \
                                void *data)                                                        \
    {                                                                                              \
        const npy_intp n = dimensions[0], size = sizeof(IN), out_size = sizeof(OUT);               \
        if (n >= PEEL_FROM / out_size && lead_to_line(2, args, n, steps, out_size)) {              \
            run_from_line(NAME, 2, args, dimensions, steps, data);                                 \
            return;                                                                                \
        }                                                                                          \
        const npy_intp step1 = steps[0], step2 = steps[1], out_step = steps[2];                    \
        const IN *x1 = (const IN *)args[0];                                                        \
        const IN *x2 = (const IN *)args[1];                                                        \
        OUT *out = (OUT *)args[2];                                                                 \
        SETUP;                                                                                     \
        if (out_step == out_size && step1 == size && step2 == size) {                              \
            EACH(INDEPENDENT UNROLLED, const IN a = x1[i], b = x2[i]; out[i] = EXPRESSION;)        \
        }                                                                                          \
        else if (n > 0 && out_step == out_size && step1 == 0 && step2 == size) {                   \
            const IN a = *x1;                                                                      \
            EACH(INDEPENDENT UNROLLED, const IN b = x2[i]; out[i] = EXPRESSION;)                   \
        }                                                                                          \
        else if (n > 0 && out_step == out_size && step1 == size && step2 == 0) {                   \
            const IN b = *x2;                                                                      \
            EACH(INDEPENDENT UNROLLED, const IN a = x1[i]; out[i] = EXPRESSION;)                   \
        }                                                                                          \
        else if (ISA_EVERY_OTHER && out_step == out_size && step1 == 2 * size && step2 == 2 * size) {\
            EACH(INDEPENDENT, const IN a = x1[2 * i], b = x2[2 * i]; out[i] = EXPRESSION;)         \
        }                                                                                          \
        else if (n > 0 && step1 == 0) {                                                            \
            const IN a = *x1;                                                                      \
            STRIDED_LOOP(UNROLLED, const IN b = *x2; *out = EXPRESSION;)                           \
        }                                                                                          \
        else if (n > 0 && step2 == 0) {                                                            \
            const IN b = *x2;                                                                      \
            STRIDED_LOOP(UNROLLED, const IN a = *x1; *out = EXPRESSION;)                           \
        }                                                                                          \
        else {                                                                                     \
            STRIDED_LOOP(UNROLLED, const IN a = *x1, b = *x2; *out = EXPRESSION;)                  \
        }                                                                                          \
        FINISH;                                                                                    \
    }

/* Steps through x1, x2 and out by bytes. */
#define STRIDED_LOOP(PRAGMAS, ...) STRIDED_FROM(0, PRAGMAS, __VA_ARGS__)
#define STRIDED_FROM(FIRST, PRAGMAS, ...)                                                          \
    PRAGMAS for (npy_intp index = FIRST; index < n; index++)                                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
        x1 = (const void *)((const char *)x1 + step1);                                             \
        x2 = (const void *)((const char *)x2 + step2);                                             \
        out = (void *)((char *)out + out_step);                                                    \
    }

/* The same with less code, for what is called less often or spends its time in EXPRESSION: nothing is
   unrolled, and every other element is strided. */
#define PLAIN_BINARY_LOOP(NAME, IN, OUT, SETUP, EXPRESSION, FINISH)                                \
    ISA_TARGET static void NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,    \
                                void *data)                                                        \
    {                                                                                              \
        const npy_intp n = dimensions[0], size = sizeof(IN), out_size = sizeof(OUT);               \
        if (n >= PEEL_FROM / out_size && lead_to_line(2, args, n, steps, out_size)) {              \
            run_from_line(NAME, 2, args, dimensions, steps, data);                                 \
            return;                                                                                \
        }                                                                                          \
        const npy_intp step1 = steps[0], step2 = steps[1], out_step = steps[2];                    \
        const IN *x1 = (const IN *)args[0];                                                        \
        const IN *x2 = (const IN *)args[1];                                                        \
        OUT *out = (OUT *)args[2];                                                                 \
        SETUP;                                                                                     \
        if (out_step == out_size && step1 == size && step2 == size) {                              \
            EACH(INDEPENDENT, const IN a = x1[i], b = x2[i]; out[i] = EXPRESSION;)                 \
        }                                                                                          \
        else if (n > 0 && out_step == out_size && step1 == 0 && step2 == size) {                   \
            const IN a = *x1;                                                                      \
            EACH(INDEPENDENT, const IN b = x2[i]; out[i] = EXPRESSION;)                            \
        }                                                                                          \
        else if (n > 0 && out_step == out_size && step1 == size && step2 == 0) {                   \
            const IN b = *x2;                                                                      \
            EACH(INDEPENDENT, const IN a = x1[i]; out[i] = EXPRESSION;)                            \
        }                                                                                          \
        else {                                                                                     \
            STRIDED_LOOP(, const IN a = *x1, b = *x2; *out = EXPRESSION;)                          \
        }                                                                                          \
        FINISH;                                                                                    \
    }

/* One binary op for the types of a kind. For integers of one width whose bits come out alike with and
   without a sign, one loop serves both: unsigned, as overflow of signed integers is undefined in C. */
#define BITS_BINARY(OP, EXPRESSION)                                                                \
    BINARY_LOOP(OP##_bits8, npy_uint8, npy_uint8, (void)data, (npy_uint8)(EXPRESSION), (void)0)    \
    BINARY_LOOP(OP##_bits16, npy_uint16, npy_uint16, (void)data, (npy_uint16)(EXPRESSION), (void)0)\
    BINARY_LOOP(OP##_bits32, npy_uint32, npy_uint32, (void)data, (npy_uint32)(EXPRESSION), (void)0)\
    BINARY_LOOP(OP##_bits64, npy_uint64, npy_uint64, (void)data, (npy_uint64)(EXPRESSION), (void)0)

#define FLOAT_BINARY(OP, EXPRESSION)                                                               \
    BINARY_LOOP(OP##_float32, float, float, (void)data, EXPRESSION, (void)0)                       \
    BINARY_LOOP(OP##_float64, double, double, (void)data, EXPRESSION, (void)0)

#define COMPLEX_BINARY(OP, REAL, IMAGINARY)                                                        \
    BINARY_LOOP(OP##_complex64, complex64, complex64, (void)data, ((complex64){REAL, IMAGINARY}), (void)0)\
    BINARY_LOOP(OP##_complex128, complex128, complex128, (void)data, ((complex128){REAL, IMAGINARY}), (void)0)
