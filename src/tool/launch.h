/*
 * launch.h - how a child of the tool is started: fork, settings, exec. (Never vfork: a vfork
 * child's prctl would be the parent's.)
 */
#ifndef ABENCH_TOOL_LAUNCH_H
#define ABENCH_TOOL_LAUNCH_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* All that decides how a child runs. Plain data: the spawner gets it through a socket. */
typedef struct launch {
    char **argv; /* argv[0] is looked up in PATH of the tool, not of envp */
    char **envp; /* the whole environment */
    int input;   /* descriptors for 0, 1, 2; -1: /dev/null */
    int output;
    int errors;
    const int *inherit; /* further descriptors that stay open, under their own numbers */
    int inherits;
    bool thp_never; /* prctl(PR_SET_THP_DISABLE) */
    bool aslr_off;  /* personality(ADDR_NO_RANDOMIZE) */
    bool has_cpus;
    cpu_set_t cpus;
} launch;

/* In a forked child: makes it the leader of a process group, applies everything and execs. Returns
 * only on failure, with errno set and *what naming the step ("exec", "cpus"...). */
void launch_exec(const launch *how, const char **what);

/* Forks and execs. Returns the pid, or -1 with errno and *what; an exec that fails is reported
 * here, not as an exit status of the child. */
pid_t launch_start(const launch *how, const char **what);

/* Kills the child's whole process group and reaps the child. */
void launch_kill(pid_t pid);

#endif
