/* The catalogue as a whole: every workload keeps its promises at the quick scale, no two of them
 * are the same work, and the lists say what a reader needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/workload.h>

#define WORKLOADS_MAX 64
#define MIB           1048576u

typedef struct known {
    const char *name;
    uint64_t bound, live_bound;
    abench_tape_summary summary;
} known;

static known catalogue[WORKLOADS_MAX];
static uint32_t catalogue_count;

static abench_workload *parse(const char *name, const char *parameters, uint64_t seed)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    char spec[256];

    snprintf(spec, sizeof spec, "%s:scale=quick%s", name, parameters);
    if (abench_workload_parse(spec, seed, 0, &workload, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return workload;
}

/* What is said of a workload before its tape, and what the tape is. */
static known know(const char *name, abench_workload *workload)
{
    known k = {name, abench_workload_operations(workload), abench_workload_live_bytes(workload),
               ABENCH_TAPE_SUMMARY_INIT};
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;

    if (abench_workload_stream(workload, NULL, &tape, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(abench_tape_get_summary(tape, &k.summary), ABENCH_OK);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    return k;
}

/* The summary of a workload's quick scale, once for all tests. */
static int read_catalogue(void **state)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;

    (void)state;
    for (uint32_t at = 0; abench_workload_at(at, &info) == ABENCH_OK; at++) {
        catalogue[catalogue_count] = know(info.name, parse(info.name, "", 1));
        catalogue_count++;
    }
    return 0;
}

static void every_text_is_there(void **state)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;

    (void)state;
    for (uint32_t at = 0; abench_workload_at(at, &info) == ABENCH_OK; at++) {
        abench_workload_parameter parameter = ABENCH_WORKLOAD_PARAMETER_INIT;
        uint32_t lengths = 0, count = 0;
        if (strlen(info.summary) < 20 || strlen(info.source) < 10 || strlen(info.timed) < 5 ||
            strlen(info.touched) < 5)
            fail_msg("%s: a text is missing", info.name);
        for (; abench_workload_parameter_at(info.name, count, &parameter) == ABENCH_OK; count++) {
            if (strlen(parameter.summary) < 5)
                fail_msg("%s: %s has no summary", info.name, parameter.name);
            lengths += parameter.is_length;
        }
        if (count < 2 || lengths > 1)
            fail_msg("%s: %u parameters, %u of them its length", info.name, count, lengths);
    }
}

static void assert_nothing_is_left(const known *k)
{
    if (k->summary.live_blocks_end != 0)
        fail_msg("%s leaves %llu blocks", k->name, (unsigned long long)k->summary.live_blocks_end);
}

/* The presets' estimates are bounds, and less than twice the truth. */
static void assert_bounds(const known *k)
{
    const abench_tape_summary *s = &k->summary;

    if (s->operations > k->bound || k->bound >= 2 * s->operations)
        fail_msg("%s: %llu operations, %llu said", k->name, (unsigned long long)s->operations,
                 (unsigned long long)k->bound);
    if (s->live_bytes_peak > k->live_bound || k->live_bound >= 2 * s->live_bytes_peak)
        fail_msg("%s: %llu bytes alive, %llu said", k->name, (unsigned long long)s->live_bytes_peak,
                 (unsigned long long)k->live_bound);
    assert_nothing_is_left(k);
}

/* Whatever the parameters, there is not half as much again as was said. */
static void assert_estimates(const known *k)
{
    const abench_tape_summary *s = &k->summary;

    if (s->operations > k->bound + k->bound / 2 ||
        s->live_bytes_peak > k->live_bound + k->live_bound / 2)
        fail_msg("%s: %llu operations, %llu bytes, said %llu, %llu", k->name,
                 (unsigned long long)s->operations, (unsigned long long)s->live_bytes_peak,
                 (unsigned long long)k->bound, (unsigned long long)k->live_bound);
    assert_nothing_is_left(k);
}

static void the_bounds_hold(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < catalogue_count; at++)
        assert_bounds(&catalogue[at]);
}

/* A seed at which some of the workloads were once above their bounds. */
static void the_bounds_hold_at_another_seed(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < catalogue_count; at++) {
        const known k = know(catalogue[at].name, parse(catalogue[at].name, "", 4));
        assert_bounds(&k);
    }
}

/* Few blocks, sizes that are hardly ever large, what is rounded up, and what lives on. */
static void estimates_are_not_far_below_the_truth(void **state)
{
    static const char *const specs[] = {
        "rptest:scale=quick,slots=1,pending=0,cross=0",
        "rptest:scale=quick,min=1,max=1",
        "rptest:scale=quick,rounds=3,loops=3",
        "rptest:rounds=1,loops=1,operations=4",
        "mstress:blocks=2,phases=45000,transfers=1",
        "vec-growth:scale=quick,sizes=uniform:20-200,start=1",
        "vec-growth:steps=10000,sizes=pareto:0.7,16-1g,vectors=100",
        "retained-strings:scale=quick,sizes=pareto:0.6,1-1g",
        "retained-strings:temporary=100,retained=100,chunk=10,sizes=pareto:0.6,1-1g",
        "alloc-test:steps=20000,slots=1",
        "alloc-test:scale=quick,slots=40,sizes=pareto:0.8,1-1g",
        "glibc-thread:scale=quick,slots=8,sizes=pareto:0.8,1-1g",
        "rails-synth:scale=quick,keep=1",
        "rails-synth:calls=5000,pool=100,keep=1,gc=64k,lanes=1,spread=60000",
        "server:time=20ms,handover=1s,cross=100,lifetime=fixed:1us",
        "server:time=100ms,lifetime=uniform:1us-1ms,cross=50,handover=50ms,peak=none",
        "server:time=1ms,rate=2000,peak=none",
        "server:time=100ms,lifetime=exp:1ms,1us-20ms,sizes=pareto:0.7,1-1g",
        "tokio-fanout:steps=1",
        "tokio-fanout:steps=1000,held=1,messages=pareto:0.6,1-1g",
        "sh8:passes=2,ring=1,handed=7321,lanes=3",
        "sh6:scale=quick,leak=1,calls=3",
        "fleet:scale=quick,blocks=1",
    };

    (void)state;
    for (size_t at = 0; at < sizeof specs / sizeof specs[0]; at++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            abench_error error = ABENCH_ERROR_INIT;
            abench_workload *workload = NULL;
            known k;
            if (abench_workload_parse(specs[at], seed, 0, &workload, &error) != ABENCH_OK)
                fail_msg("%s", error.message);
            k = know(specs[at], workload);
            assert_estimates(&k);
        }
}

/* Small enough for ten targets at once in two seconds. */
static void the_quick_scale_is_quick(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < catalogue_count; at++) {
        const abench_tape_summary *s = &catalogue[at].summary;
        if (s->operations > 1200000 || s->live_bytes_peak > 96 * MIB)
            fail_msg("%s: %llu operations, %llu MiB", catalogue[at].name,
                     (unsigned long long)s->operations,
                     (unsigned long long)s->live_bytes_peak / MIB);
    }
}

/* ---- no two are the same
 * ---------------------------------------------------------------------- */

#define FEATURES 9

/* What tells the work of two workloads apart, whatever their scale. */
static void features(const abench_tape_summary *s, double out[FEATURES])
{
    const double operations = (double)s->operations;
    uint64_t allocations = 0;

    for (uint32_t kind = ABENCH_OP_MALLOC; kind <= ABENCH_OP_REALLOC; kind++)
        allocations += s->by_kind[kind];

    out[0] = (double)allocations / operations;
    out[1] = (double)s->by_kind[ABENCH_OP_REALLOC] / operations;
    out[2] = (double)s->by_kind[ABENCH_OP_TOUCH] / operations;
    out[3] = (double)s->bytes_requested / (double)allocations;
    out[4] = (double)s->size_median;
    out[5] = (double)s->size_maximum;
    out[6] = (double)s->live_blocks_peak;
    out[7] = (double)s->cross_lane_frees / (double)allocations;
    out[8] = (double)s->lifetime_median;
}

static int are_near(double a, double b)
{
    const double larger = a > b ? a : b, difference = a > b ? a - b : b - a;

    return difference <= larger * 0.05;
}

static void no_two_are_the_same(void **state)
{
    (void)state;
    for (uint32_t a = 0; a < catalogue_count; a++)
        for (uint32_t b = 0; b < a; b++) {
            double x[FEATURES], y[FEATURES];
            uint32_t near = 0;
            features(&catalogue[a].summary, x);
            features(&catalogue[b].summary, y);
            for (uint32_t at = 0; at < FEATURES; at++)
                near += (uint32_t)are_near(x[at], y[at]);
            if (near == FEATURES && catalogue[a].summary.touch == catalogue[b].summary.touch)
                fail_msg("%s and %s are the same work", catalogue[a].name, catalogue[b].name);
        }
}

/* ---- lanes
 * ------------------------------------------------------------------------------------ */

static void every_number_of_lanes_plays(void **state)
{
    static const char *const lanes[] = {",lanes=1", ",lanes=2", ",lanes=3", ",lanes=7",
                                        ",lanes=64"};

    (void)state;
    for (uint32_t at = 0; at < catalogue_count; at++)
        for (uint32_t which = 0; which < sizeof lanes / sizeof lanes[0]; which++) {
            char spec[128];
            abench_error error = ABENCH_ERROR_INIT;
            abench_workload *workload = NULL;
            known k;
            snprintf(spec, sizeof spec, "%s:scale=quick%s", catalogue[at].name, lanes[which]);
            if (abench_workload_parse(spec, 1, 0, &workload, &error) != ABENCH_OK) {
                if (which > 1) /* two lanes are the most that a pattern may need */
                    fail_msg("%s", error.message);
                continue;
            }
            if (abench_workload_operations(workload) > 4000000) {
                abench_workload_destroy(workload);
                continue;
            }
            k = know(spec, workload);
            assert_estimates(&k);
        }
}

/* ---- pauses
 * ----------------------------------------------------------------------------------- */

/* What sleeps must say so before it is played: the tool does not let others wait for it. */
static void what_pauses_says_so(void **state)
{
    abench_workload *paced = parse("server", ",paced=1", 1), *plain = parse("server", "", 1);

    (void)state;
    for (uint32_t at = 0; at < catalogue_count; at++) {
        abench_workload *workload = parse(catalogue[at].name, "", 1);
        assert_int_equal(abench_workload_pauses(workload),
                         catalogue[at].summary.by_kind[ABENCH_OP_PAUSE] > 0);
        abench_workload_destroy(workload);
    }
    assert_true(abench_workload_pauses(paced));
    assert_false(abench_workload_pauses(plain));
    abench_workload_destroy(paced);
    abench_workload_destroy(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_is_there),
        cmocka_unit_test(the_bounds_hold),
        cmocka_unit_test(the_bounds_hold_at_another_seed),
        cmocka_unit_test(estimates_are_not_far_below_the_truth),
        cmocka_unit_test(the_quick_scale_is_quick),
        cmocka_unit_test(no_two_are_the_same),
        cmocka_unit_test(every_number_of_lanes_plays),
        cmocka_unit_test(what_pauses_says_so),
    };
    return cmocka_run_group_tests(tests, read_catalogue, NULL);
}
