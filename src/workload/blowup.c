/*
 * blowup.c - blowup and blowup-rotate: the two programs by which the Hoard paper tells how an
 * allocator's memory grows when one thread frees what another allocated. What lives is the same
 * number of blocks at the end of every phase.
 *
 * blowup: lane 0 allocates, the others free, for ever. Where a freed block comes to belong to the
 * thread that freed it, lane 0 never sees it again, and the memory grows with every round. The
 * slots are a ring: the consumers run at most a whole ring ahead of the producer or behind it, so
 * nothing moves in lockstep.
 *
 * blowup-rotate: turn after turn another lane frees everything that the lane before it allocated,
 * and allocates it anew. Where a freed block goes back to the heap of the thread that allocated it,
 * each lane's heap comes to hold a whole live set: the paper's bound is as many as there are lanes.
 * Only one lane works at a time.
 */
#include "workload/workload.h"

#include "workload/phase_name.h"

#define AIM          512u   /* operations a call of fill */
#define ROUNDS_MEET  32000u /* so many blocks may pass through a shared slot between two meetings */
#define PARTS_MAX    (ABENCH_PHASES_MAX - 2u) /* fill and drain are phases too */
#define SLOTS_MAX    (1u << 24)
#define TOUCH_WANTED "what is written of a block: nothing, first, pages, all"

static const abench__parameter one_parameters[] = {
    {"lanes", "2", "threads: the first allocates, the others free", PARAMETER_INTEGER, 2,
     ABENCH_LANES_MAX, NULL, 0},
    {"slots", "262144", "live blocks", PARAMETER_INTEGER, 1, SLOTS_MAX, "16384", 0},
    {"parts", "16", "timed phases, after each of which the memory is read", PARAMETER_INTEGER, 1,
     PARTS_MAX, "8", 0},
    {"rounds", "4", "times in each part that every block is freed and allocated anew",
     PARAMETER_INTEGER, 1, 1u << 24, "2", 1},
    {"sizes", "fixed:256", "distribution of the sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "pages", TOUCH_WANTED, PARAMETER_TOUCH, 0, 0, NULL, 0},
    {0},
};

static const abench__parameter rotate_parameters[] = {
    {"lanes", "8", "threads, one of which works at a time", PARAMETER_INTEGER, 2, ABENCH_LANES_MAX,
     NULL, 0},
    {"slots", "131072", "live blocks", PARAMETER_INTEGER, 1, SLOTS_MAX, "8192", 0},
    {"parts", "24", "timed phases, after each of which the memory is read", PARAMETER_INTEGER, 1,
     PARTS_MAX, NULL, 0},
    {"rounds", "3", "turns in each part: a lane frees everything and allocates it anew",
     PARAMETER_INTEGER, 1, 1u << 24, "1", 1},
    {"sizes", "fixed:256", "distribution of the sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "pages", TOUCH_WANTED, PARAMETER_TOUCH, 0, 0, NULL, 0},
    {0},
};

enum { BEGIN_FILL, FILL, BEGIN_PART, PART, BEGIN_DRAIN, DRAIN };

typedef struct blowup {
    const abench_distribution *sizes;
    uint64_t turn;  /* rounds begun since the fill, which is turn 0 */
    uint64_t round; /* done in this part */
    uint32_t rotate;
    uint32_t lanes;
    uint32_t slots;
    uint32_t part;
    uint32_t stage;
    uint32_t index;         /* steps done in this round, in the fill or in the drain */
    abench_random random[]; /* sizes; a lane */
} blowup;

static uint32_t is_rotate(const abench_workload *w)
{
    return w->kind == &abench__blowup_rotate;
}

/* Fill, parts and drain; in each round a free and a malloc a slot, and the meetings. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t slots = abench__workload_number(w, "slots");
    const uint64_t parts = abench__workload_number(w, "parts");
    const uint64_t rounds = abench__workload_number(w, "rounds");
    const uint64_t meetings = is_rotate(w) ? rounds : rounds / ROUNDS_MEET;

    return lanes * (2 + parts * (1 + meetings)) + 2 * slots * (1 + parts * rounds);
}

static uint64_t live_bytes(const abench_workload *w)
{
    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes,
                                abench__workload_number(w, "slots"));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->shared_slots = (uint32_t)abench__workload_number(w, "slots");
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(blowup) + abench__workload_number(w, "lanes") * sizeof(abench_random);
}

static void begin(const abench_workload *w, void *memory)
{
    blowup *b = memory;

    b->sizes = abench__workload_value(w, "sizes")->sizes;
    b->rotate = is_rotate(w);
    b->lanes = (uint32_t)abench__workload_number(w, "lanes");
    b->slots = (uint32_t)abench__workload_number(w, "slots");
    for (uint32_t lane = 0; lane < b->lanes; lane++)
        abench_random_seed(&b->random[lane], w->seed, lane, ABENCH_PURPOSE_SIZE);
}

/* Who allocates in this turn. */
static uint32_t producer(const blowup *b)
{
    return b->rotate ? (uint32_t)(b->turn % b->lanes) : 0;
}

/* Who frees the block of a slot in this turn. */
static uint32_t consumer(const blowup *b, uint32_t slot)
{
    return b->rotate ? producer(b) : 1 + slot % (b->lanes - 1);
}

static void allocate(blowup *b, abench_tape_builder *builder, uint32_t slot)
{
    const uint32_t lane = producer(b);

    abench_tape_builder_malloc(builder, lane, ABENCH_SLOT_SHARED | slot,
                               abench_distribution_draw(b->sizes, &b->random[lane]));
}

static void release(const blowup *b, abench_tape_builder *builder, uint32_t slot)
{
    abench_tape_builder_free(builder, consumer(b, slot), ABENCH_SLOT_SHARED | slot);
}

/* A step of a round: rotating, all are freed before the first is allocated. */
static void step(blowup *b, abench_tape_builder *builder, uint32_t index)
{
    if (!b->rotate || index < b->slots)
        release(b, builder, index);
    if (!b->rotate || index >= b->slots)
        allocate(b, builder, b->rotate ? index - b->slots : index);
}

/* The stage's steps are done; 1: so is the tape. */
static int32_t next_stage(const abench_workload *w, blowup *b, abench_tape_builder *builder)
{
    b->index = 0;
    b->turn += b->stage != DRAIN;
    if (b->stage != PART)
        return b->stage++ == DRAIN;
    b->round++;
    if (b->rotate || b->round % ROUNDS_MEET == 0)
        abench_tape_builder_barrier(builder);
    if (b->round == abench__workload_number(w, "rounds")) {
        b->part++;
        b->stage = b->part < abench__workload_number(w, "parts") ? BEGIN_PART : BEGIN_DRAIN;
    }
    return 0;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    blowup *b = memory;
    const uint32_t end = b->stage == PART && b->rotate ? 2 * b->slots : b->slots;
    char name[ABENCH__PHASE_NAME_MAX];

    if (b->stage == BEGIN_PART) {
        abench_tape_builder_phase(builder, abench__phase_of_number(name, "part", b->part + 1),
                                  ABENCH_PHASE_TIMED);
        b->round = 0;
    } else if (b->stage == BEGIN_FILL || b->stage == BEGIN_DRAIN) {
        abench_tape_builder_phase(builder, b->stage == BEGIN_FILL ? "fill" : "drain", 0);
    }
    if (b->stage % 2 == 0) {
        b->stage++;
        return 0;
    }
    for (uint32_t batch = 0; batch < AIM && b->index < end; batch++, b->index++) {
        if (b->stage == PART)
            step(b, builder, b->index);
        else if (b->stage == FILL)
            allocate(b, builder, b->index);
        else
            release(b, builder, b->index);
    }
    return b->index < end ? 0 : next_stage(w, b, builder);
}

#define SOURCE                                                                                     \
    "Berger, McKinley, Blumofe and Wilson, \"Hoard: a scalable memory allocator for "              \
    "multithreaded applications\", ASPLOS 2000, on blowup: memory held over memory needed; "       \
    "without bound for private heaps, "
#define TIMED   "the parts, waits taken off; not fill and drain: rank it by memory"
#define TOUCHED "a byte of every page of each block: the paper counts what is allocated"

const abench__workload_kind abench__blowup = {
    .info = {sizeof(abench_workload_info), 1, "blowup",
             "one lane allocates and others free, the live set stays the same: whether what "
             "another thread freed is used again",
             SOURCE "here one producer and its consumers", TIMED, TOUCHED},
    .parameters = one_parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};

const abench__workload_kind abench__blowup_rotate = {
    .info = {sizeof(abench_workload_info), 1, "blowup-rotate",
             "each lane in turn frees the live set of the lane before and allocates it anew: "
             "whether every thread's heap comes to hold a live set",
             SOURCE "as many times as there are threads for heaps with ownership, once for Hoard: "
                    "here the role goes round",
             TIMED, TOUCHED},
    .parameters = rotate_parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
