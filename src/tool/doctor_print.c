#include "tool/doctor_print.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tool/json_text.h"
#include "tool/report/format.h"
#include "tool/terminal.h"
#include "tool/util.h"

#define VERDICT_WIDTH 8u /* "unknown", and a blank */
#define HEAD_WIDTH    6u /* "why: ", "do:  ", behind the verdict's column */
#define ROOM_LEAST    20u

/* ---- which ----------------------------------------------------------------------------------- */

abench_finding *doctor_findings(const abench_doctor *doctor, size_t *count)
{
    abench_finding one = ABENCH_FINDING_INIT, *all = NULL;
    size_t capacity = 0;

    *count = 0;
    while (abench_doctor_at(doctor, (uint32_t)*count, &one) == ABENCH_OK) {
        all = util_grow(all, *count, &capacity, sizeof *all);
        all[(*count)++] = one;
    }
    return all;
}

doctor_counts doctor_count(const abench_finding *findings, size_t count)
{
    doctor_counts counts = {0};

    for (size_t at = 0; at < count; at++) {
        counts.ok += findings[at].verdict == ABENCH_VERDICT_OK;
        counts.unknown += findings[at].verdict == ABENCH_VERDICT_UNKNOWN;
        counts.warn += findings[at].verdict == ABENCH_VERDICT_WARN;
        counts.refuse += findings[at].verdict == ABENCH_VERDICT_REFUSE;
    }
    return counts;
}

static bool is_against(const abench_finding *f)
{
    return f->verdict == ABENCH_VERDICT_WARN || f->verdict == ABENCH_VERDICT_REFUSE;
}

/* Has a line of its own. */
static bool is_shown(const abench_finding *f, const doctor_style *style)
{
    return style->is_verbose || f->verdict != ABENCH_VERDICT_UNKNOWN;
}

/* ---- for a person ---------------------------------------------------------------------------- */

static const char *verdict_word(uint32_t verdict)
{
    const char *word = abench_verdict_name(verdict);

    return word == NULL ? "?" : word;
}

static void put_verdict(uint32_t verdict, bool color, FILE *out)
{
    static const char *const codes[] = {"\033[32m", "\033[2m", "\033[33m", "\033[1;31m"};
    const char *word = verdict_word(verdict);
    const bool is_coloured = color && verdict < sizeof codes / sizeof codes[0];

    fprintf(out, "%s%-7s%s ", is_coloured ? codes[verdict] : "", word,
            is_coloured ? "\033[0m" : "");
}

/* Text of a finding in the columns from indent on; the cursor stands there. */
static void put_text(const char *text, const doctor_style *style, size_t indent, FILE *out)
{
    char *plain = format_terminal(text, 0);
    char *wrapped = terminal_wrap(plain, style->width, indent);

    fprintf(out, "%s\n", wrapped);
    free(wrapped);
    free(plain);
}

static void put_part(const char *head, const char *text, const doctor_style *style, FILE *out)
{
    if (text[0] == '\0')
        return;
    fprintf(out, "%*s%-*s", (int)VERDICT_WIDTH, "", (int)HEAD_WIDTH, head);
    put_text(text, style, VERDICT_WIDTH + HEAD_WIDTH, out);
}

static void put_finding(const abench_finding *f, size_t name_width, const doctor_style *style,
                        FILE *out)
{
    char *name = format_terminal(f->name, 0);

    put_verdict(f->verdict, style->color, out);
    fprintf(out, "%s%*s", name, (int)(name_width - format_width(name)), "");
    put_text(f->value, style, VERDICT_WIDTH + name_width, out);
    if (is_against(f) || style->is_verbose)
        put_part("why:", f->why, style, out);
    put_part("do:", f->advice, style, out);
    free(name);
}

/* "unknown turbo, governor (this machine does not tell)" */
static void put_unknown(const abench_finding *findings, size_t count, const doctor_style *style,
                        FILE *out)
{
    char *names = NULL;

    for (size_t at = 0; at < count; at++) {
        char *before = names;
        if (findings[at].verdict != ABENCH_VERDICT_UNKNOWN)
            continue;
        names = before == NULL ? xstrdup(findings[at].name)
                               : xasprintf("%s, %s", before, findings[at].name);
        free(before);
    }
    if (names != NULL) {
        char *text = xasprintf("%s (this machine does not tell; --verbose says more)", names);
        put_verdict(ABENCH_VERDICT_UNKNOWN, style->color, out);
        put_text(text, style, VERDICT_WIDTH, out);
        free(text);
    }
    free(names);
}

/* The column of the names: as wide as the longest that is shown, and a gap. */
static size_t measure_names(const abench_finding *findings, size_t count, const doctor_style *style)
{
    size_t width = 0;

    for (size_t at = 0; at < count; at++) {
        char *name = format_terminal(findings[at].name, 0);
        const size_t own = format_width(name);
        if (is_shown(&findings[at], style) && own > width)
            width = own;
        free(name);
    }
    return width + 2;
}

void doctor_print(const abench_finding *findings, size_t count, const doctor_style *style,
                  FILE *out)
{
    const size_t name_width = measure_names(findings, count, style);
    doctor_style fitting = *style;

    if (fitting.width < VERDICT_WIDTH + name_width + ROOM_LEAST)
        fitting.width = VERDICT_WIDTH + name_width + ROOM_LEAST; /* narrower helps nobody */
    for (size_t at = 0; at < count; at++)
        if (is_shown(&findings[at], style))
            put_finding(&findings[at], name_width, &fitting, out);
    if (!style->is_verbose)
        put_unknown(findings, count, &fitting, out);
}

void doctor_print_counts(const abench_finding *findings, size_t count, FILE *out)
{
    const doctor_counts counts = doctor_count(findings, count);

    fprintf(out, "%zu ok, %zu warn, %zu refuse, %zu unknown\n", counts.ok, counts.warn,
            counts.refuse, counts.unknown);
}

/* ---- for another program --------------------------------------------------------------------- */

json_t *doctor_json(const abench_finding *findings, size_t count)
{
    json_t *list = json_array();

    for (size_t at = 0; at < count; at++) {
        const abench_finding *f = &findings[at];
        json_t *item = json_object();
        json_object_set_new(item, "name", json_text(f->name));
        json_object_set_new(item, "verdict", json_text(verdict_word(f->verdict)));
        json_object_set_new(item, "is_key", json_boolean(f->is_key != 0));
        json_object_set_new(item, "value", json_text(f->value));
        json_object_set_new(item, "why", json_text(f->why));
        json_object_set_new(item, "advice", json_text(f->advice));
        json_array_append_new(list, item);
    }
    return list;
}
