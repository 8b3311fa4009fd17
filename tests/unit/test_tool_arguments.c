#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/arguments.h"
#include "tool/commands.h"
#include "tool/util.h"

#define WORDS_MOST 64

static char said[65536]; /* on standard output and standard error */

/* Reads "run" and the words, which a blank separates; "''" is an empty word. */
static int read_words(const char *text, arguments *out)
{
    static char copy[1024];
    static char run[] = "run", empty[] = "";
    static char *argv[WORDS_MOST];
    char *rest = copy, *word;
    FILE *file = tmpfile();
    const int output = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
    int argc = 0, status;

    snprintf(copy, sizeof copy, "%s", text);
    argv[argc++] = run;
    while ((word = strsep(&rest, " ")) != NULL && argc + 1 < WORDS_MOST)
        if (*word != '\0')
            argv[argc++] = strcmp(word, "''") == 0 ? empty : word;
    argv[argc] = NULL;
    fflush(stdout);
    assert_non_null(file);
    dup2(fileno(file), STDOUT_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    optind = 0; /* getopt begins anew */
    status = arguments_read(argc, argv, out);
    fflush(stdout);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(output);
    close(errors);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return status;
}

static arguments take(const char *words)
{
    arguments a;

    if (read_words(words, &a) != -1)
        fail_msg("'%s': %s", words, said);
    assert_string_equal(said, "");
    return a;
}

static void refuse(const char *words, const char *text)
{
    arguments a;

    if (read_words(words, &a) != EXIT_USAGE || strstr(said, text) == NULL)
        fail_msg("'%s': '%s' does not say '%s'", words, said, text);
    arguments_clear(&a);
}

static void a_workload_alone_takes_the_presets(void **state)
{
    arguments a = take("mixed");

    (void)state;
    assert_int_equal(a.workloads_count, 1);
    assert_string_equal(a.workloads[0], "mixed");
    assert_int_equal(a.targets_count, 0);
    assert_null(a.baseline);
    assert_null(a.command);
    assert_string_equal(a.directory, "allocbench-results");
    assert_int_equal(a.seed, 1);
    assert_int_equal(a.rounds, 0); /* what that means depends on what is there */
    assert_int_equal(a.more_rounds, 0);
    assert_int_equal(a.max_rounds, 0);
    assert_int_equal(a.lane_count, 0);
    assert_int_equal(a.sweeps_count, 0);
    assert_null(a.cpus);
    assert_false(a.until_decided || a.no_padding || a.interleave);
    assert_int_equal(a.lanes, 0);
    assert_int_equal(a.slice_operations, 0);
    assert_true(a.timeout_s > 599 && a.timeout_s < 601);
    assert_true(a.cooldown_s >= 0 && a.cooldown_s <= 0);
    assert_int_equal(a.latency, 1024);
    assert_int_equal(a.settle_s, 0);
    assert_int_equal(a.reruns, 1);
    assert_false(a.strict);
    assert_false(a.same_seed || a.keep_environment || a.ignore_failure || a.skip_bad || a.no_floor);
    assert_false(a.quick || a.paced || a.tails);
    arguments_clear(&a);
}

static void every_option_is_read(void **state)
{
    arguments a = take("-t glibc x -t jemalloc:A=1 y -r 3 -s 18446744073709551615 -l 1024 -o out "
                       "--baseline b --slice 7 --duration 1500ms --cooldown 1.5s --timeout 2m "
                       "--same-seed --skip-bad --keep-env --ignore-failure --no-floor "
                       "--sequential --color always --quick --paced --latency 7 --tails "
                       "--settle 2m --strict --reruns 3 --cpus 0-1 --sweep A=1 --sweep b=2 "
                       "--until-decided --max-rounds 30 --no-padding --interleave -- true");

    (void)state;
    assert_int_equal(a.targets_count, 2);
    assert_string_equal(a.targets[1], "jemalloc:A=1");
    assert_int_equal(a.workloads_count, 2);
    assert_string_equal(a.workloads[0], "x");
    assert_string_equal(a.workloads[1], "y");
    assert_int_equal(a.rounds, 3);
    assert_true(a.seed == UINT64_MAX);
    assert_int_equal(a.lanes, 1024);
    assert_string_equal(a.directory, "out");
    assert_string_equal(a.baseline, "b");
    assert_int_equal(a.slice_operations, 7);
    assert_int_equal((int)(a.duration_s * 1000), 1500);
    assert_int_equal((int)(a.cooldown_s * 1000), 1500);
    assert_int_equal((int)a.timeout_s, 120);
    assert_true(a.same_seed && a.keep_environment && a.ignore_failure && a.skip_bad && a.no_floor);
    assert_true(a.sequential && a.color);
    assert_int_equal(a.latency, 7);
    assert_int_equal(a.settle_s, 120);
    assert_int_equal(a.reruns, 3);
    assert_true(a.strict);
    assert_true(a.quick && a.paced && a.tails);
    assert_true(a.until_decided && a.no_padding && a.interleave);
    assert_int_equal(a.max_rounds, 30);
    assert_string_equal(a.cpus, "0-1");
    assert_int_equal(a.sweeps_count, 2);
    assert_string_equal(a.sweeps[1], "b=2");
    arguments_clear(&a);
}

static void rounds_may_be_so_many_more(void **state)
{
    arguments a = take("mixed -r +3");

    (void)state;
    assert_int_equal(a.rounds, 0);
    assert_int_equal(a.more_rounds, 3);
    arguments_clear(&a);
    a = take("mixed -r +3 -r 20"); /* the last holds */
    assert_int_equal(a.rounds, 20);
    assert_int_equal(a.more_rounds, 0);
    arguments_clear(&a);
    refuse("mixed -r ++3", "a whole number from 1 to 10000 is wanted");
    refuse("mixed --max-rounds 5", "--max-rounds is for --until-decided");
    refuse("mixed --until-decided --rounds +2", "leave out --rounds +2");
    refuse("mixed --until-decided --max-rounds 0", "--max-rounds '0'");
}

static void lanes_may_be_a_list(void **state)
{
    arguments a = take("mixed --lanes 1,25,2");

    (void)state;
    assert_int_equal(a.lanes, 0);
    assert_int_equal(a.lane_count, 3);
    assert_int_equal(a.lane_list[0], 1);
    assert_int_equal(a.lane_list[1], 25);
    assert_int_equal(a.lane_list[2], 2);
    arguments_clear(&a);
    a = take("mixed --lanes 1,2 --lanes 7"); /* the last holds */
    assert_int_equal(a.lanes, 7);
    assert_int_equal(a.lane_count, 0);
    arguments_clear(&a);
    refuse("mixed --lanes 1,2,1", "names 1 twice");
    refuse("mixed --lanes 1,", "--lanes '': a whole number from 1 to 1024");
    refuse("mixed --lanes 1,1025", "--lanes '1025'");
    refuse("--lanes 1,2 -- prog", "a command is told one");
}

static void what_stands_behind_two_dashes_is_the_commands(void **state)
{
    arguments a = take("mixed -r 2 -- prog -r 9 -- --help");

    (void)state;
    assert_int_equal(a.rounds, 2);
    assert_string_equal(a.command[0], "prog");
    assert_string_equal(a.command[1], "-r");
    assert_string_equal(a.command[3], "--");
    assert_string_equal(a.command[4], "--help");
    assert_null(a.command[5]);
    arguments_clear(&a);
    a = take("-- prog");
    assert_int_equal(a.workloads_count, 0);
    assert_string_equal(a.command[0], "prog");
    arguments_clear(&a);
    refuse("mixed --", "a command is wanted behind '--'");
    refuse("--", "a command is wanted behind '--'");
}

static void numbers_are_whole_and_in_range(void **state)
{
    static const char *const wrong[] = {
        "0", "-1", "+0", "1.5", "1e3", "x", "''", "0x2", "1x", "10001", "18446744073709551616"};

    (void)state;
    for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        char *words = xasprintf("mixed -r %s", wrong[at]);
        refuse(words, "a whole number from 1 to 10000 is wanted");
        free(words);
    }
    refuse("mixed -s 18446744073709551616", "--seed '18446744073709551616'");
    refuse("mixed -l 1025", "--lanes '1025': a whole number from 1 to 1024");
    refuse("mixed --slice 0", "--slice '0'");
    refuse("mixed --settle 129s", "--settle '129s': 1s to 128s is wanted, or 0");
    refuse("mixed --settle 500ms", "--settle '500ms': 1s to 128s is wanted, or 0");
    refuse("mixed --reruns 101", "--reruns '101': a whole number from 0 to 100");
    refuse("mixed --latency -1", "--latency '-1': a whole number from 0 to 1000000000");
    arguments a = take("mixed -r 10000 -s 0");
    assert_int_equal(a.rounds, 10000);
    assert_int_equal(a.seed, 0);
    arguments_clear(&a);
    a = take("mixed --latency 0");
    assert_int_equal(a.latency, 0);
    arguments_clear(&a);
}

static void times_carry_their_unit(void **state)
{
    static const struct {
        const char *text;
        int milliseconds;
    } good[] = {{"0", 0},       {"5", 5000},    {"500ms", 500}, {"10s", 10000},
                {"0.25s", 250}, {"2m", 120000}, {"1h", 3600000}};
    static const char *const wrong[] = {"''",  "s",     "-1s",   "1d",  "1sx", "nan",
                                        "inf", "1e999", "9999h", ".5s", "ms",  "0x10"};

    (void)state;
    for (size_t at = 0; at < sizeof good / sizeof *good; at++) {
        char *words = xasprintf("mixed --timeout %s", good[at].text);
        arguments a = take(words);
        assert_int_equal((int)(a.timeout_s * 1000 + 0.5), good[at].milliseconds);
        arguments_clear(&a);
        free(words);
    }
    for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        char *words = xasprintf("mixed --cooldown %s", wrong[at]);
        refuse(words, "a time like 500ms, 10s, 2m or 1h");
        free(words);
    }
}

static void options_that_do_not_exist_get_the_nearest(void **state)
{
    (void)state;
    refuse("mixed --rouns 3", "there is no option '--rouns'; did you mean '--rounds'? "
                              "(allocbench run --help)");
    refuse("mixed --no-floors", "did you mean '--no-floor'?");
    refuse("mixed --tagret=x", "there is no option '--tagret'; did you mean '--target'?");
    refuse("mixed --s", "there is no option '--s'"); /* many begin so */
    refuse("mixed -q", "there is no option '-q'");
    refuse("mixed -qr3", "there is no option '-q'");
    refuse("mixed -t", "option -t wants a value");
    refuse("mixed --seed", "option --seed wants a value");
    refuse("mixed --same-seed=yes", "option --same-seed takes no value");
    refuse("mixed --color sometimes", "--color is auto, always or never");
    refuse("mixed -o ''", "-o wants a directory");
}

static void help_is_an_answer_and_nothing_is_a_mistake(void **state)
{
    arguments a;

    (void)state;
    assert_int_equal(read_words("--help", &a), EXIT_OK);
    assert_non_null(strstr(said, "usage: allocbench run WORKLOAD"));
    arguments_clear(&a);
    assert_int_equal(read_words("mixed -t glibc -h", &a), EXIT_OK);
    arguments_clear(&a);
    refuse("", "usage: allocbench run WORKLOAD");
    refuse("-t glibc", "usage: allocbench run WORKLOAD");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_workload_alone_takes_the_presets),
        cmocka_unit_test(every_option_is_read),
        cmocka_unit_test(rounds_may_be_so_many_more),
        cmocka_unit_test(lanes_may_be_a_list),
        cmocka_unit_test(what_stands_behind_two_dashes_is_the_commands),
        cmocka_unit_test(numbers_are_whole_and_in_range),
        cmocka_unit_test(times_carry_their_unit),
        cmocka_unit_test(options_that_do_not_exist_get_the_nearest),
        cmocka_unit_test(help_is_an_answer_and_nothing_is_a_mistake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
