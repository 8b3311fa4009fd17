/* 02_custom_workload.c - a workload of your own, beside those of the catalogue.
 *
 *   cc 02_custom_workload.c $(pkg-config --cflags --libs allocbench) && ./a.out
 *       (installed where the loader does not look: add -Wl,-rpath,PREFIX/lib)
 *   allocbench run -- ./a.out                  the same under every malloc, as a harness
 *
 * The pattern is a cache of decoded images: a hit costs nothing, a miss allocates a header and a
 * buffer of pixels and throws out the oldest entry. Lanes are the threads, each with its own cache.
 */
#include <allocbench/allocbench.h>
#include <stdio.h>

/* All that the generator remembers from one call to the next. */
typedef struct cache {
    abench_random random;
    uint64_t misses;
} cache;

static int32_t shape(const abench_workload *w, abench_tape_options *options, void *user)
{
    (void)user;
    options->lanes = (uint32_t)abench_workload_integer(w, "lanes");
    options->local_slots = 2 * (uint32_t)abench_workload_integer(w, "entries"); /* header, pixels */
    options->touch = (uint32_t)abench_workload_integer(w, "touch");
    return 0;
}

static void begin(const abench_workload *w, void *state, void *user)
{
    (void)user;
    abench_random_seed(&((cache *)state)->random, abench_workload_seed(w), 0, ABENCH_PURPOSE_USER);
}

/* One miss in every lane; the entry that it replaces is the oldest. Returns 1 behind the last. */
static int32_t fill(const abench_workload *w, void *state, abench_tape_builder *tape, void *user)
{
    const abench_distribution *pixels = abench_workload_sizes(w, "pixels");
    const uint64_t entries = abench_workload_integer(w, "entries");
    const uint32_t lanes = (uint32_t)abench_workload_integer(w, "lanes");
    cache *c = state;
    const uint32_t header = 2 * (uint32_t)(c->misses % entries);

    (void)user;
    if (c->misses == 0)
        abench_tape_builder_phase(tape, "fill", 0);
    if (c->misses == entries)
        abench_tape_builder_phase(tape, "steady", ABENCH_PHASE_TIMED);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        if (c->misses >= entries) {
            abench_tape_builder_free(tape, lane, header + 1);
            abench_tape_builder_free(tape, lane, header);
        }
        abench_tape_builder_malloc(tape, lane, header, 96);
        abench_tape_builder_malloc(tape, lane, header + 1,
                                   abench_distribution_draw(pixels, &c->random));
    }
    return ++c->misses == entries + abench_workload_integer(w, "misses");
}

int main(void)
{
    static const char *const wanted[] = {"time_ns_per_operation", "usable_per_live",
                                         "rss_per_live"};
    abench_workload_definition definition = ABENCH_WORKLOAD_DEFINITION_INIT;
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_run *run = NULL;
    double value;
    int failed;

    definition.version = 1;
    definition.name = "image-cache";
    definition.summary = "each miss replaces the oldest of a cache's entries";
    definition.parameters = "lanes=2,entries=500,misses=20000,"
                            "pixels=mix:80%1k-32k,20%32k-256k,touch=pages";
    definition.state_bytes = sizeof(cache);
    definition.shape = shape;
    definition.begin = begin;
    definition.fill = fill;

    options.seed = 42;
    if (abench_run_options_from_environment(&options, &error) != ABENCH_OK ||
        abench_workload_register(&definition, &error) != ABENCH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    failed = abench_run_create(&options, &run) != ABENCH_OK ||
             abench_run_play(run, "image-cache:misses=10000", NULL) != ABENCH_OK;
    if (failed)
        fprintf(stderr, "%s\n", run == NULL ? "no run" : abench_run_error(run)->message);
    for (unsigned at = 0; !failed && at < 3; at++)
        if (abench_run_metric(run, wanted[at], &value) == ABENCH_OK)
            printf("%-22s %.2f\n", wanted[at], value);
    abench_run_destroy(run);
    return failed;
}
