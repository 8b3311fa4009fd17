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
    bool is_decided; /* its verdicts are told: it gets no more rounds (until.h) */
    uint32_t rounds; /* that it is to have, those too that do not hold every target named now */
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
    uint32_t rounds;      /* that each workload is to have, of the targets named now; 0: look at
                             the rounds that are there (more_rounds, until_decided) */
    uint32_t more_rounds; /* --rounds +N: more than the most that any workload has */
    uint32_t max_rounds;  /* of --until-decided; 0: no bound */
    uint32_t looks;       /* 3: of a directory whose rounds are looked at as they come; else 1 */
    uint32_t look_rounds; /* it is looked at so many, at twice and at four times as many; 0: none */
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
    bool until_decided;
    bool one_round; /* only this one of every workload is run, if it is not there */
    uint32_t round;
    bool is_unfinished;      /* a call is under way, or was killed */
    bool told_kept;          /* how many rounds were there already was said */
    bool padding;            /* each cell's environment has a length of its own */
    bool interleave;         /* commands of a round run in turn, stopped and continued */
    char *cpus;              /* of every target that names none; NULL: all */
    struct plan *plan;       /* this call, to be written down */
    struct json_t *machines; /* of a merged directory (merge.h), as they are there; else NULL */
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
    bool apart;  /* commands that cannot take turns (--interleave): it was found so */
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

/* Frees its workloads and its notes. */
void matrix_clear_work(matrix *m);

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
