/* The parallel regions: equal parts of one operation, or tasks of unlike length, side by side. */
#ifndef TENSORITER_PARALLEL_H
#define TENSORITER_PARALLEL_H

#ifdef _OPENMP
#include <omp.h>
#define HAS_OPENMP 1
#else
#define HAS_OPENMP 0
#endif

typedef void (*part_function)(int part, int is_caller, void *context);

/* Each part goes to a thread of its own, the same one at each call, whose caches may still hold it.
   Returns whether it paid: not where the caller has waited for others longer than their parts would have
   taken it. So it is while other processes keep the cores busy, and for short work after a pause, as waking
   a thread that sleeps costs up to 100 microseconds. */
static int run_parts(int parts, part_function function, void *context)
{
#ifdef _OPENMP
    const double start = omp_get_wtime();
    double own = 0;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; part++) {
        const int is_caller = omp_get_thread_num() == 0;
        const double begin = omp_get_wtime();
        function(part, is_caller, context);
        if (is_caller) {
            own = omp_get_wtime() - begin;
        }
    }
    return omp_get_wtime() - start <= own * parts;
#else
    for (int part = 0; part < parts; part++) {
        function(part, 1, context);
    }
    return 0;
#endif
}

/* Tasks 0 to tasks - 1 on that many threads: whoever is free takes the next ones, several at first, as
   neighbours often write to the same cache lines, and one by one in the end. Returns whether it paid, that is
   whether they took less time side by side than one after the other. */
static int run_tasks(int threads, int tasks, part_function function, void *context)
{
#ifdef _OPENMP
    const double start = omp_get_wtime();
    double work = 0;
#pragma omp parallel for schedule(guided) num_threads(threads) reduction(+ : work)
    for (int task = 0; task < tasks; task++) {
        const double begin = omp_get_wtime();
        function(task, omp_get_thread_num() == 0, context);
        work += omp_get_wtime() - begin;
    }
    return omp_get_wtime() - start <= work;
#else
    for (int task = 0; task < tasks; task++) {
        function(task, 1, context);
    }
    return 0;
#endif
}

#endif
