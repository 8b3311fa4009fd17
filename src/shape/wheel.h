/*
 * wheel.h - when blocks die: a hierarchical timing wheel over fixed memory (Varghese and Lauck,
 * "Hashed and hierarchical timing wheels", SOSP 1987; here 64 slots a level).
 *
 * Items are the numbers 0 ... items - 1 (a generator's slots), each in the wheel at most once. Time
 * is in ticks of the caller's: operations, or a fraction of virtual time.
 */
#ifndef ABENCH_SHAPE_WHEEL_H
#define ABENCH_SHAPE_WHEEL_H

#include <stdint.h>

#define ABENCH__WHEEL_NONE UINT32_MAX

typedef struct abench__wheel abench__wheel;

/* Bytes for a wheel of so many items (below 2^32 - 1). */
uint64_t abench__wheel_bytes(uint32_t items);

/* Makes a wheel at time 0 in memory: zeroed, 8-byte aligned, abench__wheel_bytes(items). */
abench__wheel *abench__wheel_init(void *memory, uint32_t items);

/* item, which is not in the wheel, is due at tick due. What lies in the past is due at the wheel's
 * own time: the tick of the item taken last, or the last now for which there was none. */
void abench__wheel_add(abench__wheel *wheel, uint32_t item, uint64_t due);

/* Takes out the next item that is due at or before now, earlier ticks first and within a tick in
 * the order of adding; ABENCH__WHEEL_NONE when there is none. now never falls. */
uint32_t abench__wheel_take(abench__wheel *wheel, uint64_t now);

/* Takes out any item, for a drain; ABENCH__WHEEL_NONE when the wheel is empty. */
uint32_t abench__wheel_take_any(abench__wheel *wheel);

#endif
