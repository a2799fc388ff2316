/* What every CPU of the target has: SSE2 on x86-64, NEON on Arm, by the compiler. */
#define ISA baseline
#define ISA_TARGET
#define ISA_SUPPORTED 1
/* Not vectorised: for SSE2, gcc multiplies float32 before it drops the elements in between, whose
   floating-point flags are not the call's. */
#define ISA_EVERY_OTHER 0
#define ISA_VECTOR_BYTES 16
#include "expand.h"
