/* x86-64 with AVX-512 as Skylake-X, Ice Lake and Zen 4 have it. */
#include "loops.h"

#ifdef TENSORITER_X86_TARGETS
#include <immintrin.h>
#define ISA avx512
#define ISA_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c")))
#define ISA_SUPPORTED                                                                              \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&                    \
     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#define ISA_HAS_AVX2
#define ISA_HAS_F16C
#define ISA_EVERY_OTHER 1
#define ISA_VECTOR_BYTES 64
#include "expand.h"
#endif
