#include "allocator/families.h"

#include "base/text.h"

/* gperftools' tcmalloc. Google's other one, which has MallocExtension_Internal_... instead, tells
 * no version. */
void abench__tcmalloc_version(const abench__object *provider, char *version, uint32_t size)
{
    const abench__function symbol = abench__object_function(provider, "tc_version");
    const char *patch = NULL;
    const char *told;
    int major = 0, minor = 0;

    if (symbol == NULL)
        return;
    told = ((const char *(*)(int *, int *, const char **))symbol)(&major, &minor, &patch);
    if (told != NULL)
        abench__copy(version, size, told);
}
