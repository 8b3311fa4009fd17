/*
 * hgrm.c - a histogram as HdrHistogram's percentile text, which its plotters read: lines at five
 * ticks for each halving of the distance to 100 % (G. Tene, AbstractHistogram's
 * outputPercentileDistribution). All in integers, so that no locale finds its way into it.
 */
#include <errno.h>
#include <unistd.h>

#include "base/text.h"
#include "histogram/histogram.h"

#define TICKS        5u
#define HALVINGS_MAX 50u /* beyond it a percentile is 1.000000000000 */
#define DECIMALS     1000u
#define PERCENT_ONE  1000000000000u /* 12 decimals */

__extension__ typedef unsigned __int128 wide;

typedef struct output {
    int fd;
    int failed;    /* errno of the first write that failed */
    uint64_t unit; /* values are divided by it */
    abench__text text;
    char data[4096];
} output;

static void flush(output *out)
{
    const char *at = out->data;
    size_t left = out->text.length;

    while (left > 0 && out->failed == 0) {
        const ssize_t written = write(out->fd, at, left);
        if (written > 0) {
            at += written;
            left -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            out->failed = written == 0 ? EIO : errno;
        }
    }
    abench__text_init(&out->text, out->data, sizeof out->data);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void put_value(output *out, uint64_t value)
{
    uint64_t whole = value / out->unit;
    uint64_t part = (uint64_t)(((wide)(value % out->unit) * DECIMALS + out->unit / 2) / out->unit);

    if (part == DECIMALS) {
        whole++;
        part = 0;
    }
    abench__text_printf(&out->text, "%8llu.%03llu", (unsigned long long)whole,
                        (unsigned long long)part);
}

/* value is not negative. */
static void put_real(output *out, double value)
{
    const double in_units = value / (double)out->unit;
    uint64_t whole = UINT64_MAX, part = 0;

    if (in_units < 0x1p63) {
        whole = (uint64_t)in_units;
        part = (uint64_t)((in_units - (double)whole) * DECIMALS + 0.5);
    }
    if (part == DECIMALS) {
        whole++;
        part = 0;
    }
    abench__text_printf(&out->text, "%8llu.%03llu", (unsigned long long)whole,
                        (unsigned long long)part);
}

/* Newton's method: there is no libm here. */
static double square_root(double x)
{
    double root = x > 1 ? x : 1, next = x;

    if (x <= 0)
        return 0;
    for (;;) {
        next = (root + x / root) / 2;
        if (!(next < root))
            return root;
        root = next;
    }
}

static double middle(const abench_bucket *bucket)
{
    return (double)bucket->low + (double)((bucket->high - bucket->low + 1) / 2);
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Tick tick of halving h lies (2 * TICKS - tick) / (2 * TICKS * 2^h) below 100 %. */
static void put_line(output *out, uint64_t value, uint64_t below, uint32_t h, uint32_t tick)
{
    const uint64_t scaled = (uint64_t)PERCENT_ONE / (2 * TICKS) * (2 * TICKS - tick);
    const uint64_t half = h == 0 ? 0 : (uint64_t)1 << (h - 1);
    const uint64_t level = PERCENT_ONE - ((scaled + half) >> h);
    const uint64_t inverse =
        (uint64_t)(((wide)(100 * 2 * TICKS) << h) + (2 * TICKS - tick) / 2) / (2 * TICKS - tick);

    put_value(out, value);
    abench__text_printf(&out->text, " %llu.%012llu %10llu %11llu.%02llu\n",
                        (unsigned long long)(level / PERCENT_ONE),
                        (unsigned long long)(level % PERCENT_ONE), (unsigned long long)below,
                        (unsigned long long)(inverse / 100), (unsigned long long)(inverse % 100));
    if (out->text.length > sizeof out->data - 200)
        flush(out);
}

static void put_lines(output *out, const abench_histogram *histogram)
{
    abench_bucket bucket;
    uint64_t below = 0;
    uint32_t at = 0, h = 0, tick = 0;

    while (abench__histogram_next(histogram, &at, &bucket)) {
        below += bucket.count;
        while (below < histogram->count && h < HALVINGS_MAX &&
               histogram->count - below <=
                   (uint64_t)((wide)histogram->count * (2 * TICKS - tick) / (2 * TICKS) >> h)) {
            put_line(out, bucket.high, below, h, tick);
            tick++;
            if (tick == TICKS) {
                tick = 0;
                h++;
            }
        }
    }
    if (histogram->count == 0)
        return;
    put_value(out, histogram->maximum);
    abench__text_printf(&out->text, " 1.000000000000 %10llu\n",
                        (unsigned long long)histogram->count);
}

static void put_footer(output *out, const abench_histogram *histogram)
{
    const double count = histogram->count == 0 ? 1 : (double)histogram->count;
    double mean = 0, variance = 0;
    abench_bucket bucket;

    for (uint32_t at = 0; abench__histogram_next(histogram, &at, &bucket);)
        mean += middle(&bucket) * ((double)bucket.count / count);
    for (uint32_t at = 0; abench__histogram_next(histogram, &at, &bucket);) {
        const double off = middle(&bucket) - mean;
        variance += off * off * ((double)bucket.count / count);
    }
    abench__text_put(&out->text, "#[Mean    = ");
    put_real(out, mean);
    abench__text_put(&out->text, ", StdDeviation   = ");
    put_real(out, square_root(variance));
    abench__text_put(&out->text, "]\n#[Max     = ");
    put_value(out, histogram->maximum);
    abench__text_printf(&out->text, ", Total count    = %12llu]\n",
                        (unsigned long long)histogram->count);
    abench__text_printf(&out->text, "#[Buckets = %12u, SubBuckets     = %12u]\n",
                        HISTOGRAM_BUCKETS / HISTOGRAM_HALF - 1, 2 * HISTOGRAM_HALF);
}

abench_status abench_histogram_write_hgrm(const abench_histogram *histogram, int32_t fd,
                                          uint64_t unit, abench_error *error)
{
    output out = {.fd = fd, .failed = 0, .unit = unit};

    if (unit == 0)
        return abench__fail(error, ABENCH_ERROR_ARGUMENT,
                            "a histogram in units of 0: 1 is ns, 1000 is us");
    abench__text_init(&out.text, out.data, sizeof out.data);
    abench__text_printf(&out.text, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
                        "1/(1-Percentile)");
    put_lines(&out, histogram);
    put_footer(&out, histogram);
    flush(&out);
    return out.failed == 0
               ? ABENCH_OK
               : abench__fail_errno(error, out.failed, "the histogram cannot be written");
}
