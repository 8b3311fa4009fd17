#include "tool/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

json_t *json_text(const char *text)
{
    json_t *string = json_string(text);
    char *escaped, *at;

    if (string != NULL)
        return string;
    escaped = at = xmalloc(4 * strlen(text) + 1);
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text > 0x7f)
            at += sprintf(at, "\\x%02x", (unsigned)(unsigned char)*text);
        else
            *at++ = *text;
    }
    *at = '\0';
    string = json_string(escaped);
    free(escaped);
    return string;
}

json_t *json_host(const abench_host *host)
{
    json_t *item = json_object();

    json_object_set_new(item, "kernel", json_text(host->kernel));
    json_object_set_new(item, "machine", json_text(host->machine));
    json_object_set_new(item, "cpu", json_text(host->cpu));
    json_object_set_new(item, "libc", json_text(host->libc));
    json_object_set_new(item, "thp", json_text(host->thp));
    json_object_set_new(item, "governor", json_text(host->governor));
    json_object_set_new(item, "hostname", json_text(host->hostname));
    json_object_set_new(item, "cpus_online", json_integer(host->cpus_online));
    json_object_set_new(item, "cpus_allowed", json_integer(host->cpus_allowed));
    json_object_set_new(item, "page_bytes", json_integer(host->page_bytes));
    json_object_set_new(item, "memory_bytes", json_integer((json_int_t)host->memory_bytes));
    json_object_set_new(item, "memory_limit_bytes",
                        json_integer((json_int_t)host->memory_limit_bytes));
    return item;
}
