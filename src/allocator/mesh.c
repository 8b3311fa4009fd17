/*
 * mesh.c - Mesh. Read: github.com/plasma-umass/Mesh, src/global_heap.cc and src/libmesh.cc;
 * it was not run against.
 *
 * mesh_mallctl has the form of jemalloc's and wants a place of one size_t for every name.
 * stats.resident is the kernel's PSS of the process. stats.active and stats.allocated are 0 in
 * newer versions, whose code for them is commented out: 0 is absent.
 */
#include "allocator/account.h"

enum { MALLCTL };

typedef int control(const char *name, void *old, size_t *old_size, void *new_value,
                    size_t new_size);

static int ask(const abench_account *account, const char *name, size_t *value)
{
    size_t size = sizeof *value;

    *value = 0;
    return account->functions[MALLCTL] != NULL &&
           ((control *)account->functions[MALLCTL])(name, value, &size, NULL, 0) == 0;
}

static void open_account(abench_account *account)
{
    account->functions[MALLCTL] = abench__account_function(account, "mesh_mallctl");
    if (account->functions[MALLCTL] != NULL)
        account->purge_call = "mesh_mallctl(mesh.compact)";
}

static void read_stats(abench_account *account)
{
    static const char *const names[] = {"stats.resident", "stats.active", "stats.allocated"};

    for (size_t at = 0; at < sizeof names / sizeof names[0]; at++) {
        size_t value;

        if (ask(account, names[at], &value) && value != 0)
            abench__account_add(account, names[at], "bytes", value);
    }
}

static int purge(abench_account *account)
{
    size_t ignored;

    return ask(account, "mesh.compact", &ignored);
}

const abench__teller abench__mesh_teller = {
    .family = "mesh",
    .marker = "mesh_mallctl",
    .open = open_account,
    .stats = read_stats,
    .purge = purge,
};
