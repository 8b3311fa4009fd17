/* slices.c - values of one run in the order of time: two runs slice by slice, and drift. */
#include "statistics/statistics.h"

#include "base/options.h"

#define BLOCKS_LEAST 6u /* have an interval at ALPHA */
#define BLOCK_FIRST  3u
#define ALPHA        0.05
#define RESEMBLE     0.2 /* the lag-1 autocorrelation from which neighbours do */

/* ---- two runs -------------------------------------------------------------------------------- */

/* The ratios of the pairs, in order; *found: how many. */
static abench_status fill(const double *slices, const double *base, uint32_t count, double *ratios,
                          uint32_t *found)
{
    *found = 0;
    for (uint32_t at = 0; at < count; at++) {
        double ratio;
        if (slices[at] != slices[at] || base[at] != base[at])
            continue;
        if (!abench__is_ratio(base[at]))
            return ABENCH_ERROR_ARGUMENT;
        ratio = slices[at] / base[at];
        if (!abench__is_ratio(ratio))
            return ABENCH_ERROR_ARGUMENT;
        ratios[(*found)++] = ratio;
    }
    return *found == 0 ? ABENCH_ERROR_ARGUMENT : ABENCH_OK;
}

/* Puts the median of each whole block to the front; returns how many there are. What is left over
 * at the end, less than a block, belongs to the last. */
static uint32_t block_medians(double *ratios, uint32_t count, uint32_t block)
{
    const uint32_t blocks = count / block;

    for (uint32_t at = 0; at < blocks; at++) {
        double *first = ratios + (uint64_t)at * block;
        const uint32_t length = at + 1 < blocks ? block : count - at * block;
        ratios[at] = abench_median(first, length);
    }
    return blocks;
}

/* How much each value resembles the one before it: from -1 to 1. */
static double autocorrelation(const double *values, uint32_t count)
{
    double mean = 0, with_next = 0, with_itself = 0, last = 0;

    for (uint32_t at = 0; at < count; at++)
        mean += values[at] / count;
    for (uint32_t at = 0; at < count; at++) {
        const double off = values[at] - mean;
        with_itself += off * off;
        with_next += off * last;
        last = off;
    }
    return with_itself > 0 ? with_next / with_itself : 0;
}

/* Leaves medians of blocks in scratch whose neighbours do not resemble each other; returns how
 * many. The last blocks are longer than the first with which that seems so: seen in a few, it is
 * chance as likely as not. Lengths are odd, so that a median is a value, and one slice far off
 * changes none. */
static uint32_t independent(const double *slices, const double *base, uint32_t count,
                            uint32_t pairs, double *scratch)
{
    const uint32_t longest = pairs < BLOCKS_LEAST ? 1 : pairs / BLOCKS_LEAST;
    uint32_t block = longest < BLOCK_FIRST ? longest : BLOCK_FIRST, blocks, seen = 0;

    for (;;) {
        fill(slices, base, count, scratch, &pairs);
        blocks = block_medians(scratch, pairs, block);
        if (autocorrelation(scratch, blocks) < RESEMBLE)
            seen++;
        if (block == longest || seen == 2)
            return blocks;
        block = 2 * block + 1 < longest ? 2 * block + 1 : longest;
    }
}

abench_status abench_slices_ratio(const double *slices, const double *base, uint32_t count,
                                  double *scratch, abench_interval *out)
{
    abench_interval mine;
    uint32_t pairs, blocks;
    abench_status status = fill(slices, base, count, scratch, &pairs);
    double median;

    if (status != ABENCH_OK)
        return status;
    median = abench_median(scratch, pairs);
    blocks = independent(slices, base, count, pairs, scratch);
    abench__sort(scratch, blocks);
    abench__interval_of_sorted(scratch, blocks, ALPHA, &mine);
    mine.estimate = median;
    if (mine.low > median) /* of a skewed few */
        mine.low = median;
    if (mine.high < median)
        mine.high = median;
    return abench__options_write(out, &mine, sizeof mine, ABENCH__INTERVAL_FIRST_RELEASE);
}

/* ---- one run --------------------------------------------------------------------------------- */

static double middle_of(const double *values, uint32_t count, double *scratch)
{
    for (uint32_t at = 0; at < count; at++)
        scratch[at] = values[at];
    abench__sort(scratch, count);
    return abench__walsh_middle(scratch, count);
}

double abench_drift(const double *values, uint32_t count, double *scratch)
{
    const uint32_t half = count / 2;
    double first;

    if (count < ABENCH_DRIFT_SLICES || !abench__are_ratios(values, count))
        return ABENCH__NAN;
    first = middle_of(values, half, scratch);
    return middle_of(values + (count - half), half, scratch) / first;
}
