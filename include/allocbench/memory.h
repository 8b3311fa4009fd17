/*
 * memory.h - what the kernel says about memory: of a process, a process tree, its mappings by
 * category, a control group, and how much tasks had to wait (pressure).
 *
 * A reading is made of tiers. Cheap ones: /proc/PID/statm (0.5 us), status and the faults (5 us).
 * The dear one, smaps_rollup, walks every page (5-14 ms a GB) and holds the process's mmap lock
 * for a whole mapping at a time: ask for it while the lanes stand. A field that could not be read
 * is absent - its bit in valid is not set -, never 0. A process that ends in mid-read is no error
 * of the others. One whose first thread has ended while others run is taken as ended: the kernel
 * shows no memory of it under its number. Nothing here allocates from malloc between create and
 * destroy, nor in the calls without an object.
 */
#ifndef ALLOCBENCH_MEMORY_H
#define ALLOCBENCH_MEMORY_H

#include <allocbench/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one process ----------------------------------------------------------------------------- */

/* Tiers, or-ed. */
#define ABENCH_TIER_STATM    1u  /* size, rss, shared */
#define ABENCH_TIER_STATUS   2u  /* rss by kind, hwm, swap, page tables, threads */
#define ABENCH_TIER_ROLLUP   4u  /* pss, private, lazyfree, huge pages, locked */
#define ABENCH_TIER_FAULTS   8u  /* minor and major faults */
#define ABENCH_TIER_SCHEDULE 16u /* context switches, run-queue wait: a file or two a thread */

/* Bits of abench_memory.valid, one a field. */
#define ABENCH_MEMORY_SIZE                 0x0001u
#define ABENCH_MEMORY_RSS                  0x0002u
#define ABENCH_MEMORY_SHARED               0x0004u
#define ABENCH_MEMORY_RSS_ANON             0x0008u
#define ABENCH_MEMORY_RSS_FILE             0x0010u
#define ABENCH_MEMORY_RSS_SHMEM            0x0020u
#define ABENCH_MEMORY_HWM                  0x0040u
#define ABENCH_MEMORY_SWAP                 0x0080u
#define ABENCH_MEMORY_PSS                  0x0100u
#define ABENCH_MEMORY_PRIVATE_CLEAN        0x0200u
#define ABENCH_MEMORY_PRIVATE_DIRTY        0x0400u
#define ABENCH_MEMORY_LAZYFREE             0x0800u
#define ABENCH_MEMORY_HUGE                 0x1000u
#define ABENCH_MEMORY_MINOR_FAULTS         0x2000u
#define ABENCH_MEMORY_MAJOR_FAULTS         0x4000u
#define ABENCH_MEMORY_PAGE_TABLES          0x8000u
#define ABENCH_MEMORY_THREADS              0x10000u
#define ABENCH_MEMORY_PSS_ANON             0x20000u
#define ABENCH_MEMORY_PSS_FILE             0x40000u
#define ABENCH_MEMORY_PSS_SHMEM            0x80000u
#define ABENCH_MEMORY_PSS_DIRTY            0x100000u
#define ABENCH_MEMORY_SWAP_PSS             0x200000u
#define ABENCH_MEMORY_LOCKED               0x400000u
#define ABENCH_MEMORY_USS                  0x800000u
#define ABENCH_MEMORY_ROLLUP_RSS           0x1000000u
#define ABENCH_MEMORY_VOLUNTARY_SWITCHES   0x2000000u
#define ABENCH_MEMORY_INVOLUNTARY_SWITCHES 0x4000000u
#define ABENCH_MEMORY_RUN_WAIT             0x8000000u

/* One reading. */
typedef struct abench_memory {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t valid;        /* ABENCH_MEMORY_... */
    uint64_t time_ns;      /* abench_clock_ns when it was begun; in a timeline: the run's clock */
    uint64_t cost_ns;      /* what this reading took */
    uint64_t size_bytes;   /* virtual */
    uint64_t rss_bytes;    /* statm; before Linux 6.2 up to 64 pages a thread off, before 6.16 up to
                              some 100 KB a CPU: rollup_rss_bytes of the same reading is exact */
    uint64_t shared_bytes; /* statm: file and shmem pages, not "shared with others" */
    uint64_t rss_anon_bytes;
    uint64_t rss_file_bytes;
    uint64_t rss_shmem_bytes;
    uint64_t hwm_bytes; /* VmHWM: the kernel's high-water mark of RSS */
    uint64_t swap_bytes;
    uint64_t pss_bytes; /* each page by the number of its users: sums over processes are right */
    uint64_t private_clean_bytes;
    uint64_t private_dirty_bytes;
    uint64_t lazyfree_bytes; /* MADV_FREEd: in RSS until the kernel wants them */
    uint64_t huge_bytes;     /* AnonHugePages */
    uint64_t minor_faults;   /* of the process, ended threads too */
    uint64_t major_faults;
    uint64_t page_tables_bytes; /* VmPTE: not in RSS */
    uint64_t threads;
    uint64_t pss_anon_bytes;
    uint64_t pss_file_bytes;
    uint64_t pss_shmem_bytes;
    uint64_t pss_dirty_bytes;
    uint64_t swap_pss_bytes;
    uint64_t locked_bytes;       /* by share, as PSS */
    uint64_t uss_bytes;          /* private clean and dirty: what its end would give back */
    uint64_t rollup_rss_bytes;   /* RSS at the time of PSS */
    uint64_t voluntary_switches; /* of this process: all its threads, ended ones too; of another: */
    uint64_t involuntary_switches; /* the threads that live */
    uint64_t run_wait_ns; /* threads that could run and waited for a CPU; those that live */
} abench_memory;

#define ABENCH_MEMORY_INIT                                                                         \
    {                                                                                              \
        sizeof(abench_memory), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                                           \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_memory_init(abench_memory *memory);

/* A field of a struct of readings, for tables and bindings. The strings are static. */
typedef struct abench_memory_field {
    uint32_t struct_size;
    uint32_t offset; /* in the struct, of a uint64_t */
    uint64_t bit;    /* of valid */
    uint32_t tier;   /* ABENCH_TIER_...; 0 for structs without tiers */
    uint32_t reserved;
    const char *name; /* "rss_bytes" */
    const char *unit; /* "bytes", "count", "ns" */
} abench_memory_field;

#define ABENCH_MEMORY_FIELD_INIT                                                                   \
    {                                                                                              \
        sizeof(abench_memory_field), 0, 0, 0, 0, 0, 0                                              \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_memory_field_init(abench_memory_field *field);

/* Field index of abench_memory; ABENCH_ERROR_NOT_FOUND beyond the last. Any thread. */
ABENCH_API abench_status abench_memory_field_at(uint32_t index, abench_memory_field *out);

/* Reads the tiers of process pid (0: this one) once, by opening the files; about six times the cost
 * of a reader that keeps them open. ABENCH_ERROR_NOT_FOUND: no such process (any more), or nothing
 * to read of a zombie; a tier that cannot be read leaves its fields invalid. Any thread; the dear
 * tier blocks the process's mmap. */
ABENCH_API abench_status abench_memory_read(int32_t pid, uint32_t tiers, abench_memory *out);

/* Sets the kernel's peak of RSS (VmHWM, and ru_maxrss of a process's own getrusage, though that not
 * below what it inherited at its exec) of process pid (0: this one) to what it is now:
 * /proc/PID/clear_refs, value 5 (Documentation/filesystems/proc.rst). ABENCH_ERROR_NOT_FOUND: no
 * such process, or a zombie; _SYSTEM: not allowed, or the kernel has it not. Any thread. */
ABENCH_API abench_status abench_memory_reset_peak(int32_t pid);

/* Keeps the files of one process open. */
typedef struct abench_memory_reader abench_memory_reader;

/* pid 0: this process (a forked child's reader still reads the parent). ABENCH_ERROR_ARGUMENT,
 * _NOT_FOUND, _MEMORY, _SYSTEM (no descriptor is left). Any thread. */
ABENCH_API abench_status abench_memory_reader_create(int32_t pid, abench_memory_reader **out);
/* One thread per object. */
ABENCH_API abench_status abench_memory_reader_read(abench_memory_reader *reader, uint32_t tiers,
                                                   abench_memory *out);
/* accepts NULL. One thread per object. */
ABENCH_API void abench_memory_reader_destroy(abench_memory_reader *reader);

/* ---- a process tree -------------------------------------------------------------------------- */

/* A process and all its descendants, found anew at each reading: forked workers. Not those whose
 * parent has ended, which are another's children then; a sampler's helper (sampler.h) is one. */
typedef struct abench_tree abench_tree;

/* root: a process's pid; 0: this one. ABENCH_ERROR_ARGUMENT, _NOT_FOUND, _MEMORY, _SYSTEM. Any
 * thread. */
ABENCH_API abench_status abench_tree_create(int32_t root, const abench_memory_hooks *hooks,
                                            abench_tree **out);
/* Reads the tiers of every process in it and adds them up: PSS and USS add up rightly, RSS counts a
 * shared page once for each of its users, hwm_bytes adds peaks of different times. A field is valid
 * in the sum where it was read of every process that was there; those that ended meanwhile are left
 * out. ABENCH_ERROR_NOT_FOUND: the root is gone. _LIMIT: more than 65536 processes. One thread per
 * object; blocks as the tiers do. */
ABENCH_API abench_status abench_tree_read(abench_tree *tree, uint32_t tiers, abench_memory *sum);
/* How many processes the last reading added up. One thread per object. */
ABENCH_API uint32_t abench_tree_count(const abench_tree *tree);
/* Process index of the last reading, parents before their children; pid and parent may be NULL.
 * ABENCH_ERROR_NOT_FOUND beyond the last. One thread per object. */
ABENCH_API abench_status abench_tree_at(const abench_tree *tree, uint32_t index, int32_t *pid,
                                        int32_t *parent, abench_memory *out);
/* accepts NULL. One thread per object. */
ABENCH_API void abench_tree_destroy(abench_tree *tree);

/* ---- mappings by category -------------------------------------------------------------------- */

#define ABENCH_MAPPINGS_HEAP 0u /* [heap]: what brk serves */
#define ABENCH_MAPPINGS_ANONYMOUS                                                                  \
    1u                            /* no file and no name, or one that the program gave it
                                        ([anon:NAME], prctl(2) PR_SET_VMA); /dev/zero (private) */
#define ABENCH_MAPPINGS_STACKS 2u /* [stack], and thread stacks where the kernel names them */
#define ABENCH_MAPPINGS_FILES  3u /* programs, libraries, files; private pages of theirs too */
#define ABENCH_MAPPINGS_SHARED 4u /* shared memory: /dev/zero (shared), /memfd:, /SYSV, /dev/shm */
#define ABENCH_MAPPINGS_OTHER  5u /* [vdso], [vvar], devices */
#define ABENCH_MAPPINGS_ALL    6u /* the sum */
#define ABENCH_MAPPINGS_COUNT  7u

/* One category. Sums over its mappings; all fields are there when the reading succeeded. */
typedef struct abench_mappings_sum {
    uint32_t struct_size;
    uint32_t category; /* ABENCH_MAPPINGS_... */
    uint64_t mappings;
    uint64_t size_bytes;
    uint64_t rss_bytes;
    uint64_t pss_bytes;
    uint64_t private_clean_bytes;
    uint64_t private_dirty_bytes;
    uint64_t anonymous_bytes; /* pages that belong to no file */
    uint64_t lazyfree_bytes;
    uint64_t huge_bytes;
    uint64_t swap_bytes;
    uint64_t huge_eligible_bytes; /* size of the mappings that THP could serve now */
} abench_mappings_sum;

#define ABENCH_MAPPINGS_SUM_INIT                                                                   \
    {                                                                                              \
        sizeof(abench_mappings_sum), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                            \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_mappings_sum_init(abench_mappings_sum *sum);

/* "heap", "anonymous", "stacks", "files", "shared", "other", "all"; NULL beyond. Any thread. */
ABENCH_API const char *abench_mappings_name(uint32_t category);

/* A full reading of /proc/PID/smaps, streamed through a fixed buffer. */
typedef struct abench_mappings abench_mappings;

/* hooks may be NULL. ABENCH_ERROR_ARGUMENT, _MEMORY. Any thread. */
ABENCH_API abench_status abench_mappings_create(const abench_memory_hooks *hooks,
                                                abench_mappings **out);
/* Reads process pid (0: this one): 1.4 us a mapping beyond what smaps_rollup takes. A reading of a
 * process that ends meanwhile, or calls exec, is ABENCH_ERROR_NOT_FOUND, never half a sum; _SYSTEM:
 * not ours to read; _SYNTAX: the text is not what a kernel writes; _STATE: it maps and unmaps so
 * fast that none of several readings was of one piece; _UNSUPPORTED: a kernel before 5.0, which
 * does not write all of the fields. One thread per object; blocks the process's mmap. */
ABENCH_API abench_status abench_mappings_read(abench_mappings *mappings, int32_t pid);
/* A category of the last reading. ABENCH_ERROR_NOT_FOUND beyond the last category; _STATE: nothing
 * was read. One thread per object. */
ABENCH_API abench_status abench_mappings_at(const abench_mappings *mappings, uint32_t category,
                                            abench_mappings_sum *out);
/* What the last reading took. One thread per object. */
ABENCH_API uint64_t abench_mappings_cost_ns(const abench_mappings *mappings);
/* accepts NULL. One thread per object. */
ABENCH_API void abench_mappings_destroy(abench_mappings *mappings);

/* ---- control groups -------------------------------------------------------------------------- */

#define ABENCH_CGROUP_CURRENT    0x001u
#define ABENCH_CGROUP_PEAK       0x002u
#define ABENCH_CGROUP_LIMIT      0x004u
#define ABENCH_CGROUP_HIGH       0x008u
#define ABENCH_CGROUP_SWAP       0x010u
#define ABENCH_CGROUP_ANON       0x020u
#define ABENCH_CGROUP_FILE       0x040u
#define ABENCH_CGROUP_LIMIT_HITS 0x080u
#define ABENCH_CGROUP_HIGH_HITS  0x100u
#define ABENCH_CGROUP_OOM        0x200u
#define ABENCH_CGROUP_OOM_KILLS  0x400u
#define ABENCH_CGROUP_CPU_QUOTA  0x800u
#define ABENCH_CGROUP_CPU_PERIOD 0x1000u
#define ABENCH_CGROUP_THROTTLES  0x2000u
#define ABENCH_CGROUP_THROTTLED  0x4000u

/* The control groups that a process is in: of version 2, of version 1, or both (hybrid: each field
 * comes from the hierarchy whose controller has it). current_bytes contains page cache and kernel
 * memory and is charged in batches a CPU: a cross-check of RSS, not a measure of an allocator. */
typedef struct abench_cgroup {
    uint32_t struct_size;
    uint32_t version; /* of the hierarchy that has the memory controller: 1, 2; 0: none */
    uint64_t valid;   /* ABENCH_CGROUP_... */
    uint64_t time_ns; /* abench_clock_ns when it was begun */
    uint64_t cost_ns;
    uint64_t current_bytes;
    uint64_t peak_bytes;  /* v2 memory.peak (Linux 5.19), v1 memory.max_usage_in_bytes */
    uint64_t limit_bytes; /* the smallest from the group to the root; absent: none */
    uint64_t high_bytes;  /* v2 memory.high, likewise */
    uint64_t swap_bytes;
    uint64_t anon_bytes;
    uint64_t file_bytes;    /* page cache */
    uint64_t limit_hits;    /* v2 memory.events max, v1 memory.failcnt */
    uint64_t high_hits;     /* v2 memory.events high */
    uint64_t oom_events;    /* v2 memory.events oom */
    uint64_t oom_kills;     /* memory.events or memory.oom_control oom_kill */
    uint64_t cpu_quota_us;  /* the tightest from the group to the root; absent: none */
    uint64_t cpu_period_us; /* of that quota */
    uint64_t throttles;     /* cpu.stat nr_throttled: summed from the group to the root, as each
                               of them that has used up its quota makes the group stand still */
    uint64_t throttled_ns;  /* cpu.stat throttled_usec, or throttled_time; likewise */
    char memory_path[256];  /* the group's, below its mount; "" when there is none */
    char cpu_path[256];
} abench_cgroup;

#define ABENCH_CGROUP_INIT                                                                         \
    {                                                                                              \
        sizeof(abench_cgroup), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", ""     \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_cgroup_init(abench_cgroup *cgroup);

/* Field index of abench_cgroup; ABENCH_ERROR_NOT_FOUND beyond the last. Any thread. */
ABENCH_API abench_status abench_cgroup_field_at(uint32_t index, abench_memory_field *out);

/* Reads them for process pid (0: this one), through the mounts that this process sees.
 * ABENCH_ERROR_NOT_FOUND: no such process; _SYSTEM: its groups cannot be read. Any thread. */
ABENCH_API abench_status abench_cgroup_read(int32_t pid, abench_cgroup *out);

/* ---- pressure -------------------------------------------------------------------------------- */

#define ABENCH_PRESSURE_CPU_SOME    0x01u
#define ABENCH_PRESSURE_CPU_FULL    0x02u
#define ABENCH_PRESSURE_MEMORY_SOME 0x04u
#define ABENCH_PRESSURE_MEMORY_FULL 0x08u
#define ABENCH_PRESSURE_IO_SOME     0x10u
#define ABENCH_PRESSURE_IO_FULL     0x20u

/* Pressure stall information (Documentation/accounting/psi.rst): for how long some, or all, tasks
 * that could have worked waited for a resource. Totals since boot: their difference is what
 * counts. */
typedef struct abench_pressure {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t valid; /* ABENCH_PRESSURE_... */
    uint64_t time_ns;
    uint64_t cpu_some_us;
    uint64_t cpu_full_us;
    uint64_t memory_some_us;
    uint64_t memory_full_us;
    uint64_t io_some_us;
    uint64_t io_full_us;
} abench_pressure;

#define ABENCH_PRESSURE_INIT                                                                       \
    {                                                                                              \
        sizeof(abench_pressure), 0, 0, 0, 0, 0, 0, 0, 0, 0                                         \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_pressure_init(abench_pressure *pressure);

/* Field index of abench_pressure; ABENCH_ERROR_NOT_FOUND beyond the last. Any thread. */
ABENCH_API abench_status abench_pressure_field_at(uint32_t index, abench_memory_field *out);

/* pid -1: of the whole machine (/proc/pressure); else of the v2 control group of process pid (0:
 * this one). ABENCH_ERROR_UNSUPPORTED: this kernel counts none, or there is no such group;
 * _NOT_FOUND: no such process; _SYSTEM: its groups cannot be read. Any thread. */
ABENCH_API abench_status abench_pressure_read(int32_t pid, abench_pressure *out);

#ifdef __cplusplus
}
#endif
#endif
