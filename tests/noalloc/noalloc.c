/*
 * noalloc.c - between start and stop the library calls no function of the malloc family: counted by
 * a malloc that this program provides, in every workload, with the sampler at 1 kHz.
 *
 *   noalloc play      abench_play, with the sampler and dear readings in its callbacks
 *   noalloc run       abench_run_play
 *   noalloc lockstep  the same, taking turns
 *   noalloc own       abench_run_start, _phase and _stop around three threads
 *   noalloc planted   play with one malloc in a callback: must be seen
 *
 * Exit: 0 none was called, 1 some were, 2 the count itself cannot be trusted.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "interposer.h"

#define ALL_TIERS                                                                                  \
    (ABENCH_TIER_STATM | ABENCH_TIER_STATUS | ABENCH_TIER_ROLLUP | ABENCH_TIER_FAULTS |            \
     ABENCH_TIER_SCHEDULE)

static void must(int holds, const char *what)
{
    if (holds)
        return;
    interposer_disarm();
    printf("cannot test: %s\n", what);
    exit(2);
}

/* ---- an allocator whose calls are not counted ------------------------------------------------ */

/* The window of a run, which has callbacks of its own: from the first call to the last free. */
static int opens_window;
static _Atomic uint64_t frees_left;

static void *tape_malloc(size_t size)
{
    if (opens_window && atomic_load_explicit(&frees_left, memory_order_relaxed) > 0)
        interposer_arm();
    return uncounted_malloc(size);
}

static void tape_free(void *block)
{
    uncounted_free(block);
    if (opens_window && atomic_fetch_sub(&frees_left, 1) == 1)
        interposer_disarm();
}

static const abench_allocator uncounted = {
    .struct_size = sizeof uncounted,
    .malloc = tape_malloc,
    .calloc = uncounted_calloc,
    .aligned_alloc = uncounted_aligned_alloc,
    .realloc = uncounted_realloc,
    .free = tape_free,
    .usable_size = malloc_usable_size,
};

/* The count sees the calls that the library would make, and those of the C library for it. */
static void check_the_count(void)
{
    abench_allocator process = ABENCH_ALLOCATOR_INIT;
    uint64_t before;
    char *copy;

    must(abench_allocator_process(&process) == ABENCH_OK, "no malloc");
    interposer_arm();
    process.free(process.malloc(10));
    must(interposer_calls() == 2, "the library's malloc is not this program's");
    before = interposer_calls();
    copy = strdup("text");
    must(interposer_calls() == before + 1, "the C library's malloc is not this program's");
    interposer_disarm();
    free(copy);
    must(interposer_calls() == before + 1, "a count that is not armed counts");
}

/* Prints and returns the exit code of one window. */
static int judge(const char *what)
{
    const uint64_t calls = interposer_calls();

    printf("%s: %llu calls of the malloc family\n", what, (unsigned long long)calls);
    interposer_print();
    return calls != 0;
}

/* Workload index at its quick scale; three lanes where it can have them. */
static int spec_at(uint32_t index, char *spec, size_t bytes)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;
    abench_workload *workload = NULL;

    if (abench_workload_at(index, &info) != ABENCH_OK)
        return 0;
    snprintf(spec, bytes, "%s:scale=quick,lanes=3", info.name);
    if (abench_workload_parse(spec, 1, 0, &workload, NULL) != ABENCH_OK)
        snprintf(spec, bytes, "%s:scale=quick", info.name);
    abench_workload_destroy(workload);
    return 1;
}

/* ---- play ------------------------------------------------------------------------------------ */

typedef struct instruments {
    abench_sampler *sampler;
    abench_memory_reader *reader;
    int plant;
} instruments;

/* Through a pointer, so that no compiler deletes it. */
static void *(*volatile planted_malloc)(size_t size) = malloc;

static int32_t on_mark(const abench_mark *mark, void *user)
{
    instruments *i = user;
    abench_memory memory = ABENCH_MEMORY_INIT;
    uint64_t usable;

    if (mark->begin)
        interposer_arm();
    if (mark->begin && i->plant)
        uncounted_free(planted_malloc(10));
    if (abench_mark_usable(mark, &usable) != ABENCH_OK ||
        abench_memory_reader_read(i->reader, ALL_TIERS, &memory) != ABENCH_OK)
        return 1;
    return mark->begin ? abench_sampler_start(i->sampler) : 0;
}

static int32_t on_slice(const abench_slice *slice, void *user)
{
    instruments *i = user;
    const abench_status status = abench_sampler_stop(i->sampler);

    if (!slice->last)
        return status == ABENCH_OK ? abench_sampler_start(i->sampler) : status;
    interposer_disarm();
    return status;
}

/* helper: a process takes the readings, dear ones too. */
static int play_one(const char *spec, int plant, int helper)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_sampler_options sampling = ABENCH_SAMPLER_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;
    abench_latency *latency = NULL;
    instruments i = {.plant = plant};
    uint32_t readings;

    sampling.period_us = 1000;
    sampling.tiers = ABENCH_TIER_STATM | ABENCH_TIER_STATUS | ABENCH_TIER_FAULTS;
    if (helper) {
        sampling.flags = ABENCH_SAMPLER_PROCESS;
        sampling.rollup_period_us = 1000;
    }
    must(abench_workload_parse(spec, 1, 0, &workload, &error) == ABENCH_OK, error.message);
    must(abench_workload_stream(workload, NULL, &tape, &error) == ABENCH_OK, error.message);
    must(abench_latency_create(NULL, &latency) == ABENCH_OK, "no latency");
    must(abench_sampler_create(&sampling, &i.sampler) == ABENCH_OK, "no sampler");
    must(abench_sampler_is_process(i.sampler) == helper, "no helper");
    must(abench_memory_reader_create(0, &i.reader) == ABENCH_OK, "no reader");
    options.slice_operations = 20000;
    options.skew_operations = 50000;
    options.latency = latency;
    options.latency_interval = 16;
    options.mark = on_mark;
    options.slice = on_slice;
    options.user = &i;
    must(abench_play(tape, &uncounted, &options, NULL, &error) == ABENCH_OK, error.message);
    readings = abench_sampler_count(i.sampler);
    must(readings > 0, "the sampler took no reading");
    abench_memory_reader_destroy(i.reader);
    abench_sampler_destroy(i.sampler);
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    printf("%u readings; ", readings);
    return judge(spec);
}

static int play_all(int plant)
{
    char spec[128];
    int result = 0;

    for (uint32_t at = 0; spec_at(at, spec, sizeof spec); at++)
        result |= play_one(spec, plant, at % 2);
    return result;
}

/* ---- run ------------------------------------------------------------------------------------- */

static uint64_t frees_of(const char *spec)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;

    must(abench_workload_parse(spec, 1, 0, &workload, NULL) == ABENCH_OK &&
             abench_workload_tape(workload, NULL, &tape, NULL) == ABENCH_OK &&
             abench_tape_get_summary(tape, &summary) == ABENCH_OK,
         spec);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    return summary.by_kind[ABENCH_OP_FREE] + summary.by_kind[ABENCH_OP_FREE_SIZED];
}

/* The tool's part of lockstep: a token for each line. */
static void *give_tokens(void *user)
{
    const int *ends = user; /* lines, tokens */
    char byte;

    while (read(ends[0], &byte, 1) == 1)
        if (byte == '\n' && write(ends[1], "x", 1) != 1)
            break;
    return NULL;
}

static int run_one(const char *spec, int lockstep)
{
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;
    int tokens[2], lines[2], ends[2];
    pthread_t tool;

    must(pipe(tokens) == 0 && pipe(lines) == 0, "no pipe");
    ends[0] = lines[0];
    ends[1] = tokens[1];
    must(pthread_create(&tool, NULL, give_tokens, ends) == 0, "no thread");
    options.seed = 1;
    options.sample_us = 1000;
    options.slice_operations = 20000;
    options.turn_in = lockstep ? tokens[0] : 0;
    options.turn_out = lockstep ? lines[1] : 0;
    atomic_store(&frees_left, frees_of(spec));
    opens_window = 1;
    must(abench_run_create(&options, &run) == ABENCH_OK, "no run");
    must(abench_run_play(run, spec, &uncounted) == ABENCH_OK, abench_run_error(run)->message);
    must(atomic_load(&frees_left) == 0, "the window was not closed");
    opens_window = 0;
    abench_run_destroy(run);
    close(lines[1]);
    pthread_join(tool, NULL);
    close(lines[0]);
    close(tokens[0]);
    close(tokens[1]);
    return judge(spec);
}

static int run_all(int lockstep)
{
    char spec[128];
    int result = 0;

    for (uint32_t at = 0; spec_at(at, spec, sizeof spec); at++)
        result |= run_one(spec, lockstep);
    return result;
}

/* ---- own work -------------------------------------------------------------------------------- */

static _Atomic int working, taking;

/* Requests that ask the kernel for memory, not malloc; the lane is taken while all is counted. */
static void *work(void *user)
{
    abench_lane *lane = NULL;

    while (!atomic_load(&taking))
        nanosleep(&(struct timespec){0, 200000}, NULL);
    must(abench_run_lane_add(user, &lane) == ABENCH_OK, "no lane");
    while (atomic_load(&working)) {
        const uint64_t begun = abench_lane_begin(lane);
        unsigned char *memory =
            mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            break;
        memset(memory, 1, 1 << 20);
        munmap(memory, 1 << 20);
        abench_lane_end(lane, begun);
        nanosleep(&(struct timespec){0, 200000}, NULL);
        abench_lane_end_at(lane, begun, begun);
    }
    return NULL;
}

static int own_work(void)
{
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;
    pthread_t threads[3];
    int result;

    atomic_store(&working, 1);
    options.sample_us = 1000;
    must(abench_run_create(&options, &run) == ABENCH_OK, "no run");
    for (int at = 0; at < 3; at++)
        must(pthread_create(&threads[at], NULL, work, run) == 0, "no thread");
    must(abench_run_start(run) == ABENCH_OK, "no start");
    interposer_arm();
    atomic_store(&taking, 1);
    for (int phase = 0; phase < 5; phase++) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        must(abench_run_phase(run, "next", ABENCH_PHASE_TIMED) == ABENCH_OK, "no phase");
    }
    must(abench_run_phase(run, "rest", 0) == ABENCH_OK, "no phase"); /* requests count no more */
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    must(abench_run_stop(run) == ABENCH_OK, "no stop");
    interposer_disarm();
    result = judge("own work");
    atomic_store(&working, 0);
    for (int at = 0; at < 3; at++)
        pthread_join(threads[at], NULL);
    abench_run_destroy(run);
    return result;
}

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "";

    check_the_count();
    if (strcmp(mode, "play") == 0)
        return play_all(0);
    if (strcmp(mode, "planted") == 0)
        return play_all(1);
    if (strcmp(mode, "run") == 0)
        return run_all(0);
    if (strcmp(mode, "lockstep") == 0)
        return run_all(1);
    if (strcmp(mode, "own") == 0)
        return own_work();
    must(0, "usage: noalloc play|run|lockstep|own|planted");
}
