/* --until-decided: when it looks, what it takes for told, and when it stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "fake_cell.h"
#include "tool/until.h"

static char message[1024];
static char said[16384]; /* on standard error */

/* A matrix of the baseline and others, whose cells say what they used; NULL behind the last. */
static matrix make(const char *const *specs)
{
    matrix m = fake_matrix();

    m.rounds = 0;
    m.floor = false;
    m.until_decided = true;
    for (; *specs != NULL; specs++)
        fake_target(&m, *specs);
    return m;
}

static void run(matrix *m)
{
    FILE *file = tmpfile();
    const int errors = dup(STDERR_FILENO);
    bool good;

    assert_non_null(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    matrix_interrupted = 0;
    m->told_kept = false;
    matrix_close(m);
    for (size_t w = 0; w < m->workloads_count; w++)
        m->workloads[w].is_decided = m->workloads[w].hopeless = false; /* a new call */
    good = until_ask(m, message, sizeof message) && matrix_open(m, message, sizeof message) &&
           until_run(m, message, sizeof message) && matrix_write(m, message, sizeof message);
    fflush(stderr);
    dup2(errors, STDERR_FILENO);
    close(errors);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    if (!good)
        fail_msg("%s", message);
}

static bool has_round(const matrix *m, const char *name)
{
    char *path = matrix_path(m, "rounds", name, ".json");
    const bool has = access(path, F_OK) == 0;

    free(path);
    return has;
}

static void says(const char *text)
{
    if (strstr(said, text) == NULL)
        fail_msg("'%s' does not say '%s'", said, text);
}

static json_int_t number(const matrix *m, const char *key)
{
    char *path = xasprintf("%s/matrix.json", m->directory);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    const json_int_t value = json_integer_value(json_object_get(root, key));

    assert_non_null(root);
    json_decref(root);
    free(path);
    return value;
}

#define CLEAR ((const char *const[]){"glibc:FAKE_RSS=100000", "glibc:FAKE_RSS=200000", NULL})
/* Rounds that differ by up to 60 %: at 40 of them nothing is told. */
#define NOISY                                                                                      \
    ((const char *const[]){"glibc:FAKE_RSS=100000", "glibc:FAKE_RSS=70000,FAKE_NOISE=6000", NULL})

/* ---- how many rounds ------------------------------------------------------------------------- */

static void more_targets_need_more_rounds(void **state)
{
    target targets[40] = {{0}};
    matrix m = {.targets = targets, .targets_count = 2, .until_decided = true};

    (void)state;
    assert_int_equal(until_least(&m), 10);
    m.targets_count = 9; /* eight are compared: 2^-9 is below 0.05 / 8 / 3 */
    assert_int_equal(until_least(&m), 10);
    m.targets_count = 10;
    assert_int_equal(until_least(&m), 11);
    targets[3].missing = targets[4].missing = (char *)(uintptr_t) "";
    assert_int_equal(until_least(&m), 10);
    m.targets_count = 40;
    assert_int_equal(until_least(&m), 13);
}

static void fewer_rounds_than_that_are_refused(void **state)
{
    target targets[2] = {{0}};
    matrix m = {.targets = targets, .targets_count = 2, .until_decided = true, .rounds = 9};

    (void)state;
    assert_false(until_ask(&m, message, sizeof message));
    assert_non_null(strstr(message, "--rounds 9"));
    assert_non_null(strstr(message, "at 10 rounds or more"));
    m.rounds = 12;
    assert_true(until_ask(&m, message, sizeof message));
    assert_int_equal(m.look_rounds, 12);
    assert_int_equal(m.looks, 3);
    m.max_rounds = 11;
    assert_false(until_ask(&m, message, sizeof message));
    assert_non_null(strstr(message, "--max-rounds 11: the first look is at 12 rounds"));
}

static void the_looks_of_a_directory_stay(void **state)
{
    target targets[10] = {{0}};
    char directory[] = "DIR";
    matrix m = {.directory = directory, .targets = targets, .targets_count = 2};

    (void)state;
    assert_true(until_go_on(&m, 0, message, sizeof message));
    assert_int_equal(m.looks, 0);
    assert_true(until_go_on(&m, 10, message, sizeof message)); /* without --until-decided, too */
    assert_int_equal(m.looks, 3);
    assert_int_equal(m.look_rounds, 10);
    m.until_decided = true;
    m.look_rounds = 12;
    m.rounds = 12;
    assert_false(until_go_on(&m, 10, message, sizeof message));
    assert_non_null(strstr(message, "DIR is looked at after 10, 20 and 40 rounds"));
    assert_non_null(strstr(message, "now it would be 12"));
    m.rounds = 0;
    m.look_rounds = 10;
    assert_true(until_go_on(&m, 20, message, sizeof message));
    assert_int_equal(m.look_rounds, 20);
    m.max_rounds = 15;
    assert_false(until_go_on(&m, 20, message, sizeof message));
    m.max_rounds = 0;
    m.targets_count = 10; /* these need 11 */
    m.look_rounds = 11;
    assert_false(until_go_on(&m, 10, message, sizeof message));
}

/* ---- the looks ------------------------------------------------------------------------------- */

static void what_is_told_at_the_first_look_stops_there(void **state)
{
    matrix m = make(CLEAR);

    (void)state;
    run(&m);
    says("look at 10 rounds: fake is decided");
    assert_null(strstr(said, "look at 20"));
    assert_true(has_round(&m, "w00.r009") && !has_round(&m, "w00.r010"));
    assert_int_equal(number(&m, "looks"), 3);
    assert_int_equal(number(&m, "look_rounds"), 10);
    assert_int_equal(number(&m, "rounds"), 10);
    m.rounds = 0;
    run(&m); /* nothing is left to do */
    says("10 of 10 rounds are there already");
    assert_false(has_round(&m, "w00.r010"));
    fake_matrix_clear(&m);
}

static void what_is_not_told_gets_two_more_looks(void **state)
{
    matrix m = make(NOISY);

    (void)state;
    run(&m);
    says("look at 10 rounds: fake is not (RSS of glibc:FAKE_RSS=70000,FAKE_NOISE=6000)");
    says("look at 20 rounds: fake is not (");
    says("look at 40 rounds: fake is not (");
    assert_true(has_round(&m, "w00.r039") && !has_round(&m, "w00.r040"));
    fake_matrix_clear(&m);
}

static void a_workload_that_is_told_gets_no_more_rounds(void **state)
{
    static char id[] = "w01", label[] = "other";
    matrix m = make((const char *const[]){
        "glibc:FAKE_RSS=100000", "glibc:FAKE_RSS=70000,FAKE_NOISE=6000,FAKE_QUIET=w00", NULL});
    matrix_workload both[2] = {m.workloads[0], m.workloads[0]};
    model *there;

    (void)state;
    both[1].id = id;
    both[1].label = label;
    m.workloads = both;
    m.workloads_count = 2;
    run(&m);
    says("look at 10 rounds: fake is decided; other is not (");
    says("look at 40 rounds: fake is decided; other is not (");
    assert_true(has_round(&m, "w00.r009") && !has_round(&m, "w00.r010"));
    assert_true(has_round(&m, "w01.r039") && !has_round(&m, "w01.r040"));
    there = model_load(m.directory, message, sizeof message);
    if (there == NULL)
        fail_msg("%s", message);
    assert_int_equal(there->rounds, 40);
    assert_int_equal(model_rounds(there, 0), 10);
    assert_int_equal(model_rounds(there, 1), 40);
    model_free(there);
    fake_matrix_clear(&m);
}

static void the_bound_ends_it_before(void **state)
{
    matrix m = make(NOISY);

    (void)state;
    m.max_rounds = 39;
    run(&m);
    says("look at 20 rounds");
    assert_null(strstr(said, "look at 40"));
    assert_true(has_round(&m, "w00.r019") && !has_round(&m, "w00.r020"));
    /* Without it the same goes on. */
    m.max_rounds = 0;
    m.rounds = 0;
    run(&m);
    says("20 of 20 rounds are there already");
    assert_true(has_round(&m, "w00.r039") && !has_round(&m, "w00.r040"));
    fake_matrix_clear(&m);
}

static void a_workload_that_fails_is_not_waited_for(void **state)
{
    static const char *const specs[] = {"glibc:FAKE=status", "glibc:FAKE=words", NULL};
    matrix m = make(specs);

    (void)state;
    run(&m);
    says("look at 10 rounds: fake fails");
    assert_true(has_round(&m, "w00.r000") && !has_round(&m, "w00.r001"));
    fake_matrix_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_targets_need_more_rounds),
        cmocka_unit_test(fewer_rounds_than_that_are_refused),
        cmocka_unit_test(the_looks_of_a_directory_stay),
        cmocka_unit_test(what_is_told_at_the_first_look_stops_there),
        cmocka_unit_test(what_is_not_told_gets_two_more_looks),
        cmocka_unit_test(a_workload_that_is_told_gets_no_more_rounds),
        cmocka_unit_test(the_bound_ends_it_before),
        cmocka_unit_test(a_workload_that_fails_is_not_waited_for),
    };

    if (getenv("ALLOCBENCH_TURN") != NULL)
        return fake_cell();
    signal(SIGPIPE, SIG_IGN); /* as the tool does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
