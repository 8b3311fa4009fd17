/*
 * wait.h - waiting for another lane: 200 pauses, then sched_yield. (With more lanes than cores pure
 * spinning, or sleeping, is ten times slower.) The time is counted, so that it can be taken off.
 */
#ifndef ABENCH_TAPE_WAIT_H
#define ABENCH_TAPE_WAIT_H

#include "tape/lane.h"

/* Until the shared slot has this generation (16 bits). Returns the slot's word, or 0 when the play
 * is given up: a caller then skips its operation. what: WAIT_FREED or WAIT_ALLOCATED. */
uint64_t abench__wait_slot(abench__lane *lane, uint32_t slot, uint32_t generation, uint32_t what);

/* Until every lane stands at this barrier. */
void abench__wait_barrier(abench__lane *lane);

/* Until the slowest lane is at most the skew bound behind cut. */
void abench__wait_skew(abench__lane *lane, uint64_t cut);

/* Keeps the first error of a play and tells the lanes to give up. */
void abench__play_fail(abench__play *play, abench_status status, const char *message);

#endif
