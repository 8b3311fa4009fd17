/*
 * sampler.c - what a reading costs beside the bare system call that it cannot do without.
 *
 * Both sides of a row run in turns, in many short stretches of one process, and the figure is the
 * median of the stretches' ratios: the machine's speed changes from one second to the next, and a
 * ratio within a stretch does not notice. The first row is the call beside itself: the noise.
 *
 *     sampler [PERCENT]       of the stretches; default 100, some 15 s
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <allocbench/sampler.h>

#define MB             ((size_t)1 << 20)
#define STRETCHES_MOST 4000u

static abench_memory_reader *reader;
static int statm, statm_again, rollup;
static uint64_t failures;

/* ---- the calls ------------------------------------------------------------------------------- */

static void bare(int fd)
{
    char text[8192];

    failures += pread(fd, text, sizeof text, 0) <= 0;
}

static void bare_statm(void)
{
    bare(statm);
}

static void bare_statm_again(void)
{
    bare(statm_again);
}

static void bare_rollup(void)
{
    bare(rollup);
}

static void kept(uint32_t tiers, uint32_t wanted)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    failures += abench_memory_reader_read(reader, tiers, &memory) != ABENCH_OK ||
                (memory.valid & wanted) != wanted;
}

static void cheap(void)
{
    kept(ABENCH_TIER_STATM, ABENCH_MEMORY_RSS);
}

static void cheap_with_faults(void)
{
    kept(ABENCH_TIER_STATM | ABENCH_TIER_FAULTS, ABENCH_MEMORY_RSS | ABENCH_MEMORY_MINOR_FAULTS);
}

static void cheap_with_status(void)
{
    kept(ABENCH_TIER_STATM | ABENCH_TIER_STATUS, ABENCH_MEMORY_RSS | ABENCH_MEMORY_HWM);
}

static void dear(void)
{
    kept(ABENCH_TIER_ROLLUP, ABENCH_MEMORY_PSS);
}

static void opened(void)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    failures += abench_memory_read(0, ABENCH_TIER_STATM, &memory) != ABENCH_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct row {
    const char *name;
    const char *beside;
    void (*call)(void);
    void (*bare)(void);
    uint32_t calls; /* a stretch */
    uint32_t stretches;
    double limit; /* of DESIGN, section 7; 0: none */
} row;

static const row rows[] = {
    {"pread statm", "itself", bare_statm, bare_statm_again, 200, 2000, 0},
    {"cheap: statm", "pread statm", cheap, bare_statm, 200, 2000, 1.5},
    {"statm and faults", "pread statm", cheap_with_faults, bare_statm, 200, 1000, 0},
    {"statm and status", "pread statm", cheap_with_status, bare_statm, 50, 1000, 0},
    {"statm, opened each time", "cheap: statm", opened, cheap, 50, 1000, 0},
    {"pread smaps_rollup", "itself", bare_rollup, bare_rollup, 1, 200, 0},
    {"dear: smaps_rollup", "pread smaps_rollup", dear, bare_rollup, 1, 200, 1.1},
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double time_calls(void (*call)(void), uint32_t calls)
{
    const uint64_t begun_ns = abench_clock_ns();

    for (uint32_t i = 0; i < calls; i++)
        call();
    return (double)(abench_clock_ns() - begun_ns) / calls;
}

static void measure(const row *r, uint32_t percent)
{
    static double ratios[STRETCHES_MOST], costs[STRETCHES_MOST], bares[STRETCHES_MOST];
    uint32_t stretches = r->stretches * percent / 100;
    double ratio;

    if (stretches < 3)
        stretches = 3;
    if (stretches > STRETCHES_MOST)
        stretches = STRETCHES_MOST;
    time_calls(r->call, r->calls);
    for (uint32_t i = 0; i < stretches; i++) {
        if (i % 2 == 0)
            costs[i] = time_calls(r->call, r->calls);
        bares[i] = time_calls(r->bare, r->calls);
        if (i % 2 == 1)
            costs[i] = time_calls(r->call, r->calls);
        ratios[i] = costs[i] / bares[i];
    }
    ratio = median(ratios, stretches);
    printf("  %-24s %-19s %11.0f %11.0f   %5.2f", r->name, r->beside, median(costs, stretches),
           median(bares, stretches), ratio);
    if (r->limit > 0)
        printf("   %4.1f  %s", r->limit, ratio <= r->limit ? "holds" : "DOES NOT HOLD");
    putchar('\n');
    fflush(stdout);
}

static int grow(size_t bytes)
{
    unsigned char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return -1;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096)
        ((volatile unsigned char *)memory)[at] = 1;
    return 0;
}

int main(int argc, char **argv)
{
    static const size_t sizes_mb[] = {50, 1024};
    const int percent = argc > 1 ? atoi(argv[1]) : 100;
    size_t grown_mb = 0;

    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    statm_again = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    rollup = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (percent <= 0 || statm < 0 || statm_again < 0 || rollup < 0 ||
        abench_memory_reader_create(0, &reader) != ABENCH_OK) {
        fprintf(stderr, "usage: sampler [PERCENT], where /proc can be read\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof sizes_mb / sizeof sizes_mb[0]; i++) {
        if (grow((sizes_mb[i] - grown_mb) * MB) != 0) {
            fprintf(stderr, "no memory for %zu MB\n", sizes_mb[i]);
            return 3;
        }
        grown_mb = sizes_mb[i];
        printf("%zu MB resident, 4 KiB pages\n  %-24s %-19s %11s %11s   %5s   %s\n", grown_mb,
               "reading", "beside", "ns", "ns beside", "ratio", "limit");
        for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++)
            measure(&rows[at], (uint32_t)percent);
    }
    abench_memory_reader_destroy(reader);
    if (failures != 0)
        fprintf(stderr, "%llu calls failed: the figures mean nothing\n",
                (unsigned long long)failures);
    return failures != 0;
}
