/* Reading files, control groups, and the facts about the machine. */
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
#include <sched.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <allocbench/run.h>

#include "system/cgroup.h"
#include "system/file.h"
#include "system/host.h"

/* ---- a folder of files that look like the kernel's ------------------------------------------- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/allocbench-test-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) != 0;
}

/* Writes folder/path, making the folders on the way. */
static void write_file(const char *path, const char *text)
{
    char whole[512];
    FILE *file;

    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    for (char *at = whole + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void a_file_is_read_whole_or_cut_to_the_buffer(void **state)
{
    char path[128], text[8];
    int fd;

    (void)state;
    write_file("digits", "0123456789");
    snprintf(path, sizeof path, "%s/digits", folder);
    assert_int_equal(abench__file_read(path, text, 4), 4);
    assert_memory_equal(text, "0123", 4);
    assert_int_equal(abench__file_read(path, text, sizeof text), 8);
    write_file("digits", "012");
    assert_int_equal(abench__file_read(path, text, sizeof text), 3);

    fd = abench__file_open(AT_FDCWD, path);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(abench__file_again(fd, text, sizeof text), 3);
    write_file("digits", "98");
    assert_int_equal(abench__file_again(fd, text, sizeof text), 2);
    assert_memory_equal(text, "98", 2);
    close(fd);
}

static void a_long_file_that_comes_in_pieces_is_read_to_its_end(void **state)
{
    static char text[1 << 20];
    ssize_t length;

    (void)state; /* the kernel hands it out in pieces of some pages */
    length = abench__file_read("/proc/self/smaps", text, sizeof text - 1);
    assert_in_range(length, 4097, sizeof text - 2);
    text[length] = '\0';
    assert_non_null(strstr(text, "[stack]"));
    assert_int_equal(text[length - 1], '\n');
}

static void what_cannot_be_read_gives_its_errno(void **state)
{
    char text[8];

    (void)state;
    assert_int_equal(abench__file_open(AT_FDCWD, "/nowhere/at/all"), -ENOENT);
    assert_int_equal(abench__file_read("/nowhere/at/all", text, sizeof text), -ENOENT);
    assert_int_equal(abench__file_read("/", text, sizeof text), -EISDIR);
    assert_int_equal(abench__file_again(-1, text, sizeof text), -EBADF);
}

/* ---- control groups -------------------------------------------------------------------------- */

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

static uint64_t memory_limit(const char *text)
{
    return abench__cgroup_memory_limit(folder, text, strlen(text));
}

static void the_smallest_limit_on_the_way_up_counts(void **state)
{
    (void)state;
    write_file("memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("memory/jobs/memory.limit_in_bytes", "3000\n");
    write_file("memory/jobs/a:b/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(memory_limit("4:memory:/\n"), 0);
    assert_int_equal(memory_limit("4:memory:/jobs\n"), 3000);
    assert_int_equal(memory_limit(hybrid), 3000);
    write_file("memory/jobs/a:b/memory.limit_in_bytes", "2000\n");
    assert_int_equal(memory_limit(hybrid), 2000);
    assert_int_equal(memory_limit("4:memory:/jobs/gone/for/long\n"), 3000);
}

static void version_2_counts_alone_and_beside_version_1(void **state)
{
    (void)state;
    write_file("user.slice/memory.max", "5000\n");
    write_file("user.slice/session/memory.max", "max\n");
    assert_int_equal(memory_limit("0::/user.slice/session\n"), 5000);
    assert_int_equal(memory_limit(""), 0);
    write_file("unified/user.slice/session/memory.max", "4000\n");
    assert_int_equal(memory_limit("0::/user.slice/session\n"), 4000);
}

static void a_container_whose_group_is_hidden_has_the_limit_of_its_root(void **state)
{
    (void)state;
    write_file("memory.max", "7000\n");
    assert_int_equal(memory_limit("0::/docker/0123\n"), 7000);
    assert_int_equal(memory_limit("0::/../../outside\n"), 7000);
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void the_cpu_model_is_the_first_one_whole(void **state)
{
    static const char text[] = "processor\t: 0\nmodel\t\t: 2\nmodel name\t: AMD EPYC 9454P  \n"
                               "stepping\t: 1\n\nprocessor\t: 1\nmodel name\t: other\n";
    char model[16], small[4];

    (void)state;
    abench__parse_cpu_model(text, sizeof text - 1, model, sizeof model);
    assert_string_equal(model, "AMD EPYC 9454P");
    abench__parse_cpu_model(text, sizeof text - 1, small, sizeof small);
    assert_string_equal(small, "AMD");
    for (size_t length = 0; length < sizeof text; length++) {
        abench__parse_cpu_model(text, length, model, sizeof model);
        assert_true(model[0] == '\0' || strcmp(model, "AMD EPYC 9454P") == 0);
    }
    abench__parse_cpu_model("model name\n", 11, model, sizeof model);
    assert_string_equal(model, "");
    abench__parse_cpu_model("model name:\n", 12, model, sizeof model);
    assert_string_equal(model, "");
}

static void the_chosen_word_stands_in_brackets(void **state)
{
    char word[16];

    (void)state;
    abench__parse_choice("always [madvise] never\n", 23, word, sizeof word);
    assert_string_equal(word, "madvise");
    abench__parse_choice("always madvise [never", 21, word, sizeof word);
    assert_string_equal(word, "");
    abench__parse_choice("] [", 3, word, sizeof word);
    assert_string_equal(word, "");
    abench__parse_choice("[0123456789abcdefgh]", 20, word, sizeof word);
    assert_string_equal(word, "0123456789abcde");
    abench__parse_choice("[ab\0cd]", 7, word, sizeof word);
    assert_string_equal(word, "ab");
}

static void the_first_line_loses_its_spaces(void **state)
{
    char line[8];

    (void)state;
    abench__parse_first_line(" schedutil \n", 12, line, sizeof line);
    assert_string_equal(line, "schedut");
    abench__parse_first_line("a\r\nb\n", 5, line, sizeof line);
    assert_string_equal(line, "a");
    abench__parse_first_line(" \t", 2, line, sizeof line);
    assert_string_equal(line, "");
}

static void the_host_is_this_machine(void **state)
{
    abench_host host = ABENCH_HOST_INIT;
    struct utsname names;
    cpu_set_t set;

    (void)state;
    assert_int_equal(abench_host_read(&host), ABENCH_OK);
    assert_int_equal(uname(&names), 0);
    assert_string_equal(host.kernel, names.release);
    assert_string_equal(host.machine, names.machine);
    assert_string_equal(host.hostname, names.nodename);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(host.cpus_allowed, CPU_COUNT(&set));
    assert_int_equal(host.cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(host.page_bytes, sysconf(_SC_PAGESIZE));
    /* A container may be shown less than the machine has. */
    assert_in_range(host.memory_bytes, 16u << 20,
                    (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
#ifdef __GLIBC__
    assert_int_equal(strncmp(host.libc, "glibc 2.", 8), 0);
#endif
}

static void the_host_writes_no_more_than_the_caller_knows(void **state)
{
    abench_host host = ABENCH_HOST_INIT;

    (void)state;
    host.struct_size = 8;
    assert_int_equal(abench_host_read(&host), ABENCH_ERROR_ARGUMENT);
    assert_string_equal(host.kernel, "");
    assert_int_equal(abench_host_read(NULL), ABENCH_ERROR_ARGUMENT);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_file_is_read_whole_or_cut_to_the_buffer),
        cmocka_unit_test(a_long_file_that_comes_in_pieces_is_read_to_its_end),
        cmocka_unit_test(what_cannot_be_read_gives_its_errno),
        cmocka_unit_test(the_group_of_a_controller_is_found),
        cmocka_unit_test(a_damaged_group_list_names_no_group),
        cmocka_unit_test(a_limit_is_a_number_below_what_version_1_calls_none),
        IN_FOLDER(the_smallest_limit_on_the_way_up_counts),
        IN_FOLDER(version_2_counts_alone_and_beside_version_1),
        IN_FOLDER(a_container_whose_group_is_hidden_has_the_limit_of_its_root),
        cmocka_unit_test(the_cpu_model_is_the_first_one_whole),
        cmocka_unit_test(the_chosen_word_stands_in_brackets),
        cmocka_unit_test(the_first_line_loses_its_spaces),
        cmocka_unit_test(the_host_is_this_machine),
        cmocka_unit_test(the_host_writes_no_more_than_the_caller_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
