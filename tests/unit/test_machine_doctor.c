/* What the doctor finds: on recorded machines and on this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "examined.h"

/* ---- recorded machines ----------------------------------------------------------------------- */

static void a_laptop_as_it_comes_is_warned_of(void **state)
{
    static const expected list[] = {
        {"steal", OK, "0.0 % of the CPU time since boot"},
        {"load", OK, "2 tasks run or could, 8 CPUs"},
        {"pressure-cpu", OK, "0.2 % of the time some task waited"},
        {"cpu", OK, "Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz"},
        {"cpus", OK, "8 online, 8 allowed, no quota; arenas at most: glibc 64, jemalloc 32"},
        {"governor", WARN, "powersave, but performance on CPU 2"},
        {"turbo", WARN, "on"},
        {"smt", WARN, "on"},
        {"clocksource", OK, "tsc"},
        {"cgroup-cpu", OK, "no quota"},
        {"numa", OK, "1 node"},
        {"virtual", OK, "no"},
        {"memory", OK, "15.5 GiB, 8.7 GiB available"},
        {"cgroup-memory", OK, "limit 12 GiB, in use without page cache 140 MiB"},
        {"swap", WARN, "8.9 GiB, in use 16 MiB"},
        {"zswap", WARN, "on"},
        {"ksm", OK, "does not run"},
        {"overcommit", OK, "0 (by estimate)"},
        {"max-map-count", OK, "65530"},
        {"limits", OK, "address space unlimited, data unlimited, locked 8 MiB"},
        {"thp", OK, "always"},
        {"thp-defrag", OK, "madvise"},
        {"thp-khugepaged", OK, "4096 pages every 10000 ms, fills in up to 511 pages"},
        {"thp-mthp", OK, "64kB always, 2048kB inherit"},
        {"thp-process", OK, "allowed"},
        {"kernel", OK, "6.12.48-amd64"},
        {"aslr", OK, "on"},
        {"preload", OK, "nothing"},
        {"malloc-conf", OK, "none"},
    };

    (void)state;
    examine(recorded("laptop"));
    CHECK(list);
    assert_int_equal(abench_doctor_verdict(doctor), WARN);
}

static void a_guest_of_a_busy_host_is_warned_of(void **state)
{
    static const expected list[] = {
        {"steal", WARN, "3.7 % of the CPU time since boot"},
        {"load", WARN, "5 tasks run or could, 2 CPUs"},
        {"pressure-cpu", WARN, "31.4 % of the time some task waited"},
        {"pressure-memory", OK, "0.4 % of the time some task waited"},
        {"pressure-io", WARN, "12.5 % of the time some task waited"},
        {"governor", UNKNOWN, "none to be seen, as in most virtual machines"},
        {"turbo", UNKNOWN, "cannot be seen, as in most virtual machines"},
        {"smt", OK, "off"},
        {"clocksource", WARN, "acpi_pm"},
        {"cgroup-cpu", OK, "no quota"},
        {"numa", OK, "2 nodes, memory from 1"},
        {"virtual", OK, "a virtual machine; without hardware counters"},
        {"memory", WARN, "23.5 GiB, 1.1 GiB available"},
        {"cgroup-memory", WARN, "limit 4 GiB, in use without page cache 2.4 GiB"},
        {"swap", OK, "none"},
        {"zswap", UNKNOWN, "not in this kernel"},
        {"ksm", WARN, "runs, 5000 pages merged"},
        {"max-map-count", WARN, "1000"},
        {"limits", WARN, "address space unlimited, data 1 GiB, locked 8 MiB"},
        {"thp-defrag", WARN, "always"},
        {"thp-mthp", UNKNOWN, "not in this kernel"},
        {"aslr", WARN, "off"},
    };

    (void)state;
    examine(recorded("guest"));
    CHECK(list);
    assert_int_equal(abench_doctor_verdict(doctor), WARN);
}

static void a_container_with_a_quota_is_told_of_its_arenas(void **state)
{
    static const expected list[] = {
        {"cpu", OK, "0x41 (implementer), part 0xd0c"},
        {"cpus", WARN,
         "16 online, 16 allowed, quota 1.50 CPUs; arenas at most: glibc 128, jemalloc 64"},
        {"governor", OK, "performance"},
        {"turbo", OK, "off"},
        {"cgroup-cpu", WARN, "quota 1.50 CPUs, throttled so far: 12"},
        {"cgroup-memory", OK, "no limit"},
        {"thp", OK, "never"},
        {"thp-process", WARN, "switched off for this process"},
        {"aslr", WARN, "on, but not for the heap"},
        {"pressure-memory", UNKNOWN, "not in this kernel"},
    };

    (void)state;
    examine(recorded("container"));
    CHECK(list);
}

static void what_would_mislead_is_refused(void **state)
{
    static const expected list[] = {
        {"steal", REFUSE, "10.0 % of the CPU time since boot"},
        {"pressure-memory", REFUSE, "3.1 % of the time some task waited"},
        {"cgroup-memory", REFUSE, "limit 1 GiB, in use without page cache 1006 MiB"},
        {"overcommit", REFUSE, "2 (never)"},
        {"limits", REFUSE, "address space 4 GiB, data unlimited, locked 8 MiB"},
        {"preload", REFUSE, "/etc/ld.so.preload: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2"},
    };

    (void)state;
    examine(recorded("refused"));
    CHECK(list);
    assert_int_equal(abench_doctor_verdict(doctor), REFUSE);
}

/* ---- every finding --------------------------------------------------------------------------- */

static void check_all_findings(uint32_t live)
{
    static const char *const keys[] = {"thp",    "thp-mthp", "thp-process", "cpus",
                                       "kernel", "libc",     "cpu",         "mitigations"};
    static const char *const live_ones[] = {"run-wait", "speed", "libc", "statm", "environment"};
    abench_finding finding = ABENCH_FINDING_INIT, other;
    uint32_t count = 0;

    for (; abench_doctor_at(doctor, count, &finding) == ABENCH_OK; count++) {
        int is_key = 0;
        assert_in_range(strlen(finding.name), 1, sizeof finding.name - 1);
        assert_in_range(strlen(finding.value), 1, sizeof finding.value - 1);
        assert_in_range(strlen(finding.why), 20, sizeof finding.why - 1);
        assert_in_range(finding.verdict, OK, REFUSE);
        assert_int_equal(finding.advice[0] != '\0',
                         finding.verdict == WARN || finding.verdict == REFUSE);
        assert_string_equal(finding.why, abench__check_why(finding.name));
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            is_key |= strcmp(finding.name, keys[i]) == 0;
        assert_int_equal(finding.is_key, is_key);
        for (uint32_t i = 0; i < count; i++) {
            abench_finding_init(&other);
            assert_int_equal(abench_doctor_at(doctor, i, &other), ABENCH_OK);
            assert_string_not_equal(other.name, finding.name);
        }
    }
    for (size_t i = 0; i < sizeof live_ones / sizeof live_ones[0]; i++)
        assert_int_equal(has_finding(live_ones[i], &other), live);
    assert_int_equal(count, live ? 37 : 32);
}

static void every_finding_is_whole_on_every_machine(void **state)
{
    static const char *const machines[] = {"laptop", "guest", "container", "docker", "refused"};

    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        examine(recorded(machines[i]));
        check_all_findings(0);
    }
    examine(NULL);
    check_all_findings(1);
    assert_null(abench__check_why("none of that name"));
}

/* ---- this machine ---------------------------------------------------------------------------- */

static void this_machine_is_examined(void **state)
{
    abench_host host = ABENCH_HOST_INIT;
    abench_finding finding;

    (void)state;
    examine(NULL);
    assert_int_equal(abench_host_read(&host), ABENCH_OK);
    assert_true(has_finding("kernel", &finding));
    assert_string_equal(finding.value, host.kernel);
    assert_true(has_finding("speed", &finding));
    assert_true(finding.verdict == OK || finding.verdict == WARN);
    if (host.thp[0] != '\0') {
        assert_true(has_finding("thp", &finding));
        assert_string_equal(finding.value, host.thp);
    }
}

/* In a child, whose settings are its own. Returns the finding's verdict. */
static uint32_t verdict_in_child(void (*prepare)(void), const char *name)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        abench_doctor_options options = ABENCH_DOCTOR_OPTIONS_INIT;
        abench_finding finding;
        prepare();
        options.window_ms = 1;
        if (abench_doctor_create(&options, &doctor) != ABENCH_OK || !has_finding(name, &finding))
            _exit(99);
        abench_doctor_destroy(doctor);
        _exit((int)finding.verdict);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return (uint32_t)WEXITSTATUS(status);
}

static void bar_huge_pages(void)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

#define EXCEPT_ADVISED 2 /* PR_THP_DISABLE_EXCEPT_ADVISED */

/* Linux 6.18 and later can bar a process from huge pages that it does not ask for. */
static void huge_pages_that_are_asked_for_may_be_left(void **state)
{
    abench_finding finding;

    (void)state;
    if (prctl(PR_SET_THP_DISABLE, 1, EXCEPT_ADVISED, 0, 0) != 0)
        skip();
    examine(NULL);
    prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
    assert_true(has_finding("thp-process", &finding));
    assert_int_equal(finding.verdict, WARN);
    assert_string_equal(finding.value, "switched off for this process, but where madvise asks");
}

static void set_an_allocator(void)
{
    setenv("MALLOC_ARENA_MAX", "2", 1);
}

static void clear_the_environment(void)
{
    clearenv();
    setenv("HOME", "/", 1);
}

static void set_a_preload(void)
{
    setenv("LD_PRELOAD", "/nowhere/libjemalloc.so.2", 1);
}

static void what_a_process_inherits_is_found(void **state)
{
    (void)state;
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) >= 0)
        assert_int_equal(verdict_in_child(bar_huge_pages, "thp-process"), WARN);
    assert_int_equal(verdict_in_child(clear_the_environment, "environment"), OK);
    assert_int_equal(verdict_in_child(set_an_allocator, "environment"), WARN);
    if (access("/etc/ld.so.preload", F_OK) != 0) {
        assert_int_equal(verdict_in_child(clear_the_environment, "preload"), OK);
        assert_int_equal(verdict_in_child(set_a_preload, "preload"), WARN);
    }
}

/* ---- the object ------------------------------------------------------------------------------ */

static uint64_t mapped_bytes;

static void *no_map(uint64_t bytes, void *user)
{
    (void)user;
    mapped_bytes = bytes;
    return NULL;
}

static void no_unmap(void *memory, uint64_t bytes, void *user)
{
    (void)memory;
    (void)bytes;
    (void)user;
}

static void bad_calls_are_refused(void **state)
{
    abench_doctor_options options = ABENCH_DOCTOR_OPTIONS_INIT;
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_finding finding = ABENCH_FINDING_INIT;

    (void)state;
    assert_int_equal(abench_doctor_create(NULL, NULL), ABENCH_ERROR_ARGUMENT);
    options.struct_size = 8;
    assert_int_equal(abench_doctor_create(&options, &doctor), ABENCH_ERROR_ARGUMENT);
    assert_null(doctor);
    options.struct_size = sizeof options;
    options.root = folder;
    options.hooks = &hooks;
    hooks.map = no_map;
    assert_int_equal(abench_doctor_create(&options, &doctor), ABENCH_ERROR_ARGUMENT);
    hooks.unmap = no_unmap;
    assert_int_equal(abench_doctor_create(&options, &doctor), ABENCH_ERROR_MEMORY);
    assert_null(doctor);
    assert_true(mapped_bytes > 0);
    options.hooks = NULL;
    assert_int_equal(abench_doctor_create(&options, &doctor), ABENCH_OK);
    assert_int_equal(abench_doctor_at(doctor, 1000, &finding), ABENCH_ERROR_NOT_FOUND);
    finding.struct_size = 8;
    assert_int_equal(abench_doctor_at(doctor, 0, &finding), ABENCH_ERROR_ARGUMENT);
    abench_doctor_destroy(NULL);
}

static void verdicts_have_names(void **state)
{
    (void)state;
    assert_string_equal(abench_verdict_name(OK), "ok");
    assert_string_equal(abench_verdict_name(UNKNOWN), "unknown");
    assert_string_equal(abench_verdict_name(WARN), "warn");
    assert_string_equal(abench_verdict_name(REFUSE), "refuse");
    assert_null(abench_verdict_name(4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXAMINED(a_laptop_as_it_comes_is_warned_of),
        EXAMINED(a_guest_of_a_busy_host_is_warned_of),
        EXAMINED(a_container_with_a_quota_is_told_of_its_arenas),
        EXAMINED(what_would_mislead_is_refused),
        EXAMINED(every_finding_is_whole_on_every_machine),
        EXAMINED(this_machine_is_examined),
        EXAMINED(what_a_process_inherits_is_found),
        EXAMINED(huge_pages_that_are_asked_for_may_be_left),
        MADE_MACHINE(bad_calls_are_refused),
        cmocka_unit_test(verdicts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
