/*
 * plan.h - a command of allocbench run as a file, so that it can be repeated, and its rounds be
 * spread over machines.
 *
 *   {
 *    "schema": 1,
 *    "tool_version": "0.1.0",            who wrote it
 *    "workloads": ["mixed:lanes=1"],     as run takes them
 *    "command": ["sh", "-c", "..."],     what stood behind "--"; may lack
 *    "folder": "/home/me/app",           where the command, and paths that are relative, belong;
 *                                        may lack
 *    "targets": ["glibc", "jemalloc"],   may lack: every built-in one that is found
 *    "baseline": "glibc",                may lack
 *    "seed": 1,                          text where it is 2^53 or more
 *    "rounds": 10,                       in all
 *    "lengths": ["mixed:steps=90", null],  of each workload, where --duration chose one; may lack
 *    "options": {"slice": 50000, "tails": true, "sweep": ["A=1,2"]}   run's other long options by
 *                                        name, in run's order; a list: given so many times
 *   }
 *
 * What is not about the measurement stands in no plan: -o, --color, --retry-failed, gates, exports.
 * A plan is a file that somebody else may have written: what is wrong in it is told as
 * FILE:LINE:COLUMN. It names a command, which is run: read a stranger's before.
 */
#ifndef ABENCH_TOOL_PLAN_H
#define ABENCH_TOOL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "tool/matrix.h"

#define PLAN_SCHEMA 1

/* One call of run, from its words or from a plan. */
typedef struct plan {
    json_t *root; /* the document; NULL: some word is no UTF-8, it cannot be written down */
    char **words; /* for arguments_read, NULL behind the last: the verb, options... */
    int count;
    char *typed;    /* the command as it was typed; NULL: words say it */
    uint32_t round; /* from 1: this one alone is run; 0: all */
    bool has_moved; /* to the plan's folder */
    bool is_dry;    /* nothing is run: the call is read, and the document settled */
} plan;

/* Reads a plan's text. NULL with one line "FILE:LINE:COLUMN: what" in message. file is shown. */
json_t *plan_parse(const char *file, const char *text, size_t size, char *message,
                   size_t message_size);

/* The same from a file. */
json_t *plan_read(const char *file, char *message, size_t message_size);

/* What of a call stands in no plan. The texts are argv's. */
typedef struct plan_call {
    const char *output; /* -o; NULL: none */
    const char *from;   /* --plan; NULL: none */
    json_t *passing;    /* the others by long name: color, retry-failed, gates, exports */
} plan_call;

/* The words of a call of run, options and workloads and command, as a document. Words that
 * arguments_read would refuse are passed over: it says so. call may be NULL; json_decref its
 * passing. NULL: some word is no UTF-8. */
json_t *plan_of_words(int argc, char **argv, plan_call *call);

/* The words of a document behind verb, with further options (may be NULL). Free it with
 * plan_words_free. */
char **plan_words(const json_t *root, const char *verb, const json_t *options, int *count);
char **plan_copy_words(int argc, char **argv);
void plan_words_free(char **words);

/* The rounds that it asks for; 0: it does not say. */
uint32_t plan_rounds(const json_t *root);

/* Goes to the folder of a document, when it names another than this. */
bool plan_enter(const json_t *root, const char *file, char *message, size_t message_size);

/* Writes down what the words left to the tool: the targets that are found, the baseline, seed and
 * rounds, and the lengths that --duration chose. */
void plan_settle(json_t *root, const matrix *m);

/* Lengths of the document for workloads of m that have none yet. */
void plan_lengths(const json_t *root, matrix *m);

/* The text of a plan's file; free() it. */
char *plan_text(const json_t *root);

/* The words of `allocbench run`, where --plan FILE stands for what FILE says: beside it only what
 * stands in no plan may be given, and --rounds. Returns -1 to go on, or the status to exit with:
 * what is wrong was said. */
int plan_take(int argc, char **argv, plan *out);

void plan_clear(plan *p);

/* Runs it (cmd_run.c). What is wrong is said; returns the status to exit with. */
int run_plan(plan *p, spawner *s);

/* Words as one line that a shell reads back; free() it. */
char *run_join(char **words);

/* What is shown of a directory in which one round was run (cmd_round.c): a line. *failed: how many
 * cells of it failed. */
int round_show(const matrix *m, size_t *failed);

#endif
