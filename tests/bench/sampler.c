/*
 * sampler.c - what a reading costs beside what others do for the same, and what a sampler does to
 * the program that it samples. sampler.sh runs both at several sizes.
 *
 *     sampler cost MB MAPPINGS [PERCENT]        needs python3 with psutil, and ps
 *     sampler disturbance MB MAPPINGS [ROUNDS]
 *
 * Whatever is compared runs in turns, in many short stretches of one session, and a figure is the
 * median of the stretches' ratios: the machine's speed changes from one second to the next, and a
 * ratio within a stretch does not notice. PYTHON names the interpreter (/usr/bin/python3).
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/sampler.h>

#define MB             ((size_t)1 << 20)
#define STRETCHES_MOST 4000u

extern char **environ;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void sort(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare);
}

static double median(double *values, uint32_t count)
{
    sort(values, count);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void fail(const char *what)
{
    fprintf(stderr, "sampler: %s\n", what);
    exit(3);
}

/* ---- the process that is read ---------------------------------------------------------------- */

static unsigned char *map(size_t bytes)
{
    unsigned char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        fail("no memory");
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

static void touch(unsigned char *memory, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 4096)
        ((volatile unsigned char *)memory)[at] = 1;
}

/* Pages with two permissions by turns are mappings of their own; half of them, at most, is touched.
 * The rest of the size is one mapping. */
static void grow(size_t bytes, size_t mappings)
{
    const size_t pages = mappings < bytes / 4096 ? mappings : bytes / 4096;
    unsigned char *pieces = map((mappings + 1) * 4096);

    touch(pieces, pages * 4096);
    for (size_t i = 0; i < mappings; i += 2)
        if (mprotect(pieces + i * 4096, 4096, PROT_READ) != 0)
            fail("so many mappings are not allowed (vm.max_map_count)");
    if (bytes > pages * 4096)
        touch(map(bytes - pages * 4096), bytes - pages * 4096);
}

/* ---- cost: the calls ------------------------------------------------------------------------- */

static abench_memory_reader *reader;
static int statm, statm_again, status, rollup, rollup_again;
static uint64_t failures;

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

static void bare_status(void)
{
    bare(status);
}

static void bare_rollup(void)
{
    bare(rollup);
}

static void bare_rollup_again(void)
{
    bare(rollup_again);
}

static void bare_rusage(void)
{
    struct rusage usage;

    failures += getrusage(RUSAGE_SELF, &usage) != 0;
}

static void kept(uint32_t tiers, uint64_t wanted)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    failures += abench_memory_reader_read(reader, tiers, &memory) != ABENCH_OK ||
                (memory.valid & wanted) != wanted;
}

static void cheap(void)
{
    kept(ABENCH_TIER_STATM, ABENCH_MEMORY_RSS);
}

static void faults(void)
{
    kept(ABENCH_TIER_FAULTS, ABENCH_MEMORY_MINOR_FAULTS);
}

static void cheap_and_faults(void)
{
    kept(ABENCH_TIER_STATM | ABENCH_TIER_FAULTS, ABENCH_MEMORY_RSS | ABENCH_MEMORY_MINOR_FAULTS);
}

static void status_tier(void)
{
    kept(ABENCH_TIER_STATUS, ABENCH_MEMORY_HWM);
}

static void schedule(void)
{
    kept(ABENCH_TIER_SCHEDULE, ABENCH_MEMORY_VOLUNTARY_SWITCHES);
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

static char own_number[16];
static posix_spawn_file_actions_t to_nowhere;

static void ps(void)
{
    char *const words[] = {
        (char *)"ps", (char *)"-o", (char *)"rss=", (char *)"-p", own_number, NULL};
    int ended;
    pid_t pid;

    failures += posix_spawnp(&pid, "ps", &to_nowhere, NULL, words, environ) != 0 ||
                waitpid(pid, &ended, 0) != pid || ended != 0;
}

/* ---- cost: psutil, in an interpreter that is asked by lines ---------------------------------- */

static FILE *ask_python, *hear_python;

static void start_python(void)
{
    static const char script[] = "import sys, time, psutil\n"
                                 "process = psutil.Process(int(sys.argv[1]))\n"
                                 "print('psutil', psutil.__version__, flush=True)\n"
                                 "for line in sys.stdin:\n"
                                 "    name, count, pause = line.split()\n"
                                 "    new = lambda: psutil.Process(process.pid).memory_info()\n"
                                 "    call = new if name == 'new' else getattr(process, name)\n"
                                 "    count, pause = int(count), int(pause)\n"
                                 "    spent = 0\n"
                                 "    for _ in range(count if pause else 1):\n"
                                 "        if pause: time.sleep(pause / 1e6)\n"
                                 "        begun = time.perf_counter_ns()\n"
                                 "        for _ in range(1 if pause else count): call()\n"
                                 "        spent += time.perf_counter_ns() - begun\n"
                                 "    print(spent, flush=True)\n";
    const char *python = getenv("PYTHON") == NULL ? "/usr/bin/python3" : getenv("PYTHON");
    char *const words[] = {(char *)python, (char *)"-c", (char *)script, own_number, NULL};
    posix_spawn_file_actions_t actions;
    int asked[2], told[2];
    char version[64];
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    if (pipe(asked) != 0 || pipe(told) != 0)
        fail("no pipe");
    posix_spawn_file_actions_adddup2(&actions, asked[0], 0);
    posix_spawn_file_actions_adddup2(&actions, told[1], 1);
    posix_spawn_file_actions_addclose(&actions, asked[1]);
    posix_spawn_file_actions_addclose(&actions, told[0]);
    if (posix_spawn(&pid, python, &actions, NULL, words, environ) != 0)
        fail("no python3: set PYTHON");
    posix_spawn_file_actions_destroy(&actions);
    close(asked[0]);
    close(told[1]);
    ask_python = fdopen(asked[1], "w");
    hear_python = fdopen(told[0], "r");
    if (fgets(version, sizeof version, hear_python) == NULL)
        fail("this python3 has no psutil: set PYTHON");
    fputs(version, stdout);
}

/* Nanoseconds a call, by the interpreter's own clock. */
static double time_psutil(const char *name, uint32_t calls, uint32_t pause_us)
{
    double ns;

    fprintf(ask_python, "%s %u %u\n", name, calls, pause_us);
    fflush(ask_python);
    if (fscanf(hear_python, "%lf", &ns) != 1)
        fail("psutil has failed");
    return ns / calls;
}

/* ---- cost: the rows -------------------------------------------------------------------------- */

typedef struct row {
    const char *name;
    const char *beside;
    void (*call)(void);
    const char *psutil; /* instead of call: a method, or "new": of a Process made each time */
    void (*bare)(void);
    uint32_t calls; /* a stretch */
    uint32_t stretches;
    uint32_t pause_us; /* before each call, as a sampler has: caches are cold then */
    double most;       /* of DESIGN, section 7; 0: none */
    double least;      /* the same */
} row;

static const row rows[] = {
    {"pread statm", "itself", bare_statm, NULL, bare_statm_again, 200, 2000, 0, 0, 0},
    {"cheap: statm", "pread statm", cheap, NULL, bare_statm, 200, 2000, 0, 1.5, 0},
    {"statm, opened each time", "cheap: statm", opened, NULL, cheap, 50, 1000, 0, 0, 0},
    {"psutil memory_info", "cheap: statm", NULL, "memory_info", cheap, 50, 400, 0, 0, 10},
    {"the same, once a ms", "cheap: statm", NULL, "memory_info", cheap, 20, 40, 1000, 0, 0},
    {"psutil, a new Process", "cheap: statm", NULL, "new", cheap, 20, 400, 0, 0, 0},
    {"ps -o rss=", "cheap: statm", ps, NULL, cheap, 1, 60, 0, 0, 0},
    {"faults", "getrusage", faults, NULL, bare_rusage, 200, 1000, 0, 0, 0},
    {"statm and faults", "pread statm", cheap_and_faults, NULL, bare_statm, 200, 1000, 0, 0, 0},
    {"status", "pread status", status_tier, NULL, bare_status, 50, 1000, 0, 0, 0},
    {"schedule", "pread status", schedule, NULL, bare_status, 50, 500, 0, 0, 0},
    {"pread smaps_rollup", "itself", bare_rollup, NULL, bare_rollup_again, 1, 200, 0, 0, 0},
    {"dear: smaps_rollup", "pread smaps_rollup", dear, NULL, bare_rollup, 1, 200, 0, 1.1, 0},
    {"psutil memory_full_info", "dear: smaps_rollup", NULL, "memory_full_info", dear, 1, 60, 0, 0,
     0},
};

static double time_calls(void (*call)(void), uint32_t calls, uint32_t pause_us)
{
    const uint32_t times = pause_us == 0 ? 1 : calls;
    uint64_t spent_ns = 0;

    for (uint32_t i = 0; i < times; i++) {
        uint64_t begun_ns;
        if (pause_us > 0)
            usleep(pause_us);
        begun_ns = abench_clock_ns();
        for (uint32_t k = 0; k < calls / times; k++)
            call();
        spent_ns += abench_clock_ns() - begun_ns;
    }
    return (double)spent_ns / calls;
}

static double time_row(const row *r)
{
    return r->psutil != NULL ? time_psutil(r->psutil, r->calls, r->pause_us)
                             : time_calls(r->call, r->calls, r->pause_us);
}

/* What takes long is measured less often: some three seconds a row. */
static uint32_t stretches_of(const row *r, uint32_t percent)
{
    const double one_ns = (time_row(r) + time_calls(r->bare, r->calls, r->pause_us)) * r->calls;
    uint32_t stretches = r->stretches * percent / 100;

    if (stretches > STRETCHES_MOST)
        stretches = STRETCHES_MOST;
    if (stretches * one_ns > 3e9)
        stretches = (uint32_t)(3e9 / one_ns);
    return stretches < 9 ? 9 : stretches;
}

static int measure(const row *r, uint32_t percent)
{
    static double ratios[STRETCHES_MOST], costs[STRETCHES_MOST], bares[STRETCHES_MOST];
    const uint32_t stretches = stretches_of(r, percent);
    double ratio;
    int holds;

    for (uint32_t i = 0; i < stretches; i++) {
        if (i % 2 == 0)
            costs[i] = time_row(r);
        bares[i] = time_calls(r->bare, r->calls, r->pause_us);
        if (i % 2 == 1)
            costs[i] = time_row(r);
        ratios[i] = costs[i] / bares[i];
    }
    ratio = median(ratios, stretches);
    holds = (r->most <= 0 || ratio <= r->most) && (r->least <= 0 || ratio >= r->least);
    printf("  %-24s %-19s %11.0f %11.0f %8.2f", r->name, r->beside, median(costs, stretches),
           median(bares, stretches), ratio);
    if (r->most > 0 || r->least > 0)
        printf("   at %s %4.1f: %s", r->most > 0 ? "most " : "least",
               r->most > 0 ? r->most : r->least, holds ? "holds" : "DOES NOT HOLD");
    putchar('\n');
    fflush(stdout);
    return holds;
}

static int cost(uint32_t percent)
{
    int holds = 1;

    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    statm_again = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    status = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    rollup = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    rollup_again = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (statm < 0 || statm_again < 0 || status < 0 || rollup < 0 || rollup_again < 0 ||
        abench_memory_reader_create(0, &reader) != ABENCH_OK)
        fail("/proc cannot be read");
    posix_spawn_file_actions_init(&to_nowhere);
    posix_spawn_file_actions_addopen(&to_nowhere, 1, "/dev/null", O_WRONLY, 0);
    start_python();
    printf("  %-24s %-19s %11s %11s %8s   %s\n", "reading", "beside", "ns", "ns beside", "ratio",
           "limit");
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++)
        holds &= measure(&rows[at], percent);
    abench_memory_reader_destroy(reader);
    if (failures != 0)
        fprintf(stderr, "%llu calls failed: the figures mean nothing\n",
                (unsigned long long)failures);
    return failures != 0 ? 2 : !holds;
}

/* ---- disturbance ----------------------------------------------------------------------------- */

#define ROUNDS_MOST   1000u
#define ROUND_NS      200000000u
#define SAMPLES_MOST  (1u << 18)
#define MAPPED_BYTES  ((size_t)64 * 1024)
#define SAMPLERS_MOST 10u

enum { P50, P99, P999, QUANTILES };

static const struct arm {
    const char *name;
    uint32_t period_us; /* 0: no sampler */
    uint32_t flags;
    uint32_t rollup_period_us;
} arms[] = {
    {"off", 0, 0, 0},
    {"off again (A/A)", 0, 0, 0},
    {"thread, 100 Hz", 10000, 0, 0},
    {"helper, 100 Hz", 10000, ABENCH_SAMPLER_PROCESS, 0},
    {"thread, 1 kHz", 1000, 0, 0},
    {"helper, 1 kHz", 1000, ABENCH_SAMPLER_PROCESS, 0},
    {"thread, 100 Hz and dear", 10000, 0, 1},
    {"helper, 100 Hz and dear", 10000, ABENCH_SAMPLER_PROCESS, 1},
};

#define ARMS (sizeof arms / sizeof arms[0])

static double found[ARMS][QUANTILES][ROUNDS_MOST];

static _Atomic int working;
static _Atomic uint32_t samples_count;
static double samples[SAMPLES_MOST];

/* The program's other thread: maps, touches, unmaps, and times each such turn. */
static void *work(void *unused)
{
    (void)unused;
    while (atomic_load_explicit(&working, memory_order_relaxed)) {
        const uint32_t at = atomic_load_explicit(&samples_count, memory_order_relaxed);
        const uint64_t begun_ns = abench_clock_ns();
        unsigned char *memory =
            mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            fail("no memory");
        memory[0] = 1;
        munmap(memory, MAPPED_BYTES);
        if (at < SAMPLES_MOST) {
            samples[at] = (double)(abench_clock_ns() - begun_ns);
            atomic_store_explicit(&samples_count, at + 1, memory_order_relaxed);
        }
    }
    return NULL;
}

static void run_arm(abench_sampler *sampler, size_t arm, uint32_t round)
{
    static const double quantiles[QUANTILES] = {.5, .99, .999};
    pthread_t thread;
    uint32_t count;

    atomic_store(&samples_count, 0);
    atomic_store(&working, 1);
    if (sampler != NULL && abench_sampler_start(sampler) != ABENCH_OK)
        fail("the sampler does not start");
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        fail("no thread");
    usleep(ROUND_NS / 1000);
    atomic_store(&working, 0);
    pthread_join(thread, NULL);
    if (sampler != NULL && abench_sampler_stop(sampler) != ABENCH_OK)
        fail("the sampler does not stop");
    count = atomic_load(&samples_count);
    if (count == 0)
        fail("the program's thread did not run at all");
    sort(samples, count);
    for (int q = 0; q < QUANTILES; q++)
        found[arm][q][round] = samples[(uint32_t)(quantiles[q] * (count - 1))];
}

/* The median of ratios to the first arm's, round by round, and a 95 % interval of it by order
 * statistics (the sign test's). */
static void ratios_of(size_t arm, int q, uint32_t rounds, double *at, double *low, double *high)
{
    static double ratios[ROUNDS_MOST];
    const double half = .98 * sqrt(rounds);
    const double below = rounds / 2.0 - half, above = rounds / 2.0 + half;

    for (uint32_t i = 0; i < rounds; i++)
        ratios[i] = found[arm][q][i] / found[0][q][i];
    *at = median(ratios, rounds); /* sorted now */
    *low = ratios[below < 0 ? 0 : (uint32_t)below];
    *high = ratios[above > rounds - 1 ? rounds - 1 : (uint32_t)above];
}

static void print_dear(abench_sampler *const *samplers)
{
    for (size_t arm = 0; arm < ARMS; arm++) {
        uint64_t dear_readings = 0, dear_ns = 0;
        if (arms[arm].rollup_period_us == 0)
            continue;
        for (uint32_t i = 0; i < abench_sampler_count(samplers[arm]); i++) {
            abench_memory memory = ABENCH_MEMORY_INIT;
            if (abench_sampler_at(samplers[arm], i, &memory) == ABENCH_OK &&
                (memory.valid & ABENCH_MEMORY_PSS) != 0) {
                dear_readings++;
                dear_ns += memory.cost_ns;
            }
        }
        printf("  %s: %llu dear readings, %.1f ms each, %.2f %% of %.1f s\n", arms[arm].name,
               (unsigned long long)dear_readings,
               dear_readings == 0 ? 0 : (double)dear_ns / 1e6 / (double)dear_readings,
               100 * (double)dear_ns / (double)abench_sampler_time_ns(samplers[arm]),
               (double)abench_sampler_time_ns(samplers[arm]) / 1e9);
    }
}

static int print_arms(uint32_t rounds)
{
    double aa_at, aa_low, aa_high;
    int holds = 1;

    ratios_of(1, P99, rounds, &aa_at, &aa_low, &aa_high);
    printf("  %-24s %8s %8s %8s   %s\n", "sampler", "p50 us", "p99 us", "p99.9 us",
           "p99 beside off, 95 % interval");
    for (size_t arm = 0; arm < ARMS; arm++) {
        static double values[ROUNDS_MOST];
        double at, low, high;
        ratios_of(arm, P99, rounds, &at, &low, &high);
        printf("  %-24s", arms[arm].name);
        for (int q = 0; q < QUANTILES; q++) {
            memcpy(values, found[arm][q], rounds * sizeof *values);
            printf(" %8.2f", median(values, rounds) / 1000);
        }
        if (arm > 0)
            printf("   %.3f [%.3f, %.3f]", at, low, high);
        if (arms[arm].period_us == 10000 && arms[arm].rollup_period_us == 0) {
            const int unseen = low <= aa_high && high >= aa_low;
            printf("   none that A/A can see: %s", unseen ? "holds" : "DOES NOT HOLD");
            holds &= unseen;
        }
        putchar('\n');
    }
    return holds;
}

static int disturbance(size_t bytes, size_t mappings, uint32_t rounds)
{
    abench_sampler *samplers[ARMS] = {NULL};
    int holds;

    for (size_t arm = 0; arm < ARMS; arm++) {
        abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
        if (arms[arm].period_us == 0)
            continue;
        options.period_us = arms[arm].period_us;
        options.flags = arms[arm].flags;
        options.rollup_period_us = arms[arm].rollup_period_us;
        if (abench_sampler_create(&options, &samplers[arm]) != ABENCH_OK ||
            abench_sampler_is_process(samplers[arm]) != (arms[arm].flags != 0))
            fail("no sampler, or no helper");
    }
    grow(bytes, mappings);
    for (uint32_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < ARMS; i++) { /* another is the first each time */
            const size_t arm = (i * (round % 2 == 0 ? 1 : ARMS - 1) + round) % ARMS;
            run_arm(samplers[arm], arm, round);
        }
    holds = print_arms(rounds);
    print_dear(samplers);
    for (size_t arm = 0; arm < ARMS; arm++)
        abench_sampler_destroy(samplers[arm]);
    return !holds;
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[1] : "";
    const size_t bytes = argc > 3 ? (size_t)atol(argv[2]) * MB : 0;
    const size_t mappings = argc > 3 ? (size_t)atol(argv[3]) : 0;
    const int times = argc > 4 ? atoi(argv[4]) : strcmp(what, "cost") == 0 ? 100 : 25;

    if (bytes == 0 || times <= 0 || times > (int)ROUNDS_MOST) {
        fputs("usage: sampler cost|disturbance MB MAPPINGS [PERCENT|ROUNDS]\n", stderr);
        return 2;
    }
    snprintf(own_number, sizeof own_number, "%d", (int)getpid());
    printf("%zu MB resident in 4 KiB pages, %zu mappings and a few: %s\n", bytes / MB, mappings,
           what);
    if (strcmp(what, "disturbance") == 0)
        return disturbance(bytes, mappings, (uint32_t)times);
    grow(bytes, mappings);
    return cost((uint32_t)times);
}
