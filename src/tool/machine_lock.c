#include "tool/machine_lock.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tool/util.h"

#define LOCK_NAME  "allocbench.round"
#define AGAIN_NS   50000000 /* between tries, where the holder cannot be waited for */
#define BACKLOG    1024
#define NO_PROCESS 0

static socklen_t lock_address(struct sockaddr_un *address)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, LOCK_NAME, strlen(LOCK_NAME)); /* behind a 0: abstract */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(LOCK_NAME));
}

static int make_socket(int flags)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

/* -1 with errno: EADDRINUSE when another has it. */
static int try_lock(void)
{
    struct sockaddr_un address;
    const socklen_t size = lock_address(&address);
    const int fd = make_socket(0);
    int error;

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* A connection that ends when the holder does; -1: there is none to be had. *process: who it is,
 * NO_PROCESS: not known (of another container). */
static int reach_holder(pid_t *process)
{
    struct sockaddr_un address;
    const socklen_t size = lock_address(&address);
    const int fd = make_socket(SOCK_NONBLOCK);
    struct ucred peer;
    socklen_t length = sizeof peer;

    *process = NO_PROCESS;
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&address, size) != 0) {
        close(fd);
        return -1;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0)
        *process = peer.pid;
    return fd;
}

/* "process 123 measures a round on this machine". */
static char *tell_holder(pid_t process)
{
    if (process == NO_PROCESS)
        return xstrdup("another process measures a round on this machine");
    return xasprintf("process %ld measures a round on this machine", (long)process);
}

static void wait_for(int holder)
{
    struct pollfd watched = {.fd = holder, .events = POLLIN};
    const struct timespec pause = {0, AGAIN_NS};

    if (holder < 0 || poll(&watched, 1, -1) <= 0)
        nanosleep(&pause, NULL);
}

static void say_waiting(pid_t process)
{
    char *who = tell_holder(process);
    char *line = xasprintf("%s: this one waits for it (--no-wait: refuse)", who);

    util_say(line);
    free(line);
    free(who);
}

static void refuse(pid_t process, char *message, size_t message_size)
{
    char *who = tell_holder(process);

    snprintf(message, message_size, "%s, and two would disturb each other (--no-wait)", who);
    free(who);
}

int machine_lock_take(bool wait, char *message, size_t message_size)
{
    bool has_said = false;
    int fd;

    while ((fd = try_lock()) < 0) {
        pid_t process;
        int holder;
        if (errno != EADDRINUSE) {
            snprintf(message, message_size, "the lock of the machine cannot be taken: %s",
                     strerror(errno));
            return -1;
        }
        holder = reach_holder(&process);
        if (wait && !has_said)
            say_waiting(process);
        has_said = true;
        if (wait)
            wait_for(holder);
        else
            refuse(process, message, message_size);
        if (holder >= 0)
            close(holder);
        if (!wait)
            return -1;
    }
    return fd;
}
