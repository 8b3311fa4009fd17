#include "tool/watch_mappings.h"

#include <inttypes.h>
#include <string.h>

#include "tool/util.h"
#include "tool/watch_format.h"

/* What is shown of a category. */
static const struct {
    const char *name; /* in CSV */
    const char *head; /* in the table */
    size_t offset;
    bool is_count;
} columns[] = {
    {"mappings", "mappings", offsetof(abench_mappings_sum, mappings), true},
    {"size_bytes", "size", offsetof(abench_mappings_sum, size_bytes), false},
    {"rss_bytes", "rss", offsetof(abench_mappings_sum, rss_bytes), false},
    {"pss_bytes", "pss", offsetof(abench_mappings_sum, pss_bytes), false},
    {"private_clean_bytes", "clean", offsetof(abench_mappings_sum, private_clean_bytes), false},
    {"private_dirty_bytes", "dirty", offsetof(abench_mappings_sum, private_dirty_bytes), false},
    {"anonymous_bytes", "anon", offsetof(abench_mappings_sum, anonymous_bytes), false},
    {"lazyfree_bytes", "lazy", offsetof(abench_mappings_sum, lazyfree_bytes), false},
    {"huge_bytes", "huge", offsetof(abench_mappings_sum, huge_bytes), false},
    {"swap_bytes", "swap", offsetof(abench_mappings_sum, swap_bytes), false},
    {"huge_eligible_bytes", "eligible", offsetof(abench_mappings_sum, huge_eligible_bytes), false},
};

#define COLUMNS (sizeof columns / sizeof columns[0])

static uint64_t value_of(const abench_mappings_sum *sum, size_t column)
{
    uint64_t value;

    memcpy(&value, (const char *)sum + columns[column].offset, sizeof value);
    return value;
}

static void add(abench_mappings_sum *to, const abench_mappings_sum *sum)
{
    for (size_t at = 0; at < COLUMNS; at++) {
        const uint64_t total = value_of(to, at) + value_of(sum, at);
        memcpy((char *)to + columns[at].offset, &total, sizeof total);
    }
}

static void add_process(const abench_mappings *reading, watch_mappings *out)
{
    abench_mappings_sum sum = ABENCH_MAPPINGS_SUM_INIT;

    for (uint32_t at = 0; at < ABENCH_MAPPINGS_COUNT; at++)
        if (abench_mappings_at(reading, at, &sum) == ABENCH_OK)
            add(&out->of[at], &sum);
    out->processes++;
}

abench_status watch_mappings_read(int32_t root, const int32_t *pids, size_t count,
                                  watch_mappings *out)
{
    const uint64_t begun = abench_clock_ns();
    abench_mappings *reading = NULL;
    abench_status status = abench_mappings_create(NULL, &reading);

    memset(out, 0, sizeof *out);
    out->root = ABENCH_ERROR_NOT_FOUND;
    for (uint32_t at = 0; at < ABENCH_MAPPINGS_COUNT; at++) {
        abench_mappings_sum_init(&out->of[at]);
        out->of[at].category = at;
    }
    if (status != ABENCH_OK)
        return status;
    for (size_t at = 0; at < count; at++) {
        status = abench_mappings_read(reading, pids[at]);
        if (status == ABENCH_OK)
            add_process(reading, out);
        else
            out->unreadable += status != ABENCH_ERROR_NOT_FOUND;
        if (pids[at] == root)
            out->root = status;
    }
    abench_mappings_destroy(reading);
    out->cost_ns = abench_clock_ns() - begun;
    return ABENCH_OK;
}

/* ---- what stands above the table ------------------------------------------------------------- */

char *watch_mappings_title(const watch_mappings *m, const char *subject)
{
    const uint32_t all = m->processes + m->unreadable;

    if (m->unreadable > 0)
        return xasprintf("mappings of %s: %" PRIu32 " of %" PRIu32
                         " processes (the rest could not be read), sizes in units of 1024",
                         subject, m->processes, all);
    return xasprintf("mappings of %s: %" PRIu32 " process%s, sizes in units of 1024", subject, all,
                     all == 1 ? "" : "es");
}

char *watch_mappings_share(const watch_mappings *m, uint64_t looks_bytes, uint64_t mark_bytes,
                           uint32_t *percent)
{
    const uint64_t own = m->of[ABENCH_MAPPINGS_ALL].rss_bytes;
    const uint64_t known = mark_bytes > looks_bytes ? mark_bytes : looks_bytes;
    char shown[16], largest[16];

    /* The table is read a little later than the look, and may have seen more. */
    *percent = own >= known ? 100 : (uint32_t)((double)own / (double)known * 100);
    watch_bytes(shown, own);
    if (own >= known)
        return xasprintf("its RSS of %s is the largest that is known", shown);
    return xasprintf("its RSS of %s is %" PRIu32 " %% of the largest, %s %s", shown, *percent,
                     watch_bytes(largest, known),
                     mark_bytes > looks_bytes ? "by the kernel's own mark" : "at a look");
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *category_name(uint32_t category)
{
    const char *name = abench_mappings_name(category);

    return name == NULL ? "?" : name;
}

void watch_mappings_print_csv(const watch_mappings *m, FILE *out)
{
    fputs("category", out);
    for (size_t at = 0; at < COLUMNS; at++)
        fprintf(out, ",%s", columns[at].name);
    fputc('\n', out);
    for (uint32_t at = 0; at < ABENCH_MAPPINGS_COUNT; at++) {
        fputs(category_name(at), out);
        for (size_t column = 0; column < COLUMNS; column++)
            fprintf(out, ",%" PRIu64, value_of(&m->of[at], column));
        fputc('\n', out);
    }
}

static int width_of(size_t column)
{
    const int head = (int)strlen(columns[column].head);

    return head > 5 ? head : 5; /* "1023M" */
}

void watch_mappings_print(const watch_mappings *m, FILE *out)
{
    char text[24];

    fprintf(out, "%-9s", "");
    for (size_t at = 0; at < COLUMNS; at++)
        fprintf(out, "  %*s", width_of(at), columns[at].head);
    fputc('\n', out);
    for (uint32_t at = 0; at < ABENCH_MAPPINGS_COUNT; at++) {
        fprintf(out, "%-9s", category_name(at));
        for (size_t column = 0; column < COLUMNS; column++) {
            const uint64_t value = value_of(&m->of[at], column);
            if (columns[column].is_count)
                snprintf(text, sizeof text, "%" PRIu64, value);
            else
                watch_bytes(text, value);
            fprintf(out, "  %*s", width_of(column), text);
        }
        fputc('\n', out);
    }
    fputs("clean and dirty are private; eligible: THP could serve it; rss counts shared pages in "
          "each "
          "process\n",
          out);
}
