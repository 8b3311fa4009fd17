#include "allocator/families.h"

/* In this order; the entries that read the whole symbol table stand last. */
static const abench__family families[] = {
    {"glibc", "gnu_get_libc_version", NULL, abench__glibc_version},
    /* not mallctl: snmalloc may export one that always fails */
    {"jemalloc", "malloc_stats_print", NULL, abench__jemalloc_version},
    {"tcmalloc", "tc_version", NULL, abench__tcmalloc_version},
    {"google-tcmalloc", "MallocExtension_Internal_GetNumericProperty", NULL, NULL},
    {"mimalloc", "mi_version", NULL, abench__mimalloc_version},
    {"tbbmalloc", "__TBB_malloc_proxy", NULL, abench__tbbmalloc_version},
    {"scudo", "__scudo_print_stats", NULL, NULL},
    {"rpmalloc", "rpmalloc", NULL, NULL},
    /* without its prefix, h_, as who replaces malloc by it builds it */
    {"hardened_malloc", "malloc_object_size_fast", NULL, NULL},
    {"mesh", "mesh_mallctl", NULL, NULL},
    /* the third stage of musl's loader, which the second looks up by name */
    {"musl", "__dls3", NULL, NULL},
    /* all that snmalloc's shim exports beyond the C functions, unless it is built with its C++
       symbols visible */
    {"snmalloc", "__malloc_end_pointer", NULL, NULL},
    {"snmalloc", NULL, "snmalloc", NULL},
    /* a C++ function; its C functions are those of every allocator made with Heap Layers */
    {"hoard", NULL, "getMainHoardHeap", NULL},
};

const abench__family *abench__family_of(const abench__object *provider)
{
    for (size_t at = 0; at < sizeof families / sizeof families[0]; at++) {
        const abench__family *family = &families[at];

        if ((family->symbol == NULL || abench__object_symbol(provider, family->symbol) != NULL) &&
            (family->part == NULL || abench__object_mentions(provider, family->part)))
            return family;
    }
    return NULL;
}
