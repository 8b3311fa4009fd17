/*
 * distribution.h - a compiled distribution: weighted ranges of sizes behind an alias table.
 */
#ifndef ABENCH_SHAPE_DISTRIBUTION_H
#define ABENCH_SHAPE_DISTRIBUTION_H

#include <allocbench/distribution.h>

#include "shape/alias.h"

/* The sizes low ... high alike, as often as weight says. */
typedef struct abench__range {
    uint64_t low;
    uint64_t high;
    uint64_t weight;
} abench__range;

typedef struct abench__column {
    abench__alias alias;
    uint64_t low;
    uint64_t span; /* high - low + 1 */
} abench__column;

struct abench_distribution {
    uint64_t bytes; /* of this mapping */
    uint64_t minimum;
    uint64_t maximum;
    uint32_t count;
    uint32_t reserved;
    abench__column columns[];
};

/* count: 1 ... ABENCH__ALIAS_MAX; weights as abench__alias_build wants them. */
abench_status abench__distribution_build(const abench__range *ranges, uint32_t count,
                                         abench_distribution **out);

#endif
