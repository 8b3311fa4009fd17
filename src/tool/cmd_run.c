/*
 * cmd_run.c - allocbench run: from arguments to a proven plan, through the matrix, to the report.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/arguments.h"
#include "tool/commands.h"
#include "tool/length.h"
#include "tool/library.h"
#include "tool/matrix.h"
#include "tool/plan.h"
#include "tool/preflight.h"
#include "tool/program.h"
#include "tool/progress.h"
#include "tool/sweep.h"
#include "tool/targets.h"
#include "tool/until.h"
#include "tool/util.h"
#include "tool/workloads.h"

#define LINE_MOST   16000
#define QUICK_SLICE 50000 /* operations: so that a small workload has more than its cold slice */

extern char **environ;

/* ---- where our own parts are ----------------------------------------------------------------- */

static int find_parts(matrix *m)
{
    char *probe = command_find_part("liballocbench-probe.so");

    m->cell = command_find_part("allocbench-cell");
    m->probe = probe == NULL ? NULL : library_preload_path(probe);
    free(probe);
    if (m->cell == NULL || m->probe == NULL)
        return command_fail(EXIT_ENVIRONMENT,
                            "allocbench-cell and liballocbench-probe.so are not beside this "
                            "command: is it installed whole?");
    return EXIT_OK;
}

/* ---- targets that are no good ---------------------------------------------------------------- */

/* Leaves a target out: its line in the report says why. */
static void leave_out(target *t, const char *reason)
{
    char *line = xasprintf("left out: target %s: %s", t->name, reason);

    progress_say(line);
    free(line);
    if (t->missing == NULL)
        t->missing = xstrdup(reason);
}

/* Proves every target; what is bad ends the command, or is left out with --skip-bad. */
static int prove_targets(matrix *m, const arguments *a)
{
    int status = EXIT_OK;

    for (size_t at = 0; at < m->targets_count && !matrix_interrupted; at++) {
        target *t = &m->targets[at];
        const bool was_asked = a->targets_count > 0 || at == m->baseline;
        char message[2048];
        if (t->missing != NULL)
            snprintf(message, sizeof message, "%s", t->missing);
        else if (preflight_target(t, m->cell, m->keep_environment, &matrix_interrupted, message,
                                  sizeof message))
            continue;
        if (matrix_interrupted || (t->missing != NULL && !was_asked))
            continue; /* one of "all that are found": listed as missing */
        if (a->skip_bad && at != m->baseline)
            leave_out(t, message);
        else
            status = command_fail(EXIT_TARGET, "target %s: %s", t->name, message);
    }
    return status;
}

/* ---- a command ------------------------------------------------------------------------------- */

/* A word as a shell takes it: quoted where it has to be. */
static char *quote(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=:,./@%^";
    char *text, *at;

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0')
        return xstrdup(word);
    text = at = xmalloc(4 * strlen(word) + 3);
    *at++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\'", 3);
            at += 3;
        }
        *at++ = *word;
    }
    *at++ = '\'';
    *at = '\0';
    return text;
}

/* Ends a line that nobody would read whole: results hold no longer ones. */
static char *shorten(char *line)
{
    static const char mark[] = "...";
    size_t end = LINE_MOST - sizeof mark;

    if (strlen(line) <= LINE_MOST)
        return line;
    while (end > 0 && ((unsigned char)line[end] & 0xc0) == 0x80)
        end--; /* not within a character */
    memcpy(line + end, mark, sizeof mark);
    return line;
}

/* The words as one line that a shell reads back. */
char *run_join(char **words)
{
    char *text = xstrdup("");

    for (size_t at = 0; words[at] != NULL && strlen(text) <= LINE_MOST; at++) {
        char *word = quote(words[at]);
        char *more = xasprintf("%s%s%s", text, at == 0 ? "" : " ", word);
        free(word);
        free(text);
        text = more;
    }
    return shorten(text);
}

/* The first target that a library must reach. */
static const target *first_preloaded(const matrix *m)
{
    for (size_t at = 0; at < m->targets_count; at++)
        if (m->targets[at].library != NULL && m->targets[at].missing == NULL)
            return &m->targets[at];
    return NULL;
}

/* No preloaded library gets into the program: these targets are left out, or end the command. */
static int refuse_preloaded(matrix *m, bool skip_bad, const char *reason)
{
    const target *preloaded = first_preloaded(m);

    if (preloaded == NULL)
        return EXIT_OK;
    if (!skip_bad || m->targets[m->baseline].library != NULL)
        return command_fail(EXIT_TARGET,
                            "%s: under target %s its malloc would stay its own; only the system's "
                            "allocator can be measured (-t glibc)",
                            reason, preloaded->name);
    for (size_t at = 0; at < m->targets_count; at++)
        if (m->targets[at].library != NULL && m->targets[at].missing == NULL)
            leave_out(&m->targets[at], reason);
    return EXIT_OK;
}

/* "PATH SIZE MTIME" of each: what tells a program from its next build. */
static char *describe_files(const char *path, const char *image)
{
    const char *const files[] = {path, image};
    char *text = xstrdup("");

    for (size_t at = 0; at < sizeof files / sizeof files[0]; at++) {
        char *real = files[at] == NULL ? NULL : realpath(files[at], NULL);
        struct stat info;
        char *more;
        if (real == NULL || stat(real, &info) != 0) {
            free(real);
            continue;
        }
        more = xasprintf("%s%s%s %lld %lld.%09ld", text, text[0] == '\0' ? "" : "; ", real,
                         (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                         info.st_mtim.tv_nsec);
        free(real);
        free(text);
        text = more;
    }
    return text;
}

static int add_command(matrix *m, const arguments *a)
{
    program p;
    int status = EXIT_OK;

    m->command = a->command;
    workloads_add(m, run_join(a->command), NULL);
    program_inspect(a->command[0], &p);
    m->program = describe_files(p.path, p.image);
    m->folder = getcwd(NULL, 0);
    if (p.state == PROGRAM_BROKEN)
        status = command_fail(EXIT_TARGET, "%s", p.reason);
    else if (p.state == PROGRAM_UNREACHED)
        status = refuse_preloaded(m, a->skip_bad, p.reason);
    if (p.state == PROGRAM_UNREACHED && status == EXIT_OK) {
        matrix_note(m, "%s: measured from outside only, who serves its malloc is not proven",
                    p.reason);
        m->unreached = true;
    }
    if (m->settle_s != 0)
        matrix_note(m, "--settle is for workloads, and for commands that are harnesses: another "
                       "command ends, and its memory with it");
    program_clear(&p);
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Names what of the user's environment is cleared (or kept) for every target. */
static void note_environment(matrix *m)
{
    for (char **entry = environ; *entry != NULL; entry++) {
        const size_t length = strcspn(*entry, "=");
        char *name = xstrndup(*entry, length);
        if (abench_allocator_environment(name) && (*entry)[length] == '=')
            matrix_note(m, "%s for every target: %.200s", m->keep_environment ? "kept" : "cleared",
                        *entry);
        free(name);
    }
}

static void on_signal(int number)
{
    (void)number;
    matrix_interrupted = 1;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: waits end */
    struct sigaction hangup;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL); /* not under nohup */
}

/* With --strict a machine that is not fit ends the command. */
static int look_at_machine(matrix *m)
{
    char *refused;
    int status = EXIT_OK;

    fitness_look(&m->fitness);
    refused = fitness_names(&m->fitness, ABENCH_VERDICT_REFUSE);
    if (m->strict && refused[0] != '\0')
        status = command_fail(EXIT_ENVIRONMENT,
                              "this machine is not fit for a comparison: %s; allocbench doctor "
                              "says why and what to do (without --strict: measured all the same)",
                              refused);
    free(refused);
    return status;
}

/* What speaks against a comparison on this machine. */
static void tell_of_machine(const matrix *m)
{
    char *warned = fitness_names(&m->fitness, ABENCH_VERDICT_WARN);
    char *refused = fitness_names(&m->fitness, ABENCH_VERDICT_REFUSE);

    if (refused[0] != '\0' || warned[0] != '\0') {
        char *line = xasprintf("this machine%s%s%s%s%s (allocbench doctor says what to do)",
                               refused[0] == '\0' ? "" : " is not fit for a comparison: ", refused,
                               refused[0] != '\0' && warned[0] != '\0' ? ";" : "",
                               warned[0] == '\0' ? "" : " has warnings: ", warned);
        progress_say(line);
        free(line);
    }
    free(refused);
    free(warned);
}

/* What is to be measured: nothing is started for it. */
static int read_all(matrix *m, const arguments *a)
{
    char message[1024];
    sweeps swept;
    int status;

    if (!sweeps_read(a, &swept, message, sizeof message))
        return command_fail(EXIT_USAGE, "%s", message);
    status = workloads_read(m, a, &swept);
    if (status == EXIT_OK)
        plan_lengths(m->plan->root, m);
    if (status == EXIT_OK)
        status = targets_read(m, a, &swept);
    sweeps_clear(&swept);
    return status;
}

/* More lanes than CPUs wait for each other's time slices, not for the allocator. */
static void note_few_cpus(matrix *m)
{
    for (size_t w = 0; w < m->workloads_count; w++) {
        const uint32_t lanes = workloads_lanes(m, &m->workloads[w]);
        for (size_t at = 0; at < m->targets_count; at++) {
            const target *t = &m->targets[at];
            const int cpus = t->has_cpus ? CPU_COUNT(&t->cpus) : (int)m->host.cpus_online;
            if (t->missing == NULL && cpus > 0 && lanes > (uint32_t)cpus)
                matrix_note_once(m, "%.80s: %u lanes on %d CPU%s%s%s: they wait for each other",
                                 m->workloads[w].label, lanes, cpus, cpus == 1 ? "" : "s",
                                 t->has_cpus ? " of " : "", t->has_cpus ? t->name : "");
        }
    }
}

/* How many rounds, where nobody says: as many as a verdict on a few targets needs. */
static int choose_rounds(matrix *m)
{
    char message[512];

    if (m->until_decided)
        return until_ask(m, message, sizeof message) ? EXIT_OK
                                                     : command_fail(EXIT_USAGE, "%s", message);
    if (m->rounds == 0)
        m->rounds = ROUNDS_PRESET;
    return EXIT_OK;
}

static int prepare(matrix *m, const arguments *a)
{
    int status = find_parts(m);

    if (status == EXIT_OK)
        status = read_all(m, a);
    if (status == EXIT_OK)
        note_environment(m);
    if (status == EXIT_OK)
        status = prove_targets(m, a);
    if (status == EXIT_OK && a->command != NULL)
        status = add_command(m, a);
    if (status == EXIT_OK && !matrix_interrupted)
        status = choose_rounds(m);
    if (status == EXIT_OK && !matrix_interrupted)
        note_few_cpus(m);
    if (status == EXIT_OK && !matrix_interrupted)
        status = look_at_machine(m);
    if (matrix_interrupted)
        status = command_fail(EXIT_INTERRUPTED, "interrupted before anything was timed");
    return status;
}

/* DIR/plan.json: this call, to be repeated. */
static bool write_plan(matrix *m, char *message, size_t message_size)
{
    char *path, *text;
    bool good;

    if (m->plan->root == NULL) {
        matrix_note_once(m, "no plan.json is written: a word of the command line is no UTF-8");
        return true;
    }
    plan_settle(m->plan->root, m);
    path = xasprintf("%s/plan.json", m->directory);
    text = plan_text(m->plan->root);
    good = util_write_file(path, text, strlen(text), message, message_size);
    free(text);
    free(path);
    return good;
}

static int run_and_show(matrix *m, const arguments *a)
{
    char message[1024];
    size_t failed;
    int status;

    if (!matrix_open(m, message, sizeof message))
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    status = length_choose(m);
    if (status != EXIT_OK)
        return status;
    if (!matrix_write(m, message, sizeof message))
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    if (!write_plan(m, message, sizeof message))
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    tell_of_machine(m);
    if (!(m->until_decided ? until_run : matrix_run)(m, message, sizeof message))
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    m->is_unfinished = m->is_unfinished && matrix_interrupted;
    if (!matrix_write(m, message, sizeof message))
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    status = m->one_round ? round_show(m, &failed)
                          : command_show(m->directory, a->color, &a->outputs, &failed);
    if (matrix_interrupted)
        return command_fail(EXIT_INTERRUPTED,
                            "interrupted: whole rounds are kept; the same command goes on");
    if ((status == EXIT_OK || status == EXIT_THRESHOLD) && failed > 0)
        return command_fail(
            EXIT_TARGET,
            "%zu cell%s failed: see the report (--retry-failed runs their rounds again)", failed,
            failed == 1 ? "" : "s");
    return status;
}

static void clear(matrix *m)
{
    matrix_close(m);
    spawner_destroy(m->spawner);
    target_list_free(m->targets, m->targets_count);
    matrix_clear_work(m);
    fitness_clear(&m->fitness);
    json_decref(m->machines);
    free(m->command_line);
    free(m->cpus);
    free(m->program);
    free(m->folder);
    free(m->cell);
    free(m->probe);
    target_cleanup();
}

int cmd_run(int argc, char **argv, spawner *s)
{
    char *words = run_join(argv); /* before getopt moves them */
    plan p;
    int status = plan_take(argc, argv, &p);

    p.typed = words;
    if (status == -1)
        status = run_plan(&p, s);
    else
        spawner_destroy(s);
    plan_clear(&p);
    return status;
}

int run_plan(plan *p, spawner *s)
{
    matrix m = {.spawner = s, .lock = -1};
    char *words = p->typed != NULL ? xstrdup(p->typed) : run_join(p->words);
    arguments a;
    int status = arguments_read(p->count, p->words, &a);

    m.plan = p;
    m.one_round = p->round != 0;
    m.round = p->round - (p->round != 0);
    m.command_line = xasprintf("allocbench %s", words);
    free(words);
    if (status != -1) {
        clear(&m);
        arguments_clear(&a);
        return status;
    }
    m.directory = xstrdup(a.directory);
    m.seed = a.seed;
    m.rounds = (uint32_t)a.rounds;
    m.more_rounds = (uint32_t)a.more_rounds;
    m.max_rounds = (uint32_t)a.max_rounds;
    m.until_decided = a.until_decided;
    m.padding = !a.no_padding;
    m.interleave = a.interleave;
    m.cpus = a.cpus == NULL ? NULL : xstrdup(a.cpus);
    m.lanes = (uint32_t)a.lanes;
    m.slice_operations = a.slice_operations == 0 && a.quick ? QUICK_SLICE : a.slice_operations;
    m.duration_ms = (uint64_t)(a.duration_s * 1000);
    m.latency = a.latency;
    m.tails = a.tails;
    m.settle_s = (uint32_t)a.settle_s;
    m.reruns = (uint32_t)a.reruns;
    m.strict = a.strict;
    m.cooldown_s = a.cooldown_s;
    m.timeout_s = a.timeout_s;
    m.same_seed = a.same_seed;
    m.keep_environment = a.keep_environment;
    m.ignore_failure = a.ignore_failure;
    m.retry_failed = a.retry_failed;
    m.floor = !a.no_floor;
    m.sequential = a.sequential;
    abench_host_init(&m.host);
    abench_host_read(&m.host);
    catch_signals();
    if (p->has_moved && !spawner_follow(s))
        status = command_fail(EXIT_ENVIRONMENT, "the plan's folder cannot be entered: %s",
                              strerror(errno));
    else
        status = p->is_dry ? read_all(&m, &a) : prepare(&m, &a);
    if (status == EXIT_OK && p->is_dry)
        plan_settle(p->root, &m);
    else if (status == EXIT_OK)
        status = run_and_show(&m, &a);
    free(m.directory);
    clear(&m);
    arguments_clear(&a);
    return status;
}
