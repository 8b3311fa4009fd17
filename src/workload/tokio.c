/*
 * tokio.c - tokio-fanout: what tasks of an asynchronous runtime ask for, on 8 workers.
 *
 * Each step of a lane is one operation of a task:
 *   35 %  a temporary vector of 1 KiB, freed at once
 *   25 %  a formatted line, a string that grows by doubling; one in 8 is sent, the others freed
 *   20 %  a vector of 128 bytes to 16 KiB, sent
 *   15 %  a counted block (Arc) with a string and a vector in it, sent; whoever drops the last
 *         reference, here the receiver, frees all three
 *    5 %  a task is spawned: its cell and a box of 256 bytes, freed by the worker that runs it
 * What is sent goes to another lane, whose consumer keeps its latest 128 messages and drops the
 * older ones. The original leaves it to the scheduler who receives what, so that no two of its runs
 * are the same; here it is drawn.
 */
#include "base/root.h"
#include "shape/distribution.h"
#include "workload/estimate.h"
#include "workload/workload.h"

#define BATCH       256u   /* operations, about */
#define RECORD      3u     /* blocks of a message, at most */
#define GENERATIONS 65534u /* of a slot between two barriers */
#define TEMPORARY   1024u
#define LINE_START  16u
#define LINE_SENT   8u   /* one of so many */
#define ARC         64u  /* two counts, a String, a Vec */
#define ARC_STRING  24u  /* to twice that, without the last */
#define ARC_VECTOR  64u  /* to seven times that */
#define TASK        128u /* header, state and future */
#define BOX         256u
/* A counted block with all that it owns; operations of a step but a line's, and their mean
 * square. */
#define COUNTED_MEAN ((uint64_t)ARC + ARC_STRING * 3 / 2 + ARC_VECTOR * 4)
#define COUNTED_MOST ((uint64_t)ARC + ARC_STRING * 2 + ARC_VECTOR * 7)
#define STEP_MOST    6u
#define STEP_SQUARE  12u

__extension__ typedef unsigned __int128 wide;

static const abench__parameter parameters[] = {
    {"lanes", "8", "workers", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"steps", "500000", "operations of a worker's tasks", PARAMETER_INTEGER, 1, (uint64_t)1 << 40,
     "10000", 1},
    {"held", "128", "messages that a worker's consumer keeps", PARAMETER_INTEGER, 1, 1u << 14, NULL,
     0},
    {"lines", "uniform:40-120", "distribution of the lengths of formatted lines", PARAMETER_SIZES,
     0, 0, NULL, 0},
    {"messages", "uniform:128-16k", "distribution of the sizes of vectors that are sent",
     PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "all", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

/* How many times a line's string doubles. */
static uint32_t doublings(uint64_t length)
{
    uint32_t times = 0;

    while (times < 40 && (uint64_t)LINE_START << times < length)
        times++;
    return times;
}

/* Records of the messages to a lane: they are used in turn, and more than half of them are free
 * all the time, so that no lane waits for one that is being dropped. */
static uint64_t records_of(const abench_workload *w)
{
    return 2 * (abench__workload_number(w, "held") + abench__workload_number(w, "lanes") + 8);
}

/* Between two barriers a lane gets a message a step of every other lane at most, each of which
 * takes two generations of a slot, and two for each realloc. */
static uint64_t steps_between(const abench_workload *w)
{
    const uint64_t longest = abench_distribution_maximum(abench__workload_value(w, "lines")->sizes);
    const uint64_t uses = GENERATIONS / (2 + 2 * doublings(longest)) - 1;

    return uses * records_of(w) / abench__workload_number(w, "lanes");
}

/* ---- what is known before -------------------------------------------------------------------- */

/* What is drawn of the formatted lines. */
typedef struct line_means {
    uint64_t doublings; /* times 1024 */
    uint64_t square;    /* of the doublings: the mean, rounded up */
    uint64_t bytes;     /* of the last capacity */
    uint64_t most;      /* of the doublings */
} line_means;

static line_means means_of(const abench_workload *w)
{
    const abench_distribution *lines = abench__workload_value(w, "lines")->sizes;
    abench__strata strata = {lines, 0, 0, 0, 0};
    wide all = 0, sum = 0, squares = 0, bytes = 0;

    while (abench__strata_next(&strata)) {
        const uint64_t times = doublings(strata.value);
        all += strata.weight;
        sum += (wide)strata.weight * times;
        squares += (wide)strata.weight * times * times;
        bytes += (wide)strata.weight * ((uint64_t)LINE_START << times);
    }
    return (line_means){(uint64_t)(sum * 1024 / all), (uint64_t)(squares / all) + 1,
                        (uint64_t)(bytes / all) + 1, doublings(abench_distribution_maximum(lines))};
}

/* 135 mallocs in 100 steps and as many frees, and the reallocs of 25 lines. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t steps = abench__workload_number(w, "steps");
    const line_means lines = means_of(w);
    const uint64_t most = 2 + lines.most > STEP_MOST ? 2 + lines.most : STEP_MOST;
    /* for each step as for 102400 */
    const uint64_t likely = (uint64_t)((wide)steps * (270 * 1024 + 25 * lines.doublings) / 102400);
    const uint64_t chance = 5 * abench__square_root(steps * STEP_SQUARE + steps * lines.square);
    const uint64_t each = likely + chance < steps * most ? likely + chance : steps * most;

    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       3 + each + steps / steps_between(w));
}

/* Of 345 messages 25 are lines, 160 vectors, 120 counted blocks and 40 tasks. */
static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t messages = lanes * (abench__workload_number(w, "held") + 2);
    const abench_distribution *vectors = abench__workload_value(w, "messages")->sizes;
    const line_means lines = means_of(w);
    const uint64_t line_most = (uint64_t)LINE_START << lines.most;
    const uint64_t vector_most = abench_distribution_maximum(vectors);
    const uint64_t most = line_most > vector_most ? line_most : vector_most;
    const uint64_t mean =
        (uint64_t)(((wide)25 * lines.bytes + (wide)160 * (abench_distribution_mean(vectors) + 1) +
                    120 * COUNTED_MEAN + 40 * (TASK + BOX)) /
                       345 +
                   1);
    /* no mean square is above mean * most */
    const wide square = (wide)25 * lines.bytes * line_most / 345 +
                        (wide)vectors->square_mean * 160 / 345 + COUNTED_MOST * COUNTED_MOST;

    return abench__saturating_add(
        abench__likely_sum(messages, mean,
                           vectors->square_mean < UINT64_MAX && square < UINT64_MAX
                               ? (uint64_t)square
                               : UINT64_MAX,
                           most > COUNTED_MOST ? most : COUNTED_MOST),
        TEMPORARY * lanes);
}

/* A local slot for what no message is. */
static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = 1;
    options->shared_slots = (uint32_t)(options->lanes * records_of(w) * RECORD);
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

enum { BEGIN_STEPS, STEPS, BEGIN_DRAIN, DRAIN };

typedef struct lane_state {
    abench_random kinds;
    abench_random sizes;
    abench_random receivers;
    uint64_t sent;    /* messages to this lane */
    uint64_t dropped; /* of them */
    uint8_t *blocks;  /* of each record */
} lane_state;

typedef struct state {
    const abench_distribution *lines;
    const abench_distribution *messages;
    uint64_t done; /* steps */
    uint64_t steps;
    uint64_t meets;   /* steps between two barriers */
    uint64_t records; /* a lane */
    uint64_t held;
    uint32_t lanes;
    uint32_t lane; /* the next one of the step */
    uint32_t stage;
    uint32_t reserved;
    lane_state lane_states[];
} state;

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(state) +
           abench__workload_number(w, "lanes") * (sizeof(lane_state) + records_of(w));
}

static void begin(const abench_workload *w, void *memory)
{
    state *s = memory;
    uint8_t *blocks;

    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->held = abench__workload_number(w, "held");
    s->steps = abench__workload_number(w, "steps");
    s->lines = abench__workload_value(w, "lines")->sizes;
    s->messages = abench__workload_value(w, "messages")->sizes;
    s->records = records_of(w);
    s->meets = steps_between(w);
    blocks = (uint8_t *)(s->lane_states + s->lanes);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane_states[lane];
        abench_random_seed(&l->kinds, w->seed, lane, ABENCH_PURPOSE_SCHEDULE);
        abench_random_seed(&l->sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&l->receivers, w->seed, lane, ABENCH_PURPOSE_SLOT);
        l->blocks = blocks + lane * s->records;
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static uint32_t slot_of(const state *s, uint32_t receiver, uint64_t message, uint32_t block)
{
    return ABENCH_SLOT_SHARED |
           (uint32_t)((receiver * s->records + message % s->records) * RECORD + block);
}

/* A message of so many blocks to another lane: its first slot, the others follow. */
static uint32_t send(state *s, uint32_t lane, uint8_t blocks)
{
    const uint32_t others = s->lanes - 1;
    uint32_t receiver = lane;
    lane_state *r;

    if (others > 0)
        receiver += 1 + (uint32_t)abench_random_below(&s->lane_states[lane].receivers, others);
    receiver -= receiver >= s->lanes ? s->lanes : 0;
    r = &s->lane_states[receiver];
    r->blocks[r->sent % s->records] = blocks;
    return slot_of(s, receiver, r->sent++, 0);
}

/* The receiver drops its oldest message; how many operations that were. */
static uint32_t drop(state *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane_states[lane];
    const uint32_t blocks = l->blocks[l->dropped % s->records];

    for (uint32_t block = 0; block < blocks; block++)
        abench_tape_builder_free(builder, lane, slot_of(s, lane, l->dropped, block));
    l->dropped++;
    return blocks;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void line(state *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane_states[lane];
    const uint32_t times = doublings(abench_distribution_draw(s->lines, &l->sizes));
    const int sent = abench_random_below(&l->kinds, LINE_SENT) == 0;
    const uint32_t slot = sent ? send(s, lane, 1) : 0;

    abench_tape_builder_malloc(builder, lane, slot, LINE_START);
    for (uint32_t time = 1; time <= times; time++)
        abench_tape_builder_realloc(builder, lane, slot, (uint64_t)LINE_START << time);
    if (!sent)
        abench_tape_builder_free(builder, lane, slot);
}

static void one_step(state *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane_states[lane];
    const uint64_t kind = abench_random_below(&l->kinds, 100);
    uint32_t slot;

    if (kind < 35) {
        abench_tape_builder_malloc(builder, lane, 0, TEMPORARY);
        abench_tape_builder_free(builder, lane, 0);
    } else if (kind < 60) {
        line(s, builder, lane);
    } else if (kind < 80) {
        abench_tape_builder_malloc(builder, lane, send(s, lane, 1),
                                   abench_distribution_draw(s->messages, &l->sizes));
    } else if (kind < 95) {
        slot = send(s, lane, 3);
        abench_tape_builder_malloc(builder, lane, slot,
                                   ARC_STRING + abench_random_below(&l->sizes, ARC_STRING));
        abench_tape_builder_malloc(
            builder, lane, slot + 1,
            ARC_VECTOR + abench_random_below(&l->sizes, (uint64_t)6 * ARC_VECTOR + 1));
        abench_tape_builder_malloc(builder, lane, slot + 2, ARC);
    } else {
        slot = send(s, lane, 2);
        abench_tape_builder_malloc(builder, lane, slot, BOX);
        abench_tape_builder_malloc(builder, lane, slot + 1, TASK);
    }
}

/* The next lane's step, and what its consumer drops before it; about how many operations. */
static uint32_t next_step(state *s, abench_tape_builder *builder)
{
    const uint32_t lane = s->lane;
    lane_state *l = &s->lane_states[lane];
    uint32_t made = 3;

    while (l->sent - l->dropped > s->held)
        made += drop(s, builder, lane);
    one_step(s, builder, lane);
    if (++s->lane < s->lanes)
        return made;
    s->lane = 0;
    if (++s->done % s->meets == 0) {
        abench_tape_builder_barrier(builder);
        made += s->lanes;
    }
    return made;
}

/* Every lane drops its oldest message; how many operations that were. */
static uint32_t drain(state *s, abench_tape_builder *builder)
{
    uint32_t made = 0;

    for (uint32_t lane = 0; lane < s->lanes; lane++)
        if (s->lane_states[lane].sent > s->lane_states[lane].dropped)
            made += drop(s, builder, lane);
    return made;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    state *s = memory;
    uint32_t made = 0;

    (void)w;
    if (s->stage % 2 == 0) {
        abench_tape_builder_phase(builder, s->stage == BEGIN_STEPS ? "steps" : "drain",
                                  s->stage == BEGIN_STEPS ? ABENCH_PHASE_TIMED : 0);
        s->stage++;
        return 0;
    }
    if (s->stage == DRAIN)
        return drain(s, builder) == 0;
    while (made < BATCH && s->done < s->steps)
        made += next_step(s, builder);
    if (s->done == s->steps)
        s->stage++;
    return 0;
}

const abench__workload_kind abench__tokio_fanout = {
    .info = {sizeof(abench_workload_info), 1, "tokio-fanout",
             "tasks on 8 workers that make temporaries and lines and send vectors, counted blocks "
             "and tasks to each other: every message is freed by another thread",
             "allocbench's own model of a Tokio service: tasks that are spawned on a runtime of "
             "many threads, and bounded channels from many senders to one receiver, as Tokio's "
             "benches rt_multi_threaded and sync_mpsc have them",
             "the steps; not the last drops",
             "all bytes of each block; the checksums that the "
             "receivers make, which read it all, are not"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
