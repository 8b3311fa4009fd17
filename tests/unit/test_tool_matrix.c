#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <sys/file.h>

#include "fake_cell.h"

static char message[1024];

static void open_matrix(matrix *m)
{
    if (!matrix_open(m, message, sizeof message))
        fail_msg("%s", message);
}

static void run(matrix *m)
{
    matrix_interrupted = 0;
    if (!matrix_run(m, message, sizeof message))
        fail_msg("%s", message);
}

/* As a second call of the tool does; false with message. */
static bool open_again(matrix *m)
{
    matrix_close(m);
    message[0] = '\0';
    return matrix_open(m, message, sizeof message);
}

static void refuse(matrix *m, const char *text)
{
    if (open_again(m))
        fail_msg("it goes on, though %s", text);
    if (strstr(message, text) == NULL)
        fail_msg("'%s' does not say '%s'", message, text);
}

/* A matrix under two targets, opened. */
static matrix make(const char *second)
{
    matrix m = fake_matrix();

    fake_target(&m, "glibc");
    fake_target(&m, second);
    open_matrix(&m);
    return m;
}

static json_t *read_round(const matrix *m, const char *name)
{
    char *path = matrix_path(m, "rounds", name, ".json");
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (root == NULL)
        fail_msg("%s: %s", path, error.text);
    free(path);
    return root;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static char *file_text(const matrix *m, const char *folder, const char *name)
{
    char *path = matrix_path(m, folder, name, "");
    char *text = util_read_file(path, 1 << 20, NULL);

    free(path);
    return text;
}

static void put_file(const matrix *m, const char *folder, const char *name, const char *text)
{
    char *path = matrix_path(m, folder, name, "");

    assert_true(util_write_file(path, text, strlen(text), message, sizeof message));
    free(path);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void a_round_is_every_target_the_baseline_twice_and_the_floor(void **state)
{
    static const char *const names[] = {"glibc", "glibc:A=1", "glibc:A=1", NULL};
    static const char *const files[] = {"w00.r001.t00", "w00.r001.t01", "w00.r001.t01b",
                                        "w00.r001.floor"};
    matrix m = make("glibc:A=1");
    json_t *root, *cells;

    (void)state;
    m.baseline = 1;
    run(&m);
    root = read_round(&m, "w00.r001");
    cells = json_object_get(root, "cells");
    assert_string_equal(text_of(root, "seed"), "8");
    assert_string_equal(text_of(root, "mode"), "lockstep");
    assert_string_equal(text_of(root, "workload"), "w00");
    assert_int_equal(json_integer_value(json_object_get(root, "round")), 1);
    assert_int_equal(json_array_size(cells), 4);
    for (size_t at = 0; at < 4; at++) {
        const json_t *cell = json_array_get(cells, at);
        char *file = xasprintf("cells/%s.jsonl", files[at]);
        char *path = xasprintf("%s/%s", m.directory, file);
        if (names[at] == NULL)
            assert_null(text_of(cell, "target"));
        else
            assert_string_equal(text_of(cell, "target"), names[at]);
        assert_int_equal(json_is_true(json_object_get(cell, "again")), at == 2);
        assert_string_equal(text_of(cell, "status"), "ok");
        assert_string_equal(text_of(cell, "file"), file);
        assert_int_equal(access(path, F_OK), 0);
        free(path);
        free(file);
    }
    json_decref(root);
    fake_matrix_clear(&m);
}

static const char *find_tails(const json_t *cells, size_t from)
{
    for (size_t at = from; at < json_array_size(cells); at++)
        if (json_is_true(json_object_get(json_array_get(cells, at), "tails")))
            return text_of(json_array_get(cells, at), "target");
    return NULL;
}

static void a_tail_pass_follows_of_every_target_that_could_play(void **state)
{
    static const char *const names[] = {"glibc", "glibc:A=1"};
    matrix m = make("glibc:A=1");
    json_t *root, *cells;
    char *log = xasprintf("%s/log", m.directory), *text;

    (void)state;
    m.tails = true;
    m.rounds = 1;
    setenv("FAKE_LOG", log, 1);
    run(&m);
    unsetenv("FAKE_LOG");
    root = read_round(&m, "w00.r000");
    cells = json_object_get(root, "cells");
    assert_int_equal(json_array_size(cells), 6);
    for (size_t at = 0; at < 2; at++) {
        const json_t *cell = json_array_get(cells, 4 + at);
        char *file = xasprintf("cells/w00.r000.t%02zu-tails.jsonl", at);
        assert_string_equal(text_of(cell, "target"), names[at]);
        assert_string_equal(text_of(cell, "file"), file);
        assert_true(json_is_true(json_object_get(cell, "tails")));
        assert_null(json_object_get(json_array_get(cells, at), "tails"));
        free(file);
    }
    json_decref(root);
    /* The normal cells had ended before, and no more is in step with a tail. */
    text = util_read_file(log, 1 << 16, NULL);
    assert_non_null(strstr(text, "-tails"));
    assert_null(strstr(strstr(text, "-tails"), "t00b.jsonl"));
    assert_null(strstr(strstr(text, "-tails"), "floor.jsonl"));
    free(text);
    free(log);
    fake_matrix_clear(&m);
    m = make("glibc:FAKE=words");
    m.tails = true;
    m.rounds = 1;
    run(&m);
    root = read_round(&m, "w00.r000");
    cells = json_object_get(root, "cells");
    assert_int_equal(json_array_size(cells), 5);
    assert_string_equal(find_tails(cells, 0), "glibc");
    json_decref(root);
    fake_matrix_clear(&m);
}

static void what_is_missing_has_no_arm(void **state)
{
    matrix m = make("mine=/no/such.so");
    json_t *root;

    (void)state;
    m.floor = false;
    run(&m);
    root = read_round(&m, "w00.r000");
    assert_int_equal(json_array_size(json_object_get(root, "cells")), 2);
    json_decref(root);
    fake_matrix_clear(&m);
}

static void the_seed_goes_with_the_round_or_stays(void **state)
{
    matrix m = {.seed = UINT64_MAX};

    (void)state;
    assert_true(matrix_seed(&m, 0) == UINT64_MAX);
    assert_true(matrix_seed(&m, 1) == 0);
    m.same_seed = true;
    assert_true(matrix_seed(&m, 5) == UINT64_MAX);
}

static void a_failed_cell_is_marked_with_its_reason_whatever_it_holds(void **state)
{
    matrix m = make("glibc:FAKE=words");
    json_t *root;
    const json_t *cell;

    (void)state;
    m.rounds = 1;
    run(&m);
    root = read_round(&m, "w00.r000");
    assert_int_equal(json_array_size(json_object_get(root, "cells")), 4);
    cell = json_array_get(json_object_get(root, "cells"), 2);
    assert_string_equal(text_of(cell, "status"), "failed");
    assert_string_equal(text_of(cell, "reason"), "ended with status 3: last \\xff words");
    assert_null(text_of(cell, "file"));
    json_decref(root);
    fake_matrix_clear(&m);
}

static void finished_rounds_stay_and_others_are_run_whole(void **state)
{
    matrix m = make("glibc:A=1");
    char *log = xasprintf("%s/log", m.directory), *text;
    struct stat before, after;
    char *kept = matrix_path(&m, "rounds", "w00.r000", ".json");
    char *gone = matrix_path(&m, "rounds", "w00.r001", ".json");

    (void)state;
    run(&m);
    assert_int_equal(stat(kept, &before), 0);
    assert_int_equal(unlink(gone), 0);
    /* What a killed run leaves of a round. */
    put_file(&m, "cells", "w00.r001.t00.jsonl.part", "half");
    put_file(&m, "cells", "w00.r001.t01.jsonl.harness.part", "half");
    put_file(&m, "cells", "w00.r001.t01.jsonl.probe", "half");
    assert_true(open_again(&m));
    setenv("FAKE_LOG", log, 1);
    run(&m);
    unsetenv("FAKE_LOG");
    assert_int_equal(stat(kept, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(access(gone, F_OK), 0);
    text = util_read_file(log, 1 << 16, NULL);
    assert_null(strstr(text, "w00.r000"));
    assert_non_null(strstr(text, "w00.r001.t00."));
    assert_non_null(strstr(text, "w00.r001.t00b."));
    assert_non_null(strstr(text, "w00.r001.t01."));
    free(text);
    assert_null(file_text(&m, "cells", "w00.r001.t00.jsonl.part"));
    assert_null(file_text(&m, "cells", "w00.r001.t01.jsonl.harness.part"));
    assert_null(file_text(&m, "cells", "w00.r001.t01.jsonl.probe"));
    free(gone);
    free(kept);
    free(log);
    fake_matrix_clear(&m);
}

static void on_signal(int number)
{
    (void)number;
    matrix_interrupted = 1;
}

static void an_interrupted_round_leaves_nothing(void **state)
{
    matrix m = make("glibc:FAKE=interrupt");
    struct sigaction action = {.sa_handler = on_signal};
    char *text;

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    run(&m);
    assert_true(matrix_interrupted);
    matrix_interrupted = 0;
    assert_null(file_text(&m, "rounds", "w00.r000.json"));
    text = xasprintf("test -z \"$(ls '%s/cells')\"", m.directory);
    assert_int_equal(system(text), 0);
    free(text);
    fake_matrix_clear(&m);
}

static void a_round_that_cannot_be_kept_is_the_machines_fault(void **state)
{
    matrix m = make("glibc:A=1");
    char *rounds = xasprintf("%s/rounds", m.directory);

    (void)state;
    assert_int_equal(rmdir(rounds), 0);
    matrix_interrupted = 0;
    assert_false(matrix_run(&m, message, sizeof message));
    assert_non_null(strstr(message, "rounds/w00.r000.json"));
    assert_non_null(strstr(message, "No such file or directory"));
    free(rounds);
    fake_matrix_clear(&m);
}

/* ---- the directory --------------------------------------------------------------------------- */

static void a_directory_is_locked_by_one(void **state)
{
    matrix m = make("glibc:A=1"), other = m;
    char *holder =
        xasprintf("another allocbench (pid %ld) works in %s", (long)getpid(), m.directory);

    (void)state;
    assert_false(matrix_open(&other, message, sizeof message));
    assert_non_null(strstr(message, holder));
    matrix_close(&m);
    open_matrix(&other);
    m = other;
    free(holder);
    fake_matrix_clear(&m);
}

static void the_key_names_what_differs(void **state)
{
    matrix m = make("glibc:A=1");
    matrix_workload w = m.workloads[0], *before = m.workloads;
    char other_spec[] = "fake/2:", cpus[] = "0-1", word[] = "true";
    char *command[] = {word, NULL};

    (void)state;
    assert_true(open_again(&m));
#define DIFFERS(member, value, text)                                                               \
    do {                                                                                           \
        matrix saved = m;                                                                          \
        m.member = value;                                                                          \
        refuse(&m, text);                                                                          \
        saved.lock = m.lock;                                                                       \
        m = saved;                                                                                 \
        assert_true(open_again(&m));                                                               \
    } while (0)
    DIFFERS(seed, 8, "seed (\"7\" there, \"8\" asked)");
    DIFFERS(same_seed, true, "same_seed (false there, true asked)");
    DIFFERS(lanes, 3, "lanes (0 there, 3 asked)");
    DIFFERS(slice_operations, 5, "slice_operations");
    DIFFERS(duration_ms, 5, "duration_ms");
    DIFFERS(baseline, 1, "baseline (\"glibc\" there, \"glibc:A=1\" asked)");
    DIFFERS(floor, false, "floor (true there, false asked)");
    DIFFERS(sequential, true, "sequential");
    DIFFERS(ignore_failure, true, "ignore_failure");
    DIFFERS(latency, 3, "latency (\"0\" there, \"3\" asked)");
    DIFFERS(tails, true, "tails (false there, true asked)");
    DIFFERS(command, command, "command");
    DIFFERS(padding, true, "padding (false there, true asked)");
    DIFFERS(interleave, true, "interleave (false there, true asked)");
    DIFFERS(cpus, cpus, "cpus (\"\" there, \"0-1\" asked)");
    DIFFERS(host.cpus_online, 99, "host.cpus_online (0 there, 99 asked)");
#undef DIFFERS
    w.spec = other_spec;
    m.workloads = &w;
    refuse(&m, "workloads.1.spec (\"fake/1:\" there, \"fake/2:\" asked)");
    w.spec = before->spec;
    snprintf(w.digest, sizeof w.digest, "ab");
    refuse(&m, "workloads.1.digest (none there, \"ab\" asked)");
    m.workloads = before;
    snprintf(m.targets[1].identity.build_id, sizeof m.targets[1].identity.build_id, "ab");
    refuse(&m, "targets.glibc:A=1.build_id (\"\" there, \"ab\" asked)");
    m.targets[1].identity.build_id[0] = '\0';
    snprintf(m.targets[0].identity.version, sizeof m.targets[0].identity.version, "3");
    refuse(&m, "targets.glibc.version (\"2\" there, \"3\" asked)");
    fake_matrix_clear(&m);
}

static void a_length_that_was_chosen_is_recorded_and_no_part_of_the_key(void **state)
{
    static char chosen[] = "fake:steps=7", played[] = "fake/1:steps=7";
    matrix m = fake_matrix();
    matrix_workload w = m.workloads[0];

    (void)state;
    fake_target(&m, "glibc");
    m.workloads = &w;
    m.duration_ms = 1000;
    w.argument = w.played = NULL;
    open_matrix(&m);
    assert_null(w.argument); /* interrupted before it was chosen: nothing was played either */
    assert_true(open_again(&m));
    assert_null(w.argument);
    w.argument = chosen;
    w.played = played;
    assert_true(matrix_write(&m, message, sizeof message));
    w.argument = w.played = NULL;
    assert_true(open_again(&m));
    assert_string_equal(w.argument, "fake:steps=7");
    free(w.argument);
    w.argument = NULL;
    m.duration_ms = 2000;
    refuse(&m, "duration_ms (\"1000\" there, \"2000\" asked)");
    assert_null(w.argument);
    fake_matrix_clear(&m);
}

static void rounds_timeouts_and_pauses_are_not_of_the_key(void **state)
{
    matrix m = make("glibc:A=1");

    (void)state;
    m.rounds = 9;
    m.timeout_s = 1;
    m.cooldown_s = 1;
    if (!open_again(&m))
        fail_msg("%s", message);
    fake_matrix_clear(&m);
}

static void a_library_without_a_build_id_is_known_by_its_size_and_time(void **state)
{
    matrix m = make("glibc:A=1");
    char *path = xasprintf("%s/own.so", m.directory), *spec = xasprintf("own=%s", path);
    char *key = xasprintf("%s/matrix.json", m.directory);

    (void)state;
    put_file(&m, ".", "own.so", "one");
    matrix_close(&m);
    assert_int_equal(unlink(key), 0);
    fake_target(&m, spec);
    open_matrix(&m);
    assert_true(open_again(&m));
    put_file(&m, ".", "own.so", "other");
    refuse(&m, "targets.own.modified");
    free(key);
    free(spec);
    free(path);
    fake_matrix_clear(&m);
}

static void kept_variables_are_of_the_key(void **state)
{
    matrix m = fake_matrix();

    (void)state;
    fake_target(&m, "glibc");
    m.keep_environment = true;
    setenv("MALLOC_TOP_PAD_", "1", 1);
    open_matrix(&m);
    assert_true(open_again(&m));
    setenv("MALLOC_TOP_PAD_", "2", 1);
    refuse(&m, "kept.MALLOC_TOP_PAD_ (\"1\" there, \"2\" asked)");
    unsetenv("MALLOC_TOP_PAD_");
    fake_matrix_clear(&m);
}

static void notes_of_earlier_calls_stay(void **state)
{
    matrix m = make("glibc:A=1");

    (void)state;
    matrix_note(&m, "said %d\n\033[31m", 1);
    assert_string_equal(m.notes[0], "said 1??[31m");
    assert_true(matrix_write(&m, message, sizeof message));
    free(m.notes[0]);
    m.notes_count = 0;
    matrix_note(&m, "said 2");
    assert_true(open_again(&m));
    assert_int_equal(m.notes_count, 2);
    assert_string_equal(m.notes[1], "said 1??[31m");
    assert_true(open_again(&m));
    assert_int_equal(m.notes_count, 2); /* each once */
    fake_matrix_clear(&m);
}

static void a_matrix_that_cannot_be_read_is_not_overwritten(void **state)
{
    static const char *const texts[] = {
        "", "{", "[]", "{}", "{\"key\":1}", "{\"key\":{}}", "{\"key\":{},\"key\":{}}"};
    matrix m = make("glibc:A=1");

    (void)state;
    for (size_t at = 0; at < sizeof texts / sizeof *texts; at++) {
        char *text;
        put_file(&m, ".", "matrix.json", texts[at]);
        refuse(&m, " -o");
        text = file_text(&m, ".", "matrix.json");
        assert_string_equal(text, texts[at]);
        free(text);
    }
    fake_matrix_clear(&m);
}

static void a_directory_that_cannot_be_made_says_why(void **state)
{
    matrix m = fake_matrix();
    char *good = m.directory;

    (void)state;
    fake_target(&m, "glibc");
    m.directory = xasprintf("%s/no/such", good);
    refuse(&m, "/no/such cannot be made: No such file or directory");
    free(m.directory);
    m.directory = good;
    put_file(&m, ".", "file", "x");
    m.directory = xasprintf("%s/file", good);
    refuse(&m, "lock cannot be opened: Not a directory");
    free(m.directory);
    m.directory = good;
    fake_matrix_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_is_every_target_the_baseline_twice_and_the_floor),
        cmocka_unit_test(a_tail_pass_follows_of_every_target_that_could_play),
        cmocka_unit_test(what_is_missing_has_no_arm),
        cmocka_unit_test(the_seed_goes_with_the_round_or_stays),
        cmocka_unit_test(a_failed_cell_is_marked_with_its_reason_whatever_it_holds),
        cmocka_unit_test(finished_rounds_stay_and_others_are_run_whole),
        cmocka_unit_test(an_interrupted_round_leaves_nothing),
        cmocka_unit_test(a_round_that_cannot_be_kept_is_the_machines_fault),
        cmocka_unit_test(a_directory_is_locked_by_one),
        cmocka_unit_test(the_key_names_what_differs),
        cmocka_unit_test(a_length_that_was_chosen_is_recorded_and_no_part_of_the_key),
        cmocka_unit_test(rounds_timeouts_and_pauses_are_not_of_the_key),
        cmocka_unit_test(a_library_without_a_build_id_is_known_by_its_size_and_time),
        cmocka_unit_test(kept_variables_are_of_the_key),
        cmocka_unit_test(notes_of_earlier_calls_stay),
        cmocka_unit_test(a_matrix_that_cannot_be_read_is_not_overwritten),
        cmocka_unit_test(a_directory_that_cannot_be_made_says_why),
    };

    if (getenv("ALLOCBENCH_TURN") != NULL)
        return fake_cell();
    signal(SIGPIPE, SIG_IGN); /* as the tool does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
