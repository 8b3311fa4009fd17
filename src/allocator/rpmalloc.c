/*
 * rpmalloc.c - rpmalloc. Read: 1.4.5, rpmalloc.h and rpmalloc.c, and the header of a later version
 * whose struct is another. Run against: 1.4.5, with and without ENABLE_STATISTICS.
 *
 * Its statistics are one struct of words, which it fills with 0 first. No version tells which it
 * is: the words that it wrote are counted, and another number of them is not interpreted. They are
 * kept in builds with ENABLE_STATISTICS only; without them nothing was ever mapped by its account,
 * and only what is not 0 is offered.
 */
#include <string.h>

#include "allocator/account.h"

enum { STATISTICS, COLLECT };

#define UNWRITTEN ((size_t)0xa5a5a5a5a5a5a5a5u)
#define WORDS_MAX 32u

static const char *const first_names[] = {
    "mapped",          "mapped_peak",  "cached",         "huge_alloc",
    "huge_alloc_peak", "mapped_total", "unmapped_total",
};
static const char *const second_names[] = {
    "mapped",      "mapped_peak", "committed",       "decommitted", "active",
    "active_peak", "huge_alloc",  "huge_alloc_peak", "heap_count",
};

static void open_account(abench_account *account)
{
    account->functions[STATISTICS] =
        abench__account_function(account, "rpmalloc_global_statistics");
    account->functions[COLLECT] = abench__account_function(account, "rpmalloc_thread_collect");
    if (account->functions[COLLECT] != NULL)
        account->flush_call = "rpmalloc_thread_collect()";
}

static void read_stats(abench_account *account)
{
    size_t words[WORDS_MAX], count = 0;
    const char *const *names = NULL;

    if (account->functions[STATISTICS] == NULL)
        return;
    for (size_t at = 0; at < WORDS_MAX; at++)
        words[at] = UNWRITTEN;
    ((void (*)(size_t *))account->functions[STATISTICS])(words);
    while (count < WORDS_MAX && words[count] != UNWRITTEN)
        count++;
    if (count == sizeof first_names / sizeof first_names[0])
        names = first_names;
    else if (count == sizeof second_names / sizeof second_names[0])
        names = second_names;
    for (size_t at = 0; names != NULL && at < count; at++)
        if (words[at] != 0 || words[0] != 0)
            abench__account_add(account, names[at],
                                strcmp(names[at], "heap_count") == 0 ? "count" : "bytes",
                                words[at]);
}

static int flush(abench_account *account)
{
    account->functions[COLLECT](); /* version 1.4's does nothing */
    return 1;
}

const abench__teller abench__rpmalloc_teller = {
    .family = "rpmalloc",
    .marker = "rpmalloc",
    .open = open_account,
    .stats = read_stats,
    .flush = flush,
};
