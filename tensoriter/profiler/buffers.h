/* Where records wait: a ring for each thread, written without a lock by its thread alone.

   Whoever empties a ring holds the lock of `lock_records`: its own thread when it is full, or a thread that
   looks at what was recorded. Nobody takes the GIL while holding it. */
#ifndef TENSORITER_BUFFERS_H
#define TENSORITER_BUFFERS_H

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

#include "thread_local.h"

/* One thing that was recorded, 64 bytes. */
typedef struct {
    int64_t begin;
    int64_t end;
    int64_t bytes;
    int64_t handle;         /* a debug handle, or what tells tasks of one name apart */
    uint32_t name;
    uint32_t task;
    uint32_t scope;
    uint32_t domain;
    uint32_t detail;        /* shapes, or the thread in which a task began */
    uint32_t thread;
    uint8_t type;           /* RecordType */
    uint8_t path;
    uint8_t flags;          /* RecordFlags */
    uint8_t unused[5];
} Record;

enum { RING = 1024 };       /* records; a power of 2 */

typedef struct Buffer {
    Record records[RING];
    uint32_t written;       /* so far, by its thread */
    uint32_t consumed;      /* so far, under the lock */
    uint32_t ended;         /* its thread has */
    uint32_t thread;
    struct Buffer *next;
} Buffer;

#if defined(_MSC_VER)
#define ACQUIRE(place) (*(volatile uint32_t *)(place))          /* so on x86, and with /volatile:ms */
#define RELEASE(place, value) (*(volatile uint32_t *)(place) = (value))
#else
#define ACQUIRE(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define RELEASE(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#endif

static THREAD_LOCAL Buffer *own_buffer = NULL;

static inline Buffer *get_own_buffer(void) { return own_buffer; }

/* The place for the next record; NULL if the ring is full. */
static inline Record *next_record(Buffer *buffer)
{
    const uint32_t written = buffer->written;
    return written - ACQUIRE(&buffer->consumed) < RING ? &buffer->records[written % RING] : NULL;
}

static inline void publish_record(Buffer *buffer) { RELEASE(&buffer->written, buffer->written + 1); }

static inline uint32_t count_written(Buffer *buffer) { return ACQUIRE(&buffer->written); }

static inline void set_consumed(Buffer *buffer, uint32_t count) { RELEASE(&buffer->consumed, count); }

/* ---------------------------------------------------------------- the lock, and the ends of threads */

static PyThread_type_lock records_lock = NULL;

static void lock_records(void) { PyThread_acquire_lock(records_lock, WAIT_LOCK); }
static void unlock_records(void) { PyThread_release_lock(records_lock); }

#if defined(_WIN32)
static uint64_t native_thread(void) { return PyThread_get_thread_ident(); }
/* A ring is not used again after its thread's end. */
static void set_own_buffer(Buffer *buffer) { own_buffer = buffer; }
static void prepare_threads(void) { records_lock = PyThread_allocate_lock(); }
#else
#include <pthread.h>
static pthread_key_t end_of_thread;

#if defined(PY_HAVE_THREAD_NATIVE_ID)
static uint64_t native_thread(void) { return PyThread_get_thread_native_id(); }
#else
static uint64_t native_thread(void) { return PyThread_get_thread_ident(); }
#endif

static void note_end(void *buffer) { RELEASE(&((Buffer *)buffer)->ended, 1); }

static void set_own_buffer(Buffer *buffer)
{
    own_buffer = buffer;
    pthread_setspecific(end_of_thread, buffer);
}

/* A fork waits until nobody holds the lock, so that the child finds it free. */
static void prepare_threads(void)
{
    records_lock = PyThread_allocate_lock();
    pthread_key_create(&end_of_thread, note_end);
    pthread_atfork(lock_records, unlock_records, unlock_records);
}
#endif

#endif
