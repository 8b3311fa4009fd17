/* spin.h - how fast this CPU is now: a fixed piece of integer work, timed. */
#ifndef ABENCH_MACHINE_SPIN_H
#define ABENCH_MACHINE_SPIN_H

#include <stdint.h>

/* The shortest of five times of the same work, some 2 ms each, in nanoseconds: what disturbs one
 * only makes it longer. It touches no memory and depends on the core's speed alone. Any thread. */
uint64_t abench__spin_ns(void);

#endif
