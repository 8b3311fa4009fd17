/*
 * watch_tree.h - looks at a process and its descendants, paced so that they do not disturb them.
 *
 * The cheap fields are read at each look. The dear ones (PSS and what else smaps_rollup tells) hold
 * each process's mmap lock while they are read: they are read when a thousand times as long has
 * passed as that takes, unless it is asked otherwise. This process's own memory is left out: it is
 * in the tree when its own shell is watched.
 */
#ifndef ABENCH_TOOL_WATCH_TREE_H
#define ABENCH_TOOL_WATCH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocbench/memory.h>

/* ---- rates ----------------------------------------------------------------------------------- */

/* What a process has counted until now; a field that is not valid is not known. */
typedef struct watch_counts {
    int32_t pid;
    uint32_t is_known; /* WATCH_... */
    uint64_t faults;   /* minor and major */
    uint64_t switches; /* voluntary and not */
    uint64_t wait_ns;  /* could have run, and waited for a CPU */
} watch_counts;

#define WATCH_FAULTS   1u
#define WATCH_SWITCHES 2u
#define WATCH_WAIT     4u

typedef struct watch_rates {
    uint32_t is_known; /* WATCH_... */
    double faults_per_s;
    double switches_per_s;
    double wait_share; /* of the time: 1 is one thread that waits always */
} watch_rates;

/* What the processes of now counted in seconds since those of before. A process that is new counts
 * from 0; what an ended one counted at the last is lost; a count that fell (threads that ended take
 * theirs with them) counts nothing. A rate is known when it is of each process of now. Sorts both
 * by pid. */
watch_rates watch_rates_between(watch_counts *before, size_t before_count, watch_counts *now,
                                size_t now_count, double seconds);

/* ---- the pace of the dear fields ------------------------------------------------------------- */

/* How long to wait from one dear look to the next, which cost cost_ns at rss_then bytes: a thousand
 * times what the next will take, by what the tree has grown to, so that it is below 0.1 % of the
 * time; at least period_ns. */
uint64_t watch_dear_wait_ns(uint64_t cost_ns, uint64_t rss_then, uint64_t rss_now,
                            uint64_t period_ns);

/* ---- looks ----------------------------------------------------------------------------------- */

typedef struct watch_look {
    uint64_t time_ns;      /* since the watch began */
    uint32_t processes;    /* without this one */
    bool is_dear;          /* the dear fields were asked for */
    bool has_cgroup;       /* cgroup_bytes */
    uint64_t cgroup_bytes; /* current_bytes of the root process's control group */
    abench_memory memory;  /* the sum over the tree */
    watch_rates rates;     /* since the look before */
} watch_look;

/* The highest of what was seen; is_known tells which. */
typedef struct watch_peaks {
    uint64_t valid;     /* ABENCH_MEMORY_RSS, _PSS, _HWM */
    uint64_t rss_bytes; /* of the tree, at a look */
    uint64_t pss_bytes; /* of the tree, at a dear look */
    uint64_t hwm_bytes; /* VmHWM of any one process: since its program began */
    uint64_t looks;
    uint64_t dear_looks;
    uint64_t dear_rss_bytes; /* the highest RSS of the tree that a look with PSS has seen */
} watch_peaks;

/* The two differ by 10 % of the larger at most: what was read beside the one still tells something
 * about the other. */
bool watch_is_near(uint64_t bytes, uint64_t other_bytes);

typedef struct watch_tree watch_tree;

/* Begins to watch pid. dear_always: the dear fields at each look, whatever that costs. On failure
 * *out is NULL: ABENCH_ERROR_NOT_FOUND, there is no such process. */
abench_status watch_tree_open(int32_t pid, uint64_t period_ns, bool dear_always, watch_tree **out);

/* Looks. ABENCH_ERROR_NOT_FOUND: the process is gone. */
abench_status watch_tree_look(watch_tree *t, watch_look *out);

/* The last look with dear fields; NULL: there was none. */
const watch_look *watch_tree_dear(const watch_tree *t);

/* Adds to what the last dear look cost: something as dear was read beside it. */
void watch_tree_charge(watch_tree *t, uint64_t cost_ns);

const watch_peaks *watch_tree_peaks(const watch_tree *t);

/* Process index of the last look (this process left out); 0: beyond the last. */
int32_t watch_tree_pid(const watch_tree *t, uint32_t index);

/* What it takes to read the dear fields and the mappings of a process. */
#define WATCH_RIGHTS "it takes the same user, or CAP_SYS_PTRACE"

/* Which fields a dear look could not read, and why: one line for a person; NULL: none. free() it.
 */
char *watch_tree_missing(const watch_tree *t, const watch_look *look);

/* accepts NULL */
void watch_tree_close(watch_tree *t);

#endif
