/* environment.c - which variables steer an allocator: recorded in results, cleared by the tool. */
#include <string.h>

#include <allocbench/allocator.h>

/* A name that ends in '*' stands for all that begin so. */
static const char *const variables[] = {
    "LD_PRELOAD",        "LD_AUDIT",    "GLIBC_TUNABLES", "MALLOC_*",      "M_ARENA_*",
    "_RJEM_MALLOC_CONF", "JE_MALLOC_*", "JEMALLOC_*",     "MIMALLOC_*",    "TCMALLOC_*",
    "PERFTOOLS_*",       "HEAP*",       "TBB_MALLOC_*",   "SCUDO_OPTIONS", "SNMALLOC_*",
    "RPMALLOC_*",        "HOARD_*",     "MESH_*",         "PYTHONMALLOC",  "USE_ZEND_ALLOC",
};

int32_t abench_allocator_environment(const char *name)
{
    for (size_t at = 0; at < sizeof variables / sizeof variables[0]; at++) {
        const size_t length = strlen(variables[at]);
        if (variables[at][length - 1] == '*') {
            if (strncmp(variables[at], name, length - 1) == 0)
                return 1;
        } else if (strcmp(variables[at], name) == 0) {
            return 1;
        }
    }
    return 0;
}
