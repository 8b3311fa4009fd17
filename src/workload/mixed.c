/*
 * mixed.c - a steady mixture of small, medium and large blocks, each lane for itself.
 */
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "1", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"slots", "4096", "live blocks a lane", PARAMETER_INTEGER, 1, 1u << 24, NULL, 0},
    {"steps", "2000000", "times that a lane frees a random block and allocates another",
     PARAMETER_INTEGER, 1, 1u << 30, "500000", 1},
    {"sizes", "mix:70%1-256,20%257-4096,10%4097-65536", "distribution of the sizes",
     PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

/* Three phases; fill and drain; a free and a malloc a step. */
static uint64_t operations(const abench_workload *w)
{
    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       3 + 2 * abench__workload_number(w, "slots") +
                                           2 * abench__workload_number(w, "steps"));
}

/* All slots hold a block. */
static uint64_t live_bytes(const abench_workload *w)
{
    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes,
                                abench__workload_number(w, "lanes") *
                                    abench__workload_number(w, "slots"));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_value(w, "lanes")->number;
    options->local_slots = (uint32_t)abench__workload_value(w, "slots")->number;
    options->touch = (uint32_t)abench__workload_value(w, "touch")->number;
}

enum { BEGIN_FILL, FILL, BEGIN_STEPS, STEPS, BEGIN_DRAIN, DRAIN };

typedef struct streams {
    abench_random sizes;
    abench_random slots;
} streams;

typedef struct state {
    const abench_distribution *sizes;
    uint64_t steps;
    uint64_t done; /* slots filled or drained, or steps made */
    uint32_t lanes;
    uint32_t slots;
    uint32_t stage;
    uint32_t reserved;
    streams random[]; /* a lane */
} state;

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(state) + abench__workload_number(w, "lanes") * sizeof(streams);
}

static void begin(const abench_workload *w, void *memory)
{
    state *s = memory;

    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->steps = abench__workload_number(w, "steps");
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->slots = (uint32_t)abench__workload_number(w, "slots");
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        abench_random_seed(&s->random[lane].sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&s->random[lane].slots, w->seed, lane, ABENCH_PURPOSE_SLOT);
    }
}

/* One slot of every lane, or one step. */
static void fill_one(state *s, abench_tape_builder *builder)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        uint32_t slot = (uint32_t)s->done;
        if (s->stage == STEPS)
            slot = (uint32_t)abench_random_below(&s->random[lane].slots, s->slots);
        if (s->stage != FILL)
            abench_tape_builder_free(builder, lane, slot);
        if (s->stage != DRAIN)
            abench_tape_builder_malloc(builder, lane, slot,
                                       abench_distribution_draw(s->sizes, &s->random[lane].sizes));
    }
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    static const char *const names[] = {
        [BEGIN_FILL] = "fill", [BEGIN_STEPS] = "steady", [BEGIN_DRAIN] = "drain"};
    state *s = memory;
    const uint64_t end = s->stage == STEPS ? s->steps : s->slots;

    (void)w;
    if (s->stage % 2 == 0) {
        abench_tape_builder_phase(builder, names[s->stage],
                                  s->stage == BEGIN_STEPS ? ABENCH_PHASE_TIMED : 0);
        s->stage++;
        s->done = 0;
        return 0;
    }
    for (uint32_t batch = 0; batch < 8 && s->done < end; batch++, s->done++)
        fill_one(s, builder);
    if (s->done < end)
        return 0;
    return s->stage++ == DRAIN;
}

const abench__workload_kind abench__mixed = {
    .info =
        {sizeof(abench_workload_info), 1, "mixed",
         "each step frees a random block and allocates one of another size: throughput of small "
         "blocks among some large ones",
         "70 % of 1-256 bytes, 20 % up to 4 KiB, 10 % up to 64 KiB over 4096 slots a thread: the "
         "mixture of allocbench's own measurements of timers and noise",
         "the steps, by slices; not fill and drain", "a byte of every page of each block"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
