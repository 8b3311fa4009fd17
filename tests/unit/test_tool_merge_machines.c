/* machines: what each machine of a merge says, and where they disagree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/report/has_text.h"
#include "../data/report/judged.h"

#include "tool/report/data.h"
#include "tool/report/machines.h"
#include "tool/report/notes.h"

static model_place places[3];

/* Rounds in turn on so many machines. */
static void spread(judged *j, size_t count)
{
    static const char *const names[] = {"alpha", "be|ta<b>", "gamma"};

    memset(places, 0, sizeof places);
    for (size_t i = 0; i < 3; i++) {
        places[i].name = judged_text(names[i]);
        abench_host_init(&places[i].host);
    }
    snprintf(places[0].host.cpu, sizeof places[0].host.cpu, "Some CPU");
    j->m.places = places;
    j->m.places_count = count;
    for (size_t i = 0; i < j->m.cells_count; i++)
        j->m.cells[i].place = j->m.cells[i].round % count;
}

/* glibc, jemalloc at 0.8, tcmalloc at 1.25, in 20 rounds. On the second machine jemalloc's time is
 * times `other`. */
static void make(judged *j, size_t machines, double other)
{
    judged_begin(j, 1, 3, 20);
    judged_fill(j, 0, "rss_bytes", "bytes", (double[]){1, 1, 0.8, 1.25});
    spread(j, machines);
    for (uint32_t round = 0; round < 20; round++) {
        model_cell *cell = judged_cell(j, 0, round, 2);
        cell->metrics[0].value *= cell->place == 1 ? other : 1;
    }
    judged_finish(j);
}

static char *markdown(const judged *j)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    machines_markdown(j->v, 0, out);
    machines_list_markdown(&j->m, out);
    fclose(out);
    return text;
}

static void one_machine_has_no_table(void **state)
{
    judged j;
    char *text;
    size_t count;

    (void)state;
    make(&j, 1, 1);
    text = markdown(&j);
    assert_string_equal(text, "");
    assert_null(machines_sentences(j.v, 0, &count));
    assert_int_equal(count, 0);
    free(text);
    judged_end(&j);
}

/* The rounds of a machine give its ratio, and no others. */
static void a_machines_ratio_is_of_its_own_rounds(void **state)
{
    const verdict_metric *metric;
    judged j;

    (void)state;
    make(&j, 2, 1.5);
    metric = verdicts_find(j.v, 0, "rss_bytes");
    assert_non_null(metric);
    for (size_t place = 0; place < 2; place++) {
        const abench_interval r = machines_ratio(j.v, metric, verdict_of(metric, 1), place);
        const double right = place == 0 ? 0.8 : 1.2;
        assert_int_equal(r.count, 10);
        assert_true(fabs(r.estimate / right - 1) < 0.005);
        assert_true(r.low <= r.estimate && r.estimate <= r.high && r.high / r.low < 1.01);
        assert_true(r.coverage >= 1 - 0.05 / 4); /* two targets, two machines */
    }
    judged_end(&j);
}

static void machines_that_disagree_are_named(void **state)
{
    judged j;
    note_list notes;
    char **list;
    size_t count, found = 0;

    (void)state;
    make(&j, 2, 1.5);
    list = machines_sentences(j.v, 0, &count);
    assert_int_equal(count, 1); /* of jemalloc, not of tcmalloc */
    assert_has(list[0], "RSS: the machines disagree on jemalloc, x0.80");
    assert_has(list[0], " on alpha and x1.20");
    assert_has(list[0], " on be|ta<b>: ");
    notes = notes_verdicts(j.v, 0);
    for (size_t i = 0; i < notes.count; i++)
        found += strcmp(notes.items[i].text, list[0]) == 0;
    assert_int_equal(found, 1);
    notes_free(&notes);
    free(list[0]);
    free(list);
    judged_end(&j);
}

static void machines_that_agree_are_not(void **state)
{
    judged j;
    size_t count;

    (void)state;
    make(&j, 2, 1);
    free(machines_sentences(j.v, 0, &count));
    assert_int_equal(count, 0);
    judged_end(&j);
}

static void the_table_has_a_line_a_machine(void **state)
{
    judged j;
    char *text;

    (void)state;
    make(&j, 2, 1.5);
    text = markdown(&j);
    assert_has(text, "| machine | rounds | jemalloc | tcmalloc |\n|---|---:|---:|---:|\n");
    assert_has(text, "| alpha | 10 | x0.80");
    assert_has(text, "| be\\|ta&lt;b&gt; | 10 | x1.20");
    assert_has(text, "**RSS**");
    assert_lacks(text, "<b>");
    assert_lacks(text, "needs");
    assert_has(text, "| alpha | 10 | Some CPU |");
    free(text);
    judged_end(&j);
}

/* 20 rounds of three machines are 7, 7 and 6; 8 each are needed at alpha / (2 targets * 3). */
static void too_few_rounds_of_a_machine_have_no_interval(void **state)
{
    const verdict_metric *metric;
    judged j;
    char *text;
    size_t count;

    (void)state;
    make(&j, 3, 1.5);
    metric = verdicts_find(j.v, 0, "rss_bytes");
    assert_true(isnan(machines_ratio(j.v, metric, verdict_of(metric, 1), 1).low));
    text = markdown(&j);
    assert_has(text, "For an interval of its own a machine needs 8 rounds.");
    assert_has(text, "| alpha | 7 | x0.800");
    assert_has(text, "| gamma | 6 | x0.799");
    assert_lacks(text, "[");
    free(machines_sentences(j.v, 0, &count)); /* nothing is proven */
    assert_int_equal(count, 0);
    free(text);
    judged_end(&j);
}

/* A target that a machine did not run, or failed on. */
static char *raw(const model *m)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    data_raw(m, out);
    fclose(out);
    return text;
}

/* In raw.tsv the machine stands behind the value: that of the cell, or the only one. */
static void each_value_names_its_machine(void **state)
{
    judged j;
    char *text;
    (void)state;
    make(&j, 2, 1);
    text = raw(&j.m);
    assert_has(text, "\tfile\tmachine\n");
    assert_has(text, "\nmixed\t0\tglibc\t0\trss_bytes\tbytes\t");
    assert_has(text, "\t\talpha\nmixed\t1\tglibc\t0\t");
    assert_has(text, "\t\tbe|ta<b>\nmixed\t2\tglibc\t0\t");
    free(text);
    j.m.places_count = 0;
    snprintf(j.m.host.hostname, sizeof j.m.host.hostname, "here");
    text = raw(&j.m);
    assert_has(text, "\t\there\nmixed\t1\tglibc\t0\t");
    free(text);
    judged_end(&j);
}

static void rounds_that_a_target_lacks_are_told(void **state)
{
    judged j;
    char *text;

    (void)state;
    judged_begin(&j, 1, 3, 20);
    judged_fill(&j, 0, "rss_bytes", "bytes", (double[]){1, 1, 0.8, 1.25});
    spread(&j, 2);
    for (uint32_t round = 1; round < 20; round += 2)
        judged_cell(&j, 0, round, 2)->failed = true;
    judged_cell(&j, 0, 0, 3)->failed = true;
    judged_finish(&j);
    text = markdown(&j);
    assert_has(text, "| be\\|ta&lt;b&gt; | 10 | n/a | x1.2");
    assert_has(text, " (9 rounds) |\n");
    free(text);
    judged_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_machine_has_no_table),
        cmocka_unit_test(a_machines_ratio_is_of_its_own_rounds),
        cmocka_unit_test(machines_that_disagree_are_named),
        cmocka_unit_test(machines_that_agree_are_not),
        cmocka_unit_test(the_table_has_a_line_a_machine),
        cmocka_unit_test(too_few_rounds_of_a_machine_have_no_interval),
        cmocka_unit_test(each_value_names_its_machine),
        cmocka_unit_test(rounds_that_a_target_lacks_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
