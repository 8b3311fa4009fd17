/* Parsers of /proc texts: recorded ones, cut at every byte, damaged at every byte, and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/proc.h"

static const char statm_text[] = "12745 5442 414 5 0 9123 0\n";

static const char status_text[] = "Name:\tcat\n"
                                  "Umask:\t0022\n"
                                  "State:\tR (running)\n"
                                  "Groups:\t4 24 27 \n"
                                  "VmPeak:\t    3060 kB\n"
                                  "VmSize:\t    3060 kB\n"
                                  "VmHWM:\t    1868 kB\n"
                                  "VmRSS:\t    1768 kB\n"
                                  "RssAnon:\t     112 kB\n"
                                  "RssFile:\t    1656 kB\n"
                                  "RssShmem:\t       0 kB\n"
                                  "VmData:\t     360 kB\n"
                                  "VmPTE:\t      52 kB\n"
                                  "VmSwap:\t      24 kB\n"
                                  "HugetlbPages:\t       0 kB\n"
                                  "Threads:\t17\n"
                                  "SigQ:\t0/96365\n";

static const char switches_text[] = "Name:\tcat\n"
                                    "Threads:\t17\n"
                                    "Mems_allowed_list:\t0\n"
                                    "voluntary_ctxt_switches:\t8\n"
                                    "nonvoluntary_ctxt_switches:\t131\n";

static const char schedstat_text[] = "711823 41652 9\n";

static const char rollup_text[] =
    "563956237000-7ffec54de000 ---p 00000000 00:00 0                          [rollup]\n"
    "Rss:                1768 kB\n"
    "Pss:                 434 kB\n"
    "Pss_Dirty:           112 kB\n"
    "Pss_Anon:            113 kB\n"
    "Pss_File:            321 kB\n"
    "Pss_Shmem:             8 kB\n"
    "Shared_Clean:       1588 kB\n"
    "Private_Clean:        68 kB\n"
    "Private_Dirty:       112 kB\n"
    "LazyFree:             16 kB\n"
    "AnonHugePages:      2048 kB\n"
    "Swap:                  4 kB\n"
    "SwapPss:               2 kB\n"
    "Locked:               12 kB\n";

static const char stat_text[] =
    "5055 (a) b (c) R 5049 5049 3259 0 -1 4194304 106 7 3 2 0 0 0 0 20 0 1 0 131214 3133440 414 "
    "18446744073709551615 94804258295808 94804258315689 140732208629504 0 0 0 0 0 0 0 0 0 17 1 0\n";

static const char meminfo_text[] = "MemTotal:       24683568 kB\nMemFree:        24067680 kB\n";

typedef uint32_t (*parser)(const char *text, size_t length, uint64_t *values);

/* Parses a copy that ends where the text ends, so that a sanitizer sees a step beyond it. */
static uint32_t parse(parser p, const char *text, size_t length, uint64_t *values)
{
    char *copy = malloc(length + (length == 0));
    uint32_t valid;

    assert_non_null(copy);
    memcpy(copy, text, length);
    valid = p(copy, length, values);
    free(copy);
    return valid;
}

static uint32_t parse_all(parser p, const char *text, uint64_t *values)
{
    return parse(p, text, strlen(text), values);
}

static const struct {
    parser parse;
    const char *text;
    uint32_t fields;
} recorded[] = {
    {abench__parse_statm, statm_text, ABENCH__STATM_FIELDS},
    {abench__parse_status, status_text, ABENCH__STATUS_FIELDS},
    {abench__parse_switches, switches_text, ABENCH__SWITCHES_FIELDS},
    {abench__parse_schedstat, schedstat_text, ABENCH__SCHEDSTAT_FIELDS},
    {abench__parse_rollup, rollup_text, ABENCH__ROLLUP_FIELDS},
    {abench__parse_stat, stat_text, ABENCH__STAT_FIELDS},
    {abench__parse_meminfo, meminfo_text, ABENCH__MEMINFO_FIELDS},
};

#define RECORDED (sizeof recorded / sizeof recorded[0])

static void recorded_texts_give_their_values(void **state)
{
    uint64_t v[ABENCH__PROC_FIELDS_MAX];

    (void)state;
    for (size_t i = 0; i < RECORDED; i++)
        assert_int_equal(parse_all(recorded[i].parse, recorded[i].text, v),
                         (1u << recorded[i].fields) - 1);

    parse_all(abench__parse_statm, statm_text, v);
    assert_int_equal(v[ABENCH__STATM_SIZE], 12745);
    assert_int_equal(v[ABENCH__STATM_RSS], 5442);
    assert_int_equal(v[ABENCH__STATM_SHARED], 414);

    parse_all(abench__parse_status, status_text, v);
    assert_int_equal(v[ABENCH__STATUS_HWM], 1868 * 1024);
    assert_int_equal(v[ABENCH__STATUS_RSS], 1768 * 1024);
    assert_int_equal(v[ABENCH__STATUS_RSS_ANON], 112 * 1024);
    assert_int_equal(v[ABENCH__STATUS_RSS_FILE], 1656 * 1024);
    assert_int_equal(v[ABENCH__STATUS_RSS_SHMEM], 0);
    assert_int_equal(v[ABENCH__STATUS_SWAP], 24 * 1024);
    assert_int_equal(v[ABENCH__STATUS_PAGE_TABLES], 52 * 1024);
    assert_int_equal(v[ABENCH__STATUS_THREADS], 17);

    parse_all(abench__parse_switches, switches_text, v);
    assert_int_equal(v[ABENCH__SWITCHES_VOLUNTARY], 8);
    assert_int_equal(v[ABENCH__SWITCHES_INVOLUNTARY], 131);

    parse_all(abench__parse_schedstat, schedstat_text, v);
    assert_int_equal(v[ABENCH__SCHEDSTAT_RUN], 711823);
    assert_int_equal(v[ABENCH__SCHEDSTAT_WAIT], 41652);
    assert_int_equal(v[ABENCH__SCHEDSTAT_SLICES], 9);

    parse_all(abench__parse_rollup, rollup_text, v);
    assert_int_equal(v[ABENCH__ROLLUP_RSS], 1768 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PSS], 434 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PRIVATE_CLEAN], 68 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PRIVATE_DIRTY], 112 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_LAZYFREE], 16 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_HUGE], 2048 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_SWAP], 4 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PSS_DIRTY], 112 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PSS_ANON], 113 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PSS_FILE], 321 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PSS_SHMEM], 8 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_SWAP_PSS], 2 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_LOCKED], 12 * 1024);

    parse_all(abench__parse_meminfo, meminfo_text, v);
    assert_true(v[ABENCH__MEMINFO_TOTAL] == (uint64_t)24683568 * 1024);
}

static void a_program_name_may_hold_brackets_spaces_and_newlines(void **state)
{
    static const char *const names[] = {"cat", "a) b (c", ") 1 2 3 4 5 6 7", "", "((", "x\ny) S"};
    uint64_t v[ABENCH__STAT_FIELDS];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[512] = "5055 (";
        strcat(text, names[i]);
        strcat(text, strrchr(stat_text, ')'));
        assert_int_equal(parse_all(abench__parse_stat, text, v), (1u << ABENCH__STAT_FIELDS) - 1);
        assert_int_equal(v[ABENCH__STAT_STATE], 'R');
        assert_int_equal(v[ABENCH__STAT_PARENT], 5049);
        assert_int_equal(v[ABENCH__STAT_THREADS], 1);
        assert_int_equal(v[ABENCH__STAT_START_TIME], 131214);
        assert_int_equal(v[ABENCH__STAT_SIZE], 3133440);
        assert_int_equal(v[ABENCH__STAT_MINOR_FAULTS], 106);
        assert_int_equal(v[ABENCH__STAT_MAJOR_FAULTS], 3);
        assert_true(v[ABENCH__STAT_START_CODE] == 94804258295808u);
        assert_true(v[ABENCH__STAT_START_STACK] == 140732208629504u);
    }
}

/* A cut text may lose fields; it must not change one. */
static void a_text_cut_at_any_byte_yields_true_values_or_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECORDED; i++) {
        const size_t whole = strlen(recorded[i].text);
        uint64_t truth[ABENCH__PROC_FIELDS_MAX], v[ABENCH__PROC_FIELDS_MAX];
        uint32_t before = 0;
        parse_all(recorded[i].parse, recorded[i].text, truth);
        for (size_t length = 0; length <= whole; length++) {
            const uint32_t valid = parse(recorded[i].parse, recorded[i].text, length, v);
            assert_int_equal(valid & before, before); /* a longer text tells no less */
            before = valid;
            for (uint32_t field = 0; field < recorded[i].fields; field++)
                assert_true(v[field] == ((valid >> field & 1) != 0 ? truth[field] : 0));
        }
        assert_int_equal(before, (1u << recorded[i].fields) - 1);
    }
}

static void a_byte_changed_anywhere_leaves_absent_fields_zero(void **state)
{
    static const char bytes[] = {'\0', '\n', ' ', '-', '9', ':', ')', 'k', (char)0xff};

    (void)state;
    for (size_t i = 0; i < RECORDED; i++) {
        const size_t whole = strlen(recorded[i].text);
        for (size_t at = 0; at < whole; at++) {
            for (size_t b = 0; b < sizeof bytes; b++) {
                char text[1024];
                uint64_t v[ABENCH__PROC_FIELDS_MAX];
                uint32_t valid;
                memcpy(text, recorded[i].text, whole);
                text[at] = bytes[b];
                valid = parse(recorded[i].parse, text, whole, v);
                assert_int_equal(valid >> recorded[i].fields, 0);
                for (uint32_t field = 0; field < recorded[i].fields; field++)
                    assert_true((valid >> field & 1) != 0 || v[field] == 0);
            }
        }
    }
}

static void absent_fields_are_not_valid(void **state)
{
    uint64_t v[ABENCH__PROC_FIELDS_MAX];

    (void)state;
    for (size_t i = 0; i < RECORDED; i++) {
        assert_int_equal(parse_all(recorded[i].parse, "", v), 0);
        assert_int_equal(parse_all(recorded[i].parse, "\n\n\n", v), 0);
        assert_int_equal(parse(recorded[i].parse, "\0\0\0\0", 4, v), 0);
    }
    /* A kernel thread, or a zombie. */
    assert_int_equal(parse_all(abench__parse_status, "Name:\tz\nState:\tZ\nThreads:\t1\n", v),
                     1u << ABENCH__STATUS_THREADS);
    /* A kernel that does not know LazyFree yet. */
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 8 kB\nPss: 4 kB\nSwap: 0 kB\n", v),
                     1u << ABENCH__ROLLUP_RSS | 1u << ABENCH__ROLLUP_PSS |
                         1u << ABENCH__ROLLUP_SWAP);
    /* Names that only begin, or end, like one that is looked for. */
    assert_int_equal(parse_all(abench__parse_rollup, "Pss_AnonX: 4 kB\nXSwap: 4 kB\n", v), 0);
    assert_int_equal(parse_all(abench__parse_rollup, "Pss_Anon: 4 kB\nSwapPss: 4 kB\n", v),
                     1u << ABENCH__ROLLUP_PSS_ANON | 1u << ABENCH__ROLLUP_SWAP_PSS);
    assert_int_equal(parse_all(abench__parse_switches, "nonvoluntary_ctxt_switches:\t3\n", v),
                     1u << ABENCH__SWITCHES_INVOLUNTARY);
    assert_int_equal(parse_all(abench__parse_status, "XVmRSS:\t4 kB\nVmRSSX:\t4 kB\n", v), 0);
    assert_int_equal(parse_all(abench__parse_status, "VmRSSX\t4 kB\nVmRSS \t4 kB\n", v), 0);
}

static void numbers_that_are_none_or_too_large_are_not_valid(void **state)
{
    uint64_t v[ABENCH__PROC_FIELDS_MAX];

    (void)state;
    assert_int_equal(parse_all(abench__parse_statm, "18446744073709551615 2 3 ", v), 7);
    assert_true(v[ABENCH__STATM_SIZE] == UINT64_MAX);
    assert_int_equal(parse_all(abench__parse_statm, "18446744073709551616 2 3 ", v), 0);
    assert_int_equal(parse_all(abench__parse_statm, "99999999999999999999999 2 3 ", v), 0);
    assert_int_equal(parse_all(abench__parse_statm, "1 -2 3 ", v), 1);
    assert_int_equal(parse_all(abench__parse_statm, "1 2x 3 ", v), 1);
    assert_int_equal(parse_all(abench__parse_statm, "1  2 3 ", v), 1);

    /* 2^54 kB are 2^64 bytes. */
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 18014398509481983 kB\n", v), 1);
    assert_true(v[ABENCH__ROLLUP_RSS] == 18014398509481983u * 1024);
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 18014398509481984 kB\n", v), 0);
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 18446744073709551617 kB\n", v), 0);
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: -5 kB\n", v), 0);
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: kB\n", v), 0);
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 5 MB\n", v), 0);
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 5\n", v), 0);
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 5 kB?\n", v), 0);
    assert_int_equal(parse_all(abench__parse_status, "Threads:\t-1\n", v), 0);
    assert_int_equal(parse_all(abench__parse_status, "Threads:\t1 kB\n", v), 0);

    assert_int_equal(parse_all(abench__parse_stat, "1 (x) R 1 1 1 0 -1 0 -106 7 3 2 \n", v),
                     1u << ABENCH__STAT_STATE | 1u << ABENCH__STAT_PARENT |
                         1u << ABENCH__STAT_MAJOR_FAULTS);
    assert_int_equal(parse_all(abench__parse_stat, "1 (x) RS -1 1 1 0 -1 0 1 7 \n", v),
                     1u << ABENCH__STAT_MINOR_FAULTS);
    assert_int_equal(parse_all(abench__parse_stat, "1 x R 1 1 1 0 -1 0 106 7 3 2 \n", v), 0);
    assert_int_equal(parse_all(abench__parse_stat, "1 (x)R 1 1 1 0 -1 0 106 7 3 2 \n", v), 0);
}

static void the_last_line_needs_its_unit_but_no_newline(void **state)
{
    uint64_t v[ABENCH__PROC_FIELDS_MAX];

    (void)state;
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 8 kB", v), 1);
    assert_int_equal(parse_all(abench__parse_rollup, "Rss: 8 k", v), 0);
    assert_int_equal(parse_all(abench__parse_status, "Threads:\t1", v), 0); /* or 17, cut */
}

/* No kernel's order: the search must not depend on it, only be fast in it. */
static void lines_in_any_order_give_their_values(void **state)
{
    static const char text[] = "Locked: 1 kB\nSwap: 2 kB\nPss: 3 kB\nPss_Anon: 4 kB\nSwap_X: 9 kB\n"
                               "Private_Dirty: 5 kB\nRss: 6 kB\nPss_Dirty: 7 kB\nRss: 8 kB\n";
    uint64_t v[ABENCH__PROC_FIELDS_MAX];

    (void)state;
    parse_all(abench__parse_rollup, text, v);
    assert_int_equal(v[ABENCH__ROLLUP_LOCKED], 1024);
    assert_int_equal(v[ABENCH__ROLLUP_SWAP], 2 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PSS], 3 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PSS_ANON], 4 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PRIVATE_DIRTY], 5 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_PSS_DIRTY], 7 * 1024);
    assert_int_equal(v[ABENCH__ROLLUP_RSS], 8 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_texts_give_their_values),
        cmocka_unit_test(a_program_name_may_hold_brackets_spaces_and_newlines),
        cmocka_unit_test(a_text_cut_at_any_byte_yields_true_values_or_none),
        cmocka_unit_test(a_byte_changed_anywhere_leaves_absent_fields_zero),
        cmocka_unit_test(absent_fields_are_not_valid),
        cmocka_unit_test(numbers_that_are_none_or_too_large_are_not_valid),
        cmocka_unit_test(lines_in_any_order_give_their_values),
        cmocka_unit_test(the_last_line_needs_its_unit_but_no_newline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
