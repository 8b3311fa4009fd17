/*
 * tree.h - the insides of abench_tree, for tests: a tree that walks as on a kernel without children
 * files.
 */
#ifndef ABENCH_SAMPLER_TREE_H
#define ABENCH_SAMPLER_TREE_H

#include "sampler/memory.h"
#include "sampler/processes.h"

struct abench_tree {
    abench_memory_hooks hooks;
    int32_t root;
    uint32_t plain;
    uint64_t root_start_time;
    abench__processes now; /* after a reading: those that it added up */
    abench__processes before;
    abench_memory_reader reader;
};

/* plain: by all processes' parents. Otherwise as abench_tree_create. */
abench_status abench__tree_create(int32_t root, int plain, const abench_memory_hooks *hooks,
                                  abench_tree **out);

#endif
