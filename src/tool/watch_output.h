/*
 * watch_output.h - where looks go: comma-separated values into a descriptor, lines that are drawn
 * anew on a terminal, or lines one after the other where there is none.
 */
#ifndef ABENCH_TOOL_WATCH_OUTPUT_H
#define ABENCH_TOOL_WATCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/watch_arguments.h"
#include "tool/watch_process.h"
#include "tool/watch_tree.h"

typedef struct watch_output {
    int csv;           /* -1: none, or nobody reads it any more, or it cannot be written */
    int live;          /* likewise */
    bool is_smart;     /* live can be drawn anew */
    bool is_dim;       /* and may be dimmed */
    bool has_head;     /* the CSV's first line is written */
    int error;         /* of a write that failed, but for a reader that went away; 0: none did */
    size_t lines;      /* that stand on the terminal, the cursor in the last; 0: none */
    size_t lines_most; /* one beside a command, which may write to the same terminal */
    uint64_t drawn_ns;
} watch_output;

/* Decides what goes where, and opens -o's file. false with errno: the file cannot be written. */
bool watch_output_open(watch_output *o, const watch_arguments *a);

/* Shows a look. Waits until it can be written, but not longer than process lives or the watch
 * goes on. */
void watch_output_put(watch_output *o, const watch_look *look, const watch_tree *tree,
                      watch_process *process);

/* Takes the live lines away; the cursor stands where they began. */
void watch_output_erase(watch_output *o);

/* Says one line on standard error, above the live ones. */
void watch_output_say(watch_output *o, const char *line);

/* Takes the live lines away and closes the file. A failure is kept in error. */
void watch_output_close(watch_output *o);

#endif
