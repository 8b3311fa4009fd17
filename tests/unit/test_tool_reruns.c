/* Rounds in which the machine changed: played again, kept with a mark, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "fake_cell.h"

static char message[1024];

/* ---- a machine that changes when it is asked to ---------------------------------------------- */

static const char *modes; /* THP's, a letter a look; the last one stays */
static uint64_t swapped_pages;
static uint32_t looks;

/* In front of the library's. */
abench_status abench_machine_read(int32_t spin, abench_machine *out)
{
    (void)spin;
    abench_machine_init(out);
    out->valid = ABENCH_MACHINE_THP | ABENCH_MACHINE_SWAP;
    out->thp[0] = modes[looks < strlen(modes) ? looks : strlen(modes) - 1];
    out->swapped_pages = swapped_pages * looks;
    looks++;
    return ABENCH_OK;
}

static matrix make(const char *second, const char *script, uint32_t reruns, bool strict)
{
    matrix m = fake_matrix();

    fake_target(&m, "glibc");
    fake_target(&m, second);
    m.rounds = 1;
    m.reruns = reruns;
    m.strict = strict;
    if (!matrix_open(&m, message, sizeof message))
        fail_msg("%s", message);
    modes = script;
    looks = 0;
    matrix_interrupted = 0;
    return m;
}

/* How often a cell of the round began to play its first slice. */
static size_t plays(const char *log)
{
    char *text = util_read_file(log, 1 << 16, NULL);
    size_t begun = 0;

    assert_non_null(text);
    for (const char *at = text; (at = strstr(at, "t00.jsonl.part begins")) != NULL; at++)
        begun++;
    free(text);
    assert_int_equal(begun % FAKE_SLICES, 0);
    return begun / FAKE_SLICES;
}

/* Runs it. Returns whether it went well; *played: how often the round was. */
static bool run(matrix *m, size_t *played)
{
    char *log = xasprintf("%s/log", m->directory);
    bool good;

    message[0] = '\0';
    setenv("FAKE_LOG", log, 1);
    good = matrix_run(m, message, sizeof message);
    unsetenv("FAKE_LOG");
    *played = plays(log);
    free(log);
    return good;
}

/* NULL: it was not kept. */
static json_t *kept_round(const matrix *m)
{
    char *path = matrix_path(m, "rounds", "w00.r000", ".json");
    json_t *root = json_load_file(path, 0, NULL);

    free(path);
    return root;
}

static void expect_kept(const matrix *m, json_int_t tries, const char *change, const char *verdict)
{
    json_t *root = kept_round(m), *list = json_object_get(root, "machine");

    assert_non_null(root);
    assert_int_equal(json_integer_value(json_object_get(root, "tries")), tries);
    assert_int_equal(json_array_size(list), change != NULL);
    if (change != NULL) {
        const json_t *one = json_array_get(list, 0);
        assert_string_equal(json_string_value(json_object_get(one, "name")), change);
        assert_string_equal(json_string_value(json_object_get(one, "verdict")), verdict);
    }
    json_decref(root);
}

/* ---- the rounds ------------------------------------------------------------------------------ */

static void on_a_machine_that_stays_a_round_is_played_once(void **state)
{
    matrix m = make("glibc:A=1", "a", 3, true);
    size_t played;

    (void)state;
    assert_true(run(&m, &played));
    assert_int_equal(played, 1);
    expect_kept(&m, 1, NULL, NULL);
    fake_matrix_clear(&m);
}

static void a_spoilt_round_is_played_again_whole(void **state)
{
    matrix m = make("glibc:A=1", "ab", 1, false);
    size_t played;

    (void)state;
    assert_true(run(&m, &played));
    assert_int_equal(played, 2);
    expect_kept(&m, 2, NULL, NULL); /* what counts is the last try's */
    fake_matrix_clear(&m);
}

static void a_round_that_stays_spoilt_is_kept_and_marked(void **state)
{
    matrix m = make("glibc:A=1", "abababab", 2, false);
    size_t played;

    (void)state;
    assert_true(run(&m, &played));
    assert_int_equal(played, 3);
    expect_kept(&m, 3, "thp", "refuse");
    fake_matrix_clear(&m);
    m = make("glibc:A=1", "abababab", 0, false);
    assert_true(run(&m, &played));
    assert_int_equal(played, 1);
    expect_kept(&m, 1, "thp", "refuse");
    fake_matrix_clear(&m);
}

static void strict_keeps_no_round_that_stays_spoilt(void **state)
{
    matrix m = make("glibc:A=1", "abababab", 1, true);
    size_t played;
    char *command;

    (void)state;
    assert_false(run(&m, &played));
    assert_int_equal(played, 2);
    assert_string_equal(message, "round 1 of fake: the machine changed while it ran, 2 times (thp: "
                                 "from a to b): it is not kept (--strict); the same command goes "
                                 "on");
    assert_null(kept_round(&m));
    command = xasprintf("test -z \"$(ls '%s/cells')\"", m.directory);
    assert_int_equal(system(command), 0); /* nor are its cells */
    free(command);
    modes = "a"; /* the same command, on a machine that stays */
    assert_true(run(&m, &played));
    expect_kept(&m, 1, NULL, NULL);
    fake_matrix_clear(&m);
}

static void what_only_warns_is_kept_and_marked(void **state)
{
    matrix m = make("glibc:A=1", "a", 1, true);
    size_t played;

    (void)state;
    swapped_pages = 3;
    assert_true(run(&m, &played));
    assert_int_equal(played, 1);
    expect_kept(&m, 1, "swap", "warn");
    fake_matrix_clear(&m);
    m = make("glibc:A=1", "a", 1, false);
    swapped_pages = 300; /* so many spoil it */
    assert_true(run(&m, &played));
    swapped_pages = 0;
    assert_int_equal(played, 2);
    expect_kept(&m, 2, "swap", "refuse");
    fake_matrix_clear(&m);
}

/* What failed is told: what it did to the machine may be why. */
static void a_round_with_a_failed_cell_is_not_played_again(void **state)
{
    matrix m = make("glibc:FAKE=words", "ab", 3, true);
    size_t played;

    (void)state;
    assert_true(run(&m, &played));
    assert_int_equal(played, 1);
    expect_kept(&m, 1, "thp", "refuse");
    fake_matrix_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_machine_that_stays_a_round_is_played_once),
        cmocka_unit_test(a_spoilt_round_is_played_again_whole),
        cmocka_unit_test(a_round_that_stays_spoilt_is_kept_and_marked),
        cmocka_unit_test(strict_keeps_no_round_that_stays_spoilt),
        cmocka_unit_test(what_only_warns_is_kept_and_marked),
        cmocka_unit_test(a_round_with_a_failed_cell_is_not_played_again),
    };

    if (getenv("ALLOCBENCH_TURN") != NULL)
        return fake_cell();
    signal(SIGPIPE, SIG_IGN); /* as the tool does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
