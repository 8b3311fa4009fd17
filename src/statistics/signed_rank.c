/* signed_rank.c - how the sum of the ranks on one side is distributed when either side is as
 * likely: exactly for up to ABENCH_SIGNED_RANK_EXACT of them, beyond it as a normal variable. */
#include "statistics/statistics.h"

#include <string.h>

#define EXACT    ABENCH_SIGNED_RANK_EXACT
#define SUMS_MAX (EXACT * (EXACT + 1) / 2) /* of the ranks; of doubled ranks, the half of them */
#define AS_FAR   (1 + 1e-12) /* farther by no more than this is what rounding made of as far */

uint32_t abench_rounds_least(double alpha)
{
    uint32_t rounds = 1;

    if (!abench__is_alpha(alpha))
        return 0;
    for (double p = 1; p > alpha; p /= 2)
        rounds++;
    return rounds;
}

/* One more rank in the sum, or not, each with probability 1/2: p[w] for w <= last. */
static void add_rank(double *p, uint32_t last, uint32_t rank)
{
    for (uint32_t w = last; w >= rank; w--)
        p[w] = (p[w] + p[w - rank]) / 2;
    for (uint32_t w = 0; w <= last && w < rank; w++)
        p[w] /= 2;
}

/* ---- the interval's ranks -------------------------------------------------------------------- */

static uint64_t critical_exact(uint32_t count, double alpha, double *outside)
{
    const uint32_t last = count * (count + 1) / 4;
    double p[SUMS_MAX / 2 + 1], twice = 0;
    uint32_t critical = 0;

    memset(p, 0, (last + 1) * sizeof *p);
    p[0] = 1;
    for (uint32_t rank = 1; rank <= count; rank++)
        add_rank(p, last, rank);
    while (critical <= last && twice + 2 * p[critical] <= alpha) {
        twice += 2 * p[critical++];
        *outside = twice;
    }
    return critical;
}

/* Twice the probability of a sum that is off the middle by distance or more; step: between two
 * sums, of which half belongs to the distance (continuity). */
static double twice_tail(double distance, double step, double variance)
{
    const double z = (distance - step / 2) / __builtin_sqrt(variance);

    return z <= 0 ? 1 : 2 * abench__normal_tail(z);
}

/* The tails of the sum are lighter than the normal's: these bounds are a little wide. */
static uint64_t critical_normal(uint32_t count, double alpha, double *outside)
{
    const double n = count, middle = n * (n + 1) / 4, variance = middle * (2 * n + 1) / 6;
    uint64_t low = 0, high = abench__pairs(count) / 2; /* low is enough, from high on too many */

    while (high - low > 1) {
        const uint64_t critical = low + (high - low) / 2;
        const double twice = twice_tail(middle - (double)(critical - 1), 1, variance);
        if (twice <= alpha) {
            low = critical;
            *outside = twice;
        } else {
            high = critical;
        }
    }
    return low;
}

uint64_t abench__signed_rank_critical(uint32_t count, double alpha, double *outside)
{
    const uint32_t least = abench_rounds_least(alpha);
    uint64_t critical;

    if (count < least)
        return 0;
    if (count <= EXACT)
        return critical_exact(count, alpha, outside);
    critical = critical_normal(count, alpha, outside);
    if (critical == 0) { /* an alpha so small that the normal's tail is far off: exactly 2^(1-n) */
        critical = 1;
        *outside = alpha;
    }
    return critical;
}

/* ---- the test -------------------------------------------------------------------------------- */

/* Walks from the center outwards through sorted ratios, on both sides. */
typedef struct walk {
    const double *sorted;
    uint32_t count;
    double center;
    uint32_t below; /* that are left below the center */
    uint32_t above; /* the next one above it */
} walk;

static double how_far(const walk *w, uint32_t at)
{
    const double ratio = w->sorted[at];

    return ratio < w->center ? w->center / ratio : ratio / w->center;
}

static walk walk_begin(const double *sorted, uint32_t count, double center)
{
    walk w = {sorted, count, center, 0, 0};

    while (w.below < count && sorted[w.below] < center)
        w.below++;
    w.above = w.below;
    while (w.below > 0 && how_far(&w, w.below - 1) <= AS_FAR)
        w.below--;
    while (w.above < count && how_far(&w, w.above) <= AS_FAR)
        w.above++;
    return w;
}

/* The ratios that are as far from the center as the nearest that is left: how many; *on_top: of
 * them above it. 0: none is left. */
static uint32_t walk_next(walk *w, uint32_t *on_top)
{
    const uint32_t below = w->below, above = w->above;
    double least = DBL_MAX;

    if (w->below > 0)
        least = how_far(w, w->below - 1);
    if (w->above < w->count && how_far(w, w->above) < least)
        least = how_far(w, w->above);
    while (w->below > 0 && how_far(w, w->below - 1) <= least * AS_FAR)
        w->below--;
    while (w->above < w->count && how_far(w, w->above) <= least * AS_FAR)
        w->above++;
    *on_top = w->above - above;
    return below - w->below + *on_top;
}

/* The doubled rank sum above the center, and the sum of the squares of all doubled ranks. */
static double doubled_sum(walk w, double *squares)
{
    uint32_t group, on_top;
    double sum = 0, before = 0;

    *squares = 0;
    while ((group = walk_next(&w, &on_top)) != 0) {
        const double rank = 2 * before + group + 1;
        sum += rank * on_top;
        *squares += rank * rank * group;
        before += group;
    }
    return sum;
}

/* Twice the probability of a doubled sum of last or less; last is at most SUMS_MAX. */
static double twice_exact(walk w, uint32_t last)
{
    double p[SUMS_MAX + 1], sum = 0;
    uint32_t group, on_top, before = 0;

    memset(p, 0, (last + 1) * sizeof *p);
    p[0] = 1;
    while ((group = walk_next(&w, &on_top)) != 0) {
        for (uint32_t each = 0; each < group; each++)
            add_rank(p, last, 2 * before + group + 1);
        before += group;
    }
    for (uint32_t at = 0; at <= last; at++)
        sum += p[at];
    return 2 * sum;
}

double abench_signed_rank(double *ratios, uint32_t count, double center)
{
    double sum, all, squares, p;
    uint32_t left;
    walk w;

    if (!abench__is_ratio(center) || (count != 0 && !abench__are_ratios(ratios, count)))
        return ABENCH__NAN;
    abench__sort(ratios, count);
    w = walk_begin(ratios, count, center);
    left = w.below + (count - w.above);
    sum = doubled_sum(w, &squares);
    all = (double)left * ((double)left + 1);
    if (sum > all - sum) /* the distribution is the same from either end */
        sum = all - sum;
    if (left <= EXACT)
        p = twice_exact(w, (uint32_t)sum);
    else
        p = twice_tail(all / 2 - sum, 2, squares / 4);
    return p < 1 ? p : 1;
}
