/*
 * memory.h - a reader's insides, for those who keep one in memory of their own.
 *
 * The files are opened relative to a descriptor of /proc/PID, which stays with the process that it
 * was opened for: a number that the kernel gives to another process later is never read.
 */
#ifndef ABENCH_SAMPLER_MEMORY_H
#define ABENCH_SAMPLER_MEMORY_H

#include <allocbench/memory.h>

#include "base/arena.h"

#define ABENCH__TIERS                                                                              \
    (ABENCH_TIER_STATM | ABENCH_TIER_STATUS | ABENCH_TIER_ROLLUP | ABENCH_TIER_FAULTS |            \
     ABENCH_TIER_SCHEDULE)
#define ABENCH__SOURCES 4u /* statm, status, smaps_rollup, stat */

/* What a struct must at least hold: all up to the last field of the first release. */
#define ABENCH__MEMORY_FIRST_RELEASE                                                               \
    ((uint32_t)(offsetof(abench_memory, run_wait_ns) + sizeof(uint64_t)))

struct abench_memory_reader {
    uint64_t page_bytes;
    int32_t pid;   /* 0: this process */
    int32_t owner; /* whose "this process" is: who has opened it */
    int32_t directory;
    int32_t files[ABENCH__SOURCES]; /* negative: not open; minus the errno, or -1 */
    char text[2 * ABENCH__PAGE - 32];
};

/* Opens the files that tiers need; a file that cannot be opened leaves its tier unread.
 * ABENCH_ERROR_ARGUMENT; _NOT_FOUND: no such process; _SYSTEM: no descriptors left. On failure
 * nothing is open. Any thread. */
abench_status abench__reader_open(abench_memory_reader *reader, int32_t pid, uint32_t tiers);

/* Fills the whole of *memory. ABENCH_ERROR_NOT_FOUND when nothing could be read because the process
 * is gone, or is a zombie, which has no memory any more. One thread per reader. */
abench_status abench__reader_take(abench_memory_reader *reader, uint32_t tiers,
                                  abench_memory *memory);

/* Whether it reads the process that calls: not so in a forked child, where it reads the parent. One
 * thread per reader. */
int abench__reader_is_own(const abench_memory_reader *reader);

/* One thread per reader. */
void abench__reader_close(abench_memory_reader *reader);

#endif
