/* What threads have been worth, so far, to work of one kind: see learn in threads.pyx. */
#ifndef TENSORITER_EXPERIENCE_H
#define TENSORITER_EXPERIENCE_H

typedef struct {
    int losses; /* in a row */
    int rests;  /* taken, less pieces that paid since */
    int rest;   /* pieces of work that are still left to one thread */
} Experience;

#endif
