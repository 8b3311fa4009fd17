/* Histograms from files: what is drawn, the digest, and what a bad file is told. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shape/distribution.h"

static char directory[] = "/tmp/allocbench-histogram-XXXXXX";
static char path[128];

static int make_directory(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/sizes", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void write_bytes(const char *bytes, size_t length)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

/* Parses histogram:@PATH with suffix behind it. */
static abench_status parse(const char *suffix, abench_distribution **out, abench_error *error)
{
    char spec[256];

    snprintf(spec, sizeof spec, "histogram:@%s%s", path, suffix);
    return abench_distribution_parse(spec, out, error);
}

static abench_distribution *parse_text(const char *text)
{
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    write_bytes(text, strlen(text));
    if (parse("", &distribution, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return distribution;
}

static uint64_t digest_of(const char *text)
{
    abench_distribution *distribution = parse_text(text);
    const uint64_t digest = abench__distribution_digest(distribution);

    abench_distribution_destroy(distribution);
    return digest;
}

/* In any order, with comments, blanks, suffixes, an empty bin, and no newline at the end. */
static const char good[] = "# sizes of a server\r\n"
                           "\n"
                           "16 30\r\n"
                           "  4k-8k\t10 # pages\n"
                           "24 0\n"
                           "1-4 40\n"
                           "   \t\n"
                           "4 20";

static void a_file_says_what_is_drawn(void **state)
{
    abench_distribution *distribution = parse_text(good);
    uint32_t of_16 = 0, of_4 = 0, large = 0;
    abench_random random;

    (void)state;
    assert_int_equal(abench_distribution_minimum(distribution), 1);
    assert_int_equal(abench_distribution_maximum(distribution), 8192);
    /* 0.3 * 16 + 0.1 * 6144 + 0.4 * 2.5 + 0.2 * 4 */
    assert_int_equal(abench_distribution_mean(distribution), 621);
    abench_random_seed(&random, 42, 0, ABENCH_PURPOSE_SIZE);
    for (int draw = 0; draw < 100000; draw++) {
        const uint64_t size = abench_distribution_draw(distribution, &random);
        assert_true((size >= 1 && size <= 4) || size == 16 || (size >= 4096 && size <= 8192));
        of_16 += size == 16;
        of_4 += size == 4;
        large += size >= 4096;
    }
    assert_in_range(of_16, 29000, 31000);
    assert_in_range(of_4, 29000, 31000); /* 0.2 and a fourth of 0.4 */
    assert_in_range(large, 9500, 10500);
    abench_distribution_destroy(distribution);
}

static void the_digest_is_of_what_is_drawn(void **state)
{
    abench_distribution *fixed = NULL;
    const uint64_t digest = digest_of("16 30\n4k-8k 10\n");

    (void)state;
    assert_true(digest != 0);
    assert_int_equal(digest_of("# the same\n  16\t30 #\n\n24 0\n4096-8192 10"), digest);
    assert_true(digest_of("16 31\n4k-8k 10\n") != digest);
    assert_true(digest_of("16 30\n4k-8k 10\n5 1\n") != digest);
    assert_true(digest_of("4k-8k 10\n16 30\n") != digest); /* draws differ with the order */
    assert_true(digest_of("16 30\n4k-8k 1\n") != digest);
    assert_int_equal(abench_distribution_parse("fixed:3", &fixed, NULL), ABENCH_OK);
    assert_int_equal(abench__distribution_digest(fixed), 0);
    abench_distribution_destroy(fixed);
}

static void a_spec_with_a_digest_wants_the_same_file(void **state)
{
    char suffix[32], other[32];
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    snprintf(suffix, sizeof suffix, "#%016llx", (unsigned long long)digest_of("16 30\n"));
    snprintf(other, sizeof other, "#%016llx", (unsigned long long)digest_of("16 30\n17 1\n"));
    assert_int_equal(parse(other, &distribution, &error), ABENCH_OK);
    abench_distribution_destroy(distribution);
    assert_int_equal(parse(suffix, &distribution, &error), ABENCH_ERROR_SYNTAX);
    assert_null(distribution);
    assert_non_null(strstr(error.message, "has changed"));
    assert_int_equal(error.column, strlen("histogram:@") + strlen(path) + 1);
    /* What is no digest belongs to the name. */
    assert_int_equal(parse("#0123456789abcde", &distribution, &error), ABENCH_ERROR_SYSTEM);
    assert_int_equal(parse("#0123456789abcdeg", &distribution, &error), ABENCH_ERROR_SYSTEM);
    assert_int_equal(parse("#0123456789ABCDEF", &distribution, &error), ABENCH_ERROR_SYSTEM);
}

static void a_malformed_file_is_told_the_line_and_the_column(void **state)
{
    static const struct {
        const char *text;
        uint32_t line, column;
        const char *message; /* a part of it */
    } rows[] = {
        {"x 1", 1, 1, "a size or LOW-HIGH"},
        {"16", 1, 3, "a blank and the weight"},
        {"16\n", 1, 3, "a blank and the weight"},
        {"16:3\n", 1, 3, "a blank and the weight"},
        {"1 2\n\n# 5\n  16 ", 4, 6, "a weight is wanted"},
        {"1 2\n16 # 5\n", 2, 4, "a weight is wanted"},
        {"16 -1\n", 1, 4, "a weight is wanted"},
        {"16 4294967297\n", 1, 4, "a weight is wanted"},
        {"16 99999999999999999999\n", 1, 4, "a weight is wanted"},
        {"16 1.5\n", 1, 5, "nothing more"},
        {"16 1 1\n", 1, 6, "nothing more"},
        {"16 1k\n", 1, 5, "nothing more"},
        {"5-4 1\n", 1, 3, "below the smallest"},
        {"5- 4 1\n", 1, 3, "a size or LOW-HIGH"},
        {"5-4-3 1\n", 1, 3, "below the smallest"},
        {"-5 1\n", 1, 1, "a size or LOW-HIGH"},
        {"1 1\n140737488355328 1\n", 2, 1, "too large"},
        {"1-140737488355328 1\n", 1, 3, "too large"},
        {"\xef\xbb\xbf"
         "1 1\n",
         1, 1, "a size or LOW-HIGH"},
        {"", 0, 0, "no line with a weight"},
        {"# nothing\n\n16 0", 0, 0, "no line with a weight"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_distribution *distribution = (abench_distribution *)&distribution;
        abench_error error = ABENCH_ERROR_INIT;
        write_bytes(rows[at].text, strlen(rows[at].text));
        assert_int_equal(parse("", &distribution, &error), ABENCH_ERROR_SYNTAX);
        assert_null(distribution);
        assert_int_equal(parse("", &distribution, NULL), ABENCH_ERROR_SYNTAX);
        if (error.line != rows[at].line || error.column != rows[at].column ||
            strstr(error.message, rows[at].message) == NULL || strstr(error.message, path) == NULL)
            fail_msg("'%s' gives line %u, column %u: %s", rows[at].text, error.line, error.column,
                     error.message);
    }
}

static void bytes_that_are_no_text_are_refused(void **state)
{
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    write_bytes("16 1\n17\0 1\n", 11);
    assert_int_equal(parse("", &distribution, &error), ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 3);
    write_bytes("16 1\0", 5);
    assert_int_equal(parse("", &distribution, &error), ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.column, 5);
    write_bytes("16 1\n#\0\xff\n17 1\n", 14); /* a comment may hold anything */
    assert_int_equal(parse("", &distribution, &error), ABENCH_OK);
    assert_int_equal(abench_distribution_maximum(distribution), 17);
    abench_distribution_destroy(distribution);
}

/* 1024 lines with a weight fit, each of the largest weight; one more does not. */
static void more_lines_than_a_table_holds_are_refused(void **state)
{
    static char text[65536];
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;
    size_t length = 0;

    (void)state;
    for (unsigned line = 1; line <= 1024; line++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%u 4294967296\n%u 0\n",
                                   line, line + 5000);
    write_bytes(text, length);
    assert_int_equal(parse("", &distribution, &error), ABENCH_OK);
    assert_int_equal(abench_distribution_maximum(distribution), 1024);
    assert_int_equal(abench_distribution_mean(distribution), 512);
    abench_distribution_destroy(distribution);
    length += (size_t)snprintf(text + length, sizeof text - length, " 7 1\n");
    write_bytes(text, length);
    assert_int_equal(parse("", &distribution, &error), ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.line, 2049);
    assert_int_equal(error.column, 2);
    assert_non_null(strstr(error.message, "the limit is 1024"));
}

static void a_file_that_is_too_long_is_refused(void **state)
{
    const size_t limit = 256 * 1024;
    char *text = malloc(limit + 1);
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    memset(text, ' ', limit + 1);
    memcpy(text, "16 1", 4);
    write_bytes(text, limit);
    assert_int_equal(parse("", &distribution, &error), ABENCH_OK);
    abench_distribution_destroy(distribution);
    write_bytes(text, limit + 1);
    assert_int_equal(parse("", &distribution, &error), ABENCH_ERROR_SYNTAX);
    assert_non_null(strstr(error.message, "256 KiB"));
    free(text);
}

static void what_is_no_file_is_refused(void **state)
{
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    unlink(path);
    assert_int_equal(parse("", &distribution, &error), ABENCH_ERROR_SYSTEM);
    assert_non_null(strstr(error.message, "No such file"));
    assert_non_null(strstr(error.message, path));
    assert_int_equal(mkfifo(path, 0600), 0); /* that nobody writes to: to open it would hang */
    assert_int_equal(parse("", &distribution, &error), ABENCH_ERROR_SYNTAX);
    assert_non_null(strstr(error.message, "not a regular file"));
    unlink(path);
    assert_int_equal(abench_distribution_parse("histogram:@/", &distribution, &error),
                     ABENCH_ERROR_SYNTAX);
    assert_non_null(strstr(error.message, "not a regular file"));
}

static void a_malformed_spec_is_told_the_column(void **state)
{
    static char long_name[8192] = "histogram:@";
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    assert_int_equal(abench_distribution_parse("histogram:sizes", &distribution, &error),
                     ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.column, 11);
    assert_non_null(strstr(error.message, "'@' and a file"));
    assert_int_equal(abench_distribution_parse("histogram:@", &distribution, &error),
                     ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.column, 12);
    assert_int_equal(
        abench_distribution_parse("histogram:@#0123456789abcdef", &distribution, &error),
        ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.column, 12);
    memset(long_name + 11, 'a', sizeof long_name - 12);
    assert_int_equal(abench_distribution_parse(long_name, &distribution, &error),
                     ABENCH_ERROR_SYNTAX);
    assert_non_null(strstr(error.message, "too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_says_what_is_drawn),
        cmocka_unit_test(the_digest_is_of_what_is_drawn),
        cmocka_unit_test(a_spec_with_a_digest_wants_the_same_file),
        cmocka_unit_test(a_malformed_file_is_told_the_line_and_the_column),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(more_lines_than_a_table_holds_are_refused),
        cmocka_unit_test(a_file_that_is_too_long_is_refused),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_malformed_spec_is_told_the_column),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
