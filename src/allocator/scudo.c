/*
 * scudo.c - scudo of LLVM: the standalone one, and the older one of the sanitizers, which tells
 * less. Run against: both of LLVM 14.
 *
 * The standalone scudo fills five fields of mallinfo2 and no others. Its malloc_info, asked with
 * ABENCH_ACCOUNT_STREAM, walks every block and takes a table from its own malloc for the time of
 * the call; it counts what its primary allocator serves, not the largest blocks.
 * __scudo_print_stats writes to standard error, and is never called.
 *
 * The older scudo answers 1 where it is asked for its free and unmapped bytes: they are left out.
 */
#include "allocator/account.h"
#include "allocator/info.h"
#include "allocator/mallinfo.h"

enum { MALLINFO2, INFO, MALLOPT, ALLOCATED, HEAP };

/* Of Android's malloc.h, which scudo follows. LLVM 14 does not know M_PURGE_ALL, and says so. */
#define PURGE     (-101) /* M_PURGE */
#define PURGE_ALL (-104) /* M_PURGE_ALL: the caches of all threads too */

static void open_account(abench_account *account)
{
    account->functions[MALLINFO2] = abench__account_function(account, "mallinfo2");
    account->functions[INFO] = abench__account_function(account, "malloc_info");
    account->functions[ALLOCATED] =
        abench__account_function(account, "__sanitizer_get_current_allocated_bytes");
    account->functions[HEAP] = abench__account_function(account, "__sanitizer_get_heap_size");
    account->functions[MALLOPT] = abench__account_function(account, "mallopt");
    /* The older one has a mallopt that does nothing. */
    if (account->functions[MALLOPT] != NULL && account->functions[ALLOCATED] == NULL)
        account->purge_call = "mallopt(M_PURGE_ALL, 0), or mallopt(M_PURGE, 0)";
    if (account->functions[INFO] != NULL && (account->flags & ABENCH_ACCOUNT_STREAM) != 0)
        abench__info_open(account);
}

static void add_mallinfo(abench_account *account)
{
    const struct abench__mallinfo m = ((abench__mallinfo2 *)account->functions[MALLINFO2])();

    abench__account_add(account, "uordblks", "bytes", m.uordblks);
    abench__account_add(account, "fordblks", "bytes", m.fordblks);
    abench__account_add(account, "fsmblks", "bytes", m.fsmblks);
    abench__account_add(account, "hblkhd", "bytes", m.hblkhd);
    abench__account_add(account, "usmblks", "bytes", m.usmblks);
}

static void add_size(abench_account *account, uint32_t function, const char *name)
{
    if (account->functions[function] != NULL)
        abench__account_add(account, name, "bytes",
                            ((size_t(*)(void))account->functions[function])());
}

static void read_stats(abench_account *account)
{
    abench__info info;

    if (account->functions[MALLINFO2] != NULL)
        add_mallinfo(account);
    add_size(account, ALLOCATED, "__sanitizer_get_current_allocated_bytes");
    add_size(account, HEAP, "__sanitizer_get_heap_size");
    if (abench__info_read(account, account->functions[INFO], &info) && !info.overflowed) {
        abench__account_add(account, "alloc.count", "count", info.allocations);
        abench__account_add(account, "alloc.size", "bytes", info.allocated_bytes);
    }
}

static int purge(abench_account *account)
{
    int (*const mallopt_of_it)(int, int) = (int (*)(int, int))account->functions[MALLOPT];

    return mallopt_of_it(PURGE_ALL, 0) != 0 || mallopt_of_it(PURGE, 0) != 0;
}

const abench__teller abench__scudo_teller = {
    .family = "scudo",
    .marker = "__scudo_print_stats",
    .open = open_account,
    .stats = read_stats,
    .purge = purge,
    .close = abench__info_close,
};
