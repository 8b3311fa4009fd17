/*
 * schedule.h - the tier of context switches and of waiting for a CPU, which the kernel tells for
 * each thread in files of its own.
 */
#ifndef ABENCH_SAMPLER_SCHEDULE_H
#define ABENCH_SAMPLER_SCHEDULE_H

#include "sampler/memory.h"

/* Fills the fields of ABENCH_TIER_SCHEDULE in *memory and sets their bits; a thread that ends
 * meanwhile is left out. Returns 1 when the process is gone, else 0. One thread per reader. */
int abench__schedule_take(abench_memory_reader *reader, abench_memory *memory);

#endif
