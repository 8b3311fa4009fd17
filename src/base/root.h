/* root.h - a square root in integers: no floating point, no libm. */
#ifndef ABENCH_BASE_ROOT_H
#define ABENCH_BASE_ROOT_H

#include <stdint.h>

/* The square root, rounded down. */
uint64_t abench__square_root(uint64_t value);

#endif
