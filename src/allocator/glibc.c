#include "allocator/families.h"

#include "base/text.h"

void abench__glibc_version(const abench__object *provider, char *version, uint32_t size)
{
    const abench__function symbol = abench__object_function(provider, "gnu_get_libc_version");

    if (symbol != NULL)
        abench__copy(version, size, ((const char *(*)(void))symbol)());
}
