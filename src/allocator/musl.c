/* musl.c - musl's own malloc. Run against: 1.2.3. It exports no statistics, no settings, and no
 * call that gives memory back. */
#include "allocator/account.h"

const abench__teller abench__musl_teller = {.family = "musl", .marker = "__dls3"};
