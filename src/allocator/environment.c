/* environment.c - which variables steer an allocator: recorded in results, cleared by the tool. */
#include <string.h>

#include <allocbench/allocator.h>

/* A name that ends in '*' stands for all that begin so, one in small letters for letters of either
 * kind. */
static const char *const variables[] = {
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_DYNAMIC_WEAK",
    "GLIBC_TUNABLES",
    "MALLOC_*",
    "M_ARENA_*",
    "_RJEM_MALLOC_CONF",
    "JE_MALLOC_*",
    "JEMALLOC_*",
    "mimalloc_*",
    "TCMALLOC_*",
    "PERFTOOLS_*",
    "HEAP*",
    "TBB_MALLOC_*",
    "SCUDO_OPTIONS",
    "SNMALLOC_*",
    "RPMALLOC_*",
    "HOARD_*",
    "MESH_*",
    "MALLOCSTATS",
    "PYTHONMALLOC",
    "USE_ZEND_ALLOC",
    "BORG_EXPERIMENTS",
    "BORG_DISABLE_EXPERIMENTS",
};

/* Which family a variable steers. musl and hardened_malloc read none, and so do snmalloc, rpmalloc
 * and Hoard as they come: whoever changed them to read some will have named those after them. By
 * mallopt(3) and jemalloc(3), by the names in the libraries of gperftools, oneTBB and scudo, and by
 * the sources of Google's tcmalloc (static_vars.cc, experiment.cc; GLIBC_TUNABLES decides whether
 * it gets restartable sequences), mimalloc (prim.c; it ignores case) and Mesh (libmesh.cc). */
static const struct {
    const char *family;
    const char *variable;
} read_by[] = {
    {"glibc", "GLIBC_TUNABLES"},
    {"glibc", "MALLOC_ARENA_*"},
    {"glibc", "MALLOC_CHECK_"},
    {"glibc", "MALLOC_MMAP_*"},
    {"glibc", "MALLOC_PERTURB_"},
    {"glibc", "MALLOC_TCACHE_*"},
    {"glibc", "MALLOC_TOP_PAD_"},
    {"glibc", "MALLOC_TRIM_*"},
    {"jemalloc", "MALLOC_CONF"},
    {"jemalloc", "_RJEM_MALLOC_CONF"},
    {"jemalloc", "JE_MALLOC_*"},
    {"jemalloc", "JEMALLOC_*"},
    {"tcmalloc", "TCMALLOC_*"},
    {"tcmalloc", "PERFTOOLS_*"},
    {"tcmalloc", "HEAP*"},
    {"tcmalloc", "MALLOCSTATS"},
    {"google-tcmalloc", "TCMALLOC_*"},
    {"google-tcmalloc", "GLIBC_TUNABLES"},
    {"google-tcmalloc", "BORG_EXPERIMENTS"},
    {"google-tcmalloc", "BORG_DISABLE_EXPERIMENTS"},
    {"mimalloc", "mimalloc_*"},
    {"tbbmalloc", "TBB_MALLOC_*"},
    {"scudo", "SCUDO_OPTIONS"},
    {"snmalloc", "SNMALLOC_*"},
    {"rpmalloc", "RPMALLOC_*"},
    {"hoard", "HOARD_*"},
    {"mesh", "MESH_*"},
    {"mesh", "MALLOCSTATS"},
};

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int matches(const char *variable, const char *name)
{
    const int is_of_any_case = variable[0] >= 'a' && variable[0] <= 'z';

    for (; *variable != '\0' && *variable != '*'; variable++, name++)
        if (*variable != (is_of_any_case ? small(*name) : *name))
            return 0;
    return *variable == '*' || *name == '\0';
}

int32_t abench_allocator_environment(const char *name)
{
    for (size_t at = 0; at < sizeof variables / sizeof variables[0]; at++)
        if (matches(variables[at], name))
            return 1;
    return 0;
}

int32_t abench_allocator_environment_of(const char *family, const char *name)
{
    for (size_t at = 0; at < sizeof read_by / sizeof read_by[0]; at++)
        if (strcmp(read_by[at].family, family) == 0 && matches(read_by[at].variable, name))
            return 1;
    return 0;
}
