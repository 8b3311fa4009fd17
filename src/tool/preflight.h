/*
 * preflight.h - the proof, before anything is timed, that each target's allocator is the one that
 * serves: asked inside a child that runs as the cells will.
 */
#ifndef ABENCH_TOOL_PREFLIGHT_H
#define ABENCH_TOOL_PREFLIGHT_H

#include <signal.h>

#include "tool/target.h"

/* Runs CELL --identify under t and keeps what it says in t->identity. false with one line in
 * message that names what malloc really resolves to. *stop not 0 ends the wait; stop may be NULL.
 */
bool preflight_target(target *t, const char *cell, bool keep_environment,
                      const volatile sig_atomic_t *stop, char *message, size_t message_size);

/* Is this identity what t asks for? false with one line in message. Used for every cell too. */
bool preflight_check(const target *t, const abench_identity *identity, char *message,
                     size_t message_size);

/* Is it the very object that preflight has seen? false with one line in message: a library that was
 * replaced in the middle must not be pooled under one name. */
bool preflight_same(const target *t, const abench_identity *identity, char *message,
                    size_t message_size);

/* The same asked of the file, before a cell whose identity is not at hand. */
bool preflight_unchanged(const target *t, char *message, size_t message_size);

#endif
