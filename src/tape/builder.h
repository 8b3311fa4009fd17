/*
 * builder.h - the inside of a builder: a tape that grows, and what it knows of every slot.
 *
 * The builder plays the tape on paper: for each slot it knows whether a block lives there, its
 * size, its generation, who allocated it and which byte a player will read back from it. The words
 * go into the tape's lanes, or, in a stream, into a buffer in merged order that the reader empties.
 */
#ifndef ABENCH_TAPE_BUILDER_H
#define ABENCH_TAPE_BUILDER_H

#include "tape/tape.h"
#include "tape/word.h"

#define ABENCH__SIZE_LIMIT ((uint64_t)1 << 47)

typedef struct abench__slot_state {
    uint64_t size : 48;
    uint64_t live : 1;
    uint64_t byte : 8; /* the first byte, as the last touch left it */
    uint64_t birth;    /* merged ordinal of its allocation */
    uint32_t generation;
    uint32_t owner;   /* lane that allocated */
    uint64_t meeting; /* shared: the last one before generation_then */
    uint32_t generation_then;
    uint32_t toucher; /* shared: 1 + the lane that touched the block since that meeting, or 0 */
} abench__slot_state;

/* A stream's operations in merged order, until the reader hands them to the lanes. */
typedef struct abench__merged {
    uint64_t *words;
    uint16_t *tags;           /* an operation: its lane, and MERGED_TWO when it has two words */
    uint32_t *cut_words;      /* a cut: where it ends in words */
    uint32_t *cut_operations; /* and in tags */
    uint64_t *cut_live;       /* bytes alive behind it */
    uint32_t *segments;       /* a phase that has ended: how many cuts were closed then */
    uint32_t words_count;
    uint32_t operations;
    uint32_t cuts;
    uint32_t segments_count;
} abench__merged;

#define FILL_LIMIT        "a generator appended more than %u operations in one call"
#define MERGED_TWO        0x8000u
#define MERGED_OPERATIONS (ABENCH__CHUNK_OPERATIONS + ABENCH_FILL_MAX + 2 * ABENCH_LANES_MAX)
#define MERGED_CUTS       (MERGED_OPERATIONS / ABENCH_TAPE_CUT + ABENCH_PHASES_MAX + 2)

struct abench_tape_builder {
    abench_memory_hooks hooks;
    uint64_t bytes;
    abench_tape *tape; /* NULL: finished */
    abench_error error;
    abench__slot_state *slots; /* lanes * local_slots, then shared_slots */
    uint64_t slots_bytes;
    abench__merged *merged;  /* NULL: the words go into the tape */
    abench_histogram *sizes; /* NULL, both: nobody asks */
    abench_histogram *lifetimes;
    uint64_t cut_operations; /* in the cut that is open */
    uint64_t meetings;       /* of all lanes: barriers and phases */
    uint64_t live_bytes;
    uint64_t live_blocks;
    uint32_t phase_open;
    uint32_t generated; /* by a generator, which does not finish it */
};

/* What kind of builder. */
#define BUILDER_STREAM     1u /* words go into a merged buffer, all memory is touched now */
#define BUILDER_STATISTICS 2u /* medians of sizes and lifetimes */

/* ABENCH_ERROR_ARGUMENT when no builder can be made of them. lanes: above 0. */
abench_status abench__builder_check(const abench_tape_options *options);

abench_status abench__builder_create(const abench_tape_options *options, uint32_t flags,
                                     abench_tape_builder **out);

/* Closes a full cut, opens a first phase, or says what is wrong. */
abench_status abench__builder_begin_slowly(abench_tape_builder *builder, uint32_t lane);

/* Brings what is known of a slot near, for an operation that comes soon. number: lane * local_slots
 * + slot; the shared ones behind all of these. Inline, because gcc drops the calls of a function
 * that does nothing but prefetch. */
static inline __attribute__((always_inline)) void abench__builder_expect(
    const abench_tape_builder *b, uint64_t number)
{
    const char *note = (const char *)&b->slots[number];

    __builtin_prefetch(note);
    __builtin_prefetch(note + sizeof(abench__slot_state) / 2);
}

/* What every operation asks first: no error yet, a phase open, a cut with room. */
static inline abench_status abench__builder_begin(abench_tape_builder *b, uint32_t lane)
{
    if (__builtin_expect(b->error.status == ABENCH_OK && b->tape != NULL && b->phase_open &&
                             lane < b->tape->summary.lanes && b->cut_operations < ABENCH_TAPE_CUT,
                         1))
        return ABENCH_OK;
    return abench__builder_begin_slowly(b, lane);
}

/* Appends one operation; a cut is never closed here, so that a group stays in one. */
abench_status abench__builder_append(abench_tape_builder *builder, uint32_t lane,
                                     const abench__op *op);

/* abench_tape_builder_finish, for whoever calls a generator. */
abench_status abench__builder_finish(abench_tape_builder *builder, abench_tape **out);

/* Ends every lane and the phase; the summary is complete then. */
abench_status abench__builder_end(abench_tape_builder *builder);

/* Bytes that a builder for so many lanes and slots maps in a stream, without statistics. */
uint64_t abench__builder_bytes(const abench_tape_summary *shape);

#endif
