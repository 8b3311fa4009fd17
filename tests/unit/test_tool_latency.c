/* Latencies in a report: added up, cut off where they say nothing, marked where they are noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../data/report/has_text.h"

#include "tool/report/latency.h"
#include "tool/util.h"

#define CELLS_MOST 8
#define KINDS_MOST 4

typedef struct world {
    model m;
    model_workload workload;
    model_target targets[3];
    model_cell cells[CELLS_MOST];
    model_cell tails[CELLS_MOST];
    model_histogram histograms[2][CELLS_MOST][KINDS_MOST];
} world;

static char id[] = "w00", label[] = "larson:lanes=2";
static char names[3][32] = {"glibc", "x/y", "x:y"};

static void begin(world *w)
{
    memset(w, 0, sizeof *w);
    w->workload = (model_workload){.id = id, .label = label};
    for (size_t at = 0; at < 3; at++)
        w->targets[at].name = names[at];
    w->m.workloads = &w->workload;
    w->m.workloads_count = 1;
    w->m.targets = w->targets;
    w->m.targets_count = 3;
    w->m.cells = w->cells;
    w->m.tails = w->tails;
}

static model_cell *add_cell(world *w, bool tails, size_t target)
{
    const size_t at = tails ? w->m.tails_count++ : w->m.cells_count++;
    model_cell *cell = tails ? &w->tails[at] : &w->cells[at];

    *cell = (model_cell){.target = target};
    cell->histograms = w->histograms[tails][at];
    return cell;
}

/* count values, each of one bucket [value, value], of the numbers from buckets. */
static void add_histogram(model_cell *cell, const char *name, const model_bucket *buckets,
                          size_t buckets_count)
{
    model_histogram *h = &cell->histograms[cell->histograms_count++];

    *h = (model_histogram){.name = (char *)(uintptr_t)name, .interval = 1024};
    h->buckets = (model_bucket *)(uintptr_t)buckets;
    h->buckets_count = buckets_count;
    for (size_t at = 0; at < buckets_count; at++)
        h->count += buckets[at].count;
    h->minimum = buckets[0].low;
    h->maximum = buckets[buckets_count - 1].high;
}

static const model_bucket calls[] = {
    {20, 20, 50000}, {40, 40, 40000}, {100, 100, 9800}, {4096, 4159, 190}, {900000, 901000, 10}};
static const model_bucket nothing[] = {{20, 20, 99500}, {30, 30, 490}, {200, 201, 10}};

/* free() it */
static char *print(const latency *l, bool brief)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    grid *g = latency_grid(l, brief);

    grid_markdown(g, out);
    grid_free(g);
    fclose(out);
    return text;
}

#define ADD(cell, name, buckets)                                                                   \
    add_histogram(cell, name, buckets, sizeof buckets / sizeof *buckets)

static void quantiles_stand_with_what_is_behind_them(void **state)
{
    world w;
    latency *l;
    char *text;
    model_cell *cell;

    (void)state;
    begin(&w);
    cell = add_cell(&w, false, 0);
    ADD(cell, "malloc", calls);
    ADD(cell, "no-such-kind", calls);
    l = latency_make(&w.m, 0);
    assert_non_null(l);
    text = print(l, false);
    /* 200 of 100000 lie above p99.8: p99.9 would have 100 above it, p99.99 has 10. */
    assert_has(text, "| malloc | glibc | 20ns | 40ns | 100ns | 4.16us | – | 901us | 100k |");
    assert_null(strstr(text, "no-such-kind"));
    free(text);
    text = latency_title(l);
    assert_string_equal(text, "latency of single operations, one in 1024 timed");
    free(text);
    latency_free(l);
    begin(&w);
    add_cell(&w, false, 0);
    assert_null(latency_make(&w.m, 0));
    assert_false(latency_any(&w.m));
}

static void rounds_are_added_up(void **state)
{
    static const model_bucket few[] = {{50, 50, 60}}, more[] = {{50, 50, 60}, {60, 60, 300}};
    world w;
    latency *l;
    char *text;
    model_cell *cell;

    (void)state;
    begin(&w);
    ADD(add_cell(&w, false, 1), "free", few);
    l = latency_make(&w.m, 0);
    text = print(l, false);
    assert_has(text, "| free | x/y | – | – | – | – | – | 50ns | 60 |");
    free(text);
    latency_free(l);
    ADD(add_cell(&w, false, 1), "free", more);
    cell = add_cell(&w, false, 1); /* neither of these counts */
    cell->failed = true;
    ADD(cell, "free", more);
    cell = add_cell(&w, false, 1);
    cell->again = true;
    ADD(cell, "free", more);
    l = latency_make(&w.m, 0);
    text = print(l, false);
    assert_has(text, "| free | x/y | 60ns | – | – | – | – | 60ns | 420 |");
    free(text);
    latency_free(l);
}

static void what_the_machine_does_by_itself_is_marked(void **state)
{
    world w;
    latency *l;
    char *text;
    model_cell *cell;

    (void)state;
    begin(&w);
    cell = add_cell(&w, false, 0);
    ADD(cell, "malloc", calls);
    ADD(cell, "control", nothing);
    l = latency_make(&w.m, 0);
    text = print(l, false);
    /* control: p50, p90, p99 20, p99.9 30, max 201 */
    assert_has(text, "| malloc | glibc | 20ns f | 40ns f | 100ns | 4.16us | – | 901us | 100k |");
    assert_has(text, "| control | glibc | 20ns | 20ns | 20ns | 30ns | – | 201ns | 100k |");
    free(text);
    text = print(l, true);
    assert_null(strstr(text, "control"));
    free(text);
    latency_free(l);
}

static void a_terminal_has_no_columns_of_nothing(void **state)
{
    world w;
    latency *l;
    char *text;

    (void)state;
    begin(&w);
    ADD(add_cell(&w, false, 0), "malloc", calls); /* without p99.99 */
    ADD(add_cell(&w, false, 1), "malloc", nothing);
    l = latency_make(&w.m, 0);
    assert_null(latency_too_few(l));
    text = print(l, true);
    assert_has(text, "| call | target | p50 | p90 | p99 | p99.9 | max | values |\n");
    assert_has(text, "| malloc | glibc | 20ns | 40ns | 100ns | 4.16us | 901us | 100k |\n");
    free(text);
    latency_free(l);
}

static void too_few_values_for_a_table_are_a_sentence(void **state)
{
    static const model_bucket some[] = {{50, 50, 1200}}, few[] = {{50, 50, 60}};
    world w;
    latency *l;
    char *text;

    (void)state;
    begin(&w);
    ADD(add_cell(&w, false, 0), "malloc", some);
    ADD(add_cell(&w, false, 1), "malloc", few);
    ADD(add_cell(&w, false, 2), "calloc", calls); /* not on a terminal */
    l = latency_make(&w.m, 0);
    text = latency_too_few(l);
    assert_non_null(text);
    assert_string_equal(text, "60 to 1.20k values a row, too few for p99: REPORT.md has the rest; "
                              "--latency 64, a longer run or --tails give more");
    free(text);
    latency_free(l);
    w.workload.is_command = true;
    l = latency_make(&w.m, 0);
    text = latency_too_few(l);
    assert_has(text, "; --latency 64 or a longer run gives more");
    free(text);
    latency_free(l);
    w.workload.is_command = false;
    w.cells[0].histograms[0].interval = w.cells[1].histograms[0].interval = 1;
    w.cells[2].histograms[0].interval = 1;
    l = latency_make(&w.m, 0);
    text = latency_too_few(l);
    assert_has(text, "; a longer run gives more");
    free(text);
    latency_free(l);
}

static void realloc_is_shown_where_it_matters(void **state)
{
    static const model_bucket quarter[] = {{50, 50, 25000}}, less[] = {{50, 50, 24000}};
    world w;
    latency *l;
    char *text;

    (void)state;
    for (int enough = 0; enough < 2; enough++) {
        begin(&w);
        model_cell *cell = add_cell(&w, false, 0);
        ADD(cell, "malloc", calls);
        if (enough)
            ADD(cell, "realloc", quarter);
        else
            ADD(cell, "realloc", less);
        l = latency_make(&w.m, 0);
        text = print(l, true);
        assert_int_equal(strstr(text, "| realloc |") != NULL, enough);
        free(text);
        text = print(l, false);
        assert_has(text, "| realloc |");
        free(text);
        latency_free(l);
    }
}

static void above_p99_the_tail_pass_speaks(void **state)
{
    static const model_bucket all[] = {{30, 30, 9980000}, {5000, 5001, 19800}, {70000, 70001, 200}};
    world w;
    latency *l;
    char *text;

    (void)state;
    begin(&w);
    ADD(add_cell(&w, false, 0), "malloc", calls);
    ADD(add_cell(&w, false, 1), "malloc", calls);
    ADD(add_cell(&w, true, 0), "malloc", all);
    l = latency_make(&w.m, 0);
    text = print(l, true);
    assert_has(text,
               "| call | target | p50 | p90 | p99 | values | p99.9 | p99.99 | max | of all |");
    assert_has(text, "| malloc | glibc | 20ns | 40ns | 100ns | 100k | 5.05us | 5.05us | 70.0us | "
                     "10.0M |");
    /* x/y had none. */
    assert_has(text, "| malloc | x/y | 20ns | 40ns | 100ns | 100k | – | – | – | – |");
    free(text);
    text = latency_title(l);
    assert_has(text, "; above p99: of a pass that timed every one");
    free(text);
    latency_free(l);
}

static void files_are_written_for_every_kind(void **state)
{
    static const char *const files[] = {
        "w00-larson-lanes-2-glibc-malloc.hgrm", "w00-larson-lanes-2-glibc-control.hgrm",
        "w00-larson-lanes-2-glibc-malloc-tails.hgrm", "w00-larson-lanes-2-x-y-t01-malloc.hgrm",
        "w00-larson-lanes-2-x-y-t02-malloc.hgrm"};
    char folder[] = "/tmp/allocbench-test-XXXXXX", message[512], *text, *path;
    world w;
    latency *l;
    model_cell *cell;

    (void)state;
    assert_non_null(mkdtemp(folder));
    begin(&w);
    w.m.directory = folder;
    cell = add_cell(&w, false, 0);
    ADD(cell, "malloc", calls);
    ADD(cell, "control", nothing);
    ADD(add_cell(&w, false, 1), "malloc", calls);
    ADD(add_cell(&w, false, 2), "malloc", calls);
    ADD(add_cell(&w, true, 0), "malloc", calls);
    l = latency_make(&w.m, 0);
    for (int again = 0; again < 2; again++)
        if (!latency_write(l, message, sizeof message))
            fail_msg("%s", message);
    for (size_t at = 0; at < sizeof files / sizeof *files; at++) {
        path = xasprintf("%s/hgrm/%s", folder, files[at]);
        text = util_read_file(path, 1 << 20, NULL);
        if (text == NULL)
            fail_msg("no %s", path);
        assert_has(text, "Percentile");
        assert_has(text, "1.000000000000");
        free(text);
        free(path);
    }
    text = xasprintf("test $(ls '%s/hgrm' | wc -l) = 5", folder);
    assert_int_equal(system(text), 0);
    free(text);
    /* A link out of the directory is not followed. */
    text = xasprintf("rm -r '%s/hgrm' && ln -s / '%s/hgrm'", folder, folder);
    assert_int_equal(system(text), 0);
    free(text);
    assert_false(latency_write(l, message, sizeof message));
    assert_has(message, "/hgrm cannot be made");
    text = xasprintf("rm -r '%s'", folder);
    assert_int_equal(system(text), 0);
    free(text);
    latency_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_stand_with_what_is_behind_them),
        cmocka_unit_test(rounds_are_added_up),
        cmocka_unit_test(what_the_machine_does_by_itself_is_marked),
        cmocka_unit_test(a_terminal_has_no_columns_of_nothing),
        cmocka_unit_test(too_few_values_for_a_table_are_a_sentence),
        cmocka_unit_test(realloc_is_shown_where_it_matters),
        cmocka_unit_test(above_p99_the_tail_pass_speaks),
        cmocka_unit_test(files_are_written_for_every_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
