/* plan: words to a document and back, and documents that somebody else wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tool/arguments.h"
#include "tool/plan.h"

static char message[1024];

#define WORDS(...)                                                                                 \
    (char *[])                                                                                     \
    {                                                                                              \
        (char *)(uintptr_t) "run", __VA_ARGS__, NULL                                               \
    }

static char *w(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static json_t *document(char **words, plan_call *call)
{
    int count = 0;

    while (words[count] != NULL)
        count++;
    return plan_of_words(count, words, call);
}

/* The text of a document on one line. */
static void assert_document(json_t *root, const char *text)
{
    char *found;

    assert_non_null(root);
    json_object_del(root, "tool_version");
    found = json_dumps(root, JSON_COMPACT);
    assert_string_equal(found, text);
    free(found);
    json_decref(root);
}

static json_t *parse(const char *text)
{
    message[0] = '\0';
    return plan_parse("p.json", text, strlen(text), message, sizeof message);
}

static void assert_refused(const char *text, const char *why)
{
    json_t *root = parse(text);

    if (root != NULL)
        fail_msg("it was taken: %s", text);
    if (strstr(message, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", message, why);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void words_become_named_fields(void **state)
{
    (void)state;
    assert_document(
        document(WORDS(w("mixed"), w("-t"), w("glibc"), w("--tails"), w("-tjemalloc:A=1,B=2"),
                       w("--seed"), w("7"), w("larson:lanes=2"), w("--slice=50"), w("-r"), w("3"),
                       w("--baseline=glibc")),
                 NULL),
        "{\"schema\":1,\"targets\":[\"glibc\",\"jemalloc:A=1,B=2\"],\"seed\":7,\"rounds\":3,"
        "\"baseline\":\"glibc\",\"workloads\":[\"mixed\",\"larson:lanes=2\"],"
        "\"options\":{\"slice\":50,\"tails\":true}}");
}

static void what_stands_behind_two_dashes_is_the_command(void **state)
{
    (void)state;
    assert_document(
        document(WORDS(w("--"), w("sh"), w("-c"), w("--tails"), w("--")), NULL),
        "{\"schema\":1,\"workloads\":[],\"command\":[\"sh\",\"-c\",\"--tails\",\"--\"]}");
}

static void options_stand_in_runs_order_however_they_were_typed(void **state)
{
    json_t *a = document(WORDS(w("m"), w("--tails"), w("--slice=5"), w("--paced")), NULL);
    json_t *b = document(WORDS(w("--paced"), w("--slice"), w("5"), w("m"), w("--tails")), NULL);
    char *x = json_dumps(a, 0), *y = json_dumps(b, 0);

    (void)state;
    assert_string_equal(x, y);
    free(x);
    free(y);
    json_decref(a);
    json_decref(b);
}

static void what_is_given_several_times_is_a_list(void **state)
{
    (void)state;
    assert_document(document(WORDS(w("m"), w("--sweep=A=1,2"), w("--sweep"), w("B=3")), NULL),
                    "{\"schema\":1,\"workloads\":[\"m\"],\"options\":{\"sweep\":[\"A=1,2\","
                    "\"B=3\"]}}");
}

static void a_number_that_readers_of_json_would_round_is_text(void **state)
{
    (void)state;
    assert_document(document(WORDS(w("m"), w("--seed=18446744073709551615")), NULL),
                    "{\"schema\":1,\"seed\":\"18446744073709551615\",\"workloads\":[\"m\"]}");
    assert_document(document(WORDS(w("m"), w("--seed=9007199254740991")), NULL),
                    "{\"schema\":1,\"seed\":9007199254740991,\"workloads\":[\"m\"]}");
}

static void what_is_of_one_call_stands_in_no_plan(void **state)
{
    plan_call call;
    json_t *root = document(WORDS(w("m"), w("-o"), w("there"), w("--color"), w("never"),
                                  w("--retry-failed"), w("--plan=x.json")),
                            &call);

    (void)state;
    assert_string_equal(call.output, "there");
    assert_string_equal(call.from, "x.json");
    assert_int_equal(json_object_size(call.passing), 2);
    assert_string_equal(json_string_value(json_object_get(call.passing, "color")), "never");
    assert_true(json_is_true(json_object_get(call.passing, "retry-failed")));
    json_decref(call.passing);
    assert_document(root, "{\"schema\":1,\"workloads\":[\"m\"]}");
}

static void a_word_that_is_no_utf8_stands_in_no_plan(void **state)
{
    (void)state;
    assert_null(document(WORDS(w("m\xff")), NULL));
    assert_null(document(WORDS(w("m"), w("--"), w("a\xff")), NULL));
    assert_null(document(WORDS(w("m"), w("-t"), w("\xff")), NULL));
}

/* ---- back ------------------------------------------------------------------------------------ */

/* Reads words into arguments, by way of a document. */
static void by_document(char **words, arguments *out)
{
    json_t *root = document(words, NULL);
    char *text = plan_text(root);
    json_t *again = plan_parse("p", text, strlen(text), message, sizeof message);
    static char **back;
    int count;

    if (again == NULL)
        fail_msg("%s", message);
    plan_words_free(back); /* of the call before: the arguments point into it */
    back = plan_words(again, "run", NULL, &count);
    assert_int_equal(arguments_read(count, back, out), -1);
    free(text);
    json_decref(root);
    json_decref(again);
}

static void words_that_went_through_a_plan_mean_the_same(void **state)
{
    char **words = WORDS(
        w("mixed:lanes=2"), w("-t"), w("glibc"), w("-t"), w("mine=/x/lib y.so,A=b c"),
        w("--baseline"), w("glibc"), w("--seed=18446744073709551615"), w("-r12"), w("--same-seed"),
        w("--lanes=3"), w("--slice=77"), w("--duration=1.5s"), w("--latency"), w("9"), w("--tails"),
        w("--settle=4s"), w("--strict"), w("--reruns=2"), w("--cooldown=250ms"), w("--timeout=9"),
        w("--skip-bad"), w("--keep-env"), w("--ignore-failure"), w("--no-floor"), w("--sequential"),
        w("--cpus=0-1"), w("--sweep=A=1,2"), w("--sweep=B=1"), w("--no-padding"), w("--"), w("-x"),
        w("--tails"), w(""));
    arguments a;

    (void)state;
    by_document(words, &a);
    assert_int_equal(a.workloads_count, 1);
    assert_string_equal(a.workloads[0], "mixed:lanes=2");
    assert_int_equal(a.targets_count, 2);
    assert_string_equal(a.targets[1], "mine=/x/lib y.so,A=b c");
    assert_string_equal(a.baseline, "glibc");
    assert_true(a.seed == UINT64_MAX);
    assert_int_equal(a.rounds, 12);
    assert_int_equal(a.lanes, 3);
    assert_int_equal(a.slice_operations, 77);
    assert_true(a.duration_s > 1.49 && a.duration_s < 1.51);
    assert_int_equal(a.latency, 9);
    assert_int_equal(a.settle_s, 4);
    assert_int_equal(a.reruns, 2);
    assert_true(a.cooldown_s > 0.24 && a.cooldown_s < 0.26);
    assert_true(a.same_seed && a.tails && a.strict && a.skip_bad && a.keep_environment &&
                a.ignore_failure && a.no_floor && a.sequential && a.no_padding);
    assert_false(a.paced || a.quick || a.until_decided || a.retry_failed);
    assert_string_equal(a.cpus, "0-1");
    assert_int_equal(a.sweeps_count, 2);
    assert_string_equal(a.sweeps[1], "B=1");
    assert_string_equal(a.command[0], "-x");
    assert_string_equal(a.command[1], "--tails");
    assert_string_equal(a.command[2], "");
    assert_null(a.command[3]);
    arguments_clear(&a);
}

static void further_options_come_behind_the_plans(void **state)
{
    json_t *root = parse("{\"schema\":1,\"workloads\":[\"m\"],\"rounds\":5}");
    json_t *more = json_pack("{s:s, s:i}", "output", "x y", "rounds", 2);
    int count;
    char **words = plan_words(root, "run", more, &count);

    (void)state;
    assert_int_equal(count, 5);
    assert_string_equal(words[1], "--rounds=5");
    assert_string_equal(words[2], "--rounds=2");
    assert_string_equal(words[3], "--output=x y");
    assert_string_equal(words[4], "m");
    assert_null(words[5]);
    plan_words_free(words);
    json_decref(more);
    json_decref(root);
}

/* ---- what others wrote ----------------------------------------------------------------------- */

static void a_fault_is_told_with_its_place(void **state)
{
    (void)state;
    assert_refused("{\"schema\": 1,\n \"workloads\": [\"m\"\n}", "p.json:3:1: ");
    assert_refused("", "p.json:1:1: ");
    assert_refused("[]", "an object is needed");
    assert_refused("{\"schema\":1,\n  \"seed\": \"x\", \"workloads\": [\"m\"]}",
                   "p.json:2:11: seed: a whole number is needed, from 0 to 18446744073709551615");
    assert_refused("{\"schema\":2,\"workloads\":[\"m\"]}", "schema: schema 2; this tool reads 1");
    assert_refused("{\"workloads\":[\"m\"]}", "\"schema\" is missing");
    assert_refused("{\"schema\":1}", "\"workloads\" or \"command\" is needed");
    assert_refused("{\"schema\":1,\"workloads\":[]}", "\"workloads\" or \"command\" is needed");
}

#define HEAD "{\"schema\":1,\"workloads\":[\"m\"],"

static void values_of_other_types_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"schema\":1,\"workloads\":\"m\"}", "workloads: an array is needed");
    assert_refused("{\"schema\":1,\"workloads\":[1]}", "workloads[0]: a string");
    assert_refused(HEAD "\"rounds\":0}", "rounds: 0 is not from 1");
    assert_refused(HEAD "\"rounds\":\"+2\"}", "rounds: a whole number is needed");
    assert_refused(HEAD "\"rounds\":-1}", "rounds: a whole number is needed");
    assert_refused(HEAD "\"seed\":\"18446744073709551616\"}", "seed: a whole number");
    assert_refused(HEAD "\"targets\":[null]}", "targets[0]: a string");
    assert_refused(HEAD "\"baseline\":7}", "baseline: a string is needed");
    assert_refused(HEAD "\"command\":[{}]}", "command[0]: a string");
    assert_refused(HEAD "\"folder\":[]}", "folder: a string is needed");
    assert_refused(HEAD "\"lengths\":[1]}", "lengths[0]: a string");
    assert_refused(HEAD "\"options\":[]}", "options: an object is needed");
    assert_refused(HEAD "\"options\":{\"tails\":1}}", "options.tails: true is needed");
    assert_refused(HEAD "\"options\":{\"tails\":false}}", "options.tails: true is needed");
    assert_refused(HEAD "\"options\":{\"slice\":true}}", "options.slice: a text or a whole number");
    assert_refused(HEAD "\"options\":{\"slice\":-1}}", "options.slice: a text or a whole number");
    assert_refused(HEAD "\"options\":{\"sweep\":[\"A=1\",[]]}}", "options.sweep[1]: a text");
}

static void unknown_names_are_refused_with_the_nearest(void **state)
{
    (void)state;
    assert_refused(HEAD "\"sed\":1}", "sed: a plan has no such field; did you mean \"seed\"?");
    assert_refused(HEAD "\"options\":{\"slices\":1}}",
                   "options.slices: run has no option --slices; did you mean \"slice\"?");
    assert_refused(HEAD "\"slice\":1}", "slice: an option of run: it belongs into \"options\"");
    assert_refused(HEAD "\"options\":{\"seed\":1}}", "and stands beside \"options\"");
    assert_refused(HEAD "\"options\":{\"output\":\"/etc\"}}", "--output is not part of a plan");
    assert_refused(HEAD "\"options\":{\"plan\":\"p.json\"}}", "--plan is not part of a plan");
    assert_refused(HEAD "\"seed\":1,\"seed\":2}", "duplicate");
}

/* A workload called "--strict" would be an option. */
static void no_name_is_taken_for_an_option(void **state)
{
    (void)state;
    assert_refused("{\"schema\":1,\"workloads\":[\"--output=/etc\"]}",
                   "\"--output=/etc\" is no name");
    assert_refused("{\"schema\":1,\"workloads\":[\"\"]}", "workloads[0]: \"\" is no name");
    assert_refused(HEAD "\"targets\":[\"-x\"]}", "targets[0]: \"-x\" is no name");
    assert_refused(HEAD "\"lengths\":[\"-x\"]}", "lengths[0]: \"-x\" is no name");
}

/* "target" is an option that has a field: below "options" it would be lost. */
static void no_field_hides_among_the_options(void **state)
{
    (void)state;
    assert_refused(HEAD "\"options\":{\"target\":\"glibc\"}}", "options.target: it is \"targets\"");
    assert_refused(HEAD "\"options\":{\"rounds\":3}}", "and stands beside \"options\"");
}

static void rounds_may_be_text(void **state)
{
    json_t *root = parse(HEAD "\"rounds\":\"12\"}");

    (void)state;
    assert_non_null(root);
    assert_int_equal(plan_rounds(root), 12);
    json_decref(root);
    root = parse(HEAD "\"lengths\":[null,\"m:steps=4\"]}");
    assert_non_null(root);
    assert_int_equal(plan_rounds(root), 0);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_named_fields),
        cmocka_unit_test(what_stands_behind_two_dashes_is_the_command),
        cmocka_unit_test(options_stand_in_runs_order_however_they_were_typed),
        cmocka_unit_test(what_is_given_several_times_is_a_list),
        cmocka_unit_test(a_number_that_readers_of_json_would_round_is_text),
        cmocka_unit_test(what_is_of_one_call_stands_in_no_plan),
        cmocka_unit_test(a_word_that_is_no_utf8_stands_in_no_plan),
        cmocka_unit_test(words_that_went_through_a_plan_mean_the_same),
        cmocka_unit_test(further_options_come_behind_the_plans),
        cmocka_unit_test(a_fault_is_told_with_its_place),
        cmocka_unit_test(values_of_other_types_are_refused),
        cmocka_unit_test(unknown_names_are_refused_with_the_nearest),
        cmocka_unit_test(no_name_is_taken_for_an_option),
        cmocka_unit_test(no_field_hides_among_the_options),
        cmocka_unit_test(rounds_may_be_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
