/*
 * check.h - the doctor's insides: what a check is, what it may look at, and how it says what it
 * found.
 *
 * A check is a function in one of the tables of findings_*.c. It reads the kernel's files below
 * look->root, through rooted.h, and says one value, one verdict and, when that is not ok, what to
 * do. Its name and its reason stand in the table: they are the same whatever is found.
 */
#ifndef ABENCH_MACHINE_CHECK_H
#define ABENCH_MACHINE_CHECK_H

#include <allocbench/machine.h>

#include "base/text.h"

/* What the doctor saw before the checks are asked. */
typedef struct abench__look {
    const char *root; /* "": this machine, or a recorded one in its place */
    uint32_t live;    /* 1: this machine: what only system calls tell can be asked */
    uint32_t reserved;
    abench_machine before; /* at the window's begin and end; of a recorded machine the same */
    abench_machine after;
    uint64_t runnable;   /* tasks that could run: the median of some looks in the window */
    uint64_t fastest_ns; /* of the spins in the window; 0: none */
    uint64_t slowest_ns;
    uint64_t waited_ns; /* this thread, for a CPU, in the window */
    uint32_t has_waited;
    uint32_t status_length; /* 0: cannot be read */
    char status[4096];      /* of /proc/self/status, or of this thread */
} abench__look;

/* What a check says. */
typedef struct abench__found {
    uint32_t verdict;
    uint32_t reserved;
    abench__text value;
    abench__text advice;
} abench__found;

typedef struct abench__check {
    const char *name;
    uint32_t is_key;
    uint32_t live_only; /* it asks the system, not files */
    void (*look)(const abench__look *look, abench__found *found);
    const char *why;
} abench__check;

typedef struct abench__checks {
    const abench__check *checks;
    uint32_t count;
} abench__checks;

extern const abench__checks abench__checks_cpu;     /* findings_cpu.c */
extern const abench__checks abench__checks_share;   /* findings_share.c: how many CPUs, nodes */
extern const abench__checks abench__checks_time;    /* findings_time.c: who else wants the CPUs */
extern const abench__checks abench__checks_memory;  /* findings_memory.c */
extern const abench__checks abench__checks_thp;     /* findings_thp.c */
extern const abench__checks abench__checks_kernel;  /* findings_kernel.c */
extern const abench__checks abench__checks_process; /* findings_process.c */

/* ---- saying ---------------------------------------------------------------------------------- */

/* Sets the verdict, and what to do about it. */
void abench__found_judge(abench__found *found, uint32_t verdict, const char *advice);

/* Says that a file could not be read: error is minus an errno, or anything else that is not 0 for
 * one that makes no sense. The verdict is unknown. */
void abench__found_unread(abench__found *found, int error);

/* "1.2 %", of two numbers; "0.0 %" of nothing. */
void abench__put_percent(abench__text *text, uint64_t part, uint64_t whole);

/* "512 KiB", "1.5 GiB": at most one digit behind the point. */
void abench__put_bytes(abench__text *text, uint64_t bytes);

/* Text that is not ours: at most so many letters of it, and of what a person can read. */
void abench__put_foreign(abench__text *text, const char *string, uint32_t letters);

/* ---- asking ---------------------------------------------------------------------------------- */

/* Whether part is more than percent of whole; no overflow. */
int abench__exceeds(uint64_t part, uint64_t whole, uint32_t percent);

/* How many ticks of steal speak against a window: one may be the rounding of less, since the kernel
 * counts finer than it shows. */
uint64_t abench__steal_that_counts(uint64_t steal_ticks);

/* after - before of a counter that only grows; 0: it went backwards. */
int abench__grew(uint64_t before, uint64_t after, uint64_t *by);

/* How often a counter of /proc/self/status that is a list, "Cpus_allowed_list:", names something.
 * 0: it is not there. */
int abench__look_list(const abench__look *look, const char *key, uint64_t *count);

/* To how many nodes this thread's memory is bound by a policy; 0: it is not. Any thread. */
uint32_t abench__nodes_bound(void);

/* ---- the counters, and the doctor's list ----------------------------------------------------- */

/* abench_machine_read of a recorded machine; live: 1 for this one. Fills the whole of *machine. */
void abench__machine_take(const char *root, uint32_t live, uint32_t spin, abench_machine *machine);

/* The reason of a check by name; NULL: none has it. Any thread. */
const char *abench__check_why(const char *name);

/* How many of the doctor's texts did not fit their fields. One thread per object. */
uint32_t abench__doctor_truncated(const abench_doctor *doctor);

#endif
