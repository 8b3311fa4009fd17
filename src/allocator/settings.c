/* settings.c - what steers an allocator from outside: variables of the environment and links. */
#include "allocator/account.h"

#include <string.h>
#include <unistd.h>

#define NAME_BYTES 128u

void abench__settings_environment(abench_account *account)
{
    if (environ == NULL)
        return;
    for (char **at = environ; *at != NULL; at++) {
        const size_t length = strcspn(*at, "=");
        char name[NAME_BYTES];

        if (length == 0 || length >= sizeof name || (*at)[length] == '\0')
            continue;
        memcpy(name, *at, length);
        name[length] = '\0';
        if (abench_allocator_environment_of(account->teller->family, name))
            abench__account_set(account, ABENCH_SETTING_ENVIRONMENT, name, *at + length + 1);
    }
}

void abench__settings_link(abench_account *account, const char *path)
{
    char target[sizeof account->settings[0].value];
    const ssize_t length = readlink(path, target, sizeof target - 1);

    if (length <= 0)
        return;
    target[length] = '\0';
    abench__account_set(account, ABENCH_SETTING_FILE, path, target);
}
