#include "tool/report/latency.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/report/format.h"
#include "tool/util.h"

#define P99      990000u /* parts per million; above it the tail pass speaks */
#define MAXIMUM  1000000u
#define NOTHING  "\xe2\x80\x93" /* an en dash */
#define AT_FLOOR "f"

const char latency_legend[] =
    NOTHING ": fewer than 100 values lie above it, which would be chance; " AT_FLOOR
            ": at the machine's own floor, not above twice what the clock reads around nothing "
            "(control)";

/* ---- adding up ------------------------------------------------------------------------------- */

static void out_of_memory(void)
{
    fputs("allocbench: out of memory\n", stderr);
    exit(3);
}

/* The exact minimum and maximum are kept; all else keeps its bucket. */
static void add(abench_histogram **into, const model_histogram *from)
{
    if (from->count == 0)
        return;
    if (*into == NULL && abench_histogram_create(NULL, into) != ABENCH_OK)
        out_of_memory();
    for (size_t i = 0; i < from->buckets_count; i++) {
        const model_bucket *bucket = &from->buckets[i];
        uint64_t left = bucket->count;
        if (i == 0) {
            abench_histogram_record(*into, from->minimum);
            left--;
        }
        if (i + 1 == from->buckets_count && left > 0) {
            abench_histogram_record(*into, from->maximum);
            left--;
        }
        /* Not below the minimum nor above the maximum. */
        if (left > 0)
            abench_histogram_record_many(
                *into, bucket->low > from->minimum ? bucket->low : from->minimum, left);
    }
}

static void add_cells(latency_target *t, const model_cell *cells, size_t count, size_t workload,
                      bool tails, latency *l)
{
    for (size_t i = 0; i < count; i++) {
        const model_cell *cell = &cells[i];
        if (cell->workload != workload || cell->target != t->target || cell->again || cell->failed)
            continue;
        for (size_t j = 0; j < cell->histograms_count; j++) {
            const model_histogram *h = &cell->histograms[j];
            for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
                if (strcmp(h->name, abench_latency_name(kind)) != 0)
                    continue;
                /* Where every operation was timed, the clock speaks below p99, whatever the
                 * pass. */
                const bool far = tails || (h->interval == 1 && kind < ABENCH_LATENCY_REQUEST);
                add(far ? &t->tails[kind] : &t->sampled[kind], h);
                if (!far && h->count > 0)
                    l->interval =
                        l->interval == UINT64_MAX || l->interval == h->interval ? h->interval : 0;
            }
        }
    }
}

static bool has_any(abench_histogram *const *histograms)
{
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
        if (histograms[kind] != NULL)
            return true;
    }
    return false;
}

static void add_target(latency *l, size_t target)
{
    const model *m = l->m;
    latency_target *t = &l->targets[l->count];
    t->target = target;
    add_cells(t, m->cells, m->cells_count, l->workload, false, l);
    add_cells(t, m->tails, m->tails_count, l->workload, true, l);
    l->has_tails = l->has_tails || has_any(t->tails);
    l->count += has_any(t->sampled) || has_any(t->tails);
}

latency *latency_make(const model *m, size_t workload)
{
    latency *l = xcalloc(1, sizeof *l);
    l->m = m;
    l->workload = workload;
    l->interval = UINT64_MAX; /* none seen */
    l->targets = xcalloc(m->targets_count + 1, sizeof *l->targets);
    add_target(l, m->baseline);
    for (size_t i = 0; i < m->targets_count; i++) {
        if (i != m->baseline)
            add_target(l, i);
    }
    if (l->count > 0)
        return l;
    latency_free(l);
    return NULL;
}

void latency_free(latency *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->count; i++) {
        for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
            abench_histogram_destroy(l->targets[i].sampled[kind]);
            abench_histogram_destroy(l->targets[i].tails[kind]);
        }
    }
    free(l->targets);
    free(l);
}

static bool has_histogram(const model_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < cells[i].histograms_count; j++) {
            if (cells[i].histograms[j].count > 0)
                return true;
        }
    }
    return false;
}

bool latency_any(const model *m)
{
    return has_histogram(m->cells, m->cells_count) || has_histogram(m->tails, m->tails_count);
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct quantile {
    const char *name;
    uint32_t ppm;
} quantile;

static const quantile sampled_quantiles[] = {{"p50", 500000}, {"p90", 900000}, {"p99", P99}};
static const quantile tail_quantiles[] = {{"p99.9", 999000}, {"p99.99", 999900}, {"max", MAXIMUM}};

/* The largest value is no quantile: it is what it is, one value. */
static bool value_of(const abench_histogram *h, uint32_t ppm, uint64_t *value)
{
    if (h == NULL)
        return false;
    if (ppm == MAXIMUM) {
        *value = abench_histogram_maximum(h);
        return abench_histogram_count(h) > 0;
    }
    return abench_histogram_quantile(h, ppm, value) == ABENCH_OK;
}

static void put_quantile(grid *g, abench_histogram *const *histograms, uint32_t kind, uint32_t ppm)
{
    uint64_t value, control;
    char *text;
    if (!value_of(histograms[kind], ppm, &value)) {
        grid_put(g, NOTHING);
        return;
    }
    text = format_ns((double)value);
    bool floor = kind != ABENCH_LATENCY_CONTROL &&
                 value_of(histograms[ABENCH_LATENCY_CONTROL], ppm, &control) &&
                 value - value / 2 <= control; /* at most twice of it */
    grid_put(g, "%s%s", text, floor ? " " AT_FLOOR : "");
    free(text);
}

static void put_count(grid *g, const abench_histogram *h)
{
    char *text = h == NULL ? xstrdup(NOTHING) : format_count((double)abench_histogram_count(h));
    grid_put(g, "%s", text);
    free(text);
}

static void put_row(const latency *l, grid *g, uint32_t kind, const latency_target *t)
{
    abench_histogram *const *far = l->has_tails ? t->tails : t->sampled;
    if (t->sampled[kind] == NULL && t->tails[kind] == NULL)
        return;
    grid_row(g);
    grid_put(g, "%s", abench_latency_name(kind));
    grid_put(g, "%s", l->m->targets[t->target].name);
    for (size_t i = 0; i < sizeof sampled_quantiles / sizeof *sampled_quantiles; i++)
        put_quantile(g, t->sampled, kind, sampled_quantiles[i].ppm);
    if (l->has_tails)
        put_count(g, t->sampled[kind]);
    for (size_t i = 0; i < sizeof tail_quantiles / sizeof *tail_quantiles; i++)
        put_quantile(g, far, kind, tail_quantiles[i].ppm);
    put_count(g, far[kind]);
}

/* The values behind a kind's quantiles up to p99, or behind all when only the tail pass has
 * some. */
static uint64_t count_of(const latency_target *t, uint32_t kind)
{
    const abench_histogram *h = t->sampled[kind] != NULL ? t->sampled[kind] : t->tails[kind];
    return h == NULL ? 0 : abench_histogram_count(h);
}

/* On a terminal: what most programs call, requests, and realloc where a workload lives on it. */
static bool is_brief(const latency *l, uint32_t kind)
{
    uint64_t mallocs = 0, reallocs = 0;
    if (kind != ABENCH_LATENCY_REALLOC)
        return kind == ABENCH_LATENCY_MALLOC || kind == ABENCH_LATENCY_FREE ||
               kind == ABENCH_LATENCY_REQUEST;
    for (size_t i = 0; i < l->count; i++) {
        mallocs += count_of(&l->targets[i], ABENCH_LATENCY_MALLOC);
        reallocs += count_of(&l->targets[i], ABENCH_LATENCY_REALLOC);
    }
    return reallocs > 0 && reallocs >= mallocs / 4;
}

static void drop_empty_columns(grid *g)
{
    for (size_t column = g->columns; column-- > g->labels;) {
        bool empty = true;
        for (size_t row = 0; row < g->rows && empty; row++)
            empty = strcmp(g->cells[row * g->columns + column], NOTHING) == 0;
        if (empty)
            grid_drop(g, column);
    }
}

grid *latency_grid(const latency *l, bool brief)
{
    grid *g = grid_make(2);
    grid_head(g, "call");
    grid_head(g, "target");
    for (size_t i = 0; i < sizeof sampled_quantiles / sizeof *sampled_quantiles; i++)
        grid_head(g, "%s", sampled_quantiles[i].name);
    if (l->has_tails)
        grid_head(g, "values");
    for (size_t i = 0; i < sizeof tail_quantiles / sizeof *tail_quantiles; i++)
        grid_head(g, "%s", tail_quantiles[i].name);
    grid_head(g, l->has_tails ? "of all" : "values");
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
        for (size_t i = 0; i < l->count; i++) {
            if (!brief || is_brief(l, kind))
                put_row(l, g, kind, &l->targets[i]);
        }
    }
    if (brief)
        drop_empty_columns(g);
    return g;
}

static bool tells_p99(const latency *l, const latency_target *t, uint32_t kind)
{
    uint64_t value;
    return value_of(t->sampled[kind], P99, &value) ||
           (l->has_tails && value_of(t->tails[kind], tail_quantiles[0].ppm, &value));
}

/* What gives more values than there are; a command has no tail pass. */
static const char *how_to_get_more(const latency *l)
{
    const bool fine = l->interval != 0 && l->interval <= 64;
    if (l->has_tails || l->interval == 1)
        return "a longer run gives more";
    if (l->m->workloads[l->workload].is_command)
        return fine ? "--latency 1 or a longer run gives more"
                    : "--latency 64 or a longer run gives more";
    return fine ? "--latency 1, a longer run or --tails give more"
                : "--latency 64, a longer run or --tails give more";
}

char *latency_too_few(const latency *l)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
        for (size_t i = 0; i < l->count && is_brief(l, kind); i++) {
            uint64_t count = count_of(&l->targets[i], kind);
            if (tells_p99(l, &l->targets[i], kind))
                return NULL;
            if (count > 0 && count < least)
                least = count;
            most = count > most ? count : most;
        }
    }
    if (most == 0)
        return NULL;
    char *low = format_count((double)least), *high = format_count((double)most);
    char *text = xasprintf("%s%s%s value%s a row, too few for p99: REPORT.md has the rest; %s", low,
                           least < most ? " to " : "", least < most ? high : "",
                           most == 1 ? "" : "s", how_to_get_more(l));
    free(low);
    free(high);
    return text;
}

char *latency_title(const latency *l)
{
    const char *tails = l->has_tails ? "; above p99: of a pass that timed every one" : "";
    if (l->interval == UINT64_MAX)
        return xasprintf("latency of single operations%s", tails);
    if (l->interval == 0)
        return xasprintf("latency of single operations, some of them timed%s", tails);
    if (l->interval == 1)
        return xasprintf("latency of single operations, every one timed%s", tails);
    return xasprintf("latency of single operations, one in %llu timed%s",
                     (unsigned long long)l->interval, tails);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Two targets' names can make the same letters. */
static char *target_slug(const latency *l, size_t index)
{
    const size_t target = l->targets[index].target;
    char *slug = format_slug(l->m->targets[target].name, 40), *longer;
    bool taken = *slug == '\0';
    for (size_t i = 0; i < l->count && !taken; i++) {
        char *other = format_slug(l->m->targets[l->targets[i].target].name, 40);
        taken = i != index && strcmp(other, slug) == 0;
        free(other);
    }
    if (!taken)
        return slug;
    longer = xasprintf("%s%st%02zu", slug, *slug == '\0' ? "" : "-", target);
    free(slug);
    return longer;
}

/* Seen whole or not at all; not synced to the disk: it can be made again. */
static bool write_one(const abench_histogram *h, const char *path, char *message,
                      size_t message_size)
{
    char *part = xasprintf("%s.%ld-0.tmp", path, (long)getpid()); /* leftover.h knows it */
    const int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    abench_error error = ABENCH_ERROR_INIT;
    bool whole = false;
    if (fd < 0) {
        snprintf(message, message_size, "%s cannot be made: %s", part, strerror(errno));
    } else {
        whole = abench_histogram_write_hgrm(h, fd, 1, &error) == ABENCH_OK;
        if (!whole)
            snprintf(message, message_size, "%s: %s", part, error.message);
        close(fd);
        if (whole && rename(part, path) != 0) {
            whole = false;
            snprintf(message, message_size, "%s cannot be made: %s", path, strerror(errno));
        }
        if (!whole)
            unlink(part);
    }
    free(part);
    return whole;
}

static bool write_set(abench_histogram *const *histograms, const char *folder, const char *name,
                      const char *pass, char *message, size_t message_size)
{
    bool whole = true;
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS && whole; kind++) {
        char *path;
        if (histograms[kind] == NULL)
            continue;
        path = xasprintf("%s/%s-%s%s.hgrm", folder, name, abench_latency_name(kind), pass);
        whole = write_one(histograms[kind], path, message, message_size);
        free(path);
    }
    return whole;
}

bool latency_write(const latency *l, char *message, size_t message_size)
{
    const model_workload *w = &l->m->workloads[l->workload];
    char *folder = xasprintf("%s/hgrm", l->m->directory);
    char *workload = format_slug(w->label, 48);
    struct stat info;
    const int error = mkdir(folder, 0777) == 0 || errno == EEXIST ? ENOTDIR : errno;
    bool whole = error == ENOTDIR && lstat(folder, &info) == 0 && S_ISDIR(info.st_mode);
    if (!whole)
        snprintf(message, message_size, "the directory %s cannot be made: %s", folder,
                 strerror(error));
    for (size_t i = 0; i < l->count && whole; i++) {
        char *target = target_slug(l, i);
        char *name = xasprintf("%s%s%s-%s", w->id, *workload != '\0' ? "-" : "", workload, target);
        whole = write_set(l->targets[i].sampled, folder, name, "", message, message_size) &&
                write_set(l->targets[i].tails, folder, name, "-tails", message, message_size);
        free(name);
        free(target);
    }
    free(workload);
    free(folder);
    return whole;
}
