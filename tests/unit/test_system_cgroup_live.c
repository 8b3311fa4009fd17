/* The public calls about control groups and pressure, on this machine and on children in groups
 * of their own.
 *
 * A group is made only where it is nobody else's to manage: beside this process, where this process
 * is in the root group of the hierarchy, or below the folder that ALLOCBENCH_TEST_CGROUP names for
 * the memory controller (control groups have one writer each: systemd, a container's manager). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/memory.h>

#include "system/cgroup.h"

/* ---- this machine ---------------------------------------------------------------------------- */

static uint64_t number_in(const char *folder, const char *name)
{
    char path[2200], text[64] = "";
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "r");
    if (file == NULL)
        return UINT64_MAX;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    return strtoull(text, NULL, 10);
}

/* The folder of this process's group for a controller; 0: there is none. */
static int own_group(const char *controller, abench__group *group, char *folder, size_t size)
{
    if (abench__group_find("", "self", controller, group) != ABENCH_OK || group->version == 0 ||
        group->hidden)
        return 0;
    snprintf(folder, size, "%s%s", group->point, group->below);
    return 1;
}

static void own_memory_is_what_the_files_say(void **state)
{
    abench_cgroup cgroup = ABENCH_CGROUP_INIT;
    abench__group group;
    char folder[2100];
    const char *name;
    uint64_t before, after;

    (void)state;
    if (!own_group("memory", &group, folder, sizeof folder)) {
        print_message("no memory group is seen\n");
        skip();
    }
    name = group.version == 1 ? "memory.max_usage_in_bytes" : "memory.peak";
    before = number_in(folder, name);
    assert_int_equal(abench_cgroup_read(0, &cgroup), ABENCH_OK);
    after = number_in(folder, name);
    assert_int_equal((cgroup.valid & ABENCH_CGROUP_PEAK) != 0, before != UINT64_MAX);
    if (before != UINT64_MAX)
        assert_in_range(cgroup.peak_bytes, before, after);
    if (cgroup.version == 1) { /* a root group of version 2 has none */
        assert_true((cgroup.valid & ABENCH_CGROUP_CURRENT) != 0);
        assert_in_range(cgroup.current_bytes, 1, cgroup.peak_bytes);
        assert_true((cgroup.valid & ABENCH_CGROUP_ANON) != 0);
        assert_string_equal(cgroup.memory_path, group.below[0] != '\0' ? group.below : "/");
    }
    assert_true(cgroup.time_ns != 0 && cgroup.cost_ns != 0);
}

static void a_process_that_is_gone_has_no_groups(void **state)
{
    abench_cgroup cgroup = ABENCH_CGROUP_INIT;
    abench_pressure pressure = ABENCH_PRESSURE_INIT;
    const pid_t gone = fork();

    (void)state;
    if (gone == 0)
        _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    assert_int_equal(abench_cgroup_read(gone, &cgroup), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_pressure_read(gone, &pressure), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_cgroup_read(-1, &cgroup), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_pressure_read(-2, &pressure), ABENCH_ERROR_ARGUMENT);
    cgroup.struct_size = 8;
    assert_int_equal(abench_cgroup_read(0, &cgroup), ABENCH_ERROR_ARGUMENT);
}

static void the_machine_s_pressure_only_grows(void **state)
{
    abench_pressure first = ABENCH_PRESSURE_INIT, second = ABENCH_PRESSURE_INIT;
    const abench_status status = abench_pressure_read(-1, &first);

    (void)state;
    if (access("/proc/pressure/cpu", R_OK) != 0) {
        assert_int_equal(status, ABENCH_ERROR_UNSUPPORTED);
        print_message("this kernel counts no pressure\n");
        skip();
    }
    assert_int_equal(status, ABENCH_OK);
    assert_int_equal(abench_pressure_read(-1, &second), ABENCH_OK);
    assert_true((first.valid & ABENCH_PRESSURE_CPU_SOME) != 0);
    assert_true(second.cpu_some_us >= first.cpu_some_us);
    assert_true(second.memory_some_us >= first.memory_some_us);
    assert_true(second.time_ns > first.time_ns);
}

typedef abench_status (*field_at)(uint32_t index, abench_memory_field *out);

/* Fields are in order, one bit each, and cover the struct between its head and its end. */
static void check_fields(field_at at, uint32_t begin, uint32_t end)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    uint32_t next = begin, index = 0;

    for (; at(index, &field) == ABENCH_OK; index++) {
        assert_int_equal(field.offset, next);
        assert_int_equal(field.bit, (uint64_t)1 << index);
        assert_int_equal(field.tier, 0);
        assert_true(strlen(field.name) > 0 && strlen(field.unit) > 0);
        next += 8;
    }
    assert_int_equal(next, end);
    assert_int_equal(at(index, &field), ABENCH_ERROR_NOT_FOUND);
}

static void every_field_has_a_name(void **state)
{
    (void)state;
    check_fields(abench_cgroup_field_at, offsetof(abench_cgroup, current_bytes),
                 offsetof(abench_cgroup, memory_path));
    check_fields(abench_pressure_field_at, offsetof(abench_pressure, cpu_some_us),
                 sizeof(abench_pressure));
}

/* ---- a child in a group of its own ----------------------------------------------------------- */

static char made[2200]; /* the group's folder; "": none */
static pid_t child;     /* in it; 0: none */

static void end_child(void)
{
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    child = 0;
}

static int remove_group(void **state)
{
    (void)state;
    end_child();
    for (int tries = 0; made[0] != '\0' && rmdir(made) != 0 && tries < 200; tries++)
        usleep(10000); /* the kernel takes a moment to take leave of a child */
    made[0] = '\0';
    return 0;
}

static int write_to(const char *name, const char *text)
{
    char path[2300];
    int fd;
    ssize_t done;

    snprintf(path, sizeof path, "%s/%s", made, name);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    done = write(fd, text, strlen(text));
    close(fd);
    return done == (ssize_t)strlen(text);
}

/* Makes a group below a folder, or skips the test. */
static void make_group(const char *folder)
{
    snprintf(made, sizeof made, "%s/allocbench-test-%d", folder, (int)getpid());
    if (mkdir(made, 0700) != 0) {
        print_message("no group can be made in %s: %s\n", folder, strerror(errno));
        made[0] = '\0';
        skip();
    }
}

/* Below this process's group, when that is the root's. */
static void make_group_beside(const char *controller, uint32_t version)
{
    abench__group group;
    char folder[2100];

    if (!own_group(controller, &group, folder, sizeof folder) || group.version != version) {
        print_message("no hierarchy of version %u for \"%s\" is seen\n", version, controller);
        skip();
    }
    if (group.below[0] != '\0') {
        print_message("the group of this process is another's to manage\n");
        skip();
    }
    make_group(folder);
}

/* Runs work in a child that has entered the group, which then sends what it reads of itself and
 * waits to be killed. */
static abench_cgroup run_child(void (*work)(void))
{
    abench_cgroup cgroup = ABENCH_CGROUP_INIT;
    int ends[2];
    ssize_t got;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!write_to("cgroup.procs", "0"))
            _exit(1);
        work();
        if (abench_cgroup_read(0, &cgroup) != ABENCH_OK ||
            write(ends[1], &cgroup, sizeof cgroup) != (ssize_t)sizeof cgroup)
            _exit(2);
        pause();
        _exit(0);
    }
    close(ends[1]);
    got = read(ends[0], &cgroup, sizeof cgroup);
    close(ends[0]);
    assert_true(child > 0);
    assert_int_equal(got, sizeof cgroup);
    return cgroup;
}

/* Uses CPU time: some periods of the quota. */
static void burn(void)
{
    const uint64_t begun_ns = abench_clock_ns();

    while (abench_clock_ns() - begun_ns < 200000000u)
        ;
}

static void a_throttled_child_says_so(void **state)
{
    abench_cgroup there, from_outside = ABENCH_CGROUP_INIT;

    (void)state;
    make_group_beside("cpu", 1);
    if (!write_to("cpu.cfs_period_us", "20000") || !write_to("cpu.cfs_quota_us", "5000")) {
        print_message("this kernel has no quotas\n");
        skip();
    }
    there = run_child(burn);
    assert_int_equal(there.cpu_quota_us, 5000);
    assert_int_equal(there.cpu_period_us, 20000);
    assert_string_equal(there.cpu_path, strrchr(made, '/'));
    assert_true((there.valid & ABENCH_CGROUP_THROTTLES) != 0 && there.throttles > 0);
    assert_true((there.valid & ABENCH_CGROUP_THROTTLED) != 0 && there.throttled_ns > 0);
    assert_int_equal(abench_cgroup_read(child, &from_outside), ABENCH_OK);
    assert_string_equal(from_outside.cpu_path, there.cpu_path);
    assert_int_equal(from_outside.cpu_quota_us, 5000);
    assert_true(from_outside.throttles >= there.throttles);
    assert_int_equal(abench_cgroup_read(0, &from_outside), ABENCH_OK); /* this one is not in it */
    assert_string_equal(from_outside.cpu_path, "/");
}

static void nothing(void) {}

static uint64_t total_in(const char *name)
{
    char path[2300], line[256] = "";
    const char *total;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", made, name);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    total = strstr(line, "total=");
    assert_non_null(total);
    return strtoull(total + 6, NULL, 10);
}

static void pressure_of_a_group_is_its_own(void **state)
{
    abench_pressure own = ABENCH_PRESSURE_INIT, machine = ABENCH_PRESSURE_INIT;
    char path[2300];
    uint64_t before;

    (void)state;
    make_group_beside("", 2);
    snprintf(path, sizeof path, "%s/cpu.pressure", made);
    if (access(path, R_OK) != 0) {
        print_message("this kernel counts no pressure of groups\n");
        skip();
    }
    run_child(nothing);
    before = total_in("cpu.pressure");
    assert_int_equal(abench_pressure_read(child, &own), ABENCH_OK);
    assert_true((own.valid & ABENCH_PRESSURE_CPU_SOME) != 0);
    assert_in_range(own.cpu_some_us, before, total_in("cpu.pressure"));
    assert_int_equal(abench_pressure_read(-1, &machine), ABENCH_OK);
    assert_true(own.cpu_some_us < machine.cpu_some_us);
}

#define TOUCHED ((size_t)16 << 20)
#define LIMIT   "67108864"

static void touch(void)
{
    char *memory = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(3);
    for (size_t at = 0; at < TOUCHED; at += 4096)
        memory[at] = 1;
}

static void touch_and_give_back(void)
{
    char *memory = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    touch();
    if (memory == MAP_FAILED)
        _exit(3);
    memset(memory, 1, TOUCHED);
    munmap(memory, TOUCHED);
}

static void a_child_with_a_memory_limit_says_what_it_uses(void **state)
{
    const char *folder = getenv("ALLOCBENCH_TEST_CGROUP");
    abench_cgroup there;

    (void)state;
    if (folder != NULL)
        make_group(folder);
    else
        make_group_beside("memory", 1);
    if (!write_to("memory.limit_in_bytes", LIMIT) && !write_to("memory.max", LIMIT)) {
        print_message("%s has no limit that can be set\n", made);
        skip();
    }
    there = run_child(touch_and_give_back);
    assert_true((there.valid & ABENCH_CGROUP_LIMIT) != 0);
    assert_int_equal(there.limit_bytes, strtoull(LIMIT, NULL, 10));
    assert_in_range(there.current_bytes, TOUCHED, TOUCHED + TOUCHED / 2);
    assert_in_range(there.anon_bytes, TOUCHED / 2, TOUCHED + TOUCHED / 2);
    if ((there.valid & ABENCH_CGROUP_PEAK) != 0)
        assert_in_range(there.peak_bytes, 2 * TOUCHED, 3 * TOUCHED);
    assert_int_equal(there.limit_hits, 0);
}

#define WITH_GROUP(test) cmocka_unit_test_teardown(test, remove_group)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_memory_is_what_the_files_say),
        cmocka_unit_test(a_process_that_is_gone_has_no_groups),
        cmocka_unit_test(the_machine_s_pressure_only_grows),
        cmocka_unit_test(every_field_has_a_name),
        WITH_GROUP(a_throttled_child_says_so),
        WITH_GROUP(pressure_of_a_group_is_its_own),
        WITH_GROUP(a_child_with_a_memory_limit_says_what_it_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
