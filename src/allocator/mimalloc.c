/*
 * mimalloc.c - mimalloc 2 and 3. Read: 3.3.2, src/stats.c and include/mimalloc-stats.h. Run
 * against: 2.0.9, 2.3.2, 3.3.2 and 3.4.3.
 *
 * mi_stats_get changed its arguments between versions and is never called. mi_stats_get_json has
 * kept them since 2.2: it writes into the caller's buffer and allocates nothing. Older versions
 * (Debian 12's 2.0.9) have only mi_process_info.
 *
 * What both call rss_current is on Linux the memory that mimalloc has committed, not RSS: it is
 * offered as commit_current only. Counts of blocks and pages are kept in builds with MI_STAT only;
 * a release leaves them at 0, which cannot be told from what never was, so that a count that never
 * moved (its total is 0) is absent. reserved and committed move from the first page on.
 */
#include "allocator/families.h"

#include <stdbool.h>
#include <string.h>

#include "allocator/account.h"
#include "allocator/mi_json.h"
#include "base/text.h"

void abench__mimalloc_number(int number, char *version, uint32_t size)
{
    abench__text text;
    const int base = number < 1000 ? 10 : 100; /* of its minor number and of its patch */

    abench__text_init(&text, version, size);
    if (number < 100 || number > 999999 || (number > 999 && number < 10000))
        return;
    abench__text_printf(&text, "%d.%d.%d", number / (base * base), number / base % base,
                        number % base);
}

void abench__mimalloc_version(const abench__object *provider, char *version, uint32_t size)
{
    const abench__function symbol = abench__object_function(provider, "mi_version");

    if (symbol != NULL)
        abench__mimalloc_number(((int (*)(void))symbol)(), version, size);
}

enum { JSON, PROCESS, COLLECT };

typedef char *get_json(size_t size, char *buffer);
typedef void process_info(size_t *elapsed_ms, size_t *user_ms, size_t *system_ms,
                          size_t *current_rss, size_t *peak_rss, size_t *current_commit,
                          size_t *peak_commit, size_t *page_faults);
typedef void collect(bool force);

static void open_account(abench_account *account)
{
    account->functions[JSON] = abench__account_function(account, "mi_stats_get_json");
    account->functions[PROCESS] = abench__account_function(account, "mi_process_info");
    account->functions[COLLECT] = abench__account_function(account, "mi_collect");
    if (account->functions[COLLECT] != NULL) {
        account->purge_call = "mi_collect(true)";
        account->flush_call = "mi_collect(false)";
    }
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* Names that mimalloc gives bytes; others are counts. */
static const char *const bytes[] = {
    "reserved.",     "committed.",        "page_committed.", "malloc_normal.",  "malloc_huge.",
    "malloc_large.", "malloc_requested.", "process.commit_", "segments_cache.",
};

/* The kernel's figures, which the kernel is better asked for; commit under the name of RSS; and
 * what is no statistic. */
static const char *const left_out[] = {
    "stat_version",   "mimalloc_version",    "process.elapsed", "process.user",
    "process.system", "process.page_faults", "process.rss_",    "version",
};

static int begins_with_one_of(const char *name, const char *const *starts, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (strncmp(name, starts[at], strlen(starts[at])) == 0)
            return 1;
    return 0;
}

struct reading {
    abench_account *account;
    char silent[ABENCH__MI_JSON_NAME]; /* "pages.": a count that never moved; "" before any */
};

static const char *unit_of(const char *name)
{
    if (strcmp(name, "reset") == 0 || strcmp(name, "purged") == 0 ||
        begins_with_one_of(name, bytes, sizeof bytes / sizeof bytes[0]))
        return "bytes";
    return "count";
}

/* The total of a count comes before its peak and its current value. */
static int never_moved(struct reading *reading, const char *name, uint64_t value)
{
    const char *dot = strrchr(name, '.');

    if (dot == NULL)
        return value == 0;
    if (strcmp(dot, ".total") == 0) {
        const size_t length = value == 0 ? (size_t)(dot - name) + 1 : 0;

        memcpy(reading->silent, name, length);
        reading->silent[length] = '\0';
    }
    return reading->silent[0] != '\0' &&
           strncmp(name, reading->silent, strlen(reading->silent)) == 0;
}

static void take_number(const char *name, uint64_t value, void *user)
{
    struct reading *reading = user;

    if (begins_with_one_of(name, left_out, sizeof left_out / sizeof left_out[0]) ||
        never_moved(reading, name, value))
        return;
    abench__account_add(reading->account, name, unit_of(name), value);
}

static void read_process(abench_account *account)
{
    size_t ignored = 0, current = 0, peak = 0;

    ((process_info *)account->functions[PROCESS])(&ignored, &ignored, &ignored, &ignored, &ignored,
                                                  &current, &peak, &ignored);
    abench__account_add(account, "process.commit_current", "bytes", current);
    abench__account_add(account, "process.commit_peak", "bytes", peak);
}

static void read_stats(abench_account *account)
{
    struct reading reading = {.account = account};

    if (account->functions[JSON] != NULL) {
        account->text[0] = '\0';
        if (((get_json *)account->functions[JSON])(sizeof account->text, account->text) != NULL)
            abench__mi_json_walk(account->text, strnlen(account->text, sizeof account->text),
                                 take_number, &reading);
    } else if (account->functions[PROCESS] != NULL) {
        read_process(account);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int flush(abench_account *account)
{
    ((collect *)account->functions[COLLECT])(false);
    return 1;
}

static int purge(abench_account *account)
{
    ((collect *)account->functions[COLLECT])(true);
    return 1;
}

const abench__teller abench__mimalloc_teller = {
    .family = "mimalloc",
    .marker = "mi_version",
    .open = open_account,
    .stats = read_stats,
    .purge = purge,
    .flush = flush,
};
