/*
 * mappings.h - the insides of abench_mappings, for tests: the reading loop over any descriptor.
 */
#ifndef ABENCH_SAMPLER_MAPPINGS_H
#define ABENCH_SAMPLER_MAPPINGS_H

#include "system/smaps.h"

#define ABENCH__MAPPINGS_BUFFER 65536u

struct abench_mappings {
    abench_memory_hooks hooks;
    uint64_t cost_ns;
    uint32_t is_read; /* the last reading succeeded */
    uint32_t reserved;
    abench__smaps parser;
    char text[ABENCH__MAPPINGS_BUFFER];
};

/* Reads fd, a file smaps that was just opened, to its end. Returns as abench_mappings_read. One
 * thread per object. */
abench_status abench__mappings_stream(abench_mappings *mappings, int fd);

#endif
