/* test_allocator.c - who serves malloc is named from inside, under every allocator that is
 * installed; the allocators of the library do what their header says. */
#include <glob.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <allocbench/allocator.h>

#include "allocator/families.h"
#include "identity/child.h"

#define PROGRAM(name) IDENTITY_DIRECTORY "/identity-" name
#define LLVM          "/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt."

/* Libraries of Debian, 12 and 13. */
static const char *const jemalloc[] = {IDENTITY_LIBRARIES "/libjemalloc.so.2", NULL};
static const char *const tcmalloc[] = {IDENTITY_LIBRARIES "/libtcmalloc_minimal.so.4", NULL};
static const char *const mimalloc[] = {IDENTITY_LIBRARIES "/libmimalloc.so.2.0",
                                       IDENTITY_LIBRARIES "/libmimalloc.so.3", NULL};
static const char *const tbbmalloc[] = {IDENTITY_LIBRARIES "/libtbbmalloc_proxy.so.2", NULL};
static const char *const scudo[] = {LLVM "scudo_standalone-" IDENTITY_PROCESSOR ".so", NULL};
static const char *const old_scudo[] = {LLVM "scudo-" IDENTITY_PROCESSOR ".so", NULL};
static const char *const debug[] = {IDENTITY_LIBRARIES "/libc_malloc_debug.so.0",
                                    "/lib/*/libc_malloc_debug.so.0", NULL};
static const char *const zlib[] = {IDENTITY_LIBRARIES "/libz.so.1", "/lib/*/libz.so.1", NULL};

/* The library's path in memory of the caller's; skips the test when it is not installed. */
static const char *library(const char *const *patterns, char path[512])
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
    skip();
    return NULL;
}

/* variable: one more of the environment, or NULL. */
static void run_with(child *c, const char *program, const char *argument, const char *preload,
                     const char *variable)
{
    char loaded[1200];
    char *argv[] = {(char *)program, (char *)argument, NULL};
    char *envp[] = {loaded, (char *)variable, NULL};

    snprintf(loaded, sizeof loaded, "LD_PRELOAD=%s", preload);
    memset(c, 0, sizeof *c);
    c->argv = argv;
    c->envp = envp;
    child_run(c);
    if (c->status != 0)
        fail_msg("%s under \"%s\" ended with status %d", program, preload, c->status);
}

static void assert_value(const child *c, const char *key, const char *expected)
{
    char value[600];

    child_value(c, key, value, sizeof value);
    if (strcmp(value, expected) != 0)
        fail_msg("%s is \"%s\" instead of \"%s\"; all of it:\n%s", key, value, expected, c->output);
}

static void run(child *c, const char *program, const char *argument, const char *preload)
{
    run_with(c, program, argument, preload, NULL);
}

/* What binutils says of the file is what the process says of itself. */
static void assert_build_id_of(const child *c, const char *path)
{
    char command[600], expected[200] = "";
    FILE *stream;

    snprintf(command, sizeof command, "readelf -n '%s' 2>/dev/null | sed -n 's/.*Build ID: //p'",
             path);
    stream = popen(command, "r");
    assert_non_null(stream);
    if (fgets(expected, sizeof expected, stream) != NULL)
        expected[strcspn(expected, "\n")] = '\0';
    pclose(stream);
    assert_value(c, "build_id", expected);
}

static void assert_file_is(const child *c, const char *path)
{
    char told[600], number[32];
    struct stat status, told_status;

    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(stat(child_value(c, "file", told, sizeof told), &told_status), 0);
    assert_true(told_status.st_dev == status.st_dev && told_status.st_ino == status.st_ino);
    snprintf(number, sizeof number, "%llu", (unsigned long long)status.st_dev);
    assert_value(c, "device", number);
    snprintf(number, sizeof number, "%llu", (unsigned long long)status.st_ino);
    assert_value(c, "inode", number);
    assert_build_id_of(c, path);
}

/* prefix: what the version begins with, before a number; NULL: the family tells none. */
static void assert_provider(const child *c, const char *family, const char *path,
                            const char *prefix)
{
    char version[64];

    assert_value(c, "status", "0");
    assert_value(c, "family", family);
    assert_value(c, "mixed", "0");
    assert_value(c, "static", "0");
    assert_value(c, "others", "");
    assert_file_is(c, path);
    child_value(c, "version", version, sizeof version);
    if (prefix == NULL)
        assert_string_equal(version, "");
    else if (strncmp(version, prefix, strlen(prefix)) != 0 ||
             strspn(version + strlen(prefix), "0123456789") == 0)
        fail_msg("version \"%s\" does not begin with \"%s\" and a number", version, prefix);
}

static void check_family(const char *const *patterns, const char *family, const char *prefix)
{
    char path[512];
    child c;

    run(&c, PROGRAM("show"), NULL, library(patterns, path));
    assert_provider(&c, family, path, prefix);
}

static void assert_glibc(const child *c)
{
    char path[600];

    assert_provider(c, "glibc", child_value(c, "file", path, sizeof path), "");
    assert_non_null(strstr(path, "/libc.so.6"));
}

/* ---- identity -------------------------------------------------------------------------------- */

static void names_glibc_without_preload(void **state)
{
    child c;

    (void)state;
    run(&c, PROGRAM("show"), NULL, "");
    assert_glibc(&c);
}

static void names_jemalloc(void **state)
{
    (void)state;
    check_family(jemalloc, "jemalloc", "");
}

static void names_tcmalloc(void **state)
{
    (void)state;
    check_family(tcmalloc, "tcmalloc", "gperftools ");
}

static void names_mimalloc(void **state)
{
    (void)state;
    check_family(mimalloc, "mimalloc", "");
}

static void names_tbbmalloc_by_its_proxy(void **state)
{
    (void)state;
    check_family(tbbmalloc, "tbbmalloc", "20");
}

static void names_scudo(void **state)
{
    (void)state;
    check_family(scudo, "scudo", NULL);
}

static void names_the_older_scudo(void **state)
{
    (void)state;
    check_family(old_scudo, "scudo", NULL);
}

/* By libraries of this test that have a malloc and the family's symbol. */
static void names_families_that_debian_has_not(void **state)
{
    static const struct {
        const char *symbol, *family;
    } cases[] = {{"malloc_object_size_fast", "hardened_malloc"},
                 {"mesh_mallctl", "mesh"},
                 {"_Z16getMainHoardHeapv", "hoard"},
                 {"rpmalloc", "rpmalloc"},
                 {"__malloc_end_pointer", "snmalloc"},
                 {"MallocExtension_Internal_GetNumericProperty", "google-tcmalloc"}};
    char path[512];
    child c;

    (void)state;
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        snprintf(path, sizeof path, "%s/libidentity-as-%s.so", IDENTITY_DIRECTORY,
                 cases[at].symbol);
        run(&c, PROGRAM("show"), NULL, path);
        assert_provider(&c, cases[at].family, path, NULL);
    }
}

/* As the loader tells. */
static void assert_malloc_is_in(const child *c, const char *part)
{
    char file[600];

    if (strstr(child_value(c, "dladdr", file, sizeof file), part) == NULL)
        fail_msg("malloc is in %s and not in %s", file, part);
}

/* Its malloc has the C library's version and is not a default one. */
static void names_a_library_whose_malloc_only_versioned_references_reach(void **state)
{
    char path[512];
    child c;

    (void)state;
    run(&c, PROGRAM("show"), NULL, library(debug, path));
    assert_malloc_is_in(&c, "/libc_malloc_debug.so.0");
    assert_provider(&c, "unknown", path, NULL);
}

/* Its malloc has a version that no reference of the program asks for. */
static void is_not_misled_by_a_malloc_of_another_version(void **state)
{
    child c;

    (void)state;
    run(&c, PROGRAM("show"), NULL, IDENTITY_DIRECTORY "/libidentity-versioned.so");
    assert_malloc_is_in(&c, "/libc.so.6");
    assert_glibc(&c);
}

/* A strong malloc goes before a weak one when the loader is told so, and else does not. */
static void is_not_misled_by_a_weak_malloc(void **state)
{
    const char *const path = IDENTITY_DIRECTORY "/libidentity-weak.so";
    char others[1200];
    child c;

    (void)state;
    run(&c, PROGRAM("show"), NULL, path);
    assert_provider(&c, "unknown", path, NULL);
    run_with(&c, PROGRAM("show"), NULL, path, "LD_DYNAMIC_WEAK=1");
    assert_value(&c, "family", "glibc");
    assert_value(&c, "mixed", "1");
    /* The C library's malloc, free and realloc are strong, its calloc is not. */
    child_value(&c, "others", others, sizeof others);
    assert_ptr_equal(strstr(others, "calloc by " IDENTITY_DIRECTORY "/libidentity-weak.so; "),
                     others);
    assert_null(strstr(others, "free by"));
    assert_null(strstr(others, "realloc by"));
}

static void names_the_first_of_two_preloaded(void **state)
{
    char first[512], second[512], both[1100];
    child c;

    (void)state;
    library(jemalloc, first);
    library(mimalloc, second);
    snprintf(both, sizeof both, "%s:%s", first, second);
    run(&c, PROGRAM("show"), NULL, both);
    assert_provider(&c, "jemalloc", first, "");
    snprintf(both, sizeof both, "%s:%s", second, first);
    run(&c, PROGRAM("show"), NULL, both);
    assert_provider(&c, "mimalloc", second, "");
}

static void names_glibc_when_another_library_is_preloaded(void **state)
{
    char path[512];
    child c;

    (void)state;
    run(&c, PROGRAM("show"), NULL, library(zlib, path));
    assert_glibc(&c);
}

static void is_not_misled_by_a_family_s_symbols_without_malloc(void **state)
{
    child c;

    (void)state;
    run(&c, PROGRAM("show"), NULL, IDENTITY_DIRECTORY "/libidentity-marker-gnu.so");
    assert_glibc(&c);
    run(&c, PROGRAM("prefixed"), NULL, "");
    assert_glibc(&c);
}

static void looks_through_a_program_that_takes_malloc_s_address(void **state)
{
    char path[512], address[600];
    child c;

    (void)state;
    run(&c, PROGRAM("nopie"), NULL, "");
    assert_glibc(&c);
    run(&c, PROGRAM("nopie"), NULL, library(jemalloc, path));
    assert_provider(&c, "jemalloc", path, "");
    /* The trap is there: the loader itself places malloc in the program. */
    child_value(&c, "dladdr", address, sizeof address);
    assert_non_null(strstr(address, "identity-nopie"));
}

static void assert_program_serves(const child *c, const char *program)
{
    assert_value(c, "status", "0");
    assert_value(c, "family", "unknown");
    assert_value(c, "version", "");
    assert_value(c, "static", "1");
    assert_value(c, "file", program);
    assert_file_is(c, program);
}

static void says_static_of_static_programs(void **state)
{
    char path[512];
    child c;

    (void)state;
    library(jemalloc, path); /* which a static program does not load */
    run(&c, PROGRAM("static"), NULL, path);
    assert_program_serves(&c, PROGRAM("static"));
    assert_value(&c, "mixed", "0");
    run(&c, PROGRAM("static-pie"), NULL, path);
    assert_program_serves(&c, PROGRAM("static-pie"));
    assert_value(&c, "mixed", "0");
}

static void says_static_of_a_program_with_its_own_malloc(void **state)
{
    char path[512];
    child c;

    (void)state;
    run(&c, PROGRAM("own"), NULL, library(jemalloc, path));
    assert_program_serves(&c, PROGRAM("own"));
    assert_value(&c, "mixed", "0");
    assert_value(&c, "others", "");
}

/* Then the program of the process is the loader, and ours its argument. */
static void names_a_program_that_the_loader_was_given(void **state)
{
    static const char *const loaders[] = {"/lib64/ld-linux-*.so.*", "/lib/ld-linux-*.so.*", NULL};
    char path[512];
    child c;

    (void)state;
    run(&c, library(loaders, path), PROGRAM("own"), "");
    assert_program_serves(&c, PROGRAM("own"));
    run(&c, path, PROGRAM("show"), "");
    assert_value(&c, "family", "glibc");
    assert_value(&c, "static", "0");
}

static void says_mixed_and_who_serves_the_others(void **state)
{
    char path[512], expected[4096];
    child c;

    (void)state;
    run(&c, PROGRAM("own-part"), NULL, library(zlib, path));
    assert_program_serves(&c, PROGRAM("own-part"));
    assert_value(&c, "mixed", "1");
    child_value(&c, "others", expected, sizeof expected);
    assert_ptr_equal(strstr(expected, "calloc by /"), expected);
    assert_non_null(strstr(expected, "/libc.so.6; realloc by /"));
    assert_non_null(strstr(expected, "; malloc_usable_size by /"));
    assert_null(strstr(expected, "free by"));
}

static void allocates_nothing_from_the_heap_it_names(void **state)
{
    char seen[32], path[512], with[32], without[32];
    static const char *const *const libraries[] = {jemalloc, tcmalloc};
    child c;

    (void)state;
    run(&c, PROGRAM("counting"), "identify", "");
    assert_value(&c, "status", "0");
    assert_value(&c, "calls", "0");
    assert_string_equal(child_value(&c, "seen", seen, sizeof seen), "1");
    for (size_t at = 0; at < 2; at++) {
        run(&c, PROGRAM("show"), "allocated", library(libraries[at], path));
        child_value(&c, "allocated", with, sizeof with);
        run(&c, PROGRAM("show"), "untouched", path);
        child_value(&c, "allocated", without, sizeof without);
        assert_string_not_equal(with, "");
        assert_string_equal(with, without);
    }
}

static void refuses_an_identity_that_is_too_small(void **state)
{
    abench_identity identity = ABENCH_IDENTITY_INIT;

    (void)state;
    assert_int_equal(abench_allocator_identify(NULL), ABENCH_ERROR_ARGUMENT);
    identity.struct_size = 8;
    assert_int_equal(abench_allocator_identify(&identity), ABENCH_ERROR_ARGUMENT);
    assert_string_equal(identity.family, "");
}

static void reads_both_of_mimalloc_s_numberings(void **state)
{
    static const struct {
        int number;
        const char *version;
    } cases[] = {{100, "1.0.0"},     {188, "1.8.8"},   {209, "2.0.9"},
                 {315, "3.1.5"},     {20203, "2.2.3"}, {30404, "3.4.4"},
                 {21015, "2.10.15"}, {99, ""},         {2090, ""},
                 {1000000, ""},      {0, ""},          {-1, ""}};
    char version[40];

    (void)state;
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        abench__mimalloc_number(cases[at].number, version, sizeof version);
        assert_string_equal(version, cases[at].version);
    }
}

/* ---- the process's malloc, and the null allocator -------------------------------------------- */

static void process_is_the_malloc_of_the_program(void **state)
{
    abench_allocator allocator = ABENCH_ALLOCATOR_INIT;

    (void)state;
    assert_int_equal(abench_allocator_process(&allocator), ABENCH_OK);
    assert_int_equal(allocator.flags, 0);
    assert_true(allocator.malloc == malloc && allocator.calloc == calloc);
    assert_true(allocator.realloc == realloc && allocator.aligned_alloc == aligned_alloc);
    assert_true(allocator.free == free && allocator.usable_size == malloc_usable_size);
    assert_true(allocator.free_sized == NULL);
    allocator.struct_size = 8;
    assert_int_equal(abench_allocator_process(&allocator), ABENCH_ERROR_ARGUMENT);
}

static void null_serves_every_size_up_to_its_maximum(void **state)
{
    const size_t maximum = 1000000;
    abench_allocator allocator = ABENCH_ALLOCATOR_INIT;

    (void)state;
    assert_int_equal(abench_allocator_null(maximum, &allocator), ABENCH_OK);
    assert_int_equal(allocator.flags, ABENCH_ALLOCATOR_OVERLAPS);
    assert_true(allocator.usable_size == NULL && allocator.free_sized == NULL);
    for (size_t size = 0; size <= maximum; size += size / 7 + 1) {
        unsigned char *block = allocator.malloc(size);

        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 16, 0);
        memset(block, 1, size);
        assert_ptr_equal(allocator.malloc(size), block);
        assert_ptr_equal(allocator.realloc(block, size), block);
        assert_ptr_equal(allocator.calloc(1, size), block);
        allocator.free(block);
    }
    memset(allocator.malloc(maximum), 1, maximum);
    assert_null(allocator.malloc(maximum + 1));
    assert_null(allocator.malloc(SIZE_MAX));
    assert_null(allocator.realloc(NULL, maximum + 1));
    assert_null(allocator.calloc(2, maximum));
    assert_null(allocator.calloc(SIZE_MAX / 4 + 1, 4)); /* the product wraps to 0 */
}

static void null_honours_alignments(void **state)
{
    abench_allocator allocator = ABENCH_ALLOCATOR_INIT;

    (void)state;
    assert_int_equal(abench_allocator_null(100000, &allocator), ABENCH_OK);
    for (size_t alignment = 1; alignment <= (size_t)64 << 20; alignment *= 2)
        for (size_t size = 1; size <= 100000; size *= 3) {
            unsigned char *block = allocator.aligned_alloc(alignment, size);

            assert_non_null(block);
            assert_int_equal((uintptr_t)block % alignment, 0);
            memset(block, 1, size);
        }
    assert_null(allocator.aligned_alloc(0, 1));
    assert_null(allocator.aligned_alloc(48, 1));
    assert_null(allocator.aligned_alloc((size_t)128 << 20, 1));
    assert_null(allocator.aligned_alloc(64, SIZE_MAX));
}

static void null_gives_different_sizes_different_lines(void **state)
{
    unsigned char used[4096] = {0}; /* by cache line of the window */
    abench_allocator allocator = ABENCH_ALLOCATOR_INIT;
    size_t lines = 0;

    (void)state;
    assert_int_equal(abench_allocator_null(100000, &allocator), ABENCH_OK);
    for (size_t size = 1; size <= 512; size++) {
        const size_t line = (uintptr_t)allocator.malloc(size) / 64 % sizeof used;

        lines += used[line] == 0;
        used[line] = 1;
    }
    /* 512 of 4096 lines drawn evenly would meet 481 different ones on average. */
    assert_in_range(lines, 460, 512);
}

static void null_grows_and_keeps_what_it_gave(void **state)
{
    abench_allocator small = ABENCH_ALLOCATOR_INIT, large = ABENCH_ALLOCATOR_INIT;
    unsigned char *block;

    (void)state;
    assert_int_equal(abench_allocator_null(1000, &small), ABENCH_OK);
    block = small.malloc(1000);
    assert_int_equal(abench_allocator_null((uint64_t)8 << 20, &large), ABENCH_OK);
    memset(block, 1, 1000);
    assert_non_null(large.malloc((size_t)8 << 20));
    assert_int_equal(abench_allocator_null(UINT64_MAX, &large), ABENCH_ERROR_MEMORY);
    assert_int_equal(abench_allocator_null((uint64_t)1 << 60, &large), ABENCH_ERROR_MEMORY);
    assert_non_null(large.malloc((size_t)8 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_glibc_without_preload),
        cmocka_unit_test(names_jemalloc),
        cmocka_unit_test(names_tcmalloc),
        cmocka_unit_test(names_mimalloc),
        cmocka_unit_test(names_tbbmalloc_by_its_proxy),
        cmocka_unit_test(names_scudo),
        cmocka_unit_test(names_the_older_scudo),
        cmocka_unit_test(names_families_that_debian_has_not),
        cmocka_unit_test(names_a_library_whose_malloc_only_versioned_references_reach),
        cmocka_unit_test(is_not_misled_by_a_malloc_of_another_version),
        cmocka_unit_test(is_not_misled_by_a_weak_malloc),
        cmocka_unit_test(names_the_first_of_two_preloaded),
        cmocka_unit_test(names_glibc_when_another_library_is_preloaded),
        cmocka_unit_test(is_not_misled_by_a_family_s_symbols_without_malloc),
        cmocka_unit_test(looks_through_a_program_that_takes_malloc_s_address),
        cmocka_unit_test(says_static_of_static_programs),
        cmocka_unit_test(says_static_of_a_program_with_its_own_malloc),
        cmocka_unit_test(names_a_program_that_the_loader_was_given),
        cmocka_unit_test(says_mixed_and_who_serves_the_others),
        cmocka_unit_test(allocates_nothing_from_the_heap_it_names),
        cmocka_unit_test(refuses_an_identity_that_is_too_small),
        cmocka_unit_test(reads_both_of_mimalloc_s_numberings),
        cmocka_unit_test(process_is_the_malloc_of_the_program),
        cmocka_unit_test(null_serves_every_size_up_to_its_maximum),
        cmocka_unit_test(null_honours_alignments),
        cmocka_unit_test(null_gives_different_sizes_different_lines),
        cmocka_unit_test(null_grows_and_keeps_what_it_gave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
