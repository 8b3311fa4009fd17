/*
 * statistics.h - from values of rounds to an answer: pure functions over the caller's arrays.
 *
 * Two arms that ran in the same rounds are compared by the rounds' ratios. Their middle is the
 * Hodges-Lehmann estimate on the logarithms: the median of the geometric means of all pairs of
 * ratios, each with itself too (Hodges and Lehmann 1963; the pairs' means are Walsh's averages).
 * Its interval inverts the exact signed-rank test (Wilcoxon 1945; Tukey 1949): it needs no normal
 * distribution, only that the logarithms lie symmetrically about the true one, as those of two
 * values with the same noise do.
 *
 * Nothing here allocates or keeps anything; any thread, as long as no two use one array. Where an
 * array is said to be reordered, its values stay and their order does not. Not a number, an
 * infinity, or a ratio that is not above 0 is ABENCH_ERROR_ARGUMENT, or NaN where a double is
 * returned; what the call would have filled is then left as it was. Up to 70 KiB of stack are used.
 */
#ifndef ALLOCBENCH_STATISTICS_H
#define ALLOCBENCH_STATISTICS_H

#include <allocbench/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An estimate between two bounds. */
typedef struct abench_interval {
    uint32_t struct_size;
    uint32_t count; /* of the values, or of the blocks of values, behind the bounds */
    double estimate;
    double low; /* NaN, like high: too few values for the level that was asked */
    double high;
    double coverage; /* what the bounds really have, at least what was asked; 0: no bounds */
} abench_interval;

#define ABENCH_INTERVAL_INIT                                                                       \
    {                                                                                              \
        sizeof(abench_interval), 0, 0, 0, 0, 0                                                     \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_interval_init(abench_interval *interval);

/* ---- the values of one run ------------------------------------------------------------------- */

/* The middle value, or the mean of the two; NaN for none. Reorders values. */
ABENCH_API double abench_median(double *values, uint32_t count);

/* The value that parts_per_million of all lie below, between two values in proportion (Hyndman and
 * Fan 1996, type 7); NaN for none or above 1000000. Reorders values. 250000: for iterations of a
 * run that could not be interleaved with another's, of which the slow ones are the machine's. */
ABENCH_API double abench_quantile(double *values, uint32_t count, uint32_t parts_per_million);

/* The ratio of two runs that played the same slices in turn: the median of slices[i] / base[i],
 * between bounds at 95 % that respect what neighbouring slices share. The ratios are cut into
 * blocks of consecutive slices (3, 7, 15, ...), and the bounds are the signed-rank interval of the
 * blocks' medians, made wider where the median of all lies outside it. Blocks grow until their
 * neighbours no longer resemble each other (lag-1 autocorrelation of the medians below 0.2), and
 * once more, or until 6 are left, the fewest that have an interval. Of 150 slices that keep 0, 50
 * or 90 % of what drives them from one to the next, the bounds then hold the true ratio in 96, 95
 * and 93 %. Pairs with a NaN in either are left out. out->count: the blocks. scratch: count
 * doubles. ABENCH_ERROR_ARGUMENT: a ratio or a base that is not above 0 and finite, or no pair at
 * all. */
ABENCH_API abench_status abench_slices_ratio(const double *slices, const double *base,
                                             uint32_t count, double *scratch, abench_interval *out);

#define ABENCH_DRIFT_SLICES 8 /* the fewest that drift can be told of */

/* Is a run still moving: the Hodges-Lehmann middle of its second half by that of its first, 1 when
 * it is steady; of an odd count the middle one belongs to neither. NaN: fewer than
 * ABENCH_DRIFT_SLICES values. Values are above 0, in the order in which they were measured.
 * scratch: count doubles. */
ABENCH_API double abench_drift(const double *values, uint32_t count, double *scratch);

/* ---- ratios of rounds ------------------------------------------------------------------------ */

/* Up to so many rounds the distribution is exact, beyond it normal with a correction for
 * continuity: bounds are then a little wide, a p below 0.05 a little large (0.5 % of it at 0.05, 11
 * % at 0.001, and less with more rounds). */
#define ABENCH_SIGNED_RANK_EXACT 128

/* The Hodges-Lehmann middle of ratios and its signed-rank interval at 1 - alpha. Fewer rounds than
 * alpha needs leave low and high NaN. Reorders ratios. ABENCH_ERROR_ARGUMENT: none, or an alpha
 * that is not between 0 and 1. */
ABENCH_API abench_status abench_hodges_lehmann(double *ratios, uint32_t count, double alpha,
                                               abench_interval *out);

/* How probable ratios as far from center as these, or farther, are when center is the true ratio:
 * the two-sided signed-rank test, at most 1; 1 when there are none. Ratios equal to center are left
 * out; of those as far from it as each other, each has the mean of their ranks, doubled and counted
 * exactly (Streitberg and Roehmel 1986). Equal is what differs by 1e-12 of itself at most: 100 by
 * 102 is as far from 1 as 102 by 100. Reorders ratios. */
ABENCH_API double abench_signed_rank(double *ratios, uint32_t count, double center);

/* The fewest rounds whose interval at alpha exists: the smallest n with 2^(1-n) <= alpha. 0 when
 * alpha is not between 0 and 1. */
ABENCH_API uint32_t abench_rounds_least(double alpha);

/* ---- the answer ------------------------------------------------------------------------------ */

#define ABENCH_COMPARED_TOO_FEW 0u /* rounds for an interval: rounds_needed says how many */
#define ABENCH_COMPARED_BETTER  1u /* the interval is clear of the threshold */
#define ABENCH_COMPARED_WORSE   2u
#define ABENCH_COMPARED_SAME    3u /* the interval lies within the threshold, on both sides */
#define ABENCH_COMPARED_OPEN    4u /* neither: not told apart; rounds_needed says what might do */

/* "not enough rounds", "better", "worse", "same", "not told apart"; NULL beyond. Any thread. */
ABENCH_API const char *abench_compared_name(uint32_t verdict);

typedef struct abench_compare_options {
    uint32_t struct_size;
    uint32_t higher_is_better; /* 1: more is better; 0: less is */
    uint32_t comparisons;      /* made at once, which share alpha (Bonferroni); 0: 1 */
    uint32_t looks;            /* at the rounds as they come in, which share it too; 0: 1 */
    double alpha;              /* of all of them together; 0: 0.05 */
    double threshold;          /* a difference that matters: 0.01 is 1 %; 0: 0.01 */
} abench_compare_options;

#define ABENCH_COMPARE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(abench_compare_options), 0, 0, 0, 0, 0                                              \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_compare_options_init(abench_compare_options *options);

typedef struct abench_comparison {
    uint32_t struct_size;
    uint32_t verdict;       /* ABENCH_COMPARED_... */
    uint32_t rounds;        /* behind it */
    uint32_t rounds_needed; /* TOO_FEW: for an interval. OPEN: for one so narrow that it could be
                               told, if the middle stays where it is, and more than there are;
                               UINT32_MAX: more than a million. Else 0 */
    double ratio;           /* the Hodges-Lehmann middle */
    double low;             /* NaN, like high: TOO_FEW */
    double high;
    double threshold; /* that was applied: 0.01 is 1 % */
} abench_comparison;

#define ABENCH_COMPARISON_INIT                                                                     \
    {                                                                                              \
        sizeof(abench_comparison), 0, 0, 0, 0, 0, 0, 0                                             \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_comparison_init(abench_comparison *comparison);

/* The verdict on the ratios of some rounds, each an arm's value by the baseline's of the same
 * round. options may be NULL. A threshold t reaches from 1 / (1 + t) to 1 + t. An interval of width
 * w on the logarithms shrinks as 1 / sqrt(rounds): rounds_needed is rounds * 1.05 * (w / wanted)^2.
 * Reorders ratios. ABENCH_ERROR_ARGUMENT. */
ABENCH_API abench_status abench_compare(double *ratios, uint32_t count,
                                        const abench_compare_options *options,
                                        abench_comparison *out);

/* How far an interval reaches from 1, whichever way, as a threshold does: 0.05 for 1 / 1.05 to
 * 1.02, and for 1.03 to 1.05. NaN when it has no bounds. Of the baseline against itself (A/A) it is
 * the least threshold that can be trusted. */
ABENCH_API double abench_interval_reach(const abench_interval *interval);

/* ---- many of them ---------------------------------------------------------------------------- */

/* Which of several tests reject at alpha, all together (Holm 1979): rejected[i] is 1 or 0. order:
 * scratch of count. ABENCH_ERROR_ARGUMENT: a p that is not between 0 and 1. */
ABENCH_API abench_status abench_holm(const double *p, uint32_t count, double alpha, uint32_t *order,
                                     uint8_t *rejected);

/* The places that each of count arms may have, 1 the best: low[i] is one more than the arms proven
 * better than it, high[i] count less those proven worse. verdicts[i * count + j] is the
 * ABENCH_COMPARED_... of arm i against arm j; all but BETTER and WORSE prove nothing, and one of a
 * pair's two verdicts is enough. Arms with the same places are a tie. ABENCH_ERROR_ARGUMENT: a
 * verdict that is none, or a pair of which each is better than the other. */
ABENCH_API abench_status abench_ranks(const uint32_t *verdicts, uint32_t count, uint32_t *low,
                                      uint32_t *high);

/* How often a value of a exceeds one of b, less how often it falls below (Cliff 1993): from -1 to
 * 1, 0 when neither. Paired or not. NaN when either has none. Reorders both. */
ABENCH_API double abench_cliff(double *a, uint32_t a_count, double *b, uint32_t b_count);

#ifdef __cplusplus
}
#endif
#endif
