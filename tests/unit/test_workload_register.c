/* Workloads of one's own: what a definition makes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/allocbench.h>

/* ---- a workload: each lane allocates, then frees
 * ---------------------------------------------- */

typedef struct position {
    abench_random random;
    uint64_t step;
} position;

static int32_t shape(const abench_workload *w, abench_tape_options *options, void *user)
{
    options->lanes = (uint32_t)abench_workload_integer(w, "lanes");
    options->local_slots = 1;
    options->touch = (uint32_t)abench_workload_integer(w, "touch");
    return user != NULL && *(const int *)user == 1; /* 1: refuses */
}

static void begin(const abench_workload *w, void *state, void *user)
{
    (void)user;
    abench_random_seed(&((position *)state)->random, abench_workload_seed(w), 0,
                       ABENCH_PURPOSE_USER);
}

static int32_t fill(const abench_workload *w, void *state, abench_tape_builder *builder, void *user)
{
    position *p = state;

    for (uint64_t lane = 0; lane < abench_workload_integer(w, "lanes"); lane++) {
        abench_tape_builder_malloc(
            builder, (uint32_t)lane, 0,
            abench_distribution_draw(abench_workload_sizes(w, "blocks"), &p->random));
        abench_tape_builder_free(builder, (uint32_t)lane, 0);
    }
    if (user != NULL && *(const int *)user == 2)
        return -7;
    return ++p->step == abench_workload_integer(w, "steps");
}

static abench_workload_definition definition(const char *name)
{
    abench_workload_definition d = ABENCH_WORKLOAD_DEFINITION_INIT;

    d.version = 3;
    d.name = name;
    d.summary = "one block at a time";
    d.parameters = "lanes=2,steps=100,blocks=mix:50%8,50%16-64,touch=all";
    d.quick = "steps=10";
    d.state_bytes = sizeof(position);
    d.shape = shape;
    d.begin = begin;
    d.fill = fill;
    return d;
}

static void a_registered_workload_is_one_of_the_catalogue(void **state)
{
    abench_workload_definition d = definition("one-by-one");
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;
    abench_workload_parameter parameter = ABENCH_WORKLOAD_PARAMETER_INIT;
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL, *stream = NULL;
    char copied[] = "one-by-one";
    uint32_t last = 0;

    (void)state;
    d.name = copied;
    assert_int_equal(abench_workload_register(&d, &error), ABENCH_OK);
    memset(copied, 'x', sizeof copied - 1);
    while (abench_workload_at(last + 1, &info) == ABENCH_OK)
        last++;
    assert_int_equal(abench_workload_at(last, &info), ABENCH_OK);
    assert_string_equal(info.name, "one-by-one");
    assert_string_equal(info.source, "");
    assert_int_equal(info.version, 3);
    assert_int_equal(abench_workload_parameter_at("one-by-one", 1, &parameter), ABENCH_OK);
    assert_string_equal(parameter.preset, "100");
    assert_string_equal(parameter.quick, "10");

    if (abench_workload_parse("one-by-one:steps=2k,lanes=3", 5, 0, &workload, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    assert_string_equal(abench_workload_spec(workload),
                        "one-by-one/3:lanes=3,steps=2048,blocks=mix:50%8,50%16-64,touch=all");
    assert_int_equal(abench_workload_operations(workload), UINT64_MAX);
    assert_int_equal(abench_workload_integer(workload, "none"), 0);
    assert_null(abench_workload_sizes(workload, "steps"));
    if (abench_workload_tape(workload, NULL, &tape, &error) != ABENCH_OK ||
        abench_workload_stream(workload, NULL, &stream, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(abench_tape_get_summary(tape, &summary), ABENCH_OK);
    assert_int_equal(summary.by_kind[ABENCH_OP_MALLOC], 3 * 2048);
    assert_int_equal(summary.touch, ABENCH_TOUCH_ALL);
    assert_int_equal(abench_tape_digest(stream), abench_tape_digest(tape));
    abench_tape_destroy(stream);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

static void a_run_plays_it(void **state)
{
    abench_workload_definition d = definition("for-a-run");
    abench_run *run = NULL;
    double value = 0;

    (void)state;
    assert_int_equal(abench_workload_register(&d, NULL), ABENCH_OK);
    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    if (abench_run_play(run, "for-a-run:scale=quick", NULL) != ABENCH_OK)
        fail_msg("%s", abench_run_error(run)->message);
    assert_int_equal(abench_run_metric(run, "operations", &value), ABENCH_OK);
    assert_int_equal(value, 2 + 2 * 10 * 2 + 2); /* phase, steps, end */
    abench_run_destroy(run);
}

static uint64_t few(const abench_workload *w, void *user)
{
    (void)w, (void)user;
    return 10;
}

/* More than is played from memory, and less than it is. */
static uint64_t many(const abench_workload *w, void *user)
{
    (void)w, (void)user;
    return 10000001;
}

/* What is kept of a run is made room for before it begins. */
static void a_workload_that_said_too_little_has_no_times(void **state)
{
    abench_workload_definition d = definition("says-too-little");
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;
    double value = 0;

    (void)state;
    d.operations = few;
    d.parameters = "lanes=1,steps=3000000,blocks=fixed:64,touch=nothing";
    options.slice_operations = 2048;
    assert_int_equal(abench_workload_register(&d, NULL), ABENCH_OK);
    assert_int_equal(abench_run_create(&options, &run), ABENCH_OK);
    if (abench_run_play(run, "says-too-little:steps=200000", NULL) != ABENCH_OK)
        fail_msg("%s", abench_run_error(run)->message);
    assert_int_equal(abench_run_metric(run, "operations", &value),
                     ABENCH_OK); /* in memory: known */
    abench_run_destroy(run);

    d.name = "says-too-little-still";
    d.operations = many;
    assert_int_equal(abench_workload_register(&d, NULL), ABENCH_OK);
    assert_int_equal(abench_run_create(&options, &run), ABENCH_OK);
    if (abench_run_play(run, "says-too-little-still:steps=6000000", NULL) != ABENCH_OK)
        fail_msg("%s", abench_run_error(run)->message);
    assert_int_equal(abench_run_metric(run, "operations", &value), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_run_metric(run, "time_ns_per_operation", &value),
                     ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_run_metric(run, "rss_bytes", &value), ABENCH_OK);
    abench_run_destroy(run);
}

static void a_bad_definition_is_refused(void **state)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload_definition good = definition("good"), d;

    (void)state;
#define REFUSED(change, status, text)                                                              \
    d = good;                                                                                      \
    change;                                                                                        \
    assert_int_equal(abench_workload_register(&d, &error), status);                                \
    assert_non_null(strstr(error.message, text));
    REFUSED(d.name = NULL, ABENCH_ERROR_ARGUMENT, "name")
    REFUSED(d.name = "Upper", ABENCH_ERROR_ARGUMENT, "a-z")
    REFUSED(d.name = "a-name-of-more-than-thirty-one-letters", ABENCH_ERROR_ARGUMENT, "31")
    REFUSED(d.fill = NULL, ABENCH_ERROR_ARGUMENT, "fill")
    REFUSED(d.struct_size = 8, ABENCH_ERROR_ARGUMENT, "name")
    REFUSED(d.name = "mixed", ABENCH_ERROR_STATE, "already")
    REFUSED(d.parameters = "steps=1,lanes=2", ABENCH_ERROR_SYNTAX, "lanes=NUMBER")
    REFUSED(d.parameters = "lanes=2,steps", ABENCH_ERROR_SYNTAX, "column 1")
    REFUSED(d.parameters = "lanes=2,=3", ABENCH_ERROR_SYNTAX, "column 9")
    REFUSED(d.parameters = "", ABENCH_ERROR_SYNTAX, "lanes")
    REFUSED(d.parameters = "lanes=2,scale=3", ABENCH_ERROR_SYNTAX, "'scale' is taken")
    REFUSED(d.parameters = "lanes=2,steps=1,steps=2", ABENCH_ERROR_SYNTAX, "column 17")
    REFUSED(d.parameters = "lanes=2,steps=1,blocks=unform:1-2", ABENCH_ERROR_NOT_FOUND, "uniform")
    REFUSED(d.parameters = "lanes=2,steps=1,touch=some", ABENCH_ERROR_SYNTAX, "touch is one of")
    REFUSED(d.quick = "steps=many", ABENCH_ERROR_SYNTAX, "whole number")
    REFUSED(d.quick = "stoops=1", ABENCH_ERROR_SYNTAX, "quick, column 1")
    REFUSED(d.parameters = "lanes=1,a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1",
            ABENCH_ERROR_LIMIT, "parameters")
#undef REFUSED
    assert_int_equal(abench_workload_register(&good, &error), ABENCH_OK);
    assert_int_equal(abench_workload_register(&good, &error), ABENCH_ERROR_STATE);
}

static void what_its_callbacks_refuse_is_no_tape(void **state)
{
    static const struct {
        const char *name;
        int which;
        abench_status status;
    } cases[] = {{"bad-shape", 1, ABENCH_ERROR_ARGUMENT}, {"bad-fill", 2, ABENCH_ERROR_TAPE}};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_workload_definition d = definition(cases[at].name);
        static int which[2];
        abench_error error = ABENCH_ERROR_INIT;
        abench_workload *workload = NULL;
        abench_tape *tape = NULL;
        which[at] = cases[at].which;
        d.user = &which[at];
        assert_int_equal(abench_workload_register(&d, &error), ABENCH_OK);
        assert_int_equal(abench_workload_parse(cases[at].name, 1, 0, &workload, &error), ABENCH_OK);
        assert_int_equal(abench_workload_tape(workload, NULL, &tape, &error), cases[at].status);
        assert_non_null(strstr(error.message, cases[at].name));
        assert_null(tape);
        abench_workload_destroy(workload);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_registered_workload_is_one_of_the_catalogue),
        cmocka_unit_test(a_run_plays_it),
        cmocka_unit_test(a_workload_that_said_too_little_has_no_times),
        cmocka_unit_test(a_bad_definition_is_refused),
        cmocka_unit_test(what_its_callbacks_refuse_is_no_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
