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

/* Where rows come from and go to, in bytes. */
typedef struct {
    npy_intp outer;       /* pieces, each with as many rows as there are indices, ... */
    npy_intp outer_step;  /* ... so far apart */
    npy_intp length;      /* rows that there are to choose from, ... */
    npy_intp step;        /* ... so far apart ... */
    npy_intp chunk;       /* ... and so long */
    npy_intp index_step;  /* between indices */
    npy_intp target_step; /* between rows of the result */
    int mode;
} Rows;

/* Rows of a length that the compiler knows are moved in registers, others by a call of memcpy. */
#define TAKE_ROWS(SIZE)                                                                            \
    for (npy_intp i = 0; i < count; i++) {                                                         \
        const npy_intp row = row_of(*(const npy_intp *)index, rows->length, rows->mode);           \
        if (row < 0) {                                                                             \
            return 0;                                                                              \
        }                                                                                          \
        memcpy(target, source + row * rows->step, (size_t)(SIZE));                                 \
        index += rows->index_step;                                                                 \
        target += rows->target_step;                                                               \
    }                                                                                              \
    break;

/* Copies `count` rows for each piece; false at the first index that is out of bounds. */
static inline int take_rows(const Rows *rows, const char *source, const char *indices, char *target,
                            npy_intp count)
{
    for (npy_intp piece = 0; piece < rows->outer; piece++) {
        const char *index = indices;
        switch (rows->chunk) {
        case 4: TAKE_ROWS(4)
        case 8: TAKE_ROWS(8)
        case 16: TAKE_ROWS(16)
        case 32: TAKE_ROWS(32)
        case 64: TAKE_ROWS(64)
        case 128: TAKE_ROWS(128)
        default: TAKE_ROWS(rows->chunk)
        }
        source += rows->outer_step;
    }
    return 1;
}

#endif
