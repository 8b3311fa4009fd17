/*
 * sh8.c - rings of mixed sizes, and a lane whose small blocks all the others free.
 *
 * Pattern: MicroQuill's sh8bench, from its description. The main thread allocates blocks of 8
 * bytes one after another. Each other thread fills a ring (ring.h) with blocks by a histogram of
 * sizes, and looks from time to time whether the next of its share of the main thread's blocks is
 * there yet, to free it: 2.3 % of all frees. The shares are spread over the whole of the main
 * thread's blocks.
 *
 * What differs from the original: how far its main thread runs ahead is the scheduler's choice;
 * here the merged order has it at the pace of the others, and a lane waits for a block that is not
 * there yet. Its blocks are shared out all at once; here those of 32 passes, then those of the
 * next, when every lane has made the passes before: memory does not grow with the passes. It writes
 * the address of a block's place into the block, and frees nothing at the end (126 MB). It draws
 * nothing: here the seed says where in the histogram the lanes begin, all at the same place. It
 * makes 10 million and 427 million blocks; here passes are a parameter.
 */
#include "workload/ring.h"
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "5", "threads: the first allocates what the others free", PARAMETER_INTEGER, 2,
     ABENCH_LANES_MAX, NULL, 0},
    {"ring", "1000000", "blocks that the rings of all lanes hold", PARAMETER_INTEGER, 1, 1u << 28,
     "80000", 0},
    {"passes", "1500", "passes of a lane through the histogram, 7321 blocks each",
     PARAMETER_INTEGER, 1, 1000000, "14", 1},
    {"handed", "171", "blocks of the first lane that a lane frees in a pass", PARAMETER_INTEGER, 0,
     7321, NULL, 0},
    {"touch", "first", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

#define HANDED_SIZE 8u
#define SECTION     32u /* passes whose handed blocks are shared out together */

static const abench__run_of histogram[] = {{8, 1000},  {16, 5000}, {48, 1000}, {72, 100},
                                           {148, 100}, {200, 100}, {520, 10},  {1056, 5},
                                           {4096, 3},  {9162, 1},  {34562, 1}, {168524, 1}};

enum { BEGIN_WORK, WORK, DRAIN };

typedef struct worker {
    abench__ring ring;
    abench__pass_cursor cursor;
    uint64_t left;  /* blocks to allocate */
    uint64_t made;  /* blocks that were allocated */
    uint64_t freed; /* blocks of the first lane */
    uint64_t at;    /* the next of them, and the end of this part of its share */
    uint64_t end;
    uint64_t part;
    uint64_t section; /* whose part it is */
} worker;

typedef struct sh8 {
    abench__pass pass;
    uint64_t handed; /* blocks that the first lane makes */
    uint64_t made;
    uint64_t handed_section; /* in a whole section */
    uint64_t handed_pass;    /* that a lane frees in a pass */
    uint32_t slots;          /* shared */
    uint32_t workers;
    uint32_t stage;
    uint32_t reserved;
    worker worker[];
} sh8;

static void make_pass(abench__pass *pass)
{
    pass->blocks = pass->bytes = pass->count = 0;
    for (uint32_t at = 0; at < sizeof histogram / sizeof histogram[0]; at++)
        abench__pass_add(pass, histogram[at].size, histogram[at].count);
}

static uint64_t workers_of(const abench_workload *w)
{
    return abench__workload_number(w, "lanes") - 1;
}

static uint32_t ring_size(const abench_workload *w)
{
    const uint64_t size = abench__workload_number(w, "ring") / workers_of(w);

    return size == 0 ? 1 : (uint32_t)size;
}

/* The first lane's blocks for so many passes. */
static uint64_t handed_for(const abench_workload *w, uint64_t passes)
{
    return workers_of(w) * passes * abench__workload_number(w, "handed");
}

static uint64_t handed_of(const abench_workload *w)
{
    return handed_for(w, abench__workload_number(w, "passes"));
}

/* Slots go round: a block's is that of the one two sections before, which all have been freed. A
 * slot so is used once for 64 passes, and 15625 times at most. */
static uint64_t slots_of(const abench_workload *w)
{
    const uint64_t most = handed_for(w, 2 * SECTION);

    return handed_of(w) < most ? handed_of(w) : most;
}

static uint64_t section_passes(const abench_workload *w)
{
    const uint64_t passes = abench__workload_number(w, "passes");

    return passes < SECTION ? passes : SECTION;
}

/* Every block is allocated and freed; two phases. */
static uint64_t operations(const abench_workload *w)
{
    abench__pass pass;

    make_pass(&pass);
    return 2 * abench__workload_number(w, "lanes") + 2 * handed_of(w) +
           2 * workers_of(w) * pass.blocks * abench__workload_number(w, "passes");
}

/* The first lane's blocks that are alive when it has made all of a section: it makes one while
 * every other lane has one operation, and they free them evenly over theirs. Or, when it hardly
 * keeps up, those of the first parts, whose lanes have others to free too. */
static uint64_t handed_most(const abench_workload *w, uint64_t pass_blocks)
{
    const uint64_t passes = section_passes(w);
    const uint64_t handed = handed_for(w, passes); /* 2^28 at most, as is what follows */
    const uint64_t steps = passes * (2 * pass_blocks + abench__workload_number(w, "handed"));
    const uint64_t even = handed < steps ? handed * (steps - handed) / steps : 0;
    const uint64_t first = passes * abench__workload_number(w, "handed");

    return even > first ? even : first;
}

/* Full rings, and what waits of the first lane's blocks. */
static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t size = ring_size(w);
    abench__pass pass;
    uint64_t blocks;

    make_pass(&pass);
    blocks = pass.blocks * abench__workload_number(w, "passes");
    return workers_of(w) * abench__pass_ring(&pass, size, blocks) +
           HANDED_SIZE * (handed_most(w, pass.blocks) + workers_of(w));
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = ring_size(w);
    options->shared_slots = (uint32_t)slots_of(w); /* 2^29 at most */
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(sh8) + workers_of(w) * sizeof(worker);
}

/* The first lane's blocks of a section are cut into workers^2 runs; every workers-th belongs to one
 * lane. */
static void begin_part(sh8 *s, uint32_t index)
{
    const uint64_t parts = (uint64_t)s->workers * s->workers;
    worker *l = &s->worker[index];

    while (l->at == l->end) {
        uint64_t first, blocks, part;
        if (l->part == s->workers) {
            l->part = 0;
            l->section++;
        }
        first = l->section * s->handed_section;
        if (first >= s->handed)
            return;
        blocks = s->handed - first < s->handed_section ? s->handed - first : s->handed_section;
        part = l->part++ * s->workers + index;
        l->at = first + blocks * part / parts;
        l->end = first + blocks * (part + 1) / parts;
    }
}

/* Whether the first lane may make its next block: a section begins when every lane has made the
 * passes of the one before, and has freed all of the one before that. */
static int may_make(const sh8 *s)
{
    uint64_t section;

    if (s->made == s->handed)
        return 0;
    section = s->made / s->handed_section;
    if (section == 0 || s->made % s->handed_section != 0)
        return 1;
    for (uint32_t index = 0; index < s->workers; index++) {
        const worker *l = &s->worker[index];
        if (l->made < section * SECTION * s->pass.blocks || l->section + 1 < section)
            return 0;
    }
    return 1;
}

static uint32_t slot_of(const sh8 *s, uint64_t number)
{
    return ABENCH_SLOT_SHARED | (uint32_t)(number % s->slots);
}

static void begin(const abench_workload *w, void *memory)
{
    sh8 *s = memory;
    abench_random random;
    uint64_t skipped;

    make_pass(&s->pass);
    s->workers = (uint32_t)workers_of(w);
    s->handed = handed_of(w);
    s->handed_section = handed_for(w, SECTION);
    s->slots = (uint32_t)slots_of(w);
    s->handed_pass = abench__workload_number(w, "handed");
    abench_random_seed(&random, w->seed, 0, ABENCH_PURPOSE_SCHEDULE);
    skipped = abench_random_below(&random, s->pass.blocks);
    for (uint32_t index = 0; index < s->workers; index++) {
        worker *l = &s->worker[index];
        l->ring.size = ring_size(w);
        l->left = s->pass.blocks * abench__workload_number(w, "passes");
        begin_part(s, index);
        for (uint64_t at = 0; at < skipped; at++)
            abench__pass_next(&s->pass, &l->cursor);
    }
}

/* A block of the first lane, if it is the lane's turn to free one and if it is there. */
static uint32_t free_handed(sh8 *s, abench_tape_builder *builder, uint32_t index)
{
    worker *l = &s->worker[index];

    if (l->at >= s->made || l->at == l->end ||
        (l->left > 0 && l->freed * s->pass.blocks >= l->made * s->handed_pass))
        return 0;
    abench_tape_builder_free(builder, index + 1, slot_of(s, l->at));
    l->at++;
    l->freed++;
    begin_part(s, index);
    return 1;
}

/* An operation of the lane; 0 when it has none now. */
static uint32_t work(sh8 *s, abench_tape_builder *builder, uint32_t index)
{
    worker *l = &s->worker[index];
    uint32_t slot;

    if (free_handed(s, builder, index) != 0)
        return 1;
    if (l->left == 0)
        return 0;
    if (abench__ring_next(&l->ring, &slot) == 0) {
        abench_tape_builder_free(builder, index + 1, slot);
        return 1;
    }
    abench_tape_builder_malloc(builder, index + 1, slot, abench__pass_next(&s->pass, &l->cursor));
    l->left--;
    l->made++;
    return 1;
}

static uint32_t work_all(sh8 *s, abench_tape_builder *builder)
{
    uint32_t done = 0;

    if (may_make(s)) {
        abench_tape_builder_malloc(builder, 0, slot_of(s, s->made++), HANDED_SIZE);
        done++;
    }
    for (uint32_t index = 0; index < s->workers; index++)
        done += work(s, builder, index);
    return done;
}

static uint32_t drain_all(sh8 *s, abench_tape_builder *builder)
{
    uint32_t done = 0, slot;

    for (uint32_t index = 0; index < s->workers; index++) {
        if (abench__ring_drain(&s->worker[index].ring, &slot) == 0)
            continue;
        abench_tape_builder_free(builder, index + 1, slot);
        done++;
    }
    return done;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    sh8 *s = memory;

    (void)w;
    if (s->stage == BEGIN_WORK) {
        abench_tape_builder_phase(builder, "passes", ABENCH_PHASE_TIMED);
        s->stage = WORK;
    }
    for (uint32_t batch = 0; batch < 8; batch++) {
        if ((s->stage == WORK ? work_all(s, builder) : drain_all(s, builder)) > 0)
            continue;
        if (s->stage++ == DRAIN)
            return 1;
        abench_tape_builder_phase(builder, "drain", 0);
    }
    return 0;
}

const abench__workload_kind abench__sh8 = {
    .info = {sizeof(abench_workload_info), 1, "sh8",
             "blocks of 8 bytes to 165 KiB, freed by age from both ends of a ring, while one "
             "lane's 8-byte blocks are freed by all the others: small blocks with some large ones, "
             "and 2 % of the frees across threads",
             "the description of MicroQuill's sh8bench, as daanx/mimalloc-bench ce5784f runs it "
             "(2N threads beside the main one)",
             "all passes, from an empty heap, waits for the first lane taken off; not the drain",
             "the first byte; the original writes the last one too"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
