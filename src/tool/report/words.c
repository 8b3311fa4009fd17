#include "tool/report/words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

void words_add(words *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *part = xvasprintf(format, list);
    va_end(list);
    const size_t own = strlen(part);
    w->text = xrealloc(w->text, w->length + own + 1);
    memcpy(w->text + w->length, part, own + 1);
    w->length += own;
    free(part);
}

char *words_take(words *w)
{
    char *text = w->text != NULL ? w->text : xstrdup("");
    *w = (words){NULL, 0};
    return text;
}

const char *words_between(size_t at, size_t count)
{
    return at == 0 ? "" : at + 1 == count ? " and " : ", ";
}
