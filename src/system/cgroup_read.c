/* cgroup_read.c - the public calls about control groups. */
#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "system/cgroup.h"

#define FIRST_RELEASE                                                                              \
    ((uint32_t)(offsetof(abench_cgroup, cpu_path) + sizeof((abench_cgroup *)0)->cpu_path))
#define FIELD_FIRST_RELEASE ((uint32_t)(offsetof(abench_memory_field, unit) + sizeof(const char *)))

/* In the order of abench_cgroup. */
static const struct {
    uint64_t bit;
    uint32_t offset;
    const char *name;
    const char *unit;
} fields[] = {
#define FIELD(bit, name, unit)                                                                     \
    {                                                                                              \
        ABENCH_CGROUP_##bit, (uint32_t)offsetof(abench_cgroup, name), #name, unit                  \
    }
    FIELD(CURRENT, current_bytes, "bytes"), FIELD(PEAK, peak_bytes, "bytes"),
    FIELD(LIMIT, limit_bytes, "bytes"),     FIELD(HIGH, high_bytes, "bytes"),
    FIELD(SWAP, swap_bytes, "bytes"),       FIELD(ANON, anon_bytes, "bytes"),
    FIELD(FILE, file_bytes, "bytes"),       FIELD(LIMIT_HITS, limit_hits, "count"),
    FIELD(HIGH_HITS, high_hits, "count"),   FIELD(OOM, oom_events, "count"),
    FIELD(OOM_KILLS, oom_kills, "count"),   FIELD(CPU_QUOTA, cpu_quota_us, "us"),
    FIELD(CPU_PERIOD, cpu_period_us, "us"), FIELD(THROTTLES, throttles, "count"),
    FIELD(THROTTLED, throttled_ns, "ns"),
};

void abench_cgroup_init(abench_cgroup *cgroup)
{
    memset(cgroup, 0, sizeof *cgroup);
    cgroup->struct_size = sizeof *cgroup;
}

abench_status abench_cgroup_field_at(uint32_t index, abench_memory_field *out)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;

    if (index >= sizeof fields / sizeof fields[0])
        return ABENCH_ERROR_NOT_FOUND;
    field.bit = fields[index].bit;
    field.offset = fields[index].offset;
    field.name = fields[index].name;
    field.unit = fields[index].unit;
    return abench__options_write(out, &field, sizeof field, FIELD_FIRST_RELEASE);
}

abench_status abench_cgroup_read(int32_t pid, abench_cgroup *out)
{
    const uint64_t begun_ns = abench_clock_ns();
    abench_cgroup cgroup;
    abench_status status;
    char process[16];

    if (pid < 0)
        return ABENCH_ERROR_ARGUMENT;
    abench__process_name(pid, process);
    status = abench__cgroup_take("", process, &cgroup);
    if (status != ABENCH_OK)
        return status;
    cgroup.time_ns = begun_ns;
    cgroup.cost_ns = abench_clock_ns() - begun_ns;
    return abench__options_write(out, &cgroup, sizeof cgroup, FIRST_RELEASE);
}
