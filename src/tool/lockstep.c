#include "tool/lockstep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/random.h>

#include "tool/model.h"
#include "tool/oom.h"
#include "tool/padding.h"
#include "tool/preflight.h"
#include "tool/progress.h"
#include "tool/records.h"
#include "tool/util.h"

#define PURPOSE_ORDER (ABENCH_PURPOSE_USER + 1)
#define WORDS_BYTES   300 /* of what a child said last */
#define STOP_POLL_MS  200 /* how soon an interruption is noticed */

/* A child that plays one cell. */
typedef struct child {
    arm *arm;
    pid_t pid; /* 0: ended */
    int in;    /* the token goes in here */
    int out;   /* its lines come out here */
    char line[160];
    size_t line_length;
    uint64_t live_bytes;
    uint64_t tape_bytes;
    uint64_t slices; /* expected */
    bool pauses;     /* its tape sleeps in real time */
    bool last;       /* its last slice is played; what it does behind it waits for a token */
    char nonce[33];
    oom_counts oom;
} child;

typedef struct round_state {
    matrix *m;
    size_t workload;
    uint32_t round;
    child *children;
    size_t count;
    char plan_digest[17]; /* of the first cell: all must agree */
    char work_digest[17];
} round_state;

/* ---- start ----------------------------------------------------------------------------------- */

static void make_nonce(char nonce[33])
{
    unsigned char bytes[16] = {0};
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        if (util_read_all(fd, bytes, sizeof bytes) < 0)
            bytes[0] = (unsigned char)abench_clock_ns();
        close(fd);
    }
    for (size_t at = 0; at < sizeof bytes; at++)
        snprintf(nonce + 2 * at, 3, "%02x", bytes[at]);
}

static void fail_arm(child *c, char *reason)
{
    if (c->arm->reason == NULL)
        c->arm->reason = util_one_line(reason);
    else
        free(reason);
}

/* The variables of the protocol (run.h). */
static char **make_environment(const round_state *s, const child *c, const target *t, int in,
                               int out)
{
    const matrix *m = s->m;
    char *extra[10];
    const uint64_t latency = c->arm->tails ? 1 : m->latency;
    size_t count = 0;
    char *part = matrix_path(m, "cells", c->arm->name, ".jsonl.part");
    char **envp;

    extra[count++] = xasprintf("ALLOCBENCH_RESULT=%s", part);
    extra[count++] = xasprintf("ALLOCBENCH_NONCE=%s", c->nonce);
    extra[count++] =
        xasprintf("ALLOCBENCH_SEED=%llu", (unsigned long long)matrix_seed(m, s->round));
    extra[count++] = xasprintf("ALLOCBENCH_TURN=%d,%d", in, out);
    extra[count++] = xasprintf("ALLOCBENCH_LATENCY=%llu", (unsigned long long)latency);
    if (c->arm->target != MODEL_FLOOR && !c->arm->tails) {
        extra[count++] = xstrdup("ALLOCBENCH_PURGE=1");
        extra[count++] = xasprintf("ALLOCBENCH_SETTLE_S=%u", m->settle_s);
    }
    if (m->lanes != 0)
        extra[count++] = xasprintf("ALLOCBENCH_LANES=%u", m->lanes);
    if (m->slice_operations != 0)
        extra[count++] =
            xasprintf("ALLOCBENCH_SLICE=%llu", (unsigned long long)m->slice_operations);
    if (m->padding)
        extra[count++] = padding_variable(m, s->workload, s->round, c->arm);
    envp = target_environment(t, m->keep_environment, (const char *const *)extra, count);
    while (count > 0)
        free(extra[--count]);
    free(part);
    return envp;
}

static const target *target_of(const matrix *m, const arm *a)
{
    return &m->targets[a->target == MODEL_FLOOR ? m->baseline : a->target];
}

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void start_child(round_state *s, child *c)
{
    const matrix *m = s->m;
    const target *t = target_of(m, c->arm);
    char *argv[4] = {(char *)(uintptr_t)m->cell};
    char *errors = matrix_path(m, "cells", c->arm->name, ".err");
    int to[2] = {-1, -1}, from[2] = {-1, -1}, kept[2];
    const char *what = "pipe";
    launch how = {.argv = argv, .input = -1, .output = -1, .errors = -1};

    if (c->arm->target == MODEL_FLOOR)
        argv[1] = (char *)(uintptr_t) "--null";
    argv[c->arm->target == MODEL_FLOOR ? 2 : 1] = m->workloads[s->workload].argument;
    make_nonce(c->nonce);
    oom_read(&c->oom);
    c->pid = -1;
    how.errors = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (how.errors >= 0 && pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0) {
        kept[0] = to[0];
        kept[1] = from[1];
        how.inherit = kept;
        how.inherits = 2;
        how.envp = make_environment(s, c, t, to[0], from[1]);
        target_launch(t, &how);
        c->pid = launch_start(&how, &what);
        target_environment_free(how.envp);
    }
    if (c->pid < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == EAGAIN || errno == ENOMEM)
            s->m->starved = errno; /* the machine is to blame, not the target */
        fail_arm(c, xasprintf("its process could not be started (%s): %s", what, strerror(errno)));
        c->pid = 0;
    }
    c->in = to[1];
    c->out = from[0];
    close_file(to[0]);
    close_file(from[1]);
    close_file(how.errors);
    if (c->pid == 0) {
        close_file(c->in);
        close_file(c->out);
    }
    free(errors);
}

/* ---- turns ----------------------------------------------------------------------------------- */

typedef enum answer { ANSWER_LINE, ANSWER_END, ANSWER_HUNG, ANSWER_STOPPED } answer;

/* When what begins now has hung; memory that settles takes its time. */
static uint64_t deadline_ns(const matrix *m)
{
    return m->timeout_s > 0 ? abench_clock_ns() + (uint64_t)((m->timeout_s + m->settle_s) * 1e9)
                            : UINT64_MAX;
}

/* Waits for the child's next line; it is in c->line then. */
static answer await_line(const matrix *m, child *c)
{
    /* One that sleeps as its tape says may be silent for long; lanes that are stuck it finds
     * itself. */
    const uint64_t deadline = c->pauses ? UINT64_MAX : deadline_ns(m);

    c->line_length = 0;
    for (;;) {
        struct pollfd wait = {c->out, POLLIN, 0};
        const int ready = poll(&wait, 1, STOP_POLL_MS);
        char byte;
        ssize_t got;
        if (matrix_interrupted)
            return ANSWER_STOPPED;
        if (ready <= 0) {
            if (abench_clock_ns() > deadline)
                return ANSWER_HUNG;
            continue;
        }
        got = read(c->out, &byte, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ANSWER_END;
        if (byte == '\n') {
            c->line[c->line_length] = '\0';
            return ANSWER_LINE;
        }
        if (c->line_length + 1 < sizeof c->line)
            c->line[c->line_length++] = byte;
    }
}

static void send_token(const child *c)
{
    ssize_t sent;

    do
        sent = write(c->in, "t", 1);
    while (sent < 0 && errno == EINTR);
    /* EPIPE: it ended, and its end says why */
}

/* ---- the end of a cell ----------------------------------------------------------------------- */

/* The last words of a child that failed. */
static char *last_words(const matrix *m, const child *c)
{
    char *path = matrix_path(m, "cells", c->arm->name, ".err");
    char *text = util_read_file(path, 1 << 20, NULL);
    char *line = NULL;

    if (text != NULL && text[0] != '\0') {
        size_t length = strlen(text);
        const char *start;
        while (length > 0 && text[length - 1] == '\n')
            text[--length] = '\0';
        start = strrchr(text, '\n');
        line = xstrndup(start == NULL ? text : start + 1, WORDS_BYTES);
    }
    free(text);
    free(path);
    return line;
}

static void explain_status(const matrix *m, child *c, int status)
{
    char *words = last_words(m, c);

    if (WIFSIGNALED(status)) {
        oom_counts now;
        oom_read(&now);
        fail_arm(
            c,
            xasprintf("killed by SIG%s%s%s%s",
                      sigabbrev_np(WTERMSIG(status)) == NULL ? "?" : sigabbrev_np(WTERMSIG(status)),
                      WTERMSIG(status) == SIGKILL ? oom_between(&c->oom, &now) : "",
                      words == NULL ? "" : ": ", words == NULL ? "" : words));
    } else {
        fail_arm(c, xasprintf("ended with status %d%s%s", WEXITSTATUS(status),
                              words == NULL ? "" : ": ", words == NULL ? "" : words));
    }
    free(words);
}

/* The digests of a round's cells must be the same: they did the same work. That of a tape in a file
 * is known before; it has no plan. */
static char *compare_digests(round_state *s, const model_cell *cell)
{
    const char *known = s->m->workloads[s->workload].digest;
    const char *plan = cell->plan_digest == NULL ? "" : cell->plan_digest;

    if ((cell->plan_digest == NULL && known[0] == '\0') || cell->work_digest == NULL)
        return xstrdup("its result names no digests");
    if (known[0] != '\0' && strcmp(known, cell->work_digest) != 0)
        return xasprintf("it played another tape than was read at the start (work digest %s, not "
                         "%s)",
                         cell->work_digest, known);
    if (s->work_digest[0] == '\0') {
        snprintf(s->plan_digest, sizeof s->plan_digest, "%s", plan);
        snprintf(s->work_digest, sizeof s->work_digest, "%s", cell->work_digest);
    }
    if (strcmp(s->plan_digest, plan) == 0 && strcmp(s->work_digest, cell->work_digest) == 0)
        return NULL;
    return xasprintf("it did other work than the round's first cell (work digest %s, not %s)",
                     cell->work_digest, s->work_digest);
}

static bool has_nonce(const char *path, const char *nonce)
{
    char *text = util_read_file(path, RECORDS_FILE_BYTES, NULL);
    char *wanted = xasprintf("\"nonce\":\"%s\"", nonce);
    const bool found = text != NULL && strstr(text, wanted) != NULL;

    free(wanted);
    free(text);
    return found;
}

/* Checks the result that a child left and gives it its name. */
static void take_result(round_state *s, child *c)
{
    const matrix *m = s->m;
    char *part = matrix_path(m, "cells", c->arm->name, ".jsonl.part");
    char *whole = matrix_path(m, "cells", c->arm->name, ".jsonl");
    char *relative = xasprintf("cells/%s.jsonl.part", c->arm->name);
    char message[1024];
    model_cell cell = {0};

    if (!has_nonce(part, c->nonce)) {
        fail_arm(c, xstrdup("it left no result of its own"));
    } else if (!records_read(m->directory, relative, &cell, message, sizeof message)) {
        fail_arm(c, xstrdup(message));
    } else {
        char *differs = compare_digests(s, &cell);
        if (differs != NULL)
            fail_arm(c, differs);
        else if (!preflight_check(target_of(m, c->arm), &cell.identity, message, sizeof message) ||
                 !preflight_same(target_of(m, c->arm), &cell.identity, message, sizeof message) ||
                 !util_publish(part, whole, message, sizeof message))
            fail_arm(c, xstrdup(message));
        records_clear(&cell);
    }
    free(relative);
    free(whole);
    free(part);
}

/* An allocator that speaks of its settings is heard: a misspelt one changes nothing. */
static void note_words(matrix *m, const child *c, const char *errors)
{
    char *words = last_words(m, c);

    if (words == NULL) {
        unlink(errors);
        return;
    }
    if (!c->arm->again)
        matrix_note_once(m, "target %s said on standard error: %.200s", matrix_arm_title(m, c->arm),
                         util_one_line(words));
    free(words);
}

/* Reaps a child that has closed its pipe, and takes its result. */
static void end_child(round_state *s, child *c)
{
    const uint64_t deadline = deadline_ns(s->m);
    char *errors = matrix_path(s->m, "cells", c->arm->name, ".err");
    int status = 0;
    pid_t got;

    while ((got = waitpid(c->pid, &status, WNOHANG)) == 0 && abench_clock_ns() < deadline &&
           !matrix_interrupted)
        usleep(1000);
    if (got == 0) {
        launch_kill(c->pid);
        fail_arm(c, xasprintf("hung at its end: killed after %g s", s->m->timeout_s));
    } else if (status != 0) {
        explain_status(s->m, c, status);
    } else {
        take_result(s, c);
    }
    if (c->arm->reason == NULL)
        note_words(s->m, c, errors); /* what a failed cell said stays to be read */
    free(errors);
    close(c->in);
    close(c->out);
    c->pid = 0;
}

static void kill_child(child *c, char *reason)
{
    launch_kill(c->pid);
    fail_arm(c, reason);
    close(c->in);
    close(c->out);
    c->pid = 0;
}

/* What a wait for a line led to: true when the child still plays. */
static bool settle(round_state *s, child *c, answer got)
{
    switch (got) {
    case ANSWER_LINE:
        return true;
    case ANSWER_END:
        end_child(s, c);
        return false;
    case ANSWER_HUNG:
        kill_child(c, xasprintf("hung: no answer for %g s (--timeout)", s->m->timeout_s));
        return false;
    default:
        kill_child(c, xstrdup("interrupted"));
        return false;
    }
}

/* ---- the round ------------------------------------------------------------------------------- */

/* Twice the live set: allocators need more than what is asked of them. */
static bool fits(const round_state *s, const child *first)
{
    return (2 * first->live_bytes + first->tape_bytes) * s->count < matrix_memory(s->m) / 2;
}

/* Until a started child has built its tape and could begin. */
static bool await_ready(round_state *s, child *c)
{
    unsigned long long live, tape, slices, pauses = 0;

    if (c->pid == 0 || !settle(s, c, await_line(s->m, c)))
        return false;
    if (sscanf(c->line, "ready %llu %llu %llu %llu", &live, &tape, &slices, &pauses) < 3) {
        kill_child(c, xasprintf("answered '%s' where 'ready' is wanted", c->line));
        return false;
    }
    c->live_bytes = live;
    c->tape_bytes = tape;
    c->slices = slices;
    c->pauses = pauses != 0;
    if (live > matrix_memory(s->m) - matrix_memory(s->m) / 8) {
        kill_child(c,
                   xasprintf("its live set of %.3g GiB does not fit into the memory of %.3g GiB",
                             (double)live / 1073741824, (double)matrix_memory(s->m) / 1073741824));
        return false;
    }
    return true;
}

/* One turn. false when the child has ended. */
static bool play_turn(round_state *s, child *c)
{
    /* A token that cannot be sent goes to a child that has ended: the pipe's end says so. */
    send_token(c);
    if (!settle(s, c, await_line(s->m, c)))
        return false;
    c->last = strcmp(c->line, "last") == 0;
    return true;
}

/* What the children do behind their last slices - sleeping, mostly - they do at once. */
static void end_together(round_state *s)
{
    for (size_t at = 0; at < s->count; at++)
        if (s->children[at].pid != 0)
            send_token(&s->children[at]);
    for (size_t at = 0; at < s->count; at++)
        while (s->children[at].pid != 0 &&
               settle(s, &s->children[at], await_line(s->m, &s->children[at])))
            ;
}

static void play_alone(round_state *s, child *c)
{
    while (play_turn(s, c))
        ;
}

/* Can the targets play in turns? When not, it is said why; once a workload for what is its own. */
static bool can_take_turns(const round_state *s, const child *first)
{
    const char *label = s->m->workloads[s->workload].label;

    if (first->pauses) {
        matrix_note_once(s->m,
                         "%.200s: it pauses in real time, which does not stand still while others "
                         "play: its cells run one after the other",
                         label);
        return false;
    }
    if (!fits(s, first)) {
        matrix_note_once(
            s->m,
            "%.200s: the targets' live sets together would pass half of the memory; round %u "
            "runs its cells one after the other",
            label, s->round + 1);
        return false;
    }
    return true;
}

static void shuffle(abench_random *random, uint32_t *order, size_t count)
{
    for (uint32_t at = 0; at < count; at++)
        order[at] = at;
    abench_random_shuffle(random, order, (uint32_t)count);
}

static void run_in_lockstep(round_state *s, abench_random *random, uint32_t *order)
{
    size_t alive = s->count;
    uint64_t passes = 0, expected = 1;

    for (size_t at = 0; at < s->count; at++)
        if (s->children[at].slices > expected)
            expected = s->children[at].slices;
    while (alive > 0) {
        alive = 0;
        shuffle(random, order, s->count);
        for (size_t at = 0; at < s->count; at++) {
            child *c = &s->children[order[at]];
            if (c->pid != 0 && !c->last)
                alive += play_turn(s, c) && !c->last;
        }
        progress_part((double)++passes / (double)expected);
    }
    end_together(s);
}

static void run_one_by_one(round_state *s, const uint32_t *order)
{
    for (size_t at = 0; at < s->count && !matrix_interrupted; at++) {
        child *c = &s->children[order[at]];
        if (c->pid == 0 && c->arm->reason == NULL) {
            if (at > 0)
                matrix_cool_down(s->m);
            start_child(s, c);
            await_ready(s, c);
        }
        if (c->pid != 0)
            play_alone(s, c);
        progress_part((double)(at + 1) / (double)s->count);
    }
}

/* Starts the children; false when they cannot play in turns: one is ready then, the others were not
 * started. The first tells how large they are; the others build their tapes side by side. */
static bool start_all(round_state *s, const uint32_t *order)
{
    size_t next = 0;

    for (; next < s->count && !matrix_interrupted; next++) {
        child *c = &s->children[order[next]];
        start_child(s, c);
        if (!await_ready(s, c))
            continue;
        if (!can_take_turns(s, c))
            return false;
        break;
    }
    for (size_t at = next + 1; at < s->count && !matrix_interrupted; at++)
        start_child(s, &s->children[order[at]]);
    for (size_t at = next + 1; at < s->count; at++)
        await_ready(s, &s->children[order[at]]);
    return true;
}

const char *lockstep_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count)
{
    round_state s = {.m = m, .workload = workload, .round = round, .count = count};
    uint32_t *order = xcalloc(count + 1, sizeof *order);
    abench_random random;
    bool together;

    s.children = xcalloc(count + 1, sizeof *s.children);
    for (size_t at = 0; at < count; at++)
        s.children[at].arm = &arms[at];
    abench_random_seed(&random, m->seed, (uint64_t)round << 32 | workload, PURPOSE_ORDER);
    shuffle(&random, order, count);
    together = !m->sequential && start_all(&s, order);
    if (together)
        run_in_lockstep(&s, &random, order);
    else
        run_one_by_one(&s, order);
    for (size_t at = 0; at < count; at++)
        if (s.children[at].pid != 0)
            kill_child(&s.children[at], xstrdup("interrupted"));
    free(s.children);
    free(order);
    return together ? "lockstep" : "sequential";
}
