/*
 * glibcsimple.c - glibc-simple: glibc's own benchtest of malloc in the form that mimalloc-bench
 * runs.
 *
 * One size at a time: n blocks are allocated, every byte is written, the first half is freed in the
 * order of allocation, the second half in reverse. Three passes of that: by the first thread, by
 * another one, by the first again; before them one to warm up. The other thread is lane 1, which
 * stands at a barrier meanwhile and so is there from the start: glibc's shortcut for programs of
 * one thread works with lanes=1 only. mimalloc-bench prints one time for all passes and sizes; here
 * each has a phase of its own. Nothing is drawn: every seed gives the same tape.
 */
#include "workload/workload.h"

#include "workload/phase_name.h"

enum { WARM, FIRST, OTHER, AGAIN, PASSES };

static const char *const pass_names[PASSES] = {"warm", "first", "other", "again"};
static const uint32_t counts[] = {25, 100, 400, 1600};

#define COUNTS (sizeof counts / sizeof counts[0])
#define MOST   1600u /* of counts */
#define AIM    512u  /* operations a call of fill */

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads: the first, and those of the other passes", PARAMETER_INTEGER, 1,
     ABENCH_LANES_MAX, NULL, 0},
    {"iterations", "500000", "blocks of each size and number in a pass", PARAMETER_INTEGER, MOST,
     1u << 30, "8000", 1},
    {"smallest", "16", "the first size, in bytes", PARAMETER_INTEGER, 1, 1u << 20, NULL, 0},
    {"doublings", "2", "sizes after it, each twice the one before", PARAMETER_INTEGER, 0, 14, NULL,
     0},
    {"touch", "all", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

typedef struct simple {
    uint64_t repetition;
    uint32_t stage; /* size * PASSES + pass */
    uint32_t count; /* which of counts */
    uint32_t step;  /* of 2 * n: allocations, then frees */
    uint32_t open;  /* the stage's phase has begun */
} simple;

static uint64_t operations(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t iterations = abench__workload_number(w, "iterations");
    const uint64_t sizes = abench__workload_number(w, "doublings") + 1;
    uint64_t pass = 0;

    for (uint32_t at = 0; at < COUNTS; at++)
        pass += iterations / counts[at] * counts[at] * 2;
    /* Three passes by lane 0, one by each other lane; every phase is a word of every lane. */
    return abench__saturating_multiply(sizes, abench__saturating_multiply(3 + lanes - 1, pass) +
                                                  lanes * (lanes == 1 ? PASSES - 1 : PASSES));
}

static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t others = abench__workload_number(w, "lanes") - 1;

    return (others == 0 ? 1 : others) * MOST *
           (abench__workload_number(w, "smallest") << abench__workload_number(w, "doublings"));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = MOST;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    (void)w;
    return sizeof(simple);
}

static void begin(const abench_workload *w, void *memory)
{
    (void)w;
    (void)memory;
}

/* Step number step of one repetition with n blocks. */
static void step(abench_tape_builder *builder, uint32_t lane, uint32_t n, uint32_t step,
                 uint64_t size)
{
    if (step < n)
        abench_tape_builder_malloc(builder, lane, step, size);
    else if (step - n < n / 2)
        abench_tape_builder_free(builder, lane, step - n);
    else
        abench_tape_builder_free(builder, lane, n - 1 - (step - n - n / 2));
}

/* 1: the stage is done. */
static uint32_t advance(simple *s, uint64_t iterations)
{
    const uint32_t n = counts[s->count];

    if (++s->step < 2 * n)
        return 0;
    s->step = 0;
    if (++s->repetition < iterations / n)
        return 0;
    s->repetition = 0;
    if (++s->count < COUNTS)
        return 0;
    s->count = 0;
    return 1;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    simple *s = memory;
    const uint32_t lanes = (uint32_t)abench__workload_number(w, "lanes");
    const uint64_t iterations = abench__workload_number(w, "iterations");
    const uint32_t stages = ((uint32_t)abench__workload_number(w, "doublings") + 1) * PASSES;
    const uint64_t size = abench__workload_number(w, "smallest") << (s->stage / PASSES);
    const uint32_t pass = s->stage % PASSES;
    const uint32_t from = pass == OTHER ? 1 : 0;
    const uint32_t to = pass == OTHER ? lanes : 1;
    char name[ABENCH__PHASE_NAME_MAX];

    if (!s->open) {
        abench_tape_builder_phase(builder, abench__phase_of_size(name, pass_names[pass], size),
                                  pass == WARM ? 0 : ABENCH_PHASE_TIMED);
        s->open = 1;
        return 0;
    }
    for (uint32_t batch = 0; batch <= AIM / (to - from); batch++) {
        for (uint32_t lane = from; lane < to; lane++)
            step(builder, lane, counts[s->count], s->step, size);
        if (advance(s, iterations)) {
            s->open = 0;
            s->stage += pass + 1 == OTHER && lanes == 1 ? 2 : 1;
            return s->stage >= stages;
        }
    }
    return 0;
}

const abench__workload_kind abench__glibc_simple = {
    .info = {sizeof(abench_workload_info), 1, "glibc-simple",
             "a few blocks of one small size are allocated and freed, half in order, half in "
             "reverse: the shortest path through malloc and free",
             "glibc's benchtests/bench-malloc-simple.c, as in daanx/mimalloc-bench (ce5784f): "
             "2,000,000 iterations there, 500,000 here",
             "the passes of the first thread, of the other threads and of the first again; not "
             "the one that warms up",
             "every byte of each block, as mimalloc-bench's form does; glibc's own writes nothing"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
