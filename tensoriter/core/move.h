/* Moving elements without changing them: a tile from one layout to another, and results past the cache.

   Both serve every element type by its size alone, and neither needs alignment: memcpy of a known size is
   how C moves an unaligned element, and costs one move. */
#ifndef TENSORITER_MOVE_H
#define TENSORITER_MOVE_H

#include <stdint.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/npy_common.h>

#if defined(__x86_64__) || defined(_M_X64)
#include <emmintrin.h>
#define STREAMING_STORES 1
#else
#define STREAMING_STORES 0
#endif

enum {
    CACHE_LINE = 64,
    /* Bytes of all operands together from which on outputs are streamed, although whoever reads them next
       has to fetch them from memory: the size of a last cache. Measured with add and a reader of its output
       behind it, float64, a last cache of 32 MB: 1.25 times the time of ordinary stores at 12 MB, even at
       24 MB, 0.9 at 36 MB, 0.8 at 48 MB and above. */
    STREAM_FROM = 32 << 20
};

/* Room for a tile of each operand in the loop's type, and one of bytes in the wrong order: 8 KB each on most
   CPUs, so that three such stay in L1. They start on cache lines, for vectors to be whole, and the odd length
   keeps them from lying a multiple of 4,096 bytes apart, where CPUs take a load for one of a store that is
   under way. */
enum { BLOCK_OPERANDS = 8, BLOCK_ITEMS = 512, BLOCK_GAP = 12 };
typedef struct {
    _Alignas(CACHE_LINE) long double native[BLOCK_OPERANDS][BLOCK_ITEMS + BLOCK_GAP];
    _Alignas(CACHE_LINE) long double swapped[BLOCK_ITEMS];
} Blocks;

/* n x rows elements; a step is from element to element, a row step from row to row. The inner of the two
   loops goes along `rows` where that is how one side's elements lie together. */
#define MOVE_ELEMENTS(SIZE)                                                                        \
    for (npy_intp outer = 0; outer < outer_count; outer++) {                                       \
        const char *from = source;                                                                 \
        char *to = target;                                                                         \
        for (npy_intp i = 0; i < inner_count; i++) {                                               \
            memcpy(to, from, SIZE);                                                                \
            from += source_step;                                                                   \
            to += target_step;                                                                     \
        }                                                                                          \
        source += source_row_step;                                                                 \
        target += target_row_step;                                                                 \
    }

static inline void move_by_element(const char *source, npy_intp source_step,
                                   npy_intp source_row_step, char *target, npy_intp target_step,
                                   npy_intp target_row_step, npy_intp inner_count,
                                   npy_intp outer_count, int size)
{
    switch (size) {
    case 1:
        MOVE_ELEMENTS(1)
        break;
    case 2:
        MOVE_ELEMENTS(2)
        break;
    case 4:
        MOVE_ELEMENTS(4)
        break;
    case 8:
        MOVE_ELEMENTS(8)
        break;
    case 16:
        MOVE_ELEMENTS(16)
        break;
    default:
        MOVE_ELEMENTS((size_t)size)
    }
}

/* From elements that lie together along i to elements that lie together along j: 2 x 2 elements of 8 bytes
   or 4 x 4 of 4 at a time, which halves the number of stores and more. While it reads one tile's lines it
   asks for those of the next tile, which the CPU could not guess: they are a whole column away. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define TRANSPOSE_IN_VECTORS 1
#endif
#endif

#ifdef TRANSPOSE_IN_VECTORS
typedef uint64_t two_elements __attribute__((vector_size(16)));
typedef uint32_t four_elements __attribute__((vector_size(16)));
#define LOAD(TYPE, FROM) (*(const TYPE *)memcpy(&(TYPE){0}, FROM, sizeof(TYPE)))

static inline void transpose_4x4(const char *source, npy_intp source_step, char *target,
                                 npy_intp target_step)
{
    const four_elements a = LOAD(four_elements, source);
    const four_elements b = LOAD(four_elements, source + source_step);
    const four_elements c = LOAD(four_elements, source + 2 * source_step);
    const four_elements d = LOAD(four_elements, source + 3 * source_step);
    const four_elements ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const four_elements cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const four_elements ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const four_elements cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const four_elements rows[4] = {
        __builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
        __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
        __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
    for (int i = 0; i < 4; i++) {
        memcpy(target + i * target_step, &rows[i], sizeof(rows[i]));
    }
}

static inline void transpose_2x2(const char *source, npy_intp source_step, char *target,
                                 npy_intp target_step)
{
    const two_elements a = LOAD(two_elements, source);
    const two_elements b = LOAD(two_elements, source + source_step);
    const two_elements low = __builtin_shufflevector(a, b, 0, 2);
    const two_elements high = __builtin_shufflevector(a, b, 1, 3);
    memcpy(target, &low, sizeof(low));
    memcpy(target + target_step, &high, sizeof(high));
}
#endif

/* source[i * size + j * source_step] to target[j * size + i * target_step]. */
static inline void transpose(const char *source, npy_intp source_step, char *target,
                             npy_intp target_step, npy_intp i_count, npy_intp j_count, int size)
{
    npy_intp i_done = 0, j_done = 0;
#ifdef TRANSPOSE_IN_VECTORS
    if (size == 8 || size == 4) {
        const int edge = 16 / size;
        i_done = i_count - i_count % edge;
        for (; j_done + edge <= j_count; j_done += edge) {
            const char *from = source + j_done * source_step;
            char *to = target + j_done * size;
            for (int line = 0; line < edge; line++) {
                __builtin_prefetch(from + line * source_step + i_count * size);
                __builtin_prefetch(from + line * source_step + i_count * size + CACHE_LINE);
            }
            for (npy_intp i = 0; i < i_done; i += edge) {
                if (size == 8) {
                    transpose_2x2(from + i * size, source_step, to + i * target_step, target_step);
                }
                else {
                    transpose_4x4(from + i * size, source_step, to + i * target_step, target_step);
                }
            }
        }
    }
#endif
    /* What the squares leave: columns at the end of the rows done, and whole rows. */
    if (i_done > 0 && j_done < j_count) {
        move_by_element(source + j_done * source_step, size, source_step, target + j_done * size,
                        target_step, size, i_done, j_count - j_done, size);
    }
    if (i_done < i_count) {
        move_by_element(source + i_done * size, size, source_step, target + i_done * target_step,
                        target_step, size, i_count - i_done, j_count, size);
    }
}

static inline npy_intp step_length(npy_intp step) { return step < 0 ? -step : step; }

static inline void move_tile(const char *source, npy_intp source_step, npy_intp source_row_step,
                             char *target, npy_intp target_step, npy_intp target_row_step,
                             npy_intp n, npy_intp rows, int size)
{
    if (source_step == size && target_step == size) {
        for (npy_intp row = 0; row < rows; row++) {
            memcpy(target + row * target_row_step, source + row * source_row_step,
                   (size_t)(n * size));
        }
    }
    else if (source_row_step == size && target_step == size) {
        transpose(source, source_step, target, target_row_step, rows, n, size);
    }
    else if (source_step == size && target_row_step == size) {
        transpose(source, source_row_step, target, target_step, n, rows, size);
    }
    else if (step_length(source_row_step) < step_length(source_step) ||
             step_length(target_row_step) < step_length(target_step)) {
        move_by_element(source, source_row_step, source_step, target, target_row_step, target_step,
                        rows, n, size);
    }
    else {
        move_by_element(source, source_step, source_row_step, target, target_step, target_row_step,
                        n, rows, size);
    }
}

/* Copies results that lie in L1 to where they belong, past the cache: an ordinary store first reads the
   line that it is about to overwrite. Lines that are not written as a whole are stored ordinarily. */
static inline void stream_out(char *target, const char *source, npy_intp bytes)
{
#if STREAMING_STORES
    npy_intp head = (npy_intp)(-(uintptr_t)target % CACHE_LINE);
    if (head != 0) {
        head = head < bytes ? head : bytes;
        memcpy(target, source, (size_t)head);
    }
    npy_intp done = head;
    for (; done + CACHE_LINE <= bytes; done += CACHE_LINE) {
        for (int part = 0; part < CACHE_LINE; part += 16) {
            const __m128i x = _mm_loadu_si128((const __m128i *)(source + done + part));
            _mm_stream_si128((__m128i *)(target + done + part), x);
        }
    }
    if (done < bytes) {
        memcpy(target + done, source + done, (size_t)(bytes - done));
    }
#else
    memcpy(target, source, (size_t)bytes);
#endif
}

/* Asks for memory that is read soon: while a block is streamed out, no load of the next one has begun. */
static inline void prefetch_lines(const char *first, npy_intp bytes)
{
#if defined(__GNUC__)
    for (npy_intp i = 0; i < bytes; i += CACHE_LINE) {
        __builtin_prefetch(first + i);
    }
#else
    (void)first;
    (void)bytes;
#endif
}

/* Streamed stores are ordered with nothing: before another thread may learn of them they are fenced. */
static inline void end_of_stream(void)
{
#if STREAMING_STORES
    _mm_sfence();
#endif
}

#endif
