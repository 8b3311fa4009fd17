#include "sampler/helper.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#if ABENCH__HELPER_POSSIBLE

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#define BY_PIDFD 3 /* P_PIDFD of waitid(2) */

static void wait_for_end(int kind, int id)
{
    siginfo_t end;
    long result;

    do
        result = syscall(SYS_waitid, kind, id, &end, WEXITED | __WALL, NULL);
    while (result < 0 && errno == EINTR);
}

/* Killed, because it may stand still, and it has nothing to tidy up; where that is not allowed it
 * ends when its socket does. By its descriptor, because its number may be another process's if the
 * host has waited for all of its children. */
static void kill_and_reap(abench__helper *helper)
{
    syscall(SYS_pidfd_send_signal, helper->pidfd, SIGKILL, NULL, 0);
    close(helper->socket);
    wait_for_end(BY_PIDFD, helper->pidfd);
    close(helper->pidfd);
    helper->pidfd = -1;
    helper->socket = -1;
}

/* 1: it has answered so. */
static int await_answer(abench__helper *helper, char wanted)
{
    const uint64_t begun_ns = abench_clock_ns();
    struct pollfd ends[2] = {{helper->socket, POLLIN, 0}, {helper->pidfd, POLLIN, 0}};
    int ready;

    do {
        const uint64_t waited_ms = (abench_clock_ns() - begun_ns) / 1000000u;
        ready = poll(ends, 2,
                     waited_ms < helper->patience_ms ? (int)(helper->patience_ms - waited_ms) : 0);
    } while (ready < 0 && errno == EINTR);
    if (ready > 0 && ends[0].revents != 0) {
        char byte;
        return recv(helper->socket, &byte, 1, MSG_DONTWAIT) == 1 && byte == wanted;
    }
    return 0;
}

static abench_status ask(abench__helper *helper, char byte)
{
    if (helper->pidfd < 0)
        return ABENCH_ERROR_STATE;
    if (send(helper->socket, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 &&
        await_answer(helper, byte))
        return ABENCH_OK;
    kill_and_reap(helper);
    return ABENCH_ERROR_STATE;
}

/* What this process is called in /proc, which may be that of another namespace. 0: unknown. */
static int32_t number_in_proc(void)
{
    char text[24];
    const char *at = text;
    const ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    uint64_t number;

    if (length <= 0)
        return 0;
    text[length] = '\0';
    return abench__parse_u64(&at, &number) && *at == '\0' && number <= INT32_MAX ? (int32_t)number
                                                                                 : 0;
}

/* The host's signals are not for the helper, which blocks all from its first moment: those that a
 * terminal sends to the whole group either end the host, and then it ends too, or do not. */
static pid_t clone_helper(abench__helper *helper)
{
    sigset_t all, before;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = clone(abench__helper_run, helper->shared + ABENCH__HELPER_STACK_BYTES, CLONE_PIDFD,
                helper, &helper->pidfd);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

/* For each tier that is asked for, something of it could be read. */
static int reads_enough(const abench__helper *helper)
{
    static const struct {
        uint32_t tier;
        uint64_t bits;
    } rows[] = {
        {ABENCH_TIER_STATM, ABENCH_MEMORY_RSS},
        {ABENCH_TIER_STATUS, ABENCH_MEMORY_RSS_ANON | ABENCH_MEMORY_THREADS},
        {ABENCH_TIER_ROLLUP, ABENCH_MEMORY_PSS},
        {ABENCH_TIER_FAULTS, ABENCH_MEMORY_MINOR_FAULTS},
        {ABENCH_TIER_SCHEDULE, ABENCH_MEMORY_VOLUNTARY_SWITCHES | ABENCH_MEMORY_RUN_WAIT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((abench__pace_tiers(helper->pace) & rows[i].tier) != 0 &&
            (helper->trial_valid & rows[i].bits) == 0)
            return 0;
    return 1;
}

abench_status abench__helper_create(abench__helper *helper)
{
    int ends[2];
    pid_t pid;

    helper->owner = getpid();
    helper->owner_number = number_in_proc();
    helper->pidfd = -1;
    if (helper->owner_number == 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return ABENCH_ERROR_UNSUPPORTED;
    helper->socket = ends[0];
    helper->its_socket = ends[1];
    pid = clone_helper(helper);
    close(ends[1]);
    if (helper->pidfd < 0) {
        if (pid > 0) /* before Linux 5.2; it ends by itself, for it misses a system call too */
            wait_for_end(P_PID, pid);
        close(ends[0]);
        return ABENCH_ERROR_UNSUPPORTED;
    }
    if (await_answer(helper, ABENCH__ASK_READY) && reads_enough(helper))
        return ABENCH_OK;
    kill_and_reap(helper);
    return ABENCH_ERROR_UNSUPPORTED;
}

abench_status abench__helper_start(abench__helper *helper)
{
    const abench_status status = ask(helper, ABENCH__ASK_RUN);

    if (status != ABENCH_OK) /* it may have been killed between the clock's start and its answer */
        abench__timeline_halt(&helper->pace->timeline, abench_clock_ns());
    return status;
}

abench_status abench__helper_stop(abench__helper *helper)
{
    /* At once: a dear reading that is under way is not the run's time. */
    abench__timeline_halt(&helper->pace->timeline, abench_clock_ns());
    return ask(helper, ABENCH__ASK_STOP);
}

void abench__helper_end(abench__helper *helper)
{
    if (helper->pidfd >= 0)
        kill_and_reap(helper);
}

void abench__helper_forget(const abench__helper *helper)
{
    if (helper->pidfd < 0)
        return;
    close(helper->pidfd);
    close(helper->socket);
}

#else

abench_status abench__helper_create(abench__helper *helper)
{
    (void)helper;
    return ABENCH_ERROR_UNSUPPORTED;
}

abench_status abench__helper_start(abench__helper *helper)
{
    (void)helper;
    return ABENCH_ERROR_STATE;
}

abench_status abench__helper_stop(abench__helper *helper)
{
    (void)helper;
    return ABENCH_ERROR_STATE;
}

void abench__helper_end(abench__helper *helper)
{
    (void)helper;
}

void abench__helper_forget(const abench__helper *helper)
{
    (void)helper;
}

#endif
