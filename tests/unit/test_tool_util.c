#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/util.h"

/* AddressSanitizer would end the program before xmalloc could. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/allocbench-util-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static size_t files_in_folder(void)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    size_t count = 0;

    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static int tear_down(void **state)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    (void)state;
    while ((entry = readdir(dir)) != NULL)
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    return rmdir(folder);
}

static void assert_holds(const char *path, const char *expected)
{
    size_t size;
    char *text = util_read_file(path, 1 << 20, &size);

    assert_non_null(text);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

static void write_file_replaces_the_old_one(void **state)
{
    char message[256] = "", *path = xasprintf("%s/file", folder);

    (void)state;
    assert_true(util_write_file(path, "one", 3, message, sizeof message));
    assert_holds(path, "one");
    assert_true(util_write_file(path, "second", 6, message, sizeof message));
    assert_holds(path, "second");
    assert_int_equal(files_in_folder(), 1);
    free(path);
}

static void a_full_disk_keeps_the_old_file_and_no_temporary_one(void **state)
{
    const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY}, small = {100, RLIM_INFINITY};
    char message[256] = "", *path = xasprintf("%s/file", folder), data[1000];
    bool written;

    (void)state;
    memset(data, 'x', sizeof data);
    assert_true(util_write_file(path, "old", 3, message, sizeof message));
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    written = util_write_file(path, data, sizeof data, message, sizeof message);
    setrlimit(RLIMIT_FSIZE, &unlimited);
    assert_false(written);
    assert_non_null(strstr(message, path));
    assert_non_null(strstr(message, strerror(EFBIG)));
    assert_holds(path, "old");
    assert_int_equal(files_in_folder(), 1);
    free(path);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    char message[256] = "";

    (void)state;
    assert_false(util_write_file("/nowhere/file", "x", 1, message, sizeof message));
    assert_string_equal(message,
                        "cannot create a file beside /nowhere/file: No such file or directory");
}

static void publish_renames_a_finished_file(void **state)
{
    char message[256] = "", *part = xasprintf("%s/file.part", folder);
    char *path = xasprintf("%s/file", folder);

    (void)state;
    assert_true(util_write_file(part, "data", 4, message, sizeof message));
    assert_true(util_publish(part, path, message, sizeof message));
    assert_holds(path, "data");
    assert_int_equal(files_in_folder(), 1);
    assert_false(util_publish(part, path, message, sizeof message));
    assert_non_null(strstr(message, "file.part: No such file"));
    free(part);
    free(path);
}

static void read_file_refuses_what_is_too_large(void **state)
{
    char message[256] = "", *path = xasprintf("%s/file", folder);

    (void)state;
    assert_true(util_write_file(path, "12345", 5, message, sizeof message));
    errno = 0;
    assert_null(util_read_file(path, 4, NULL));
    assert_int_equal(errno, EFBIG);
    free(util_read_file(path, 5, NULL));
    free(path);
}

static void read_file_does_not_hang_on_a_fifo(void **state)
{
    char *path = xasprintf("%s/fifo", folder);
    size_t size = 1;
    char *text;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    text = util_read_file(path, 100, &size);
    assert_true(text == NULL || size == 0);
    free(text);
    free(path);
}

static void read_file_reads_proc_files_of_no_size(void **state)
{
    size_t size = 0;
    char *text = util_read_file("/proc/self/smaps", 1 << 24, &size);

    (void)state;
    assert_non_null(text);
    assert_true(size > 4096); /* more than the first buffer */
    assert_non_null(strstr(text, "[stack]"));
    free(text);
}

static int notes[2];

static void note_alarm(int number)
{
    (void)number;
    (void)!write(notes[1], "", 1);
}

/* Writes into a pipe that nobody reads yet, and is interrupted in it again and again. */
static _Noreturn void write_interrupted(int fd, const char *data, size_t size)
{
    const struct itimerval often = {{0, 5000}, {0, 5000}};
    struct sigaction action = {0};

    action.sa_handler = note_alarm; /* without SA_RESTART: a blocked write ends short */
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    _exit(util_write_all(fd, data, size) ? 0 : 1);
}

static void write_all_survives_interruptions_and_short_writes(void **state)
{
    enum { SIZE = 1 << 20 };
    char *data = xmalloc(SIZE), *back = xmalloc(SIZE), note[10];
    int ends[2], status;
    pid_t pid;

    (void)state;
    for (int at = 0; at < SIZE; at++)
        data[at] = (char)(at + (at >> 12));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(pipe2(notes, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0)
        write_interrupted(ends[1], data, SIZE);
    close(ends[1]);
    assert_int_equal(util_read_all(notes[0], note, sizeof note), sizeof note);
    assert_int_equal(util_read_all(ends[0], back, SIZE), SIZE);
    assert_memory_equal(data, back, SIZE);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(notes[0]);
    close(notes[1]);
    free(data);
    free(back);
}

static void grow_keeps_the_items(void **state)
{
    int *items = NULL;
    size_t capacity = 0;

    (void)state;
    for (int at = 0; at < 1000; at++) {
        items = util_grow(items, (size_t)at, &capacity, sizeof *items);
        assert_true(capacity > (size_t)at);
        items[at] = at;
    }
    for (int at = 0; at < 1000; at++)
        assert_int_equal(items[at], at);
    free(items);
}

static void without_memory_the_tool_ends_with_status_3(void **state)
{
    int status = 0;
    pid_t pid;

    (void)state;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        (void)close(2);
        free(xmalloc(PTRDIFF_MAX / 2));
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void control_characters_do_not_reach_a_line(void **state)
{
    char text[32] = "a\nb\033[2Jc\x7f\xc3\xa9";

    (void)state;
    assert_string_equal(util_one_line(text), "a?b?[2Jc?\xc3\xa9");
    strcpy(text, "\xc2\x9b"
                 "31m\xff\xe2\x82\xac\xe2\x82");
    assert_string_equal(util_one_line(text), "??31m\xff\xe2\x82\xac\xe2?");
}

static void assert_wrapped(const char *text, size_t column, size_t indent, const char *wanted)
{
    char *wrapped = util_wrap(text, column, indent);

    assert_string_equal(wrapped, wanted);
    free(wrapped);
}

static void lines_break_at_blanks_where_they_are_full(void **state)
{
    char word[91], *text, *wanted;

    (void)state;
    memset(word, 'w', 90);
    word[90] = '\0';
    assert_wrapped("", 5, 2, "");
    assert_wrapped("a  b ", 0, 2, "a  b ");
    text = xasprintf("%s 3456789", word); /* 98 columns */
    assert_wrapped(text, 2, 4, text);
    wanted = xasprintf("%s\n    3456789", word);
    assert_wrapped(text, 3, 4, wanted);
    free(text);
    free(wanted);
    /* Two bytes are one column. */
    text = xasprintf("%s \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
                     word);
    assert_wrapped(text, 0, 2, text);
    free(text);
    /* A word that no line holds stands alone. */
    text = xasprintf("a %s%s b", word, word);
    wanted = xasprintf("a\n %s%s\n b", word, word);
    assert_wrapped(text, 0, 1, wanted);
    free(text);
    free(wanted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(write_file_replaces_the_old_one),
        TEST(a_full_disk_keeps_the_old_file_and_no_temporary_one),
        TEST(a_folder_that_is_not_there_is_named),
        TEST(publish_renames_a_finished_file),
        TEST(read_file_refuses_what_is_too_large),
        TEST(read_file_does_not_hang_on_a_fifo),
        TEST(read_file_reads_proc_files_of_no_size),
        TEST(write_all_survives_interruptions_and_short_writes),
        TEST(grow_keeps_the_items),
        TEST(without_memory_the_tool_ends_with_status_3),
        TEST(control_characters_do_not_reach_a_line),
        TEST(lines_break_at_blanks_where_they_are_full),
    };

    alarm(60); /* a test that hangs is a failure */
    return cmocka_run_group_tests_name("tool_util", tests, NULL, NULL);
}
