/* The one parallel region: parts 0 to parts - 1 of some work, side by side. */
#ifndef TENSORITER_PARALLEL_H
#define TENSORITER_PARALLEL_H

#ifdef _OPENMP
#include <omp.h>
#define HAS_OPENMP 1
#else
#define HAS_OPENMP 0
#endif

typedef void (*part_function)(int part, int is_caller, void *context);

/* Each part goes to a thread of its own, the same one at each call, whose caches may still hold it. */
static void run_parts(int parts, part_function function, void *context)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; part++) {
        function(part, omp_get_thread_num() == 0, context);
    }
#else
    for (int part = 0; part < parts; part++) {
        function(part, 1, context);
    }
#endif
}

#endif
