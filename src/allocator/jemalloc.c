/*
 * jemalloc.c - jemalloc 5, under any prefix, by jemalloc(3). Read: 5.3.0, jemalloc_macros.h, ctl.h
 * and, for the link in /etc, jemalloc.c. Run against: 5.3.0, without a prefix and under _rjem_.
 *
 * mallctl may fail for every name (no statistics in this build, an older version): what fails is
 * absent. The first mallctl of a process builds jemalloc's table of names, in pages of its own and
 * not in an arena. Writing "epoch" brings the statistics up to date: 12-30 us; then each is read by
 * its place in that table (mallctlbymib), 0.1 us.
 */
#include "allocator/families.h"

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include "allocator/account.h"
#include "base/text.h"

typedef int control(const char *name, void *old, size_t *old_size, void *new_value,
                    size_t new_size);
typedef int name_to_mib(const char *name, size_t *mib, size_t *length);
typedef int by_mib(const size_t *mib, size_t length, void *old, size_t *old_size, void *new_value,
                   size_t new_size);

void abench__jemalloc_version(const abench__object *provider, char *version, uint32_t size)
{
    const abench__function symbol = abench__object_function(provider, "mallctl");
    const char *told = NULL;
    size_t told_size = sizeof told;

    if (symbol != NULL && ((control *)symbol)("version", &told, &told_size, NULL, 0) == 0 &&
        told != NULL)
        abench__copy(version, size, told);
}

enum { MALLCTL, TO_MIB, BY_MIB };

/* What a value is, in jemalloc's own terms. */
enum kind { BOOL, UNSIGNED, SIZE, SSIZE, U64, TEXT };

union value {
    bool boolean;
    unsigned number;
    size_t size;
    ssize_t ssize;
    uint64_t u64;
    const char *text;
};

static size_t bytes_of(enum kind kind)
{
    switch (kind) {
    case BOOL:
        return sizeof(bool);
    case UNSIGNED:
        return sizeof(unsigned);
    case U64:
        return sizeof(uint64_t);
    case TEXT:
        return sizeof(const char *);
    default:
        return sizeof(size_t);
    }
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* 4096 is MALLCTL_ARENAS_ALL: all arenas merged, those that were destroyed left out. pactive,
 * pdirty and pmuzzy are pages (arenas.page). retained is address space without memory. */
static const struct statistic {
    const char *name;
    enum kind kind;
    const char *unit;
} statistics[] = {
    {"stats.allocated", SIZE, "bytes"},
    {"stats.active", SIZE, "bytes"},
    {"stats.metadata", SIZE, "bytes"},
    {"stats.resident", SIZE, "bytes"},
    {"stats.mapped", SIZE, "bytes"},
    {"stats.retained", SIZE, "bytes"},
    {"stats.metadata_thp", SIZE, "count"},
    {"stats.zero_reallocs", SIZE, "count"},
    {"stats.background_thread.num_threads", SIZE, "count"},
    {"arenas.narenas", UNSIGNED, "count"},
    {"stats.arenas.4096.nthreads", UNSIGNED, "count"},
    {"stats.arenas.4096.pactive", SIZE, "count"},
    {"stats.arenas.4096.pdirty", SIZE, "count"},
    {"stats.arenas.4096.pmuzzy", SIZE, "count"},
    {"stats.arenas.4096.base", SIZE, "bytes"},
    {"stats.arenas.4096.internal", SIZE, "bytes"},
    {"stats.arenas.4096.tcache_bytes", SIZE, "bytes"},
    {"stats.arenas.4096.tcache_stashed_bytes", SIZE, "bytes"},
    {"stats.arenas.4096.abandoned_vm", SIZE, "bytes"},
    {"stats.arenas.4096.extent_avail", SIZE, "count"},
    {"stats.arenas.4096.small.allocated", SIZE, "bytes"},
    {"stats.arenas.4096.large.allocated", SIZE, "bytes"},
    {"stats.arenas.4096.dirty_npurge", U64, "count"},
    {"stats.arenas.4096.dirty_nmadvise", U64, "count"},
    {"stats.arenas.4096.dirty_purged", U64, "count"},
    {"stats.arenas.4096.muzzy_npurge", U64, "count"},
    {"stats.arenas.4096.muzzy_nmadvise", U64, "count"},
    {"stats.arenas.4096.muzzy_purged", U64, "count"},
};

#define STATISTICS (sizeof statistics / sizeof statistics[0])
#define MIB_WORDS  7u /* jemalloc's own CTL_MAX_DEPTH */

/* In account->secret. */
struct places {
    size_t mibs[STATISTICS][MIB_WORDS];
    size_t lengths[STATISTICS]; /* 0: there is no such name */
};

_Static_assert(sizeof(struct places) <= ABENCH__ACCOUNT_SECRET, "room for the places");
_Static_assert(STATISTICS <= ABENCH_STATISTICS_MAX, "room for the statistics");

static int ask(const abench_account *account, const char *name, enum kind kind, union value *value)
{
    size_t size = bytes_of(kind);

    memset(value, 0, sizeof *value);
    return account->functions[MALLCTL] != NULL &&
           ((control *)account->functions[MALLCTL])(name, value, &size, NULL, 0) == 0 &&
           size == bytes_of(kind);
}

static void find_places(abench_account *account)
{
    struct places *places = (struct places *)account->secret;

    if (account->functions[TO_MIB] == NULL || account->functions[BY_MIB] == NULL)
        return;
    for (size_t at = 0; at < STATISTICS; at++) {
        size_t length = MIB_WORDS;

        if (((name_to_mib *)account->functions[TO_MIB])(statistics[at].name, places->mibs[at],
                                                        &length) == 0 &&
            length <= MIB_WORDS)
            places->lengths[at] = length;
    }
}

static int read_at(const abench_account *account, size_t at, union value *value)
{
    const struct places *places = (const struct places *)account->secret;
    size_t size = bytes_of(statistics[at].kind);

    if (places->lengths[at] == 0)
        return ask(account, statistics[at].name, statistics[at].kind, value);
    memset(value, 0, sizeof *value);
    return ((by_mib *)account->functions[BY_MIB])(places->mibs[at], places->lengths[at], value,
                                                  &size, NULL, 0) == 0 &&
           size == bytes_of(statistics[at].kind);
}

static void read_stats(abench_account *account)
{
    uint64_t epoch = 1;

    if (account->functions[MALLCTL] == NULL ||
        ((control *)account->functions[MALLCTL])("epoch", NULL, NULL, &epoch, sizeof epoch) != 0)
        return;
    for (size_t at = 0; at < STATISTICS; at++) {
        union value value;

        if (!read_at(account, at, &value))
            continue;
        abench__account_add(account, statistics[at].name, statistics[at].unit,
                            statistics[at].kind == UNSIGNED ? value.number
                            : statistics[at].kind == U64    ? value.u64
                                                            : value.size);
    }
}

/* ---- settings -------------------------------------------------------------------------------- */

static const struct setting {
    const char *name;
    enum kind kind;
} settings[] = {
    {"version", TEXT},
    {"config.malloc_conf", TEXT},
    {"opt.malloc_conf.symlink", TEXT},
    {"opt.malloc_conf.global_var", TEXT},
    {"opt.malloc_conf.env_var", TEXT},
    {"config.stats", BOOL},
    {"config.debug", BOOL},
    {"config.fill", BOOL},
    {"config.prof", BOOL},
    {"config.opt_safety_checks", BOOL},
    {"opt.narenas", UNSIGNED},
    {"opt.percpu_arena", TEXT},
    {"opt.oversize_threshold", SIZE},
    {"opt.dirty_decay_ms", SSIZE},
    {"opt.muzzy_decay_ms", SSIZE},
    {"opt.background_thread", BOOL},
    {"opt.max_background_threads", SIZE},
    {"opt.retain", BOOL},
    {"opt.dss", TEXT},
    {"opt.thp", TEXT},
    {"opt.metadata_thp", TEXT},
    {"opt.hpa", BOOL},
    {"opt.trust_madvise", BOOL},
    {"opt.tcache", BOOL},
    {"opt.tcache_max", SIZE},
    {"opt.lg_tcache_max", SIZE},
    {"opt.lg_extent_max_active_fit", SIZE},
    {"opt.cache_oblivious", BOOL},
    {"opt.abort", BOOL},
    {"opt.abort_conf", BOOL},
    {"opt.zero", BOOL},
    {"opt.junk", TEXT},
    {"opt.xmalloc", BOOL},
    {"opt.zero_realloc", TEXT},
    {"opt.prof", BOOL},
    {"arenas.page", SIZE},
};

static void add_setting(abench_account *account, const struct setting *setting)
{
    union value value;

    if (!ask(account, setting->name, setting->kind, &value))
        return;
    if (setting->kind == TEXT) {
        if (value.text != NULL && value.text[0] != '\0')
            abench__account_set(account, ABENCH_SETTING_TOLD, setting->name, value.text);
    } else if (setting->kind == BOOL) {
        abench__account_set(account, ABENCH_SETTING_TOLD, setting->name,
                            value.boolean ? "true" : "false");
    } else if (setting->kind == SSIZE) {
        abench__account_set_i64(account, setting->name, value.ssize);
    } else {
        abench__account_set_u64(account, setting->name,
                                setting->kind == UNSIGNED ? value.number : value.size);
    }
}

static const char *const prefixes[] = {"je_", "_rjem_", "jemalloc_", NULL};

/* A build with a prefix reads a link whose name has the prefix too. */
static void add_link(abench_account *account)
{
    char path[ABENCH__PREFIX_BYTES + 32];
    abench__text text;

    abench__text_init(&text, path, sizeof path);
    abench__text_put(&text, "/etc/");
    abench__text_put(&text, account->prefix);
    abench__text_put(&text, "malloc.conf");
    abench__settings_link(account, path);
}

static void open_account(abench_account *account)
{
    account->functions[MALLCTL] = abench__account_function(account, "mallctl");
    account->functions[TO_MIB] = abench__account_function(account, "mallctlnametomib");
    account->functions[BY_MIB] = abench__account_function(account, "mallctlbymib");
    if (account->functions[MALLCTL] == NULL)
        return;
    account->purge_call = "mallctl(thread.tcache.flush), mallctl(arena.4096.purge)";
    account->flush_call = "mallctl(thread.tcache.flush)";
    find_places(account);
    for (size_t at = 0; at < sizeof settings / sizeof settings[0]; at++)
        add_setting(account, &settings[at]);
    add_link(account);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int command(const abench_account *account, const char *name)
{
    return ((control *)account->functions[MALLCTL])(name, NULL, NULL, NULL, 0) == 0;
}

/* Fails where there is no cache (opt.tcache:false). */
static int flush(abench_account *account)
{
    return command(account, "thread.tcache.flush");
}

static int purge(abench_account *account)
{
    flush(account);
    return command(account, "arena.4096.purge");
}

const abench__teller abench__jemalloc_teller = {
    .family = "jemalloc",
    .marker = "malloc_stats_print",
    .prefixes = prefixes,
    .open = open_account,
    .stats = read_stats,
    .purge = purge,
    .flush = flush,
};
