/* hoard.c - Hoard. Read: github.com/emeryberger/Hoard, src/source/libhoard.cpp; it was not run
 * against. It exports its malloc and nothing that tells of it. */
#include "allocator/account.h"

const abench__teller abench__hoard_teller = {.family = "hoard"};
