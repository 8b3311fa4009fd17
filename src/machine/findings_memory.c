/* findings_memory.c - what decides where pages come from, when they are taken, and how many. */
#include <errno.h>
#include <string.h>

#include <allocbench/memory.h>

#include "machine/check.h"
#include "system/cgroup.h"
#include "system/rooted.h"
#include "system/scan.h"
#include "system/stat.h"

#define LIMIT_WARN_PERCENT   50u
#define LIMIT_REFUSE_PERCENT 90u
#define MAPS_DEFAULT         65530u
#define STATM_WARN_BYTES     ((uint64_t)1 << 20)

static void look_memory(const abench__look *look, abench__found *found)
{
    char text[4096];
    uint64_t total, available;
    const ssize_t length = abench__rooted_read(look->root, "/proc/meminfo", text, sizeof text);

    if (length <= 0 || !abench__scan_keyed_number(text, (size_t)length, "MemTotal:", &total) ||
        total > UINT64_MAX / 1024) {
        abench__found_unread(found, length < 0 ? (int)length : -1);
        return;
    }
    abench__put_bytes(&found->value, total * 1024);
    if (!abench__scan_keyed_number(text, (size_t)length, "MemAvailable:", &available) ||
        available > total)
        return;
    abench__text_put(&found->value, ", ");
    abench__put_bytes(&found->value, available * 1024);
    abench__text_put(&found->value, " available");
    if (available < total / 8)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Stop what uses the memory, or choose a workload that needs far less "
                            "than is available.");
}

/* The page cache of the group, which the kernel can drop, is in its current memory too. So is
 * shared memory, which it cannot; both are counted as page cache. */
static uint64_t held_bytes(const abench_cgroup *cgroup)
{
    const uint64_t file = (cgroup->valid & ABENCH_CGROUP_FILE) != 0 ? cgroup->file_bytes : 0;

    return cgroup->current_bytes > file ? cgroup->current_bytes - file : 0;
}

static uint32_t judge_group(const abench_cgroup *cgroup)
{
    const uint64_t held = held_bytes(cgroup);

    if ((cgroup->valid & ABENCH_CGROUP_LIMIT) == 0)
        return ABENCH_VERDICT_OK;
    if (abench__exceeds(held, cgroup->limit_bytes, LIMIT_REFUSE_PERCENT))
        return ABENCH_VERDICT_REFUSE;
    return abench__exceeds(held, cgroup->limit_bytes, LIMIT_WARN_PERCENT) ? ABENCH_VERDICT_WARN
                                                                          : ABENCH_VERDICT_OK;
}

/* The group, or the first above it that is worse off. Each is held against the least of all limits
 * from it to the root: no group holds more than those above it, so that the one whose limit it is
 * decides. Returns how many levels it lies above. */
static uint32_t take_worst(const char *root, abench_cgroup *worst)
{
    uint32_t worst_level = 0;
    abench_cgroup above;

    for (uint32_t levels = 1; abench__cgroup_take_memory(root, "self", levels, &above) == ABENCH_OK;
         levels++) {
        if ((above.valid & ABENCH_CGROUP_LIMIT) == 0)
            break; /* nor has any further up */
        if ((above.valid & ABENCH_CGROUP_CURRENT) == 0 || judge_group(&above) <= judge_group(worst))
            continue;
        *worst = above;
        worst_level = levels;
    }
    return worst_level;
}

static void put_group_memory(const abench_cgroup *cgroup, uint32_t levels, abench__found *found)
{
    const uint32_t verdict = judge_group(cgroup);

    abench__text_put(&found->value, "limit ");
    abench__put_bytes(&found->value, cgroup->limit_bytes);
    if ((cgroup->valid & ABENCH_CGROUP_CURRENT) == 0) {
        abench__text_put(&found->value, ", use unknown");
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Keep the workload's memory well below the limit.");
        return;
    }
    abench__text_put(&found->value, ", in use without page cache ");
    abench__put_bytes(&found->value, held_bytes(cgroup));
    if (levels > 0) {
        abench__text_put(&found->value, ", of the group ");
        abench__put_foreign(&found->value, cgroup->memory_path, 60);
        abench__text_put(&found->value, " above it");
    }
    if (verdict == ABENCH_VERDICT_REFUSE)
        abench__found_judge(found, verdict,
                            "Raise the limit, or stop what else runs in the group.");
    else if (verdict == ABENCH_VERDICT_WARN)
        abench__found_judge(
            found, verdict,
            "Raise the limit, or use a workload that is small beside what is left.");
}

static void look_cgroup_memory(const abench__look *look, abench__found *found)
{
    abench_cgroup cgroup;
    uint32_t levels;

    if (abench__cgroup_take_memory(look->root, "self", 0, &cgroup) != ABENCH_OK ||
        cgroup.version == 0) {
        abench__text_put(&found->value, "no control group for memory is seen");
        found->verdict = ABENCH_VERDICT_UNKNOWN;
        return;
    }
    levels = take_worst(look->root, &cgroup);
    if ((cgroup.valid & ABENCH_CGROUP_LIMIT) != 0) {
        put_group_memory(&cgroup, levels, found);
    } else if (cgroup.memory_path[0] == '\0') {
        abench__text_put(&found->value, "the group lies outside of what is mounted");
        found->verdict = ABENCH_VERDICT_UNKNOWN;
    } else {
        abench__text_put(&found->value, "no limit");
    }
}

static void look_swap(const abench__look *look, abench__found *found)
{
    char text[4096];
    uint64_t values[ABENCH__SWAPS_FIELDS], grew = 0;
    const ssize_t length = abench__rooted_read(look->root, "/proc/swaps", text, sizeof text);

    if (length <= 0 || abench__parse_swaps(text, (size_t)length, values) == 0) {
        abench__found_unread(found, length < 0 ? (int)length : -1);
        return;
    }
    if (values[ABENCH__SWAPS_AREAS] == 0) {
        abench__text_put(&found->value, "none");
        return;
    }
    abench__put_bytes(&found->value, values[ABENCH__SWAPS_SIZE]);
    abench__text_put(&found->value, ", in use ");
    abench__put_bytes(&found->value, values[ABENCH__SWAPS_USED]);
    if ((look->before.valid & look->after.valid & ABENCH_MACHINE_SWAP) != 0 &&
        abench__grew(look->before.swapped_pages, look->after.swapped_pages, &grew) && grew > 0)
        abench__text_put(&found->value, ", moving pages now");
    if (values[ABENCH__SWAPS_USED] > 0 || grew > 0)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Switch it off while you measure (swapoff -a), or read swap_bytes "
                            "beside RSS.");
}

/* "Y" or "N". */
static void look_zswap(const abench__look *look, abench__found *found)
{
    char enabled[8];
    const int error = abench__rooted_line(look->root, "/sys/module/zswap/parameters/enabled",
                                          enabled, sizeof enabled);

    if (error != 0) {
        abench__found_unread(found, error);
        return;
    }
    abench__text_put(&found->value, enabled[0] == 'Y' ? "on" : "off");
    if (enabled[0] == 'Y')
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Switch it off while you measure: write N to "
                            "/sys/module/zswap/parameters/enabled");
}

static void look_ksm(const abench__look *look, abench__found *found)
{
    uint64_t run, sharing;
    const int error = abench__rooted_number(look->root, "/sys/kernel/mm/ksm/run", &run);

    if (error != 0) {
        abench__found_unread(found, error);
        return;
    }
    abench__text_put(&found->value, run == 1 ? "runs" : "does not run");
    if (abench__rooted_number(look->root, "/sys/kernel/mm/ksm/pages_sharing", &sharing) == 0 &&
        sharing > 0)
        abench__text_printf(&found->value, ", %llu pages merged", (unsigned long long)sharing);
    if (run == 1)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Stop it while you measure: write 2 to /sys/kernel/mm/ksm/run, which "
                            "undoes what it merged.");
}

static void look_overcommit(const abench__look *look, abench__found *found)
{
    static const char *const modes[] = {"0 (by estimate)", "1 (always)", "2 (never)"};
    uint64_t mode;
    const int error = abench__rooted_number(look->root, "/proc/sys/vm/overcommit_memory", &mode);

    if (error != 0 || mode > 2) {
        abench__found_unread(found, error != 0 ? error : -1);
        return;
    }
    abench__text_put(&found->value, modes[mode]);
    if (mode == 2)
        abench__found_judge(found, ABENCH_VERDICT_REFUSE,
                            "Set it to what the program will run with, usually 0: sysctl "
                            "vm.overcommit_memory=0");
}

static void look_max_map_count(const abench__look *look, abench__found *found)
{
    uint64_t maps;
    const int error = abench__rooted_number(look->root, "/proc/sys/vm/max_map_count", &maps);

    if (error != 0) {
        abench__found_unread(found, error);
        return;
    }
    abench__text_put_u64(&found->value, maps);
    if (maps < MAPS_DEFAULT)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Raise it at least to the kernel's default: sysctl "
                            "vm.max_map_count=65530");
}

static void put_limit(abench__text *text, const char *name, int there, uint64_t value)
{
    abench__text_put(text, name);
    if (!there)
        abench__text_put(text, "unknown");
    else if (value == UINT64_MAX)
        abench__text_put(text, "unlimited");
    else
        abench__put_bytes(text, value);
}

/* The limit of locked memory is small everywhere: it is told, not judged. */
static void look_limits(const abench__look *look, abench__found *found)
{
    char text[4096];
    uint64_t space = 0, data = 0, locked = 0;
    int has_space, has_data, has_locked;
    const ssize_t length = abench__rooted_read(look->root, "/proc/self/limits", text, sizeof text);

    if (length <= 0) {
        abench__found_unread(found, length < 0 ? (int)length : -1);
        return;
    }
    has_space = abench__parse_limit(text, (size_t)length, "Max address space", &space);
    has_data = abench__parse_limit(text, (size_t)length, "Max data size", &data);
    has_locked = abench__parse_limit(text, (size_t)length, "Max locked memory", &locked);
    put_limit(&found->value, "address space ", has_space, space);
    put_limit(&found->value, ", data ", has_data, data);
    put_limit(&found->value, ", locked ", has_locked, locked);
    if (has_space && space != UINT64_MAX)
        abench__found_judge(found, ABENCH_VERDICT_REFUSE,
                            "Lift it for the measurement: ulimit -v unlimited");
    else if (has_data && data != UINT64_MAX)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Lift it for the measurement: ulimit -d unlimited");
    else if (!has_space || !has_data)
        found->verdict = ABENCH_VERDICT_UNKNOWN;
}

/* Both of this process, which stands still meanwhile but for the reading itself. */
static void look_statm(const abench__look *look, abench__found *found)
{
    const uint64_t both = ABENCH_MEMORY_RSS | ABENCH_MEMORY_ROLLUP_RSS;
    abench_memory memory = ABENCH_MEMORY_INIT;
    uint64_t apart;

    (void)look;
    if (abench_memory_read(0, ABENCH_TIER_STATM | ABENCH_TIER_ROLLUP, &memory) != ABENCH_OK ||
        (memory.valid & both) != both) {
        abench__found_unread(found, -1);
        return;
    }
    apart = memory.rss_bytes > memory.rollup_rss_bytes ? memory.rss_bytes - memory.rollup_rss_bytes
                                                       : memory.rollup_rss_bytes - memory.rss_bytes;
    abench__put_bytes(&found->value, apart);
    abench__text_put(&found->value, " between statm and smaps_rollup, at rest");
    if (apart > STATM_WARN_BYTES)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Take RSS from rollup_rss_bytes, at marks, where this much matters.");
}

static const abench__check checks[] = {
    {"memory", 0, 0, look_memory,
     "A machine that is nearly full takes pages away and has no huge pages left: RSS and time then "
     "depend on what else is in memory."},
    {"cgroup-memory", 0, 0, look_cgroup_memory,
     "Near its limit the kernel takes the group's pages away and makes it wait, or kills: an "
     "allocator that holds more is punished, or shown with less than it holds."},
    {"swap", 0, 0, look_swap,
     "Pages that are swapped out leave RSS: the allocator whose memory is touched least looks the "
     "smallest."},
    {"zswap", 0, 0, look_zswap,
     "Pages are compressed in memory instead of written out: RSS falls, while CPU time and memory "
     "are used that no process is charged with."},
    {"ksm", 0, 0, look_ksm,
     "The kernel merges equal pages, such as zeroed or freed ones, of programs that allow it: PSS "
     "falls, and writing to them faults again."},
    {"overcommit", 0, 0, look_overcommit,
     "Allocators reserve address space ahead, mimalloc a GiB at once. Where the kernel promises "
     "only what it has, the same program fails or runs with other settings."},
    {"max-map-count", 0, 0, look_max_map_count,
     "Giving back or protecting small pieces splits mappings (jemalloc, scudo, hardened_malloc): "
     "at this many malloc fails while memory is free."},
    {"limits", 0, 0, look_limits,
     "They count reserved address space (AS) or private mappings (DATA), not pages: allocators "
     "that reserve ahead fail where others do not."},
    {"statm", 0, 1, look_statm,
     "Before Linux 6.16 the cheap counters are up to some hundred KiB a CPU off: small differences "
     "of RSS are then not differences."},
};

const abench__checks abench__checks_memory = {checks, sizeof checks / sizeof checks[0]};
