#include "tool/command.h"

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

#include "tool/command_record.h"
#include "tool/images.h"
#include "tool/oom.h"
#include "tool/tree.h"
#include "tool/util.h"

#define PROBE_DESCRIPTOR 200 /* or above: out of the way of programs that count theirs */
#define LIBC_BYTES       ((uint64_t)1 << 20)
#define BLIND_NS         250000000u

/* All that one measurement holds, so that one exit can give it back. */
typedef struct cell {
    const command_options *options;
    command_result *result;
    char *file; /* absolute: the command may change its folder */
    char *part;
    char *probe_file;
    char *harness_file;
    char *nonce;
    char **envp;
    char *settings; /* in envp, as the probe tells them */
    bool settings_cut;
    int part_fd;
    int probe_fd;
    int output_fd;
    int errors_fd;
    bool keep_probe_file;
    bool hung;
    bool stopped;
    oom_counts before;
    oom_counts after;
    spawner_begun begun;
    spawner_end end;
    tree *tree;
    images *images;
    images_verdict verdict;
    command_record record;
    char message[512];
} cell;

static bool conclude(cell *c, command_state state, char *reason)
{
    c->result->state = state;
    c->result->reason = util_one_line(reason);
    return false;
}

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

static bool open_files(cell *c)
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
    return conclude(c, COMMAND_FAILED, xasprintf("cannot create %s: %s", path, strerror(errno)));
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
static bool build_environment(cell *c)
{
    static const char *const ours[] = {"LD_PRELOAD", "ALLOCBENCH_PROBE", "ALLOCBENCH_RESULT",
                                       "ALLOCBENCH_NONCE", "ALLOCBENCH_SEED"};
    const size_t count = sizeof ours / sizeof *ours;
    char *const *given = c->options->how->envp;
    const char *preload = "";
    struct stat info;
    size_t used = 0, all = 0;

    if (fstat(c->probe_fd, &info) != 0)
        return conclude(c, COMMAND_FAILED, xasprintf("%s: %s", c->probe_file, strerror(errno)));
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

static bool prepare(cell *c)
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

static bool start(cell *c)
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
        return conclude(c, COMMAND_FAILED, xstrdup(c->message));
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

/* Looks at the tree until the command has ended, or must. */
static bool watch(cell *c)
{
    const command_options *options = c->options;
    const uint64_t timeout_ns =
        options->timeout_ms == 0 ? UINT64_MAX : options->timeout_ms * 1000000u;
    const uint64_t last_ns =
        timeout_ns > UINT64_MAX - c->begun.start_ns ? UINT64_MAX : c->begun.start_ns + timeout_ns;

    for (;;) {
        const uint64_t now_ns = abench_clock_ns();
        if (options->stop != NULL && *options->stop != 0)
            c->stopped = true;
        else if (now_ns >= last_ns)
            c->hung = true;
        if (c->stopped || c->hung) {
            spawner_kill(options->spawner);
            break;
        }
        if (now_ns >= c->tree->due_ns) {
            tree_look(c->tree);
            if (options->tick != NULL)
                options->tick(now_ns - c->begun.start_ns, options->user);
        }
        if (sleep_until(spawner_fd(options->spawner),
                        c->tree->due_ns < last_ns ? c->tree->due_ns : last_ns))
            break;
    }
    if (!spawner_wait(options->spawner, &c->end, c->message, sizeof c->message))
        return conclude(c, COMMAND_FAILED, xstrdup(c->message));
    oom_read(&c->after);
    return true;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* What the command last complained of, for the reason: "; its last words: ...". */
static char *last_words(const char *path)
{
    char text[1024];
    const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = 0;
    char *line;

    if (fd >= 0) {
        const off_t size = lseek(fd, 0, SEEK_END);
        const off_t most = (off_t)sizeof text - 1;
        if (size > 0 && lseek(fd, size > most ? size - most : 0, SEEK_SET) >= 0)
            got = util_read_all(fd, text, sizeof text - 1);
        close(fd);
    }
    while (got > 0 && (text[got - 1] == '\n' || text[got - 1] == '\0' || text[got - 1] == ' '))
        got--;
    if (got <= 0)
        return xstrdup("");
    text[got] = '\0';
    for (ssize_t at = 0; at < got; at++)
        if (text[at] == '\0')
            text[at] = '?';
    line = strrchr(text, '\n');
    return xasprintf("; its last words: %.200s", line == NULL ? text : line + 1);
}

static const char *signal_name(int number)
{
    const char *name = sigabbrev_np(number);

    return name == NULL ? "?" : name;
}

static int32_t exit_status(const spawner_end *end)
{
    return WIFSIGNALED(end->status) ? 128 + WTERMSIG(end->status) : WEXITSTATUS(end->status);
}

static char *describe_failure(const cell *c)
{
    const char *oom = oom_between(&c->before, &c->after);
    char *words, *reason;

    if (c->hung)
        return xasprintf("hung: no end after %g s%s", (double)c->options->timeout_ms / 1000.0,
                         c->end.survivors > 0 ? "; and it could not be killed" : "");
    if (exit_status(&c->end) == 0)
        return NULL;
    words = last_words(c->options->errors);
    if (WIFSIGNALED(c->end.status))
        reason = xasprintf("killed by SIG%s%s%s", signal_name(WTERMSIG(c->end.status)), oom, words);
    else
        reason = xasprintf("exited with status %d%s%s", WEXITSTATUS(c->end.status), oom, words);
    free(words);
    return reason;
}

static bool check_end(cell *c)
{
    char *failure;

    if (c->stopped)
        return conclude(c, COMMAND_STOPPED, xstrdup("stopped"));
    failure = describe_failure(c);
    c->result->has_end = !c->hung;
    c->result->exit_status = exit_status(&c->end);
    c->result->wall_ns = c->end.end_ns - c->begun.start_ns;
    c->result->cpu_ns = c->end.user_ns + c->end.system_ns;
    c->result->peak_rss_bytes = c->end.peak_rss_bytes;
    if (failure == NULL)
        return true;
    if (c->hung || !c->options->ignore_failure)
        return conclude(c, COMMAND_FAILED, failure);
    command_record_warn(&c->record, "%s (ignored, as asked)", failure);
    free(failure);
    return true;
}

/* The preloaded library; without one, the C library by the family that preflight found. */
static bool wanted_provider(cell *c, images_wanted *wanted)
{
    const target *t = c->options->target;
    struct stat info;

    memset(wanted, 0, sizeof *wanted);
    wanted->settings = c->settings;
    wanted->settings_cut = c->settings_cut;
    wanted->last_name = c->end.last_name;
    wanted->provider = t->library;
    if (t->library == NULL) {
        wanted->family = t->identity.family[0] != '\0' ? t->identity.family : "glibc";
        wanted->may_be_silent = c->options->unreached;
        return true;
    }
    if (stat(t->library, &info) != 0)
        return conclude(c, COMMAND_REFUSED, xasprintf("%s: %s", t->library, strerror(errno)));
    wanted->device = info.st_dev;
    wanted->inode = info.st_ino;
    return true;
}

static bool prove(cell *c)
{
    images_wanted wanted;

    if (!wanted_provider(c, &wanted))
        return false;
    c->images = images_read(c->probe_file, c->message, sizeof c->message);
    if (c->images == NULL) {
        c->keep_probe_file = true; /* the message points into it */
        return conclude(c, COMMAND_REFUSED, xstrdup(c->message));
    }
    images_judge(c->images, c->tree->images, c->tree->images_count, &wanted, c->begun.pid,
                 &c->verdict);
    if (c->verdict.refusal == NULL && c->verdict.root == NULL && !wanted.may_be_silent)
        return conclude(c, COMMAND_REFUSED,
                        xasprintf("%s (pid %ld) did not report who serves its malloc",
                                  c->options->how->argv[0], (long)c->begun.pid));
    if (c->verdict.refusal != NULL)
        return conclude(c, COMMAND_REFUSED, xstrdup(c->verdict.refusal));
    return true;
}

static double file_size(int fd)
{
    struct stat info;

    return fd >= 0 && fstat(fd, &info) == 0 ? (double)info.st_size : 0.0;
}

static uint64_t peak_hwm(const cell *c)
{
    const uint64_t polled = c->tree->peak_hwm_bytes, reported = c->images->peak_hwm_bytes;

    return polled > reported ? polled : reported;
}

/* Did a look fall near the peak? A sum that was read while the tree was much smaller than it came
 * to be is not its peak, and comparing two such sums would compare when they were read. */
static bool is_near_peak(const cell *c, uint64_t rss_bytes)
{
    const uint64_t tree_bytes = c->tree->peak_rss_bytes, single_bytes = c->end.peak_rss_bytes;
    const uint64_t peak_bytes = tree_bytes > single_bytes ? tree_bytes : single_bytes;

    return rss_bytes >= peak_bytes / 10 * 9;
}

static bool has_tree_pss(const cell *c)
{
    return c->tree->has_pss && is_near_peak(c, c->tree->rss_then_bytes);
}

/* ru_maxrss comes from counters of which each CPU may hold back a batch of pages. */
static uint64_t counter_error_bytes(void)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF), page = sysconf(_SC_PAGESIZE);
    const uint64_t count = cpus > 0 ? (uint64_t)cpus : 1;
    const uint64_t batch = 2 * count > 32 ? 2 * count : 32;

    return batch * count * (page > 0 ? (uint64_t)page : 4096);
}

/* A process that nobody waited for is in no account of wait4: what is short is not told at all. */
static bool is_time_whole(const cell *c)
{
    return c->end.orphans == 0 && c->end.leftovers == 0;
}

static bool is_peak_whole(const cell *c)
{
    const uint64_t peak = c->end.peak_rss_bytes;

    return peak_hwm(c) <= peak + peak / 100 + counter_error_bytes();
}

static void lower(cell *c, const char *name, const char *unit, uint64_t value)
{
    command_record_metric(&c->record, name, unit, ABENCH_DIRECTION_LOWER, (double)value);
}

static void neutral(cell *c, const char *name, const char *unit, uint64_t value)
{
    command_record_metric(&c->record, name, unit, ABENCH_DIRECTION_NONE, (double)value);
}

static void add_metrics(cell *c)
{
    const spawner_end *end = &c->end;

    lower(c, "wall_ns", "ns", c->result->wall_ns);
    if (is_time_whole(c)) {
        lower(c, "user_ns", "ns", end->user_ns);
        lower(c, "system_ns", "ns", end->system_ns);
        lower(c, "cpu_ns", "ns", c->result->cpu_ns);
    }
    if (is_peak_whole(c))
        lower(c, "peak_rss_bytes", "bytes", end->peak_rss_bytes);
    if (is_near_peak(c, c->tree->peak_rss_bytes))
        lower(c, "peak_tree_rss_bytes", "bytes", c->tree->peak_rss_bytes);
    if (has_tree_pss(c))
        lower(c, "peak_tree_pss_bytes", "bytes", c->tree->peak_pss_bytes);
    if (peak_hwm(c) > 0)
        neutral(c, "hwm_bytes", "bytes", peak_hwm(c));
    neutral(c, "rss_floor_bytes", "bytes", c->begun.floor_bytes);
    lower(c, "minor_faults", "count", end->minor_faults);
    lower(c, "major_faults", "count", end->major_faults);
    neutral(c, "voluntary_switches", "count", end->voluntary_switches);
    neutral(c, "involuntary_switches", "count", end->involuntary_switches);
    neutral(c, "exit_status", "count", (uint64_t)exit_status(end));
    neutral(c, "processes_seen", "count", c->tree->processes_seen);
    neutral(c, "images_reported", "count", c->images->count);
    neutral(c, "images_unseen", "count", c->verdict.unseen);
    command_record_metric(&c->record, "output_bytes", "bytes", ABENCH_DIRECTION_NONE,
                          file_size(c->output_fd) + file_size(c->errors_fd));
}

/* The longest stretch of the command's life without a look, where it is one to tell of. */
static uint64_t blind_ns(const cell *c)
{
    const tree *t = c->tree;
    const uint64_t rest_ns = c->end.end_ns > t->look_ns ? c->end.end_ns - t->look_ns : 0;
    const uint64_t end_ns = rest_ns > 2 * t->period_ns ? rest_ns : 0;
    const uint64_t gap_ns = end_ns > t->longest_gap_ns ? end_ns : t->longest_gap_ns;

    return gap_ns > BLIND_NS ? gap_ns : 0;
}

static void add_warnings(cell *c)
{
    const spawner_end *end = &c->end;
    const uint64_t peak = end->peak_rss_bytes;
    command_record *record = &c->record;

    if (!is_peak_whole(c))
        command_record_warn(record,
                            "no peak_rss_bytes: a process held %llu bytes and is not among those "
                            "that were waited for (%llu)",
                            (unsigned long long)peak_hwm(c), (unsigned long long)peak);
    if (c->tree->processes_seen > 1 && !has_tree_pss(c))
        command_record_warn(record, "no peak_tree_pss_bytes: none of the PSS readings, which are "
                                    "seldom to cost 0.1 %% at most, fell near the peak");
    if (peak <= c->begun.floor_bytes)
        command_record_warn(record,
                            "peak_rss_bytes is at its floor: the command's own may be less");
    if (end->orphans > 0)
        command_record_warn(record,
                            "no user_ns, system_ns and cpu_ns: processes that outlived their "
                            "parents: %lu; their memory is in the timeline (largest: %llu bytes)",
                            (unsigned long)end->orphans,
                            (unsigned long long)end->orphans_peak_rss_bytes);
    if (end->leftovers > 0)
        command_record_warn(record, "processes that outlived the command and were killed: %lu: %s",
                            (unsigned long)end->leftovers, end->leftover_names);
    if (end->survivors > 0)
        command_record_warn(record, "processes that could not be killed: %lu",
                            (unsigned long)end->survivors);
    if (c->verdict.silent > 0)
        command_record_warn(record, "images that are not proven: %zu; the first: %s",
                            c->verdict.silent, c->verdict.silence);
    if (c->verdict.unseen > 0)
        command_record_warn(record, "images too short to be seen: %zu; each reported its allocator",
                            c->verdict.unseen);
    if (c->verdict.changed > 0)
        command_record_warn(record, "the settings of %zu images were changed by the program (%s)",
                            c->verdict.changed, c->verdict.change);
    if (c->images->libc_bytes > LIBC_BYTES)
        command_record_warn(record,
                            "the C library's own malloc served %llu MiB in %s beside the target's "
                            "(RTLD_DEEPBIND?)",
                            (unsigned long long)(c->images->libc_bytes >> 20), c->images->libc_exe);
    command_record_programs(record, c->images);
    if (blind_ns(c) > 0)
        command_record_warn(record,
                            "the tool could not look for %llu ms: what ran only then is not proven",
                            (unsigned long long)(blind_ns(c) / 1000000u));
}

static bool write_cell(cell *c)
{
    command_record *record = &c->record;
    size_t size;
    char *text;
    bool whole;
    int error;

    record->options = c->options;
    record->envp = c->envp;
    record->nonce = c->nonce;
    record->identity = c->verdict.root == NULL ? NULL : &c->verdict.root->identity;
    record->tree = c->tree;
    record->wall_ns = c->result->wall_ns;
    record->pid = c->begun.pid;
    add_metrics(c);
    add_warnings(c);
    command_record_harness(record, c->harness_file);
    text = command_record_print(record, &size);
    whole = util_write_all(c->part_fd, text, size);
    error = errno;
    free(text);
    if (!whole)
        return conclude(c, COMMAND_FAILED,
                        xasprintf("cannot write %s: %s", c->part, strerror(error)));
    if (!util_publish(c->part, c->file, c->message, sizeof c->message))
        return conclude(c, COMMAND_FAILED, xstrdup(c->message));
    return true;
}

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void clean_up(cell *c)
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

void command_measure(const command_options *options, command_result *result)
{
    cell c = {.options = options, .result = result};

    memset(result, 0, sizeof *result);
    if (prepare(&c) && start(&c) && watch(&c) && check_end(&c) && prove(&c) && write_cell(&c))
        result->state = COMMAND_DONE;
    clean_up(&c);
}
