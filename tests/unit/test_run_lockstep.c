/* Runs in lockstep: the lines and bytes that pass between a run and the tool that plays several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <allocbench/run.h>
#include <allocbench/workload.h>

#include "result.h"

#define SPEC   "mixed:slots=16,steps=3000"
#define SLICES 8u /* of 1024 operations: 1 of fill, 6 of steady, 1 of drain */

/* The tool's end of one run. */
typedef struct player {
    pid_t pid;
    int tokens; /* to the run; -1: closed */
    int lines;  /* from the run */
    char path[40];
} player;

/* In the child: exits with minus the status of the play. */
static void play(int in, int out, const char *path, uint32_t settle_s)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;
    abench_status status;

    alarm(60); /* rather than wait for ever */
    signal(SIGPIPE, SIG_IGN);
    o.turn_in = in;
    o.turn_out = out;
    o.slice_operations = 1024;
    o.result_path = path;
    o.settle_s = settle_s;
    if (abench_run_create(&o, &run) != ABENCH_OK)
        _exit(100);
    status = abench_run_play(run, SPEC, NULL);
    abench_run_destroy(run);
    _exit(-status);
}

static void start_settling(player *p, uint32_t settle_s)
{
    int tokens[2], lines[2];

    strcpy(p->path, "/tmp/allocbench-turns-XXXXXX");
    close(mkstemp(p->path));
    unlink(p->path);
    assert_int_equal(pipe2(tokens, O_CLOEXEC), 0);
    assert_int_equal(pipe2(lines, O_CLOEXEC), 0);
    p->pid = fork();
    assert_true(p->pid >= 0);
    if (p->pid == 0) {
        close(tokens[1]);
        close(lines[0]);
        play(tokens[0], lines[1], p->path, settle_s);
    }
    close(tokens[0]);
    close(lines[1]);
    p->tokens = tokens[1];
    p->lines = lines[0];
}

static void start(player *p)
{
    start_settling(p, 0);
}

/* The next line without its end; "" at the pipe's end. */
static const char *next_line(const player *p)
{
    static char line[128];
    size_t length = 0;

    while (length + 1 < sizeof line && read(p->lines, line + length, 1) == 1 &&
           line[length] != '\n')
        length++;
    line[length] = '\0';
    return line;
}

/* The exit code of the run. */
static int end(player *p)
{
    int status = -1;

    if (p->tokens >= 0)
        close(p->tokens);
    close(p->lines);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void give_token(const player *p)
{
    assert_int_equal(write(p->tokens, "x", 1), 1);
}

static void assert_silent(const player *p)
{
    struct pollfd poll_lines = {p->lines, POLLIN, 0};

    assert_int_equal(poll(&poll_lines, 1, 30), 0);
}

static void a_run_plays_one_slice_a_token(void **state)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    unsigned long long live = 0, memory = 0, slices = 0;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;
    player p;
    result r;

    (void)state;
    start(&p);
    assert_int_equal(sscanf(next_line(&p), "ready %llu %llu %llu", &live, &memory, &slices), 3);
    assert_int_equal(abench_workload_parse(SPEC, 0, 0, &workload, NULL), ABENCH_OK);
    assert_int_equal(abench_workload_tape(workload, NULL, &tape, NULL), ABENCH_OK);
    abench_tape_get_summary(tape, &summary);
    assert_int_equal(live, summary.live_bytes_peak);
    assert_int_equal(memory, summary.memory_bytes);
    assert_true(slices >= SLICES);
    for (uint32_t slice = 0; slice < SLICES; slice++) {
        assert_silent(&p); /* until it has the token */
        give_token(&p);
        /* after the last slice the run's own end tells */
        assert_string_equal(next_line(&p), slice + 1 < SLICES ? "slice" : "");
    }
    assert_int_equal(end(&p), 0);
    read_result_at(p.path, &r);
    assert_non_null(record_at(&r, "end", 0));
    assert_non_null(record_at(&r, "slice", SLICES - 1));
    assert_null(record_at(&r, "slice", SLICES));
    free_result(&r);
    unlink(p.path);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

/* So that all settle at once, and none while others play. */
static void what_comes_behind_the_last_slice_has_a_token_of_its_own(void **state)
{
    player p;
    result r;

    (void)state;
    start_settling(&p, 1);
    next_line(&p);
    for (uint32_t slice = 0; slice < SLICES; slice++) {
        give_token(&p);
        assert_string_equal(next_line(&p), slice + 1 < SLICES ? "slice" : "last");
    }
    assert_silent(&p);
    give_token(&p);
    assert_string_equal(next_line(&p), "");
    assert_int_equal(end(&p), 0);
    read_result_at(p.path, &r);
    assert_text(record_at(&r, "after", 0), "name", "1s");
    free_result(&r);
    unlink(p.path);
}

/* The only child of the run's process: its sampler's helper. 0: there is none. */
static pid_t helper_of(pid_t run)
{
    char path[64], text[32] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)run, (int)run);
    file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    return (pid_t)strtol(text, NULL, 10);
}

/* The timeline is not what is measured. */
static void a_helper_that_is_killed_ends_the_timeline_only(void **state)
{
    player p;
    pid_t helper;
    result r;

    (void)state;
    start(&p);
    next_line(&p);
    give_token(&p);
    assert_string_equal(next_line(&p), "slice");
    helper = helper_of(p.pid);
    if (helper == 0) { /* a sanitizer, or an old kernel: a thread samples */
        close(p.tokens);
        p.tokens = -1;
        end(&p);
        unlink(p.path);
        skip();
    }
    assert_int_equal(kill(helper, SIGKILL), 0);
    for (uint32_t slice = 1; slice < SLICES; slice++) {
        give_token(&p);
        assert_string_equal(next_line(&p), slice + 1 < SLICES ? "slice" : "");
    }
    assert_int_equal(end(&p), 0);
    read_result_at(p.path, &r);
    assert_non_null(record_at(&r, "end", 0));
    assert_non_null(record_of(&r, "metric", "name", "rss_bytes"));
    assert_non_null(record_of(&r, "warning", "message",
                              "the sampler's helper process was killed, or did not answer: the "
                              "timeline ends there"));
    free_result(&r);
    unlink(p.path);
}

static void waiting_for_a_turn_is_not_in_the_timeline(void **state)
{
    uint64_t played_ns = 0;
    player p;
    result r;

    (void)state;
    start(&p);
    next_line(&p);
    for (uint32_t slice = 0; slice < SLICES; slice++) {
        uint64_t begun_ns;
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        begun_ns = abench_clock_ns();
        give_token(&p);
        next_line(&p);
        played_ns += abench_clock_ns() - begun_ns;
    }
    assert_int_equal(end(&p), 0);
    read_result_at(p.path, &r);
    assert_true(number(record_of(&r, "metric", "name", "duration_ns"), "value") <=
                (double)played_ns);
    free_result(&r);
    unlink(p.path);
}

static void a_tool_that_is_gone_stops_the_run(void **state)
{
    (void)state;
    for (uint32_t slices = 0; slices < 3; slices++) {
        player p;
        result r;
        start(&p);
        next_line(&p);
        for (uint32_t slice = 0; slice < slices; slice++) {
            give_token(&p);
            assert_string_equal(next_line(&p), "slice");
        }
        close(p.tokens);
        p.tokens = -1;
        assert_string_equal(next_line(&p), "");
        assert_int_equal(end(&p), -ABENCH_ERROR_STOPPED);
        read_result_at(p.path, &r);
        assert_int_equal(r.count, 1); /* the manifest */
        free_result(&r);
        unlink(p.path);
    }
}

static void a_tool_that_does_not_listen_stops_the_run(void **state)
{
    player p;

    (void)state;
    start(&p);
    next_line(&p);
    close(p.lines);
    for (uint32_t slice = 0; slice < SLICES; slice++) /* as many as it could want */
        give_token(&p);
    p.lines = -1;
    assert_int_equal(end(&p), -ABENCH_ERROR_STOPPED);
    unlink(p.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_plays_one_slice_a_token),
        cmocka_unit_test(what_comes_behind_the_last_slice_has_a_token_of_its_own),
        cmocka_unit_test(a_helper_that_is_killed_ends_the_timeline_only),
        cmocka_unit_test(waiting_for_a_turn_is_not_in_the_timeline),
        cmocka_unit_test(a_tool_that_is_gone_stops_the_run),
        cmocka_unit_test(a_tool_that_does_not_listen_stops_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
