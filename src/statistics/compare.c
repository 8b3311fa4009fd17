/* compare.c - from an interval and a threshold to a verdict. */
#include "statistics/statistics.h"

#include <string.h>

#include "base/options.h"

#define OPTIONS_FIRST_RELEASE    32u
#define COMPARISON_FIRST_RELEASE 48u
#define ALPHA                    0.05
#define THRESHOLD                0.01
#define ROUNDS_MOST              1e6  /* that are worth a number */
#define SIGNED_RANK_COST         1.05 /* 1 / 0.955: rounds that it takes where a t-test takes 1 */

_Static_assert(sizeof(abench_compare_options) == OPTIONS_FIRST_RELEASE, "first release");
_Static_assert(sizeof(abench_comparison) == COMPARISON_FIRST_RELEASE, "first release");

static const char *const names[] = {"not enough rounds", "better", "worse", "same",
                                    "not told apart"};

const char *abench_compared_name(uint32_t verdict)
{
    return verdict < sizeof names / sizeof *names ? names[verdict] : NULL;
}

void abench_compare_options_init(abench_compare_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

void abench_comparison_init(abench_comparison *comparison)
{
    memset(comparison, 0, sizeof *comparison);
    comparison->struct_size = sizeof *comparison;
}

/* The caller's options with the defaults in the place of 0. */
static abench_status read_options(const abench_compare_options *theirs,
                                  abench_compare_options *mine)
{
    abench_status status;

    abench_compare_options_init(mine);
    status = abench__options_read(mine, sizeof *mine, theirs, OPTIONS_FIRST_RELEASE);
    if (status != ABENCH_OK)
        return status;
    if (mine->alpha == 0)
        mine->alpha = ALPHA;
    if (mine->threshold == 0)
        mine->threshold = THRESHOLD;
    if (mine->higher_is_better > 1 || !abench__is_alpha(mine->alpha) ||
        !abench__is_ratio(mine->threshold))
        return ABENCH_ERROR_ARGUMENT;
    if (mine->comparisons > 1)
        mine->alpha /= mine->comparisons;
    if (mine->looks > 1)
        mine->alpha /= mine->looks;
    return ABENCH_OK;
}

static uint32_t verdict_of(const abench_interval *interval, double threshold, int higher_is_better)
{
    const double least = 1 / (1 + threshold), most = 1 + threshold;

    if (interval->coverage == 0)
        return ABENCH_COMPARED_TOO_FEW;
    if (interval->low > most)
        return higher_is_better ? ABENCH_COMPARED_BETTER : ABENCH_COMPARED_WORSE;
    if (interval->high < least)
        return higher_is_better ? ABENCH_COMPARED_WORSE : ABENCH_COMPARED_BETTER;
    if (interval->low >= least && interval->high <= most)
        return ABENCH_COMPARED_SAME;
    return ABENCH_COMPARED_OPEN;
}

static double ln(double ratio)
{
    const double reach = abench__ln_reach(ratio);

    return ratio < 1 ? -reach : reach;
}

/* Rounds until the half width is what lies between the middle and the nearer end of the threshold;
 * more than there are, also when one side of the interval is shorter than the other. */
static uint32_t rounds_to_tell(const abench_interval *interval, double threshold)
{
    const double reach = abench__ln_reach(interval->estimate);
    const double between = reach - abench__ln_reach(1 + threshold);
    const double wanted = 2 * (between < 0 ? -between : between);
    const double width = ln(interval->high) - ln(interval->low); /* high / low may be no double */
    const double rounds =
        wanted > 0 ? interval->count * SIGNED_RANK_COST * (width / wanted) * (width / wanted)
                   : ROUNDS_MOST + 1;

    if (!(rounds <= ROUNDS_MOST) || interval->count >= ROUNDS_MOST)
        return UINT32_MAX;
    return rounds > interval->count ? (uint32_t)rounds + 1 : interval->count + 1;
}

abench_status abench_compare(double *ratios, uint32_t count, const abench_compare_options *options,
                             abench_comparison *out)
{
    abench_compare_options o;
    abench_interval interval;
    abench_comparison mine;
    abench_status status = read_options(options, &o);

    if (status != ABENCH_OK)
        return status;
    abench_interval_init(&interval);
    status = abench_hodges_lehmann(ratios, count, o.alpha, &interval);
    if (status != ABENCH_OK)
        return status;
    abench_comparison_init(&mine);
    mine.verdict = verdict_of(&interval, o.threshold, o.higher_is_better == 1);
    mine.rounds = count;
    mine.ratio = interval.estimate;
    mine.low = interval.low;
    mine.high = interval.high;
    mine.threshold = o.threshold;
    if (mine.verdict == ABENCH_COMPARED_TOO_FEW)
        mine.rounds_needed = abench_rounds_least(o.alpha);
    else if (mine.verdict == ABENCH_COMPARED_OPEN)
        mine.rounds_needed = rounds_to_tell(&interval, o.threshold);
    return abench__options_write(out, &mine, sizeof mine, COMPARISON_FIRST_RELEASE);
}
