/*
 * ring.h - what sh6 and sh8 share: a ring of blocks of which a part is kept, and the fixed order of
 * sizes that fills it.
 *
 * Source: the description of MicroQuill's sh6bench and sh8bench, whose code may not be passed on.
 * A ring is filled slot by slot. When it is full, a window of a fifth of it moves on; what lies
 * before the window is freed in the order of allocation, what lies behind it in the reverse order;
 * then filling begins anew at the first slot and jumps over the window, whose blocks live on.
 *
 * sh6bench asks whether it has reached the window only after it has stepped into it, so that it
 * never jumps over a window at the very first slot: every fifth time a fifth of the ring is written
 * over, and those blocks leak. A leaky ring does that too. It gives the slots at its front new
 * numbers then, so that what leaked can still be found.
 */
#ifndef ABENCH_WORKLOAD_RING_H
#define ABENCH_WORKLOAD_RING_H

#include <stdint.h>

enum { ABENCH__RING_FILL, ABENCH__RING_FREE_FRONT, ABENCH__RING_FREE_BACK };

typedef struct abench__ring {
    uint32_t size;
    uint32_t at;   /* the slot that is filled next, or behind the one that is freed next */
    uint32_t kept; /* the window: slots kept ... kept_end - 1 */
    uint32_t kept_end;
    uint32_t stage;   /* ABENCH__RING_... */
    uint32_t leaky;   /* 1: as sh6bench has it */
    uint32_t leaks;   /* times that the front was written over */
    uint32_t drained; /* slots that abench__ring_drain has gone through */
} abench__ring;

/* The next step: 1 when a block is to be allocated into *slot, 0 when *slot is to be freed. */
int abench__ring_next(abench__ring *ring, uint32_t *slot);

/* After an allocation: the next slot that still holds a block; 0 when there is none. */
int abench__ring_drain(abench__ring *ring, uint32_t *slot);

/* Slot numbers that a ring of so many slots needs while it makes so many allocations. */
uint64_t abench__ring_slots(uint32_t size, int leaky, uint64_t allocations);

/* So many blocks of a size, one after the other. */
typedef struct abench__run_of {
    uint32_t size;
    uint32_t count;
} abench__run_of;

#define ABENCH__RUNS_MAX 512u

/* A sequence of sizes, which is gone through again and again. */
typedef struct abench__pass {
    uint64_t blocks;
    uint64_t bytes;
    uint32_t count;
    uint32_t reserved;
    abench__run_of runs[ABENCH__RUNS_MAX];
} abench__pass;

void abench__pass_add(abench__pass *pass, uint32_t size, uint32_t count);

/* A place in the sequence; zeroed: its begin. */
typedef struct abench__pass_cursor {
    uint32_t run;
    uint32_t done; /* of the run's blocks */
} abench__pass_cursor;

uint32_t abench__pass_next(const abench__pass *pass, abench__pass_cursor *cursor);

/* The most bytes that a ring of this size can hold after so many allocations: the heaviest window
 * beside the heaviest blocks in a row. */
uint64_t abench__pass_ring(const abench__pass *pass, uint64_t size, uint64_t allocations);

#endif
