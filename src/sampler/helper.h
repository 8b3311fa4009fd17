/*
 * helper.h - a process that takes a timeline's readings of the process that made it.
 *
 * It is a clone, because a library has no program to run: it shares one mapping with its owner,
 * which holds the timeline, its reader, and the stack that it runs on, and gives up the rest (see
 * shed.h). Owner and helper talk over a pair of sockets: a byte asks, the same byte answers, and
 * each sees the other's end at once.
 */
#ifndef ABENCH_SAMPLER_HELPER_H
#define ABENCH_SAMPLER_HELPER_H

#include <sys/syscall.h>
#include <sys/types.h>

#include "sampler/pace.h"

/* A sanitizer's functions stand in the place of the C library's, and need memory that the helper
 * gives up. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ABENCH__HELPER_POSSIBLE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define ABENCH__HELPER_POSSIBLE 0
#endif
#endif
#if !defined(SYS_pidfd_open) || !defined(SYS_close_range) /* Linux 5.3, 5.9 */
#undef ABENCH__HELPER_POSSIBLE
#define ABENCH__HELPER_POSSIBLE 0
#endif
#ifndef ABENCH__HELPER_POSSIBLE
#define ABENCH__HELPER_POSSIBLE 1
#endif

#define ABENCH__HELPER_STACK_BYTES ((uint64_t)128 * 1024)

typedef struct abench__helper {
    /* Written by who calls create. */
    abench__pace *pace;
    unsigned char *shared; /* the mapping that both have; the stack is its beginning */
    uint64_t shared_bytes;
    uint32_t patience_ms; /* without an answer for so long, it is killed */
    /* Written by create before the clone. */
    pid_t owner;
    int32_t owner_number; /* the owner's in this /proc, which may count otherwise */
    int its_socket;
    /* Of the owner. */
    int socket;
    int pidfd; /* negative: it is gone and reaped */
    /* Written by the helper before its first answer: what its trial reading could read. */
    uint64_t trial_valid;
} abench__helper;

/* Makes the helper of this process, which sleeps when this returns. *helper, *pace and the readings
 * lie in the shared mapping, whose first ABENCH__HELPER_STACK_BYTES are the stack's.
 * ABENCH_ERROR_UNSUPPORTED: it cannot be made here, or cannot read what a thread could; nothing of
 * it is left then. No malloc, no fork handlers. The owner gets a descriptor or two. Threads that
 * run meanwhile take a fault at the next write to each page, as after any fork. */
abench_status abench__helper_create(abench__helper *helper);

/* start returns when it is awake and the clock runs, stop when no reading is under way.
 * ABENCH_ERROR_STATE: it was killed, or has not answered for some seconds and was killed for it.
 * One thread at a time, by turns. */
abench_status abench__helper_start(abench__helper *helper);
abench_status abench__helper_stop(abench__helper *helper);

/* Ends and reaps it, running or not. */
void abench__helper_end(abench__helper *helper);

/* In a forked child of the owner: closes what it has inherited. */
void abench__helper_forget(const abench__helper *helper);

/* ---- between the two files ------------------------------------------------------------------- */

#define ABENCH__ASK_READY 'i' /* answered unasked, when it is made */
#define ABENCH__ASK_RUN   'r'
#define ABENCH__ASK_STOP  's'

/* What the clone calls with the helper; returns its exit code. */
int abench__helper_run(void *helper);

#endif
