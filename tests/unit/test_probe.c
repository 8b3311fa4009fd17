/* test_probe.c - the probe says who serves malloc from inside of whatever is run, writes to nothing
 * but the tool's file, and leaves no trace in the program. */
#include "probe_lines.h"

#include <dlfcn.h>
#include <sys/resource.h>

#include "allocator/symfind.h"

#define SHOW   IDENTITY_DIRECTORY "/identity-show"
#define PLUGIN IDENTITY_DIRECTORY "/libidentity-plugin.so"

/* ---- what may be done to a child before it starts -------------------------------------------- */

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

static void assert_other_untouched(const struct bench *b)
{
    struct stat status;

    assert_int_equal(fstat(b->other_fd, &status), 0);
    assert_int_equal(status.st_size, 0);
}

/* ---- what it says ---------------------------------------------------------------------------- */

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
    assert_int_equal(count_lines(b, ",\"name\":\"identity-show\","), 1); /* short enough for comm */
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

/* ---- where it writes ------------------------------------------------------------------------- */

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

/* ---- what it leaves behind ------------------------------------------------------------------- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROBE_TEST(says_who_serves_malloc_at_start_and_the_peak_at_exit),
        PROBE_TEST(says_it_of_the_allocator_that_is_preloaded_before_it),
        PROBE_TEST(says_it_in_every_image_under_sh_and_env),
        PROBE_TEST(a_forked_child_shares_the_mark_of_its_image),
        PROBE_TEST(a_program_that_replaces_itself_says_it_again),
        PROBE_TEST(leaves_out_paths_that_would_make_the_line_too_long),
        PROBE_TEST(says_what_the_c_library_s_malloc_holds_beside_the_target_s),
        PROBE_TEST(a_name_with_quotes_and_spaces_is_still_json),
        PROBE_TEST(opens_the_path_when_the_descriptor_is_closed),
        PROBE_TEST(opens_the_path_when_the_descriptor_is_another_file_s),
        PROBE_TEST(opens_the_path_when_the_descriptor_does_not_append),
        PROBE_TEST(uses_the_descriptor_where_the_path_is_out_of_reach),
        PROBE_TEST(is_silent_when_the_path_is_another_file),
        PROBE_TEST(is_silent_when_the_path_is_not_absolute),
        PROBE_TEST(does_not_let_a_size_limit_kill_the_program),
        PROBE_TEST(allocates_nothing_before_main_or_after_it),
        PROBE_TEST(leaves_the_same_descriptors_open),
        PROBE_TEST(leaves_errno_as_it_was),
        cmocka_unit_test(exports_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
