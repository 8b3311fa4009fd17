/* histogram.c - buckets, quantiles, merging. hgrm.c writes one as text. */
#include "histogram/histogram.h"

#include <string.h>

#include "base/arena.h"
#include "base/options.h"

#define BUCKET_FIRST_RELEASE 32u
#define MILLION              1000000u

_Static_assert(sizeof(abench_bucket) == BUCKET_FIRST_RELEASE, "first release");

abench_status abench_histogram_create(const abench_memory_hooks *hooks, abench_histogram **out)
{
    abench_memory_hooks copy;
    abench_histogram *histogram;
    abench_status status;

    *out = NULL;
    status = abench__hooks_copy(hooks, &copy);
    if (status != ABENCH_OK)
        return status;
    histogram = abench__map(&copy, sizeof *histogram, 1);
    if (histogram == NULL)
        return ABENCH_ERROR_MEMORY;
    histogram->hooks = copy;
    abench__histogram_begin(histogram);
    *out = histogram;
    return ABENCH_OK;
}

void abench_histogram_destroy(abench_histogram *histogram)
{
    abench_memory_hooks hooks;

    if (histogram == NULL)
        return;
    hooks = histogram->hooks;
    abench__unmap(&hooks, histogram, sizeof *histogram);
}

/* ---- counting -------------------------------------------------------------------------------- */

void abench_histogram_record(abench_histogram *histogram, uint64_t value)
{
    abench__histogram_record(histogram, value);
}

void abench_histogram_record_many(abench_histogram *histogram, uint64_t value, uint64_t count)
{
    if (count == 0)
        return;
    abench__histogram_record(histogram, value);
    histogram->counts[abench__histogram_index(value)] += count - 1;
    histogram->count += count - 1;
}

void abench_histogram_merge(abench_histogram *into, const abench_histogram *from)
{
    for (uint32_t at = 0; at < HISTOGRAM_BUCKETS; at++)
        into->counts[at] += from->counts[at];
    into->count += from->count;
    if (from->minimum < into->minimum)
        into->minimum = from->minimum;
    if (from->maximum > into->maximum)
        into->maximum = from->maximum;
}

void abench_histogram_clear(abench_histogram *histogram)
{
    memset(histogram->counts, 0, sizeof histogram->counts);
    histogram->count = 0;
    histogram->maximum = 0;
    abench__histogram_begin(histogram);
}

uint64_t abench_histogram_count(const abench_histogram *histogram)
{
    return histogram->count;
}

uint64_t abench_histogram_minimum(const abench_histogram *histogram)
{
    return histogram->count == 0 ? 0 : histogram->minimum;
}

uint64_t abench_histogram_maximum(const abench_histogram *histogram)
{
    return histogram->maximum;
}

/* ---- buckets --------------------------------------------------------------------------------- */

void abench_bucket_init(abench_bucket *bucket)
{
    memset(bucket, 0, sizeof *bucket);
    bucket->struct_size = sizeof *bucket;
}

static uint64_t lowest_of(uint32_t index)
{
    const uint32_t shift = index < 2 * HISTOGRAM_HALF ? 0 : index / HISTOGRAM_HALF - 1;

    return (uint64_t)(index - shift * HISTOGRAM_HALF) << shift;
}

/* The last bucket has no end of its own. */
static uint64_t highest_of(const abench_histogram *histogram, uint32_t index)
{
    if (index + 1 < HISTOGRAM_BUCKETS)
        return lowest_of(index + 1) - 1;
    return histogram->maximum > HISTOGRAM_LARGEST ? histogram->maximum : HISTOGRAM_LARGEST;
}

int abench__histogram_next(const abench_histogram *histogram, uint32_t *at, abench_bucket *out)
{
    uint32_t index = *at;

    while (index < HISTOGRAM_BUCKETS && histogram->counts[index] == 0)
        index++;
    if (index == HISTOGRAM_BUCKETS)
        return 0;
    abench_bucket_init(out);
    out->low = lowest_of(index);
    out->high = highest_of(histogram, index);
    out->count = histogram->counts[index];
    *at = index + 1;
    return 1;
}

abench_status abench_histogram_bucket_at(const abench_histogram *histogram, uint32_t index,
                                         abench_bucket *out)
{
    abench_bucket bucket;
    uint32_t at = 0;

    do
        if (!abench__histogram_next(histogram, &at, &bucket))
            return ABENCH_ERROR_NOT_FOUND;
    while (index-- > 0);
    return abench__options_write(out, &bucket, sizeof bucket, BUCKET_FIRST_RELEASE);
}

/* ---- quantiles ------------------------------------------------------------------------------- */

uint64_t abench__quantile_rank(uint64_t count, uint32_t parts_per_million)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)count * parts_per_million;
    const uint64_t rank = (uint64_t)((product + MILLION - 1) / MILLION); /* nearest rank: up */

    return rank == 0 ? 1 : rank;
}

abench_status abench_histogram_quantile(const abench_histogram *histogram,
                                        uint32_t parts_per_million, uint64_t *value)
{
    abench_bucket bucket;
    uint64_t rank, below = 0;
    uint32_t at = 0;

    if (parts_per_million > MILLION)
        return ABENCH_ERROR_ARGUMENT;
    rank = abench__quantile_rank(histogram->count, parts_per_million);
    if (rank > histogram->count || histogram->count - rank < ABENCH_QUANTILE_SAMPLES)
        return ABENCH_ERROR_NOT_FOUND;
    while (below < rank && abench__histogram_next(histogram, &at, &bucket))
        below += bucket.count;
    *value = bucket.high < histogram->maximum ? bucket.high : histogram->maximum;
    return ABENCH_OK;
}
