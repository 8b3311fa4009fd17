/*
 * lane.h - one thread's part of a play: the loop that is timed, and the waits that are not.
 */
#ifndef ABENCH_TAPE_LANE_H
#define ABENCH_TAPE_LANE_H

#include <pthread.h>
#include <stdatomic.h>

#include "tape/source.h"
#include "tape/tape.h"
#include "tape/word.h"

/* What a lane waits for; the watchdog names it. */
enum { WAIT_NOTHING, WAIT_FREED, WAIT_ALLOCATED, WAIT_BARRIER, WAIT_SKEW, WAIT_PAUSE };

typedef struct abench__lane {
    struct abench__play *play;
    void **slots;             /* local: a plain word each */
    _Atomic uint64_t *shared; /* of the tape: generation << 48 | pointer */
    const uint64_t *words;    /* of the chunk; cut ends count from here */
    const uint64_t *start;    /* of the chunk's first word */
    const uint64_t *at;       /* the next word */
    uint64_t digest;          /* of the words executed in the chunks before */
    uint64_t words_executed;  /* in the chunks before */
    uint64_t executed[ABENCH_OP_KINDS];
    uint64_t bytes;
    uint64_t failed;
    uint64_t checksum;
    uint64_t waits;
    uint64_t wait_ns;
    uint64_t pause_ns;
    uint64_t pace_ns;          /* when its last pace was due; 0: there was none */
    uint64_t late_ns;          /* the latest that it came to one */
    uint64_t stretch_begin_ns; /* of the stretch that was played last */
    uint64_t stretch_end_ns;
    uint64_t stretch_cpu_ns;
    uint64_t stretch_idle_ns; /* waits and pauses in it */
    uint32_t index;
    _Atomic uint32_t waits_for; /* WAIT_... */
    _Atomic uint64_t waits_at;  /* index of the word */
    _Atomic uint64_t cut; /* the cut that it plays now; beyond all when it has ended its slice */
    pthread_t thread;
    uint32_t has_thread;
} __attribute__((aligned(128))) abench__lane;

/* What the lanes share. */
typedef struct abench__play {
    const abench_tape *tape; /* its lanes, slots and touch; the rest is the reader's */
    abench__reader *reader;
    abench__chunk chunk;
    uint64_t begin_ns; /* of the first stretch: paces count from here */
    abench_allocator allocator;
    abench_player_options options;
    struct abench__check *check;          /* of a checked play; else NULL */
    struct abench__play_latency *latency; /* of one that times operations; else NULL */
    uint64_t skew_cuts;                   /* 0: none */
    uint64_t live_bytes;                  /* planned, behind the last stretch */
    uint64_t watchdog_ns;
    uint32_t lanes_count;
    _Atomic uint32_t abort; /* 0, or 1: give up; the error says why */
    abench__lane *lanes;
    /* barrier operations */
    _Atomic uint32_t barrier_arrived __attribute__((aligned(128)));
    _Atomic uint32_t barrier_generation;
    /* the error of whoever found one first */
    pthread_mutex_t error_mutex;
    abench_error error;
    /* the gate between slices; the lanes sleep here */
    pthread_mutex_t gate_mutex;
    pthread_cond_t gate_open;
    pthread_cond_t gate_full;
    uint64_t gate_generation;
    uint32_t gate_arrived;
    uint32_t gate_finish;
    uint64_t first_cut; /* the stretch to play: cuts first_cut ... last_cut - 1 of the chunk */
    uint64_t last_cut;
} abench__play;

/* An operation that is no call of the allocator: the lane waits at a barrier, sleeps, or goes
 * on. */
void abench__lane_meet(abench__lane *lane, const abench__op *op);

/* When a call of the allocator begun and ended, and when its block was touched. */
typedef struct abench__moments {
    uint64_t begun_ns; /* 0: the play was given up before it */
    uint64_t ended_ns;
    uint64_t touched_ns;
} abench__moments;

/* Does what an allocation or a free is made of, and says when. Waiting for a slot is not in it. */
void abench__lane_call(abench__lane *lane, const abench__op *op, abench__moments *moments);

/* Plays the current stretch's words of this lane and takes its times. */
void abench__lane_stretch(abench__lane *lane);

#endif
