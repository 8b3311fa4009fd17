/* What a report says of the phases of a workload: peaks, recoveries, idle stretches, bands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../data/report/has_text.h"

#include "tool/report/phases.h"
#include "tool/util.h"

#define MIB         ((uint64_t)1 << 20)
#define PHASES_MOST 40
#define CELLS_MOST  8

/* A result directory in memory: one workload, two targets, cells as a test adds them. */
typedef struct world {
    model m;
    model_workload workload;
    model_target targets[2];
    model_cell cells[CELLS_MOST];
    model_phase phases[CELLS_MOST][PHASES_MOST];
    summary *s;
    verdicts *judged;
    view *v;
} world;

static char glibc[] = "glibc", jemalloc[] = "jemalloc", id[] = "w00", label[] = "server";

static void begin(world *w, const char *spec)
{
    memset(w, 0, sizeof *w);
    w->workload = (model_workload){.id = id, .label = label, .spec = (char *)(uintptr_t)spec};
    w->targets[0].name = glibc;
    w->targets[1].name = jemalloc;
    w->m.workloads = &w->workload;
    w->m.workloads_count = 1;
    w->m.targets = w->targets;
    w->m.targets_count = 2;
    w->m.rounds = 1;
    w->m.cells = w->cells;
}

static model_cell *add_cell(world *w, size_t target, uint32_t round)
{
    const size_t at = w->m.cells_count++;
    model_cell *cell = &w->cells[at];

    *cell = (model_cell){.target = target, .round = round, .in_lockstep = true, .lanes = 1};
    cell->phases = w->phases[at];
    return cell;
}

/* RSS counts from the first phase, which is the baseline. */
static void add_phase(model_cell *cell, const char *name, bool timed, uint64_t seconds,
                      uint64_t live_mib, uint64_t rss_mib)
{
    model_phase *phase = &cell->phases[cell->phases_count++];

    *phase = (model_phase){.name = (char *)(uintptr_t)name,
                           .timed = timed,
                           .time_ns = seconds * 1000000000,
                           .live_bytes = live_mib * MIB,
                           .usable_bytes = live_mib * MIB + live_mib * MIB / 4,
                           .has_usable = live_mib != 0};
    phase->memory.valid = ABENCH_MEMORY_RSS;
    phase->memory.rss_bytes = rss_mib * MIB;
}

/* From 100 MiB at second 20 down to end by the reading at second last, one each tenth of one. */
static void add_recovery(model_cell *cell, uint64_t from_s, uint64_t to_s, uint64_t top,
                         uint64_t end, uint64_t drop_ms)
{
    const uint64_t count = (to_s - from_s) * 10;

    cell->readings = xcalloc(count + 1, sizeof *cell->readings);
    for (uint64_t at = 1; at <= count; at++) {
        model_reading *reading = &cell->readings[cell->readings_count++];
        reading->time_ns = from_s * 1000000000 + at * 100000000;
        reading->memory.valid = ABENCH_MEMORY_RSS;
        reading->memory.rss_bytes = (at * 100 < drop_ms ? top : end) * MIB;
    }
}

static void finish(world *w)
{
    w->s = summary_make(&w->m);
    w->judged = verdicts_make(w->s);
    w->v = view_make(w->judged, 0);
}

static void clear(world *w)
{
    for (size_t at = 0; at < w->m.cells_count; at++)
        free(w->cells[at].readings);
    view_free(w->v);
    verdicts_free(w->judged);
    summary_free(w->s);
}

/* free() it */
static char *print(const world *w, bool markdown)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (markdown)
        phases_markdown(w->v, out);
    else
        phases_terminal(w->v, out, "", "");
    fclose(out);
    return text;
}

/* Each line is of at most 100 columns. */
static void assert_narrow(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        if (length > 110) /* some characters are more than a byte */
            fail_msg("too wide: %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* A server with two peaks: before 60, top, after; 10 MiB of RSS were there before the work. */
static void add_server(world *w, size_t target, uint32_t round, uint64_t top, uint64_t after,
                       uint64_t after_2)
{
    model_cell *cell = add_cell(w, target, round);

    add_phase(cell, "baseline", false, 0, 0, 10);
    add_phase(cell, "fill", false, 1, 20, 40);
    add_phase(cell, "steady-1", true, 10, 50, 70);
    add_phase(cell, "peak-1", true, 20, 100, 10 + top);
    add_phase(cell, "recovery-1", true, 30, 50, 10 + after);
    add_phase(cell, "steady-2", true, 40, 50, 70);
    add_phase(cell, "peak-2", true, 50, 100, 10 + top);
    add_phase(cell, "recovery-2", true, 60, 50, 10 + after_2);
    add_phase(cell, "drain", false, 61, 0, 20);
}

static const char *const server_spec = "server/1:lanes=2,time=360000000000ns,paced=0";

static void peaks_tell_what_came_back(void **state)
{
    world w;
    char *text;

    (void)state;
    begin(&w, server_spec);
    add_server(&w, 0, 0, 160, 160, 110); /* nothing, then half of it */
    add_server(&w, 1, 0, 140, 80, 60);   /* three quarters, then all */
    finish(&w);
    text = print(&w, false);
    assert_has(text, "RSS over 2 peaks");
    /* before, in, after; RSS/live of each; came back: median, first, last; no timeline */
    assert_has(text,
               "glibc (base)    60.0      160    135      1.20      1.60      2.70   25%      "
               "0%     50%   not seen\n");
    assert_has(text, "jemalloc        60.0      140   70.0      1.20      1.40      1.40   88%     "
                     "75%    100%   not seen\n");
    /* RSS/live before the first and the second peak, and at the end */
    assert_has(text, "\nglibc (base)      1.20      1.20      2.20\n");
    assert_narrow(text);
    free(text);
    text = print(&w, true);
    assert_has(text, "Each peak under glibc");
    assert_has(text, "Each peak under jemalloc");
    assert_has(text, "| peak | before MiB | in peak MiB | after MiB |");
    assert_has(text, "| 1 | 60.0 | 140 | 80.0 | 1.20 | 1.40 | 1.60 | 75% | not seen |");
    assert_has(text, "| 2 | 60.0 | 140 | 60.0 | 1.20 | 1.40 | 1.20 | 100% | not seen |");
    free(text);
    clear(&w);
}

static void rounds_are_summed_up_by_their_median(void **state)
{
    world w;
    char *text;

    (void)state;
    begin(&w, server_spec);
    add_server(&w, 0, 0, 160, 160, 160);
    add_server(&w, 0, 1, 160, 110, 110);
    add_server(&w, 0, 2, 160, 60, 60);
    add_cell(&w, 0, 3)->failed = true;
    add_server(&w, 0, 4, 900, 900, 900); /* of other phases: not to be compared */
    w.phases[4][6].name = label;
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | 60.0 | 160 | 110 | 1.20 | 1.60 | 2.20 | 50% |");
    free(text);
    clear(&w);
}

static void the_timeline_tells_how_fast(void **state)
{
    world w;
    char *text;
    model_cell *cell;

    (void)state;
    begin(&w, server_spec);
    add_server(&w, 0, 0, 160, 60, 60);
    cell = &w.cells[0];
    add_recovery(cell, 20, 30, 170, 70, 2500);
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | 60.0 | 160 | 60.0 | 1.20 | 1.60 | 1.20 | 100% | 2.50s |");
    assert_has(text, "| 2 | 60.0 | 160 | 60.0 | 1.20 | 1.60 | 1.20 | 100% | not seen |");
    free(text);
    clear(&w);
    /* Bit by bit: half of 100 MiB is back with the fifth reading. */
    begin(&w, server_spec);
    add_server(&w, 0, 0, 160, 60, 60);
    cell = &w.cells[0];
    add_recovery(cell, 20, 30, 170, 70, 0);
    for (uint64_t at = 0; at < 10; at++)
        cell->readings[at].memory.rss_bytes = (160 - 10 * at) * MIB;
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | 60.0 | 160 | 60.0 | 1.20 | 1.60 | 1.20 | 100% | 500ms |");
    free(text);
    clear(&w);
    /* Three readings do not tell. */
    begin(&w, server_spec);
    add_server(&w, 0, 0, 160, 60, 60);
    cell = &w.cells[0];
    add_recovery(cell, 20, 30, 170, 70, 100);
    cell->readings_count = 3;
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | 60.0 | 160 | 60.0 | 1.20 | 1.60 | 1.20 | 100% | not seen |");
    free(text);
    clear(&w);
}

static void a_peak_without_growth_has_no_share(void **state)
{
    world w;
    char *text;

    (void)state;
    begin(&w, server_spec);
    add_server(&w, 0, 0, 60, 60, 60);
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | 60.0 | 60.0 | 60.0 | 1.20 | 0.60 | 1.20 | – | – |");
    free(text);
    clear(&w);
    begin(&w, server_spec);
    add_server(&w, 0, 0, 40, 50, 60); /* it shrank */
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | 60.0 | 40.0 | 50.0 | 1.20 | 0.40 | 1.00 | – | – |");
    free(text);
    clear(&w);
    begin(&w, server_spec);
    add_server(&w, 0, 0, 1000, 1001, 60); /* no "-0%" */
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | 60.0 | 1000 | 1001 | 1.20 | 10.0 | 20.0 | 0% | – |");
    free(text);
    clear(&w);
}

static void what_grew_on_is_no_negative_share(void **state)
{
    world w;
    char *text;

    (void)state;
    begin(&w, server_spec);
    add_server(&w, 0, 0, 160, 181, 60);
    add_server(&w, 1, 0, 160, 160, 60);
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | 60.0 | 160 | 181 | 1.20 | 1.60 | 3.62 | grew on 21% | – |");
    assert_null(strstr(text, "-21%"));
    free(text);
    text = print(&w, false);
    assert_has(text, "grew on 21%    100%");
    assert_narrow(text);
    free(text);
    clear(&w);
}

static void what_could_not_be_read_is_not_told(void **state)
{
    world w;
    char *text;

    (void)state;
    begin(&w, server_spec);
    add_server(&w, 0, 0, 160, 60, 60);
    w.cells[0].phases[0].memory.valid = 0; /* no baseline: RSS above it is not known */
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| 1 | n/a | n/a | n/a | – | – | – | – | – |");
    free(text);
    clear(&w);
}

static void a_fast_clock_is_told(void **state)
{
    world w;
    char *sentence;

    (void)state;
    begin(&w, server_spec);
    add_server(&w, 0, 0, 160, 60, 60);
    add_server(&w, 1, 0, 160, 60, 60);
    finish(&w);
    sentence = phases_clock(w.v);
    assert_non_null(sentence);
    /* In turns: 61 s of each. */
    assert_has(sentence, "sees only 122 s of real time (the others' turns included) for 360 s of "
                         "virtual time");
    free(sentence);
    w.cells[0].in_lockstep = w.cells[1].in_lockstep = false;
    sentence = phases_clock(w.v);
    assert_has(sentence, "sees only 61 s of real time for 360 s");
    free(sentence);
    /* In real time, or slower than that, there is nothing to say. */
    w.workload.spec = (char *)(uintptr_t) "server/1:time=360000000000ns,paced=1";
    assert_null(phases_clock(w.v));
    w.workload.spec = (char *)(uintptr_t) "server/1:time=60000000000ns";
    assert_null(phases_clock(w.v));
    w.workload.spec = (char *)(uintptr_t) "";
    assert_null(phases_clock(w.v));
    clear(&w);
}

static void idle_phases_are_listed(void **state)
{
    world w;
    char *text;

    (void)state;
    begin(&w, "burst-idle/1:lanes=1");
    for (size_t target = 0; target < 2; target++) {
        model_cell *cell = add_cell(&w, target, 0);
        add_phase(cell, "baseline", false, 0, 0, 10);
        add_phase(cell, "burst", true, 1, 100, 120);
        add_phase(cell, "idle-0", false, 2, 10, 110);
        add_phase(cell, "idle-1", false, 3, 10, target == 0 ? 110 : 60);
        add_phase(cell, "drain", false, 4, 0, 20);
    }
    finish(&w);
    text = print(&w, false);
    assert_has(text, "RSS at the end of each phase\n"
                     "RSS, MiB  live  glibc  jemalloc\n"
                     "burst      100    110       110\n"
                     "idle-0    10.0    100       100\n"
                     "idle-1    10.0    100      50.0\n");
    assert_null(strstr(text, "usable/live")); /* it is the same in all of them */
    assert_null(strstr(text, "drain"));
    free(text);
    text = print(&w, true);
    assert_has(text,
               "| usable/live | glibc | jemalloc |\n|---|---:|---:|\n| burst | 1.25 | 1.25 |");
    free(text);
    w.phases[1][1].usable_bytes *= 2;
    text = print(&w, false);
    assert_has(text, "usable/live  glibc  jemalloc\n"
                     "burst         1.25      2.50\n");
    free(text);
    assert_null(phases_clock(w.v));
    clear(&w);
}

static void many_phases_are_thinned_on_a_terminal_only(void **state)
{
    static char names[PHASES_MOST][16];
    world w;
    char *text;
    model_cell *cell;

    (void)state;
    begin(&w, "sizeclass-sweep/1:lanes=1");
    cell = add_cell(&w, 0, 0);
    add_phase(cell, "baseline", false, 0, 0, 10);
    for (uint64_t at = 0; at < 30; at++) {
        snprintf(names[at], sizeof names[at], "band-%d", (int)at);
        add_phase(cell, names[at], true, at + 1, 10, 20);
    }
    finish(&w);
    text = print(&w, true);
    assert_has(text, "| band-13 | 10.0 | 10.0 |");
    for (size_t at = 0; at < 30; at++)
        assert_has(text, names[at]);
    free(text);
    text = print(&w, false);
    assert_has(text, "(some of them; all: REPORT.md)");
    assert_has(text, "band-0 ");
    assert_has(text, "band-29");
    size_t lines = 0;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 3 + 24);
    free(text);
    clear(&w);
}

static void few_phases_say_nothing(void **state)
{
    world w;
    char *text;
    model_cell *cell;

    (void)state;
    begin(&w, "mixed/1:lanes=1");
    cell = add_cell(&w, 0, 0);
    add_phase(cell, "baseline", false, 0, 0, 10);
    add_phase(cell, "fill", false, 1, 10, 20);
    add_phase(cell, "steady", true, 2, 10, 20);
    add_phase(cell, "peak-", true, 3, 10, 20);   /* no peak */
    add_phase(cell, "peak-1", false, 4, 10, 20); /* with no recovery behind it */
    finish(&w);
    text = print(&w, false);
    assert_string_equal(text, "");
    free(text);
    clear(&w);
    begin(&w, "mixed/1:lanes=1");
    cell = add_cell(&w, 0, 0);
    add_phase(cell, "baseline", false, 0, 0, 10);
    add_phase(cell, "peak-1", true, 1, 10, 20); /* with nothing before it */
    add_phase(cell, "recovery-1", true, 2, 10, 20);
    finish(&w);
    text = print(&w, false);
    assert_string_equal(text, "");
    free(text);
    clear(&w);
    begin(&w, ""); /* a harness that measured nothing */
    add_cell(&w, 0, 0);
    finish(&w);
    text = print(&w, true);
    assert_string_equal(text, "");
    free(text);
    assert_null(phases_clock(w.v));
    clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_tell_what_came_back),
        cmocka_unit_test(rounds_are_summed_up_by_their_median),
        cmocka_unit_test(the_timeline_tells_how_fast),
        cmocka_unit_test(a_peak_without_growth_has_no_share),
        cmocka_unit_test(what_grew_on_is_no_negative_share),
        cmocka_unit_test(what_could_not_be_read_is_not_told),
        cmocka_unit_test(a_fast_clock_is_told),
        cmocka_unit_test(idle_phases_are_listed),
        cmocka_unit_test(many_phases_are_thinned_on_a_terminal_only),
        cmocka_unit_test(few_phases_say_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
