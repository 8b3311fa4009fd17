/*
 * watch_format.h - what a look shows: a line or a few for a person, a line of comma-separated
 * values for another program, and the sentence at the end.
 */
#ifndef ABENCH_TOOL_WATCH_FORMAT_H
#define ABENCH_TOOL_WATCH_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/watch_tree.h"

/* "950", "12.3K", "412M", "1.20G", in units of 1024; text holds at least 16 characters. Returns
 * text. */
char *watch_bytes(char *text, uint64_t bytes);

/* The look for a person: fields with their names in columns, as many lines as that takes in width
 * columns, but at most lines_max, and no newline behind the last; what finds no room is left out,
 * the less important first. dear: the last look with dear fields; NULL: none yet. They are shown
 * with their age as long as RSS is near (watch_is_near) to what it was at that look: beside another
 * RSS they would tell of what is no more. A field that is absent is "-". is_dim: the names are
 * dimmed, which takes no columns. *lines: how many they are. free() it. */
char *watch_rows(const watch_look *look, const watch_look *dear, const watch_peaks *peaks,
                 size_t width, size_t lines_max, bool is_dim, size_t *lines);

/* "time_ns,processes,size_bytes,...\n": time_ns (since the watch began), processes, each field of
 * abench_memory by its name, cgroup_current_bytes, cost_ns (what the look took). free() it. */
char *watch_csv_head(void);

/* The same fields of a look; an absent one is empty. free() it. */
char *watch_csv_line(const watch_look *look);

/* "2.13 s, peak RSS 412M (22 looks), peak PSS 210M (3 looks), largest process 400M by the kernel's
 * own mark". The peak of PSS is left out where no look with PSS was near the highest RSS that is
 * known: it would be that of another time. single_bytes: the peak of a single process that the
 * kernel told at its end (ru_maxrss); 0: none. free() it. */
char *watch_summary(uint64_t wall_ns, const watch_peaks *peaks, uint64_t single_bytes);

#endif
