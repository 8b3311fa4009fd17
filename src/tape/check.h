/*
 * check.h - checked play: every operation of a lane with verification, in a loop of its own, so
 * that the loop that is timed knows nothing of it.
 *
 * What a block holds is noted beside its slot. The notes of a local slot are its lane's; those of a
 * shared slot are written and read by whoever has the slot, and its release and acquire order them.
 * The first byte of a stamp is what the tape's own touch writes, so that the checksum of the
 * receipt is the one that was planned. After a fault the play goes on, so that all are counted;
 * nothing is written beyond what the allocator calls usable.
 */
#ifndef ABENCH_TAPE_CHECK_H
#define ABENCH_TAPE_CHECK_H

#include "tape/lane.h"
#include "tape/stamp.h"

/* A lane's part. */
typedef struct abench__lane_check {
    abench__stamp *stamps; /* of its local slots */
    uint64_t serial;       /* blocks that it has stamped */
    uint64_t checked;      /* blocks whose contents were verified */
    uint64_t faults;
} __attribute__((aligned(128))) abench__lane_check;

typedef struct abench__check {
    uint64_t bytes;        /* of this mapping */
    abench__stamp *shared; /* of the shared slots */
    abench_error first;    /* the first fault; the play's error_mutex guards it */
    abench__lane_check lanes[];
} abench__check;

/* All that a checked play of this tape needs, touched. ABENCH_ERROR_MEMORY. */
abench_status abench__check_create(const abench_tape_summary *summary,
                                   const abench_memory_hooks *hooks, abench__check **out,
                                   abench_error *error);

/* accepts NULL. */
void abench__check_destroy(abench__check *check, const abench_memory_hooks *hooks);

/* Plays this lane's words before end, as lane.c does. */
void abench__check_until(abench__lane *lane, const uint64_t *end);

/* Verifies the blocks that are alive when everything was played. By lane 0, while all stand. */
void abench__check_rest(abench__play *play);

/* Adds what was checked and found to *receipt. */
void abench__check_receipt(const abench__check *check, uint32_t lanes, abench_receipt *receipt);

/* status is what the play ended with. Where there was a fault, *error tells the first one, and a
 * good status becomes ABENCH_ERROR_RECEIPT. */
abench_status abench__check_verdict(const abench__play *play, abench_status status,
                                    const abench_receipt *receipt, abench_error *error);

#endif
