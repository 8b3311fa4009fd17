/* --sweep and --lanes T,T: what they vary, and what they leave alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/commands.h"
#include "tool/sweep.h"
#include "tool/targets.h"
#include "tool/util.h"
#include "tool/workloads.h"

static char said[8192];

/* A call of run, as far as sweeps are concerned; lists end with NULL. */
typedef struct call {
    const char *workloads[4];
    const char *targets[4];
    const char *sweeps[4];
    const char *baseline;
    uint32_t lanes[3]; /* 0 behind the last */
    const char *cpus;
} call;

static arguments arguments_of(call *c)
{
    arguments a = {.workloads = c->workloads,
                   .targets = c->targets,
                   .sweeps = c->sweeps,
                   .lane_list = c->lanes,
                   .baseline = c->baseline};

    while (c->workloads[a.workloads_count] != NULL)
        a.workloads_count++;
    while (c->targets[a.targets_count] != NULL)
        a.targets_count++;
    while (c->sweeps[a.sweeps_count] != NULL)
        a.sweeps_count++;
    while (c->lanes[a.lane_count] != 0)
        a.lane_count++;
    return a;
}

static int read_all(matrix *m, const arguments *a)
{
    char message[1024];
    sweeps swept;
    int status;

    if (!sweeps_read(a, &swept, message, sizeof message))
        return command_fail(EXIT_USAGE, "%s", message);
    status = workloads_read(m, a, &swept);
    if (status == EXIT_OK && a->targets_count > 0)
        status = targets_read(m, a, &swept);
    sweeps_clear(&swept);
    return status;
}

static int read_call(call c, matrix *m)
{
    arguments a = arguments_of(&c);
    FILE *file = tmpfile();
    const int errors = dup(STDERR_FILENO);
    int status;

    assert_non_null(file);
    memset(m, 0, sizeof *m);
    m->lock = -1;
    m->seed = 1;
    m->cpus = c.cpus == NULL ? NULL : xstrdup(c.cpus);
    dup2(fileno(file), STDERR_FILENO);
    status = read_all(m, &a);
    fflush(stderr);
    dup2(errors, STDERR_FILENO);
    close(errors);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return status;
}

static void clear(matrix *m)
{
    matrix_clear_work(m);
    free(m->cpus);
    target_list_free(m->targets, m->targets_count);
}

static matrix take(call c)
{
    matrix m;

    if (read_call(c, &m) != EXIT_OK)
        fail_msg("%s", said);
    return m;
}

static void refuse(call c, const char *text)
{
    matrix m;

    if (read_call(c, &m) != EXIT_USAGE || strstr(said, text) == NULL)
        fail_msg("'%s' does not say '%s'", said, text);
    clear(&m);
}

static void has_workloads(const matrix *m, const char *const *labels)
{
    size_t count = 0;

    for (; labels[count] != NULL; count++) {
        assert_true(count < m->workloads_count);
        assert_string_equal(m->workloads[count].label, labels[count]);
    }
    assert_int_equal(m->workloads_count, count);
}

static void has_targets(const matrix *m, const char *const *names)
{
    size_t count = 0;

    for (; names[count] != NULL; count++) {
        assert_true(count < m->targets_count);
        assert_string_equal(m->targets[count].name, names[count]);
    }
    assert_int_equal(m->targets_count, count);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- workloads ------------------------------------------------------------------------------- */

static void a_parameter_varies_the_workloads_that_have_it(void **state)
{
    matrix m =
        take((call){.workloads = {"mixed:steps=9", "burst-idle"}, .sweeps = {"slots=10,20"}});

    (void)state;
    has_workloads(&m, LIST("mixed:slots=10,steps=9", "mixed:slots=20,steps=9", "burst-idle"));
    assert_non_null(strstr(m.workloads[1].spec, "slots=20"));
    assert_int_equal(m.notes_count, 1);
    assert_string_equal(m.notes[0], "burst-idle: it has no parameter 'slots', and is played once");
    clear(&m);
}

static void several_sweeps_multiply(void **state)
{
    matrix m = take((call){.workloads = {"mixed"}, .sweeps = {"slots=10,20", "steps=7,8"}});

    (void)state;
    has_workloads(&m, LIST("mixed:slots=10,steps=7", "mixed:slots=10,steps=8",
                           "mixed:slots=20,steps=7", "mixed:slots=20,steps=8"));
    clear(&m);
}

static void a_list_of_lanes_is_a_sweep_of_workloads(void **state)
{
    matrix m = take((call){.workloads = {"mixed", "mixed:lanes=3"}, .lanes = {1, 4}});

    (void)state;
    has_workloads(&m, LIST("mixed:lanes=1", "mixed:lanes=4", "mixed:lanes=3"));
    assert_int_equal(workloads_lanes(&m, &m.workloads[1]), 4);
    assert_int_equal(m.notes_count, 1);
    assert_string_equal(m.notes[0],
                        "mixed:lanes=3: its spec names its lanes, so --lanes does not vary it");
    clear(&m);
}

static void a_parameter_that_is_named_or_that_none_has_is_refused(void **state)
{
    (void)state;
    refuse((call){.workloads = {"mixed:slots=5"}, .sweeps = {"slots=1,2"}},
           "workload 'mixed:slots=5' names its slots, which --sweep varies: leave one of them out");
    refuse((call){.workloads = {"mixed"}, .sweeps = {"stots=1,2"}}, "did you mean 'slots'?");
    refuse((call){.workloads = {"mixed"}, .sweeps = {"cpu=1,2"}}, "did you mean 'cpus'?");
    refuse((call){.workloads = {"mixed"}, .sweeps = {"slots=1,x"}}, "slots is a whole number");
    refuse((call){.workloads = {"mixd"}, .sweeps = {"slots=1,2"}}, "did you mean 'mixed'");
    refuse((call){.workloads = {"tape:/no/such"}, .lanes = {1, 2}}, "/no/such");
    refuse((call){.lanes = {1, 2}}, "--lanes with several numbers is for workloads");
}

/* ---- targets --------------------------------------------------------------------------------- */

static void a_variable_varies_every_target_but_the_baseline(void **state)
{
    matrix m = take((call){.targets = {"glibc", "jemalloc", "own=/no/such.so,B=1"},
                           .sweeps = {"MALLOC_CONF=a:1,a:2"}});

    (void)state;
    has_targets(&m, LIST("glibc", "jemalloc:MALLOC_CONF=a:1", "jemalloc:MALLOC_CONF=a:2",
                         "own:MALLOC_CONF=a:1", "own:MALLOC_CONF=a:2"));
    assert_int_equal(m.baseline, 0);
    assert_string_equal(m.targets[2].spec, "jemalloc:MALLOC_CONF=a:2");
    assert_string_equal(m.targets[4].spec, "own=/no/such.so,B=1,MALLOC_CONF=a:2");
    assert_true(target_sets(&m.targets[4], "B") && target_sets(&m.targets[4], "MALLOC_CONF"));
    clear(&m);
}

static void the_baseline_is_varied_when_it_is_alone(void **state)
{
    matrix m = take((call){.targets = {"glibc"}, .sweeps = {"MALLOC_ARENA_MAX=1,2"}});

    (void)state;
    has_targets(&m, LIST("glibc:MALLOC_ARENA_MAX=1", "glibc:MALLOC_ARENA_MAX=2", "glibc"));
    assert_int_equal(m.baseline, 2);
    clear(&m);
    m = take((call){.targets = {"glibc"},
                    .sweeps = {"MALLOC_ARENA_MAX=1,2"},
                    .baseline = "glibc:MALLOC_ARENA_MAX=2"});
    has_targets(&m, LIST("glibc:MALLOC_ARENA_MAX=1", "glibc:MALLOC_ARENA_MAX=2"));
    assert_int_equal(m.baseline, 1);
    clear(&m);
    m = take((call){.targets = {"b=/no/such.so", "glibc"}, .sweeps = {"A=1"}, .baseline = "b"});
    has_targets(&m, LIST("b", "glibc:A=1"));
    clear(&m);
}

static void factors_are_of_the_targets_and_multiply(void **state)
{
    matrix m =
        take((call){.targets = {"glibc:B=1"}, .sweeps = {"thp=never,inherit", "cpus=0;0,1"}});

    (void)state;
    has_targets(&m,
                LIST("glibc:B=1,thp=never,cpus=0", "glibc:B=1,thp=never,cpus=0,1",
                     "glibc:B=1,thp=inherit,cpus=0", "glibc:B=1,thp=inherit,cpus=0,1", "glibc"));
    assert_true(m.targets[0].thp_never && !m.targets[2].thp_never);
    assert_int_equal(CPU_COUNT(&m.targets[1].cpus), 2);
    clear(&m);
}

static void what_a_target_sets_itself_is_not_varied(void **state)
{
    (void)state;
    refuse((call){.targets = {"glibc", "jemalloc:A=1"}, .sweeps = {"A=1,2"}},
           "target 'jemalloc:A=1' sets A, which --sweep varies");
    refuse((call){.targets = {"glibc"}, .sweeps = {"LD_PRELOAD=x,y"}}, "LD_PRELOAD is the tool's");
    refuse((call){.targets = {"glibc"}, .sweeps = {"thp=always"}}, "thp is never or inherit");
}

static void cpus_are_for_those_that_have_none(void **state)
{
    matrix m = take((call){.targets = {"glibc", "glibc:cpus=1"}, .cpus = "0"});

    (void)state;
    assert_true(m.targets[0].has_cpus && CPU_ISSET(0, &m.targets[0].cpus));
    assert_int_equal(CPU_COUNT(&m.targets[0].cpus), 1);
    assert_true(target_sets(&m.targets[0], "cpus")); /* which is recorded */
    assert_true(CPU_ISSET(1, &m.targets[1].cpus) && !CPU_ISSET(0, &m.targets[1].cpus));
    assert_string_equal(m.targets[0].name, "glibc");
    clear(&m);
    refuse((call){.targets = {"glibc"}, .cpus = "0-"}, "--cpus '0-': a list like 0-1,3 is wanted");
}

/* ---- the words ------------------------------------------------------------------------------- */

static void values_are_separated_by_commas_or_semicolons(void **state)
{
    char message[512];
    sweep s;

    (void)state;
    assert_true(sweep_parse("A=x:1,y:2;z", &s, message, sizeof message));
    assert_int_equal(s.count, 2);
    assert_string_equal(s.values[0], "x:1,y:2");
    assert_string_equal(s.values[1], "z");
    assert_true(s.of_targets);
    sweeps_clear(&(sweeps){memcpy(xmalloc(sizeof s), &s, sizeof s), 1});
    assert_true(sweep_parse("A=x,y;", &s, message, sizeof message)); /* one value */
    assert_int_equal(s.count, 1);
    assert_string_equal(s.values[0], "x,y");
    sweeps_clear(&(sweeps){memcpy(xmalloc(sizeof s), &s, sizeof s), 1});
}

static void wrong_words_are_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"A", "KEY=VALUE,VALUE,... is wanted"},
        {"=1", "KEY=VALUE,VALUE,... is wanted"},
        {"A B=1", "KEY=VALUE,VALUE,... is wanted"},
        {"1A=1", "KEY=VALUE,VALUE,... is wanted"},
        {"A=", "a value is empty"},
        {"A=1,,2", "a value is empty"},
        {"A=1,2,1", "names 1 twice"},
        {"A=;", "a value is empty"},
    };
    char message[512];
    sweep s;

    (void)state;
    for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        if (sweep_parse(wrong[at][0], &s, message, sizeof message))
            fail_msg("'%s' is taken", wrong[at][0]);
        if (strstr(message, wrong[at][1]) == NULL)
            fail_msg("'%s' does not say '%s'", message, wrong[at][1]);
    }
    refuse((call){.targets = {"glibc"}, .sweeps = {"A=1", "A=2"}}, "'A' is swept twice");
    refuse((call){.workloads = {"mixed"}, .sweeps = {"lanes=1"}, .lanes = {1, 2}},
           "'lanes' is swept twice: write its values behind one --lanes");
}

/* "KEY=1,2,3..."; free() it. */
static char *many(const char *key, int count)
{
    char *text = xasprintf("%s=1", key);

    for (int at = 2; at <= count; at++) {
        char *more = xasprintf("%s,%d", text, at);
        free(text);
        text = more;
    }
    return text;
}

static void too_many_combinations_are_refused(void **state)
{
    char *a = many("A", 100), *more = many("A", 101), *b = many("B", 3);
    char *slots = many("slots", 100), *steps = many("steps", 3);

    (void)state;
    refuse((call){.targets = {"glibc"}, .sweeps = {more}}, "more than 100 values");
    refuse((call){.targets = {"glibc"}, .sweeps = {a, b}}, "more than 200 variants of each target");
    refuse((call){.targets = {"x=/no/x.so", "y=/no/y.so", "z=/no/z.so"}, .sweeps = {a}},
           "more than 200 targets");
    refuse((call){.workloads = {"mixed"}, .sweeps = {slots, steps}},
           "more than 200 variants of workload 'mixed'");
    refuse((call){.workloads = {"mixed", "mixed:steps=3", "mixed:steps=4"}, .sweeps = {slots}},
           "more than 200 workloads");
    free(steps);
    free(slots);
    free(b);
    free(more);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_varies_the_workloads_that_have_it),
        cmocka_unit_test(several_sweeps_multiply),
        cmocka_unit_test(a_list_of_lanes_is_a_sweep_of_workloads),
        cmocka_unit_test(a_parameter_that_is_named_or_that_none_has_is_refused),
        cmocka_unit_test(a_variable_varies_every_target_but_the_baseline),
        cmocka_unit_test(the_baseline_is_varied_when_it_is_alone),
        cmocka_unit_test(factors_are_of_the_targets_and_multiply),
        cmocka_unit_test(what_a_target_sets_itself_is_not_varied),
        cmocka_unit_test(cpus_are_for_those_that_have_none),
        cmocka_unit_test(values_are_separated_by_commas_or_semicolons),
        cmocka_unit_test(wrong_words_are_refused),
        cmocka_unit_test(too_many_combinations_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
