/* findings_share.c - how many CPUs and nodes there are, and what of them this process may use. */
#include <sys/syscall.h>
#include <unistd.h>

#include <allocbench/memory.h>

#include "machine/check.h"
#include "system/cgroup.h"
#include "system/rooted.h"
#include "system/scan.h"

static void put_count(abench__text *text, const char *before, uint64_t count)
{
    abench__text_put(text, before);
    abench__text_put_u64(text, count);
}

/* glibc's malloc/arena.c: NARENAS_FROM_NCORES of the online CPUs (2.35 to 2.38 went by affinity
 * until they were mended, bug 30945: these make no more); jemalloc's malloc_ncpus, by affinity,
 * times four, or one arena on one CPU. */
static void put_arenas(abench__text *text, uint32_t online, uint32_t allowed)
{
    put_count(text, "; arenas at most: glibc ", (uint64_t)online * (sizeof(long) == 4 ? 2 : 8));
    put_count(text, ", jemalloc ", allowed > 1 ? (uint64_t)allowed * 4 : 1);
}

static void put_quota(abench__text *text, const abench_cgroup *cgroup)
{
    const uint64_t whole = cgroup->cpu_quota_us / cgroup->cpu_period_us;
    const uint64_t rest = cgroup->cpu_quota_us % cgroup->cpu_period_us; /* periods are short */

    abench__text_printf(text, "%llu.%02llu CPUs", (unsigned long long)whole,
                        (unsigned long long)(rest * 100 / cgroup->cpu_period_us));
}

static int has_quota(const abench_cgroup *cgroup)
{
    return (cgroup->valid & ABENCH_CGROUP_CPU_QUOTA) != 0 &&
           (cgroup->valid & ABENCH_CGROUP_CPU_PERIOD) != 0;
}

static void look_cpus(const abench__look *look, abench__found *found)
{
    const uint32_t online = look->after.cpus_online, allowed = look->after.cpus_allowed;
    abench_cgroup cgroup;
    abench_status status;
    int quota, is_known;

    if ((look->after.valid & ABENCH_MACHINE_CPUS) == 0) {
        abench__found_unread(found, -1);
        return;
    }
    status = abench__cgroup_take(look->root, "self", &cgroup);
    quota = status == ABENCH_OK && has_quota(&cgroup);
    /* A kernel without groups has no quotas; a group that is not seen may have one. */
    is_known = status == ABENCH_ERROR_NOT_FOUND ||
               (status == ABENCH_OK && (quota || cgroup.cpu_path[0] != '\0'));
    put_count(&found->value, "", online);
    put_count(&found->value, " online, ", allowed);
    abench__text_put(&found->value, " allowed, ");
    if (quota) {
        abench__text_put(&found->value, "quota ");
        put_quota(&found->value, &cgroup);
    } else {
        abench__text_put(&found->value, is_known ? "no quota" : "quota unknown");
    }
    put_arenas(&found->value, online, allowed);
    if (quota && cgroup.cpu_quota_us / allowed < cgroup.cpu_period_us)
        abench__found_judge(
            found, ABENCH_VERDICT_WARN,
            "Limit by cpuset rather than by quota, or set the arenas of each target "
            "by hand: MALLOC_ARENA_MAX, MALLOC_CONF=narenas:N");
    else if (allowed < online)
        abench__found_judge(
            found, ABENCH_VERDICT_WARN,
            "Compare with the same CPUs always, and set MALLOC_ARENA_MAX for glibc, most "
            "releases of which count CPUs that they may not use.");
}

static void look_cgroup_cpu(const abench__look *look, abench__found *found)
{
    abench_cgroup cgroup;
    uint64_t grew = 0;

    if (abench__cgroup_take(look->root, "self", &cgroup) != ABENCH_OK ||
        (cgroup.cpu_path[0] == '\0' && !has_quota(&cgroup))) {
        abench__text_put(&found->value, "no control group for CPU time is seen");
        found->verdict = ABENCH_VERDICT_UNKNOWN;
        return;
    }
    if (has_quota(&cgroup)) {
        abench__text_put(&found->value, "quota ");
        put_quota(&found->value, &cgroup);
    } else {
        abench__text_put(&found->value, "no quota");
    }
    if ((cgroup.valid & ABENCH_CGROUP_THROTTLES) != 0 &&
        (has_quota(&cgroup) || cgroup.throttles > 0))
        put_count(&found->value, ", throttled so far: ", cgroup.throttles);
    if ((look->before.valid & look->after.valid & ABENCH_MACHINE_THROTTLED) != 0 &&
        abench__grew(look->before.throttles, look->after.throttles, &grew) && grew > 0)
        abench__found_judge(found, ABENCH_VERDICT_REFUSE,
                            "It was throttled while the doctor looked: raise the quota, or stop "
                            "what else runs in the group.");
    else if (has_quota(&cgroup))
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Use fewer lanes than the quota pays for: a round in which it "
                            "throttles is spoilt, and is run again.");
}

#define POLICY_BIND  2 /* MPOL_BIND; above it stand flags */
#define POLICY_MODES 0xff
#define NODES_MOST   4096u

/* numactl --membind binds a thread by a policy, of which /proc/self/status says nothing. The system
 * call itself: its wrapper is in libnuma. */
uint32_t abench__nodes_bound(void)
{
    unsigned long nodes[NODES_MOST / (8 * sizeof(unsigned long))] = {0};
    uint32_t count = 0;
    int mode;

    if (syscall(SYS_get_mempolicy, &mode, nodes, (unsigned long)NODES_MOST, NULL, 0) != 0 ||
        (mode & POLICY_MODES) != POLICY_BIND)
        return 0;
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        count += (uint32_t)__builtin_popcountl(nodes[i]);
    return count;
}

/* From how many nodes memory may come; 0: not known. */
static uint64_t allowed_nodes(const abench__look *look)
{
    const uint32_t bound = look->live ? abench__nodes_bound() : 0;
    uint64_t allowed;

    if (bound > 0)
        return bound;
    return abench__look_list(look, "Mems_allowed_list:", &allowed) ? allowed : 0;
}

static void look_numa(const abench__look *look, abench__found *found)
{
    char text[256];
    uint64_t nodes, allowed, balancing = 0;
    const ssize_t length =
        abench__rooted_read(look->root, "/sys/devices/system/node/online", text, sizeof text);

    if (length <= 0 || !abench__scan_list(text, (size_t)length, &nodes)) {
        abench__found_unread(found, length < 0 ? (int)length : -1);
        return;
    }
    put_count(&found->value, "", nodes);
    abench__text_put(&found->value, nodes == 1 ? " node" : " nodes");
    if (nodes == 1)
        return;
    allowed = allowed_nodes(look);
    if (allowed > 0)
        put_count(&found->value, ", memory from ", allowed);
    else
        allowed = nodes;
    if (abench__rooted_number(look->root, "/proc/sys/kernel/numa_balancing", &balancing) == 0)
        abench__text_put(&found->value, balancing != 0 ? ", balancing" : ", no balancing");
    if (allowed > 1)
        abench__found_judge(
            found, ABENCH_VERDICT_WARN,
            "Bind the measurement to one node: numactl --cpunodebind=0 --membind=0");
}

static const abench__check checks[] = {
    {"cpus", 1, 0, look_cpus,
     "glibc makes up to 8 arenas for each CPU that is online, jemalloc 4 for each one it may use, "
     "and none of the usual allocators reads a quota: memory and locking follow from this."},
    {"cgroup-cpu", 0, 0, look_cgroup_cpu,
     "A group that has used up its CPU quota stands still for the rest of the period: time and "
     "tail "
     "latency show that, not the allocator."},
    {"numa", 0, 0, look_numa,
     "Memory of another node takes longer to reach, and which node serves a block depends on the "
     "thread that touched it first."},
};

const abench__checks abench__checks_share = {checks, sizeof checks / sizeof checks[0]};
