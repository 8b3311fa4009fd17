/* advice.h: what follows from verdicts, on matrices whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/report/has_text.h"
#include "../data/report/judged.h"

#include "tool/report/advice.h"
#include "tool/report/standing.h"

#define TIME  "time_ns_per_operation"
#define RSS   "rss_bytes"
#define NOISE 0.002

static const double even[JUDGED_TARGETS + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

static void begin(judged *j, size_t workloads, size_t targets, uint32_t rounds)
{
    judged_begin(j, workloads, targets, rounds);
    j->m.command_line = judged_text("allocbench run mixed -r 3");
    j->m.directory = judged_text("out");
}

/* One workload, its two main metrics; NULL: without it. free() the result. */
static char *said_of(size_t targets, uint32_t rounds, const double *time, const double *rss)
{
    judged j;
    begin(&j, 1, targets, rounds);
    if (time != NULL)
        judged_fill(&j, 0, TIME, "ns", time);
    if (rss != NULL)
        judged_fill(&j, 0, RSS, "bytes", rss);
    judged_finish(&j);
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->workloads[0]);
    char *overall = advice_join(&a->overall);
    assert_string_equal(overall, text); /* of one workload the same is said */
    free(overall);
    advice_free(a);
    judged_end(&j);
    return text;
}

static void assert_said(size_t targets, uint32_t rounds, const double *time, const double *rss,
                        const char *wanted)
{
    char *text = said_of(targets, rounds, time, rss);
    assert_string_equal(text, wanted);
    free(text);
}

/* ---- one workload ---------------------------------------------------------------------------- */

static void who_wins_who_ties_and_who_pays(void **state)
{
    (void)state;
    assert_said(4, 10, (double[]){1, 1, 0.8, 0.26, 0.8}, (double[]){1, 1, 0.75, 1.24, 0.75},
                "tcmalloc wins on speed: x0.260 [0.259 0.261]. "
                "tcmalloc pays for it with 24 % more memory (x1.240 [1.237 1.243]). "
                "jemalloc and mimalloc tie on memory: x0.750 [0.749 0.752] and x0.750 [0.749 "
                "0.752]. "
                "jemalloc and mimalloc also take less time (x0.800 [0.799 0.802] and x0.800 [0.799 "
                "0.802]). "
                "Use tcmalloc where speed matters more, jemalloc or mimalloc where memory does.");
}

static void where_all_are_the_same_one_stays(void **state)
{
    (void)state;
    for (size_t targets = 2; targets < 5; targets++)
        assert_said(targets, 10, even, even,
                    "No difference above 1 % in speed or memory: stay with glibc.");
}

static void too_few_rounds_say_how_many_it_takes(void **state)
{
    (void)state;
    assert_said(4, 3, (double[]){1, 1, 0.5, 0.5, 0.5}, even,
                "Not enough rounds: 7 needed for a verdict (3 here): use --rounds 7.");
    assert_said(2, 1, even, NULL,
                "Not enough rounds for speed: 6 needed for a verdict (1 here): use --rounds 6.");
}

static void nothing_is_ranked_where_the_baseline_differs_from_itself(void **state)
{
    (void)state;
    assert_said(3, 12, (double[]){1, 1.05, 0.8, 0.5}, (double[]){1, 1, 0.7, 0.8},
                "A/A separates: glibc differs from itself by 5 % in speed, so nothing is ranked by "
                "speed. jemalloc wins on memory: x0.700 [0.699 0.701]. "
                "By memory alone: jemalloc; of speed nothing is told.");
    assert_said(3, 12, (double[]){1, 1.05, 0.8, 0.5}, (double[]){1, 1.06, 0.7, 0.8},
                "A/A separates: glibc differs from itself by 5 % in speed and by 6 % in memory, so "
                "nothing is ranked by either.");
}

static void the_baseline_may_win_or_tie(void **state)
{
    (void)state;
    assert_said(2, 10, (double[]){1, 1, 1.2}, (double[]){1, 1, 1.3},
                "glibc wins on speed: jemalloc takes 20 % more time (x1.200 [1.198 1.202]). "
                "glibc wins on memory: jemalloc takes 30 % more memory (x1.300 [1.298 1.302]). "
                "Stay with glibc: nothing is better in speed or memory.");
    assert_said(4, 10, (double[]){1, 1, 1.2, 1.3, 1}, even,
                "No difference above 1 % in memory. "
                "glibc and mimalloc tie on speed; jemalloc and tcmalloc are worse. "
                "Stay with glibc: nothing is better in speed or memory.");
    assert_said(2, 10, (double[]){1, 1, 0.7}, (double[]){1, 1, 2.3},
                "jemalloc wins on speed: x0.700 [0.699 0.701]. "
                "jemalloc pays for it with 2.3 times the memory (x2.300 [2.297 2.304]). "
                "glibc wins on memory; jemalloc is worse. "
                "Use jemalloc only where speed matters more than memory; else stay with glibc.");
}

static void one_that_is_worse_in_nothing_can_be_used(void **state)
{
    (void)state;
    assert_said(3, 10, (double[]){1, 1, 0.7, 0.7}, (double[]){1, 1, 0.9, 0.9},
                "jemalloc and tcmalloc tie on speed: x0.700 [0.699 0.701] and x0.700 [0.699 "
                "0.701]. jemalloc and tcmalloc tie on memory: x0.900 [0.899 0.902] and x0.900 "
                "[0.898 0.902]. "
                "Use jemalloc or tcmalloc: neither speed nor memory is worse than with glibc.");
    assert_said(3, 10, (double[]){1, 1, 0.7, 1}, even,
                "No difference above 1 % in memory. "
                "jemalloc wins on speed: x0.700 [0.699 0.701]. "
                "Use jemalloc: neither speed nor memory is worse than with glibc.");
}

static void of_what_was_not_measured_nothing_is_said(void **state)
{
    (void)state;
    assert_said(3, 10, (double[]){1, 1, 0.5, 0.6}, NULL,
                "jemalloc wins on speed: x0.500 [0.499 0.501]. "
                "By speed alone: jemalloc; of memory nothing is told.");
    assert_said(2, 10, NULL, even,
                "No difference above 1 % in memory. "
                "By memory alone there is no reason to leave glibc; of speed nothing is told.");
    assert_said(
        1, 10, even, even,
        "There is nothing to choose from: no target but glibc has a number that is judged.");
}

static void rounds_for_a_verdict_may_be_too_few_for_a_rank(void **state)
{
    (void)state;
    char *text = said_of(7, 9, (double[]){1, 1, 0.5, 0.6, 0.7, 0.8, 0.9, 1}, even);
    assert_has(text, "jemalloc, tcmalloc, mimalloc, tbbmalloc and scudo are better than glibc on "
                     "speed (10 rounds with all of them rank them): x0.500 ");
    assert_lacks(text, "tie");
    assert_lacks(text, "wins");
    free(text);
}

/* Loud cells: the interval reaches over the threshold. */
static void what_is_not_told_apart_says_how_many_rounds_might(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 3, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.7, 1});
    judged_fill_noisy(&j, 0, RSS, "bytes", ABENCH_DIRECTION_LOWER, (double[]){1, 1, 1.03, 1.2},
                      0.06);
    judged_finish(&j);
    const verdict_metric *rss = verdicts_find(j.v, 0, RSS);
    assert_int_equal(verdict_of(rss, 1)->result.verdict, ABENCH_COMPARED_OPEN);
    verdict *open = &rss->items[0];
    open->result.rounds_needed = 24;
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->workloads[0]);
    assert_has(text, "jemalloc is not told apart from glibc on memory with 10 rounds; 24 might "
                     "tell. tcmalloc is worse on memory: ");
    assert_has(text, ". Use jemalloc for speed; what that costs in memory is not told yet.");
    free(text);
    assert_int_equal(a->next_count, 1);
    assert_has(a->next[0].why, "24 rounds might tell what is not told apart yet; --until-decided");
    assert_string_equal(a->next[0].command, "allocbench run mixed --rounds 24 -o out");
    advice_free(a);
    open->result.rounds_needed = UINT32_MAX;
    a = advice_make(j.v);
    text = advice_join(&a->workloads[0]);
    assert_has(text, "with 10 rounds; it would take more than 1000. ");
    assert_null(a->next[0].command);
    free(text);
    advice_free(a);
    judged_end(&j);
}

/* Others are not told apart; the winner is. */
static void a_winner_is_judged_by_its_own_price(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 3, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.7, 1});
    judged_fill(&j, 0, RSS, "bytes", (double[]){1, 1, 1.2, 1});
    judged_finish(&j);
    verdict_metric *rss = &j.v->metrics[1];
    rss->items[1].result.verdict = ABENCH_COMPARED_OPEN;
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->workloads[0]);
    assert_has(text, "jemalloc pays for it with 20 % more memory");
    assert_has(text, "Use jemalloc only where speed matters more than memory; else stay with "
                     "glibc.");
    free(text);
    advice_free(a);
    rss->items[0].result.verdict = ABENCH_COMPARED_SAME;
    a = advice_make(j.v);
    text = advice_join(&a->workloads[0]);
    assert_has(text, "Use jemalloc: neither speed nor memory is worse than with glibc.");
    free(text);
    advice_free(a);
    j.v->metrics[0].items[0].result.verdict = ABENCH_COMPARED_WORSE;
    a = advice_make(j.v);
    text = advice_join(&a->workloads[0]);
    assert_has(text, "So far there is no reason to leave glibc.");
    free(text);
    advice_free(a);
    judged_end(&j);
}

/* A rank that is not proven against everybody is no win. */
static void a_lead_is_no_win(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 3, 12);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.7, 0.8});
    judged_finish(&j);
    verdict_metric *metric = &j.v->metrics[0];
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->workloads[0]);
    assert_has(text, "jemalloc wins on speed: ");
    free(text);
    advice_free(a);
    metric->items[0].rank_high = 2;
    metric->items[1].result.verdict = ABENCH_COMPARED_OPEN;
    metric->items[1].rank_low = 1;
    a = advice_make(j.v);
    text = advice_join(&a->workloads[0]);
    assert_has(text, "jemalloc leads on speed: ");
    assert_has(text, "tcmalloc is not told apart from glibc on speed with 12 rounds");
    free(text);
    advice_free(a);
    judged_end(&j);
}

/* Both may be the first, but only one of them may be the third. */
static void other_places_are_no_tie(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 4, 12);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.7, 0.7, 0.8});
    judged_finish(&j);
    for (int places = 2; places <= 3; places++) {
        j.v->metrics[0].items[1].rank_high = (uint32_t)places;
        advice *a = advice_make(j.v);
        char *text = advice_join(&a->workloads[0]);
        assert_has(text, places == 2 ? "jemalloc and tcmalloc tie on speed: x0.700 "
                                     : "jemalloc and tcmalloc lead on speed: x0.700 ");
        free(text);
        advice_free(a);
    }
    judged_end(&j);
}

static void no_verdict_stands_without_a_noise_to_hold_it_against(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 2, 10);
    for (uint32_t round = 3; round < 10; round++)
        judged_cell(&j, 0, round, 1)->failed = true;
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.5});
    judged_finish(&j);
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->workloads[0]);
    assert_string_equal(text, "No verdict on speed: too few rounds have both cells of glibc (A/A), "
                              "which tell how far noise goes.");
    free(text);
    assert_string_equal(a->next[0].command,
                        "allocbench run mixed --retry-failed --rounds 10 -o out");
    advice_free(a);
    judged_end(&j);
}

static void more_is_better_where_the_metric_says_so(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 3, 10);
    judged_fill_noisy(&j, 0, "requests_per_second", "1/s", ABENCH_DIRECTION_HIGHER,
                      (double[]){1, 1, 1.2, 0.8}, NOISE);
    judged_fill(&j, 0, RSS, "bytes", (double[]){1, 1, 0.9, 0.8});
    judged_finish(&j);
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->workloads[0]);
    assert_has(text, "jemalloc wins on speed: x1.200 [");
    assert_has(text, "tcmalloc pays for it with 20 % less requests (x0.80");
    free(text);
    advice_free(a);
    judged_end(&j);
}

/* Names are passed on as they are: who prints escapes them. */
static void names_are_not_touched(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 2, 10);
    j.targets[1].name = judged_text("<b>%s\x1b[2J|");
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.5});
    judged_finish(&j);
    advice *a = advice_make(j.v);
    assert_has(a->workloads[0].sentences[0], "<b>%s\x1b[2J| wins on speed: x0.500");
    advice_free(a);
    judged_end(&j);
}

/* ---- many workloads -------------------------------------------------------------------------- */

static char *overall_of(size_t workloads, size_t targets, uint32_t rounds,
                        const double *const *time, const double *const *rss)
{
    judged j;
    begin(&j, workloads, targets, rounds);
    for (size_t i = 0; i < workloads; i++) {
        judged_fill(&j, i, TIME, "ns", time[i]);
        judged_fill(&j, i, RSS, "bytes", rss[i]);
    }
    judged_finish(&j);
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->overall);
    advice_free(a);
    judged_end(&j);
    return text;
}

static void wins_and_ties_are_counted(void **state)
{
    static const double fast[] = {1, 1, 0.8, 0.26, 0.8}, two[] = {1, 1, 0.8, 0.8, 0.9};
    static const double small[] = {1, 1, 0.8, 1.26, 0.8};
    (void)state;
    char *text = overall_of(3, 4, 10, (const double *[]){fast, two, fast},
                            (const double *[]){small, even, small});
    assert_string_equal(
        text, "Speed: tcmalloc wins on 2 of 3 workloads; jemalloc and tcmalloc tie on 1. "
              "Memory: jemalloc and mimalloc tie on 2 of 3 workloads; there is no difference that "
              "matters on 1. "
              "Use jemalloc or mimalloc: better than glibc somewhere here, and worse nowhere.");
    free(text);
}

static void of_those_that_are_worse_nowhere_who_wins_most_is_recommended(void **state)
{
    static const double both[] = {1, 1, 0.8, 0.7}, one[] = {1, 1, 1, 0.7};
    (void)state;
    char *text =
        overall_of(2, 3, 10, (const double *[]){both, one}, (const double *[]){even, even});
    assert_has(text, " Use tcmalloc: better than glibc somewhere here, and worse nowhere.");
    free(text);
}

static void who_pays_elsewhere_is_not_recommended(void **state)
{
    static const double one[] = {1, 1, 0.8, 1.3}, other[] = {1, 1, 1.3, 0.8};
    (void)state;
    char *text =
        overall_of(2, 3, 10, (const double *[]){one, other}, (const double *[]){even, even});
    assert_string_equal(text,
                        "Speed: jemalloc wins on 1 of 2 workloads; tcmalloc wins on 1. "
                        "Memory: there is no difference that matters on both workloads. "
                        "Who wins somewhere pays elsewhere or is not told everywhere: choose by "
                        "the workload that is most like yours.");
    free(text);
}

static void what_holds_everywhere_is_said_once(void **state)
{
    static const double worse[] = {1, 1, 1.3, 1.3};
    const double *const evens[] = {even, even}, *const bads[] = {worse, worse};
    (void)state;
    char *text = overall_of(2, 3, 10, evens, evens);
    assert_string_equal(text, "No difference that matters on any workload: stay with glibc.");
    free(text);
    text = overall_of(2, 3, 3, evens, evens);
    assert_string_equal(
        text, "Not enough rounds for a verdict on any workload: 7 needed; use --rounds 7.");
    free(text);
    text = overall_of(2, 3, 10, bads, bads);
    assert_string_equal(text, "Speed: glibc wins on both workloads. "
                              "Memory: glibc wins on both workloads. "
                              "Stay with glibc: nothing is better on any of these workloads.");
    free(text);
}

/* ---- noise that hides what would matter ------------------------------------------------------ */

/* The second cells of the baseline read 8 % more and less in turn. */
static void shake(judged *j, size_t workload, size_t metric)
{
    for (uint32_t round = 0; round < j->m.rounds; round++)
        judged_cell(j, workload, round, 1)->metrics[metric].value *=
            round % 2 == 0 ? 1.08 : 1 / 1.08;
}

/* What is said of as many workloads, in which memory is noisy, in the first of them or in all. */
static char *shaken(size_t workloads, const double *time, const double *rss, bool everywhere)
{
    judged j;
    begin(&j, workloads, 3, 10);
    for (size_t i = 0; i < workloads; i++) {
        judged_fill_noisy(&j, i, TIME, "ns", ABENCH_DIRECTION_LOWER, time, 0);
        judged_fill_noisy(&j, i, RSS, "bytes", ABENCH_DIRECTION_LOWER, rss, 0);
        if (everywhere || i == 0)
            shake(&j, i, 1);
    }
    judged_finish(&j);
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->overall);
    advice_free(a);
    judged_end(&j);
    return text;
}

static void assert_shaken(size_t workloads, const double *time, const double *rss, bool everywhere,
                          const char *wanted)
{
    char *text = shaken(workloads, time, rss, everywhere);
    assert_has(text, wanted);
    free(text);
}

static void the_same_within_noise_is_no_more_than_that(void **state)
{
    static const double faster[] = {1, 1, 0.7, 1}, slower[] = {1, 1, 1.3, 1.3};
    static const double less[] = {1, 1, 0.7, 0.7};
    (void)state;
    assert_shaken(1, faster, even, true,
                  "Use jemalloc: neither speed nor memory is worse than with glibc by more than "
                  "8 %.");
    assert_shaken(1, slower, even, true,
                  "Stay with glibc: nothing is better in speed or memory by more than 8 %.");
    assert_shaken(1, less, less, true, "neither speed nor memory is worse than with glibc.");
    assert_shaken(2, even, even, false,
                  "No difference above 8 % on any workload: stay with glibc.");
    assert_shaken(2, faster, even, true,
                  "Memory: there is no difference above 8 % on both workloads. Use "
                  "jemalloc: better than glibc somewhere here, and worse nowhere by more than 8 "
                  "%.");
    assert_shaken(2, faster, even, false,
                  "Memory: there is no difference above 8 % on both workloads.");
    assert_shaken(2, slower, even, false,
                  "Stay with glibc: nothing is better on any of these workloads by more than 8 "
                  "%.");
}

/* Whoever is refused somewhere is not recommended for being worse nowhere. */
static void a_refused_metric_is_no_recommendation(void **state)
{
    static const double fast[] = {1, 1, 0.7}, apart[] = {1, 1.05, 0.7};
    (void)state;
    char *text =
        overall_of(2, 2, 12, (const double *[]){fast, apart}, (const double *[]){even, even});
    assert_string_equal(text, "Speed: jemalloc wins on 1 of 2 workloads; nothing is ranked (A/A "
                              "separates) on 1. "
                              "Memory: there is no difference that matters on both workloads. "
                              "Nobody is told to be worse than glibc, but not everything is told.");
    free(text);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void assert_ratio(double ratio, double low, double high, const char *wanted)
{
    char *text = advice_ratio(ratio, low, high);
    assert_string_equal(text, wanted);
    free(text);
}

static void a_ratio_has_the_decimals_that_its_interval_wants(void **state)
{
    (void)state;
    assert_ratio(0.72, 0.70, 0.74, "x0.72 [0.70 0.74]");
    assert_ratio(0.7213, 0.7171, 0.7252, "x0.721 [0.717 0.725]");
    assert_ratio(1, 1, 1, "x1.00 [1.00 1.00]");
    assert_ratio(123.4, 100.1, 150.2, "x123 [100 150]");
    assert_ratio(0.72, NAN, NAN, "x0.72");
    assert_ratio(NAN, NAN, NAN, "");
    assert_ratio(1e9, 0.5, INFINITY, "x>9999 [0 >9999]");
}

static void assert_percent(double share, const char *wanted)
{
    char *text = advice_percent(share);
    assert_string_equal(text, wanted);
    free(text);
}

static void a_share_reads_as_one_says_it(void **state)
{
    (void)state;
    assert_percent(0.0312, "3.1 %");
    assert_percent(0.01, "1 %");
    assert_percent(0.239, "24 %");
    assert_percent(-1, "0 %");
    assert_percent(1e6, "more than 9999 %");
}

static void a_directory_without_a_round_has_no_advice(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 2, 1);
    const size_t cells = j.m.cells_count;
    j.m.cells_count = 0;
    j.m.rounds = 10;
    judged_finish(&j);
    advice *a = advice_make(j.v);
    assert_int_equal(a->overall.count, 0);
    assert_int_equal(a->workloads[1].count, 0);
    assert_string_equal(a->next[0].command, "allocbench run mixed --rounds 10 -o out");
    advice_free(a);
    verdicts_free(j.v);
    summary_free(j.s);
    j.m.cells_count = cells; /* for the end */
    judged_finish(&j);
    judged_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_wins_who_ties_and_who_pays),
        cmocka_unit_test(where_all_are_the_same_one_stays),
        cmocka_unit_test(too_few_rounds_say_how_many_it_takes),
        cmocka_unit_test(nothing_is_ranked_where_the_baseline_differs_from_itself),
        cmocka_unit_test(the_baseline_may_win_or_tie),
        cmocka_unit_test(one_that_is_worse_in_nothing_can_be_used),
        cmocka_unit_test(of_what_was_not_measured_nothing_is_said),
        cmocka_unit_test(rounds_for_a_verdict_may_be_too_few_for_a_rank),
        cmocka_unit_test(what_is_not_told_apart_says_how_many_rounds_might),
        cmocka_unit_test(a_winner_is_judged_by_its_own_price),
        cmocka_unit_test(a_lead_is_no_win),
        cmocka_unit_test(other_places_are_no_tie),
        cmocka_unit_test(no_verdict_stands_without_a_noise_to_hold_it_against),
        cmocka_unit_test(more_is_better_where_the_metric_says_so),
        cmocka_unit_test(names_are_not_touched),
        cmocka_unit_test(wins_and_ties_are_counted),
        cmocka_unit_test(of_those_that_are_worse_nowhere_who_wins_most_is_recommended),
        cmocka_unit_test(who_pays_elsewhere_is_not_recommended),
        cmocka_unit_test(what_holds_everywhere_is_said_once),
        cmocka_unit_test(the_same_within_noise_is_no_more_than_that),
        cmocka_unit_test(a_refused_metric_is_no_recommendation),
        cmocka_unit_test(a_ratio_has_the_decimals_that_its_interval_wants),
        cmocka_unit_test(a_share_reads_as_one_says_it),
        cmocka_unit_test(a_directory_without_a_round_has_no_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
