/* cmd_watch.c - allocbench watch: the memory of a process and its descendants, as it goes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/commands.h"
#include "tool/util.h"
#include "tool/watch_arguments.h"
#include "tool/watch_format.h"
#include "tool/watch_mappings.h"
#include "tool/watch_output.h"
#include "tool/watch_process.h"
#include "tool/watch_tree.h"

typedef struct watching {
    watch_arguments asked;
    watch_process process;
    watch_output output;
    watch_tree *tree; /* NULL: the process has ended before the first look */
    uint64_t begun_ns;
    uint64_t late;           /* looks that were left out because those before took too long */
    bool has_said;           /* what cannot be read */
    bool has_mappings;       /* of a command, when its RSS was highest */
    watch_mappings mappings; /* of it */
} watching;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

/* What has ended before the first look has none. */
static watch_peaks peaks_of(const watching *w)
{
    static const watch_peaks none = {.valid = 0};

    return w->tree == NULL ? none : *watch_tree_peaks(w->tree);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static abench_status read_mappings(const watching *w, watch_mappings *out)
{
    int32_t *pids = NULL;
    size_t count = 0, capacity = 0;
    abench_status status;

    while (watch_tree_pid(w->tree, (uint32_t)count) != 0) {
        pids = util_grow(pids, count, &capacity, sizeof *pids);
        pids[count] = watch_tree_pid(w->tree, (uint32_t)count);
        count++;
    }
    status = watch_mappings_read(w->process.pid, pids, count, out);
    free(pids);
    return status;
}

/* The reading at which RSS was highest is kept. */
static void keep_mappings(watching *w, const watch_look *look)
{
    watch_mappings now;

    if (read_mappings(w, &now) != ABENCH_OK)
        return;
    watch_tree_charge(w->tree, now.cost_ns);
    now.time_ns = look->time_ns;
    if (now.processes == 0 ||
        (w->has_mappings &&
         now.of[ABENCH_MAPPINGS_ALL].rss_bytes <= w->mappings.of[ABENCH_MAPPINGS_ALL].rss_bytes))
        return;
    w->has_mappings = true;
    w->mappings = now;
}

/* Takes title. */
static void print_title(char *title, FILE *out)
{
    fprintf(out, "%s\n", util_one_line(title));
    free(title);
}

static void print_kept_mappings(const watching *w)
{
    const watch_peaks peaks = peaks_of(w);
    const uint64_t mark =
        w->process.peak_rss_bytes > peaks.hwm_bytes ? w->process.peak_rss_bytes : peaks.hwm_bytes;
    uint32_t percent;
    char *subject, *share, *warning;

    if (!w->has_mappings) {
        util_say("its mappings could not be read in time");
        return;
    }
    subject = xasprintf("%s after %.2f s", base_name(w->asked.command[0]),
                        (double)w->mappings.time_ns / 1e9);
    share = watch_mappings_share(&w->mappings, peaks.rss_bytes, mark, &percent);
    print_title(watch_mappings_title(&w->mappings, subject), stderr);
    print_title(share, stderr);
    if (percent < WATCH_SHARE_LEAST) {
        warning = xasprintf("the table is not of the peak: use %sa shorter --period",
                            w->asked.dear ? "" : "--dear, or with it ");
        util_say(warning);
        free(warning);
    }
    watch_mappings_print(&w->mappings, stderr);
    free(subject);
}

/* Writes it as it was asked for. An exit status. */
static int write_mappings(const watching *w, const watch_mappings *now)
{
    FILE *out = w->asked.output == NULL ? stdout : fopen(w->asked.output, "we");
    char *subject;
    bool is_written;

    if (out == NULL)
        return command_fail(EXIT_ENVIRONMENT, "cannot write %s: %s", w->asked.output,
                            strerror(errno));
    if (w->asked.csv || w->asked.output != NULL) {
        watch_mappings_print_csv(now, out);
    } else {
        subject = xasprintf("process %ld", (long)w->asked.pid);
        print_title(watch_mappings_title(now, subject), out);
        watch_mappings_print(now, out);
        free(subject);
    }
    errno = 0;
    is_written = fflush(out) == 0 && !ferror(out);
    if (out != stdout && fclose(out) != 0)
        is_written = false;
    if (!is_written && errno != EPIPE)
        return command_fail(EXIT_ENVIRONMENT, "the table cannot be written");
    return EXIT_OK;
}

/* Of a process, as it is now. A table without the process itself would be one of something else. */
static int show_mappings(watching *w)
{
    const long pid = (long)w->asked.pid;
    watch_mappings now;
    watch_look look;
    abench_status status = watch_tree_look(w->tree, &look);
    bool is_read;

    if (status == ABENCH_OK)
        status = read_mappings(w, &now);
    is_read = status == ABENCH_OK;
    if (is_read)
        status = now.root;
    if (status == ABENCH_ERROR_NOT_FOUND)
        return command_fail(EXIT_TARGET, "process %ld has ended", pid);
    if (is_read && status == ABENCH_ERROR_SYSTEM)
        return command_fail(EXIT_ENVIRONMENT, "process %ld is not ours to read: " WATCH_RIGHTS,
                            pid);
    if (status != ABENCH_OK)
        return command_fail(EXIT_ENVIRONMENT, "the mappings of process %ld cannot be read: %s", pid,
                            abench_status_message(status));
    if (now.unreadable > 0)
        command_fail(EXIT_OK, "%u of %u processes could not be read: " WATCH_RIGHTS, now.unreadable,
                     now.unreadable + now.processes);
    return write_mappings(w, &now);
}

/* ---- looking --------------------------------------------------------------------------------- */

static void say_missing(watching *w, const watch_look *look)
{
    char *line;

    if (w->has_said || !look->is_dear)
        return;
    line = watch_tree_missing(w->tree, look);
    if (line != NULL)
        watch_output_say(&w->output, line);
    w->has_said = line != NULL;
    free(line);
}

/* false: there is nothing more to be seen. */
static bool look_once(watching *w)
{
    watch_look look;
    const abench_status status = watch_tree_look(w->tree, &look);

    if (status == ABENCH_ERROR_NOT_FOUND)
        return false;
    if (status != ABENCH_OK) {
        char *line = xasprintf("process %ld cannot be read any more: %s", (long)w->process.pid,
                               abench_status_message(status));
        watch_output_say(&w->output, line);
        free(line);
        return false;
    }
    say_missing(w, &look);
    if (look.is_dear && w->asked.mappings)
        keep_mappings(w, &look);
    watch_output_put(&w->output, &look, w->tree, &w->process);
    return true;
}

/* The time of the next look: those that are over are left out. */
static uint64_t next_after(watching *w, uint64_t due_ns)
{
    const uint64_t now = abench_clock_ns(), period = w->asked.period_ns;
    const uint64_t next = due_ns + period;

    if (next > now)
        return next;
    w->late += (now - next) / period + 1;
    return next + ((now - next) / period + 1) * period;
}

/* Nobody reads what is written, and there is nothing else to do: a command is still waited for. */
static bool is_in_vain(const watching *w)
{
    const watch_output *o = &w->output;

    return (o->error != 0 || (o->csv < 0 && o->live < 0)) && !w->process.is_child;
}

static void look_on(watching *w)
{
    const uint64_t end_ns =
        w->asked.duration_ns == 0 ? UINT64_MAX : w->begun_ns + w->asked.duration_ns;
    uint64_t due_ns = abench_clock_ns();

    for (;;) {
        if (!look_once(w) || is_in_vain(w))
            return;
        due_ns = next_after(w, due_ns);
        if (watch_process_wait(&w->process, due_ns < end_ns ? due_ns : end_ns, -1) != WATCH_TIME)
            return;
        if (abench_clock_ns() >= end_ns)
            return;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static char *how_it_ended(const watching *w)
{
    const watch_process *p = &w->process;
    const char *name =
        p->is_child && WIFSIGNALED(p->status) ? sigabbrev_np(WTERMSIG(p->status)) : NULL;

    if (!p->is_child)
        return xstrdup(p->is_stopped  ? "interrupted"
                       : p->has_ended ? "it has ended"
                                      : "it goes on");
    if (WIFSIGNALED(p->status))
        return xasprintf("killed by SIG%s", name == NULL ? "?" : name);
    return xasprintf("exit %d", WEXITSTATUS(p->status));
}

static void say_summary(watching *w)
{
    const watch_peaks peaks = peaks_of(w);
    char *name = w->process.is_child ? xstrdup(base_name(w->asked.command[0]))
                                     : xasprintf("process %ld", (long)w->process.pid);
    char *summary =
        watch_summary(abench_clock_ns() - w->begun_ns, &peaks, w->process.peak_rss_bytes);
    char *late = w->late == 0 ? xstrdup("")
                              : xasprintf(", %llu look%s left out for want of time",
                                          (unsigned long long)w->late, w->late == 1 ? "" : "s");
    char *end = how_it_ended(w);
    char *line = xasprintf("%s: %s%s, %s", name, summary, late, end);

    watch_output_say(&w->output, line);
    free(line);
    free(end);
    free(late);
    free(summary);
    free(name);
}

static int finish(watching *w)
{
    const int error = w->output.error;
    int status = EXIT_OK;

    if (w->process.is_child)
        status = watch_process_exit(&w->process);
    else if (w->process.is_stopped)
        status = EXIT_INTERRUPTED;
    if (error == 0)
        return status;
    command_fail(EXIT_ENVIRONMENT, "cannot write %s: %s",
                 w->asked.output == NULL ? "standard output" : w->asked.output, strerror(error));
    return status == EXIT_OK ? EXIT_ENVIRONMENT : status;
}

static int watch(watching *w)
{
    if (w->tree != NULL)
        look_on(w);
    while (w->process.is_child && !w->process.has_ended)
        watch_process_wait(&w->process, UINT64_MAX, -1);
    if (w->process.is_child || w->output.live >= 0)
        say_summary(w);
    if (w->process.is_child && w->asked.mappings)
        print_kept_mappings(w);
    watch_output_close(&w->output);
    return finish(w);
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* The process is there. -1: go on; else an exit status. */
static int begin(watching *w)
{
    const watch_arguments *a = &w->asked;

    if (!watch_process_prepare(&w->process))
        return command_fail(EXIT_ENVIRONMENT, "signals cannot be waited for: %s", strerror(errno));
    if (a->command != NULL) {
        if (watch_process_start(&w->process, a->command))
            return -1;
        return command_fail(errno == EAGAIN || errno == ENOMEM ? EXIT_ENVIRONMENT : EXIT_TARGET,
                            "%s cannot be started: %s", a->command[0], strerror(errno));
    }
    if (a->pid == getpid())
        return command_fail(EXIT_USAGE, "%ld is this watch itself", (long)a->pid);
    if (watch_process_open(&w->process, a->pid))
        return -1;
    if (errno == ESRCH)
        return command_fail(EXIT_TARGET, "there is no process %ld", (long)a->pid);
    return command_fail(EXIT_ENVIRONMENT, "process %ld: %s", (long)a->pid, strerror(errno));
}

/* Of a command that has ended already there is nothing to see. -1: go on; else an exit status. */
static int open_tree(watching *w)
{
    const abench_status status =
        watch_tree_open(w->process.pid, w->asked.period_ns, w->asked.dear, &w->tree);

    if (status == ABENCH_OK)
        return -1;
    if (status == ABENCH_ERROR_NOT_FOUND && !w->process.is_child) {
        char *why = watch_process_why_none(w->process.pid);
        command_fail(EXIT_TARGET, "%s", why);
        free(why);
        return EXIT_TARGET;
    }
    if (status != ABENCH_ERROR_NOT_FOUND)
        command_fail(EXIT_ENVIRONMENT, "process %ld cannot be read: %s", (long)w->process.pid,
                     abench_status_message(status));
    return w->process.is_child ? -1 : EXIT_ENVIRONMENT;
}

int cmd_watch(int argc, char **argv)
{
    watching w = {.tree = NULL};
    int status = watch_arguments_read(argc, argv, &w.asked);
    const bool is_table = w.asked.mappings && w.asked.command == NULL;

    if (status != -1)
        return status;
    /* A file that cannot be written is told before the command is started. */
    if (!is_table && !watch_output_open(&w.output, &w.asked))
        return command_fail(EXIT_ENVIRONMENT, "cannot write %s: %s", w.asked.output,
                            strerror(errno));
    w.begun_ns = abench_clock_ns();
    status = begin(&w);
    if (status == -1)
        status = open_tree(&w);
    if (status == -1)
        status = is_table ? show_mappings(&w) : watch(&w);
    watch_tree_close(w.tree);
    return status;
}
