#include "tool/watch_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/util.h"

#define KERNEL_THREAD 0x00200000ul /* PF_KTHREAD among the flags of /proc/PID/stat, proc(5) */
#define STAT_MOST     4096u

static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};

bool watch_process_prepare(watch_process *p)
{
    sigset_t set;

    memset(p, 0, sizeof *p);
    p->signals = p->pidfd = -1;
    sigemptyset(&set);
    for (size_t at = 0; at < sizeof caught / sizeof caught[0]; at++)
        sigaddset(&set, caught[at]);
    /* One that is ignored would leave wait4 without a status. */
    if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || sigprocmask(SIG_BLOCK, &set, &p->before) != 0)
        return false;
    p->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return p->signals >= 0;
}

bool watch_process_open(watch_process *p, pid_t pid)
{
    if (kill(pid, 0) != 0 && errno != EPERM)
        return false;
    p->pid = pid;
    p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    return p->pidfd >= 0 || errno != ESRCH;
}

/* ---- a process without memory ---------------------------------------------------------------- */

char *watch_process_why_none_of(pid_t pid, const char *stat)
{
    const char *behind = strrchr(stat, ')'); /* the name may hold anything */
    unsigned long flags;
    long threads;
    char state;

    /* state ppid pgrp session tty tpgid flags, four of faults, four of times, priority, nice */
    if (behind == NULL || sscanf(behind + 1,
                                 " %c %*s %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                 "%*s %ld",
                                 &state, &flags, &threads) != 3)
        return xasprintf("there is no process %ld", (long)pid);
    if ((flags & KERNEL_THREAD) != 0)
        return xasprintf("process %ld has no memory of its own (a kernel thread)", (long)pid);
    if (state == 'Z')
        return xasprintf("process %ld has no memory of its own (a zombie: %s)", (long)pid,
                         threads > 1 ? "its first thread has ended"
                                     : "it has ended, and its parent has not waited for it");
    return xasprintf("there is no process %ld", (long)pid);
}

char *watch_process_why_none(pid_t pid)
{
    char *path = xasprintf("/proc/%ld/stat", (long)pid);
    char *stat = util_read_file(path, STAT_MOST, NULL);
    char *why = watch_process_why_none_of(pid, stat == NULL ? "" : stat);

    free(stat);
    free(path);
    return why;
}

/* ---- a command ------------------------------------------------------------------------------- */

/* What the tool ignores for itself would stay ignored over exec. */
static void run_child(const watch_process *p, char **argv, int report)
{
    ssize_t written;
    int error;

    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &p->before, NULL);
    execvp(argv[0], argv);
    error = errno;
    written = write(report, &error, sizeof error);
    (void)written;
    _exit(127);
}

/* This process's own peak: what its child's ru_maxrss begins at. */
static uint64_t own_peak(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : UINT64_MAX;
}

bool watch_process_start(watch_process *p, char **argv)
{
    int ends[2], error = 0;
    ssize_t got;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    p->pid = fork();
    if (p->pid == 0)
        run_child(p, argv, ends[1]);
    error = errno;
    close(ends[1]);
    if (p->pid < 0) {
        close(ends[0]);
        errno = error;
        return false;
    }
    p->is_child = true;
    p->inherited_bytes = own_peak();
    /* The end of the pipe without a word is the exec's success: it closed the other end. */
    do
        got = read(ends[0], &error, sizeof error);
    while (got < 0 && errno == EINTR);
    close(ends[0]);
    if (got == 0)
        return true;
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    errno = got == (ssize_t)sizeof error ? error : EIO;
    return false;
}

int watch_process_exit(const watch_process *p)
{
    return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void reap(watch_process *p)
{
    struct rusage usage;

    if (!p->is_child || p->has_ended || wait4(p->pid, &p->status, WNOHANG, &usage) != p->pid)
        return;
    p->has_ended = true;
    if ((uint64_t)usage.ru_maxrss * 1024 > p->inherited_bytes)
        p->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

static void take_signals(watch_process *p)
{
    struct signalfd_siginfo info;

    while (read(p->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        if (!p->is_child)
            p->is_stopped = true;
        else if (info.ssi_code <= 0 && !p->has_ended) /* kill, and not the terminal's driver */
            kill(p->pid, (int)info.ssi_signo);
    }
    reap(p);
}

watch_event watch_process_wait(watch_process *p, uint64_t until_ns, int fd)
{
    for (;;) {
        struct pollfd polled[3] = {
            {.fd = p->signals, .events = POLLIN},
            {.fd = p->pidfd, .events = POLLIN},
            {.fd = fd, .events = POLLOUT}, /* a negative one is passed over */
        };
        const uint64_t now = abench_clock_ns();
        const uint64_t left = until_ns > now ? until_ns - now : 0;
        const struct timespec time = {.tv_sec = (time_t)(left / 1000000000),
                                      .tv_nsec = (long)(left % 1000000000)};
        if (ppoll(polled, 3, &time, NULL) < 0)
            memset(polled, 0, sizeof polled);
        take_signals(p);
        if (polled[1].revents != 0)
            p->has_ended = true;
        if (p->has_ended)
            return WATCH_ENDED;
        if (p->is_stopped)
            return WATCH_STOP;
        if (polled[2].revents != 0)
            return WATCH_WRITABLE;
        if (left == 0)
            return WATCH_TIME;
    }
}
