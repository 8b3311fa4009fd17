/* machine.c - the machine's counters at one time. */
#include <string.h>

#include <allocbench/memory.h>

#include "base/options.h"
#include "machine/check.h"
#include "machine/spin.h"
#include "system/cgroup.h"
#include "system/host.h"
#include "system/pressure.h"
#include "system/rooted.h"
#include "system/scan.h"
#include "system/stat.h"

#define FIRST_RELEASE                                                                              \
    ((uint32_t)(offsetof(abench_machine, governor) + sizeof((abench_machine *)0)->governor))

void abench_machine_init(abench_machine *machine)
{
    memset(machine, 0, sizeof *machine);
    machine->struct_size = sizeof *machine;
}

static void take_ticks(const char *root, abench_machine *machine)
{
    char text[1024]; /* its first line */
    uint64_t values[ABENCH__TICKS_FIELDS];
    const ssize_t length = abench__rooted_read(root, "/proc/stat", text, sizeof text);

    if (length <= 0 || abench__parse_ticks(text, (size_t)length, values) == 0)
        return;
    machine->cpu_total_ticks = values[ABENCH__TICKS_TOTAL];
    machine->cpu_idle_ticks = values[ABENCH__TICKS_IDLE];
    machine->steal_ticks = values[ABENCH__TICKS_STEAL];
    machine->valid |= ABENCH_MACHINE_CPU;
}

static void take_load(const char *root, abench_machine *machine)
{
    char text[128];
    uint64_t values[ABENCH__LOAD_FIELDS];
    const ssize_t length = abench__rooted_read(root, "/proc/loadavg", text, sizeof text);

    if (length <= 0 || abench__parse_load(text, (size_t)length, values) == 0)
        return;
    machine->runnable = values[ABENCH__LOAD_RUNNABLE];
    machine->valid |= ABENCH_MACHINE_LOAD;
}

static void take_pressure(const char *root, abench_machine *machine)
{
    const uint64_t all =
        ABENCH_PRESSURE_CPU_SOME | ABENCH_PRESSURE_MEMORY_SOME | ABENCH_PRESSURE_IO_SOME;
    abench_pressure pressure;

    abench__pressure_take(root, NULL, &pressure);
    if ((pressure.valid & all) != all)
        return;
    machine->cpu_some_us = pressure.cpu_some_us;
    machine->memory_some_us = pressure.memory_some_us;
    machine->io_some_us = pressure.io_some_us;
    machine->valid |= ABENCH_MACHINE_PRESSURE;
}

static void take_vmstat(const char *root, abench_machine *machine)
{
    char text[ABENCH__VMSTAT_TEXT];
    uint64_t values[ABENCH__VMSTAT_FIELDS];
    const ssize_t length = abench__rooted_read(root, "/proc/vmstat", text, sizeof text);
    const uint32_t swap = 1u << ABENCH__VMSTAT_SWAPPED_IN | 1u << ABENCH__VMSTAT_SWAPPED_OUT;
    uint32_t mask;

    if (length <= 0)
        return;
    mask = abench__parse_vmstat(text, (size_t)length, values);
    if ((mask & swap) == swap &&
        !__builtin_add_overflow(values[ABENCH__VMSTAT_SWAPPED_IN],
                                values[ABENCH__VMSTAT_SWAPPED_OUT], &machine->swapped_pages))
        machine->valid |= ABENCH_MACHINE_SWAP;
    else
        machine->swapped_pages = 0;
    if ((mask & 1u << ABENCH__VMSTAT_OOM_KILLS) != 0) {
        machine->oom_kills = values[ABENCH__VMSTAT_OOM_KILLS];
        machine->valid |= ABENCH_MACHINE_OOM;
    }
}

/* That there is no group, or no limit, is known too; that the groups cannot be read is not. */
static void take_groups(const char *root, abench_machine *machine)
{
    abench_cgroup cgroup;

    if (abench__cgroup_take(root, "self", &cgroup) != ABENCH_OK)
        return;
    machine->memory_limit_bytes = cgroup.limit_bytes;
    machine->valid |= ABENCH_MACHINE_MEMORY_LIMIT;
    if ((cgroup.valid & ABENCH_CGROUP_THROTTLES) != 0) {
        machine->throttles = cgroup.throttles;
        machine->valid |= ABENCH_MACHINE_THROTTLED;
    }
}

/* Of a recorded machine by the files that tell the same. */
static void take_recorded_cpus(const char *root, abench_machine *machine)
{
    char text[4096];
    const char *rest, *end;
    uint64_t online, allowed;
    ssize_t length = abench__rooted_read(root, "/sys/devices/system/cpu/online", text, sizeof text);

    if (length <= 0 || !abench__scan_list(text, (size_t)length, &online))
        return;
    length = abench__rooted_read(root, "/proc/self/status", text, sizeof text);
    if (length <= 0 ||
        !abench__scan_keyed(text, (size_t)length, "Cpus_allowed_list:", &rest, &end) ||
        !abench__scan_list(rest, (size_t)(end + 1 - rest), &allowed))
        return;
    machine->cpus_online = (uint32_t)online; /* a list names fewer than 2^32 */
    machine->cpus_allowed = (uint32_t)allowed;
}

static void take_cpus(const char *root, uint32_t live, abench_machine *machine)
{
    if (live) {
        machine->cpus_online = abench__cpus_online();
        machine->cpus_allowed = abench__cpus_allowed();
    } else {
        take_recorded_cpus(root, machine);
    }
    if (machine->cpus_online != 0 && machine->cpus_allowed != 0)
        machine->valid |= ABENCH_MACHINE_CPUS;
}

void abench__machine_take(const char *root, uint32_t live, uint32_t spin, abench_machine *machine)
{
    abench_machine_init(machine);
    machine->time_ns = abench_clock_ns();
    take_ticks(root, machine);
    take_load(root, machine);
    take_pressure(root, machine);
    take_vmstat(root, machine);
    take_groups(root, machine);
    take_cpus(root, live, machine);
    if (abench__rooted_choice(root, "/sys/kernel/mm/transparent_hugepage/enabled", machine->thp,
                              sizeof machine->thp) == 0)
        machine->valid |= ABENCH_MACHINE_THP;
    if (abench__rooted_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                            machine->governor, sizeof machine->governor) == 0)
        machine->valid |= ABENCH_MACHINE_GOVERNOR;
    if (spin) {
        machine->spin_ns = abench__spin_ns();
        machine->valid |= ABENCH_MACHINE_SPIN;
    }
}

abench_status abench_machine_read(int32_t spin, abench_machine *out)
{
    abench_machine machine;

    abench__machine_take("", 1, spin != 0, &machine);
    return abench__options_write(out, &machine, sizeof machine, FIRST_RELEASE);
}
