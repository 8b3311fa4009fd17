/* verdict.h: what the rounds prove, on matrices whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/report/judged.h"

#define TIME "time_ns_per_operation"

static const verdict *find(const judged *j, const char *metric, size_t target)
{
    const verdict_metric *found = verdicts_find(j->v, 0, metric);
    assert_non_null(found);
    const verdict *item = verdict_of(found, target);
    assert_non_null(item);
    return item;
}

static void assert_text(const judged *j, const char *metric, size_t target, const char *wanted)
{
    const verdict_metric *found = verdicts_find(j->v, 0, metric);
    assert_non_null(found);
    char *text = verdict_text(found, verdict_of(found, target));
    assert_string_equal(text, wanted);
    free(text);
}

static void better_worse_and_same_are_told(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 4, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8, 1.2, 1.001});
    judged_finish(&j);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_BETTER);
    assert_int_equal(find(&j, TIME, 2)->result.verdict, ABENCH_COMPARED_WORSE);
    assert_int_equal(find(&j, TIME, 3)->result.verdict, ABENCH_COMPARED_SAME);
    assert_float_equal(find(&j, TIME, 1)->result.ratio, 0.8, 0.003);
    assert_true(find(&j, TIME, 1)->result.low < 0.8 && find(&j, TIME, 1)->result.high > 0.8);
    assert_int_equal(find(&j, TIME, 1)->result.rounds, 10);
    assert_float_equal(find(&j, TIME, 1)->cliff, -1, 0);
    assert_float_equal(find(&j, TIME, 2)->cliff, 1, 0);
    assert_text(&j, TIME, 1, "better");
    assert_text(&j, TIME, 3, "same within 1.0 %");
    assert_true(verdicts_decided(j.v, 0));
    judged_end(&j);
}

static void more_is_better_where_the_metric_says_so(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill_noisy(&j, 0, "requests_per_second", "1/s", ABENCH_DIRECTION_HIGHER,
                      (double[]){1, 1, 1.2}, 0.002);
    judged_finish(&j);
    assert_int_equal(find(&j, "requests_per_second", 1)->result.verdict, ABENCH_COMPARED_BETTER);
    assert_int_equal(find(&j, "requests_per_second", 1)->rank_low, 1);
    assert_int_equal(find(&j, "requests_per_second", 0)->rank_low, 2);
    judged_end(&j);
}

/* Two of them are ahead of the baseline and not to be told from each other: a tie. */
static void those_that_cannot_be_told_apart_share_their_places(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 4, 12);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8, 0.801, 1.3});
    judged_finish(&j);
    for (size_t target = 0; target < 4; target++)
        assert_true(find(&j, TIME, target)->has_rank);
    assert_int_equal(find(&j, TIME, 1)->rank_low, 1);
    assert_int_equal(find(&j, TIME, 1)->rank_high, 2);
    assert_int_equal(find(&j, TIME, 2)->rank_low, 1);
    assert_int_equal(find(&j, TIME, 2)->rank_high, 2);
    assert_int_equal(find(&j, TIME, 0)->rank_low, 3);
    assert_int_equal(find(&j, TIME, 0)->rank_high, 3);
    assert_int_equal(find(&j, TIME, 3)->rank_low, 4);
    judged_end(&j);
}

/* Six pairs share 5 %: 2^(1-8) is the first below, and 2^(1-10) below a third of that. */
static void ranks_come_with_the_rounds_for_all_pairs(void **state)
{
    static const struct {
        uint32_t rounds;
        uint32_t looks;
        bool ranked;
    } cases[] = {{7, 1, false}, {8, 1, true}, {9, 3, false}, {10, 3, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        judged j;
        judged_begin(&j, 1, 4, cases[i].rounds);
        judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8, 0.7, 1.3});
        j.m.looks = cases[i].looks;
        j.m.look_rounds = cases[i].rounds;
        judged_finish(&j);
        assert_int_equal(find(&j, TIME, 2)->has_rank, cases[i].ranked);
        if (cases[i].ranked)
            assert_int_equal(find(&j, TIME, 2)->rank_high, 1);
        judged_end(&j);
    }
}

/* Two targets that never ran in one round, each beside the baseline: that is no tie. */
static void those_that_share_no_rounds_have_no_places(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 4, 24);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8, 0.5, 1.3});
    for (uint32_t round = 0; round < 24; round++)
        judged_cell(&j, 0, round, round < 12 ? 3 : 2)->failed = true;
    judged_finish(&j);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_BETTER);
    assert_int_equal(find(&j, TIME, 2)->result.verdict, ABENCH_COMPARED_BETTER);
    assert_false(find(&j, TIME, 1)->has_rank);
    assert_false(find(&j, TIME, 2)->has_rank);
    assert_true(find(&j, TIME, 0)->has_rank);
    assert_true(find(&j, TIME, 3)->has_rank);
    judged_end(&j);
}

/* One with too few rounds takes the places of nobody else. */
static void one_of_few_rounds_leaves_the_others_their_places(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 4, 12);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8, 0.5, 1.3});
    for (uint32_t round = 3; round < 12; round++)
        judged_cell(&j, 0, round, 3)->failed = true;
    judged_finish(&j);
    assert_false(find(&j, TIME, 2)->has_rank);
    assert_true(find(&j, TIME, 1)->has_rank);
    assert_true(find(&j, TIME, 0)->has_rank);
    judged_end(&j);
}

/* Three targets against the baseline share 5 %: 2^(1-7) = 1.56 % is the first below 1.67 %. */
static void too_few_rounds_have_no_interval(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 4, 6);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.5, 0.5, 2});
    judged_finish(&j);
    assert_int_equal(verdicts_find(j.v, 0, TIME)->rounds_least, 7);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_TOO_FEW);
    assert_true(isnan(find(&j, TIME, 1)->result.low));
    assert_float_equal(find(&j, TIME, 1)->result.ratio, 0.5, 0.01);
    assert_text(&j, TIME, 1, "not enough rounds: 7 needed");
    assert_false(find(&j, TIME, 1)->has_rank);
    assert_false(verdicts_decided(j.v, 0));
    judged_end(&j);
}

/* A/A that goes further than 1 % is the threshold. */
static void noise_raises_the_threshold(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 20);
    judged_fill_noisy(&j, 0, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1, 1.02}, 0.2);
    judged_finish(&j);
    const verdict_metric *metric = verdicts_find(j.v, 0, TIME);
    assert_false(metric->refused);
    assert_true(metric->threshold > 0.02);
    assert_float_equal(metric->threshold, abench_interval_reach(&metric->aa), 1e-12);
    assert_float_equal(metric->items[0].result.threshold, metric->threshold, 0);
    assert_int_not_equal(metric->items[0].result.verdict, ABENCH_COMPARED_WORSE);
    judged_end(&j);
}

/* The second cells of the baseline read so many times as much and as little in turn. */
static void compare_beside(judged *j, double noise, double target)
{
    judged_begin(j, 1, 2, 10);
    judged_fill_noisy(j, 0, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1, target}, 0);
    for (uint32_t round = 0; round < 10; round++)
        judged_cell(j, 0, round, 1)->metrics[0].value *= round % 2 == 0 ? noise : 1 / noise;
    judged_finish(j);
    assert_float_equal(verdicts_find(j->v, 0, TIME)->threshold, noise - 1, 1e-6);
}

static void what_the_baseline_does_by_itself_is_no_difference(void **state)
{
    judged j;
    (void)state;
    compare_beside(&j, 1.09, 1.05);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_SAME);
    judged_end(&j);
}

/* 10 * 1.05 * (30 / 10)^2 */
static void what_only_noise_hides_is_not_called_the_same(void **state)
{
    judged j;
    (void)state;
    compare_beside(&j, 1.3, 1.2);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_OPEN);
    assert_int_equal(find(&j, TIME, 1)->result.rounds_needed, 95);
    judged_end(&j);
    compare_beside(&j, 1.11, 1.05); /* 10 % is the most */
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_OPEN);
    judged_end(&j);
}

/* The baseline is surely 10 % off itself: nothing is ranked in it, and the other metric is. */
static void a_metric_whose_baseline_separates_is_refused(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 3, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1.1, 0.5, 2});
    judged_fill(&j, 0, "rss_bytes", "bytes", (double[]){1, 1, 0.5, 2});
    judged_finish(&j);
    assert_true(verdicts_find(j.v, 0, TIME)->refused);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_OPEN);
    assert_int_equal(find(&j, TIME, 1)->result.rounds_needed, 0);
    assert_false(find(&j, TIME, 0)->has_rank);
    assert_false(find(&j, TIME, 1)->has_rank);
    assert_text(&j, TIME, 1, "A/A separates");
    assert_false(verdicts_find(j.v, 0, "rss_bytes")->refused);
    assert_int_equal(find(&j, "rss_bytes", 1)->result.verdict, ABENCH_COMPARED_BETTER);
    assert_true(find(&j, "rss_bytes", 1)->has_rank);
    assert_true(verdicts_decided(j.v, 0)); /* nobody waits for what is refused */
    judged_end(&j);
}

/* What is not told in it says nothing of rounds: they would not help. */
static void a_refused_metric_wants_no_rounds(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill_noisy(&j, 0, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1.05, 1.05}, 0);
    for (uint32_t round = 0; round < 10; round++)
        judged_cell(&j, 0, round, 2)->metrics[0].value *= round % 2 == 0 ? 1.04 : 1 / 1.04;
    judged_finish(&j);
    assert_true(verdicts_find(j.v, 0, TIME)->refused);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_OPEN);
    assert_int_equal(find(&j, TIME, 1)->result.rounds_needed, 0);
    judged_end(&j);
}

/* Always above 1, and on either side of 1.01: it may be within 1 %. */
static void what_may_be_within_one_percent_is_no_refusal(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill_noisy(&j, 0, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1, 1}, 0);
    for (uint32_t round = 0; round < 10; round++)
        judged_cell(&j, 0, round, 1)->metrics[0].value *= round % 2 == 0 ? 1.03 : 1.003;
    judged_finish(&j);
    assert_true(verdicts_find(j.v, 0, TIME)->aa_p > 0.05);
    assert_false(verdicts_find(j.v, 0, TIME)->refused);
    judged_end(&j);
}

/* 2 of 64 is less than 5 %, and more than a third of it. */
static void a_refusal_costs_a_look_its_part_of_alpha_too(void **state)
{
    (void)state;
    for (uint32_t looks = 1; looks <= 3; looks += 2) {
        judged j;
        judged_begin(&j, 1, 2, 6);
        judged_fill(&j, 0, TIME, "ns", (double[]){1, 1.1, 1});
        j.m.looks = looks;
        j.m.look_rounds = 6;
        judged_finish(&j);
        assert_int_equal(verdicts_find(j.v, 0, TIME)->refused, looks == 1);
        judged_end(&j);
    }
}

/* A run --until-decided waits for the main metrics alone. */
static void what_is_not_main_is_not_waited_for(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8});
    judged_fill_noisy(&j, 0, "free_p99_ns", "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1, 1}, 0.5);
    judged_finish(&j);
    assert_int_equal(find(&j, "free_p99_ns", 1)->result.verdict, ABENCH_COMPARED_OPEN);
    assert_true(verdicts_decided(j.v, 0));
    judged_end(&j);
}

/* A round in which the target did other work is no pair, and says nothing of the others. */
static void other_work_is_no_pair(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8});
    judged_cell(&j, 0, 3, 0)->work_digest = judged_text("a");
    judged_cell(&j, 0, 3, 2)->work_digest = judged_text("b");
    judged_finish(&j);
    assert_int_equal(find(&j, TIME, 1)->result.rounds, 9);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_BETTER);
    judged_end(&j);
}

/* Of the target that has most. */
static void a_metric_has_the_rounds_of_its_fullest_target(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 3, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8, 0.8});
    judged_cell(&j, 0, 3, 2)->failed = true;
    judged_finish(&j);
    assert_int_equal(find(&j, TIME, 1)->result.rounds, 9);
    assert_int_equal(verdicts_find(j.v, 0, TIME)->rounds, 10);
    judged_end(&j);
}

/* 0.5 % that are always there matter to nobody: no verdict can come of them. */
static void a_steady_difference_within_one_percent_is_no_refusal(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill_noisy(&j, 0, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1.005, 1}, 0);
    judged_finish(&j);
    assert_false(verdicts_find(j.v, 0, TIME)->refused);
    assert_float_equal(verdicts_find(j.v, 0, TIME)->aa_p, 1, 0);
    judged_end(&j);
}

/* Among many metrics one of which A/A is off by chance, Holm's bound is not passed. */
static void one_of_many_metrics_is_not_refused_by_chance(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 5, 2, 7);
    for (size_t w = 0; w < 5; w++)
        judged_fill(&j, w, TIME, "ns", (double[]){1, w == 0 ? 1.1 : 1, 1});
    judged_finish(&j);
    const verdict_metric *metric = verdicts_find(j.v, 0, TIME);
    assert_float_equal(metric->aa_p, 2.0 / 128, 1e-12);
    assert_false(metric->refused); /* 1.6 % is above 5 % / 5 */
    judged_end(&j);
}

/* Of 13 rounds the first look counts, at 10; before it there is none. */
static void looks_come_at_their_rounds_only(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 13);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8});
    j.m.looks = 3;
    j.m.look_rounds = 10;
    judged_finish(&j);
    assert_int_equal(find(&j, TIME, 1)->result.rounds, 10);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_BETTER);
    judged_end(&j);
    judged_begin(&j, 1, 2, 9);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8});
    j.m.looks = 3;
    j.m.look_rounds = 10;
    judged_finish(&j);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_TOO_FEW);
    assert_int_equal(find(&j, TIME, 1)->result.rounds_needed, 10);
    assert_false(find(&j, TIME, 1)->has_rank);
    judged_end(&j);
}

/* A look comes with its rounds, also with those in which a cell failed: of the second look 19 pairs
 * count, of the first 9. */
static void a_failed_cell_puts_off_no_look(void **state)
{
    (void)state;
    for (uint32_t rounds = 10; rounds <= 20; rounds += 10) {
        for (size_t arm = 0; arm < 3; arm += 2) { /* the baseline's or the target's */
            judged j;
            judged_begin(&j, 1, 2, rounds);
            judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8});
            judged_cell(&j, 0, 3, arm)->failed = true;
            j.m.looks = 3;
            j.m.look_rounds = 10;
            judged_finish(&j);
            assert_int_equal(find(&j, TIME, 1)->result.rounds, rounds - 1);
            assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_BETTER);
            assert_int_equal(find(&j, TIME, 1)->row->failed, arm == 2);
            judged_end(&j);
        }
    }
}

/* Both failed in other rounds: fewer than 10 were surely played by both. */
static void a_look_comes_no_earlier_than_its_rounds(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 9);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8});
    judged_cell(&j, 0, 3, 0)->failed = true;
    judged_cell(&j, 0, 3, 2)->failed = true;
    j.m.looks = 3;
    j.m.look_rounds = 10;
    judged_finish(&j);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_TOO_FEW);
    judged_end(&j);
}

/* A/A that reaches further than a double can say is a threshold that nothing exceeds. */
static void a_threshold_is_a_number(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.8});
    for (uint32_t round = 0; round < 10; round++)
        judged_cell(&j, 0, round, 1)->metrics[0].value *= round % 2 == 0 ? 1e-320 : 1e300;
    judged_finish(&j);
    assert_true(isfinite(verdicts_find(j.v, 0, TIME)->threshold));
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_OPEN);
    judged_end(&j);
}

/* Three looks share alpha: each has the wider interval. */
static void a_look_costs_its_part_of_alpha(void **state)
{
    double high[2], threshold[2];
    (void)state;
    for (uint32_t at = 0; at < 2; at++) {
        judged j;
        judged_begin(&j, 1, 2, 10);
        judged_fill_noisy(&j, 0, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1, 0.8}, 0.05);
        j.m.looks = at == 0 ? 1 : 3;
        j.m.look_rounds = 10;
        judged_finish(&j);
        high[at] = find(&j, TIME, 1)->result.high;
        threshold[at] = verdicts_find(j.v, 0, TIME)->threshold;
        judged_end(&j);
    }
    assert_true(high[1] > high[0]);
    assert_true(threshold[1] > threshold[0]);
}

static void a_value_of_nothing_has_no_ratio(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill(&j, 0, "rss_drained_bytes", "bytes", (double[]){1, 1, 0.5});
    judged_cell(&j, 0, 3, 2)->metrics[0].value = 0;
    judged_finish(&j);
    assert_int_equal(find(&j, "rss_drained_bytes", 1)->result.verdict, ABENCH_COMPARED_OPEN);
    assert_int_equal(find(&j, "rss_drained_bytes", 1)->result.rounds_needed, 0);
    judged_end(&j);
    judged_begin(&j, 1, 2, 10);
    judged_fill(&j, 0, "rss_drained_bytes", "bytes", (double[]){1, 1, 0});
    judged_finish(&j);
    assert_int_equal(find(&j, "rss_drained_bytes", 1)->result.verdict, ABENCH_COMPARED_OPEN);
    assert_text(&j, "rss_drained_bytes", 1, "no ratio: a value of 0");
    judged_end(&j);
}

/* Slices of one phase whose time grows from half to half by a tenth, in every round; those of the
 * baseline's second cells take `again` ns and as much longer in turn. */
static void move(judged *j, uint32_t rounds, double again)
{
    judged_begin(j, 1, 2, rounds);
    for (size_t i = 0; i < j->m.cells_count; i++) {
        model_cell *cell = &j->m.cells[i];
        const double noise = !cell->again ? 1 : cell->round % 2 == 0 ? again : 1 / again;
        const bool moves = cell->target == 1;
        judged_put(cell, TIME, "ns", ABENCH_DIRECTION_LOWER, 100);
        judged_put(cell, "rss_bytes", "bytes", ABENCH_DIRECTION_LOWER, 1e6);
        cell->phases = calloc(2, sizeof *cell->phases);
        cell->phases_count = 2;
        cell->phases[0] = (model_phase){.name = judged_text("baseline")};
        cell->phases[0].memory.valid = ABENCH_MEMORY_RSS;
        cell->phases[0].memory.rss_bytes = 1000;
        cell->phases[1] = (model_phase){.name = judged_text("steady"), .timed = true};
        cell->slices = calloc(21, sizeof *cell->slices);
        cell->slices_count = 21;
        for (size_t at = 0; at < 21; at++)
            cell->slices[at] =
                (model_slice){.phase = judged_text("steady"),
                              .operations = 100,
                              .cpu_ns = moves && at > 10 ? 1100 : (uint64_t)lround(1000 * noise),
                              .has_rss = true,
                              .rss_bytes = moves && at > 10 ? 5000 : 3000};
    }
    judged_finish(j);
}

static void a_run_that_still_moves_is_flagged(void **state)
{
    judged j;
    (void)state;
    move(&j, 7, 1);
    assert_true(find(&j, TIME, 1)->has_drift);
    assert_float_equal(find(&j, TIME, 1)->drift, 1.1, 1e-9);
    assert_true(find(&j, "rss_bytes", 1)->has_drift);
    assert_float_equal(find(&j, "rss_bytes", 1)->drift, 2, 1e-9);
    assert_false(find(&j, TIME, 0)->has_drift);
    assert_false(find(&j, "rss_bytes", 0)->has_drift);
    judged_end(&j);
}

/* Two share 5 %, so that 6 rounds are too few; and a tenth is less than what A/A is off by. */
static void what_may_be_noise_is_no_drift(void **state)
{
    judged j;
    (void)state;
    move(&j, 6, 1);
    assert_false(find(&j, TIME, 1)->has_drift);
    judged_end(&j);
    move(&j, 10, 1.2);
    assert_true(verdicts_find(j.v, 0, TIME)->threshold > 0.15);
    assert_false(find(&j, TIME, 1)->has_drift);
    assert_true(find(&j, "rss_bytes", 1)->has_drift);
    judged_end(&j);
}

/* Failed second cells of the baseline: how far noise goes is not known. */
static void without_the_baseline_again_nothing_is_told(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, 0.5});
    for (uint32_t round = 0; round < 10; round++)
        judged_cell(&j, 0, round, 1)->failed = true;
    judged_finish(&j);
    assert_int_equal(find(&j, TIME, 1)->result.verdict, ABENCH_COMPARED_OPEN);
    assert_false(find(&j, TIME, 1)->has_rank);
    judged_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(better_worse_and_same_are_told),
        cmocka_unit_test(more_is_better_where_the_metric_says_so),
        cmocka_unit_test(those_that_cannot_be_told_apart_share_their_places),
        cmocka_unit_test(ranks_come_with_the_rounds_for_all_pairs),
        cmocka_unit_test(those_that_share_no_rounds_have_no_places),
        cmocka_unit_test(one_of_few_rounds_leaves_the_others_their_places),
        cmocka_unit_test(too_few_rounds_have_no_interval),
        cmocka_unit_test(noise_raises_the_threshold),
        cmocka_unit_test(what_the_baseline_does_by_itself_is_no_difference),
        cmocka_unit_test(what_only_noise_hides_is_not_called_the_same),
        cmocka_unit_test(a_metric_whose_baseline_separates_is_refused),
        cmocka_unit_test(a_refused_metric_wants_no_rounds),
        cmocka_unit_test(what_may_be_within_one_percent_is_no_refusal),
        cmocka_unit_test(a_refusal_costs_a_look_its_part_of_alpha_too),
        cmocka_unit_test(what_is_not_main_is_not_waited_for),
        cmocka_unit_test(other_work_is_no_pair),
        cmocka_unit_test(a_metric_has_the_rounds_of_its_fullest_target),
        cmocka_unit_test(a_steady_difference_within_one_percent_is_no_refusal),
        cmocka_unit_test(one_of_many_metrics_is_not_refused_by_chance),
        cmocka_unit_test(looks_come_at_their_rounds_only),
        cmocka_unit_test(a_failed_cell_puts_off_no_look),
        cmocka_unit_test(a_look_comes_no_earlier_than_its_rounds),
        cmocka_unit_test(a_threshold_is_a_number),
        cmocka_unit_test(a_look_costs_its_part_of_alpha),
        cmocka_unit_test(a_value_of_nothing_has_no_ratio),
        cmocka_unit_test(a_run_that_still_moves_is_flagged),
        cmocka_unit_test(what_may_be_noise_is_no_drift),
        cmocka_unit_test(without_the_baseline_again_nothing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
