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
#define ABENCH__STATUS_HWM       0u
#define ABENCH__STATUS_RSS       1u
#define ABENCH__STATUS_RSS_ANON  2u
#define ABENCH__STATUS_RSS_FILE  3u
#define ABENCH__STATUS_RSS_SHMEM 4u
#define ABENCH__STATUS_SWAP      5u
#define ABENCH__STATUS_THREADS   6u
#define ABENCH__STATUS_FIELDS    7u
uint32_t abench__parse_status(const char *text, size_t length, uint64_t *values);

/* /proc/PID/smaps_rollup, in bytes. */
#define ABENCH__ROLLUP_RSS           0u
#define ABENCH__ROLLUP_PSS           1u
#define ABENCH__ROLLUP_PRIVATE_CLEAN 2u
#define ABENCH__ROLLUP_PRIVATE_DIRTY 3u
#define ABENCH__ROLLUP_LAZYFREE      4u
#define ABENCH__ROLLUP_HUGE          5u /* AnonHugePages */
#define ABENCH__ROLLUP_SWAP          6u
#define ABENCH__ROLLUP_FIELDS        7u
uint32_t abench__parse_rollup(const char *text, size_t length, uint64_t *values);

/* /proc/PID/stat. The kernel shows 0 or 1 as addresses to those who may not see them. */
#define ABENCH__STAT_MINOR_FAULTS 0u /* field 10, of the process's threads, dead ones too */
#define ABENCH__STAT_MAJOR_FAULTS 1u /* field 12 */
#define ABENCH__STAT_START_CODE   2u /* field 26, address */
#define ABENCH__STAT_START_STACK  3u /* field 28, address */
#define ABENCH__STAT_FIELDS       4u
uint32_t abench__parse_stat(const char *text, size_t length, uint64_t *values);

/* /proc/meminfo, in bytes. */
#define ABENCH__MEMINFO_TOTAL  0u
#define ABENCH__MEMINFO_FIELDS 1u
uint32_t abench__parse_meminfo(const char *text, size_t length, uint64_t *values);

/* The number of fields of the longest of these texts. */
#define ABENCH__PROC_FIELDS_MAX 7u

#endif
