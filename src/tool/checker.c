#include "tool/checker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/oom.h"
#include "tool/util.h"

#define CHECKS_MOST 1000 /* of one cell; it has some dozens */

/* One process of the cell. */
typedef struct session {
    checker_result *result;
    size_t begun;   /* checks, in this process */
    char *running;  /* the one that began last; NULL: none */
    bool is_faulty; /* and that was told */
    bool is_done;   /* it has said that nothing comes behind */
    bool fell_silent;
    char buffer[4096]; /* what was read of the next line */
    size_t length;
} session;

static bool is_stopped(const checker *c)
{
    return c->stop != NULL && *c->stop != 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_line(session *s, checker_kind kind, const char *detail)
{
    checker_result *r = s->result;
    if (kind == CHECKER_FAULT && !s->is_faulty) {
        r->faulty++;
        s->is_faulty = true;
    }
    r->lines = xrealloc(r->lines, (r->lines_count + 1) * sizeof *r->lines);
    r->lines[r->lines_count++] =
        (checker_line){kind, xstrdup(s->running), util_one_line(xstrdup(detail))};
}

/* The text behind "WORD NAME ", when line is one of the running check; else NULL. */
static const char *detail_of(const session *s, const char *line, const char *word)
{
    const size_t skip = strlen(word);
    const size_t length = s->running == NULL ? 0 : strlen(s->running);

    if (length == 0 || strncmp(line, word, skip) != 0 || line[skip] != ' ' ||
        strncmp(line + skip + 1, s->running, length) != 0)
        return NULL;
    line += skip + 1 + length;
    return *line == ' ' ? line + 1 : *line == '\0' ? line : NULL;
}

static void begin_check(session *s, const char *name)
{
    free(s->running);
    s->running = util_one_line(xstrdup(name));
    s->is_faulty = false;
    s->result->checks++;
}

static void take_line(session *s, const char *line)
{
    const char *detail;

    if (strncmp(line, "check ", 6) == 0 && line[6] != '\0') {
        begin_check(s, line + 6);
        s->begun++;
    } else if ((detail = detail_of(s, line, "ok")) != NULL) {
        add_line(s, CHECKER_OK, detail);
    } else if ((detail = detail_of(s, line, "note")) != NULL) {
        add_line(s, CHECKER_NOTE, detail);
    } else if ((detail = detail_of(s, line, "FAULT")) != NULL) {
        add_line(s, CHECKER_FAULT, detail);
    } else if (strcmp(line, "done") == 0) {
        s->is_done = true;
    } /* what else there is, the allocator has said */
}

static void take_bytes(session *s)
{
    char *end;

    while ((end = memchr(s->buffer, '\n', s->length)) != NULL) {
        const size_t length = (size_t)(end - s->buffer) + 1;
        *end = '\0';
        take_line(s, s->buffer);
        s->length -= length;
        memmove(s->buffer, s->buffer + length, s->length);
    }
    if (s->length == sizeof s->buffer - 1)
        s->length = 0; /* no line of the cell is so long */
}

/* Reads lines until the pipe ends, the process falls silent, or *stop. */
static void read_lines(session *s, const checker *c, int fd)
{
    uint64_t heard = abench_clock_ns();

    while (s->begun <= CHECKS_MOST && !is_stopped(c)) {
        struct pollfd wait = {fd, POLLIN, 0};
        ssize_t got;
        if ((double)(abench_clock_ns() - heard) > c->silence_s * 1e9) {
            s->fell_silent = true;
            return;
        }
        if (poll(&wait, 1, 100) <= 0)
            continue;
        got = read(fd, s->buffer + s->length, sizeof s->buffer - 1 - s->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        heard = abench_clock_ns();
        s->length += (size_t)got;
        take_bytes(s);
    }
}

/* ---- one process ----------------------------------------------------------------------------- */

/* What the process said on standard error last; free() it. */
static char *last_words(int fd)
{
    char text[4096] = "", *line;
    const off_t size = lseek(fd, 0, SEEK_END);
    const off_t from = size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
    const ssize_t got = size <= 0 ? 0 : pread(fd, text, sizeof text - 1, from);

    text[got > 0 ? got : 0] = '\0';
    for (size_t length = strlen(text); length > 0 && text[length - 1] == '\n'; length--)
        text[length - 1] = '\0';
    line = strrchr(text, '\n');
    line = line == NULL ? text : line + 1;
    return line[0] == '\0' ? xstrdup("") : xasprintf("; it said: %.300s", line);
}

/* The end of a process that has not said "done" is the fault of the check that ran. */
static void explain_end(session *s, const checker *c, int status, int errors, const char *memory)
{
    char *words = last_words(errors);
    char *detail;

    if (s->fell_silent)
        detail = xasprintf("hung: no end after %g s%s", c->silence_s, words);
    else if (WIFSIGNALED(status))
        detail =
            xasprintf("the process was killed by SIG%s%s%s",
                      sigabbrev_np(WTERMSIG(status)) == NULL ? "?" : sigabbrev_np(WTERMSIG(status)),
                      memory, words);
    else
        detail = xasprintf("the process ended with status %d%s", WEXITSTATUS(status), words);
    add_line(s, CHECKER_FAULT, detail);
    free(detail);
    free(words);
}

/* Waits for a process that has said all that it will say; not for ever. */
static int reap(const session *s, const checker *c, pid_t pid)
{
    const uint64_t begun = abench_clock_ns();
    bool is_killed = false;
    int status = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        const bool is_late = (double)(abench_clock_ns() - begun) > c->silence_s * 1e9;
        if (!is_killed && (is_late || s->fell_silent || s->begun > CHECKS_MOST || is_stopped(c))) {
            kill(-pid, SIGKILL);
            is_killed = true;
        }
        (void)poll(NULL, 0, 1);
    }
    return status;
}

static void watch(session *s, const checker *c, pid_t pid, int output, int errors)
{
    oom_counts before, after;
    int status;

    oom_read(&before);
    read_lines(s, c, output);
    status = reap(s, c, pid);
    oom_read(&after);
    if (is_stopped(c))
        return;
    if (s->is_done && WIFSIGNALED(status))
        begin_check(s, "exit"); /* its destructors */
    else if (!s->is_done && s->running == NULL)
        begin_check(s, "start");
    if (!s->is_done || WIFSIGNALED(status))
        explain_end(
            s, c, status, errors,
            WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? oom_between(&before, &after) : "");
}

/* Runs the checks from number first on. false: it could not be started. */
static bool run_from(const checker *c, const target *t, size_t first, session *s, char *message,
                     size_t message_size)
{
    char number[32];
    char *argv[] = {(char *)(uintptr_t)c->cell, (char *)(uintptr_t) "--check",
                    (char *)(uintptr_t)c->only, number, NULL};
    char **envp = target_environment(t, c->keep_environment, NULL, 0);
    launch how = {.argv = argv, .envp = envp, .input = -1};
    const char *what = "pipe";
    int ends[2] = {-1, -1};
    pid_t pid = -1;

    snprintf(number, sizeof number, "%zu", first);
    how.errors = memfd_create("allocbench-check", MFD_CLOEXEC);
    if (how.errors >= 0 && pipe2(ends, O_CLOEXEC) == 0) {
        how.output = ends[1];
        target_launch(t, &how);
        pid = launch_start(&how, &what);
    }
    if (pid < 0)
        snprintf(message, message_size, "the cell cannot be started (%s): %s", what,
                 strerror(errno));
    if (ends[1] >= 0)
        close(ends[1]);
    if (pid >= 0)
        watch(s, c, pid, ends[0], how.errors);
    if (ends[0] >= 0)
        close(ends[0]);
    if (how.errors >= 0)
        close(how.errors);
    target_environment_free(envp);
    return pid >= 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool checker_run(const checker *c, const target *t, checker_result *result, char *message,
                 size_t message_size)
{
    bool is_running = true;

    memset(result, 0, sizeof *result);
    for (size_t first = 0; is_running;) {
        session s = {.result = result};
        if (!run_from(c, t, first, &s, message, message_size))
            return false;
        is_running = !s.is_done && s.begun > 0 && first < CHECKS_MOST;
        first += s.begun;
        free(s.running);
        if (is_stopped(c)) {
            snprintf(message, message_size, "interrupted");
            return false;
        }
    }
    return true;
}

void checker_clear(checker_result *result)
{
    for (size_t at = 0; at < result->lines_count; at++) {
        free(result->lines[at].name);
        free(result->lines[at].detail);
    }
    free(result->lines);
    memset(result, 0, sizeof *result);
}
