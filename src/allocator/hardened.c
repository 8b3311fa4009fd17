/*
 * hardened.c - GrapheneOS's hardened_malloc. Read: h_malloc.c and include/h_malloc.h; it was
 * not run against.
 *
 * mallinfo2 is filled in builds with CONFIG_STATS only (four fields); else all is 0, and absent.
 * malloc_trim gives back the slabs that are empty.
 */
#include "allocator/account.h"
#include "allocator/mallinfo.h"

enum { MALLINFO2, TRIM };

static void open_account(abench_account *account)
{
    account->functions[MALLINFO2] = abench__account_function(account, "mallinfo2");
    account->functions[TRIM] = abench__account_function(account, "malloc_trim");
    if (account->functions[TRIM] != NULL)
        account->purge_call = "malloc_trim(0)";
}

static void read_stats(abench_account *account)
{
    struct abench__mallinfo m;

    if (account->functions[MALLINFO2] == NULL)
        return;
    m = ((abench__mallinfo2 *)account->functions[MALLINFO2])();
    if (m.hblkhd == 0)
        return;
    abench__account_add(account, "uordblks", "bytes", m.uordblks);
    abench__account_add(account, "fordblks", "bytes", m.fordblks);
    abench__account_add(account, "hblkhd", "bytes", m.hblkhd);
    abench__account_add(account, "usmblks", "bytes", m.usmblks);
}

static int purge(abench_account *account)
{
    ((int (*)(size_t))account->functions[TRIM])(0);
    return 1;
}

const abench__teller abench__hardened_teller = {
    .family = "hardened_malloc",
    .marker = "malloc_object_size_fast",
    .open = open_account,
    .stats = read_stats,
    .purge = purge,
};
