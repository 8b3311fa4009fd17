#include "tool/padding.h"

#include <stdlib.h>
#include <string.h>

#include <allocbench/random.h>

#include "tool/util.h"

#define PURPOSE_PADDING (ABENCH_PURPOSE_USER + 5)

uint32_t padding_bytes(const matrix *m, size_t workload, uint32_t round, const arm *a)
{
    /* The floor's target is ~0: its place is the one before the first. */
    const uint64_t place = 4 * ((uint64_t)a->target + 1) + 2u * a->again + a->tails;
    abench_random random;

    if (!m->padding)
        return 0;
    abench_random_seed(&random, m->seed + round, (uint64_t)workload << 32 | place, PURPOSE_PADDING);
    return (uint32_t)abench_random_below(&random, PADDING_MOST + 1);
}

char *padding_variable(const matrix *m, size_t workload, uint32_t round, const arm *a)
{
    static const char name[] = "ALLOCBENCH_PADDING=";
    const size_t length = strlen(name), bytes = padding_bytes(m, workload, round, a);
    char *text = xmalloc(length + bytes + 1);

    memcpy(text, name, length);
    memset(text + length, 'x', bytes);
    text[length + bytes] = '\0';
    return text;
}
