/* What runs say beyond times: fragmentation by each definition, the allocator's own account, what
 * comes back when everything is freed, and what the machine did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/run.h>

#include "played.h"
#include "player.h"
#include "run/run.h"
#include "run_file.h"

/* A sanitizer's memory is more than a helper process could give up. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SAMPLER_OF_TAPES "thread"
#else
#define SAMPLER_OF_TAPES "process"
#endif

/* ---- fragmentation --------------------------------------------------------------------------- */

static void each_definition_has_its_formula(void **state)
{
    abench_run *run = play(LOCAL, NULL);
    const double live = metric(run, "live_bytes"), usable = metric(run, "usable_bytes");
    const double rss = metric(run, "rss_bytes");

    (void)state;
    assert_metric(run, "fragmentation_internal_per_live", (usable - live) / live);
    assert_metric(run, "fragmentation_internal_per_usable", (usable - live) / usable);
    assert_metric(run, "fragmentation_external_bytes", rss - usable);
    assert_metric(run, "fragmentation_per_rss", (rss - live) / rss);
    assert_metric(run, "heap_blowup",
                  metric(run, "rss_peak_bytes") / metric(run, "live_peak_bytes"));
    assert_true(metric(run, "live_peak_bytes") >= live);
    abench_run_destroy(run);
}

/* Johnstone and Wilson's four, worked out anew from the slices in the file. */
static void the_four_measures_come_from_the_slices(void **state)
{
    abench_run *run = play(LOCAL, NULL);
    double used = 0, asked = 0, live_peak = 0, used_then = 0, used_peak = 0, live_then = 0;
    const char *line;
    double base, value;
    result r;

    (void)state;
    write_result(run, &r);
    base = metric(run, "rss_baseline_bytes");
    for (uint32_t at = 0; (line = record_at(&r, "slice", at)) != NULL; at++) {
        const double operations = (double)number(line, "operations");
        const double live = (double)number(line, "live_bytes");
        double rss = (double)number(line, "rss_bytes") - base;
        rss = rss < 0 ? 0 : rss;
        used += rss * operations;
        asked += live * operations;
        if (live > live_peak) {
            live_peak = live;
            used_then = rss;
        }
        if (rss > used_peak) {
            used_peak = rss;
            live_then = live;
        }
    }
    assert_true(live_peak > 0);
    assert_metric(run, "fragmentation_average", used / asked - 1);
    assert_metric(run, "fragmentation_at_live_peak", used_then / live_peak - 1);
    if (is_text(r.lines[0], "allocator.family", "glibc"))
        assert_true(used_peak > 0 && live_then > 0);
    if (live_then > 0)
        assert_metric(run, "fragmentation_at_rss_peak", used_peak / live_then - 1);
    else /* a sanitizer's malloc is largest at the end, when nothing is live */
        assert_int_equal(abench_run_metric(run, "fragmentation_at_rss_peak", &value),
                         ABENCH_ERROR_NOT_FOUND);
    assert_metric(run, "fragmentation_of_peaks", used_peak / live_peak - 1);
    free_result(&r);
    abench_run_destroy(run);
}

/* The peak of a tape lies within a slice: 1000 blocks of 100 bytes, of which 600 are freed at
 * once. */
static void the_tapes_own_peak_is_exact(void **state)
{
    abench_tape_builder *b = make_builder(1, 1000, ABENCH_TOUCH_FIRST);
    abench_run *run = make_run(100000);
    abench_tape *tape;

    (void)state;
    abench_tape_builder_phase(b, "steady", ABENCH_PHASE_TIMED);
    for (uint32_t slot = 0; slot < 1000; slot++)
        abench_tape_builder_malloc(b, 0, slot, 100);
    for (uint32_t slot = 0; slot < 600; slot++)
        abench_tape_builder_free(b, 0, slot);
    tape = finish(b);
    assert_int_equal(abench_run_play_tape(run, tape, NULL), ABENCH_OK);
    assert_metric(run, "live_peak_bytes", 100000);
    assert_metric(run, "live_bytes", 40000);
    abench_tape_destroy(tape);
    abench_run_destroy(run);
}

/* ---- the allocator's own account ------------------------------------------------------------- */

static void phases_carry_the_account(void **state)
{
    abench_run *run = play(LOCAL, NULL);
    const char *baseline, *steady;
    result r;

    (void)state;
    write_result(run, &r);
    baseline = record_at(&r, "phase", 0);
    for (uint32_t at = 1; (steady = record_at(&r, "phase", at)) != NULL; at++)
        if (json_find(steady, "timed")[0] == 't')
            break;
    if (is_text(r.lines[0], "allocator.family", "glibc")) { /* and not a sanitizer's malloc */
        assert_true(number(steady, "account.uordblks") >= number(baseline, "account.uordblks"));
        assert_true(number(steady, "account.uordblks") + number(steady, "account.hblkhd") >=
                    number(steady, "live_bytes"));
        assert_true(number(steady, "account_ns") > 0);
    } else {
        assert_null(json_find(steady, "account"));
    }
    free_result(&r);
    abench_run_destroy(run);
}

static void a_callers_own_allocator_has_none(void **state)
{
    const abench_allocator allocator = honest_allocator();
    abench_run *run = play("mixed:slots=64,steps=1000", &allocator);
    result r;

    (void)state;
    write_result(run, &r);
    assert_null(json_find(record_at(&r, "phase", 1), "account"));
    free_result(&r);
    abench_run_destroy(run);
}

/* ---- what comes back ------------------------------------------------------------------------- */

static abench_run *settle_run(uint32_t settle_s, uint32_t flags)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;

    o.settle_s = settle_s;
    o.flags = flags;
    o.slice_operations = 8000;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_OK);
    return run;
}

static void memory_is_read_while_it_settles_and_after_a_purge(void **state)
{
    abench_run *run = settle_run(2, ABENCH_RUN_PURGE);
    double value;
    result r;

    (void)state;
    assert_int_equal(abench_run_play(run, LOCAL, NULL), ABENCH_OK);
    write_result(run, &r);
    assert_text(record_at(&r, "after", 0), "name", "1s");
    assert_text(record_at(&r, "after", 1), "name", "2s");
    assert_metric(run, "rss_after_1s_bytes",
                  (double)number(record_at(&r, "after", 0), "memory.rss_bytes") -
                      metric(run, "rss_baseline_bytes"));
    assert_metric(run, "rss_after_2s_bytes",
                  (double)number(record_at(&r, "after", 1), "memory.rss_bytes") -
                      metric(run, "rss_baseline_bytes"));
    assert_int_equal(abench_run_metric(run, "rss_after_4s_bytes", &value), ABENCH_ERROR_NOT_FOUND);
    if (is_text(r.lines[0], "allocator.family", "glibc")) {
        assert_text(record_at(&r, "after", 2), "name", "purged");
        assert_true(metric(run, "purge_ns") > 0);
        /* a page or two may be touched between the readings */
        assert_true(metric(run, "rss_purged_bytes") <= metric(run, "rss_drained_bytes") + 65536);
    }
    free_result(&r);
    abench_run_destroy(run);
}

static void nothing_is_purged_unasked(void **state)
{
    abench_run *run = play(LOCAL, NULL);
    double value;
    result r;

    (void)state;
    write_result(run, &r);
    assert_null(record_at(&r, "after", 0));
    assert_int_equal(abench_run_metric(run, "rss_purged_bytes", &value), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_run_metric(run, "purge_ns", &value), ABENCH_ERROR_NOT_FOUND);
    free_result(&r);
    abench_run_destroy(run);
}

/* What is not freed does not come back: there is nothing to wait for. */
static void a_tape_that_leaves_blocks_does_not_settle(void **state)
{
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
    abench_run *run = settle_run(64, ABENCH_RUN_PURGE);
    abench_tape *tape;
    result r;

    (void)state;
    abench_tape_builder_phase(b, "steady", ABENCH_PHASE_TIMED);
    abench_tape_builder_malloc(b, 0, 0, 100);
    tape = finish(b);
    assert_int_equal(abench_run_play_tape(run, tape, NULL), ABENCH_OK);
    write_result(run, &r);
    assert_null(record_at(&r, "after", 0));
    free_result(&r);
    abench_tape_destroy(tape);
    abench_run_destroy(run);
}

static void own_work_settles_behind_an_untimed_phase(void **state)
{
    abench_run *run = settle_run(1, 0);
    result r;

    (void)state;
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    assert_int_equal(abench_run_phase(run, "drained", 0), ABENCH_OK);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    write_result(run, &r);
    assert_text(record_at(&r, "after", 0), "name", "1s");
    assert_null(record_at(&r, "after", 1));
    free_result(&r);
    abench_run_destroy(run);
}

/* Its warnings so far are of no interest. */
static void start(abench_run *run)
{
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    run->warnings_count = 0;
}

/* In lockstep a run waits until the others have played, and its seconds go by meanwhile. */
static void a_reading_whose_time_has_gone_by_is_absent(void **state)
{
    abench_run *run = settle_run(2, 0);

    (void)state;
    start(run);
    run->drained_ns = abench_clock_ns() - 1500000000u;
    abench__run_after(run);
    assert_int_equal(run->after_count, 1);
    assert_string_equal(run->after[0].name, "2s");
    assert_true(abench_clock_ns() - run->drained_ns >= 2000000000u);
    assert_int_equal(run->warnings_count, 1);
    assert_non_null(strstr(run->warnings[0], "1 s after"));
    abench_run_destroy(run);
}

static int refusing_mallctl(const char *name, void *old, size_t *old_size, void *new_value,
                            size_t new_size)
{
    (void)name, (void)old, (void)old_size, (void)new_value, (void)new_size;
    return 14; /* EFAULT */
}

static void a_purge_that_the_allocator_refuses_is_told(void **state)
{
    static const played functions[] = {{"mallctl", (function)refusing_mallctl}, {NULL, NULL}};
    abench_run *run = settle_run(0, ABENCH_RUN_PURGE);

    (void)state;
    start(run);
    abench_account_close(run->account.account);
    run->account.account = open_played("jemalloc", NULL, functions);
    abench__run_after(run);
    assert_int_equal(run->after_count, 0);
    assert_int_equal(run->warnings_count, 1);
    assert_non_null(strstr(run->warnings[0], "arena.4096.purge"));
    abench_run_destroy(run);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;

    (void)state;
    o.settle_s = 129;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    o.settle_s = 0;
    o.sample_us = 999;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    o.sample_us = 0;
    o.flags = 8;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    o.flags = ABENCH_RUN_SAMPLER_THREAD | ABENCH_RUN_SAMPLER_PROCESS;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    assert_null(run);
}

static void the_environment_asks_for_it(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    setenv("ALLOCBENCH_SETTLE_S", "8", 1);
    setenv("ALLOCBENCH_PURGE", "1", 1);
    assert_int_equal(abench_run_options_from_environment(&o, &error), ABENCH_OK);
    assert_int_equal(o.settle_s, 8);
    assert_int_equal(o.flags, ABENCH_RUN_PURGE);
    setenv("ALLOCBENCH_PURGE", "0", 1);
    assert_int_equal(abench_run_options_from_environment(&o, &error), ABENCH_OK);
    assert_int_equal(o.flags, 0);
    setenv("ALLOCBENCH_SETTLE_S", "129", 1);
    assert_int_equal(abench_run_options_from_environment(&o, &error), ABENCH_ERROR_SYNTAX);
    assert_non_null(strstr(error.message, "ALLOCBENCH_SETTLE_S"));
    unsetenv("ALLOCBENCH_SETTLE_S");
    unsetenv("ALLOCBENCH_PURGE");
}

/* ---- who samples ----------------------------------------------------------------------------- */

/* A clone of a host with a large heap would cost it a fault a page. */
static void own_work_is_sampled_by_a_thread_unless_it_asks(void **state)
{
    (void)state;
    for (uint32_t asks = 0; asks < 2; asks++) {
        abench_run *run = settle_run(0, asks ? ABENCH_RUN_SAMPLER_PROCESS : 0);
        result r;
        assert_int_equal(abench_run_start(run), ABENCH_OK);
        assert_int_equal(abench_run_stop(run), ABENCH_OK);
        write_result(run, &r);
        if (!asks)
            assert_text(r.lines[0], "sampler", "thread");
        else
            assert_text(r.lines[0], "sampler", SAMPLER_OF_TAPES);
        free_result(&r);
        abench_run_destroy(run);
    }
}

static void a_tape_is_sampled_by_a_process_unless_it_asks(void **state)
{
    (void)state;
    for (uint32_t asks = 0; asks < 2; asks++) {
        abench_run *run = settle_run(0, asks ? ABENCH_RUN_SAMPLER_THREAD : 0);
        result r;
        assert_int_equal(abench_run_play(run, LOCAL, NULL), ABENCH_OK);
        write_result(run, &r);
        assert_text(r.lines[0], "sampler", asks ? "thread" : SAMPLER_OF_TAPES);
        free_result(&r);
        abench_run_destroy(run);
    }
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void the_machine_is_read_before_and_after(void **state)
{
    abench_run *run = play(LOCAL, NULL);
    const char *machine;
    result r;

    (void)state;
    write_result(run, &r);
    machine = record_at(&r, "machine", 0);
    assert_true(number(machine, "after.time_ns") > number(machine, "before.time_ns"));
    assert_true(number(machine, "before.spin_ns") > 0);
    assert_true(number(machine, "after.spin_ns") > 0);
    assert_int_equal(*json_find(machine, "changes"), '[');
    assert_null(record_at(&r, "machine", 1));
    free_result(&r);
    abench_run_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_definition_has_its_formula),
        cmocka_unit_test(the_four_measures_come_from_the_slices),
        cmocka_unit_test(the_tapes_own_peak_is_exact),
        cmocka_unit_test(phases_carry_the_account),
        cmocka_unit_test(a_callers_own_allocator_has_none),
        cmocka_unit_test(memory_is_read_while_it_settles_and_after_a_purge),
        cmocka_unit_test(nothing_is_purged_unasked),
        cmocka_unit_test(a_tape_that_leaves_blocks_does_not_settle),
        cmocka_unit_test(own_work_settles_behind_an_untimed_phase),
        cmocka_unit_test(a_reading_whose_time_has_gone_by_is_absent),
        cmocka_unit_test(a_purge_that_the_allocator_refuses_is_told),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(the_environment_asks_for_it),
        cmocka_unit_test(own_work_is_sampled_by_a_thread_unless_it_asks),
        cmocka_unit_test(a_tape_is_sampled_by_a_process_unless_it_asks),
        cmocka_unit_test(the_machine_is_read_before_and_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
