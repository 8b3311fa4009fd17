/* The doctor's rules, one at a time, on a machine that a test makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "examined.h"

static void check_one(const char *name, uint32_t verdict, const char *value)
{
    const expected one[] = {{name, verdict, value}};

    examine(folder);
    CHECK(one);
}

static void a_preload_file_counts_when_it_names_something(void **state)
{
    (void)state;
    write_file("etc/ld.so.preload", "");
    check_one("preload", OK, "nothing");
    write_file("etc/ld.so.preload", " \n# libjemalloc.so\n\t:\n");
    check_one("preload", OK, "nothing");
    write_file("etc/ld.so.preload", "#\nlib.so");
    check_one("preload", REFUSE, "/etc/ld.so.preload: lib.so");
    write_file("etc/ld.so.preload", "#\r\na.so:b.so\tc.so # d.so\n\ne.so");
    check_one("preload", REFUSE, "/etc/ld.so.preload: a.so b.so c.so e.so");
}

/* As the files have that a tool for configurations writes: the name stands behind much else. */
static void a_long_comment_hides_no_preload(void **state)
{
    char text[8192];

    (void)state;
    memset(text, '#', sizeof text);
    strcpy(text + 3000, "\n/lib/libmimalloc.so\n");
    write_file("etc/ld.so.preload", text);
    check_one("preload", REFUSE, "/etc/ld.so.preload: /lib/libmimalloc.so");
    memset(text, '#', sizeof text);
    strcpy(text + sizeof text - 100, "\n/lib/libmimalloc.so\n");
    write_file("etc/ld.so.preload", text); /* more than is read */
    check_one("preload", UNKNOWN, "cannot be read");
}

#define X86_GUEST "processor\t: 0\nflags\t\t: fpu hypervisor\n"
#define X86       "processor\t: 0\nflags\t\t: fpu\n"

/* Cores that differ have counters of their own. */
static void counters_are_looked_for_by_each_of_their_names(void **state)
{
    (void)state;
    write_file("proc/cpuinfo", X86_GUEST);
    check_one("virtual", OK, "a virtual machine; without hardware counters");
    write_file("sys/bus/event_source/devices/software/type", "1\n");
    check_one("virtual", OK, "a virtual machine; without hardware counters");
    write_file("proc/cpuinfo", X86);
    write_file("sys/bus/event_source/devices/cpu_core/type", "4\n");
    check_one("virtual", OK, "no");
}

/* arm64 has no flag that tells of a hypervisor. */
static void a_cpu_that_does_not_tell_may_be_a_guest_s(void **state)
{
    (void)state;
    write_file("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\nCPU part\t: 0xd0c\n");
    check_one("virtual", UNKNOWN, "cannot be read");
    write_file("sys/hypervisor/type", "xen\n");
    write_file("sys/bus/event_source/devices/armv8_pmuv3_0/type", "8\n");
    check_one("virtual", OK, "a guest of xen");
}

/* ---- groups ---------------------------------------------------------------------------------- */

#define UNIFIED "1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n"

static void make_groups(void)
{
    write_file("proc/self/mountinfo", UNIFIED);
    write_file("proc/self/cgroup", "0::/a/b\n");
    write_file("cg/a/b/cgroup.procs", "1\n");
    write_file("cg/a/b/cgroup.controllers", "cpu memory\n");
    write_file("cg/a/cgroup.controllers", "cpu memory\n");
}

/* Whose use fills the limit above is nobody's of this group. */
static void a_limit_above_is_held_against_what_is_used_there(void **state)
{
    (void)state;
    make_groups();
    write_file("cg/a/b/memory.max", "max\n");
    write_file("cg/a/b/memory.current", "1048576\n");
    write_file("cg/a/memory.max", "1073741824\n");
    write_file("cg/a/memory.current", "104857600\n");
    check_one("cgroup-memory", OK, "limit 1 GiB, in use without page cache 1 MiB");
    write_file("cg/a/memory.current", "1048576000\n");
    check_one("cgroup-memory", REFUSE,
              "limit 1 GiB, in use without page cache 1000 MiB, of the group /a above it");
    write_file("cg/a/memory.stat", "file 838860800\n");
    check_one("cgroup-memory", OK, "limit 1 GiB, in use without page cache 1 MiB");
    write_file("cg/a/b/memory.max", "1100000\n"); /* its own is worse */
    check_one("cgroup-memory", REFUSE, "limit 1 MiB, in use without page cache 1 MiB");
}

static void of_a_group_that_is_not_seen_no_limit_is_no_news(void **state)
{
    (void)state;
    make_groups();
    write_file("proc/self/cgroup", "0::/elsewhere\n");
    write_file("cg/cgroup.procs", "1\n");
    write_file("cg/cgroup.controllers", "cpu memory\n");
    check_one("cgroup-memory", UNKNOWN, "the group lies outside of what is mounted");
    write_file("cg/memory.max", "1073741824\n");
    check_one("cgroup-memory", WARN, "limit 1 GiB, use unknown");
}

/* The value is a key: a group that is not seen is not one without a quota. */
static void a_quota_that_is_not_seen_is_not_none(void **state)
{
    static const char unknown[] =
        "2 online, 2 allowed, quota unknown; arenas at most: glibc 16, jemalloc 8";

    (void)state;
    write_file("sys/devices/system/cpu/online", "0-1\n");
    write_file("proc/self/status", "Cpus_allowed_list:\t0-1\n");
    write_file("proc/self/cgroup", "0::/a/b\n");
    check_one("cpus", OK, unknown); /* no mount */
    make_groups();
    check_one("cpus", OK, "2 online, 2 allowed, no quota; arenas at most: glibc 16, jemalloc 8");
    write_file("proc/self/cgroup", "0::/elsewhere\n");
    check_one("cpus", OK, unknown);
}

static void a_quota_is_told_whatever_it_is(void **state)
{
    (void)state;
    make_groups();
    write_file("cg/a/b/cpu.max", "18446744073709551615 1\n");
    check_one("cgroup-cpu", WARN, "quota 18446744073709551615.00 CPUs");
    write_file("cg/a/b/cpu.max", "18446744073709551615 1000000000\n");
    check_one("cgroup-cpu", WARN, "quota 18446744073.70 CPUs");
}

static void a_malloc_conf_is_a_link(void **state)
{
    char path[128];

    (void)state;
    write_file("etc/passwd", "");
    snprintf(path, sizeof path, "%s/etc/malloc.conf", folder);
    assert_int_equal(symlink("narenas:1,dirty_decay_ms:0", path), 0);
    check_one("malloc-conf", WARN, "narenas:1,dirty_decay_ms:0");
}

static void nodes_warn_when_memory_may_come_from_several(void **state)
{
    (void)state;
    write_file("sys/devices/system/node/online", "0-3\n");
    check_one("numa", WARN, "4 nodes");
    write_file("proc/self/status", "Mems_allowed_list:\t0-1\n");
    write_file("proc/sys/kernel/numa_balancing", "1\n");
    check_one("numa", WARN, "4 nodes, memory from 2, balancing");
    write_file("proc/self/status", "Mems_allowed_list:\t2\n");
    check_one("numa", OK, "4 nodes, memory from 1, balancing");
}

/* What the advice does, so that the warning goes when it is followed. */
static void a_policy_binds_memory_to_a_node(void **state)
{
    const unsigned long first = 1;

    (void)state;
    if (syscall(SYS_set_mempolicy, 0, NULL, 0) != 0) {
        print_message("this kernel has no nodes\n");
        skip();
    }
    assert_int_equal(abench__nodes_bound(), 0);
    assert_int_equal(syscall(SYS_set_mempolicy, 2, &first, 64), 0);
    assert_int_equal(abench__nodes_bound(), 1);
    assert_int_equal(syscall(SYS_set_mempolicy, 0, NULL, 0), 0);
}

/* Results of machines that differ in the last of many sizes do not compare either. */
static void huge_pages_of_many_sizes_are_a_key_all_the_same(void **state)
{
    static const char sizes[] = "sys/kernel/mm/transparent_hugepage/hugepages-%ukB/enabled";
    abench_finding first, second;
    char path[128];

    (void)state;
    for (unsigned shift = 3; shift <= 24; shift++) {
        snprintf(path, sizeof path, sizes, 1u << shift);
        write_file(path, "always inherit [madvise] never\n");
    }
    examine(folder);
    assert_true(has_finding("thp-mthp", &first));
    assert_int_equal(first.is_key, 1);
    assert_non_null(strstr(first.value, "8kB madvise, 16kB madvise, 32kB madvise, "));
    assert_non_null(strstr(first.value, " more ("));
    write_file(path, "[always] inherit madvise never\n"); /* of the largest */
    examine(folder);
    assert_true(has_finding("thp-mthp", &second));
    assert_string_not_equal(second.value, first.value);
}

static void a_mode_that_no_kernel_has_is_unknown(void **state)
{
    (void)state;
    write_file("proc/sys/vm/overcommit_memory", "3\n");
    write_file("proc/sys/kernel/randomize_va_space", "3\n");
    check_one("overcommit", UNKNOWN, "cannot be read");
    check_one("aslr", UNKNOWN, "cannot be read");
    write_file("proc/sys/vm/overcommit_memory", "1\n");
    check_one("overcommit", OK, "1 (always)");
}

static void fewer_cpus_than_run_warn(void **state)
{
    (void)state;
    write_file("sys/devices/system/cpu/online", "0-7\n");
    write_file("proc/self/status", "Cpus_allowed_list:\t3\n");
    check_one("cpus", WARN, "8 online, 1 allowed, no quota; arenas at most: glibc 64, jemalloc 1");
    write_file("proc/self/status", "Cpus_allowed_list:\t0-7\n");
    check_one("cpus", OK, "8 online, 8 allowed, no quota; arenas at most: glibc 64, jemalloc 32");
}

static void mitigations_differ_when_one_of_them_does(void **state)
{
    abench_finding first, second;

    (void)state;
    write_file("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    write_file("sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n");
    write_file("sys/devices/system/cpu/vulnerabilities/odd", "Unknown: No mitigations\n");
    examine(folder);
    assert_true(has_finding("mitigations", &first));
    assert_int_equal(
        strncmp(first.value, "1 mitigated, 0 vulnerable, 1 not affected, 1 other (", 52), 0);
    assert_int_equal(first.is_key, 1);
    examine(folder);
    assert_true(has_finding("mitigations", &second));
    assert_string_equal(second.value, first.value);
    write_file("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: other\n");
    examine(folder);
    assert_true(has_finding("mitigations", &second));
    assert_int_equal(strncmp(second.value, first.value, 52), 0);
    assert_string_not_equal(second.value, first.value);
    write_file("proc/cmdline", "quiet mitigations=off\n");
    examine(folder);
    assert_true(has_finding("mitigations", &second));
    assert_int_equal(strncmp(second.value, "switched off; ", 14), 0);
}

/* Files that hold what no kernel writes: every finding is unknown, or says what is not there. */
static void hostile_files_are_not_believed(void **state)
{
    static const char *const paths[] = {
        "proc/stat",
        "proc/loadavg",
        "proc/vmstat",
        "proc/swaps",
        "proc/meminfo",
        "proc/cpuinfo",
        "proc/self/status",
        "proc/self/limits",
        "proc/self/cgroup",
        "proc/self/mountinfo",
        "proc/pressure/cpu",
        "proc/pressure/memory",
        "proc/pressure/io",
        "proc/sys/kernel/randomize_va_space",
        "proc/sys/vm/overcommit_memory",
        "proc/sys/vm/max_map_count",
        "sys/devices/system/cpu/online",
        "sys/devices/system/node/online",
        "sys/kernel/mm/ksm/run",
        "sys/kernel/mm/transparent_hugepage/enabled",
    };
    static const char *const names[] = {
        "steal",  "load", "pressure-cpu", "pressure-memory", "pressure-io",   "cpu",    "cpus",
        "memory", "swap", "ksm",          "overcommit",      "max-map-count", "limits", "thp",
        "aslr",   "numa", "virtual",      "cgroup-cpu",      "cgroup-memory",
    };
    char line[2000];

    (void)state;
    memset(line, '9', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        write_file(paths[i], line);
    examine(folder);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        abench_finding finding;
        assert_true(has_finding(names[i], &finding));
        if (finding.verdict != UNKNOWN)
            fail_msg("%s: %s, \"%s\"", names[i], abench_verdict_name(finding.verdict),
                     finding.value);
    }
    assert_int_equal(abench_doctor_verdict(doctor), UNKNOWN);
}

static void an_empty_folder_is_a_machine_of_which_little_is_known(void **state)
{
    (void)state;
    examine(folder);
    assert_int_equal(abench_doctor_verdict(doctor), UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MADE_MACHINE(a_preload_file_counts_when_it_names_something),
        MADE_MACHINE(a_long_comment_hides_no_preload),
        MADE_MACHINE(counters_are_looked_for_by_each_of_their_names),
        MADE_MACHINE(a_cpu_that_does_not_tell_may_be_a_guest_s),
        MADE_MACHINE(a_limit_above_is_held_against_what_is_used_there),
        MADE_MACHINE(of_a_group_that_is_not_seen_no_limit_is_no_news),
        MADE_MACHINE(a_quota_that_is_not_seen_is_not_none),
        MADE_MACHINE(a_quota_is_told_whatever_it_is),
        MADE_MACHINE(a_malloc_conf_is_a_link),
        MADE_MACHINE(nodes_warn_when_memory_may_come_from_several),
        cmocka_unit_test(a_policy_binds_memory_to_a_node),
        MADE_MACHINE(huge_pages_of_many_sizes_are_a_key_all_the_same),
        MADE_MACHINE(a_mode_that_no_kernel_has_is_unknown),
        MADE_MACHINE(fewer_cpus_than_run_warn),
        MADE_MACHINE(mitigations_differ_when_one_of_them_does),
        MADE_MACHINE(hostile_files_are_not_believed),
        MADE_MACHINE(an_empty_folder_is_a_machine_of_which_little_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
