/* Control groups: their texts, and recorded machines of each version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/memory.h>

#include "machine/check.h"
#include "system/cgroup.h"
#include "system/pressure.h"

#include "kernel_files.h"

/* ---- texts ----------------------------------------------------------------------------------- */

static const char hybrid[] = "9:name=systemd:/\n"
                             "5:cpu,cpuacct:/jobs\n"
                             "4:hugetlb,memory:/jobs/a:b\n"
                             "0::/user.slice/session\n";

static void the_group_of_a_controller_is_found(void **state)
{
    char path[64];

    (void)state;
    assert_true(abench__cgroup_path(hybrid, strlen(hybrid), "memory", path, sizeof path));
    assert_string_equal(path, "/jobs/a:b");
    assert_true(abench__cgroup_path(hybrid, strlen(hybrid), "cpuacct", path, sizeof path));
    assert_string_equal(path, "/jobs");
    assert_true(abench__cgroup_path(hybrid, strlen(hybrid), "", path, sizeof path));
    assert_string_equal(path, "/user.slice/session");
    assert_false(abench__cgroup_path(hybrid, strlen(hybrid), "mem", path, sizeof path));
    assert_false(abench__cgroup_path(hybrid, strlen(hybrid), "name", path, sizeof path));
}

static void a_damaged_group_list_names_no_group(void **state)
{
    static const char *const texts[] = {
        "",   "4:memory:/a",   "4:memory\n",      "4:memory:\n",           "memory:/a\n",
        ":",  "4:memory:a\n",  "4:memory:/..\n",  "4:memory:/../../etc\n", "4:memory:/a/../b\n",
        "\n", "4 memory /a\n", "4:memory,:/..\n",
    };
    char path[8];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(abench__cgroup_path(texts[i], strlen(texts[i]), "memory", path, sizeof path));
    assert_false(abench__cgroup_path("4:memory:/a\0b\n", 15, "memory", path, sizeof path));
    assert_true(abench__cgroup_path("4:memory:/a..b/\n", 16, "memory", path, sizeof path));
    assert_false(abench__cgroup_path("4:memory:/abcdefg\n", 18, "memory", path, sizeof path));
    for (size_t length = 0; length < sizeof hybrid; length++) {
        char long_path[64];
        if (abench__cgroup_path(hybrid, length, "memory", long_path, sizeof long_path))
            assert_string_equal(long_path, "/jobs/a:b");
    }
}

static uint64_t limit_of(const char *text)
{
    return abench__parse_cgroup_limit(text, strlen(text));
}

static void a_limit_is_a_number_below_what_version_1_calls_none(void **state)
{
    (void)state;
    assert_int_equal(limit_of("1048576\n"), 1048576);
    assert_int_equal(limit_of("max\n"), 0);
    assert_int_equal(limit_of("9223372036854771712\n"), 0);
    assert_int_equal(limit_of("99999999999999999999999999\n"), 0);
    assert_int_equal(limit_of("1048576"), 0); /* cut, perhaps */
    assert_int_equal(limit_of("-1\n"), 0);
    assert_int_equal(limit_of(""), 0);
}

static int cpu_max(const char *text, uint64_t *quota_us, uint64_t *period_us)
{
    abench__quota quota = {7, 7};
    const int is_one = abench__parse_cpu_max(text, strlen(text), &quota);

    *quota_us = quota.quota_us;
    *period_us = quota.period_us;
    return is_one;
}

static void a_quota_has_a_period(void **state)
{
    static const char *const bad[] = {"",
                                      "max\n",
                                      "max 0\n",
                                      "1 0\n",
                                      "0 1000\n",
                                      "-1 1\n",
                                      "150000\n",
                                      "1 1000000001\n",
                                      "max 100000",
                                      "1x 100\n",
                                      "1 18446744073709551616\n"};
    uint64_t quota_us, period_us;

    (void)state;
    assert_true(cpu_max("150000 100000\n", &quota_us, &period_us));
    assert_int_equal(quota_us, 150000);
    assert_int_equal(period_us, 100000);
    assert_true(cpu_max("max 100000\n", &quota_us, &period_us));
    assert_int_equal(quota_us, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(cpu_max(bad[i], &quota_us, &period_us));
        assert_int_equal(quota_us, 7);
    }
}

static int tighter(uint64_t quota, uint64_t period, uint64_t than_quota, uint64_t than_period)
{
    const abench__quota a = {quota, period}, b = {than_quota, than_period};

    return abench__quota_tighter(&a, &b);
}

static void quotas_compare_as_fractions(void **state)
{
    (void)state;
    assert_true(tighter(50000, 100000, 60000, 100000));
    assert_true(tighter(99, 100, 1000, 1000));
    assert_false(tighter(1000, 1000, 99, 100));
    assert_true(tighter(1, 3, 2, 5));
    assert_false(tighter(2, 5, 1, 3));
    assert_false(tighter(1, 2, 500, 1000));
    assert_true(tighter(1, 1, 0, 0));
    assert_false(tighter(0, 0, 1, 1));
    assert_true(tighter(UINT64_MAX - 1, 1000000000, UINT64_MAX, 1000000000));
    assert_false(tighter(UINT64_MAX, 1000000000, UINT64_MAX - 1, 1000000000));
}

static void a_controller_is_a_whole_word(void **state)
{
    (void)state;
    assert_true(abench__cgroup_has_controller("cpu memory pids\n", 16, "memory"));
    assert_false(abench__cgroup_has_controller("cpu memory_x pids\n", 18, "memory"));
    assert_false(abench__cgroup_has_controller("cpu memory", 10, "memory")); /* cut */
    assert_false(abench__cgroup_has_controller("", 0, "memory"));
}

/* ---- groups that a test makes ---------------------------------------------------------------- */

#define UNIFIED "1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n"

static uint64_t limit_now(void)
{
    abench_cgroup cgroup;

    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal((cgroup.valid & ABENCH_CGROUP_LIMIT) != 0, cgroup.limit_bytes != 0);
    return cgroup.limit_bytes;
}

static void the_smallest_limit_on_the_way_up_counts(void **state)
{
    (void)state;
    write_file("proc/self/mountinfo", "1 0 0:1 / /cg/memory rw - cgroup cgroup rw,memory\n");
    write_file("proc/self/cgroup", "4:memory:/jobs/a:b\n");
    write_file("cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("cg/memory/jobs/memory.limit_in_bytes", "3000\n");
    write_file("cg/memory/jobs/a:b/cgroup.procs", "1\n");
    write_file("cg/memory/jobs/a:b/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(limit_now(), 3000);
    write_file("cg/memory/jobs/a:b/memory.limit_in_bytes", "2000\n");
    assert_int_equal(limit_now(), 2000);
    write_file("cg/memory/memory.limit_in_bytes", "1000\n");
    assert_int_equal(limit_now(), 1000);
    write_file("proc/self/cgroup", "4:memory:/\n");
    assert_int_equal(limit_now(), 1000);
}

/* All that is seen then is what holds for everybody who sees the mount. */
static void a_group_that_is_not_seen_has_the_limits_of_its_mount_alone(void **state)
{
    static const char *const groups[] = {"0::/docker/0123\n", "0::/../../outside\n"};
    abench_cgroup cgroup;

    (void)state;
    write_file("proc/self/mountinfo", UNIFIED);
    write_file("cg/cgroup.procs", "1\n");
    write_file("cg/cgroup.controllers", "cpu memory\n");
    write_file("cg/memory.max", "7000\n");
    write_file("cg/memory.current", "5000\n");
    write_file("cg/memory.events", "max 5\noom_kill 1\n");
    write_file("cgroup.procs", "1\n"); /* above the mount: not to be found by "/.." */
    write_file("memory.max", "1\n");
    write_file("cg/cpu.max", "50000 100000\n");
    write_file("cg/cpu.stat", "nr_throttled 5\nthrottled_usec 6\n");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        write_file("proc/self/cgroup", groups[i]);
        assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
        assert_int_equal(cgroup.version, 2);
        assert_int_equal(cgroup.valid,
                         ABENCH_CGROUP_LIMIT | ABENCH_CGROUP_CPU_QUOTA | ABENCH_CGROUP_CPU_PERIOD);
        assert_int_equal(cgroup.limit_bytes, 7000);
        assert_int_equal(cgroup.cpu_quota_us, 50000);
        assert_string_equal(cgroup.memory_path, "");
        assert_string_equal(cgroup.cpu_path, "");
    }
}

static void a_group_outside_of_what_is_mounted_is_not_looked_for_inside(void **state)
{
    (void)state;
    write_file("proc/self/mountinfo", "1 0 0:1 /pods/one /cg rw - cgroup2 cgroup2 rw\n");
    write_file("proc/self/cgroup", "0::/pods/two\n");
    write_file("cg/memory.max", "7000\n");
    write_file("cg/memory.current", "1\n");
    write_file("cg/pods/two/memory.max", "1\n");
    assert_int_equal(limit_now(), 7000);
    write_file("proc/self/cgroup", "0::/pods/one/sub\n");
    write_file("cg/sub/cgroup.procs", "1\n");
    write_file("cg/sub/memory.max", "6000\n");
    write_file("cg/sub/memory.current", "1\n");
    assert_int_equal(limit_now(), 6000);
}

static void the_tightest_quota_on_the_way_up_counts(void **state)
{
    abench_cgroup cgroup;

    (void)state;
    write_file("proc/self/mountinfo", UNIFIED);
    write_file("proc/self/cgroup", "0::/a/b\n");
    write_file("cg/a/b/cgroup.procs", "1\n");
    write_file("cg/a/b/cpu.max", "max 100000\n");
    write_file("cg/a/cpu.max", "150000 100000\n");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.cpu_quota_us, 150000);
    assert_int_equal(cgroup.cpu_period_us, 100000);
    write_file("cg/a/b/cpu.max", "14000 10000\n");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.cpu_quota_us, 14000);
    assert_int_equal(cgroup.cpu_period_us, 10000);
    write_file("cg/a/b/cpu.max", "16000 10000\n");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.cpu_quota_us, 150000);
}

/* A group above that has used up its quota stops this one, which does not count that. */
static void throttling_above_counts(void **state)
{
    abench_cgroup cgroup;

    (void)state;
    write_file("proc/self/mountinfo", UNIFIED);
    write_file("proc/self/cgroup", "0::/a/b\n");
    write_file("cg/a/b/cgroup.procs", "1\n");
    write_file("cg/a/b/cpu.stat", "usage_usec 5\n"); /* no controller there */
    write_file("cg/a/cpu.stat", "nr_throttled 3\nthrottled_usec 40\n");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.valid, ABENCH_CGROUP_THROTTLES | ABENCH_CGROUP_THROTTLED);
    assert_int_equal(cgroup.throttles, 3);
    assert_int_equal(cgroup.throttled_ns, 40000);
    write_file("cg/a/b/cpu.stat", "nr_throttled 2\nthrottled_usec 5\n");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.throttles, 5);
    assert_int_equal(cgroup.throttled_ns, 45000);
    write_file("cg/a/cpu.stat", "nr_throttled 18446744073709551615\n"); /* no kernel's */
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.throttles, 2);
}

/* Which is not the same as that there are none. A folder can be opened and not read. */
static void what_cannot_be_read_is_no_absence(void **state)
{
    abench_cgroup cgroup;
    abench_machine machine;

    (void)state;
    write_file("proc/self/cgroup/file", "");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_ERROR_SYSTEM);
    abench__machine_take(folder, 0, 0, &machine);
    assert_int_equal(machine.valid & ABENCH_MACHINE_MEMORY_LIMIT, 0);
    remove_folder(NULL);
    make_folder(NULL);
    write_file("proc/self/cgroup", "0::/a\n");
    write_file("proc/self/mountinfo/file", "");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_ERROR_SYSTEM);
}

static void garbage_in_the_files_is_absent(void **state)
{
    abench_cgroup cgroup;

    (void)state;
    write_file("proc/self/mountinfo", UNIFIED);
    write_file("proc/self/cgroup", "0::/a\n");
    write_file("cg/a/cgroup.procs", "1\n");
    write_file("cg/a/cgroup.controllers", "memory\n");
    write_file("cg/a/memory.max", "-5\n");
    write_file("cg/a/memory.high", "18446744073709551616\n");
    write_file("cg/a/memory.current", "12");
    write_file("cg/a/memory.peak", "max\n");
    write_file("cg/a/memory.swap.current", "");
    write_file("cg/a/memory.stat", "anon\nfile x\nanon_thp 5\n");
    write_file("cg/a/memory.events", "max 99999999999999999999\nhigh -1\noom 1");
    write_file("cg/a/cpu.max", "5 0\n");
    write_file("cg/a/cpu.stat", "nr_throttled\nthrottled_usec 18446744073709551615\n");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.valid, 0);
    assert_int_equal(cgroup.throttled_ns, 0); /* too many in nanoseconds */
    assert_int_equal(cgroup.version, 2);
    assert_string_equal(cgroup.memory_path, "/a");
}

static void a_machine_without_groups_has_none(void **state)
{
    abench_cgroup cgroup;

    (void)state;
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_ERROR_NOT_FOUND);
    write_file("proc/self/cgroup", "0::/\n");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.version, 0);
    assert_int_equal(cgroup.valid, 0);
    write_file("proc/self/mountinfo", UNIFIED); /* mounted, and nobody's */
    write_file("cg/cgroup.controllers", "hugetlb\n");
    assert_int_equal(abench__cgroup_take(folder, "self", &cgroup), ABENCH_OK);
    assert_int_equal(cgroup.version, 0);
    assert_int_equal(cgroup.valid, 0);
}

/* ---- recorded machines ----------------------------------------------------------------------- */

static abench_cgroup taken(const char *machine)
{
    abench_cgroup cgroup;

    assert_int_equal(abench__cgroup_take(recorded(machine), "self", &cgroup), ABENCH_OK);
    return cgroup;
}

static void a_user_session_of_version_2_is_read(void **state)
{
    const abench_cgroup cgroup = taken("laptop");
    static const char path[] =
        "/user.slice/user-1000.slice/user@1000.service/app.slice/app-terminal.scope";

    (void)state;
    assert_int_equal(cgroup.version, 2);
    assert_string_equal(cgroup.memory_path, path);
    assert_string_equal(cgroup.cpu_path, path);
    assert_int_equal(cgroup.valid,
                     ABENCH_CGROUP_CURRENT | ABENCH_CGROUP_PEAK | ABENCH_CGROUP_LIMIT |
                         ABENCH_CGROUP_HIGH | ABENCH_CGROUP_SWAP | ABENCH_CGROUP_ANON |
                         ABENCH_CGROUP_FILE | ABENCH_CGROUP_LIMIT_HITS | ABENCH_CGROUP_HIGH_HITS |
                         ABENCH_CGROUP_OOM | ABENCH_CGROUP_OOM_KILLS); /* no controller for CPUs */
    assert_int_equal(cgroup.current_bytes, 230686720);
    assert_int_equal(cgroup.peak_bytes, 402653184);
    assert_true(cgroup.limit_bytes == 12884901888u);
    assert_true(cgroup.high_bytes == 8589934592u);
    assert_int_equal(cgroup.swap_bytes, 4096);
    assert_int_equal(cgroup.anon_bytes, 104857600);
    assert_int_equal(cgroup.file_bytes, 83886080);
    assert_int_equal(cgroup.limit_hits, 2);
    assert_int_equal(cgroup.high_hits, 3);
    assert_int_equal(cgroup.oom_events, 1);
    assert_int_equal(cgroup.oom_kills, 1);
}

static void a_container_in_a_namespace_of_its_own_is_read(void **state)
{
    const abench_cgroup cgroup = taken("container");

    (void)state;
    assert_int_equal(cgroup.version, 2);
    assert_string_equal(cgroup.memory_path, "/");
    assert_int_equal(cgroup.valid & (ABENCH_CGROUP_LIMIT | ABENCH_CGROUP_PEAK | ABENCH_CGROUP_HIGH),
                     0);
    assert_int_equal(cgroup.limit_bytes, 0);
    assert_int_equal(cgroup.current_bytes, 52428800);
    assert_int_equal(cgroup.cpu_quota_us, 150000);
    assert_int_equal(cgroup.cpu_period_us, 100000);
    assert_int_equal(cgroup.throttles, 12);
    assert_int_equal(cgroup.throttled_ns, 34567000);
}

static void a_container_of_version_1_is_read(void **state)
{
    const abench_cgroup cgroup = taken("docker");

    (void)state;
    assert_int_equal(cgroup.version, 1);
    assert_string_equal(cgroup.memory_path, "/");
    assert_string_equal(cgroup.cpu_path, "/");
    assert_int_equal(cgroup.limit_bytes, 536870912);
    assert_int_equal(cgroup.current_bytes, 104857600);
    assert_int_equal(cgroup.peak_bytes, 209715200);
    assert_int_equal(cgroup.anon_bytes, 94371840); /* an old kernel's, without those of children */
    assert_int_equal(cgroup.file_bytes, 4096);
    assert_int_equal(cgroup.valid & (ABENCH_CGROUP_SWAP | ABENCH_CGROUP_OOM_KILLS), 0);
    assert_int_equal(cgroup.cpu_quota_us, 50000);
    assert_int_equal(cgroup.throttles, 7);
    assert_int_equal(cgroup.throttled_ns, 123456789);
}

static void each_controller_of_a_hybrid_machine_comes_from_its_own_hierarchy(void **state)
{
    const abench_cgroup cgroup = taken("guest");

    (void)state;
    assert_int_equal(cgroup.version, 1);
    assert_string_equal(cgroup.memory_path, "/batch/job7");
    assert_string_equal(cgroup.cpu_path, "/");
    assert_true(cgroup.limit_bytes == 4294967296u);
    assert_true(cgroup.current_bytes == 2684354560u);
    assert_true(cgroup.anon_bytes == 2415919104u); /* with those of groups below */
    assert_int_equal(cgroup.file_bytes, 67108864);
    assert_int_equal(cgroup.swap_bytes, 8192);
    assert_int_equal(cgroup.limit_hits, 17);
    assert_int_equal(cgroup.oom_kills, 4);
    assert_int_equal(cgroup.valid & (ABENCH_CGROUP_CPU_QUOTA | ABENCH_CGROUP_OOM), 0);
    assert_int_equal(cgroup.valid & ABENCH_CGROUP_THROTTLES, ABENCH_CGROUP_THROTTLES);
}

static void pressure_is_read_of_a_group_and_of_the_machine(void **state)
{
    abench__group group;
    abench_pressure pressure;

    (void)state;
    assert_int_equal(abench__group_find(recorded("laptop"), "self", "", &group), ABENCH_OK);
    abench__pressure_take(recorded("laptop"), &group, &pressure);
    assert_int_equal(pressure.valid, 0x3f);
    assert_int_equal(pressure.cpu_some_us, 777);
    assert_int_equal(pressure.memory_some_us, 778);
    assert_int_equal(pressure.io_some_us, 779);
    abench__pressure_take(recorded("laptop"), NULL, &pressure);
    assert_int_equal(pressure.valid, 0x3f);
    assert_true(pressure.cpu_some_us == 5987272953u);
    assert_int_equal(pressure.memory_some_us, 95539257);
    assert_int_equal(pressure.cpu_full_us, 0);
    assert_int_equal(abench__group_find(recorded("guest"), "self", "", &group), ABENCH_OK);
    abench__pressure_take(recorded("guest"), &group, &pressure);
    assert_int_equal(pressure.valid, 0xf); /* no file for disks */
    abench__pressure_take(recorded("docker"), NULL, &pressure);
    assert_int_equal(pressure.valid, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_group_of_a_controller_is_found),
        cmocka_unit_test(a_damaged_group_list_names_no_group),
        cmocka_unit_test(a_limit_is_a_number_below_what_version_1_calls_none),
        cmocka_unit_test(a_quota_has_a_period),
        cmocka_unit_test(quotas_compare_as_fractions),
        cmocka_unit_test(a_controller_is_a_whole_word),
        IN_FOLDER(the_smallest_limit_on_the_way_up_counts),
        IN_FOLDER(a_group_that_is_not_seen_has_the_limits_of_its_mount_alone),
        IN_FOLDER(a_group_outside_of_what_is_mounted_is_not_looked_for_inside),
        IN_FOLDER(the_tightest_quota_on_the_way_up_counts),
        IN_FOLDER(throttling_above_counts),
        IN_FOLDER(what_cannot_be_read_is_no_absence),
        IN_FOLDER(garbage_in_the_files_is_absent),
        IN_FOLDER(a_machine_without_groups_has_none),
        cmocka_unit_test(a_user_session_of_version_2_is_read),
        cmocka_unit_test(a_container_in_a_namespace_of_its_own_is_read),
        cmocka_unit_test(a_container_of_version_1_is_read),
        cmocka_unit_test(each_controller_of_a_hybrid_machine_comes_from_its_own_hierarchy),
        cmocka_unit_test(pressure_is_read_of_a_group_and_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
