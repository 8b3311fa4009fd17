/*
 * command.h - one cell of `allocbench run ... -- COMMAND`: one command under one target, measured
 * from outside and proven from inside.
 *
 * What it leaves: FILE, a whole cell file (schema 1 of allocbench/run.h, with "kind": "command" in
 * the manifest), when the state is COMMAND_DONE; and the command's output, always. While it runs,
 * FILE.part is there; one that stays is a run that died.
 *
 * Metrics, all from outside:
 *
 *   wall_ns              absent when it ran in turns with others
 *   user_ns system_ns cpu_ns  absent when a process outlived its parent: nobody waited for it
 *   peak_rss_bytes       ru_maxrss by wait4: the largest single process of the command and its
 *                        reaped descendants; absent when another is known to have held more
 *   rss_floor_bytes      no command can read a lower peak_rss_bytes
 *   hwm_bytes            largest VmHWM, polled or reported by the probe: a check from below
 *   peak_tree_rss_bytes  largest sampled sums; absent when no reading fell near the peak: less than
 *   peak_tree_pss_bytes  90 % of the RSS that the tree, or one process, is known to have had
 *   minor_faults major_faults voluntary_switches involuntary_switches exit_status output_bytes
 *   processes_seen images_reported images_unseen
 *
 * A harness's own metrics follow under their names; as harness_NAME when the name is one of these.
 */
#ifndef ABENCH_TOOL_COMMAND_H
#define ABENCH_TOOL_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "tool/launch.h"
#include "tool/spawner.h"
#include "tool/target.h"

typedef struct command_options {
    spawner *spawner;
    const launch *how;    /* argv, envp with the target's LD_PRELOAD and settings in it, thp_never,
                             aslr_off, cpus. Input is /dev/null; its descriptors are not used */
    const target *target; /* who must serve malloc: its library; without one, the C library, of the
                             family that preflight found */
    const char *probe;    /* liballocbench-probe.so, under a path without space or colon */
    const char *file;     /* the cell file; its folder must exist */
    const char *output;   /* files for what the command prints; NULL: /dev/null */
    const char *errors;
    const char *name;    /* of the cell, for the manifest; NULL: argv[0] */
    const char *nonce;   /* for a harness; NULL: one is made up */
    uint64_t seed;       /* for a harness */
    uint64_t timeout_ms; /* 0: none */
    uint64_t period_us;  /* of the timeline; 0: 10000 */
    bool ignore_failure; /* an exit status other than 0 is no failure */
    bool unreached;      /* the program is known to be out of the probe's reach, and the target is
                             the C library: images that do not report are warned of, not refused */
    bool in_turns;       /* it is stopped and continued: how long it took is no measure */
    const volatile sig_atomic_t *stop;             /* NULL, or: not 0 ends the command */
    void (*tick)(uint64_t elapsed_ns, void *user); /* NULL, or: called at each look, for progress */
    void *user;
} command_options;

typedef enum command_state {
    COMMAND_DONE,
    COMMAND_FAILED,  /* it could not start, hung, was killed, or ended with another status than 0 */
    COMMAND_REFUSED, /* it ran, but not wholly on the wanted allocator; or that is not proven */
    COMMAND_STOPPED, /* by stop */
} command_state;

typedef struct command_result {
    command_state state;
    char *reason;        /* NULL when done; else one line. free() it */
    bool has_end;        /* it ran to some end, and the following are known */
    int32_t exit_status; /* 128 + the signal, when one killed it */
    uint64_t wall_ns;    /* less the time that it stood still */
    uint64_t cpu_ns;
    uint64_t peak_rss_bytes;
} command_result;

/* Runs and measures the cell; blocks until it has ended. Never leaves a process behind. */
void command_measure(const command_options *options, command_result *result);

/* The same in steps, for a command that is stopped and continued in turn with others, each with a
 * spawner of its own. begin starts it, or notes why it could not; finish must follow. */
typedef struct command_cell command_cell;
command_cell *command_begin(const command_options *options, command_result *result);

/* Looks at it for so long. true: it runs no more. */
bool command_watch(command_cell *c, uint64_t for_ns);

/* It was stopped for so long since the last look: on its clock - timeline, timeout, the result's
 * wall_ns - that time did not pass. */
void command_stood_still(command_cell *c, uint64_t for_ns);

/* Its first process; 0: it does not run. */
pid_t command_pid(const command_cell *c);

/* The most that its processes were seen to hold at one time; 0: it does not run. */
uint64_t command_memory(const command_cell *c);

/* Has it left a harness's result, with measurements of its own? */
bool command_is_harness(const command_cell *c);

/* Kills it when it still runs (COMMAND_STOPPED); judges and keeps what was measured. Frees c. */
void command_finish(command_cell *c);

#endif
