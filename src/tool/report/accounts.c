#include "tool/report/accounts.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/report/grid.h"
#include "tool/report/phase_plan.h"
#include "tool/util.h"

#define NOTHING       "\xe2\x80\x93" /* an en dash */
#define SETTINGS_MOST 12u
#define VALUE_MOST    40u /* characters of a setting's value */

/* ---- the readings of a cell ------------------------------------------------------------------ */

typedef enum point { MEASURED, DRAINED, PURGED, POINTS } point;

static const char *const point_names[POINTS] = {"measured", "drained", "purged"};

/* The account at each point; NULL: none was read there. */
typedef struct accounts {
    const model_account *at[POINTS];
    const abench_memory *memory[POINTS]; /* as the kernel saw the process there */
    size_t count;                        /* that are there */
} accounts;

static void take(accounts *a, point p, const model_account *account, const abench_memory *memory)
{
    a->at[p] = account->count > 0 ? account : NULL;
    a->memory[p] = memory;
}

static void take_phase(accounts *a, point p, const model_phase *phase)
{
    take(a, p, &phase->account, &phase->memory);
}

/* As the metrics have it: the measured point is the end of the last timed phase. */
static accounts accounts_of(const model_cell *cell)
{
    accounts a = {.count = 0};
    size_t measured = 0, last = cell->phases_count;
    for (size_t i = 1; i < cell->phases_count; i++) {
        if (cell->phases[i].timed)
            measured = i;
    }
    if (measured > 0)
        take_phase(&a, MEASURED, &cell->phases[measured]);
    if (last > 1 && last - 1 != measured)
        take_phase(&a, DRAINED, &cell->phases[last - 1]);
    for (size_t i = 0; i < cell->afters_count; i++) {
        if (strcmp(cell->afters[i].name, "purged") == 0)
            take(&a, PURGED, &cell->afters[i].account, &cell->afters[i].memory);
    }
    for (point p = MEASURED; p < POINTS; p++)
        a.count += a.at[p] != NULL;
    return a;
}

/* The first good cell of a target, and workload, that has statistics. */
static const model_cell *find_cell(const model *m, size_t workload, size_t target)
{
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        if (cell->workload == workload && cell->target == target && !cell->failed &&
            accounts_of(cell).count > 0)
            return cell;
    }
    return NULL;
}

/* ---- a table --------------------------------------------------------------------------------- */

static const model_statistic *find_statistic(const model_account *account, const char *name)
{
    for (size_t i = 0; account != NULL && i < account->count; i++) {
        if (strcmp(account->items[i].name, name) == 0)
            return &account->items[i];
    }
    return NULL;
}

/* "1,234,567", with a sign in front when there is one. */
static void put_grouped(grid *g, const char *sign, uint64_t value)
{
    char digits[24], text[32];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[n++] = ',';
        text[n++] = digits[i];
    }
    text[n] = '\0';
    grid_put(g, "%s%s", sign, text);
}

/* What the kernel says, beside which the account is to be read. */
static void put_kernel(grid *g, const model_cell *cell, const accounts *a)
{
    grid_row(g);
    grid_put(g, "RSS (kernel), less baseline");
    for (point p = MEASURED; p < POINTS; p++) {
        double bytes;
        if (a->at[p] == NULL)
            continue;
        bytes = cell->phases_count > 0 ? plan_rss_above(cell, a->memory[p]) : NAN;
        if (isnan(bytes))
            grid_put(g, NOTHING);
        else
            put_grouped(g, bytes < 0 ? "-" : "", (uint64_t)fabs(bytes));
    }
}

static void put_statistic(grid *g, const accounts *a, const char *name)
{
    grid_row(g);
    grid_put(g, "%s", name);
    for (point p = MEASURED; p < POINTS; p++) {
        const model_statistic *found = find_statistic(a->at[p], name);
        if (a->at[p] == NULL)
            continue;
        if (found == NULL)
            grid_put(g, NOTHING);
        else
            put_grouped(g, "", found->value);
    }
}

/* Of each point those that no point before it has. */
static grid *statistics_grid(const model_cell *cell, const accounts *a)
{
    grid *g = grid_make(1);
    grid_head(g, "statistic");
    for (point p = MEASURED; p < POINTS; p++) {
        if (a->at[p] != NULL)
            grid_head(g, "%s", point_names[p]);
    }
    put_kernel(g, cell, a);
    for (point p = MEASURED; p < POINTS; p++) {
        for (size_t i = 0; a->at[p] != NULL && i < a->at[p]->count; i++) {
            const char *name = a->at[p]->items[i].name;
            bool known = false;
            for (point before = MEASURED; before < p; before++)
                known = known || find_statistic(a->at[before], name) != NULL;
            if (!known)
                put_statistic(g, a, name);
        }
    }
    return g;
}

/* "reading it took 21us, 18us, 30us" */
static void put_costs(const accounts *a, FILE *out)
{
    const char *before = "reading it took ";
    for (point p = MEASURED; p < POINTS; p++) {
        char *text;
        if (a->at[p] == NULL)
            continue;
        text = format_ns((double)a->at[p]->cost_ns);
        fprintf(out, "%s%s", before, text);
        before = ", ";
        free(text);
    }
}

static void put_target(const model *m, size_t workload, size_t target, FILE *out)
{
    const model_cell *cell = find_cell(m, workload, target);
    const accounts a = cell == NULL ? (accounts){.count = 0} : accounts_of(cell);
    grid *g;
    if (a.count == 0)
        return;
    fputc('\n', out);
    format_markdown(out, m->targets[target].name);
    fputs(" on ", out);
    format_markdown(out, m->workloads[workload].label);
    fprintf(out, ", round %" PRIu32 "; ", cell->round + 1);
    put_costs(&a, out);
    fputs(":\n\n", out);
    g = statistics_grid(cell, &a);
    grid_markdown(g, out);
    grid_free(g);
}

/* ---- what stands above the tables ------------------------------------------------------------ */

/* Does any good cell of the target have statistics? */
static bool tells(const model *m, size_t target)
{
    bool told = false;
    for (size_t i = 0; i < m->workloads_count && !told; i++)
        told = find_cell(m, i, target) != NULL;
    return told;
}

/* Was its allocator asked? A command's is not. */
static bool was_asked(const model *m, size_t target)
{
    bool asked = false;
    for (size_t i = 0; i < m->cells_count && !asked; i++)
        asked = m->cells[i].target == target && !m->cells[i].failed && m->cells[i].phases_count > 1;
    return asked;
}

/* What of a family's words is often taken for something else. */
static const struct {
    const char *family;
    const char *text;
} explanations[] = {
    {"glibc",
     "*fordblks* is free, but mostly still resident, or trimmed inside (malloc\\_trim gives "
     "such pages back and goes on counting them); *uordblks* counts the chunks in the "
     "threads' caches as used"},
    {"jemalloc", "*stats.retained* is address space only; *stats.resident* includes dirty pages, "
                 "which are free and not given back yet"},
    {"tcmalloc", "*pageheap\\_unmapped\\_bytes* is given back to the kernel; "
                 "*pageheap\\_free\\_bytes* is not"},
    {"mimalloc", "what is committed (*commit\\_current*) may be touched; it is not RSS"},
};

static void put_explanations(const model *m, FILE *out)
{
    const char *before = "\n";
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
        bool found = false;
        for (size_t j = 0; j < m->targets_count && !found; j++)
            found = strcmp(m->targets[j].family, explanations[i].family) == 0 && tells(m, j);
        if (!found)
            continue;
        fprintf(out, "%s- %s: %s.\n", before, explanations[i].family, explanations[i].text);
        before = "";
    }
}

static void put_silent(const model *m, FILE *out)
{
    const char *before = "\nNothing of the kind is told by ";
    for (size_t i = 0; i < m->targets_count; i++) {
        if (!was_asked(m, i) || tells(m, i))
            continue;
        fputs(before, out);
        format_markdown(out, m->targets[i].name);
        before = ", ";
    }
    if (before[0] == ',')
        fputs(".\n", out);
}

void accounts_markdown(const model *m, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < m->targets_count && !any; i++)
        any = tells(m, i);
    if (!any)
        return;
    fputs("\n## What the allocators say of themselves (bytes, and counts as they name them)\n\n"
          "Commentary, in their own words and units: each counts in its own way, so these do not "
          "compare between allocators. Columns: the end of the last timed phase, everything "
          "freed, and behind a purge. The first row is what the kernel said of the same process "
          "at the same points. The readings are outside of what is timed.\n",
          out);
    put_explanations(m, out);
    put_silent(m, out);
    for (size_t workload = 0; workload < m->workloads_count; workload++) {
        put_target(m, workload, m->baseline, out);
        for (size_t target = 0; target < m->targets_count; target++) {
            if (target != m->baseline)
                put_target(m, workload, target, out);
        }
    }
}

/* ---- settings -------------------------------------------------------------------------------- */

static const model_cell *find_told(const model *m, size_t target)
{
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        if (cell->target == target && !cell->failed && cell->settings_count > 0)
            return cell;
    }
    return NULL;
}

/* How it was built, which nobody sets: jemalloc's names. */
static bool is_of_build(const model_setting *setting)
{
    return strcmp(setting->name, "version") == 0 || strncmp(setting->name, "config.", 7) == 0;
}

/* Appends the settings of that kind while there is room for them. free()s text. */
static char *add_settings(char *text, const model_cell *cell, bool of_build, size_t *shown)
{
    for (size_t i = 0; i < cell->settings_count && *shown < SETTINGS_MOST; i++) {
        const model_setting *setting = &cell->settings[i];
        char *value, *longer;
        if (is_of_build(setting) != of_build)
            continue;
        value = format_terminal(setting->value, VALUE_MOST);
        longer = xasprintf("%s%s%s=%s", text, *shown > 0 ? ", " : "", setting->name, value);
        free(value);
        free(text);
        text = longer;
        ++*shown;
    }
    return text;
}

char *accounts_settings(const model *m, size_t target)
{
    const model_cell *cell = find_told(m, target);
    size_t shown = 0;
    char *text, *longer;
    if (cell == NULL)
        return NULL;
    text = add_settings(xstrdup(""), cell, false, &shown);
    text = add_settings(text, cell, true, &shown);
    if (shown == cell->settings_count)
        return text;
    longer = xasprintf("%s and %zu more", text, cell->settings_count - shown);
    free(text);
    return longer;
}
