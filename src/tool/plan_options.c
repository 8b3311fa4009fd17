#include "tool/plan_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/arguments.h"

const struct option *plan_options(void)
{
    return arguments_options();
}

const struct option *plan_option_find(const char *name)
{
    for (const struct option *at = arguments_options(); at->name != NULL; at++)
        if (strcmp(at->name, name) == 0)
            return at;
    return NULL;
}

bool plan_option_stays(const char *name)
{
    static const char *const passing[] = {"output", "color", "help", "plan", "retry-failed"};

    for (size_t at = 0; at < sizeof passing / sizeof *passing; at++)
        if (strcmp(name, passing[at]) == 0)
            return false;
    return strncmp(name, "export-", 7) != 0 && strncmp(name, "fail-", 5) != 0;
}

const char *plan_option_field(const char *name)
{
    static const char *const fields[][2] = {
        {"target", "targets"}, {"baseline", "baseline"}, {"seed", "seed"}, {"rounds", "rounds"}};

    for (size_t at = 0; at < sizeof fields / sizeof *fields; at++)
        if (strcmp(name, fields[at][0]) == 0)
            return fields[at][1];
    return NULL;
}

bool plan_read_number(const char *text, uint64_t *number)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    *number = strtoull(text, NULL, 10);
    return errno == 0;
}
