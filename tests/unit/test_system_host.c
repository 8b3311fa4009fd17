/* Reading files, and the facts about the machine. */
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
#include <sys/utsname.h>
#include <unistd.h>

#include <allocbench/machine.h>

#include "system/file.h"
#include "system/host.h"

#include "kernel_files.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_file_is_read_whole_or_cut_to_the_buffer),
        cmocka_unit_test(a_long_file_that_comes_in_pieces_is_read_to_its_end),
        cmocka_unit_test(what_cannot_be_read_gives_its_errno),
        cmocka_unit_test(the_cpu_model_is_the_first_one_whole),
        cmocka_unit_test(the_chosen_word_stands_in_brackets),
        cmocka_unit_test(the_first_line_loses_its_spaces),
        cmocka_unit_test(the_host_is_this_machine),
        cmocka_unit_test(the_host_writes_no_more_than_the_caller_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
