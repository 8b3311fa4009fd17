/*
 * command_cell.h - what command.c and command_end.c share: all that one measurement holds.
 */
#ifndef ABENCH_TOOL_COMMAND_CELL_H
#define ABENCH_TOOL_COMMAND_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/command.h"
#include "tool/command_record.h"
#include "tool/images.h"
#include "tool/oom.h"
#include "tool/spawner.h"
#include "tool/tree.h"

/* All that one measurement holds, so that one exit can give it back. */
struct command_cell {
    const command_options *options;
    command_result *result;
    char *file; /* absolute: the command may change its folder */
    char *part;
    char *probe_file;
    char *harness_file;
    char *nonce;
    char **envp;
    char *settings; /* in envp, as the probe tells them */
    bool settings_cut;
    int part_fd;
    int probe_fd;
    int output_fd;
    int errors_fd;
    bool keep_probe_file;
    bool runs;    /* it was started, and its end was not taken */
    bool has_end; /* it was */
    bool hung;
    bool stopped;
    oom_counts before;
    oom_counts after;
    spawner_begun begun;
    spawner_end end;
    tree *tree;
    images *images;
    images_verdict verdict;
    command_record record;
    char message[512];
};

/* Notes how it went, and why; takes reason. Returns false. */
bool command_conclude(command_cell *c, command_state state, char *reason);

/* What its end means: is it one, on whose malloc did it run, and the cell file. false: it was
 * concluded with a reason. */
bool command_end(command_cell *c);

#endif
