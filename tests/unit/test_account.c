/* test_account.c - what the allocators that are installed say of themselves, each in a process that
 * it serves: statistics that follow the work, settings in force, memory that comes back. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/allocator.h>

#include "identity/child.h"

#define PROGRAM(name) IDENTITY_DIRECTORY "/identity-" name
#define LLVM          "/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt."
#define MB            ((uint64_t)1 << 20)

static const char *const jemalloc[] = {IDENTITY_LIBRARIES "/libjemalloc.so.2", NULL};
static const char *const tcmalloc[] = {IDENTITY_LIBRARIES "/libtcmalloc_minimal.so.4", NULL};
static const char *const mimalloc[] = {IDENTITY_LIBRARIES "/libmimalloc.so.2.0",
                                       IDENTITY_LIBRARIES "/libmimalloc.so.3", NULL};
static const char *const tbbmalloc[] = {IDENTITY_LIBRARIES "/libtbbmalloc_proxy.so.2", NULL};
static const char *const scudo[] = {LLVM "scudo_standalone-" IDENTITY_PROCESSOR ".so", NULL};
static const char *const old_scudo[] = {LLVM "scudo-" IDENTITY_PROCESSOR ".so", NULL};

/* The library's path in memory of the caller's; NULL when it is not installed. */
static const char *find_library(const char *const *patterns, char path[512])
{
    glob_t found;

    for (size_t at = 0; patterns[at] != NULL; at++) {
        if (glob(patterns[at], 0, NULL, &found) == 0) {
            snprintf(path, 512, "%s", found.gl_pathv[0]);
            globfree(&found);
            return path;
        }
        globfree(&found);
    }
    print_message("not installed: %s\n", patterns[0]);
    return NULL;
}

/* The same; skips the test when it is not installed. */
static const char *library(const char *const *patterns, char path[512])
{
    const char *found = find_library(patterns, path);

    if (found == NULL)
        skip();
    return found;
}

/* variable: one more of the environment, or NULL. */
static void run(child *c, const char *program, const char *const *arguments, const char *preload,
                const char *variable)
{
    char loaded[1200];
    char *argv[8] = {(char *)program};
    char *envp[] = {loaded, (char *)variable, NULL};

    snprintf(loaded, sizeof loaded, "LD_PRELOAD=%s", preload);
    for (size_t at = 0; at < 6 && arguments[at] != NULL; at++)
        argv[at + 1] = (char *)arguments[at];
    memset(c, 0, sizeof *c);
    c->argv = argv;
    c->envp = envp;
    child_run(c);
    if (c->status != 0)
        fail_msg("%s under \"%s\" ended with status %d", program, preload, c->status);
}

#define RUN(c, preload, variable, ...)                                                             \
    run(c, PROGRAM("account"), (const char *const[]){__VA_ARGS__, NULL}, preload, variable)

static void assert_value(const child *c, const char *key, const char *expected)
{
    char value[600];

    child_value(c, key, value, sizeof value);
    if (strcmp(value, expected) != 0)
        fail_msg("%s is \"%s\" instead of \"%s\"; all of it:\n%s", key, value, expected, c->output);
}

/* A number, of bytes or of counts; it must be there. */
static uint64_t number(const child *c, const char *key)
{
    char value[600];

    child_value(c, key, value, sizeof value);
    if (value[0] < '0' || value[0] > '9')
        fail_msg("%s is \"%s\" and no number; all of it:\n%s", key, value, c->output);
    return strtoull(value, NULL, 10);
}

static void assert_absent(const child *c, const char *key)
{
    assert_value(c, key, "");
}

/* ---- what comes back ------------------------------------------------------------------------- */

/* 64 MB come and go: by the named statistic (NULL: there is none) and by RSS, of which at least
 * returned comes back. */
static void check_work_of(const char *preload, const char *name, uint64_t returned)
{
    child c;

    RUN(&c, preload, NULL, "work", name != NULL ? name : "none");
    assert_value(&c, "status", "0");
    if (name != NULL) {
        assert_value(&c, "filled.name", name);
        assert_true(number(&c, "filled.value") >= number(&c, "empty.value") + 60 * MB);
        assert_true(number(&c, "filled.value") < number(&c, "empty.value") + 200 * MB);
        assert_true(number(&c, "purged.value") + returned <= number(&c, "filled.value"));
    } else {
        assert_absent(&c, "filled.name");
    }
    assert_true(number(&c, "filled.rss") >= number(&c, "empty.rss") + 60 * MB);
    assert_true(number(&c, "purged.rss") + returned <= number(&c, "filled.rss"));
}

static void check_work(const char *preload, const char *name)
{
    check_work_of(preload, name, 60 * MB);
}

static void glibc_follows_the_work(void **state)
{
    child c;

    (void)state;
    check_work("", "uordblks");
    RUN(&c, "", NULL, "work", "uordblks");
    assert_true(number(&c, "freed.value") + 60 * MB <= number(&c, "filled.value"));
    assert_true(number(&c, "purged.rss") + 60 * MB <= number(&c, "freed.rss")); /* by malloc_trim */
    RUN(&c, "", NULL, "work", "fordblks");
    assert_true(number(&c, "freed.value") >= number(&c, "filled.value") + 60 * MB);
}

static void jemalloc_follows_the_work(void **state)
{
    char path[512];

    (void)state;
    check_work(library(jemalloc, path), "stats.allocated");
    check_work(path, "stats.resident");
}

static void tcmalloc_follows_the_work(void **state)
{
    char path[512];

    (void)state;
    check_work(library(tcmalloc, path), "generic.current_allocated_bytes");
}

static void mimalloc_follows_the_work(void **state)
{
    char path[512];

    (void)state;
    /* 2.0.9 keeps a segment of 32 MB that was used for blocks of this size. */
    check_work_of(library(mimalloc, path), "process.commit_current", 30 * MB);
}

static void tbbmalloc_gives_back_and_counts_nothing(void **state)
{
    char path[512];
    child c;

    (void)state;
    check_work(library(tbbmalloc, path), NULL);
    RUN(&c, path, NULL, "stats");
    assert_value(&c, "status", "-10");
    assert_value(&c, "count", "0");
}

static void scudo_follows_the_work(void **state)
{
    char path[512];

    (void)state;
    check_work(library(scudo, path), "uordblks");
}

static void the_older_scudo_counts_and_gives_nothing_back(void **state)
{
    char path[512];
    child c;

    (void)state;
    RUN(&c, library(old_scudo, path), NULL, "work", "__sanitizer_get_current_allocated_bytes");
    assert_value(&c, "status", "-10");
    assert_true(number(&c, "filled.value") >= number(&c, "empty.value") + 60 * MB);
    assert_true(number(&c, "freed.value") <= number(&c, "filled.value") - 60 * MB);
    RUN(&c, path, NULL, "settings");
    assert_value(&c, "purge", "");
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void assert_unit(const child *c, const char *key, const char *unit)
{
    char value[600];
    const char *space = strchr(child_value(c, key, value, sizeof value), ' ');

    assert_non_null(space);
    assert_string_equal(space + 1, unit);
}

static void statistics_have_the_allocator_s_names_and_units(void **state)
{
    char path[512];
    child c;

    (void)state;
    RUN(&c, "", NULL, "stats");
    assert_unit(&c, "fordblks", "bytes");
    assert_unit(&c, "ordblks", "count");
    assert_absent(&c, "heap"); /* not asked for */
    RUN(&c, library(jemalloc, path), NULL, "stats");
    assert_unit(&c, "stats.resident", "bytes");
    assert_unit(&c, "stats.arenas.4096.pdirty", "count");
    assert_true(number(&c, "stats.resident") >= number(&c, "stats.active"));
    assert_true(number(&c, "stats.mapped") >= number(&c, "stats.resident"));
    assert_true(number(&c, "arenas.narenas") >= 1);
    assert_true(number(&c, "count") >= 20);
}

static void a_stream_tells_glibc_s_arenas(void **state)
{
    child c;

    (void)state;
    RUN(&c, "", NULL, "stream");
    assert_true(number(&c, "heap") == 1);
    assert_unit(&c, "heap", "count");
    assert_true(number(&c, "system.current") > 0);
    assert_true(number(&c, "system.max") >= number(&c, "system.current"));
    assert_true(number(&c, "arena") == number(&c, "system.current"));
}

static void a_stream_tells_scudo_s_blocks(void **state)
{
    char path[512];
    child c;

    (void)state;
    RUN(&c, library(scudo, path), NULL, "stats");
    assert_absent(&c, "alloc.count");
    RUN(&c, path, NULL, "stream");
    assert_true(number(&c, "alloc.count") >= 1);
    assert_true(number(&c, "alloc.size") >= number(&c, "alloc.count"));
}

static void an_account_allocates_nothing_from_the_allocator(void **state)
{
    static const char *const *const libraries[] = {jemalloc, tcmalloc};
    char path[512];
    child with, without;

    (void)state;
    RUN(&with, "", NULL, "allocated");
    RUN(&without, "", NULL, "untouched");
    assert_true(number(&with, "allocated") == number(&without, "allocated"));
    for (size_t at = 0; at < 2; at++) {
        RUN(&with, library(libraries[at], path), NULL, "allocated");
        RUN(&without, path, NULL, "untouched");
        assert_true(number(&with, "allocated") == number(&without, "allocated"));
    }
}

/* Nor are blocks taken and given back, in a whole life of an account with flush and purge. */
static void an_account_calls_no_malloc(void **state)
{
    static const struct {
        const char *const *library;
        const char *family;
    } cases[] = {{jemalloc, "jemalloc"},   {tcmalloc, "tcmalloc"}, {mimalloc, "mimalloc"},
                 {tbbmalloc, "tbbmalloc"}, {scudo, "scudo"},       {old_scudo, "scudo"}};
    const char *const program = PROGRAM("account-fronted");
    char path[512];
    child c;

    (void)state;
    run(&c, program, (const char *const[]){"calls", "glibc", NULL}, "", NULL);
    assert_value(&c, "status", "0");
    assert_true(number(&c, "seen") > 0);
    assert_value(&c, "calls", "0");
    run(&c, program, (const char *const[]){"calls", "glibc", "stream", NULL}, "", NULL);
    assert_value(&c, "calls", "2"); /* its block is taken and given back */
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        if (find_library(cases[at].library, path) == NULL)
            continue;
        run(&c, program, (const char *const[]){"calls", cases[at].family, NULL}, path, NULL);
        assert_value(&c, "status", "0");
        assert_value(&c, "calls", "0");
    }
}

/* No cache of a thread is there that would take the block back unseen. */
static void a_stream_takes_a_block_until_it_is_closed(void **state)
{
    child c;

    (void)state;
    RUN(&c, "", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0", "reading");
    assert_true(number(&c, "taken") > 0 && number(&c, "taken") < 1024);
    assert_value(&c, "read", "0");
    assert_value(&c, "kept", "0");
}

/* ---- settings -------------------------------------------------------------------------------- */

static void glibc_s_settings_are_its_variables(void **state)
{
    child c;

    (void)state;
    RUN(&c, "", "MALLOC_ARENA_MAX=2", "settings");
    assert_value(&c, "family", "glibc");
    assert_value(&c, "1:MALLOC_ARENA_MAX", "2");
    assert_value(&c, "purge", "malloc_trim(0)");
    assert_value(&c, "flush", "");
    assert_value(&c, "flushed", "-10");
    RUN(&c, "", "MALLOC_CONF=narenas:1", "settings");
    assert_absent(&c, "1:MALLOC_CONF"); /* another family's */
}

static void jemalloc_tells_what_is_in_force(void **state)
{
    char path[512];
    child c;

    (void)state;
    RUN(&c, library(jemalloc, path), "MALLOC_CONF=dirty_decay_ms:0,narenas:3", "settings");
    assert_value(&c, "family", "jemalloc");
    assert_value(&c, "1:MALLOC_CONF", "dirty_decay_ms:0,narenas:3");
    assert_value(&c, "2:opt.dirty_decay_ms", "0");
    assert_value(&c, "2:opt.narenas", "3");
    assert_value(&c, "2:opt.background_thread", "false");
    assert_value(&c, "flushed", "0");
    RUN(&c, path, "MALLOC_CONF=muzzy_decay_ms:-1,tcache:false", "settings");
    assert_value(&c, "2:opt.muzzy_decay_ms", "-1");
    assert_value(&c, "2:opt.tcache", "false");
    assert_value(&c, "flushed", "-10"); /* there is no cache to flush */
    RUN(&c, path, "MALLOC_ARENA_MAX=2", "settings");
    assert_true(number(&c, "2:opt.dirty_decay_ms") > 0);
    assert_absent(&c, "1:MALLOC_ARENA_MAX");
}

static void tcmalloc_tells_what_is_in_force(void **state)
{
    char path[512];
    child c;

    (void)state;
    RUN(&c, library(tcmalloc, path), "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES=1048576", "settings");
    assert_value(&c, "1:TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", "1048576");
    assert_value(&c, "2:tcmalloc.max_total_thread_cache_bytes", "1048576");
}

/* ---- which allocator ------------------------------------------------------------------------- */

static void an_allocator_beside_the_process_s_is_found_by_its_family(void **state)
{
    char first[512], path[512], both[1100];
    child c;

    (void)state;
    RUN(&c, library(jemalloc, path), NULL, "stats", "glibc");
    assert_value(&c, "status", "0");
    assert_true(number(&c, "uordblks") == 0);
    snprintf(both, sizeof both, "%s:%s", library(mimalloc, first), path);
    RUN(&c, both, NULL, "settings");
    assert_value(&c, "family", "mimalloc");
    RUN(&c, both, NULL, "settings", "jemalloc");
    assert_value(&c, "status", "0");
    assert_value(&c, "family", "jemalloc");
    assert_true(number(&c, "2:opt.narenas") >= 1);
}

static void one_that_is_not_there_is_said_to_be_so(void **state)
{
    child c;

    (void)state;
    RUN(&c, "", NULL, "settings", "mimalloc");
    assert_value(&c, "status", "-5");
    RUN(&c, "", NULL, "settings", "jemalloc", "_rjem_");
    assert_value(&c, "status", "-5");
    RUN(&c, "", NULL, "settings", "nomalloc");
    assert_value(&c, "status", "-1");
    RUN(&c, "", NULL, "settings", "glibc", "more_than_31_bytes_are_no_prefix");
    assert_value(&c, "status", "-1");
}

static void a_static_program_s_glibc_is_found_by_its_family(void **state)
{
    static const char *const programs[] = {PROGRAM("account-static"),
                                           PROGRAM("account-static-pie")};
    child c;

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        run(&c, programs[at], (const char *const[]){"settings", NULL}, "", NULL);
        assert_value(&c, "status", "-10"); /* who serves malloc is unknown */
        run(&c, programs[at], (const char *const[]){"settings", "jemalloc", NULL}, "", NULL);
        assert_value(&c, "status", "-5");
        run(&c, programs[at], (const char *const[]){"settings", "glibc", NULL}, "", NULL);
        assert_value(&c, "status", "0");
        assert_value(&c, "purge", "malloc_trim(0)");
        run(&c, programs[at], (const char *const[]){"stats", "glibc", NULL}, "", NULL);
        assert_true(number(&c, "arena") >= number(&c, "uordblks"));
        assert_true(number(&c, "arena") > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glibc_follows_the_work),
        cmocka_unit_test(jemalloc_follows_the_work),
        cmocka_unit_test(tcmalloc_follows_the_work),
        cmocka_unit_test(mimalloc_follows_the_work),
        cmocka_unit_test(tbbmalloc_gives_back_and_counts_nothing),
        cmocka_unit_test(scudo_follows_the_work),
        cmocka_unit_test(the_older_scudo_counts_and_gives_nothing_back),
        cmocka_unit_test(statistics_have_the_allocator_s_names_and_units),
        cmocka_unit_test(a_stream_tells_glibc_s_arenas),
        cmocka_unit_test(a_stream_tells_scudo_s_blocks),
        cmocka_unit_test(an_account_allocates_nothing_from_the_allocator),
        cmocka_unit_test(an_account_calls_no_malloc),
        cmocka_unit_test(a_stream_takes_a_block_until_it_is_closed),
        cmocka_unit_test(glibc_s_settings_are_its_variables),
        cmocka_unit_test(jemalloc_tells_what_is_in_force),
        cmocka_unit_test(tcmalloc_tells_what_is_in_force),
        cmocka_unit_test(an_allocator_beside_the_process_s_is_found_by_its_family),
        cmocka_unit_test(one_that_is_not_there_is_said_to_be_so),
        cmocka_unit_test(a_static_program_s_glibc_is_found_by_its_family),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
