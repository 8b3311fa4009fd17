/* A stream of any length takes a fixed memory: between the first and the last call of the allocator
 * under test no page is mapped, and none becomes resident. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <allocbench/run.h>
#include <allocbench/workload.h>

#define PAGE         4096u
#define REGIONS_MAX  256
#define REGION_PAGES 65536u

/* ---- the library's memory
 * --------------------------------------------------------------------- */

typedef struct region {
    unsigned char *memory;
    uint64_t bytes;
} region;

static region regions[REGIONS_MAX];
static uint64_t maps; /* calls so far */

static void *hook_map(uint64_t bytes, void *user)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)user;
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (int at = 0; at < REGIONS_MAX; at++)
        if (regions[at].memory == NULL) {
            regions[at] = (region){memory, bytes};
            maps++;
            return memory;
        }
    return NULL;
}

static void hook_unmap(void *memory, uint64_t bytes, void *user)
{
    (void)user;
    for (int at = 0; at < REGIONS_MAX; at++)
        if (regions[at].memory == memory)
            regions[at].memory = NULL;
    munmap(memory, bytes);
}

static uint64_t resident_pages(void)
{
    static unsigned char bits[REGION_PAGES];
    uint64_t pages = 0;

    for (int at = 0; at < REGIONS_MAX; at++) {
        const uint64_t count = regions[at].bytes / PAGE;
        if (regions[at].memory == NULL)
            continue;
        assert_true(count <= REGION_PAGES);
        assert_int_equal(mincore(regions[at].memory, regions[at].bytes, bits), 0);
        for (uint64_t page = 0; page < count; page++)
            pages += bits[page] & 1;
    }
    return pages;
}

/* ---- an allocator that looks at it
 * ------------------------------------------------------------ */

static unsigned char arena[1 << 20];
static uint64_t calls, first_pages, first_maps, last_pages, last_maps;

static void look(void)
{
    if (calls++ % 500000 != 0)
        return;
    last_pages = resident_pages();
    last_maps = maps;
    if (calls == 1) {
        first_pages = last_pages;
        first_maps = last_maps;
    }
}

static void *looking_malloc(size_t size)
{
    look();
    return size <= sizeof arena ? arena : NULL;
}

static void *looking_calloc(size_t count, size_t size)
{
    return looking_malloc(count * size);
}

static void *looking_aligned_alloc(size_t alignment, size_t size)
{
    (void)alignment;
    return looking_malloc(size);
}

static void *looking_realloc(void *block, size_t size)
{
    (void)block;
    return looking_malloc(size);
}

static void looking_free(void *block)
{
    (void)block;
    look();
}

static void a_streamed_run_maps_and_touches_nothing(void **state)
{
    const abench_memory_hooks hooks = {
        .struct_size = sizeof hooks, .map = hook_map, .unmap = hook_unmap};
    const abench_allocator looking = {.struct_size = sizeof looking,
                                      .flags = ABENCH_ALLOCATOR_OVERLAPS,
                                      .malloc = looking_malloc,
                                      .calloc = looking_calloc,
                                      .aligned_alloc = looking_aligned_alloc,
                                      .realloc = looking_realloc,
                                      .free = looking_free};
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;

    (void)state;
    options.hooks = &hooks;
    options.sample_us = 1000;
    assert_int_equal(abench_run_create(&options, &run), ABENCH_OK);
    if (abench_run_play(run, "mixed:steps=6000000,slots=1000,touch=first", &looking) != ABENCH_OK)
        fail_msg("%s", abench_run_error(run)->message);
    assert_true(calls > 12000000);
    assert_int_equal(last_maps, first_maps);
    assert_int_equal(last_pages, first_pages);
    print_message("%llu operations in %llu KiB of the library's memory\n",
                  (unsigned long long)calls, (unsigned long long)last_pages * PAGE / 1024);
    assert_true(last_pages * PAGE < (uint64_t)24 << 20); /* a tape would take 96 MiB */
    abench_run_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_streamed_run_maps_and_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
