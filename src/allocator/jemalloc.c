#include "allocator/families.h"

#include "base/text.h"

typedef int control(const char *name, void *old, size_t *old_size, void *new_value,
                    size_t new_size);

/* The first mallctl of a process builds jemalloc's table of names, in pages of its own and not in
 * an arena. */
void abench__jemalloc_version(const abench__object *provider, char *version, uint32_t size)
{
    const abench__function symbol = abench__object_function(provider, "mallctl");
    const char *told = NULL;
    size_t told_size = sizeof told;

    if (symbol != NULL && ((control *)symbol)("version", &told, &told_size, NULL, 0) == 0 &&
        told != NULL)
        abench__copy(version, size, told);
}
