/*
 * tree.h - a process tree seen through /proc: who is in it, which program images ran in it, and how
 * much memory it held over time.
 *
 * The processes come and go while they are looked at. One that vanishes between two reads is not an
 * error: it is left out of that look. Nothing is stopped, traced or written.
 */
#ifndef ABENCH_TOOL_TREE_H
#define ABENCH_TOOL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process, as /proc/PID/stat tells. */
typedef struct tree_process {
    pid_t pid;
    pid_t parent;
    char state; /* R S D Z T ... */
    uint32_t threads;
    uint64_t start_time; /* with pid: the process, even when the pid is used again */
    uint64_t start_code; /* with start_stack: the image; a fork keeps both, an exec changes them */
    uint64_t start_stack;
    size_t above;  /* index of its parent in the list; TREE_TOP: its parent is the root */
    char name[16]; /* comm */
} tree_process;

#define TREE_TOP ((size_t)-1)

typedef struct tree_list {
    tree_process *items;
    size_t count;
    size_t capacity;
} tree_list;

/* Reads one process. false: there is none (any more), or what /proc says makes no sense. */
bool tree_read_process(pid_t pid, tree_process *process);

/* Lists all descendants of root, parents before children, without root itself. By the children
 * files of /proc where the kernel has them; plain: by the parents of all processes. The list is
 * reused; free() its items. */
void tree_walk(pid_t root, bool plain, tree_list *list);

/* A program image: what one exec made. */
typedef struct tree_image {
    uint64_t device; /* of the executable file */
    uint64_t inode;
    uint64_t start_code;
    uint64_t start_stack;
    pid_t pid;     /* where it was first seen */
    char name[16]; /* of that process, when it was last seen in this image */
    bool hidden;   /* we may not look at it (another user's); only its pid is known */
    char *path;    /* "[NAME]" of a hidden one, "?" when nothing could be read */
} tree_image;

/* The tree's memory at one time: sums over its processes. */
typedef struct tree_reading {
    uint64_t time_ns; /* since the time given to tree_create */
    uint64_t rss_bytes;
    uint64_t pss_bytes; /* when has_pss */
    uint32_t processes;
    bool has_pss;
} tree_reading;

typedef struct tree {
    /* All of it for reading only. */
    tree_image *images; /* each once */
    size_t images_count;
    tree_reading *readings;
    size_t readings_count;
    uint64_t processes_seen;
    uint64_t peak_rss_bytes; /* largest sum; kept even where readings were thinned out */
    uint64_t peak_pss_bytes; /* likewise; when has_pss */
    uint64_t rss_then_bytes; /* the sum of RSS when that was read */
    bool has_pss;            /* there is at least one sum of PSS */
    uint64_t peak_hwm_bytes; /* largest VmHWM of any process */
    uint64_t due_ns;         /* abench_clock_ns of the next look */
    uint64_t look_ns;        /* and of the last one; before it, the time given to tree_create */
    uint64_t longest_gap_ns; /* between two looks, or before the first; above twice the period */
    uint64_t period_ns;      /* of the looks now: it doubles when readings are thinned out */

    struct tree_state *state;
} tree;

#define TREE_PERIOD_NS 10000000u /* between two looks, unless they cost more than 5 % of it */
#define TREE_READINGS  8192u /* more than that: every second is dropped, and the period doubles */

/* A watcher of the tree below root, with nothing seen yet. plain: as in tree_walk, for tests. */
tree *tree_create(pid_t root, uint64_t zero_ns, uint64_t period_ns, bool plain);

/* Looks once: finds new processes and images, and takes a reading - RSS each time; VmHWM each
 * fifth; PSS, which walks all pages under the process's mmap lock, so seldom that it takes 0.1 % of
 * the time. */
void tree_look(tree *t);

/* The processes were stopped for so long since the last look: the watcher's clock was, too. */
void tree_stood_still(tree *t, uint64_t for_ns);

/* accepts NULL */
void tree_destroy(tree *t);

#endif
