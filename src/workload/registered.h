/* registered.h - workloads that a program added to its catalogue. */
#ifndef ABENCH_WORKLOAD_REGISTERED_H
#define ABENCH_WORKLOAD_REGISTERED_H

#include "workload/workload.h"

/* Entry index of those that were added, in that order; NULL beyond the last. Any thread. */
const abench__workload_kind *abench__registered_at(uint32_t index);

#endif
