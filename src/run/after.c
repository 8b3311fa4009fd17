/* after.c - what comes back: memory in the seconds after everything was freed, and after a purge.
 *
 * The lanes' threads stand meanwhile: nothing is asked of the allocator, so that what gives memory
 * back only when it is called (jemalloc's decay without a background thread, mimalloc's delayed
 * purge) shows that an idle process keeps it.
 *
 * One thread asks for the purge. An allocator that has a call for the cache of the calling thread
 * alone keeps what the other lanes' threads, which live still, have in theirs.
 */
#include <errno.h>
#include <time.h>

#include "base/text.h"
#include "run/run.h"

static void sleep_until(uint64_t deadline_ns)
{
    struct timespec deadline;

    deadline.tv_sec = (time_t)(deadline_ns / 1000000000u);
    deadline.tv_nsec = (long)(deadline_ns % 1000000000u);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
        ;
}

static void take_reading(abench_run *run, const char *name)
{
    if (run->after_count < RUN_AFTER_MAX)
        abench__run_read(run, name, &run->after[run->after_count++]);
}

/* In lockstep the run has waited until all others had played, and its seconds went by meanwhile: a
 * reading that would come late by more than a tenth of its time is none. */
static int is_gone_by(const abench_run *run, uint32_t seconds)
{
    return abench_clock_ns() > run->drained_ns + seconds * 1100000000ull;
}

static void settle(abench_run *run)
{
    char name[16];

    for (uint32_t seconds = 1; seconds <= run->options.settle_s; seconds *= 2) {
        abench__text text;

        if (is_gone_by(run, seconds)) {
            abench__run_warn(run,
                             "the reading %u s after everything was freed could not be taken in "
                             "time: there is none",
                             seconds);
            continue;
        }
        abench__text_init(&text, name, sizeof name);
        abench__text_put_u64(&text, seconds);
        abench__text_put_char(&text, 's');
        sleep_until(run->drained_ns + seconds * 1000000000ull);
        take_reading(run, name);
    }
}

static void purge(abench_run *run)
{
    abench_account *account = run->account.account;
    uint64_t begin_ns;

    if (account == NULL || abench_account_purge_call(account)[0] == '\0')
        return;
    begin_ns = abench_clock_ns();
    if (abench_allocator_purge(account) != ABENCH_OK) {
        abench__run_warn(run, "%s failed: there is no reading after a purge",
                         abench_account_purge_call(account));
        return;
    }
    run->purge_ns = abench_clock_ns() - begin_ns;
    take_reading(run, RUN_PURGED);
}

void abench__run_after(abench_run *run)
{
    settle(run);
    if (run->options.flags & ABENCH_RUN_PURGE)
        purge(run);
}
