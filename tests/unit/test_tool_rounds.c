/* A result directory that grows: more rounds, other targets, and what of it stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "fake_cell.h"
#include "tool/padding.h"
#include "tool/rounds.h"

static char message[1024];

/* As one call of the tool: opens, runs, writes. */
static void call(matrix *m)
{
    matrix_interrupted = 0;
    m->told_kept = false;
    matrix_close(m);
    if (!matrix_open(m, message, sizeof message) || !matrix_run(m, message, sizeof message))
        fail_msg("%s", message);
    m->is_unfinished = m->is_unfinished && matrix_interrupted;
    if (!matrix_write(m, message, sizeof message))
        fail_msg("%s", message);
}

/* A call with these targets, NULL behind the last; the first is the baseline. It works in the
 * directory of *m, if that is not NULL, and takes it over. */
static void call_with(matrix *m, uint32_t rounds, const char *const *specs)
{
    matrix next = fake_matrix();

    if (m->directory != NULL) {
        assert_int_equal(rmdir(next.directory), 0);
        free(next.directory);
        next.directory = m->directory;
        m->directory = xstrdup("");
        matrix_close(m);
        target_list_free(m->targets, m->targets_count);
        for (size_t at = 0; at < m->notes_count; at++)
            free(m->notes[at]);
        free(m->notes);
        free(m->directory);
        free(m->command_line);
        free(m->cell);
    }
    for (; *specs != NULL; specs++)
        fake_target(&next, *specs);
    next.rounds = rounds;
    next.floor = false;
    *m = next;
    call(m);
}

static json_t *read_json(const matrix *m, const char *name)
{
    char *path = xasprintf("%s/%s", m->directory, name);
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (root == NULL)
        fail_msg("%s: %s", path, error.text);
    free(path);
    return root;
}

/* The targets of a round, "glibc glibc glibc:A=1", or "" when it is not there. free() it. */
static char *targets_of(const matrix *m, uint32_t round)
{
    char *name = xasprintf("rounds/w00.r%03u.json", round), *text = xstrdup("");
    char *path = xasprintf("%s/%s", m->directory, name);
    json_t *root = access(path, F_OK) == 0 ? read_json(m, name) : NULL, *cell;
    size_t index;

    json_array_foreach(json_object_get(root, "cells"), index, cell)
    {
        char *more = xasprintf("%s%s%s", text, index == 0 ? "" : " ",
                               json_string_value(json_object_get(cell, "target")));
        free(text);
        text = more;
    }
    json_decref(root);
    free(path);
    free(name);
    return text;
}

static void holds(const matrix *m, uint32_t round, const char *targets)
{
    char *text = targets_of(m, round);

    if (strcmp(text, targets) != 0)
        fail_msg("round %u holds '%s', not '%s'", round, text, targets);
    free(text);
}

static json_int_t number(const matrix *m, const char *key)
{
    json_t *root = read_json(m, "matrix.json");
    const json_int_t value = json_integer_value(json_object_get(root, key));

    json_decref(root);
    return value;
}

/* "glibc glibc:A=1": the targets of matrix.json. free() it. */
static char *listed(const matrix *m)
{
    json_t *root = read_json(m, "matrix.json"), *item;
    char *text = xstrdup("");
    size_t index;

    json_array_foreach(json_object_get(root, "targets"), index, item)
    {
        char *more = xasprintf("%s%s%s", text, index == 0 ? "" : " ",
                               json_string_value(json_object_get(item, "name")));
        free(text);
        text = more;
    }
    json_decref(root);
    return text;
}

static bool has_note(const matrix *m, const char *part)
{
    for (size_t at = 0; at < m->notes_count; at++)
        if (strstr(m->notes[at], part) != NULL)
            return true;
    return false;
}

static void edit_matrix(const matrix *m, const char *from, const char *to)
{
    char *path = xasprintf("%s/matrix.json", m->directory);
    char *text = util_read_file(path, 1 << 20, NULL), *at, *more;

    assert_non_null(text);
    at = strstr(text, from);
    assert_non_null(at);
    more = xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_true(util_write_file(path, more, strlen(more), message, sizeof message));
    free(more);
    free(text);
    free(path);
}

#define ONE   ((const char *const[]){"glibc", "glibc:A=1", NULL})
#define OTHER ((const char *const[]){"glibc", "glibc:B=1", NULL})
#define BOTH  ((const char *const[]){"glibc", "glibc:B=1", "glibc:A=1", NULL})

/* ---- other targets --------------------------------------------------------------------------- */

static void another_target_adds_whole_rounds(void **state)
{
    matrix m = {0};
    char *list;

    (void)state;
    call_with(&m, 2, ONE);
    call_with(&m, 1, OTHER);
    holds(&m, 0, "glibc glibc glibc:A=1");
    holds(&m, 1, "glibc glibc glibc:A=1");
    holds(&m, 2, "glibc glibc glibc:B=1");
    holds(&m, 3, "");
    assert_int_equal(number(&m, "rounds"), 3);
    list = listed(&m);
    assert_string_equal(list, "glibc glibc:A=1 glibc:B=1");
    free(list);
    /* Its place in the list names its cells. */
    list = matrix_path(&m, "cells", "w00.r002.t02", ".jsonl");
    assert_int_equal(access(list, F_OK), 0);
    free(list);
    /* A round counts for a subset of what it holds, and not for more. */
    call_with(&m, 2, BOTH);
    holds(&m, 3, "glibc glibc glibc:A=1 glibc:B=1");
    holds(&m, 4, "glibc glibc glibc:A=1 glibc:B=1");
    holds(&m, 5, "");
    call_with(&m, 4, ONE);
    holds(&m, 5, "");
    call_with(&m, 4, OTHER);
    holds(&m, 5, "glibc glibc glibc:B=1");
    holds(&m, 6, "");
    list = listed(&m);
    assert_string_equal(list, "glibc glibc:A=1 glibc:B=1");
    free(list);
    fake_matrix_clear(&m);
}

static void a_target_of_the_same_name_must_be_the_same(void **state)
{
    matrix m = {0};

    (void)state;
    call_with(&m, 1, BOTH);
    call_with(&m, 1, OTHER);
    edit_matrix(&m, "\"settings\": \"A=1\"", "\"settings\": \"A=2\"");
    call_with(&m, 1, OTHER); /* that one is not named */
    matrix_close(&m);
    edit_matrix(&m, "\"settings\": \"B=1\"", "\"settings\": \"B=2\"");
    assert_false(matrix_open(&m, message, sizeof message));
    assert_non_null(strstr(message, "targets.glibc:B=1.settings (\"B=2\" there, \"B=1\" asked)"));
    fake_matrix_clear(&m);
}

static void the_baseline_is_found_wherever_it_stands(void **state)
{
    static const char *const reversed[] = {"glibc:A=1", "glibc", NULL};
    matrix m = {0};

    (void)state;
    call_with(&m, 1, BOTH);
    matrix_close(&m);
    target_list_free(m.targets, m.targets_count);
    m.targets = NULL;
    m.targets_count = 0;
    for (size_t at = 0; reversed[at] != NULL; at++)
        fake_target(&m, reversed[at]);
    m.baseline = 1;
    m.rounds = 2;
    call(&m);
    assert_int_equal(m.baseline, 0);
    holds(&m, 1, "glibc glibc glibc:A=1");
    fake_matrix_clear(&m);
    m = fake_matrix();
    for (size_t at = 0; reversed[at] != NULL; at++)
        fake_target(&m, reversed[at]);
    m.baseline = 1;
    m.floor = false;
    call(&m);
    call_with(&m, 1, OTHER);
    assert_int_equal(m.baseline, 1);
    holds(&m, 2, "glibc glibc glibc:B=1");
    fake_matrix_clear(&m);
}

static void what_was_missing_may_come_and_what_went_stays_told(void **state)
{
    matrix m = {0};
    json_t *root;
    const json_t *item;

    (void)state;
    call_with(&m, 1, ONE);
    matrix_close(&m);
    m.targets[1].missing = xstrdup("gone");
    m.rounds = 2;
    call(&m);
    holds(&m, 0, "glibc glibc glibc:A=1"); /* it holds all that is not missing: it counts */
    holds(&m, 1, "glibc glibc");
    holds(&m, 2, "");
    root = read_json(&m, "matrix.json");
    item = json_array_get(json_object_get(root, "targets"), 1);
    assert_true(json_is_null(json_object_get(item, "missing")));
    assert_string_equal(json_string_value(json_object_get(item, "settings")), "A=1");
    json_decref(root);
    fake_matrix_clear(&m);
}

static void a_list_of_targets_that_is_damaged_is_refused(void **state)
{
    static const char *const damage[][2] = {
        {"\"name\": \"glibc:A=1\"", "\"name\": \"glibc\""},
        {"\"name\": \"glibc:A=1\"", "\"name\": 7"},
        {"\"targets\": [", "\"targets\": 7, \"others\": ["},
    };
    matrix m = {0};

    (void)state;
    for (size_t at = 0; at < sizeof damage / sizeof *damage; at++) {
        call_with(&m, 1, ONE);
        matrix_close(&m);
        edit_matrix(&m, damage[at][0], damage[at][1]);
        assert_false(matrix_open(&m, message, sizeof message));
        assert_non_null(strstr(message, "; choose another directory with -o"));
        fake_matrix_clear(&m);
        m = (matrix){0};
    }
}

/* ---- more rounds ----------------------------------------------------------------------------- */

static void so_many_more_are_added_to_what_is_there(void **state)
{
    matrix m = {0};

    (void)state;
    call_with(&m, 2, ONE);
    m.more_rounds = 2;
    call(&m);
    assert_int_equal(number(&m, "rounds"), 4);
    assert_int_equal(number(&m, "unfinished"), 0);
    holds(&m, 3, "glibc glibc glibc:A=1");
    holds(&m, 4, "");
    call(&m); /* once more is two more */
    assert_int_equal(number(&m, "rounds"), 6);
    fake_matrix_clear(&m);
}

static void on_signal(int signal_number)
{
    (void)signal_number;
    matrix_interrupted = 1;
}

static void an_interrupted_addition_goes_on_to_the_same_number(void **state)
{
    struct sigaction action = {.sa_handler = on_signal};
    matrix m = {0};
    char *file;

    (void)state;
    call_with(&m, 2, ONE);
    sigaction(SIGUSR1, &action, NULL);
    m.more_rounds = 3;
    matrix_close(&m);
    assert_true(matrix_open(&m, message, sizeof message)); /* killed right after that */
    assert_int_equal(number(&m, "unfinished"), 5);
    assert_int_equal(number(&m, "rounds"), 5);
    m.rounds = 3; /* as if one had been run */
    assert_true(matrix_run(&m, message, sizeof message));
    holds(&m, 2, "glibc glibc glibc:A=1");
    call(&m);
    assert_int_equal(number(&m, "rounds"), 5);
    holds(&m, 5, "");
    file = xasprintf("%s/rounds/w00.r004.json", m.directory);
    assert_int_equal(access(file, F_OK), 0);
    free(file);
    /* Another command has another number in mind. */
    matrix_close(&m);
    assert_true(matrix_open(&m, message, sizeof message));
    assert_int_equal(number(&m, "unfinished"), 8);
    free(m.command_line);
    m.command_line = xstrdup("allocbench run other");
    m.more_rounds = 1;
    call(&m);
    assert_int_equal(number(&m, "rounds"), 6);
    fake_matrix_clear(&m);
}

static void rounds_that_are_added_after_a_verdict_are_noted(void **state)
{
    matrix m = {0};

    (void)state;
    call_with(&m, 5, ONE);
    call_with(&m, 6, ONE);
    assert_false(has_note(&m, "added after a look")); /* five have no verdict */
    call_with(&m, 6, ONE);
    assert_false(has_note(&m, "added after a look"));
    call_with(&m, 7, OTHER);
    assert_false(has_note(&m, "added after a look")); /* of that one nobody saw any */
    call_with(&m, 8, ONE);
    assert_true(has_note(&m, "rounds were added after a look: see --until-decided"));
    fake_matrix_clear(&m);
}

static void rounds_that_were_asked_for_and_interrupted_are_no_look(void **state)
{
    matrix m = {0};

    (void)state;
    call_with(&m, 6, ONE);
    matrix_close(&m);
    m.is_unfinished = true;
    assert_true(matrix_write(&m, message, sizeof message)); /* killed before the ninth */
    m.rounds = 9;
    call(&m);
    holds(&m, 8, "glibc glibc glibc:A=1");
    assert_false(has_note(&m, "added after a look"));
    fake_matrix_clear(&m);
}

static void a_gap_is_filled_first(void **state)
{
    matrix m = {0};
    char *gone;

    (void)state;
    call_with(&m, 3, ONE);
    gone = matrix_path(&m, "rounds", "w00.r001", ".json");
    assert_int_equal(unlink(gone), 0);
    m.rounds = 2;
    call(&m); /* two are there */
    assert_int_not_equal(access(gone, F_OK), 0);
    m.rounds = 4;
    call(&m);
    assert_int_equal(access(gone, F_OK), 0);
    holds(&m, 3, "glibc glibc glibc:A=1");
    holds(&m, 4, "");
    free(gone);
    fake_matrix_clear(&m);
}

static void one_round_alone_is_run(void **state)
{
    matrix m = {0};
    rounds_plan plan;

    (void)state;
    call_with(&m, 1, ONE);
    m.one_round = true;
    m.round = 7;
    call(&m);
    holds(&m, 1, "");
    holds(&m, 7, "glibc glibc glibc:A=1");
    plan = rounds_make_plan(&m);
    assert_int_equal(plan.count, 0);
    rounds_clear(&plan);
    m.round = 8;
    plan = rounds_make_plan(&m);
    assert_int_equal(plan.count, 1);
    assert_int_equal(plan.tasks[0].round, 8);
    rounds_clear(&plan);
    fake_matrix_clear(&m);
}

/* ---- rounds that failed ---------------------------------------------------------------------- */

#define FAILS ((const char *const[]){"glibc", "glibc:FAKE=status", NULL})

static void a_failed_round_is_run_again_unless_that_loses_something(void **state)
{
    static const char *const with_more[] = {"glibc", "glibc:FAKE=status", "glibc:A=1", NULL};
    matrix m = {0};
    rounds_plan plan;

    (void)state;
    call_with(&m, 2, FAILS);
    plan = rounds_make_plan(&m);
    assert_int_equal(plan.count, 0);
    assert_int_equal(plan.kept, 2);
    rounds_clear(&plan);
    m.retry_failed = true;
    plan = rounds_make_plan(&m);
    assert_int_equal(plan.count, 2);
    assert_int_equal(plan.kept, 0);
    rounds_clear(&plan);
    fake_matrix_clear(&m);
    m = (matrix){0};
    call_with(&m, 2, with_more);
    call_with(&m, 2, FAILS);
    m.retry_failed = true;
    plan = rounds_make_plan(&m);
    assert_int_equal(plan.count, 0); /* it holds glibc:A=1 too */
    rounds_clear(&plan);
    fake_matrix_clear(&m);
}

static void a_round_that_is_run_again_is_no_round_meanwhile(void **state)
{
    struct sigaction action = {.sa_handler = on_signal};
    matrix m = {0};

    (void)state;
    call_with(&m, 1, FAILS);
    sigaction(SIGUSR1, &action, NULL);
    m.retry_failed = true;
    setenv("FAKE", "interrupt", 1); /* of the baseline, in mid-round */
    call(&m);
    unsetenv("FAKE");
    assert_true(matrix_interrupted);
    matrix_interrupted = 0;
    holds(&m, 0, ""); /* its cells are gone */
    fake_matrix_clear(&m);
}

/* ---- padding --------------------------------------------------------------------------------- */

/* What the cell saw; -1: nothing. */
static int padding_seen(const matrix *m, const char *file)
{
    char *path = xasprintf("%s/%s", m->directory, file);
    char *text = util_read_file(path, 1 << 20, NULL), *at;
    int bytes = -1;

    assert_non_null(text);
    at = strstr(text, "\"name\":\"padding\"");
    if (at != NULL)
        assert_int_equal(sscanf(strstr(at, "\"value\":"), "\"value\":%d", &bytes), 1);
    free(text);
    free(path);
    return bytes;
}

static void each_cell_gets_a_padding_of_its_own_and_it_is_recorded(void **state)
{
    matrix m = {0};
    int seen[6];
    size_t count = 0, different = 0;

    (void)state;
    m = fake_matrix();
    fake_target(&m, "glibc");
    fake_target(&m, "glibc:A=1");
    m.floor = false;
    m.padding = true;
    m.same_seed = true;
    call(&m);
    for (uint32_t round = 0; round < 2; round++) {
        char *name = xasprintf("rounds/w00.r%03u.json", round);
        json_t *root = read_json(&m, name), *cell;
        size_t index;
        json_array_foreach(json_object_get(root, "cells"), index, cell)
        {
            const json_t *told = json_object_get(cell, "padding");
            assert_true(json_is_integer(told));
            seen[count] = padding_seen(&m, json_string_value(json_object_get(cell, "file")));
            assert_int_equal(seen[count], json_integer_value(told));
            assert_in_range(seen[count], 0, PADDING_MOST);
            for (size_t at = 0; at < count; at++)
                different += seen[at] != seen[count];
            count++;
        }
        json_decref(root);
        free(name);
    }
    assert_int_equal(count, 6);
    assert_int_equal(different, 15); /* of all pairs: of this seed */
    fake_matrix_clear(&m);
}

static void paddings_are_drawn_from_all_of_their_range(void **state)
{
    matrix m = {.seed = 3, .padding = true};
    uint32_t least = PADDING_MOST, most = 0;
    double sum = 0;

    (void)state;
    for (uint32_t round = 0; round < 500; round++)
        for (size_t at = 0; at < 4; at++) {
            const arm a = {.target = at};
            const uint32_t bytes = padding_bytes(&m, 1, round, &a);
            least = bytes < least ? bytes : least;
            most = bytes > most ? bytes : most;
            sum += bytes;
        }
    assert_in_range(least, 0, 20);
    assert_in_range(most, PADDING_MOST - 20, PADDING_MOST);
    assert_in_range((long)(sum / 2000), 1950, 2150);
    m.padding = false;
    assert_int_equal(padding_bytes(&m, 1, 1, &(arm){.target = 1}), 0);
}

static void without_padding_there_is_no_variable(void **state)
{
    matrix m = {0};
    json_t *root;

    (void)state;
    call_with(&m, 1, ONE);
    root = read_json(&m, "rounds/w00.r000.json");
    assert_null(json_object_get(json_array_get(json_object_get(root, "cells"), 0), "padding"));
    json_decref(root);
    assert_int_equal(padding_seen(&m, "cells/w00.r000.t00.jsonl"), -1);
    fake_matrix_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_target_adds_whole_rounds),
        cmocka_unit_test(a_target_of_the_same_name_must_be_the_same),
        cmocka_unit_test(the_baseline_is_found_wherever_it_stands),
        cmocka_unit_test(what_was_missing_may_come_and_what_went_stays_told),
        cmocka_unit_test(a_list_of_targets_that_is_damaged_is_refused),
        cmocka_unit_test(so_many_more_are_added_to_what_is_there),
        cmocka_unit_test(an_interrupted_addition_goes_on_to_the_same_number),
        cmocka_unit_test(rounds_that_are_added_after_a_verdict_are_noted),
        cmocka_unit_test(rounds_that_were_asked_for_and_interrupted_are_no_look),
        cmocka_unit_test(a_gap_is_filled_first),
        cmocka_unit_test(one_round_alone_is_run),
        cmocka_unit_test(a_failed_round_is_run_again_unless_that_loses_something),
        cmocka_unit_test(a_round_that_is_run_again_is_no_round_meanwhile),
        cmocka_unit_test(each_cell_gets_a_padding_of_its_own_and_it_is_recorded),
        cmocka_unit_test(paddings_are_drawn_from_all_of_their_range),
        cmocka_unit_test(without_padding_there_is_no_variable),
    };

    if (getenv("ALLOCBENCH_TURN") != NULL)
        return fake_cell();
    signal(SIGPIPE, SIG_IGN); /* as the tool does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
