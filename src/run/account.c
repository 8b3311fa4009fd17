/* account.c - the allocator's own account of itself, read at the marks of a run. */
#include <string.h>

#include "base/text.h"
#include "run/run.h"

abench_status abench__run_account_open(abench_run *run)
{
    abench_account_options options = ABENCH_ACCOUNT_OPTIONS_INIT;
    abench_status status;

    if (run->has_allocator) /* what is played is not this process's malloc */
        return ABENCH_OK;
    options.hooks = run->options.hooks;
    status = abench_allocator_open(&options, &run->account.account);
    if (status == ABENCH_ERROR_UNSUPPORTED || status == ABENCH_ERROR_NOT_FOUND)
        return ABENCH_OK; /* an allocator that nobody knows */
    if (status != ABENCH_OK)
        return abench__fail(&run->error, status, "the allocator's account cannot be opened: %s",
                            abench_status_message(status));
    /* What a family sets up at its first reading belongs to the baseline. */
    abench_allocator_stats(run->account.account);
    return ABENCH_OK;
}

/* The place of a statistic among the names; new ones come behind. ABENCH_STATISTICS_MAX: full. */
static uint32_t place_of(abench__run_account *account, const abench_statistic *statistic)
{
    for (uint32_t at = 0; at < account->count; at++)
        if (strcmp(account->names[at], statistic->name) == 0)
            return at;
    if (account->count == ABENCH_STATISTICS_MAX)
        return ABENCH_STATISTICS_MAX;
    abench__copy(account->names[account->count], sizeof account->names[0], statistic->name);
    return account->count++;
}

void abench__run_account_read(abench_run *run, abench__run_phase *phase)
{
    abench_statistic statistic = ABENCH_STATISTIC_INIT;
    const abench_account *account = run->account.account;

    phase->account_valid = 0;
    if (account == NULL || abench_allocator_stats(run->account.account) != ABENCH_OK)
        return;
    phase->account_ns = abench_account_cost_ns(account);
    for (uint32_t at = 0; abench_account_at(account, at, &statistic) == ABENCH_OK; at++) {
        const uint32_t place = place_of(&run->account, &statistic);
        if (place == ABENCH_STATISTICS_MAX)
            continue;
        phase->account[place] = statistic.value;
        phase->account_valid |= (uint64_t)1 << place;
    }
}

void abench__run_account_close(abench_run *run)
{
    abench_account_close(run->account.account);
    run->account.account = NULL;
}
