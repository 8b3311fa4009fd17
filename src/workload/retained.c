/*
 * retained.c - retained-strings: a Ruby program that keeps some strings and drops the others.
 *
 * While strings of both kinds are to be made, half of them are temporary and half retained. The
 * temporary ones lie in a chunk, which is dropped as a whole when it is full. The defects of the
 * original (the memory test of Ruby's bug tracker and of allocator_bench, later rbstress) are not
 * here: retained sizes from a generator without a seed, one generator for all threads. What it has
 * and this has not: when the collector frees the dropped chunk, which here is at once; the growth
 * of Ruby's arrays.
 *
 * MRI allocates one byte more than a string has, and none for a string that fits into a slot of its
 * own heap: embedded=24 is Ruby up to 3.1, embedded=641 what came later, where this test hardly
 * asks malloc for anything. In the version of a published suite a full chunk is replaced by one
 * string of 100000 bytes: large=100000, with temporary=12000000 and sizes of 0, 10, 20, 30, 40.
 */
#include "base/root.h"
#include "shape/distribution.h"
#include "workload/estimate.h"
#include "workload/workload.h"

#define BATCH 256u /* operations of all lanes, about */

__extension__ typedef unsigned __int128 wide;

static const abench__parameter parameters[] = {
    {"lanes", "1", "threads, which share the strings out", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX,
     NULL, 0},
    {"rounds", "10", "times that it is all done, everything dropped between", PARAMETER_INTEGER, 1,
     1u << 30, "1", 1},
    {"temporary", "1000000", "temporary strings of all lanes", PARAMETER_INTEGER, 0, 1u << 30,
     "200000", 0},
    {"retained", "600000", "retained strings of all lanes", PARAMETER_INTEGER, 0, 1u << 28,
     "120000", 0},
    {"chunk", "200000", "temporary strings of all lanes that are dropped together",
     PARAMETER_INTEGER, 1, 1u << 28, "40000", 0},
    {"large", "0", "bytes of the string that begins a chunk after the first; 0: none",
     PARAMETER_INTEGER, 0, 1u << 30, NULL, 0},
    {"embedded", "0", "a string of fewer bytes asks malloc for nothing", PARAMETER_INTEGER, 0,
     1u << 30, NULL, 0},
    {"sizes", "uniform:0-99", "distribution of the strings' bytes, to which malloc adds one",
     PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "all", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

/* What one lane does in a round. */
typedef struct shares {
    uint64_t temporary;
    uint64_t retained;
    uint64_t chunk;
} shares;

static shares shares_of(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");

    return (shares){abench__workload_number(w, "temporary") / lanes,
                    abench__workload_number(w, "retained") / lanes,
                    abench__workload_number(w, "chunk") / lanes};
}

/* How many of count strings ask malloc for memory, and for how much: bounds. */
static uint64_t asking_of(const abench_workload *w, uint64_t count, uint64_t *bytes)
{
    const abench_distribution *sizes = abench__workload_value(w, "sizes")->sizes;
    const uint64_t embedded = abench__workload_number(w, "embedded");
    const uint64_t square = sizes->square_mean; /* without the byte more */
    abench__strata strata = {sizes, 0, 0, 0, 0};
    wide all = 0, asking = 0, sum = 0;
    uint64_t likely;

    while (abench__strata_next(&strata)) {
        all += strata.weight;
        if (strata.value < embedded)
            continue;
        asking += strata.weight;
        sum += (wide)strata.weight * (strata.value + 1);
    }
    *bytes = abench__likely_sum(
        count, (uint64_t)(sum / all) + 1,
        square == UINT64_MAX ? square : square + 2 * abench_distribution_mean(sizes) + 3,
        abench_distribution_maximum(sizes) + 1);
    /* five standard deviations, which are a half of the root at most */
    likely = (uint64_t)(count * asking / all) + 5 * abench__square_root(count) / 2 + 2;
    return likely < count ? likely : count;
}

static uint64_t operations(const abench_workload *w)
{
    const shares each = shares_of(w);
    const uint64_t strings = each.temporary + each.retained;
    const uint64_t chunks = abench__workload_number(w, "large") == 0
                                ? 0
                                : each.temporary / (each.chunk == 0 ? 1 : each.chunk);
    uint64_t bytes;

    return abench__workload_number(w, "lanes") * (2 + abench__workload_number(w, "rounds") * 2 *
                                                          (asking_of(w, strings, &bytes) + chunks));
}

static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const shares each = shares_of(w);
    uint64_t bytes;

    asking_of(w,
              lanes * (each.retained +
                       (each.temporary < each.chunk + 1 ? each.temporary : each.chunk + 1)),
              &bytes);
    return abench__saturating_add(bytes, lanes * abench__workload_number(w, "large"));
}

/* A lane's slots: the retained strings, then the chunk, which is dropped when it has one more than
 * it should. */
static void shape(const abench_workload *w, abench_tape_options *options)
{
    const shares each = shares_of(w);

    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)(each.retained + each.chunk + 2);
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

enum { BEGIN_WORK, WORK, RELEASE, BEGIN_DRAIN, DRAIN };

typedef struct lane_state {
    abench_random sizes;
    abench_random kinds;
    uint64_t temporary; /* strings that are still to be made */
    uint64_t retained;
    uint32_t retained_slots; /* in use */
    uint32_t chunk_slots;
    uint32_t chunk_length; /* strings, those without a slot among them */
    uint32_t dropped;      /* slots of a full chunk that are freed; 0: none is being dropped */
} lane_state;

typedef struct state {
    const abench_distribution *sizes;
    uint64_t embedded;
    uint64_t large;
    uint64_t round; /* 0-based */
    shares each;
    uint32_t lanes;
    uint32_t stage;
    lane_state lane_states[];
} state;

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(state) + abench__workload_number(w, "lanes") * sizeof(lane_state);
}

static void begin_round(state *s)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane_states[lane];
        l->temporary = s->each.temporary;
        l->retained = s->each.retained;
        l->retained_slots = l->chunk_slots = l->chunk_length = l->dropped = 0;
    }
}

static void begin(const abench_workload *w, void *memory)
{
    state *s = memory;

    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->each = shares_of(w);
    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->embedded = abench__workload_number(w, "embedded");
    s->large = abench__workload_number(w, "large");
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        abench_random_seed(&s->lane_states[lane].sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&s->lane_states[lane].kinds, w->seed, lane, ABENCH_PURPOSE_SCHEDULE);
    }
    begin_round(s);
}

/* Frees the next slot of a full chunk; behind its last the chunk begins anew. */
static void drop_one(const state *s, lane_state *l, abench_tape_builder *builder, uint32_t lane)
{
    const uint32_t first = (uint32_t)s->each.retained;

    abench_tape_builder_free(builder, lane, first + l->dropped++);
    if (l->dropped < l->chunk_slots)
        return;
    l->dropped = l->chunk_slots = l->chunk_length = 0;
    if (s->large > 0) {
        abench_tape_builder_malloc(builder, lane, first, s->large);
        l->chunk_slots = l->chunk_length = 1;
    }
}

/* The next string of a lane; how many operations that were. */
static uint32_t make_one(const state *s, lane_state *l, abench_tape_builder *builder, uint32_t lane)
{
    const int temporary =
        l->retained == 0 || (l->temporary > 0 && abench_random_next(&l->kinds) >> 63 == 0);
    const uint64_t size = abench_distribution_draw(s->sizes, &l->sizes);
    const uint32_t asks = size >= s->embedded;

    if (!temporary) {
        l->retained--;
        if (asks)
            abench_tape_builder_malloc(builder, lane, l->retained_slots++, size + 1);
        return asks;
    }
    l->temporary--;
    l->chunk_length++;
    if (asks)
        abench_tape_builder_malloc(builder, lane, (uint32_t)s->each.retained + l->chunk_slots++,
                                   size + 1);
    if (l->chunk_length <= s->each.chunk)
        return asks;
    if (l->chunk_slots > 0) {
        drop_one(s, l, builder, lane);
        return asks + 1;
    }
    l->chunk_length = 0;
    return asks;
}

/* The next slot in use of a lane, chunk before retained; how many operations that were. */
static uint32_t release_one(const state *s, lane_state *l, abench_tape_builder *builder,
                            uint32_t lane)
{
    if (l->chunk_slots > l->dropped)
        abench_tape_builder_free(builder, lane, (uint32_t)s->each.retained + l->dropped++);
    else if (l->retained_slots > 0)
        abench_tape_builder_free(builder, lane, --l->retained_slots);
    else
        return 0;
    return 1;
}

/* One step of every lane. Returns the operations; *goes_on: 1 while a lane has more of them. */
static uint32_t one_step(state *s, abench_tape_builder *builder, int *goes_on)
{
    uint32_t made = 0;

    *goes_on = 0;
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane_states[lane];
        if (s->stage != WORK) {
            made += release_one(s, l, builder, lane);
            *goes_on |= l->chunk_slots > l->dropped || l->retained_slots > 0;
            continue;
        }
        if (l->dropped > 0) {
            drop_one(s, l, builder, lane);
            made++;
        } else if (l->temporary > 0 || l->retained > 0) {
            made += make_one(s, l, builder, lane);
        }
        *goes_on |= l->dropped > 0 || l->temporary > 0 || l->retained > 0;
    }
    return made;
}

/* What follows a stage: the next round's frees and strings are timed, the last one's frees not. */
static void next_stage(const abench_workload *w, state *s)
{
    if (s->stage == RELEASE) {
        begin_round(s);
        s->stage = WORK;
    } else {
        s->stage = ++s->round < abench__workload_number(w, "rounds") ? RELEASE : BEGIN_DRAIN;
    }
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    state *s = memory;
    uint32_t made = 0;
    int goes_on = 1;

    if (s->stage == BEGIN_WORK || s->stage == BEGIN_DRAIN) {
        abench_tape_builder_phase(builder, s->stage == BEGIN_WORK ? "rounds" : "drain",
                                  s->stage == BEGIN_WORK ? ABENCH_PHASE_TIMED : 0);
        s->stage++;
        return 0;
    }
    while (made < BATCH && s->stage != BEGIN_DRAIN) {
        made += one_step(s, builder, &goes_on);
        if (goes_on)
            continue;
        if (s->stage == DRAIN)
            return 1;
        next_stage(w, s);
    }
    if (made == 0) /* nothing asks malloc */
        return fill(w, memory, builder);
    return 0;
}

const abench__workload_kind abench__retained_strings = {
    .info = {sizeof(abench_workload_info), 1, "retained-strings",
             "a million temporary strings of 0 to 99 bytes, dropped by the 200000, among 600000 "
             "that stay: what short-lived blocks leave between those that live",
             "stress_mem.rb of SamSaffron/allocator_bench (Ruby's bug 9113); with large=100000 the "
             "rbstress of mimalloc-bench",
             "the rounds, everything dropped between two; not the last drop",
             "all bytes of each block"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
