/* Hooks: the clock, and where an object keeps the function that calls it. */
#ifndef TENSORITER_HOOKS_H
#define TENSORITER_HOOKS_H

#include <Python.h>
#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>
static inline int64_t now(void)
{
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&ticks);
    const int64_t seconds = ticks.QuadPart / frequency.QuadPart, rest = ticks.QuadPart % frequency.QuadPart;
    return seconds * 1000000000 + rest * 1000000000 / frequency.QuadPart;
}
#else
#include <time.h>
#if defined(__APPLE__)
#define CLOCK CLOCK_UPTIME_RAW      /* Apple's CLOCK_MONOTONIC counts microseconds */
#else
#define CLOCK CLOCK_MONOTONIC
#endif
static inline int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
#endif

static inline void *place_of_call(PyObject *object)
{
    return (char *)object + Py_TYPE(object)->tp_vectorcall_offset;
}

#endif
