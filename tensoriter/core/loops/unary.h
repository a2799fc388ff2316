/* The ways of a unary loop, expanded once for each instruction set: contiguous and every other element
   vectorised (see the picture in binary.h), strided one element after the other. */

/* EXPRESSION of a, which is of type IN, for every element; SETUP runs before them and FINISH after. */
#define UNARY_LOOP_WITH(NAME, IN, OUT, SETUP, EXPRESSION, FINISH)                                  \
    ISA_TARGET static void NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,    \
                                void *data)                                                        \
    {                                                                                              \
        const npy_intp n = dimensions[0], size = sizeof(IN), out_size = sizeof(OUT);               \
        if (n >= PEEL_FROM / out_size && lead_to_line(1, args, n, steps, out_size)) {              \
            run_from_line(NAME, 1, args, dimensions, steps, data);                                 \
            return;                                                                                \
        }                                                                                          \
        const npy_intp step = steps[0], out_step = steps[1];                                       \
        const IN *x = (const IN *)args[0];                                                         \
        OUT *out = (OUT *)args[1];                                                                 \
        SETUP;                                                                                     \
        if (out_step == out_size && step == size) {                                                \
            EACH(INDEPENDENT, const IN a = x[i]; out[i] = EXPRESSION;)                             \
        }                                                                                          \
        else if (ISA_EVERY_OTHER && out_step == out_size && step == 2 * size) {                    \
            EACH(INDEPENDENT, const IN a = x[2 * i]; out[i] = EXPRESSION;)                         \
        }                                                                                          \
        else {                                                                                     \
            for (npy_intp i = 0; i < n; i++) {                                                     \
                const IN a = *x;                                                                   \
                *out = EXPRESSION;                                                                 \
                x = (const void *)((const char *)x + step);                                        \
                out = (void *)((char *)out + out_step);                                            \
            }                                                                                      \
        }                                                                                          \
        FINISH;                                                                                    \
    }
#define UNARY_LOOP(NAME, IN, OUT, EXPRESSION, FINISH)                                              \
    UNARY_LOOP_WITH(NAME, IN, OUT, (void)data, EXPRESSION, FINISH)

/* One unary op for the types of a kind, see binary.h. */
#define BITS_UNARY(OP, EXPRESSION)                                                                 \
    UNARY_LOOP(OP##_bits8, npy_uint8, npy_uint8, (npy_uint8)(EXPRESSION), (void)0)                 \
    UNARY_LOOP(OP##_bits16, npy_uint16, npy_uint16, (npy_uint16)(EXPRESSION), (void)0)             \
    UNARY_LOOP(OP##_bits32, npy_uint32, npy_uint32, (npy_uint32)(EXPRESSION), (void)0)             \
    UNARY_LOOP(OP##_bits64, npy_uint64, npy_uint64, (npy_uint64)(EXPRESSION), (void)0)

#define FLOAT_UNARY(OP, EXPRESSION)                                                                \
    UNARY_LOOP(OP##_float32, float, float, EXPRESSION, (void)0)                                    \
    UNARY_LOOP(OP##_float64, double, double, EXPRESSION, (void)0)
