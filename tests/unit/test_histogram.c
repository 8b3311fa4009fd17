/* The histogram against the sorted values themselves, its text, and the set of one a kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <allocbench/histogram.h>

#include "../property/support.h"

#define BITS_40 ((uint64_t)1 << 40)

static abench_histogram *make(void)
{
    abench_histogram *h = NULL;

    assert_int_equal(abench_histogram_create(NULL, &h), ABENCH_OK);
    return h;
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* The bucket of one value. */
static abench_bucket bucket_of(uint64_t value)
{
    abench_histogram *h = make();
    abench_bucket bucket = ABENCH_BUCKET_INIT;

    abench_histogram_record(h, value);
    assert_int_equal(abench_histogram_bucket_at(h, 0, &bucket), ABENCH_OK);
    assert_int_equal(bucket.count, 1);
    assert_int_equal(abench_histogram_bucket_at(h, 1, &bucket), ABENCH_ERROR_NOT_FOUND);
    abench_histogram_destroy(h);
    return bucket;
}

static void values_below_128_have_a_bucket_each(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 128; value++) {
        const abench_bucket bucket = bucket_of(value);
        assert_int_equal(bucket.low, value);
        assert_int_equal(bucket.high, value);
    }
}

/* From 0 to 2^40 each bucket begins where the one before ends, and is a 64th of its value wide. */
static void buckets_leave_no_hole_and_are_narrow(void **state)
{
    uint32_t count = 0;

    (void)state;
    for (uint64_t value = 0; value < BITS_40; count++) {
        const abench_bucket bucket = bucket_of(value);
        const abench_bucket same = bucket_of(bucket.high);
        assert_int_equal(bucket.low, value);
        assert_int_equal(same.low, bucket.low);
        assert_true(bucket.high - bucket.low <= bucket.low / 64);
        value = bucket.high + 1;
    }
    assert_int_equal(count, 128 + 33 * 64);
}

static void larger_values_fall_into_the_last_bucket(void **state)
{
    const uint64_t low = bucket_of(BITS_40 - 1).low;
    abench_histogram *h = make();
    abench_bucket bucket = ABENCH_BUCKET_INIT;

    (void)state;
    assert_int_equal(bucket_of(BITS_40 - 1).high, BITS_40 - 1);
    abench_histogram_record(h, BITS_40);
    abench_histogram_record(h, UINT64_MAX);
    assert_int_equal(abench_histogram_bucket_at(h, 0, &bucket), ABENCH_OK);
    assert_int_equal(bucket.low, low);
    assert_int_equal(bucket.high, UINT64_MAX);
    assert_int_equal(bucket.count, 2);
    assert_int_equal(abench_histogram_minimum(h), BITS_40);
    assert_int_equal(abench_histogram_maximum(h), UINT64_MAX);
    bucket.struct_size = 8;
    assert_int_equal(abench_histogram_bucket_at(h, 0, &bucket), ABENCH_ERROR_ARGUMENT);
    abench_histogram_destroy(h);
}

/* ---- against the sorted values --------------------------------------------------------------- */

#define VALUES 100000u

static uint64_t values[VALUES];

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Shapes: even, even over the doublings, two humps, few values. */
static uint64_t draw(prng *random, uint32_t shape)
{
    switch (shape) {
    case 0:
        return prng_below(random, 1000000);
    case 1:
        return prng_next(random) >> (24 + prng_below(random, 40));
    case 2:
        return prng_below(random, 100) != 0 ? 40 + prng_below(random, 60)
                                            : 5000000 + prng_below(random, 9000000);
    default:
        return 1000 * prng_below(random, 7);
    }
}

static void quantiles_are_those_of_the_sorted_values(void **state)
{
    static const uint32_t parts[] = {0, 1, 10000, 250000, 500000, 900000, 990000, 998999, 999000};
    prng random = {test_seed("quantiles")};

    (void)state;
    for (uint32_t shape = 0; shape < 4; shape++) {
        abench_histogram *h = make();
        for (uint32_t at = 0; at < VALUES; at++) {
            values[at] = draw(&random, shape);
            abench_histogram_record(h, values[at]);
        }
        qsort(values, VALUES, sizeof values[0], compare);
        assert_int_equal(abench_histogram_count(h), VALUES);
        assert_int_equal(abench_histogram_minimum(h), values[0]);
        assert_int_equal(abench_histogram_maximum(h), values[VALUES - 1]);
        for (size_t at = 0; at < sizeof parts / sizeof parts[0]; at++) {
            const uint64_t rank = ((uint64_t)VALUES * parts[at] + 999999) / 1000000;
            const uint64_t truth = values[rank == 0 ? 0 : rank - 1];
            uint64_t value;
            assert_int_equal(abench_histogram_quantile(h, parts[at], &value), ABENCH_OK);
            assert_in_range(value, truth, truth + truth / 64);
            assert_true(value <= values[VALUES - 1]);
        }
        abench_histogram_destroy(h);
    }
}

static void a_quantile_needs_100_values_above_it(void **state)
{
    abench_histogram *h = make();
    uint64_t value = 77;

    (void)state;
    assert_int_equal(abench_histogram_quantile(h, 0, &value), ABENCH_ERROR_NOT_FOUND);
    for (uint32_t at = 0; at < 199; at++)
        abench_histogram_record(h, at);
    assert_int_equal(abench_histogram_quantile(h, 500000, &value), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(value, 77); /* and is left alone */
    abench_histogram_record(h, 199);
    assert_int_equal(abench_histogram_quantile(h, 500000, &value), ABENCH_OK);
    assert_int_equal(value, 99);
    assert_int_equal(abench_histogram_quantile(h, 505000, &value), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_histogram_quantile(h, 1000000, &value), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_histogram_quantile(h, 1000001, &value), ABENCH_ERROR_ARGUMENT);
    abench_histogram_destroy(h);
}

/* A rank in 64 bits would be past what it counts. */
static void a_quantile_of_very_many_values_is_found(void **state)
{
    abench_histogram *h = make();
    uint64_t value;

    (void)state;
    abench_histogram_record_many(h, 10, (uint64_t)1 << 60);
    abench_histogram_record_many(h, 20, (uint64_t)1 << 60);
    assert_int_equal(abench_histogram_quantile(h, 500000, &value), ABENCH_OK);
    assert_int_equal(value, 10);
    assert_int_equal(abench_histogram_quantile(h, 500001, &value), ABENCH_OK);
    assert_int_equal(value, 20);
    abench_histogram_destroy(h);
}

/* ---- merging --------------------------------------------------------------------------------- */

static void assert_same(const abench_histogram *a, const abench_histogram *b)
{
    abench_bucket x = ABENCH_BUCKET_INIT, y = ABENCH_BUCKET_INIT;
    uint64_t sum = 0;

    assert_int_equal(abench_histogram_count(a), abench_histogram_count(b));
    assert_int_equal(abench_histogram_minimum(a), abench_histogram_minimum(b));
    assert_int_equal(abench_histogram_maximum(a), abench_histogram_maximum(b));
    for (uint32_t at = 0;; at++) {
        const abench_status status = abench_histogram_bucket_at(a, at, &x);
        assert_int_equal(abench_histogram_bucket_at(b, at, &y), status);
        if (status != ABENCH_OK)
            break;
        assert_memory_equal(&x, &y, sizeof x);
        sum += x.count;
    }
    assert_int_equal(sum, abench_histogram_count(a));
}

static void merged_is_as_if_recorded_in_one(void **state)
{
    prng random = {test_seed("merge")};
    abench_histogram *parts[3] = {make(), make(), make()}; /* the third stays empty */
    abench_histogram *merged = make(), *whole = make();

    (void)state;
    for (uint32_t at = 0; at < 20000; at++) {
        const uint64_t value = draw(&random, at % 4);
        abench_histogram_record(parts[prng_below(&random, 2)], value);
        abench_histogram_record(whole, value);
    }
    for (uint32_t at = 0; at < 3; at++)
        abench_histogram_merge(merged, parts[at]);
    assert_same(merged, whole);
    abench_histogram_clear(merged);
    assert_same(merged, parts[2]);
    assert_int_equal(abench_histogram_minimum(merged), 0);
    abench_histogram_merge(merged, whole);
    assert_same(merged, whole);
    for (uint32_t at = 0; at < 3; at++)
        abench_histogram_destroy(parts[at]);
    abench_histogram_destroy(merged);
    abench_histogram_destroy(whole);
}

static void many_at_once_are_as_many_times_one(void **state)
{
    abench_histogram *once = make(), *many = make();

    (void)state;
    for (uint32_t at = 0; at < 1000; at++)
        abench_histogram_record(once, 5000);
    abench_histogram_record_many(many, 5000, 1000);
    abench_histogram_record_many(many, 1, 0);
    abench_histogram_record_many(many, 9000000, 0);
    assert_same(once, many);
    abench_histogram_destroy(once);
    abench_histogram_destroy(many);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t mapped_bytes;

static void *map_pages(uint64_t bytes, void *user)
{
    void *memory;

    if (user != NULL)
        return NULL;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    mapped_bytes += bytes;
    return memory;
}

static void unmap_pages(void *memory, uint64_t bytes, void *user)
{
    (void)user;
    munmap(memory, bytes);
    mapped_bytes -= bytes;
}

static void memory_comes_from_the_hooks_and_goes_back(void **state)
{
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_histogram *h = NULL;
    abench_latency *latency = NULL;

    (void)state;
    hooks.map = map_pages;
    hooks.unmap = unmap_pages;
    assert_int_equal(abench_histogram_create(&hooks, &h), ABENCH_OK);
    assert_in_range(mapped_bytes, 2240 * 8, 20480);
    abench_histogram_destroy(h);
    assert_int_equal(abench_latency_create(&hooks, &latency), ABENCH_OK);
    abench_latency_destroy(latency);
    assert_int_equal(mapped_bytes, 0);

    hooks.user = &hooks; /* no memory */
    assert_int_equal(abench_histogram_create(&hooks, &h), ABENCH_ERROR_MEMORY);
    assert_null(h);
    assert_int_equal(abench_latency_create(&hooks, &latency), ABENCH_ERROR_MEMORY);
    assert_null(latency);
    hooks.unmap = NULL;
    assert_int_equal(abench_histogram_create(&hooks, &h), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_latency_create(&hooks, &latency), ABENCH_ERROR_ARGUMENT);
    abench_histogram_destroy(NULL);
    abench_latency_destroy(NULL);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void write_to(const abench_histogram *h, uint64_t unit, char *text, size_t bytes)
{
    const int fd = memfd_create("hgrm", MFD_CLOEXEC);
    abench_error error = ABENCH_ERROR_INIT;
    ssize_t got;

    assert_true(fd >= 0);
    assert_int_equal(abench_histogram_write_hgrm(h, fd, unit, &error), ABENCH_OK);
    got = pread(fd, text, bytes - 1, 0);
    assert_true(got > 0 && (size_t)got < bytes - 1);
    text[got] = '\0';
    close(fd);
}

static void the_text_is_as_plotters_expect_it(void **state)
{
    static const char wanted[] = "       Value     Percentile TotalCount 1/(1-Percentile)\n"
                                 "\n"
                                 "       0.001 0.000000000000          1           1.00\n"
                                 "       0.001 0.100000000000          1           1.11\n"
                                 "       0.002 0.200000000000          2           1.25\n"
                                 "       0.003 0.300000000000          3           1.43\n"
                                 "       0.004 0.400000000000          4           1.67\n"
                                 "       0.005 0.500000000000          5           2.00\n"
                                 "       0.006 0.550000000000          6           2.22\n"
                                 "       0.006 0.600000000000          6           2.50\n"
                                 "       0.007 0.650000000000          7           2.86\n"
                                 "       0.007 0.700000000000          7           3.33\n"
                                 "       0.008 0.750000000000          8           4.00\n"
                                 "       0.008 0.775000000000          8           4.44\n"
                                 "       0.008 0.800000000000          8           5.00\n"
                                 "       0.009 0.825000000000          9           5.71\n"
                                 "       0.009 0.850000000000          9           6.67\n"
                                 "       0.009 0.875000000000          9           8.00\n"
                                 "       0.009 0.887500000000          9           8.89\n"
                                 "       0.009 0.900000000000          9          10.00\n"
                                 "       1.000 1.000000000000         10\n"
                                 "#[Mean    =        0.105, StdDeviation   =        0.300]\n"
                                 "#[Max     =        1.000, Total count    =           10]\n"
                                 "#[Buckets =           34, SubBuckets     =          128]\n";
    abench_histogram *h = make();
    char text[8192];

    (void)state;
    for (uint64_t value = 1; value < 10; value++)
        abench_histogram_record(h, value);
    abench_histogram_record(h, 1000);
    write_to(h, 1000, text, sizeof text);
    assert_string_equal(text, wanted);
    write_to(h, 7, text, sizeof text); /* 1 / 7 = 0.1428... */
    assert_non_null(strstr(text, "\n\n       0.143 0.000000000000 "));
    abench_histogram_clear(h);
    write_to(h, 1, text, sizeof text);
    assert_ptr_equal(strstr(text, "\n\n") + 2, strchr(text, '#')); /* no line */
    assert_non_null(strstr(text, "#[Mean    =        0.000, StdDeviation   =        0.000]\n"));
    assert_non_null(strstr(text, "Total count    =            0]\n"));
    abench_histogram_destroy(h);
}

/* Each line: how many values lie below or at Value, and that these are Percentile of all. */
static void each_line_of_the_text_is_true(void **state)
{
    prng random = {test_seed("text")};
    abench_histogram *h = make();
    static char text[65536];
    double value, percentile, before = -1;
    unsigned long long below;
    uint32_t lines = 0;
    int used;

    (void)state;
    for (uint32_t at = 0; at < VALUES; at++) {
        values[at] = draw(&random, 1);
        abench_histogram_record(h, values[at]);
    }
    qsort(values, VALUES, sizeof values[0], compare);
    write_to(h, 1, text, sizeof text);
    for (const char *at = strstr(text, "\n\n") + 2; *at != '#'; at = strchr(at, '\n') + 1) {
        assert_int_equal(sscanf(at, "%lf %lf %llu%n", &value, &percentile, &below, &used), 3);
        assert_in_range(below, 1, VALUES);
        assert_true((double)values[below - 1] <= value);
        assert_true(below == VALUES || (double)values[below] > value);
        assert_true((double)below >= percentile * VALUES - 0.0001);
        assert_true(percentile > before);
        before = percentile;
        lines++;
    }
    assert_true(before == 1);
    assert_in_range(lines, 60, 120);           /* five for each of log2(100000) halvings */
    for (uint32_t size = 1; size < 50; size++) /* nearly as many lines as there can be */
        abench_histogram_record_many(h, size, (uint64_t)1 << (50 - size));
    write_to(h, 1, text, sizeof text);
    assert_true(strlen(text) > 12000);
    assert_non_null(strstr(text, "#[Buckets ="));
    abench_histogram_destroy(h);
}

static void a_text_that_cannot_be_written_is_an_error(void **state)
{
    abench_histogram *h = make();
    abench_error error = ABENCH_ERROR_INIT;
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

    (void)state;
    assert_true(full >= 0);
    assert_int_equal(abench_histogram_write_hgrm(h, full, 1, &error), ABENCH_ERROR_SYSTEM);
    assert_non_null(strstr(error.message, "No space left"));
    assert_int_equal(abench_histogram_write_hgrm(h, -1, 1, NULL), ABENCH_ERROR_SYSTEM);
    assert_int_equal(abench_histogram_write_hgrm(h, 1, 0, &error), ABENCH_ERROR_ARGUMENT);
    close(full);
    abench_histogram_destroy(h);
}

/* ---- the set --------------------------------------------------------------------------------- */

static void a_set_has_one_of_each_kind(void **state)
{
    static const char *const names[] = {"malloc",  "malloc_touch", "realloc", "free",
                                        "control", "request",      "service"};
    abench_latency *latency = NULL;

    (void)state;
    assert_int_equal(abench_latency_create(NULL, &latency), ABENCH_OK);
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
        assert_string_equal(abench_latency_name(kind), names[kind]);
        assert_int_equal(abench_histogram_minimum(abench_latency_histogram(latency, kind)), 0);
        abench_histogram_record(abench_latency_histogram(latency, kind), 100 + kind);
    }
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
        assert_int_equal(abench_histogram_count(abench_latency_histogram(latency, kind)), 1);
        assert_int_equal(abench_histogram_minimum(abench_latency_histogram(latency, kind)),
                         100 + kind);
    }
    assert_null(abench_latency_histogram(latency, ABENCH_LATENCY_KINDS));
    assert_null(abench_latency_name(ABENCH_LATENCY_KINDS));
    abench_latency_destroy(latency);
}

static void a_quantile_is_at_the_floor_up_to_twice_the_controls(void **state)
{
    abench_latency *latency = NULL;
    abench_histogram *mallocs, *control;

    (void)state;
    assert_int_equal(abench_latency_create(NULL, &latency), ABENCH_OK);
    mallocs = abench_latency_histogram(latency, ABENCH_LATENCY_MALLOC);
    control = abench_latency_histogram(latency, ABENCH_LATENCY_CONTROL);
    abench_histogram_record_many(mallocs, 50, 500);
    abench_histogram_record_many(mallocs, 101, 500);
    abench_histogram_record_many(control, 25, 500);
    assert_int_equal(abench_latency_at_floor(latency, ABENCH_LATENCY_MALLOC, 500000), 1);
    assert_int_equal(abench_latency_at_floor(latency, ABENCH_LATENCY_MALLOC, 500001), 0);
    abench_histogram_record_many(control, 50, 500);
    assert_int_equal(abench_latency_at_floor(latency, ABENCH_LATENCY_MALLOC, 500001), 0);
    abench_histogram_record_many(control, 51, 1000);
    assert_int_equal(abench_latency_at_floor(latency, ABENCH_LATENCY_MALLOC, 600000), 1);
    /* What cannot be said is not said. */
    assert_int_equal(abench_latency_at_floor(latency, ABENCH_LATENCY_MALLOC, 999000), 0);
    assert_int_equal(abench_latency_at_floor(latency, ABENCH_LATENCY_FREE, 500000), 0);
    assert_int_equal(abench_latency_at_floor(latency, UINT32_MAX, 500000), 0);
    abench_latency_destroy(latency);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_below_128_have_a_bucket_each),
        cmocka_unit_test(buckets_leave_no_hole_and_are_narrow),
        cmocka_unit_test(larger_values_fall_into_the_last_bucket),
        cmocka_unit_test(quantiles_are_those_of_the_sorted_values),
        cmocka_unit_test(a_quantile_needs_100_values_above_it),
        cmocka_unit_test(a_quantile_of_very_many_values_is_found),
        cmocka_unit_test(merged_is_as_if_recorded_in_one),
        cmocka_unit_test(many_at_once_are_as_many_times_one),
        cmocka_unit_test(memory_comes_from_the_hooks_and_goes_back),
        cmocka_unit_test(the_text_is_as_plotters_expect_it),
        cmocka_unit_test(each_line_of_the_text_is_true),
        cmocka_unit_test(a_text_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_set_has_one_of_each_kind),
        cmocka_unit_test(a_quantile_is_at_the_floor_up_to_twice_the_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
