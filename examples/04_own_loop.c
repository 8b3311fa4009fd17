/* 04_own_loop.c - latency and memory of work of your own, in an open loop.
 *
 * Two threads serve requests that are due every 100 us, whether or not the one before has ended: a
 * stall shows in every request that it held up, as it would to the clients of a server.
 *
 *   cc 04_own_loop.c $(pkg-config --cflags --libs allocbench) -pthread && ./a.out
 *       (installed where the loader does not look: add -Wl,-rpath,PREFIX/lib)
 *   LD_PRELOAD=libjemalloc.so.2 ./a.out
 */
#include <allocbench/allocbench.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS   2
#define REQUESTS  6000
#define PERIOD_NS 100000u
#define KEPT      64 /* requests whose answer still lives */

typedef struct server {
    pthread_t thread;
    abench_lane *lane;
    char *answers[KEPT];
} server;

static void handle_request(char **answer, unsigned number)
{
    const size_t bytes = 1000 + number % 7 * 3000;

    free(*answer);
    *answer = malloc(bytes);
    if (*answer != NULL)
        memset(*answer, 1, bytes);
}

static void sleep_until(uint64_t ns)
{
    const struct timespec due = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

static void *serve(void *user)
{
    server *me = user;
    uint64_t intended = abench_clock_ns();

    for (unsigned number = 0; number < REQUESTS; number++, intended += PERIOD_NS) {
        uint64_t begun;
        sleep_until(intended); /* one that is late does not sleep */
        begun = abench_lane_begin(me->lane);
        handle_request(&me->answers[number % KEPT], number);
        abench_lane_end_at(me->lane, intended, begun);
    }
    return NULL;
}

static int start(abench_run *run, server *s)
{
    return abench_run_lane_add(run, &s->lane) == ABENCH_OK &&
           pthread_create(&s->thread, NULL, serve, s) == 0;
}

int main(void)
{
    static const char *const wanted[] = {
        "requests",       "requests_per_second", "request_p50_ns",   "request_p99_ns",
        "request_max_ns", "rss_bytes",           "rss_drained_bytes"};
    static server servers[THREADS];
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;
    unsigned started = 0;
    int failed;

    options.name = "own loop";
    options.lanes = THREADS; /* their memory is there before the baseline */
    failed = abench_run_create(&options, &run) != ABENCH_OK || abench_run_start(run) != ABENCH_OK;
    while (!failed && started < THREADS && start(run, &servers[started]))
        started++;
    for (unsigned at = 0; at < started; at++)
        pthread_join(servers[at].thread, NULL);
    failed = failed || started < THREADS || abench_run_phase(run, "drain", 0) != ABENCH_OK;
    for (unsigned at = 0; at < started * KEPT; at++)
        free(servers[at / KEPT].answers[at % KEPT]);
    failed = failed || abench_run_stop(run) != ABENCH_OK;
    if (failed)
        fprintf(stderr, "%s\n", run == NULL ? "no run" : abench_run_error(run)->message);
    for (unsigned at = 0; !failed && at < sizeof wanted / sizeof wanted[0]; at++) {
        double value;
        if (abench_run_metric(run, wanted[at], &value) == ABENCH_OK)
            printf("%-22s %.2f\n", wanted[at], value);
    }
    abench_run_destroy(run);
    return failed;
}
