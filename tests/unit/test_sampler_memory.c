/* Readings of real processes: children that do to their memory what they are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/sampler.h>

#define MB  ((uint64_t)1 << 20)
#define FEW ABENCH_TIER_STATM
#define ALL (ABENCH_TIER_STATM | ABENCH_TIER_STATUS | ABENCH_TIER_ROLLUP | ABENCH_TIER_FAULTS)

/* Whether a value is expected to within a tolerance. */
static int is_near(uint64_t value, uint64_t expected, uint64_t tolerance)
{
    return value + tolerance >= expected && value <= expected + tolerance;
}

/* ---- a child that does to its memory what it is told ----------------------------------------- */

/* Not through instrumented stores: a sanitizer's shadow would become resident too. */
__attribute__((no_sanitize("address"))) __attribute__((no_sanitize("thread"))) static void touch(
    unsigned char *memory, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += 4096)
        ((volatile unsigned char *)memory)[at] = 1;
}

static unsigned char *map_touched(uint64_t bytes)
{
    unsigned char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    touch(memory, bytes);
    return memory;
}

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

/* ---- readings -------------------------------------------------------------------------------- */

static void the_fields_are_listed_once_each(void **state)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    uint32_t bits = 0, count = 0;

    (void)state;
    while (abench_memory_field_at(count, &field) == ABENCH_OK) {
        assert_int_equal(field.bit & (field.bit - 1), 0);
        assert_int_equal(bits & field.bit, 0);
        assert_int_equal(field.offset, offsetof(abench_memory, size_bytes) + 8 * count);
        assert_string_equal(field.unit, strstr(field.name, "_bytes") != NULL ? "bytes" : "count");
        bits |= field.bit;
        count++;
    }
    assert_int_equal(bits, 0x7fff);
    assert_int_equal(count, 15);
    assert_int_equal(abench_memory_field_at(count, &field), ABENCH_ERROR_NOT_FOUND);

    assert_int_equal(abench_memory_field_at(1, &field), ABENCH_OK);
    assert_string_equal(field.name, "rss_bytes");
    assert_int_equal(field.bit, ABENCH_MEMORY_RSS);
    assert_int_equal(field.offset, offsetof(abench_memory, rss_bytes));
    field.struct_size = 4;
    assert_int_equal(abench_memory_field_at(1, &field), ABENCH_ERROR_ARGUMENT);
}

static void fifty_touched_megabytes_are_fifty_more_in_rss(void **state)
{
    const child c = start_child();
    abench_memory before, after;

    (void)state;
    order(&c, '-');
    before = read_child(&c, ALL);
    order(&c, 'm');
    after = read_child(&c, ALL);
    assert_int_equal(before.valid, 0x7fff);
    assert_int_equal(after.valid, 0x7fff);
    assert_true(is_near(after.size_bytes - before.size_bytes, 50 * MB, MB));
    assert_true(is_near(after.rss_bytes - before.rss_bytes, 50 * MB, MB));
    assert_true(is_near(after.rss_anon_bytes - before.rss_anon_bytes, 50 * MB, MB));
    assert_true(is_near(after.pss_bytes - before.pss_bytes, 50 * MB, MB));
    assert_true(is_near(after.private_dirty_bytes - before.private_dirty_bytes, 50 * MB, MB));
    assert_true(is_near(after.rss_file_bytes, before.rss_file_bytes, MB));
    assert_true(is_near(after.shared_bytes, before.shared_bytes, MB));
    assert_true(is_near(after.minor_faults - before.minor_faults, 50 * MB / 4096, 200));
    assert_true(after.hwm_bytes >= after.rss_bytes);
    assert_true(after.time_ns > before.time_ns && after.cost_ns > 0);
    end_child(&c);
}

static void the_high_water_mark_stays_when_memory_goes_back(void **state)
{
    const child c = start_child();
    abench_memory full, empty;

    (void)state;
    order(&c, 'm');
    full = read_child(&c, ALL);
    order(&c, 'u');
    empty = read_child(&c, ALL);
    assert_true(is_near(full.rss_bytes - empty.rss_bytes, 50 * MB, MB));
    assert_true(is_near(empty.hwm_bytes, full.rss_bytes, MB));
    end_child(&c);
}

static void pages_shared_by_fork_count_half_in_pss(void **state)
{
    const child c = start_child();
    abench_memory alone, shared;

    (void)state;
    order(&c, 'm');
    alone = read_child(&c, ALL);
    order(&c, 'f');
    shared = read_child(&c, ALL);
    /* The 50 MB by half; what else the child has by a half at most. */
    assert_in_range(shared.pss_bytes, alone.pss_bytes / 2 - MB, alone.pss_bytes - 24 * MB);
    assert_true(is_near(shared.rss_bytes, alone.rss_bytes, MB));
    assert_true(shared.private_dirty_bytes + 49 * MB < alone.private_dirty_bytes);
    end_child(&c);
}

static void pages_given_back_lazily_show_as_lazyfree(void **state)
{
    const child c = start_child();
    abench_memory before, after;

    (void)state;
    order(&c, 'm');
    before = read_child(&c, ALL);
    order(&c, 'l');
    after = read_child(&c, ALL);
    assert_true(before.lazyfree_bytes < MB);
    assert_true(is_near(after.lazyfree_bytes, 50 * MB, MB));
    assert_true(is_near(after.rss_bytes, before.rss_bytes, MB));
    end_child(&c);
}

static void a_tier_fills_its_own_fields_only(void **state)
{
    static const struct {
        uint32_t tier;
        uint32_t valid;
    } tiers[] = {
        {ABENCH_TIER_STATM, 0x0007},
        {ABENCH_TIER_STATUS, 0x00f8},
        {ABENCH_TIER_ROLLUP, 0x1f00},
        {ABENCH_TIER_FAULTS, 0x6000},
        {ABENCH_TIER_STATM | ABENCH_TIER_FAULTS, 0x6007},
    };
    const child c = start_child();

    (void)state;
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        abench_memory memory = ABENCH_MEMORY_INIT;
        abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
        assert_int_equal(abench_memory_read(0, tiers[i].tier, &memory), ABENCH_OK);
        assert_int_equal(memory.valid, tiers[i].valid);
        memory = read_child(&c, tiers[i].tier);
        assert_int_equal(memory.valid, tiers[i].valid);
        for (uint32_t at = 0; abench_memory_field_at(at, &field) == ABENCH_OK; at++) {
            uint64_t value;
            memcpy(&value, (char *)&memory + field.offset, sizeof value);
            assert_true((memory.valid & field.bit) != 0 || value == 0);
        }
    }
    end_child(&c);
}

static void own_faults_are_counted(void **state)
{
    abench_memory before = ABENCH_MEMORY_INIT, after = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_memory_read(0, ABENCH_TIER_FAULTS, &before), ABENCH_OK);
    munmap(map_touched(MB), MB);
    assert_int_equal(abench_memory_read(0, ABENCH_TIER_FAULTS, &after), ABENCH_OK);
    assert_true(after.minor_faults >= before.minor_faults + MB / 4096);
}

static void a_kept_reader_reads_anew_each_time(void **state)
{
    const child c = start_child();
    abench_memory_reader *reader;
    abench_memory before = ABENCH_MEMORY_INIT, after = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_memory_reader_create(c.pid, &reader), ABENCH_OK);
    order(&c, '-');
    assert_int_equal(abench_memory_reader_read(reader, ALL, &before), ABENCH_OK);
    order(&c, 'm');
    assert_int_equal(abench_memory_reader_read(reader, ALL, &after), ABENCH_OK);
    assert_true(is_near(after.rss_bytes - before.rss_bytes, 50 * MB, MB));
    assert_true(is_near(after.pss_bytes - before.pss_bytes, 50 * MB, MB));
    abench_memory_reader_destroy(reader);
    end_child(&c);
}

static void a_kept_reader_follows_an_exec(void **state)
{
    const child c = start_child();
    abench_memory_reader *reader;
    abench_memory memory = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_memory_reader_create(c.pid, &reader), ABENCH_OK);
    order(&c, 'm');
    order(&c, 'x'); /* answered by the new image */
    assert_int_equal(abench_memory_reader_read(reader, ALL, &memory), ABENCH_OK);
    assert_int_equal(memory.valid, 0x7fff);
    assert_true(memory.pss_bytes > 0 && memory.pss_bytes <= memory.rss_bytes);
    assert_int_equal(abench_memory_reader_read(reader, ABENCH_TIER_ROLLUP, &memory), ABENCH_OK);
    abench_memory_reader_destroy(reader);
    end_child(&c);
}

static void a_vanished_process_is_not_found(void **state)
{
    static const uint32_t tiers[] = {FEW, ABENCH_TIER_STATUS, ABENCH_TIER_ROLLUP,
                                     ABENCH_TIER_FAULTS, ALL};
    const child c = start_child();
    abench_memory_reader *reader, *none;
    abench_memory memory = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_memory_reader_create(c.pid, &reader), ABENCH_OK);
    end_child(&c);
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        assert_int_equal(abench_memory_reader_read(reader, tiers[i], &memory),
                         ABENCH_ERROR_NOT_FOUND);
        assert_int_equal(abench_memory_read(c.pid, tiers[i], &memory), ABENCH_ERROR_NOT_FOUND);
    }
    assert_int_equal(abench_memory_reader_create(c.pid, &none), ABENCH_ERROR_NOT_FOUND);
    assert_null(none);
    abench_memory_reader_destroy(reader);
}

static void a_zombie_has_no_memory_rather_than_zero_bytes(void **state)
{
    const child c = start_child();
    abench_memory memory = ABENCH_MEMORY_INIT;
    siginfo_t info;

    (void)state;
    kill(c.pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(abench_memory_read(c.pid, FEW, &memory), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_memory_read(c.pid, ABENCH_TIER_ROLLUP, &memory),
                     ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_memory_read(c.pid, ALL, &memory), ABENCH_OK);
    assert_int_equal(memory.valid, ABENCH_MEMORY_MINOR_FAULTS | ABENCH_MEMORY_MAJOR_FAULTS);
    end_child(&c);
}

static void arguments_out_of_their_domain_are_refused(void **state)
{
    abench_memory memory = ABENCH_MEMORY_INIT;
    abench_memory_reader *reader;

    (void)state;
    assert_int_equal(abench_memory_read(-1, FEW, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_read(0, 0, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_read(0, 16, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_read(0, FEW, NULL), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_reader_create(-1, &reader), ABENCH_ERROR_ARGUMENT);
    assert_null(reader);
    assert_int_equal(abench_memory_reader_create(0, &reader), ABENCH_OK);
    assert_int_equal(abench_memory_reader_read(reader, 0, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_reader_read(reader, FEW | 16, &memory), ABENCH_ERROR_ARGUMENT);
    memory.struct_size -= 8;
    assert_int_equal(abench_memory_reader_read(reader, FEW, &memory), ABENCH_ERROR_ARGUMENT);
    abench_memory_reader_destroy(reader);
    abench_memory_reader_destroy(NULL);
}

static void a_caller_with_a_longer_struct_keeps_its_tail(void **state)
{
    struct {
        abench_memory memory;
        uint64_t tail;
    } newer;

    (void)state;
    abench_memory_init(&newer.memory);
    newer.memory.struct_size = sizeof newer;
    newer.tail = 77;
    assert_int_equal(abench_memory_read(0, FEW, &newer.memory), ABENCH_OK);
    assert_int_equal(newer.memory.struct_size, sizeof newer);
    assert_true(newer.memory.rss_bytes > 0);
    assert_int_equal(newer.tail, 77);
}

/* The lowest descriptor that is free: the same before and after, when nothing is left open. */
static int lowest_free_descriptor(void)
{
    const int fd = dup(2);

    close(fd);
    return fd;
}

static void readings_leave_no_descriptor_open(void **state)
{
    const int free_before = lowest_free_descriptor();
    abench_memory memory = ABENCH_MEMORY_INIT;
    abench_memory_reader *reader;
    int kept;

    (void)state;
    assert_int_equal(abench_memory_read(0, ALL, &memory), ABENCH_OK);
    assert_int_equal(abench_memory_read(getpid(), ALL, &memory), ABENCH_OK);
    assert_int_equal(lowest_free_descriptor(), free_before);
    assert_int_equal(abench_memory_reader_create(0, &reader), ABENCH_OK);
    kept = lowest_free_descriptor();
    assert_true(kept > free_before);
    for (int fd = free_before; fd < kept; fd++)
        assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    abench_memory_reader_destroy(reader);
    assert_int_equal(lowest_free_descriptor(), free_before);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readings_leave_no_descriptor_open),
        cmocka_unit_test(the_fields_are_listed_once_each),
        cmocka_unit_test(fifty_touched_megabytes_are_fifty_more_in_rss),
        cmocka_unit_test(the_high_water_mark_stays_when_memory_goes_back),
        cmocka_unit_test(pages_shared_by_fork_count_half_in_pss),
        cmocka_unit_test(pages_given_back_lazily_show_as_lazyfree),
        cmocka_unit_test(a_tier_fills_its_own_fields_only),
        cmocka_unit_test(own_faults_are_counted),
        cmocka_unit_test(a_kept_reader_reads_anew_each_time),
        cmocka_unit_test(a_kept_reader_follows_an_exec),
        cmocka_unit_test(a_vanished_process_is_not_found),
        cmocka_unit_test(a_zombie_has_no_memory_rather_than_zero_bytes),
        cmocka_unit_test(arguments_out_of_their_domain_are_refused),
        cmocka_unit_test(a_caller_with_a_longer_struct_keeps_its_tail),
    };

    if (argc == 2 && strcmp(argv[1], "--serve") == 0) {
        const char ready = 'x';
        if (write(1, &ready, 1) == 1)
            serve(0, 1);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
