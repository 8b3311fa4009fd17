/*
 * fake_cell.h - the test program itself as the cell that a matrix starts: it follows the protocol
 * of allocbench/run.h, or breaks it as FAKE, a setting of its target, says. Each slice leaves two
 * lines in the file FAKE_LOG. FAKE_RSS is what it says that it used, and FAKE_NOISE by how much
 * more from round to round; not in cells of the workload FAKE_QUIET.
 */
#ifndef ABENCH_TEST_FAKE_CELL_H
#define ABENCH_TEST_FAKE_CELL_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/matrix.h"
#include "tool/model.h"
#include "tool/util.h"

#define FAKE_SLICES 3

static inline bool fake_is(const char *how)
{
    const char *asked = getenv("FAKE");

    return asked != NULL && strcmp(asked, how) == 0;
}

static inline void fake_write(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        _exit(9);
}

static inline void fake_log(const char *what)
{
    const char *result = getenv("ALLOCBENCH_RESULT"), *path = getenv("FAKE_LOG");
    const int fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    char line[256];

    if (fd < 0)
        return;
    snprintf(line, sizeof line, "%s %s\n", strrchr(result, '/') + 1, what);
    fake_write(fd, line);
    close(fd);
}

/* Behind the manifest: what it used, and how long its padding was. */
static inline void fake_metrics(int fd)
{
    const char *rss = getenv("FAKE_RSS"), *noise = getenv("FAKE_NOISE");
    const char *padding = getenv("ALLOCBENCH_PADDING"), *quiet = getenv("FAKE_QUIET");
    const unsigned long seed = strtoul(getenv("ALLOCBENCH_SEED"), NULL, 10);
    char text[256];

    if (rss != NULL) {
        const unsigned long more =
            noise == NULL || (quiet != NULL && strstr(getenv("ALLOCBENCH_RESULT"), quiet) != NULL)
                ? 0
                : strtoul(noise, NULL, 10) * (seed * 7919 % 11);
        snprintf(text, sizeof text,
                 "{\"record\":\"metric\",\"name\":\"rss_bytes\",\"unit\":\"bytes\","
                 "\"direction\":\"lower\",\"value\":%lu}\n",
                 strtoul(rss, NULL, 10) + more);
        fake_write(fd, text);
    }
    if (padding == NULL)
        return;
    snprintf(text, sizeof text,
             "{\"record\":\"metric\",\"name\":\"padding\",\"unit\":\"bytes\","
             "\"direction\":\"lower\",\"value\":%d}\n",
             (int)strlen(padding));
    fake_write(fd, text);
}

static inline void fake_result(void)
{
    const int fd = open(getenv("ALLOCBENCH_RESULT"), O_WRONLY | O_CREAT | O_EXCL, 0666);
    const char *const end = fake_is("short") ? ""
                            : fake_is("other-digest")
                                ? "{\"record\":\"end\",\"work_digest\":\"00000000000000cc\"}\n"
                                : "{\"record\":\"end\",\"work_digest\":\"00000000000000bb\"}\n";
    char text[1024];

    snprintf(text, sizeof text,
             "{\"record\":\"manifest\",\"schema\":1,\"nonce\":\"%s\",\"seed\":%s,\"latency\":%s,"
             "\"%s\":\"00000000000000aa\",\"allocator\":{\"family\":\"%s\",\"version\":"
             "\"2\",\"build_id\":\"\",\"file\":\"/lib/x.so\",\"device\":1,\"inode\":1,"
             "\"mixed\":false,\"static\":false,\"others\":\"\"}}\n"
             "{\"record\":\"metric\",\"name\":\"x\",\"unit\":\"count\",\"direction\":\"lower\","
             "\"value\":1}\n",
             fake_is("other-nonce") ? "0" : getenv("ALLOCBENCH_NONCE"), getenv("ALLOCBENCH_SEED"),
             getenv("ALLOCBENCH_LATENCY"), fake_is("no-plan") ? "no_plan" : "plan_digest",
             fake_is("other-allocator") ? "jemalloc" : "glibc");
    if (fd < 0)
        _exit(8);
    fake_write(fd, text);
    fake_metrics(fd);
    fake_write(fd, end);
    close(fd);
}

static inline void fake_slices(int in, int out)
{
    for (int slice = 0; slice < FAKE_SLICES; slice++) {
        char token;
        while (read(in, &token, 1) != 1)
            if (errno != EINTR)
                _exit(6);
        fake_log("begins");
        if (slice == 1 && fake_is("crash"))
            abort();
        while (slice == 1 && fake_is("hang"))
            pause();
        if (slice == 1 && fake_is("interrupt"))
            kill(getppid(), SIGUSR1);
        usleep(1000);
        fake_log("ends");
        fake_write(out, "slice\n");
    }
}

/* The whole of a cell; its exit status. */
static inline int fake_cell(void)
{
    int in, out;
    const char *live = getenv("FAKE_LIVE"), *pauses = getenv("FAKE_PAUSES");
    char ready[128];

    if (sscanf(getenv("ALLOCBENCH_TURN"), "%d,%d", &in, &out) != 2)
        return 7;
    if (fake_is("words")) {
        fputs("first words\nlast \xff words\n\n", stderr);
        return 3;
    }
    if (fake_is("early"))
        abort();
    if (fake_is("nonsense"))
        fake_write(out, "hello\n");
    while (fake_is("mute"))
        pause();
    /* The fourth number came later. */
    snprintf(ready, sizeof ready, "ready %s 10 %d%s%s\n", live == NULL ? "1000" : live, FAKE_SLICES,
             pauses == NULL ? "" : " ", pauses == NULL ? "" : pauses);
    fake_write(out, ready);
    fake_slices(in, out);
    if (!fake_is("no-result"))
        fake_result();
    if (fake_is("hang-at-end")) {
        close(in);
        close(out);
        pause();
    }
    return fake_is("status") ? 5 : 0;
}

/* ---- the matrix that starts it --------------------------------------------------------------- */

static inline matrix fake_matrix(void)
{
    static char workload_id[] = "w00", label[] = "fake", spec[] = "fake/1:";
    static matrix_workload workload = {
        .id = workload_id, .label = label, .spec = spec, .argument = label, .played = spec};
    char folder[] = "/tmp/allocbench-test-XXXXXX";
    matrix m = {.lock = -1, .seed = 7, .rounds = 2, .timeout_s = 20, .floor = true};

    if (mkdtemp(folder) == NULL)
        abort();
    m.directory = xstrdup(folder);
    m.command_line = xstrdup("allocbench run fake");
    m.workloads = &workload;
    m.workloads_count = 1;
    m.cell = realpath("/proc/self/exe", NULL);
    return m;
}

/* Adds a target, proven as the cell will say. */
static inline void fake_target(matrix *m, const char *spec)
{
    char message[512];
    target t;

    if (!target_parse(spec, &t, message, sizeof message))
        abort();
    snprintf(t.identity.family, sizeof t.identity.family, "glibc");
    snprintf(t.identity.version, sizeof t.identity.version, "2");
    t.identity.device = t.identity.inode = 1;
    m->targets = xrealloc(m->targets, (m->targets_count + 1) * sizeof *m->targets);
    m->targets[m->targets_count++] = t;
}

static inline void fake_matrix_clear(matrix *m)
{
    char *command = xasprintf("rm -rf '%s'", m->directory);

    matrix_close(m);
    if (system(command) != 0)
        abort();
    free(command);
    target_list_free(m->targets, m->targets_count);
    for (size_t at = 0; at < m->notes_count; at++)
        free(m->notes[at]);
    free(m->notes);
    free(m->directory);
    free(m->command_line);
    free(m->cell);
}

#endif
