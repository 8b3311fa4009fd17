/*
 * sampler.h - what the kernel says about a process's memory: single readings and timelines.
 *
 * Two tiers. The cheap one reads /proc/PID/statm (0.5 us) and, on request, /proc/PID/status
 * (5 us). The dear one reads /proc/PID/smaps_rollup, which walks every page (5-14 ms a GB) while it
 * holds the mmap lock of the process: ask for it while the lanes stand.
 */
#ifndef ALLOCBENCH_SAMPLER_H
#define ALLOCBENCH_SAMPLER_H

#include <allocbench/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tiers, or-ed. */
#define ABENCH_TIER_STATM  1u /* size, rss, shared */
#define ABENCH_TIER_STATUS 2u /* rss_anon, rss_file, rss_shmem, hwm, swap */
#define ABENCH_TIER_ROLLUP 4u /* pss, private, lazyfree, huge pages */
#define ABENCH_TIER_FAULTS 8u /* minor and major faults */

/* Bits of abench_memory.valid, one a field: a field that could not be read is absent, not 0. */
#define ABENCH_MEMORY_SIZE          0x0001u
#define ABENCH_MEMORY_RSS           0x0002u
#define ABENCH_MEMORY_SHARED        0x0004u
#define ABENCH_MEMORY_RSS_ANON      0x0008u
#define ABENCH_MEMORY_RSS_FILE      0x0010u
#define ABENCH_MEMORY_RSS_SHMEM     0x0020u
#define ABENCH_MEMORY_HWM           0x0040u
#define ABENCH_MEMORY_SWAP          0x0080u
#define ABENCH_MEMORY_PSS           0x0100u
#define ABENCH_MEMORY_PRIVATE_CLEAN 0x0200u
#define ABENCH_MEMORY_PRIVATE_DIRTY 0x0400u
#define ABENCH_MEMORY_LAZYFREE      0x0800u
#define ABENCH_MEMORY_HUGE          0x1000u
#define ABENCH_MEMORY_MINOR_FAULTS  0x2000u
#define ABENCH_MEMORY_MAJOR_FAULTS  0x4000u

/* One reading. */
typedef struct abench_memory {
    uint32_t struct_size;
    uint32_t valid;        /* ABENCH_MEMORY_... */
    uint64_t time_ns;      /* abench_clock_ns when it was begun; in a timeline: the run's clock */
    uint64_t cost_ns;      /* what this reading took */
    uint64_t size_bytes;   /* virtual */
    uint64_t rss_bytes;    /* statm */
    uint64_t shared_bytes; /* statm: file and shmem pages, not "shared with others" */
    uint64_t rss_anon_bytes;
    uint64_t rss_file_bytes;
    uint64_t rss_shmem_bytes;
    uint64_t hwm_bytes; /* VmHWM: the kernel's high-water mark of RSS */
    uint64_t swap_bytes;
    uint64_t pss_bytes;
    uint64_t private_clean_bytes;
    uint64_t private_dirty_bytes;
    uint64_t lazyfree_bytes; /* MADV_FREEd: in RSS until the kernel wants them */
    uint64_t huge_bytes;     /* AnonHugePages */
    uint64_t minor_faults;
    uint64_t major_faults;
} abench_memory;

#define ABENCH_MEMORY_INIT                                                                         \
    {                                                                                              \
        sizeof(abench_memory), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_memory_init(abench_memory *memory);

/* The fields by number, for tables and bindings. The strings are static. */
typedef struct abench_memory_field {
    uint32_t struct_size;
    uint32_t bit;    /* ABENCH_MEMORY_... */
    uint32_t offset; /* in abench_memory, of a uint64_t */
    uint32_t reserved;
    const char *name; /* "rss_bytes" */
    const char *unit; /* "bytes" or "count" */
} abench_memory_field;

#define ABENCH_MEMORY_FIELD_INIT                                                                   \
    {                                                                                              \
        sizeof(abench_memory_field), 0, 0, 0, 0, 0                                                 \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_memory_field_init(abench_memory_field *field);

/* Field index; ABENCH_ERROR_NOT_FOUND beyond the last. Any thread. */
ABENCH_API abench_status abench_memory_field_at(uint32_t index, abench_memory_field *out);

/* Reads the tiers of process pid (0: this one) once, by opening the files; about six times the cost
 * of a reader that keeps them open. ABENCH_ERROR_NOT_FOUND: no such process (any more); a tier that
 * cannot be read leaves its fields invalid. Any thread; the dear tier blocks the process's mmap. */
ABENCH_API abench_status abench_memory_read(int32_t pid, uint32_t tiers, abench_memory *out);

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

/* A thread that takes cheap readings of this process at a fixed rate. */
typedef struct abench_sampler abench_sampler;

typedef struct abench_sampler_options {
    uint32_t struct_size;
    uint32_t tiers;     /* 0: STATM | FAULTS; ROLLUP is refused here */
    uint32_t period_us; /* 0: 10000; at least 1000 */
    uint32_t capacity;  /* readings kept, rounded up to even, at most 1048576; when full, every
                           second one is dropped and the period doubles; 0: 8192 */
    const abench_memory_hooks *hooks;
} abench_sampler_options;

#define ABENCH_SAMPLER_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(abench_sampler_options), 0, 0, 0, 0                                                 \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_sampler_options_init(abench_sampler_options *options);

/* Makes the thread, which sleeps until start. options may be NULL. ABENCH_ERROR_ARGUMENT, _MEMORY,
 * _SYSTEM. pthread_create allocates: call it before what is measured. Any thread. */
ABENCH_API abench_status abench_sampler_create(const abench_sampler_options *options,
                                               abench_sampler **out);
/* Begins, or goes on after a stop. The timeline's clock runs only between start and stop, so a run
 * that waits for its turn has no gap in it. Returns when the thread is awake; allocates nothing.
 * ABENCH_ERROR_STATE: it runs already, or this is a forked child. One thread per object. */
ABENCH_API abench_status abench_sampler_start(abench_sampler *sampler);
/* Pauses; returns when no reading is under way. ABENCH_ERROR_STATE: it does not run, or this is a
 * forked child. One thread per object. */
ABENCH_API abench_status abench_sampler_stop(abench_sampler *sampler);
/* The timeline's clock now: nanoseconds between starts and stops so far. Any thread. */
ABENCH_API uint64_t abench_sampler_time_ns(const abench_sampler *sampler);
/* Readings kept; stable only while stopped. One thread per object. */
ABENCH_API uint32_t abench_sampler_count(const abench_sampler *sampler);
/* Deadlines that were missed by a whole period or more. One thread per object. */
ABENCH_API uint64_t abench_sampler_missed(const abench_sampler *sampler);
/* Reading index; ABENCH_ERROR_NOT_FOUND beyond the last, ABENCH_ERROR_STATE while it runs. One
 * thread per object. */
ABENCH_API abench_status abench_sampler_at(const abench_sampler *sampler, uint32_t index,
                                           abench_memory *out);
/* Ends and joins the thread. accepts NULL. One thread per object. */
ABENCH_API void abench_sampler_destroy(abench_sampler *sampler);

#ifdef __cplusplus
}
#endif
#endif
