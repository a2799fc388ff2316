/* Byte order, expanded once for each instruction set: elements of the other order are copied into native
   ones, or back, block by block. */

static inline uint16_t reverse2(uint16_t x) { return (uint16_t)((x >> 8) | (x << 8)); }

static inline uint32_t reverse4(uint32_t x)
{
    return ((x & 0xffu) << 24) | ((x & 0xff00u) << 8) | ((x >> 8) & 0xff00u) | (x >> 24);
}

static inline uint64_t reverse8(uint64_t x)
{
    return ((uint64_t)reverse4((uint32_t)x) << 32) | reverse4((uint32_t)(x >> 32));
}

/* Elements of one unit, or of two (complex). Without gaps both are a plain run of units, which compilers
   turn into byte shuffles. memcpy is how C reads an unaligned integer; it costs one move. */
#define SWAP_LOOP(NAME, TYPE, REVERSE)                                                             \
    ISA_TARGET static void NAME(const char *source, npy_intp source_step, char *target,            \
                                npy_intp target_step, npy_intp n, int units)                       \
    {                                                                                              \
        const npy_intp size = sizeof(TYPE), element = units * size;                                \
        TYPE x;                                                                                    \
        if (source_step == element && target_step == element) {                                    \
            n *= units;                                                                            \
            INDEPENDENT for (npy_intp i = 0; i < n; i++)                                           \
            {                                                                                      \
                memcpy(&x, source + i * size, sizeof(x));                                          \
                x = REVERSE(x);                                                                    \
                memcpy(target + i * size, &x, sizeof(x));                                          \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            for (int unit = 0; unit < units; unit++) {                                             \
                memcpy(&x, source + i * source_step + unit * size, sizeof(x));                     \
                x = REVERSE(x);                                                                    \
                memcpy(target + i * target_step + unit * size, &x, sizeof(x));                     \
            }                                                                                      \
        }                                                                                          \
    }

SWAP_LOOP(swap_units_2, uint16_t, reverse2)
SWAP_LOOP(swap_units_4, uint32_t, reverse4)
SWAP_LOOP(swap_units_8, uint64_t, reverse8)

/* long double, whose unit is 12 or 16 bytes: rare enough for a byte at a time. */
static void swap_bytewise(const char *source, npy_intp source_step, char *target,
                          npy_intp target_step, npy_intp n, int units, int unit_size)
{
    for (npy_intp i = 0; i < n; i++) {
        for (int unit = 0; unit < units; unit++) {
            const char *from = source + i * source_step + unit * unit_size;
            char *to = target + i * target_step + unit * unit_size;
            for (int byte = 0; byte < unit_size; byte++) {
                to[byte] = from[unit_size - 1 - byte];
            }
        }
    }
}

static void swap_copy(const char *source, npy_intp source_step, char *target, npy_intp target_step,
                      npy_intp n, int item_size, int unit_size)
{
    const int units = item_size / unit_size;
    switch (unit_size) {
    case 2:
        swap_units_2(source, source_step, target, target_step, n, units);
        break;
    case 4:
        swap_units_4(source, source_step, target, target_step, n, units);
        break;
    case 8:
        swap_units_8(source, source_step, target, target_step, n, units);
        break;
    default:
        swap_bytewise(source, source_step, target, target_step, n, units, unit_size);
    }
}
