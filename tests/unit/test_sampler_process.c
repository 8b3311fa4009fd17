/* The sampler's helper process: its readings, and that its owner does not notice it. */
#include "helper_owner.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- readings -------------------------------------------------------------------------------- */

static void assert_times_rise(const abench_sampler *sampler)
{
    uint64_t before_ns = 0;

    for (uint32_t i = 0; i < abench_sampler_count(sampler); i++) {
        abench_memory memory = ABENCH_MEMORY_INIT;
        assert_int_equal(abench_sampler_at(sampler, i, &memory), ABENCH_OK);
        assert_true(i == 0 || memory.time_ns > before_ns);
        assert_true(memory.time_ns <= abench_sampler_time_ns(sampler));
        before_ns = memory.time_ns;
    }
}

static void a_helper_reads_its_owners_memory(void **state)
{
    abench_sampler *sampler = create();
    unsigned char *memory = map(40 * MB, MAP_PRIVATE);
    struct rusage usage;
    abench_memory first, last;

    (void)state;
    assert_int_equal(abench_sampler_count(sampler), 0);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_some(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    first = last_of(sampler);
    touch(memory, 40 * MB);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_some(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    last = last_of(sampler);
    assert_int_equal(last.valid, ABENCH_MEMORY_SIZE | ABENCH_MEMORY_RSS | ABENCH_MEMORY_SHARED |
                                     ABENCH_MEMORY_MINOR_FAULTS | ABENCH_MEMORY_MAJOR_FAULTS);
    assert_in_range(last.rss_bytes - first.rss_bytes, 39 * MB, 41 * MB);
    assert_true(last.minor_faults - first.minor_faults >= 40 * MB / 4096);
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0); /* this process's, not the helper's */
    assert_true(last.minor_faults <= (uint64_t)usage.ru_minflt);
    assert_true(last.cost_ns > 0);
    assert_times_rise(sampler);
    munmap(memory, 40 * MB);
    abench_sampler_destroy(sampler);
}

static void it_starts_and_stops_a_thousand_times(void **state)
{
    abench_sampler *sampler = create();
    uint64_t time_ns = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
        assert_int_equal(abench_sampler_start(sampler), ABENCH_ERROR_STATE);
        assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
        assert_int_equal(abench_sampler_stop(sampler), ABENCH_ERROR_STATE);
        assert_true(abench_sampler_time_ns(sampler) > time_ns);
        time_ns = abench_sampler_time_ns(sampler);
        assert_int_equal(abench_sampler_time_ns(sampler), time_ns);
    }
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_some(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    assert_times_rise(sampler);
    abench_sampler_destroy(sampler);
}

static void dear_readings_take_a_thousandth_of_the_time_at_most(void **state)
{
    abench_sampler *sampler = create_with(ABENCH_TIER_STATM, 1);
    uint64_t dear_ns = 0, least_ns = 0;
    uint32_t dear = 0, cheap = 0;

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    while (abench_sampler_time_ns(sampler) < 300000000)
        wait_for_another(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    for (uint32_t i = 0; i < abench_sampler_count(sampler); i++) {
        abench_memory memory = ABENCH_MEMORY_INIT;
        assert_int_equal(abench_sampler_at(sampler, i, &memory), ABENCH_OK);
        assert_true(memory.valid & ABENCH_MEMORY_RSS);
        if ((memory.valid & ABENCH_MEMORY_PSS) == 0) {
            cheap++;
            continue;
        }
        assert_true(memory.pss_bytes > 0 && memory.pss_bytes <= memory.size_bytes);
        assert_true(dear == 0 || memory.time_ns - dear_ns >= least_ns);
        dear_ns = memory.time_ns;
        least_ns = 1000 * memory.cost_ns;
        dear++;
    }
    assert_true(dear > 0 && cheap > 0);
    abench_sampler_destroy(sampler);
}

/* ---- its owner does not notice it ------------------------------------------------------------ */

static void the_owner_has_one_thread_and_no_child_to_wait_for(void **state)
{
    abench_sampler *sampler = create();
    abench_memory memory = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    assert_true(only_child() > 0);
    assert_int_equal(abench_memory_read(0, ABENCH_TIER_STATUS, &memory), ABENCH_OK);
    assert_true(memory.valid & ABENCH_MEMORY_THREADS);
    assert_int_equal(memory.threads, 1);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
    abench_sampler_destroy(sampler);
    assert_int_equal(only_child(), 0); /* no zombie either */
}

/* And a few that are always the same. */
static uint32_t open_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    uint32_t count = 0;

    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static void nothing_is_left_open(void **state)
{
    const uint32_t before = open_descriptors();
    abench_sampler *sampler = create();

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    abench_sampler_destroy(sampler);
    assert_int_equal(open_descriptors(), before);
}

static void the_owners_pipes_are_not_kept_open(void **state)
{
    struct pollfd end = {-1, POLLIN, 0};
    abench_sampler *sampler;
    int ends[2];
    char byte;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    sampler = create();
    close(ends[1]);
    end.fd = ends[0];
    assert_int_equal(poll(&end, 1, 20000), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    abench_sampler_destroy(sampler);
}

static abench_memory dear_reading(void)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    assert_int_equal(abench_memory_read(0, ABENCH_TIER_ROLLUP, &memory), ABENCH_OK);
    assert_true(memory.valid & ABENCH_MEMORY_PSS && memory.valid & ABENCH_MEMORY_PRIVATE_DIRTY);
    return memory;
}

static uint64_t minor_faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

/* Of 500 MB that the owner had before: all stays its own, and costs one fault a page once. */
static void the_owners_memory_stays_its_own(void **state)
{
    const uint64_t bytes = 500 * MB, pages = bytes / 4096;
    unsigned char *memory = map(bytes, MAP_PRIVATE);
    abench_memory before, with, written;
    abench_sampler *sampler;
    uint64_t faults;

    (void)state;
    touch(memory, bytes);
    dear_reading();
    before = dear_reading();
    sampler = create();
    with = dear_reading();
    assert_true(with.private_dirty_bytes <= before.private_dirty_bytes);
    assert_in_range(before.private_dirty_bytes - with.private_dirty_bytes, 0, 400 * 1024);
    assert_in_range(before.pss_bytes + MB - with.pss_bytes, MB - 200 * 1024, MB + 200 * 1024);
    faults = minor_faults();
    touch(memory, bytes);
    assert_in_range(minor_faults() - faults, 0, pages + 100);
    written = dear_reading();
    assert_in_range(written.private_dirty_bytes + MB - with.private_dirty_bytes, MB - 100 * 1024,
                    MB + 400 * 1024);
    faults = minor_faults();
    touch(memory, bytes);
    assert_in_range(minor_faults() - faults, 0, 100);
    munmap(memory, bytes);
    abench_sampler_destroy(sampler);
}

/* The timeline is in the owner's RSS, and half in its PSS, from the start: neither grows when the
 * helper writes there. */
static void the_timelines_memory_is_there_from_the_start(void **state)
{
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    const uint64_t bytes = 40000 * sizeof(abench_memory), near = 300 * 1024;
    abench_memory before, with;
    abench_sampler *sampler;

    (void)state;
    options.flags = ABENCH_SAMPLER_PROCESS;
    options.capacity = 40000;
    dear_reading();
    before = dear_reading();
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_OK);
    with = dear_reading();
    assert_in_range(with.rollup_rss_bytes - before.rollup_rss_bytes, bytes - near, bytes + near);
    assert_in_range(with.pss_bytes - before.pss_bytes, bytes / 2 - near, bytes / 2 + near);
    abench_sampler_destroy(sampler);
}

static void assert_not_mapped(pid_t pid, const char *name)
{
    char path[64], line[4352];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        assert_null(strstr(line, name));
    fclose(file);
}

/* It keeps neither heap nor shared memory: what the owner gives back is free. */
static void the_helper_itself_is_small(void **state)
{
    unsigned char *own = map(100 * MB, MAP_PRIVATE), *shared = map(100 * MB, MAP_SHARED);
    abench_memory memory = ABENCH_MEMORY_INIT;
    abench_sampler *sampler;
    char *heap = malloc(100 * 1000);

    (void)state;
    touch(own, 100 * MB);
    touch(shared, 100 * MB);
    memset(heap, 1, 100 * 1000);
    sampler = create();
    assert_int_equal(
        abench_memory_read(only_child(), ABENCH_TIER_STATM | ABENCH_TIER_ROLLUP, &memory),
        ABENCH_OK);
    assert_in_range(memory.rss_bytes, 4096, 3 * MB);
    assert_in_range(memory.size_bytes, 4096, 40 * MB);
    assert_not_mapped(only_child(), "[heap]");
    assert_not_mapped(only_child(), "[stack]");
    munmap(own, 100 * MB);
    munmap(shared, 100 * MB);
    free(heap);
    abench_sampler_destroy(sampler);
}

static void an_owner_with_many_mappings_has_one_too(void **state)
{
    const uint64_t count = 4000;
    unsigned char *memory = map(count * 4096, MAP_PRIVATE);
    abench_sampler *sampler;

    (void)state;
    touch(memory, count * 4096);
    for (uint64_t i = 0; i < count; i += 2)
        assert_int_equal(mprotect(memory + i * 4096, 4096, PROT_READ), 0);
    sampler = create();
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_some(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    munmap(memory, count * 4096);
    abench_sampler_destroy(sampler);
}

static void *create_in_thread(void *argument)
{
    *(abench_sampler **)argument = create();
    return NULL;
}

/* Its end is the process's, not that of the thread which has made it. */
static void a_helper_made_by_a_thread_outlives_it(void **state)
{
    abench_sampler *sampler;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, create_in_thread, &sampler), 0);
    pthread_join(thread, NULL);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_some(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    abench_sampler_destroy(sampler);
}

static void throw_away_in_a_child(abench_sampler *sampler)
{
    int status;
    pid_t pid;

    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(20);
        if (abench_sampler_stop(sampler) != ABENCH_ERROR_STATE ||
            abench_sampler_start(sampler) != ABENCH_ERROR_STATE)
            _exit(1);
        abench_sampler_destroy(sampler);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_forked_child_can_only_throw_it_away(void **state)
{
    abench_sampler *sampler = create();

    (void)state;
    throw_away_in_a_child(sampler);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    throw_away_in_a_child(sampler);
    wait_for_some(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    abench_sampler_destroy(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_helper_reads_its_owners_memory),
        cmocka_unit_test(it_starts_and_stops_a_thousand_times),
        cmocka_unit_test(dear_readings_take_a_thousandth_of_the_time_at_most),
        cmocka_unit_test(the_owner_has_one_thread_and_no_child_to_wait_for),
        cmocka_unit_test(nothing_is_left_open),
        cmocka_unit_test(the_owners_pipes_are_not_kept_open),
        cmocka_unit_test(the_owners_memory_stays_its_own),
        cmocka_unit_test(the_timelines_memory_is_there_from_the_start),
        cmocka_unit_test(the_helper_itself_is_small),
        cmocka_unit_test(an_owner_with_many_mappings_has_one_too),
        cmocka_unit_test(a_helper_made_by_a_thread_outlives_it),
        cmocka_unit_test(a_forked_child_can_only_throw_it_away),
    };
    const int made = helpers_are_made();

    if (made <= 0) {
        puts("a thread takes the place of the helper in a build with this sanitizer");
        return made != 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
