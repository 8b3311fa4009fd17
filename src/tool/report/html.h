/*
 * html.h - report.html: the verdict first, then all that it rests on, in one page that needs
 * nothing but itself: no network, no other file, and a script only for what a pointer hovers over.
 * It is for a telephone as for a desk, in light and in dark, and for paper.
 *
 * Files with a timeline of garbage collections do not exist yet; the page has no section for them.
 */
#ifndef ABENCH_TOOL_REPORT_HTML_H
#define ABENCH_TOOL_REPORT_HTML_H

#include <stdio.h>

#include "tool/report/verdict.h"

void html_report(const verdicts *v, FILE *out);

#endif
