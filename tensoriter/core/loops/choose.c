/* Which instruction set runs: decided once, at import, from what this CPU reports. */
#include "loops.h"

#include <string.h>

static const instruction_set *const best_first[] = {
#ifdef TENSORITER_X86_TARGETS
    &instruction_set_avx512,
    &instruction_set_avx2,
#endif
    &instruction_set_baseline,
};

enum { SETS = sizeof(best_first) / sizeof(best_first[0]) };

const instruction_set *choose_instruction_set(const char *limit)
{
    int first = 0;
    for (int i = 0; limit != NULL && i < SETS; i++) {
        if (strcmp(best_first[i]->name, limit) == 0) {
            first = i;
        }
    }
    for (int i = first; i < SETS; i++) {
        if (best_first[i]->supported()) {
            return best_first[i];
        }
    }
    return &instruction_set_baseline;
}

const char *const *built_instruction_sets(void)
{
    static const char *names[SETS + 1];
    for (int i = 0; i < SETS; i++) {
        names[i] = best_first[i]->name;
    }
    return names;
}

loop_function find_loop(const loop_entry *loops, const char *op, enum element_type in)
{
    for (const loop_entry *entry = loops; entry->op != NULL; entry++) {
        if (entry->in == in && strcmp(entry->op, op) == 0) {
            return entry->function;
        }
    }
    return NULL;
}
