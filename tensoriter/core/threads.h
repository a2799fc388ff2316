/* Threads: what C has to keep for each thread, and what happens at a fork. */
#ifndef TENSORITER_THREADS_H
#define TENSORITER_THREADS_H

#if defined(_MSC_VER)
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL _Thread_local
#endif

/* The number that a `threads(n)` block gives this thread; 0 outside of one. */
static THREAD_LOCAL int block_limit = 0;

static int get_block_limit(void) { return block_limit; }
static void set_block_limit(int limit) { block_limit = limit; }

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
