#include "tool/report/fragmentation.h"

#include <math.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/report/measures.h"

static const struct {
    measure column;
    const char *formula;
} definitions[] = {
    {{"internal\n/live", MEASURE_RATIO, "fragmentation_internal_per_live", measure_metric, NULL},
     "(usable - live) / live, at the measured point"},
    {{"internal\n/usable", MEASURE_RATIO, "fragmentation_internal_per_usable", measure_metric,
      NULL},
     "(usable - live) / usable, there"},
    {{"external\nMiB", MEASURE_BYTES, "fragmentation_external_bytes", measure_metric, NULL},
     "RSS - usable, there: external fragmentation, caches and tables"},
    {{"overhead\n/RSS", MEASURE_RATIO, "fragmentation_per_rss", measure_metric, NULL},
     "(RSS - live) / RSS, there"},
    {{"heap\nblowup", MEASURE_RATIO, "heap_blowup", measure_metric, NULL},
     "largest RSS / the tape's own largest live, wherever each was"},
    {{"JW 1\naverage", MEASURE_RATIO, "fragmentation_average", measure_metric, NULL},
     "mean of RSS / mean of live - 1, over the operations"},
    {{"JW 2\nat most live", MEASURE_RATIO, "fragmentation_at_live_peak", measure_metric, NULL},
     "RSS / live - 1, where most is live"},
    {{"JW 3\nat most RSS", MEASURE_RATIO, "fragmentation_at_rss_peak", measure_metric, NULL},
     "RSS / live - 1, where RSS is largest"},
    {{"JW 4\nof the peaks", MEASURE_RATIO, "fragmentation_of_peaks", measure_metric, NULL},
     "largest RSS / most live - 1"},
};

#define COUNT (sizeof definitions / sizeof *definitions)

enum { EXTERNAL = 2, BLOWUP = 4, JW_1 = 5, JW_4 = 8 }; /* in definitions */

static void put_formulas(const view *v, FILE *out)
{
    fputc('\n', out);
    for (size_t i = 0; i < COUNT; i++) {
        const char *c = definitions[i].column.head;
        if (!measures_has(v, &definitions[i].column))
            continue;
        fputs("- *", out);
        for (; *c != '\0'; c++)
            fputc(*c == '\n' ? ' ' : *c, out);
        fputs("*: ", out);
        format_markdown(out, definitions[i].formula);
        fputc('\n', out);
    }
}

static bool has(const view *v, size_t definition)
{
    return measures_has(v, &definitions[definition].column);
}

/* Slices of a cell that has measures 1 to 4: each is a reading of them. */
static double readings_of(const model_cell *cell, const char *name)
{
    return isnan(measure_metric(cell, name)) || cell->slices_count == 0
               ? NAN
               : (double)cell->slices_count;
}

/* The targets' medians may differ: a failed round of one. */
static void put_readings(const view *v, FILE *out)
{
    const measure readings = {"", MEASURE_RATIO, definitions[JW_1].column.name, readings_of, NULL};
    double least = INFINITY, most = 0;
    for (size_t row = 0; row < v->rows_count; row++) {
        least = fmin(least, measures_value(v, row, &readings)); /* passes NAN over */
        most = fmax(most, measures_value(v, row, &readings));
    }
    if (most > least)
        fprintf(out, ": %.0f to %.0f of them in a cell (medians of the targets)", least, most);
    else if (most > 0)
        fprintf(out, ": %.0f of them in a cell (median)", most);
}

static bool has_glibc(const view *v)
{
    bool found = false;
    for (size_t row = 0; row < v->rows_count && !found; row++)
        found = strcmp(v->s->m->targets[v->rows[row].target].family, "glibc") == 0;
    return found;
}

static void put_reading_help(const view *v, FILE *out)
{
    fputs("\nLower is better. RSS is less the baseline; live is what was requested and not freed.",
          out);
    if (has(v, EXTERNAL) && has_glibc(v))
        fputs(" glibc's header, 8 bytes a block, lies outside of usable and so counts as external.",
              out);
    if (has(v, JW_1)) {
        fputs(" JW: Johnstone and Wilson, The Memory Fragmentation Problem: Solved? (ISMM 1998), "
              "of the readings behind each slice",
              out);
        put_readings(v, out);
        fputc('.', out);
    }
    if (has(v, BLOWUP) && has(v, JW_4))
        fputs(" *heap blowup* is of the exact peaks - the kernel's mark of RSS, the tape's own of "
              "live -, *JW 4* of those readings only: what lies between two of them it does not "
              "see.",
              out);
    fputc('\n', out);
}

void fragmentation_markdown(const view *v, FILE *out)
{
    measure columns[COUNT];
    grid *g;
    for (size_t i = 0; i < COUNT; i++)
        columns[i] = definitions[i].column;
    g = measures_grid(v, columns, COUNT, false);
    if (g == NULL)
        return;
    fputs("\nFragmentation by definition:\n\n", out);
    grid_markdown(g, out);
    put_formulas(v, out);
    put_reading_help(v, out);
    grid_free(g);
}
