/*
 * sh6.c - small blocks by size, freed by age from both ends of a ring.
 *
 * Pattern: MicroQuill's sh6bench, from its description. A pass allocates blocks of 1, 2, 4 and
 * more bytes up to a base, many of the small ones and few of the large ones, for bases that grow by
 * half each time; two in five requests are for 1 to 4 bytes. What is freed, and when, is the
 * ring's: ring.h.
 *
 * What differs from the original: its ring loses a fifth of its blocks at every fifth turn, which
 * is where the "memory use" that is published for it comes from; here nothing is lost unless
 * leak=1 asks for it, and even then the drain gives it back. Its threads make as many passes as
 * they have slots; here passes are a parameter of their own. It draws nothing: here the seed says
 * where in a pass the lanes begin, all at the same place.
 */
#include "workload/ring.h"
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "4", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"calls", "10000", "blocks that the rings of all lanes hold", PARAMETER_INTEGER, 1, 1u << 24,
     NULL, 0},
    {"passes", "500", "passes of each lane; the original makes calls / lanes", PARAMETER_INTEGER, 1,
     1000000, "5", 1},
    {"limit", "1000", "all sizes are below", PARAMETER_INTEGER, 2, 100000, NULL, 0},
    {"leak", "0",
     "1: the ring loses blocks as the original's does: each has a slot, so that memory grows with "
     "passes",
     PARAMETER_INTEGER, 0, 1, NULL, 0},
    {"touch", "first", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_WORK, WORK, DRAIN };

typedef struct lane_state {
    abench__ring ring;
    abench__pass_cursor cursor;
    uint64_t left; /* blocks to allocate */
} lane_state;

typedef struct sh6 {
    abench__pass pass;
    uint32_t lanes;
    uint32_t stage;
    lane_state lane[];
} sh6;

/* 250 blocks of a size, 50 from 100 bytes on, 10 from 1000, 1 from 10000. */
static uint32_t count_of(uint32_t size)
{
    return size < 100 ? 250 : size < 1000 ? 50 : size < 10000 ? 10 : 1;
}

static void make_pass(const abench_workload *w, abench__pass *pass)
{
    const uint32_t limit = (uint32_t)abench__workload_number(w, "limit");

    pass->blocks = pass->bytes = pass->count = 0;
    for (uint32_t base = 1; base < limit; base = base * 3 / 2 + 1)
        for (uint32_t size = base; size > 0; size /= 2)
            abench__pass_add(pass, size, count_of(size));
}

static uint32_t ring_size(const abench_workload *w)
{
    const uint64_t size = abench__workload_number(w, "calls") / abench__workload_number(w, "lanes");

    return size == 0 ? 1 : (uint32_t)size;
}

/* Every block is allocated and freed; two phases. */
static uint64_t operations(const abench_workload *w)
{
    abench__pass pass;

    make_pass(w, &pass);
    return abench__workload_number(w, "lanes") *
           (2 + 2 * pass.blocks * abench__workload_number(w, "passes"));
}

/* Full rings. What leaks has the size of the average, and is not at its most when a ring is. */
static uint64_t live_bytes(const abench_workload *w)
{
    const uint32_t size = ring_size(w);
    abench__pass pass;
    uint64_t blocks, bytes;

    make_pass(w, &pass);
    blocks = pass.blocks * abench__workload_number(w, "passes");
    bytes = abench__pass_ring(&pass, size, blocks);
    if (abench__workload_number(w, "leak") != 0)
        bytes += (abench__ring_slots(size, 1, blocks) - size) * (pass.bytes / pass.blocks + 1) -
                 bytes / 8;
    return abench__workload_number(w, "lanes") * bytes;
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    abench__pass pass;
    uint64_t slots;

    make_pass(w, &pass);
    slots = abench__ring_slots(ring_size(w), abench__workload_number(w, "leak") != 0,
                               pass.blocks * abench__workload_number(w, "passes"));
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    /* more than a slot number can say is refused by the builder */
    options->local_slots = slots < ABENCH_SLOT_SHARED ? (uint32_t)slots : ABENCH_SLOT_SHARED;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(sh6) + abench__workload_number(w, "lanes") * sizeof(lane_state);
}

static void begin(const abench_workload *w, void *memory)
{
    sh6 *s = memory;
    abench_random random;
    uint64_t skipped;

    make_pass(w, &s->pass);
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    abench_random_seed(&random, w->seed, 0, ABENCH_PURPOSE_SCHEDULE);
    skipped = abench_random_below(&random, s->pass.blocks);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane[lane];
        l->ring.size = ring_size(w);
        l->ring.leaky = (uint32_t)abench__workload_number(w, "leak");
        l->left = s->pass.blocks * abench__workload_number(w, "passes");
        for (uint64_t at = 0; at < skipped; at++)
            abench__pass_next(&s->pass, &l->cursor);
    }
}

/* An operation of the lane; 0 when it has none left. */
static uint32_t work(sh6 *s, abench_tape_builder *builder, uint32_t lane)
{
    lane_state *l = &s->lane[lane];
    uint32_t slot;

    if (l->left == 0)
        return 0;
    if (abench__ring_next(&l->ring, &slot) == 0) {
        abench_tape_builder_free(builder, lane, slot);
        return 1;
    }
    abench_tape_builder_malloc(builder, lane, slot, abench__pass_next(&s->pass, &l->cursor));
    l->left--;
    return 1;
}

static uint32_t drain(sh6 *s, abench_tape_builder *builder, uint32_t lane)
{
    uint32_t slot;

    if (abench__ring_drain(&s->lane[lane].ring, &slot) == 0)
        return 0;
    abench_tape_builder_free(builder, lane, slot);
    return 1;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    sh6 *s = memory;

    (void)w;
    if (s->stage == BEGIN_WORK) {
        abench_tape_builder_phase(builder, "passes", ABENCH_PHASE_TIMED);
        s->stage = WORK;
    }
    for (uint32_t batch = 0; batch < 8; batch++) {
        uint32_t done = 0;
        for (uint32_t lane = 0; lane < s->lanes; lane++)
            done += s->stage == WORK ? work(s, builder, lane) : drain(s, builder, lane);
        if (done > 0)
            continue;
        if (s->stage++ == DRAIN)
            return 1;
        abench_tape_builder_phase(builder, "drain", 0);
    }
    return 0;
}

const abench__workload_kind abench__sh6 = {
    .info = {sizeof(abench_workload_info), 1, "sh6",
             "blocks of 1-709 bytes, sorted by size, two in five of 1-4 bytes, freed by age from "
             "both ends of a ring: throughput of very small blocks; leak=1 shows how tightly lost "
             "ones are packed",
             "the description of MicroQuill's sh6bench, as daanx/mimalloc-bench ce5784f runs it "
             "(2N threads, 10000 calls), the jump over the kept window corrected",
             "all passes, from an empty heap; not the drain",
             "the first byte; the original writes the last one too"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
