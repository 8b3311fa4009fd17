/*
 * host.h - parsers and calls behind abench_host_read (machine.h). Texts are hostile: see proc.h.
 */
#ifndef ABENCH_SYSTEM_HOST_H
#define ABENCH_SYSTEM_HOST_H

#include <stddef.h>
#include <stdint.h>

/* The first "model name" in the text of /proc/cpuinfo; "" when there is none (arm64 names none) or
 * its line is cut. Any thread. */
void abench__parse_cpu_model(const char *text, size_t length, char *model, uint32_t size);

/* The chosen word of "always [madvise] never"; "" when none is. Any thread. */
void abench__parse_choice(const char *text, size_t length, char *word, uint32_t size);

/* The first line without spaces at its ends. Any thread. */
void abench__parse_first_line(const char *text, size_t length, char *line, uint32_t size);

/* CPUs that run, and those of them that this thread may run on; 0: cannot be read. Any thread. */
uint32_t abench__cpus_online(void);
uint32_t abench__cpus_allowed(void);

#endif
