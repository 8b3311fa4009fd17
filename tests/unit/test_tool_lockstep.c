#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "fake_cell.h"
#include "tool/lockstep.h"

#define ARMS_MOST 6

/* A round under these targets, each once; without the floor. */
typedef struct round {
    matrix m;
    arm arms[ARMS_MOST];
    size_t count;
    const char *mode;
    char *log;
} round;

static void on_signal(int number)
{
    (void)number;
    matrix_interrupted = 1;
}

static round make(const char *const *specs, size_t count)
{
    round r = {.m = fake_matrix(), .count = count};
    char *cells = xasprintf("%s/cells", r.m.directory);

    assert_int_equal(mkdir(cells, 0777), 0);
    free(cells);
    for (size_t at = 0; at < count; at++) {
        fake_target(&r.m, specs[at]);
        r.arms[at] = (arm){.target = at, .name = xasprintf("arm%zu", at)};
    }
    r.log = xasprintf("%s/log", r.m.directory);
    setenv("FAKE_LOG", r.log, 1);
    matrix_interrupted = 0;
    return r;
}

static void play(round *r)
{
    r->mode = lockstep_round(&r->m, 0, 1, r->arms, r->count);
    /* No child is left, neither running nor dead. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void clear(round *r)
{
    for (size_t at = 0; at < r->count; at++) {
        free(r->arms[at].name);
        free(r->arms[at].reason);
    }
    unsetenv("FAKE_LOG");
    free(r->log);
    fake_matrix_clear(&r->m);
}

static bool exists(const round *r, size_t at, const char *suffix)
{
    char *path = matrix_path(&r->m, "cells", r->arms[at].name, suffix);
    const bool there = access(path, F_OK) == 0;

    free(path);
    return there;
}

static void assert_good(const round *r, size_t at)
{
    if (r->arms[at].reason != NULL)
        fail_msg("arm %zu failed: %s", at, r->arms[at].reason);
    assert_true(exists(r, at, ".jsonl"));
    assert_false(exists(r, at, ".jsonl.part"));
    assert_false(exists(r, at, ".err"));
}

/* glibc, a target that goes wrong, glibc: the reason of the second; the others are good. */
static void goes_wrong(const char *how, const char *reason, double timeout_s, bool sequential)
{
    char *spec = xasprintf("glibc:FAKE=%s", how);
    const char *specs[] = {"glibc", spec, "glibc:A=1"};
    round r = make(specs, 3);

    r.m.timeout_s = timeout_s;
    r.m.sequential = sequential;
    play(&r);
    assert_string_equal(r.mode, sequential ? "sequential" : "lockstep");
    if (r.arms[1].reason == NULL || strstr(r.arms[1].reason, reason) == NULL)
        fail_msg("%s: '%s' does not say '%s'", how,
                 r.arms[1].reason == NULL ? "" : r.arms[1].reason, reason);
    assert_false(exists(&r, 1, ".jsonl"));
    assert_good(&r, 0);
    assert_good(&r, 2);
    free(spec);
    clear(&r);
}

static void one_holds_the_token_at_a_time_and_each_pass_is_shuffled(void **state)
{
    static const char *const specs[] = {"glibc", "glibc:A=1", "glibc:A=2", "glibc:A=3"};
    round r = make(specs, 4);
    char who[4 * FAKE_SLICES + 1] = "", *log, *rest, *line;
    size_t turns = 0;

    (void)state;
    play(&r);
    assert_string_equal(r.mode, "lockstep");
    for (size_t at = 0; at < 4; at++)
        assert_good(&r, at);
    rest = log = util_read_file(r.log, 1 << 16, NULL);
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        char *next = strsep(&rest, "\n");
        assert_non_null(strstr(line, " begins"));
        assert_non_null(strstr(next, " ends"));
        assert_int_equal(line[3], next[3]); /* arm0.jsonl.part */
        assert_true(turns < 4 * FAKE_SLICES);
        who[turns++] = line[3];
    }
    assert_int_equal(turns, 4 * FAKE_SLICES);
    for (size_t pass = 0; pass < FAKE_SLICES; pass++)
        for (size_t at = 0; at < 4; at++)
            assert_non_null(memchr(who + 4 * pass, '0' + (int)at, 4));
    assert_true(memcmp(who, who + 4, 4) != 0 || memcmp(who + 4, who + 8, 4) != 0);
    free(log);
    clear(&r);
}

static void in_sequence_each_plays_to_its_end(void **state)
{
    static const char *const specs[] = {"glibc", "glibc:A=1", "glibc:A=2"};
    round r = make(specs, 3);
    char *log, *rest, *line, last = 0;
    size_t changes = 0;

    (void)state;
    r.m.sequential = true;
    play(&r);
    assert_string_equal(r.mode, "sequential");
    rest = log = util_read_file(r.log, 1 << 16, NULL);
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        changes += line[3] != last;
        last = line[3];
    }
    assert_int_equal(changes, 3);
    for (size_t at = 0; at < 3; at++)
        assert_good(&r, at);
    free(log);
    clear(&r);
}

static void what_does_not_fit_together_runs_in_sequence_and_says_so(void **state)
{
    static const char *const specs[] = {"glibc", "glibc:A=1"};
    round r = make(specs, 2);

    (void)state;
    r.m.host.memory_bytes = 1000000;
    setenv("FAKE_LIVE", "124000", 1); /* 2 cells, twice the live set, and a tape: 496020 */
    play(&r);
    assert_string_equal(r.mode, "lockstep");
    assert_int_equal(r.m.notes_count, 0);
    clear(&r);
    r = make(specs, 2);
    r.m.host.memory_bytes = 1000000;
    setenv("FAKE_LIVE", "126000", 1);
    play(&r);
    unsetenv("FAKE_LIVE");
    assert_string_equal(r.mode, "sequential");
    assert_int_equal(r.m.notes_count, 1);
    assert_non_null(strstr(r.m.notes[0], "would pass half of the memory; round 2 runs"));
    assert_good(&r, 0);
    assert_good(&r, 1);
    clear(&r);
    /* The limit of a cgroup counts where it is lower. */
    r = make(specs, 2);
    r.m.host.memory_bytes = UINT64_MAX;
    r.m.host.memory_limit_bytes = 8000;
    play(&r);
    assert_string_equal(r.mode, "sequential");
    clear(&r);
}

static void what_pauses_in_real_time_runs_in_sequence_and_says_so_once(void **state)
{
    static const char *const specs[] = {"glibc", "glibc:A=1"};
    round r = make(specs, 2);

    (void)state;
    setenv("FAKE_PAUSES", "0", 1);
    play(&r);
    assert_string_equal(r.mode, "lockstep");
    assert_int_equal(r.m.notes_count, 0);
    clear(&r);
    r = make(specs, 2);
    setenv("FAKE_PAUSES", "1", 1);
    for (int again = 0; again < 2; again++) {
        play(&r);
        assert_string_equal(r.mode, "sequential");
        assert_int_equal(r.m.notes_count, 1);
        assert_non_null(strstr(r.m.notes[0], "fake: it pauses in real time"));
        assert_good(&r, 0);
        assert_good(&r, 1);
    }
    clear(&r);
    /* Nothing has to be said to who asked for it. */
    r = make(specs, 2);
    r.m.sequential = true;
    play(&r);
    assert_string_equal(r.mode, "sequential");
    assert_int_equal(r.m.notes_count, 0);
    unsetenv("FAKE_PAUSES");
    clear(&r);
}

static void a_child_that_dies_says_how(void **state)
{
    (void)state;
    goes_wrong("crash", "killed by SIGABRT", 20, false);
    goes_wrong("crash", "killed by SIGABRT", 20, true);
    goes_wrong("early", "killed by SIGABRT", 20, false);
    goes_wrong("words", "ended with status 3: last", 20, false);
    goes_wrong("status", "ended with status 5", 20, false);
}

static void a_child_that_hangs_is_killed(void **state)
{
    (void)state;
    goes_wrong("hang", "hung: no answer for 0.3 s (--timeout)", 0.3, false);
    goes_wrong("mute", "hung: no answer for 0.3 s (--timeout)", 0.3, false);
    goes_wrong("hang-at-end", "hung at its end: killed after 0.3 s", 0.3, false);
}

static void a_result_that_proves_nothing_is_refused(void **state)
{
    (void)state;
    goes_wrong("nonsense", "answered 'hello' where 'ready' is wanted", 20, false);
    goes_wrong("no-result", "it left no result of its own", 20, false);
    goes_wrong("other-nonce", "it left no result of its own", 20, false);
    goes_wrong("short", "cells/arm1.jsonl.part:3", 20, false);
    goes_wrong("other-allocator", "malloc is served by /lib/x.so (jemalloc 2), which is no glibc",
               20, false);
}

static void cells_of_one_round_did_the_same_work(void **state)
{
    static const char *const specs[] = {"glibc", "glibc:FAKE=other-digest", "glibc:A=1"};
    round r = make(specs, 3);
    size_t failed = 0;

    (void)state;
    play(&r);
    for (size_t at = 0; at < 3; at++)
        if (r.arms[at].reason != NULL) {
            failed++;
            assert_non_null(
                strstr(r.arms[at].reason, "it did other work than the round's first cell"));
        }
    assert_true(failed == 1 || failed == 2); /* the first to end sets what the others must match */
    clear(&r);
}

static void a_program_that_is_not_there_fails_every_arm(void **state)
{
    static const char *const specs[] = {"glibc", "glibc:A=1"};
    round r = make(specs, 2);

    (void)state;
    free(r.m.cell);
    r.m.cell = xstrdup("/no/such/cell");
    play(&r);
    for (size_t at = 0; at < 2; at++)
        assert_string_equal(r.arms[at].reason, "its process could not be started (exec): No such "
                                               "file or directory");
    clear(&r);
}

static void an_interruption_ends_all_children(void **state)
{
    static const char *const specs[] = {"glibc:FAKE=interrupt", "glibc:A=1", "glibc"};
    struct sigaction action = {.sa_handler = on_signal};

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    for (int sequential = 0; sequential < 2; sequential++) {
        round r = make(specs, sequential ? 1 : 3);
        r.m.sequential = sequential != 0;
        r.m.timeout_s = 100;
        play(&r);
        assert_true(matrix_interrupted);
        assert_string_equal(r.arms[0].reason, "interrupted");
        clear(&r);
    }
    matrix_interrupted = 0;
}

static void a_tape_in_a_file_has_no_plan_and_a_digest_that_is_known(void **state)
{
    static const char *const specs[] = {"glibc:FAKE=no-plan", "glibc:FAKE=no-plan,A=1"};
    matrix_workload tape = {.id = NULL};

    (void)state;
    for (int other = 0; other < 2; other++) {
        round r = make(specs, 2);
        tape = r.m.workloads[0];
        snprintf(tape.digest, sizeof tape.digest, "00000000000000%s", other ? "dd" : "bb");
        r.m.workloads = &tape;
        play(&r);
        for (size_t at = 0; at < 2; at++) {
            if (!other)
                assert_good(&r, at);
            else
                assert_non_null(strstr(r.arms[at].reason,
                                       "another tape than was read at the start (work digest "
                                       "00000000000000bb, not 00000000000000dd)"));
        }
        clear(&r);
    }
    /* A workload of the catalogue has one. */
    round r = make(specs, 1);
    play(&r);
    assert_string_equal(r.arms[0].reason, "its result names no digests");
    clear(&r);
}

static void the_protocol_reaches_the_child(void **state)
{
    static const char *const specs[] = {"glibc", "glibc:A=1"};
    round r = make(specs, 2);

    (void)state;
    r.m.latency = 512;
    r.arms[1].tails = true;
    play(&r);
    for (size_t at = 0; at < 2; at++) {
        char *path = matrix_path(&r.m, "cells", r.arms[at].name, ".jsonl");
        char *text = util_read_file(path, 1 << 16, NULL);
        assert_good(&r, at);
        assert_non_null(strstr(text, "\"seed\":8,")); /* of round 1 */
        assert_non_null(strstr(text, at == 0 ? "\"latency\":512," : "\"latency\":1,"));
        free(text);
        free(path);
    }
    clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_holds_the_token_at_a_time_and_each_pass_is_shuffled),
        cmocka_unit_test(in_sequence_each_plays_to_its_end),
        cmocka_unit_test(what_does_not_fit_together_runs_in_sequence_and_says_so),
        cmocka_unit_test(what_pauses_in_real_time_runs_in_sequence_and_says_so_once),
        cmocka_unit_test(a_child_that_dies_says_how),
        cmocka_unit_test(a_child_that_hangs_is_killed),
        cmocka_unit_test(a_result_that_proves_nothing_is_refused),
        cmocka_unit_test(cells_of_one_round_did_the_same_work),
        cmocka_unit_test(a_program_that_is_not_there_fails_every_arm),
        cmocka_unit_test(an_interruption_ends_all_children),
        cmocka_unit_test(a_tape_in_a_file_has_no_plan_and_a_digest_that_is_known),
        cmocka_unit_test(the_protocol_reaches_the_child),
    };

    if (getenv("ALLOCBENCH_TURN") != NULL)
        return fake_cell();
    signal(SIGPIPE, SIG_IGN); /* as the tool does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
