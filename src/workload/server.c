/*
 * server.c - requests to a server, with peaks.
 *
 * Virtual time goes from one request to the next. A request allocates its body, then its small
 * objects; each dies after a lifetime of its own, on a timing wheel, before the next request. Most
 * objects are freed by the lane that made them, a share by the next lane.
 *
 * What is handed to another lane lives at least as long as the handover takes: otherwise the lanes
 * would wait for each other at every other request. Its slots go round, the one that is free
 * longest first, so that no lane waits for a slot either. When chance, or sizes whose mean says
 * little, wants more slots than were bargained for, an object is freed at once.
 */
#include "workload/server.h"

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads, which take requests in turn", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX,
     NULL, 0},
    {"rate", "20000", "requests a second of virtual time, over all lanes", PARAMETER_INTEGER, 1,
     10000000, NULL, 0},
    {"time", "6m", "virtual time behind the warm-up (24 h on a clock 240 times as fast)",
     PARAMETER_DURATION, 1000000, (uint64_t)7 * 86400 * 1000000000, "500ms", 1},
    {"objects", "uniform:15-30", "distribution of the small objects of a request", PARAMETER_SIZES,
     0, 0, NULL, 0},
    {"sizes", "mix:50%16-64,30%65-128,15%129-256,5%257-512",
     "distribution of the small objects' sizes", PARAMETER_SIZES, 0, 0, NULL, 0},
    {"body", "loguniform:200-10k", "distribution of the bodies' sizes, one a request",
     PARAMETER_SIZES, 0, 0, NULL, 0},
    {"lifetime", "loguniform:100us-5s",
     "distribution of an object's lifetime; without a unit it counts requests", PARAMETER_LIFETIME,
     0, 0, "loguniform:100us-150ms", 0},
    {"cross", "10", "percent of the objects that the next lane frees", PARAMETER_INTEGER, 0, 100,
     NULL, 0},
    {"handover", "5ms", "the shortest lifetime of what another lane frees", PARAMETER_DURATION, 0,
     1000000000, "1ms", 0},
    {"peak", "2x@30s/2500ms", "how the rate rises, how often and for how long; or none",
     PARAMETER_PEAK, 0, 0, "2x@250ms/25ms", 0},
    {"peak_lifetime", "100", "percent of its lifetime that an object made in a peak lives",
     PARAMETER_INTEGER, 1, 10000, NULL, 0},
    {"peak_body", "100", "percent of its size that a body has in a peak", PARAMETER_INTEGER, 0,
     10000, NULL, 0},
    {"paced", "0", "1: virtual time is real time; the lanes sleep until each millisecond of it",
     PARAMETER_INTEGER, 0, 1, NULL, 0},
    {"touch", "pages", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

/* Two operations an object; phases; a pace each millisecond; barriers, which are few. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    abench__timetable table;
    abench__load load;
    uint64_t waits;

    abench__server_timetable(w, &table);
    abench__server_load(w, &table, &load);
    waits = table.count + (lanes == 1 ? 0 : load.all_objects / ABENCH__SERVER_HANDED / lanes) +
            (abench__workload_number(w, "paced") ? table.end_ns / ABENCH__SERVER_PACE_NS : 0);
    return abench__saturating_add(abench__saturating_multiply(2, load.all_objects), waits * lanes);
}

static uint64_t live_bytes(const abench_workload *w)
{
    abench__timetable table;
    abench__load load;

    abench__server_timetable(w, &table);
    abench__server_load(w, &table, &load);
    return load.live_bytes;
}

/* The last local slot is for what is freed at once. */
static void shape(const abench_workload *w, abench_tape_options *options)
{
    abench__timetable table;
    abench__slots room;

    abench__server_timetable(w, &table);
    room = abench__server_slots(w, &table);
    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)room.local + 1;
    options->shared_slots = (uint32_t)room.ring * options->lanes;
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint32_t pauses(const abench_workload *w)
{
    return abench__workload_number(w, "paced") != 0;
}

const abench__workload_kind abench__server = {
    .info =
        {sizeof(abench_workload_info), 1, "server",
         "requests of 15 to 30 objects whose lives are from 100 us to 5 s, and peaks of twice the "
         "rate: memory before, in and after each peak, and what comes back",
         "allocbench's own model of a web service's day, no recording of one: 20000 requests a "
         "second, "
         "every 2 h a peak of twice the rate for 10 min; here on a clock 240 times as fast, rate "
         "and "
         "lifetimes kept",
         "the steady, peak and recovery phases; not warm-up and drain. What an allocator does by "
         "the clock, giving pages back above all, sees the pace of the play: paced=1 is real time",
         "a byte of every page of each block; nothing is read"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = abench__server_state_bytes,
    .begin = abench__server_begin,
    .fill = abench__server_fill,
    .pauses = pauses,
};
