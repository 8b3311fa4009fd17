/* Text in fixed memory: what fits, JSON, numbers read and written, error sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* ---- appending ------------------------------------------------------------------------------- */

static void what_does_not_fit_is_left_out_and_remembered(void **state)
{
    char data[8 + 1];
    abench__text text;

    (void)state;
    data[8] = 'x'; /* behind the buffer */
    abench__text_init(&text, data, 8);
    assert_string_equal(data, "");
    abench__text_put(&text, "abcdefg");
    assert_int_equal(text.truncated, 0);
    assert_int_equal(text.length, 7);
    abench__text_put_char(&text, 'h');
    assert_int_equal(text.truncated, 1);
    assert_string_equal(data, "abcdefg");
    abench__text_init(&text, data, 8);
    abench__text_put(&text, "ab");
    abench__text_printf(&text, "%s", "cdefgh");
    assert_int_equal(text.truncated, 1);
    assert_int_equal(text.length, 7);
    assert_string_equal(data, "abcdefg");
    abench__text_printf(&text, "%d", 1);
    assert_string_equal(data, "abcdefg");
    assert_int_equal(data[8], 'x');
}

static void a_format_that_just_fits_is_not_truncated(void **state)
{
    char data[8];
    abench__text text;

    (void)state;
    abench__text_init(&text, data, sizeof data);
    abench__text_printf(&text, "%d-%d", 123, 456);
    assert_string_equal(data, "123-456");
    assert_int_equal(text.length, 7);
    assert_int_equal(text.truncated, 0);
}

static void integers_are_written_in_full(void **state)
{
    static const struct {
        uint64_t value;
        const char *decimal, *hex;
    } rows[] = {
        {0, "0", "0000000000000000"},
        {7, "7", "0000000000000007"},
        {1000, "1000", "00000000000003e8"},
        {UINT64_MAX, "18446744073709551615", "ffffffffffffffff"},
        {0x0123456789abcdef, "81985529216486895", "0123456789abcdef"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        char data[32];
        abench__text text;
        abench__text_init(&text, data, sizeof data);
        abench__text_put_u64(&text, rows[at].value);
        assert_string_equal(data, rows[at].decimal);
        abench__text_init(&text, data, sizeof data);
        abench__text_put_hex(&text, rows[at].value);
        assert_string_equal(data, rows[at].hex);
    }
}

static void a_copy_is_cut_and_terminated(void **state)
{
    char field[5] = "xxxx";

    (void)state;
    abench__copy(field, sizeof field, "ab");
    assert_string_equal(field, "ab");
    abench__copy(field, sizeof field, "abcdefgh");
    assert_string_equal(field, "abcd");
    abench__copy(field, sizeof field, "vwxyz");
    assert_string_equal(field, "vwxy");
    abench__copy(field, 1, "abc");
    assert_string_equal(field, "");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void assert_json(const char *string, const char *wanted)
{
    char data[256];
    abench__text text;

    abench__text_init(&text, data, sizeof data);
    abench__text_put_json(&text, string);
    assert_string_equal(data, wanted);
}

static void quotes_backslashes_and_controls_are_escaped(void **state)
{
    (void)state;
    assert_json("", "\"\"");
    assert_json("plain / text", "\"plain / text\"");
    assert_json("\"\\", "\"\\\"\\\\\"");
    assert_json("a\nb\tc", "\"a\\u000ab\\u0009c\"");
    assert_json("\x01\x1f\x7f ", "\"\\u0001\\u001f\\u007f \"");
}

static void well_formed_utf8_passes_as_it_is(void **state)
{
    (void)state;
    assert_json("\xc2\x80", "\"\xc2\x80\"");                 /* the first of two bytes */
    assert_json("\xdf\xbf", "\"\xdf\xbf\"");                 /* the last */
    assert_json("\xe0\xa0\x80", "\"\xe0\xa0\x80\"");         /* the first of three */
    assert_json("\xed\x9f\xbf", "\"\xed\x9f\xbf\"");         /* the last before the surrogates */
    assert_json("\xee\x80\x80", "\"\xee\x80\x80\"");         /* the first after them */
    assert_json("\xf0\x90\x80\x80", "\"\xf0\x90\x80\x80\""); /* the first of four */
    assert_json("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""); /* U+10FFFF */
}

static void bytes_that_are_not_utf8_become_the_replacement_character(void **state)
{
    static const struct {
        const char *string, *wanted;
    } rows[] = {
        {"\x80", "\"\\ufffd\""}, /* a lone continuation */
        {"a\xff"
         "b",
         "\"a\\ufffdb\""},
        {"\xc0\xaf", "\"\\ufffd\\ufffd\""}, /* '/' in two bytes */
        {"\xc1\xbf", "\"\\ufffd\\ufffd\""},
        {"\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\""},            /* overlong */
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            /* a surrogate */
        {"\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* overlong */
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* above U+10FFFF */
        {"\xf5\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\xc3", "\"\\ufffd\""}, /* cut short by the end */
        {"\xe2\x82", "\"\\ufffd\\ufffd\""},
        {"\xf0\x9f\x98", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xc3\"", "\"\\ufffd\\\"\""}, /* the quote is kept */
        {"\xe2\x28\xa1", "\"\\ufffd(\\ufffd\""},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++)
        assert_json(rows[at].string, rows[at].wanted);
}

static void assert_double(double value, const char *wanted)
{
    char data[64];
    abench__text text;

    abench__text_init(&text, data, sizeof data);
    abench__text_put_double(&text, value);
    assert_string_equal(data, wanted);
    assert_int_equal(text.length, strlen(wanted));
}

static void numbers_that_json_cannot_say_become_null(void **state)
{
    (void)state;
    assert_double(0, "0");
    assert_double(-1.5, "-1.5");
    assert_double(0.1, "0.10000000000000001");
    assert_double(1e300, "1.0000000000000001e+300");
    assert_double((double)NAN, "null");
    assert_double((double)INFINITY, "null");
    assert_double((double)-INFINITY, "null");
}

/* A locale whose decimal point is point, made in folder: glibc reads a category from one file, a
 * magic number and then its items. 0 when the C library wants none of it. */
static int enter_locale(const char *folder, const char *point)
{
    /* decimal point, separator, grouping, both points as characters, character set */
    unsigned char file[64] = {0};
    uint32_t words[8] = {0x20031114u, 6, 32, 36, 37, 40, 44, 48};
    char path[256];
    int fd, written;

    memcpy(file, words, sizeof words);
    memcpy(file + 32, point, strlen(point));
    memcpy(file + 40, &(uint32_t){(unsigned char)point[0]}, 4);
    memcpy(file + 48, "UTF-8", 6);
    snprintf(path, sizeof path, "%s/allocbench", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/allocbench/LC_NUMERIC", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return 0;
    written = write(fd, file, 54) == 54;
    close(fd);
    setenv("LOCPATH", folder, 1);
    return written && setlocale(LC_NUMERIC, "allocbench") != NULL;
}

static void leave_locale(const char *folder)
{
    char path[256];

    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    snprintf(path, sizeof path, "%s/allocbench/LC_NUMERIC", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/allocbench", folder);
    rmdir(path);
}

static void a_number_has_a_point_whatever_the_locale_says(void **state)
{
    char folder[] = "/tmp/allocbench-locale-XXXXXX";
    char formatted[16];
    int entered;

    (void)state;
    assert_non_null(mkdtemp(folder));
    entered = enter_locale(folder, ",");
    if (entered) {
        snprintf(formatted, sizeof formatted, "%.1f", 1.5);
        assert_string_equal(formatted, "1,5"); /* the locale is in force */
        assert_double(-1.5, "-1.5");
        assert_double(1.5e300, "1.5000000000000001e+300");
        assert_double(7, "7");
    }
    leave_locale(folder);
    if (entered && enter_locale(folder, "\xd9\xab")) { /* U+066B */
        assert_double(-1.5, "-1.5");
        leave_locale(folder);
    }
    rmdir(folder);
    if (!entered)
        skip();
}

/* ---- reading numbers ------------------------------------------------------------------------- */

static void digits_are_read_up_to_64_bits(void **state)
{
    static const struct {
        const char *text;
        int taken; /* 0: refused */
        uint64_t value;
    } rows[] = {
        {"0", 1, 0},
        {"007x", 3, 7},
        {"42,", 2, 42},
        {"18446744073709551615", 20, UINT64_MAX},
        {"18446744073709551616", 0, 0},
        {"18446744073709551620", 0, 0},
        {"99999999999999999999", 0, 0},
        {"184467440737095516150", 0, 0},
        {"", 0, 0},
        {"-1", 0, 0},
        {"+1", 0, 0},
        {" 1", 0, 0},
        {"x", 0, 0},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        const char *text = rows[at].text;
        uint64_t value = 77;
        assert_int_equal(abench__parse_u64(&text, &value), rows[at].taken != 0);
        assert_int_equal(text - rows[at].text, rows[at].taken);
        assert_int_equal(value, rows[at].taken != 0 ? rows[at].value : 77);
    }
}

static void sizes_take_a_suffix_of_1024_each(void **state)
{
    static const struct {
        const char *text;
        int taken; /* 0: refused */
        uint64_t value;
    } rows[] = {
        {"64", 2, 64},
        {"4k", 2, 4096},
        {"4K", 2, 4096},
        {"3m", 2, 3 << 20},
        {"3M", 2, 3 << 20},
        {"2g", 2, (uint64_t)2 << 30},
        {"2G", 2, (uint64_t)2 << 30},
        {"2kk", 2, 2048},
        {"2t", 1, 2},
        {"17179869183g", 12, (uint64_t)17179869183u << 30},
        {"17179869184g", 0, 0},
        {"18014398509481984k", 0, 0},
        {"k", 0, 0},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        const char *text = rows[at].text;
        uint64_t value = 0;
        assert_int_equal(abench__parse_size(&text, &value), rows[at].taken != 0);
        if (rows[at].taken == 0)
            continue;
        assert_int_equal(text - rows[at].text, rows[at].taken);
        assert_int_equal(value, rows[at].value);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void an_error_says_what_and_where(void **state)
{
    abench_error error;

    (void)state;
    memset(&error, 0xa5, sizeof error);
    assert_int_equal(abench__fail(&error, ABENCH_ERROR_STATE, "no %s", "way"), ABENCH_ERROR_STATE);
    assert_int_equal(error.struct_size, sizeof error);
    assert_int_equal(error.status, ABENCH_ERROR_STATE);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_int_equal(error.sys_errno, 0);
    assert_string_equal(error.message, "no way");
    assert_int_equal(abench__fail_at(&error, ABENCH_ERROR_SYNTAX, 12, "bad"), ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.line, 1);
    assert_int_equal(error.column, 12);
    assert_int_equal(abench__fail_errno(&error, ENOENT, "open %d", 5), ABENCH_ERROR_SYSTEM);
    assert_int_equal(error.status, ABENCH_ERROR_SYSTEM);
    assert_int_equal(error.sys_errno, ENOENT);
    assert_string_equal(error.message, "open 5: No such file or directory");
    abench__fail_errno(&error, 12345, "x");
    assert_string_equal(error.message, "x: errno 12345");
}

static void an_error_that_nobody_wants_is_only_its_status(void **state)
{
    (void)state;
    assert_int_equal(abench__fail(NULL, ABENCH_ERROR_STATE, "x"), ABENCH_ERROR_STATE);
    assert_int_equal(abench__fail_at(NULL, ABENCH_ERROR_SYNTAX, 1, "x"), ABENCH_ERROR_SYNTAX);
    assert_int_equal(abench__fail_errno(NULL, ENOENT, "x"), ABENCH_ERROR_SYSTEM);
}

static void a_long_error_is_cut(void **state)
{
    abench_error error = ABENCH_ERROR_INIT;
    char sentence[400];

    (void)state;
    memset(sentence, 'x', sizeof sentence);
    sentence[sizeof sentence - 1] = '\0';
    abench__fail_errno(&error, ENOENT, "%s", sentence);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_left_out_and_remembered),
        cmocka_unit_test(a_format_that_just_fits_is_not_truncated),
        cmocka_unit_test(integers_are_written_in_full),
        cmocka_unit_test(a_copy_is_cut_and_terminated),
        cmocka_unit_test(quotes_backslashes_and_controls_are_escaped),
        cmocka_unit_test(well_formed_utf8_passes_as_it_is),
        cmocka_unit_test(bytes_that_are_not_utf8_become_the_replacement_character),
        cmocka_unit_test(numbers_that_json_cannot_say_become_null),
        cmocka_unit_test(a_number_has_a_point_whatever_the_locale_says),
        cmocka_unit_test(digits_are_read_up_to_64_bits),
        cmocka_unit_test(sizes_take_a_suffix_of_1024_each),
        cmocka_unit_test(an_error_says_what_and_where),
        cmocka_unit_test(an_error_that_nobody_wants_is_only_its_status),
        cmocka_unit_test(a_long_error_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
