/* account.c - an allocator's own account: see allocator.h. What each family tells is in its own
 * file. */
#include "allocator/account.h"

#include <inttypes.h>
#include <string.h>

#include "allocator/families.h"
#include "base/arena.h"
#include "base/options.h"
#include "base/text.h"

#define OPTIONS_FIRST_RELEASE   48u
#define STATISTIC_FIRST_RELEASE 80u
#define SETTING_FIRST_RELEASE   264u

_Static_assert(sizeof(abench_account_options) == OPTIONS_FIRST_RELEASE, "first release");
_Static_assert(sizeof(abench_statistic) == STATISTIC_FIRST_RELEASE, "first release");
_Static_assert(sizeof(abench_setting) == SETTING_FIRST_RELEASE, "first release");

static const abench__teller *const tellers[] = {
    &abench__glibc_teller,    &abench__jemalloc_teller,
    &abench__tcmalloc_teller, &abench__google_tcmalloc_teller,
    &abench__mimalloc_teller, &abench__tbbmalloc_teller,
    &abench__scudo_teller,    &abench__snmalloc_teller,
    &abench__rpmalloc_teller, &abench__musl_teller,
    &abench__hardened_teller, &abench__mesh_teller,
    &abench__hoard_teller,
};

void abench_account_options_init(abench_account_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

void abench_statistic_init(abench_statistic *statistic)
{
    memset(statistic, 0, sizeof *statistic);
    statistic->struct_size = sizeof *statistic;
}

void abench_setting_init(abench_setting *setting)
{
    memset(setting, 0, sizeof *setting);
    setting->struct_size = sizeof *setting;
}

/* ---- for the families ------------------------------------------------------------------------ */

static abench__function find_behind(const abench_account *account, const char *prefix,
                                    const char *name)
{
    char full[ABENCH__PREFIX_BYTES + 96];
    abench__function found = NULL;
    abench__text text;

    abench__text_init(&text, full, sizeof full);
    abench__text_put(&text, prefix);
    abench__text_put(&text, name);
    if (account->has_home)
        found = abench__object_function(&account->home, full);
    if (found == NULL && account->symbol != NULL)
        found = (abench__function)(uintptr_t)account->symbol(full, account->user);
    return found;
}

abench__function abench__account_function(const abench_account *account, const char *name)
{
    return find_behind(account, account->prefix, name);
}

void abench__account_add(abench_account *account, const char *name, const char *unit,
                         uint64_t value)
{
    abench_statistic *statistic;

    if (account->statistics_count == ABENCH_STATISTICS_MAX)
        return;
    statistic = &account->statistics[account->statistics_count++];
    abench_statistic_init(statistic);
    statistic->value = value;
    abench__copy(statistic->name, sizeof statistic->name, name);
    abench__copy(statistic->unit, sizeof statistic->unit, unit);
}

void abench__account_set(abench_account *account, uint32_t source, const char *name,
                         const char *value)
{
    abench_setting *setting;

    if (account->settings_count == ABENCH__SETTINGS_MAX)
        return;
    setting = &account->settings[account->settings_count++];
    abench_setting_init(setting);
    setting->source = source;
    abench__copy(setting->name, sizeof setting->name, name);
    abench__copy(setting->value, sizeof setting->value, value);
}

void abench__account_set_u64(abench_account *account, const char *name, uint64_t value)
{
    char digits[24];
    abench__text text;

    abench__text_init(&text, digits, sizeof digits);
    abench__text_put_u64(&text, value);
    abench__account_set(account, ABENCH_SETTING_TOLD, name, digits);
}

void abench__account_set_i64(abench_account *account, const char *name, int64_t value)
{
    char digits[24];
    abench__text text;

    abench__text_init(&text, digits, sizeof digits);
    abench__text_printf(&text, "%" PRId64, value);
    abench__account_set(account, ABENCH_SETTING_TOLD, name, digits);
}

/* ---- opening --------------------------------------------------------------------------------- */

static const abench__teller *teller_of(const char *family)
{
    for (size_t at = 0; at < sizeof tellers / sizeof tellers[0]; at++)
        if (strcmp(tellers[at]->family, family) == 0)
            return tellers[at];
    return NULL;
}

/* Looks for the marker behind prefix: in the provider of malloc first, then in load order. */
static int find_home_behind(abench_account *account, const abench__object *provider,
                            const char *prefix)
{
    char full[ABENCH__PREFIX_BYTES + 96];
    abench__text text;

    abench__text_init(&text, full, sizeof full);
    abench__text_put(&text, prefix);
    abench__text_put(&text, account->teller->marker);
    if (provider != NULL && abench__object_symbol(provider, full) != NULL)
        account->home = *provider;
    else if (!abench__objects_find(full, &account->home))
        return 0;
    account->has_home = 1;
    abench__copy(account->prefix, sizeof account->prefix, prefix);
    return 1;
}

static int find_home(abench_account *account, const abench__object *provider,
                     const char *given_prefix)
{
    const char *const *prefix = account->teller->prefixes;

    if (account->teller->marker == NULL)
        return 0;
    if (given_prefix != NULL)
        return find_home_behind(account, provider, given_prefix);
    if (find_home_behind(account, provider, ""))
        return 1;
    for (; prefix != NULL && *prefix != NULL; prefix++)
        if (find_home_behind(account, provider, *prefix))
            return 1;
    return 0;
}

static int has_functions(const abench_account *account)
{
    for (uint32_t at = 0; at < ABENCH__FUNCTIONS_MAX; at++)
        if (account->functions[at] != NULL)
            return 1;
    return 0;
}

/* Without an object of the allocator's own: by the caller's function, behind each prefix, or as a
 * family finds them that is linked into the program. */
static int open_without_home(abench_account *account, const char *given_prefix)
{
    static const char *const none[] = {NULL};
    const char *const *next = account->teller->prefixes != NULL ? account->teller->prefixes : none;
    const char *prefix = given_prefix != NULL ? given_prefix : "";

    if (account->teller->open == NULL)
        return 0;
    for (;;) {
        abench__copy(account->prefix, sizeof account->prefix, prefix);
        account->teller->open(account);
        if (has_functions(account))
            return 1;
        if (given_prefix != NULL || *next == NULL)
            return 0;
        prefix = *next++;
    }
}

static abench_status find_allocator(abench_account *account, const abench_account_options *options)
{
    abench__object provider;
    const int is_provided = abench__provider(&provider) == ABENCH_OK;
    const abench__family *serving = is_provided ? abench__family_of(&provider) : NULL;
    const char *family = options->family;

    if (family == NULL && serving == NULL)
        return ABENCH_ERROR_UNSUPPORTED;
    account->teller = teller_of(family == NULL ? serving->name : family);
    if (account->teller == NULL)
        return ABENCH_ERROR_ARGUMENT;
    if (find_home(account, is_provided ? &provider : NULL, options->prefix)) {
        if (account->teller->open != NULL)
            account->teller->open(account);
        return ABENCH_OK;
    }
    /* One that serves is here though it has no function to be found by. */
    if (serving != NULL && strcmp(serving->name, account->teller->family) == 0 &&
        options->prefix == NULL) {
        account->home = provider;
        account->has_home = 1;
        if (account->teller->open != NULL)
            account->teller->open(account);
        return ABENCH_OK;
    }
    return open_without_home(account, options->prefix) ? ABENCH_OK : ABENCH_ERROR_NOT_FOUND;
}

static abench_status read_options(const abench_account_options *theirs,
                                  abench_account_options *mine)
{
    const abench_status status =
        abench__options_read(mine, sizeof *mine, theirs, OPTIONS_FIRST_RELEASE);

    if (status != ABENCH_OK)
        return status;
    if ((mine->flags & ~ABENCH_ACCOUNT_STREAM) != 0 ||
        (mine->prefix != NULL &&
         strnlen(mine->prefix, ABENCH__PREFIX_BYTES) == ABENCH__PREFIX_BYTES))
        return ABENCH_ERROR_ARGUMENT;
    return ABENCH_OK;
}

abench_status abench_allocator_open(const abench_account_options *options, abench_account **out)
{
    abench_account_options mine = ABENCH_ACCOUNT_OPTIONS_INIT;
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_account *account;
    abench_status status;

    if (out == NULL)
        return ABENCH_ERROR_ARGUMENT;
    *out = NULL;
    status = read_options(options, &mine);
    if (status == ABENCH_OK)
        status = abench__hooks_copy(mine.hooks, &hooks);
    if (status != ABENCH_OK)
        return status;
    account = abench__map(&hooks, sizeof *account, 1);
    if (account == NULL)
        return ABENCH_ERROR_MEMORY;
    account->hooks = hooks;
    account->flags = mine.flags;
    account->symbol = mine.symbol;
    account->user = mine.user;
    account->purge_call = account->flush_call = "";
    status = find_allocator(account, &mine);
    if (status != ABENCH_OK) {
        abench__unmap(&hooks, account, sizeof *account);
        return status;
    }
    abench__settings_environment(account);
    *out = account;
    return ABENCH_OK;
}

void abench_account_close(abench_account *account)
{
    abench_memory_hooks hooks;

    if (account == NULL)
        return;
    if (account->teller->close != NULL)
        account->teller->close(account);
    hooks = account->hooks;
    abench__unmap(&hooks, account, sizeof *account);
}

/* ---- asking ---------------------------------------------------------------------------------- */

const char *abench_account_family(const abench_account *account)
{
    return account->teller->family;
}

abench_status abench_allocator_stats(abench_account *account)
{
    const uint64_t begun = abench_clock_ns();

    account->statistics_count = 0;
    if (account->teller->stats != NULL)
        account->teller->stats(account);
    account->cost_ns = abench_clock_ns() - begun;
    return account->statistics_count != 0 ? ABENCH_OK : ABENCH_ERROR_UNSUPPORTED;
}

uint32_t abench_account_count(const abench_account *account)
{
    return account->statistics_count;
}

abench_status abench_account_at(const abench_account *account, uint32_t index,
                                abench_statistic *out)
{
    if (index >= account->statistics_count)
        return ABENCH_ERROR_NOT_FOUND;
    return abench__options_write(out, &account->statistics[index], sizeof *out,
                                 STATISTIC_FIRST_RELEASE);
}

uint64_t abench_account_cost_ns(const abench_account *account)
{
    return account->cost_ns;
}

abench_status abench_account_setting_at(const abench_account *account, uint32_t index,
                                        abench_setting *out)
{
    if (index >= account->settings_count)
        return ABENCH_ERROR_NOT_FOUND;
    return abench__options_write(out, &account->settings[index], sizeof *out,
                                 SETTING_FIRST_RELEASE);
}

abench_status abench_allocator_purge(abench_account *account)
{
    if (account->purge_call[0] == '\0' || !account->teller->purge(account))
        return ABENCH_ERROR_UNSUPPORTED;
    return ABENCH_OK;
}

abench_status abench_allocator_flush(abench_account *account)
{
    if (account->flush_call[0] == '\0' || !account->teller->flush(account))
        return ABENCH_ERROR_UNSUPPORTED;
    return ABENCH_OK;
}

const char *abench_account_purge_call(const abench_account *account)
{
    return account->purge_call;
}

const char *abench_account_flush_call(const abench_account *account)
{
    return account->flush_call;
}
