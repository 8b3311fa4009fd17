#include "tool/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child that could not exec tells its parent. Both are one program at the same addresses, so
 * the text of the one is the text of the other. */
typedef struct failure {
    const char *what;
    int error;
} failure;

static bool reset_signals(void)
{
    struct sigaction plain;
    sigset_t none;

    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    /* SIGKILL, SIGSTOP and the two that libc keeps for itself refuse; they need nothing. */
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &plain, NULL);
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) == 0;
}

/* Puts the three on 0, 1 and 2. They may stand there already, crossed: so copy first, then place.
 */
static bool place_standard(const launch *how)
{
    const int wanted[3] = {how->input, how->output, how->errors};
    int copies[3];

    for (int at = 0; at < 3; at++) {
        int source = wanted[at];
        if (source < 0) {
            source = open("/dev/null", O_RDWR | O_CLOEXEC);
            if (source < 0)
                return false;
        }
        copies[at] = fcntl(source, F_DUPFD_CLOEXEC, 3);
        if (copies[at] < 0)
            return false;
    }
    for (int at = 0; at < 3; at++)
        if (dup2(copies[at], at) < 0)
            return false;
    return true;
}

/* exec closes what is marked; so mark everything, then take the mark off what stays. */
static bool close_others(const launch *how)
{
    if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) != 0) {
        const long most = sysconf(_SC_OPEN_MAX); /* a kernel before 5.11 */
        for (int fd = 3; fd < (most > 0 ? most : 1024); fd++)
            (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    for (int at = 0; at < how->inherits; at++)
        if (fcntl(how->inherit[at], F_SETFD, 0) != 0)
            return false;
    return true;
}

void launch_exec(const launch *how, const char **what)
{
    *what = "process group";
    if (setpgid(0, 0) != 0)
        return;
    *what = "signals";
    if (!reset_signals())
        return;
    *what = "input and output";
    if (!place_standard(how))
        return;
    *what = "descriptors";
    if (!close_others(how))
        return;
    *what = "thp";
    if (how->thp_never && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        return;
    *what = "aslr";
    if (how->aslr_off) {
        const int now = personality(0xffffffff);
        if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
            return;
    }
    *what = "cpus";
    if (how->has_cpus && sched_setaffinity(0, sizeof how->cpus, &how->cpus) != 0)
        return;
    *what = "exec";
    execvpe(how->argv[0], how->argv, how->envp);
}

/* The child dies with its parent: a killed tool leaves nothing running. */
static void follow_parent(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(127);
}

static void run_child(const launch *how, int report, pid_t parent)
{
    failure failed = {"", 0};
    ssize_t written;

    follow_parent(parent);
    launch_exec(how, &failed.what);
    failed.error = errno;
    written = write(report, &failed, sizeof failed); /* below PIPE_BUF: whole or not at all */
    (void)written;
    _exit(127);
}

/* Forks with every signal held back, so that no handler of the tool runs in the child. */
static pid_t fork_quietly(const launch *how, int report)
{
    const pid_t parent = getpid();
    sigset_t all, before;
    pid_t pid;
    int error;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        run_child(how, report, parent);
    error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

static ssize_t read_failure(int fd, failure *failed)
{
    ssize_t got;

    do
        got = read(fd, failed, sizeof *failed);
    while (got < 0 && errno == EINTR);
    return got;
}

pid_t launch_start(const launch *how, const char **what)
{
    failure failed = {"", 0};
    int ends[2];
    pid_t pid;
    ssize_t got;
    int error;

    *what = "pipe";
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    *what = "fork";
    pid = fork_quietly(how, ends[1]);
    error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = error;
        return -1;
    }
    /* The end of the pipe without a word is the exec's success: it closed the other end. */
    got = read_failure(ends[0], &failed);
    close(ends[0]);
    if (got == 0)
        return pid;
    launch_kill(pid);
    *what = got == (ssize_t)sizeof failed ? failed.what : "report";
    errno = got == (ssize_t)sizeof failed ? failed.error : EIO;
    return -1;
}

void launch_kill(pid_t pid)
{
    if (pid <= 1)
        return;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL); /* in case it never came to lead its group */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
