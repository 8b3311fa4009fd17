/*
 * robson.c - robson: sizes that double, and before each doubling half of what lives dies, block by
 * block. The holes are always too small for what comes next.
 *
 * Each size class is allocated up to the same number of bytes. Before it, every other block of
 * every class that lives is freed, in the order of allocation, so of the class before a half lives,
 * of the one before that a quarter: with the new class twice a class's bytes in all, and never
 * more. That is the optimum; RSS over live bytes at the end of a phase is what the allocator's
 * policy costs.
 *
 * Robson's own sequence looks at the addresses and keeps the blocks that hurt most. This one does
 * not look, so it is the same tape for every allocator: the ffworst of kuszmaul/malloc-benchmarks,
 * whose blocks are written here. Nothing is drawn: every seed gives the same tape.
 */
#include "workload/workload.h"

#include "base/text.h"
#include "workload/phase_name.h"

#define AIM         512u /* operations a call of fill */
#define CLASSES_MAX 32u
#define BYTES_LEAST ((uint64_t)1 << 20)
#define BYTES_MOST  ((uint64_t)4 << 30)

static const abench__parameter parameters[] = {
    {"lanes", "1", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"bytes", "64m", "of each size class, a lane: twice that lives at the most", PARAMETER_INTEGER,
     BYTES_LEAST, BYTES_MOST, "4m", 0},
    {"smallest", "32", "the first size; the last is as large as a class's bytes allow",
     PARAMETER_INTEGER, 16, 65536, NULL, 0},
    {"rounds", "2",
     "times that the sequence is played from an empty heap; all but the last are "
     "one phase, which is not timed",
     PARAMETER_INTEGER, 1, 100000, "1", 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_CLASS, FREE, ALLOCATE, BEGIN_DRAIN, DRAIN };

typedef struct size_class {
    uint64_t size;
    uint32_t blocks;
    uint32_t first_slot;
} size_class;

typedef struct classes {
    uint32_t count;
    uint32_t slots;
    size_class at[CLASSES_MAX];
} classes;

typedef struct robson {
    classes classes;
    uint64_t round;
    uint32_t lanes;
    uint32_t stage;
    uint32_t now;   /* the class that is allocated */
    uint32_t which; /* the class that is freed */
    uint32_t step;  /* blocks of either that are done */
    uint32_t reserved;
} robson;

static classes make_classes(const abench_workload *w)
{
    const uint64_t bytes = abench__workload_number(w, "bytes");
    classes c = {0};

    for (uint64_t size = abench__workload_number(w, "smallest"); size <= bytes; size *= 2) {
        c.at[c.count] = (size_class){size, (uint32_t)(bytes / size), c.slots};
        c.slots += c.at[c.count++].blocks;
    }
    return c;
}

/* Two phases and one a class; each block lives once a round. */
static uint64_t operations(const abench_workload *w)
{
    const classes c = make_classes(w);
    const uint64_t rounds = abench__workload_number(w, "rounds");

    return abench__workload_number(w, "lanes") *
           ((rounds > 1) + c.count + 1 + 2 * rounds * c.slots);
}

/* When class now has been allocated, of class which every 2^(now - which)th block lives. */
static uint64_t live_bytes(const abench_workload *w)
{
    const classes c = make_classes(w);
    uint64_t most = 0;

    for (uint32_t now = 0; now < c.count; now++) {
        uint64_t live = 0;
        for (uint32_t which = 0; which <= now; which++) {
            const uint64_t step = (uint64_t)1 << (now - which);
            live += (c.at[which].blocks + step - 1) / step * c.at[which].size;
        }
        most = live > most ? live : most;
    }
    return abench__workload_number(w, "lanes") * most;
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = make_classes(w).slots;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    (void)w;
    return sizeof(robson);
}

static void begin(const abench_workload *w, void *memory)
{
    robson *r = memory;

    r->classes = make_classes(w);
    r->lanes = (uint32_t)abench__workload_number(w, "lanes");
}

/* ---- the generator --------------------------------------------------------------------------- */

static int is_last_round(const abench_workload *w, const robson *r)
{
    return r->round + 1 == abench__workload_number(w, "rounds");
}

static void go_to(robson *r, uint32_t stage)
{
    r->stage = stage;
    r->which = 0;
    r->step = 0;
}

/* Returns how many phases began. */
static uint32_t begin_class(const abench_workload *w, robson *r, abench_tape_builder *builder)
{
    char name[ABENCH__PHASE_NAME_MAX];

    go_to(r, FREE);
    if (is_last_round(w, r)) {
        abench__phase_of_size(name, "to", r->classes.at[r->now].size);
        abench_tape_builder_phase(builder, name, ABENCH_PHASE_TIMED);
        return 1;
    }
    if (r->round > 0 || r->now > 0)
        return 0;
    abench_tape_builder_phase(builder, "before", 0); /* slices of all classes: no median of them */
    return 1;
}

/* Of each class before end a block is freed that still lives: to go on, every other of them; in
 * the drain all. Class by class, as next. Returns how many. */
static uint32_t free_next(robson *r, abench_tape_builder *builder, uint32_t end)
{
    while (r->which < end) {
        const size_class *c = &r->classes.at[r->which];
        const uint32_t odd = r->stage == FREE;
        const uint64_t block = ((uint64_t)r->step << odd | odd) << (end - 1 - r->which);
        if (block < c->blocks) {
            for (uint32_t lane = 0; lane < r->lanes; lane++)
                abench_tape_builder_free(builder, lane, c->first_slot + (uint32_t)block);
            r->step++;
            return r->lanes;
        }
        r->which++;
        r->step = 0;
    }
    return 0;
}

static uint32_t allocate_next(robson *r, abench_tape_builder *builder)
{
    const size_class *c = &r->classes.at[r->now];

    if (r->step == c->blocks)
        return 0;
    for (uint32_t lane = 0; lane < r->lanes; lane++)
        abench_tape_builder_malloc(builder, lane, c->first_slot + r->step, c->size);
    r->step++;
    return r->lanes;
}

/* Appends what comes next, at most an operation a lane; returns how many. */
static uint32_t append(const abench_workload *w, robson *r, abench_tape_builder *builder)
{
    switch (r->stage) {
    case BEGIN_CLASS:
        return begin_class(w, r, builder);
    case FREE:
        return free_next(r, builder, r->now);
    case ALLOCATE:
        return allocate_next(r, builder);
    case BEGIN_DRAIN:
        go_to(r, DRAIN);
        abench_tape_builder_phase(builder, "drain", 0);
        return 1;
    default:
        return free_next(r, builder, r->classes.count);
    }
}

/* Nothing is left of the stage; 1: nor of the tape. */
static int32_t advance(const abench_workload *w, robson *r)
{
    switch (r->stage) {
    case FREE:
        go_to(r, ALLOCATE);
        return 0;
    case ALLOCATE:
        if (r->now + 1 < r->classes.count) {
            r->now++;
            go_to(r, BEGIN_CLASS);
        } else {
            go_to(r, is_last_round(w, r) ? BEGIN_DRAIN : DRAIN);
        }
        return 0;
    default:
        if (is_last_round(w, r))
            return 1;
        r->round++;
        r->now = 0;
        go_to(r, BEGIN_CLASS);
        return 0;
    }
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    robson *r = memory;

    for (uint32_t appended = 0; appended < AIM;) {
        const uint32_t stage = r->stage;
        const uint32_t now = append(w, r, builder);
        appended += now;
        if (now == 0 && stage != BEGIN_CLASS && advance(w, r) == 1)
            return 1;
    }
    return 0;
}

const abench__workload_kind abench__robson = {
    .info = {sizeof(abench_workload_info), 1, "robson",
             "size after size, each twice the one before, with half of what lives freed before "
             "each: how far an adversary drives memory",
             "Robson 1971, 1974, 1977: to be sure of M live bytes in sizes up to n units, no "
             "allocator that moves nothing does with less than about M/2 log2 n, first fit takes "
             "M log2 n, best fit up to M n; this sequence does not look at addresses: ffworst of "
             "kuszmaul/malloc-benchmarks (c3d4363), 128 MiB a class there, 64 MiB here",
             "the last round, frees included; not those before, nor the drain: rank it by memory",
             "a byte of every page of each block, as ffworst's memory is"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
