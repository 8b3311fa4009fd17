/* findings_cpu.c - what the CPUs are, how fast they are allowed to be, and what tells the time. */
#include <errno.h>
#include <string.h>

#include "machine/check.h"
#include "system/host.h"
#include "system/rooted.h"
#include "system/scan.h"
#include "system/stat.h"

#define CPU_FOLDER   "/sys/devices/system/cpu/"
#define CPUS_ASKED   256u  /* for their governors */
#define CPUINFO_TEXT 8192u /* the first CPU's part, with its flags */

/* arm64 has numbers only, "CPU part<tab>: 0xd40". 0: it has not even those. */
static int put_number_of(const char *text, size_t length, const char *key, abench__text *value)
{
    const char *rest, *end;
    char number[16];

    if (!abench__scan_keyed(text, length, key, &rest, &end) || rest == end || *rest++ != ':')
        return 0;
    abench__parse_first_line(rest, (size_t)(end - rest), number, sizeof number);
    abench__put_foreign(value, number, sizeof number);
    return number[0] != '\0';
}

static void look_cpu(const abench__look *look, abench__found *found)
{
    char text[CPUINFO_TEXT], model[72];
    const ssize_t length = abench__rooted_read(look->root, "/proc/cpuinfo", text, sizeof text);

    if (length <= 0) {
        abench__found_unread(found, (int)length);
        return;
    }
    abench__parse_cpu_model(text, (size_t)length, model, sizeof model);
    if (model[0] != '\0') {
        abench__put_foreign(&found->value, model, 100);
        return;
    }
    if (put_number_of(text, (size_t)length, "CPU implementer", &found->value)) {
        abench__text_put(&found->value, " (implementer), part ");
        if (put_number_of(text, (size_t)length, "CPU part", &found->value))
            return;
    }
    abench__text_init(&found->value, found->value.data, found->value.capacity);
    abench__found_unread(found, -1);
}

/* x86 calls its counters cpu, or where cores differ cpu_core and cpu_atom; arm64 armv8_pmuv3 and
 * the like, or apple_... */
static void look_for_counters(const char *name, void *user)
{
    static const char *const begins[] = {"cpu", "armv", "apple_"};
    int *has_counters = user;

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        *has_counters |= strncmp(name, begins[i], strlen(begins[i])) == 0;
}

/* Only x86 has a flag of its CPUs that tells: elsewhere a machine without it may be a guest too. */
static void look_virtual(const abench__look *look, abench__found *found)
{
    char text[CPUINFO_TEXT], type[64];
    const ssize_t length = abench__rooted_read(look->root, "/proc/cpuinfo", text, sizeof text);
    int flag, error, has_counters = 0;

    if (length <= 0) {
        abench__found_unread(found, (int)length);
        return;
    }
    flag = abench__parse_cpu_flag(text, (size_t)length, "hypervisor");
    if (abench__rooted_line(look->root, "/sys/hypervisor/type", type, sizeof type) == 0) {
        abench__text_put(&found->value, "a guest of ");
        abench__put_foreign(&found->value, type, 32);
    } else if (flag < 0) {
        abench__found_unread(found, -1);
        return;
    } else {
        abench__text_put(&found->value, flag ? "a virtual machine" : "no");
    }
    error = abench__rooted_names(look->root, "/sys/bus/event_source/devices", look_for_counters,
                                 &has_counters);
    if ((error == 0 || error == -ENOENT) && !has_counters)
        abench__text_put(&found->value, "; without hardware counters");
}

/* The first CPU that has a governor other than that of the first; 0: none. */
static uint32_t other_governor(const char *root, const char *first, uint32_t cpus, char *other,
                               uint32_t size)
{
    for (uint32_t cpu = 1; cpu < cpus && cpu < CPUS_ASKED; cpu++) {
        char path[96];
        abench__text text;
        abench__text_init(&text, path, sizeof path);
        abench__text_printf(&text, CPU_FOLDER "cpu%u/cpufreq/scaling_governor", cpu);
        if (abench__rooted_line(root, path, other, size) == 0 && strcmp(first, other) != 0)
            return cpu;
    }
    return 0;
}

static void look_governor(const abench__look *look, abench__found *found)
{
    char other[24];
    uint32_t cpu;

    if ((look->after.valid & ABENCH_MACHINE_GOVERNOR) == 0) {
        abench__text_put(&found->value, "none to be seen, as in most virtual machines");
        found->verdict = ABENCH_VERDICT_UNKNOWN;
        return;
    }
    abench__put_foreign(&found->value, look->after.governor, 24);
    cpu = other_governor(look->root, look->after.governor, look->after.cpus_online, other,
                         sizeof other);
    if (cpu != 0) {
        abench__text_put(&found->value, ", but ");
        abench__put_foreign(&found->value, other, 24);
        abench__text_printf(&found->value, " on CPU %u", cpu);
    }
    if (cpu != 0 || strcmp(look->after.governor, "performance") != 0)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Set it to performance on all CPUs while you measure: cpupower "
                            "frequency-set -g performance");
}

/* Intel's driver tells whether it is off, the others whether it is on. */
static void look_turbo(const abench__look *look, abench__found *found)
{
    uint64_t off, boost;
    int on;

    if (abench__rooted_number(look->root, CPU_FOLDER "intel_pstate/no_turbo", &off) == 0) {
        on = off == 0;
    } else if (abench__rooted_number(look->root, CPU_FOLDER "cpufreq/boost", &boost) == 0) {
        on = boost != 0;
    } else {
        abench__text_put(&found->value, "cannot be seen, as in most virtual machines");
        found->verdict = ABENCH_VERDICT_UNKNOWN;
        return;
    }
    abench__text_put(&found->value, on ? "on" : "off");
    if (on)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Switch it off while you measure: write 1 to intel_pstate/no_turbo, or "
                            "0 to cpufreq/boost, below " CPU_FOLDER);
}

static void look_smt(const abench__look *look, abench__found *found)
{
    char active[8];
    const int error =
        abench__rooted_line(look->root, CPU_FOLDER "smt/active", active, sizeof active);

    if (error != 0) {
        abench__found_unread(found, error);
        return;
    }
    abench__text_put(&found->value, strcmp(active, "1") == 0 ? "on" : "off");
    if (strcmp(active, "1") == 0)
        abench__found_judge(
            found, ABENCH_VERDICT_WARN,
            "Use one CPU of each core (cpus=), or switch it off: write off to " CPU_FOLDER
            "smt/control");
}

/* Those that the kernel lets a program read without a system call. */
static void look_clocksource(const abench__look *look, abench__found *found)
{
    static const char *const fast[] = {"tsc",
                                       "kvm-clock",
                                       "hyperv_clocksource_tsc_page",
                                       "arch_sys_counter",
                                       "timebase",
                                       "riscv_clocksource",
                                       "tod"};
    char name[40];
    const int error = abench__rooted_line(
        look->root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
        sizeof name);

    if (error != 0) {
        abench__found_unread(found, error);
        return;
    }
    abench__put_foreign(&found->value, name, sizeof name);
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
        if (strcmp(name, fast[i]) == 0)
            return;
    abench__found_judge(
        found, ABENCH_VERDICT_WARN,
        "Look in the kernel's log why it did not take the CPU's own counter; sample "
        "latency rarely.");
}

static const abench__check checks[] = {
    {"cpu", 1, 0, look_cpu,
     "Caches, page walks and atomic operations cost differently on another model: rankings move "
     "with it."},
    {"governor", 0, 0, look_governor,
     "Most governors lower the clock of a CPU that is not busy: what waits more, or comes first, "
     "is slower for that reason alone."},
    {"turbo", 0, 0, look_turbo,
     "The clock then depends on how many cores are busy and how warm they are, which changes "
     "between runs and with the number of lanes."},
    {"smt", 0, 0, look_smt,
     "Two CPUs of one core share its caches and units: a lane is slower when its twin is busy."},
    {"clocksource", 0, 0, look_clocksource,
     "A clock that needs a system call to be read takes as long as ten to a hundred mallocs: "
     "latency samples then show the clock."},
    {"virtual", 0, 0, look_virtual,
     "Page faults and huge pages cost more under a hypervisor, neighbours are not seen, and "
     "instructions and cache misses often cannot be counted."},
};

const abench__checks abench__checks_cpu = {checks, sizeof checks / sizeof checks[0]};
