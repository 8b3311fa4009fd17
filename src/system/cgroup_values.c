/* cgroup_values.c - the files of a process's control groups, read into abench_cgroup. */
#include <string.h>

#include "base/text.h"
#include "system/cgroup.h"
#include "system/scan.h"

#define TEXT_SIZE 4096u /* the longest, memory.stat, is some 1.5 KB; what is read stands first */

typedef struct place {
    const char *root;
    abench__group group;
    abench_cgroup *out;
} place;

static void set(place *at, uint64_t bit, uint64_t *field, uint64_t value)
{
    *field = value;
    at->out->valid |= bit;
}

/* A file that is one number. */
static void take_number(place *at, const char *name, uint64_t bit, uint64_t *field)
{
    char text[64];
    const ssize_t length = abench__group_read(at->root, &at->group, 0, name, text, sizeof text);
    uint64_t value;

    if (length > 0 && abench__scan_only_number(text, (size_t)length, &value))
        set(at, bit, field, value);
}

typedef struct keyed {
    const char *key;
    uint64_t bit;
    uint64_t *field;
} keyed;

/* A file of lines "key number". */
static void take_keyed(place *at, const char *name, const keyed *keys, size_t count)
{
    char text[TEXT_SIZE];
    const ssize_t length = abench__group_read(at->root, &at->group, 0, name, text, sizeof text);

    for (size_t i = 0; length > 0 && i < count; i++) {
        uint64_t value;
        if ((at->out->valid & keys[i].bit) == 0 &&
            abench__scan_keyed_number(text, (size_t)length, keys[i].key, &value))
            set(at, keys[i].bit, keys[i].field, value);
    }
}

#define TAKE_KEYED(at, name, keys) take_keyed(at, name, keys, sizeof keys / sizeof keys[0])

/* The smallest of the group and all above it that are seen. */
static void take_limit(place *at, const char *name, uint64_t bit, uint64_t *field)
{
    const uint32_t depth = abench__group_depth(&at->group);
    uint64_t smallest = 0;

    for (uint32_t levels = 0; levels <= depth; levels++) {
        char text[64];
        const ssize_t length =
            abench__group_read(at->root, &at->group, levels, name, text, sizeof text);
        const uint64_t limit = length > 0 ? abench__parse_cgroup_limit(text, (size_t)length) : 0;
        if (limit != 0 && (smallest == 0 || limit < smallest))
            smallest = limit;
    }
    if (smallest != 0)
        set(at, bit, field, smallest);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void take_memory_2(place *at)
{
    abench_cgroup *out = at->out;
    const keyed stat[] = {{"anon", ABENCH_CGROUP_ANON, &out->anon_bytes},
                          {"file", ABENCH_CGROUP_FILE, &out->file_bytes}};
    const keyed events[] = {{"max", ABENCH_CGROUP_LIMIT_HITS, &out->limit_hits},
                            {"high", ABENCH_CGROUP_HIGH_HITS, &out->high_hits},
                            {"oom", ABENCH_CGROUP_OOM, &out->oom_events},
                            {"oom_kill", ABENCH_CGROUP_OOM_KILLS, &out->oom_kills}};

    take_limit(at, "memory.max", ABENCH_CGROUP_LIMIT, &out->limit_bytes);
    take_limit(at, "memory.high", ABENCH_CGROUP_HIGH, &out->high_bytes);
    if (at->group.hidden)
        return;
    take_number(at, "memory.current", ABENCH_CGROUP_CURRENT, &out->current_bytes);
    take_number(at, "memory.peak", ABENCH_CGROUP_PEAK, &out->peak_bytes);
    take_number(at, "memory.swap.current", ABENCH_CGROUP_SWAP, &out->swap_bytes);
    TAKE_KEYED(at, "memory.stat", stat);
    TAKE_KEYED(at, "memory.events", events);
}

static void take_memory_1(place *at)
{
    abench_cgroup *out = at->out;
    /* total_: with the groups below it, as usage is; where the kernel has none, the group alone. */
    const keyed stat[] = {{"total_rss", ABENCH_CGROUP_ANON, &out->anon_bytes},
                          {"total_cache", ABENCH_CGROUP_FILE, &out->file_bytes},
                          {"total_swap", ABENCH_CGROUP_SWAP, &out->swap_bytes},
                          {"rss", ABENCH_CGROUP_ANON, &out->anon_bytes},
                          {"cache", ABENCH_CGROUP_FILE, &out->file_bytes},
                          {"swap", ABENCH_CGROUP_SWAP, &out->swap_bytes}};
    const keyed control[] = {{"oom_kill", ABENCH_CGROUP_OOM_KILLS, &out->oom_kills}};

    take_limit(at, "memory.limit_in_bytes", ABENCH_CGROUP_LIMIT, &out->limit_bytes);
    if (at->group.hidden)
        return;
    take_number(at, "memory.usage_in_bytes", ABENCH_CGROUP_CURRENT, &out->current_bytes);
    take_number(at, "memory.max_usage_in_bytes", ABENCH_CGROUP_PEAK, &out->peak_bytes);
    take_number(at, "memory.failcnt", ABENCH_CGROUP_LIMIT_HITS, &out->limit_hits);
    TAKE_KEYED(at, "memory.stat", stat);
    TAKE_KEYED(at, "memory.oom_control", control);
}

/* A hierarchy of version 2 may be without the controller: it is then nobody's, or was never asked
 * for. The group that a container sees as the root names it in its files only. */
static int has_memory(const place *at)
{
    char text[256];
    ssize_t length;

    if (at->group.version == 1)
        return 1;
    length = abench__group_read(at->root, &at->group, 0, "cgroup.controllers", text, sizeof text);
    if (length > 0 && abench__cgroup_has_controller(text, (size_t)length, "memory"))
        return 1;
    return abench__group_read(at->root, &at->group, 0, "memory.current", text, sizeof text) > 0;
}

/* ---- CPU time -------------------------------------------------------------------------------- */

/* Version 1: -1 is no quota. */
static int read_quota_1(const place *at, uint32_t levels, abench__quota *quota)
{
    char text[64];
    ssize_t length;

    length =
        abench__group_read(at->root, &at->group, levels, "cpu.cfs_quota_us", text, sizeof text);
    if (length <= 0 || !abench__scan_only_number(text, (size_t)length, &quota->quota_us))
        return 0;
    length =
        abench__group_read(at->root, &at->group, levels, "cpu.cfs_period_us", text, sizeof text);
    return length > 0 && abench__scan_only_number(text, (size_t)length, &quota->period_us) &&
           quota->period_us > 0 && quota->period_us <= ABENCH__PERIOD_MAX_US;
}

static int read_quota(const place *at, uint32_t levels, abench__quota *quota)
{
    char text[64];
    ssize_t length;

    if (at->group.version == 1)
        return read_quota_1(at, levels, quota);
    length = abench__group_read(at->root, &at->group, levels, "cpu.max", text, sizeof text);
    return length > 0 && abench__parse_cpu_max(text, (size_t)length, quota);
}

static void take_quota(place *at)
{
    const uint32_t depth = abench__group_depth(&at->group);
    abench__quota tightest = {0, 0};

    for (uint32_t levels = 0; levels <= depth; levels++) {
        abench__quota quota = {0, 0};
        if (read_quota(at, levels, &quota) && abench__quota_tighter(&quota, &tightest))
            tightest = quota;
    }
    if (tightest.quota_us == 0)
        return;
    set(at, ABENCH_CGROUP_CPU_QUOTA, &at->out->cpu_quota_us, tightest.quota_us);
    set(at, ABENCH_CGROUP_CPU_PERIOD, &at->out->cpu_period_us, tightest.period_us);
}

/* Adds a counter of cpu.stat to *field. What does not fit is left out: it is no kernel's. */
static void add_counter(place *at, const char *text, size_t length, const char *key, uint64_t scale,
                        uint64_t bit, uint64_t *field)
{
    uint64_t value, sum;

    if (abench__scan_keyed_number(text, length, key, &value) &&
        !__builtin_mul_overflow(value, scale, &value) &&
        !__builtin_add_overflow(*field, value, &sum))
        set(at, bit, field, sum);
}

/* A group stands still when a group above it has used up its quota, and does not count that. */
static void take_throttled(place *at)
{
    const uint32_t depth = abench__group_depth(&at->group);
    const int first = at->group.version == 1;
    abench_cgroup *out = at->out;

    for (uint32_t levels = 0; levels <= depth; levels++) {
        char text[TEXT_SIZE];
        const ssize_t length =
            abench__group_read(at->root, &at->group, levels, "cpu.stat", text, sizeof text);
        if (length <= 0)
            continue;
        add_counter(at, text, (size_t)length, "nr_throttled", 1, ABENCH_CGROUP_THROTTLES,
                    &out->throttles);
        add_counter(at, text, (size_t)length, first ? "throttled_time" : "throttled_usec",
                    first ? 1 : 1000, ABENCH_CGROUP_THROTTLED, &out->throttled_ns);
    }
}

static void take_cpu(place *at)
{
    take_quota(at);
    if (!at->group.hidden)
        take_throttled(at);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The path as a person would look it up below the mount; the mount's own group is "/". */
static void put_path(const abench__group *group, char *field, uint32_t size)
{
    if (group->version != 0 && !group->hidden)
        abench__copy(field, size, group->below[0] != '\0' ? group->below : "/");
}

abench_status abench__cgroup_take_memory(const char *root, const char *process, uint32_t levels,
                                         abench_cgroup *cgroup)
{
    place at = {.root = root, .out = cgroup};
    abench_status status;

    abench_cgroup_init(cgroup);
    status = abench__group_find(root, process, "memory", &at.group);
    if (status != ABENCH_OK)
        return status;
    for (; levels > 0; levels--) {
        char *slash = strrchr(at.group.below, '/');
        if (slash == NULL)
            return ABENCH_ERROR_NOT_FOUND;
        *slash = '\0';
    }
    if (at.group.version != 0 && has_memory(&at)) {
        cgroup->version = at.group.version;
        put_path(&at.group, cgroup->memory_path, sizeof cgroup->memory_path);
        if (cgroup->version == 1)
            take_memory_1(&at);
        else
            take_memory_2(&at);
    }
    return ABENCH_OK;
}

abench_status abench__cgroup_take(const char *root, const char *process, abench_cgroup *cgroup)
{
    place at = {.root = root, .out = cgroup};
    abench_status status = abench__cgroup_take_memory(root, process, 0, cgroup);

    if (status != ABENCH_OK)
        return status;
    status = abench__group_find(root, process, "cpu", &at.group);
    if (status != ABENCH_OK)
        return status;
    if (at.group.version != 0) {
        put_path(&at.group, cgroup->cpu_path, sizeof cgroup->cpu_path);
        take_cpu(&at);
    }
    return ABENCH_OK;
}
