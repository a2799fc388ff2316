/* The keyword for what each thread has of its own. */
#ifndef TENSORITER_THREAD_LOCAL_H
#define TENSORITER_THREAD_LOCAL_H

#if defined(_MSC_VER)
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL _Thread_local
#endif

#endif
