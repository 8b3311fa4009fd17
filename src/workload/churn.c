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
#include "base/arena.h"
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "4", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX},
    {"slots", "60000", "live blocks a lane", PARAMETER_INTEGER, 1, 1u << 24},
    {"rounds", "6", "times that everything is freed and allocated anew", PARAMETER_INTEGER, 1,
     100000},
    {"sizes", "boundaries:24-4095", "distribution of the sizes", PARAMETER_SIZES, 0, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0},
    {0},
};

typedef struct churn {
    abench_tape_builder *builder;
    const abench_distribution *sizes;
    abench_random *size_streams;        /* one a lane */
    abench_random *permutation_streams; /* one a lane */
    uint32_t *orders;                   /* a permutation of the slots for each lane */
    uint32_t lanes;
    uint32_t slots;
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

static void allocate_all(const churn *c)
{
    for (uint32_t index = 0; index < c->slots; index++)
        for (uint32_t lane = 0; lane < c->lanes; lane++)
            abench_tape_builder_malloc(c->builder, lane, slot_of(c, lane, index),
                                       abench_distribution_draw(c->sizes, &c->size_streams[lane]));
}

static void shuffle_orders(const churn *c)
{
    for (uint32_t lane = 0; lane < c->lanes; lane++) {
        uint32_t *order = c->orders + (uint64_t)lane * c->slots;
        for (uint32_t index = 0; index < c->slots; index++)
            order[index] = index;
        abench_random_shuffle(&c->permutation_streams[lane], order, c->slots);
    }
}

static void free_all_shuffled(const churn *c)
{
    shuffle_orders(c);
    for (uint32_t index = 0; index < c->slots; index++)
        for (uint32_t lane = 0; lane < c->lanes; lane++) {
            const uint32_t owner = c->cross ? (lane + 1) % c->lanes : lane;
            const uint32_t slot = c->orders[(uint64_t)lane * c->slots + index];
            abench_tape_builder_free(c->builder, lane, slot_of(c, owner, slot));
        }
}

static void free_all_in_order(const churn *c)
{
    for (uint32_t index = 0; index < c->slots; index++)
        for (uint32_t lane = 0; lane < c->lanes; lane++)
            abench_tape_builder_free(c->builder, lane, slot_of(c, lane, index));
}

/* Three phases; fill and drain; in each round two barriers, a free and a malloc a slot. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t slots = abench__workload_value(w, "slots")->number;

    return 3 + 2 * slots + abench__workload_value(w, "rounds")->number * (2 + 2 * slots);
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    const uint32_t lanes = (uint32_t)abench__workload_value(w, "lanes")->number;
    const uint32_t slots = (uint32_t)abench__workload_value(w, "slots")->number;
    const uint64_t all = (uint64_t)lanes * slots;

    options->lanes = lanes;
    options->touch = (uint32_t)abench__workload_value(w, "touch")->number;
    if (is_cross(w)) /* more than a slot number can say is refused by the builder */
        options->shared_slots = all < ABENCH_SLOT_SHARED ? (uint32_t)all : ABENCH_SLOT_SHARED;
    else
        options->local_slots = slots;
}

static abench_status generate(const abench_workload *w, abench_tape_builder *builder)
{
    const uint64_t rounds = abench__workload_value(w, "rounds")->number;
    abench__arena arena = {0};
    churn c = {.builder = builder, .cross = is_cross(w)};

    c.sizes = abench__workload_value(w, "sizes")->sizes;
    c.lanes = (uint32_t)abench__workload_value(w, "lanes")->number;
    c.slots = (uint32_t)abench__workload_value(w, "slots")->number;
    arena.capacity =
        (uint64_t)c.lanes * (2 * sizeof(abench_random) + c.slots * sizeof(uint32_t)) + 256;
    arena.memory = abench__map(NULL, arena.capacity, 0);
    if (arena.memory == NULL)
        return ABENCH_ERROR_MEMORY;
    c.size_streams = abench__arena_take(&arena, c.lanes * sizeof(abench_random));
    c.permutation_streams = abench__arena_take(&arena, c.lanes * sizeof(abench_random));
    c.orders = abench__arena_take(&arena, (uint64_t)c.lanes * c.slots * sizeof(uint32_t));
    for (uint32_t lane = 0; lane < c.lanes; lane++) {
        abench_random_seed(&c.size_streams[lane], w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&c.permutation_streams[lane], w->seed, lane, ABENCH_PURPOSE_PERMUTATION);
    }

    abench_tape_builder_phase(builder, "fill", 0);
    allocate_all(&c);
    abench_tape_builder_phase(builder, "rounds", ABENCH_PHASE_TIMED);
    for (uint64_t round = 0; round < rounds; round++) {
        abench_tape_builder_barrier(builder);
        free_all_shuffled(&c);
        if (abench_tape_builder_barrier(builder) != ABENCH_OK)
            break; /* the builder keeps why */
        allocate_all(&c);
    }
    abench_tape_builder_phase(builder, "drain", 0);
    free_all_in_order(&c);
    abench__unmap(NULL, arena.memory, arena.capacity);
    return ABENCH_OK;
}

#define SOURCE                                                                                     \
    "a published size-class probe: sizes around jemalloc's class boundaries (four a doubling), "   \
    "all "                                                                                         \
    "freed in random order, all allocated anew"
#define TIMED "the rounds (free all, allocate all), waits at barriers taken off; not fill and drain"

const abench__workload_kind abench__churn_local = {
    .info = {sizeof(abench_workload_info), 1, "churn-local",
             "each lane frees all its own blocks in random order and allocates them anew: internal "
             "and external fragmentation around size-class boundaries",
             SOURCE, TIMED},
    .parameters = parameters,
    .operations = operations,
    .shape = shape,
    .generate = generate,
};

const abench__workload_kind abench__churn_cross = {
    .info = {sizeof(abench_workload_info), 1, "churn-cross",
             "each lane frees the blocks of its neighbour in random order and allocates its own "
             "anew: what every block freed by another thread costs in memory",
             SOURCE, TIMED "; the lanes move in lockstep between barriers: rank it by memory"},
    .parameters = parameters,
    .operations = operations,
    .shape = shape,
    .generate = generate,
};
