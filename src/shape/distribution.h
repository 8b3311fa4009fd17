/*
 * distribution.h - a compiled distribution: weighted ranges of values behind an alias table.
 */
#ifndef ABENCH_SHAPE_DISTRIBUTION_H
#define ABENCH_SHAPE_DISTRIBUTION_H

#include <allocbench/distribution.h>

#include "shape/alias.h"

/* The values low ... high alike, as often as weight says. */
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
    uint64_t mean;        /* rounded down */
    uint64_t square_mean; /* of the values' squares; UINT64_MAX: more */
    uint64_t digest;      /* of what the text does not say, a histogram's file; else 0 */
    uint32_t count;
    uint32_t reserved;
    abench__column columns[];
};

/* count: 1 ... ABENCH__ALIAS_MAX; weights as abench__alias_build wants them. */
abench_status abench__distribution_build(const abench__range *ranges, uint32_t count,
                                         uint64_t digest, abench_distribution **out);

/* A digest of what is drawn, when the spec's text does not say it: of a histogram's file. 0 for
 * every other kind. A spec 'histogram:@FILE#' with its 16 digits is read only while the file is the
 * same. */
static inline uint64_t abench__distribution_digest(const abench_distribution *distribution)
{
    return distribution->digest;
}

#endif
