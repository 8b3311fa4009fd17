/*
 * xmalloc.c - producers that only allocate, consumers that only free.
 *
 * Pattern: xmalloc-test of Lever and Boreham, "malloc() performance in a multithreaded Linux
 * environment" (USENIX 2000), as rewritten for the suites: a producer allocates a batch (a
 * structure of pointers, then 4096 objects) and queues it; a consumer takes a batch, frees the
 * objects in order, then the structure. Every block is freed by another lane.
 *
 * What differs from the original: it runs for 5 seconds from an empty queue, so that the work and
 * with it the memory grow with speed; here the batches are counted, and the queue is full when the
 * time begins. Its list is last in, first out, which makes the age of a batch a matter of
 * scheduling; here it is a queue. Its per-thread counters come from the malloc under test, which
 * decides whether they share a cache line; here they do not exist.
 *
 * A lane waits for a batch, not for each object: the structure is the first that a producer
 * allocates and the last that a consumer frees; and a consumer frees the last object first, then
 * the others in order. As many batches may be about as the original's queue of 100, one in the
 * hands of each producer, and one in those of each consumer.
 */
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "4", "threads; the first half of them produces, the rest consumes", PARAMETER_INTEGER,
     2, ABENCH_LANES_MAX, NULL, 0},
    {"batches", "2000", "batches that each producer makes while it is timed", PARAMETER_INTEGER, 1,
     65536, "20", 1},
    {"objects", "4096", "blocks of a batch", PARAMETER_INTEGER, 1, 65536, NULL, 0},
    {"window", "100", "batches in the queue; at least one a lane", PARAMETER_INTEGER, 1, 8192, "20",
     0},
    {"sizes", "fixed:64",
     "distribution of the objects' sizes; the original's other one is mix:6%8,6%12,6%16,6%24,"
     "6%32,6%48,6%64,6%96,6%128,6%192,6%256,6%384,6%512,6%768,6%1024,5%1536,5%2048",
     PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "all", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_FILL, FILL, BEGIN_WORK, WORK, BEGIN_DRAIN, DRAIN };

/* What a lane is at. */
typedef struct position {
    uint64_t batch; /* number of the batch, over all lanes */
    uint64_t done;  /* operations on it */
} position;

typedef struct xmalloc {
    const abench_distribution *sizes;
    uint64_t window;
    uint64_t all;   /* batches that will be made */
    uint64_t sets;  /* of shared slots: batches that may be about at once */
    uint64_t steps; /* of the timed work, made and to make */
    uint64_t steps_all;
    uint64_t owed; /* operations that each consumer is behind, in parts of 1 / consumers */
    uint32_t objects;
    uint32_t producers;
    uint32_t consumers;
    uint32_t stage;
    position *positions;    /* a lane */
    abench_random random[]; /* a producer */
} xmalloc;

static uint32_t producers_of(const abench_workload *w)
{
    return (uint32_t)((abench__workload_number(w, "lanes") + 1) / 2);
}

static uint64_t window_of(const abench_workload *w)
{
    const uint64_t window = abench__workload_number(w, "window");
    const uint64_t lanes = abench__workload_number(w, "lanes");

    return window < lanes ? lanes : window;
}

/* Every block is allocated and freed; three phases. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t batches = window_of(w) + producers_of(w) * abench__workload_number(w, "batches");

    return 3 * abench__workload_number(w, "lanes") +
           2 * batches * (abench__workload_number(w, "objects") + 1);
}

/* The structure of a batch: the pointers and a link. */
static uint64_t batch_bytes(uint64_t objects)
{
    return 8 * objects + 8;
}

/* The queue, and what the producers are at. */
static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t objects = abench__workload_number(w, "objects");
    const uint64_t batches = window_of(w) + 1 + producers_of(w) / 4;

    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes, batches * objects) +
           batches * batch_bytes(objects);
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");

    options->lanes = (uint32_t)lanes;
    options->shared_slots =
        (uint32_t)((window_of(w) + lanes) * (abench__workload_number(w, "objects") + 1));
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(xmalloc) +
           abench__workload_number(w, "lanes") * (sizeof(position) + sizeof(abench_random));
}

static void begin(const abench_workload *w, void *memory)
{
    const uint32_t lanes = (uint32_t)abench__workload_number(w, "lanes");
    xmalloc *s = memory;

    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->objects = (uint32_t)abench__workload_number(w, "objects");
    s->window = window_of(w);
    s->producers = producers_of(w);
    s->consumers = lanes - s->producers;
    s->all = s->window + s->producers * abench__workload_number(w, "batches");
    s->sets = s->window + lanes;
    s->steps_all = abench__workload_number(w, "batches") * (s->objects + 1);
    s->positions = (position *)(s->random + s->producers);
    for (uint32_t lane = 0; lane < lanes; lane++)
        s->positions[lane].batch = lane < s->producers ? lane : lane - s->producers;
    for (uint32_t lane = 0; lane < s->producers; lane++)
        abench_random_seed(&s->random[lane], w->seed, lane, ABENCH_PURPOSE_SIZE);
}

/* Slot 0 of a set is the structure, the others are its objects. */
static uint32_t slot_of(const xmalloc *s, const position *at, uint64_t index)
{
    return ABENCH_SLOT_SHARED | (uint32_t)(at->batch % s->sets * (s->objects + 1) + index);
}

static void advance(const xmalloc *s, position *at, uint32_t stride)
{
    if (++at->done <= s->objects)
        return;
    at->done = 0;
    at->batch += stride;
}

/* One block of a batch below end; returns how many that were. */
static uint32_t produce(xmalloc *s, abench_tape_builder *builder, uint32_t lane, uint64_t end)
{
    position *at = &s->positions[lane];
    uint64_t size = batch_bytes(s->objects);

    if (at->batch >= end)
        return 0;
    if (at->done > 0)
        size = abench_distribution_draw(s->sizes, &s->random[lane]);
    abench_tape_builder_malloc(builder, lane, slot_of(s, at, at->done), size);
    advance(s, at, s->producers);
    return 1;
}

static uint32_t consume(xmalloc *s, abench_tape_builder *builder, uint32_t lane)
{
    position *at = &s->positions[lane];
    uint64_t index = at->done;

    if (at->batch >= s->all)
        return 0;
    if (at->done == 0)
        index = s->objects;
    else if (at->done == s->objects)
        index = 0;
    abench_tape_builder_free(builder, lane, slot_of(s, at, index));
    advance(s, at, s->consumers);
    return 1;
}

/* An operation of each producer, and of each consumer so many that they keep up. */
static void step(xmalloc *s, abench_tape_builder *builder)
{
    for (uint32_t lane = 0; lane < s->producers; lane++)
        produce(s, builder, lane, s->all);
    for (s->owed += s->producers; s->owed >= s->consumers; s->owed -= s->consumers)
        for (uint32_t lane = 0; lane < s->consumers; lane++)
            consume(s, builder, s->producers + lane);
}

/* One block of every producer or consumer; 0 when none is left. */
static uint32_t step_alone(xmalloc *s, abench_tape_builder *builder)
{
    uint32_t done = 0;

    if (s->stage == FILL) {
        for (uint32_t lane = 0; lane < s->producers; lane++)
            done += produce(s, builder, lane, s->window);
        return done;
    }
    for (uint32_t lane = 0; lane < s->consumers; lane++)
        done += consume(s, builder, s->producers + lane);
    return done;
}

static void begin_phase(xmalloc *s, abench_tape_builder *builder)
{
    static const char *const names[] = {
        [BEGIN_FILL] = "fill", [BEGIN_WORK] = "steady", [BEGIN_DRAIN] = "drain"};

    abench_tape_builder_phase(builder, names[s->stage],
                              s->stage == BEGIN_WORK ? ABENCH_PHASE_TIMED : 0);
    s->stage++;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    xmalloc *s = memory;

    (void)w;
    if (s->stage == BEGIN_FILL)
        begin_phase(s, builder);
    for (uint32_t batch = 0; batch < 8; batch++) {
        if (s->stage == WORK && s->steps < s->steps_all) {
            s->steps++;
            step(s, builder);
        } else if (s->stage == WORK || step_alone(s, builder) == 0) {
            if (s->stage++ == DRAIN)
                return 1;
            begin_phase(s, builder);
        }
    }
    return 0;
}

const abench__workload_kind abench__xmalloc = {
    .info = {sizeof(abench_workload_info), 1, "xmalloc",
             "producers allocate batches of 4096 blocks that consumers free: what it costs when "
             "every block is freed by another thread",
             "Lever and Boreham, USENIX 2000; program xmalloc-test of daanx/mimalloc-bench "
             "ce5784f, arguments -w N -t 5 -s 64, with counted batches in place of 5 seconds",
             "allocating and freeing beside each other, waits for the other side taken off; not "
             "the fill of the queue and the drain",
             "all of each block; the original writes the first 128 bytes of an object, and all of "
             "a batch's structure"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
