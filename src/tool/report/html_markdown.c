#include "tool/report/html_parts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/util.h"

#define COLUMNS_MOST 64u

/* ---- inside of a line ------------------------------------------------------------------------ */

/* One character or entity, escaped; returns its length. */
static size_t put_character(FILE *out, const char *at)
{
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;"};
    size_t length = 1;
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        if (strncmp(at, entities[i], strlen(entities[i])) == 0) {
            fputs(entities[i], out);
            return strlen(entities[i]);
        }
    }
    while ((at[length] & 0xc0) == 0x80)
        length++; /* the rest of a UTF-8 character */
    char *one = xstrndup(at, length);
    format_xml(out, one);
    free(one);
    return length;
}

typedef struct inline_state {
    bool strong;
    bool emphasis;
    bool code;
} inline_state;

static void toggle(FILE *out, bool *is_on, const char *tag)
{
    fprintf(out, "<%s%s>", *is_on ? "/" : "", tag);
    *is_on = !*is_on;
}

/* "[text](#place)": only text is kept. Returns what stands for the closing part. */
static const char *behind_link(const char *at)
{
    const char *end = strncmp(at, "](", 2) == 0 ? strchr(at, ')') : NULL;
    return end == NULL ? at : end + 1;
}

static void put_inline(FILE *out, const char *text, size_t length)
{
    inline_state s = {false, false, false};
    const char *end = text + length;
    for (const char *at = text; at < end;) {
        if (*at == '\\' && at + 1 < end && !s.code) {
            at += 1 + put_character(out, at + 1);
        } else if (*at == '`') {
            toggle(out, &s.code, "code");
            at++;
        } else if (strncmp(at, "**", 2) == 0 && !s.code) {
            toggle(out, &s.strong, "strong");
            at += 2;
        } else if (*at == '*' && !s.code) {
            toggle(out, &s.emphasis, "em");
            at++;
        } else if (*at == '[' && !s.code) {
            at++;
        } else if (*at == ']' && !s.code) {
            at = behind_link(at) == at ? at + 1 : behind_link(at);
        } else {
            at += put_character(out, at);
        }
    }
    fputs(s.code ? "</code>" : "", out);
    fputs(s.emphasis ? "</em>" : "", out);
    fputs(s.strong ? "</strong>" : "", out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The cells of "| a | b |": begins and lengths. A bar behind a backslash is text. */
static size_t split(const char *line, size_t length, const char **cells, size_t *lengths)
{
    size_t n = 0;
    const char *begin = line + 1, *end = line + length;
    for (const char *at = begin; at < end && n < COLUMNS_MOST; at++) {
        if (*at == '\\' && at + 1 < end) {
            at++;
        } else if (*at == '|') {
            const char *last = at;
            while (begin < last && *begin == ' ')
                begin++;
            while (last > begin && last[-1] == ' ')
                last--;
            cells[n] = begin;
            lengths[n++] = (size_t)(last - begin);
            begin = at + 1;
        }
    }
    return n;
}

typedef struct table {
    bool is_number[COLUMNS_MOST];
    const char *cells[COLUMNS_MOST];
    size_t lengths[COLUMNS_MOST];
} table;

static void put_row(FILE *out, const table *t, size_t n, bool is_head)
{
    fputs("<tr>", out);
    for (size_t i = 0; i < n; i++) {
        const char *class = t->is_number[i] ? " class=\"num\"" : "";
        if (is_head)
            fprintf(out, "<th scope=\"col\"%s>", class);
        else if (i == 0)
            fputs("<th scope=\"row\">", out);
        else
            fprintf(out, "<td%s>", class);
        put_inline(out, t->cells[i], t->lengths[i]);
        fputs(is_head || i == 0 ? "</th>" : "</td>", out);
    }
    fputs("</tr>\n", out);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

typedef struct block {
    FILE *out;
    const char *waiting; /* a paragraph, which may become a caption */
    size_t waiting_length;
    bool in_list;
} block;

static void flush(block *b)
{
    if (b->in_list)
        fputs("</ul>\n", b->out);
    b->in_list = false;
    if (b->waiting == NULL)
        return;
    fputs("<p>", b->out);
    put_inline(b->out, b->waiting, b->waiting_length);
    fputs("</p>\n", b->out);
    b->waiting = NULL;
}

/* From the head's line on; returns what is behind the table. */
static const char *put_table(block *b, const char *line)
{
    table t;
    const char *caption = b->waiting;
    size_t n = 0;
    b->waiting = NULL;
    flush(b);
    memset(t.is_number, 0, sizeof t.is_number);
    const char *rule = strchr(line, '\n');
    if (rule != NULL && rule[1] == '|') {
        n = split(rule + 1, strcspn(rule + 1, "\n"), t.cells, t.lengths);
        for (size_t i = 0; i < n; i++)
            t.is_number[i] = t.lengths[i] > 0 && t.cells[i][t.lengths[i] - 1] == ':';
    }
    fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n", b->out);
    if (caption != NULL) {
        fputs("<caption>", b->out);
        put_inline(b->out, caption, b->waiting_length);
        fputs("</caption>\n", b->out);
    }
    for (size_t row = 0; *line == '|'; row++) {
        const size_t length = strcspn(line, "\n");
        n = split(line, length, t.cells, t.lengths);
        size_t filled = 0;
        for (size_t i = 0; i < n; i++)
            filled += t.lengths[i] > 0;
        if (row != 1 && filled > 0)
            put_row(b->out, &t, n, row == 0);
        line += length + (line[length] == '\n');
    }
    fputs("</table></div>\n", b->out);
    return line;
}

static void put_line(block *b, const char *line, size_t length)
{
    if (length >= 2 && strncmp(line, "- ", 2) == 0) {
        if (!b->in_list) {
            flush(b);
            fputs("<ul>\n", b->out);
        }
        b->in_list = true;
        fputs("<li>", b->out);
        put_inline(b->out, line + 2, length - 2);
        fputs("</li>\n", b->out);
        return;
    }
    flush(b);
    if (length >= 3 && strncmp(line, "## ", 3) == 0) {
        fputs("<h3>", b->out);
        put_inline(b->out, line + 3, length - 3);
        fputs("</h3>\n", b->out);
        return;
    }
    b->waiting = line;
    b->waiting_length = length;
}

void html_markdown(FILE *out, const char *markdown)
{
    block b = {out, NULL, 0, false};
    for (const char *line = markdown; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        if (*line == '|') {
            line = put_table(&b, line);
            continue;
        }
        if (length > 0)
            put_line(&b, line, length);
        line += length + (line[length] == '\n');
    }
    flush(&b);
}
