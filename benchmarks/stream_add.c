/* c = a + b as STREAM does it: what the machine's memory allows an add, beside benchmarks/ceiling.py.
 *
 * c must start at a multiple of 16 bytes. Non-temporal stores do not read c's lines before writing
 * them; SSE2, which every x86-64 has, is wide enough: with AVX the memory is no faster. */

#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

void stream_add(const double *a, const double *b, double *c, size_t n)
{
    size_t i = 0;
#ifdef __SSE2__
    for (; i + 2 <= n; i += 2)
        _mm_stream_pd(c + i, _mm_add_pd(_mm_loadu_pd(a + i), _mm_loadu_pd(b + i)));
    _mm_sfence();
#endif
    for (; i < n; i++)
        c[i] = a[i] + b[i];
}
