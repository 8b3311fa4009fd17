/* 06_compare.c - two values a round, and what they prove: the library's statistics, alone.
 *
 *   cc 06_compare.c $(pkg-config --cflags --libs allocbench) && ./a.out
 *       (installed where the loader does not look: add -Wl,-rpath,PREFIX/lib)
 *   ./a.out 1.02 1.07 0.99 1.05 1.04 1.08       your own: mine, base, mine, base, ...
 *
 * Each pair comes from one round, in which both were measured under the same conditions.
 */
#include <allocbench/allocbench.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 1000

/* Seconds that a build took: with another malloc, and with the one it had; ten rounds of a noisy
 * afternoon. The rounds differ by more than the arms do, which is why they are compared by round.
 * */
static const double built_in[] = {41.2, 44.0, 43.5, 46.1, 52.8, 56.4, 47.0, 49.7, 44.1, 46.3,
                                  58.9, 62.2, 42.0, 44.9, 45.4, 47.6, 50.3, 53.9, 43.3, 45.2};

static uint32_t read_ratios(int argc, char **argv, double *ratios)
{
    const uint32_t given = argc > 1 ? (uint32_t)(argc - 1) / 2 : 10;

    for (uint32_t at = 0; at < given && at < MOST; at++) {
        const double mine = argc > 1 ? strtod(argv[1 + 2 * at], NULL) : built_in[2 * at];
        const double base = argc > 1 ? strtod(argv[2 + 2 * at], NULL) : built_in[2 * at + 1];
        ratios[at] = mine / base;
    }
    return given < MOST ? given : MOST;
}

int main(int argc, char **argv)
{
    abench_compare_options options = ABENCH_COMPARE_OPTIONS_INIT;
    abench_comparison c = ABENCH_COMPARISON_INIT;
    double ratios[MOST];
    const uint32_t count = read_ratios(argc, argv, ratios);

    options.threshold = 0.02; /* less than 2 % would not be worth a change */
    if (argc % 2 == 0 || abench_compare(ratios, count, &options, &c) != ABENCH_OK) {
        fprintf(stderr, "06_compare: give pairs of numbers above 0: MINE BASE MINE BASE ...\n");
        return 2;
    }
    printf("%s\n", abench_compared_name(c.verdict));
    printf("ratio    %.3f\n", c.ratio);
    if (!isnan(c.low))
        printf("between  %.3f and %.3f, at 95 %%\n", c.low, c.high);
    printf("rounds   %u\n", c.rounds);
    if (c.rounds_needed == UINT32_MAX)
        printf("needed   more than a million: the ratio lies on the threshold\n");
    else if (c.rounds_needed != 0)
        printf("needed   %u\n", c.rounds_needed);
    /* how often chance alone, where there is no difference, makes as much of one, or more */
    printf("p        %.4f\n", abench_signed_rank(ratios, count, 1));
    return 0;
}
