/*
 * tbbmalloc.c - the allocator of oneTBB, by its documentation of scalable_allocator.h. Run against:
 * 2021.8.
 *
 * libtbbmalloc_proxy provides malloc and forwards to libtbbmalloc, which keeps no statistics.
 */
#include "allocator/families.h"

#include <string.h>

#include "allocator/account.h"
#include "base/text.h"

/* What libtbbmalloc prints when TBB_VERSION=1 is in the environment. */
static const char heading[] = "TBBmalloc: VERSION";

/* The proxy that provides malloc has no version, and libtbbmalloc behind it no function that tells
 * one: it is read where it stands, in the data. */
void abench__tbbmalloc_version(const abench__object *provider, char *version, uint32_t size)
{
    abench__object library;
    const char *at, *end;
    uint32_t length = 0;

    (void)provider;
    if (!abench__objects_find("scalable_allocation_command", &library))
        return;
    at = abench__object_text(&library, heading, &end);
    if (at == NULL)
        return;
    for (at += strlen(heading); at < end && (*at == '\t' || *at == ' '); at++)
        ;
    for (; at < end && length + 1 < size && ((*at >= '0' && *at <= '9') || *at == '.'); at++)
        version[length++] = *at;
    version[length] = '\0';
}

/* ---- account --------------------------------------------------------------------------------- */

enum { COMMAND };

#define CLEAN_ALL_BUFFERS    0 /* TBBMALLOC_... */
#define CLEAN_THREAD_BUFFERS 1

static void open_account(abench_account *account)
{
    account->functions[COMMAND] = abench__account_function(account, "scalable_allocation_command");
    if (account->functions[COMMAND] == NULL)
        return;
    account->purge_call = "scalable_allocation_command(TBBMALLOC_CLEAN_ALL_BUFFERS)";
    account->flush_call = "scalable_allocation_command(TBBMALLOC_CLEAN_THREAD_BUFFERS)";
}

/* Its result says whether there was anything to clean. */
static int clean(const abench_account *account, int which)
{
    ((int (*)(int, void *))account->functions[COMMAND])(which, NULL);
    return 1;
}

static int purge(abench_account *account)
{
    return clean(account, CLEAN_ALL_BUFFERS);
}

static int flush(abench_account *account)
{
    return clean(account, CLEAN_THREAD_BUFFERS);
}

const abench__teller abench__tbbmalloc_teller = {
    .family = "tbbmalloc",
    .marker = "scalable_allocation_command",
    .open = open_account,
    .purge = purge,
    .flush = flush,
};
