/*
 * retainthird.c - retain-third: every third block stays, until the older half of those goes.
 *
 * Sizes come from a linear congruence (Knuth's for 64 bits, its upper half; The Art of Computer
 * Programming 2, 3.3.4), so they repeat no pattern that a size class could learn. Two of three
 * blocks are freed at once, the third is kept; when so many are kept the older half is freed in
 * order. A free list so gets holes of every size among blocks that stay.
 */
#include "workload/workload.h"

#define BATCH 128u /* blocks of all lanes, about */

static const abench__parameter parameters[] = {
    {"lanes", "1", "threads, each for itself", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"steps", "20000000", "blocks that a lane allocates", PARAMETER_INTEGER, 1, (uint64_t)1 << 40,
     "250000", 1},
    {"smallest", "64", "smallest size", PARAMETER_INTEGER, 0, 1u << 30, NULL, 0},
    {"largest", "4096", "largest size", PARAMETER_INTEGER, 0, 1u << 30, NULL, 0},
    {"every", "3", "one block of so many is kept", PARAMETER_INTEGER, 1, 1u << 30, NULL, 0},
    {"kept", "10000", "kept blocks of a lane at which the older half is freed", PARAMETER_INTEGER,
     1, 1u << 24, NULL, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

/* Two phases and the drain's; a malloc and a free a step. */
static uint64_t operations(const abench_workload *w)
{
    return abench__workload_number(w, "lanes") * (2 + 2 * abench__workload_number(w, "steps"));
}

/* 1 + the largest size that is not below the smallest, minus the smallest. */
static uint64_t span(const abench_workload *w)
{
    const uint64_t smallest = abench__workload_number(w, "smallest");
    const uint64_t largest = abench__workload_number(w, "largest");

    return largest > smallest ? largest - smallest + 1 : 1;
}

static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t made =
        abench__workload_number(w, "steps") / abench__workload_number(w, "every") + 1;
    const uint64_t kept = abench__workload_number(w, "kept");
    const uint64_t mean = abench__workload_number(w, "smallest") + span(w) / 2;
    const uint64_t most = abench__workload_number(w, "smallest") + span(w) - 1;
    const uint64_t blocks =
        abench__workload_number(w, "lanes") *
        ((made < kept ? made : kept) + (abench__workload_number(w, "every") > 1));
    const uint64_t all = abench__saturating_multiply(blocks, most);
    const uint64_t likely =
        abench__saturating_add(abench__saturating_multiply(blocks, mean + mean / 16), 4 * most);

    return likely < all ? likely : all;
}

/* One slot more for what is freed at once. */
static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)abench__workload_number(w, "kept") + 1;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

enum { BEGIN_STEPS, STEPS, BEGIN_DRAIN, DRAIN };

/* The kept blocks of a lane: a ring of slots, the oldest at head. All lanes are in the same step,
 * so that one ring stands for all. */
typedef struct state {
    uint64_t done;
    uint64_t steps;
    uint64_t smallest;
    uint64_t span;
    uint32_t every;
    uint32_t kept;
    uint32_t next_kept; /* steps until one that keeps its block */
    uint32_t lanes;
    uint32_t stage;
    uint32_t head;
    uint32_t tail;
    uint32_t count;
    uint32_t to_free; /* of the older half */
    uint32_t reserved;
    uint64_t numbers[]; /* the congruence of a lane */
} state;

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(state) + abench__workload_number(w, "lanes") * sizeof(uint64_t);
}

static void begin(const abench_workload *w, void *memory)
{
    state *s = memory;

    s->steps = abench__workload_number(w, "steps");
    s->smallest = abench__workload_number(w, "smallest");
    s->span = span(w);
    s->every = (uint32_t)abench__workload_number(w, "every");
    s->kept = (uint32_t)abench__workload_number(w, "kept");
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        abench_random random;
        abench_random_seed(&random, w->seed, lane, ABENCH_PURPOSE_SIZE);
        s->numbers[lane] = abench_random_next(&random);
    }
}

static uint64_t next_size(const state *s, uint64_t *number)
{
    *number = *number * 6364136223846793005u + 1442695040888963407u;
    return s->smallest + (*number >> 33) % s->span;
}

static uint32_t next_in_ring(const state *s, uint32_t slot)
{
    return slot + 1 < s->kept ? slot + 1 : 0;
}

/* Every lane allocates a block, and keeps it or not. */
static void one_step(state *s, abench_tape_builder *builder)
{
    const int keep = s->next_kept == 0;
    const uint32_t slot = keep ? s->tail : s->kept;

    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        abench_tape_builder_malloc(builder, lane, slot, next_size(s, &s->numbers[lane]));
        if (!keep)
            abench_tape_builder_free(builder, lane, slot);
    }
    s->done++;
    s->next_kept = (keep ? s->every : s->next_kept) - 1;
    if (!keep)
        return;
    s->tail = next_in_ring(s, s->tail);
    if (++s->count == s->kept)
        s->to_free = (s->kept + 1) / 2;
}

/* Every lane frees its oldest block. */
static void free_oldest(state *s, abench_tape_builder *builder)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        abench_tape_builder_free(builder, lane, s->head);
    s->head = next_in_ring(s, s->head);
    s->count--;
    s->to_free -= s->to_free > 0;
}

static int is_done(const state *s)
{
    return s->stage == STEPS ? s->done == s->steps : s->count == 0;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    state *s = memory;

    (void)w;
    if (s->stage % 2 == 0) {
        abench_tape_builder_phase(builder, s->stage == BEGIN_STEPS ? "steps" : "drain",
                                  s->stage == BEGIN_STEPS ? ABENCH_PHASE_TIMED : 0);
        s->stage++;
        return 0;
    }
    for (uint32_t room = 0; room < BATCH && !is_done(s); room += s->lanes) {
        if (s->stage == DRAIN || s->to_free > 0)
            free_oldest(s, builder);
        else
            one_step(s, builder);
    }
    return is_done(s) ? s->stage++ == DRAIN : 0;
}

const abench__workload_kind abench__retain_third = {
    .info =
        {sizeof(abench_workload_info), 1, "retain-third",
         "every third block of 64 to 4096 bytes is kept, and of 10000 kept ones the older half "
         "freed: holes of every size among blocks that stay",
         "allocbench's own, after a pattern that is passed on among those who compare allocators "
         "for Rust services; nobody's program: sizes by a linear congruence",
         "the steps; not the drain", "a byte of every page of each block"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
