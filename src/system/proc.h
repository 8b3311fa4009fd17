/*
 * proc.h - parsers for what /proc says about a process's memory.
 *
 * Pure functions of (text, length): the text need not be terminated, and may be cut, damaged or
 * hostile. Each returns a mask, bit i for values[i], of the fields that are there, whole, and fit
 * into 64 bits; the other values are 0 and mean nothing. A number counts as whole only when what
 * must follow it is there too, so that no cut text yields a part of a number. Any thread.
 */
#ifndef ABENCH_SYSTEM_PROC_H
#define ABENCH_SYSTEM_PROC_H

#include <stddef.h>
#include <stdint.h>

/* /proc/PID/statm, in pages. */
#define ABENCH__STATM_SIZE   0u
#define ABENCH__STATM_RSS    1u
#define ABENCH__STATM_SHARED 2u
#define ABENCH__STATM_FIELDS 3u
uint32_t abench__parse_statm(const char *text, size_t length, uint64_t *values);

/* /proc/PID/status, in bytes; threads are counted. */
#define ABENCH__STATUS_HWM         0u
#define ABENCH__STATUS_RSS         1u
#define ABENCH__STATUS_RSS_ANON    2u
#define ABENCH__STATUS_RSS_FILE    3u
#define ABENCH__STATUS_RSS_SHMEM   4u
#define ABENCH__STATUS_PAGE_TABLES 5u /* VmPTE */
#define ABENCH__STATUS_SWAP        6u
#define ABENCH__STATUS_THREADS     7u
#define ABENCH__STATUS_FIELDS      8u
uint32_t abench__parse_status(const char *text, size_t length, uint64_t *values);

/* The same file's last lines, which the kernel writes for one thread: of /proc/PID/task/TID/status.
 * A parser of their own, because the lines in between are many. */
#define ABENCH__SWITCHES_VOLUNTARY   0u
#define ABENCH__SWITCHES_INVOLUNTARY 1u
#define ABENCH__SWITCHES_FIELDS      2u
uint32_t abench__parse_switches(const char *text, size_t length, uint64_t *values);

/* /proc/PID/task/TID/schedstat, one thread's (Documentation/scheduler/sched-stats.rst): ns on a CPU
 * and ns of waiting for one, and how often it got one. */
#define ABENCH__SCHEDSTAT_RUN    0u
#define ABENCH__SCHEDSTAT_WAIT   1u
#define ABENCH__SCHEDSTAT_SLICES 2u
#define ABENCH__SCHEDSTAT_FIELDS 3u
uint32_t abench__parse_schedstat(const char *text, size_t length, uint64_t *values);

/* /proc/PID/smaps_rollup, in bytes. */
#define ABENCH__ROLLUP_RSS           0u
#define ABENCH__ROLLUP_PSS           1u
#define ABENCH__ROLLUP_PSS_DIRTY     2u
#define ABENCH__ROLLUP_PSS_ANON      3u
#define ABENCH__ROLLUP_PSS_FILE      4u
#define ABENCH__ROLLUP_PSS_SHMEM     5u
#define ABENCH__ROLLUP_PRIVATE_CLEAN 6u
#define ABENCH__ROLLUP_PRIVATE_DIRTY 7u
#define ABENCH__ROLLUP_LAZYFREE      8u
#define ABENCH__ROLLUP_HUGE          9u /* AnonHugePages */
#define ABENCH__ROLLUP_SWAP          10u
#define ABENCH__ROLLUP_SWAP_PSS      11u
#define ABENCH__ROLLUP_LOCKED        12u
#define ABENCH__ROLLUP_FIELDS        13u
uint32_t abench__parse_rollup(const char *text, size_t length, uint64_t *values);

/* /proc/PID/stat. The kernel shows 0 or 1 as addresses to those who may not see them. */
#define ABENCH__STAT_STATE        0u /* field 3, the letter's code: 'R', 'S', 'Z' ... */
#define ABENCH__STAT_PARENT       1u /* field 4, a pid */
#define ABENCH__STAT_MINOR_FAULTS 2u /* field 10, of the process's threads, dead ones too */
#define ABENCH__STAT_MAJOR_FAULTS 3u /* field 12 */
#define ABENCH__STAT_THREADS      4u /* field 20 */
#define ABENCH__STAT_START_TIME   5u /* field 22: with the pid it names a process for good */
#define ABENCH__STAT_SIZE         6u /* field 23, bytes; 0: it has no memory (any more) */
#define ABENCH__STAT_START_CODE   7u /* field 26, address */
#define ABENCH__STAT_START_STACK  8u /* field 28, address */
#define ABENCH__STAT_FIELDS       9u
uint32_t abench__parse_stat(const char *text, size_t length, uint64_t *values);

/* /proc/meminfo, in bytes. */
#define ABENCH__MEMINFO_TOTAL  0u
#define ABENCH__MEMINFO_FIELDS 1u
uint32_t abench__parse_meminfo(const char *text, size_t length, uint64_t *values);

/* The number of fields of the longest of these texts. */
#define ABENCH__PROC_FIELDS_MAX 13u

/* A line "Name:   value[ kB]" that a parser looks for. */
typedef struct abench__proc_key {
    const char *name; /* with its colon */
    uint32_t length;
    uint32_t kilobytes; /* 1: the value is in kB and says so */
} abench__proc_key;

#define ABENCH__KEY_BYTES(name)                                                                    \
    {                                                                                              \
        name ":", sizeof name, 1                                                                   \
    }
#define ABENCH__KEY_COUNT(name)                                                                    \
    {                                                                                              \
        name ":", sizeof name, 0                                                                   \
    }

/* Which of the keys a line [line, end) has; count: none of them. The search begins at key *next and
 * leaves there the one behind the key found: in the kernel's order one comparison finds each. */
uint32_t abench__proc_key_find(const abench__proc_key *keys, uint32_t count, uint32_t *next,
                               const char *line, const char *end);

/* The value of a line that has the key; terminated: a newline follows the line's end. 0: it has
 * none that is whole, or it does not fit. */
int abench__proc_key_value(const abench__proc_key *key, const char *line, const char *end,
                           int terminated, uint64_t *value);

/* Reads decimal digits in [*at, end) and moves *at behind them. 0: there are none, or too many. */
int abench__proc_number(const char **at, const char *end, uint64_t *value);

#endif
