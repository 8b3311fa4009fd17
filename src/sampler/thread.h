/*
 * thread.h - a thread that takes a timeline's readings.
 */
#ifndef ABENCH_SAMPLER_THREAD_H
#define ABENCH_SAMPLER_THREAD_H

#include <pthread.h>

#include "sampler/pace.h"

enum abench__thread_state {
    ABENCH__THREAD_STARTING,
    ABENCH__THREAD_IDLE,
    ABENCH__THREAD_RUNNING,
    ABENCH__THREAD_ENDING
};

typedef struct abench__thread {
    abench__pace *pace;
    pthread_t id;
    pthread_mutex_t lock;
    pthread_cond_t asked;    /* for the thread: wanted has changed */
    pthread_cond_t answered; /* by the thread: state has changed */
    enum abench__thread_state wanted;
    enum abench__thread_state state;
} abench__thread;

/* Opens the reader and makes the thread, which sleeps when this returns; *thread stays where it is
 * until its end. What abench__reader_open says; ABENCH_ERROR_SYSTEM: no thread. Calls malloc, as
 * pthread_create does. Any thread. */
abench_status abench__thread_create(abench__thread *thread, abench__pace *pace);

/* start returns when the thread is awake and the clock runs, stop when no reading is under way. One
 * thread at a time, by turns. */
void abench__thread_start(abench__thread *thread);
void abench__thread_stop(abench__thread *thread);

/* Ends and joins the thread, running or not, and closes the reader. */
void abench__thread_end(abench__thread *thread);

#endif
