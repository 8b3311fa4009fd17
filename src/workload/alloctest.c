/*
 * alloctest.c - few hot slots, small blocks, all of it written.
 *
 * Pattern: alloc-test of OLogN Technologies ("Testing memory allocators: ptmalloc2 vs tcmalloc vs
 * hoard vs jemalloc while trying to simulate real-world loads", 2018). Half of the slots are
 * filled; each step picks a slot, frees its block if there is one, and else allocates one. Slots
 * are picked by the 80/20 rule nested six times: 0.16 % of them get two thirds of the steps, 1.7 %
 * get 90 %. Sizes: half of the blocks have 5-8 bytes, a quarter 9-16, each further doubling half as
 * many; the mean is 27.6.
 *
 * What differs from the original: all its threads draw the same numbers; here each lane has its
 * own. It reads every byte of a block before it frees it; here the first one is read. The table of
 * its slots, 4 MB, comes from the malloc under test; here it does not exist.
 */
#include "base/root.h"
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"slots", "262144", "slots of all lanes; half of them hold a block", PARAMETER_INTEGER, 1,
     1u << 28, NULL, 0},
    {"steps", "25000000", "steps of each lane: a block freed, or one allocated", PARAMETER_INTEGER,
     1, (uint64_t)1 << 40, "200000", 1},
    {"sizes",
     "mix:50%5-8,25%9-16,12.5%17-32,6.25%33-64,3.125%65-128,1.5625%129-256,0.78125%257-512,"
     "0.78125%513-1024",
     "distribution of the sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "all", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

#define RULE_LEVELS 7u
#define RULE_SUM    15625u /* 5^6 */

/* Level k of the rule is chosen this often, in parts of 5^6: the binomial weights of six choices of
 * one in five, C(6, k) 4^(6 - k). Level 6 - k has so many of the slots. */
static const uint32_t rule[RULE_LEVELS] = {4096, 6144, 3840, 1280, 240, 24, 1};

enum { BEGIN_FILL, FILL, BEGIN_STEPS, STEPS, BEGIN_DRAIN, DRAIN };

typedef struct lane_state {
    abench_random sizes;
    abench_random slots;
    unsigned char *live; /* a slot */
} lane_state;

typedef struct alloctest {
    const abench_distribution *sizes;
    uint64_t done;                    /* in this stage */
    uint32_t bounds[RULE_LEVELS + 1]; /* level k has slots bounds[k] ... bounds[k + 1] - 1 */
    uint32_t lanes;
    uint32_t slots; /* a lane */
    uint32_t stage;
    lane_state lane[];
} alloctest;

static uint32_t slots_of(const abench_workload *w)
{
    const uint64_t slots =
        abench__workload_number(w, "slots") / abench__workload_number(w, "lanes");

    return slots == 0 ? 1 : (uint32_t)slots;
}

/* Half of the slots, and three standard deviations of a half each: chance passes six in no tape. */
static uint64_t half(uint64_t slots)
{
    const uint64_t likely = slots / 2 + 3 * abench__square_root(slots) + 3;

    return likely < slots ? likely : slots;
}

/* A step is one operation; three phases; half of the slots is filled and half is drained. */
static uint64_t operations(const abench_workload *w)
{
    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       3 + abench__workload_number(w, "steps") +
                                           2 * half(slots_of(w)));
}

static uint64_t live_bytes(const abench_workload *w)
{
    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes,
                                half(abench__workload_number(w, "lanes") * slots_of(w)));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = slots_of(w);
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(alloctest) +
           abench__workload_number(w, "lanes") * (sizeof(lane_state) + slots_of(w));
}

static void begin(const abench_workload *w, void *memory)
{
    alloctest *s = memory;
    unsigned char *live;
    uint64_t sum = 0;

    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->slots = slots_of(w);
    for (uint32_t level = 0; level < RULE_LEVELS; level++) {
        sum += rule[RULE_LEVELS - 1 - level];
        s->bounds[level + 1] = (uint32_t)(s->slots * sum / RULE_SUM);
    }
    live = (unsigned char *)(s->lane + s->lanes);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        s->lane[lane].live = live + (uint64_t)lane * s->slots;
        abench_random_seed(&s->lane[lane].sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&s->lane[lane].slots, w->seed, lane, ABENCH_PURPOSE_SLOT);
    }
}

static uint32_t pick(const alloctest *s, abench_random *random)
{
    uint32_t weight = (uint32_t)abench_random_below(random, RULE_SUM), level = 0;
    uint32_t first;

    for (; weight >= rule[level]; level++)
        weight -= rule[level];
    first = s->bounds[level];
    if (first == s->slots) /* a level without slots, behind all others */
        first = s->slots - 1;
    return first + (uint32_t)abench_random_below(random, s->bounds[level + 1] - s->bounds[level]);
}

static void allocate(alloctest *s, abench_tape_builder *builder, uint32_t lane, uint32_t slot)
{
    lane_state *l = &s->lane[lane];

    abench_tape_builder_malloc(builder, lane, slot, abench_distribution_draw(s->sizes, &l->sizes));
    l->live[slot] = 1;
}

static void free_block(alloctest *s, abench_tape_builder *builder, uint32_t lane, uint32_t slot)
{
    abench_tape_builder_free(builder, lane, slot);
    s->lane[lane].live[slot] = 0;
}

/* One slot of every lane, or one step; returns how many operations that were. */
static uint32_t fill_one(alloctest *s, abench_tape_builder *builder)
{
    uint32_t made = 0;

    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane[lane];
        const uint32_t slot = s->stage == STEPS ? pick(s, &l->slots) : (uint32_t)s->done;
        const int fills = s->stage == FILL && abench_random_below(&l->slots, 2) == 0;
        const int frees = s->stage != FILL && l->live[slot];
        const int allocates = fills || (s->stage == STEPS && !frees);
        if (frees)
            free_block(s, builder, lane, slot);
        if (allocates)
            allocate(s, builder, lane, slot);
        made += (uint32_t)(frees || allocates);
    }
    return made;
}

static void begin_phase(alloctest *s, abench_tape_builder *builder)
{
    static const char *const names[] = {
        [BEGIN_FILL] = "fill", [BEGIN_STEPS] = "steady", [BEGIN_DRAIN] = "drain"};

    abench_tape_builder_phase(builder, names[s->stage],
                              s->stage == BEGIN_STEPS ? ABENCH_PHASE_TIMED : 0);
    s->stage++;
    s->done = 0;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    alloctest *s = memory;
    uint64_t end;

    if (s->stage % 2 == 0)
        begin_phase(s, builder);
    end = s->stage == STEPS ? abench__workload_number(w, "steps") : s->slots;
    for (uint32_t made = 0; made < 512 && s->done < end; s->done++)
        made += fill_one(s, builder); /* none of a run of empty slots */
    if (s->done < end)
        return 0;
    if (s->stage++ == DRAIN)
        return 1;
    begin_phase(s, builder);
    return 0;
}

const abench__workload_kind abench__alloc_test = {
    .info = {sizeof(abench_workload_info), 1, "alloc-test",
             "blocks of 28 bytes on average come and go, most of them in a few hot slots, among "
             "130000 that stay: throughput of small blocks in a heap with old neighbours",
             "alloc-test of OLogN Technologies (node-dot-cpp/alloc-test, 2018), as in "
             "daanx/mimalloc-bench ce5784f; its 100 million steps a thread are fewer here",
             "the steps, by slices; not fill and drain",
             "all of each block; the original also reads all of it before it is freed"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
