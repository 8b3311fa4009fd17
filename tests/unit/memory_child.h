/* memory_child.h - children that do to their memory what they are told, for tests of readings. */
#ifndef ABENCH_TESTS_MEMORY_CHILD_H
#define ABENCH_TESTS_MEMORY_CHILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <allocbench/memory.h>

#include "touched.h"

#define MB  ((uint64_t)1 << 20)
#define FEW ABENCH_TIER_STATM
#define ALL                                                                                        \
    (ABENCH_TIER_STATM | ABENCH_TIER_STATUS | ABENCH_TIER_ROLLUP | ABENCH_TIER_FAULTS |            \
     ABENCH_TIER_SCHEDULE)

/* The fields of each tier. */
#define STATM_FIELDS (ABENCH_MEMORY_SIZE | ABENCH_MEMORY_RSS | ABENCH_MEMORY_SHARED)
#define STATUS_FIELDS                                                                              \
    (ABENCH_MEMORY_RSS_ANON | ABENCH_MEMORY_RSS_FILE | ABENCH_MEMORY_RSS_SHMEM |                   \
     ABENCH_MEMORY_HWM | ABENCH_MEMORY_SWAP | ABENCH_MEMORY_PAGE_TABLES | ABENCH_MEMORY_THREADS)
#define ROLLUP_FIELDS                                                                              \
    (ABENCH_MEMORY_PSS | ABENCH_MEMORY_PRIVATE_CLEAN | ABENCH_MEMORY_PRIVATE_DIRTY |               \
     ABENCH_MEMORY_LAZYFREE | ABENCH_MEMORY_HUGE | ABENCH_MEMORY_PSS_ANON |                        \
     ABENCH_MEMORY_PSS_FILE | ABENCH_MEMORY_PSS_SHMEM | ABENCH_MEMORY_PSS_DIRTY |                  \
     ABENCH_MEMORY_SWAP_PSS | ABENCH_MEMORY_LOCKED | ABENCH_MEMORY_USS | ABENCH_MEMORY_ROLLUP_RSS)
#define FAULTS_FIELDS (ABENCH_MEMORY_MINOR_FAULTS | ABENCH_MEMORY_MAJOR_FAULTS)
#define SCHEDULE_FIELDS                                                                            \
    (ABENCH_MEMORY_VOLUNTARY_SWITCHES | ABENCH_MEMORY_INVOLUNTARY_SWITCHES | ABENCH_MEMORY_RUN_WAIT)
#define ALL_FIELDS (STATM_FIELDS | STATUS_FIELDS | ROLLUP_FIELDS | FAULTS_FIELDS | SCHEDULE_FIELDS)

/* Whether a value is expected to within a tolerance. */
static int is_near(uint64_t value, uint64_t expected, uint64_t tolerance)
{
    return value + tolerance >= expected && value <= expected + tolerance;
}

/* ---- a child that does to its memory what it is told ----------------------------------------- */

typedef struct child {
    pid_t pid;
    int orders;
    int answers;
} child;

/* Returns when the other process is there and sure to end with this one. */
static void share_by_fork(void)
{
    int ends[2];
    char none;

    if (pipe(ends) != 0)
        _exit(1);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        close(ends[1]);
        for (;;)
            pause();
    }
    close(ends[1]);
    if (read(ends[0], &none, 1) != 0)
        _exit(1);
    close(ends[0]);
}

#define HUGE_BYTES (64 * MB)

static unsigned char *map_huge(void)
{
    unsigned char *memory =
        mmap(NULL, HUGE_BYTES + 2 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    memory += 2 * MB - (uintptr_t)memory % (2 * MB);
    madvise(memory, HUGE_BYTES, MADV_HUGEPAGE);
    touch(memory, HUGE_BYTES);
    return memory;
}

/* A page each 2 MB needs a page table each. */
static void make_tables(void)
{
    unsigned char *memory = mmap(NULL, 1024 * MB, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    madvise(memory, 1024 * MB, MADV_NOHUGEPAGE);
    for (uint64_t at = 0; at < 1024 * MB; at += 2 * MB)
        touch(memory + at, 1);
}

static void sleep_often(void)
{
    const struct timespec moment = {0, 1000};

    for (int i = 0; i < 100; i++)
        nanosleep(&moment, NULL);
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Ends its work, but lives on: the kernel tells of threads that live. */
static void *spin(void *done)
{
    while (thread_cpu_ns() < 40000000u)
        ;
    if (write(*(int *)done, "d", 1) != 1)
        _exit(1);
    for (;;)
        pause();
    return NULL;
}

/* Two threads that want the same CPU: one waits while the other runs. */
static void share_a_cpu(void)
{
    static int ends[2];
    pthread_t threads[2];
    cpu_set_t all, one;
    char byte;
    size_t cpu = 0;

    if (pipe(ends) != 0 || sched_getaffinity(0, sizeof all, &all) != 0)
        _exit(1);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        _exit(1);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, spin, &ends[1]) != 0)
            _exit(1);
    for (int i = 0; i < 2; i++)
        if (read(ends[0], &byte, 1) != 1)
            _exit(1);
}

static void serve(int orders, int answers)
{
    unsigned char *memory = NULL;
    char order;

    while (read(orders, &order, 1) == 1) {
        switch (order) {
        case 'm':
            memory = map_touched(50 * MB);
            break;
        case 'l':
            madvise(memory, 50 * MB, MADV_FREE);
            break;
        case 'u':
            munmap(memory, 50 * MB);
            break;
        case 'f':
            share_by_fork();
            break;
        case 'k':
            if (syscall(SYS_mlock, memory, MB) != 0) /* a sanitizer's mlock does nothing */
                _exit(1);
            break;
        case 'h':
            memory = map_huge();
            break;
        case 'n':
            sleep_often();
            break;
        case 's':
            share_a_cpu();
            break;
        case 't':
            make_tables();
            break;
        case 'x':
            execl("/proc/self/exe", "test", "--serve", (char *)NULL);
            _exit(1);
        default:
            break;
        }
        if (write(answers, &order, 1) != 1)
            break;
    }
    _exit(0);
}

static child start_child(void)
{
    int down[2], up[2];
    child c;

    assert_int_equal(pipe(down), 0);
    assert_int_equal(pipe(up), 0);
    c.pid = fork();
    assert_true(c.pid >= 0);
    if (c.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(down[0], 0) < 0 || dup2(up[1], 1) < 0)
            _exit(1);
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        serve(0, 1);
    }
    close(down[0]);
    close(up[1]);
    c.orders = down[1];
    c.answers = up[0];
    return c;
}

/* Returns when the child has done it. */
static void order(const child *c, char what)
{
    char answer;

    assert_int_equal(write(c->orders, &what, 1), 1);
    assert_int_equal(read(c->answers, &answer, 1), 1);
}

static void end_child(const child *c)
{
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    close(c->orders);
    close(c->answers);
}

static abench_memory read_child(const child *c, uint32_t tiers)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    assert_int_equal(abench_memory_read(c->pid, tiers, &memory), ABENCH_OK);
    return memory;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Fields that this kernel is too old, or not configured, to tell; set by main. */
static uint64_t unknown_here;

static void expect_valid(const abench_memory *memory, uint64_t fields)
{
    assert_int_equal(memory->valid | unknown_here, fields | unknown_here);
}

/* Pss_Dirty came with Linux 6.0, the other kinds of PSS with 5.4; schedstat is an option. */
static void find_unknown_fields(void)
{
    char text[4096] = "";
    const int fd = open("/proc/self/smaps_rollup", O_RDONLY);

    if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
        _exit(1);
    close(fd);
    if (strstr(text, "Pss_Dirty:") == NULL)
        unknown_here |= ABENCH_MEMORY_PSS_DIRTY;
    if (strstr(text, "Pss_Anon:") == NULL)
        unknown_here |= ABENCH_MEMORY_PSS_ANON | ABENCH_MEMORY_PSS_FILE | ABENCH_MEMORY_PSS_SHMEM;
    if (access("/proc/self/schedstat", R_OK) != 0)
        unknown_here |= ABENCH_MEMORY_RUN_WAIT;
}

#endif
