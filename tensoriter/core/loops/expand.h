/* Expands every loop and cast for one instruction set. The file that includes this defines
   ISA (its name), ISA_TARGET (the attribute that lets the compiler use it), ISA_SUPPORTED,
   ISA_VECTOR_BYTES and ISA_EVERY_OTHER (whether binary loops take [::2] in vectors). */
#include "fpstatus.h"
#include "half.h"
#include "stretches.h"
#include "types.h"

#include <math.h>
#include <string.h>

#include "binary.h"
#include "unary.h"

#include "arithmetic.h"
#include "bits.h"
#include "float16.h"
#include "comparison.h"
#include "extrema.h"
#include "remainder.h"
#include "select.h"
#include "table.h"
#include "checked.h"

#include "casts.h"
#include "swap.h"

static int supported(void) { return ISA_SUPPORTED; }

#define JOIN_EXPANDED(a, b) a##b
#define JOIN(a, b) JOIN_EXPANDED(a, b)
#define TEXT_EXPANDED(a) #a
#define TEXT(a) TEXT_EXPANDED(a)

const instruction_set JOIN(instruction_set_, ISA) = {TEXT(ISA), supported, loops, checked_loops,
                                                        casts, swap_copy};
