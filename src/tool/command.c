#include "tool/command_cell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <allocbench/base.h>
#include <allocbench/run.h>

#include "tool/util.h"

#define PROBE_DESCRIPTOR 200 /* or above: out of the way of programs that count theirs */

/* ---- before ---------------------------------------------------------------------------------- */

static char *absolute(const char *path)
{
    char *folder, *whole;

    if (path[0] == '/')
        return xstrdup(path);
    folder = getcwd(NULL, 0);
    whole = xasprintf("%s/%s", folder == NULL ? "." : folder, path);
    free(folder);
    return whole;
}

static int create(const char *path, int flags)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | flags, 0666);
}

static bool open_files(command_cell *c)
{
    const command_options *options = c->options;
    const char *path = c->part;
    int fd;

    c->part_fd = create(path, 0);
    if (c->part_fd < 0)
        goto fail;
    path = c->probe_file;
    fd = create(path, O_APPEND);
    if (fd < 0)
        goto fail;
    c->probe_fd = fcntl(fd, F_DUPFD_CLOEXEC, PROBE_DESCRIPTOR);
    if (c->probe_fd < 0)
        c->probe_fd = fd; /* few descriptors are allowed here: any number will do */
    else
        close(fd);
    path = options->output;
    if (path != NULL && (c->output_fd = create(path, O_APPEND)) < 0)
        goto fail;
    path = options->errors;
    if (path != NULL && (c->errors_fd = create(path, O_APPEND)) < 0)
        goto fail;
    if (unlink(c->harness_file) != 0 && errno != ENOENT) {
        path = c->harness_file;
        goto fail;
    }
    return true;

fail:
    return command_conclude(c, COMMAND_FAILED,
                            xasprintf("cannot create %s: %s", path, strerror(errno)));
}

static char *make_nonce(void)
{
    uint64_t bits = 0;

    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        bits = abench_clock_ns();
    return xasprintf("%016llx", (unsigned long long)bits);
}

static bool is_variable(const char *entry, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* The launch's environment, the probe added behind its LD_PRELOAD, and what probe and harness ask
 * for. */
static bool build_environment(command_cell *c)
{
    static const char *const ours[] = {"LD_PRELOAD", "ALLOCBENCH_PROBE", "ALLOCBENCH_RESULT",
                                       "ALLOCBENCH_NONCE", "ALLOCBENCH_SEED"};
    const size_t count = sizeof ours / sizeof *ours;
    char *const *given = c->options->how->envp;
    const char *preload = "";
    struct stat info;
    size_t used = 0, all = 0;

    if (fstat(c->probe_fd, &info) != 0)
        return command_conclude(c, COMMAND_FAILED,
                                xasprintf("%s: %s", c->probe_file, strerror(errno)));
    while (given[all] != NULL)
        all++;
    c->envp = xcalloc(all + count + 1, sizeof *c->envp);
    for (size_t at = 0; at < all; at++) {
        size_t which = 0;
        while (which < count && !is_variable(given[at], ours[which]))
            which++;
        if (which == count)
            c->envp[used++] = xstrdup(given[at]);
        else if (which == 0)
            preload = given[at] + strlen("LD_PRELOAD=");
    }
    c->envp[used++] =
        xasprintf("LD_PRELOAD=%s%s%s", preload, preload[0] == '\0' ? "" : ":", c->options->probe);
    c->envp[used++] =
        xasprintf("ALLOCBENCH_PROBE=%d:%llu:%llu:%s", c->probe_fd, (unsigned long long)info.st_dev,
                  (unsigned long long)info.st_ino, c->probe_file);
    c->envp[used++] = xasprintf("ALLOCBENCH_RESULT=%s", c->harness_file);
    c->envp[used++] = xasprintf("ALLOCBENCH_NONCE=%s", c->nonce);
    c->envp[used++] = xasprintf("ALLOCBENCH_SEED=%llu", (unsigned long long)c->options->seed);
    c->settings = images_settings(c->envp, &c->settings_cut);
    return true;
}

static bool prepare(command_cell *c)
{
    const command_options *options = c->options;

    c->part_fd = c->probe_fd = c->output_fd = c->errors_fd = -1;
    c->file = absolute(options->file);
    c->part = xasprintf("%s.part", c->file);
    c->probe_file = xasprintf("%s.probe", c->file);
    c->harness_file = xasprintf("%s.harness.part", c->file);
    c->nonce = options->nonce != NULL ? xstrdup(options->nonce) : make_nonce();
    return open_files(c) && build_environment(c);
}

/* ---- while it runs --------------------------------------------------------------------------- */

static bool start(command_cell *c)
{
    launch how = *c->options->how;

    how.envp = c->envp;
    how.input = -1;
    how.output = c->output_fd;
    how.errors = c->errors_fd;
    how.inherit = &c->probe_fd;
    how.inherits = 1;
    oom_read(&c->before);
    c->record.unix_s = (int64_t)time(NULL);
    if (!spawner_run(c->options->spawner, &how, &c->begun, c->message, sizeof c->message))
        return command_conclude(c, COMMAND_FAILED, xstrdup(c->message));
    c->tree = tree_create(spawner_pid(c->options->spawner), c->begun.start_ns,
                          c->options->period_us * 1000, false);
    return true;
}

static bool sleep_until(int fd, uint64_t until_ns)
{
    const uint64_t now_ns = abench_clock_ns();
    const uint64_t rest_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const struct timespec rest = {(time_t)(rest_ns / 1000000000u), (long)(rest_ns % 1000000000u)};
    struct pollfd end = {fd, POLLIN, 0};

    return ppoll(&end, 1, &rest, NULL) > 0;
}

/* When the command has hung; of the time that it stood still it is not accused. */
static uint64_t deadline_ns(const command_cell *c)
{
    const uint64_t timeout_ms = c->options->timeout_ms, start_ns = c->begun.start_ns;

    if (timeout_ms == 0 || timeout_ms >= (UINT64_MAX - start_ns) / 1000000u)
        return UINT64_MAX;
    return start_ns + timeout_ms * 1000000u;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void take_end(command_cell *c)
{
    c->has_end = spawner_wait(c->options->spawner, &c->end, c->message, sizeof c->message);
    if (c->has_end)
        oom_read(&c->after);
    else
        command_conclude(c, COMMAND_FAILED, xstrdup(c->message));
    c->runs = false;
}

bool command_watch(command_cell *c, uint64_t for_ns)
{
    const command_options *options = c->options;
    const uint64_t begin_ns = abench_clock_ns(), hung_ns = deadline_ns(c);
    const uint64_t until_ns = for_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + for_ns;

    while (c->runs) {
        const uint64_t now_ns = abench_clock_ns();
        if (options->stop != NULL && *options->stop != 0)
            c->stopped = true;
        else if (now_ns >= hung_ns)
            c->hung = true;
        if (c->stopped || c->hung) {
            spawner_kill(options->spawner);
            break;
        }
        if (now_ns >= until_ns)
            return false;
        if (now_ns >= c->tree->due_ns) {
            tree_look(c->tree);
            if (options->tick != NULL)
                options->tick(now_ns - c->begun.start_ns, options->user);
        }
        if (sleep_until(spawner_fd(options->spawner),
                        earlier(until_ns, earlier(c->tree->due_ns, hung_ns))))
            break;
    }
    if (c->runs)
        take_end(c);
    return true;
}

void command_stood_still(command_cell *c, uint64_t for_ns)
{
    c->begun.start_ns += for_ns;
    tree_stood_still(c->tree, for_ns);
}

uint64_t command_memory(const command_cell *c)
{
    return c->runs ? c->tree->peak_rss_bytes : 0;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void clean_up(command_cell *c)
{
    close_file(c->probe_fd);
    close_file(c->output_fd);
    close_file(c->errors_fd);
    close_file(c->part_fd);
    unlink(c->part);
    unlink(c->harness_file);
    if (!c->keep_probe_file)
        unlink(c->probe_file);
    tree_destroy(c->tree);
    images_verdict_clear(&c->verdict);
    images_free(c->images);
    command_record_clear(&c->record);
    for (char **entry = c->envp; entry != NULL && *entry != NULL; entry++)
        free(*entry);
    free(c->envp);
    free(c->settings);
    free(c->nonce);
    free(c->file);
    free(c->part);
    free(c->probe_file);
    free(c->harness_file);
}

command_cell *command_begin(const command_options *options, command_result *result)
{
    command_cell *c = xcalloc(1, sizeof *c);

    memset(result, 0, sizeof *result);
    c->options = options;
    c->result = result;
    c->runs = prepare(c) && start(c);
    return c;
}

pid_t command_pid(const command_cell *c)
{
    return c->runs ? c->begun.pid : 0;
}

bool command_is_harness(const command_cell *c)
{
    return access(c->harness_file, F_OK) == 0;
}

void command_finish(command_cell *c)
{
    if (c->runs) {
        c->stopped = true;
        spawner_kill(c->options->spawner);
        take_end(c);
    }
    if (c->has_end && command_end(c))
        c->result->state = COMMAND_DONE;
    clean_up(c);
    free(c);
}

void command_measure(const command_options *options, command_result *result)
{
    command_cell *c = command_begin(options, result);

    command_watch(c, UINT64_MAX);
    command_finish(c);
}
