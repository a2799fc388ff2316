/* What every CPU of the target has: SSE2 on x86-64, NEON on Arm, by the compiler. */
#define ISA baseline
#define ISA_TARGET
#define ISA_SUPPORTED 1
#include "expand.h"
