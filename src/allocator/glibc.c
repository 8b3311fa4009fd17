/*
 * glibc.c - the C library's own malloc, by mallinfo(3), malloc_trim(3) and malloc_info(3). Run
 * against: 2.36.
 *
 * mallinfo2 adds up every arena, takes each one's lock and walks its free chunks (20 us to 100 ms).
 * It counts chunks in a thread's cache as used, with their overhead, and fordblks are free bytes,
 * most of them still resident.
 *
 * How many arenas there are only malloc_info tells, on a stdio stream: with ABENCH_ACCOUNT_STREAM
 * the account keeps one from open to close, whose block (about 300 bytes) comes from the process's
 * malloc. Reading through it allocates nothing (info.c).
 */
#include "allocator/families.h"

#include "allocator/account.h"
#include "allocator/info.h"
#include "allocator/mallinfo.h"
#include "base/text.h"

void abench__glibc_version(const abench__object *provider, char *version, uint32_t size)
{
    const abench__function symbol = abench__object_function(provider, "gnu_get_libc_version");

    if (symbol != NULL)
        abench__copy(version, size, ((const char *(*)(void))symbol)());
}

/* A statically linked program has no dynamic symbols; these are there when its malloc is glibc's.
 * In any other program the account has found the functions before it comes to them. */
extern struct abench__mallinfo mallinfo2(void) __attribute__((weak));
extern int malloc_trim(size_t pad) __attribute__((weak));

enum { MALLINFO2, TRIM, INFO };

static void open_account(abench_account *account)
{
    account->functions[MALLINFO2] = abench__account_function(account, "mallinfo2");
    account->functions[TRIM] = abench__account_function(account, "malloc_trim");
    account->functions[INFO] = abench__account_function(account, "malloc_info");
    if (!account->has_home && account->functions[MALLINFO2] == NULL)
        account->functions[MALLINFO2] = (abench__function)mallinfo2;
    if (!account->has_home && account->functions[TRIM] == NULL)
        account->functions[TRIM] = (abench__function)malloc_trim;
    if (account->functions[TRIM] != NULL)
        account->purge_call = "malloc_trim(0)";
    if (account->functions[INFO] != NULL && (account->flags & ABENCH_ACCOUNT_STREAM) != 0)
        abench__info_open(account);
}

static void add_mallinfo(abench_account *account)
{
    const struct abench__mallinfo m = ((abench__mallinfo2 *)account->functions[MALLINFO2])();

    abench__account_add(account, "arena", "bytes", m.arena);
    abench__account_add(account, "hblkhd", "bytes", m.hblkhd);
    abench__account_add(account, "uordblks", "bytes", m.uordblks);
    abench__account_add(account, "fordblks", "bytes", m.fordblks);
    abench__account_add(account, "fsmblks", "bytes", m.fsmblks);
    abench__account_add(account, "keepcost", "bytes", m.keepcost);
    abench__account_add(account, "ordblks", "count", m.ordblks);
    abench__account_add(account, "smblks", "count", m.smblks);
    abench__account_add(account, "hblks", "count", m.hblks);
}

/* The elements that follow the last arena's are sums over all of them. */
static void add_info(abench_account *account)
{
    abench__info info;

    if (!abench__info_read(account, account->functions[INFO], &info) || info.heaps == 0)
        return;
    abench__account_add(account, "heap", "count", info.heaps);
    for (uint32_t at = 0; at < ABENCH__INFO_TOTALS; at++)
        if (info.totals_valid >> at & 1)
            abench__account_add(account, abench__info_name(at), "bytes", info.totals[at]);
}

static void read_stats(abench_account *account)
{
    if (account->functions[MALLINFO2] != NULL)
        add_mallinfo(account);
    add_info(account);
}

static int purge(abench_account *account)
{
    ((int (*)(size_t))account->functions[TRIM])(0); /* 0: nothing was there to give back */
    return 1;
}

const abench__teller abench__glibc_teller = {
    .family = "glibc",
    .marker = "gnu_get_libc_version",
    .open = open_account,
    .stats = read_stats,
    .purge = purge,
    .close = abench__info_close,
};
