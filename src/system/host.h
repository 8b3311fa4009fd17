/*
 * host.h - parsers behind abench_host_read (run.h). Texts are hostile: see proc.h.
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

#endif
