#include "tool/report/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/report/next.h"
#include "tool/report/overall.h"
#include "tool/report/sentences.h"
#include "tool/report/words.h"
#include "tool/util.h"

#define DECIMALS_MOST 3
#define RATIO_MOST    9999.5 /* from here on it reads "x>9999" */

/* ---- numbers as one reads them --------------------------------------------------------------- */

char *advice_percent(double share)
{
    const double percent = 100 * fmax(share, 0);
    if (percent > 9999)
        return xstrdup("more than 9999 %");
    char *text = xasprintf("%.*f", percent < 9.95 ? 1 : 0, percent);
    const size_t length = strlen(text);
    if (length > 2 && strcmp(text + length - 2, ".0") == 0)
        text[length - 2] = '\0';
    char *whole = xasprintf("%s %%", text);
    free(text);
    return whole;
}

/* As many as tell the bounds from each other and from the middle; those of the middle where they
 * are the same whatever one prints. */
static int decimals_of(double ratio, double low, double high)
{
    const int own = format_decimals(ratio);
    int decimals = own;
    while (decimals < DECIMALS_MOST && (high - low) * pow(10, decimals) < 2)
        decimals++;
    return (high - low) * pow(10, decimals) < 1 ? own : decimals;
}

static void add_number(words *w, const char *before, double value, int decimals)
{
    if (value >= RATIO_MOST)
        words_add(w, "%s>9999", before);
    else
        words_add(w, "%s%.*f", before, decimals, value);
}

char *advice_ratio(double ratio, double low, double high)
{
    words w = {NULL, 0};
    const bool bounded = !isnan(low) && !isnan(high);
    const int decimals = bounded ? decimals_of(ratio, low, high) : format_decimals(ratio);
    if (isnan(ratio))
        return xstrdup("");
    add_number(&w, "x", ratio, decimals);
    if (bounded) {
        add_number(&w, " [", low, decimals);
        add_number(&w, " ", high, decimals);
        words_add(&w, "]");
    }
    return words_take(&w);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static advice_text copy_text(const advice_text *from)
{
    advice_text to = {xcalloc(from->count + 1, sizeof *to.sentences), from->count};
    for (size_t i = 0; i < from->count; i++)
        to.sentences[i] = xstrdup(from->sentences[i]);
    return to;
}

advice *advice_make(const verdicts *v)
{
    const model *m = v->s->m;
    advice *a = xcalloc(1, sizeof *a);
    size_t with_rounds = 0, last = 0;
    a->workloads_count = m->workloads_count;
    a->workloads = xcalloc(m->workloads_count + 1, sizeof *a->workloads);
    for (size_t i = 0; i < m->workloads_count; i++) {
        if (summary_rounds(m, i) == 0)
            continue;
        sentences_make(v, i, &a->workloads[i]);
        with_rounds++;
        last = i;
    }
    if (with_rounds == 1)
        a->overall = copy_text(&a->workloads[last]);
    else if (with_rounds > 1)
        overall_make(v, &a->overall);
    next_make(v, a);
    return a;
}

static void clear_text(advice_text *text)
{
    for (size_t i = 0; i < text->count; i++)
        free(text->sentences[i]);
    free(text->sentences);
}

void advice_free(advice *a)
{
    if (a == NULL)
        return;
    clear_text(&a->overall);
    for (size_t i = 0; i < a->workloads_count; i++)
        clear_text(&a->workloads[i]);
    for (size_t i = 0; i < a->next_count; i++) {
        free(a->next[i].why);
        free(a->next[i].command);
    }
    free(a->workloads);
    free(a->next);
    free(a);
}

char *advice_join(const advice_text *text)
{
    words w = {NULL, 0};
    for (size_t i = 0; i < text->count; i++)
        words_add(&w, "%s%s", i == 0 ? "" : " ", text->sentences[i]);
    return words_take(&w);
}
