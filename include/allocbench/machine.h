/*
 * machine.h - what the machine is, whether it is fit for a comparison, and what it did meanwhile.
 *
 * Facts (abench_host) belong to a result. The doctor looks at all that is known to make a
 * comparison of allocators wrong, and says of each what it found, what that means here and what to
 * do. Counters (abench_machine), read before and after some work, tell whether the machine stayed
 * the same. All is read from the kernel's files, which are taken for hostile; nothing allocates.
 */
#ifndef ALLOCBENCH_MACHINE_H
#define ALLOCBENCH_MACHINE_H

#include <allocbench/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- facts ----------------------------------------------------------------------------------- */

/* Facts about the machine that belong to a result; "" or 0 when they cannot be read. */
typedef struct abench_host {
    uint32_t struct_size;
    uint32_t cpus_online;
    uint32_t cpus_allowed; /* by affinity */
    uint32_t page_bytes;
    uint64_t memory_bytes;
    uint64_t memory_limit_bytes; /* of the cgroup; 0: none */
    char kernel[72];             /* release */
    char machine[24];            /* x86_64 */
    char cpu[72];                /* model name */
    char libc[24];               /* glibc 2.36 */
    char thp[16];                /* the word in brackets of transparent_hugepage/enabled */
    char governor[24];
    char hostname[72];
} abench_host;

#define ABENCH_HOST_INIT                                                                           \
    {                                                                                              \
        sizeof(abench_host), 0, 0, 0, 0, 0, "", "", "", "", "", "", ""                             \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_host_init(abench_host *host);

/* Reads them. Allocates nothing. Any thread. */
ABENCH_API abench_status abench_host_read(abench_host *out);

/* ---- the doctor ------------------------------------------------------------------------------ */

#define ABENCH_VERDICT_OK      0u
#define ABENCH_VERDICT_UNKNOWN 1u /* cannot be read here: nothing speaks against it */
#define ABENCH_VERDICT_WARN    2u /* results may mislead: read what to do */
#define ABENCH_VERDICT_REFUSE  3u /* results would mislead */

/* "ok", "unknown", "warn", "refuse"; NULL beyond. Any thread. */
ABENCH_API const char *abench_verdict_name(uint32_t verdict);

/* One thing that was looked at. */
typedef struct abench_finding {
    uint32_t struct_size;
    uint32_t verdict; /* ABENCH_VERDICT_... */
    uint32_t is_key;  /* 1: results with another value do not compare */
    uint32_t reserved;
    char name[32];    /* "steal", "thp": the same everywhere */
    char value[200];  /* for a person: "1.2 % of the CPU time" */
    char why[256];    /* what it has to do with allocators; the same for every value */
    char advice[256]; /* what to do; "" when the verdict is ok */
} abench_finding;

#define ABENCH_FINDING_INIT                                                                        \
    {                                                                                              \
        sizeof(abench_finding), 0, 0, 0, "", "", "", ""                                            \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_finding_init(abench_finding *finding);

/* What was found at one look. */
typedef struct abench_doctor abench_doctor;

typedef struct abench_doctor_options {
    uint32_t struct_size;
    uint32_t window_ms; /* steal, waits and pressure are watched for so long; 0: 200 */
    const char *root;   /* a folder that stands for /, with proc/, sys/ and etc/ below it: recorded
                           machines, tests. NULL: this machine; else what only system calls tell is
                           left out, and in the window's place stand totals since boot and the
                           kernel's averages over ten seconds */
    const abench_memory_hooks *hooks;
} abench_doctor_options;

#define ABENCH_DOCTOR_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(abench_doctor_options), 0, 0, 0                                                     \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_doctor_options_init(abench_doctor_options *options);

/* Looks at the machine; options may be NULL. Blocks for the window, or for the some 50 ms of
 * calibrated spinning in it when that is longer. On failure *out is NULL. ABENCH_ERROR_ARGUMENT,
 * _MEMORY. Any thread. */
ABENCH_API abench_status abench_doctor_create(const abench_doctor_options *options,
                                              abench_doctor **out);
/* Finding index; ABENCH_ERROR_NOT_FOUND beyond the last. One thread per object. */
ABENCH_API abench_status abench_doctor_at(const abench_doctor *doctor, uint32_t index,
                                          abench_finding *out);
/* The worst verdict of all. One thread per object. */
ABENCH_API uint32_t abench_doctor_verdict(const abench_doctor *doctor);
/* accepts NULL. One thread per object. */
ABENCH_API void abench_doctor_destroy(abench_doctor *doctor);

/* ---- what it did meanwhile ------------------------------------------------------------------- */

#define ABENCH_MACHINE_CPU          0x001u /* cpu_total_ticks, cpu_idle_ticks, steal_ticks */
#define ABENCH_MACHINE_LOAD         0x002u /* runnable */
#define ABENCH_MACHINE_PRESSURE     0x004u /* ..._us */
#define ABENCH_MACHINE_THROTTLED    0x008u /* throttles */
#define ABENCH_MACHINE_SWAP         0x010u /* swapped_pages */
#define ABENCH_MACHINE_OOM          0x020u /* oom_kills */
#define ABENCH_MACHINE_CPUS         0x040u /* cpus_online, cpus_allowed */
#define ABENCH_MACHINE_THP          0x080u /* thp */
#define ABENCH_MACHINE_GOVERNOR     0x100u /* governor */
#define ABENCH_MACHINE_MEMORY_LIMIT 0x200u /* memory_limit_bytes; 0: none */
#define ABENCH_MACHINE_SPIN         0x400u /* spin_ns */

/* Counters of the machine at one time. Totals since boot, but where it says now. */
typedef struct abench_machine {
    uint32_t struct_size;
    uint32_t valid; /* ABENCH_MACHINE_... */
    uint64_t time_ns;
    uint64_t cpu_total_ticks; /* /proc/stat, all CPUs: user to steal */
    uint64_t cpu_idle_ticks;  /* idle and iowait */
    uint64_t steal_ticks;
    uint64_t runnable; /* now: tasks that run or could */
    uint64_t cpu_some_us;
    uint64_t memory_some_us;
    uint64_t io_some_us;
    uint64_t throttles;     /* of this process's cgroup and those above it */
    uint64_t swapped_pages; /* in and out */
    uint64_t oom_kills;
    uint64_t memory_limit_bytes; /* now */
    uint64_t spin_ns;            /* now: what a fixed integer loop takes, best of five */
    uint32_t cpus_online;        /* now */
    uint32_t cpus_allowed;       /* now */
    char thp[16];                /* now */
    char governor[24];           /* now */
} abench_machine;

#define ABENCH_MACHINE_INIT                                                                        \
    {                                                                                              \
        sizeof(abench_machine), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", ""             \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_machine_init(abench_machine *machine);

/* Reads them; spin: 1 to time the loop too (some 10 ms of CPU). Any thread. */
ABENCH_API abench_status abench_machine_read(int32_t spin, abench_machine *out);

/* Shows each thing that changed from before to after and matters to what ran between them, worst
 * last: names "steal", "swap", "throttled", "memory-pressure", "oom", "thp", "cpus", "governor",
 * "memory-limit", "speed". Nothing is shown when the machine stayed fit. A counter that is absent
 * from either, or went backwards, tells nothing. Returns what visit returned when that was not 0,
 * else ABENCH_OK; ABENCH_ERROR_ARGUMENT: a pointer is NULL. Any thread. */
ABENCH_API abench_status
abench_machine_changes(const abench_machine *before, const abench_machine *after,
                       int32_t (*visit)(const abench_finding *finding, void *user), void *user);

#ifdef __cplusplus
}
#endif
#endif
