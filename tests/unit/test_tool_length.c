/* run --duration: trials of the baseline, what is chosen from them, and what was chosen before.
 * This program itself is the cell: FAKE_NS nanoseconds for a thousand steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <allocbench/workload.h>

#include "fake_cell.h"
#include "tool/commands.h"
#include "tool/length.h"

/* ---- the cell -------------------------------------------------------------------------------- */

static int play_steps(const char *argument)
{
    const char *steps_text = strstr(argument, "steps=");
    const double steps = steps_text == NULL ? 0 : strtod(steps_text + 6, NULL);
    const double ns = steps * strtod(getenv("FAKE_NS"), NULL) / 1000;
    const int fd = open(getenv("ALLOCBENCH_RESULT"), O_WRONLY | O_CREAT | O_EXCL, 0666);
    char text[2048], token;
    int in, out;

    if (fake_is("words")) {
        fputs("last words\n", stderr);
        return 3;
    }
    if (sscanf(getenv("ALLOCBENCH_TURN"), "%d,%d", &in, &out) != 2)
        return 7;
    fake_write(out, "ready 1000 10 1 1\n"); /* its pauses are not worth a note */
    if (fake_is("interrupt"))
        kill(getppid(), SIGUSR1);
    if (read(in, &token, 1) != 1)
        return 6;
    fake_log(argument);
    /* Two lanes, a quarter of whose time is waiting; the fill and its time do not count. */
    snprintf(text, sizeof text,
             "{\"record\":\"manifest\",\"schema\":1,\"nonce\":\"%s\",\"seed\":%s,\"lanes\":2,"
             "\"plan_digest\":\"aa\",\"allocator\":{\"family\":\"glibc\",\"version\":\"2\","
             "\"device\":1,\"inode\":1}}\n"
             "{\"record\":\"phase\",\"name\":\"fill\",\"timed\":false,\"time_ns\":1}\n"
             "{\"record\":\"phase\",\"name\":\"steady\",\"timed\":true,\"time_ns\":2}\n"
             "{\"record\":\"slice\",\"index\":0,\"phase\":\"fill\",\"operations\":99,"
             "\"wall_ns\":99,\"cpu_ns\":99,\"busy_ns\":9999999}\n"
             "{\"record\":\"slice\",\"index\":1,\"phase\":\"steady\",\"operations\":%.0f,"
             "\"wall_ns\":99,\"cpu_ns\":99,\"busy_ns\":%.0f,\"wait_ns\":%.0f}\n"
             "{\"record\":\"end\",\"work_digest\":\"bb\"}\n",
             getenv("ALLOCBENCH_NONCE"), getenv("ALLOCBENCH_SEED"), steps * 2, ns * 1.5, ns / 2);
    fake_write(fd, text);
    close(fd);
    return 0;
}

/* ---- the choice ------------------------------------------------------------------------------ */

typedef struct world {
    matrix m;
    matrix_workload w;
    int status;
    char said[2048];
    size_t trials;
} world;

static char *label_of(const char *text)
{
    return xstrdup(text);
}

static char *canonical(const char *label)
{
    abench_workload *workload;
    char *spec;

    assert_int_equal(abench_workload_parse(label, 7, 0, &workload, NULL), ABENCH_OK);
    spec = xstrdup(abench_workload_spec(workload));
    abench_workload_destroy(workload);
    return spec;
}

static world make(const char *label, const char *baseline, uint64_t duration_ms)
{
    world w = {.m = fake_matrix()};
    char *cells = xasprintf("%s/cells", w.m.directory);

    assert_int_equal(mkdir(cells, 0777), 0);
    free(cells);
    fake_target(&w.m, baseline);
    w.m.duration_ms = duration_ms;
    w.w = w.m.workloads[0];
    w.w.label = label_of(label);
    w.w.spec = canonical(label);
    w.w.argument = w.w.played = NULL;
    return w;
}

static void choose(world *w, const char *ns)
{
    FILE *file = tmpfile();
    const int errors = dup(STDERR_FILENO);
    char *log = xasprintf("%s/log", w->m.directory), *text;

    assert_non_null(file);
    w->m.workloads = &w->w;
    setenv("FAKE_NS", ns, 1);
    setenv("FAKE_LOG", log, 1);
    matrix_interrupted = 0;
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    w->status = length_choose(&w->m);
    fflush(stderr);
    dup2(errors, STDERR_FILENO);
    close(errors);
    rewind(file);
    w->said[fread(w->said, 1, sizeof w->said - 1, file)] = '\0';
    fclose(file);
    text = util_read_file(log, 1 << 16, NULL);
    w->trials = 0;
    for (const char *at = text; at != NULL && *at != '\0'; at++)
        w->trials += *at == '\n';
    free(text);
    text = xasprintf("test -z \"$(ls '%s/cells')\"", w->m.directory);
    assert_int_equal(system(text), 0); /* no trial leaves a cell */
    free(text);
    free(log);
}

static void clear(world *w)
{
    free(w->w.label);
    free(w->w.spec);
    free(w->w.argument);
    free(w->w.played);
    fake_matrix_clear(&w->m);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
}

static void a_length_is_chosen_from_trials_of_the_baseline(void **state)
{
    world w = make("mixed:slots=77", "glibc", 2000);

    (void)state;
    w.m.rounds = 5;
    w.m.floor = w.m.tails = true; /* the baseline twice, the floor, the tail pass */
    choose(&w, "100000");         /* 100 ns a step, 50 an operation */
    assert_int_equal(w.status, EXIT_OK);
    assert_string_equal(w.w.argument, "mixed:slots=77,steps=20000000");
    assert_has(w.w.played, "steps=20000000");
    assert_has(w.w.played, "slots=77");
    assert_has(w.w.played, "mixed/");
    assert_int_equal(w.m.notes_count, 1);
    assert_string_equal(w.m.notes[0],
                        "mixed:slots=77: steps=20000000 for --duration 2 s: about 2 s a cell "
                        "(50 ns an operation under glibc); 5 rounds of 4 cells: some 2 minutes");
    assert_false(w.m.sequential);
    assert_true(w.trials >= 2 && w.trials <= 6);
    clear(&w);
}

static void a_spec_without_parameters_gets_its_first(void **state)
{
    world w = make("mixed", "glibc", 1000);

    (void)state;
    choose(&w, "1000000");
    assert_string_equal(w.w.argument, "mixed:steps=1000000");
    clear(&w);
}

static void a_length_stays_in_its_range(void **state)
{
    world w = make("mixed", "glibc", 100);

    (void)state;
    choose(&w, "1000000000000"); /* a second a step */
    assert_int_equal(w.status, EXIT_OK);
    assert_string_equal(w.w.argument, "mixed:steps=1");
    assert_has(w.m.notes[0], "about 1 s");
    assert_has(w.m.notes[0], ", the least that it can be");
    assert_int_equal(w.trials, 1); /* the first is long enough */
    clear(&w);
    w = make("mixed", "glibc", 100000000000);
    choose(&w, "1000");
    assert_int_equal(w.status, EXIT_OK);
    assert_has(w.m.notes[0], ", the most that it can be");
    abench_workload *workload;
    assert_int_equal(abench_workload_parse(w.w.argument, 1, 0, &workload, NULL), ABENCH_OK);
    char *more = xasprintf("mixed:steps=%llu",
                           (unsigned long long)abench_workload_integer(workload, "steps") + 1);
    abench_workload_destroy(workload);
    assert_int_not_equal(abench_workload_parse(more, 1, 0, &workload, NULL), ABENCH_OK);
    free(more);
    clear(&w);
}

static void what_is_not_timed_is_played_as_it_is(void **state)
{
    world w = make("mixed", "glibc", 1000);

    (void)state;
    choose(&w, "0");
    assert_int_equal(w.status, EXIT_OK);
    assert_string_equal(w.w.argument, "mixed");
    assert_string_equal(w.w.played, w.w.spec);
    assert_has(w.m.notes[0], "--duration does not apply, nothing of it is timed");
    assert_true(w.trials <= 6);
    /* And is again when the directory is gone on with. */
    free(w.w.played);
    w.w.played = NULL;
    choose(&w, "0");
    assert_int_equal(w.status, EXIT_OK);
    assert_string_equal(w.w.played, w.w.spec);
    clear(&w);
}

static void a_trial_that_fails_says_why(void **state)
{
    world w = make("mixed", "glibc:FAKE=words", 1000);

    (void)state;
    choose(&w, "1000");
    assert_int_equal(w.status, EXIT_TARGET);
    assert_has(w.said, "mixed: the trial for --duration failed: ended with status 3: last words");
    assert_null(w.w.argument);
    clear(&w);
}

static void on_signal(int number)
{
    (void)number;
    matrix_interrupted = 1;
}

static void an_interruption_ends_it(void **state)
{
    world w = make("mixed", "glibc:FAKE=interrupt", 1000);
    struct sigaction action = {.sa_handler = on_signal};

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    choose(&w, "1000");
    assert_int_equal(w.status, EXIT_INTERRUPTED);
    matrix_interrupted = 0;
    clear(&w);
}

static void what_was_chosen_before_is_not_chosen_again(void **state)
{
    static const char *const wrong[] = {"mixed:slots=78,steps=5",
                                        "mixed:slots=77,steps=5,lanes=1",
                                        "churn-local:rounds=5",
                                        "rubbish",
                                        "mixed:slots=77,steps=0",
                                        "tape:/etc/passwd",
                                        ""};
    world w = make("mixed:slots=77", "glibc:FAKE=words", 1000);

    (void)state;
    w.w.argument = xstrdup("mixed:slots=77,steps=5");
    choose(&w, "1000");
    assert_int_equal(w.status, EXIT_OK);
    assert_string_equal(w.w.argument, "mixed:slots=77,steps=5");
    assert_has(w.w.played, "steps=5");
    assert_int_equal(w.trials, 0);
    assert_int_equal(w.m.notes_count, 0);
    for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        free(w.w.argument);
        free(w.w.played);
        w.w.played = NULL;
        w.w.argument = xstrdup(wrong[at]);
        choose(&w, "1000");
        if (w.status != EXIT_ENVIRONMENT)
            fail_msg("'%s' is taken", wrong[at]);
        assert_has(w.said, "workload w00 has an argument that --duration does not make");
    }
    clear(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_length_is_chosen_from_trials_of_the_baseline),
        cmocka_unit_test(a_spec_without_parameters_gets_its_first),
        cmocka_unit_test(a_length_stays_in_its_range),
        cmocka_unit_test(what_is_not_timed_is_played_as_it_is),
        cmocka_unit_test(a_trial_that_fails_says_why),
        cmocka_unit_test(an_interruption_ends_it),
        cmocka_unit_test(what_was_chosen_before_is_not_chosen_again),
    };

    if (getenv("ALLOCBENCH_TURN") != NULL)
        return play_steps(argc > 1 ? argv[1] : "");
    signal(SIGPIPE, SIG_IGN); /* as the tool does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
