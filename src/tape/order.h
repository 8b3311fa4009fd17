/*
 * order.h - an order for the operations of a cut, of which only each lane's own order is known:
 * every lane is run as far as it comes without another. So a player with one thread would do it.
 *
 * Each step follows the rules of the player: a malloc into a shared slot wants the generation
 * before its own there, a free or touch its own, a realloc the one two before, all in 16 bits; a
 * barrier or a phase's edge passes when every lane stands at it.
 */
#ifndef ABENCH_TAPE_ORDER_H
#define ABENCH_TAPE_ORDER_H

#include "tape/word.h"

typedef struct abench__order {
    uint32_t lanes;
    uint32_t shared_slots;
    uint32_t lane;         /* whose turn it is */
    uint32_t idle;         /* lanes in a row that could not go on */
    uint32_t meeting;      /* lanes that the group has not come to yet; 0: there is none */
    uint32_t reserved;     /* 0 */
    uint16_t *generations; /* of each shared slot: what a player would find there */
    const uint64_t **at;   /* a lane: its next word, ... */
    const uint64_t **end;  /* ... and where its words of this cut end */
} abench__order;

/* An operation as it comes. Its words stay where they are. */
typedef struct abench__ordered {
    uint32_t lane;
    uint32_t count; /* of words, 1 or 2 */
    const uint64_t *words;
    abench__op op;
} abench__ordered;

/* Zeroed memory that abench__order_init wants. */
uint64_t abench__order_bytes(uint32_t lanes, uint32_t shared_slots);
void abench__order_init(abench__order *order, void *memory, uint32_t lanes, uint32_t shared_slots);

/* Begins a cut, whose words the caller has just put into at and end. */
void abench__order_cut(abench__order *order);

/* The next operation of the cut; a group comes once for each lane, one after the other from lane 0.
 * ABENCH_ERROR_NOT_FOUND behind the last. ABENCH_ERROR_TAPE, which no tape of a builder leads to:
 * words that are no operation, or lanes that wait for each other. */
abench_status abench__order_next(abench__order *order, abench__ordered *out, abench_error *error);

#endif
