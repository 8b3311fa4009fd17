/*
 * html_parts.h - the pieces that html.c puts together.
 */
#ifndef ABENCH_TOOL_REPORT_HTML_PARTS_H
#define ABENCH_TOOL_REPORT_HTML_PARTS_H

#include <stddef.h>
#include <stdio.h>

#include "tool/report/advice.h"
#include "tool/report/notes.h"
#include "tool/report/verdict.h"

/* In pieces, as a string of C may only be so long; NULL behind the last. */
extern const char *const html_style[];
extern const char *const html_script[];

/* A text from outside, harmless, with what is invisible made visible. */
void html_text(FILE *out, const char *text);

/* What the report says in Markdown elsewhere, as HTML: its tables (with the paragraph before them
 * as caption), lists, paragraphs and "##" headings (h3). No markup but ours comes out, whatever is
 * in it. */
void html_markdown(FILE *out, const char *markdown);

/* A list; nothing when it is empty. Frees list. */
void html_notes(FILE *out, note_list list);

/* One row a target, two columns a workload: all main verdicts at a glance. */
void html_board(const verdicts *v, FILE *out);

/* All judged metrics of a workload: value, ratio, interval, rank, verdict. */
void html_verdicts(const verdicts *v, size_t workload, FILE *out);

/* Every value of every round, a table a metric. */
void html_raw(const summary *s, size_t workload, FILE *out);

/* A workload's whole section. text: its advice; may be NULL. */
void html_workload(const verdicts *v, size_t workload, const advice_text *text, FILE *out);

/* The machine, its findings, the targets. */
void html_machine(const model *m, FILE *out);
void html_targets(const model *m, FILE *out);

#endif
