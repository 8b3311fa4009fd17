/*
 * churn.c - churn-local and churn-cross: the size-class probe.
 *
 * Every size lies within 8 bytes of a boundary of jemalloc's size classes, half of them just above
 * it, where rounding up costs most. Each round frees everything in a random order and allocates it
 * anew; in churn-cross each lane frees what its neighbour allocated, so every block comes home
 * through another thread.
 *
 * The halves are part of the definition: freeing and allocating slot by slot instead turns
 * jemalloc from worst to best.
 */
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "4", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"slots", "60000", "live blocks a lane", PARAMETER_INTEGER, 1, 1u << 24, "15000", 0},
    {"rounds", "6", "times that everything is freed and allocated anew", PARAMETER_INTEGER, 1,
     100000, "4", 1},
    {"sizes", "boundaries:24-4095", "distribution of the sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_FILL, FILL, BEGIN_ROUNDS, FREE, MEET, ALLOCATE, BEGIN_DRAIN, DRAIN };

typedef struct streams {
    abench_random sizes;
    abench_random permutation;
} streams;

typedef struct churn {
    const abench_distribution *sizes;
    streams *random;  /* one a lane */
    uint32_t *orders; /* a permutation of the slots for each lane */
    uint64_t round;   /* 0-based */
    uint32_t lanes;
    uint32_t slots;
    uint32_t index; /* slots of each lane that are done in this stage */
    uint32_t stage;
    int cross;
} churn;

static int is_cross(const abench_workload *w)
{
    return w->kind == &abench__churn_cross;
}

/* Slot index of the blocks that lane owner allocates. */
static uint32_t slot_of(const churn *c, uint32_t owner, uint32_t index)
{
    return c->cross ? ABENCH_SLOT_SHARED | (owner * c->slots + index) : index;
}

static void shuffle_orders(const churn *c)
{
    for (uint32_t lane = 0; lane < c->lanes; lane++) {
        uint32_t *order = c->orders + (uint64_t)lane * c->slots;
        for (uint32_t index = 0; index < c->slots; index++)
            order[index] = index;
        abench_random_shuffle(&c->random[lane].permutation, order, c->slots);
    }
}

/* Three phases; fill and drain; in each round two barriers, a free and a malloc a slot. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t slots = abench__workload_number(w, "slots");

    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       3 + 2 * slots +
                                           abench__workload_number(w, "rounds") * (2 + 2 * slots));
}

static uint64_t live_bytes(const abench_workload *w)
{
    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes,
                                abench__workload_number(w, "lanes") *
                                    abench__workload_number(w, "slots"));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    const uint32_t lanes = (uint32_t)abench__workload_number(w, "lanes");
    const uint32_t slots = (uint32_t)abench__workload_number(w, "slots");
    const uint64_t all = (uint64_t)lanes * slots;

    options->lanes = lanes;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
    if (is_cross(w)) /* more than a slot number can say is refused by the builder */
        options->shared_slots = all < ABENCH_SLOT_SHARED ? (uint32_t)all : ABENCH_SLOT_SHARED;
    else
        options->local_slots = slots;
}

static uint64_t state_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");

    return sizeof(churn) + lanes * sizeof(streams) +
           lanes * abench__workload_number(w, "slots") * sizeof(uint32_t);
}

static void begin(const abench_workload *w, void *memory)
{
    churn *c = memory;

    c->sizes = abench__workload_value(w, "sizes")->sizes;
    c->lanes = (uint32_t)abench__workload_number(w, "lanes");
    c->slots = (uint32_t)abench__workload_number(w, "slots");
    c->cross = is_cross(w);
    c->random = (streams *)(c + 1);
    c->orders = (uint32_t *)(c->random + c->lanes);
    for (uint32_t lane = 0; lane < c->lanes; lane++) {
        abench_random_seed(&c->random[lane].sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&c->random[lane].permutation, w->seed, lane, ABENCH_PURPOSE_PERMUTATION);
    }
}

/* One slot of every lane. */
static void fill_one(const churn *c, abench_tape_builder *builder)
{
    for (uint32_t lane = 0; lane < c->lanes; lane++) {
        const uint32_t owner = c->cross && c->stage == FREE ? (lane + 1) % c->lanes : lane;
        const uint32_t index =
            c->stage == FREE ? c->orders[(uint64_t)lane * c->slots + c->index] : c->index;
        if (c->stage == FREE || c->stage == DRAIN)
            abench_tape_builder_free(builder, lane, slot_of(c, owner, index));
        else
            abench_tape_builder_malloc(builder, lane, slot_of(c, owner, index),
                                       abench_distribution_draw(c->sizes, &c->random[lane].sizes));
    }
}

/* What stands between two stages; 1: the tape is whole. */
static int32_t next_stage(const abench_workload *w, churn *c, abench_tape_builder *builder)
{
    c->index = 0;
    c->stage++;
    if (c->stage == BEGIN_ROUNDS)
        abench_tape_builder_phase(builder, "rounds", ABENCH_PHASE_TIMED);
    if (c->stage == BEGIN_DRAIN && ++c->round < abench__workload_number(w, "rounds"))
        c->stage = BEGIN_ROUNDS;
    if (c->stage == BEGIN_ROUNDS || c->stage == MEET)
        abench_tape_builder_barrier(builder);
    if (c->stage == BEGIN_ROUNDS)
        shuffle_orders(c);
    if (c->stage == BEGIN_DRAIN)
        abench_tape_builder_phase(builder, "drain", 0);
    return c->stage > DRAIN;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    churn *c = memory;

    if (c->stage == BEGIN_FILL)
        abench_tape_builder_phase(builder, "fill", 0);
    if (c->stage == BEGIN_FILL || c->stage == BEGIN_ROUNDS || c->stage == MEET ||
        c->stage == BEGIN_DRAIN)
        c->stage++;
    for (uint32_t batch = 0; batch < 8 && c->index < c->slots; batch++, c->index++)
        fill_one(c, builder);
    return c->index < c->slots ? 0 : next_stage(w, c, builder);
}

#define SOURCE                                                                                     \
    "a published size-class probe: sizes around jemalloc's class boundaries (four a doubling), "   \
    "all "                                                                                         \
    "freed in random order, all allocated anew"
#define TOUCHED "a byte of every page of each block"
#define TIMED   "the rounds (free all, allocate all), waits at barriers apart; not fill and drain"

const abench__workload_kind abench__churn_local = {
    .info = {sizeof(abench_workload_info), 1, "churn-local",
             "each lane frees all its own blocks in random order and allocates them anew: internal "
             "and external fragmentation around size-class boundaries",
             SOURCE, TIMED, TOUCHED},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};

const abench__workload_kind abench__churn_cross = {
    .info = {sizeof(abench_workload_info), 1, "churn-cross",
             "each lane frees the blocks of its neighbour in random order and allocates its own "
             "anew: what every block freed by another thread costs in memory",
             SOURCE, TIMED "; the lanes move in lockstep between barriers: rank it by memory",
             TOUCHED},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
