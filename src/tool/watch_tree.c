#include "tool/watch_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/util.h"

#define CHEAP_TIERS                                                                                \
    (ABENCH_TIER_STATM | ABENCH_TIER_STATUS | ABENCH_TIER_FAULTS | ABENCH_TIER_SCHEDULE)

/* A dear look takes so long for each GiB that it has not seen before: 5 to 14 ms were measured. */
#define NS_PER_NEW_GIB 14000000u

#define DUTY 1000u /* one part in so many */

struct watch_tree {
    int32_t root;
    bool dear_always;
    bool has_dear;
    uint64_t period_ns;
    uint64_t begun_ns;
    uint64_t dear_cost_ns; /* of the last dear look */
    uint64_t last_rss;     /* of the last look */
    watch_look dear;
    watch_peaks peaks;
    abench_tree *tree;
    watch_counts *before; /* of the last look, by process */
    watch_counts *now;
    size_t before_count, before_capacity;
    size_t now_count, now_capacity;
    uint64_t counted_ns;
};

/* ---- rates ----------------------------------------------------------------------------------- */

static int by_pid(const void *a, const void *b)
{
    const int32_t x = ((const watch_counts *)a)->pid, y = ((const watch_counts *)b)->pid;

    return (x > y) - (x < y);
}

static void sort(watch_counts *counts, size_t count)
{
    if (count > 1)
        qsort(counts, count, sizeof *counts, by_pid);
}

static double grown(uint64_t before, uint64_t now)
{
    return now > before ? (double)(now - before) : 0;
}

watch_rates watch_rates_between(watch_counts *before, size_t before_count, watch_counts *now,
                                size_t now_count, double seconds)
{
    static const watch_counts none = {0, 0, 0, 0, 0};
    watch_rates rates = {WATCH_FAULTS | WATCH_SWITCHES | WATCH_WAIT, 0, 0, 0};
    size_t old = 0;

    if (seconds <= 0) {
        rates.is_known = 0;
        return rates;
    }
    sort(before, before_count);
    sort(now, now_count);
    for (size_t at = 0; at < now_count; at++) {
        const watch_counts *from = &none;
        while (old < before_count && before[old].pid < now[at].pid)
            old++;
        if (old < before_count && before[old].pid == now[at].pid)
            from = &before[old];
        rates.is_known &= now[at].is_known & (from == &none ? ~0u : from->is_known);
        rates.faults_per_s += grown(from->faults, now[at].faults) / seconds;
        rates.switches_per_s += grown(from->switches, now[at].switches) / seconds;
        rates.wait_share += grown(from->wait_ns, now[at].wait_ns) / 1e9 / seconds;
    }
    return rates;
}

static bool has(const abench_memory *m, uint64_t bits)
{
    return (m->valid & bits) == bits;
}

static watch_counts counts_of(int32_t pid, const abench_memory *m)
{
    watch_counts c = {.pid = pid};

    if (has(m, ABENCH_MEMORY_MINOR_FAULTS | ABENCH_MEMORY_MAJOR_FAULTS))
        c.is_known |= WATCH_FAULTS;
    if (has(m, ABENCH_MEMORY_VOLUNTARY_SWITCHES | ABENCH_MEMORY_INVOLUNTARY_SWITCHES))
        c.is_known |= WATCH_SWITCHES;
    if (has(m, ABENCH_MEMORY_RUN_WAIT))
        c.is_known |= WATCH_WAIT;
    c.faults = m->minor_faults + m->major_faults;
    c.switches = m->voluntary_switches + m->involuntary_switches;
    c.wait_ns = m->run_wait_ns;
    return c;
}

/* The counts of now become those of before. */
static watch_rates take_rates(watch_tree *t, uint64_t now_ns)
{
    const double seconds = t->counted_ns == 0 ? 0 : (double)(now_ns - t->counted_ns) / 1e9;
    const watch_rates rates =
        watch_rates_between(t->before, t->before_count, t->now, t->now_count, seconds);
    watch_counts *spare = t->before;
    const size_t spare_capacity = t->before_capacity;

    t->before = t->now;
    t->before_count = t->now_count;
    t->before_capacity = t->now_capacity;
    t->now = spare;
    t->now_capacity = spare_capacity;
    t->counted_ns = now_ns;
    return rates;
}

/* ---- the pace -------------------------------------------------------------------------------- */

uint64_t watch_dear_wait_ns(uint64_t cost_ns, uint64_t rss_then, uint64_t rss_now,
                            uint64_t period_ns)
{
    const double gib = grown(rss_then, rss_now) / (double)(1u << 30);
    const double wait = ((double)cost_ns + gib * NS_PER_NEW_GIB) * DUTY;

    if (wait >= (double)UINT64_MAX)
        return UINT64_MAX;
    return wait > (double)period_ns ? (uint64_t)wait : period_ns;
}

static bool is_dear_due(const watch_tree *t, uint64_t now_ns)
{
    uint64_t wait;

    if (t->dear_always || !t->has_dear)
        return true;
    wait = watch_dear_wait_ns(t->dear_cost_ns, t->dear.memory.rss_bytes, t->last_rss, t->period_ns);
    return now_ns - t->begun_ns - t->dear.time_ns >= wait;
}

void watch_tree_charge(watch_tree *t, uint64_t cost_ns)
{
    t->dear_cost_ns += cost_ns;
}

/* ---- looks ----------------------------------------------------------------------------------- */

abench_status watch_tree_open(int32_t pid, uint64_t period_ns, bool dear_always, watch_tree **out)
{
    watch_tree *t = xcalloc(1, sizeof *t);
    const abench_status status = abench_tree_create(pid, NULL, &t->tree);

    t->root = pid;
    t->period_ns = period_ns;
    t->dear_always = dear_always;
    t->begun_ns = abench_clock_ns();
    *out = t;
    if (status != ABENCH_OK) {
        free(t);
        *out = NULL;
    }
    return status;
}

/* Takes one process's fields off the sum. */
static void leave_out(abench_memory *sum, const abench_memory *one)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;

    for (uint32_t at = 0; abench_memory_field_at(at, &field) == ABENCH_OK; at++) {
        uint64_t total, own;
        memcpy(&total, (const char *)sum + field.offset, sizeof total);
        memcpy(&own, (const char *)one + field.offset, sizeof own);
        if (!has(sum, field.bit) || !has(one, field.bit))
            continue;
        total = total > own ? total - own : 0;
        memcpy((char *)sum + field.offset, &total, sizeof total);
    }
}

static void take_process(watch_tree *t, watch_look *look, int32_t pid, const abench_memory *m)
{
    if (pid == getpid()) {
        leave_out(&look->memory, m);
        return;
    }
    t->now = util_grow(t->now, t->now_count, &t->now_capacity, sizeof *t->now);
    t->now[t->now_count++] = counts_of(pid, m);
    if (has(m, ABENCH_MEMORY_HWM)) {
        t->peaks.valid |= ABENCH_MEMORY_HWM;
        if (m->hwm_bytes > t->peaks.hwm_bytes)
            t->peaks.hwm_bytes = m->hwm_bytes;
    }
}

static void take_processes(watch_tree *t, watch_look *look)
{
    abench_memory one = ABENCH_MEMORY_INIT;
    int32_t pid;

    t->now_count = 0;
    for (uint32_t at = 0; abench_tree_at(t->tree, at, &pid, NULL, &one) == ABENCH_OK; at++)
        take_process(t, look, pid, &one);
    look->processes = (uint32_t)t->now_count;
}

static void take_peaks(watch_peaks *peaks, const watch_look *look)
{
    const abench_memory *m = &look->memory;

    peaks->looks++;
    peaks->valid |= m->valid & (ABENCH_MEMORY_RSS | ABENCH_MEMORY_PSS);
    if (has(m, ABENCH_MEMORY_RSS) && m->rss_bytes > peaks->rss_bytes)
        peaks->rss_bytes = m->rss_bytes;
    if (has(m, ABENCH_MEMORY_PSS)) {
        peaks->dear_looks++;
        if (m->pss_bytes > peaks->pss_bytes)
            peaks->pss_bytes = m->pss_bytes;
    }
    if (has(m, ABENCH_MEMORY_PSS | ABENCH_MEMORY_RSS) && m->rss_bytes > peaks->dear_rss_bytes)
        peaks->dear_rss_bytes = m->rss_bytes;
}

bool watch_is_near(uint64_t bytes, uint64_t other_bytes)
{
    const uint64_t large = bytes > other_bytes ? bytes : other_bytes;
    const uint64_t small = bytes > other_bytes ? other_bytes : bytes;

    return large - small <= large / 10;
}

static void take_cgroup(const watch_tree *t, watch_look *look)
{
    abench_cgroup group = ABENCH_CGROUP_INIT;

    look->has_cgroup = abench_cgroup_read(t->root, &group) == ABENCH_OK &&
                       (group.valid & ABENCH_CGROUP_CURRENT) != 0;
    look->cgroup_bytes = group.current_bytes;
}

abench_status watch_tree_look(watch_tree *t, watch_look *out)
{
    const bool is_dear = is_dear_due(t, abench_clock_ns());
    abench_status status;

    memset(out, 0, sizeof *out);
    abench_memory_init(&out->memory);
    status =
        abench_tree_read(t->tree, CHEAP_TIERS | (is_dear ? ABENCH_TIER_ROLLUP : 0), &out->memory);
    if (status != ABENCH_OK)
        return status;
    out->time_ns = out->memory.time_ns > t->begun_ns ? out->memory.time_ns - t->begun_ns : 0;
    out->is_dear = is_dear;
    take_processes(t, out);
    out->rates = take_rates(t, out->memory.time_ns);
    take_cgroup(t, out);
    take_peaks(&t->peaks, out);
    t->last_rss = out->memory.rss_bytes;
    if (is_dear) {
        t->has_dear = true;
        t->dear = *out;
        t->dear_cost_ns = out->memory.cost_ns;
    }
    return ABENCH_OK;
}

const watch_look *watch_tree_dear(const watch_tree *t)
{
    return t->has_dear ? &t->dear : NULL;
}

const watch_peaks *watch_tree_peaks(const watch_tree *t)
{
    return &t->peaks;
}

int32_t watch_tree_pid(const watch_tree *t, uint32_t index)
{
    return index < t->before_count ? t->before[index].pid : 0;
}

void watch_tree_close(watch_tree *t)
{
    if (t == NULL)
        return;
    abench_tree_destroy(t->tree);
    free(t->before);
    free(t->now);
    free(t);
}

/* ---- what could not be read ------------------------------------------------------------------ */

/* Where a tier's fields of process pid come from. free() it. */
static char *source_of(uint32_t tier, int32_t pid)
{
    const char *name = tier == ABENCH_TIER_ROLLUP     ? "smaps_rollup"
                       : tier == ABENCH_TIER_STATUS   ? "status"
                       : tier == ABENCH_TIER_STATM    ? "statm"
                       : tier == ABENCH_TIER_SCHEDULE ? "schedstat"
                                                      : "stat";

    return xasprintf("/proc/%ld/%s", (long)pid, name);
}

/* The first process of which a field was not read; 0: none. */
static int32_t lacks(const watch_tree *t, uint64_t bit)
{
    abench_memory one = ABENCH_MEMORY_INIT;
    int32_t pid;

    for (uint32_t at = 0; abench_tree_at(t->tree, at, &pid, NULL, &one) == ABENCH_OK; at++)
        if (!has(&one, bit))
            return pid;
    return 0;
}

/* Why a field was not read of a process. NULL: that has passed, as with a process that was about to
 * end. free() it. */
static char *reason_of(const watch_tree *t, const abench_memory_field *field)
{
    abench_memory own = ABENCH_MEMORY_INIT;
    char *path, *reason = NULL, byte;
    int fd;

    if (abench_memory_read(0, field->tier, &own) == ABENCH_OK && !has(&own, field->bit))
        return xstrdup("this kernel does not tell");
    path = source_of(field->tier, lacks(t, field->bit));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if ((fd < 0 || read(fd, &byte, 1) < 0) && (errno == EACCES || errno == EPERM))
        reason = xasprintf("%s: %s (" WATCH_RIGHTS ")", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
    return reason;
}

char *watch_tree_missing(const watch_tree *t, const watch_look *look)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    char *line = NULL, *last = NULL;

    for (uint32_t at = 0; abench_memory_field_at(at, &field) == ABENCH_OK; at++) {
        char *before = line, *reason;
        if (has(&look->memory, field.bit) || (field.tier == ABENCH_TIER_ROLLUP && !look->is_dear))
            continue;
        reason = reason_of(t, &field);
        if (reason == NULL)
            continue;
        if (before == NULL)
            line = xasprintf("not read: %s", field.name);
        else if (strcmp(reason, last) == 0)
            line = xasprintf("%s, %s", before, field.name);
        else
            line = xasprintf("%s: %s; %s", before, last, field.name);
        free(before);
        free(last);
        last = reason;
    }
    if (line != NULL) {
        char *whole = xasprintf("%s: %s", line, last);
        free(line);
        line = whole;
    }
    free(last);
    return line;
}
