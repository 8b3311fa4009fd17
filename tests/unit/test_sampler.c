/* The sampler's thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/sampler.h>

#include "sampler/thread.h"
#include "system/file.h"
#include "system/proc.h"
#include "touched.h"

#define MB ((uint64_t)1 << 20)

/* ---- the thread ------------------------------------------------------------------------------ */

static abench_sampler *create_sampler(uint32_t capacity)
{
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    abench_sampler *sampler;

    options.period_us = 1000;
    options.capacity = capacity;
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_OK);
    return sampler;
}

static void wait_for_count(const abench_sampler *sampler, uint32_t count)
{
    const uint64_t begun_ns = abench_clock_ns();

    while (abench_sampler_count(sampler) < count) {
        assert_true(abench_clock_ns() - begun_ns < 20000000000u);
        usleep(500);
    }
}

/* Of more than two readings, keeping another changes the count: to one more, or to half and one. */
static void wait_for_another(const abench_sampler *sampler)
{
    const uint32_t count = abench_sampler_count(sampler);
    const uint64_t begun_ns = abench_clock_ns();

    while (abench_sampler_count(sampler) == count) {
        assert_true(abench_clock_ns() - begun_ns < 20000000000u);
        usleep(500);
    }
}

static void assert_times_rise(const abench_sampler *sampler)
{
    const uint32_t count = abench_sampler_count(sampler);
    uint64_t before_ns = 0;

    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        abench_memory memory = ABENCH_MEMORY_INIT;
        assert_int_equal(abench_sampler_at(sampler, i, &memory), ABENCH_OK);
        assert_true(i == 0 || memory.time_ns > before_ns);
        assert_true(memory.time_ns <= abench_sampler_time_ns(sampler));
        before_ns = memory.time_ns;
    }
}

static void a_sampler_reads_at_rising_times(void **state)
{
    abench_sampler *sampler = create_sampler(0);
    abench_memory memory = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_sampler_count(sampler), 0);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_count(sampler, 10);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    assert_times_rise(sampler);
    for (uint32_t i = 0; i < abench_sampler_count(sampler); i++) {
        assert_int_equal(abench_sampler_at(sampler, i, &memory), ABENCH_OK);
        assert_int_equal(memory.valid, 0x6007);
        assert_true(memory.rss_bytes > 0 && memory.rss_bytes < memory.size_bytes);
        assert_true(memory.cost_ns > 0);
    }
    assert_int_equal(abench_sampler_at(sampler, abench_sampler_count(sampler), &memory),
                     ABENCH_ERROR_NOT_FOUND);
    abench_sampler_destroy(sampler);
}

static void a_sampler_sees_the_memory_that_is_mapped_meanwhile(void **state)
{
    abench_sampler *sampler = create_sampler(0);
    abench_memory first = ABENCH_MEMORY_INIT, last = ABENCH_MEMORY_INIT;
    unsigned char *memory;

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_count(sampler, 1);
    memory = map_touched(20 * MB);
    wait_for_count(sampler, abench_sampler_count(sampler) + 2);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    munmap(memory, 20 * MB);
    assert_int_equal(abench_sampler_at(sampler, 0, &first), ABENCH_OK);
    assert_int_equal(abench_sampler_at(sampler, abench_sampler_count(sampler) - 1, &last),
                     ABENCH_OK);
    assert_in_range(last.rss_bytes - first.rss_bytes, 19 * MB, 21 * MB);
    abench_sampler_destroy(sampler);
}

static void a_pause_leaves_no_gap_in_the_timeline(void **state)
{
    abench_sampler *sampler = create_sampler(0);
    uint64_t begun_ns, paused_ns = 0, whole_ns;

    (void)state;
    begun_ns = abench_clock_ns();
    for (uint32_t part = 1; part <= 4; part++) {
        uint64_t pause_ns;
        assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
        wait_for_count(sampler, 3 * part);
        assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
        pause_ns = abench_clock_ns();
        usleep(30000);
        paused_ns += abench_clock_ns() - pause_ns;
    }
    whole_ns = abench_clock_ns() - begun_ns;
    assert_times_rise(sampler);
    assert_true(paused_ns >= 4 * 30000000u);
    assert_true(abench_sampler_time_ns(sampler) <= whole_ns - paused_ns);
    abench_sampler_destroy(sampler);
}

static void a_stopped_sampler_reads_nothing(void **state)
{
    abench_sampler *sampler = create_sampler(0);
    uint64_t time_ns;
    uint32_t count;

    (void)state;
    usleep(20000);
    assert_int_equal(abench_sampler_count(sampler), 0);
    assert_int_equal(abench_sampler_time_ns(sampler), 0);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_count(sampler, 3);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    count = abench_sampler_count(sampler);
    time_ns = abench_sampler_time_ns(sampler);
    usleep(20000);
    assert_int_equal(abench_sampler_count(sampler), count);
    assert_int_equal(abench_sampler_time_ns(sampler), time_ns);
    abench_sampler_destroy(sampler);
}

static void a_full_sampler_covers_the_whole_time_with_fewer_readings(void **state)
{
    abench_sampler *sampler = create_sampler(8);
    abench_memory first = ABENCH_MEMORY_INIT, last = ABENCH_MEMORY_INIT;
    uint32_t count;

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    while (abench_sampler_time_ns(sampler) < 40000000)
        usleep(1000);
    wait_for_another(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    count = abench_sampler_count(sampler);
    assert_in_range(count, 1, 8);
    assert_times_rise(sampler);
    assert_int_equal(abench_sampler_at(sampler, 0, &first), ABENCH_OK);
    assert_int_equal(abench_sampler_at(sampler, count - 1, &last), ABENCH_OK);
    assert_true(first.time_ns < last.time_ns &&
                last.time_ns > 8000000); /* 8 of the first periods */
    abench_sampler_destroy(sampler);
}

static void an_odd_capacity_is_rounded_up(void **state)
{
    abench_sampler *sampler = create_sampler(1);

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_count(sampler, 2);
    abench_sampler_destroy(sampler);
}

static void calls_that_do_not_fit_the_state_are_refused(void **state)
{
    abench_sampler *sampler = create_sampler(0);
    abench_memory memory = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_ERROR_STATE);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_ERROR_STATE);
    assert_int_equal(abench_sampler_at(sampler, 0, &memory), ABENCH_ERROR_STATE);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_ERROR_STATE);
    abench_sampler_destroy(sampler);
    abench_sampler_destroy(NULL);
}

static void dear_readings_are_among_the_cheap_ones(void **state)
{
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    uint64_t dear_ns = 0, least_ns = 0;
    uint32_t dear = 0, cheap = 0;
    abench_sampler *sampler;

    (void)state;
    options.tiers = ABENCH_TIER_ROLLUP; /* beside the preset ones */
    options.period_us = 1000;
    options.rollup_period_us = 50000;
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_OK);
    assert_int_equal(abench_sampler_is_process(sampler), 0);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    while (abench_sampler_time_ns(sampler) < 300000000)
        wait_for_another(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    for (uint32_t i = 0; i < abench_sampler_count(sampler); i++) {
        abench_memory memory = ABENCH_MEMORY_INIT;
        assert_int_equal(abench_sampler_at(sampler, i, &memory), ABENCH_OK);
        assert_int_equal(memory.valid & 0x6007, 0x6007);
        if ((memory.valid & ABENCH_MEMORY_PSS) == 0) {
            cheap++;
            continue;
        }
        assert_true(dear == 0 || memory.time_ns - dear_ns >= least_ns);
        dear_ns = memory.time_ns;
        least_ns = memory.cost_ns > 50000 ? 1000 * memory.cost_ns : 50000000;
        dear++;
    }
    assert_true(dear > 0 && cheap > 0);
    abench_sampler_destroy(sampler);
}

static void options_out_of_their_domain_are_refused(void **state)
{
    static const struct {
        uint32_t tiers;
        uint32_t period_us;
        uint32_t capacity;
    } bad[] = {
        {ABENCH_TIER_STATM | ABENCH_TIER_ROLLUP, 0, 0},
        {ABENCH_TIER_ROLLUP, 0, 0},
        {32, 0, 0},
        {0, 999, 0},
        {0, 0, UINT32_MAX},
    };
    abench_sampler_options options;
    abench_sampler *sampler;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        abench_sampler_options_init(&options);
        options.tiers = bad[i].tiers;
        options.period_us = bad[i].period_us;
        options.capacity = bad[i].capacity;
        assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_ERROR_ARGUMENT);
        assert_null(sampler);
    }
    abench_sampler_options_init(&options);
    options.flags = 2;
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_ERROR_ARGUMENT);
    abench_sampler_options_init(&options);
    options.struct_size = 8;
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_sampler_create(NULL, &sampler), ABENCH_OK);
    abench_sampler_destroy(sampler);
}

/* ---- the thread and its process -------------------------------------------------------------- */

static uint64_t thread_count(void)
{
    char text[4096];
    uint64_t values[ABENCH__STATUS_FIELDS];
    const ssize_t length = abench__file_read("/proc/self/status", text, sizeof text);

    assert_true(length > 0);
    assert_true(abench__parse_status(text, (size_t)length, values) >> ABENCH__STATUS_THREADS & 1);
    return values[ABENCH__STATUS_THREADS];
}

/* The lowest descriptor that is free: the same before and after, when nothing is left open. */
static int lowest_free_descriptor(void)
{
    const int fd = dup(2);

    close(fd);
    return fd;
}

static void destroying_a_running_sampler_ends_its_thread(void **state)
{
    const int free_before = lowest_free_descriptor();
    abench_sampler *sampler = create_sampler(0);
    const uint64_t threads = thread_count();

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_count(sampler, 2);
    abench_sampler_destroy(sampler);
    assert_int_equal(thread_count(), threads - 1);
    assert_int_equal(lowest_free_descriptor(), free_before);
}

/* Deadlines that no reading can meet: 1 ns apart, and each reading walks all pages. */
static void readings_longer_than_their_period_keep_nobody_waiting(void **state)
{
    static abench_memory readings[65536];
    static abench__pace pace;
    static abench__thread thread;

    (void)state;
    memset(&pace, 0, sizeof pace);
    pace.tiers = ABENCH_TIER_STATM | ABENCH_TIER_ROLLUP;
    abench__timeline_init(&pace.timeline, readings, 65536, 1);
    alarm(15); /* rather than wait until the period has doubled so often that one can */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(abench__thread_create(&thread, &pace), ABENCH_OK);
        abench__thread_start(&thread);
        if (i > 0)
            abench__thread_stop(&thread);
        if (i > 1)
            abench__thread_start(&thread);
        abench__thread_end(&thread);
    }
    alarm(0);
    assert_true(pace.timeline.count > 0 && pace.timeline.missed > 0);
}

static uint64_t hook_bytes;

static void *map_by_hook(uint64_t bytes, void *user)
{
    void *memory = NULL;

    if (user == NULL || posix_memalign(&memory, 4096, bytes) != 0)
        return NULL;
    hook_bytes += bytes;
    return memset(memory, 0, bytes);
}

static void unmap_by_hook(void *memory, uint64_t bytes, void *user)
{
    (void)user;
    hook_bytes -= bytes;
    free(memory);
}

static void the_callers_hooks_give_the_memory_and_get_it_back(void **state)
{
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    abench_sampler *sampler;

    (void)state;
    hooks.map = map_by_hook;
    hooks.unmap = unmap_by_hook;
    hooks.user = &hook_bytes;
    options.hooks = &hooks;
    options.capacity = 100;
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_OK);
    assert_true(hook_bytes >= 100 * sizeof(abench_memory));
    memset(&hooks, 0, sizeof hooks); /* they were copied */
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    abench_sampler_destroy(sampler);
    assert_int_equal(hook_bytes, 0);

    abench_memory_hooks_init(&hooks);
    hooks.map = map_by_hook;
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_ERROR_ARGUMENT);
    hooks.unmap = unmap_by_hook; /* and user NULL: the hook fails */
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_ERROR_MEMORY);
    assert_null(sampler);
}

static volatile sig_atomic_t handled;

static void handle(int signal_number)
{
    (void)signal_number;
    handled = 1;
}

static void the_programs_signal_handlers_never_run_on_the_samplers_thread(void **state)
{
    abench_sampler *sampler;
    struct sigaction action;
    sigset_t set, before, pending;

    (void)state;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    sampler = create_sampler(0); /* with the signal open, as a program would */
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    assert_int_equal(kill(getpid(), SIGUSR1), 0); /* the sampler's thread could take it */
    wait_for_count(sampler, 3);
    assert_int_equal(handled, 0);
    assert_int_equal(sigpending(&pending), 0);
    assert_true(sigismember(&pending, SIGUSR1));
    abench_sampler_destroy(sampler);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(handled, 1);
}

static void a_forked_child_can_only_throw_the_sampler_away(void **state)
{
    abench_sampler *sampler = create_sampler(0);
    abench_memory memory = ABENCH_MEMORY_INIT;
    pid_t pid;
    int status;

    (void)state;
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(10); /* rather than wait for a thread that is not there */
        if (abench_sampler_start(sampler) != ABENCH_ERROR_STATE)
            _exit(1);
        abench_sampler_destroy(sampler);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_count(sampler, 2);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    assert_int_equal(abench_sampler_at(sampler, 1, &memory), ABENCH_OK);
    assert_true(memory.rss_bytes > 0);
    abench_sampler_destroy(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sampler_reads_at_rising_times),
        cmocka_unit_test(a_sampler_sees_the_memory_that_is_mapped_meanwhile),
        cmocka_unit_test(a_pause_leaves_no_gap_in_the_timeline),
        cmocka_unit_test(a_stopped_sampler_reads_nothing),
        cmocka_unit_test(a_full_sampler_covers_the_whole_time_with_fewer_readings),
        cmocka_unit_test(an_odd_capacity_is_rounded_up),
        cmocka_unit_test(calls_that_do_not_fit_the_state_are_refused),
        cmocka_unit_test(dear_readings_are_among_the_cheap_ones),
        cmocka_unit_test(options_out_of_their_domain_are_refused),
        cmocka_unit_test(destroying_a_running_sampler_ends_its_thread),
        cmocka_unit_test(readings_longer_than_their_period_keep_nobody_waiting),
        cmocka_unit_test(the_callers_hooks_give_the_memory_and_get_it_back),
        cmocka_unit_test(the_programs_signal_handlers_never_run_on_the_samplers_thread),
        cmocka_unit_test(a_forked_child_can_only_throw_the_sampler_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
