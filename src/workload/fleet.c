/*
 * fleet.c - fleet: births and deaths in the mixture of sizes and lifetimes that data-centre
 * programs are said to have.
 *
 * The model is that of google/fleetbench's TCMalloc driver: births are drawn from a table of sizes
 * by their rate, lifetimes are exponential, and what lives follows from Little's law: blocks of a
 * size that live = their rate x their mean lifetime. Each of its ten profiles has about a thousand
 * rows. Here are fifteen, made to lie within what those ten have in common:
 *
 *                        the ten profiles     this table
 *   allocations, median  48 - 64 bytes        53
 *   allocations, mean    197 - 1334           468
 *   allocations, p99     4 - 8 KiB            5.1 KiB
 *   live blocks, mean    124 - 8753           1125
 *
 * Which sizes are short-lived is this table's choice: strings and buffers of 65-128 and of 257-1024
 * bytes, most of which die soon, against nodes of 17-64 bytes and large blocks that stay.
 *
 * The heap begins with what lives in the long run, drawn by the live column; an exponential
 * lifetime has no memory, so nothing has to settle. A lane's clock are its births. fleetbench
 * records a million operations and plays them again and again; here none comes twice.
 */
#include "workload/workload.h"

#include "base/root.h"
#include "shape/alias.h"
#include "shape/wheel.h"

#define AIM        512u /* operations a call of fill */
#define ROWS       15u
#define BLOCKS_MAX (1u << 24)

typedef struct row {
    uint32_t low; /* sizes, in bytes, all alike */
    uint32_t high;
    uint32_t births; /* of 10000 allocations */
    uint32_t live;   /* of 10000 live blocks */
} row;

static const row rows[ROWS] = {
    {1, 8, 300, 80},      {9, 16, 900, 220},      {17, 32, 2050, 3240},    {33, 48, 1350, 3270},
    {49, 64, 1600, 1600}, {65, 96, 1150, 20},     {97, 128, 750, 60},      {129, 256, 850, 950},
    {257, 512, 450, 15},  {513, 1024, 250, 25},   {1025, 2048, 150, 180},  {2049, 4096, 80, 90},
    {4097, 8192, 75, 90}, {8193, 32768, 30, 110}, {32769, 262144, 15, 50},
};

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"blocks", "100000", "live blocks a lane, on average; 1.1 KB each", PARAMETER_INTEGER, 1,
     BLOCKS_MAX, "8000", 0},
    {"steps", "5000000", "births a lane", PARAMETER_INTEGER, 1, 1u << 30, "100000", 1},
    {"cross", "0", "blocks of 100 that the next lane frees", PARAMETER_INTEGER, 0, 100, NULL, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

enum { BEGIN_FILL, FILL, BEGIN_STEPS, STEPS, BEGIN_DRAIN, DRAIN };

typedef struct lane_state {
    abench_random sizes;
    abench_random lifetimes;
    abench_random crossings;
    abench__wheel *wheel;
    uint32_t *empty;  /* items without a block: a ring, first in first out */
    uint8_t *crosses; /* an item: the next lane frees its block */
    uint32_t first;   /* of the ring */
    uint32_t alive;
} lane_state;

typedef struct fleet {
    abench__alias births[ROWS];
    abench__alias live[ROWS];
    uint64_t mean_lifetimes[ROWS]; /* births of the lane / 256 */
    uint64_t done;                 /* blocks filled, steps made or blocks drained */
    uint32_t items;                /* a lane: places for blocks */
    uint32_t most;                 /* of them that may be taken */
    uint32_t lanes;
    uint32_t stage;
    uint32_t cross;
    uint32_t reserved;
    lane_state lane[];
} fleet;

/* ---- what the tape needs --------------------------------------------------------------------- */

/* What lives varies as Poisson has it: eight deviations are never seen. */
static uint64_t most_of(const abench_workload *w)
{
    const uint64_t blocks = abench__workload_number(w, "blocks");

    return blocks + 8 * (abench__square_root(blocks - 1) + 1) + 64;
}

/* More than may be taken: a place waits in the ring until all others were used, so that no more
 * than 30000 blocks pass through a shared slot. */
static uint64_t items_of(const abench_workload *w)
{
    return most_of(w) + abench__workload_number(w, "steps") / 30000 + 1;
}

/* Three phases; each block is allocated and freed. */
static uint64_t operations(const abench_workload *w)
{
    return abench__workload_number(w, "lanes") *
           (3 + 2 * (abench__workload_number(w, "blocks") + abench__workload_number(w, "steps")));
}

/* A fifth above the mean, three deviations of what the largest row takes, and eight of its blocks
 * where few live. */
static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t blocks =
        abench__workload_number(w, "lanes") * abench__workload_number(w, "blocks");
    uint64_t mean = 0; /* times 10000 */

    for (uint32_t at = 0; at < ROWS; at++)
        mean += (uint64_t)rows[at].live * (rows[at].low + rows[at].high) / 2;
    return blocks * (mean / 10000) * 6 / 5 + (abench__square_root(blocks - 1) + 1) * 34000 +
           (uint64_t)8 * rows[ROWS - 1].high;
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    const uint64_t items = items_of(w);
    const uint64_t all = abench__workload_number(w, "lanes") * items;

    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)items;
    if (abench__workload_number(w, "cross") > 0) /* too many are refused by the builder */
        options->shared_slots = all < ABENCH_SLOT_SHARED ? (uint32_t)all : ABENCH_SLOT_SHARED;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

/* A lane's wheel, ring and marks. */
static uint64_t lane_bytes(uint32_t items)
{
    return (abench__wheel_bytes(items) + items * (sizeof(uint32_t) + sizeof(uint8_t)) + 7) / 8 * 8;
}

static uint64_t state_bytes(const abench_workload *w)
{
    return sizeof(fleet) + abench__workload_number(w, "lanes") *
                               (sizeof(lane_state) + lane_bytes((uint32_t)items_of(w)));
}

/* ---- the generator --------------------------------------------------------------------------- */

static void make_tables(const abench_workload *w, fleet *f)
{
    const uint64_t blocks = abench__workload_number(w, "blocks");
    uint64_t births[ROWS], live[ROWS];

    for (uint32_t at = 0; at < ROWS; at++) {
        births[at] = rows[at].births;
        live[at] = rows[at].live;
        f->mean_lifetimes[at] = blocks * 256 * rows[at].live / rows[at].births;
    }
    abench__alias_build(f->births, births, ROWS);
    abench__alias_build(f->live, live, ROWS);
}

static void begin(const abench_workload *w, void *memory)
{
    fleet *f = memory;
    unsigned char *at;

    f->lanes = (uint32_t)abench__workload_number(w, "lanes");
    f->items = (uint32_t)items_of(w);
    f->most = (uint32_t)most_of(w);
    f->cross = (uint32_t)abench__workload_number(w, "cross");
    make_tables(w, f);
    at = (unsigned char *)(f->lane + f->lanes);
    for (uint32_t lane = 0; lane < f->lanes; lane++) {
        lane_state *l = &f->lane[lane];
        abench_random_seed(&l->sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&l->lifetimes, w->seed, lane, ABENCH_PURPOSE_LIFETIME);
        abench_random_seed(&l->crossings, w->seed, lane, ABENCH_PURPOSE_SCHEDULE);
        l->wheel = abench__wheel_init(at, f->items);
        l->empty = (uint32_t *)(void *)(at + abench__wheel_bytes(f->items));
        l->crosses = (uint8_t *)(l->empty + f->items);
        for (uint32_t item = 0; item < f->items; item++)
            l->empty[item] = item;
        at += lane_bytes(f->items);
    }
}

/* An exponential variate of mean 1, times 2^24, by comparisons alone (von Neumann, "Various
 * techniques used in connection with random digits", 1951): a run of falling numbers is drawn; the
 * first of a run of odd length is the fraction, the runs of even length before it the rest. */
static uint64_t exponential(abench_random *random)
{
    for (uint64_t whole = 0; whole < 31; whole++) {
        const uint64_t first = abench_random_next(random);
        uint64_t last = first, drawn;
        uint32_t length = 1;

        while ((drawn = abench_random_next(random)) < last) {
            last = drawn;
            length++;
        }
        if (length % 2 == 1)
            return whole << 24 | first >> 40;
    }
    return (uint64_t)31 << 24;
}

static void bear(fleet *f, abench_tape_builder *builder, uint32_t lane, const abench__alias *table,
                 uint64_t now)
{
    lane_state *l = &f->lane[lane];
    const uint32_t which = abench__alias_pick(table, ROWS, abench_random_next(&l->sizes));
    const row *r = &rows[which];
    const uint64_t size = r->low + abench_random_below(&l->sizes, r->high - r->low + 1);
    const uint64_t lifetime = f->mean_lifetimes[which] * exponential(&l->lifetimes) >> 32;
    const uint32_t item = l->empty[l->first];

    l->first = (l->first + 1) % f->items;
    l->alive++;
    l->crosses[item] = f->cross > 0 && abench_random_below(&l->crossings, 100) < f->cross;
    abench_tape_builder_malloc(
        builder, lane, l->crosses[item] ? ABENCH_SLOT_SHARED | (lane * f->items + item) : item,
        size);
    abench__wheel_add(l->wheel, item, now + lifetime);
}

/* 0: there is no such item. */
static uint32_t die(fleet *f, abench_tape_builder *builder, uint32_t lane, uint32_t item)
{
    lane_state *l = &f->lane[lane];

    if (item == ABENCH__WHEEL_NONE)
        return 0;
    if (l->crosses[item])
        abench_tape_builder_free(builder, (lane + 1) % f->lanes,
                                 ABENCH_SLOT_SHARED | (lane * f->items + item));
    else
        abench_tape_builder_free(builder, lane, item);
    l->empty[(l->first + (f->items - l->alive)) % f->items] = item;
    l->alive--;
    return 1;
}

/* A block of the fill, a step or a death of the drain; returns the operations. */
static uint32_t one(fleet *f, abench_tape_builder *builder, uint32_t lane)
{
    abench__wheel *wheel = f->lane[lane].wheel;
    uint32_t appended = 1;

    if (f->stage == DRAIN)
        return die(f, builder, lane, abench__wheel_take_any(wheel));
    if (f->stage == FILL) {
        bear(f, builder, lane, f->live, 0);
        return 1;
    }
    if (f->lane[lane].alive == f->most)
        appended += die(f, builder, lane, abench__wheel_take_any(wheel));
    bear(f, builder, lane, f->births, f->done);
    while (die(f, builder, lane, abench__wheel_take(wheel, f->done)))
        appended++;
    return appended;
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    static const char *const names[] = {
        [BEGIN_FILL] = "fill", [BEGIN_STEPS] = "steady", [BEGIN_DRAIN] = "drain"};
    fleet *f = memory;
    uint64_t end;

    if (f->stage % 2 == 0) {
        abench_tape_builder_phase(builder, names[f->stage],
                                  f->stage == BEGIN_STEPS ? ABENCH_PHASE_TIMED : 0);
        f->stage++;
        f->done = 0;
        return 0;
    }
    end = f->stage == DRAIN ? UINT64_MAX
                            : abench__workload_number(w, f->stage == FILL ? "blocks" : "steps");
    for (uint32_t appended = 0; appended < AIM && f->done < end; f->done++) {
        uint32_t now = 0;
        for (uint32_t lane = 0; lane < f->lanes; lane++)
            now += one(f, builder, lane);
        if (now == 0)
            return 1; /* the drain's end */
        appended += now;
    }
    f->stage += f->done == end;
    return 0;
}

const abench__workload_kind abench__fleet = {
    .info = {sizeof(abench_workload_info), 1, "fleet",
             "births and deaths in the mixture of sizes and lifetimes that is published for "
             "data-centre programs: a large live set of small blocks and some large ones",
             "the model of google/fleetbench's TCMalloc driver (703e5e5), with a table of fifteen "
             "rows whose medians, means and quantiles lie within those of its ten profiles",
             "the births and deaths; not fill and drain",
             "a byte of every page of each block; the original writes and reads the first byte"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
