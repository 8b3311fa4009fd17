/*
 * stat.h - parsers for what /proc says of the whole machine, and of a process's limits.
 * Texts are hostile: see scan.h.
 *
 * Those with values return a mask, bit i for values[i], of what is there and whole; the other
 * values are 0. Any thread.
 */
#ifndef ABENCH_SYSTEM_STAT_H
#define ABENCH_SYSTEM_STAT_H

#include <stddef.h>
#include <stdint.h>

/* The line "cpu" of /proc/stat, in ticks of all CPUs since boot. */
#define ABENCH__TICKS_TOTAL  0u /* user to steal; what guests used is in user already */
#define ABENCH__TICKS_IDLE   1u /* idle and iowait */
#define ABENCH__TICKS_STEAL  2u
#define ABENCH__TICKS_FIELDS 3u
uint32_t abench__parse_ticks(const char *text, size_t length, uint64_t *values);

/* /proc/loadavg: "0.60 0.54 1.74 2/106 11852". */
#define ABENCH__LOAD_RUNNABLE 0u /* tasks that run or could, now */
#define ABENCH__LOAD_TASKS    1u
#define ABENCH__LOAD_FIELDS   2u
uint32_t abench__parse_load(const char *text, size_t length, uint64_t *values);

/* /proc/vmstat. */
#define ABENCH__VMSTAT_SWAPPED_IN  0u /* pages */
#define ABENCH__VMSTAT_SWAPPED_OUT 1u
#define ABENCH__VMSTAT_OOM_KILLS   2u
#define ABENCH__VMSTAT_FIELDS      3u
#define ABENCH__VMSTAT_TEXT        16384u /* enough for the longest known */
uint32_t abench__parse_vmstat(const char *text, size_t length, uint64_t *values);

/* /proc/swaps: sums over the swap areas. All or nothing. */
#define ABENCH__SWAPS_AREAS  0u
#define ABENCH__SWAPS_SIZE   1u /* bytes */
#define ABENCH__SWAPS_USED   2u
#define ABENCH__SWAPS_FIELDS 3u
uint32_t abench__parse_swaps(const char *text, size_t length, uint64_t *values);

/* /proc/PID/limits: the soft limit of a name as it stands there, "Max address space"; UINT64_MAX:
 * unlimited. 0: it is not there. */
int abench__parse_limit(const char *text, size_t length, const char *name, uint64_t *value);

/* Whether the list "flags" in the text of /proc/cpuinfo has the word: 1, 0, or -1 when there is no
 * such list, which is x86's. */
int abench__parse_cpu_flag(const char *text, size_t length, const char *flag);

#endif
