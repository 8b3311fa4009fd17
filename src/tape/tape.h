/*
 * tape.h - a finished tape in memory: words by lane, cuts of the merged order, phases.
 */
#ifndef ABENCH_TAPE_TAPE_H
#define ABENCH_TAPE_TAPE_H

#include <allocbench/tape.h>

#include "tape/source.h"

/* Memory that grows by doubling; not touched before it is used. */
typedef struct abench__vector {
    void *data;
    uint64_t count;
    uint64_t capacity; /* both in items */
} abench__vector;

typedef struct abench__lane_words {
    abench__vector words; /* of uint64_t */
    uint64_t digest;
} abench__lane_words;

/* A phase is a run of whole cuts. */
typedef struct abench__tape_phase {
    abench_phase info;
    uint64_t first_cut;
    uint64_t cuts;
} abench__tape_phase;

struct abench_tape {
    abench_memory_hooks hooks;
    uint64_t bytes; /* of this mapping */
    uint32_t streamed;
    uint32_t reserved;
    abench_tape_options options; /* streamed: what a builder is made with */
    abench__generator generator; /* streamed */
    abench_tape_summary summary; /* streamed: lanes, slots and touch alone */
    uint64_t digest;
    uint64_t checksum;       /* what a faultless play reads back */
    abench__vector cuts;     /* of uint32_t: cut c ends in lane l before word cuts[c * lanes + l] */
    abench__vector cut_live; /* of uint64_t: bytes alive behind cut c */
    uint64_t cut_count;
    abench__tape_phase phases[ABENCH_PHASES_MAX];
    abench__lane_words lanes[];
};

/* Makes room for one more item and returns it, or NULL. */
void *abench__vector_push(abench__vector *vector, const abench_memory_hooks *hooks,
                          uint32_t item_bytes);
void abench__vector_release(abench__vector *vector, const abench_memory_hooks *hooks,
                            uint32_t item_bytes);

/* Of a tape in memory. */
static inline const uint64_t *abench__lane_data(const abench_tape *tape, uint32_t lane)
{
    return tape->lanes[lane].words.data;
}

/* Where cut ends in lane: an index into its words. cut may be -1 (as unsigned): 0. */
static inline uint64_t abench__cut_end(const abench_tape *tape, uint64_t cut, uint32_t lane)
{
    const uint32_t *ends = tape->cuts.data;

    return cut + 1 == 0 ? 0 : ends[cut * tape->summary.lanes + lane];
}

/* A tape of no operations. hooks: as abench__hooks_copy made them; copied. */
abench_status abench__tape_create(const abench_memory_hooks *hooks, uint32_t lanes,
                                  abench_tape **out);

/* What a tape's digest begins with; the lanes' digests are folded into it in order. */
uint64_t abench__digest_begin(uint32_t lanes);

#endif
