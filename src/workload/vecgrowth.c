/*
 * vecgrowth.c - vec-growth: growing arrays.
 *
 * Each lane has some vectors that grow side by side, as a Vec, a std::vector or a Ruby String does
 * when it is pushed to: whenever it is full it is reallocated to twice its capacity (or by another
 * factor), until it is as long as was drawn for it; then it is freed and another begins. What one
 * vector leaves behind lies in the way of the others.
 */
#include "workload/estimate.h"
#include "workload/workload.h"

#define BATCH     128u /* operations of all lanes, about */
#define ROOT_BITS 40   /* of what is squared and summed */
#define CUT       12   /* bits of a weight, likewise */
#define SIZE_LAST (((uint64_t)1 << 47) - 1)

__extension__ typedef unsigned __int128 wide;

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads, each for itself", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"vectors", "16", "vectors of a lane that grow side by side", PARAMETER_INTEGER, 1, 1u << 20,
     NULL, 0},
    {"steps", "1000000", "times that a lane makes, grows or drops a vector", PARAMETER_INTEGER, 1,
     (uint64_t)1 << 40, "40000", 1},
    {"start", "16", "bytes of a vector's first allocation", PARAMETER_INTEGER, 1, 1u << 30, NULL,
     0},
    {"growth", "200", "percent of its capacity that a full vector is grown to", PARAMETER_INTEGER,
     101, 10000, NULL, 0},
    {"sizes", "loguniform:64-1m", "distribution of a vector's last length in bytes",
     PARAMETER_SIZES, 0, 0, "loguniform:64-256k", 0},
    {"shrink", "0", "1: a vector is cut to its length, by another realloc, before it is dropped",
     PARAMETER_INTEGER, 0, 1, NULL, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

/* A step is one operation; what still grows in the end is freed. */
static uint64_t operations(const abench_workload *w)
{
    return abench__workload_number(w, "lanes") *
           (2 + abench__workload_number(w, "steps") + abench__workload_number(w, "vectors"));
}

static uint64_t grown(uint64_t capacity, uint64_t percent)
{
    const wide next = (wide)capacity * percent / 100;

    return next > SIZE_LAST ? SIZE_LAST : next > capacity ? (uint64_t)next : capacity + 1;
}

/* The first capacity that is enough. */
static uint64_t last_capacity(uint64_t start, uint64_t percent, uint64_t length)
{
    while (start < length && start < SIZE_LAST)
        start = grown(start, percent);
    return start;
}

/* A vector is at each of its capacities for one step in turn, so that what it holds at some time
 * has the mean and the mean square of those. Few are large at a time, so that their sum strays
 * further above its mean than below: one of the largest more. */
static uint64_t live_bytes(const abench_workload *w)
{
    const abench_distribution *sizes = abench__workload_value(w, "sizes")->sizes;
    const uint64_t vectors =
        abench__workload_number(w, "lanes") * abench__workload_number(w, "vectors");
    const uint64_t start = abench__workload_number(w, "start");
    const uint64_t growth = abench__workload_number(w, "growth");
    const uint64_t most = last_capacity(start, growth, abench_distribution_maximum(sizes));
    wide sum = 0, squares = 0, steps = 0;
    uint32_t shift = 0;
    abench__strata strata = {sizes, 0, 0, 0, 0};

    while (most >> shift >> ROOT_BITS != 0)
        shift++;
    while (abench__strata_next(&strata)) {
        const uint64_t weight = strata.weight >> CUT;
        uint64_t capacity = start;
        for (;; capacity = grown(capacity, growth), steps += weight) {
            sum += (wide)capacity * weight;
            squares += (wide)(capacity >> shift) * (capacity >> shift) * weight;
            if (capacity >= strata.value || capacity == SIZE_LAST)
                break;
        }
        steps += 2 * weight; /* at its last capacity, and empty */
    }
    squares = squares / steps << 2 * shift;
    sum = abench__likely_sum(vectors, (uint64_t)(sum / steps) + 1,
                             squares < UINT64_MAX ? (uint64_t)squares : UINT64_MAX, most);
    sum = sum + most < (wide)vectors * most ? sum + most : (wide)vectors * most;
    return sum < UINT64_MAX ? (uint64_t)sum : UINT64_MAX;
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)abench__workload_number(w, "vectors");
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

enum { BEGIN_STEPS, STEPS, BEGIN_DRAIN, DRAIN };

typedef struct vector {
    uint64_t capacity; /* 0: there is none */
    uint64_t length;   /* that it grows to */
} vector;

typedef struct lane_state {
    abench_random sizes;
    abench_random slots;
    vector *vectors;
} lane_state;

typedef struct state {
    const abench_distribution *sizes;
    uint64_t vectors;
    uint64_t start;
    uint64_t growth;
    uint64_t shrink;
    uint64_t done; /* steps, or vectors in the drain */
    uint32_t stage;
    uint32_t lanes;
    lane_state lane_states[];
} state;

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(state) +
           abench__workload_number(w, "lanes") *
               (sizeof(lane_state) + abench__workload_number(w, "vectors") * sizeof(vector));
}

static void begin(const abench_workload *w, void *memory)
{
    state *s = memory;
    vector *vectors;

    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->vectors = abench__workload_number(w, "vectors");
    s->start = abench__workload_number(w, "start");
    s->growth = abench__workload_number(w, "growth");
    s->shrink = abench__workload_number(w, "shrink");
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    vectors = (vector *)(s->lane_states + s->lanes);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane_states[lane];
        abench_random_seed(&l->sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&l->slots, w->seed, lane, ABENCH_PURPOSE_SLOT);
        l->vectors = vectors + lane * s->vectors;
    }
}

/* One of a lane's vectors is made, grown, cut or dropped. */
static void one_step(state *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane_states[lane];
    const uint32_t slot = (uint32_t)abench_random_below(&l->slots, s->vectors);
    vector *v = &l->vectors[slot];

    if (v->capacity == 0) {
        v->length = abench_distribution_draw(s->sizes, &l->sizes);
        v->capacity = s->start;
        abench_tape_builder_malloc(builder, lane, slot, v->capacity);
    } else if (v->capacity < v->length && v->capacity < SIZE_LAST) {
        v->capacity = grown(v->capacity, s->growth);
        abench_tape_builder_realloc(builder, lane, slot, v->capacity);
    } else if (v->capacity > v->length && v->length > 0 && s->shrink) {
        v->capacity = v->length;
        abench_tape_builder_realloc(builder, lane, slot, v->capacity);
    } else {
        v->capacity = 0;
        abench_tape_builder_free(builder, lane, slot);
    }
}

/* A vector of every lane; how many operations that were. */
static uint32_t drain_one(state *s, abench_tape_builder *builder, uint32_t slot)
{
    uint32_t freed = 0;

    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        if (s->lane_states[lane].vectors[slot].capacity == 0)
            continue;
        abench_tape_builder_free(builder, lane, slot);
        freed++;
    }
    return freed;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    state *s = memory;
    const uint64_t end = abench__workload_number(w, s->stage == DRAIN ? "vectors" : "steps");

    if (s->stage % 2 == 0) {
        abench_tape_builder_phase(builder, s->stage == BEGIN_STEPS ? "steps" : "drain",
                                  s->stage == BEGIN_STEPS ? ABENCH_PHASE_TIMED : 0);
        s->stage++;
        s->done = 0;
        return 0;
    }
    for (uint32_t room = 0; room < BATCH && s->done < end; s->done++) {
        if (s->stage == DRAIN) {
            room += drain_one(s, builder, (uint32_t)s->done);
            continue;
        }
        for (uint32_t lane = 0; lane < s->lanes; lane++)
            one_step(s, builder, lane);
        room += s->lanes;
    }
    return s->done < end ? 0 : s->stage++ == DRAIN;
}

const abench__workload_kind abench__vec_growth = {
    .info = {sizeof(abench_workload_info), 1, "vec-growth",
             "vectors that grow side by side, by realloc to twice their capacity each time: how "
             "often an allocator grows in place, and what it leaves behind",
             "the growth of a Rust Vec that is pushed to, whose time depends by ten on whether "
             "realloc is forwarded to the allocator",
             "the steps; not the drain",
             "a byte of every page of each block, after each realloc anew; the copying is the "
             "allocator's own"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
