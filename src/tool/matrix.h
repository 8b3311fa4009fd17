/*
 * matrix.h - all the cells of one `allocbench run`: a directory, a key, rounds.
 *
 * The round is the unit: every target once (the baseline twice) on one seed. A finished round is
 * marked by its file in rounds/, which is renamed into place after the last of its cells; whatever
 * an interrupted round left is removed and the round is run whole.
 */
#ifndef ABENCH_TOOL_MATRIX_H
#define ABENCH_TOOL_MATRIX_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <allocbench/run.h>

#include "tool/fitness.h"
#include "tool/spawner.h"
#include "tool/target.h"

typedef struct matrix_workload {
    char *id;        /* "w00" */
    char *label;     /* as the user gave it, with what --quick and --paced add */
    char *spec;      /* canonical, without what --duration chooses; NULL for the command */
    char *argument;  /* what a cell is told to play: the label, or with a length that --duration
                        chose; NULL: that is still to be chosen */
    char *played;    /* canonical, of argument */
    char digest[17]; /* of the work on a tape in a file, which is no part of its spec; else "" */
    bool hopeless;   /* every cell of a round failed: its other rounds are not run */
} matrix_workload;

typedef struct matrix {
    /* asked */
    char *directory;
    char *command_line;
    matrix_workload *workloads;
    size_t workloads_count;
    char **command;  /* argv of the last workload when it is a command; else NULL */
    char *program;   /* the files behind the command, with size and time */
    char *folder;    /* where the command runs; NULL: not known */
    target *targets; /* missing ones too */
    size_t targets_count;
    size_t baseline;
    uint64_t seed;
    uint32_t rounds;
    uint32_t lanes;
    uint64_t slice_operations;
    uint64_t duration_ms;
    uint64_t latency; /* one operation in so many is timed by itself; 0: none */
    double cooldown_s;
    double timeout_s;
    bool same_seed;
    bool keep_environment;
    bool ignore_failure;
    bool retry_failed; /* a finished round with a failed cell is run again */
    bool sequential;   /* cells of a tape one after the other, not in lockstep */
    bool tails;        /* a second pass in each round of a tape that times every operation */
    bool strict;       /* an unfit machine is refused, at the start and in mid-run */
    uint32_t settle_s; /* memory is read for so long after everything was freed */
    uint32_t reruns;   /* of a round in which the machine changed */
    bool floor;        /* a cell of the null allocator in each round of a tape */
    /* found */
    abench_host host;
    fitness fitness;
    char *cell; /* path of allocbench-cell */
    char *probe;
    spawner *spawner;
    uint64_t unix_s; /* when the directory was begun; 0: now */
    char **notes;
    size_t notes_count;
    bool unreached; /* the probe cannot get into the command: system targets only */
    int lock;
    int starved; /* errno when a cell could not start for want of something of the machine's */
} matrix;

/* One cell of a round. */
typedef struct arm {
    size_t target; /* MODEL_FLOOR for the null allocator */
    bool again;
    char *name;          /* "w00.r000.t01b" */
    char *reason;        /* NULL, or why it failed */
    bool tails;          /* of the pass that times every operation */
    fitness_watch watch; /* of a cell that ran by itself */
} arm;

/* Set by SIGINT and SIGTERM. */
extern volatile sig_atomic_t matrix_interrupted;

/* Keeps a line for the report, and says it on stderr. */
void matrix_note(matrix *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, unless there is such a note already. */
void matrix_note_once(matrix *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes or opens the directory, locks it, and compares the key of what is there with what is asked.
 * false with one line in message: what differs, who holds it, or what failed. */
bool matrix_open(matrix *m, char *message, size_t message_size);

/* Writes matrix.json anew: with the notes so far. */
bool matrix_write(const matrix *m, char *message, size_t message_size);

/* Runs the rounds that are not there yet. false with one line in message when the machine, not a
 * target, is at fault (a full disk...). */
bool matrix_run(matrix *m, char *message, size_t message_size);

void matrix_close(matrix *m);

/* Does a process hold the directory's lock, be it this one? */
bool matrix_is_held(const char *directory);

/* "DIR/cells/NAME.jsonl" and its kin; free() it. */
char *matrix_path(const matrix *m, const char *folder, const char *name, const char *suffix);

/* Sleeps as long as --cooldown says. */
void matrix_cool_down(const matrix *m);

/* Bytes that the machine has, or its cgroup lets us have; UINT64_MAX when that is not known. */
uint64_t matrix_memory(const matrix *m);

/* The seed of a round. */
uint64_t matrix_seed(const matrix *m, uint32_t round);

/* "glibc", "glibc (again)", "floor". Static text, until the next call. */
const char *matrix_arm_title(const matrix *m, const arm *a);

#endif
