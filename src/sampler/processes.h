/*
 * processes.h - a process and its descendants, found through /proc while they come and go.
 *
 * By the children files of each thread where the kernel has them (CONFIG_PROC_CHILDREN), else by
 * the parents of all processes. The kernel promises of the children files only that they miss
 * nobody while nobody ends; so a process that was there at the last walk, and is missed by this
 * one, is looked for by its number.
 */
#ifndef ABENCH_SAMPLER_PROCESSES_H
#define ABENCH_SAMPLER_PROCESSES_H

#include <allocbench/memory.h>

#define ABENCH__PROCESSES_MAX 65536u

typedef struct abench__process {
    int32_t pid;
    int32_t parent;
    uint32_t state; /* 'R', 'S', 'Z' ... */
    uint32_t is_guest;
    uint64_t threads;
    uint64_t start_time; /* with pid: this process, even when the number is used again */
    uint64_t size_bytes; /* 0: it has no memory (any more) */
    uint64_t start_code; /* with start_stack: the image; a fork keeps both, an exec changes them */
    uint64_t start_stack;
    abench_memory memory; /* the owner's; the walk does not touch it */
} abench__process;

/* Parents before their children. is_guest: it runs in its parent's memory, as a child of vfork does
 * until its exec. */
typedef struct abench__processes {
    const abench_memory_hooks *hooks; /* the owner's; NULL: none */
    abench__process *items;
    uint32_t *slots; /* by pid: an index plus 1; 0: empty. Twice the capacity */
    uint32_t count;
    uint32_t capacity;
} abench__processes;

/* ABENCH_ERROR_MEMORY. hooks stays the caller's. Any thread. */
abench_status abench__processes_create(abench__processes *list, const abench_memory_hooks *hooks);
/* accepts a list of zeros. One thread per object. */
void abench__processes_destroy(abench__processes *list);

/* Reads a file stat, relative to directory. ABENCH_ERROR_NOT_FOUND: there is no such process, or
 * the text makes no sense; _SYSTEM: no descriptor is left. Any thread. */
abench_status abench__process_read(int directory, const char *path, abench__process *process);
/* The same by number. Any thread. */
abench_status abench__process_read_pid(int32_t pid, abench__process *process);

/* Adds one; a process that is listed already stays as it is. ABENCH_ERROR_MEMORY, _LIMIT. One
 * thread per object. */
abench_status abench__processes_add(abench__processes *list, const abench__process *process);

/* Adds those of another list that live, are not in this one, and whose parent is, with all below
 * them. Returns as the walk, of which it is the last step. One thread per object. */
abench_status abench__processes_add_missed(abench__processes *list,
                                           const abench__processes *before);

/* Finds the root, which must have this start time, and all below it. before: the last walk's list,
 * or what is left of it. plain: by all processes' parents. ABENCH_ERROR_NOT_FOUND: the root is
 * gone; _MEMORY, _SYSTEM; _LIMIT: there are too many. One thread per object. */
abench_status abench__processes_walk(abench__processes *list, const abench__processes *before,
                                     int32_t root, uint64_t root_start_time, int plain);

/* Whether the kernel has the children files. Any thread. */
int abench__processes_kernel_lists_children(void);

#endif
