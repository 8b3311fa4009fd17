/*
 * sizeshift.c - size-shift: the live set moves from one band of sizes to the next, up and down
 * again.
 *
 * Bands follow one another: 17-64 bytes, 65-256, 257-1024 and so on with the presets. In each shift
 * a part of the blocks that live, 95 % of them and drawn at random, die one after the other, and
 * blocks of the next band take their place at once, so that the live bytes stay what they are.
 * Blocks that are left from the band before, and some from the bands before that, pin the pages
 * between them: the isolated deaths and the phases that Wilson and others name as the causes of
 * fragmentation, and that random traces of one mixture of sizes never have.
 *
 * A perfect allocator would need the live bytes, whatever the shift.
 */
#include "workload/workload.h"

#include "workload/phase_name.h"

#define AIM        512u                    /* operations a call of fill */
#define PHASES_MAX (ABENCH_PHASES_MAX - 2) /* fill and drain are phases too */
#define LIVE_LEAST ((uint64_t)1 << 20)
#define LIVE_MOST  ((uint64_t)4 << 30)

static const abench__parameter parameters[] = {
    {"lanes", "1", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"live", "64m", "live bytes a lane", PARAMETER_INTEGER, LIVE_LEAST, LIVE_MOST, "4m", 0},
    {"smallest", "16", "the first band's sizes are above it", PARAMETER_INTEGER, 8, 4096, NULL, 0},
    {"factor", "4", "between a band's largest size and that of the band before", PARAMETER_INTEGER,
     2, 8, NULL, 0},
    {"bands", "6", "bands of sizes", PARAMETER_INTEGER, 2, 6, NULL, 0},
    {"shifts", "20",
     "times that the live set moves by a band; back at the first when a multiple "
     "of 2 x (bands - 1)",
     PARAMETER_INTEGER, 1, 1000000, "10", 1},
    {"die", "95", "blocks of 100 that die in a shift", PARAMETER_INTEGER, 1, 100, NULL, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_FILL, FILL, BEGIN_SHIFT, SHIFT, BEGIN_DRAIN, DRAIN };

typedef struct lane_state {
    abench_random sizes;
    abench_random victims;
    uint64_t live;     /* bytes */
    uint64_t wanted;   /* size of the next block; 0: not drawn */
    uint32_t *blocks;  /* slots that hold a block: those that may die first, then the others */
    uint32_t *empty;   /* slots that hold none: a stack */
    uint32_t *size_of; /* a slot: of its block */
    uint32_t old;      /* blocks that may die */
    uint32_t dying;    /* of them, that will */
    uint32_t all;      /* blocks */
    uint32_t reserved;
} lane_state;

typedef struct size_shift {
    uint64_t live;
    uint64_t low;  /* sizes of the present band are above it, */
    uint64_t high; /* up to this */
    uint32_t lanes;
    uint32_t slots; /* a lane */
    uint32_t stage;
    uint32_t shift;
    uint32_t shifts_a_phase;
    uint32_t reserved;
    lane_state lane[];
} size_shift;

/* ---- bands ----------------------------------------------------------------------------------- */

static void band_of(const abench_workload *w, uint64_t shift, uint64_t *low, uint64_t *high)
{
    const uint64_t factor = abench__workload_number(w, "factor");
    const uint64_t top = abench__workload_number(w, "bands") - 1;
    const uint64_t step = shift % (2 * top);

    *low = abench__workload_number(w, "smallest");
    for (uint64_t band = step <= top ? step : 2 * top - step; band > 0; band--)
        *low *= factor;
    *high = *low * factor;
}

/* How many blocks of a shift's band make so many bytes. */
static uint64_t blocks_in(const abench_workload *w, uint64_t shift, uint64_t bytes)
{
    uint64_t low, high;

    band_of(w, shift, &low, &high);
    return 2 * bytes / (low + 1 + high);
}

/* The first band has the most blocks. A tenth is for chance; without a slot no block is made. */
static uint64_t slots_of(const abench_workload *w)
{
    const uint64_t blocks = blocks_in(w, 0, abench__workload_number(w, "live"));

    return blocks + blocks / 10 + 64;
}

/* ---- what the tape needs --------------------------------------------------------------------- */

static uint64_t phases_of(const abench_workload *w, uint32_t *shifts_a_phase)
{
    const uint64_t shifts = abench__workload_number(w, "shifts");

    *shifts_a_phase = (uint32_t)((shifts + PHASES_MAX - 1) / PHASES_MAX);
    return (shifts + *shifts_a_phase - 1) / *shifts_a_phase;
}

/* In each shift its band fills the room of what dies and of what was left, which is less than one
 * of the blocks before: a bound by a tenth and a few. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t live = abench__workload_number(w, "live");
    const uint64_t dying = live / 100 * abench__workload_number(w, "die");
    uint64_t blocks = blocks_in(w, 0, live), room = 0, low, high;
    uint32_t shifts_a_phase;

    for (uint64_t shift = 1; shift <= abench__workload_number(w, "shifts"); shift++) {
        room = room + dying < live ? room + dying : live;
        blocks += blocks_in(w, shift, room);
        band_of(w, shift, &low, &high);
        room = room < high ? room : high;
    }
    return abench__saturating_multiply(abench__workload_number(w, "lanes"),
                                       2 * (blocks + blocks / 10) + 64 +
                                           phases_of(w, &shifts_a_phase));
}

static uint64_t live_bytes(const abench_workload *w)
{
    return abench__workload_number(w, "lanes") * abench__workload_number(w, "live");
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)slots_of(w);
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(size_shift) + abench__workload_number(w, "lanes") *
                                    (sizeof(lane_state) + 3 * slots_of(w) * sizeof(uint32_t));
}

/* ---- the generator --------------------------------------------------------------------------- */

static void begin(const abench_workload *w, void *memory)
{
    size_shift *s = memory;
    uint32_t *numbers;

    s->live = abench__workload_number(w, "live");
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->slots = (uint32_t)slots_of(w);
    phases_of(w, &s->shifts_a_phase);
    numbers = (uint32_t *)(s->lane + s->lanes);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane[lane];
        abench_random_seed(&l->sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&l->victims, w->seed, lane, ABENCH_PURPOSE_SLOT);
        l->blocks = numbers;
        l->empty = numbers + s->slots;
        l->size_of = numbers + 2 * (uint64_t)s->slots;
        numbers += 3 * (uint64_t)s->slots;
        for (uint32_t slot = 0; slot < s->slots; slot++)
            l->empty[slot] = s->slots - 1 - slot;
    }
}

static uint64_t wanted(const size_shift *s, lane_state *l)
{
    if (l->wanted == 0)
        l->wanted = s->low + 1 + abench_random_below(&l->sizes, s->high - s->low);
    return l->wanted;
}

static void allocate(const size_shift *s, lane_state *l, abench_tape_builder *builder,
                     uint32_t lane)
{
    const uint32_t slot = l->empty[s->slots - 1 - l->all];

    l->blocks[l->all++] = slot;
    l->size_of[slot] = (uint32_t)l->wanted;
    l->live += l->wanted;
    abench_tape_builder_malloc(builder, lane, slot, l->wanted);
    l->wanted = 0;
}

/* A random one of the old blocks dies; the last old one, and then the last, fill the gaps. */
static void let_die(const size_shift *s, lane_state *l, abench_tape_builder *builder, uint32_t lane)
{
    const uint32_t at = (uint32_t)abench_random_below(&l->victims, l->old);
    const uint32_t slot = l->blocks[at];

    l->blocks[at] = l->blocks[--l->old];
    l->blocks[l->old] = l->blocks[--l->all];
    l->empty[s->slots - 1 - l->all] = slot;
    l->live -= l->size_of[slot];
    l->dying--;
    abench_tape_builder_free(builder, lane, slot);
}

/* A block where there is room for it, else a death. 0: neither, the lane is done. */
static uint32_t one(const size_shift *s, lane_state *l, abench_tape_builder *builder, uint32_t lane)
{
    if (s->stage != DRAIN && l->all < s->slots && l->live + wanted(s, l) <= s->live)
        allocate(s, l, builder, lane);
    else if (l->dying > 0)
        let_die(s, l, builder, lane);
    else
        return 0;
    return 1;
}

/* Says who may die, and how many will. */
static void begin_stage(const abench_workload *w, size_shift *s)
{
    const uint64_t percent = s->stage == DRAIN  ? 100
                             : s->stage == FILL ? 0
                                                : abench__workload_number(w, "die");

    band_of(w, s->shift, &s->low, &s->high);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane[lane];
        l->old = l->all;
        l->dying = (uint32_t)(l->all * percent / 100);
        l->wanted = 0;
    }
}

/* The phase that begins here, if one does: named after its last shift and that one's sizes. */
static uint32_t begin_phase(const abench_workload *w, const size_shift *s,
                            abench_tape_builder *builder)
{
    char prefix[ABENCH__PHASE_NAME_MAX], name[ABENCH__PHASE_NAME_MAX];
    const uint64_t shifts = abench__workload_number(w, "shifts");
    uint64_t last = s->shift + s->shifts_a_phase - 1, low, high;

    if (s->stage != BEGIN_SHIFT) {
        abench_tape_builder_phase(builder, s->stage == BEGIN_FILL ? "fill" : "drain", 0);
        return 1;
    }
    if ((s->shift - 1) % s->shifts_a_phase != 0)
        return 0;
    last = last < shifts ? last : shifts;
    band_of(w, last, &low, &high);
    abench__phase_of_number(prefix, "shift", last);
    abench_tape_builder_phase(builder, abench__phase_of_size(name, prefix, high),
                              ABENCH_PHASE_TIMED);
    return 1;
}

static uint32_t next_stage(const abench_workload *w, size_shift *s)
{
    if (s->stage == FILL || s->stage == SHIFT)
        s->shift++;
    if (s->stage == SHIFT && s->shift <= abench__workload_number(w, "shifts"))
        return BEGIN_SHIFT;
    return s->stage + 1;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    size_shift *s = memory;

    for (uint32_t appended = 0; appended < AIM;) {
        uint32_t now = 0;
        if (s->stage % 2 == 0) {
            appended += begin_phase(w, s, builder) * AIM;
            s->stage++;
            begin_stage(w, s);
            continue;
        }
        for (uint32_t lane = 0; lane < s->lanes; lane++)
            now += one(s, &s->lane[lane], builder, lane);
        appended += now;
        if (now == 0 && s->stage == DRAIN)
            return 1;
        if (now == 0)
            s->stage = next_stage(w, s);
    }
    return 0;
}

const abench__workload_kind abench__size_shift = {
    .info = {sizeof(abench_workload_info), 1, "size-shift",
             "the live set moves from one band of sizes to the next, again and again, with a few "
             "survivors: what freed memory of one size is worth to another",
             "allocbench's own, after Wilson, Johnstone, Neely and Boles 1995 (isolated deaths and "
             "phases make fragmentation); the live bytes stay the same, so the optimum is known",
             "the shifts; not fill and drain: rank it by memory",
             "a byte of every page of each block"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
