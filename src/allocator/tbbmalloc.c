#include "allocator/families.h"

#include <string.h>

#include "base/text.h"

/* What libtbbmalloc prints when TBB_VERSION=1 is in the environment. */
static const char heading[] = "TBBmalloc: VERSION";

/* The proxy that provides malloc has no version, and libtbbmalloc behind it no function that tells
 * one: it is read where it stands, in the data. */
void abench__tbbmalloc_version(const abench__object *provider, char *version, uint32_t size)
{
    abench__object library;
    const char *at, *end;
    uint32_t length = 0;

    (void)provider;
    if (!abench__objects_find("scalable_allocation_command", &library))
        return;
    at = abench__object_text(&library, heading, &end);
    if (at == NULL)
        return;
    for (at += strlen(heading); at < end && (*at == '\t' || *at == ' '); at++)
        ;
    for (; at < end && length + 1 < size && ((*at >= '0' && *at <= '9') || *at == '.'); at++)
        version[length++] = *at;
    version[length] = '\0';
}
