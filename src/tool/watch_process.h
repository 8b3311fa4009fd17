/*
 * watch_process.h - the process that is watched: one that runs already, or a command that is
 * started here; and waiting for what comes first, its end, the time of the next look, or an
 * interrupt.
 *
 * Signals are taken from a descriptor, so that none can fall between a look and a wait.
 */
#ifndef ABENCH_TOOL_WATCH_PROCESS_H
#define ABENCH_TOOL_WATCH_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum watch_event {
    WATCH_TIME,     /* the time has come */
    WATCH_WRITABLE, /* what was asked for can be written to */
    WATCH_ENDED,    /* the process is no more */
    WATCH_STOP,     /* it goes on, but the watch shall end: SIGINT, SIGQUIT, ... */
} watch_event;

typedef struct watch_process {
    pid_t pid;
    bool is_child;
    bool has_ended;
    bool is_stopped;          /* WATCH_STOP was seen */
    int status;               /* of a child that has ended, as wait4 gives it */
    uint64_t peak_rss_bytes;  /* of a child that has ended: ru_maxrss, the largest one process among
                                 it and those that it waited for; 0: it says nothing, because a
                                 program inherits the peak of the one that started it */
    uint64_t inherited_bytes; /* what it inherited */
    int signals;              /* signalfd */
    int pidfd;                /* -1: the kernel has none, or it is a child */
    sigset_t before;          /* the mask that a child gets */
} watch_process;

/* Blocks the signals. First of all, before open or start. false with errno. */
bool watch_process_prepare(watch_process *p);

/* A process that runs already. false with errno: ESRCH, there is no such process. */
bool watch_process_open(watch_process *p, pid_t pid);

/* Why there is no memory to be seen of pid, by its /proc/PID/stat: "process 2 has no memory of its
 * own (a kernel thread)", or a zombie; "there is no process 2" where that tells nothing. free() it.
 */
char *watch_process_why_none(pid_t pid);

/* The same of the text of a stat, which comes from the kernel and holds a name that the process
 * chose. */
char *watch_process_why_none_of(pid_t pid, const char *stat);

/* Starts argv (argv[0] is looked up in PATH) in this process group, with this process's standard
 * descriptors, and returns when its exec has succeeded. false with errno. */
bool watch_process_start(watch_process *p, char **argv);

/* Waits until abench_clock_ns() is until_ns, or for the end, or a signal; with fd >= 0 also until
 * fd can be written to. A signal that was sent to this process alone is passed on to a child; one
 * that the terminal sent has reached it already. Once the process has ended: WATCH_ENDED. */
watch_event watch_process_wait(watch_process *p, uint64_t until_ns, int fd);

/* The exit status of a child that has ended: its own, 128 and the signal that killed it. */
int watch_process_exit(const watch_process *p);

#endif
