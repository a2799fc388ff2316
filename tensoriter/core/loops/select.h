/* where: of x and y that one which the condition says, element by element; it looks at the width only. */

#define SELECT_LOOP(NAME, TYPE)                                                                    \
    ISA_TARGET static void NAME(char **args, npy_intp const *dimensions, npy_intp const *steps,    \
                                void *data)                                                        \
    {                                                                                              \
        const npy_intp n = dimensions[0], size = sizeof(TYPE);                                     \
        const npy_bool *condition = (const npy_bool *)args[0];                                     \
        const TYPE *x = (const TYPE *)args[1];                                                     \
        const TYPE *y = (const TYPE *)args[2];                                                     \
        TYPE *out = (TYPE *)args[3];                                                               \
        (void)data;                                                                                \
        if (steps[0] == 1 && steps[1] == size && steps[2] == size && steps[3] == size) {           \
            EACH(INDEPENDENT, const TYPE a = x[i], b = y[i]; out[i] = condition[i] ? a : b;)       \
        }                                                                                          \
        else if (n > 0 && steps[0] == 1 && steps[1] == size && steps[2] == 0 && steps[3] == size) {\
            const TYPE b = *y;                                                                     \
            EACH(INDEPENDENT, const TYPE a = x[i]; out[i] = condition[i] ? a : b;)                 \
        }                                                                                          \
        else if (n > 0 && steps[0] == 1 && steps[1] == 0 && steps[2] == size && steps[3] == size) {\
            const TYPE a = *x;                                                                     \
            EACH(INDEPENDENT, const TYPE b = y[i]; out[i] = condition[i] ? a : b;)                 \
        }                                                                                          \
        else {                                                                                     \
            for (npy_intp i = 0; i < n; i++) {                                                     \
                *out = *condition ? *x : *y;                                                       \
                condition += steps[0];                                                             \
                x = (const void *)((const char *)x + steps[1]);                                    \
                y = (const void *)((const char *)y + steps[2]);                                    \
                out = (void *)((char *)out + steps[3]);                                            \
            }                                                                                      \
        }                                                                                          \
    }

typedef struct {
    npy_uint64 parts[2];
} bits128;
typedef struct {
    npy_uint64 parts[4];
} bits256;

SELECT_LOOP(where_bits8, npy_uint8)
SELECT_LOOP(where_bits16, npy_uint16)
SELECT_LOOP(where_bits32, npy_uint32)
SELECT_LOOP(where_bits64, npy_uint64)
SELECT_LOOP(where_bits128, bits128)
SELECT_LOOP(where_bits256, bits256)
