/* plugin.c - a library that holds 4 MiB of whatever malloc it is bound to. */
#include <stdlib.h>
#include <string.h>

void plugin_hold(void);

static void *held[64];

void plugin_hold(void)
{
    for (size_t at = 0; at < 64; at++) {
        held[at] = malloc(65536);
        if (held[at] != NULL)
            memset(held[at], 1, 65536);
    }
}
