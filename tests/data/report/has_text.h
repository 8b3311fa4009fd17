/* has_text.h - what a printed text must hold, or must not. Included after cmocka.h. */
#ifndef HAS_TEXT_H
#define HAS_TEXT_H

#include <string.h>

static inline void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static inline void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" is in:\n%s", part, text);
}

#endif
