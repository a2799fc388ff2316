/* x86-64 with AVX2 and the float16 conversions of F16C (Haswell, Zen and later). */
#include "loops.h"

#ifdef TENSORITER_X86_TARGETS
#include <immintrin.h>
#define ISA avx2
#define ISA_TARGET __attribute__((target("avx2,f16c")))
#define ISA_SUPPORTED (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"))
#define ISA_HAS_AVX2
#define ISA_HAS_F16C
#define ISA_EVERY_OTHER 1
#define ISA_VECTOR_BYTES 32
#include "expand.h"
#endif
