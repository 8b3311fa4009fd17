/* findings_time.c - who else takes CPU time, and makes what is timed wait. */
#include "machine/check.h"
#include "system/pressure.h"
#include "system/rooted.h"

#define STEAL_WARN_PERCENT    1u
#define STEAL_REFUSE_PERCENT  5u
#define WAIT_WARN_PERCENT     1u
#define MEMORY_REFUSE_PERCENT 1u
#define PRESSURE_WARN_PERCENT 10u /* waits for CPUs and disks come and go: much of them counts */
#define SPEED_WARN_PERCENT    3u

/* Of the window; of a recorded machine, which has none, since its boot. */
static void look_steal(const abench__look *look, abench__found *found)
{
    uint64_t steal = look->after.steal_ticks, total = look->after.cpu_total_ticks;
    uint64_t counted = steal;

    if ((look->before.valid & look->after.valid & ABENCH_MACHINE_CPU) == 0) {
        abench__found_unread(found, -1);
        return;
    }
    if (look->live) {
        if (!abench__grew(look->before.steal_ticks, steal, &steal) ||
            !abench__grew(look->before.cpu_total_ticks, total, &total)) {
            abench__found_unread(found, -1);
            return;
        }
        counted = abench__steal_that_counts(steal);
    }
    abench__put_percent(&found->value, steal, total);
    abench__text_put(&found->value, " of the CPU time");
    if (look->live) {
        abench__text_put(&found->value, " now, ");
        abench__put_percent(&found->value, look->after.steal_ticks, look->after.cpu_total_ticks);
    }
    abench__text_put(&found->value, " since boot");
    if (abench__exceeds(counted, total, STEAL_REFUSE_PERCENT))
        abench__found_judge(
            found, ABENCH_VERDICT_REFUSE,
            "Wait until the host has fewer guests to serve, or use another machine.");
    else if (abench__exceeds(counted, total, STEAL_WARN_PERCENT))
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Measure time in lockstep (the default) and use more rounds, or a "
                            "quieter machine.");
}

static void look_run_wait(const abench__look *look, abench__found *found)
{
    uint64_t window_ns;

    if (!look->has_waited || !abench__grew(look->before.time_ns, look->after.time_ns, &window_ns)) {
        abench__found_unread(found, -1);
        return;
    }
    abench__put_percent(&found->value, look->waited_ns, window_ns);
    abench__text_put(&found->value, " of the time this thread could run and had no CPU");
    if (abench__exceeds(look->waited_ns, window_ns, WAIT_WARN_PERCENT))
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Stop what else runs here, or give the measurement CPUs of its own "
                            "(cpus=, taskset, cpuset).");
}

static void look_load(const abench__look *look, abench__found *found)
{
    if ((look->after.valid & ABENCH_MACHINE_LOAD) == 0) {
        abench__found_unread(found, -1);
        return;
    }
    abench__text_printf(&found->value, "%llu %s run or could", (unsigned long long)look->runnable,
                        look->runnable == 1 ? "task" : "tasks");
    if ((look->after.valid & ABENCH_MACHINE_CPUS) == 0) {
        found->verdict = ABENCH_VERDICT_UNKNOWN;
        return;
    }
    abench__text_printf(&found->value, ", %u %s", look->after.cpus_online,
                        look->after.cpus_online == 1 ? "CPU" : "CPUs");
    if (look->runnable > look->after.cpus_online)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Stop what else runs on this machine before anything is timed.");
}

/* Of the window; of a recorded machine the kernel's own average over ten seconds. */
static void look_pressure(const abench__look *look, const char *path, uint64_t before_us,
                          uint64_t after_us, uint32_t percent, uint32_t verdict, const char *advice,
                          abench__found *found)
{
    char text[512];
    uint64_t values[ABENCH__PRESSURE_FIELDS];
    uint64_t part, whole;

    if (look->live) {
        if ((look->before.valid & look->after.valid & ABENCH_MACHINE_PRESSURE) == 0 ||
            !abench__grew(before_us, after_us, &part) ||
            !abench__grew(look->before.time_ns, look->after.time_ns, &whole)) {
            const ssize_t length = abench__rooted_read(look->root, path, text, sizeof text);
            abench__found_unread(found, length < 0 ? (int)length : -1);
            return;
        }
        whole /= 1000;
    } else {
        const ssize_t length = abench__rooted_read(look->root, path, text, sizeof text);
        if (length <= 0 || (abench__parse_pressure(text, (size_t)length, values) &
                            1u << ABENCH__PRESSURE_SOME_AVG10) == 0) {
            abench__found_unread(found, length < 0 ? (int)length : -1);
            return;
        }
        part = values[ABENCH__PRESSURE_SOME_AVG10];
        whole = 10000;
    }
    abench__put_percent(&found->value, part, whole);
    abench__text_put(&found->value, " of the time some task waited");
    if (abench__exceeds(part, whole, percent))
        abench__found_judge(found, verdict, advice);
}

static void look_pressure_cpu(const abench__look *look, abench__found *found)
{
    look_pressure(look, "/proc/pressure/cpu", look->before.cpu_some_us, look->after.cpu_some_us,
                  PRESSURE_WARN_PERCENT, ABENCH_VERDICT_WARN,
                  "Stop what else runs on this machine, or use fewer lanes than CPUs.", found);
}

static void look_pressure_memory(const abench__look *look, abench__found *found)
{
    look_pressure(look, "/proc/pressure/memory", look->before.memory_some_us,
                  look->after.memory_some_us, MEMORY_REFUSE_PERCENT, ABENCH_VERDICT_REFUSE,
                  "Free memory first: stop what uses it, or use a smaller workload.", found);
}

static void look_pressure_io(const abench__look *look, abench__found *found)
{
    look_pressure(look, "/proc/pressure/io", look->before.io_some_us, look->after.io_some_us,
                  PRESSURE_WARN_PERCENT, ABENCH_VERDICT_WARN,
                  "Wait until backups, builds and the like are done.", found);
}

static void look_speed(const abench__look *look, abench__found *found)
{
    const uint64_t apart = look->slowest_ns - look->fastest_ns;

    if (look->fastest_ns == 0) {
        abench__found_unread(found, -1);
        return;
    }
    abench__text_put(&found->value, "the same work took up to ");
    abench__put_percent(&found->value, apart, look->fastest_ns);
    abench__text_put(&found->value, " longer within the window");
    if (abench__exceeds(apart, look->fastest_ns, SPEED_WARN_PERCENT))
        abench__found_judge(
            found, ABENCH_VERDICT_WARN,
            "Compare within rounds only, as allocbench run does; fix the clock rate "
            "(governor, turbo), or use a quieter machine.");
}

static const abench__check checks[] = {
    {"steal", 0, 0, look_steal,
     "What the hypervisor gives to its other guests stretches every timing, and by chance more of "
     "one allocator's than of another's."},
    {"run-wait", 0, 1, look_run_wait,
     "A thread that waits for a CPU does nothing while the clock runs; with a lock of its "
     "allocator "
     "held it makes the others wait too."},
    {"load", 0, 0, look_load,
     "When more tasks want to run than there are CPUs, wall times and tails show the scheduler "
     "rather than the allocator."},
    {"pressure-cpu", 0, 0, look_pressure_cpu,
     "The kernel's own count of how long tasks waited for a CPU: those times are in what is "
     "timed."},
    {"pressure-memory", 0, 0, look_pressure_memory,
     "When memory is short the kernel takes pages away and makes tasks wait for it: RSS falls and "
     "time grows for reasons that are not the allocator's."},
    {"pressure-io", 0, 0, look_pressure_io,
     "Waits for disks come with page cache that grows and is dropped: page faults and first "
     "touches take longer meanwhile."},
    {"speed", 0, 1, look_speed,
     "A CPU that changes its speed, or shares its core, makes what runs first look better or worse "
     "than what runs second."},
};

const abench__checks abench__checks_time = {checks, sizeof checks / sizeof checks[0]};
