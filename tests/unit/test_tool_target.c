#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/library.h"
#include "tool/target.h"
#include "tool/util.h"

extern char **environ;

static char folder[] = "/tmp/allocbench-test-XXXXXX";
static char message[1024];

static char *make_file(const char *name)
{
    char *path = xasprintf("%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    assert_true(fd >= 0);
    close(fd);
    return path;
}

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

static target parse(const char *spec)
{
    target t;

    message[0] = '\0';
    if (!target_parse(spec, &t, message, sizeof message))
        fail_msg("%s: %s", spec, message);
    return t;
}

static void refuse(const char *spec, const char *text)
{
    target t;

    if (target_parse(spec, &t, message, sizeof message))
        fail_msg("'%s' was taken", spec);
    if (strstr(message, text) == NULL)
        fail_msg("'%s': '%s' does not say '%s'", spec, message, text);
}

static const char *value_of(const target *t, const char *key)
{
    for (size_t at = 0; at < t->settings_count; at++)
        if (strcmp(t->settings[at].key, key) == 0)
            return t->settings[at].value;
    return NULL;
}

/* ---- the grammar ----------------------------------------------------------------------------- */

static void a_builtin_target_has_its_family_and_settings(void **state)
{
    target t = parse("glibc-trim");

    (void)state;
    assert_string_equal(t.name, "glibc-trim");
    assert_string_equal(t.spec, "glibc-trim");
    assert_string_equal(t.family, "glibc");
    assert_null(t.library);
    assert_null(t.missing);
    assert_int_equal(t.settings_count, 2);
    assert_string_equal(value_of(&t, "MALLOC_ARENA_MAX"), "2");
    assert_string_equal(value_of(&t, "MALLOC_TRIM_THRESHOLD_"), "131072");
    target_clear(&t);
}

static void a_variant_overrides_what_its_target_sets(void **state)
{
    target t = parse("glibc-arena2:MALLOC_ARENA_MAX=4,MALLOC_TOP_PAD_=0,MALLOC_TOP_PAD_=1");
    char *text = target_settings_text(&t);

    (void)state;
    assert_string_equal(text, "MALLOC_ARENA_MAX=4 MALLOC_TOP_PAD_=1");
    assert_string_equal(t.name, t.spec);
    free(text);
    target_clear(&t);
}

static void a_part_without_an_equals_sign_belongs_to_the_value_before(void **state)
{
    target t = parse("glibc:MALLOC_CONF=a:1,b:2,thp=never,cpus=0,2,A=");

    (void)state;
    assert_string_equal(value_of(&t, "MALLOC_CONF"), "a:1,b:2");
    assert_string_equal(value_of(&t, "cpus"), "0,2");
    assert_string_equal(value_of(&t, "A"), "");
    assert_int_equal(t.settings_count, 4);
    target_clear(&t);
    assert_int_equal(library_value_length(""), 0);
    assert_int_equal(library_value_length("a"), 1);
    assert_int_equal(library_value_length("a,b"), 3);
    assert_int_equal(library_value_length("a,b=c"), 1);
    assert_int_equal(library_value_length("a=b,c,d=e"), 5);
    assert_int_equal(library_value_length(",b=c"), 0);
    assert_int_equal(library_value_length("a,"), 2);
}

static void factors_are_set_and_not_only_named(void **state)
{
    target t = parse("glibc:thp=never,aslr=off,cpus=0-2,5");
    launch how = {0};

    (void)state;
    target_launch(&t, &how);
    assert_true(how.thp_never && how.aslr_off && how.has_cpus);
    assert_int_equal(CPU_COUNT(&how.cpus), 4);
    assert_true(CPU_ISSET(0, &how.cpus) && CPU_ISSET(2, &how.cpus) && CPU_ISSET(5, &how.cpus));
    target_clear(&t);
    t = parse("glibc:thp=inherit,aslr=on");
    target_launch(&t, &how);
    assert_false(how.thp_never || how.aslr_off || how.has_cpus);
    target_clear(&t);
}

static void lists_of_cpus_are_read_to_the_letter(void **state)
{
    static const char *const wrong[] = {
        "",   ",",  "0,", ",0",  "-1", "1-",   "2-1",    "0--", "0-1-2",
        " 0", "0 ", "+1", "0x1", "a",  "1024", "0-1024", "0;1", "99999999999999999999"};
    target t = parse("glibc:cpus=0-1023");

    (void)state;
    assert_int_equal(CPU_COUNT(&t.cpus), 1024);
    target_clear(&t);
    t = parse("glibc:cpus=3,3,2-3");
    assert_int_equal(CPU_COUNT(&t.cpus), 2);
    target_clear(&t);
    for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        char *spec = xasprintf("glibc:cpus=%s", wrong[at]);
        refuse(spec, "column 7: cpus is a list like 0-1,3");
        free(spec);
    }
}

static void what_is_wrong_is_pointed_at(void **state)
{
    (void)state;
    refuse("glibc:FOO", "target 'glibc:FOO', column 7: KEY=VALUE is wanted here");
    refuse("glibc:=1", "column 7: KEY=VALUE is wanted here");
    refuse("glibc:A=1,=2", "column 11: KEY=VALUE is wanted here");
    refuse("glibc:A=1,thp=off", "column 11: thp is never or inherit");
    refuse("glibc:aslr=", "column 7: aslr is off or on");
    refuse("glibc:A=1,B=2,LD_PRELOAD=x", "column 15: LD_PRELOAD is the tool's own");
    refuse("glibc:ALLOCBENCH_SEED=1", "column 7: the ALLOCBENCH_ variables are the tool's own");
    refuse("glibc: A=1", "column 7: a variable's name is letters, digits and _");
    refuse("glibc:1A=1", "column 7: a variable's name");
    refuse("glibc:A-B=1", "column 7: a variable's name");
    refuse("x=/none.so,A B=1", "column 12: a variable's name");
    target t = parse("glibc:_a9=1");
    target_clear(&t);
}

static void an_unknown_name_gets_the_nearest(void **state)
{
    (void)state;
    refuse("jemaloc", "there is no target 'jemaloc'; did you mean 'jemalloc'?");
    refuse("glibc-arena", "did you mean 'glibc-arena2'?");
    refuse("mimaloc:A=1", "there is no target 'mimaloc'; did you mean 'mimalloc'?");
    refuse("mine", "-t mine=/path/lib.so");
    refuse("", "target '' has no name");
    refuse(":A=1", "has no name");
    refuse("=/x.so", "has no name");
}

static void names_are_text(void **state)
{
    target t = parse("caf\xc3\xa9 <b>|\"=/none.so");

    (void)state;
    assert_string_equal(t.name, "caf\xc3\xa9 <b>|\"");
    target_clear(&t);
    refuse("a\nb=/none.so", "a name is valid UTF-8 without control characters");
    refuse("a\x7f=/none.so", "a name is valid UTF-8");
    refuse("a\xff=/none.so", "a name is valid UTF-8");
    refuse("glibc:A=\x1b[31m", "a name is valid UTF-8");
}

static void what_no_result_can_hold_is_refused(void **state)
{
    char spec[20000];
    target t;

    (void)state;
    memset(spec, 'x', sizeof spec);
    memcpy(spec, "glibc:A=", 8);
    spec[200] = '\0';
    t = parse(spec);
    assert_string_equal(t.name, spec);
    target_clear(&t);
    spec[200] = 'x';
    spec[201] = '\0';
    refuse(spec, "its name is longer than 200 bytes");
    memcpy(spec, "mine=/none,A=", 13);
    spec[201] = 'x';
    spec[16000] = '\0';
    t = parse(spec);
    assert_string_equal(t.name, "mine");
    target_clear(&t);
    spec[16000] = 'x';
    spec[16001] = '\0';
    refuse(spec, "is longer than 16000 bytes");
}

static void no_beginning_of_a_spec_is_too_strange(void **state)
{
    static const char whole[] = "mine=/none,/b,c=d,thp=never,cpus=0-1,3,aslr=off,A=b=c,,=";
    char spec[sizeof whole];

    (void)state;
    for (size_t length = 0; length < sizeof whole; length++)
        for (int odd = 0; odd < 4; odd++) {
            target t;
            memcpy(spec, whole, length);
            spec[length] = '\0';
            if (length > 0)
                spec[length / 2] = "=,:-"[odd];
            if (target_parse(spec, &t, message, sizeof message))
                target_clear(&t);
            else
                assert_non_null(strstr(message, "target '"));
        }
}

/* ---- libraries ------------------------------------------------------------------------------- */

static void a_library_of_the_users_is_found_by_its_real_path(void **state)
{
    char *path = make_file("lib,x.so");
    char *link = xasprintf("%s/link.so", folder);
    char *spec = xasprintf("mine=%s,A=1,2", link);
    target t;

    (void)state;
    assert_int_equal(symlink(path, link), 0);
    t = parse(spec);
    assert_string_equal(t.name, "mine");
    assert_string_equal(t.library, path);
    assert_string_equal(t.preload, path);
    assert_null(t.family);
    assert_null(t.missing);
    assert_string_equal(value_of(&t, "A"), "1,2");
    target_clear(&t);
    free(spec);
    free(link);
    free(path);
}

static void what_is_not_here_is_missing_and_no_error(void **state)
{
    target t = parse("mine=/no/such.so,A=1");

    (void)state;
    assert_null(t.library);
    assert_string_equal(t.missing, "there is no library '/no/such.so': No such file or directory");
    assert_string_equal(value_of(&t, "A"), "1");
    target_clear(&t);
    t = parse("mine=");
    assert_non_null(strstr(t.missing, "there is no library ''"));
    target_clear(&t);
}

static void the_users_folders_come_first_and_names_in_their_order(void **state)
{
    char *second = make_file("libjemalloc.so.1");
    char *path = xasprintf("/none::%s:", folder);
    char *found;
    target t;

    (void)state;
    setenv("ALLOCBENCH_ALLOCATOR_PATH", path, 1);
    found = library_find("libjemalloc.so.1");
    assert_string_equal(found, second);
    free(found);
    char *first = make_file("libjemalloc.so.2");
    t = parse("jemalloc");
    assert_string_equal(t.library, first);
    assert_string_equal(t.family, "jemalloc");
    target_clear(&t);
    assert_null(library_find("libno-such-allocator.so libno-other.so"));
    assert_null(library_find(""));
    unsetenv("ALLOCBENCH_ALLOCATOR_PATH");
    unlink(first);
    unlink(second);
    free(first);
    free(second);
    free(path);
}

static void a_path_that_separates_goes_through_a_link(void **state)
{
    char *plain = make_file("plain.so"), *spaced = make_file("a b:c.so");
    char *kept = library_preload_path(plain), *link = library_preload_path(spaced);
    char *real = realpath(link, NULL);

    (void)state;
    assert_string_equal(kept, plain);
    assert_null(strpbrk(link, " :"));
    assert_string_equal(real, spaced);
    assert_non_null(strstr(link, "a_b_c.so"));
    library_remove_links();
    assert_int_not_equal(access(link, F_OK), 0);
    *strrchr(link, '/') = '\0';
    assert_int_not_equal(access(link, F_OK), 0);
    free(real);
    free(kept);
    free(link);
    free(plain);
    free(spaced);
}

static void every_builtin_target_is_listed_once_with_a_summary(void **state)
{
    size_t count;
    target *all = target_all(&count);

    (void)state;
    assert_true(count >= 15);
    for (size_t at = 0; at < count; at++) {
        assert_non_null(target_summary(all[at].name));
        assert_non_null(all[at].family);
        for (size_t other = 0; other < at; other++)
            assert_string_not_equal(all[at].name, all[other].name);
    }
    assert_null(target_summary("no such"));
    target_list_free(all, count);
}

/* ---- the child's environment ----------------------------------------------------------------- */

/* The value of name, which may stand there once only; NULL. */
static const char *lookup(char **envp, const char *name)
{
    const size_t length = strlen(name);
    const char *found = NULL;

    for (; *envp != NULL; envp++)
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=') {
            assert_null(found);
            found = *envp + length + 1;
        }
    return found;
}

static int set_environment(void **state)
{
    (void)state;
    setenv("PLAIN", "kept", 1);
    setenv("MALLOC_ARENA_MAX", "7", 1);
    setenv("MIMALLOC_VERBOSE", "1", 1);
    setenv("ALLOCBENCH_SEED", "9", 1);
    setenv("LD_PRELOAD", "/own/lib.so", 1);
    return 0;
}

static int unset_environment(void **state)
{
    (void)state;
    unsetenv("PLAIN");
    unsetenv("MALLOC_ARENA_MAX");
    unsetenv("MIMALLOC_VERBOSE");
    unsetenv("ALLOCBENCH_SEED");
    unsetenv("LD_PRELOAD");
    return 0;
}

static void what_steers_allocators_is_cleared(void **state)
{
    target t = parse("glibc");
    char **envp = target_environment(&t, false, NULL, 0);

    (void)state;
    assert_string_equal(lookup(envp, "PLAIN"), "kept");
    assert_null(lookup(envp, "MALLOC_ARENA_MAX"));
    assert_null(lookup(envp, "MIMALLOC_VERBOSE"));
    assert_null(lookup(envp, "ALLOCBENCH_SEED"));
    assert_null(lookup(envp, "LD_PRELOAD"));
    assert_non_null(lookup(envp, "PATH"));
    target_environment_free(envp);
    target_clear(&t);
}

static void kept_variables_stand_behind_the_targets_own(void **state)
{
    char *path = make_file("kept.so");
    char *spec = xasprintf("mine=%s,MALLOC_ARENA_MAX=2,thp=never", path);
    char *both = xasprintf("%s:/own/lib.so", path);
    target plain = parse("glibc"), own = parse(spec);
    char **envp = target_environment(&plain, true, NULL, 0);

    (void)state;
    assert_string_equal(lookup(envp, "MALLOC_ARENA_MAX"), "7");
    assert_string_equal(lookup(envp, "MIMALLOC_VERBOSE"), "1");
    assert_string_equal(lookup(envp, "LD_PRELOAD"), "/own/lib.so");
    assert_null(lookup(envp, "ALLOCBENCH_SEED"));
    target_environment_free(envp);
    envp = target_environment(&own, true, NULL, 0);
    assert_string_equal(lookup(envp, "MALLOC_ARENA_MAX"), "2");
    assert_string_equal(lookup(envp, "LD_PRELOAD"), both);
    target_environment_free(envp);
    target_clear(&plain);
    target_clear(&own);
    free(both);
    free(spec);
    free(path);
}

static void settings_and_extras_arrive_and_factors_do_not(void **state)
{
    static const char *const extra[] = {"ALLOCBENCH_SEED=5", "ALLOCBENCH_LANES=2"};
    char *path = make_file("own.so");
    char *spec = xasprintf("mine=%s,PLAIN=a=b,c,thp=never,aslr=off,cpus=0", path);
    target t = parse(spec);
    char **envp = target_environment(&t, false, extra, 2);

    (void)state;
    assert_string_equal(lookup(envp, "PLAIN"), "a=b,c");
    assert_string_equal(lookup(envp, "ALLOCBENCH_SEED"), "5");
    assert_string_equal(lookup(envp, "ALLOCBENCH_LANES"), "2");
    assert_string_equal(lookup(envp, "LD_PRELOAD"), path);
    assert_null(lookup(envp, "thp"));
    assert_null(lookup(envp, "aslr"));
    assert_null(lookup(envp, "cpus"));
    target_environment_free(envp);
    target_clear(&t);
    free(spec);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_builtin_target_has_its_family_and_settings),
        cmocka_unit_test(a_variant_overrides_what_its_target_sets),
        cmocka_unit_test(a_part_without_an_equals_sign_belongs_to_the_value_before),
        cmocka_unit_test(factors_are_set_and_not_only_named),
        cmocka_unit_test(lists_of_cpus_are_read_to_the_letter),
        cmocka_unit_test(what_is_wrong_is_pointed_at),
        cmocka_unit_test(an_unknown_name_gets_the_nearest),
        cmocka_unit_test(names_are_text),
        cmocka_unit_test(what_no_result_can_hold_is_refused),
        cmocka_unit_test(no_beginning_of_a_spec_is_too_strange),
        cmocka_unit_test(a_library_of_the_users_is_found_by_its_real_path),
        cmocka_unit_test(what_is_not_here_is_missing_and_no_error),
        cmocka_unit_test(the_users_folders_come_first_and_names_in_their_order),
        cmocka_unit_test(a_path_that_separates_goes_through_a_link),
        cmocka_unit_test(every_builtin_target_is_listed_once_with_a_summary),
        cmocka_unit_test_setup_teardown(what_steers_allocators_is_cleared, set_environment,
                                        unset_environment),
        cmocka_unit_test_setup_teardown(kept_variables_stand_behind_the_targets_own,
                                        set_environment, unset_environment),
        cmocka_unit_test_setup_teardown(settings_and_extras_arrive_and_factors_do_not,
                                        set_environment, unset_environment),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
