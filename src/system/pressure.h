/*
 * pressure.h - what stands behind abench_pressure_read (memory.h). Texts are hostile: see scan.h.
 */
#ifndef ABENCH_SYSTEM_PRESSURE_H
#define ABENCH_SYSTEM_PRESSURE_H

#include <stddef.h>
#include <stdint.h>

#include "system/cgroup.h"

#define ABENCH__PRESSURE_SOME       0u /* microseconds since boot */
#define ABENCH__PRESSURE_FULL       1u
#define ABENCH__PRESSURE_SOME_AVG10 2u /* hundredths of a per cent */
#define ABENCH__PRESSURE_FULL_AVG10 3u
#define ABENCH__PRESSURE_FIELDS     4u

/* The text of /proc/pressure/cpu, or of cpu.pressure of a group. Returns a mask, bit i for
 * values[i], of what is there and whole; the others are 0. Any thread. */
uint32_t abench__parse_pressure(const char *text, size_t length, uint64_t *values);

/* Fills the whole of *pressure but time_ns: of a group of version 2, or with NULL of the whole
 * machine, below root ("": this machine). Any thread. */
void abench__pressure_take(const char *root, const abench__group *group, abench_pressure *pressure);

#endif
