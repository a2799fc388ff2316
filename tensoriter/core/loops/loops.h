/* The loops: plain C functions that run one op over n elements.

   A loop has the signature of NumPy's ufunc loops, so ours and NumPy's are called alike:
   args[k] points at operand k's first element, dimensions[0] is n, steps[k] is operand k's step
   in bytes. The caller promises that every operand is aligned and native, and that an output
   either is exactly one of the inputs (same start, same step) or overlaps none of them. */
#ifndef TENSORITER_LOOPS_H
#define TENSORITER_LOOPS_H

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/npy_common.h>
#include <numpy/ndarraytypes.h>

typedef void (*loop_function)(char **args, npy_intp const *dimensions, npy_intp const *steps,
                              void *data);

/* A cast reads n elements of one type (aligned or not, native order) and writes them as another. */
typedef void (*cast_function)(const char *source, npy_intp source_step, char *target,
                              npy_intp target_step, npy_intp n);

/* The numeric types by what their bytes mean. NumPy has more type numbers than that: its 'l' and
   'q' are both INT64 on Linux. */
enum element_type {
    BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64,
    FLOAT16, FLOAT32, FLOAT64, LONGDOUBLE, COMPLEX64, COMPLEX128, CLONGDOUBLE,
    ELEMENT_TYPES
};

/* Which function runs an op on operands that are all of one type, and what its result is. */
typedef struct {
    const char *op;
    enum element_type in, out;
    loop_function function;
} loop_entry;

/* Copies n elements of item_size bytes with the bytes of each unit of unit_size reversed (a complex
   element is two units). Reads and writes need no alignment. */
typedef void (*swap_function)(const char *source, npy_intp source_step, char *target,
                              npy_intp target_step, npy_intp n, int item_size, int unit_size);

/* One instruction set: its name, whether this CPU has it, its loops, those that check integers, its casts
   and its change of byte order. A table of loops ends with a NULL op. casts[source][target] is NULL where the cast is left to
   NumPy. */
typedef struct {
    const char *name;
    int (*supported)(void);
    const loop_entry *loops;
    const loop_entry *checked_loops;
    const cast_function (*casts)[ELEMENT_TYPES];
    swap_function swap;
} instruction_set;

extern const instruction_set instruction_set_baseline;
#if defined(__GNUC__) && defined(__x86_64__)
#define TENSORITER_X86_TARGETS 1
extern const instruction_set instruction_set_avx2;
extern const instruction_set instruction_set_avx512;
#endif

/* The best set that this CPU has, no better than the one named (NULL: no limit). */
const instruction_set *choose_instruction_set(const char *limit);

/* The names of the sets in this build, best first, ended by NULL. */
const char *const *built_instruction_sets(void);

/* NULL where the table has no loop of the op for that type of operands. */
loop_function find_loop(const loop_entry *loops, const char *op, enum element_type in);

#endif
