#include "identity/child.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void exec_child(const child *c, const int *pipe_ends)
{
    dup2(pipe_ends[1], 1);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    if (c->prepare != NULL)
        c->prepare(c->user);
    execve(c->argv[0], c->argv, c->envp);
    _exit(127);
}

void child_run(child *c)
{
    int pipe_ends[2];
    size_t length = 0;
    ssize_t got = 1;
    pid_t pid;

    c->status = -1;
    c->output[0] = '\0';
    if (pipe(pipe_ends) != 0)
        return;
    pid = fork();
    if (pid == 0)
        exec_child(c, pipe_ends);
    close(pipe_ends[1]);
    while (pid > 0 && got > 0 && length < sizeof c->output - 1) {
        got = read(pipe_ends[0], c->output + length, sizeof c->output - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    c->output[length] = '\0';
    close(pipe_ends[0]);
    if (pid > 0 && waitpid(pid, &c->status, 0) != pid)
        c->status = -1;
}

const char *child_value(const child *c, const char *key, char *value, size_t size)
{
    const size_t key_length = strlen(key);
    const char *line = c->output;

    value[0] = '\0';
    while (line != NULL && *line != '\0') {
        const size_t length = strcspn(line, "\n");

        if (strncmp(line, key, key_length) == 0 && line[key_length] == '=') {
            size_t rest = length - key_length - 1;
            if (rest > size - 1)
                rest = size - 1;
            memcpy(value, line + key_length + 1, rest);
            value[rest] = '\0';
            break;
        }
        line = line[length] == '\n' ? line + length + 1 : NULL;
    }
    return value;
}
