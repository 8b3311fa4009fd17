/*
 * machine_lock.h - one round at a time on a machine: what allocbench round holds while it measures.
 *
 * The lock is the abstract Unix socket "allocbench.round": a name that no file stands behind. The
 * kernel gives it to one process and takes it back when that ends, however it ends; nothing can be
 * planted in its place (as in /tmp), and nothing is left over. It is one for all that share a
 * network: a container with a network of its own has its own lock. Anybody may take the name;
 * whoever holds it is named by his process id.
 */
#ifndef ABENCH_TOOL_MACHINE_LOCK_H
#define ABENCH_TOOL_MACHINE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the lock for as long as this process lives, or the descriptor that is returned is open. It
 * waits while another holds it, and says so once; with no wait, or when there can be no such
 * socket, it returns -1 with one line in message. */
int machine_lock_take(bool wait, char *message, size_t message_size);

#endif
