/*
 * oom.h - how often the kernel has killed for want of memory: the difference of two counts tells
 * why a child died of SIGKILL.
 */
#ifndef ABENCH_TOOL_OOM_H
#define ABENCH_TOOL_OOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct oom_counts {
    uint64_t group; /* in the memory control group of this process, version 1 or 2 */
    uint64_t machine;
    bool has_group;
    bool has_machine;
} oom_counts;

void oom_read(oom_counts *counts);

/* What happened between two readings: " - out of memory: the cgroup counts 1 oom kill", or "" when
 * neither count has grown. Static text, until the next call. */
const char *oom_between(const oom_counts *before, const oom_counts *after);

#endif
