#include "tool/freeze.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <allocbench/base.h>

#include "tool/util.h"

#define ORDER_NS    5000000u  /* a child waits so long for its parent to stop first */
#define PATIENCE_NS 50000000u /* we, for all */
#define PAUSE_NS    50000     /* between two walks */

static bool is_stopped(const tree_process *process)
{
    return process->state == 'T' || process->state == 't';
}

/* A first thread that has ended shows Z, though the others run on. */
static bool is_dead(const tree_process *process)
{
    return process->state == 'X' || (process->state == 'Z' && process->threads <= 1);
}

static bool is_known(const freeze *f, const tree_process *process)
{
    for (size_t at = 0; at < f->count; at++)
        if (f->items[at].pid == process->pid && f->items[at].start_time == process->start_time)
            return true;
    return false;
}

static bool stop(freeze *f, const tree_process *process)
{
    if (kill(process->pid, SIGSTOP) != 0)
        return errno == ESRCH;
    f->items = util_grow(f->items, f->count, &f->capacity, sizeof *f->items);
    f->items[f->count++] = (freeze_process){process->pid, process->start_time};
    return true;
}

/* A signal that was sent has not stopped anybody yet: a parent that waits for its child would still
 * be told that this one has. */
static bool is_parent_still(const tree_list *list, const tree_process *process)
{
    const tree_process *parent;

    if (process->above == TREE_TOP)
        return true;
    parent = &list->items[process->above];
    return is_stopped(parent) || parent->state == 'Z' || parent->state == 'X';
}

/* Stops who is not stopped yet. Counts those that may still run. */
static bool stop_listed(freeze *f, bool ordered, size_t *moving)
{
    *moving = 0;
    for (size_t at = 0; at < f->list.count; at++) {
        const tree_process *process = &f->list.items[at];
        if (is_dead(process) || is_stopped(process))
            continue;
        if (is_known(f, process)) {
            *moving += process->state != 'Z'; /* of such a one no more can be seen */
            continue;
        }
        ++*moving;
        if ((!ordered || is_parent_still(&f->list, process)) && !stop(f, process))
            return false;
    }
    return true;
}

bool freeze_stop(freeze *f, pid_t root)
{
    const struct timespec pause = {0, PAUSE_NS};
    const uint64_t begin_ns = abench_clock_ns();
    uint64_t spent_ns = 0;
    size_t moving;

    f->count = 0;
    for (;;) {
        tree_walk(root, false, &f->list);
        if (!stop_listed(f, spent_ns < ORDER_NS, &moving))
            return false;
        if (moving == 0 || spent_ns > PATIENCE_NS)
            return true;
        nanosleep(&pause, NULL);
        spent_ns = abench_clock_ns() - begin_ns;
    }
}

void freeze_continue(freeze *f)
{
    while (f->count > 0)
        (void)kill(f->items[--f->count].pid, SIGCONT);
}

void freeze_clear(freeze *f)
{
    free(f->items);
    free(f->list.items);
    memset(f, 0, sizeof *f);
}
