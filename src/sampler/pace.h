/*
 * pace.h - which reading of a timeline is due when, and taking it: what the thread and the helper
 * process have in common.
 *
 * Nothing here waits. The dear tier rides on the first cheap reading after its own deadline.
 */
#ifndef ABENCH_SAMPLER_PACE_H
#define ABENCH_SAMPLER_PACE_H

#include "sampler/memory.h"
#include "sampler/timeline.h"

typedef struct abench__pace {
    abench__timeline timeline;
    abench_memory_reader reader; /* opened and closed by whoever reads */
    uint32_t tiers;              /* of every reading */
    uint32_t reserved;
    uint64_t rollup_period_ns; /* 0: no dear readings */
    uint64_t rollup_due_ns;    /* on the timeline's clock */
} abench__pace;

/* All tiers that a reading may have. Any thread. */
uint32_t abench__pace_tiers(const abench__pace *pace);

/* Nanoseconds until a reading is due when the system's clock shows system_ns; 0: now. The clock of
 * the timeline runs. One thread at a time. */
uint64_t abench__pace_wait_ns(const abench__pace *pace, uint64_t system_ns);

/* Takes a reading and keeps it, whatever could be read. Returns what abench__reader_take says. One
 * thread at a time. */
abench_status abench__pace_read(abench__pace *pace);

/* When the next dear reading is due after one that was begun at begun_ns and took cost_ns: it holds
 * the process's mmap lock, so its share of the time stays at 0.1 % or less. Any thread. */
uint64_t abench__rollup_due(uint64_t begun_ns, uint64_t cost_ns, uint64_t period_ns);

#endif
