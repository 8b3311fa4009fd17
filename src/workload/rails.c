/*
 * rails.c - rails-synth: the short-lived strings and hashes of a Rails-shaped program.
 *
 * Call number i makes a row - a hash of an id, a title with 24 random bytes in hex, a body of
 * 64 + i mod 4096 bytes and an array of 8 tags - and its text. One text in 50 is kept in a pool and
 * replaces what was there; all else is garbage. The collector runs when so many bytes were asked
 * for (16 MiB, as MRI's), and then each call sweeps two dead ones, whoever made them, until that
 * garbage is gone: a Ruby thread frees what other threads allocated.
 *
 * The blocks are those that MRI asks malloc for, up to 3.1: a string of fewer than 24 bytes (the
 * tags) lies in the interpreter's own heap; texts grow by doubling. In the original the pool's
 * index is i mod 20000 with i a multiple of 50, so that 400 of its 20000 places are ever used;
 * here all are (pool=400 is the original). There a lock lets one of five threads run at a time;
 * here the lanes run side by side. The original runs for a time, this for a number of calls.
 */
#include "workload/workload.h"

#define BATCH       256u /* operations, about */
#define BLOCKS      10u  /* a call's, in a record of as many shared slots */
#define TITLE       55u  /* without the digits of the call's number */
#define TEXT        190u /* without the body */
#define TEXT_START  128u
#define GENERATIONS 8u /* of a slot, a call: malloc, two reallocs, free, and a reserve */
#define CALLS_MEET  (65534u / GENERATIONS) /* uses of a slot between two barriers */
#define THREAD      1000000u               /* calls between two threads' first ones */

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads, which call in turn", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"calls", "1000000", "calls over all lanes", PARAMETER_INTEGER, 1, (uint64_t)1 << 40, "20000",
     1},
    {"pool", "20000", "texts that are kept", PARAMETER_INTEGER, 1, 1u << 24, "4000", 0},
    {"keep", "50", "one text of so many is kept", PARAMETER_INTEGER, 1, 1u << 30, NULL, 0},
    {"body", "64", "bytes of the shortest body", PARAMETER_INTEGER, 0, 1u << 30, NULL, 0},
    {"spread", "4096", "how many lengths of bodies there are", PARAMETER_INTEGER, 1, 1u << 30, NULL,
     0},
    {"gc", "16m", "bytes asked for between two runs of the collector", PARAMETER_INTEGER, 65536,
     (uint64_t)1 << 34, "2m", 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

/* The blocks that every call allocates alike: the state of its random generator, the random bytes,
 * their hex, the array of tags, the hash's table, the tags' text. */
static const uint32_t fixed_sizes[] = {2520, 25, 49, 64, 128, 128};

enum { TITLE_BLOCK = sizeof fixed_sizes / sizeof fixed_sizes[0], BODY, BODY_TEXT, ROW_TEXT };

_Static_assert(ROW_TEXT + 1 == BLOCKS, "a record has a slot for each block");

/* ---- a call's sizes -------------------------------------------------------------------------- */

/* Ruby doubles a text's capacity until it is enough. */
static uint64_t doubled(uint64_t length)
{
    uint64_t capacity = TEXT_START;

    while (capacity < length)
        capacity *= 2;
    return capacity;
}

/* The lengths of bodies. */
typedef struct bodies {
    uint64_t shortest;
    uint64_t spread;
} bodies;

static bodies bodies_of(const abench_workload *w)
{
    return (bodies){abench__workload_number(w, "body"), abench__workload_number(w, "spread")};
}

static uint64_t body_of(const bodies *b, uint64_t call)
{
    return b->shortest + call % b->spread;
}

static uint64_t row_text(uint64_t body)
{
    return doubled(body + TEXT);
}

/* What a call with such a body asks for in all. */
static uint64_t call_bytes(uint64_t body)
{
    uint64_t sum = TITLE + body + 2 + doubled(body + 3) + row_text(body);

    for (uint32_t at = 0; at < TITLE_BLOCK; at++)
        sum += fixed_sizes[at];
    return sum;
}

/* Calls whose blocks can be alive at once: those between two runs of the collector, were they the
 * smallest, and as many again so that no call waits for a record that is freed just now. */
static uint64_t records_of(const abench_workload *w)
{
    return 2 * (abench__workload_number(w, "gc") / call_bytes(abench__workload_number(w, "body")) +
                abench__workload_number(w, "lanes") + 8);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* A call: ten mallocs and frees and up to three reallocs; and the filling of the pool. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t calls = abench__workload_number(w, "calls");

    return calls * (2 * BLOCKS + 3) + 2 * abench__workload_number(w, "pool") +
           abench__workload_number(w, "lanes") * (3 + calls / CALLS_MEET);
}

/* The texts of so many bodies, of which each is a byte longer than the one before. */
static uint64_t texts_of(uint64_t body, uint64_t count)
{
    uint64_t sum = 0;

    while (count > 0) {
        const uint64_t text = row_text(body);
        const uint64_t fit = text - TEXT - body + 1; /* that double to the same */
        const uint64_t here = fit < count ? fit : count;
        sum += text * here;
        body += here;
        count -= here;
    }
    return sum;
}

/* The pool, where each lane's texts are of all bodies in turn, and of the longest when there are
 * fewer than bodies; and the garbage that waits for the collector. */
static uint64_t live_bytes(const abench_workload *w)
{
    const bodies all = bodies_of(w);
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t each = (abench__workload_number(w, "pool") + lanes - 1) / lanes;
    const uint64_t rest = each % all.spread;
    const uint64_t texts = each / all.spread * texts_of(all.shortest, all.spread) +
                           texts_of(all.shortest + all.spread - rest, rest);

    return lanes * texts + abench__workload_number(w, "gc") +
           (8 + lanes) * call_bytes(body_of(&all, all.spread - 1));
}

/* ---- the tape -------------------------------------------------------------------------------- */

/* Shared slots: the records, then the pool. */
static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->shared_slots = (uint32_t)(records_of(w) * BLOCKS + abench__workload_number(w, "pool"));
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

enum { BEGIN_FILL, FILL, BEGIN_CALLS, CALLS, BEGIN_DRAIN, SWEEP, DRAIN };

typedef struct state {
    bodies bodies;
    uint64_t calls;
    uint64_t gc;
    uint64_t done;  /* calls, or texts of the pool */
    uint64_t kept;  /* texts */
    uint64_t swept; /* calls */
    uint64_t sweep; /* calls that the collector found dead; up to here they are swept */
    uint64_t bytes; /* asked for since it ran */
    uint64_t met;   /* call of the last barrier */
    uint64_t meets; /* calls between two */
    uint64_t records;
    uint32_t pool;
    uint32_t keep;
    uint32_t lanes;
    uint32_t stage;
} state;

static uint64_t state_bytes(const abench_workload *w)
{
    (void)w;
    return sizeof(state);
}

static void begin(const abench_workload *w, void *memory)
{
    state *s = memory;

    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->pool = (uint32_t)abench__workload_number(w, "pool");
    s->keep = (uint32_t)abench__workload_number(w, "keep");
    s->records = records_of(w);
    s->bodies = bodies_of(w);
    s->calls = abench__workload_number(w, "calls");
    s->gc = abench__workload_number(w, "gc");
    s->meets = CALLS_MEET * (s->pool < s->records ? s->pool : s->records);
}

/* The number that a lane's call has: each thread counts from its own million. */
static uint64_t call_number(const state *s, uint64_t call)
{
    return call % s->lanes * THREAD + call / s->lanes;
}

static uint32_t record_slot(const state *s, uint64_t call, uint32_t block)
{
    return ABENCH_SLOT_SHARED | (uint32_t)(call % s->records * BLOCKS + block);
}

static uint32_t pool_slot(const state *s, uint64_t text)
{
    return ABENCH_SLOT_SHARED | (uint32_t)(s->records * BLOCKS + text % s->pool);
}

static uint32_t is_kept(const state *s, uint64_t call)
{
    return call_number(s, call) % s->keep == 0;
}

static void sweep_one(state *s, abench_tape_builder *builder, uint32_t lane)
{
    const uint64_t call = s->swept++;

    for (uint32_t block = 0; block < BLOCKS - is_kept(s, call); block++)
        abench_tape_builder_free(builder, lane, record_slot(s, call, block));
}

static uint64_t digits_of(uint64_t number)
{
    uint64_t digits = 1;

    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

/* The row's text, and the body's within it: begun small, grown when they take the body in. */
static void make_texts(state *s, abench_tape_builder *builder, uint32_t lane, uint64_t body)
{
    const uint32_t inner = record_slot(s, s->done, BODY_TEXT);
    uint32_t row = record_slot(s, s->done, ROW_TEXT);

    if (is_kept(s, s->done)) {
        row = pool_slot(s, s->kept++);
        abench_tape_builder_free(builder, lane, row);
    }
    abench_tape_builder_malloc(builder, lane, row, TEXT_START);
    abench_tape_builder_realloc(builder, lane, row, (uint64_t)2 * TEXT_START);
    abench_tape_builder_malloc(builder, lane, inner, TEXT_START);
    if (doubled(body + 3) > TEXT_START)
        abench_tape_builder_realloc(builder, lane, inner, doubled(body + 3));
    if (row_text(body) > 2 * TEXT_START)
        abench_tape_builder_realloc(builder, lane, row, row_text(body));
}

static void one_call(state *s, abench_tape_builder *builder)
{
    const uint32_t lane = (uint32_t)(s->done % s->lanes);
    const uint64_t number = call_number(s, s->done);
    const uint64_t body = body_of(&s->bodies, number);

    for (uint32_t dead = 0; dead < 2 && s->swept < s->sweep; dead++)
        sweep_one(s, builder, lane);
    for (uint32_t block = 0; block < TITLE_BLOCK; block++)
        abench_tape_builder_malloc(builder, lane, record_slot(s, s->done, block),
                                   fixed_sizes[block]);
    abench_tape_builder_malloc(builder, lane, record_slot(s, s->done, TITLE_BLOCK),
                               TITLE + digits_of(number) + 1);
    abench_tape_builder_malloc(builder, lane, record_slot(s, s->done, BODY), body + 1);
    make_texts(s, builder, lane, body);
    s->bytes += call_bytes(body);
    s->done++;
    if (s->bytes >= s->gc && s->swept == s->sweep) {
        s->sweep = s->done;
        s->bytes = 0;
    }
    if (s->done - s->met >= s->meets) {
        abench_tape_builder_barrier(builder);
        s->met = s->done;
    }
}

/* The next piece of this stage; 1 when there is none. */
static int one_step(state *s, abench_tape_builder *builder)
{
    const uint32_t lane = (uint32_t)(s->done % s->lanes);

    switch (s->stage) {
    case FILL:
        abench_tape_builder_malloc(builder, lane, pool_slot(s, s->done),
                                   row_text(body_of(&s->bodies, s->done * s->keep)));
        return ++s->done == s->pool;
    case CALLS:
        one_call(s, builder);
        return s->done == s->calls;
    case SWEEP:
        sweep_one(s, builder, (uint32_t)(s->swept % s->lanes));
        return s->swept == s->calls;
    default:
        abench_tape_builder_free(builder, lane, pool_slot(s, s->done));
        return ++s->done == s->pool;
    }
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    static const char *const names[] = {
        [BEGIN_FILL] = "fill", [BEGIN_CALLS] = "calls", [BEGIN_DRAIN] = "drain"};
    state *s = memory;

    (void)w;
    if (s->stage == BEGIN_FILL || s->stage == BEGIN_CALLS || s->stage == BEGIN_DRAIN) {
        abench_tape_builder_phase(builder, names[s->stage],
                                  s->stage == BEGIN_CALLS ? ABENCH_PHASE_TIMED : 0);
        s->stage++;
        s->done = 0;
        return 0;
    }
    for (uint32_t room = 0; room < BATCH; room += s->stage == CALLS ? 2 * BLOCKS : 1) {
        if (!one_step(s, builder))
            continue;
        s->done = 0;
        return s->stage++ == DRAIN;
    }
    return 0;
}

const abench__workload_kind abench__rails_synth = {
    .info =
        {sizeof(abench_workload_info), 1, "rails-synth",
         "calls that make a hash, strings and a text of up to 4 KiB, one text in 50 kept among "
         "20000, the rest freed by whichever thread sweeps: what garbage collection in batches "
         "leaves behind",
         "the synthetic workload of 7a6163/ruby-alloc-bench; its blocks are those of MRI 3.1",
         "the calls; not filling the pool, nor the drain",
         "a byte of every page of each block; Ruby writes all of it, and reads it for the text"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
