/*
 * sizesweep.c - sizeclass-sweep: every size from 1 byte up, a doubling at a time.
 *
 * Band b has the sizes above 2^b up to 2^(b+1); 1 belongs to band 0. Up to 4 KiB each size is asked
 * for. Above, a band has evenly spaced sizes and, since allocators space their classes by powers of
 * two and parts of them, one byte below, at and above each eighth of it. As many blocks of each
 * size live as the two limits allow, one at least. They are allocated in random order, so that no
 * allocator sees the sizes sorted.
 *
 * A band has a phase, at whose end its blocks live and no others: usable over live bytes there is
 * its internal fragmentation, RSS over live bytes what it costs in all. It is freed in a phase that
 * is not timed.
 */
#include "workload/workload.h"

#include "workload/phase_name.h"

#define AIM         512u  /* operations a call of fill */
#define EVERY_LOW   2048u /* bands from here on down have every size */
#define EDGES       16u /* sizes beside the eighths of a band; the eighths themselves are spaced */
#define BANDS_MAX   30u /* up to 1 GiB; two phases each */
#define BLOCKS_MAX  (1u << 24)
#define SPACED_MAX  2048u
#define BYTES_LEAST 4096u
#define BYTES_MOST  ((uint64_t)1 << 40)

static const abench__parameter parameters[] = {
    {"lanes", "1", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"bands", "20", "doublings, from 1 byte: 20 end at 1 MiB", PARAMETER_INTEGER, 1, BANDS_MAX,
     NULL, 0},
    {"spaced", "256", "evenly spaced sizes of a band above 4 KiB, a multiple of 8 is best",
     PARAMETER_INTEGER, 1, SPACED_MAX, "32", 0},
    {"blocks", "65536", "blocks of a band that live at once in a lane, if each size has one",
     PARAMETER_INTEGER, 1, BLOCKS_MAX, "8192", 0},
    {"bytes", "32m", "and their bytes", PARAMETER_INTEGER, BYTES_LEAST, BYTES_MOST, "2m", 0},
    {"rounds", "8", "times that a band is allocated", PARAMETER_INTEGER, 1, 1000000, "2", 1},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_BAND, SHUFFLE, ALLOCATE, FREE, BEGIN_FREE, LAST_FREE };

typedef struct sweep {
    uint32_t *orders;      /* a permutation of the band's blocks for each lane */
    abench_random *random; /* a lane */
    uint64_t round;        /* of the band */
    uint32_t lanes;
    uint32_t slots; /* a lane: the blocks of the band that has the most */
    uint32_t spaced;
    uint32_t band;
    uint32_t sizes;  /* of the band */
    uint32_t blocks; /* of the band, a lane */
    uint32_t index;  /* of them, done in this stage */
    uint32_t stage;
} sweep;

/* ---- sizes ----------------------------------------------------------------------------------- */

static uint32_t sizes_of(uint32_t band, uint32_t spaced)
{
    const uint64_t low = (uint64_t)1 << band;

    if (low > EVERY_LOW)
        return spaced + EDGES;
    return (uint32_t)low + (band == 0);
}

/* Size index of a band. */
static uint64_t size_at(uint32_t band, uint32_t spaced, uint32_t index)
{
    const uint64_t low = (uint64_t)1 << band;
    uint32_t edge;

    if (band == 0)
        return 1 + index;
    if (low <= EVERY_LOW)
        return low + 1 + index;
    if (index < spaced)
        return low + low * (index + 1) / spaced;
    edge = index - spaced;
    return edge % 2 == 0 ? low + edge / 2 * (low / 8) + 1 : low + (edge / 2 + 1) * (low / 8) - 1;
}

/* What one block of each size of a band takes. */
static uint64_t set_bytes(uint32_t band, uint32_t spaced)
{
    uint64_t bytes = 0;

    for (uint32_t index = 0; index < sizes_of(band, spaced); index++)
        bytes += size_at(band, spaced, index);
    return bytes;
}

/* How many blocks of each size of a band live. */
static uint32_t copies_of(const abench_workload *w, uint32_t band)
{
    const uint32_t spaced = (uint32_t)abench__workload_number(w, "spaced");
    const uint64_t blocks = abench__workload_number(w, "blocks") / sizes_of(band, spaced);
    const uint64_t bytes = abench__workload_number(w, "bytes") / set_bytes(band, spaced);
    const uint64_t least = blocks < bytes ? blocks : bytes;

    return least == 0 ? 1 : (uint32_t)least;
}

static uint32_t blocks_of(const abench_workload *w, uint32_t band)
{
    return copies_of(w, band) * sizes_of(band, (uint32_t)abench__workload_number(w, "spaced"));
}

static uint32_t most_blocks(const abench_workload *w)
{
    uint32_t most = 0;

    for (uint32_t band = 0; band < abench__workload_number(w, "bands"); band++)
        if (blocks_of(w, band) > most)
            most = blocks_of(w, band);
    return most;
}

/* ---- what the tape needs --------------------------------------------------------------------- */

/* Two phases a band; in each round a malloc and a free a block. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t bands = abench__workload_number(w, "bands");
    uint64_t blocks = 0;

    for (uint32_t band = 0; band < bands; band++)
        blocks += blocks_of(w, band);
    return abench__saturating_multiply(
        abench__workload_number(w, "lanes"),
        2 * bands + abench__saturating_multiply(2 * abench__workload_number(w, "rounds"), blocks));
}

static uint64_t live_bytes(const abench_workload *w)
{
    const uint32_t spaced = (uint32_t)abench__workload_number(w, "spaced");
    uint64_t most = 0;

    for (uint32_t band = 0; band < abench__workload_number(w, "bands"); band++) {
        const uint64_t bytes = copies_of(w, band) * set_bytes(band, spaced);
        if (bytes > most)
            most = bytes;
    }
    return abench__saturating_multiply(abench__workload_number(w, "lanes"), most);
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = most_blocks(w);
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");

    return sizeof(sweep) + lanes * (sizeof(abench_random) + most_blocks(w) * sizeof(uint32_t));
}

/* ---- the generator --------------------------------------------------------------------------- */

static void begin(const abench_workload *w, void *memory)
{
    sweep *s = memory;

    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->spaced = (uint32_t)abench__workload_number(w, "spaced");
    s->slots = most_blocks(w);
    s->random = (abench_random *)(s + 1);
    s->orders = (uint32_t *)(s->random + s->lanes);
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        abench_random_seed(&s->random[lane], w->seed, lane, ABENCH_PURPOSE_PERMUTATION);
}

static void shuffle(const sweep *s)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        uint32_t *order = s->orders + (uint64_t)lane * s->slots;
        for (uint32_t index = 0; index < s->blocks; index++)
            order[index] = index;
        abench_random_shuffle(&s->random[lane], order, s->blocks);
    }
}

/* One block of every lane. A block's number says its size. */
static void one(const sweep *s, abench_tape_builder *builder)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        const uint32_t block = s->orders[(uint64_t)lane * s->slots + s->index];
        if (s->stage == ALLOCATE)
            abench_tape_builder_malloc(builder, lane, block,
                                       size_at(s->band, s->spaced, block % s->sizes));
        else
            abench_tape_builder_free(builder, lane, s->index);
    }
}

static void begin_phase(const abench_workload *w, sweep *s, abench_tape_builder *builder)
{
    const uint64_t high = (uint64_t)2 << s->band;
    char name[ABENCH__PHASE_NAME_MAX];

    if (s->stage == BEGIN_FREE) {
        abench_tape_builder_phase(builder, abench__phase_of_size(name, "free", high), 0);
        return;
    }
    s->sizes = sizes_of(s->band, s->spaced);
    s->blocks = blocks_of(w, s->band);
    s->round = 0;
    abench_tape_builder_phase(builder, abench__phase_of_size(name, "to", high), ABENCH_PHASE_TIMED);
}

/* All blocks were allocated, or freed; 1: the tape is whole. */
static int32_t next_stage(const abench_workload *w, sweep *s)
{
    s->index = 0;
    if (s->stage == ALLOCATE)
        s->stage = ++s->round < abench__workload_number(w, "rounds") ? FREE : BEGIN_FREE;
    else if (s->stage == FREE)
        s->stage = SHUFFLE;
    else
        s->stage = BEGIN_BAND;
    return s->stage == BEGIN_BAND && ++s->band == abench__workload_number(w, "bands");
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    sweep *s = memory;

    if (s->stage == BEGIN_BAND || s->stage == BEGIN_FREE) {
        begin_phase(w, s, builder);
        s->stage++;
        return 0;
    }
    if (s->stage == SHUFFLE) {
        shuffle(s);
        s->stage = ALLOCATE;
    }
    for (uint32_t batch = 0; batch <= AIM / s->lanes && s->index < s->blocks; batch++, s->index++)
        one(s, builder);
    return s->index < s->blocks ? 0 : next_stage(w, s);
}

const abench__workload_kind abench__sizeclass_sweep = {
    .info = {sizeof(abench_workload_info), 1, "sizeclass-sweep",
             "every size from 1 byte to 1 MiB, each doubling in a phase of its own: usable over "
             "requested bytes, size band by size band",
             "allocbench's own, after the size-class tables that allocators document: what is "
             "rounded up is the internal fragmentation of Wilson, Johnstone, Neely and Boles 1995",
             "the bands (allocated in random order, freed, allocated again), not their last frees: "
             "rank it by usable over live bytes of each phase",
             "a byte of every page of each block"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
