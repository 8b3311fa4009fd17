/*
 * played.h - an allocator that a test plays: functions of its own under the allocator's names, and
 * what an account of it must tell. Include it behind cmocka.h.
 */
#ifndef ABENCH_TESTS_UNIT_PLAYED_H
#define ABENCH_TESTS_UNIT_PLAYED_H

#include <string.h>

#include <allocbench/allocator.h>

typedef void (*function)(void);

/* The functions of the allocator that is played, by their names. */
typedef struct played {
    const char *name;
    function function;
} played;

static inline void *find(const char *name, void *user)
{
    for (const played *at = user; at->name != NULL; at++)
        if (strcmp(at->name, name) == 0)
            return (void *)(uintptr_t)at->function;
    return NULL;
}

static inline abench_account *open_played(const char *family, const char *prefix,
                                          const played *functions)
{
    abench_account_options options = ABENCH_ACCOUNT_OPTIONS_INIT;
    abench_account *account = NULL;

    options.family = family;
    options.prefix = prefix;
    options.symbol = find;
    options.user = (void *)(uintptr_t)functions;
    assert_int_equal(abench_allocator_open(&options, &account), ABENCH_OK);
    assert_string_equal(abench_account_family(account), family);
    return account;
}

static inline int has_statistic(const abench_account *account, const char *name, uint64_t *value)
{
    abench_statistic statistic = ABENCH_STATISTIC_INIT;

    for (uint32_t at = 0; abench_account_at(account, at, &statistic) == ABENCH_OK; at++)
        if (strcmp(statistic.name, name) == 0) {
            *value = statistic.value;
            return 1;
        }
    return 0;
}

static inline void assert_statistic(const abench_account *account, const char *name,
                                    uint64_t expected)
{
    uint64_t value = 0;

    if (!has_statistic(account, name, &value))
        fail_msg("%s is absent", name);
    assert_int_equal(value, expected);
}

static inline void assert_no_statistic(const abench_account *account, const char *name)
{
    uint64_t value;

    if (has_statistic(account, name, &value))
        fail_msg("%s is %llu and not absent", name, (unsigned long long)value);
}

static inline void assert_setting(const abench_account *account, uint32_t source, const char *name,
                                  const char *expected)
{
    abench_setting setting = ABENCH_SETTING_INIT;

    for (uint32_t at = 0; abench_account_setting_at(account, at, &setting) == ABENCH_OK; at++)
        if (strcmp(setting.name, name) == 0 && setting.source == source) {
            assert_string_equal(setting.value, expected);
            return;
        }
    fail_msg("%s is no setting", name);
}

#endif
