/*
 * mixed.c - a steady mixture of small, medium and large blocks, each lane for itself.
 */
#include "base/arena.h"
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "1", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX},
    {"slots", "4096", "live blocks a lane", PARAMETER_INTEGER, 1, 1u << 24},
    {"steps", "2000000", "times that a lane frees a random block and allocates another",
     PARAMETER_INTEGER, 1, 1u << 30},
    {"sizes", "mix:70%1-256,20%257-4096,10%4097-65536", "distribution of the sizes",
     PARAMETER_SIZES, 0, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0},
    {0},
};

/* Three phases, fill, drain and the steps. */
static uint64_t operations(const abench_workload *w)
{
    return 3 + 2 * abench__workload_value(w, "slots")->number +
           2 * abench__workload_value(w, "steps")->number;
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_value(w, "lanes")->number;
    options->local_slots = (uint32_t)abench__workload_value(w, "slots")->number;
    options->touch = (uint32_t)abench__workload_value(w, "touch")->number;
}

typedef struct streams {
    abench_random sizes;
    abench_random slots;
} streams;

static void generate_all(const abench_workload *w, abench_tape_builder *builder, streams *random)
{
    const abench_distribution *sizes = abench__workload_value(w, "sizes")->sizes;
    const uint32_t lanes = (uint32_t)abench__workload_value(w, "lanes")->number;
    const uint32_t slots = (uint32_t)abench__workload_value(w, "slots")->number;
    const uint64_t steps = abench__workload_value(w, "steps")->number;

    abench_tape_builder_phase(builder, "fill", 0);
    for (uint32_t slot = 0; slot < slots; slot++)
        for (uint32_t lane = 0; lane < lanes; lane++)
            abench_tape_builder_malloc(builder, lane, slot,
                                       abench_distribution_draw(sizes, &random[lane].sizes));
    abench_tape_builder_phase(builder, "steady", ABENCH_PHASE_TIMED);
    for (uint64_t step = 0; step < steps; step++)
        for (uint32_t lane = 0; lane < lanes; lane++) {
            const uint32_t slot = (uint32_t)abench_random_below(&random[lane].slots, slots);
            abench_tape_builder_free(builder, lane, slot);
            if (abench_tape_builder_malloc(builder, lane, slot,
                                           abench_distribution_draw(sizes, &random[lane].sizes)) !=
                ABENCH_OK)
                return; /* the builder keeps why */
        }
    abench_tape_builder_phase(builder, "drain", 0);
    for (uint32_t slot = 0; slot < slots; slot++)
        for (uint32_t lane = 0; lane < lanes; lane++)
            abench_tape_builder_free(builder, lane, slot);
}

static abench_status generate(const abench_workload *w, abench_tape_builder *builder)
{
    const uint32_t lanes = (uint32_t)abench__workload_value(w, "lanes")->number;
    streams *random = abench__map(NULL, lanes * sizeof *random, 0);

    if (random == NULL)
        return ABENCH_ERROR_MEMORY;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        abench_random_seed(&random[lane].sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&random[lane].slots, w->seed, lane, ABENCH_PURPOSE_SLOT);
    }
    generate_all(w, builder, random);
    abench__unmap(NULL, random, lanes * sizeof *random);
    return ABENCH_OK;
}

const abench__workload_kind abench__mixed = {
    .info =
        {sizeof(abench_workload_info), 1, "mixed",
         "each step frees a random block and allocates one of another size: throughput of small "
         "blocks among some large ones",
         "70 % of 1-256 bytes, 20 % up to 4 KiB, 10 % up to 64 KiB over 4096 slots a thread: the "
         "mixture of allocbench's own measurements of timers and noise",
         "the steps, by slices; not fill and drain"},
    .parameters = parameters,
    .operations = operations,
    .shape = shape,
    .generate = generate,
};
