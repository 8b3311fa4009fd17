/*
 * larson.c - a server whose threads die and leave their heap to a successor.
 *
 * Pattern: Larson and Krishnan, "Memory allocation for long-running server applications" (ISMM
 * 1998), as the suites run it: a thread replaces random blocks of its array; after so many
 * replacements it starts a thread that takes the array over, and ends. Only what outlived a round
 * is then freed by another thread: some 1 % of the frees, not the cross-thread test that it is
 * taken for.
 *
 * What differs from the original: it runs for 5 seconds, so that a fast allocator does more work
 * and grows more; here the rounds are fixed. Its dead threads are never joined, and their stacks
 * add up to a gigabyte of address space; here lanes are fixed, and the arrays pass on to the next
 * lane while all stand at a barrier. It leaves everything alive at the end.
 *
 * A lane's own blocks are best kept in its local slots. Which blocks will be handed on is known
 * ahead: the draws of a round are made twice, first on a copy of the stream, to find the last use
 * of each slot.
 */
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"slots", "5000", "live blocks a lane", PARAMETER_INTEGER, 1, 1u << 20, "1000", 0},
    {"round", "500000", "replacements after which a lane's blocks go to the next lane",
     PARAMETER_INTEGER, 1, 1u << 30, "100000", 0},
    {"rounds", "30", "rounds of each lane", PARAMETER_INTEGER, 1, 1u << 20, "2", 1},
    {"sizes", "uniform:8-999", "distribution of the sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"sized", "0", "1: free is told the size (larson-sized)", PARAMETER_INTEGER, 0, 1, NULL, 0},
    {"touch", "first", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

#define WARM_UP 4u /* replacements a slot before the lanes start */

enum { BEGIN_FILL, FILL, WARM, BEGIN_ROUND, ROUND, BEGIN_DRAIN, DRAIN };

/* An array of blocks, which lanes work on in turn. */
typedef struct array {
    abench_random sizes;
    abench_random slots;
    uint32_t *last;       /* a slot: the last replacement of the round that uses it, 1-based; in the
                              fill: the order of the slots */
    unsigned char *local; /* a slot: 1 when its block lies in the local slot */
} array;

typedef struct larson {
    const abench_distribution *sizes;
    uint64_t round_length;
    uint64_t round; /* 0-based */
    uint64_t done;  /* in this stage, of each array */
    uint32_t lanes;
    uint32_t slots;
    uint32_t array_at; /* in the fill: arrays that are done */
    uint32_t stage;
    uint32_t sized;
    array arrays[];
} larson;

/* Fill: a malloc a slot, and the replacements of the warm-up; a free and a malloc for each
 * replacement; a barrier a round; the drain; three phases. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t slots = abench__workload_number(w, "slots");
    const uint64_t rounds = abench__workload_number(w, "rounds");

    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       3 + slots * (2 + 2 * WARM_UP) +
                                           rounds * (1 + 2 * abench__workload_number(w, "round")));
}

static uint64_t live_bytes(const abench_workload *w)
{
    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes,
                                abench__workload_number(w, "lanes") *
                                    abench__workload_number(w, "slots"));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)abench__workload_number(w, "slots");
    options->shared_slots = options->lanes * options->local_slots;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t slots = abench__workload_number(w, "slots");

    return sizeof(larson) + lanes * (sizeof(array) + slots * (sizeof(uint32_t) + 1));
}

static void begin(const abench_workload *w, void *memory)
{
    larson *s = memory;
    uint32_t *numbers;
    unsigned char *flags;

    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->slots = (uint32_t)abench__workload_number(w, "slots");
    s->round_length = abench__workload_number(w, "round");
    s->sized = (uint32_t)abench__workload_number(w, "sized");
    numbers = (uint32_t *)(s->arrays + s->lanes);
    flags = (unsigned char *)(numbers + (uint64_t)s->lanes * s->slots);
    for (uint32_t index = 0; index < s->lanes; index++) {
        array *a = &s->arrays[index];
        a->last = numbers + (uint64_t)index * s->slots;
        a->local = flags + (uint64_t)index * s->slots;
        abench_random_seed(&a->sizes, w->seed, index, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&a->slots, w->seed, index, ABENCH_PURPOSE_SLOT);
        for (uint32_t slot = 0; slot < s->slots; slot++)
            a->last[slot] = slot;
        abench_random_shuffle(&a->slots, a->last, s->slots);
    }
}

static uint32_t slot_of(const larson *s, uint32_t index, uint32_t slot)
{
    return s->arrays[index].local[slot] ? slot : ABENCH_SLOT_SHARED | (index * s->slots + slot);
}

static void free_block(const larson *s, abench_tape_builder *builder, uint32_t lane, uint32_t index,
                       uint32_t slot)
{
    if (s->sized)
        abench_tape_builder_free_sized(builder, lane, slot_of(s, index, slot));
    else
        abench_tape_builder_free(builder, lane, slot_of(s, index, slot));
}

static void allocate(larson *s, abench_tape_builder *builder, uint32_t lane, uint32_t index,
                     uint32_t slot)
{
    abench_tape_builder_malloc(builder, lane, slot_of(s, index, slot),
                               abench_distribution_draw(s->sizes, &s->arrays[index].sizes));
}

/* The lane that works on an array in this round. */
static uint32_t lane_of(const larson *s, uint32_t index)
{
    return (uint32_t)((index + s->round) % s->lanes);
}

/* The main thread of the original fills all arrays before it starts the others. */
static void fill_array(larson *s, abench_tape_builder *builder)
{
    const uint32_t index = s->array_at;
    array *a = &s->arrays[index];

    for (uint32_t batch = 0; batch < 512 && s->stage <= WARM; batch++) {
        if (s->stage == FILL) {
            allocate(s, builder, 0, index, a->last[s->done]);
        } else {
            const uint32_t slot = (uint32_t)abench_random_below(&a->slots, s->slots);
            free_block(s, builder, 0, index, slot);
            allocate(s, builder, 0, index, slot);
        }
        if (++s->done < (s->stage == FILL ? s->slots : (uint64_t)WARM_UP * s->slots))
            continue;
        s->done = 0;
        s->stage++;
        if (s->stage > WARM && ++s->array_at < s->lanes)
            s->stage = FILL;
        if (s->stage != WARM)
            return;
    }
}

/* Makes the round's draws of slots on a copy of the stream. */
static void look_ahead(const larson *s, array *a)
{
    abench_random ahead = a->slots;

    for (uint32_t slot = 0; slot < s->slots; slot++)
        a->last[slot] = 0;
    for (uint64_t step = 1; step <= s->round_length; step++)
        a->last[abench_random_below(&ahead, s->slots)] = (uint32_t)step;
}

static void begin_round(larson *s, abench_tape_builder *builder)
{
    if (s->round == 0)
        abench_tape_builder_phase(builder, "rounds", ABENCH_PHASE_TIMED);
    abench_tape_builder_barrier(builder);
    for (uint32_t index = 0; index < s->lanes; index++)
        look_ahead(s, &s->arrays[index]);
    s->done = 0;
    s->stage = ROUND;
}

static void replace(larson *s, abench_tape_builder *builder, uint32_t index)
{
    array *a = &s->arrays[index];
    const uint32_t slot = (uint32_t)abench_random_below(&a->slots, s->slots);
    const uint32_t lane = lane_of(s, index);

    free_block(s, builder, lane, index, slot);
    a->local[slot] = a->last[slot] != s->done + 1;
    allocate(s, builder, lane, index, slot);
}

/* One slot or replacement of every array; the lanes take turns. */
static void fill_one(larson *s, abench_tape_builder *builder)
{
    for (uint32_t index = 0; index < s->lanes; index++) {
        if (s->stage == ROUND)
            replace(s, builder, index);
        else
            free_block(s, builder, lane_of(s, index), index, (uint32_t)s->done);
    }
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    larson *s = memory;

    if (s->stage == BEGIN_FILL) {
        abench_tape_builder_phase(builder, "fill", 0);
        s->stage = FILL;
    } else if (s->stage == FILL || s->stage == WARM) {
        fill_array(s, builder);
    } else if (s->stage == BEGIN_ROUND) {
        begin_round(s, builder);
    } else if (s->stage == BEGIN_DRAIN) {
        abench_tape_builder_phase(builder, "drain", 0);
        s->done = 0;
        s->stage = DRAIN;
    } else {
        const uint64_t end = s->stage == ROUND ? s->round_length : s->slots;
        for (uint32_t batch = 0; batch < 8 && s->done < end; batch++, s->done++)
            fill_one(s, builder);
        if (s->done < end)
            return 0;
        if (s->stage == DRAIN)
            return 1;
        s->stage = ++s->round < abench__workload_number(w, "rounds") ? BEGIN_ROUND : BEGIN_DRAIN;
    }
    return 0;
}

const abench__workload_kind abench__larson = {
    .info = {sizeof(abench_workload_info), 1, "larson",
             "a server that replaces random blocks and hands its heap on to another thread now and "
             "then: throughput of a long-running heap, 1 % of the blocks freed by a successor",
             "Larson and Krishnan, ISMM 1998; program larson of daanx/mimalloc-bench ce5784f, "
             "arguments 5 8 1000 5000 100 4141 N, with fixed rounds in place of 5 seconds",
             "the rounds, waits at the barriers between them taken off; not the fill, its warm-up "
             "of 4 replacements a slot, and the drain",
             "the first byte; the original writes the first two and reads one"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
