/*
 * spawner.h - a small process that starts the measured commands.
 *
 * The kernel gives a new program the peak RSS of the process that it was forked from (ru_maxrss
 * survives exec). So the tool forks this process before it grows, and lets it do all forking: what
 * wait4 tells then begins at its own size, about 1 MB, which is measured and reported for each
 * command. It is also the nearest reaper: whatever the command leaves behind becomes its child, is
 * named, and killed. It dies with the tool, and the command with it.
 */
#ifndef ABENCH_TOOL_SPAWNER_H
#define ABENCH_TOOL_SPAWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tool/launch.h"

typedef struct spawner spawner;

/* What is known when the command runs. */
typedef struct spawner_begun {
    pid_t pid;
    uint64_t start_ns;    /* abench_clock_ns before the fork */
    uint64_t floor_bytes; /* ru_maxrss of a child that went as far as the exec: no command can
                             read lower */
} spawner_begun;

/* What is known when it has ended and nothing of it is left. */
typedef struct spawner_end {
    uint64_t end_ns;  /* abench_clock_ns after wait4 */
    int status;       /* as wait4 gives it */
    uint32_t killed;  /* 1: spawner_kill was asked for before it ended */
    uint64_t user_ns; /* of the command and all descendants that were waited for */
    uint64_t system_ns;
    uint64_t peak_rss_bytes; /* ru_maxrss: the largest single process among these */
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    uint32_t orphans; /* descendants that outlived their parent, and ended before the command did */
    uint32_t leftovers; /* descendants that outlived the command and were killed */
    uint32_t survivors; /* of these, those that could not be killed within 5 s */
    uint32_t reserved;
    uint64_t orphans_peak_rss_bytes; /* largest ru_maxrss of orphans and leftovers */
    char leftover_names[96];         /* the first few: "sleep (123), cat (124)" */
    char last_name[16]; /* the command's own process's name (comm) at its end: that of the last
                           program that it ran, unless that gave itself another. "": unknown */
} spawner_end;

/* Forks the spawner; do it first of all. NULL with errno. One thread. */
spawner *spawner_start(void);

/* Another one, for a command that is to be alive at the same time: forked by s, which is as small
 * as on its first day, and must run no command now. A child of this process like s. NULL with
 * errno. */
spawner *spawner_another(spawner *s);

/* Has s run its commands in the folder that this process is in now. Not while one runs. false with
 * errno. */
bool spawner_follow(spawner *s);

/* Starts a command and returns when its exec has succeeded. One at a time. On failure returns false
 * and message holds one line: what could not be done, and why. */
bool spawner_run(spawner *s, const launch *how, spawner_begun *begun, char *message,
                 size_t message_size);

/* Becomes readable when the command has ended, or the spawner died: for poll. */
int spawner_fd(const spawner *s);

/* Kills the command and every descendant with SIGKILL; spawner_wait tells when it is done. */
void spawner_kill(spawner *s);

/* Waits until the command has ended and its leftovers are dead. false: the spawner itself died. */
bool spawner_wait(spawner *s, spawner_end *end, char *message, size_t message_size);

/* Below it hangs every process of the command. */
pid_t spawner_pid(const spawner *s);

/* Ends the spawner; a command that still runs is killed. accepts NULL. */
void spawner_destroy(spawner *s);

#endif
