/* Readings of real processes, the fields that few ask for: locked, huge, switches, peaks. */
#include "memory_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* ---- tiers ----------------------------------------------------------------------------------- */

static void locked_pages_are_told(void **state)
{
    const child c = start_child();
    abench_memory before, after;

    (void)state;
    order(&c, 'm');
    before = read_child(&c, ABENCH_TIER_ROLLUP);
    order(&c, 'k');
    after = read_child(&c, ABENCH_TIER_ROLLUP);
    assert_int_equal(before.locked_bytes, 0);
    assert_int_equal(after.locked_bytes, MB);
    end_child(&c);
}

static void page_tables_are_told_beside_rss(void **state)
{
    const child c = start_child();
    abench_memory before, after;

    (void)state;
    order(&c, '-');
    before = read_child(&c, ABENCH_TIER_STATUS | ABENCH_TIER_STATM);
    order(&c, 't');
    after = read_child(&c, ABENCH_TIER_STATUS | ABENCH_TIER_STATM);
    assert_true(is_near(after.page_tables_bytes - before.page_tables_bytes, 2 * MB, MB / 4));
    assert_true(is_near(after.rss_bytes - before.rss_bytes, 2 * MB, MB / 4)); /* the pages alone */
    end_child(&c);
}

/* The sum of one key over a process's smaps, by other means. */
static uint64_t sum_of_smaps(pid_t pid, const char *key)
{
    const size_t length = strlen(key);
    uint64_t sum = 0;
    char line[512];
    FILE *smaps;

    snprintf(line, sizeof line, "/proc/%d/smaps", (int)pid);
    smaps = fopen(line, "r");
    assert_non_null(smaps);
    while (fgets(line, sizeof line, smaps) != NULL)
        if (strncmp(line, key, length) == 0)
            sum += strtoull(line + length, NULL, 10) * 1024;
    fclose(smaps);
    return sum;
}

static void huge_pages_are_told(void **state)
{
    const child c = start_child();
    abench_memory before, after;
    uint64_t told;

    (void)state;
    order(&c, '-');
    before = read_child(&c, ABENCH_TIER_ROLLUP);
    assert_int_equal(before.huge_bytes, sum_of_smaps(c.pid, "AnonHugePages:"));
    order(&c, 'h');
    told = sum_of_smaps(c.pid, "AnonHugePages:");
    if (told <= before.huge_bytes) {
        end_child(&c);
        print_message("the kernel gave no huge page: nothing to read\n");
        skip();
    }
    after = read_child(&c, ABENCH_TIER_ROLLUP);
    assert_int_equal(after.huge_bytes, told);
    assert_true(after.huge_bytes <= after.rollup_rss_bytes);
    end_child(&c);
}

static void switches_and_waiting_grow(void **state)
{
    const child c = start_child();
    abench_memory before, woken, busy;

    (void)state;
    order(&c, '-');
    before = read_child(&c, ABENCH_TIER_SCHEDULE | ABENCH_TIER_STATUS);
    order(&c, 'n');
    woken = read_child(&c, ABENCH_TIER_SCHEDULE | ABENCH_TIER_STATUS);
    assert_in_range(woken.voluntary_switches - before.voluntary_switches, 100, 110);
    order(&c, 's');
    busy = read_child(&c, ABENCH_TIER_SCHEDULE | ABENCH_TIER_STATUS);
    assert_true(busy.threads >= before.threads + 2); /* a sanitizer may add one */
    assert_true(busy.involuntary_switches > woken.involuntary_switches);
    if ((busy.valid & ABENCH_MEMORY_RUN_WAIT) != 0) /* of 40 ms each, half of the time at least */
        assert_true(busy.run_wait_ns - woken.run_wait_ns > 10000000u);
    end_child(&c);
}

static void own_switches_are_those_of_getrusage(void **state)
{
    const struct timespec moment = {0, 100000};
    abench_memory memory = ABENCH_MEMORY_INIT;
    struct rusage before, after;

    (void)state;
    nanosleep(&moment, NULL);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(abench_memory_read(0, ABENCH_TIER_SCHEDULE, &memory), ABENCH_OK);
    getrusage(RUSAGE_SELF, &after);
    expect_valid(&memory, SCHEDULE_FIELDS);
    assert_true(before.ru_nvcsw > 0);
    assert_in_range(memory.voluntary_switches, before.ru_nvcsw, after.ru_nvcsw);
    assert_in_range(memory.involuntary_switches, before.ru_nivcsw, after.ru_nivcsw);
}

/* ---- peaks ----------------------------------------------------------------------------------- */

static void a_peak_that_is_reset_is_what_it_is_now(void **state)
{
    const child c = start_child();
    abench_memory before, after;

    (void)state;
    order(&c, 'm');
    order(&c, 'u');
    before = read_child(&c, ABENCH_TIER_STATUS | ABENCH_TIER_STATM);
    assert_true(before.hwm_bytes > before.rss_bytes + 49 * MB);
    assert_int_equal(abench_memory_reset_peak(c.pid), ABENCH_OK);
    after = read_child(&c, ABENCH_TIER_STATUS | ABENCH_TIER_STATM);
    assert_true(is_near(after.hwm_bytes, after.rss_bytes, MB));
    order(&c, 'm');
    after = read_child(&c, ABENCH_TIER_STATUS | ABENCH_TIER_STATM);
    assert_true(is_near(after.hwm_bytes, after.rss_bytes, MB));
    assert_true(after.hwm_bytes > before.rss_bytes + 49 * MB);
    end_child(&c);
}

/* Not below what the program that this one was made from had at its exec: ru_maxrss keeps that. */
static void an_own_peak_is_reset_for_getrusage_too(void **state)
{
    abench_memory memory = ABENCH_MEMORY_INIT;
    struct rusage before, after;

    (void)state;
    munmap(map_touched(300 * MB), 300 * MB);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(abench_memory_reset_peak(0), ABENCH_OK);
    assert_int_equal(abench_memory_read(0, ABENCH_TIER_STATUS, &memory), ABENCH_OK);
    getrusage(RUSAGE_SELF, &after);
    assert_true(memory.hwm_bytes + 290 * MB < (uint64_t)before.ru_maxrss * 1024);
    assert_true((uint64_t)after.ru_maxrss + 200 * 1024 < (uint64_t)before.ru_maxrss);
}

static void a_peak_that_is_not_ours_to_reset_stays(void **state)
{
    const child c = start_child();
    siginfo_t info;
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(abench_memory_reset_peak(-1), ABENCH_ERROR_ARGUMENT);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        abench_memory memory = ABENCH_MEMORY_INIT;
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(2);
        if (abench_memory_reset_peak(1) != ABENCH_ERROR_SYSTEM)
            _exit(3);
        /* Another user's: the dear tier is not ours to read, and absent. */
        if (abench_memory_read(1, FEW | ABENCH_TIER_ROLLUP, &memory) != ABENCH_OK ||
            memory.valid != STATM_FIELDS || memory.uss_bytes != 0 || memory.pss_bytes != 0)
            _exit(4);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    kill(c.pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(abench_memory_reset_peak(c.pid), ABENCH_ERROR_NOT_FOUND); /* a zombie */
    end_child(&c);
    assert_int_equal(abench_memory_reset_peak(c.pid), ABENCH_ERROR_NOT_FOUND);
}

/* What wait4 says of a child's peak is its parent's where the child is smaller. */
static void the_peak_of_a_child_is_not_what_wait4_says(void **state)
{
    unsigned char *memory = map_touched(200 * MB);
    struct rusage usage;
    uint64_t peak = 0;
    int ends[2], status;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (dup2(ends[1], 1) == 1)
            execl("/proc/self/exe", "test", "--peak", (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &peak, sizeof peak), sizeof peak);
    close(ends[0]);
    assert_int_equal(wait4(pid, &status, 0, &usage), pid);
    assert_int_equal(status, 0);
    munmap(memory, 200 * MB);
    assert_true((uint64_t)usage.ru_maxrss * 1024 > 200 * MB);
    assert_in_range(peak, 100000, 100 * MB); /* with a sanitizer's own memory */
}

/* Writes the own peak, as the library reads it. */
static int tell_peak(void)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    if (abench_memory_read(0, ABENCH_TIER_STATUS, &memory) != ABENCH_OK ||
        (memory.valid & ABENCH_MEMORY_HWM) == 0)
        return 1;
    return write(1, &memory.hwm_bytes, sizeof memory.hwm_bytes) != sizeof memory.hwm_bytes;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locked_pages_are_told),
        cmocka_unit_test(page_tables_are_told_beside_rss),
        cmocka_unit_test(huge_pages_are_told),
        cmocka_unit_test(switches_and_waiting_grow),
        cmocka_unit_test(own_switches_are_those_of_getrusage),
        cmocka_unit_test(a_peak_that_is_reset_is_what_it_is_now),
        cmocka_unit_test(an_own_peak_is_reset_for_getrusage_too),
        cmocka_unit_test(a_peak_that_is_not_ours_to_reset_stays),
        cmocka_unit_test(the_peak_of_a_child_is_not_what_wait4_says),
    };

    if (argc == 2 && strcmp(argv[1], "--peak") == 0)
        return tell_peak();
    find_unknown_fields();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
