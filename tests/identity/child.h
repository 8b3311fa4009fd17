/*
 * child.h - runs a small program with an environment of its own and keeps what it said.
 */
#ifndef ABENCH_TESTS_IDENTITY_CHILD_H
#define ABENCH_TESTS_IDENTITY_CHILD_H

#include <stddef.h>

typedef struct child {
    char *const *argv;
    char *const *envp;
    void (*prepare)(void *user); /* in the child, before exec; NULL: nothing */
    void *user;
    int status;        /* as waitpid says it; -1 when it could not be started */
    char output[8192]; /* of its standard output; cut to fit */
} child;

/* Runs argv[0] (a path) to its end. Standard error stays the test's. */
void child_run(child *c);

/* The value behind KEY= at the start of a line of the output, copied to value; "" when there is
 * none. Returns value. */
const char *child_value(const child *c, const char *key, char *value, size_t size);

#endif
