/* Peeling: a large contiguous output whose vectors straddle cache lines, beside an input that does so
   alike, is written in two stretches, the second of which starts where both lie within lines. A store
   that straddles lines costs two, which for arrays in the L1 cache is up to half of the time. Where
   every input would only be moved off its lines, peeling gains nothing, and is not done.

   A loop calls itself for both stretches, so that peeling needs no code of its own in it, and small
   calls pay one comparison. Every element is written once: an output that is an input stays right. */
#ifndef TENSORITER_STRETCHES_H
#define TENSORITER_STRETCHES_H

#include "loops.h"

/* In bytes of output. Measured on Zen 3: below, the second start costs as much as straddling does; above,
   where the arrays are past the L2 cache, memory is what counts, and peeling cost up to 4 %. */
enum { PEEL_FROM = 2048, PEEL_TO = 128 * 1024 };

/* How many elements lie before the first address of the output from where vectors straddle no lines: 0
   also where the output is not contiguous, where no element starts at such an address and where no
   input is off its lines by as much. */
static inline npy_intp lead_to_line(int inputs, char **args, npy_intp n, npy_intp const *steps,
                                    npy_intp size)
{
    const npy_uintp out = (npy_uintp)args[inputs];
    int alike = 0;
    for (int k = 0; k < inputs; k++) {
        alike |= steps[k] == size && (out - (npy_uintp)args[k]) % ISA_VECTOR_BYTES == 0;
    }
    if (!alike || steps[inputs] != size || n > PEEL_TO / size) {
        return 0;
    }
    return (npy_intp)(-out % ISA_VECTOR_BYTES) / size;
}

/* Out of line, so that the loops need no stack frame for it. */
#if defined(__GNUC__)
__attribute__((noinline))
#endif
static void run_from_line(loop_function loop, int inputs, char **args, npy_intp const *dimensions,
                          npy_intp const *steps, void *data)
{
    const npy_intp n = dimensions[0];
    const npy_intp lead = lead_to_line(inputs, args, n, steps, steps[inputs]), rest = n - lead;
    char *moved[3];
    for (int k = 0; k <= inputs; k++) {
        moved[k] = args[k] + lead * steps[k];
    }
    loop(args, &lead, steps, data);
    loop(moved, &rest, steps, data);
}

#endif
