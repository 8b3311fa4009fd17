/*
 * everyother.c - every-other: the simplest holes. A heap is filled with blocks of one size, every
 * other block is freed, and blocks of twice the size are allocated until the live bytes are what
 * they were: none of the holes is large enough. The same for twice the size, and so on, each time
 * from an empty heap.
 *
 * The live bytes never pass those of the fill, which is the optimum; RSS over live bytes at the end
 * of a phase is 1.5 where the holes stay empty, and more where memory of the sizes before was kept
 * and is of no use. One phase a size; what lives at its end is freed in another, which is not
 * timed. Nothing is drawn: every seed gives the same tape.
 */
#include "workload/workload.h"

#include "workload/phase_name.h"

#define AIM         512u /* operations a call of fill */
#define SIZES_MAX   24u  /* two phases each */
#define BYTES_LEAST ((uint64_t)1 << 20)
#define BYTES_MOST  ((uint64_t)4 << 30)
#define SMALLEST    8u /* so that slots can be counted: 2^29 at most */

_Static_assert(BYTES_MOST / SMALLEST < ABENCH_SLOT_SHARED, "each block has a slot");

static const abench__parameter parameters[] = {
    {"lanes", "1", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"bytes", "64m", "live bytes a lane", PARAMETER_INTEGER, BYTES_LEAST, BYTES_MOST, "4m", 0},
    {"smallest", "32", "the first size", PARAMETER_INTEGER, SMALLEST, 65536, NULL, 0},
    {"sizes", "10",
     "sizes, each twice the one before; those of which less than 4 blocks would live "
     "are left out",
     PARAMETER_INTEGER, 1, SIZES_MAX, NULL, 0},
    {"rounds", "2", "times that each size is played, in one phase", PARAMETER_INTEGER, 1, 100000,
     "1", 1},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_SIZE, FILL, PUNCH, DOUBLE, CLEAR, BEGIN_DRAIN, DRAIN };

typedef struct every_other {
    uint64_t size;
    uint64_t round;
    uint32_t lanes;
    uint32_t blocks; /* of size, that fill the heap */
    uint32_t index;  /* of the stage's steps, done */
    uint32_t stage;
    uint32_t which; /* size */
    uint32_t sizes;
} every_other;

static uint64_t blocks_of(const abench_workload *w, uint32_t which)
{
    return abench__workload_number(w, "bytes") / (abench__workload_number(w, "smallest") << which);
}

/* Of twice the size, that take the place of every other one. */
static uint64_t doubles_of(uint64_t blocks)
{
    return blocks / 2 / 2;
}

static uint32_t sizes_of(const abench_workload *w)
{
    uint32_t sizes = 1;

    while (sizes < abench__workload_number(w, "sizes") && blocks_of(w, sizes) >= 4)
        sizes++;
    return sizes;
}

/* Two phases a size; each block, of either size, lives once a round. */
static uint64_t operations(const abench_workload *w)
{
    const uint32_t sizes = sizes_of(w);
    uint64_t blocks = 0;

    for (uint32_t which = 0; which < sizes; which++)
        blocks += blocks_of(w, which) + doubles_of(blocks_of(w, which));
    return abench__workload_number(w, "lanes") *
           (2 * sizes + 2 * abench__workload_number(w, "rounds") * blocks);
}

static uint64_t live_bytes(const abench_workload *w)
{
    const uint32_t sizes = sizes_of(w);
    uint64_t most = 0;

    for (uint32_t which = 0; which < sizes; which++) {
        const uint64_t bytes = blocks_of(w, which)
                               << which; /* times the smallest, which is common to all */
        most = bytes > most ? bytes : most;
    }
    return abench__workload_number(w, "lanes") * abench__workload_number(w, "smallest") * most;
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)blocks_of(w, 0);
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    (void)w;
    return sizeof(every_other);
}

static void begin(const abench_workload *w, void *memory)
{
    every_other *e = memory;

    e->lanes = (uint32_t)abench__workload_number(w, "lanes");
    e->sizes = sizes_of(w);
}

/* ---- the generator --------------------------------------------------------------------------- */

static void begin_phase(const abench_workload *w, every_other *e, abench_tape_builder *builder)
{
    char name[ABENCH__PHASE_NAME_MAX];

    e->size = abench__workload_number(w, "smallest") << e->which;
    e->blocks = (uint32_t)blocks_of(w, e->which);
    if (e->stage == BEGIN_SIZE) {
        e->round = 0;
        abench_tape_builder_phase(builder, abench__phase_of_size(name, "holes", e->size),
                                  ABENCH_PHASE_TIMED);
    } else {
        abench_tape_builder_phase(builder, abench__phase_of_size(name, "drain", e->size), 0);
    }
    e->stage++;
}

static uint32_t steps_of(const every_other *e)
{
    switch (e->stage) {
    case PUNCH:
        return e->blocks / 2;
    case DOUBLE:
        return (uint32_t)doubles_of(e->blocks);
    case FILL:
        return e->blocks;
    default:
        return e->blocks - e->blocks / 2 + (uint32_t)doubles_of(e->blocks);
    }
}

/* Odd slots are those of the holes; the first of them get the larger blocks. */
static void step(const every_other *e, abench_tape_builder *builder, uint32_t lane)
{
    const uint32_t singles = e->blocks - e->blocks / 2; /* that were not freed */

    switch (e->stage) {
    case FILL:
        abench_tape_builder_malloc(builder, lane, e->index, e->size);
        break;
    case PUNCH:
        abench_tape_builder_free(builder, lane, 2 * e->index + 1);
        break;
    case DOUBLE:
        abench_tape_builder_malloc(builder, lane, 2 * e->index + 1, 2 * e->size);
        break;
    default:
        abench_tape_builder_free(builder, lane,
                                 e->index < singles ? 2 * e->index : 2 * (e->index - singles) + 1);
    }
}

/* The stage's steps are done; 1: so is the tape. */
static int32_t next_stage(const abench_workload *w, every_other *e)
{
    e->index = 0;
    switch (e->stage) {
    case DOUBLE:
        e->stage = ++e->round < abench__workload_number(w, "rounds") ? CLEAR : BEGIN_DRAIN;
        return 0;
    case CLEAR:
        e->stage = FILL;
        return 0;
    case DRAIN:
        e->stage = BEGIN_SIZE;
        return ++e->which == e->sizes;
    default:
        e->stage++;
        return 0;
    }
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    every_other *e = memory;
    uint32_t steps;

    if (e->stage == BEGIN_SIZE || e->stage == BEGIN_DRAIN) {
        begin_phase(w, e, builder);
        return 0;
    }
    steps = steps_of(e);
    for (uint32_t batch = 0; batch <= AIM / e->lanes && e->index < steps; batch++, e->index++)
        for (uint32_t lane = 0; lane < e->lanes; lane++)
            step(e, builder, lane);
    return e->index < steps ? 0 : next_stage(w, e);
}

const abench__workload_kind abench__every_other = {
    .info =
        {sizeof(abench_workload_info), 1, "every-other",
         "a heap of one size, every other block freed, blocks of twice the size: what "
         "holes too small for the next size cost",
         "the first step of Robson's sequences (\"Bounds for some functions concerning dynamic "
         "storage allocation\", JACM 21, 1974), for many sizes; the live bytes are the optimum",
         "filling, freeing every other block, allocating twice the size; not the last frees: rank "
         "it by memory",
         "a byte of every page of each block"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
