/* test_account_options.c - what an account is opened with, and the settings that it finds outside
 * of the allocator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <allocbench/allocator.h>

#include "allocator/account.h"
#include "played.h"

/* Of an old mimalloc. */
static void mi_process_info(size_t *elapsed, size_t *user, size_t *kernel, size_t *current_rss,
                            size_t *peak_rss, size_t *current_commit, size_t *peak_commit,
                            size_t *faults)
{
    *elapsed = *user = *kernel = *faults = *current_rss = *peak_rss = 1;
    *current_commit = *peak_commit = 7000;
}

static const played functions[] = {{"mi_process_info", (function)mi_process_info}, {NULL, NULL}};

static void a_link_that_is_read_is_a_setting(void **state)
{
    char directory[] = "/tmp/allocbench-account-XXXXXX", path[64];
    abench_account *account = open_played("mimalloc", NULL, functions);

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/malloc.conf", directory);
    abench__settings_link(account, path); /* there is none yet */
    assert_int_equal(symlink("narenas:1,thp:never", path), 0);
    abench__settings_link(account, path);
    assert_setting(account, ABENCH_SETTING_FILE, path, "narenas:1,thp:never");
    unlink(path);
    rmdir(directory);
    abench_account_close(account);
}

static void variables_that_steer_the_family_are_settings(void **state)
{
    char value[400];
    abench_setting setting = ABENCH_SETTING_INIT;
    abench_account *account;

    (void)state;
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    assert_int_equal(setenv("MIMALLOC_ALLOW_THP", "0", 1), 0);
    assert_int_equal(setenv("MIMALLOC_LONG", value, 1), 0);
    assert_int_equal(setenv("RPMALLOC_OTHER", "1", 1), 0);
    account = open_played("mimalloc", NULL, functions);
    assert_setting(account, ABENCH_SETTING_ENVIRONMENT, "MIMALLOC_ALLOW_THP", "0");
    value[sizeof setting.value - 1] = '\0';
    assert_setting(account, ABENCH_SETTING_ENVIRONMENT, "MIMALLOC_LONG", value);
    for (uint32_t at = 0; abench_account_setting_at(account, at, &setting) == ABENCH_OK; at++)
        assert_string_not_equal(setting.name, "RPMALLOC_OTHER");
    abench_account_close(account);
    unsetenv("MIMALLOC_ALLOW_THP");
    unsetenv("MIMALLOC_LONG");
    unsetenv("RPMALLOC_OTHER");
}

static void a_variable_steers_its_family_only(void **state)
{
    static const struct {
        const char *family, *name;
        int steers;
    } cases[] = {
        {"glibc", "MALLOC_ARENA_MAX", 1},
        {"glibc", "MALLOC_CONF", 0},
        {"glibc", "GLIBC_TUNABLES", 1},
        {"jemalloc", "MALLOC_CONF", 1},
        {"jemalloc", "_RJEM_MALLOC_CONF", 1},
        {"jemalloc", "MALLOC_ARENA_MAX", 0},
        {"tcmalloc", "TCMALLOC_HEAP_LIMIT_MB", 1},
        {"mimalloc", "mimalloc_verbose", 1},
        {"mimalloc", "MIMALLOC_VERBOSE", 1},
        {"mimalloc", "MiMalloc_Verbose", 1},
        {"mimalloc", "MiMalloc", 0},
        {"jemalloc", "malloc_conf", 0},
        {"mimalloc", "LD_PRELOAD", 0},
        {"google-tcmalloc", "GLIBC_TUNABLES", 1},
        {"scudo", "SCUDO_OPTIONS", 1},
        {"scudo", "SCUDO_OPTIONS_", 0},
        {"tbbmalloc", "TBB_MALLOC_USE_HUGE_PAGES", 1},
        {"mesh", "MESH_PERIOD_SECS", 1},
        {"musl", "MALLOC_ARENA_MAX", 0},
        {"unknown", "MALLOC_CONF", 0},
    };

    (void)state;
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        if (abench_allocator_environment_of(cases[at].family, cases[at].name) != cases[at].steers)
            fail_msg("%s of %s", cases[at].name, cases[at].family);
        if (cases[at].steers)
            assert_int_equal(abench_allocator_environment(cases[at].name), 1);
    }
}

/* scudo's malloc is weak: with it, the C library's would be taken. */
static void what_decides_which_one_is_loaded_steers_too(void **state)
{
    (void)state;
    assert_int_equal(abench_allocator_environment("LD_PRELOAD"), 1);
    assert_int_equal(abench_allocator_environment("LD_AUDIT"), 1);
    assert_int_equal(abench_allocator_environment("LD_DYNAMIC_WEAK"), 1);
    assert_int_equal(abench_allocator_environment("LD_DYNAMIC_WEAKER"), 0);
    assert_int_equal(abench_allocator_environment(""), 0);
}

static void refuses_options_that_it_does_not_know(void **state)
{
    abench_account_options options = ABENCH_ACCOUNT_OPTIONS_INIT;
    abench_statistic statistic = ABENCH_STATISTIC_INIT;
    abench_account *account;

    (void)state;
    assert_int_equal(abench_allocator_open(NULL, NULL), ABENCH_ERROR_ARGUMENT);
    options.family = "musl";
    options.flags = 2;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_ERROR_ARGUMENT);
    options.flags = 0;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_ERROR_NOT_FOUND);
    options.struct_size = 8;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_ERROR_ARGUMENT);
    account = open_played("mimalloc", NULL, functions);
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    statistic.struct_size = 8;
    assert_int_equal(abench_account_at(account, 0, &statistic), ABENCH_ERROR_ARGUMENT);
    abench_account_close(account);
    abench_account_close(NULL);
}

static uint64_t mapped, unmapped;

static void *map(uint64_t bytes, void *user)
{
    (void)user;
    mapped = bytes;
    return aligned_alloc(4096, bytes);
}

static void *map_zeroed(uint64_t bytes, void *user)
{
    void *memory = map(bytes, user);

    return memory != NULL ? memset(memory, 0, bytes) : NULL;
}

static void *map_nothing(uint64_t bytes, void *user)
{
    (void)bytes, (void)user;
    return NULL;
}

static void unmap(void *memory, uint64_t bytes, void *user)
{
    (void)user;
    unmapped = bytes;
    free(memory);
}

static void memory_comes_from_the_caller_s_hooks(void **state)
{
    abench_account_options options = ABENCH_ACCOUNT_OPTIONS_INIT;
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_account *account;

    (void)state;
    hooks.map = map_zeroed;
    hooks.unmap = unmap;
    options.hooks = &hooks;
    options.family = "mimalloc";
    options.symbol = find;
    options.user = (void *)(uintptr_t)functions;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_OK);
    abench_account_close(account);
    assert_true(mapped > 0 && mapped == unmapped);
    hooks.map = map_nothing;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_ERROR_MEMORY);
    hooks.map = NULL;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_that_is_read_is_a_setting),
        cmocka_unit_test(variables_that_steer_the_family_are_settings),
        cmocka_unit_test(a_variable_steers_its_family_only),
        cmocka_unit_test(what_decides_which_one_is_loaded_steers_too),
        cmocka_unit_test(refuses_options_that_it_does_not_know),
        cmocka_unit_test(memory_comes_from_the_caller_s_hooks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
