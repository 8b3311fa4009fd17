/*
 * rptest.c - blocks of 8 bytes to 16 KB in slots of a lane, and batches for the next lane.
 *
 * Pattern: rpmalloc-benchmark of Mattias Jansson, as modified for the suites. Each loop of a
 * thread frees some of its slots, visiting them with a prime stride; frees the batches that others
 * have handed to it; allocates into some slots, with another stride, freeing what they hold; and
 * at every second loop allocates as many blocks again as a batch for another thread, round robin.
 * How many, and the sizes, come from tables that all threads share. A size is 8 + 15992 * a *
 * |1 - b - c| with a, b, c even over 0 ... 1: the "linear drop-off", mean 2673. Blocks below 4 KiB
 * are allocated in turn by calloc, aligned to 8 and to 16 (here in multiples of that); larger ones
 * by calloc.
 *
 * What differs from the original: its tables are fixed in its source; here the seed draws them.
 * Its threads race, so that the work changes from run to run, and sleep up to 10 ms before they
 * begin, so that batches pile up at the one that sleeps: its peak of 15 to 18 MB. Here the lanes
 * begin together, and a lane hands a batch over when it has made so many others; as many as give
 * that peak. It sleeps for 16 seconds and adds up the clocks of its loops; here phases are timed as
 * a whole. A round of loops is one of its inner iterations; new threads, which it starts for every
 * second one, have no blocks to inherit, and are left out.
 */
#include "base/root.h"
#include "workload/estimate.h"
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"rounds", "120", "times that the loops are gone through; the original: 4", PARAMETER_INTEGER,
     1, 1000000, "2", 1},
    {"loops", "500", "loops of a round", PARAMETER_INTEGER, 1, 100000, NULL, 0},
    {"slots", "1000", "slots of a lane", PARAMETER_INTEGER, 1, 1u << 24, NULL, 0},
    {"operations", "100", "a loop allocates 30-99 % of so many blocks", PARAMETER_INTEGER, 4, 2000,
     NULL, 0},
    {"cross", "2", "a batch is handed on every so many loops; 0: never", PARAMETER_INTEGER, 0,
     100000, NULL, 0},
    {"pending", "32", "batches of a lane that wait before they are freed", PARAMETER_INTEGER, 0,
     1000, NULL, 0},
    {"dropoff", "1", "of the sizes: 0 even, 1 linear, 2 exponential", PARAMETER_INTEGER, 0, 2, NULL,
     0},
    {"min", "8", "smallest size", PARAMETER_INTEGER, 0, 1u << 30, NULL, 0},
    {"max", "16000", "largest size, if not below the smallest", PARAMETER_INTEGER, 0, 1u << 30,
     NULL, 0},
    {"touch", "all", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

#define SIZES         2000u
#define ALLOCATIONS   311u
#define FREES         257u
#define FRACTION      100000u /* of the sizes' draws */
#define STRUCTURE     32u     /* bytes of a batch's structure; 8 more for each block are an array */
#define ALIGNED_BELOW 4096u

typedef struct tables {
    uint32_t sizes[SIZES];
    uint32_t allocations[ALLOCATIONS]; /* of a loop */
    uint32_t frees[FREES];             /* slots that a loop frees */
} tables;

enum { LOOP_BEGIN, LOOP_FREE, LOOP_TAKEN, LOOP_ALLOCATE, LOOP_BATCH, LOOP_END, LOOPS_DONE };

typedef struct lane_state {
    unsigned char *live; /* a slot */
    uint32_t loop;
    uint32_t stage;   /* LOOP_... */
    uint32_t done;    /* of the stage */
    uint32_t size_at; /* in the table */
    uint32_t free_at; /* slots */
    uint32_t allocate_at;
    uint32_t other;      /* who got a batch last */
    uint64_t made;       /* batches */
    uint64_t handed;     /* batches that were handed over */
    uint32_t taken;      /* batches to free: 1 + the first one's number; 0: none */
    uint32_t taken_done; /* of its blocks */
    uint32_t inbox;      /* batches that it was handed: likewise */
} lane_state;

typedef struct batch {
    uint32_t count; /* of its blocks; 0: free to use */
    uint32_t next;  /* in an inbox: 1 + a number */
} batch;

typedef struct rptest {
    tables tables;
    uint64_t round;
    uint32_t lanes;
    uint32_t slots;
    uint32_t loops;
    uint32_t cross;
    uint32_t blocks;  /* most of a batch */
    uint32_t pending; /* batches that a lane keeps back */
    uint32_t sets;    /* of slots for batches, of each lane */
    uint32_t allocate_stride;
    uint32_t free_stride;
    uint32_t stage;
    uint32_t drained;    /* slots that are freed at a round's end */
    uint32_t lanes_done; /* with their loops */
    batch *batches;      /* sets of each lane */
    lane_state lane[];
} rptest;

enum { BEGIN_ROUND, ROUND, CLEAR };

/* a * |1 - b - c|, a * (1 - b) (1 - c) or a, in parts of FRACTION^2 */
static uint64_t drop_off(uint64_t kind, uint64_t a, uint64_t b, uint64_t c)
{
    if (kind == 0)
        return a * FRACTION;
    if (kind == 2)
        return a * ((FRACTION - b) * (FRACTION - c) / FRACTION);
    return a * (b + c > FRACTION ? b + c - FRACTION : FRACTION - b - c);
}

static void draw_tables(const abench_workload *w, tables *t)
{
    const uint64_t blocks = abench__workload_number(w, "operations");
    const uint64_t kind = abench__workload_number(w, "dropoff");
    const uint64_t least = abench__workload_number(w, "min");
    const uint64_t most = abench__workload_number(w, "max");
    const uint64_t range = most > least ? most - least : 0;
    uint32_t even[SIZES];
    abench_random random;

    abench_random_seed(&random, w->seed, 0, ABENCH_PURPOSE_SIZE);
    for (uint32_t at = 0; at < SIZES; at++)
        even[at] = (uint32_t)abench_random_below(&random, FRACTION);
    for (uint32_t at = 0; at < SIZES; at++) {
        const uint64_t part =
            drop_off(kind, even[(at + 2) % SIZES], even[at], even[(at + 1) % SIZES]);
        t->sizes[at] = (uint32_t)(least + range * (part / FRACTION) / FRACTION);
    }
    abench_random_seed(&random, w->seed, 0, ABENCH_PURPOSE_SCHEDULE);
    for (uint32_t at = 0; at < ALLOCATIONS; at++)
        t->allocations[at] = (uint32_t)(blocks * (30 + abench_random_below(&random, 70)) / 100);
    for (uint32_t at = 0; at < FREES; at++)
        t->frees[at] = (uint32_t)(blocks * 8 * (30 + abench_random_below(&random, 70)) / 1000);
}

static uint64_t cross_of(const abench_workload *w)
{
    return abench__workload_number(w, "lanes") > 1 ? abench__workload_number(w, "cross") : 0;
}

/* Batches of a lane that may be about at once: those that it keeps back, and some that the others
 * have not freed yet. */
static uint64_t sets_of(const abench_workload *w)
{
    return abench__workload_number(w, "pending") + 8;
}

/* C11 wants an aligned size to be a multiple of its alignment. */
static uint64_t rounded(uint64_t size, uint64_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

/* ---- what is known before -------------------------------------------------------------------- */

/* Blocks of a round; those whose numbers are odd begin elsewhere in the table. Loops that hand a
 * batch on allocate twice, and structures. */
static uint64_t round_blocks(const abench_workload *w, const tables *t, uint64_t round)
{
    const uint64_t loops = abench__workload_number(w, "loops");
    const uint64_t cross = cross_of(w);
    uint64_t blocks = 0;

    for (uint64_t loop = 0; loop < loops; loop++) {
        const uint64_t here = t->allocations[(round + loop) % ALLOCATIONS];
        blocks += here;
        if (cross != 0 && loop % cross == 0)
            blocks += here + 2;
    }
    return blocks;
}

/* Every block is allocated and freed, a round begins and ends together; a few of a round's last
 * loops hand no batch on, when another lane has done already. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t rounds = abench__workload_number(w, "rounds");
    tables t;

    draw_tables(w, &t);
    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       2 * (rounds - rounds / 2) * round_blocks(w, &t, 0) +
                                           2 * (rounds / 2) * round_blocks(w, &t, 1) + 2 * rounds);
}

/* What many blocks of the table of sizes may take, each third one as it is, the others aligned. */
static uint64_t table_bytes(const tables *t, uint64_t blocks)
{
    uint64_t sum = 0, squares = 0, most = 0;

    for (uint32_t at = 0; at < 3 * SIZES; at++) {
        const uint64_t size = t->sizes[at / 3];
        const uint64_t here =
            size >= ALIGNED_BELOW || at % 3 == 0 ? size : rounded(size, 8 * (uint64_t)(at % 3));
        sum += here;
        squares += here * here / (3 * SIZES); /* 2^60 at most */
        most = here > most ? here : most;
    }
    return abench__likely_sum(blocks, sum / (3 * SIZES) + 1, squares, most);
}

/* Filling goes round the slots faster than freeing, so that up to four fifths of them hold a block,
 * and all when a loop goes round them; each lane has a batch or two about besides those that it
 * keeps back. */
static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t slots = abench__workload_number(w, "slots");
    const uint64_t loops = abench__workload_number(w, "loops");
    const uint64_t blocks = abench__workload_number(w, "operations");
    uint64_t filled = slots * 4 / 5 + blocks, batches = 0, handed, sum = 0, squares = 0;
    tables t;

    draw_tables(w, &t);
    for (uint32_t at = 0; at < ALLOCATIONS; at++) {
        sum += t.allocations[at];
        squares += (uint64_t)t.allocations[at] * t.allocations[at];
    }
    filled = filled < slots ? filled : slots;
    filled = filled < loops * blocks ? filled : loops * blocks;
    if (cross_of(w) != 0)
        batches = (loops - 1) / cross_of(w) + 1;
    if (batches > abench__workload_number(w, "pending") + 2)
        batches = abench__workload_number(w, "pending") + 2;
    batches *= lanes;
    handed = batches * (sum / ALLOCATIONS + 1);
    handed += 2 * abench__square_root(batches * (squares / ALLOCATIONS));
    handed = handed < batches * blocks ? handed : batches * blocks;
    return table_bytes(&t, lanes * filled + handed) + handed * 8 + batches * (STRUCTURE + 8);
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");

    options->lanes = (uint32_t)lanes;
    options->local_slots = (uint32_t)abench__workload_number(w, "slots");
    if (cross_of(w) != 0)
        options->shared_slots =
            (uint32_t)(lanes * sets_of(w) * (abench__workload_number(w, "operations") + 2));
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(rptest) +
           abench__workload_number(w, "lanes") * (sizeof(lane_state) + sets_of(w) * sizeof(batch) +
                                                  abench__workload_number(w, "slots"));
}

/* The first prime from *at on that does not divide slots. */
static uint32_t next_stride(uint32_t slots, uint32_t *at)
{
    static const uint32_t primes[] = {7,  11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47,
                                      53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101};

    while (slots % primes[*at] == 0) /* the product of all is above the largest count */
        ++*at;
    return primes[(*at)++];
}

static void begin(const abench_workload *w, void *memory)
{
    rptest *s = memory;
    unsigned char *live;
    uint32_t prime = 0;

    draw_tables(w, &s->tables);
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->slots = (uint32_t)abench__workload_number(w, "slots");
    s->loops = (uint32_t)abench__workload_number(w, "loops");
    s->blocks = (uint32_t)abench__workload_number(w, "operations");
    s->cross = (uint32_t)cross_of(w);
    s->pending = (uint32_t)abench__workload_number(w, "pending");
    s->sets = (uint32_t)sets_of(w);
    s->allocate_stride = next_stride(s->slots, &prime);
    s->free_stride = next_stride(s->slots, &prime);
    s->batches = (batch *)(s->lane + s->lanes);
    live = (unsigned char *)(s->batches + (uint64_t)s->lanes * s->sets);
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        s->lane[lane].live = live + (uint64_t)lane * s->slots;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void allocate_aligned(abench_tape_builder *builder, uint32_t lane, uint32_t slot,
                             uint64_t alignment, uint64_t size)
{
    abench_tape_builder_aligned(builder, lane, slot, alignment, rounded(size, alignment));
}

/* The next size of the table; in turn zeroed and aligned. */
static void allocate(rptest *s, abench_tape_builder *builder, uint32_t lane, uint32_t slot)
{
    lane_state *l = &s->lane[lane];
    const uint32_t size = s->tables.sizes[(l->size_at + 2) % SIZES];
    const uint32_t kind = size < ALIGNED_BELOW ? (l->size_at + l->done) % 3 : 0;

    if (kind == 0)
        abench_tape_builder_calloc(builder, lane, slot, size);
    else
        allocate_aligned(builder, lane, slot, 8 * (uint64_t)kind, size);
    l->size_at = (l->size_at + 1) % SIZES;
}

/* A batch's slots: its blocks, the array of their addresses, its structure. */
static uint32_t batch_slot(const rptest *s, uint32_t number, uint32_t block)
{
    return ABENCH_SLOT_SHARED | (number * (s->blocks + 2) + block);
}

static void next_stage(lane_state *l)
{
    l->stage++;
    l->done = 0;
}

/* Slots to free are visited until one holds a block. */
static uint32_t free_slots(rptest *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane[lane];
    const uint32_t visits = s->tables.frees[(s->round % 2 + l->loop) % FREES];
    uint32_t made = 0;

    while (made == 0 && l->done < visits) {
        if (l->live[l->free_at]) {
            abench_tape_builder_free(builder, lane, l->free_at);
            l->live[l->free_at] = 0;
            made = 1;
        }
        l->free_at = (l->free_at + s->free_stride) % s->slots;
        l->done++;
    }
    if (l->done == visits)
        next_stage(l);
    return made;
}

/* One block of the batches that were handed to the lane; 0: there is none. */
static uint32_t free_taken(rptest *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane[lane];
    batch *b;
    uint32_t slot;

    if (l->taken == 0)
        return 0;
    b = &s->batches[l->taken - 1];
    slot = l->taken_done < b->count ? l->taken_done : s->blocks + l->taken_done - b->count;
    abench_tape_builder_free(builder, lane, batch_slot(s, l->taken - 1, slot));
    if (++l->taken_done == b->count + 2) {
        l->taken = b->next;
        l->taken_done = 0;
        b->count = 0;
    }
    return 1;
}

static uint32_t allocations_of(const rptest *s, const lane_state *l)
{
    return s->tables.allocations[(s->round % 2 + l->loop) % ALLOCATIONS];
}

static uint32_t allocate_slot(rptest *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane[lane];

    if (l->done == allocations_of(s, l)) {
        next_stage(l);
        return 0;
    }
    if (l->live[l->allocate_at])
        abench_tape_builder_free(builder, lane, l->allocate_at);
    allocate(s, builder, lane, l->allocate_at);
    l->live[l->allocate_at] = 1;
    l->allocate_at = (l->allocate_at + s->allocate_stride) % s->slots;
    l->done++;
    return 1;
}

static uint32_t batch_number(const rptest *s, uint32_t lane, uint64_t made)
{
    return lane * s->sets + (uint32_t)(made % s->sets);
}

/* All batches but the last ones, of which the lane keeps so many. */
static void hand_over(rptest *s, uint32_t lane, uint64_t keep)
{
    lane_state *l = &s->lane[lane];

    while (l->made - l->handed > keep) {
        const uint32_t number = batch_number(s, lane, l->handed++);
        l->other = (l->other + 1) % s->lanes;
        if (l->other == lane)
            l->other = (l->other + 1) % s->lanes;
        s->batches[number].next = s->lane[l->other].inbox;
        s->lane[l->other].inbox = number + 1;
    }
}

/* Structure and array, then the blocks. There is no batch once a lane is done with its loops, nor
 * while the one whose slots it would take is still about. */
static uint32_t make_batch(rptest *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane[lane];
    const uint32_t number = batch_number(s, lane, l->made), count = allocations_of(s, l);
    batch *b = &s->batches[number];

    if (l->done == 0) {
        if (s->cross == 0 || l->loop % s->cross != 0 || s->lanes_done > 0 || b->count > 0) {
            next_stage(l);
            return 0;
        }
        allocate_aligned(builder, lane, batch_slot(s, number, s->blocks + 1), 16, STRUCTURE);
        allocate_aligned(builder, lane, batch_slot(s, number, s->blocks), 16, 8 * (uint64_t)count);
        b->count = count;
    }
    allocate(s, builder, lane, batch_slot(s, number, l->done));
    if (++l->done == count) {
        l->made++;
        hand_over(s, lane, s->pending);
        next_stage(l);
    }
    return 1;
}

/* Takes what was handed over. */
static void take(lane_state *l)
{
    l->taken = l->inbox;
    l->inbox = 0;
}

static void begin_loop(rptest *s, uint32_t lane)
{
    lane_state *l = &s->lane[lane];

    if (l->loop == s->loops) {
        hand_over(s, lane, 0);
        l->stage = LOOPS_DONE;
        s->lanes_done++;
        return;
    }
    take(l);
    next_stage(l);
}

/* The next operation of a lane, sometimes with the free before it; 0 when its loops are done and it
 * was handed nothing. */
static uint32_t work(rptest *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane[lane];
    uint32_t made = 0;

    while (made == 0) {
        switch (l->stage) {
        case LOOP_BEGIN:
            begin_loop(s, lane);
            break;
        case LOOP_FREE:
            made = free_slots(s, builder, lane);
            break;
        case LOOP_TAKEN:
            made = free_taken(s, builder, lane);
            if (made == 0)
                next_stage(l);
            break;
        case LOOP_ALLOCATE:
            made = allocate_slot(s, builder, lane);
            break;
        case LOOP_BATCH:
            made = make_batch(s, builder, lane);
            break;
        case LOOP_END:
            l->loop++;
            l->stage = LOOP_BEGIN;
            break;
        default:
            if (l->taken == 0)
                take(l);
            return free_taken(s, builder, lane);
        }
    }
    return made;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void begin_round(rptest *s, abench_tape_builder *builder)
{
    if (s->round == 0)
        abench_tape_builder_phase(builder, "rounds", ABENCH_PHASE_TIMED);
    else
        abench_tape_builder_barrier(builder);
    s->lanes_done = 0;
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane[lane];
        l->loop = 0;
        l->stage = LOOP_BEGIN;
        l->size_at = (lane + 1) * ((uint32_t)(s->round % 2) + 1) * 37 % SIZES;
    }
    s->stage = ROUND;
}

/* Every lane is done, and nothing waits to be freed: the last one may have handed its batches over
 * in a step in which nobody made anything. */
static int is_over(const rptest *s)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        const lane_state *l = &s->lane[lane];
        if (l->stage != LOOPS_DONE || l->taken != 0 || l->inbox != 0)
            return 0;
    }
    return 1;
}

/* One slot of every lane; returns how many blocks that were. */
static uint32_t clear(rptest *s, abench_tape_builder *builder)
{
    uint32_t made = 0;

    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        if (!s->lane[lane].live[s->drained])
            continue;
        abench_tape_builder_free(builder, lane, s->drained);
        s->lane[lane].live[s->drained] = 0;
        made++;
    }
    s->drained++;
    return made;
}

/* The last round's blocks are still alive when the time ends. */
static void end_round(rptest *s, abench_tape_builder *builder, int is_last)
{
    if (is_last)
        abench_tape_builder_phase(builder, "drain", 0);
    else
        abench_tape_builder_barrier(builder);
    s->drained = 0;
    s->stage = CLEAR;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    rptest *s = memory;
    int is_last = s->round + 1 == abench__workload_number(w, "rounds");

    if (s->stage == CLEAR) {
        for (uint32_t made = 0; made < 256 && s->drained < s->slots;)
            made += clear(s, builder);
        if (s->drained < s->slots)
            return 0;
        if (is_last)
            return 1;
        s->stage = BEGIN_ROUND;
        is_last = ++s->round + 1 == abench__workload_number(w, "rounds");
    }
    if (s->stage == BEGIN_ROUND)
        begin_round(s, builder);
    for (uint32_t step = 0; step < 8 && s->stage == ROUND; step++) {
        uint32_t made = 0;
        for (uint32_t lane = 0; lane < s->lanes; lane++)
            made += work(s, builder, lane);
        if (made == 0 && is_over(s))
            end_round(s, builder, is_last);
    }
    return 0;
}

const abench__workload_kind abench__rptest = {
    .info = {sizeof(abench_workload_info), 1, "rptest",
             "blocks of 8 bytes to 16 KB come and go in the slots of each lane, and every third "
             "one is freed by another lane: random sizes, aligned and zeroed memory, batches "
             "across threads",
             "rpmalloc-benchmark of Mattias Jansson (bd5c554), as modified in daanx/mimalloc-bench "
             "ce5784f (rptest N 0 1 2 500 1000 100 8 16000)",
             "all rounds, waits for a batch and between rounds taken off; not the last drain",
             "all of each block, also after calloc; the original writes a byte per page of those"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
