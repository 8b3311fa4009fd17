#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/watch_mappings.h"
#include "tool/watch_process.h"
#include "tool/watch_tree.h"

#define MIB  ((uint64_t)1 << 20)
#define LATE (abench_clock_ns() + 20000000000u) /* what has not come by then does not come */

/* ---- processes ------------------------------------------------------------------------------- */

static watch_process prepared;

static int prepare(void **state)
{
    (void)state;
    return !watch_process_prepare(&prepared);
}

static int clean_up(void **state)
{
    (void)state;
    close(prepared.signals);
    if (prepared.pidfd >= 0)
        close(prepared.pidfd);
    return sigprocmask(SIG_SETMASK, &prepared.before, NULL);
}

static void run_to_its_end(const char *script)
{
    char sh[] = "sh", c[] = "-c", text[256];
    char *argv[] = {sh, c, text, NULL};

    snprintf(text, sizeof text, "%s", script);
    assert_true(watch_process_start(&prepared, argv));
    assert_int_equal(watch_process_wait(&prepared, LATE, -1), WATCH_ENDED);
    assert_int_equal(watch_process_wait(&prepared, LATE, STDOUT_FILENO), WATCH_ENDED);
}

static void a_commands_status_is_its_own(void **state)
{
    (void)state;
    run_to_its_end("exit 7");
    assert_int_equal(watch_process_exit(&prepared), 7);
}

static void a_commands_signal_is_told(void **state)
{
    (void)state;
    run_to_its_end("kill -TERM $$");
    assert_int_equal(watch_process_exit(&prepared), 128 + SIGTERM);
}

/* What the tool ignores and blocks is not the command's. */
static void a_command_has_the_signals_of_the_start(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    run_to_its_end("kill -PIPE $$; exit 0");
    assert_int_equal(watch_process_exit(&prepared), 128 + SIGPIPE);
}

static void a_command_that_is_not_there_is_told(void **state)
{
    char name[] = "/no/such/program";
    char *argv[] = {name, NULL};

    (void)state;
    assert_false(watch_process_start(&prepared, argv));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left of it */
}

static void a_signal_is_passed_on(void **state)
{
    char sleep[] = "sleep", time[] = "60";
    char *argv[] = {sleep, time, NULL};

    (void)state;
    assert_true(watch_process_start(&prepared, argv));
    assert_int_equal(watch_process_wait(&prepared, 0, -1), WATCH_TIME);
    assert_int_equal(watch_process_wait(&prepared, LATE, STDERR_FILENO), WATCH_WRITABLE);
    kill(getpid(), SIGTERM);
    assert_int_equal(watch_process_wait(&prepared, LATE, -1), WATCH_ENDED);
    assert_int_equal(watch_process_exit(&prepared), 128 + SIGTERM);
}

static pid_t fork_pausing(uint64_t bytes)
{
    const pid_t pid = fork();

    if (pid == 0) {
        volatile char *block = malloc(bytes);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        for (uint64_t at = 0; at < bytes; at += 4096)
            block[at] = 1;
        for (;;)
            pause();
    }
    return pid;
}

static void an_interrupt_ends_the_watch_and_not_the_process(void **state)
{
    const pid_t pid = fork_pausing(1);

    (void)state;
    assert_true(watch_process_open(&prepared, pid));
    kill(getpid(), SIGINT);
    assert_int_equal(watch_process_wait(&prepared, LATE, -1), WATCH_STOP);
    assert_int_equal(kill(pid, 0), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void the_end_of_a_process_is_seen(void **state)
{
    const pid_t pid = fork_pausing(1);

    (void)state;
    assert_true(watch_process_open(&prepared, pid));
    kill(pid, SIGKILL);
    if (prepared.pidfd >= 0) /* a kernel without pidfd tells it at the next look */
        assert_int_equal(watch_process_wait(&prepared, LATE, -1), WATCH_ENDED);
    waitpid(pid, NULL, 0);
    assert_false(watch_process_open(&prepared, pid));
    assert_int_equal(errno, ESRCH);
}

/* ---- trees ----------------------------------------------------------------------------------- */

static void this_process_is_left_out(void **state)
{
    watch_tree *tree = NULL;
    watch_look look;
    abench_memory own = ABENCH_MEMORY_INIT;
    pid_t pid;

    (void)state;
    assert_int_equal(watch_tree_open(getpid(), 1, false, &tree), ABENCH_OK);
    assert_int_equal(watch_tree_look(tree, &look), ABENCH_OK);
    assert_int_equal(look.processes, 0);
    assert_int_equal(look.memory.rss_bytes, 0);
    pid = fork_pausing(32 * MIB);
    do { /* until it has written all of it */
        usleep(1000);
        assert_int_equal(abench_memory_read(pid, ABENCH_TIER_STATM, &own), ABENCH_OK);
    } while (own.rss_bytes < 32 * MIB);
    kill(pid, SIGSTOP);
    waitpid(pid, NULL, WUNTRACED);
    assert_int_equal(watch_tree_look(tree, &look), ABENCH_OK);
    assert_int_equal(abench_memory_read(pid, ABENCH_TIER_STATM, &own), ABENCH_OK);
    assert_int_equal(look.processes, 1);
    assert_int_equal(watch_tree_pid(tree, 0), pid);
    assert_int_equal(watch_tree_pid(tree, 1), 0);
    assert_int_equal(look.memory.rss_bytes, own.rss_bytes);
    assert_int_equal(watch_tree_peaks(tree)->rss_bytes, own.rss_bytes);
    assert_true(look.rates.is_known & WATCH_FAULTS);
    assert_true(look.rates.faults_per_s > 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    watch_tree_close(tree);
}

static void dear_fields_are_read_first_and_then_seldom(void **state)
{
    const pid_t pid = fork_pausing(16 * MIB);
    watch_tree *tree = NULL;
    watch_look look;

    (void)state;
    assert_int_equal(watch_tree_open(pid, 1, false, &tree), ABENCH_OK);
    assert_null(watch_tree_dear(tree));
    assert_int_equal(watch_tree_look(tree, &look), ABENCH_OK);
    assert_true(look.is_dear);
    assert_true(look.memory.valid & ABENCH_MEMORY_PSS);
    watch_tree_charge(tree, 3600000000000); /* an hour: the next one is due in 42 days */
    usleep(300000);                         /* and would be by now */
    assert_int_equal(watch_tree_look(tree, &look), ABENCH_OK);
    assert_false(look.is_dear);
    assert_false(look.memory.valid & ABENCH_MEMORY_PSS);
    assert_true(look.memory.valid & ABENCH_MEMORY_RSS);
    assert_true(watch_tree_dear(tree)->memory.valid & ABENCH_MEMORY_PSS);
    assert_int_equal(watch_tree_peaks(tree)->looks, 2);
    assert_int_equal(watch_tree_peaks(tree)->dear_looks, 1);
    assert_int_equal(watch_tree_peaks(tree)->dear_rss_bytes,
                     watch_tree_dear(tree)->memory.rss_bytes);
    assert_true(watch_tree_peaks(tree)->dear_rss_bytes > 0);
    watch_tree_close(tree);
    assert_int_equal(watch_tree_open(pid, 1, true, &tree), ABENCH_OK);
    for (int time = 0; time < 3; time++) {
        assert_int_equal(watch_tree_look(tree, &look), ABENCH_OK);
        assert_true(look.is_dear);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(watch_tree_look(tree, &look), ABENCH_ERROR_NOT_FOUND);
    watch_tree_close(tree);
    assert_int_equal(watch_tree_open(pid, 1, true, &tree), ABENCH_ERROR_NOT_FOUND);
    assert_null(tree);
}

static void mappings_add_up_over_processes(void **state)
{
    const pid_t pids[] = {fork_pausing(1), fork_pausing(1)};
    const int32_t both[] = {pids[0], pids[1], 0x7ffffffe};
    watch_mappings one, two, sum;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        kill(pids[at], SIGSTOP);
        waitpid(pids[at], NULL, WUNTRACED);
    }
    assert_int_equal(watch_mappings_read(pids[0], both, 1, &one), ABENCH_OK);
    assert_int_equal(watch_mappings_read(pids[0], both + 1, 1, &two), ABENCH_OK);
    assert_int_equal(watch_mappings_read(pids[1], both, 3, &sum), ABENCH_OK);
    assert_int_equal(one.root, ABENCH_OK);
    assert_int_equal(two.root, ABENCH_ERROR_NOT_FOUND); /* it is not among them */
    assert_int_equal(sum.root, ABENCH_OK);
    assert_int_equal(sum.processes, 2);
    assert_int_equal(sum.unreadable, 0);
    for (size_t at = 0; at < ABENCH_MAPPINGS_COUNT; at++) {
        assert_int_equal(sum.of[at].rss_bytes, one.of[at].rss_bytes + two.of[at].rss_bytes);
        assert_int_equal(sum.of[at].mappings, one.of[at].mappings + two.of[at].mappings);
    }
    assert_true(sum.of[ABENCH_MAPPINGS_ALL].rss_bytes > 0);
    watch_mappings_print_csv(&sum, out);
    fclose(out);
    assert_non_null(strstr(text, "category,mappings,size_bytes,rss_bytes,pss_bytes,"));
    assert_non_null(strstr(text, "\nheap,"));
    assert_non_null(strstr(text, "\nall,"));
    free(text);
    for (size_t at = 0; at < 2; at++) {
        kill(pids[at], SIGKILL);
        waitpid(pids[at], NULL, 0);
    }
}

/* ---- what stands around the table ------------------------------------------------------------ */

static void the_title_counts_the_processes(void **state)
{
    watch_mappings m = {.processes = 1};
    char *text = watch_mappings_title(&m, "process 5");

    (void)state;
    assert_string_equal(text, "mappings of process 5: 1 process, sizes in units of 1024");
    free(text);
    m.processes = 3;
    text = watch_mappings_title(&m, "x");
    assert_string_equal(text, "mappings of x: 3 processes, sizes in units of 1024");
    free(text);
    m.unreadable = 2;
    text = watch_mappings_title(&m, "x");
    assert_string_equal(text, "mappings of x: 3 of 5 processes (the rest could not be read), sizes "
                              "in units of 1024");
    free(text);
}

static void a_table_says_what_share_of_the_peak_it_is(void **state)
{
    static const struct {
        uint64_t looks, mark; /* MiB */
        uint32_t percent;
        const char *text;
    } cases[] = {
        {0, 0, 100, "its RSS of 8.00M is the largest that is known"},
        {7, 8, 100, "its RSS of 8.00M is the largest that is known"},
        {8, 122, 6, "its RSS of 8.00M is 6 % of the largest, 122M by the kernel's own mark"},
        {16, 12, 50, "its RSS of 8.00M is 50 % of the largest, 16.0M at a look"},
        {9, 10, 80, "its RSS of 8.00M is 80 % of the largest, 10.0M by the kernel's own mark"},
    };
    watch_mappings m = {.processes = 1};

    (void)state;
    m.of[ABENCH_MAPPINGS_ALL].rss_bytes = 8 * MIB;
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        uint32_t percent = 1000;
        char *text =
            watch_mappings_share(&m, cases[at].looks * MIB, cases[at].mark * MIB, &percent);
        assert_string_equal(text, cases[at].text);
        assert_int_equal(percent, cases[at].percent);
        free(text);
    }
}

static void why_there_is_no_memory_is_told(void **state)
{
    static const struct {
        const char *stat, *why;
    } cases[] = {
        {"", "there is no process 7"},
        {"7 (x", "there is no process 7"},
        {"7 (x) Z 1 2", "there is no process 7"},
        {"7 (x) S 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 9", "there is no process 7"},
        {"7 (k) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 0 -20 1 0 9",
         "process 7 has no memory of its own (a kernel thread)"},
        {"7 (a) Z 1 (b) S 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 9", "there is no process 7"},
        {"7 (z) Z 1 1 1 0 -1 4227148 1 2 3 4 5 6 7 8 20 0 1 0 9",
         "process 7 has no memory of its own (a zombie: it has ended, and its parent has not "
         "waited for it)"},
        {"7 (z) Z 1 1 1 0 -1 4227148 1 2 3 4 5 6 7 8 20 0 3 0 9",
         "process 7 has no memory of its own (a zombie: its first thread has ended)"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        char *why = watch_process_why_none_of(7, cases[at].stat);
        assert_string_equal(why, cases[at].why);
        free(why);
    }
}

static void a_zombie_is_no_missing_process(void **state)
{
    const pid_t pid = fork();
    siginfo_t info;
    char *why;

    (void)state;
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    why = watch_process_why_none(pid);
    assert_non_null(strstr(why, "(a zombie: it has ended"));
    free(why);
    waitpid(pid, NULL, 0);
    why = watch_process_why_none(pid);
    assert_non_null(strstr(why, "there is no process"));
    free(why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_commands_status_is_its_own, prepare, clean_up),
        cmocka_unit_test_setup_teardown(a_commands_signal_is_told, prepare, clean_up),
        cmocka_unit_test_setup_teardown(a_command_has_the_signals_of_the_start, prepare, clean_up),
        cmocka_unit_test_setup_teardown(a_command_that_is_not_there_is_told, prepare, clean_up),
        cmocka_unit_test_setup_teardown(a_signal_is_passed_on, prepare, clean_up),
        cmocka_unit_test_setup_teardown(an_interrupt_ends_the_watch_and_not_the_process, prepare,
                                        clean_up),
        cmocka_unit_test_setup_teardown(the_end_of_a_process_is_seen, prepare, clean_up),
        cmocka_unit_test(this_process_is_left_out),
        cmocka_unit_test(dear_fields_are_read_first_and_then_seldom),
        cmocka_unit_test(mappings_add_up_over_processes),
        cmocka_unit_test(the_title_counts_the_processes),
        cmocka_unit_test(a_table_says_what_share_of_the_peak_it_is),
        cmocka_unit_test(why_there_is_no_memory_is_told),
        cmocka_unit_test(a_zombie_is_no_missing_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
