/* phase_name.h - names of phases that say a size or a number: "to-64k", "shift-12-to-256". */
#ifndef ABENCH_WORKLOAD_PHASE_NAME_H
#define ABENCH_WORKLOAD_PHASE_NAME_H

#include <stdint.h>

#define ABENCH__PHASE_NAME_MAX 32 /* bytes, with the terminator: as abench_phase has them */

/* "PREFIX-SIZE", where 65536 bytes are 64k. Returns name. */
const char *abench__phase_of_size(char name[ABENCH__PHASE_NAME_MAX], const char *prefix,
                                  uint64_t bytes);

/* "PREFIX-NUMBER". Returns name. */
const char *abench__phase_of_number(char name[ABENCH__PHASE_NAME_MAX], const char *prefix,
                                    uint64_t number);

#endif
