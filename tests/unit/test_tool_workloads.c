/* From the words of the command line to what a cell is told to play. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/workload.h>

#include "tool/commands.h"
#include "tool/util.h"
#include "tool/workloads.h"

static char said[8192]; /* on standard error */

static int read_them(matrix *m, arguments *a, const char *const *words, size_t count)
{
    FILE *file = tmpfile();
    const int errors = dup(STDERR_FILENO);
    char message[512];
    sweeps swept;
    int status;

    assert_non_null(file);
    a->workloads = (const char **)(uintptr_t)words;
    a->workloads_count = count;
    m->seed = 1;
    m->duration_ms = (uint64_t)(a->duration_s * 1000);
    dup2(fileno(file), STDERR_FILENO);
    status = sweeps_read(a, &swept, message, sizeof message)
                 ? workloads_read(m, a, &swept)
                 : command_fail(EXIT_USAGE, "%s", message);
    sweeps_clear(&swept);
    fflush(stderr);
    dup2(errors, STDERR_FILENO);
    close(errors);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return status;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
}

/* One workload becomes this label; a parameter of its canonical spec is as it should be. */
static void becomes(arguments a, const char *word, const char *label, const char *parameter)
{
    matrix m = {.lock = -1};

    if (read_them(&m, &a, &word, 1) != EXIT_OK)
        fail_msg("%s: %s", word, said);
    assert_int_equal(m.workloads_count, 1);
    assert_string_equal(m.workloads[0].id, "w00");
    assert_string_equal(m.workloads[0].label, label);
    assert_has(m.workloads[0].spec, parameter);
    if (m.workloads[0].argument != NULL) {
        assert_string_equal(m.workloads[0].argument, label);
        assert_string_equal(m.workloads[0].played, m.workloads[0].spec);
    }
    matrix_clear_work(&m);
}

static void refuses(arguments a, const char *word, const char *text)
{
    matrix m = {.lock = -1};

    if (read_them(&m, &a, &word, 1) != EXIT_USAGE)
        fail_msg("%s is taken", word);
    assert_has(said, text);
    matrix_clear_work(&m);
}

/* The value of a parameter when none is given, in a scale. */
static char *preset(const char *name, const char *parameter, bool quick)
{
    char *spec = xasprintf("%s:scale=%s", name, quick ? "quick" : "full"), *text;
    abench_workload *workload;

    assert_int_equal(abench_workload_parse(spec, 1, 0, &workload, NULL), ABENCH_OK);
    text = xasprintf("%s=%llu", parameter,
                     (unsigned long long)abench_workload_integer(workload, parameter));
    abench_workload_destroy(workload);
    free(spec);
    return text;
}

static void without_options_a_workload_is_as_it_was_written(void **state)
{
    char *steps = preset("mixed", "steps", false);

    (void)state;
    becomes((arguments){0}, "mixed", "mixed", steps);
    becomes((arguments){0}, "mixed:steps=4k", "mixed:steps=4k", "steps=4096");
    free(steps);
}

static void quick_is_the_scale_of_what_names_none(void **state)
{
    const arguments quick = {.quick = true};
    char *small = preset("mixed", "steps", true), *large = preset("mixed", "steps", false);

    (void)state;
    assert_string_not_equal(small, large);
    becomes(quick, "mixed", "mixed:scale=quick", small);
    becomes(quick, "mixed:slots=7", "mixed:scale=quick,slots=7", "slots=7");
    becomes(quick, "mixed:slots=7", "mixed:scale=quick,slots=7", small);
    becomes(quick, "mixed:scale=full", "mixed:scale=full", large);
    becomes(quick, "mixed:slots=7,scale=full", "mixed:slots=7,scale=full", large);
    becomes(quick, "mixed:steps=9", "mixed:scale=quick,steps=9", "steps=9");
    free(large);
    free(small);
}

static void what_is_wrong_is_said_of_the_words_as_they_were_written(void **state)
{
    (void)state;
    refuses((arguments){.quick = true}, "mixed:slots=x", "workload 'mixed:slots=x', column 13:");
    refuses((arguments){.paced = true}, "sever", "did you mean 'server'?");
}

static void paced_is_for_what_can_be_paced(void **state)
{
    const arguments paced = {.paced = true}, both = {.paced = true, .quick = true};

    (void)state;
    becomes(paced, "server", "server:paced=1,time=1m", "time=60000000000ns");
    becomes(paced, "server:rate=5", "server:paced=1,time=1m,rate=5", "paced=1");
    becomes(paced, "server:time=3s", "server:paced=1,time=3s", "time=3000000000ns");
    becomes(paced, "server:paced=1", "server:time=1m,paced=1", "time=60000000000ns");
    /* The quick scale has a time of its own. */
    becomes(both, "server", "server:paced=1,scale=quick", "paced=1");
    refuses(paced, "mixed", "workload 'mixed' cannot be played in real time");
    refuses(paced, "tape:x", "workload 'tape:x': a tape plays as it was made");
}

static void in_real_time_duration_is_the_time(void **state)
{
    const arguments a = {.paced = true, .duration_s = 2.5};

    (void)state;
    becomes(a, "server", "server:paced=1,time=2500ms", "time=2500000000ns");
    /* Though --paced was not given: how long its work takes has nothing to do with it. */
    becomes((arguments){.duration_s = 2}, "server:paced=1", "server:time=2000ms,paced=1",
            "paced=1");
    refuses(a, "server:time=1s", "--duration is its time; leave one of them out");
    assert_string_equal(said,
                        "allocbench: workload 'server:time=1s': --duration is its time; leave "
                        "one of them out\n");
}

static void duration_leaves_the_length_open(void **state)
{
    static const char *const words[] = {"mixed", "burst-idle", "server:rate=7"};
    arguments a = {.duration_s = 2};
    matrix m = {.lock = -1};

    (void)state;
    assert_int_equal(read_them(&m, &a, words, 3), EXIT_OK);
    assert_null(m.workloads[0].argument);
    assert_null(m.workloads[0].played);
    assert_non_null(m.workloads[0].spec);
    assert_string_equal(m.workloads[1].argument, "burst-idle"); /* has no length */
    assert_int_equal(m.notes_count, 1);
    assert_string_equal(m.notes[0],
                        "burst-idle: --duration does not apply, it is played as long as "
                        "it is");
    assert_null(m.workloads[2].argument);
    matrix_clear_work(&m);
    refuses(a, "mixed:slots=7,steps=8", "--duration chooses its steps; leave one of them out");
}

static void a_tape_that_is_none_is_refused(void **state)
{
    (void)state;
    refuses((arguments){0}, "tape:/no/such.tape", "workload 'tape:/no/such.tape': ");
    refuses((arguments){0}, "tape:/etc/passwd", "workload 'tape:/etc/passwd': ");
    refuses((arguments){0}, "tape:", "workload 'tape:': ");
}

static void parameters_are_found_by_their_whole_name(void **state)
{
    (void)state;
    assert_true(workloads_names("x:a=1", "a"));
    assert_true(workloads_names("x:b=1,a=1", "a"));
    assert_true(workloads_names("x:b=mix:1%1,2%2,a=1", "a"));
    assert_false(workloads_names("x", "a"));
    assert_false(workloads_names("x:aa=1", "a"));
    assert_false(workloads_names("x:ba=1", "a"));
    assert_false(workloads_names("a=1", "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_a_workload_is_as_it_was_written),
        cmocka_unit_test(quick_is_the_scale_of_what_names_none),
        cmocka_unit_test(what_is_wrong_is_said_of_the_words_as_they_were_written),
        cmocka_unit_test(paced_is_for_what_can_be_paced),
        cmocka_unit_test(in_real_time_duration_is_the_time),
        cmocka_unit_test(duration_leaves_the_length_open),
        cmocka_unit_test(a_tape_that_is_none_is_refused),
        cmocka_unit_test(parameters_are_found_by_their_whole_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
