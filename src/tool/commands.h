/*
 * commands.h - the verbs of the command line: one cmd_VERB.c each.
 */
#ifndef ABENCH_TOOL_COMMANDS_H
#define ABENCH_TOOL_COMMANDS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/spawner.h"

/* Exit statuses of the command; part of its interface. */
#define EXIT_OK          0
#define EXIT_THRESHOLD   1 /* a threshold failed */
#define EXIT_USAGE       2
#define EXIT_ENVIRONMENT 3 /* the machine refused: a full disk, a directory that is taken... */
#define EXIT_TARGET      4 /* a target, or the command, failed or is not what it should be */
#define EXIT_INTERRUPTED 130

/* argv[0] is the verb. The spawner was forked before anything else; only run and round use it. */
int cmd_run(int argc, char **argv, spawner *s);
int cmd_check(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_tape(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_round(int argc, char **argv, spawner *s);
int cmd_merge(int argc, char **argv);
int cmd_compare(int argc, char **argv);

/* Prints "allocbench: ..." on stderr and returns status. */
int command_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A part of ours that stands beside the command or, installed, in a folder of its own. NULL: it is
 * not there; free() it. */
char *command_find_part(const char *name);

/* Says on stderr what is wrong with an option and returns EXIT_USAGE. answer is what getopt_long
 * gave ('?' or ':', with opterr 0 and an option string that begins with ':'); argv[0] is the verb.
 */
int command_bad_option(char **argv, int answer, const struct option *options);

/* Reads a time like 500ms, 10s, 2m, 1h, 1.5s into seconds; without a unit it is in plain seconds
 * each. false: it is none. */
bool command_seconds(const char *text, double plain, double *seconds);

/* Reads a whole number from minimum to maximum, or says what of the option is wanted. */
bool command_number(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                    uint64_t *value);

/* auto, always, never: whether standard output gets colour (NO_COLOR is honoured). false: no such
 * word. word may be NULL: auto. */
bool command_color(const char *word, bool *color);

struct outputs;

/* Loads DIR, writes its report files anew, prints the table and where the report is, unless an
 * export has standard output; then thresholds and exports, whose status it returns. *failed: how
 * many cells of it failed; NULL: the caller is not the run that made it, which may still go on. */
int command_show(const char *directory, bool color, const struct outputs *o, size_t *failed);

#endif
