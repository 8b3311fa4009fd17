/*
 * The workloads of servers and language runtimes: what is on their tapes, against what their
 * sources say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/workload.h>

#include "catalogue_tape.h"
#include "workload/workload.h"

/* ---- each at its quick scale ----------------------------------------------------------------- */

typedef struct span {
    uint64_t least;
    uint64_t most;
} span;

typedef struct expected {
    const char *name;
    span operations;
    span live_bytes;  /* at the peak */
    span live_blocks; /* at the peak */
    span size;        /* smallest and largest */
    span size_median;
    span size_mean_tenths; /* of mallocs and reallocs */
    span lifetime_median;
    span cross_permille; /* of the frees */
    span reallocs;
    uint32_t touch;
} expected;

static const expected table[] = {
    /* (150 + 500 + 150 + 2 * 25) ms of 20000 requests of 23.5 objects. A small object has 97 bytes
     * on average, a body 2551. Half of the objects live up to 3.9 ms, and a millisecond has 940
     * operations or, in a peak, twice that. */
    {"server",
     {785000, 812000},
     {2700000, 3200000},
     {13600, 14700},
     {16, 10240},
     {66, 72},
     {1985, 2045},
     {3550, 4150},
     {98, 102},
     {0, 0},
     ABENCH_TOUCH_PAGES},
    /* 20 MiB in blocks of 1310 bytes; log-uniform: half up to sqrt(16 * 8192). A block lives
     * until the frees come to it, half a turn of the others on average. */
    {"burst-idle",
     {31900, 32200},
     {20000000, 22000000},
     {15900, 16100},
     {16, 8192},
     {320, 385},
     {12500, 13700},
     {14000, 17000},
     {0, 0},
     {0, 0},
     ABENCH_TOUCH_PAGES},
    /* 4000 texts of 3227 bytes, and 2 MiB of garbage. A call asks for 10 blocks and enlarges
     * three times; two threads' garbage is swept by either. */
    {"rails-synth",
     {460000, 470000},
     {14400000, 15500000},
     {8000, 8600},
     {25, 8192},
     {128, 130},
     {8800, 9060},
     {2000, 4500},
     {470, 510},
     {59000, 60000},
     ABENCH_TOUCH_PAGES},
    /* 320000 strings of 0 to 99 bytes and a NUL; 120000 stay, and 40001 are a full chunk. */
    {"retained-strings",
     {640003, 640003},
     {8000000, 8150000},
     {160001, 160001},
     {1, 100},
     {49, 52},
     {501, 508},
     {40000, 90000},
     {0, 0},
     {0, 0},
     ABENCH_TOUCH_ALL},
    /* 80000 steps of 1.35 blocks; a quarter are lines, which are enlarged 2.69 times on average.
     * Of 135 blocks 78 are sent; what is not is freed at once, and 129 messages a lane are kept. */
    {"tokio-fanout",
     {266000, 273000},
     {4200000, 4900000},
     {1800, 2050},
     {16, 16384},
     {56, 72},
     {10300, 10900},
     {1, 4},
     {568, 590},
     {52500, 55100},
     ABENCH_TOUCH_ALL},
    /* From 16 bytes to a length between 64 and 2^18, log-uniform: between 2 and 14 doublings, 8.5
     * on average, in each of 7700 vectors. */
    {"vec-growth",
     {80010, 80038},
     {900000, 2000000},
     {30, 32},
     {16, 262144},
     {256, 264},
     {80000, 102000},
     {20, 26},
     {0, 0},
     {63000, 66500},
     ABENCH_TOUCH_PAGES},
    /* 250000 blocks of 64 to 4096 bytes, 2080 on average, of which 10000 at most are kept; two of
     * three are freed at once. */
    {"retain-third",
     {500003, 500003},
     {20500000, 21200000},
     {10000, 10000},
     {64, 4096},
     {2050, 2115},
     {20700, 20900},
     {1, 1},
     {0, 0},
     {0, 0},
     ABENCH_TOUCH_PAGES},
};

#define ENTRIES (sizeof table / sizeof table[0])

static void assert_in(const char *spec, const char *what, uint64_t value, span in)
{
    if (value < in.least || value > in.most)
        fail_msg("%s: %s is %llu, not %llu - %llu", spec, what, (unsigned long long)value,
                 (unsigned long long)in.least, (unsigned long long)in.most);
}

static void assert_expected(const expected *e, const abench_tape_summary *s)
{
    const uint64_t mallocs = s->by_kind[ABENCH_OP_MALLOC];
    const uint64_t reallocs = s->by_kind[ABENCH_OP_REALLOC];

    assert_int_equal(s->by_kind[ABENCH_OP_FREE], mallocs);
    assert_int_equal(s->live_bytes_end, 0);
    assert_int_equal(s->live_blocks_end, 0);
    assert_int_equal(s->touch, e->touch);
    assert_in(e->name, "operations", s->operations, e->operations);
    assert_in(e->name, "live bytes", s->live_bytes_peak, e->live_bytes);
    assert_in(e->name, "live blocks", s->live_blocks_peak, e->live_blocks);
    assert_in(e->name, "the smallest size", s->size_minimum,
              (span){e->size.least, e->size.least + 1});
    assert_in(e->name, "the largest size", s->size_maximum,
              (span){e->size.most - e->size.most / 200, e->size.most});
    assert_in(e->name, "the median size", s->size_median, e->size_median);
    assert_in(e->name, "ten times the mean size", s->bytes_requested * 10 / (mallocs + reallocs),
              e->size_mean_tenths);
    assert_in(e->name, "the median lifetime", s->lifetime_median, e->lifetime_median);
    assert_in(e->name, "frees across lanes in a thousand", s->cross_lane_frees * 1000 / mallocs,
              e->cross_permille);
    assert_in(e->name, "reallocs", reallocs, e->reallocs);
}

static abench_tape *quick_tape(const char *name, uint64_t seed)
{
    char spec[64];

    snprintf(spec, sizeof spec, "%s:scale=quick", name);
    return make_tape(spec, seed);
}

static void each_is_as_its_source_says(void **state)
{
    (void)state;
    for (size_t at = 0; at < ENTRIES; at++) {
        abench_tape *tape = quick_tape(table[at].name, 7);
        const abench_tape_summary s = summary_of(tape);
        assert_expected(&table[at], &s);
        abench_tape_destroy(tape);
    }
}

/* ---- bounds, lanes and seeds ----------------------------------------------------------------- */

static void assert_bounds(const char *spec, uint64_t seed)
{
    abench_workload *workload = parse(spec, seed, 0);
    abench_tape *tape = compile(workload);
    const abench_tape_summary s = summary_of(tape);
    const uint64_t operations = abench_workload_operations(workload);
    const uint64_t live = abench_workload_live_bytes(workload);

    assert_in(abench_workload_spec(workload), "the bound of operations", operations,
              (span){s.operations, 2 * s.operations - 1});
    assert_in(abench_workload_spec(workload), "the bound of live bytes", live,
              (span){s.live_bytes_peak, 2 * s.live_bytes_peak - 1});
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

static void what_is_said_beforehand_is_a_bound(void **state)
{
    static const char *const specs[] = {
        "server:scale=quick",
        "server:scale=quick,peak=none,lanes=1",
        "server:scale=quick,peak=4x@100ms/5ms",
        "server:scale=quick,peak=0.5x@100ms/50ms",
        "server:scale=quick,peak_lifetime=300,peak_body=400,lanes=5",
        "server:scale=quick,peak_lifetime=20,peak_body=10",
        "server:scale=quick,lifetime=fixed:20ms,objects=fixed:1,sizes=fixed:8,cross=100",
        "server:rate=100,time=20s,lifetime=exp:20,1-400,peak=none,paced=1",
        "burst-idle:scale=quick,lanes=7,survivors=100",
        "burst-idle:scale=quick,trickle=100",
        "rails-synth:scale=quick,body=1000,spread=1",
        "rails-synth:scale=quick,pool=400,gc=16m",
        "retained-strings:scale=quick,embedded=24",
        "retained-strings:scale=quick,large=100000",
        "retained-strings:scale=quick,lanes=3,sizes=lognormal:40,1,1-4k",
        "tokio-fanout:scale=quick,lanes=2",
        "tokio-fanout:scale=quick,lines=loguniform:1-64k,messages=fixed:1",
        "vec-growth:scale=quick,growth=150,shrink=1",
        "vec-growth:scale=quick,vectors=1000,steps=200000",
        "retain-third:scale=quick,every=7,kept=501,lanes=3",
        "retain-third:scale=quick,every=1,kept=1",
    };

    (void)state;
    for (size_t at = 0; at < ENTRIES; at++) {
        abench_workload *full = parse(table[at].name, 1, 0);
        assert_true(abench_workload_live_bytes(full) < (uint64_t)1024 * MIB);
        abench_workload_destroy(full);
    }
    for (size_t at = 0; at < sizeof specs / sizeof specs[0]; at++)
        assert_bounds(specs[at], at);
    for (size_t at = 0; at < ENTRIES; at++) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s:scale=quick", table[at].name);
        assert_bounds(spec, 12);
    }
}

static void assert_plays(const char *spec, uint32_t lanes)
{
    abench_workload *workload = parse(spec, 3, lanes);
    abench_tape *tape = compile(workload);
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_play(tape, NULL, NULL, &receipt, &error) != ABENCH_OK)
        fail_msg("%s: %s", abench_workload_spec(workload), error.message);
    for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
        assert_int_equal(receipt.executed[kind], receipt.planned[kind]);
    assert_int_equal(summary_of(tape).lanes, lanes);
    assert_int_equal(receipt.checksum, receipt.checksum_planned);
    assert_int_equal(receipt.work_digest, abench_tape_digest(tape));
    assert_int_equal(receipt.failed, 0);
    assert_int_equal(receipt.live_blocks_end, 0);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

static void each_plays_in_any_number_of_lanes(void **state)
{
    static const uint32_t lanes[] = {1, 2, 3, 7};
    static const char *const small[] = {
        "server:scale=quick,time=20ms,lifetime=loguniform:100us-20ms",
        "server:scale=quick,time=20ms,lifetime=fixed:1us,handover=0ms,cross=100,peak=9x@5ms/1ms",
        "server:scale=quick,time=20ms,lifetime=loguniform:1us-20ms,paced=1",
        "burst-idle:bytes=1m,idle=1ms,trickle=2",
        "burst-idle:bytes=1,idle=1ms,survivors=0",
        "rails-synth:calls=2000,pool=30,keep=7,gc=64k",
        "rails-synth:calls=3,pool=1,keep=1,gc=64k,spread=1",
        "retained-strings:rounds=2,temporary=5000,retained=900,chunk=300,large=5000",
        "retained-strings:rounds=1,temporary=5,retained=5,chunk=1",
        "retained-strings:rounds=2,temporary=50,retained=5,chunk=7,embedded=100",
        "tokio-fanout:steps=2000,held=10",
        "tokio-fanout:steps=20000,held=1,lines=fixed:64k,messages=fixed:1",
        "vec-growth:steps=3000,sizes=loguniform:1-8k,shrink=1",
        "vec-growth:steps=1,vectors=1",
        "retain-third:steps=9000,kept=101",
        "retain-third:steps=1,smallest=0,largest=0,touch=all",
    };

    (void)state;
    for (size_t at = 0; at < sizeof small / sizeof small[0]; at++)
        for (size_t which = 0; which < sizeof lanes / sizeof lanes[0]; which++)
            assert_plays(small[at], lanes[which]);
}

static void the_limits_of_the_parameters_are_none_of_the_code(void **state)
{
    static const char *const specs[] = {
        "server:rate=10000000,time=168h,lifetime=fixed:20000h,lanes=1024,peak=999x@2ns/1ns,paced=1",
        "server:rate=10000000,objects=fixed:100000g,body=fixed:100000g,peak_lifetime=10000",
        "server:rate=1,time=1ms,lifetime=fixed:1,peak=0.000001x@168h/100h",
        "burst-idle:bytes=1024g,sizes=fixed:0,trickle=1000000,idle=1h,lanes=1024",
        "rails-synth:calls=1024g,pool=16m,keep=1g,body=1g,spread=1g,gc=16g,lanes=1024",
        "retained-strings:rounds=1g,temporary=1g,retained=256m,chunk=256m,large=1g,lanes=1024",
        "tokio-fanout:steps=1024g,held=16k,lanes=1024,lines=fixed:100000g,messages=fixed:100000g",
        "vec-growth:steps=1024g,start=1g,vectors=1m,growth=110,sizes=fixed:100000g,lanes=1024",
        "retain-third:steps=1024g,smallest=1g,largest=1g,every=1g,kept=16m,lanes=1024",
    };

    (void)state;
    for (size_t at = 0; at < sizeof specs / sizeof specs[0]; at++) {
        abench_workload *workload = parse(specs[at], 1, 0);
        abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
        assert_true(abench_workload_operations(workload) > 0);
        assert_true(abench_workload_live_bytes(workload) > 0 ||
                    strstr(specs[at], "=fixed:0") != NULL);
        assert_true(workload->kind->state_bytes(workload) > 0);
        workload->kind->shape(workload, &options);
        assert_true((uint64_t)options.lanes * options.local_slots + options.shared_slots <=
                    (uint64_t)1 << 41);
        assert_true(options.shared_slots < ABENCH_SLOT_SHARED);
        abench_workload_destroy(workload);
    }
}

static int is_near(uint64_t a, uint64_t b)
{
    const uint64_t difference = a > b ? a - b : b - a;

    return difference <= a / 5 + 1;
}

static void another_seed_gives_the_like_of_it(void **state)
{
    (void)state;
    for (size_t at = 0; at < ENTRIES; at++) {
        abench_tape *one = quick_tape(table[at].name, 1), *two = quick_tape(table[at].name, 2);
        const abench_tape_summary a = summary_of(one), b = summary_of(two);
        /* rails-synth draws nothing: a call's number says it all. */
        if (strcmp(table[at].name, "rails-synth") == 0)
            assert_int_equal(abench_tape_digest(one), abench_tape_digest(two));
        else
            assert_int_not_equal(abench_tape_digest(one), abench_tape_digest(two));
        assert_true(is_near(a.operations, b.operations));
        assert_true(is_near(a.bytes_requested, b.bytes_requested));
        assert_true(is_near(a.size_median, b.size_median));
        assert_true(is_near(a.live_blocks_peak, b.live_blocks_peak));
        assert_true(is_near(a.cross_lane_frees, b.cross_lane_frees));
        abench_tape_destroy(one);
        abench_tape_destroy(two);
    }
}

/* ---- one by one ------------------------------------------------------------------------------ */

static void a_burst_leaves_survivors_and_idles_for_eight_units(void **state)
{
    static const char *const names[] = {"burst",  "free",   "idle-0", "idle-1",
                                        "idle-2", "idle-4", "idle-8", "drain"};
    static const uint64_t idle_us[] = {0, 0, 0, 20000, 20000, 40000, 80000, 0};
    abench_tape *tape = make_tape("burst-idle:scale=quick,trickle=2", 1);
    const abench_tape_summary s = summary_of(tape);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t us[8] = {0}, mallocs[8] = {0}, halves[2] = {0};

    (void)state;
    assert_int_equal(s.phases, 8);
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK) {
        us[op.phase] += op.lane == 1 ? op.microseconds : 0;
        mallocs[op.phase] += op.kind == ABENCH_OP_MALLOC;
        halves[op.slot > s.local_slots / 2] += op.phase == 7 && op.kind == ABENCH_OP_FREE;
    }
    for (uint32_t at = 0; at < 8; at++) {
        const abench_phase phase = phase_of(tape, names[at]);
        assert_int_equal(us[at], idle_us[at]);
        assert_int_equal(phase.flags, at < 2 ? ABENCH_PHASE_TIMED : 0);
        if (at > 0) /* two blocks of two lanes, ten times a unit of 20 ms */
            assert_int_equal(mallocs[at], 2 * 2 * 10 * us[at] / 20000);
    }
    assert_in("burst-idle", "survivors in a thousand",
              phase_of(tape, "idle-8").live_blocks_end * 1000 / mallocs[0], (span){44, 56});
    assert_in("burst-idle", "survivors of the first half", halves[0],
              (span){halves[1] * 3 / 4, halves[1] * 4 / 3});
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

/* Messages of 26 generations each, and slots that go round. */
static void workers_meet_before_generations_go_round(void **state)
{
    abench_workload *workload =
        parse("tokio-fanout:steps=12000,held=1,lines=fixed:64k,messages=fixed:1", 1, 7);
    abench_tape *tape = compile(workload);

    (void)state;
    /* 65534 / 26 - 1 uses of 2 * (1 + 7 + 8) slots, by 7 lanes: 11515 steps */
    assert_int_equal(summary_of(tape).by_kind[ABENCH_OP_BARRIER], 7);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

static void a_text_in_fifty_is_kept(void **state)
{
    abench_tape *tape = quick_tape("rails-synth", 1);
    const abench_tape_summary s = summary_of(tape);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t kept = 0, bodies = 0;

    (void)state;
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK) {
        const uint32_t slot = op.slot & ~ABENCH_SLOT_SHARED;
        const int pooled = slot >= s.shared_slots - 4000;
        if (op.kind != ABENCH_OP_MALLOC || op.phase != 1)
            continue;
        kept += pooled != 0;
        if (!pooled && slot % 10 == 7) {
            assert_in("rails-synth", "a body with its NUL", op.size, (span){65, 64 + 4096});
            bodies++;
        }
    }
    assert_int_equal(bodies, 20000);
    assert_int_equal(kept, 20000 / 50);
    assert_int_equal(phase_of(tape, "fill").live_blocks_end, 4000);
    assert_true(phase_of(tape, "calls").live_blocks_end >= 4000);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

/* On Ruby 3.1 this test was seen to make 1217600 calls of malloc beyond those of start-up. */
static void retained_strings_ask_as_often_as_ruby_does(void **state)
{
    abench_tape *tape = make_tape("retained-strings:rounds=1,embedded=24", 1);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t large = 0, retained = 0, temporary = 0;

    (void)state;
    assert_in("retained-strings", "mallocs", summary_of(tape).by_kind[ABENCH_OP_MALLOC],
              (span){1217600 - 3600, 1217600 + 3600});
    abench_tape_destroy(tape);

    /* Half of the strings are temporary while any are to be retained: 4 chunks of 40001. */
    tape = quick_tape("retained-strings", 1);
    assert_int_equal(phase_of(tape, "rounds").live_blocks_end, 120000 + 200000 - 4 * 40001);
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (retained < 120000 && abench_tape_next(cursor, &op) == ABENCH_OK) {
        retained += op.kind == ABENCH_OP_MALLOC && op.slot < 120000;
        temporary += op.kind == ABENCH_OP_MALLOC && op.slot >= 120000;
    }
    assert_in("retained-strings", "temporary strings among the retained", temporary,
              (span){118000, 122000});
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);

    /* The first chunk has 201 strings, each other one 200 and the large one. */
    tape = make_tape("retained-strings:rounds=1,temporary=12000,retained=600,chunk=200,"
                     "large=100000,sizes=mix:20%0,20%10,20%20,20%30,20%40",
                     1);
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK) {
        large += op.kind == ABENCH_OP_MALLOC && op.size == 100000;
        assert_true(op.kind != ABENCH_OP_MALLOC || op.size == 100000 || op.size % 10 == 1);
    }
    assert_int_equal(large, 1 + (12000 - 201) / 200);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

static void a_vector_grows_by_its_factor(void **state)
{
    abench_tape *tape = quick_tape("vec-growth", 1);
    abench_tape *less = make_tape("vec-growth:scale=quick,growth=150", 1);
    abench_tape *cut = make_tape("vec-growth:scale=quick,shrink=1", 1);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t shrunk = 0;
    const abench_tape_summary s = summary_of(less);

    (void)state;
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK)
        if (op.kind == ABENCH_OP_MALLOC || op.kind == ABENCH_OP_REALLOC)
            assert_int_equal(op.size & (op.size - 1), 0);
    abench_tape_cursor_destroy(cursor);
    /* ln(length / 16) is 5.55 on average, ln(1.5) is 0.405, and the last step goes beyond. */
    assert_in("vec-growth", "hundred times the reallocs of a vector",
              s.by_kind[ABENCH_OP_REALLOC] * 100 / s.by_kind[ABENCH_OP_MALLOC], (span){1370, 1480});
    assert_int_equal(abench_tape_cursor_create(cut, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK)
        shrunk += op.kind == ABENCH_OP_REALLOC && (op.size & (op.size - 1)) != 0;
    assert_in("vec-growth", "vectors cut to their lengths", shrunk,
              (span){summary_of(cut).by_kind[ABENCH_OP_FREE] * 95 / 100,
                     summary_of(cut).by_kind[ABENCH_OP_FREE]});
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
    abench_tape_destroy(less);
    abench_tape_destroy(cut);
}

static void the_older_half_goes_when_ten_thousand_are_kept(void **state)
{
    abench_tape *tape = quick_tape("retain-third", 1);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t size = 0, stride = 0, repeated = 0;

    (void)state;
    /* One third of 250000, 10000 of which bring the first 5000 frees, and each 5000 more others. */
    assert_int_equal(phase_of(tape, "steps").live_blocks_end,
                     83334 - 5000 * (1 + (83334 - 10000) / 5000));
    assert_int_equal(summary_of(tape).live_blocks_peak, 10000);

    /* A congruence's sizes do not come in even strides. */
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK) {
        if (op.kind != ABENCH_OP_MALLOC)
            continue;
        repeated += op.size - size == stride;
        stride = op.size - size;
        size = op.size;
    }
    assert_true(repeated < 250000 / 1000);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_as_its_source_says),
        cmocka_unit_test(what_is_said_beforehand_is_a_bound),
        cmocka_unit_test(each_plays_in_any_number_of_lanes),
        cmocka_unit_test(the_limits_of_the_parameters_are_none_of_the_code),
        cmocka_unit_test(another_seed_gives_the_like_of_it),
        cmocka_unit_test(a_burst_leaves_survivors_and_idles_for_eight_units),
        cmocka_unit_test(workers_meet_before_generations_go_round),
        cmocka_unit_test(a_text_in_fifty_is_kept),
        cmocka_unit_test(retained_strings_ask_as_often_as_ruby_does),
        cmocka_unit_test(a_vector_grows_by_its_factor),
        cmocka_unit_test(the_older_half_goes_when_ten_thousand_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
