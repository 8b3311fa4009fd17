#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/preflight.h"
#include "tool/util.h"

static char folder[] = "/tmp/allocbench-test-XXXXXX";
static char message[2048];

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    char *command = xasprintf("rm -rf '%s'", folder);
    const int status = system(command);

    (void)state;
    free(command);
    return status;
}

/* A program of the shell in place of the cell. */
static char *make_cell(const char *script)
{
    char *path = xasprintf("%s/cell", folder);
    char *text = xasprintf("#!/bin/sh\n%s\n", script);

    assert_true(util_write_file(path, text, strlen(text), message, sizeof message));
    assert_int_equal(chmod(path, 0755), 0);
    free(text);
    return path;
}

static target parse(const char *spec)
{
    target t;

    if (!target_parse(spec, &t, message, sizeof message))
        fail_msg("%s", message);
    return t;
}

/* Preflight of spec, in whose child the script runs. */
static bool try(const char *spec, const char *script, target *t)
{
    char *cell = make_cell(script);
    bool good;

    *t = parse(spec);
    message[0] = '\0';
    good = preflight_target(t, cell, false, NULL, message, sizeof message);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left */
    free(cell);
    return good;
}

static void refuse(const char *spec, const char *script, const char *text)
{
    target t;

    if (try(spec, script, &t))
        fail_msg("'%s' was taken", script);
    if (strstr(message, text) == NULL)
        fail_msg("'%s' does not say '%s'", message, text);
    target_clear(&t);
}

/* ---- what is checked ------------------------------------------------------------------------- */

static abench_identity served(const char *family, const char *file)
{
    abench_identity identity = ABENCH_IDENTITY_INIT;
    struct stat info;

    snprintf(identity.family, sizeof identity.family, "%s", family);
    snprintf(identity.file, sizeof identity.file, "%s", file);
    snprintf(identity.version, sizeof identity.version, "9");
    if (stat(file, &info) == 0) {
        identity.device = info.st_dev;
        identity.inode = info.st_ino;
    }
    return identity;
}

static char *make_library(const char *name)
{
    char *path = xasprintf("%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    assert_true(fd >= 0);
    close(fd);
    return path;
}

static void the_very_file_must_serve(void **state)
{
    char *path = make_library("a.so"), *other = make_library("b.so");
    char *spec = xasprintf("mine=%s", path);
    target t = parse(spec);
    abench_identity identity = served("unknown", path);

    (void)state;
    assert_true(preflight_check(&t, &identity, message, sizeof message));
    identity = served("unknown", other);
    assert_false(preflight_check(&t, &identity, message, sizeof message));
    assert_non_null(strstr(message, "malloc is served by"));
    assert_non_null(strstr(message, "b.so (unknown 9), not by"));
    identity = served("unknown", path);
    identity.device++;
    assert_false(preflight_check(&t, &identity, message, sizeof message));
    identity = served("unknown", path);
    unlink(path);
    assert_false(preflight_check(&t, &identity, message, sizeof message));
    target_clear(&t);
    free(spec);
    free(other);
    free(path);
}

static void the_family_must_be_the_targets(void **state)
{
    abench_identity identity = served("glibc", "/lib/libc.so.6");
    target t = parse("glibc");

    (void)state;
    assert_true(preflight_check(&t, &identity, message, sizeof message));
    identity = served("jemalloc", "/x/libjemalloc.so.2");
    assert_false(preflight_check(&t, &identity, message, sizeof message));
    assert_string_equal(message,
                        "malloc is served by /x/libjemalloc.so.2 (jemalloc 9), which is no glibc");
    identity = served("unknown", "/lib/libc.so.6");
    assert_false(preflight_check(&t, &identity, message, sizeof message));
    identity = served("glibc", "/bin/prog");
    identity.flags = ABENCH_IDENTITY_STATIC;
    assert_false(preflight_check(&t, &identity, message, sizeof message));
    assert_non_null(strstr(message, "malloc is served by the program itself, /bin/prog"));
    target_clear(&t);
}

static void a_builtin_library_may_be_of_a_family_that_is_not_known_yet(void **state)
{
    char *path = make_library("libjemalloc.so.2");
    abench_identity identity = served("unknown", path);
    target t;

    (void)state;
    setenv("ALLOCBENCH_ALLOCATOR_PATH", folder, 1);
    t = parse("jemalloc");
    unsetenv("ALLOCBENCH_ALLOCATOR_PATH");
    assert_true(preflight_check(&t, &identity, message, sizeof message));
    identity = served("mimalloc", path);
    assert_false(preflight_check(&t, &identity, message, sizeof message));
    assert_non_null(strstr(message, "which is no jemalloc"));
    target_clear(&t);
    free(path);
}

static void one_object_must_provide_all(void **state)
{
    abench_identity identity = served("glibc", "/lib/libc.so.6");
    target t = parse("glibc");

    (void)state;
    identity.flags = ABENCH_IDENTITY_MIXED;
    snprintf(identity.others, sizeof identity.others, "free by /x.so");
    assert_false(preflight_check(&t, &identity, message, sizeof message));
    assert_string_equal(message, "malloc is served by /lib/libc.so.6 (glibc 9), but free by /x.so: "
                                 "an allocator must provide them all");
    target_clear(&t);
}

/* ---- the child ------------------------------------------------------------------------------- */

static void what_the_child_says_is_kept(void **state)
{
    target t;

    (void)state;
    assert_true(try("glibc:A=b c",
                    "echo a banner; echo family=glibc; echo version=$A; echo build_id=ab12; "
                    "echo file=/x=y; echo device=3; echo inode=4; echo others=; echo mixed=0; "
                    "echo static=0; test \"$1\" = --identify",
                    &t));
    assert_string_equal(t.identity.family, "glibc");
    assert_string_equal(t.identity.version, "b c");
    assert_string_equal(t.identity.build_id, "ab12");
    assert_string_equal(t.identity.file, "/x=y");
    assert_int_equal(t.identity.device, 3);
    assert_int_equal(t.identity.inode, 4);
    assert_int_equal(t.identity.flags, 0);
    target_clear(&t);
    refuse("glibc", "echo family=glibc; echo mixed=1; echo others=free by x", "but free by x");
    refuse("glibc", "echo family=glibc; echo static=1", "served by the program itself");
}

static void a_child_that_ends_badly_proves_nothing(void **state)
{
    (void)state;
    refuse("glibc", "echo family=glibc; exit 3", "a child under it ended with status 3");
    refuse("glibc", "echo family=glibc; kill -ABRT $$", "a child under it was killed by SIGABRT");
    refuse("glibc", "exit 0", "a child under it did not say who serves its malloc");
    refuse("glibc", "echo rubbish", "a child under it did not say who serves its malloc");
    refuse("glibc", "while echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; do :; done",
           "a child under it printed more than 8192 bytes");
}

static void a_child_that_cannot_start_says_why(void **state)
{
    target t = parse("glibc");

    (void)state;
    assert_false(preflight_target(&t, "/no/such/cell", false, NULL, message, sizeof message));
    assert_string_equal(message,
                        "a child under it cannot be started (exec): No such file or directory");
    target_clear(&t);
    refuse("glibc:cpus=1023", "echo family=glibc",
           "CPU 1023 of its cpus is none that this process may use");
}

static void a_stop_ends_the_wait(void **state)
{
    volatile sig_atomic_t stop = 1;
    char *cell = make_cell("sleep 60");
    target t = parse("glibc");

    (void)state;
    alarm(10); /* without the stop it waits for 20 s: then this test dies */
    assert_false(preflight_target(&t, cell, false, &stop, message, sizeof message));
    alarm(0);
    assert_string_equal(message, "interrupted");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    target_clear(&t);
    free(cell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_very_file_must_serve),
        cmocka_unit_test(the_family_must_be_the_targets),
        cmocka_unit_test(a_builtin_library_may_be_of_a_family_that_is_not_known_yet),
        cmocka_unit_test(one_object_must_provide_all),
        cmocka_unit_test(what_the_child_says_is_kept),
        cmocka_unit_test(a_child_that_ends_badly_proves_nothing),
        cmocka_unit_test(a_child_that_cannot_start_says_why),
        cmocka_unit_test(a_stop_ends_the_wait),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
