#include "tool/watch_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/util.h"

#define VALUE_WIDTH 6u /* "12.3 %", "1023M", "3h 59m" */
#define GAP         2u
#define CELLS_MOST  16u

typedef struct cell {
    const char *name;
    char value[24];
} cell;

typedef struct cells {
    cell of[CELLS_MOST];
    size_t count;
} cells;

char *watch_bytes(char *text, uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    double value = (double)bytes;
    int unit = -1;

    /* 1023.5 would be printed with four digits. */
    while (value >= 1023.5 && units[unit + 1] != '\0') {
        value /= 1024;
        unit++;
    }
    if (unit < 0)
        snprintf(text, 16, "%" PRIu64, bytes);
    else
        snprintf(text, 16, "%.*f%c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
    return text;
}

/* ---- for a person ---------------------------------------------------------------------------- */

static cell *add(cells *all, const char *name)
{
    cell *c = &all->of[all->count++];

    c->name = name;
    snprintf(c->value, sizeof c->value, "-");
    return c;
}

static void add_bytes(cells *all, const char *name, bool is_known, uint64_t bytes)
{
    cell *c = add(all, name);

    if (is_known)
        watch_bytes(c->value, bytes);
}

static void add_count(cells *all, const char *name, bool is_known, double count)
{
    cell *c = add(all, name);
    char *text;

    if (!is_known)
        return;
    text = count < 10 && count > 0 ? xasprintf("%.1f", count) : format_count(count);
    snprintf(c->value, sizeof c->value, "%s", text);
    free(text);
}

static void add_time(cells *all, const char *name, uint64_t ns)
{
    const uint64_t seconds = ns / 1000000000, minutes = seconds / 60, hours = minutes / 60;
    cell *c = add(all, name);

    if (hours > 0)
        snprintf(c->value, sizeof c->value, "%" PRIu64 "h%02um", hours, (unsigned)(minutes % 60));
    else if (minutes > 0)
        snprintf(c->value, sizeof c->value, "%" PRIu64 "m%02us", minutes, (unsigned)(seconds % 60));
    else
        snprintf(c->value, sizeof c->value, "%.1fs", (double)(ns / 100000000) / 10);
}

static bool has(const abench_memory *m, uint64_t bits)
{
    return (m->valid & bits) == bits;
}

/* RSS less LazyFree, both of one reading. */
static void add_rss_less_lazy(cells *all, const abench_memory *dear)
{
    const uint64_t rss = dear->rollup_rss_bytes, lazy = dear->lazyfree_bytes;

    add_bytes(all, "rss-lazy", has(dear, ABENCH_MEMORY_ROLLUP_RSS | ABENCH_MEMORY_LAZYFREE),
              rss > lazy ? rss - lazy : 0);
}

/* What the last dear look tells about this one. NULL: nothing. */
static const watch_look *still_true(const watch_look *dear, const watch_look *look)
{
    const abench_memory *m = &look->memory;

    if (dear == NULL || dear->time_ns == look->time_ns)
        return dear;
    return has(m, ABENCH_MEMORY_RSS) && has(&dear->memory, ABENCH_MEMORY_RSS) &&
                   watch_is_near(m->rss_bytes, dear->memory.rss_bytes)
               ? dear
               : NULL;
}

/* The most important first. */
static void add_all(cells *all, const watch_look *look, const watch_look *dear,
                    const watch_peaks *peaks)
{
    static const abench_memory nothing = ABENCH_MEMORY_INIT;
    const abench_memory *m = &look->memory, *d = dear == NULL ? &nothing : &dear->memory;
    const watch_rates *r = &look->rates;

    add_time(all, "time", look->time_ns);
    add_bytes(all, "rss", has(m, ABENCH_MEMORY_RSS), m->rss_bytes);
    add_bytes(all, "pss", has(d, ABENCH_MEMORY_PSS), d->pss_bytes);
    if (dear != NULL)
        add_time(all, "age", look->time_ns - dear->time_ns);
    else
        add(all, "age");
    add_bytes(all, "peak", has(&(abench_memory){.valid = peaks->valid}, ABENCH_MEMORY_RSS),
              peaks->rss_bytes);
    add_rss_less_lazy(all, d);
    snprintf(add(all, "procs")->value, sizeof all->of[0].value, "%" PRIu32, look->processes);
    add_bytes(all, "uss", has(d, ABENCH_MEMORY_USS), d->uss_bytes);
    add_bytes(all, "anon", has(m, ABENCH_MEMORY_RSS_ANON), m->rss_anon_bytes);
    add_bytes(all, "huge", has(d, ABENCH_MEMORY_HUGE), d->huge_bytes);
    add_bytes(all, "swap", has(m, ABENCH_MEMORY_SWAP), m->swap_bytes);
    add_count(all, "faults/s", r->is_known & WATCH_FAULTS, r->faults_per_s);
    add_count(all, "switches/s", r->is_known & WATCH_SWITCHES, r->switches_per_s);
    if (r->is_known & WATCH_WAIT)
        snprintf(add(all, "wait")->value, sizeof all->of[0].value, "%.1f %%", r->wait_share * 100);
    else
        add(all, "wait");
    add_bytes(all, "hwm", (peaks->valid & ABENCH_MEMORY_HWM) != 0, peaks->hwm_bytes);
}

/* What a cell takes: columns stay where they are while values grow. */
static size_t cell_width(const cell *c)
{
    const size_t value = strlen(c->value);

    return strlen(c->name) + 1 + (value > VALUE_WIDTH ? value : VALUE_WIDTH);
}

/* Writes at most width columns of a cell. Returns how many. */
static size_t put_cell(FILE *out, const cell *c, size_t width, bool is_dim)
{
    const size_t name = strlen(c->name) < width ? strlen(c->name) : width;
    const size_t own = cell_width(c);

    fprintf(out, "%s%.*s%s", is_dim ? "\033[2m" : "", (int)name, c->name, is_dim ? "\033[0m" : "");
    if (name + 1 < width)
        fprintf(out, " %-*.*s", (int)((own < width ? own : width) - name - 1),
                (int)(width - name - 1), c->value);
    return own;
}

char *watch_rows(const watch_look *look, const watch_look *dear, const watch_peaks *peaks,
                 size_t width, size_t lines_max, bool is_dim, size_t *lines)
{
    cells all = {.count = 0};
    char *text = NULL;
    size_t size, column = 0;
    FILE *out = open_memstream(&text, &size);

    *lines = 1;
    if (out == NULL)
        return xstrdup("");
    add_all(&all, look, still_true(dear, look), peaks);
    for (size_t at = 0; at < all.count; at++) {
        const size_t gap = column == 0 ? 0 : GAP;
        if (column > 0 && column + gap + cell_width(&all.of[at]) > width) {
            if (*lines >= lines_max)
                break;
            fputc('\n', out);
            ++*lines;
            column = put_cell(out, &all.of[at], width, is_dim);
        } else {
            fprintf(out, "%*s", (int)gap, "");
            column += gap + put_cell(out, &all.of[at], width, is_dim);
        }
    }
    fclose(out);
    return text;
}

/* ---- for a program --------------------------------------------------------------------------- */

char *watch_csv_head(void)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    char *line = xstrdup("time_ns,processes"), *whole;

    for (uint32_t at = 0; abench_memory_field_at(at, &field) == ABENCH_OK; at++) {
        char *longer = xasprintf("%s,%s", line, field.name);
        free(line);
        line = longer;
    }
    whole = xasprintf("%s,cgroup_current_bytes,cost_ns\n", line);
    free(line);
    return whole;
}

char *watch_csv_line(const watch_look *look)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    const abench_memory *m = &look->memory;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return xstrdup("");
    fprintf(out, "%" PRIu64 ",%" PRIu32, look->time_ns, look->processes);
    for (uint32_t at = 0; abench_memory_field_at(at, &field) == ABENCH_OK; at++) {
        uint64_t value;
        memcpy(&value, (const char *)m + field.offset, sizeof value);
        if (has(m, field.bit))
            fprintf(out, ",%" PRIu64, value);
        else
            fputc(',', out);
    }
    if (look->has_cgroup)
        fprintf(out, ",%" PRIu64, look->cgroup_bytes);
    else
        fputc(',', out);
    fprintf(out, ",%" PRIu64 "\n", m->cost_ns);
    fclose(out);
    return text;
}

/* ---- at the end ------------------------------------------------------------------------------ */

static char *count_looks(uint64_t bytes, uint64_t looks)
{
    char text[16];

    return xasprintf("%s (%" PRIu64 " look%s)", watch_bytes(text, bytes), looks,
                     looks == 1 ? "" : "s");
}

static char *summarize_pss(const watch_peaks *peaks, uint64_t single_bytes)
{
    const uint64_t peak = peaks->rss_bytes > single_bytes ? peaks->rss_bytes : single_bytes;

    if ((peaks->valid & ABENCH_MEMORY_PSS) == 0)
        return xstrdup("-");
    if (!watch_is_near(peaks->dear_rss_bytes, peak))
        return xstrdup("not seen near the peak");
    return count_looks(peaks->pss_bytes, peaks->dear_looks);
}

char *watch_summary(uint64_t wall_ns, const watch_peaks *peaks, uint64_t single_bytes)
{
    const uint64_t single = peaks->hwm_bytes > single_bytes ? peaks->hwm_bytes : single_bytes;
    char largest[16] = "-", *rss, *pss, *summary;

    rss = (peaks->valid & ABENCH_MEMORY_RSS) != 0 ? count_looks(peaks->rss_bytes, peaks->looks)
                                                  : xstrdup("-");
    pss = summarize_pss(peaks, single_bytes);
    if (single > 0)
        watch_bytes(largest, single);
    summary =
        xasprintf("%.2f s, peak RSS %s, peak PSS %s, largest process %s%s%s", (double)wall_ns / 1e9,
                  rss, pss, largest, single > 0 ? " by the kernel's own mark" : "",
                  single > peaks->rss_bytes ? " (more than the looks saw)" : "");
    free(rss);
    free(pss);
    return summary;
}
