/*
 * googletcmalloc.c - Google's tcmalloc. Read: github.com/google/tcmalloc of 2025-06-16,
 * tcmalloc/internal_malloc_extension.h (its C functions, which say of themselves that they are
 * internal), tcmalloc/global_stats.cc and tcmalloc/tcmalloc.cc. Run against: the same.
 *
 * Each property is counted anew from all caches. It keeps its caches by CPU where restartable
 * sequences can be had (glibc takes them unless GLIBC_TUNABLES=glibc.pthread.rseq=0), else by
 * thread: tcmalloc.per_cpu_caches_active says which.
 *
 * ReleaseMemoryToSystem does not give back all that is free: of a huge page that is used in part it
 * keeps what was in demand in the last minutes (MallocExtension::SetSkipSubreleaseInterval), so
 * that behind a peak most may stay.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "allocator/account.h"

enum { PROPERTY, RELEASE, IDLE, RELEASE_CPU, CPU_CACHE_SIZE, BACKGROUND, RELEASE_RATE, SAMPLING };

typedef bool get_property(const char *name, size_t name_length, size_t *value);

static const struct {
    const char *name;
    const char *unit;
} statistics[] = {
    {"generic.current_allocated_bytes", "bytes"},
    {"generic.heap_size", "bytes"},
    {"generic.physical_memory_used", "bytes"},
    {"generic.virtual_memory_used", "bytes"},
    {"generic.peak_memory_usage", "bytes"},
    {"tcmalloc.pageheap_free_bytes", "bytes"},
    {"tcmalloc.pageheap_unmapped_bytes", "bytes"},
    {"tcmalloc.cpu_free", "bytes"},
    {"tcmalloc.thread_cache_free", "bytes"},
    {"tcmalloc.central_cache_free", "bytes"},
    {"tcmalloc.transfer_cache_free", "bytes"},
    {"tcmalloc.sharded_transfer_cache_free", "bytes"},
    {"tcmalloc.slack_bytes", "bytes"},
    {"tcmalloc.metadata_bytes", "bytes"},
    {"tcmalloc.local_bytes", "bytes"},
    {"tcmalloc.external_fragmentation_bytes", "bytes"},
    {"tcmalloc.required_bytes", "bytes"},
    {"tcmalloc.num_released_total_bytes", "bytes"},
    {"tcmalloc.thread_cache_count", "count"},
};

static const char *const settings[] = {
    "tcmalloc.per_cpu_caches_active",
    "tcmalloc.max_total_thread_cache_bytes",
    "tcmalloc.desired_usage_limit_bytes",
    "tcmalloc.hard_usage_limit_bytes",
};

static const struct {
    uint32_t place;
    const char *name;
} functions[] = {
    {PROPERTY, "MallocExtension_Internal_GetNumericProperty"},
    {RELEASE, "MallocExtension_Internal_ReleaseMemoryToSystem"},
    {IDLE, "MallocExtension_Internal_MarkThreadIdle"},
    {RELEASE_CPU, "MallocExtension_Internal_ReleaseCpuMemory"},
    {CPU_CACHE_SIZE, "MallocExtension_Internal_GetMaxPerCpuCacheSize"},
    {BACKGROUND, "MallocExtension_Internal_GetBackgroundProcessActionsEnabled"},
    {RELEASE_RATE, "MallocExtension_Internal_GetBackgroundReleaseRate"},
    {SAMPLING, "MallocExtension_Internal_GetProfileSamplingInterval"},
};

static int ask(const abench_account *account, const char *name, size_t *value)
{
    *value = 0;
    return account->functions[PROPERTY] != NULL &&
           ((get_property *)account->functions[PROPERTY])(name, strlen(name), value);
}

static void add_settings(abench_account *account)
{
    abench__function function;

    for (size_t at = 0; at < sizeof settings / sizeof settings[0]; at++) {
        size_t value;

        if (ask(account, settings[at], &value))
            abench__account_set_u64(account, settings[at], value);
    }
    if ((function = account->functions[CPU_CACHE_SIZE]) != NULL)
        abench__account_set_i64(account, "MaxPerCpuCacheSize", ((int32_t(*)(void))function)());
    if ((function = account->functions[BACKGROUND]) != NULL)
        abench__account_set(account, ABENCH_SETTING_TOLD, "BackgroundProcessActionsEnabled",
                            ((bool (*)(void))function)() ? "true" : "false");
    if ((function = account->functions[RELEASE_RATE]) != NULL)
        abench__account_set_u64(account, "BackgroundReleaseRate", ((size_t(*)(void))function)());
    if ((function = account->functions[SAMPLING]) != NULL)
        abench__account_set_i64(account, "ProfileSamplingInterval", ((int64_t(*)(void))function)());
}

static void open_account(abench_account *account)
{
    for (size_t at = 0; at < sizeof functions / sizeof functions[0]; at++)
        account->functions[functions[at].place] =
            abench__account_function(account, functions[at].name);
    if (account->functions[IDLE] != NULL)
        account->flush_call = "MallocExtension::MarkThreadIdle()";
    if (account->functions[RELEASE] != NULL)
        account->purge_call = "MallocExtension::MarkThreadIdle(), ReleaseCpuMemory(each), "
                              "ReleaseMemoryToSystem(SIZE_MAX)";
    add_settings(account);
}

static void read_stats(abench_account *account)
{
    for (size_t at = 0; at < sizeof statistics / sizeof statistics[0]; at++) {
        size_t value;

        if (ask(account, statistics[at].name, &value))
            abench__account_add(account, statistics[at].name, statistics[at].unit, value);
    }
}

/* The cache of a thread; where caches are kept by CPU there is none, and it does nothing. */
static int flush(abench_account *account)
{
    account->functions[IDLE]();
    return 1;
}

static int purge(abench_account *account)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);

    if (account->functions[IDLE] != NULL)
        flush(account);
    for (int cpu = 0; account->functions[RELEASE_CPU] != NULL && cpu < cpus; cpu++)
        ((size_t(*)(int))account->functions[RELEASE_CPU])(cpu);
    ((size_t(*)(size_t))account->functions[RELEASE])(SIZE_MAX);
    return 1;
}

const abench__teller abench__google_tcmalloc_teller = {
    .family = "google-tcmalloc",
    .marker = "MallocExtension_Internal_GetNumericProperty",
    .open = open_account,
    .stats = read_stats,
    .purge = purge,
    .flush = flush,
};
