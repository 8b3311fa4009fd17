/*
 * The tool's side of the spawner: asks, and reads the answers.
 */
#include "tool/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/spawner_wire.h"
#include "tool/util.h"

#define PAYLOAD_MOST (256u << 20)

struct spawner {
    pid_t pid;
    int socket;
    pid_t command; /* that runs; 0: none */
    bool killing;
};

spawner *spawner_start(void)
{
    const pid_t tool = getpid();
    spawner *s = NULL;
    int ends[2], error;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return NULL;
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        spawner_serve(ends[1], tool);
    }
    error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = error;
        return NULL;
    }
    s = xcalloc(1, sizeof *s);
    s->pid = pid;
    s->socket = ends[0];
    return s;
}

static size_t list_bytes(char *const *list, uint32_t *count)
{
    size_t bytes = 0;

    for (*count = 0; list[*count] != NULL; (*count)++)
        bytes += strlen(list[*count]) + 1;
    return bytes;
}

static char *list_copy(char *at, char *const *list)
{
    for (; *list != NULL; list++) {
        const size_t length = strlen(*list) + 1;
        memcpy(at, *list, length);
        at += length;
    }
    return at;
}

static bool send_text(int socket, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(socket, text, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        text += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool send_request(int socket, const spawner_request *asked, const int *descriptors,
                         int count)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * SPAWNER_DESCRIPTORS_MOST)];
    } control;
    struct iovec part;
    struct msghdr message = {0};
    ssize_t sent;

    part.iov_base = (void *)(uintptr_t)asked;
    part.iov_len = sizeof *asked;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
        memcpy(CMSG_DATA(&control.header), descriptors, sizeof(int) * (size_t)count);
    }
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    /* A request fits the socket's buffer: it goes whole or not at all. */
    return sent == (ssize_t)sizeof *asked;
}

/* Fills the request; returns how many descriptors go with it, or -1 when they are too many. */
static int describe(const launch *how, spawner_request *asked, int *descriptors)
{
    const int standard[3] = {how->input, how->output, how->errors};
    int count = 0;

    if (how->inherits < 0 || how->inherits > SPAWNER_INHERITS_MOST)
        return -1;
    memset(asked, 0, sizeof *asked);
    asked->kind = SPAWNER_RUN;
    asked->bytes = list_bytes(how->argv, &asked->argc) + list_bytes(how->envp, &asked->envc);
    asked->inherits = (uint32_t)how->inherits;
    asked->thp_never = how->thp_never;
    asked->aslr_off = how->aslr_off;
    asked->has_cpus = how->has_cpus;
    asked->cpus = how->cpus;
    for (int at = 0; at < 3; at++) {
        asked->standard[at] = standard[at] < 0 ? -1 : at;
        if (standard[at] >= 0)
            descriptors[count++] = standard[at];
    }
    for (int at = 0; at < how->inherits; at++) {
        asked->numbers[at] = how->inherit[at];
        descriptors[count++] = how->inherit[at];
    }
    return count;
}

static bool receive_answer(spawner *s, spawner_answer *message, char *text, size_t text_size)
{
    const ssize_t got = util_read_all(s->socket, message, sizeof *message);

    if (got == (ssize_t)sizeof *message)
        return true;
    snprintf(text, text_size, "the process that starts commands (pid %ld) has died", (long)s->pid);
    return false;
}

spawner *spawner_another(spawner *s)
{
    spawner_request asked = {0};
    spawner_answer reply = {0};
    spawner *other;
    char text[128];
    int ends[2];
    bool answered;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return NULL;
    asked.kind = SPAWNER_ANOTHER;
    answered = send_request(s->socket, &asked, &ends[1], 1) &&
               receive_answer(s, &reply, text, sizeof text);
    close(ends[1]);
    if (!answered || reply.kind != SPAWNER_BEGUN) {
        close(ends[0]);
        errno = answered ? reply.error : ESRCH;
        return NULL;
    }
    other = xcalloc(1, sizeof *other);
    other->pid = reply.begun.pid;
    other->socket = ends[0];
    return other;
}

bool spawner_follow(spawner *s)
{
    spawner_request asked = {.kind = SPAWNER_FOLDER};
    spawner_answer reply = {0};
    char text[128];
    const int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool answered;

    if (folder < 0)
        return false;
    answered =
        send_request(s->socket, &asked, &folder, 1) && receive_answer(s, &reply, text, sizeof text);
    close(folder);
    errno = answered ? reply.error : ESRCH;
    return answered && reply.kind == SPAWNER_BEGUN;
}

bool spawner_run(spawner *s, const launch *how, spawner_begun *begun, char *message,
                 size_t message_size)
{
    int descriptors[SPAWNER_DESCRIPTORS_MOST];
    spawner_request asked;
    spawner_answer reply;
    char *text;
    bool sent;
    const int count = describe(how, &asked, descriptors);

    if (count < 0 || asked.argc == 0 || asked.bytes > PAYLOAD_MOST) {
        snprintf(message, message_size, "cannot run %s: %s",
                 how->argv[0] == NULL ? "nothing" : how->argv[0],
                 count < 0 ? "too many descriptors" : strerror(E2BIG));
        return false;
    }
    s->killing = false;
    text = xmalloc(asked.bytes);
    list_copy(list_copy(text, how->argv), how->envp);
    sent = send_request(s->socket, &asked, descriptors, count) &&
           send_text(s->socket, text, asked.bytes);
    free(text);
    if (!sent) {
        snprintf(message, message_size, "cannot run %s: the process that starts commands: %s",
                 how->argv[0], strerror(errno));
        return false;
    }
    if (!receive_answer(s, &reply, message, message_size))
        return false;
    if (reply.kind != SPAWNER_BEGUN) {
        reply.what[sizeof reply.what - 1] = '\0';
        if (strcmp(reply.what, "exec") == 0)
            snprintf(message, message_size, "cannot run %s: %s", how->argv[0],
                     strerror(reply.error));
        else
            snprintf(message, message_size, "cannot run %s: %s: %s", how->argv[0], reply.what,
                     strerror(reply.error));
        return false;
    }
    *begun = reply.begun;
    s->command = reply.begun.pid;
    return true;
}

int spawner_fd(const spawner *s)
{
    return s->socket;
}

void spawner_kill(spawner *s)
{
    spawner_request asked = {0};

    if (s->killing)
        return;
    s->killing = true;
    asked.kind = SPAWNER_KILL;
    /* When it cannot be sent the spawner is dead, and spawner_wait will say so. */
    (void)send_request(s->socket, &asked, NULL, 0);
}

bool spawner_wait(spawner *s, spawner_end *end, char *message, size_t message_size)
{
    const pid_t command = s->command;
    spawner_answer reply;

    s->command = 0;
    if (!receive_answer(s, &reply, message, message_size)) {
        /* The command died with the spawner; what is left of its group is all we can name. */
        if (command > 0)
            kill(-command, SIGKILL);
        return false;
    }
    *end = reply.end;
    end->leftover_names[sizeof end->leftover_names - 1] = '\0';
    return true;
}

pid_t spawner_pid(const spawner *s)
{
    return s->pid;
}

void spawner_destroy(spawner *s)
{
    if (s == NULL)
        return;
    close(s->socket);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(s);
}
