/*
 * account.h - an allocator's own account from inside: what a family's file must say, and what it
 * finds there.
 *
 * A family's file (jemalloc.c, ...) defines one abench__teller: which functions it looks for when
 * the account is opened, and what it does with them later. Everything that it writes lies in the
 * account, which is one mapping: nothing here allocates from the allocator that is asked.
 */
#ifndef ABENCH_ALLOCATOR_ACCOUNT_H
#define ABENCH_ALLOCATOR_ACCOUNT_H

#include <allocbench/allocator.h>

#include "allocator/symfind.h"

#define ABENCH__SETTINGS_MAX   64u
#define ABENCH__FUNCTIONS_MAX  12u
#define ABENCH__PREFIX_BYTES   32u
#define ABENCH__ACCOUNT_TEXT   65536u
#define ABENCH__ACCOUNT_SECRET 8192u /* what a family keeps for itself */

typedef struct abench__teller {
    const char *family;
    /* Exported by the object that keeps the account, behind the prefix; NULL: the family has no
     * function of its own, and nothing to tell. */
    const char *marker;
    /* What may stand before its names, after ""; ends with NULL. NULL: nothing may. */
    const char *const *prefixes;
    /* Looks its functions up (abench__account_function), names the calls of purge and flush, and
     * adds the settings that the allocator tells. NULL: there is nothing to look for. */
    void (*open)(abench_account *account);
    /* Adds the statistics (abench__account_add). NULL: it gives none. */
    void (*stats)(abench_account *account);
    /* 0 when it could not. Called only where open has named a call. */
    int (*purge)(abench_account *account);
    int (*flush)(abench_account *account);
    /* Gives back what open took. NULL: nothing. */
    void (*close)(abench_account *account);
} abench__teller;

struct abench_account {
    abench_memory_hooks hooks;
    const abench__teller *teller;
    abench__object home; /* that keeps the account */
    int has_home;        /* 0: only symbol finds functions */
    uint32_t flags;      /* ABENCH_ACCOUNT_... */
    char prefix[ABENCH__PREFIX_BYTES];
    void *(*symbol)(const char *name, void *user);
    void *user;
    const char *purge_call; /* never NULL */
    const char *flush_call;
    uint64_t cost_ns;
    uint32_t statistics_count;
    uint32_t settings_count;
    abench__function functions[ABENCH__FUNCTIONS_MAX]; /* the family's own order */
    abench_statistic statistics[ABENCH_STATISTICS_MAX];
    abench_setting settings[ABENCH__SETTINGS_MAX];
    _Alignas(16) unsigned char secret[ABENCH__ACCOUNT_SECRET]; /* zeros when it is opened */
    char text[ABENCH__ACCOUNT_TEXT];
};

/* A function of the allocator behind the account's prefix, or NULL. */
abench__function abench__account_function(const abench_account *account, const char *name);

/* Adds a statistic; what is beyond the last that fits is left out. name is cut to its field. */
void abench__account_add(abench_account *account, const char *name, const char *unit,
                         uint64_t value);

/* Adds a setting likewise; source: ABENCH_SETTING_... */
void abench__account_set(abench_account *account, uint32_t source, const char *name,
                         const char *value);
/* The same for numbers that the allocator tells. */
void abench__account_set_u64(abench_account *account, const char *name, uint64_t value);
void abench__account_set_i64(abench_account *account, const char *name, int64_t value);

/* Adds the variables of the environment that steer the account's family (settings.c). */
void abench__settings_environment(abench_account *account);
/* Adds a symbolic link whose target is the setting; nothing when there is none (settings.c). */
void abench__settings_link(abench_account *account, const char *path);

/* Every family but "unknown". */
extern const abench__teller abench__glibc_teller;
extern const abench__teller abench__jemalloc_teller;
extern const abench__teller abench__tcmalloc_teller;
extern const abench__teller abench__google_tcmalloc_teller;
extern const abench__teller abench__mimalloc_teller;
extern const abench__teller abench__tbbmalloc_teller;
extern const abench__teller abench__scudo_teller;
extern const abench__teller abench__snmalloc_teller;
extern const abench__teller abench__rpmalloc_teller;
extern const abench__teller abench__musl_teller;
extern const abench__teller abench__hardened_teller;
extern const abench__teller abench__mesh_teller;
extern const abench__teller abench__hoard_teller;

#endif
