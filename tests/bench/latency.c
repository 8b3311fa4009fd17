/*
 * latency.c - what latency costs (DESIGN 7: sampling 1 in 1024 at most 3 % of throughput, recording
 * a value 2 ns).
 *
 *   bench_latency sampling [WORKLOAD] [PAIRS]  the process's malloc with and without sampling, in
 *                                              turns, beside plays without against each other; try
 *                                              it under LD_PRELOAD too
 *   bench_latency record                       ns a value, beyond reading the values
 *   bench_latency count                        the same once, for callgrind (latency.sh)
 *   bench_latency bare                         reading the values once, for callgrind
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/allocbench.h>

#include "histogram/histogram.h"

#define VALUES    65536u
#define ROUNDS    2001
#define PAIRS     300
#define PAIRS_MAX 100000

static uint64_t values[VALUES];

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *of, int count)
{
    qsort(of, (size_t)count, sizeof *of, compare);
    return of[count / 2];
}

/* ---- recording ------------------------------------------------------------------------------- */

uint64_t bare_reads(void);
uint64_t inline_records(abench_histogram *histogram);
uint64_t called_records(abench_histogram *histogram);

__attribute__((noinline)) uint64_t bare_reads(void)
{
    uint64_t sum = 0;

    for (uint32_t at = 0; at < VALUES; at++) {
        sum += values[at];
        __asm__ volatile("" : "+r"(sum)); /* one by one: no vectors */
    }
    return sum;
}

__attribute__((noinline)) uint64_t inline_records(abench_histogram *histogram)
{
    for (uint32_t at = 0; at < VALUES; at++) {
        abench__histogram_record(histogram, values[at]);
        __asm__ volatile("" ::: "memory");
    }
    return histogram->count;
}

__attribute__((noinline)) uint64_t called_records(abench_histogram *histogram)
{
    for (uint32_t at = 0; at < VALUES; at++)
        abench_histogram_record(histogram, values[at]);
    return histogram->count;
}

/* As latencies are: most within a factor of four, a tail of three decades. */
static void draw_values(void)
{
    abench_random random;

    abench_random_seed(&random, 1, 0, ABENCH_PURPOSE_USER);
    for (uint32_t at = 0; at < VALUES; at++) {
        const uint64_t wide = abench_random_below(&random, 100) == 0 ? 1000 : 1;
        values[at] = 20 + abench_random_below(&random, 80 * wide);
    }
}

static int time_records(abench_histogram *histogram)
{
    static double bare[ROUNDS], inlined[ROUNDS], called[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t at[4];
        volatile uint64_t sink;
        at[0] = abench_clock_ns();
        sink = bare_reads();
        at[1] = abench_clock_ns();
        sink = inline_records(histogram);
        at[2] = abench_clock_ns();
        sink = called_records(histogram);
        at[3] = abench_clock_ns();
        (void)sink;
        bare[round] = (double)(at[1] - at[0]) / VALUES;
        inlined[round] = (double)(at[2] - at[1]) / VALUES - bare[round];
        called[round] = (double)(at[3] - at[2]) / VALUES - bare[round];
    }
    printf("recording a value: %.2f ns inline, %.2f ns called (at most 2), beyond %.2f ns for "
           "reading it (medians of %d)\n",
           median(inlined, ROUNDS), median(called, ROUNDS), median(bare, ROUNDS), ROUNDS);
    return 0;
}

/* ---- sampling -------------------------------------------------------------------------------- */

static int32_t add_slice(const abench_slice *slice, void *user)
{
    *(uint64_t *)user += slice->cpu_ns;
    return 0;
}

static double play(const abench_tape *tape, abench_latency *latency, uint64_t seed)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    uint64_t spent = 0;

    options.slice = add_slice;
    options.user = &spent;
    options.latency = latency;
    options.seed = seed;
    if (abench_play(tape, NULL, &options, NULL, &error) != ABENCH_OK) {
        fprintf(stderr, "bench_latency: %s\n", error.message);
        exit(1);
    }
    return (double)spent;
}

static int time_sampling(const char *spec, int pairs)
{
    static double cost[PAIRS_MAX], noise[PAIRS_MAX], off[PAIRS_MAX];
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;
    abench_latency *latency = NULL;

    if (abench_workload_parse(spec, 1, 1, &workload, &error) != ABENCH_OK ||
        abench_workload_tape(workload, NULL, &tape, &error) != ABENCH_OK ||
        abench_tape_get_summary(tape, &summary) != ABENCH_OK ||
        abench_latency_create(NULL, &latency) != ABENCH_OK) {
        fprintf(stderr, "bench_latency: %s\n", error.message);
        return 1;
    }
    play(tape, NULL, 0);
    for (int at = 0; at < pairs; at++) {
        double on = 0, before, after;
        before = play(tape, NULL, 0);
        on = play(tape, latency, (uint64_t)at);
        after = play(tape, NULL, 0);
        off[at] = before / (double)summary.operations;
        cost[at] = on / ((before + after) / 2) * 100 - 100;
        noise[at] = after / before * 100 - 100;
    }
    printf("%s: 1 in 1024 costs %+.2f %% (at most 3), without against without %+.2f %%, of %.1f ns "
           "an operation (medians of %d)\n",
           spec, median(cost, pairs), median(noise, pairs), median(off, pairs), pairs);
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const int pairs = argc > 3 ? atoi(argv[3]) : PAIRS;
    abench_histogram *histogram = NULL;
    volatile uint64_t sink = 0;
    int result = 0;

    draw_values();
    if (abench_histogram_create(NULL, &histogram) != ABENCH_OK)
        return 1;
    if (strcmp(mode, "sampling") == 0 && pairs > 0 && pairs <= PAIRS_MAX)
        result = time_sampling(argc > 2 ? argv[2] : "mixed:steps=200000", pairs);
    else if (strcmp(mode, "record") == 0)
        result = time_records(histogram);
    else if (strcmp(mode, "count") == 0)
        sink = inline_records(histogram);
    else if (strcmp(mode, "bare") == 0)
        sink = bare_reads();
    else
        result = 2;
    (void)sink;
    if (result == 2)
        fprintf(stderr, "usage: bench_latency sampling [WORKLOAD] [PAIRS]|record|count|bare\n");
    else if (mode[0] == 'c' || mode[0] == 'b')
        printf("%u\n", VALUES);
    abench_histogram_destroy(histogram);
    return result;
}
