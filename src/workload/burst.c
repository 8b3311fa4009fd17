/*
 * burst.c - burst-idle: a burst of work, then nothing.
 *
 * The blocks of a burst are allocated, then all but a few survivors, which lie scattered, are freed
 * in the order of their allocation. What the process still holds is read at once and after 1, 2, 4
 * and 8 units of idleness in real time. Some allocators give memory back only when they are called:
 * with trickle each lane allocates and frees a little ten times a unit.
 */
#include "workload/workload.h"

#define BLOCKS_MAX  ((uint64_t)1 << 30) /* a lane */
#define TRICKLES    10u                 /* a unit of idleness */
#define IDLE_PHASES 5u
#define BATCH       256u /* slots of all lanes, about */

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"bytes", "200m", "live bytes at the peak of the burst, over all lanes, about",
     PARAMETER_INTEGER, 1, (uint64_t)1 << 40, "20m", 0},
    {"sizes", "loguniform:16-8k", "distribution of the sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"survivors", "5", "percent of the blocks that are not freed after the burst",
     PARAMETER_INTEGER, 0, 100, NULL, 0},
    {"idle", "1s", "unit of idleness, in real time: memory is read after 0, 1, 2, 4 and 8",
     PARAMETER_DURATION, 1000000, (uint64_t)3600 * 1000000000, "20ms", 0},
    {"trickle", "0", "blocks that a lane allocates and frees ten times a unit of idleness",
     PARAMETER_INTEGER, 0, 1000000, NULL, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

static uint64_t blocks_of(const abench_workload *w)
{
    const uint64_t each = abench__workload_number(w, "bytes") /
                          abench__workload_number(w, "lanes") /
                          (abench_distribution_mean(abench__workload_value(w, "sizes")->sizes) + 1);

    return each == 0 ? 1 : each < BLOCKS_MAX ? each : BLOCKS_MAX;
}

/* Burst and frees; eight phases; eight units of pauses. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t trickle = abench__workload_number(w, "trickle");
    const uint64_t pauses = 8 * (trickle == 0 ? 1 : TRICKLES);

    return abench__workload_number(w, "lanes") *
           (2 * blocks_of(w) + IDLE_PHASES + 3 + pauses * (1 + 2 * trickle));
}

static uint64_t live_bytes(const abench_workload *w)
{
    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes,
                                abench__workload_number(w, "lanes") * blocks_of(w));
}

/* One slot more for what trickles. */
static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)blocks_of(w) + 1;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

enum { BEGIN_BURST, BURST, BEGIN_FREE, FREE, BEGIN_IDLE, IDLE, BEGIN_DRAIN, DRAIN };

typedef struct lane_state {
    abench_random sizes;
    abench_random survivors;
    uint64_t *survives; /* a bit a slot */
} lane_state;

typedef struct state {
    const abench_distribution *sizes;
    uint64_t survivors; /* percent */
    uint64_t blocks;    /* a lane */
    uint64_t done;      /* slots of this stage */
    uint64_t pauses;    /* of this idle phase that are still to come */
    uint64_t trickles;  /* blocks of the latest pause that are still to come */
    uint32_t lanes;
    uint32_t stage;
    uint32_t idle; /* index of the idle phase */
    uint32_t reserved;
    lane_state lane_states[];
} state;

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(state) + abench__workload_number(w, "lanes") *
                               (sizeof(lane_state) + (blocks_of(w) / 64 + 1) * sizeof(uint64_t));
}

static void begin(const abench_workload *w, void *memory)
{
    state *s = memory;
    uint64_t *bits;

    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->blocks = blocks_of(w);
    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->survivors = abench__workload_number(w, "survivors");
    bits = (uint64_t *)(s->lane_states + s->lanes);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane_states[lane];
        abench_random_seed(&l->sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&l->survivors, w->seed, lane, ABENCH_PURPOSE_LIFETIME);
        l->survives = bits + lane * (s->blocks / 64 + 1);
    }
}

/* What a slot of a lane sees in this stage; how many operations that were. */
static uint32_t one_slot(state *s, abench_tape_builder *builder, uint32_t lane, uint32_t slot)
{
    lane_state *l = &s->lane_states[lane];
    uint64_t *bits = &l->survives[slot / 64];
    const uint64_t bit = (uint64_t)1 << slot % 64;

    if (s->stage == BURST) {
        abench_tape_builder_malloc(builder, lane, slot,
                                   abench_distribution_draw(s->sizes, &l->sizes));
        return 1;
    }
    if (s->stage == FREE && abench_random_below(&l->survivors, 100) < s->survivors)
        *bits |= bit;
    if (((*bits & bit) != 0) != (s->stage == DRAIN))
        return 0;
    abench_tape_builder_free(builder, lane, slot);
    return 1;
}

/* The next slots of every lane; 1 when all were. */
static int next_slots(state *s, abench_tape_builder *builder)
{
    for (uint32_t room = 0; room < BATCH && s->done < s->blocks; s->done++)
        for (uint32_t lane = 0; lane < s->lanes; lane++)
            room += one_slot(s, builder, lane, (uint32_t)s->done);
    return s->done == s->blocks;
}

/* The next pause of all lanes, or what trickles behind it; 1 when there is no more. */
static int next_pause(const abench_workload *w, state *s, abench_tape_builder *builder)
{
    const uint64_t trickle = abench__workload_number(w, "trickle");
    const uint64_t pause_ns = abench__workload_number(w, "idle") / (trickle == 0 ? 1 : TRICKLES);

    if (s->trickles > 0) {
        for (uint32_t room = 0; room < BATCH && s->trickles > 0; room += s->lanes, s->trickles--)
            for (uint32_t lane = 0; lane < s->lanes; lane++) {
                abench_tape_builder_malloc(
                    builder, lane, (uint32_t)s->blocks,
                    abench_distribution_draw(s->sizes, &s->lane_states[lane].sizes));
                abench_tape_builder_free(builder, lane, (uint32_t)s->blocks);
            }
    } else if (s->pauses > 0) {
        for (uint32_t lane = 0; lane < s->lanes; lane++)
            abench_tape_builder_pause(builder, lane, (uint32_t)(pause_ns / 1000));
        s->pauses--;
        s->trickles = trickle;
    }
    return s->pauses == 0 && s->trickles == 0;
}

static void begin_stage(const abench_workload *w, state *s, abench_tape_builder *builder)
{
    static const char *const idle_names[IDLE_PHASES] = {"idle-0", "idle-1", "idle-2", "idle-4",
                                                        "idle-8"};
    static const uint32_t units[IDLE_PHASES] = {0, 1, 1, 2, 4}; /* since the one before */
    static const char *const names[] = {
        [BEGIN_BURST] = "burst", [BEGIN_FREE] = "free", [BEGIN_DRAIN] = "drain"};

    s->done = 0;
    if (s->stage == BEGIN_IDLE) {
        abench_tape_builder_phase(builder, idle_names[s->idle], 0);
        s->pauses =
            units[s->idle] * (abench__workload_number(w, "trickle") == 0 ? 1 : (uint64_t)TRICKLES);
        s->idle++;
    } else {
        abench_tape_builder_phase(builder, names[s->stage],
                                  s->stage == BEGIN_DRAIN ? 0 : ABENCH_PHASE_TIMED);
    }
    s->stage++;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    state *s = memory;

    if (s->stage % 2 == 0)
        begin_stage(w, s, builder);
    if (!(s->stage == IDLE ? next_pause(w, s, builder) : next_slots(s, builder)))
        return 0;
    if (s->stage == DRAIN)
        return 1;
    s->stage = s->stage == IDLE && s->idle < IDLE_PHASES ? BEGIN_IDLE : s->stage + 1;
    return 0;
}

static uint32_t pauses(const abench_workload *w)
{
    (void)w;
    return 1;
}

const abench__workload_kind abench__burst_idle = {
    .info =
        {sizeof(abench_workload_info), 1, "burst-idle",
         "a burst of 200 MiB, freed but for one block in twenty, then 8 seconds of nothing: "
         "what the process still holds at once and after 1, 2, 4 and 8 seconds",
         "the shape of published reports on Rust services: bursts of work, idle gaps, and RSS "
         "tabulated by hand after 0 to 10 s",
         "the burst and its frees; not the idle phases, whose ends are where memory is read. An "
         "allocator without a thread of its own purges when it is called: trickle=N calls it",
         "a byte of every page of each block"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
    .pauses = pauses,
};
