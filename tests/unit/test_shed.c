/* What a cloned process keeps of its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler/helper.h"
#include "sampler/shed.h"

#define KB ((uint64_t)1024)

static int parse(const char *line, abench__mapping *mapping)
{
    /* Its own block, so that a sanitizer sees a read beyond its end. */
    const size_t length = strlen(line);
    char *copy = malloc(length + (length == 0));
    int result;

    assert_non_null(copy);
    memcpy(copy, line, length);
    result = abench__parse_mapping(copy, length, mapping);
    free(copy);
    return result;
}

static void lines_of_maps_are_understood(void **state)
{
    static const struct {
        const char *line;
        abench__mapping mapping;
    } rows[] = {
        {"55bb2fb67000-55bb2fb6a000 r--p 00000000 fe:00 9980882                    /tmp/a b",
         {0x55bb2fb67000, 0x55bb2fb6a000, 0, 0, 1, 0}},
        {"7f98f1a60000-7f98f1a62000 rw-p 001d3000 fe:00 326269                     /usr/lib/l.so",
         {0x7f98f1a60000, 0x7f98f1a62000, 0, 1, 1, 0}},
        {"7f98f1a62000-7f98f1a6f000 rw-p 00000000 00:00 0 ",
         {0x7f98f1a62000, 0x7f98f1a6f000, 0, 1, 0, 0}},
        {"7f98f1a62000-7f98f1a6f000 rw-p 00000000 00:00 0",
         {0x7f98f1a62000, 0x7f98f1a6f000, 0, 1, 0, 0}},
        {"7f98f1666000-7f98f1889000 rw-s 00001000 00:01 345947       /dev/zero (deleted)",
         {0x7f98f1666000, 0x7f98f1889000, 1, 1, 1, 0}},
        {"0-1000 rw-p 00000000 00:00 0   [heap]", {0, 0x1000, 0, 1, 0, 0}},
        {"1000-2000 rw-p 00000000 00:00 0   [anon:name]", {0x1000, 0x2000, 0, 1, 0, 0}},
        {"7f98f1a80000-7f98f1a82000 r-xp 00000000 00:00 0   [vdso]",
         {0x7f98f1a80000, 0x7f98f1a82000, 0, 0, 0, 1}},
        {"7f98f1a7e000-7f98f1a80000 r--p 00000000 00:00 0   [vvar_vclock]",
         {0x7f98f1a7e000, 0x7f98f1a80000, 0, 0, 0, 1}},
        {"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]",
         {0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, 1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        abench__mapping mapping;
        assert_int_equal(parse(rows[i].line, &mapping), 1);
        assert_memory_equal(&mapping, &rows[i].mapping, sizeof mapping);
    }
}

static void other_text_is_no_mapping(void **state)
{
    static const char *const lines[] = {
        "",
        "1000",
        "1000-",
        "1000-2000",
        "1000-2000 ",
        "1000-2000 rw-p",
        "1000-2000 rw-p 00000000 00:00 ",
        "2000-1000 rw-p 00000000 00:00 0",
        "1000-1000 rw-p 00000000 00:00 0",
        "-2000 rw-p 00000000 00:00 0",
        "11111111122222222-22222222233333333 rw-p 00000000 00:00 0",
        "1000 2000 rw-p 00000000 00:00 0",
        "/a/name/that/is/the/rest/of/a/line",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        abench__mapping mapping;
        assert_int_equal(parse(lines[i], &mapping), 0);
    }
}

static abench__mapping mapping_at(uint64_t start, uint64_t bytes, const char *is)
{
    abench__mapping mapping = {start, start + bytes, 0, 0, 0, 0};

    mapping.shared = strchr(is, 's') != NULL;
    mapping.writable = strchr(is, 'w') != NULL;
    mapping.file = strchr(is, 'f') != NULL;
    mapping.special = strchr(is, 'v') != NULL;
    return mapping;
}

static void programs_and_libraries_stay_and_heaps_go(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *is; /* shared, writable, file, v: special */
        uint64_t gap;   /* behind the one before */
        uint64_t kept;
    } rows[] = {
        {4 * KB, "w", 0, 0},
        {900 * KB, "f", 64 * KB, 900 * KB}, /* a library's text, */
        {8 * KB, "wf", 0, 8 * KB},          /* what is initialised */
        {52 * KB, "w", 0, 52 * KB},         /* and what is zero */
        {52 * KB, "w", 0, 0},               /* a heap behind it */
        {4 * KB, "wf", 4 * KB, 4 * KB},
        {900 * KB, "w", 4 * KB, 0}, /* a heap near one */
        {4 * KB, "wf", 0, 4 * KB},
        {900 * KB, "w", 0, 256 * KB}, /* or merged with it */
        {900 * KB, "wf", 0, 256 * KB},
        {4 * KB, "w", 0, 0}, /* of one cut short */
        {4 * KB, "swf", 0, 0},
        {4 * KB, "w", 0, 0}, /* shared memory */
        {8 * KB, "sf", 0, 0},
        {8 * KB, "v", 0, 8 * KB}, /* a file; the vdso */
        {8 * KB, "", 0, 0},       /* a heap that was made read-only */
    };
    abench__mapping before = {0};
    uint64_t at = 1 << 20, before_kept = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const abench__mapping mapping = mapping_at(at + rows[i].gap, rows[i].bytes, rows[i].is);
        before_kept = abench__mapping_keeps(&mapping, &before, before_kept);
        assert_int_equal(before_kept, rows[i].kept);
        before = mapping;
        at = mapping.end;
    }
}

static int is_mapped(uint64_t address)
{
    return syscall(SYS_msync, address, 4096, MS_ASYNC) == 0;
}

/* In a child, with no more scratch than a part of a line: 0 when all went as it should. */
static int shed_in_a_child(uint64_t gone, uint64_t kept)
{
    const uint64_t here = (uint64_t)(uintptr_t)&gone & ~(uint64_t)4095;
    const uint64_t thread = (uint64_t)(uintptr_t)&errno & ~(uint64_t)4095;
    const abench__kept page = {kept, kept + 4096};
    const abench__kept own = {thread - 8 * 4096, thread + 8 * 4096};
    const abench__kept ranges[] = {kept < thread ? page : own,
                                   kept < thread ? own : page,
                                   {here - 16 * 4096, here + 16 * 4096}};
    char text[80];

    if (kept > here || thread > here)
        return 2;
    if (abench__shed_memory(ranges, 3, text, sizeof text) != 0)
        return 3;
    for (uint64_t i = 50; i < 1050; i++) /* its ends may lie near what is kept */
        if (is_mapped(gone + i * 4096))
            return 4;
    if (!is_mapped(kept) || is_mapped(kept - 4096) || is_mapped(kept + 4096))
        return 5;
    return *(volatile char *)(uintptr_t)kept == 7 ? 0 : 6;
}

static void what_is_not_kept_is_unmapped(void **state)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *gone = mmap(NULL, 1100 * 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    char *kept = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    int status;
    pid_t pid;

    (void)state;
    if (!ABENCH__HELPER_POSSIBLE)
        return; /* a sanitizer's shadow would go too */
    assert_true(gone != MAP_FAILED && kept != MAP_FAILED);
    kept[4096] = 7;
    for (int page = 0; page < 1100; page += 2) /* each a mapping of its own */
        assert_int_equal(mprotect(gone + page * 4096, 4096, PROT_READ), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        syscall(SYS_exit_group,
                shed_in_a_child((uint64_t)(uintptr_t)gone, (uint64_t)(uintptr_t)kept + 4096));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    munmap(gone, 1100 * 4096);
    munmap(kept, 3 * 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_maps_are_understood),
        cmocka_unit_test(other_text_is_no_mapping),
        cmocka_unit_test(programs_and_libraries_stay_and_heaps_go),
        cmocka_unit_test(what_is_not_kept_is_unmapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
