/* The parser of smaps: mappings of every category, texts in pieces, cut, damaged and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/smaps.h"

#define KB 1024u

/* What the kernel writes for one mapping behind its header: rss, pss, clean, dirty, anonymous,
 * lazy, huge, swap are in kB. */
#define LINES(size, rss, pss, clean, dirty, anonymous, lazy, huge, swap, eligible)                 \
    "Size:  " #size " kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\n"              \
    "Rss:   " #rss " kB\nPss:  " #pss " kB\nPss_Dirty:             7 kB\n"                         \
    "Shared_Clean:          0 kB\nShared_Dirty:          0 kB\n"                                   \
    "Private_Clean: " #clean " kB\nPrivate_Dirty: " #dirty " kB\n"                                 \
    "Referenced:            9 kB\nAnonymous: " #anonymous " kB\nKSM:   3 kB\n"                     \
    "LazyFree: " #lazy " kB\nAnonHugePages: " #huge " kB\nShmemPmdMapped:        0 kB\n"           \
    "FilePmdMapped:         0 kB\nShared_Hugetlb:        0 kB\nPrivate_Hugetlb:       0 kB\n"      \
    "Swap: " #swap " kB\nSwapPss:               5 kB\nLocked:                6 kB\n"               \
    "THPeligible:           " #eligible "\nVmFlags: rd wr mr mw me ac \n"

/* A mapping in which every number is another one. */
#define SOME LINES(100, 90, 80, 11, 22, 33, 44, 55, 66, 1)

static const char recorded[] = "563956237000-563956239000 r--p 00000000 fe:00 247278               "
                               "      /usr/bin/head\n" LINES(8, 8, 4, 8, 0, 0, 0, 0, 0, 0) //
    "563956300000-563956321000 rw-p 00000000 00:00 0                          [heap]\n" LINES(
        132, 100, 90, 0, 88, 88, 0, 0, 12, 0) //
    "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n" LINES(4096, 4000, 3000, 1, 2, 3900, 16,
                                                               2048, 4, 1) //
    "7f0000800000-7f0000900000 rw-s 00000000 00:01 2051                       /dev/zero "
    "(deleted)\n" LINES(1024, 512, 256, 0, 256, 0, 0, 0, 0, 0) //
    "7ffd9a9f3000-7ffd9aa14000 rw-p 00000000 00:00 0                          [stack]\n" LINES(
        132, 16, 15, 0, 16, 16, 0, 0, 0, 0) //
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n" LINES(
        4, 0, 0, 0, 0, 0, 0, 0, 0, 0);

/* Parses a copy that ends where the piece ends, so that a sanitizer sees a step beyond it. */
static void feed(abench__smaps *parser, const char *text, size_t length)
{
    char *copy = malloc(length + (length == 0));

    assert_non_null(copy);
    memcpy(copy, text, length);
    abench__smaps_feed(parser, copy, length);
    free(copy);
}

static abench_status parse(abench__smaps *parser, const char *text, size_t length)
{
    abench__smaps_begin(parser);
    feed(parser, text, length);
    return abench__smaps_end(parser);
}

static abench_status parse_string(abench__smaps *parser, const char *text)
{
    return parse(parser, text, strlen(text));
}

static void expect_sums_to_add_up(const abench__smaps *parser)
{
    for (uint32_t field = 0; field < ABENCH__SMAPS_FIELDS; field++) {
        uint64_t sum = 0;
        for (uint32_t category = 0; category < ABENCH_MAPPINGS_ALL; category++)
            sum += parser->sums[category][field];
        assert_true(sum == parser->sums[ABENCH_MAPPINGS_ALL][field]);
    }
}

/* ---- whole texts ----------------------------------------------------------------------------- */

static void each_line_goes_into_its_own_sum(void **state)
{
    static const uint64_t expected[ABENCH__SMAPS_FIELDS] = {
        1,       100 * KB, 90 * KB, 80 * KB, 11 * KB,  22 * KB,
        33 * KB, 44 * KB,  55 * KB, 66 * KB, 100 * KB,
    };
    abench__smaps parser;

    (void)state;
    assert_int_equal(parse_string(&parser, "1000-2000 rw-p 00000000 00:00 0 \n" SOME), ABENCH_OK);
    assert_memory_equal(parser.sums[ABENCH_MAPPINGS_ANONYMOUS], expected, sizeof expected);
    expect_sums_to_add_up(&parser);
}

static void a_recorded_text_gives_its_sums(void **state)
{
    abench__smaps parser;
    uint64_t(*const sums)[ABENCH__SMAPS_FIELDS] = parser.sums;

    (void)state;
    assert_int_equal(parse_string(&parser, recorded), ABENCH_OK);
    for (uint32_t category = 0; category < ABENCH_MAPPINGS_ALL; category++)
        assert_int_equal(sums[category][ABENCH__SMAPS_MAPPINGS], 1);
    assert_int_equal(sums[ABENCH_MAPPINGS_HEAP][ABENCH__SMAPS_SWAP], 12 * KB);
    assert_int_equal(sums[ABENCH_MAPPINGS_ANONYMOUS][ABENCH__SMAPS_HUGE], 2048 * KB);
    assert_int_equal(sums[ABENCH_MAPPINGS_FILES][ABENCH__SMAPS_PSS], 4 * KB);
    assert_int_equal(sums[ABENCH_MAPPINGS_SHARED][ABENCH__SMAPS_RSS], 512 * KB);
    assert_int_equal(sums[ABENCH_MAPPINGS_STACKS][ABENCH__SMAPS_PRIVATE_DIRTY], 16 * KB);
    assert_int_equal(sums[ABENCH_MAPPINGS_OTHER][ABENCH__SMAPS_SIZE], 4 * KB);
    assert_int_equal(sums[ABENCH_MAPPINGS_ALL][ABENCH__SMAPS_RSS], 4636 * KB);
    assert_int_equal(sums[ABENCH_MAPPINGS_ALL][ABENCH__SMAPS_HUGE_ELIGIBLE], 4096 * KB);
    expect_sums_to_add_up(&parser);
}

static void names_tell_whose_memory_it_is(void **state)
{
    static const struct {
        const char *tail; /* of the header, from the permissions on */
        uint32_t category;
    } cases[] = {
        {"rw-p 00000000 00:00 0 ", ABENCH_MAPPINGS_ANONYMOUS},
        {"rw-p 00000000 00:00 0", ABENCH_MAPPINGS_ANONYMOUS},
        {"rw-p 00000000 00:00 0  [heap]", ABENCH_MAPPINGS_HEAP},
        {"rw-p 00000000 00:00 0  [stack]", ABENCH_MAPPINGS_STACKS},
        {"rw-p 00000000 00:00 0  [stack:4711]", ABENCH_MAPPINGS_STACKS},
        {"rw-p 00000000 00:00 0  [anon: glibc: pthread stack: 4711]", ABENCH_MAPPINGS_STACKS},
        {"rw-p 00000000 00:00 0  [anon:stack_and_tls:main]", ABENCH_MAPPINGS_STACKS},
        {"rw-p 00000000 00:00 0  [anon:thread stack]", ABENCH_MAPPINGS_STACKS},
        {"rw-p 00000000 00:00 0  [anon:haystack]", ABENCH_MAPPINGS_ANONYMOUS},
        {"rw-p 00000000 00:00 0  [anon:stackless]", ABENCH_MAPPINGS_ANONYMOUS},
        {"rw-p 00000000 00:00 0  [anon: glibc: malloc]", ABENCH_MAPPINGS_ANONYMOUS},
        {"rw-p 00000000 00:00 0  [anon:]", ABENCH_MAPPINGS_ANONYMOUS},
        {"rw-s 00000000 00:01 7  [anon_shmem:cache]", ABENCH_MAPPINGS_SHARED},
        {"r--p 00000000 00:00 0  [vvar]", ABENCH_MAPPINGS_OTHER},
        {"r-xp 00000000 00:00 0  [vdso]", ABENCH_MAPPINGS_OTHER},
        {"rw-s 00000000 00:0f 9  anon_inode:[io_uring]", ABENCH_MAPPINGS_OTHER},
        {"r-xp 00001000 fe:00 7  /usr/lib/libc.so.6", ABENCH_MAPPINGS_FILES},
        {"r-xp 00001000 fe:00 7  /tmp/a name with spaces\\012and a newline", ABENCH_MAPPINGS_FILES},
        {"rw-p 00001000 fe:00 7  /tmp/gone (deleted)", ABENCH_MAPPINGS_FILES},
        {"rw-s 00001000 fe:00 7  /[heap]", ABENCH_MAPPINGS_FILES},
        {"rw-s 00000000 00:01 7  /dev/zero (deleted)", ABENCH_MAPPINGS_SHARED},
        {"rw-p 00000000 00:05 7  /dev/zero", ABENCH_MAPPINGS_ANONYMOUS},
        {"rw-s 00000000 00:01 7  /memfd:shm (deleted)", ABENCH_MAPPINGS_SHARED},
        {"rw-s 00000000 00:01 7  /SYSV0000dead (deleted)", ABENCH_MAPPINGS_SHARED},
        {"rw-s 00000000 fe:00 7  /SYSVinit", ABENCH_MAPPINGS_FILES},
        {"rw-s 00000000 fe:00 7  /SYSVinit.old", ABENCH_MAPPINGS_FILES},
        {"rw-s 00000000 00:16 7  /dev/shm/cache", ABENCH_MAPPINGS_SHARED},
        {"rw-s 00000000 00:05 7  /dev/nvidia0", ABENCH_MAPPINGS_OTHER},
        {"rw-p 00000000 00:0f 7  /anon_hugepage (deleted)", ABENCH_MAPPINGS_ANONYMOUS},
        {"rw-s 00000000 00:0f 7  /anon_hugepage (deleted)", ABENCH_MAPPINGS_SHARED},
        {"rw-p 00000000 fe:00 18446744073709551615 /x", ABENCH_MAPPINGS_FILES},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        abench__smaps parser;
        char text[2048];
        snprintf(text, sizeof text, "1000-2000 %s\n" SOME, cases[i].tail);
        assert_int_equal(parse_string(&parser, text), ABENCH_OK);
        if (parser.sums[cases[i].category][ABENCH__SMAPS_MAPPINGS] != 1)
            fail_msg("%s is in another category", cases[i].tail);
    }
}

/* ---- pieces and cuts ------------------------------------------------------------------------- */

static void the_pieces_of_a_text_do_not_matter(void **state)
{
    const size_t whole = strlen(recorded);
    abench__smaps truth, parser;

    (void)state;
    assert_int_equal(parse(&truth, recorded, whole), ABENCH_OK);
    for (size_t cut = 0; cut <= whole; cut++) {
        abench__smaps_begin(&parser);
        feed(&parser, recorded, cut);
        feed(&parser, recorded + cut, whole - cut);
        assert_int_equal(abench__smaps_end(&parser), ABENCH_OK);
        assert_memory_equal(parser.sums, truth.sums, sizeof truth.sums);
    }
    for (size_t piece = 1; piece < 64; piece++) {
        abench__smaps_begin(&parser);
        for (size_t at = 0; at < whole; at += piece)
            feed(&parser, recorded + at, whole - at < piece ? whole - at : piece);
        assert_int_equal(abench__smaps_end(&parser), ABENCH_OK);
        assert_memory_equal(parser.sums, truth.sums, sizeof truth.sums);
    }
}

static int ends_with(const char *text, size_t length, const char *tail)
{
    const size_t last = strlen(tail);

    for (size_t at = 1; at <= last; at++)
        if (at > length || text[length - at] != tail[last - at])
            return 0;
    return 1;
}

/* What a text that ends here must be taken for: whole only where a mapping ends. */
static void a_text_cut_inside_a_mapping_is_no_sum(void **state)
{
    static const char last_line[] = "VmFlags: rd wr mr mw me ac \n";
    const size_t whole = strlen(recorded);
    uint32_t sums = 0;

    (void)state;
    for (size_t cut = 0; cut <= whole; cut++) {
        abench__smaps parser;
        const int ends = ends_with(recorded, cut, last_line);
        const abench_status status = parse(&parser, recorded, cut);
        assert_int_equal(status == ABENCH_OK, ends);
        assert_int_not_equal(status, ABENCH_ERROR_SYNTAX);
        sums += (uint32_t)ends;
    }
    assert_int_equal(sums, 6);
}

static void a_byte_changed_anywhere_leaves_sums_that_add_up(void **state)
{
    static const char bytes[] = {'\0', '\n', ' ', '-', '9', ':', 'S', 'k', (char)0xff};
    const size_t whole = strlen(recorded);
    uint32_t refused = 0;
    char text[sizeof recorded];

    (void)state;
    for (size_t at = 0; at < whole; at++) {
        for (size_t b = 0; b < sizeof bytes; b++) {
            abench__smaps parser;
            memcpy(text, recorded, whole);
            text[at] = bytes[b];
            if (parse(&parser, text, whole) == ABENCH_OK)
                expect_sums_to_add_up(&parser);
            else
                refused++;
        }
    }
    assert_true(refused > whole);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void what_no_kernel_writes_is_refused(void **state)
{
    static const char *const texts[] = {
        "\n",
        " \n",
        "Size: 8 kB\n", /* of no mapping */
        "1000-2000 rw-p 00000000 00:00 0 \nRss: 8 kB\nRss: 8 kB\n",
        "1000-2000 rw-p 00000000 00:00 0 \nRss: 8 MB\n",
        "1000-2000 rw-p 00000000 00:00 0 \nRss: -8 kB\n",
        "1000-2000 rw-p 00000000 00:00 0 \nRss: 18446744073709551615 kB\n",
        "1000-2000 rw-p 00000000 00:00 0 \nTHPeligible: 1 kB\n",
        "1000-2000 rw-p 00000000 00:00 0 \n?\n",
        "1000-2000 rw-p 00000000 00:00 0 \n1000-2000 rw-p 00000000 00:00 0 \n",
        "1000-2000 rw-p 00000000 00:00 0 \n" SOME "2000-3000 rw-p 0 0:0 0\nRss: 8 kB\n3000-4000 \n",
        "1000 2000 rw-p 00000000 00:00 0 \n",
        "1000-2000\n",
        "2000-1000 rw-p 00000000 00:00 0 \n",
        "1000-1000 rw-p 00000000 00:00 0 \n",
        "1000-12345678901234567 rw-p 00000000 00:00 0 \n",
        "1000-2000 rw-x 00000000 00:00 0 \n",
        "1000-2000 wr-p 00000000 00:00 0 \n",
        "1000-2000 rw-p 00000000 00-00 0 \n",
        "1000-2000 rw-p 00000000 00:00 \n",
        "1000-2000 rw-p 00000000 00:00 99999999999999999999 \n",
        "1000-2000 rw-p 00000000 00:00 0x\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        abench__smaps parser;
        if (parse_string(&parser, texts[i]) != ABENCH_ERROR_SYNTAX)
            fail_msg("not refused: %s", texts[i]);
        feed(&parser, recorded, strlen(recorded)); /* it stays so */
        assert_int_equal(abench__smaps_end(&parser), ABENCH_ERROR_SYNTAX);
    }
}

static void a_sum_that_does_not_fit_is_refused(void **state)
{
    static const char text[] =
        "1000-2000 rw-p 00000000 00:00 0 \n" LINES(8, 18014398509481983, 8, 0, 0, 0, 0, 0, 0, 0) //
        "2000-3000 rw-p 00000000 00:00 0 \n" LINES(8, 8, 8, 0, 0, 0, 0, 0, 0, 0);
    abench__smaps parser;

    (void)state;
    assert_int_equal(parse(&parser, text, strlen(text) / 2), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(parse_string(&parser, text), ABENCH_ERROR_SYNTAX);
}

static void no_text_is_no_process(void **state)
{
    abench__smaps parser;

    (void)state;
    assert_int_equal(parse_string(&parser, ""), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(parse_string(&parser, "1000-2000 rw-p 00000000 00:00 0"),
                     ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(parse_string(&parser, "1000-2000 rw-p 00000000 00:00 0 \n"),
                     ABENCH_ERROR_NOT_FOUND);
}

static void a_kernel_that_lacks_a_field_is_told(void **state)
{
    static const char text[] = "1000-2000 rw-p 00000000 00:00 0 \n"
                               "Size: 8 kB\nRss: 8 kB\nPss: 8 kB\nPrivate_Clean: 0 kB\n"
                               "Private_Dirty: 8 kB\nAnonymous: 8 kB\nSwap: 0 kB\n";
    abench__smaps parser;

    (void)state;
    assert_int_equal(parse_string(&parser, text), ABENCH_ERROR_UNSUPPORTED);
}

static void a_path_of_any_length_is_only_a_path(void **state)
{
    const size_t length = 100000;
    char *text = malloc(length + 4096);
    abench__smaps parser;
    size_t at;

    (void)state;
    assert_non_null(text);
    at = (size_t)sprintf(text, "1000-2000 rw-p 00000000 fe:00 7 /");
    memset(text + at, 'S', length);
    strcpy(text + at + length, "\n" SOME);
    for (size_t piece = 1; piece < 200000; piece *= 7) {
        const size_t whole = strlen(text);
        abench__smaps_begin(&parser);
        for (size_t done = 0; done < whole; done += piece)
            feed(&parser, text + done, whole - done < piece ? whole - done : piece);
        assert_int_equal(abench__smaps_end(&parser), ABENCH_OK);
        assert_int_equal(parser.sums[ABENCH_MAPPINGS_FILES][ABENCH__SMAPS_RSS], 90 * KB);
    }
    free(text);
}

/* Between two reads of the file a mapping may join the one that was shown before it. */
static void a_mapping_that_is_shown_again_counts_once(void **state)
{
    static const char grown[] =
        "1000-2000 rw-p 00000000 00:00 0 \n" LINES(4, 4, 4, 0, 4, 4, 0, 0, 0, 0)        //
        "2000-4000 rw-p 00000000 00:00 0  [heap]\n" LINES(8, 8, 8, 0, 8, 8, 0, 0, 0, 0) //
        "2000-9000 rw-p 00000000 00:00 0 \n" LINES(28, 20, 20, 0, 20, 20, 0, 0, 0, 0)   //
        "9000-a000 rw-p 00000000 00:00 0 \n" LINES(4, 4, 4, 0, 4, 4, 0, 0, 0, 0);
    abench__smaps parser;

    (void)state;
    assert_int_equal(parse_string(&parser, grown), ABENCH_OK);
    assert_int_equal(parser.sums[ABENCH_MAPPINGS_ALL][ABENCH__SMAPS_MAPPINGS], 3);
    assert_int_equal(parser.sums[ABENCH_MAPPINGS_ALL][ABENCH__SMAPS_SIZE], 36 * KB);
    assert_int_equal(parser.sums[ABENCH_MAPPINGS_ALL][ABENCH__SMAPS_RSS], 28 * KB);
    assert_int_equal(parser.sums[ABENCH_MAPPINGS_HEAP][ABENCH__SMAPS_RSS], 0);
    expect_sums_to_add_up(&parser);
}

/* Its first showing is in the sums, and more than that: they cannot be right any more. */
static void a_mapping_that_swallows_others_makes_no_sums(void **state)
{
    static const char *const texts[] = {
        "1000-2000 rw-p 00000000 00:00 0 \n" LINES(4, 4, 4, 0, 4, 4, 0, 0, 0, 0) //
        "2000-4000 r--p 00000000 00:00 0 \n" LINES(8, 8, 8, 0, 8, 8, 0, 0, 0, 0) //
        "1000-9000 rw-p 00000000 00:00 0 \n" LINES(32, 20, 20, 0, 20, 20, 0, 0, 0, 0),
        "2000-4000 r--p 00000000 00:00 0 \n" LINES(8, 8, 8, 0, 8, 8, 0, 0, 0, 0) //
        "3000-9000 rw-p 00000000 00:00 0 \n" LINES(24, 20, 20, 0, 20, 20, 0, 0, 0, 0),
        "2000-4000 r--p 00000000 00:00 0 \n" LINES(8, 8, 8, 0, 8, 8, 0, 0, 0, 0) //
        "2000-3000 rw-p 00000000 00:00 0 \n" LINES(4, 4, 4, 0, 4, 4, 0, 0, 0, 0),
    };
    abench__smaps parser;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(parse_string(&parser, texts[i]), ABENCH_ERROR_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_goes_into_its_own_sum),
        cmocka_unit_test(a_recorded_text_gives_its_sums),
        cmocka_unit_test(names_tell_whose_memory_it_is),
        cmocka_unit_test(the_pieces_of_a_text_do_not_matter),
        cmocka_unit_test(a_text_cut_inside_a_mapping_is_no_sum),
        cmocka_unit_test(a_byte_changed_anywhere_leaves_sums_that_add_up),
        cmocka_unit_test(what_no_kernel_writes_is_refused),
        cmocka_unit_test(a_sum_that_does_not_fit_is_refused),
        cmocka_unit_test(no_text_is_no_process),
        cmocka_unit_test(a_kernel_that_lacks_a_field_is_told),
        cmocka_unit_test(a_path_of_any_length_is_only_a_path),
        cmocka_unit_test(a_mapping_that_is_shown_again_counts_once),
        cmocka_unit_test(a_mapping_that_swallows_others_makes_no_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
