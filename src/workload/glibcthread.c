/*
 * glibcthread.c - glibc-thread: glibc's own benchtest of malloc in threads in the form that
 * mimalloc-bench runs.
 *
 * Each thread frees what lies in a random one of its slots, which are empty at the begin, and
 * allocates anew; every byte is written. The original walks two tables made with rand(), never
 * seeded, from their first entry in every thread, so that all threads do the same at the same time;
 * here every lane has streams of its own. It counts what is done in 2 s; here the steps are fixed.
 */
#include "workload/workload.h"

#define AIM 512u /* operations a call of fill */

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"slots", "1024", "live blocks a lane, at most", PARAMETER_INTEGER, 1, 1u << 24, NULL, 0},
    {"steps", "6000000", "times that a lane frees a random block and allocates another",
     PARAMETER_INTEGER, 1, 1u << 30, "100000", 1},
    {"sizes", "invsq:4-32768", "distribution of the sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "all", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_STEPS, STEPS, BEGIN_DRAIN, DRAIN };

typedef struct streams {
    abench_random sizes;
    abench_random slots;
} streams;

typedef struct thread {
    const abench_distribution *sizes;
    uint64_t slots; /* a lane */
    uint64_t steps;
    uint64_t done; /* steps made, or slots drained */
    uint32_t lanes;
    uint32_t stage;
    streams *random;    /* a lane */
    uint64_t *occupied; /* a bit a slot; words of each lane together */
} thread;

static uint64_t words_of(uint64_t slots)
{
    return (slots + 63) / 64;
}

/* Two phases; a malloc and a free a step: a slot's first free stands in the drain. */
static uint64_t operations(const abench_workload *w)
{
    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       2 + 2 * abench__workload_number(w, "steps"));
}

static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t slots = abench__workload_number(w, "slots");
    const uint64_t steps = abench__workload_number(w, "steps");

    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes,
                                abench__workload_number(w, "lanes") *
                                    (steps < slots ? steps : slots));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)abench__workload_number(w, "slots");
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(thread) +
           abench__workload_number(w, "lanes") *
               (sizeof(streams) + words_of(abench__workload_number(w, "slots")) * sizeof(uint64_t));
}

static void begin(const abench_workload *w, void *memory)
{
    thread *t = memory;

    t->sizes = abench__workload_value(w, "sizes")->sizes;
    t->slots = abench__workload_number(w, "slots");
    t->steps = abench__workload_number(w, "steps");
    t->lanes = (uint32_t)abench__workload_number(w, "lanes");
    t->random = (streams *)(t + 1);
    t->occupied = (uint64_t *)(t->random + t->lanes);
    for (uint32_t lane = 0; lane < t->lanes; lane++) {
        abench_random_seed(&t->random[lane].sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&t->random[lane].slots, w->seed, lane, ABENCH_PURPOSE_SLOT);
    }
}

static uint64_t *word_of(thread *t, uint32_t lane, uint64_t slot)
{
    return t->occupied + lane * words_of(t->slots) + slot / 64;
}

static void step(thread *t, abench_tape_builder *builder, uint32_t lane)
{
    const uint64_t slot = abench_random_below(&t->random[lane].slots, t->slots);
    uint64_t *word = word_of(t, lane, slot);

    if (*word >> slot % 64 & 1)
        abench_tape_builder_free(builder, lane, (uint32_t)slot);
    *word |= (uint64_t)1 << slot % 64;
    abench_tape_builder_malloc(builder, lane, (uint32_t)slot,
                               abench_distribution_draw(t->sizes, &t->random[lane].sizes));
}

/* Frees what lies in this slot of the lanes; how many blocks that were. */
static uint32_t drain(thread *t, abench_tape_builder *builder, uint64_t slot)
{
    uint32_t freed = 0;

    for (uint32_t lane = 0; lane < t->lanes; lane++) {
        if (*word_of(t, lane, slot) >> slot % 64 & 1) {
            abench_tape_builder_free(builder, lane, (uint32_t)slot);
            freed++;
        }
    }
    return freed;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    thread *t = memory;
    const uint64_t end = t->stage == STEPS ? t->steps : t->slots;

    (void)w;
    if (t->stage == BEGIN_STEPS || t->stage == BEGIN_DRAIN) {
        abench_tape_builder_phase(builder, t->stage == BEGIN_STEPS ? "steps" : "drain",
                                  t->stage == BEGIN_STEPS ? ABENCH_PHASE_TIMED : 0);
        t->stage++;
        t->done = 0;
        return 0;
    }
    for (uint32_t appended = 0; appended < AIM && t->done < end; t->done++) {
        if (t->stage == DRAIN) {
            appended += drain(t, builder, t->done);
            continue;
        }
        for (uint32_t lane = 0; lane < t->lanes; lane++)
            step(t, builder, lane);
        appended += t->lanes;
    }
    if (t->done < end)
        return 0;
    return t->stage++ == DRAIN;
}

const abench__workload_kind abench__glibc_thread = {
    .info = {sizeof(abench_workload_info), 1, "glibc-thread",
             "each step frees a random one of a thousand mostly tiny blocks and allocates "
             "another: throughput of threads that share nothing",
             "glibc's benchtests/bench-malloc-thread.c, as in daanx/mimalloc-bench (ce5784f): "
             "as much as 2 s allow there, a fixed number of steps here",
             "the steps, the first of which find their slots empty; not drain",
             "every byte of each block, as the original"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
