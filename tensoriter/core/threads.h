/* Threads: what C has to keep for each thread, and what happens at a fork. */
#ifndef TENSORITER_THREADS_H
#define TENSORITER_THREADS_H

#include <stddef.h>

#include "experience.h"
#include "thread_local.h"

/* The number that a `threads(n)` block gives this thread; 0 outside of one. */
static THREAD_LOCAL int block_limit = 0;

static int get_block_limit(void) { return block_limit; }
static void set_block_limit(int limit) { block_limit = limit; }

/* Of this thread, by the size of the work: its power of 2. */
static THREAD_LOCAL Experience experiences[8 * sizeof(size_t)];

static Experience *experience_with(size_t size)
{
    int power = 0;
    while (size >>= 1) {
        power++;
    }
    return &experiences[power];
}

/* OpenMP's threads do not exist in a forked child, but GNU's library goes on waiting for them there: a
   process that was forked computes on one thread. */
static int forked = 0;

static int is_forked(void) { return forked; }

#if defined(_WIN32)
static void watch_forks(void) {}
#else
#include <pthread.h>
static void note_fork(void) { forked = 1; }
static void watch_forks(void) { pthread_atfork(NULL, NULL, note_fork); }
#endif

#endif
