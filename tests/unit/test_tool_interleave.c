#include "command_cell.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <allocbench/base.h>

#include "tool/freeze.h"
#include "tool/interleave.h"
#include "tool/single.h"

#define STEPS      10 /* that show that somebody goes on */
#define TIMEOUT_MS 500

/* What the processes of a tree share with the test. */
typedef struct board {
    volatile uint64_t steps[4]; /* each counts while it runs */
    volatile uint64_t seen;     /* stopped children that a parent was told of */
} board;

static board *shown;
static pid_t root; /* of the tree of a test: it only sleeps */

static void rest_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static _Noreturn void count_on(int place)
{
    for (;;) {
        shown->steps[place]++;
        sched_yield();
    }
}

/* A child that does not outlive its parent. */
static pid_t fork_bound(void)
{
    const pid_t pid = fork();

    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

/* grow makes the tree below a root. */
static void plant(void (*grow)(void))
{
    memset((void *)(uintptr_t)shown, 0, sizeof *shown);
    fflush(NULL);
    root = fork_bound();
    if (root != 0)
        return;
    grow();
    for (;;)
        pause();
}

/* The freeze must have been continued: what is stopped is killed, too. */
static void fell(void)
{
    tree_list list = {NULL, 0, 0};

    tree_walk(root, false, &list);
    for (size_t at = 0; at < list.count; at++)
        kill(list.items[at].pid, SIGKILL);
    kill(root, SIGKILL);
    waitpid(root, NULL, 0);
    free(list.items);
}

static void await_steps(int place)
{
    const uint64_t from = shown->steps[place];

    while (shown->steps[place] < from + STEPS) /* the alarm ends it */
        rest_ms(1);
}

/* Nobody counts while the time for many steps passes. */
static void assert_still(void)
{
    board before, after;

    memcpy(&before, (const void *)(uintptr_t)shown, sizeof before);
    rest_ms(10);
    memcpy(&after, (const void *)(uintptr_t)shown, sizeof after);
    for (size_t at = 0; at < 4; at++)
        assert_true(before.steps[at] == after.steps[at]);
}

/* ---- freeze ---------------------------------------------------------------------------------- */

/* Three generations, each in a group or session of its own. */
static void grow_scattered(void)
{
    if (fork_bound() != 0)
        return;
    setpgid(0, 0);
    if (fork_bound() == 0) {
        setsid();
        if (fork_bound() == 0) {
            setsid();
            count_on(2);
        }
        count_on(1);
    }
    count_on(0);
}

static void all_of_a_tree_stand_still_and_go_on(void **state)
{
    freeze f = {0};

    (void)state;
    plant(grow_scattered);
    for (int turn = 0; turn < 3; turn++) {
        for (int place = 0; place < 3; place++)
            await_steps(place);
        assert_true(freeze_stop(&f, root));
        assert_int_equal(f.count, 3);
        assert_still();
        freeze_continue(&f);
    }
    for (int place = 0; place < 3; place++)
        await_steps(place);
    freeze_clear(&f);
    fell();
}

/* Its children are new at each look. */
static void grow_forking(void)
{
    if (fork_bound() != 0)
        return;
    for (;;) {
        if (fork_bound() == 0) {
            for (int step = 0; step < 100; step++)
                shown->steps[0]++;
            _exit(0);
        }
        wait(NULL);
    }
}

static void what_is_forked_meanwhile_stands_still_too(void **state)
{
    freeze f = {0};

    (void)state;
    plant(grow_forking);
    for (int turn = 0; turn < 10; turn++) {
        await_steps(0);
        assert_true(freeze_stop(&f, root));
        assert_still();
        freeze_continue(&f);
    }
    freeze_clear(&f);
    fell();
}

static void grow_self_stopped(void)
{
    pid_t pid;

    if ((pid = fork_bound()) == 0) {
        raise(SIGSTOP);
        count_on(0);
    }
    waitpid(pid, NULL, WUNTRACED);
    if (fork_bound() == 0)
        count_on(1);
}

static void who_stopped_itself_is_left_so(void **state)
{
    freeze f = {0};

    (void)state;
    plant(grow_self_stopped);
    await_steps(1);
    assert_true(freeze_stop(&f, root));
    assert_int_equal(f.count, 1);
    freeze_continue(&f);
    await_steps(1);
    assert_int_equal(shown->steps[0], 0);
    freeze_clear(&f);
    fell();
}

/* A parent that wants to know of stopped children, as a shell with job control does. */
static void grow_watchful(void)
{
    pid_t pid;
    int status;

    if (fork_bound() != 0)
        return;
    if ((pid = fork_bound()) == 0)
        count_on(0);
    while (waitpid(pid, &status, WUNTRACED) == pid)
        shown->seen += WIFSTOPPED(status);
    for (;;)
        pause();
}

static void a_parent_sees_no_stopped_child(void **state)
{
    freeze f = {0};

    (void)state;
    plant(grow_watchful);
    for (int turn = 0; turn < 20; turn++) {
        await_steps(0);
        assert_true(freeze_stop(&f, root));
        freeze_continue(&f);
    }
    await_steps(0);
    freeze_clear(&f);
    fell();
    assert_int_equal(shown->seen, 0);
}

/* ---- commands -------------------------------------------------------------------------------- */

/* A shell in turns, with its spawner; what is in it stays where it is. */
typedef struct step {
    const char *argv[5];
    launch how;
    command_options options;
    command_result result;
    command_cell *run;
} step;

/* The spawner's folder is where the tests began; the script gets that of the test as $0. */
static void begin_shell(step *s, const char *name, const char *script)
{
    memset(s, 0, sizeof *s);
    if (probe == NULL)
        skip();
    s->argv[0] = "sh";
    s->argv[1] = "-c";
    s->argv[2] = script;
    s->argv[3] = folder;
    s->how.argv = (char **)(uintptr_t)s->argv;
    s->how.envp = target_environment(&libc_target, false, NULL, 0);
    s->options.spawner = spawner_another(shared);
    assert_non_null(s->options.spawner);
    s->options.how = &s->how;
    s->options.target = &libc_target;
    s->options.probe = probe;
    s->options.file = name;
    s->options.in_turns = true;
    s->options.timeout_ms = TIMEOUT_MS;
    s->run = command_begin(&s->options, &s->result);
}

static void finish(step *s)
{
    command_finish(s->run);
    target_environment_free(s->how.envp);
    spawner_destroy(s->options.spawner);
}

static void two_commands_live_at_once(void **state)
{
    step a, b;

    (void)state;
    begin_shell(&a, "a.jsonl", "until [ -e $0/b ]; do sleep 0.01; done; : >$0/a");
    begin_shell(&b, "b.jsonl", ": >$0/b; until [ -e $0/a ]; do sleep 0.01; done; exit 3");
    assert_true(command_pid(a.run) > 0 && command_pid(b.run) > 0);
    /* one that runs on the first spawner, and is gone, takes neither with it */
    measure_shell("exit 0");
    while (!command_watch(a.run, 20000000))
        command_watch(b.run, 20000000);
    command_watch(b.run, UINT64_MAX);
    assert_int_equal(command_pid(a.run), 0);
    finish(&a);
    finish(&b);
    assert_int_equal(a.result.state, COMMAND_DONE);
    assert_int_equal(b.result.state, COMMAND_FAILED);
    assert_non_null(strstr(b.result.reason, "exited with status 3"));
    free(b.result.reason);
}

static void its_clock_stops_with_it(void **state)
{
    freeze f = {0};
    step s;
    char message[512];
    uint64_t still_ns;

    (void)state;
    begin_shell(&s, "cell.jsonl", "until [ -e $0/go ]; do sleep 0.01; done");
    assert_false(command_watch(s.run, 20000000));
    assert_true(command_memory(s.run) > 0);
    assert_true(freeze_stop(&f, spawner_pid(s.options.spawner)));
    still_ns = abench_clock_ns();
    rest_ms(TIMEOUT_MS + 50);
    close(open("go", O_CREAT | O_WRONLY, 0600));
    command_stood_still(s.run, abench_clock_ns() - still_ns);
    freeze_continue(&f);
    assert_true(command_watch(s.run, UINT64_MAX));
    finish(&s);
    if (s.result.state != COMMAND_DONE)
        fail_msg("%s", s.result.reason);
    assert_true(s.result.wall_ns < TIMEOUT_MS * 1000000u);
    if (!records_read(folder, "cell.jsonl", &cell, message, sizeof message))
        fail_msg("%s", message);
    assert_null(model_cell_metric(&cell, "wall_ns"));
    assert_non_null(model_cell_metric(&cell, "cpu_ns"));
    for (size_t at = 0; at < cell.warnings_count; at++) /* nobody is missed who stood still */
        assert_null(strstr(cell.warnings[at], "could not look"));
    freeze_clear(&f);
}

static void a_stopped_command_is_killed(void **state)
{
    freeze f = {0};
    step s;
    pid_t pid;

    (void)state;
    begin_shell(&s, "cell.jsonl", "setsid sleep 100 & sleep 100");
    pid = command_pid(s.run);
    assert_true(freeze_stop(&f, spawner_pid(s.options.spawner)));
    finish(&s);
    assert_int_equal(s.result.state, COMMAND_STOPPED);
    assert_int_equal(kill(pid, 0), -1);
    for (size_t at = 0; at < f.count; at++)
        assert_int_equal(kill(f.items[at].pid, 0), -1);
    free(s.result.reason);
    freeze_clear(&f);
}

static void a_later_spawner_is_as_small(void **state)
{
    const size_t size = (size_t)100 << 20;
    char *large = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step s;

    (void)state;
    assert_ptr_not_equal(large, MAP_FAILED);
    memset(large, 1, size);
    begin_shell(&s, "cell.jsonl", "exit 0");
    command_watch(s.run, UINT64_MAX);
    assert_in_range(s.result.peak_rss_bytes, 0, size / 2);
    finish(&s);
    assert_int_equal(s.result.state, COMMAND_DONE);
    assert_in_range(s.result.peak_rss_bytes, 1, size / 2);
    munmap(large, size);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void a_round_without_room_leaves_nothing(void **state)
{
    const char *argv[] = {"sh", "-c", "echo said; sleep 0.2", NULL};
    matrix_workload workload = {.id = (char *)(uintptr_t) "w00", .label = (char *)(uintptr_t) "sh"};
    matrix m = {.directory = folder, .workloads = &workload, .workloads_count = 1};
    arm arms[2] = {{.name = (char *)(uintptr_t) "a"}, {.name = (char *)(uintptr_t) "b"}};

    (void)state;
    if (probe == NULL)
        skip();
    m.command = (char **)(uintptr_t)argv;
    m.targets = &libc_target;
    m.targets_count = 1;
    m.spawner = shared;
    m.probe = (char *)(uintptr_t)probe;
    m.interleave = true;
    m.timeout_s = 30;
    assert_int_equal(mkdir("cells", 0700), 0);
    m.host.memory_bytes = 64 << 10;
    assert_false(interleave_round(&m, 0, 0, arms, 2));
    assert_true(m.apart);
    assert_int_equal(m.notes_count, 1);
    assert_non_null(strstr(m.notes[0], "half of the memory"));
    assert_null(arms[0].reason);
    assert_int_equal(rmdir("cells"), 0); /* it is empty */

    m.host.memory_bytes = 0;
    assert_int_equal(mkdir("cells", 0700), 0);
    assert_string_equal(single_round(&m, 0, 0, arms, 2), "sequential"); /* from then on */
    m.apart = false;
    assert_string_equal(single_round(&m, 0, 1, arms, 2), "interleaved");
    for (size_t at = 0; at < 2; at++) {
        assert_null(arms[at].reason);
        fitness_watch_clear(&arms[at].watch);
    }
    assert_int_equal(unlink("cells/a.jsonl") + unlink("cells/a.out"), 0);
    assert_int_equal(unlink("cells/b.jsonl") + unlink("cells/b.out"), 0);
    assert_int_equal(rmdir("cells"), 0);
    free(m.notes[0]);
    free(m.notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_tree_stand_still_and_go_on),
        cmocka_unit_test(what_is_forked_meanwhile_stands_still_too),
        cmocka_unit_test(who_stopped_itself_is_left_so),
        cmocka_unit_test(a_parent_sees_no_stopped_child),
        TEST(two_commands_live_at_once),
        TEST(its_clock_stops_with_it),
        TEST(a_stopped_command_is_killed),
        TEST(a_later_spawner_is_as_small),
        TEST(a_round_without_room_leaves_nothing),
    };
    int failed;

    shown = mmap(NULL, sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shown == MAP_FAILED || !begin())
        return 99;
    failed = cmocka_run_group_tests_name("tool_interleave", tests, NULL, NULL);
    end();
    return failed;
}
