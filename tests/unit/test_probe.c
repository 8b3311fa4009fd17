/* test_probe.c - the probe says who serves malloc from inside of whatever is run, writes to nothing
 * but the tool's file, and leaves no trace in the program. */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "allocator/symfind.h"
#include "identity/child.h"

#define COUNTING IDENTITY_DIRECTORY "/identity-counting"
#define SHOW     IDENTITY_DIRECTORY "/identity-show"
#define PLUGIN   IDENTITY_DIRECTORY "/libidentity-plugin.so"
#define NUMBER   100 /* of the descriptor that children inherit */
#define TEXT     65536

/* Beside the programs, so that a program may be linked into it. Neither a space nor a colon nor a
 * quote may matter. */
#define FOLDER IDENTITY_DIRECTORY "/probe test:XXXXXX"

/* A folder with the file that the probe writes to, as the tool would make it. */
struct bench {
    char folder[sizeof FOLDER];
    char path[sizeof FOLDER + 32];
    char other[sizeof FOLDER + 32]; /* a second file, which must stay as it is */
    int fd;
    int other_fd;
    char variable[sizeof FOLDER + 128]; /* ALLOCBENCH_PROBE=... */
    char preload[2 * sizeof IDENTITY_PROBE + 512];
    char text[TEXT]; /* what is in the file now */
};

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct stat status;

    assert_non_null(b);
    memcpy(b->folder, FOLDER, sizeof FOLDER);
    assert_non_null(mkdtemp(b->folder));
    snprintf(b->path, sizeof b->path, "%s/probe \"1\".jsonl", b->folder);
    snprintf(b->other, sizeof b->other, "%s/other", b->folder);
    b->fd = open(b->path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    b->other_fd = open(b->other, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    assert_true(b->fd >= 0 && b->other_fd >= 0);
    assert_int_equal(fstat(b->fd, &status), 0);
    snprintf(b->variable, sizeof b->variable, "ALLOCBENCH_PROBE=%d:%llu:%llu:%s", NUMBER,
             (unsigned long long)status.st_dev, (unsigned long long)status.st_ino, b->path);
    snprintf(b->preload, sizeof b->preload, "LD_PRELOAD=%s", IDENTITY_PROBE);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    close(b->fd);
    close(b->other_fd);
    unlink(b->path);
    unlink(b->other);
    rmdir(b->folder);
    free(b);
    return 0;
}

/* ---- what may be done to a child before it starts
 * ------------------------------------------------*/

static void give_descriptor(void *user)
{
    dup2(((struct bench *)user)->fd, NUMBER);
}

static void give_other_descriptor(void *user)
{
    dup2(((struct bench *)user)->other_fd, NUMBER);
}

static void give_reading_descriptor(void *user)
{
    dup2(open(((struct bench *)user)->path, O_RDONLY | O_APPEND | O_CLOEXEC), NUMBER);
}

static void give_overwriting_descriptor(void *user)
{
    dup2(open(((struct bench *)user)->path, O_WRONLY | O_CLOEXEC), NUMBER);
}

static void go_to_folder(void *user)
{
    if (chdir(((struct bench *)user)->folder) != 0)
        _exit(126);
}

static void forbid_growth(void *user)
{
    const struct rlimit limit = {0, 0};

    give_descriptor(user);
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* ---- running and reading
 * -------------------------------------------------------------------------*/

static const char *read_text(struct bench *b)
{
    const ssize_t length = pread(b->fd, b->text, TEXT - 1, 0);

    assert_true(length >= 0);
    b->text[length] = '\0';
    return b->text;
}

static void start(struct bench *b, child *c, char *const *argv, char *const *envp,
                  void (*prepare)(void *user))
{
    memset(c, 0, sizeof *c);
    c->argv = argv;
    c->envp = envp;
    c->prepare = prepare;
    c->user = b;
    child_run(c);
    read_text(b);
}

/* Runs argv under the probe with the descriptor inherited; it must end with 0. */
static void run(struct bench *b, child *c, char *const *argv)
{
    char *envp[] = {b->preload, b->variable, NULL};

    start(b, c, argv, envp, give_descriptor);
    if (c->status != 0)
        fail_msg("%s ended with status %d", argv[0], c->status);
}

static int count_lines(const struct bench *b, const char *part)
{
    int count = 0;

    for (const char *line = b->text; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        count += memmem(line, (size_t)(end - line), part, strlen(part)) != NULL;
    }
    return count;
}

/* The number behind "key": in line number index that contains part. */
static unsigned long long number_in(const struct bench *b, const char *part, int index,
                                    const char *key)
{
    char quoted[64];
    const char *line = b->text;

    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    for (; *line != '\0'; line = strchr(line, '\n') + 1) {
        const size_t length = strcspn(line, "\n");
        const char *at;

        if (memmem(line, length, part, strlen(part)) == NULL || index-- > 0)
            continue;
        at = memmem(line, length, quoted, strlen(quoted));
        if (at == NULL)
            fail_msg("no %s in %.*s", quoted, (int)length, line);
        return strtoull(at + strlen(quoted), NULL, 10);
    }
    fail_msg("too few lines with %s:\n%s", part, b->text);
    return 0;
}

#define STARTS "\"event\":\"start\""
#define EXITS  "\"event\":\"exit\""

static void assert_lines(const struct bench *b, int starts, int exits)
{
    if (count_lines(b, STARTS) != starts || count_lines(b, EXITS) != exits ||
        count_lines(b, "") != starts + exits)
        fail_msg("wanted %d starts and %d exits:\n%s", starts, exits, b->text);
}

static void assert_other_untouched(const struct bench *b)
{
    struct stat status;

    assert_int_equal(fstat(b->other_fd, &status), 0);
    assert_int_equal(status.st_size, 0);
}

static char *start_counting[] = {(char *)COUNTING, (char *)"start", NULL};

/* ---- what it says
 * --------------------------------------------------------------------------------*/

static void says_who_serves_malloc_at_start_and_the_peak_at_exit(void **state)
{
    struct bench *b = *state;
    char *argv[] = {(char *)SHOW, NULL};
    char value[600], expected[700];
    static const char *const keys[] = {"family", "version", "build_id", "file"};
    struct stat status;
    child c;

    run(b, &c, argv);
    assert_lines(b, 1, 1);
    /* the same as the program says of itself */
    for (size_t at = 0; at < sizeof keys / sizeof keys[0]; at++) {
        child_value(&c, keys[at], value, sizeof value);
        snprintf(expected, sizeof expected, ",\"%s\":\"%s\",", keys[at], value);
        if (strstr(b->text, expected) == NULL)
            fail_msg("no %s in:\n%s", expected, b->text);
    }
    assert_int_equal(number_in(b, STARTS, 0, "inode"),
                     strtoull(child_value(&c, "inode", value, sizeof value), NULL, 10));
    assert_int_equal(stat(SHOW, &status), 0);
    assert_int_equal(number_in(b, STARTS, 0, "exe_device"), status.st_dev);
    assert_int_equal(number_in(b, STARTS, 0, "exe_inode"), status.st_ino);
    assert_int_equal(number_in(b, STARTS, 0, "ppid"), getpid());
    assert_int_equal(number_in(b, STARTS, 0, "mixed"), 0);
    assert_int_equal(number_in(b, STARTS, 0, "static"), 0);
    assert_true(number_in(b, STARTS, 0, "start_code") > 4096);
    assert_int_equal(number_in(b, EXITS, 0, "pid"), number_in(b, STARTS, 0, "pid"));
    assert_int_equal(number_in(b, EXITS, 0, "start_stack"), number_in(b, STARTS, 0, "start_stack"));
    assert_in_range(number_in(b, EXITS, 0, "hwm_bytes"), 200 << 10, 200 << 20);
}

static void says_it_of_the_allocator_that_is_preloaded_before_it(void **state)
{
    static const char *const library = IDENTITY_LIBRARIES "/libjemalloc.so.2";
    struct bench *b = *state;
    char *argv[] = {(char *)SHOW, NULL};
    child c;

    if (access(library, R_OK) != 0) {
        print_message("not installed: %s\n", library);
        skip();
    }
    snprintf(b->preload, sizeof b->preload, "LD_PRELOAD=%s:%s", library, IDENTITY_PROBE);
    run(b, &c, argv);
    assert_lines(b, 1, 1);
    assert_non_null(strstr(b->text, "\"family\":\"jemalloc\",\"version\":\""));
    assert_non_null(strstr(b->text, library));
}

static void says_it_in_every_image_under_sh_and_env(void **state)
{
    struct bench *b = *state;
    char *argv[] = {
        (char *)"/bin/sh", (char *)"-c",
        (char *)"/usr/bin/env " COUNTING " start; /usr/bin/env -i " COUNTING " start; :", NULL};
    child c;

    run(b, &c, argv);
    /* sh; env; its program; env -i, whose program has lost the environment */
    assert_int_equal(count_lines(b, STARTS), 4);
    assert_int_equal(count_lines(b, "identity-counting\",\"exe_device\""), 1);
    assert_int_equal(number_in(b, STARTS, 1, "pid"), number_in(b, STARTS, 2, "pid"));
}

static void a_forked_child_shares_the_mark_of_its_image(void **state)
{
    struct bench *b = *state;
    char *argv[] = {(char *)COUNTING, (char *)"fork", NULL};
    child c;

    run(b, &c, argv);
    assert_lines(b, 1, 2);
    assert_true(number_in(b, EXITS, 0, "pid") != number_in(b, EXITS, 1, "pid"));
    assert_int_equal(number_in(b, EXITS, 0, "start_stack"), number_in(b, STARTS, 0, "start_stack"));
    assert_int_equal(number_in(b, EXITS, 1, "start_stack"), number_in(b, STARTS, 0, "start_stack"));
}

static void a_program_that_replaces_itself_says_it_again(void **state)
{
    struct bench *b = *state;
    char *argv[] = {(char *)COUNTING, (char *)"again", (char *)"2", NULL};
    child c;

    run(b, &c, argv);
    assert_lines(b, 3, 1);
    assert_int_equal(number_in(b, STARTS, 2, "pid"), number_in(b, STARTS, 0, "pid"));
    assert_int_equal(number_in(b, EXITS, 0, "start_stack"), number_in(b, STARTS, 2, "start_stack"));
}

static void leaves_out_paths_that_would_make_the_line_too_long(void **state)
{
    struct bench *b = *state;
    char name[256], folder[sizeof FOLDER + 256], program[sizeof FOLDER + 512];
    char *argv[] = {program, (char *)"start", NULL};
    child c;

    memset(name, 1, 250); /* six letters each in JSON */
    name[250] = '\0';
    snprintf(folder, sizeof folder, "%s/%s", b->folder, name);
    snprintf(program, sizeof program, "%s/%s", folder, name);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink(COUNTING, program), 0);
    run(b, &c, argv);
    assert_lines(b, 1, 1);
    assert_non_null(strstr(b->text, "identity-counting\",\"exe_device\"")); /* not by the link */
    unlink(program);
    assert_int_equal(link(COUNTING, program), 0);
    run(b, &c, argv);
    unlink(program);
    rmdir(folder);
    assert_lines(b, 2, 2);
    assert_int_equal(count_lines(b, "\"exe\":\"\",\"exe_device\":"), 1);
    for (const char *line = b->text; *line != '\0'; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") < 4096);
}

static void says_which_settings_it_found(void **state)
{
    struct bench *b = *state;
    char *envp[] = {b->preload,        b->variable,         (char *)"MALLOC_ARENA_MAX=2",
                    (char *)"HOME=/",  (char *)"LD_AUDIT=", (char *)"GLIBC_TUNABLES=a\"b\nc\xff",
                    (char *)"MALLOC_", (char *)"MALLOC_=",  NULL};
    child c;

    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    assert_int_equal(count_lines(b, ",\"settings\":\"GLIBC_TUNABLES=a\\\"b?c?\\u000a"
                                    "MALLOC_=\\u000aMALLOC_ARENA_MAX=2\\u000a\"}"),
                     1);
}

static void says_that_it_left_settings_out(void **state)
{
    struct bench *b = *state;
    char value[1600], many[100][16];
    char *envp[103] = {b->preload, b->variable, value, (char *)"MALLOC_Z=1", NULL};
    child c;

    memset(value, 'x', sizeof value);
    memcpy(value, "MALLOC_A=", 9);
    value[1499] = '\0'; /* fits, and nothing behind it does */
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(count_lines(b, "xxx\\u000a\",\"settings_cut\":1}"), 1);
    memset(value, 1, 1499); /* six letters each in JSON */
    memcpy(value, "MALLOC_A=", 9);
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(count_lines(b, ",\"settings\":\"\",\"settings_cut\":1}"), 1);
    for (int at = 0; at < 100; at++) {
        snprintf(many[at], sizeof many[at], "MALLOC_%02d=1", 99 - at);
        envp[2 + at] = many[at];
    }
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(count_lines(b, "MALLOC_62=1\\u000aMALLOC_63=1\\u000a\",\"settings_cut\":1}"),
                     1);
    assert_lines(b, 3, 3);
    for (const char *line = b->text; *line != '\0'; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") < 4096);
}

static void says_what_the_c_library_s_malloc_holds_beside_the_target_s(void **state)
{
    static const char *const library = IDENTITY_LIBRARIES "/libjemalloc.so.2";
    struct bench *b = *state;
    char *plain[] = {(char *)SHOW, NULL};
    char *bound[] = {(char *)SHOW, (char *)"plugin", (char *)PLUGIN, NULL};
    child c;

    run(b, &c, bound);
    assert_int_equal(count_lines(b, "libc_bytes"), 0); /* it serves all: nothing is beside */
    if (access(library, R_OK) != 0) {
        print_message("not installed: %s\n", library);
        skip();
    }
    snprintf(b->preload, sizeof b->preload, "LD_PRELOAD=%s:%s", library, IDENTITY_PROBE);
    run(b, &c, plain);
    assert_in_range(number_in(b, EXITS, 1, "libc_bytes"), 0, 1 << 20);
    run(b, &c, bound);
    assert_in_range(number_in(b, EXITS, 2, "libc_bytes"), 4 << 20, 5 << 20);
}

static void a_name_with_quotes_and_spaces_is_still_json(void **state)
{
    struct bench *b = *state;
    char program[sizeof FOLDER + 32];
    char *argv[] = {program, (char *)"start", NULL};
    child c;

    snprintf(program, sizeof program, "%s/a \"b\\c", b->folder);
    assert_int_equal(link(COUNTING, program), 0);
    run(b, &c, argv);
    unlink(program);
    assert_lines(b, 1, 1);
    assert_non_null(strstr(b->text, "/a \\\"b\\\\c\",\"exe_device\":"));
}

/* ---- where it writes
 * -----------------------------------------------------------------------------*/

static void opens_the_path_when_the_descriptor_is_closed(void **state)
{
    struct bench *b = *state;
    char *envp[] = {b->preload, b->variable, NULL};
    child c;

    start(b, &c, start_counting, envp, NULL);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
}

static void opens_the_path_when_the_descriptor_is_another_file_s(void **state)
{
    struct bench *b = *state;
    char number[16];
    char *argv[] = {(char *)COUNTING, (char *)"reuse", number, b->other, NULL};
    char *envp[] = {b->preload, b->variable, NULL};
    child c;

    start(b, &c, start_counting, envp, give_other_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    assert_other_untouched(b);
    snprintf(number, sizeof number, "%d", NUMBER); /* between start and exit */
    start(b, &c, argv, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 2, 2);
    assert_other_untouched(b);
}

static void opens_the_path_when_the_descriptor_does_not_append(void **state)
{
    struct bench *b = *state;
    char *envp[] = {b->preload, b->variable, NULL};
    child c;

    start(b, &c, start_counting, envp, give_reading_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    start(b, &c, start_counting, envp, give_overwriting_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 2, 2);
}

static void uses_the_descriptor_where_the_path_is_out_of_reach(void **state)
{
    struct bench *b = *state;
    child c;

    assert_int_equal(unlink(b->path), 0);
    run(b, &c, start_counting);
    assert_lines(b, 1, 1);
}

static void is_silent_when_the_path_is_another_file(void **state)
{
    struct bench *b = *state;
    char moved[sizeof FOLDER + 64];
    char *envp[] = {b->preload, b->variable, NULL};
    child c;

    snprintf(moved, sizeof moved, "%s.moved", b->path);
    assert_int_equal(rename(b->path, moved), 0);
    assert_int_equal(rename(b->other, b->path), 0);
    start(b, &c, start_counting, envp, NULL);
    assert_int_equal(c.status, 0);
    assert_lines(b, 0, 0);
    assert_other_untouched(b);
    unlink(b->path);
    assert_int_equal(mkfifo(b->path, 0600), 0); /* an open that waits would hang here */
    start(b, &c, start_counting, envp, NULL);
    assert_int_equal(c.status, 0);
    assert_lines(b, 0, 0);
    unlink(moved);
}

static void is_silent_without_a_sound_variable(void **state)
{
    static const char *const values[] = {
        "",       "x",         ":::",         "100",         "100:",
        "100:1",  "100:1:2",   "100:1:2:",    "100:1:2:rel", "-1:1:2:/x",
        "1:2:/x", "100:1:x:/", "100:1:2:/no", " 100:1:2:/x", "99999999999999999999:1:2:/x",
    };
    struct bench *b = *state;
    char variable[256];
    char *envp[] = {b->preload, variable, NULL};
    child c;

    for (size_t at = 0; at < sizeof values / sizeof values[0]; at++) {
        snprintf(variable, sizeof variable, "ALLOCBENCH_PROBE=%s", values[at]);
        start(b, &c, start_counting, envp, give_descriptor);
        assert_int_equal(c.status, 0);
        assert_lines(b, 0, 0);
    }
    envp[1] = NULL;
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 0, 0);
}

static void is_silent_when_the_path_is_not_absolute(void **state)
{
    struct bench *b = *state;
    char *envp[] = {b->preload, b->variable, NULL};
    char *path = strstr(b->variable, b->folder);
    child c;

    start(b, &c, start_counting, envp, go_to_folder);
    assert_lines(b, 1, 1);
    memmove(path, b->path + strlen(b->folder) + 1, strlen(b->path) - strlen(b->folder));
    start(b, &c, start_counting, envp, go_to_folder);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
}

static void bears_huge_environment_values(void **state)
{
    const size_t size = 100000;
    struct bench *b = *state;
    char *huge = malloc(size), *path = malloc(size);
    char *envp[] = {b->preload, huge, b->variable, NULL};
    child c;

    assert_true(huge != NULL && path != NULL);
    memset(huge, 'x', size - 1);
    huge[size - 1] = '\0';
    memcpy(huge, "HUGE=", 5);
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    memset(path, 'x', size - 1);
    path[size - 1] = '\0';
    path[snprintf(path, size, "%s", b->variable)] = '/'; /* a path beyond any limit */
    envp[2] = path;
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    free(huge);
    free(path);
}

static void does_not_let_a_size_limit_kill_the_program(void **state)
{
    struct bench *b = *state;
    char *argv[] = {(char *)COUNTING, (char *)"fork", NULL};
    char *envp[] = {b->preload, b->variable, NULL};
    child c;

    start(b, &c, argv, envp, forbid_growth);
    assert_int_equal(c.status, 0);
    assert_lines(b, 0, 0);
}

/* ---- what it leaves behind
 * -----------------------------------------------------------------------*/

/* What the program prints about itself is the same with the probe and without it. */
static void assert_same_output(struct bench *b, char *what, const char *key)
{
    char *argv[] = {(char *)COUNTING, what, NULL};
    char *envp[] = {b->preload, b->variable, NULL};
    char *bare[] = {(char *)"NOTHING=1", NULL};
    char with[2048], without[2048];
    child c;

    start(b, &c, argv, envp, NULL); /* so that the probe opens the path */
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    child_value(&c, key, with, sizeof with);
    start(b, &c, argv, bare, NULL);
    assert_int_equal(c.status, 0);
    child_value(&c, key, without, sizeof without);
    assert_string_not_equal(with, "");
    assert_string_equal(with, without);
}

static void allocates_nothing_before_main_or_after_it(void **state)
{
    assert_same_output(*state, (char *)"start", "calls"); /* ends with 97 if something does after */
}

static void leaves_the_same_descriptors_open(void **state)
{
    struct bench *b = *state;

    assert_same_output(b, (char *)"descriptors", "open");
}

static void leaves_errno_as_it_was(void **state)
{
    struct bench *b = *state;
    char *argv[] = {(char *)COUNTING, (char *)"errno", NULL};
    char *envp[] = {b->preload, b->variable, NULL};
    char value[32];
    child c;

    b->variable[strlen(b->variable) - 1] = '!'; /* a path that cannot be opened */
    start(b, &c, argv, envp, NULL);
    assert_string_equal(child_value(&c, "errno", value, sizeof value), "0");
}

static int stop_at_probe(const abench__object *object, void *user)
{
    if (strcmp(object->name, IDENTITY_PROBE) != 0)
        return 0;
    *(abench__object *)user = *object;
    return 1;
}

static void exports_nothing(void **state)
{
    void *library;
    abench__object object;

    (void)state;
    library = dlopen(IDENTITY_PROBE, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    assert_int_equal(abench__objects_each(stop_at_probe, &object), 1);
    assert_int_equal(abench__object_mentions(&object, ""), 0);
    dlclose(library);
}

#define PROBE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROBE_TEST(says_who_serves_malloc_at_start_and_the_peak_at_exit),
        PROBE_TEST(says_it_of_the_allocator_that_is_preloaded_before_it),
        PROBE_TEST(says_it_in_every_image_under_sh_and_env),
        PROBE_TEST(a_forked_child_shares_the_mark_of_its_image),
        PROBE_TEST(a_program_that_replaces_itself_says_it_again),
        PROBE_TEST(leaves_out_paths_that_would_make_the_line_too_long),
        PROBE_TEST(says_which_settings_it_found),
        PROBE_TEST(says_that_it_left_settings_out),
        PROBE_TEST(says_what_the_c_library_s_malloc_holds_beside_the_target_s),
        PROBE_TEST(a_name_with_quotes_and_spaces_is_still_json),
        PROBE_TEST(opens_the_path_when_the_descriptor_is_closed),
        PROBE_TEST(opens_the_path_when_the_descriptor_is_another_file_s),
        PROBE_TEST(opens_the_path_when_the_descriptor_does_not_append),
        PROBE_TEST(uses_the_descriptor_where_the_path_is_out_of_reach),
        PROBE_TEST(is_silent_when_the_path_is_another_file),
        PROBE_TEST(is_silent_without_a_sound_variable),
        PROBE_TEST(is_silent_when_the_path_is_not_absolute),
        PROBE_TEST(bears_huge_environment_values),
        PROBE_TEST(does_not_let_a_size_limit_kill_the_program),
        PROBE_TEST(allocates_nothing_before_main_or_after_it),
        PROBE_TEST(leaves_the_same_descriptors_open),
        PROBE_TEST(leaves_errno_as_it_was),
        cmocka_unit_test(exports_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
