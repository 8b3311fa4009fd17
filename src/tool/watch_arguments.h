/*
 * watch_arguments.h - the command line of `allocbench watch`.
 */
#ifndef ABENCH_TOOL_WATCH_ARGUMENTS_H
#define ABENCH_TOOL_WATCH_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct watch_arguments {
    int32_t pid;          /* 0: a command */
    char **command;       /* after "--"; NULL: a process */
    uint64_t period_ns;   /* from one look to the next */
    uint64_t duration_ns; /* 0: until the end */
    bool dear;            /* dear fields at each look */
    bool mappings;
    bool csv;
    bool live;
    const char *output; /* NULL: none */
} watch_arguments;

/* Reads argv. Returns -1 to go on, or the status to exit with: what was wrong is said, help is
 * printed. */
int watch_arguments_read(int argc, char **argv, watch_arguments *out);

#endif
