/* sentences.h, standing.h: the less common of what is said of one workload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/report/has_text.h"
#include "../data/report/judged.h"

#include "tool/report/advice.h"
#include "tool/report/sentences.h"

#define TIME "time_ns_per_operation"
#define RSS  "rss_bytes"

static const double even[JUDGED_TARGETS + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

static void begin(judged *j, size_t workloads, size_t targets, uint32_t rounds)
{
    judged_begin(j, workloads, targets, rounds);
    j->m.command_line = judged_text("allocbench run mixed");
    j->m.directory = judged_text("out");
}

static void assert_overall(const judged *j, const char *wanted)
{
    advice *a = advice_make(j->v);
    char *text = advice_join(&a->overall);
    assert_has(text, wanted);
    free(text);
    advice_free(a);
}

/* Three targets have a verdict with 7 rounds and a rank with 8: who is better alone needs none. */
static void one_that_is_better_needs_no_rank(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 4, 7);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.7, 1, 1});
    judged_fill(&j, 0, RSS, "bytes", even);
    judged_finish(&j);
    assert_overall(&j, "jemalloc leads on speed: x0.700 ");
    advice *a = advice_make(j.v);
    for (size_t i = 0; i < a->next_count; i++)
        assert_lacks(a->next[i].why, "rank");
    advice_free(a);
    judged_end(&j);
}

/* The first look is at more rounds than an interval needs, and comes by itself. */
static void before_the_first_look_its_rounds_are_lacking(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 2, 12);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.7});
    judged_fill(&j, 0, RSS, "bytes", even);
    j.m.looks = 3;
    j.m.look_rounds = 20;
    judged_finish(&j);
    assert_overall(&j,
                   "Not enough rounds: 20 needed for a verdict (12 here): the same command goes "
                   "on.");
    judged_end(&j);
}

/* tcmalloc ties with the baseline on speed and is as large: no reason to leave it. */
static void as_good_as_the_baseline_is_no_recommendation(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 3, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 1.2, 1});
    judged_fill(&j, 0, RSS, "bytes", (double[]){1, 1, 0.7, 1});
    judged_finish(&j);
    assert_overall(&j, "glibc and tcmalloc tie on speed; jemalloc is worse.");
    assert_overall(&j, "Use jemalloc only where memory matters more than speed; else stay with "
                       "glibc.");
    judged_end(&j);
}

/* The middle lies close to the threshold: 10 * 1.05 * (1.88 % / 0.11 %)^2 rounds. */
static void more_than_a_thousand_rounds_are_not_named(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 2, 10);
    judged_fill_noisy(&j, 0, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1, 1}, 0);
    for (uint32_t round = 0; round < 10; round += 2)
        judged_cell(&j, 0, round, 2)->metrics[0].value *= 1.019;
    judged_finish(&j);
    const uint32_t needed = j.v->metrics[0].items[0].result.rounds_needed;
    assert_in_range(needed, 2000, 9000);
    assert_overall(&j, "with 10 rounds; it would take more than 1000.");
    judged_end(&j);
}

/* Less of what is better is a price. */
static void who_gives_less_pays(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 3, 10);
    judged_fill_noisy(&j, 0, "requests_per_second", "1/s", ABENCH_DIRECTION_HIGHER,
                      (double[]){1, 1, 0.8, 0.8}, 0.002);
    judged_fill(&j, 0, RSS, "bytes", (double[]){1, 1, 0.7, 0.7});
    judged_finish(&j);
    assert_overall(&j, "jemalloc and tcmalloc pay for it with less requests (x0.800 ");
    judged_end(&j);
}

static void a_large_ratio_has_no_decimals(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 2, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.7});
    judged_fill(&j, 0, RSS, "bytes", (double[]){1, 1, 12});
    judged_finish(&j);
    assert_overall(&j, "jemalloc pays for it with 12 times the memory (");
    judged_end(&j);
}

static void assert_names(size_t count, const char *wanted)
{
    static char names[8][2] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const bool chosen[8] = {true, true, true, true, true, true, true, true};
    model_target targets[8];
    const model m = {.targets = targets, .targets_count = count};
    words w = {NULL, 0};
    for (size_t i = 0; i < 8; i++)
        targets[i] = (model_target){.name = names[i]};
    sentences_names(&w, &m, chosen, "or");
    assert_string_equal(w.text, wanted);
    free(w.text);
}

static void a_long_list_is_counted(void **state)
{
    (void)state;
    assert_names(1, "a");
    assert_names(2, "a or b");
    assert_names(7, "a, b, c, d, e, f or g");
    assert_names(8, "a, b, c, d, e, f or 2 others");
}

/* ---- over all workloads ---------------------------------------------------------------------- */

/* The same two are ahead on both: here they tie, there only one of them may be the third. */
static void a_tie_and_a_lead_are_two_outcomes(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 4, 12);
    for (size_t i = 0; i < 2; i++) {
        judged_fill(&j, i, TIME, "ns", (double[]){1, 1, 0.7, 0.7, 0.8});
        judged_fill(&j, i, RSS, "bytes", even);
    }
    judged_finish(&j);
    assert_overall(&j, "Speed: jemalloc and tcmalloc tie on both workloads.");
    verdict_metric *second = (verdict_metric *)(uintptr_t)verdicts_find(j.v, 1, TIME);
    second->items[1].rank_high = 3;
    assert_overall(&j, "Speed: jemalloc and tcmalloc tie on 1 of 2 workloads; jemalloc and "
                       "tcmalloc lead on 1.");
    judged_end(&j);
}

/* Of the second workload nobody says that there is no difference. */
static void noise_elsewhere_makes_no_difference_larger(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 3, 10);
    for (size_t i = 0; i < 2; i++) {
        judged_fill(&j, i, TIME, "ns", even);
        judged_fill(&j, i, RSS, "bytes", i == 0 ? even : (double[]){1, 1, 1, 1.3});
    }
    for (uint32_t round = 0; round < 10; round++)
        judged_cell(&j, 1, round, 1)->metrics[1].value *= round % 2 == 0 ? 1.08 : 1 / 1.08;
    judged_finish(&j);
    assert_overall(&j, "Memory: there is no difference that matters on 1 of 2 workloads; glibc and "
                       "jemalloc tie on 1.");
    judged_end(&j);
}

static void a_lead_is_no_win_overall_either(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 4, 7);
    for (size_t i = 0; i < 2; i++) {
        judged_fill(&j, i, TIME, "ns", (double[]){1, 1, 0.7, 1, 1});
        judged_fill(&j, i, RSS, "bytes", even);
    }
    judged_finish(&j);
    assert_overall(&j, "Speed: jemalloc leads on both workloads.");
    judged_end(&j);
}

/* Of them that has fewer rounds than it takes, in whatever order. */
static void the_most_rounds_that_any_wants_are_named(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 4, 3);
    judged_fill(&j, 0, TIME, "ns", even);
    for (uint32_t round = 0; round < 3; round++)
        for (size_t arm = 0; arm < 3; arm++) /* two targets less in the second */
            judged_put(judged_cell(&j, 1, round, arm), TIME, "ns", ABENCH_DIRECTION_LOWER, 1000);
    judged_finish(&j);
    assert_overall(&j,
                   "Not enough rounds for a verdict on any workload: 7 needed; use --rounds 7.");
    judged_end(&j);
}

static void with_one_target_there_is_no_choice(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 1, 10);
    for (size_t i = 0; i < 2; i++)
        judged_fill(&j, i, TIME, "ns", even);
    judged_finish(&j);
    assert_overall(&j, "There is nothing to choose from but glibc.");
    judged_end(&j);
}

/* Of the first nothing is better; of the second nothing is told. */
static void what_is_open_somewhere_is_not_the_last_word(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 2, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 1.2});
    judged_fill_noisy(&j, 1, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1, 1}, 0.5);
    judged_finish(&j);
    assert_overall(&j, "No reason to leave glibc so far, but not everything is told.");
    judged_end(&j);
}

static void of_what_is_refused_nothing_follows(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 2, 12);
    for (size_t i = 0; i < 2; i++)
        judged_fill(&j, i, TIME, "ns", (double[]){1, 1.1, 0.7});
    judged_finish(&j);
    advice *a = advice_make(j.v);
    char *text = advice_join(&a->overall);
    assert_string_equal(text, "Speed: nothing is ranked (A/A separates) on both workloads. "
                              "Memory: nothing is judged on both workloads.");
    free(text);
    advice_free(a);
    judged_end(&j);
}

/* What nobody measured is not held against anybody. */
static void a_metric_that_is_not_there_leaves_nothing_open(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 2, 10);
    for (size_t i = 0; i < 2; i++)
        judged_fill(&j, i, TIME, "ns", (double[]){1, 1, 0.7});
    judged_finish(&j);
    assert_overall(&j, "Use jemalloc: better than glibc somewhere here, and worse nowhere.");
    judged_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_better_needs_no_rank),
        cmocka_unit_test(before_the_first_look_its_rounds_are_lacking),
        cmocka_unit_test(as_good_as_the_baseline_is_no_recommendation),
        cmocka_unit_test(more_than_a_thousand_rounds_are_not_named),
        cmocka_unit_test(who_gives_less_pays),
        cmocka_unit_test(a_large_ratio_has_no_decimals),
        cmocka_unit_test(a_long_list_is_counted),
        cmocka_unit_test(a_tie_and_a_lead_are_two_outcomes),
        cmocka_unit_test(noise_elsewhere_makes_no_difference_larger),
        cmocka_unit_test(a_lead_is_no_win_overall_either),
        cmocka_unit_test(the_most_rounds_that_any_wants_are_named),
        cmocka_unit_test(with_one_target_there_is_no_choice),
        cmocka_unit_test(what_is_open_somewhere_is_not_the_last_word),
        cmocka_unit_test(of_what_is_refused_nothing_follows),
        cmocka_unit_test(a_metric_that_is_not_there_leaves_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
