/* Mappings of real processes by category, against what the kernel says elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler/mappings.h"
#include "touched.h"

#define MB ((uint64_t)1 << 20)

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

static int is_near(uint64_t value, uint64_t expected, uint64_t tolerance)
{
    return value + tolerance >= expected && value <= expected + tolerance;
}

/* ---- quiet children -------------------------------------------------------------------------- */

static void *map(uint64_t bytes, int flags)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

/* A child that has done what act does and stands still. */
static pid_t start_quiet(void (*act)(void))
{
    int status;
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (act != NULL)
            act();
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

static void end_quiet(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static abench_mappings *create(void)
{
    abench_mappings *mappings;

    assert_int_equal(abench_mappings_create(NULL, &mappings), ABENCH_OK);
    return mappings;
}

static abench_mappings_sum at(const abench_mappings *mappings, uint32_t category)
{
    abench_mappings_sum sum = ABENCH_MAPPINGS_SUM_INIT;

    assert_int_equal(abench_mappings_at(mappings, category, &sum), ABENCH_OK);
    assert_int_equal(sum.category, category);
    return sum;
}

/* What one category gained by the act, against a child that did nothing. */
static abench_mappings_sum gained(void (*act)(void), uint32_t category)
{
    const pid_t idle = start_quiet(NULL), busy = start_quiet(act);
    abench_mappings *before = create(), *after = create();
    abench_mappings_sum a, b;

    assert_int_equal(abench_mappings_read(before, idle), ABENCH_OK);
    assert_int_equal(abench_mappings_read(after, busy), ABENCH_OK);
    a = at(before, category);
    b = at(after, category);
    for (uint32_t other = 0; other < ABENCH_MAPPINGS_ALL; other++)
        if (other != category) /* and nobody else did */
            assert_true(is_near(at(after, other).rss_bytes, at(before, other).rss_bytes, MB));
    b.mappings -= a.mappings;
    b.size_bytes -= a.size_bytes;
    b.rss_bytes -= a.rss_bytes;
    b.private_dirty_bytes -= a.private_dirty_bytes;
    b.private_clean_bytes -= a.private_clean_bytes;
    b.anonymous_bytes -= a.anonymous_bytes;
    b.lazyfree_bytes -= a.lazyfree_bytes;
    abench_mappings_destroy(before);
    abench_mappings_destroy(after);
    end_quiet(idle);
    end_quiet(busy);
    return b;
}

/* ---- categories ------------------------------------------------------------------------------ */

static void touch_anonymous(void)
{
    touch(map(40 * MB, MAP_PRIVATE), 20 * MB);
}

static void give_back_lazily(void)
{
    void *memory = map(40 * MB, MAP_PRIVATE);

    touch(memory, 20 * MB);
    madvise(memory, 10 * MB, MADV_FREE);
}

static void touch_shared(void)
{
    touch(map(40 * MB, MAP_SHARED), 20 * MB);
}

static void touch_heap(void)
{
    char *memory = sbrk(0);

    if (brk(memory + 40 * MB) != 0)
        _exit(1);
    touch(memory, 20 * MB);
}

static void touch_stack(void)
{
    char frame[4 * MB];

    touch(frame, sizeof frame);
}

/* Its own program, as far as it is long. */
static void touch_file(void)
{
    const int fd = open("/proc/self/exe", O_RDONLY);
    const off_t length = lseek(fd, 0, SEEK_END);
    volatile unsigned char *memory = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, fd, 0),
                           sum = 0;

    if (memory == MAP_FAILED)
        _exit(1);
    for (off_t i = 0; i < length; i += 4096)
        sum = (unsigned char)(sum + memory[i]);
}

static void memory_shows_in_the_category_that_it_is_of(void **state)
{
    abench_mappings_sum sum;

    (void)state;
    sum = gained(touch_anonymous, ABENCH_MAPPINGS_ANONYMOUS);
    assert_true(is_near(sum.size_bytes, 40 * MB, MB / 4));
    assert_true(is_near(sum.rss_bytes, 20 * MB, MB / 4));
    assert_true(is_near(sum.private_dirty_bytes, 20 * MB, MB / 4));
    assert_true(is_near(sum.anonymous_bytes, 20 * MB, MB / 4));
    assert_true(sum.lazyfree_bytes == 0);

    sum = gained(give_back_lazily, ABENCH_MAPPINGS_ANONYMOUS);
    assert_true(is_near(sum.rss_bytes, 20 * MB, MB / 4));
    assert_true(is_near(sum.lazyfree_bytes, 10 * MB, MB / 4));
    assert_true(is_near(sum.private_dirty_bytes, 10 * MB, MB / 4));

    sum = gained(touch_shared, ABENCH_MAPPINGS_SHARED);
    assert_int_equal(sum.mappings, 1);
    assert_int_equal(sum.size_bytes, 40 * MB);
    assert_int_equal(sum.rss_bytes, 20 * MB);
    assert_int_equal(sum.anonymous_bytes, 0); /* they belong to a file of shared memory */

    sum = gained(touch_stack, ABENCH_MAPPINGS_STACKS);
    assert_true(is_near(sum.rss_bytes, 4 * MB, MB / 4));

    sum = gained(touch_heap, ABENCH_MAPPINGS_HEAP);
    assert_true(is_near(sum.size_bytes, 40 * MB, MB / 4));
    assert_true(is_near(sum.rss_bytes, 20 * MB, MB / 4));
}

static void a_file_that_is_mapped_shows_as_one(void **state)
{
    const int fd = open("/proc/self/exe", O_RDONLY);
    const uint64_t length = ((uint64_t)lseek(fd, 0, SEEK_END) + 4095) / 4096 * 4096;
    const abench_mappings_sum sum = gained(touch_file, ABENCH_MAPPINGS_FILES);

    (void)state;
    close(fd);
    assert_int_equal(sum.mappings, 1);
    assert_int_equal(sum.size_bytes, length);
    assert_true(sum.rss_bytes >= length);
}

static void *sleep_on(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

/* A thread on a stack of its own, which gets the name that newer C libraries give. */
static void start_thread(void)
{
    void *stack = map(8 * MB, MAP_PRIVATE);
    pthread_attr_t attributes;
    pthread_t thread;

    if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, stack, 8 * MB, " glibc: pthread stack: 1") != 0)
        _exit(77);
    touch(stack, 2 * MB);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, 8 * MB);
    if (pthread_create(&thread, &attributes, sleep_on, NULL) != 0)
        _exit(1);
}

static void a_thread_stack_is_one_where_the_kernel_names_it(void **state)
{
    abench_mappings_sum sum;
    void *page = map(4096, MAP_PRIVATE);

    (void)state;
    if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, page, 4096, "probe") != 0) {
        print_message("this kernel keeps no names of mappings: the parser's test must do\n");
        skip();
    }
    munmap(page, 4096);
    sum = gained(start_thread, ABENCH_MAPPINGS_STACKS);
    assert_int_equal(sum.mappings, 1);
    assert_int_equal(sum.size_bytes, 8 * MB);
    assert_true(sum.rss_bytes >= 2 * MB);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void expect_all_to_be_the_sum(const abench_mappings *mappings)
{
    const size_t first = offsetof(abench_mappings_sum, mappings);
    const abench_mappings_sum all = at(mappings, ABENCH_MAPPINGS_ALL);

    for (size_t offset = first; offset < sizeof all; offset += sizeof(uint64_t)) {
        uint64_t sum = 0, value;
        for (uint32_t category = 0; category < ABENCH_MAPPINGS_ALL; category++) {
            const abench_mappings_sum one = at(mappings, category);
            memcpy(&value, (const char *)&one + offset, sizeof value);
            sum += value;
        }
        memcpy(&value, (const char *)&all + offset, sizeof value);
        assert_int_equal(sum, value);
    }
}

static void expect_what_the_rollup_says(pid_t pid)
{
    abench_mappings *mappings = create();
    abench_memory memory = ABENCH_MEMORY_INIT;
    abench_mappings_sum all;

    assert_int_equal(abench_mappings_read(mappings, pid), ABENCH_OK);
    assert_int_equal(abench_memory_read(pid, ABENCH_TIER_ROLLUP, &memory), ABENCH_OK);
    all = at(mappings, ABENCH_MAPPINGS_ALL);
    assert_int_equal(all.rss_bytes, memory.rollup_rss_bytes);
    assert_int_equal(all.lazyfree_bytes, memory.lazyfree_bytes);
    assert_int_equal(all.huge_bytes, memory.huge_bytes);
    assert_int_equal(all.swap_bytes, memory.swap_bytes);
    /* This process shares pages with the child until it writes to them: a few, between the two. */
    assert_true(is_near(all.private_clean_bytes, memory.private_clean_bytes, MB));
    assert_true(is_near(all.private_dirty_bytes, memory.private_dirty_bytes, MB));
    /* The rollup cuts each sum to kB once, smaps each mapping's share. */
    assert_true(
        is_near(all.pss_bytes + all.mappings * 512, memory.pss_bytes, MB + all.mappings * 512));
    expect_all_to_be_the_sum(mappings);
    abench_mappings_destroy(mappings);
}

static void do_many_things(void)
{
    give_back_lazily();
    touch_shared();
    touch_heap();
}

static void the_sum_is_what_the_rollup_says(void **state)
{
    const pid_t pid = start_quiet(do_many_things);

    (void)state;
    expect_what_the_rollup_says(pid);
    end_quiet(pid);
}

/* Neighbours of unlike permissions are mappings of their own. */
static void map_five_thousand(void)
{
    char *memory = map(5000 * 4096, MAP_PRIVATE);

    touch(memory, 5000 * 4096);
    for (size_t page = 0; page < 5000; page += 2)
        if (mprotect(memory + page * 4096, 4096, PROT_READ) != 0)
            _exit(1);
}

static void five_thousand_mappings_are_summed_up(void **state)
{
    const abench_mappings_sum sum = gained(map_five_thousand, ABENCH_MAPPINGS_ANONYMOUS);
    const pid_t pid = start_quiet(map_five_thousand);

    (void)state;
    assert_true(is_near(sum.mappings, 5000, 8));
    assert_true(is_near(sum.rss_bytes, 5000 * 4096, MB / 4));
    expect_what_the_rollup_says(pid);
    end_quiet(pid);
}

static void mappings_that_thp_could_serve_are_told(void **state)
{
    abench_mappings *mappings = create();
    abench_mappings_sum all;
    char line[256];
    uint64_t size = 0, eligible = 0;
    FILE *smaps;
    const pid_t pid = start_quiet(do_many_things);

    (void)state;
    snprintf(line, sizeof line, "/proc/%d/smaps", (int)pid);
    smaps = fopen(line, "r");
    assert_non_null(smaps);
    while (fgets(line, sizeof line, smaps) != NULL) {
        unsigned long long number;
        if (sscanf(line, "Size: %llu kB", &number) == 1)
            size = number * 1024;
        if (sscanf(line, "THPeligible: %llu", &number) == 1 && number == 1)
            eligible += size;
    }
    fclose(smaps);
    assert_int_equal(abench_mappings_read(mappings, pid), ABENCH_OK);
    all = at(mappings, ABENCH_MAPPINGS_ALL);
    assert_int_equal(all.huge_eligible_bytes, eligible);
    abench_mappings_destroy(mappings);
    end_quiet(pid);
}

/* ---- processes that end, and other refusals -------------------------------------------------- */

static void one_that_is_gone_is_never_half_a_sum(void **state)
{
    const pid_t pid = start_quiet(NULL);
    abench_mappings *mappings = create();
    abench_mappings_sum sum = ABENCH_MAPPINGS_SUM_INIT;
    siginfo_t info;

    (void)state;
    assert_int_equal(abench_mappings_read(mappings, pid), ABENCH_OK);
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(abench_mappings_read(mappings, pid), ABENCH_ERROR_NOT_FOUND); /* a zombie */
    assert_int_equal(abench_mappings_at(mappings, 0, &sum), ABENCH_ERROR_STATE);
    waitpid(pid, NULL, 0);
    assert_int_equal(abench_mappings_read(mappings, pid), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_mappings_read(mappings, 0), ABENCH_OK);
    assert_int_equal(abench_mappings_at(mappings, 0, &sum), ABENCH_OK);
    abench_mappings_destroy(mappings);
}

/* The kernel then ends the text early, behind a whole mapping, and calls it the end. */
static void one_that_ends_or_calls_exec_in_the_middle_is_not_found(void **state)
{
    abench_mappings *mappings = create();

    (void)state;
    for (int is_exec = 0; is_exec < 2; is_exec++) {
        int go[2], status;
        char path[64], part[5000];
        pid_t pid;
        int fd;
        assert_int_equal(pipe2(go, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (read(go[0], part, 1) == 1 && is_exec)
                execl("/proc/self/exe", "test", "--stop", (char *)NULL);
            _exit(0);
        }
        snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
        fd = open(path, O_RDONLY);
        assert_true(fd >= 0);
        assert_true(read(fd, part, sizeof part) > 0);
        assert_int_equal(write(go[1], "g", 1), 1);
        assert_int_equal(waitpid(pid, &status, is_exec ? WUNTRACED : 0), pid);
        assert_int_equal(WIFSTOPPED(status), is_exec);
        /* The rest is empty: were it not, it would be a text without its first mappings. */
        assert_int_equal(abench__mappings_stream(mappings, fd), ABENCH_ERROR_NOT_FOUND);
        close(fd);
        close(go[0]);
        close(go[1]);
        if (is_exec)
            end_quiet(pid);
    }
    abench_mappings_destroy(mappings);
}

/* Killed while it is read again and again: the last reading is cut somewhere in its middle. */
static void one_that_is_killed_while_it_is_read_gives_all_or_nothing(void **state)
{
    abench_mappings *mappings = create();

    (void)state;
    for (useconds_t delay = 1000; delay < 9000; delay += 1000) {
        const pid_t pid = start_quiet(map_five_thousand);
        abench_status status;
        uint64_t whole;
        pid_t killer;
        assert_int_equal(abench_mappings_read(mappings, pid), ABENCH_OK);
        whole = at(mappings, ABENCH_MAPPINGS_ALL).rss_bytes;
        killer = fork();
        assert_true(killer >= 0);
        if (killer == 0) {
            usleep(delay);
            kill(pid, SIGKILL);
            _exit(0);
        }
        while ((status = abench_mappings_read(mappings, pid)) == ABENCH_OK)
            assert_int_equal(at(mappings, ABENCH_MAPPINGS_ALL).rss_bytes, whole);
        assert_int_equal(status, ABENCH_ERROR_NOT_FOUND);
        waitpid(killer, NULL, 0);
        waitpid(pid, NULL, 0);
    }
    abench_mappings_destroy(mappings);
}

/* A text of two mappings, and then nothing: what the reading loop sees of one that ended. */
static void a_true_looking_end_is_checked(void **state)
{
    static const char line[] =
        "1000-2000 rw-p 00000000 00:00 0 \nSize: 4 kB\nRss: 4 kB\nPss: 4 kB\n"
        "Private_Clean: 0 kB\nPrivate_Dirty: 4 kB\nAnonymous: 4 kB\n"
        "LazyFree: 0 kB\nAnonHugePages: 0 kB\nSwap: 0 kB\nTHPeligible: 0\n"
        "VmFlags: rd wr\n";
    abench_mappings *mappings = create();
    int ends[2];
    const int fd = memfd_create("smaps", MFD_CLOEXEC);

    (void)state;
    assert_int_equal(write(fd, line, sizeof line - 1), sizeof line - 1);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(abench__mappings_stream(mappings, fd), ABENCH_OK);
    /* A pipe cannot be read from its beginning again. */
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], line, sizeof line - 1), sizeof line - 1);
    close(ends[1]);
    assert_int_equal(abench__mappings_stream(mappings, ends[0]), ABENCH_ERROR_NOT_FOUND);
    close(ends[0]);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(write(fd, "Garbage\n", 8), 8);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(abench__mappings_stream(mappings, fd), ABENCH_ERROR_SYNTAX);
    close(fd);
    abench_mappings_destroy(mappings);
}

static void the_categories_have_names(void **state)
{
    static const char *const names[] = {"heap",   "anonymous", "stacks", "files",
                                        "shared", "other",     "all"};

    (void)state;
    for (uint32_t i = 0; i < ABENCH_MAPPINGS_COUNT; i++)
        assert_string_equal(abench_mappings_name(i), names[i]);
    assert_null(abench_mappings_name(ABENCH_MAPPINGS_COUNT));
}

static void arguments_out_of_their_domain_are_refused(void **state)
{
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_mappings *mappings, *none;
    abench_mappings_sum sum = ABENCH_MAPPINGS_SUM_INIT;

    (void)state;
    hooks.flags = 1;
    assert_int_equal(abench_mappings_create(&hooks, &none), ABENCH_ERROR_ARGUMENT);
    assert_null(none);
    mappings = create();
    assert_int_equal(abench_mappings_at(mappings, 0, &sum), ABENCH_ERROR_STATE);
    assert_int_equal(abench_mappings_read(mappings, -1), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_mappings_read(mappings, 0), ABENCH_OK);
    assert_true(abench_mappings_cost_ns(mappings) > 0);
    assert_int_equal(abench_mappings_at(mappings, ABENCH_MAPPINGS_COUNT, &sum),
                     ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_mappings_at(mappings, 0, NULL), ABENCH_ERROR_ARGUMENT);
    sum.struct_size -= 8;
    assert_int_equal(abench_mappings_at(mappings, 0, &sum), ABENCH_ERROR_ARGUMENT);
    abench_mappings_destroy(mappings);
    abench_mappings_destroy(NULL);
}

static void readings_leave_no_descriptor_open(void **state)
{
    abench_mappings *mappings = create();
    const int before = dup(2);
    int after;

    (void)state;
    close(before);
    assert_int_equal(abench_mappings_read(mappings, 0), ABENCH_OK);
    assert_int_equal(abench_mappings_read(mappings, INT32_MAX), ABENCH_ERROR_NOT_FOUND);
    after = dup(2);
    close(after);
    assert_int_equal(after, before);
    abench_mappings_destroy(mappings);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_shows_in_the_category_that_it_is_of),
        cmocka_unit_test(a_file_that_is_mapped_shows_as_one),
        cmocka_unit_test(a_thread_stack_is_one_where_the_kernel_names_it),
        cmocka_unit_test(the_sum_is_what_the_rollup_says),
        cmocka_unit_test(five_thousand_mappings_are_summed_up),
        cmocka_unit_test(mappings_that_thp_could_serve_are_told),
        cmocka_unit_test(one_that_is_gone_is_never_half_a_sum),
        cmocka_unit_test(one_that_ends_or_calls_exec_in_the_middle_is_not_found),
        cmocka_unit_test(one_that_is_killed_while_it_is_read_gives_all_or_nothing),
        cmocka_unit_test(a_true_looking_end_is_checked),
        cmocka_unit_test(the_categories_have_names),
        cmocka_unit_test(arguments_out_of_their_domain_are_refused),
        cmocka_unit_test(readings_leave_no_descriptor_open),
    };

    if (argc == 2 && strcmp(argv[1], "--stop") == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return raise(SIGSTOP);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
