#include "tool/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tool/util.h"

size_t terminal_width(int fd)
{
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return TERMINAL_WIDTH_PRESET;
    return size.ws_col;
}

bool terminal_is_smart(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

bool terminal_has_color(int fd)
{
    const char *no_color = getenv("NO_COLOR");

    return terminal_is_smart(fd) && (no_color == NULL || no_color[0] == '\0');
}

/* UTF-8's further bytes are no characters. */
static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t at = 0; at < length; at++)
        columns += ((unsigned char)text[at] & 0xc0) != 0x80;
    return columns;
}

char *terminal_wrap(const char *text, size_t width, size_t indent)
{
    /* A blank becomes at most a newline and the indent. */
    char *wrapped = xmalloc(strlen(text) * (indent + 2) + 1), *to = wrapped;
    size_t column = indent;

    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        const size_t length = strcspn(text, " ");
        const size_t columns = columns_of(text, length);
        if (to == wrapped) {
            column = indent;
        } else if (column + 1 + columns > width) {
            *to++ = '\n';
            memset(to, ' ', indent);
            to += indent;
            column = indent;
        } else {
            *to++ = ' ';
            column++;
        }
        memcpy(to, text, length);
        to += length;
        column += columns;
        text += length;
    }
    *to = '\0';
    return wrapped;
}
