/* changes.c - what a machine did between two readings that matters to what ran between them. */
#include <string.h>

#include "base/options.h"
#include "machine/check.h"

#define MACHINE_FIRST_RELEASE                                                                      \
    ((uint32_t)(offsetof(abench_machine, governor) + sizeof((abench_machine *)0)->governor))
#define STEAL_WARN_PERCENT      1u
#define STEAL_REFUSE_PERCENT    5u
#define PRESSURE_REFUSE_PERCENT 1u
#define SWAP_REFUSE_PAGES       256u /* 1 MiB of the smallest: as much RSS may have gone */
#define SPEED_WARN_PERCENT      3u

/* A change: a verdict that is not ok means that it happened. */
typedef struct change {
    const char *name;
    uint32_t needs; /* bits that both readings must have */
    uint32_t is_key;
    void (*look)(const abench_machine *before, const abench_machine *after, abench__found *found);
    const char *why; /* NULL: that of the doctor's check of the same name */
} change;

static void look_steal(const abench_machine *before, const abench_machine *after,
                       abench__found *found)
{
    uint64_t steal, total, counted;

    if (!abench__grew(before->steal_ticks, after->steal_ticks, &steal) ||
        !abench__grew(before->cpu_total_ticks, after->cpu_total_ticks, &total))
        return;
    counted = abench__steal_that_counts(steal);
    if (!abench__exceeds(counted, total, STEAL_WARN_PERCENT))
        return;
    abench__put_percent(&found->value, steal, total);
    abench__text_put(&found->value, " of the CPU time was stolen");
    abench__found_judge(found,
                        abench__exceeds(counted, total, STEAL_REFUSE_PERCENT)
                            ? ABENCH_VERDICT_REFUSE
                            : ABENCH_VERDICT_WARN,
                        "Measure this again, at a time when the host has fewer guests to serve.");
}

/* A counter that should stand still; one, many: what to say behind its number. */
static void look_counter(uint64_t before, uint64_t after, const char *one, const char *many,
                         uint32_t verdict, const char *advice, abench__found *found)
{
    uint64_t by;

    if (!abench__grew(before, after, &by) || by == 0)
        return;
    abench__text_put_u64(&found->value, by);
    abench__text_put(&found->value, by == 1 ? one : many);
    abench__found_judge(found, verdict, advice);
}

static void look_swap(const abench_machine *before, const abench_machine *after,
                      abench__found *found)
{
    const int is_much = after->swapped_pages > before->swapped_pages &&
                        after->swapped_pages - before->swapped_pages > SWAP_REFUSE_PAGES;

    look_counter(before->swapped_pages, after->swapped_pages,
                 " page was swapped, somewhere on this machine",
                 " pages were swapped, somewhere on this machine",
                 is_much ? ABENCH_VERDICT_REFUSE : ABENCH_VERDICT_WARN,
                 "Free memory, or switch swap off (swapoff -a), and measure this again.", found);
}

static void look_throttled(const abench_machine *before, const abench_machine *after,
                           abench__found *found)
{
    look_counter(before->throttles, after->throttles, " time the quota was used up",
                 " times the quota was used up", ABENCH_VERDICT_REFUSE,
                 "Raise the group's CPU quota, or run fewer threads than it pays for.", found);
}

static void look_memory_pressure(const abench_machine *before, const abench_machine *after,
                                 abench__found *found)
{
    uint64_t stalled_us, wall_ns;

    if (!abench__grew(before->memory_some_us, after->memory_some_us, &stalled_us) ||
        !abench__grew(before->time_ns, after->time_ns, &wall_ns) ||
        !abench__exceeds(stalled_us, wall_ns / 1000, PRESSURE_REFUSE_PERCENT))
        return;
    abench__text_put(&found->value, "tasks waited for memory ");
    abench__put_percent(&found->value, stalled_us, wall_ns / 1000);
    abench__text_put(&found->value, " of the time");
    abench__found_judge(found, ABENCH_VERDICT_REFUSE,
                        "Use a smaller workload, or a machine, or a group's limit, with more "
                        "memory.");
}

static void look_oom(const abench_machine *before, const abench_machine *after,
                     abench__found *found)
{
    look_counter(before->oom_kills, after->oom_kills, " process was killed for lack of memory",
                 " processes were killed for lack of memory", ABENCH_VERDICT_REFUSE,
                 "See in the kernel's log which; use a smaller workload or more memory.", found);
}

#define CHANGED_ADVICE                                                                             \
    "Something on this machine changed it meanwhile: stop that, and measure this again."

static void look_word(const char *before, const char *after, abench__found *found)
{
    if (strcmp(before, after) == 0)
        return;
    abench__text_put(&found->value, "from ");
    abench__put_foreign(&found->value, before, 32);
    abench__text_put(&found->value, " to ");
    abench__put_foreign(&found->value, after, 32);
    abench__found_judge(found, ABENCH_VERDICT_REFUSE, CHANGED_ADVICE);
}

static void look_thp(const abench_machine *before, const abench_machine *after,
                     abench__found *found)
{
    look_word(before->thp, after->thp, found);
}

static void look_governor(const abench_machine *before, const abench_machine *after,
                          abench__found *found)
{
    look_word(before->governor, after->governor, found);
}

static void look_cpus(const abench_machine *before, const abench_machine *after,
                      abench__found *found)
{
    if (before->cpus_online == after->cpus_online && before->cpus_allowed == after->cpus_allowed)
        return;
    abench__text_printf(&found->value, "from %u online, %u allowed to %u, %u", before->cpus_online,
                        before->cpus_allowed, after->cpus_online, after->cpus_allowed);
    abench__found_judge(found, ABENCH_VERDICT_REFUSE, CHANGED_ADVICE);
}

static void put_limit(abench__text *text, uint64_t bytes)
{
    if (bytes == 0)
        abench__text_put(text, "none");
    else
        abench__put_bytes(text, bytes);
}

static void look_memory_limit(const abench_machine *before, const abench_machine *after,
                              abench__found *found)
{
    if (before->memory_limit_bytes == after->memory_limit_bytes)
        return;
    abench__text_put(&found->value, "from ");
    put_limit(&found->value, before->memory_limit_bytes);
    abench__text_put(&found->value, " to ");
    put_limit(&found->value, after->memory_limit_bytes);
    abench__found_judge(found, ABENCH_VERDICT_REFUSE, CHANGED_ADVICE);
}

/* Never refused: a few milliseconds of spinning may have met a neighbour. */
static void look_speed(const abench_machine *before, const abench_machine *after,
                       abench__found *found)
{
    const int slower = after->spin_ns > before->spin_ns;
    const uint64_t fast = slower ? before->spin_ns : after->spin_ns;
    const uint64_t slow = slower ? after->spin_ns : before->spin_ns;

    if (fast == 0 || !abench__exceeds(slow - fast, fast, SPEED_WARN_PERCENT))
        return;
    abench__text_put(&found->value, "the CPU was ");
    abench__put_percent(&found->value, slow - fast, fast);
    abench__text_put(&found->value, slower ? " slower afterwards" : " slower before");
    abench__found_judge(found, ABENCH_VERDICT_WARN,
                        "Compare within rounds only; let the machine warm up, fix its clock rate, "
                        "or move to a quieter one.");
}

static const change changes[] = {
    {"steal", ABENCH_MACHINE_CPU, 0, look_steal, NULL},
    {"swap", ABENCH_MACHINE_SWAP, 0, look_swap, NULL},
    {"throttled", ABENCH_MACHINE_THROTTLED, 0, look_throttled,
     "A group that has used up its CPU quota stands still for the rest of the period: time and "
     "tail "
     "latency show that, not the allocator."},
    {"memory-pressure", ABENCH_MACHINE_PRESSURE, 0, look_memory_pressure,
     "When memory is short the kernel takes pages away and makes tasks wait for it: RSS falls and "
     "time grows for reasons that are not the allocator's."},
    {"oom", ABENCH_MACHINE_OOM, 0, look_oom,
     "When the kernel kills for lack of memory, pages were taken from everybody before, and one of "
     "the processes may have been of this measurement."},
    {"thp", ABENCH_MACHINE_THP, 1, look_thp, NULL},
    {"cpus", ABENCH_MACHINE_CPUS, 1, look_cpus, NULL},
    {"governor", ABENCH_MACHINE_GOVERNOR, 0, look_governor, NULL},
    {"memory-limit", ABENCH_MACHINE_MEMORY_LIMIT, 0, look_memory_limit,
     "The limit decides when the kernel begins to take pages away, and some allocators size their "
     "caches by it."},
    {"speed", ABENCH_MACHINE_SPIN, 0, look_speed, NULL},
};

/* The finding of a change; its verdict is ok when it did not happen. */
static void find(const change *c, const abench_machine *before, const abench_machine *after,
                 abench_finding *finding)
{
    abench__found found = {.verdict = ABENCH_VERDICT_OK};

    abench_finding_init(finding);
    abench__text_init(&found.value, finding->value, sizeof finding->value);
    abench__text_init(&found.advice, finding->advice, sizeof finding->advice);
    if ((before->valid & after->valid & c->needs) != c->needs)
        return;
    c->look(before, after, &found);
    finding->verdict = found.verdict;
    finding->is_key = c->is_key;
    abench__copy(finding->name, sizeof finding->name, c->name);
    abench__copy(finding->why, sizeof finding->why,
                 c->why != NULL ? c->why : abench__check_why(c->name));
}

/* Of a caller's struct, which may be an older, smaller one, or not end its words. */
static int take_copy(const abench_machine *from, abench_machine *copy)
{
    abench_machine_init(copy);
    if (abench__options_read(copy, sizeof *copy, from, MACHINE_FIRST_RELEASE) != ABENCH_OK)
        return 0;
    copy->thp[sizeof copy->thp - 1] = '\0';
    copy->governor[sizeof copy->governor - 1] = '\0';
    return 1;
}

abench_status abench_machine_changes(const abench_machine *before, const abench_machine *after,
                                     int32_t (*visit)(const abench_finding *finding, void *user),
                                     void *user)
{
    abench_machine first, second;

    if (before == NULL || after == NULL || visit == NULL)
        return ABENCH_ERROR_ARGUMENT;
    if (!take_copy(before, &first) || !take_copy(after, &second))
        return ABENCH_ERROR_ARGUMENT;
    for (uint32_t verdict = ABENCH_VERDICT_WARN; verdict <= ABENCH_VERDICT_REFUSE; verdict++) {
        for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
            abench_finding finding;
            int32_t stop;
            find(&changes[i], &first, &second, &finding);
            if (finding.verdict != verdict)
                continue;
            stop = visit(&finding, user);
            if (stop != 0)
                return stop;
        }
    }
    return ABENCH_OK;
}
