/* Thresholds: what can be written, where it is wrong, and what an interval proves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../data/report/has_text.h"

#include "tool/gate.h"

static gate read_gate(const char *text)
{
    char message[512] = "";
    gate g;

    if (!gate_parse(text, &g, message, sizeof message))
        fail_msg("%s", message);
    return g;
}

static void assert_refused(const char *text, const char *part)
{
    char message[1024] = "";
    gate g;

    if (gate_parse(text, &g, message, sizeof message))
        fail_msg("%s is taken", text);
    assert_has(message, part);
    assert_null(strchr(message, '\n'));
    assert_null(g.text); /* it was cleared */
}

/* ---- the grammar ----------------------------------------------------------------------------- */

static void limits_are_read(void **state)
{
    static const struct {
        const char *text;
        bool above;
        bool or_equal;
        gate_unit unit;
        double limit;
    } rows[] = {
        {"rss>+5%", true, false, GATE_RATIO, 1.05},
        {"rss>5%", true, false, GATE_RATIO, 1.05},
        {"rss<-10%", false, false, GATE_RATIO, 0.9},
        {"rss >= 0.5 %", true, true, GATE_RATIO, 1.005},
        {"time<=1.25x", false, true, GATE_RATIO, 1.25},
        {"rss_bytes>100MiB", true, false, GATE_BYTES, 104857600},
        {"rss_bytes>1.5GiB", true, false, GATE_BYTES, 1610612736},
        {"rss_bytes>2kB", true, false, GATE_BYTES, 2000},
        {"rss_bytes>1KiB", true, false, GATE_BYTES, 1024},
        {"rss_bytes>7B", true, false, GATE_BYTES, 7},
        {"a>3MB", true, false, GATE_BYTES, 3e6},
        {"a>3GB", true, false, GATE_BYTES, 3e9},
        {"wall_ns<20ms", false, false, GATE_TIME, 2e7},
        {"wall_ns<20us", false, false, GATE_TIME, 2e4},
        {"wall_ns<20ns", false, false, GATE_TIME, 20},
        {"wall_ns<2s", false, false, GATE_TIME, 2e9},
        {"\trss_per_live > 1.5 ", true, false, GATE_PLAIN, 1.5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gate g = read_gate(rows[i].text);
        assert_string_equal(g.text, rows[i].text);
        assert_int_equal(g.above, rows[i].above);
        assert_int_equal(g.or_equal, rows[i].or_equal);
        assert_int_equal(g.unit, rows[i].unit);
        if (!(fabs(g.limit - rows[i].limit) <= 1e-12 * rows[i].limit))
            fail_msg("%s: %.17g", rows[i].text, g.limit);
        assert_null(g.target);
        assert_null(g.workload);
        gate_clear(&g);
    }
}

static void scopes_are_read(void **state)
{
    static const struct {
        const char *text;
        const char *target;
        const char *workload;
    } rows[] = {
        {"rss@jemalloc>5%", "jemalloc", NULL},
        {"rss@jemalloc@mixed>5%", "jemalloc", "mixed"},
        {"rss @ * @ mixed:lanes=1 > 5%", NULL, "mixed:lanes=1"},
        {"rss@*>5%", NULL, NULL},
        {"rss@\"a@b>c d\"@\"sh -c 'x > y'\">5%", "a@b>c d", "sh -c 'x > y'"},
        {"rss@\"*\">5%", "*", NULL},
        {"rss@caf\303\251>5%", "caf\303\251", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gate g = read_gate(rows[i].text);
        assert_string_equal(g.metric, "rss");
        if (rows[i].target == NULL)
            assert_null(g.target);
        else
            assert_string_equal(g.target, rows[i].target);
        if (rows[i].workload == NULL)
            assert_null(g.workload);
        else
            assert_string_equal(g.workload, rows[i].workload);
        gate_clear(&g);
    }
}

static void what_is_wrong_is_told_with_its_column(void **state)
{
    (void)state;
    assert_refused("", "column 1: a metric is wanted");
    assert_refused("  >5%", "column 3: a metric is wanted");
    assert_refused("5%", "column 1: a metric is wanted");
    assert_refused("rss", "column 4: one of > >= < <=");
    assert_refused("rss=5%", "column 4: no threshold is met to the last digit");
    assert_refused("rss>", "column 5: a number is wanted");
    assert_refused("rss>+", "column 6: a number is wanted");
    assert_refused("rss>.5%", "column 5: a number is wanted");
    assert_refused("rss>5.%", "column 7: a digit is wanted");
    assert_refused("rss>+5", "column 7: a % is wanted");
    assert_refused("rss>+5MiB", "column 7: a % is wanted");
    assert_refused("rss>5mib", "column 6: there is no unit 'mib'");
    assert_refused("rss>5%%", "column 7: nothing is wanted behind the limit");
    assert_refused("rss>5% and time>5%", "column 8: nothing");
    assert_refused("rss>-100%", "column 5: nothing is less than nothing");
    assert_refused("rss>0x10", "column 7: nothing is wanted"); /* no hexadecimal */
    assert_refused("rss>inf", "column 5: a number is wanted");
    assert_refused("rss>99999999999999999999", "column 5: this number is too large");
    assert_refused("rss@>5%", "column 5: a name is wanted");
    assert_refused("rss@a@b@c>5%", "column 8: one of");
    assert_refused("rss@\"a>5%", "column 5: this quotation mark has no other");
    assert_refused("rss@\"\">5%", "column 6: a name is wanted");
    assert_refused("rss@caf\303\251>x", "column 10: a number"); /* characters, not bytes */
    assert_refused("rss\033>5%\n", "'rss?>5%?', column 4");
}

static void a_long_text_is_refused_and_cut(void **state)
{
    char text[3000], message[512];
    gate g;

    (void)state;
    memset(text, 'a', sizeof text);
    memcpy(text + sizeof text - 4, ">5%", 4);
    assert_false(gate_parse(text, &g, message, sizeof message));
    assert_has(message, "longer than 1000 bytes");
    assert_true(strlen(message) < 400);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void a_workload_goes_by_label_name_or_id(void **state)
{
    gate g = read_gate("rss@*@mixed>5%");

    (void)state;
    assert_true(gate_is_of(&g, "mixed:lanes=1", "w00"));
    assert_true(gate_is_of(&g, "mixed", "w00"));
    assert_false(gate_is_of(&g, "mixed2:lanes=1", "w00"));
    assert_false(gate_is_of(&g, "mix", "w00"));
    gate_clear(&g);
    g = read_gate("rss@*@w01>5%");
    assert_true(gate_is_of(&g, "mixed", "w01"));
    assert_false(gate_is_of(&g, "mixed", "w00"));
    gate_clear(&g);
    g = read_gate("rss>5%");
    assert_true(gate_is_of(&g, "any", "w07"));
    gate_clear(&g);
}

static void assert_names(const char *text, const char *name)
{
    gate g = read_gate(text);
    bool found = false;

    for (size_t i = 0; !found; i++) {
        char *other = gate_metric_name(&g, i);
        if (other == NULL)
            fail_msg("%s does not stand for %s", text, name);
        found = strcmp(other, name) == 0;
        free(other);
    }
    gate_clear(&g);
}

static void short_names_stand_for_metrics(void **state)
{
    gate g = read_gate("rss>5%");
    char *name;

    (void)state;
    assert_names("rss>5%", "rss_bytes");
    assert_names("rss>5%", "peak_rss_bytes");
    assert_names("peak>5%", "rss_peak_bytes");
    assert_names("time>5%", "time_ns_per_operation");
    assert_names("time>5%", "wall_ns");
    assert_names("drained>5%", "rss_drained_bytes");
    assert_names("rss_median>5%", "rss_median_bytes");
    assert_names("wall>5%", "wall_ns");
    assert_names("peak_recovered>5%", "peak_recovered_ratio");
    assert_names("own>5%", "own");
    name = gate_metric_name(&g, 0); /* a metric that is called so is meant first */
    assert_string_equal(name, "rss");
    free(name);
    assert_null(gate_metric_name(&g, 6));
    assert_null(gate_metric_name(&g, 1000));
    gate_clear(&g);
}

/* ---- judging --------------------------------------------------------------------------------- */

static gate_case between(double low, double high)
{
    gate_case c = {.unit = "bytes", .noise = 0};

    abench_interval_init(&c.found);
    c.found.count = 10;
    c.found.estimate = (low + high) / 2;
    c.found.low = low;
    c.found.high = high;
    return c;
}

static void assert_judged(const char *text, gate_case c, gate_result wanted)
{
    gate g = read_gate(text);
    const char *why;
    const gate_result result = gate_judge(&g, &c, &why);

    if (result != wanted)
        fail_msg("%s of %g to %g: %s, not %s", text, c.found.low, c.found.high,
                 gate_result_name(result), gate_result_name(wanted));
    gate_clear(&g);
}

static void only_the_whole_interval_proves(void **state)
{
    (void)state;
    assert_judged("rss>+5%", between(1.06, 1.09), GATE_FAILED);
    assert_judged("rss>+5%", between(1.04, 1.09), GATE_UNKNOWN);
    assert_judged("rss>+5%", between(0.99, 1.04), GATE_PASSED);
    assert_judged("rss<-5%", between(0.90, 0.94), GATE_FAILED);
    assert_judged("rss<-5%", between(0.90, 0.96), GATE_UNKNOWN);
    assert_judged("rss<-5%", between(0.96, 1.09), GATE_PASSED);
    assert_judged("rss>-10%", between(0.91, 0.95), GATE_FAILED); /* not as much less as wanted */
    assert_judged("rss>-10%", between(0.80, 0.85), GATE_PASSED);
}

static void the_limit_itself_counts_with_an_equals_sign(void **state)
{
    (void)state;
    assert_judged("rss>1.5x", between(1.5, 1.6), GATE_UNKNOWN);
    assert_judged("rss>=1.5x", between(1.5, 1.6), GATE_FAILED);
    assert_judged("rss>1.5x", between(1.4, 1.5), GATE_PASSED);
    assert_judged("rss>=1.5x", between(1.4, 1.5), GATE_UNKNOWN);
    assert_judged("rss<0.5x", between(0.4, 0.5), GATE_UNKNOWN);
    assert_judged("rss<=0.5x", between(0.4, 0.5), GATE_FAILED);
    assert_judged("rss<0.5x", between(0.5, 0.6), GATE_PASSED);
    assert_judged("rss<=0.5x", between(0.5, 0.6), GATE_UNKNOWN);
}

static void a_limit_within_noise_moves_to_its_edge(void **state)
{
    gate_case c = between(1.01, 1.02);
    gate g = read_gate("rss>+0.5%");
    const char *why;

    (void)state;
    c.noise = 0.03;
    assert_int_equal(gate_judge(&g, &c, &why), GATE_UNKNOWN);
    assert_has(why, "A/A reaches further");
    gate_clear(&g);
    c.noise = 0.005;
    assert_judged("rss>+0.5%", c, GATE_FAILED);
    c = between(1.001, 1.004);
    c.noise = 0.03;
    assert_judged("rss>+0.5%", c, GATE_PASSED);
    c = between(1.031, 1.04);
    c.noise = 0.03;
    assert_judged("rss>+0.5%", c, GATE_FAILED);
    c = between(0.96, 0.98); /* 1 / 1.03 is 0.971 */
    c.noise = 0.03;
    assert_judged("rss<-1%", c, GATE_UNKNOWN);
    c = between(0.96, 0.97);
    c.noise = 0.03;
    assert_judged("rss<-1%", c, GATE_FAILED);
    c = between(1.06, 1.09); /* a limit beyond it stays where it is */
    c.noise = 0.03;
    assert_judged("rss>+5%", c, GATE_FAILED);
    c.noise = NAN; /* no A/A: who knows */
    assert_judged("rss>+5%", c, GATE_UNKNOWN);
    c = between(104857601, 2e8); /* and one of a value */
    c.noise = 0.9;
    assert_judged("rss>100MiB", c, GATE_FAILED);
}

static void what_cannot_be_known_is_not_guessed(void **state)
{
    gate_case c = between(NAN, NAN);

    (void)state;
    assert_judged("rss>+5%", c, GATE_UNKNOWN);
    c = between(1.5, 1.6);
    c.refused = true;
    assert_judged("rss>+5%", c, GATE_UNKNOWN);
    assert_judged("rss>1", c, GATE_FAILED); /* values do not depend on the baseline */
    c = between(1.5, 1.6);
    c.found.count = 0;
    assert_judged("rss>+5%", c, GATE_UNKNOWN);
}

static void a_limit_has_the_dimension_of_its_metric(void **state)
{
    gate bytes = read_gate("a>1MiB"), ns = read_gate("a>1ms"), plain = read_gate("a>1"),
         ratio = read_gate("a>1%");

    (void)state;
    assert_true(gate_fits(&bytes, "bytes"));
    assert_false(gate_fits(&bytes, "ns"));
    assert_true(gate_fits(&ns, "ns"));
    assert_false(gate_fits(&ns, "count"));
    assert_true(gate_fits(&plain, "count"));
    assert_true(gate_fits(&ratio, "count"));
    gate_clear(&bytes);
    gate_clear(&ns);
    gate_clear(&plain);
    gate_clear(&ratio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_read),
        cmocka_unit_test(scopes_are_read),
        cmocka_unit_test(what_is_wrong_is_told_with_its_column),
        cmocka_unit_test(a_long_text_is_refused_and_cut),
        cmocka_unit_test(a_workload_goes_by_label_name_or_id),
        cmocka_unit_test(short_names_stand_for_metrics),
        cmocka_unit_test(only_the_whole_interval_proves),
        cmocka_unit_test(the_limit_itself_counts_with_an_equals_sign),
        cmocka_unit_test(a_limit_within_noise_moves_to_its_edge),
        cmocka_unit_test(what_cannot_be_known_is_not_guessed),
        cmocka_unit_test(a_limit_has_the_dimension_of_its_metric),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
