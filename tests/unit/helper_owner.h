/* helper_owner.h - a process that owns a sampler's helper, for tests of the helper. */
#ifndef ABENCH_TESTS_HELPER_OWNER_H
#define ABENCH_TESTS_HELPER_OWNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include <allocbench/sampler.h>

#define MB      ((uint64_t)1 << 20)
#define LONG_NS 20000000000u /* what has not happened by then will not */

/* ---- processes ------------------------------------------------------------------------------- */

/* The parent of a process, or 0; state as in /proc/PID/stat. */
static inline pid_t parent_of(pid_t pid, char *state)
{
    char path[64], text[512], *end;
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) != NULL && (end = strrchr(text, ')')) != NULL)
        sscanf(end + 1, " %c %d", state, &parent);
    fclose(file);
    return parent;
}

/* The one child of this process, zombies too; 0: there is none. */
static inline pid_t only_child(void)
{
    DIR *directory = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;
    char state = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        const pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid > 0 && parent_of(pid, &state) == getpid()) {
            assert_int_equal(found, 0);
            found = pid;
        }
    }
    closedir(directory);
    return found;
}

/* ---- samplers -------------------------------------------------------------------------------- */

static inline abench_sampler *create_with(uint32_t tiers, uint32_t rollup_period_us)
{
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    abench_sampler *sampler;

    options.tiers = tiers;
    options.rollup_period_us = rollup_period_us;
    options.period_us = 1000;
    options.capacity = 64;
    options.flags = ABENCH_SAMPLER_PROCESS;
    assert_int_equal(abench_sampler_create(&options, &sampler), ABENCH_OK);
    assert_int_equal(abench_sampler_is_process(sampler), 1);
    return sampler;
}

static inline abench_sampler *create(void)
{
    return create_with(0, 0);
}

/* Of more than two readings, keeping another changes the count: to one more, or to half and one. */
static inline void wait_for_another(const abench_sampler *sampler)
{
    const uint32_t count = abench_sampler_count(sampler);
    const uint64_t begun_ns = abench_clock_ns();

    while (abench_sampler_count(sampler) == count) {
        assert_true(abench_clock_ns() - begun_ns < LONG_NS);
        usleep(500);
    }
}

static inline void wait_for_some(const abench_sampler *sampler)
{
    for (int i = 0; i < 4; i++)
        wait_for_another(sampler);
}

static inline abench_memory last_of(const abench_sampler *sampler)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    assert_int_equal(abench_sampler_at(sampler, abench_sampler_count(sampler) - 1, &memory),
                     ABENCH_OK);
    return memory;
}

static inline unsigned char *map(uint64_t bytes, int kind)
{
    unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

static inline void touch(unsigned char *memory, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += 4096)
        ((volatile unsigned char *)memory)[at] = 1;
}

/* ---- where there is none by design ----------------------------------------------------------- */

/* 1: helpers are made here; 0: a thread takes their place, as it must in a build with these
 * sanitizers; -1: it should not have. */
static inline int helpers_are_made(void)
{
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    abench_sampler *sampler;
    int possible;

    options.flags = ABENCH_SAMPLER_PROCESS;
    if (abench_sampler_create(&options, &sampler) != ABENCH_OK)
        return -1;
    possible = abench_sampler_is_process(sampler);
    abench_sampler_destroy(sampler);
    (void)possible; /* without a sanitizer the tests say it */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return possible ? -1 : 0;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return possible ? -1 : 0;
#endif
#endif
    return 1;
}

#endif
