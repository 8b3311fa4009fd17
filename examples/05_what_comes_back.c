/* 05_what_comes_back.c - how much memory comes back when a program frees it, by the allocator that
 * serves it: what the kernel says beside what the allocator says of itself.
 *
 * Four threads make a million blocks of 207 MB in all and end. Three of four blocks are then freed,
 * drawn at random, and the allocator is asked to give back what it can; then the rest, and again.
 *
 *   cc 05_what_comes_back.c $(pkg-config --cflags --libs allocbench) -pthread && ./a.out
 *       (installed where the loader does not look: add -Wl,-rpath,PREFIX/lib)
 *   for lib in "" libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0 \
 *       libtbbmalloc_proxy.so.2; do LD_PRELOAD=$lib ./a.out; done
 */
#include <allocbench/allocbench.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define BLOCKS  1000000u
#define SEED    1
#define MB      1e6

static char *blocks[BLOCKS];
static uint32_t sizes[BLOCKS];
static uint32_t order[BLOCKS];

/* An even draw from 16 to 398 bytes: 207 bytes on average. */
static void draw_sizes(void)
{
    abench_random random;

    abench_random_seed(&random, SEED, 0, ABENCH_PURPOSE_SIZE);
    for (uint32_t at = 0; at < BLOCKS; at++) {
        sizes[at] = 16 + (uint32_t)abench_random_below(&random, 383);
        order[at] = at;
    }
    abench_random_seed(&random, SEED, 0, ABENCH_PURPOSE_PERMUTATION);
    abench_random_shuffle(&random, order, BLOCKS);
}

static pthread_barrier_t all_alive; /* so that no thread inherits an ended one's arena */

static void *fill(void *user)
{
    const uint32_t first = *(const uint32_t *)user;

    pthread_barrier_wait(&all_alive);
    for (uint32_t at = first; at < BLOCKS; at += THREADS) {
        blocks[at] = malloc(sizes[at]);
        if (blocks[at] == NULL)
            abort();
        memset(blocks[at], 1, sizes[at]);
    }
    pthread_barrier_wait(&all_alive);
    return NULL;
}

static void fill_by_threads_that_end(void)
{
    pthread_t threads[THREADS];
    uint32_t first[THREADS];

    pthread_barrier_init(&all_alive, NULL, THREADS);
    for (uint32_t at = 0; at < THREADS; at++) {
        first[at] = at;
        if (pthread_create(&threads[at], NULL, fill, &first[at]) != 0)
            abort();
    }
    for (uint32_t at = 0; at < THREADS; at++)
        pthread_join(threads[at], NULL);
    pthread_barrier_destroy(&all_alive);
}

/* Frees the blocks of order[from] ... order[to - 1]; their bytes. */
static uint64_t free_some(uint32_t from, uint32_t to)
{
    uint64_t bytes = 0;

    for (uint32_t at = from; at < to; at++) {
        free(blocks[order[at]]);
        bytes += sizes[order[at]];
    }
    return bytes;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* An allocator's main statistics: those of these that its account has are the columns. */
static const char *const wanted[] = {
    /* glibc, scudo, hardened_malloc */
    "uordblks", "fordblks", "arena", "hblkhd",
    /* jemalloc, mesh */
    "stats.allocated", "stats.active", "stats.resident", "stats.mapped", "stats.retained",
    /* both tcmallocs */
    "generic.current_allocated_bytes", "generic.heap_size", "tcmalloc.pageheap_free_bytes",
    "tcmalloc.pageheap_unmapped_bytes", "tcmalloc.central_cache_free_bytes",
    /* mimalloc, snmalloc, rpmalloc, the older scudo */
    "committed.current", "reserved.current", "process.commit_current", "process.commit_peak",
    "current_memory_usage", "peak_memory_usage", "mapped", "mapped_peak", "cached",
    "__sanitizer_get_current_allocated_bytes", "__sanitizer_get_heap_size"};

#define WANTED  (sizeof wanted / sizeof wanted[0])
#define STEPS   6
#define MISSING UINT64_MAX

typedef struct step {
    const char *name;
    uint64_t live; /* what the program holds */
    abench_memory memory;
    uint64_t statistics[WANTED]; /* MISSING: absent */
} step;

static step steps[STEPS];
static uint32_t steps_count;

static void take_step(const char *name, uint64_t live, abench_account *account)
{
    step *s = &steps[steps_count++];
    abench_statistic statistic = ABENCH_STATISTIC_INIT;

    s->name = name;
    s->live = live;
    abench_memory_init(&s->memory);
    if (abench_memory_read(0, ABENCH_TIER_ROLLUP, &s->memory) != ABENCH_OK)
        abort();
    for (size_t at = 0; at < WANTED; at++)
        s->statistics[at] = MISSING;
    abench_allocator_stats(account); /* a family that has none: no columns */
    for (uint32_t at = 0; abench_account_at(account, at, &statistic) == ABENCH_OK; at++)
        for (size_t name_at = 0; name_at < WANTED; name_at++)
            if (strcmp(statistic.name, wanted[name_at]) == 0)
                s->statistics[name_at] = statistic.value;
}

static void print_cell(int width, uint64_t bytes)
{
    if (bytes == MISSING)
        printf("  %*s", width, "-");
    else
        printf("  %*.1f", width, (double)bytes / MB);
}

static void print_kernel(const step *s)
{
    /* Both from one walk over the pages, so that they fit together. */
    const int has_rss = (s->memory.valid & ABENCH_MEMORY_ROLLUP_RSS) != 0;
    const int has_lazy = has_rss && (s->memory.valid & ABENCH_MEMORY_LAZYFREE) != 0;
    const uint64_t rss = s->memory.rollup_rss_bytes;

    printf("%-14s", s->name);
    print_cell(8, s->live);
    print_cell(8, has_rss ? rss : MISSING);
    print_cell(12, has_lazy ? rss - s->memory.lazyfree_bytes : MISSING);
}

static int is_column(size_t at)
{
    for (uint32_t row = 0; row < steps_count; row++)
        if (steps[row].statistics[at] != MISSING)
            return 1;
    return 0;
}

static void print_table(void)
{
    printf("\n%-14s  %8s  %8s  %12s", "MB", "live", "RSS", "less lazy");
    for (size_t at = 0; at < WANTED; at++)
        if (is_column(at))
            printf("  %8s", wanted[at]);
    printf("\n");
    for (uint32_t row = 0; row < steps_count; row++) {
        print_kernel(&steps[row]);
        for (size_t at = 0; at < WANTED; at++)
            if (is_column(at))
                print_cell(strlen(wanted[at]) > 8 ? (int)strlen(wanted[at]) : 8,
                           steps[row].statistics[at]);
        printf("\n");
    }
}

/* ---- who it is ------------------------------------------------------------------------------- */

static void print_identity(const abench_account *account)
{
    static const char *const sources[] = {"", "environment", "told", "file"};
    abench_identity identity = ABENCH_IDENTITY_INIT;
    abench_setting setting = ABENCH_SETTING_INIT;

    if (abench_allocator_identify(&identity) == ABENCH_OK)
        printf("allocator   %s %s\nfile        %s\nbuild id    %s\n", identity.family,
               identity.version, identity.file, identity.build_id);
    printf("purge       %s\n", abench_account_purge_call(account));
    for (uint32_t at = 0; abench_account_setting_at(account, at, &setting) == ABENCH_OK; at++)
        printf("%-11s %s = %s\n", setting.source <= 3 ? sources[setting.source] : "", setting.name,
               setting.value);
}

int main(void)
{
    abench_account *account;
    abench_status purge_status;
    uint64_t live = 0;

    if (abench_allocator_open(NULL, &account) != ABENCH_OK) {
        fprintf(stderr, "nobody knows the allocator of this process\n");
        return 1;
    }
    print_identity(account);
    draw_sizes();
    take_step("empty", 0, account);
    fill_by_threads_that_end();
    for (uint32_t at = 0; at < BLOCKS; at++)
        live += sizes[at];
    take_step("filled", live, account);
    live -= free_some(0, BLOCKS / 4 * 3);
    take_step("75 % freed", live, account);
    purge_status = abench_allocator_purge(account);
    take_step(purge_status == ABENCH_OK ? "purged" : "cannot purge", live, account);
    live -= free_some(BLOCKS / 4 * 3, BLOCKS);
    take_step("all freed", live, account);
    purge_status = abench_allocator_purge(account);
    take_step(purge_status == ABENCH_OK ? "purged" : "cannot purge", live, account);
    print_table();
    abench_account_close(account);
    return 0;
}
