/* What every CPU of the target has: SSE2 on x86-64, NEON on Arm, by the compiler. */
#define ISA baseline
#define ISA_TARGET
#define ISA_SUPPORTED 1
#define ISA_VECTOR_BYTES 16
#include "expand.h"
