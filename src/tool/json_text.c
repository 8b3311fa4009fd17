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
