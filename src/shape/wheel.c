/* wheel.c - a hierarchical timing wheel; see wheel.h for its source. */
#include "shape/wheel.h"

#define DIGIT  6u
#define SLOTS  (1u << DIGIT)
#define LEVELS 11u /* digits in 64 bits */
#define ROOM   20u /* entries of a chunk, which is 256 bytes */
#define LINE   64u

/* Entries of a slot in the order of adding. A list over the items themselves would read each of
 * them, cold, whenever its slot is spread: two thirds of the time of a wheel larger than a cache.
 * Chunks are written and read in a row. */
typedef struct chunk {
    uint64_t due[ROOM];
    uint32_t item[ROOM];
    uint32_t next; /* in its slot, or among the free ones; 1 + its number, 0: none */
    uint32_t reserved[3];
} chunk;

_Static_assert(sizeof(chunk) == 4 * LINE, "whole cache lines");

typedef struct slot_chunks {
    uint32_t first; /* 1 + its number */
    uint32_t last;
    uint32_t taken; /* entries of the first chunk that are gone */
    uint32_t added; /* entries of the last chunk, those among them */
} slot_chunks;

/*
 * An item lies at the level of the highest digit in which its tick differs from time, in the slot
 * of its own digit there; at level 0 when no digit differs. So a level's slots before time's digit
 * are empty, items of one tick are always in one slot, and a slot in the order of adding keeps that
 * order when it is spread over the levels below.
 */
struct abench__wheel {
    uint64_t time;
    uint64_t occupied[LEVELS]; /* a bit a slot */
    slot_chunks slots[LEVELS][SLOTS];
    chunk *chunks;
    uint32_t free;   /* 1 + the number of a chunk that was in use */
    uint32_t fresh;  /* chunks that were in use once */
    uint32_t levels; /* a bit a level: whether occupied is not 0 */
    uint32_t reserved;
};

/* Besides those that are full, a slot has a first and a last chunk, and one more is read while its
 * slot is spread. */
uint64_t abench__wheel_bytes(uint32_t items)
{
    const uint64_t slots = items < LEVELS * SLOTS ? items : LEVELS * SLOTS;

    return sizeof(abench__wheel) + LINE + (items / ROOM + 2 * slots + 1) * sizeof(chunk);
}

abench__wheel *abench__wheel_init(void *memory, uint32_t items)
{
    abench__wheel *wheel = memory;
    const uintptr_t behind = (uintptr_t)(wheel + 1);

    (void)items; /* the bitmaps say what is in the wheel: zeroed memory is an empty one */
    wheel->chunks = (chunk *)((behind + LINE - 1) / LINE * LINE);
    return wheel;
}

static uint32_t new_chunk(abench__wheel *wheel)
{
    const uint32_t number = wheel->free;

    if (number == 0)
        return ++wheel->fresh;
    wheel->free = wheel->chunks[number - 1].next;
    return number;
}

/* Gives a chunk back; returns the one behind it. */
static uint32_t drop_chunk(abench__wheel *wheel, uint32_t number)
{
    chunk *c = &wheel->chunks[number - 1];
    const uint32_t next = c->next;

    c->next = wheel->free;
    wheel->free = number;
    return next;
}

static void append(abench__wheel *wheel, uint32_t item, uint64_t due)
{
    const uint64_t differs = due ^ wheel->time;
    const uint32_t level = differs == 0 ? 0 : (63 - (uint32_t)__builtin_clzll(differs)) / DIGIT;
    const uint32_t slot = (uint32_t)(due >> (level * DIGIT)) % SLOTS;
    slot_chunks *s = &wheel->slots[level][slot];
    chunk *c;

    if (!(wheel->occupied[level] >> slot & 1)) {
        *s = (slot_chunks){.first = new_chunk(wheel)};
        s->last = s->first;
        wheel->chunks[s->last - 1].next = 0;
        wheel->occupied[level] |= (uint64_t)1 << slot;
        wheel->levels |= 1u << level;
    } else if (s->added == ROOM) {
        const uint32_t number = new_chunk(wheel);
        wheel->chunks[s->last - 1].next = number;
        wheel->chunks[number - 1].next = 0;
        s->last = number;
        s->added = 0;
    }
    c = &wheel->chunks[s->last - 1];
    c->due[s->added] = due;
    c->item[s->added++] = item;
}

void abench__wheel_add(abench__wheel *wheel, uint32_t item, uint64_t due)
{
    append(wheel, item, due > wheel->time ? due : wheel->time);
}

static void clear(abench__wheel *wheel, uint32_t level, uint32_t slot)
{
    wheel->occupied[level] &= ~((uint64_t)1 << slot);
    if (wheel->occupied[level] == 0)
        wheel->levels &= ~(1u << level);
}

static uint32_t take_first(abench__wheel *wheel, uint32_t level, uint32_t slot)
{
    slot_chunks *s = &wheel->slots[level][slot];
    const uint32_t item = wheel->chunks[s->first - 1].item[s->taken++];

    if (s->first == s->last && s->taken == s->added) {
        drop_chunk(wheel, s->first);
        clear(wheel, level, slot);
    } else if (s->taken == ROOM) {
        s->first = drop_chunk(wheel, s->first);
        s->taken = 0;
    }
    return item;
}

/* Time has come to a slot's first tick: its items go to the levels below. */
static void spread(abench__wheel *wheel, uint32_t level, uint32_t slot)
{
    const slot_chunks s = wheel->slots[level][slot];
    uint32_t number = s.first;

    clear(wheel, level, slot);
    for (uint32_t at = s.taken; number != 0; at = 0) {
        const chunk *c = &wheel->chunks[number - 1];
        const uint32_t end = number == s.last ? s.added : ROOM;
        if (c->next != 0)
            __builtin_prefetch(&wheel->chunks[c->next - 1]);
        for (; at < end; at++)
            append(wheel, c->item[at], c->due[at]);
        number = drop_chunk(wheel, number);
    }
}

uint32_t abench__wheel_take(abench__wheel *wheel, uint64_t now)
{
    while (wheel->levels != 0) {
        /* The lowest level that has items has the next ones, in its first slot. */
        const uint32_t level = (uint32_t)__builtin_ctz(wheel->levels);
        const uint32_t slot = (uint32_t)__builtin_ctzll(wheel->occupied[level]);
        const uint32_t shift = level * DIGIT;
        /* The digits above this level; at the highest, one shift would be of 66 bits. */
        const uint64_t turn = wheel->time >> shift >> DIGIT;
        const uint64_t start = (turn << DIGIT | slot) << shift;
        if (start > now)
            break;
        wheel->time = start;
        if (level == 0)
            return take_first(wheel, 0, slot);
        spread(wheel, level, slot);
    }
    if (now > wheel->time)
        wheel->time = now;
    return ABENCH__WHEEL_NONE;
}

uint32_t abench__wheel_take_any(abench__wheel *wheel)
{
    uint32_t level;

    if (wheel->levels == 0)
        return ABENCH__WHEEL_NONE;
    level = (uint32_t)__builtin_ctz(wheel->levels);
    return take_first(wheel, level, (uint32_t)__builtin_ctzll(wheel->occupied[level]));
}
