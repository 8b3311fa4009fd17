/* test_account_text.c - the texts in which allocators tell their statistics: mimalloc's JSON and
 * the XML of malloc_info; whole, cut anywhere, and such as no allocator would write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/random.h>

#include "allocator/info.h"
#include "allocator/mi_json.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

typedef struct seen {
    char text[2000]; /* "name=value;" of each number */
    size_t length;
    unsigned count;
} seen;

static void note(const char *name, uint64_t value, void *user)
{
    seen *s = user;
    const int written = snprintf(s->text + s->length, sizeof s->text - s->length, "%s=%llu;", name,
                                 (unsigned long long)value);

    s->count++;
    assert_true(strlen(name) < ABENCH__MI_JSON_NAME);
    if (written > 0 && (size_t)written < sizeof s->text - s->length)
        s->length += (size_t)written;
}

static int walk(const char *text, size_t length, seen *s)
{
    char exact[4096];

    assert_true(length <= sizeof exact); /* so that a sanitizer sees a step beyond the end */
    memset(s, 0, sizeof *s);
    memcpy(exact + sizeof exact - length, text, length);
    return abench__mi_json_walk(exact + sizeof exact - length, length, note, s);
}

static void assert_numbers(const char *text, int whole, const char *expected)
{
    seen s;

    if (walk(text, strlen(text), &s) != whole || strcmp(s.text, expected) != 0)
        fail_msg("%s gave \"%s\" instead of \"%s\"", text, s.text, expected);
}

static void names_have_those_of_the_objects_around_them(void **state)
{
    (void)state;
    assert_numbers("{}", 1, "");
    assert_numbers(" {\"a\":1}\n", 1, "a=1;");
    assert_numbers("{\"a\": {\"b\": 2, \"c\": {\"d\": 3}}, \"e\" : 4 }", 1, "a.b=2;a.c.d=3;e=4;");
    assert_numbers("{\"a\":18446744073709551615}", 1, "a=18446744073709551615;");
}

static void what_is_no_natural_number_is_passed_over(void **state)
{
    (void)state;
    assert_numbers("{\"a\":-1,\"b\":1.5,\"c\":1e3,\"d\":\"5\",\"e\":null,\"f\":true,\"g\":false,"
                   "\"h\":7}",
                   1, "h=7;");
    assert_numbers("{\"a\":18446744073709551616,\"b\":99999999999999999999999,\"c\":3}", 1, "c=3;");
    assert_numbers("{\"a\":[1,{\"b\":2},[3],\"x\"],\"c\":[],\"d\":{},\"e\":4}", 1, "e=4;");
    assert_numbers("{\"a\\\"b\":1,\"s\":\"\\\\\",\"c\":2}", 1, "a\\\"b=1;c=2;");
    assert_numbers("{\"\":1,\"\":{\"a\":2},\"c\":3}", 1, "c=3;");
}

static void what_is_not_json_stops_the_walk(void **state)
{
    static const char *const texts[] = {
        "",         " ",           "1",          "[1]",         "{",         "{\"a\"", "{\"a\":",
        "{\"a\":}", "{a:1}",       "{\"a\" 1}",  "{\"a\":nul}", "{\"a\":-}", "{,}",    "{\"a",
        "{\"a\\",   "{\"a\n\":1}", "{\"a\":+1}", "{\"a\":[}",   "{}{}",      "{} x",
    };
    seen s;

    (void)state;
    for (size_t at = 0; at < sizeof texts / sizeof texts[0]; at++)
        if (walk(texts[at], strlen(texts[at]), &s) != 0 || s.count != 0)
            fail_msg("%s gave \"%s\"", texts[at], s.text);
    assert_numbers("{\"a\":1,}", 0, "a=1;");
    assert_numbers("{\"a\":1,\"b\":23", 0, "a=1;"); /* of 234, perhaps */
    assert_numbers("{\"a\":1 \"b\":2}", 0, "a=1;");
}

static void nesting_has_an_end(void **state)
{
    char text[4000];
    seen s;

    (void)state;
    for (size_t at = 0; at < 700; at++)
        memcpy(text + at * 5, "{\"a\":", 5);
    assert_int_equal(walk(text, 3500, &s), 0);
    memset(text + 5, '[', 3000);
    assert_int_equal(walk(text, 3005, &s), 0);
    /* Well-formed, and deeper than is read. */
    memset(text + 5, '[', 20);
    memset(text + 25, ']', 20);
    text[45] = '}';
    assert_int_equal(walk(text, 46, &s), 0);
    assert_int_equal(walk("{\"a\":[[[[[[[[[[]]]]]]]]]]}", 26, &s), 1);
    assert_numbers("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}", 1,
                   "a.a.a.a.a.a.a.a.a=1;");
}

static void a_name_that_is_too_long_hides_what_is_in_it_only(void **state)
{
    char text[1000];
    seen s;

    (void)state;
    snprintf(text, sizeof text, "{\"%0127d\":1,\"b\":2}", 0);
    assert_int_equal(walk(text, strlen(text), &s), 1);
    assert_int_equal(s.count, 2);
    snprintf(text, sizeof text, "{\"%0128d\":{\"a\":1},\"b\":2}", 0);
    assert_int_equal(walk(text, strlen(text), &s), 1);
    assert_string_equal(s.text, "b=2;");
    snprintf(text, sizeof text, "{\"%0100d\":{\"%030d\":1,\"c\":3},\"b\":2}", 0, 0);
    assert_int_equal(walk(text, strlen(text), &s), 1);
    assert_int_equal(s.count, 2);
    assert_non_null(strstr(s.text, "b=2;"));
    assert_int_equal(walk("{\"a\0b\":1,\"c\":2}", 15, &s), 0);
    assert_int_equal(s.count, 0);
}

static const char sample[] =
    "{\n  \"stat_version\": 4,\n  \"process\": {\n    \"rss\": 10,\n    \"commit\": 20\n  },\n"
    "  \"pages\": { \"total\": 3, \"peak\": 2, \"current\": -1 },\n  \"bins\": [\n"
    "    { \"total\": 5, \"bin\": \"S\" },\n    { \"total\": 6, \"bin\": \" \" }\n  ],\n"
    "  \"last\": 7\n}\n";

static void a_text_that_is_cut_gives_what_came_before(void **state)
{
    seen whole, s;

    (void)state;
    assert_int_equal(walk(sample, sizeof sample - 1, &whole), 1);
    assert_string_equal(whole.text, "stat_version=4;process.rss=10;process.commit=20;pages.total=3;"
                                    "pages.peak=2;last=7;");
    for (size_t length = 0; length + 2 < sizeof sample - 1; length++) {
        assert_int_equal(walk(sample, length, &s), 0);
        assert_true(s.count <= whole.count);
        assert_memory_equal(s.text, whole.text, s.length); /* and no number is cut */
    }
}

static void a_text_with_wrong_bytes_harms_nobody(void **state)
{
    char text[sizeof sample];
    abench_random random;
    seen s;

    (void)state;
    abench_random_seed(&random, 7, 0, ABENCH_PURPOSE_USER);
    for (int round = 0; round < 20000; round++) {
        memcpy(text, sample, sizeof sample);
        for (uint64_t changes = 1 + abench_random_below(&random, 4); changes > 0; changes--)
            text[abench_random_below(&random, sizeof sample - 1)] =
                (char)abench_random_below(&random, 256);
        walk(text, sizeof sample - 1, &s);
        assert_true(s.count < 40);
    }
}

/* ---- malloc_info ----------------------------------------------------------------------------- */

/* glibc 2.36's, of two arenas, shortened. */
static const char info_text[] =
    "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n"
    "  <size from=\"17\" to=\"32\" total=\"64\" count=\"2\"/>\n"
    "  <unsorted from=\"2001\" to=\"2001\" total=\"2001\" count=\"1\"/>\n</sizes>\n"
    "<total type=\"fast\" count=\"2\" size=\"64\"/>\n<total type=\"rest\" count=\"1\" "
    "size=\"2001\"/>\n"
    "<system type=\"current\" size=\"135168\"/>\n<system type=\"max\" size=\"135168\"/>\n"
    "<aspace type=\"total\" size=\"135168\"/>\n<aspace type=\"mprotect\" "
    "size=\"135168\"/>\n</heap>\n"
    "<heap nr=\"1\">\n<sizes>\n</sizes>\n<total type=\"fast\" count=\"0\" size=\"0\"/>\n"
    "<total type=\"rest\" count=\"0\" size=\"0\"/>\n<system type=\"current\" size=\"8192\"/>\n"
    "<system type=\"max\" size=\"8192\"/>\n<aspace type=\"total\" size=\"8192\"/>\n"
    "<aspace type=\"mprotect\" size=\"8192\"/>\n<aspace type=\"subheaps\" size=\"1\"/>\n</heap>\n"
    "<total type=\"fast\" count=\"2\" size=\"64\"/>\n<total type=\"rest\" count=\"1\" "
    "size=\"2001\"/>\n"
    "<total type=\"mmap\" count=\"1\" size=\"266240\"/>\n"
    "<system type=\"current\" size=\"143360\"/>\n<system type=\"max\" size=\"143361\"/>\n"
    "<aspace type=\"total\" size=\"143362\"/>\n<aspace type=\"mprotect\" size=\"143363\"/>\n"
    "</malloc>\n";

static void assert_total(const abench__info *info, const char *name, uint64_t expected)
{
    for (uint32_t at = 0; at < ABENCH__INFO_TOTALS; at++)
        if (strcmp(abench__info_name(at), name) == 0) {
            assert_true(info->totals_valid >> at & 1);
            assert_int_equal(info->totals[at], expected);
            return;
        }
    fail_msg("no %s", name);
}

static void assert_info(const abench__info *info)
{
    assert_int_equal(info->heaps, 2);
    assert_total(info, "total.fast", 64);
    assert_total(info, "total.rest", 2001);
    assert_total(info, "total.mmap", 266240);
    assert_total(info, "system.current", 143360);
    assert_total(info, "system.max", 143361);
    assert_total(info, "aspace.total", 143362);
    assert_int_equal(info->allocations, 0);
}

static void malloc_info_s_sums_are_those_behind_the_last_heap(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < sizeof info_text; piece += piece < 70 ? 1 : 300) {
        abench__info info;

        memset(&info, 0, sizeof info);
        for (size_t at = 0; at < sizeof info_text - 1; at += piece) {
            const size_t left = sizeof info_text - 1 - at;
            abench__info_feed(&info, info_text + at, left < piece ? left : piece);
        }
        assert_info(&info);
    }
}

static void sums_of_a_heap_are_not_taken_for_those_of_all(void **state)
{
    abench__info info;

    (void)state;
    memset(&info, 0, sizeof info);
    abench__info_feed(&info, info_text,
                      (size_t)(strstr(info_text, "</heap>\n<total") - info_text) + 8);
    assert_int_equal(info.heaps, 2);
    assert_int_equal(info.totals_valid, 0);
}

static void scudo_s_blocks_are_added_up(void **state)
{
    static const char text[] =
        "<malloc version=\"scudo-1\">\n<alloc size=\"16\" count=\"3\"/>\n"
        "<alloc size=\"4096\" count=\"2\"/>\n<alloc size=\"x\" count=\"9\"/>\n"
        "<alloc size=\"99999999999999999999\" count=\"9\"/>\n"
        "<alloc size=\"5\"/>\n</malloc>\n";
    abench__info info;

    (void)state;
    memset(&info, 0, sizeof info);
    abench__info_feed(&info, text, sizeof text - 1);
    assert_int_equal(info.allocations, 5);
    assert_int_equal(info.allocated_bytes, 3 * 16 + 2 * 4096);
    assert_int_equal(info.heaps, 0);
}

static void sums_that_do_not_fit_are_none(void **state)
{
    static const char *const texts[] = {
        "<alloc size=\"18446744073709551615\" count=\"3\"/>\n",
        "<alloc size=\"18446744073709551615\" count=\"1\"/>\n<alloc size=\"1\" count=\"1\"/>\n",
        "<alloc size=\"0\" count=\"18446744073709551615\"/>\n<alloc size=\"1\" count=\"1\"/>\n",
    };

    (void)state;
    for (size_t at = 0; at < sizeof texts / sizeof texts[0]; at++) {
        abench__info info;

        memset(&info, 0, sizeof info);
        abench__info_feed(&info, texts[at], strlen(texts[at]));
        assert_int_equal(info.overflowed, 1);
    }
}

static void a_line_without_end_is_passed_over(void **state)
{
    char text[2000];
    abench__info info;

    (void)state;
    memset(&info, 0, sizeof info);
    memset(text, 'x', sizeof text);
    memcpy(text, "<heap nr=\"0\">", 13);
    text[1900] = '\n';
    memcpy(text + 1901, "<heap nr=\"0\">\n", 14);
    abench__info_feed(&info, text, 1915);
    assert_int_equal(info.heaps, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_those_of_the_objects_around_them),
        cmocka_unit_test(what_is_no_natural_number_is_passed_over),
        cmocka_unit_test(what_is_not_json_stops_the_walk),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(a_name_that_is_too_long_hides_what_is_in_it_only),
        cmocka_unit_test(a_text_that_is_cut_gives_what_came_before),
        cmocka_unit_test(a_text_with_wrong_bytes_harms_nobody),
        cmocka_unit_test(malloc_info_s_sums_are_those_behind_the_last_heap),
        cmocka_unit_test(sums_of_a_heap_are_not_taken_for_those_of_all),
        cmocka_unit_test(scudo_s_blocks_are_added_up),
        cmocka_unit_test(sums_that_do_not_fit_are_none),
        cmocka_unit_test(a_line_without_end_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
