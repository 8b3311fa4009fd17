#include "base/options.h"

#include <string.h>

abench_status abench__options_read(void *mine, uint32_t my_size, const void *theirs,
                                   uint32_t first_release)
{
    uint32_t their_size;

    if (theirs == NULL)
        return ABENCH_OK;
    memcpy(&their_size, theirs, sizeof their_size);
    if (their_size < first_release)
        return ABENCH_ERROR_ARGUMENT;
    for (uint32_t at = my_size; at < their_size; at++)
        if (((const unsigned char *)theirs)[at] != 0)
            return ABENCH_ERROR_ARGUMENT;
    memcpy(mine, theirs, their_size < my_size ? their_size : my_size);
    memcpy(mine, &my_size, sizeof my_size);
    return ABENCH_OK;
}

abench_status abench__options_write(void *theirs, const void *mine, uint32_t my_size,
                                    uint32_t first_release)
{
    uint32_t their_size;

    if (theirs == NULL)
        return ABENCH_ERROR_ARGUMENT;
    memcpy(&their_size, theirs, sizeof their_size);
    if (their_size < first_release)
        return ABENCH_ERROR_ARGUMENT;
    memcpy(theirs, mine, their_size < my_size ? their_size : my_size);
    memcpy(theirs, &their_size, sizeof their_size);
    return ABENCH_OK;
}
