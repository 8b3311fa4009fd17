/* Own work with lanes: requests from begin to end, what counts, and where it shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/mman.h>

#include <allocbench/run.h>

#include "result.h"

#define SECOND ((uint64_t)1000000000)

static abench_run *make_run(const abench_run_options *options)
{
    abench_run *run = NULL;

    assert_int_equal(abench_run_create(options, &run), ABENCH_OK);
    return run;
}

static abench_lane *add(abench_run *run)
{
    abench_lane *lane = NULL;

    assert_int_equal(abench_run_lane_add(run, &lane), ABENCH_OK);
    assert_non_null(lane);
    return lane;
}

static double metric(const abench_run *run, const char *name)
{
    double value = 0;

    if (abench_run_metric(run, name, &value) != ABENCH_OK)
        fail_msg("no metric '%s'", name);
    return value;
}

static void assert_no_metric(const abench_run *run, const char *name)
{
    double value;

    assert_int_equal(abench_run_metric(run, name, &value), ABENCH_ERROR_NOT_FOUND);
}

/* count requests that took at least so long. */
static void requests(abench_lane *lane, uint32_t count, uint64_t ns)
{
    for (uint32_t at = 0; at < count; at++)
        abench_lane_end(lane, abench_lane_begin(lane) - ns);
}

static uint64_t count_of(const abench_run *run, uint32_t kind)
{
    const abench_histogram *histogram = abench_run_histogram(run, kind);

    return histogram == NULL ? 0 : abench_histogram_count(histogram);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void *work(void *user)
{
    requests(user, 400, SECOND);
    requests(user, 100, 3 * SECOND);
    return NULL;
}

static void the_lanes_of_all_threads_are_added_up(void **state)
{
    abench_run *run = make_run(NULL);
    abench_lane *lanes[2] = {add(run), NULL}; /* one before the start, one after it */
    pthread_t threads[2];
    double wall;

    (void)state;
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    lanes[1] = add(run);
    for (uint32_t at = 0; at < 2; at++)
        assert_int_equal(pthread_create(&threads[at], NULL, work, lanes[at]), 0);
    for (uint32_t at = 0; at < 2; at++)
        pthread_join(threads[at], NULL);
    assert_null(abench_run_histogram(run, ABENCH_LATENCY_REQUEST)); /* not before the stop */
    assert_int_equal(abench_run_stop(run), ABENCH_OK);

    wall = metric(run, "wall_ns");
    assert_true(metric(run, "requests") == 1000);
    assert_true(metric(run, "requests_per_second") > 999.9 / wall * 1e9);
    assert_true(metric(run, "requests_per_second") < 1000.1 / wall * 1e9);
    assert_true(metric(run, "request_p50_ns") >= 1.0 * SECOND);
    assert_true(metric(run, "request_p50_ns") < 3.0 * SECOND);
    assert_true(metric(run, "request_max_ns") >= 3.0 * SECOND);
    assert_no_metric(run, "request_p99_ns"); /* 10 lie above it */
    assert_no_metric(run, "malloc_p50_ns");
    assert_int_equal(count_of(run, ABENCH_LATENCY_REQUEST), 1000);
    assert_int_equal(count_of(run, ABENCH_LATENCY_SERVICE), 0);
    assert_null(abench_run_histogram(run, ABENCH_LATENCY_MALLOC));
    assert_null(abench_run_histogram(run, ABENCH_LATENCY_KINDS));
    abench_run_destroy(run);
}

static void a_stall_shows_from_the_intended_start(void **state)
{
    abench_run *run = make_run(NULL);
    abench_lane *lane = add(run);
    const abench_histogram *request, *service;

    (void)state;
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    for (uint32_t at = 0; at < 300; at++) {
        const uint64_t begun = abench_lane_begin(lane) - SECOND;
        abench_lane_end_at(lane, begun - 5 * SECOND, begun);
    }
    abench_lane_end_at(add(run), UINT64_MAX, UINT64_MAX); /* of the future: 0, not 584 years */
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    request = abench_run_histogram(run, ABENCH_LATENCY_REQUEST);
    service = abench_run_histogram(run, ABENCH_LATENCY_SERVICE);
    assert_true(metric(run, "requests") == 301);
    assert_true(metric(run, "request_p50_ns") >= 6.0 * SECOND);
    assert_int_equal(abench_histogram_minimum(request), 0);
    assert_int_equal(abench_histogram_count(service), 301);
    assert_in_range(abench_histogram_maximum(service), SECOND, 5 * SECOND);
    assert_in_range(abench_histogram_maximum(request), 6 * SECOND, 10 * SECOND);
    abench_run_destroy(run);
}

static void only_timed_phases_count(void **state)
{
    abench_run *run = make_run(NULL);
    abench_lane *lane = add(run);

    (void)state;
    requests(lane, 1, SECOND);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    requests(lane, 20, SECOND);
    assert_int_equal(abench_run_phase(run, "pause", 0), ABENCH_OK);
    requests(lane, 300, SECOND);
    assert_int_equal(abench_run_phase(run, "more", ABENCH_PHASE_TIMED), ABENCH_OK);
    requests(lane, 4000, SECOND);
    assert_int_equal(abench_run_phase(run, "drain", 0), ABENCH_OK);
    abench_lane_end_at(lane, abench_clock_ns(), abench_clock_ns());
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    requests(lane, 1, SECOND);
    assert_true(metric(run, "requests") == 4020);
    assert_int_equal(count_of(run, ABENCH_LATENCY_REQUEST), 4020);
    assert_int_equal(count_of(run, ABENCH_LATENCY_SERVICE), 0);
    abench_run_destroy(run);
}

/* A phase too many is refused, and the one that was open goes on. */
static void a_refused_phase_does_not_stop_the_count(void **state)
{
    abench_run *run = make_run(NULL);
    abench_lane *lane = add(run);

    (void)state;
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    while (abench_run_phase(run, "next", ABENCH_PHASE_TIMED) == ABENCH_OK)
        ;
    requests(lane, 7, SECOND);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    requests(lane, 7, SECOND); /* nothing is open */
    assert_int_equal(count_of(run, ABENCH_LATENCY_REQUEST), 7);
    assert_true(metric(run, "requests") == 7);
    abench_run_destroy(run);
}

static void without_lanes_there_are_no_requests(void **state)
{
    abench_run *run = make_run(NULL);

    (void)state;
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    assert_no_metric(run, "requests");
    assert_no_metric(run, "requests_per_second");
    assert_no_metric(run, "request_max_ns");
    abench_run_destroy(run);

    run = make_run(NULL);
    add(run);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    assert_true(metric(run, "requests") == 0); /* none were made */
    assert_no_metric(run, "request_max_ns");
    abench_run_destroy(run);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void there_is_an_end_of_lanes(void **state)
{
    abench_run *run = make_run(NULL);
    abench_lane *lane = (abench_lane *)run;

    (void)state;
    for (uint32_t at = 0; at < ABENCH_LANES_MAX; at++)
        add(run);
    assert_int_equal(abench_run_lane_add(run, &lane), ABENCH_ERROR_LIMIT);
    assert_null(lane);
    assert_int_equal(abench_run_lane_add(run, &lane), ABENCH_ERROR_LIMIT);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    assert_int_equal(abench_run_lane_add(run, &lane), ABENCH_ERROR_STATE);
    abench_run_destroy(run);
}

#define THREADS 4
#define EACH    16

/* Each thread takes lanes of its own, all at once. */
static void *take_lanes(void *user)
{
    for (uint32_t at = 0; at < EACH; at++) {
        abench_lane *lane = NULL;
        if (abench_run_lane_add(user, &lane) != ABENCH_OK)
            return user;
        requests(lane, 10, SECOND);
    }
    return NULL;
}

static void threads_take_lanes_at_once(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    pthread_t threads[THREADS];
    abench_run *run;
    void *failed;

    (void)state;
    o.lanes = THREADS; /* some are there already, others are not */
    run = make_run(&o);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    for (uint32_t at = 0; at < THREADS; at++)
        assert_int_equal(pthread_create(&threads[at], NULL, take_lanes, run), 0);
    for (uint32_t at = 0; at < THREADS; at++) {
        pthread_join(threads[at], &failed);
        assert_null(failed);
    }
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    assert_true(metric(run, "requests") == THREADS * EACH * 10);
    abench_run_destroy(run);
}

typedef struct pages {
    uint32_t maps, unmaps, fails;
} pages;

static void *map_pages(uint64_t bytes, void *user)
{
    pages *p = user;
    void *memory;

    if (p->fails)
        return NULL;
    p->maps++;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap_pages(void *memory, uint64_t bytes, void *user)
{
    ((pages *)user)->unmaps++;
    munmap(memory, bytes);
}

static void announced_lanes_are_mapped_by_the_start(void **state)
{
    pages p = {0};
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_lane *lane = NULL;
    abench_run *run;
    uint32_t before;

    (void)state;
    hooks.map = map_pages;
    hooks.unmap = unmap_pages;
    hooks.user = &p;
    o.hooks = &hooks;
    o.lanes = 3;
    run = make_run(&o);
    add(run);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    before = p.maps;
    add(run);
    add(run);
    assert_int_equal(p.maps, before);
    add(run);
    assert_int_equal(p.maps, before + 1);
    p.fails = 1;
    assert_int_equal(abench_run_lane_add(run, &lane), ABENCH_ERROR_MEMORY);
    assert_null(lane);
    p.fails = 0;
    requests(add(run), 3, SECOND); /* the one behind it is found */
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    assert_true(metric(run, "requests") == 3);
    abench_run_destroy(run);
    assert_int_equal(p.unmaps, p.maps);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The third numbers of "[[low,high,count],...]", summed; low and high rise. */
static uint64_t sum_of_buckets(const char *record)
{
    unsigned long long low, high, count, before = 0;
    const char *at = json_find(record, "buckets");
    uint64_t sum = 0;
    int used;

    assert_non_null(at);
    for (at++; sscanf(at, "[%llu,%llu,%llu]%n", &low, &high, &count, &used) == 3;
         at += used + (at[used] == ',')) {
        assert_true(low >= before && high >= low && count > 0);
        before = high + 1;
        sum += count;
    }
    assert_int_equal(*at, ']');
    return sum;
}

/* Large numbers in every bucket that there is. */
static void fill(abench_histogram *histogram)
{
    for (uint64_t value = 1; value < (uint64_t)1 << 40; value += 1 + value / 80)
        abench_histogram_record_many(histogram, value, (uint64_t)1 << 50);
}

static void the_result_has_the_buckets(void **state)
{
    abench_run *run = make_run(NULL);
    abench_lane *lane = add(run);
    const int fd = memfd_create("result", MFD_CLOEXEC);
    const char *record;
    result r;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    requests(lane, 200, SECOND);
    abench_lane_end_at(lane, abench_clock_ns(), abench_clock_ns());
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    fill((abench_histogram *)(uintptr_t)abench_run_histogram(run, ABENCH_LATENCY_SERVICE));
    assert_int_equal(abench_run_write(run, fd, ABENCH_FORMAT_JSONL), ABENCH_OK);
    read_result(fd, &r);
    record = record_of(&r, "histogram", "name", "request");
    assert_non_null(record);
    assert_text(record, "unit", "ns");
    assert_true(number(record, "interval") == 1);
    assert_true(number(record, "count") == metric(run, "requests"));
    assert_true(number(record, "maximum") == metric(run, "request_max_ns"));
    assert_true(number(record, "minimum") <= number(record, "maximum"));
    assert_int_equal(sum_of_buckets(record), (uint64_t)metric(run, "requests"));
    record = record_of(&r, "histogram", "name", "service");
    assert_true(strlen(record) > 65536); /* more than what is put together at once */
    assert_int_equal(sum_of_buckets(record), strtoull(json_find(record, "count"), NULL, 10));
    assert_null(record_of(&r, "histogram", "name", "malloc"));
    assert_non_null(record_of(&r, "metric", "name", "requests_per_second"));
    free_result(&r);
    close(fd);
    abench_run_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lanes_of_all_threads_are_added_up),
        cmocka_unit_test(a_stall_shows_from_the_intended_start),
        cmocka_unit_test(only_timed_phases_count),
        cmocka_unit_test(a_refused_phase_does_not_stop_the_count),
        cmocka_unit_test(without_lanes_there_are_no_requests),
        cmocka_unit_test(there_is_an_end_of_lanes),
        cmocka_unit_test(threads_take_lanes_at_once),
        cmocka_unit_test(announced_lanes_are_mapped_by_the_start),
        cmocka_unit_test(the_result_has_the_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
