/*
 * cache.c - cache-scratch and cache-thrash: does the allocator put blocks of two threads into one
 * cache line?
 *
 * Pattern: Berger, McKinley, Blumofe and Wilson, "Hoard: a scalable memory allocator for
 * multithreaded applications" (ASPLOS 2000). cache-thrash (active false sharing): each thread
 * allocates a one-byte block, writes it again and again, frees it. cache-scratch (passive): the
 * same, but first each thread frees a block that the main thread had allocated beside those of the
 * others; an allocator that gives it back to this thread keeps the line shared.
 *
 * What differs from the original: compilers delete its malloc, its free and its writes, so that
 * what the suites time is an empty loop. Here each call is made, and each write is an operation of
 * the tape. There are fewer writes, for that reason; and the one byte is read back once.
 *
 * Nothing is drawn but the sizes and who gets which of the first blocks: with one size all seeds
 * give cache-thrash the same work.
 */
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"rounds", "1000", "times that a lane allocates a block, writes it and frees it",
     PARAMETER_INTEGER, 1, 1u << 30, "100", 1},
    {"writes", "20000", "times that a lane writes each block; the original: 2000000 / lanes",
     PARAMETER_INTEGER, 1, 1u << 30, "3000", 0},
    {"sizes", "fixed:1", "distribution of the sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"touch", "first", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_FILL, FILL, BEGIN_WORK, HAND_OVER, WORK };

typedef struct cache {
    const abench_distribution *sizes;
    uint64_t round;
    uint64_t rounds;
    uint64_t writes;
    uint64_t at; /* of the round's operations */
    uint32_t lanes;
    uint32_t stage;
    abench_random *random; /* a lane */
    uint32_t given[];      /* a lane: which of the first blocks it gets */
} cache;

static int is_scratch(const abench_workload *w)
{
    return w->kind == &abench__cache_scratch;
}

/* A phase; in each round the allocation, the other writes, the free. Scratch: a phase more, and a
 * first block for each lane. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t rounds = abench__workload_number(w, "rounds");

    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       1 + rounds * (abench__workload_number(w, "writes") + 1) +
                                           (is_scratch(w) ? 3 : 0));
}

static uint64_t live_bytes(const abench_workload *w)
{
    return abench__blocks_bytes(abench__workload_value(w, "sizes")->sizes,
                                abench__workload_number(w, "lanes"));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = 1;
    options->shared_slots = is_scratch(w) ? options->lanes : 0;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(cache) +
           abench__workload_number(w, "lanes") * (sizeof(abench_random) + sizeof(uint32_t)) +
           _Alignof(abench_random);
}

static void begin(const abench_workload *w, void *memory)
{
    cache *s = memory;
    abench_random random;
    uint64_t end;

    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->rounds = abench__workload_number(w, "rounds");
    s->writes = abench__workload_number(w, "writes");
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->stage = is_scratch(w) ? BEGIN_FILL : BEGIN_WORK;
    end = sizeof *s + s->lanes * sizeof s->given[0];
    end = (end + _Alignof(abench_random) - 1) / _Alignof(abench_random) * _Alignof(abench_random);
    s->random = (abench_random *)(void *)((unsigned char *)memory + end);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        s->given[lane] = lane;
        abench_random_seed(&s->random[lane], w->seed, lane, ABENCH_PURPOSE_SIZE);
    }
    abench_random_seed(&random, w->seed, 0, ABENCH_PURPOSE_PERMUTATION);
    abench_random_shuffle(&random, s->given, s->lanes);
}

static void allocate(cache *s, abench_tape_builder *builder, uint32_t lane, uint32_t owner,
                     uint32_t slot)
{
    abench_tape_builder_malloc(builder, lane, slot,
                               abench_distribution_draw(s->sizes, &s->random[owner]));
}

/* One operation of every lane. */
static void work(cache *s, abench_tape_builder *builder)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        if (s->stage == HAND_OVER)
            abench_tape_builder_free(builder, lane, ABENCH_SLOT_SHARED | s->given[lane]);
        else if (s->at == 0)
            allocate(s, builder, lane, lane, 0); /* which is the first write */
        else if (s->at < s->writes)
            abench_tape_builder_touch(builder, lane, 0);
        else
            abench_tape_builder_free(builder, lane, 0);
    }
}

/* What the main thread does before there are others. */
static void fill_first(cache *s, abench_tape_builder *builder)
{
    abench_tape_builder_phase(builder, "fill", 0);
    for (uint32_t owner = 0; owner < s->lanes; owner++)
        allocate(s, builder, 0, owner, ABENCH_SLOT_SHARED | owner);
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    cache *s = memory;

    if (s->stage == BEGIN_FILL) {
        fill_first(s, builder);
        s->stage = BEGIN_WORK;
        return 0;
    }
    if (s->stage == BEGIN_WORK) {
        abench_tape_builder_phase(builder, "work", ABENCH_PHASE_TIMED);
        s->stage = is_scratch(w) ? HAND_OVER : WORK;
        return 0;
    }
    if (s->stage == HAND_OVER) {
        work(s, builder);
        s->stage = WORK;
        return 0;
    }
    for (uint32_t batch = 0; batch < 8 && s->round < s->rounds; batch++) {
        work(s, builder);
        if (s->at++ < s->writes)
            continue;
        s->at = 0;
        s->round++;
    }
    return s->round == s->rounds;
}

#define SOURCE(program)                                                                            \
    "Berger, McKinley, Blumofe and Wilson, ASPLOS 2000; program " program                          \
    " of daanx/mimalloc-bench ce5784f, arguments N 1000 1 2000000 N, whose loop compilers delete"
#define TOUCHED "the block's byte, again and again, by operations of their own"
#define TIMED                                                                                      \
    "allocating, writing and freeing; most of its operations are writes, so that time by "         \
    "operation is the time of a write"

const abench__workload_kind abench__cache_scratch = {
    .info = {sizeof(abench_workload_info), 1, "cache-scratch",
             "each lane frees a small block of the first lane's, then allocates, writes and frees "
             "its own: passive false sharing, a line that stays shared because its parts are "
             "reused where they were freed",
             SOURCE("cache-scratch"), TIMED, TOUCHED},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};

const abench__workload_kind abench__cache_thrash = {
    .info = {sizeof(abench_workload_info), 1, "cache-thrash",
             "each lane allocates, writes and frees small blocks: active false sharing, blocks of "
             "two threads cut from one line",
             SOURCE("cache-thrash"), TIMED, TOUCHED},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
