#include "tool/report/format.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/util.h"

#define BAD_BYTE UINT32_MAX

/* Reads one character and moves *at behind it; BAD_BYTE for a byte that begins none. */
static uint32_t next_character(const char **at)
{
    const unsigned char *c = (const unsigned char *)*at;
    size_t length = c[0] < 0x80 ? 1 : c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    static const uint32_t minimum[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = length == 1 ? c[0] : c[0] & (0x7fu >> length);
    bool good = c[0] < 0x80 || (c[0] >= 0xc2 && c[0] <= 0xf4);
    for (size_t i = 1; i < length && good; i++) {
        good = (c[i] & 0xc0) == 0x80; /* false for the terminator */
        code = code << 6 | (c[i] & 0x3f);
    }
    good = good && code >= minimum[length] && code <= 0x10ffff && (code & 0xfffff800) != 0xd800;
    *at += good ? length : 1;
    return good ? code : BAD_BYTE;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Marks without width, and those that turn the writing direction of what follows. */
static bool is_invisible(uint32_t code)
{
    return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code == 0x061c;
}

/* ---- terminal -------------------------------------------------------------------------------- */

static void put_visible(FILE *out, const char *begin, const char *end, uint32_t code)
{
    if (code == BAD_BYTE)
        fprintf(out, "\\x%02x", (unsigned char)*begin);
    else if (code == '\n' || code == '\t' || code == '\r')
        fprintf(out, "\\%c", code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
    else if (code < 0x80 && is_control(code))
        fprintf(out, "\\x%02x", code);
    else if (is_control(code) || is_invisible(code))
        fprintf(out, "\\u%04x", code);
    else
        fwrite(begin, 1, (size_t)(end - begin), out);
}

/* In-memory streams fail only when there is no memory. */
static FILE *open_buffer(char **data, size_t *size)
{
    FILE *out = open_memstream(data, size);
    if (out == NULL) {
        fputs("allocbench: out of memory\n", stderr);
        exit(3);
    }
    return out;
}

char *format_terminal(const char *text, size_t limit)
{
    char *result;
    size_t size;
    FILE *out = open_buffer(&result, &size);
    bool cut = limit > 3 && format_width(text) > limit;
    size_t room = cut ? limit - 3 : SIZE_MAX;
    for (const char *at = text; *at != '\0' && room > 0; room--) {
        const char *begin = at;
        uint32_t code = next_character(&at);
        put_visible(out, begin, at, code);
    }
    fputs(cut ? "..." : "", out);
    fclose(out);
    return result;
}

size_t format_width(const char *text)
{
    size_t width = 0;
    for (const char *at = text; *at != '\0'; width++)
        next_character(&at);
    return width;
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static void put_markdown(FILE *out, const char *text, const char *begin, const char *end,
                         uint32_t code)
{
    static const char escaped[] = "\\`*[]|~";
    bool first = begin == text;
    if (code == BAD_BYTE || is_control(code) || is_invisible(code)) {
        if (code == BAD_BYTE || (code != '\n' && code != '\t' && code != '\r'))
            fputs("\xef\xbf\xbd", out);
        else
            fputc(' ', out);
        return;
    }
    if (code == '<' || code == '>' || code == '&') {
        fputs(code == '<' ? "&lt;" : code == '>' ? "&gt;" : "&amp;", out);
        return;
    }
    /* An underscore inside a word is no markup, and names of variables are full of them. */
    bool marks = code < 0x80 && strchr(escaped, (int)code) != NULL;
    bool edge = code == '_' && (first || !is_word(begin[-1]) || !is_word(*end));
    bool head = first && code < 0x80 && strchr("#-+=:", (int)code) != NULL;
    if (marks || edge || head)
        fputc('\\', out);
    fwrite(begin, 1, (size_t)(end - begin), out);
}

void format_markdown(FILE *out, const char *text)
{
    for (const char *at = text; *at != '\0';) {
        const char *begin = at;
        uint32_t code = next_character(&at);
        put_markdown(out, text, begin, at, code);
    }
}

void format_markdown_block(FILE *out, const char *text)
{
    size_t longest = 2;
    for (const char *at = text; *at != '\0';) {
        size_t run = strspn(at, "`");
        longest = run > longest ? run : longest;
        at += run > 0 ? run : 1;
    }
    char *fence = xmalloc(longest + 2);
    memset(fence, '`', longest + 1);
    fence[longest + 1] = '\0';
    fprintf(out, "%s\n", fence);
    for (const char *at = text; *at != '\0';) {
        const char *begin = at;
        uint32_t code = next_character(&at);
        if (code == '\n' || code == '\t')
            fputc((int)code, out);
        else
            put_visible(out, begin, at, code);
    }
    fprintf(out, "\n%s\n", fence);
    free(fence);
}

/* ---- XML, TSV, CSV --------------------------------------------------------------------------- */

void format_xml(FILE *out, const char *text)
{
    for (const char *at = text; *at != '\0';) {
        const char *begin = at;
        uint32_t code = next_character(&at);
        const char *entity = code == '<'    ? "&lt;"
                             : code == '>'  ? "&gt;"
                             : code == '&'  ? "&amp;"
                             : code == '"'  ? "&quot;"
                             : code == '\'' ? "&#39;"
                                            : NULL;
        if (entity != NULL)
            fputs(entity, out);
        else if (code == '\n' || code == '\t' || code == '\r')
            fputc(' ', out);
        else if (code == BAD_BYTE || is_control(code) || is_invisible(code) ||
                 (code & 0xfffe) == 0xfffe)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(begin, 1, (size_t)(at - begin), out);
    }
}

void format_tsv(FILE *out, const char *text)
{
    static const char special[] = "\t\n\r\\";
    static const char letters[] = "tnr\\";
    for (const char *at = text; *at != '\0';) {
        const char *found = strchr(special, *at);
        const char *begin = at;
        uint32_t code = next_character(&at);
        if (found != NULL)
            fprintf(out, "\\%c", letters[found - special]);
        else
            put_visible(out, begin, at, code);
    }
}

void format_csv(FILE *out, const char *text)
{
    bool quoted = text[strcspn(text, "\",\r\n")] != '\0';
    fputs(quoted ? "\"" : "", out);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"')
            fputc('"', out);
        if (iscntrl((unsigned char)*at) && strchr("\t\r\n", *at) == NULL)
            fprintf(out, "\\x%02x", (unsigned char)*at);
        else
            fputc(*at, out);
    }
    fputs(quoted ? "\"" : "", out);
}

/* ---- numbers --------------------------------------------------------------------------------- */

void format_number(FILE *out, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (back >= value && back <= value)
            break;
    }
    fputs(text, out);
}

format_unit format_scale(const char *unit, double largest)
{
    static const struct {
        const char *unit;
        format_unit scales[4];
    } known[] = {
        {"ns", {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}},
        {"bytes", {{"GiB", 1024.0 * 1024 * 1024}, {"MiB", 1024.0 * 1024}, {"KiB", 1024}, {"B", 1}}},
        {"count", {{"M", 1e6}, {"k", 1e3}, {"", 1}, {"", 1}}},
        {"ratio", {{"", 1}, {"", 1}, {"", 1}, {"", 1}}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(unit, known[i].unit) != 0)
            continue;
        size_t fit = 0;
        while (fit < 3 && fabs(largest) < known[i].scales[fit].divisor)
            fit++;
        return known[i].scales[fit];
    }
    return (format_unit){unit, 1};
}

char *format_date(const char *unix_s)
{
    char *end;
    errno = 0;
    long long seconds = strtoll(unix_s, &end, 10);
    time_t when = (time_t)seconds;
    struct tm parts;
    char text[64];
    if (end != unix_s && *end == '\0' && errno == 0 && gmtime_r(&when, &parts) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) > 0)
        return xstrdup(text);
    return xstrdup(unix_s);
}

int format_decimals(double value)
{
    double size = fabs(value);
    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

char *format_ns(double ns)
{
    format_unit scale = format_scale("ns", ns);
    double shown = ns / scale.divisor;
    bool whole = scale.divisor <= 1 && shown < 1000; /* a clock's nanoseconds have no halves */
    return xasprintf("%.*f%s", whole ? 0 : format_decimals(shown), shown, scale.name);
}

char *format_spread(double spread)
{
    const double percent = 100 * spread;
    if (percent > 999)
        return xstrdup("±>999%");
    return xasprintf("±%.*f%%", percent < 9.95 ? 1 : 0, percent);
}

char *format_count(double count)
{
    static const char *const names[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t at = 0;
    while (fabs(count) >= 999.5 && at + 1 < sizeof names / sizeof *names) {
        count /= 1000;
        at++;
    }
    return xasprintf("%.*f%s", at == 0 ? 0 : format_decimals(count), count, names[at]);
}

/* ---- names of files -------------------------------------------------------------------------- */

char *format_slug(const char *text, size_t limit)
{
    char *slug = xmalloc(limit + 1);
    size_t length = 0;
    for (const char *c = text; *c != '\0' && length < limit; c++) {
        bool plain = (unsigned char)*c < 0x80 && isalnum((unsigned char)*c);
        if (plain)
            slug[length++] = (char)tolower((unsigned char)*c);
        else if (length > 0 && slug[length - 1] != '-')
            slug[length++] = '-';
    }
    while (length > 0 && slug[length - 1] == '-')
        length--;
    slug[length] = '\0';
    return slug;
}
