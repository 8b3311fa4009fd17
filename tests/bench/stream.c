/*
 * stream.c - a tape of a billion operations in the library's fixed memory. Not a test: prints.
 *
 *   bench_stream [STEPS] [LANES]      two operations a step; preset 500000000 and 1
 *
 * The tape is `mixed`, streamed, against the null allocator, so that whatever becomes resident
 * between the first and the last mark is the library's own.
 */
#include <stdio.h>
#include <stdlib.h>

#include <allocbench/allocbench.h>

#include "tape/source.h"

typedef struct marks {
    uint64_t first_rss;
    uint64_t last_rss;
    uint64_t begun_ns;
    uint64_t played_ns; /* in slices */
    uint64_t ended_ns;
} marks;

static uint64_t rss(void)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    return abench_memory_read(0, ABENCH_TIER_STATM, &memory) == ABENCH_OK ? memory.rss_bytes : 0;
}

static int32_t on_mark(const abench_mark *mark, void *user)
{
    marks *m = user;

    /* The null allocator's memory is touched in the fill, before the steps are measured. */
    if (!mark->begin && mark->phase == 0) {
        m->first_rss = rss();
        m->begun_ns = abench_clock_ns();
    }
    if (mark->end) {
        m->last_rss = rss();
        m->ended_ns = abench_clock_ns();
    }
    return 0;
}

static int32_t on_slice(const abench_slice *slice, void *user)
{
    ((marks *)user)->played_ns += slice->cpu_ns;
    return 0;
}

int main(int argc, char **argv)
{
    const unsigned long long steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 500000000;
    const unsigned lanes = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    abench_allocator null_allocator = ABENCH_ALLOCATOR_INIT;
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;
    marks m = {0};
    uint64_t executed = 0;
    char spec[96];

    snprintf(spec, sizeof spec, "mixed:steps=%llu,lanes=%u,sizes=uniform:16-512", steps, lanes);
    options.slice_operations = 400000;
    options.mark = on_mark;
    options.slice = on_slice;
    options.user = &m;
    if (abench_workload_parse(spec, 1, 0, &workload, &error) != ABENCH_OK ||
        abench_workload_stream(workload, NULL, &tape, &error) != ABENCH_OK ||
        abench_allocator_null(4096, &null_allocator) != ABENCH_OK ||
        abench_play(tape, &null_allocator, &options, &receipt, &error) != ABENCH_OK) {
        fprintf(stderr, "bench_stream: %s\n", error.message);
        return 1;
    }
    for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
        executed += receipt.executed[kind];
    printf("%llu operations on %u lanes, digest %016llx\n", (unsigned long long)executed, lanes,
           (unsigned long long)receipt.work_digest);
    printf("memory of the stream %llu KiB (a tape in memory: %llu MiB)\n",
           (unsigned long long)abench__stream_bytes(tape) / 1024,
           (unsigned long long)executed * 8 / 1048576);
    printf("RSS grew by %lld pages from the first phase's end to the last's\n",
           ((long long)m.last_rss - (long long)m.first_rss) / 4096);
    printf("%.2f ns an operation to play, %.2f ns to make and digest it (CPU of all lanes; wall)\n",
           (double)m.played_ns / (double)executed,
           (double)(m.ended_ns - m.begun_ns - m.played_ns / lanes) / (double)executed);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    return 0;
}
