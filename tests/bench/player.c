/*
 * player.c - what the player costs, beyond a bare loop that decodes the same words and makes the
 * same touches, under the null allocator. Not a test: tests/bench/player.sh runs it and prints.
 *
 *   bench_player play|bare WORKLOAD     once, for callgrind (which counts instructions)
 *   bench_player time WORKLOAD [ROUNDS] both in turn, nanoseconds an operation and their difference
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/allocbench.h>

#include "tape/tape.h"
#include "tape/word.h"

#define SLOT_BITS 0x3fff0u

/* The same words, the same decisions, the same stores; no slots, no calls, no counts. */
uint64_t bare_loop(const abench_tape *tape, unsigned char *memory);

__attribute__((noinline)) uint64_t bare_loop(const abench_tape *tape, unsigned char *memory)
{
    const uint64_t *at = abench__lane_data(tape, 0);
    const uint64_t *end = at + tape->lanes[0].words.count;
    uint64_t sum = 0;

    for (; at < end; at++) {
        const uint64_t word = *at;
        const uint32_t shape = (uint32_t)(word >> 56);
        sum += abench__word_slot(word);
        if (shape == ABENCH_OP_FREE << 3) {
            sum++;
        } else if (shape == ABENCH_OP_MALLOC << 3) {
            const uint32_t size = (uint32_t)word;
            volatile unsigned char *block =
                memory + ((size * 0x9e3779b9u >> 12) & SLOT_BITS); /* as the null allocator */
            for (uint64_t page = 0; page < size; page += 4096)
                block[page] = (unsigned char)(word ^ word >> 32);
        }
    }
    return sum;
}

typedef struct bench {
    abench_tape *tape;
    abench_allocator allocator;
    unsigned char *memory;
    uint64_t operations;
} bench;

static int prepare(bench *b, const char *spec)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;

    abench_allocator_init(&b->allocator);
    if (abench_workload_parse(spec, 1, 1, &workload, &error) != ABENCH_OK ||
        abench_workload_tape(workload, NULL, &b->tape, &error) != ABENCH_OK ||
        abench_tape_get_summary(b->tape, &summary) != ABENCH_OK ||
        abench_allocator_null(summary.size_maximum, &b->allocator) != ABENCH_OK) {
        fprintf(stderr, "bench_player: %s\n", error.message);
        return 0;
    }
    abench_workload_destroy(workload);
    if (summary.lanes != 1 || summary.touch != ABENCH_TOUCH_PAGES) {
        fprintf(stderr, "bench_player: a workload with one lane and touch=pages is wanted\n");
        return 0;
    }
    b->operations = summary.operations;
    b->memory = calloc(1, summary.size_maximum + SLOT_BITS + 4096);
    return b->memory != NULL;
}

static void play(const bench *b)
{
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_play(b->tape, &b->allocator, NULL, NULL, &error) != ABENCH_OK) {
        fprintf(stderr, "bench_player: %s\n", error.message);
        exit(1);
    }
}

/* Wall time of the slices only: without threads, digest and receipt. */
static int32_t add_slice(const abench_slice *slice, void *user)
{
    *(uint64_t *)user += slice->cpu_ns;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static int time_both(const bench *b, int rounds)
{
    double *played = calloc((size_t)rounds, sizeof *played);
    double *bare = calloc((size_t)rounds, sizeof *bare);
    double *differences = calloc((size_t)rounds, sizeof *differences);
    volatile uint64_t sink;

    if (played == NULL || bare == NULL || differences == NULL)
        return 1;
    for (int round = 0; round < rounds; round++) {
        abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
        uint64_t spent = 0, begun;
        options.slice = add_slice;
        options.user = &spent;
        if (abench_play(b->tape, &b->allocator, &options, NULL, NULL) != ABENCH_OK)
            return 1;
        begun = abench_clock_ns();
        sink = bare_loop(b->tape, b->memory);
        (void)sink;
        bare[round] = (double)(abench_clock_ns() - begun) / (double)b->operations;
        played[round] = (double)spent / (double)b->operations;
        differences[round] = played[round] - bare[round];
    }
    printf("player %.2f ns, bare loop %.2f ns, beyond it %.2f ns an operation (medians of %d)\n",
           median(played, rounds), median(bare, rounds), median(differences, rounds), rounds);
    free(played);
    free(bare);
    free(differences);
    return 0;
}

int main(int argc, char **argv)
{
    bench b = {0};
    volatile uint64_t sink;

    if (argc < 3 || !prepare(&b, argv[2])) {
        fprintf(stderr, "usage: bench_player play|bare|time WORKLOAD [ROUNDS]\n");
        return 2;
    }
    if (strcmp(argv[1], "time") == 0)
        return time_both(&b, argc > 3 ? atoi(argv[3]) : 31);
    if (strcmp(argv[1], "play") == 0)
        play(&b);
    else if (strcmp(argv[1], "bare") == 0)
        sink = bare_loop(b.tape, b.memory);
    (void)sink;
    printf("%llu\n", (unsigned long long)b.operations);
    return 0;
}
