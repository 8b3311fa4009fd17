/*
 * tcmalloc.c - gperftools' tcmalloc, by the C functions of MallocExtension; the properties are
 * those that the library of 2.10 names. Run against: 2.10.
 *
 * Google's other tcmalloc, which has MallocExtension_Internal_... instead, is in googletcmalloc.c.
 */
#include "allocator/families.h"

#include "allocator/account.h"
#include "base/text.h"

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

enum { PROPERTY, RELEASE, IDLE };

typedef int get_property(const char *name, size_t *value);

/* generic.heap_size contains the free pages of the page heap and those given back to the kernel
 * (pageheap_unmapped_bytes). */
static const struct {
    const char *name;
    const char *unit;
} statistics[] = {
    {"generic.current_allocated_bytes", "bytes"},
    {"generic.heap_size", "bytes"},
    {"generic.total_physical_bytes", "bytes"},
    {"tcmalloc.pageheap_free_bytes", "bytes"},
    {"tcmalloc.pageheap_unmapped_bytes", "bytes"},
    {"tcmalloc.pageheap_committed_bytes", "bytes"},
    {"tcmalloc.central_cache_free_bytes", "bytes"},
    {"tcmalloc.transfer_cache_free_bytes", "bytes"},
    {"tcmalloc.thread_cache_free_bytes", "bytes"},
    {"tcmalloc.current_total_thread_cache_bytes", "bytes"},
    {"tcmalloc.slack_bytes", "bytes"},
    {"tcmalloc.pageheap_total_commit_bytes", "bytes"},
    {"tcmalloc.pageheap_total_decommit_bytes", "bytes"},
    {"tcmalloc.pageheap_total_reserve_bytes", "bytes"},
    {"tcmalloc.pageheap_scavenge_count", "count"},
    {"tcmalloc.pageheap_commit_count", "count"},
    {"tcmalloc.pageheap_decommit_count", "count"},
    {"tcmalloc.pageheap_reserve_count", "count"},
};

static const char *const settings[] = {
    "tcmalloc.max_total_thread_cache_bytes",
    "tcmalloc.aggressive_memory_decommit",
    "tcmalloc.heap_limit_mb",
};

static int ask(const abench_account *account, const char *name, size_t *value)
{
    *value = 0;
    return account->functions[PROPERTY] != NULL &&
           ((get_property *)account->functions[PROPERTY])(name, value) != 0;
}

static void open_account(abench_account *account)
{
    account->functions[PROPERTY] =
        abench__account_function(account, "MallocExtension_GetNumericProperty");
    account->functions[RELEASE] =
        abench__account_function(account, "MallocExtension_ReleaseFreeMemory");
    account->functions[IDLE] = abench__account_function(account, "MallocExtension_MarkThreadIdle");
    if (account->functions[IDLE] != NULL)
        account->flush_call = "MallocExtension_MarkThreadIdle()";
    if (account->functions[RELEASE] != NULL)
        account->purge_call =
            account->functions[IDLE] != NULL
                ? "MallocExtension_MarkThreadIdle(), MallocExtension_ReleaseFreeMemory()"
                : "MallocExtension_ReleaseFreeMemory()";
    for (size_t at = 0; at < sizeof settings / sizeof settings[0]; at++) {
        size_t value;

        if (ask(account, settings[at], &value))
            abench__account_set_u64(account, settings[at], value);
    }
}

static void read_stats(abench_account *account)
{
    for (size_t at = 0; at < sizeof statistics / sizeof statistics[0]; at++) {
        size_t value;

        if (ask(account, statistics[at].name, &value))
            abench__account_add(account, statistics[at].name, statistics[at].unit, value);
    }
}

static int flush(abench_account *account)
{
    account->functions[IDLE]();
    return 1;
}

static int purge(abench_account *account)
{
    if (account->functions[IDLE] != NULL)
        flush(account);
    account->functions[RELEASE]();
    return 1;
}

const abench__teller abench__tcmalloc_teller = {
    .family = "tcmalloc",
    .marker = "tc_version",
    .open = open_account,
    .stats = read_stats,
    .purge = purge,
    .flush = flush,
};
