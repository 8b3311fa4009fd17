#include "sampler/pace.h"

#define ROLLUP_DUTY 1000u /* one part in so many */

uint32_t abench__pace_tiers(const abench__pace *pace)
{
    return pace->rollup_period_ns == 0 ? pace->tiers : pace->tiers | ABENCH_TIER_ROLLUP;
}

uint64_t abench__pace_wait_ns(const abench__pace *pace, uint64_t system_ns)
{
    const uint64_t now_ns = abench__timeline_time(&pace->timeline, system_ns);

    return now_ns >= pace->timeline.due_ns ? 0 : pace->timeline.due_ns - now_ns;
}

uint64_t abench__rollup_due(uint64_t begun_ns, uint64_t cost_ns, uint64_t period_ns)
{
    const uint64_t least_ns = cost_ns * ROLLUP_DUTY;

    return begun_ns + (period_ns > least_ns ? period_ns : least_ns);
}

abench_status abench__pace_read(abench__pace *pace)
{
    /* Its time is taken before it begins: the clock may be stopped while it is under way. */
    const uint64_t time_ns = abench__timeline_time(&pace->timeline, abench_clock_ns());
    const int dear = pace->rollup_period_ns != 0 && time_ns >= pace->rollup_due_ns;
    abench_memory memory;
    abench_status status;

    status =
        abench__reader_take(&pace->reader, dear ? abench__pace_tiers(pace) : pace->tiers, &memory);
    if (dear)
        pace->rollup_due_ns = abench__rollup_due(time_ns, memory.cost_ns, pace->rollup_period_ns);
    abench__timeline_keep(&pace->timeline, &memory, time_ns);
    return status;
}
