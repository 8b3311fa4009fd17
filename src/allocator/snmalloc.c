/*
 * snmalloc.c - snmalloc. Read, and run against: 0.7.6, src/snmalloc/override/malloc-extensions.h
 * and .cc, which a library contains only when it is built with that file.
 *
 * Two sizes, of whole chunks: what is free in a chunk that is used counts as used. There is no call
 * that gives memory back.
 */
#include "allocator/account.h"

enum { INFO };

struct info {
    size_t current;
    size_t peak;
};

static void open_account(abench_account *account)
{
    /* void get_malloc_info_v1(malloc_info_v1 *), of C++ */
    account->functions[INFO] =
        abench__account_function(account, "_Z18get_malloc_info_v1P14malloc_info_v1");
}

static void read_stats(abench_account *account)
{
    struct info info = {0, 0};

    if (account->functions[INFO] == NULL)
        return;
    ((void (*)(struct info *))account->functions[INFO])(&info);
    abench__account_add(account, "current_memory_usage", "bytes", info.current);
    abench__account_add(account, "peak_memory_usage", "bytes", info.peak);
}

const abench__teller abench__snmalloc_teller = {
    .family = "snmalloc",
    .marker = "_Z18get_malloc_info_v1P14malloc_info_v1",
    .open = open_account,
    .stats = read_stats,
};
