/* test_account_told.c - families that are not installed here, by functions of this test in their
 * place: what is asked of them, under which names it is told, and what is absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <allocbench/allocator.h>

#include "allocator/mallinfo.h"
#include "played.h"

/* ---- jemalloc -------------------------------------------------------------------------------- */

static int epochs, flushes, purges;

static int je_mallctl(const char *name, void *old, size_t *old_size, void *new_value,
                      size_t new_size)
{
    if (strcmp(name, "epoch") == 0)
        return (epochs++, new_value == NULL || new_size != 8);
    if (strcmp(name, "thread.tcache.flush") == 0)
        return (flushes++, 0);
    if (strcmp(name, "arena.4096.purge") == 0)
        return (purges++, 0);
    if (strcmp(name, "stats.allocated") == 0 && *old_size == sizeof(size_t))
        return (*(size_t *)old = 4321, 0);
    if (strcmp(name, "opt.dirty_decay_ms") == 0 && *old_size == sizeof(ssize_t))
        return (*(ssize_t *)old = -1, 0);
    if (strcmp(name, "opt.thp") == 0 && *old_size == sizeof(const char *))
        return (*(const char **)old = "never", 0);
    if (strcmp(name, "opt.zero") == 0 && *old_size == sizeof(bool))
        return (*(bool *)old = true, 0);
    if (strcmp(name, "stats.resident") == 0)
        return (*old_size = 4, 0); /* of another size than was asked for */
    return 2;
}

static void jemalloc_under_a_prefix_is_asked_for_what_it_has(void **state)
{
    static const played functions[] = {{"_rjem_mallctl", (function)je_mallctl}, {NULL, NULL}};
    abench_account *account;

    (void)state;
    account = open_played("jemalloc", NULL, functions);
    epochs = flushes = purges = 0;
    assert_int_equal(abench_account_count(account), 0);
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_int_equal(epochs, 1);
    assert_statistic(account, "stats.allocated", 4321);
    assert_no_statistic(account, "stats.resident");
    assert_int_equal(abench_account_count(account), 1);
    assert_setting(account, ABENCH_SETTING_TOLD, "opt.dirty_decay_ms", "-1");
    assert_setting(account, ABENCH_SETTING_TOLD, "opt.thp", "never");
    assert_setting(account, ABENCH_SETTING_TOLD, "opt.zero", "true");
    assert_int_equal(abench_allocator_flush(account), ABENCH_OK);
    assert_int_equal(flushes, 1);
    assert_int_equal(abench_allocator_purge(account), ABENCH_OK);
    assert_int_equal(flushes, 2);
    assert_int_equal(purges, 1);
    abench_account_close(account);
}

static void a_prefix_that_is_given_is_the_only_one(void **state)
{
    static const played functions[] = {{"my_mallctl", (function)je_mallctl}, {NULL, NULL}};
    static const played known[] = {{"je_mallctl", (function)je_mallctl}, {NULL, NULL}};
    abench_account_options options = ABENCH_ACCOUNT_OPTIONS_INIT;
    abench_account *account = (abench_account *)(uintptr_t)1;

    (void)state;
    abench_account_close(open_played("jemalloc", "my_", functions));
    options.family = "jemalloc";
    options.symbol = find;
    options.user = (void *)(uintptr_t)functions;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_ERROR_NOT_FOUND);
    assert_null(account);
    options.prefix = "your_";
    options.user = (void *)(uintptr_t)known;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_ERROR_NOT_FOUND);
}

/* As snmalloc's compatible one, and a build without statistics. */
static int failing_mallctl(const char *name, void *old, size_t *old_size, void *new_value,
                           size_t new_size)
{
    (void)name, (void)old, (void)old_size, (void)new_value, (void)new_size;
    return 2;
}

static void a_mallctl_that_fails_leaves_all_absent(void **state)
{
    static const played functions[] = {{"mallctl", (function)failing_mallctl}, {NULL, NULL}};
    abench_account *account;

    (void)state;
    account = open_played("jemalloc", NULL, functions);
    assert_int_equal(abench_allocator_stats(account), ABENCH_ERROR_UNSUPPORTED);
    assert_int_equal(abench_account_count(account), 0);
    assert_int_equal(abench_allocator_flush(account), ABENCH_ERROR_UNSUPPORTED);
    assert_int_equal(abench_allocator_purge(account), ABENCH_ERROR_UNSUPPORTED);
    abench_account_close(account);
}

/* ---- mimalloc -------------------------------------------------------------------------------- */

static const char *mi_text;
static int collected_by_force;

static char *mi_stats_get_json(size_t size, char *buffer)
{
    if (mi_text == NULL)
        return NULL;
    snprintf(buffer, size, "%s", mi_text);
    return buffer;
}

static void mi_collect(bool force)
{
    collected_by_force = force;
}

static void mi_process_info(size_t *elapsed, size_t *user, size_t *kernel, size_t *current_rss,
                            size_t *peak_rss, size_t *current_commit, size_t *peak_commit,
                            size_t *faults)
{
    *elapsed = *user = *kernel = *faults = 1;
    *current_rss = *current_commit = 7000;
    *peak_rss = 8000;
    *peak_commit = 9000;
}

static const played mimalloc_functions[] = {
    {"mi_stats_get_json", (function)mi_stats_get_json},
    {"mi_collect", (function)mi_collect},
    {"mi_process_info", (function)mi_process_info},
    {NULL, NULL},
};

static void mimalloc_s_json_is_told_without_what_never_moved(void **state)
{
    abench_account *account = open_played("mimalloc", NULL, mimalloc_functions);

    (void)state;
    mi_text =
        "{ \"stat_version\": 4, \"mimalloc_version\": 30403,\n"
        "\"process\": { \"elapsed_msecs\": 5, \"rss_current\": 77, \"commit_current\": 88 },\n"
        "\"pages\": { \"total\": 0, \"peak\": 0, \"current\": 0 },\n"
        "\"committed\": { \"total\": 900, \"peak\": 800, \"current\": 0 },\n"
        "\"purged\": 0, \"reset\": 12, \"mmap_calls\": 3,\n"
        "\"malloc_bins\": [ { \"total\": 5 } ] }";
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "process.commit_current", 88);
    assert_statistic(account, "committed.total", 900);
    assert_statistic(account, "committed.current", 0);
    assert_statistic(account, "reset", 12);
    assert_statistic(account, "mmap_calls", 3);
    assert_no_statistic(account, "process.rss_current");
    assert_no_statistic(account, "pages.total");
    assert_no_statistic(account, "pages.current");
    assert_no_statistic(account, "purged");
    assert_no_statistic(account, "stat_version");
    assert_int_equal(abench_account_count(account), 6);
    assert_int_equal(abench_allocator_purge(account), ABENCH_OK);
    assert_int_equal(collected_by_force, 1);
    assert_int_equal(abench_allocator_flush(account), ABENCH_OK);
    assert_int_equal(collected_by_force, 0);
    mi_text = NULL;
    assert_int_equal(abench_allocator_stats(account), ABENCH_ERROR_UNSUPPORTED);
    assert_int_equal(abench_account_count(account), 0);
    abench_account_close(account);
}

/* More numbers, and longer names, than there is room for. */
static void statistics_without_end_are_cut(void **state)
{
    static char text[60000];
    abench_account *account = open_played("mimalloc", NULL, mimalloc_functions);
    abench_statistic statistic = ABENCH_STATISTIC_INIT;
    size_t length;

    (void)state;
    length = (size_t)snprintf(text, sizeof text, "{\"%080d\": 1", 7);
    for (int at = 0; at < 1000; at++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, ", \"n%d\": %d", at, at + 1);
    snprintf(text + length, sizeof text - length, "}");
    mi_text = text;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_int_equal(abench_account_count(account), ABENCH_STATISTICS_MAX);
    assert_int_equal(abench_account_at(account, 0, &statistic), ABENCH_OK);
    assert_int_equal(strlen(statistic.name), sizeof statistic.name - 1);
    assert_statistic(account, "n62", 63);
    assert_int_equal(abench_account_at(account, ABENCH_STATISTICS_MAX, &statistic),
                     ABENCH_ERROR_NOT_FOUND);
    abench_account_close(account);
}

static void an_older_mimalloc_tells_what_it_has_committed(void **state)
{
    abench_account *account = open_played("mimalloc", NULL, mimalloc_functions + 1);

    (void)state;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "process.commit_current", 7000);
    assert_statistic(account, "process.commit_peak", 9000);
    assert_int_equal(abench_account_count(account), 2);
    abench_account_close(account);
}

/* ---- the others ------------------------------------------------------------------------------ */

static size_t rpmalloc_words[12];
static size_t rpmalloc_count;

static void rpmalloc_global_statistics(size_t *words)
{
    memcpy(words, rpmalloc_words, rpmalloc_count * sizeof *words);
}

static void rpmalloc_s_struct_is_known_by_its_length(void **state)
{
    static const played functions[] = {
        {"rpmalloc_global_statistics", (function)rpmalloc_global_statistics}, {NULL, NULL}};
    abench_account *account = open_played("rpmalloc", NULL, functions);

    (void)state;
    for (size_t at = 0; at < 12; at++)
        rpmalloc_words[at] = (at + 1) * 100;
    rpmalloc_count = 7;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "mapped", 100);
    assert_statistic(account, "cached", 300);
    assert_statistic(account, "unmapped_total", 700);
    rpmalloc_count = 9;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "active", 500);
    assert_statistic(account, "huge_alloc_peak", 800);
    assert_statistic(account, "heap_count", 900);
    assert_no_statistic(account, "cached");
    rpmalloc_count = 8; /* a version that is not known */
    assert_int_equal(abench_allocator_stats(account), ABENCH_ERROR_UNSUPPORTED);
    memset(rpmalloc_words, 0, sizeof rpmalloc_words);
    rpmalloc_count = 7; /* a build that counts nothing */
    assert_int_equal(abench_allocator_stats(account), ABENCH_ERROR_UNSUPPORTED);
    rpmalloc_words[2] = 64;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "cached", 64);
    assert_no_statistic(account, "mapped");
    assert_int_equal(abench_allocator_purge(account), ABENCH_ERROR_UNSUPPORTED);
    assert_string_equal(abench_account_purge_call(account), "");
    abench_account_close(account);
}

static void get_malloc_info(size_t *words)
{
    words[0] = 16384;
    words[1] = 65536;
}

static void snmalloc_tells_two_sizes(void **state)
{
    static const played functions[] = {
        {"_Z18get_malloc_info_v1P14malloc_info_v1", (function)get_malloc_info}, {NULL, NULL}};
    abench_account *account = open_played("snmalloc", NULL, functions);

    (void)state;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "current_memory_usage", 16384);
    assert_statistic(account, "peak_memory_usage", 65536);
    assert_int_equal(abench_allocator_flush(account), ABENCH_ERROR_UNSUPPORTED);
    abench_account_close(account);
}

static int compacted;

static int mesh_mallctl(const char *name, void *old, size_t *old_size, void *new_value,
                        size_t new_size)
{
    (void)new_value, (void)new_size;
    if (old == NULL || old_size == NULL || *old_size < sizeof(size_t))
        return -1;
    if (strcmp(name, "mesh.compact") == 0)
        compacted++;
    if (strcmp(name, "stats.resident") == 0)
        *(size_t *)old = 5 << 20;
    if (strcmp(name, "stats.active") == 0)
        *(size_t *)old = 0;
    return 0;
}

static void mesh_s_zeros_are_absent(void **state)
{
    static const played functions[] = {{"mesh_mallctl", (function)mesh_mallctl}, {NULL, NULL}};
    abench_account *account = open_played("mesh", NULL, functions);

    (void)state;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "stats.resident", 5 << 20);
    assert_no_statistic(account, "stats.active");
    assert_int_equal(abench_allocator_purge(account), ABENCH_OK);
    assert_int_equal(compacted, 1);
    abench_account_close(account);
}

static struct abench__mallinfo hardened_info;

static struct abench__mallinfo hardened_mallinfo2(void)
{
    return hardened_info;
}

static int hardened_trim(size_t pad)
{
    return (int)pad;
}

static void hardened_malloc_without_statistics_tells_none(void **state)
{
    static const played functions[] = {{"mallinfo2", (function)hardened_mallinfo2},
                                       {"malloc_trim", (function)hardened_trim},
                                       {NULL, NULL}};
    abench_account *account = open_played("hardened_malloc", NULL, functions);

    (void)state;
    memset(&hardened_info, 0, sizeof hardened_info);
    assert_int_equal(abench_allocator_stats(account), ABENCH_ERROR_UNSUPPORTED);
    hardened_info.hblkhd = 4096;
    hardened_info.uordblks = 1024;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "uordblks", 1024);
    assert_statistic(account, "hblkhd", 4096);
    assert_int_equal(abench_allocator_purge(account), ABENCH_OK);
    abench_account_close(account);
}

static size_t released;
static int released_cpus;

static bool google_property(const char *name, size_t length, size_t *value)
{
    const char wanted[] = "generic.current_allocated_bytes";

    *value = 1234;
    return length == sizeof wanted - 1 && memcmp(name, wanted, length) == 0;
}

static size_t google_release(size_t bytes)
{
    released = bytes;
    return 0;
}

static size_t google_release_cpu(int cpu)
{
    released_cpus += cpu >= 0;
    return 0;
}

static void google_tcmalloc_gives_back_every_cpu_s_cache(void **state)
{
    static const played functions[] = {
        {"MallocExtension_Internal_GetNumericProperty", (function)google_property},
        {"MallocExtension_Internal_ReleaseMemoryToSystem", (function)google_release},
        {"MallocExtension_Internal_ReleaseCpuMemory", (function)google_release_cpu},
        {NULL, NULL}};
    abench_account *account = open_played("google-tcmalloc", NULL, functions);

    (void)state;
    assert_int_equal(abench_allocator_stats(account), ABENCH_OK);
    assert_statistic(account, "generic.current_allocated_bytes", 1234);
    assert_int_equal(abench_account_count(account), 1);
    assert_int_equal(abench_allocator_purge(account), ABENCH_OK);
    assert_true(released == SIZE_MAX);
    assert_int_equal(released_cpus, sysconf(_SC_NPROCESSORS_CONF));
    assert_int_equal(abench_allocator_flush(account), ABENCH_ERROR_UNSUPPORTED);
    abench_account_close(account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jemalloc_under_a_prefix_is_asked_for_what_it_has),
        cmocka_unit_test(a_prefix_that_is_given_is_the_only_one),
        cmocka_unit_test(a_mallctl_that_fails_leaves_all_absent),
        cmocka_unit_test(mimalloc_s_json_is_told_without_what_never_moved),
        cmocka_unit_test(statistics_without_end_are_cut),
        cmocka_unit_test(an_older_mimalloc_tells_what_it_has_committed),
        cmocka_unit_test(rpmalloc_s_struct_is_known_by_its_length),
        cmocka_unit_test(snmalloc_tells_two_sizes),
        cmocka_unit_test(mesh_s_zeros_are_absent),
        cmocka_unit_test(hardened_malloc_without_statistics_tells_none),
        cmocka_unit_test(google_tcmalloc_gives_back_every_cpu_s_cache),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
