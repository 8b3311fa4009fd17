#include "tool/report/report.h"

#include <stdlib.h>

#include "tool/leftover.h"
#include "tool/report/chart.h"
#include "tool/report/data.h"
#include "tool/report/html.h"
#include "tool/report/latency.h"
#include "tool/report/markdown.h"
#include "tool/report/summary.h"
#include "tool/report/verdict.h"
#include "tool/util.h"

/* One file of the report, made in memory first. */
typedef struct page {
    FILE *out;
    char *data;
    size_t size;
} page;

static bool page_open(page *p, char *message, size_t message_size)
{
    *p = (page){NULL, NULL, 0};
    p->out = open_memstream(&p->data, &p->size);
    if (p->out == NULL)
        snprintf(message, message_size, "out of memory for a part of the report");
    return p->out != NULL;
}

/* Closes the page and puts it into the model's directory; without name it is only closed. */
static bool page_close(page *p, const model *m, const char *name, char *message,
                       size_t message_size)
{
    bool whole = ferror(p->out) == 0;
    whole = fclose(p->out) == 0 && whole;
    if (!whole) {
        snprintf(message, message_size, "out of memory for a part of the report");
    } else if (name != NULL) {
        char *path = xasprintf("%s/%s", m->directory, name);
        whole = util_write_file(path, p->data, p->size, message, message_size);
        free(path);
    }
    free(p->data);
    return whole;
}

static bool write_charts(const model *m, char **charts, char *message, size_t message_size)
{
    for (size_t i = 0; i < m->workloads_count; i++) {
        page p;
        if (!page_open(&p, message, message_size))
            return false;
        if (chart_rss(m, i, p.out))
            charts[i] = chart_name(m, i);
        if (!page_close(&p, m, charts[i], message, message_size))
            return false;
    }
    return true;
}

static bool write_latencies(const model *m, char *message, size_t message_size)
{
    bool whole = true;
    for (size_t i = 0; i < m->workloads_count && whole; i++) {
        latency *l = latency_make(m, i);
        whole = l == NULL || latency_write(l, message, message_size);
        latency_free(l);
    }
    return whole;
}

typedef struct parts {
    const summary *s;
    const verdicts *v;
    char **charts;
} parts;

static void make_samples(const parts *from, FILE *out)
{
    data_samples(from->s->m, out);
}

static void make_raw(const parts *from, FILE *out)
{
    data_raw(from->s->m, out);
}

static void make_summary(const parts *from, FILE *out)
{
    data_summary(from->v, out);
}

static void make_report(const parts *from, FILE *out)
{
    markdown_report(from->v, from->charts, out);
}

static void make_page(const parts *from, FILE *out)
{
    html_report(from->v, out);
}

bool report_write_all(const model *m, char *message, size_t message_size)
{
    static const struct {
        const char *name;
        void (*make)(const parts *from, FILE *out);
    } files[] = {
        {"samples.csv", make_samples}, {"raw.tsv", make_raw},      {"summary.tsv", make_summary},
        {"report.html", make_page},    {"REPORT.md", make_report}, /* last: it names the others */
    };
    leftover_remove(m->directory);
    summary *s = summary_make(m);
    verdicts *v = verdicts_make(s);
    char **charts = xcalloc(m->workloads_count + 1, sizeof *charts);
    bool whole =
        write_charts(m, charts, message, message_size) && write_latencies(m, message, message_size);
    for (size_t i = 0; whole && i < sizeof files / sizeof *files; i++) {
        page p;
        whole = page_open(&p, message, message_size);
        if (!whole)
            break;
        files[i].make(&(parts){s, v, charts}, p.out);
        whole = page_close(&p, m, files[i].name, message, message_size);
    }
    for (size_t i = 0; i < m->workloads_count; i++)
        free(charts[i]);
    free(charts);
    verdicts_free(v);
    summary_free(s);
    return whole;
}
