/* Rows by an index array, as np.take chooses them. */
#ifndef TENSORITER_TAKE_H
#define TENSORITER_TAKE_H

#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/npy_common.h>

enum { TAKE_RAISE, TAKE_WRAP, TAKE_CLIP };

/* The row that an index means; -1 where there is none. */
static inline npy_intp row_of(npy_intp index, npy_intp length, int mode)
{
    if (index >= 0 && index < length) {
        return index;
    }
    if (mode == TAKE_CLIP) {
        return index < 0 ? 0 : length - 1;
    }
    if (mode == TAKE_WRAP) {
        index %= length;
        return index < 0 ? index + length : index;
    }
    return index < 0 && index >= -length ? index + length : -1;
}

#define TAKE_CHUNKS(SIZE)                                                                          \
    for (npy_intp i = 0; i < count; i++) {                                                         \
        const npy_intp row = row_of(indices[i], length, mode);                                     \
        if (row < 0) {                                                                             \
            return 0;                                                                              \
        }                                                                                          \
        memcpy(target, source + row * step, (size_t)(SIZE));                                       \
        target += SIZE;                                                                            \
    }

/* Copies `count` rows of `chunk` bytes for each of `outer` pieces; false at the first index that is out of
   bounds. */
static inline int take_rows(const char *source, const npy_intp *indices, char *target, npy_intp count,
                            npy_intp outer, npy_intp outer_step, npy_intp length, npy_intp step,
                            npy_intp chunk, int mode)
{
    for (npy_intp piece = 0; piece < outer; piece++) {
        switch (chunk) {
        case 4:
            TAKE_CHUNKS(4)
            break;
        case 8:
            TAKE_CHUNKS(8)
            break;
        default:
            TAKE_CHUNKS(chunk)
        }
        source += outer_step;
    }
    return 1;
}

#endif
