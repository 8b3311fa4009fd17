/* next.h: what to run next, made of a command line that comes from a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/report/has_text.h"
#include "../data/report/judged.h"

#include "tool/report/advice.h"
#include "tool/report/next.h"

static void assert_command(const char *line, const char *wanted)
{
    char *command = next_command(line, "--rounds 9 -o out");
    if (wanted == NULL)
        assert_null(command);
    else
        assert_non_null(command);
    if (command != NULL)
        assert_string_equal(command, wanted);
    free(command);
}

static void options_take_the_place_of_their_kind(void **state)
{
    static const char *const lines[] = {
        "allocbench run mixed -r 3 -o here",
        "allocbench run -r3 -ohere mixed",
        "allocbench run --rounds 3 mixed --output 'some where'",
        "allocbench run --rounds=3 --output=here mixed",
        "allocbench run --ro 3 mixed --out here",
        "allocbench run -o 'a'\\''b' mixed",
        "allocbench run mixed --max-rounds 20",
        "allocbench run --max=20 mixed",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_command(lines[i], "allocbench run mixed --rounds 9 -o out");
    assert_command("allocbench run", "allocbench run --rounds 9 -o out");
}

static void other_options_and_the_command_stay(void **state)
{
    (void)state;
    assert_command("allocbench run --retry-failed --reruns 2 -t 'a:B=c d' mixed",
                   "allocbench run --retry-failed --reruns 2 -t 'a:B=c d' mixed --rounds 9 -o out");
    assert_command("allocbench run -r 3 -- sort -r -o out --rounds 7 'a b'",
                   "allocbench run --rounds 9 -o out -- sort -r -o out --rounds 7 'a b'");
}

/* The line is shown to be copied into a shell: what a shell would make something else of, and what
 * the tool did not write so, is not shown. */
static void a_line_that_is_no_run_of_the_tool_gives_none(void **state)
{
    static const char *const lines[] = {
        "",
        "allocbench",
        "allocbench runner",
        "allocbench report here",
        "rm -rf /",
        "allocbench run mixed; rm -rf /",
        "allocbench run mixed && true",
        "allocbench run $(true)",
        "allocbench run `true`",
        "allocbench run mixed\nrm -rf /",
        "allocbench run 'mixed",
        "allocbench run 'mixed'x",
        "allocbench run mixed ",
        "allocbench run  mixed",
        "allocbench run \"mixed\"",
        "allocbench run a>b",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_command(lines[i], NULL);
}

static void words_are_quoted_where_they_must_be(void **state)
{
    static const char *const words[][2] = {
        {"allocbench-results", "allocbench-results"},
        {"/a/b.c", "/a/b.c"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's $x", "'it'\\''s $x'"},
        {"~", "'~'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *word = next_quote(words[i][0]);
        assert_string_equal(word, words[i][1]);
        free(word);
    }
}

/* ---- the steps ------------------------------------------------------------------------------- */

typedef struct given {
    uint32_t rounds;
    const double *time; /* of glibc, glibc again, jemalloc */
    uint32_t asked;     /* rounds; 0: the same */
    uint32_t look_rounds;
    bool drained;
} given;

static advice *advise(judged *j, const given *g)
{
    judged_begin(j, 1, 2, g->rounds);
    j->m.command_line = judged_text("allocbench run mixed");
    j->m.directory = judged_text("my results");
    judged_fill(j, 0, "time_ns_per_operation", "ns", g->time);
    if (g->drained)
        judged_fill(j, 0, "rss_drained_bytes", "bytes", g->time);
    if (g->asked > 0)
        j->m.rounds = g->asked;
    if (g->look_rounds > 0) {
        j->m.looks = 3;
        j->m.look_rounds = g->look_rounds;
    }
    judged_finish(j);
    return advice_make(j->v);
}

static void assert_step(const given *g, const char *why, const char *command)
{
    judged j;
    advice *a = advise(&j, g);
    assert_int_equal(a->next_count, 1);
    assert_has(a->next[0].why, why);
    assert_string_equal(a->next[0].command, command);
    advice_free(a);
    judged_end(&j);
}

static void each_lack_has_its_step(void **state)
{
    static const double faster[] = {1, 1, 0.7}, apart[] = {1, 1.05, 0.7};
    (void)state;
    assert_step(&(given){.rounds = 3, .time = faster}, "More rounds, for a verdict",
                "allocbench run mixed --rounds 6 -o 'my results'");
    assert_step(&(given){.rounds = 3, .time = faster, .asked = 10}, "Rounds are missing",
                "allocbench run mixed --rounds 10 -o 'my results'");
    assert_step(&(given){.rounds = 12, .time = apart}, "A/A separates", "allocbench doctor");
    assert_step(&(given){.rounds = 10, .time = faster, .drained = true}, "All is told",
                "allocbench run mixed --settle 8s --rounds 10 -o 'my results-settle'");
    assert_step(&(given){.rounds = 10, .time = faster}, "All is told",
                "allocbench compare 'my results' NEW-DIRECTORY");
}

/* Of --until-decided, whose --rounds are those of the first look. */
static void looks_go_on_as_they_began(void **state)
{
    static const double faster[] = {1, 1, 0.7};
    (void)state;
    assert_step(&(given){.rounds = 5, .time = faster, .look_rounds = 10}, "Rounds are missing",
                "allocbench run mixed --rounds 10 -o 'my results'");
    assert_step(&(given){.rounds = 10, .time = faster, .look_rounds = 10}, "All is told",
                "allocbench compare 'my results' NEW-DIRECTORY");
}

/* As many as a file may ask for, of which the last is at more rounds than an integer holds. */
static void many_looks_do_not_come_round_to_few(void **state)
{
    judged j;
    (void)state;
    advice_free(
        advise(&j, &(given){.rounds = 10, .time = (double[]){1, 1, 0.7}, .look_rounds = 8}));
    verdicts_free(j.v);
    j.m.looks = 65;
    j.v = verdicts_make(j.s);
    advice *a = advice_make(j.v);
    assert_true(a->next_count > 0);
    assert_has(a->next[0].why, "Rounds are missing");
    advice_free(a);
    judged_end(&j);
}

static void who_is_not_steady_has_to_run_longer(void **state)
{
    judged j;
    advice *a = advise(&j, &(given){.rounds = 10, .time = (double[]){1, 1, 0.7}});
    (void)state;
    advice_free(a);
    j.v->metrics[0].items[0].has_drift = true;
    j.v->metrics[0].items[0].drift = 1.05;
    a = advice_make(j.v);
    assert_int_equal(a->next_count, 1);
    assert_has(a->next[0].why, "not steady");
    assert_null(a->next[0].command);
    advice_free(a);
    judged_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_take_the_place_of_their_kind),
        cmocka_unit_test(other_options_and_the_command_stay),
        cmocka_unit_test(a_line_that_is_no_run_of_the_tool_gives_none),
        cmocka_unit_test(words_are_quoted_where_they_must_be),
        cmocka_unit_test(each_lack_has_its_step),
        cmocka_unit_test(looks_go_on_as_they_began),
        cmocka_unit_test(many_looks_do_not_come_round_to_few),
        cmocka_unit_test(who_is_not_steady_has_to_run_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
