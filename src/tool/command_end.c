/*
 * What comes when a command has ended: was that an end, who served its malloc, and its cell file.
 */
#include "tool/command_cell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/run.h>

#include "tool/util.h"

#define LIBC_BYTES ((uint64_t)1 << 20)
#define BLIND_NS   250000000u

bool command_conclude(command_cell *c, command_state state, char *reason)
{
    c->result->state = state;
    c->result->reason = util_one_line(reason);
    return false;
}

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

static char *describe_failure(const command_cell *c)
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

static bool check_end(command_cell *c)
{
    char *failure;

    if (c->stopped)
        return command_conclude(c, COMMAND_STOPPED, xstrdup("stopped"));
    failure = describe_failure(c);
    c->result->has_end = !c->hung;
    c->result->exit_status = exit_status(&c->end);
    c->result->wall_ns = c->end.end_ns - c->begun.start_ns;
    c->result->cpu_ns = c->end.user_ns + c->end.system_ns;
    c->result->peak_rss_bytes = c->end.peak_rss_bytes;
    if (failure == NULL)
        return true;
    if (c->hung || !c->options->ignore_failure)
        return command_conclude(c, COMMAND_FAILED, failure);
    command_record_warn(&c->record, "%s (ignored, as asked)", failure);
    free(failure);
    return true;
}

/* The preloaded library; without one, the C library by the family that preflight found. */
static bool wanted_provider(command_cell *c, images_wanted *wanted)
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
        return command_conclude(c, COMMAND_REFUSED,
                                xasprintf("%s: %s", t->library, strerror(errno)));
    wanted->device = info.st_dev;
    wanted->inode = info.st_ino;
    return true;
}

static bool prove(command_cell *c)
{
    images_wanted wanted;

    if (!wanted_provider(c, &wanted))
        return false;
    c->images = images_read(c->probe_file, c->message, sizeof c->message);
    if (c->images == NULL) {
        c->keep_probe_file = true; /* the message points into it */
        return command_conclude(c, COMMAND_REFUSED, xstrdup(c->message));
    }
    images_judge(c->images, c->tree->images, c->tree->images_count, &wanted, c->begun.pid,
                 &c->verdict);
    if (c->verdict.refusal == NULL && c->verdict.root == NULL && !wanted.may_be_silent)
        return command_conclude(c, COMMAND_REFUSED,
                                xasprintf("%s (pid %ld) did not report who serves its malloc",
                                          c->options->how->argv[0], (long)c->begun.pid));
    if (c->verdict.refusal != NULL)
        return command_conclude(c, COMMAND_REFUSED, xstrdup(c->verdict.refusal));
    return true;
}

static double file_size(int fd)
{
    struct stat info;

    return fd >= 0 && fstat(fd, &info) == 0 ? (double)info.st_size : 0.0;
}

static uint64_t peak_hwm(const command_cell *c)
{
    const uint64_t polled = c->tree->peak_hwm_bytes, reported = c->images->peak_hwm_bytes;

    return polled > reported ? polled : reported;
}

/* Did a look fall near the peak? A sum that was read while the tree was much smaller than it came
 * to be is not its peak, and comparing two such sums would compare when they were read. */
static bool is_near_peak(const command_cell *c, uint64_t rss_bytes)
{
    const uint64_t tree_bytes = c->tree->peak_rss_bytes, single_bytes = c->end.peak_rss_bytes;
    const uint64_t peak_bytes = tree_bytes > single_bytes ? tree_bytes : single_bytes;

    return rss_bytes >= peak_bytes / 10 * 9;
}

static bool has_tree_pss(const command_cell *c)
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
static bool is_time_whole(const command_cell *c)
{
    return c->end.orphans == 0 && c->end.leftovers == 0;
}

static bool is_peak_whole(const command_cell *c)
{
    const uint64_t peak = c->end.peak_rss_bytes;

    return peak_hwm(c) <= peak + peak / 100 + counter_error_bytes();
}

static void lower(command_cell *c, const char *name, const char *unit, uint64_t value)
{
    command_record_metric(&c->record, name, unit, ABENCH_DIRECTION_LOWER, (double)value);
}

static void neutral(command_cell *c, const char *name, const char *unit, uint64_t value)
{
    command_record_metric(&c->record, name, unit, ABENCH_DIRECTION_NONE, (double)value);
}

static void add_metrics(command_cell *c)
{
    const spawner_end *end = &c->end;

    if (!c->options->in_turns)
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
static uint64_t blind_ns(const command_cell *c)
{
    const tree *t = c->tree;
    const uint64_t rest_ns = c->end.end_ns > t->look_ns ? c->end.end_ns - t->look_ns : 0;
    const uint64_t end_ns = rest_ns > 2 * t->period_ns ? rest_ns : 0;
    const uint64_t gap_ns = end_ns > t->longest_gap_ns ? end_ns : t->longest_gap_ns;

    return gap_ns > BLIND_NS ? gap_ns : 0;
}

static void add_warnings(command_cell *c)
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

static bool write_cell(command_cell *c)
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
        return command_conclude(c, COMMAND_FAILED,
                                xasprintf("cannot write %s: %s", c->part, strerror(error)));
    if (!util_publish(c->part, c->file, c->message, sizeof c->message))
        return command_conclude(c, COMMAND_FAILED, xstrdup(c->message));
    return true;
}

bool command_end(command_cell *c)
{
    return check_end(c) && prove(c) && write_cell(c);
}
