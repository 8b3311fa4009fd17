/*
 * freeze.h - stops a tree of processes and lets it go on, by SIGSTOP and SIGCONT to each of them:
 * whatever process groups and sessions they made.
 *
 * Parents are stopped before their children and go on after them, so that none sees a child that
 * has stopped. What stood still by its own doing is left so. What a program may notice: some calls
 * end with EINTR after it (signal(7)), SIGCHLD comes once more often for each child, a handler of
 * SIGCONT runs, and the clock went on. Not fit for it are debuggers and tracers, whose children
 * stop for them.
 */
#ifndef ABENCH_TOOL_FREEZE_H
#define ABENCH_TOOL_FREEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tool/tree.h"

typedef struct freeze_process {
    pid_t pid;
    uint64_t start_time; /* with pid: the process, even when the pid is used again */
} freeze_process;

/* Who was stopped. Zeros: nobody. */
typedef struct freeze {
    freeze_process *items;
    size_t count;
    size_t capacity;
    tree_list list; /* of the last walk */
} freeze;

/* Stops all below root, and waits until all stand still or 50 ms have passed: one that sleeps in
 * the kernel stops when it comes out. false: one may not be stopped by us (errno). */
bool freeze_stop(freeze *f, pid_t root);

/* Lets those go on that were stopped. */
void freeze_continue(freeze *f);

/* Frees what it holds; whoever is stopped stays so. */
void freeze_clear(freeze *f);

#endif
