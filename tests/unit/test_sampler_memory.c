/* Readings of real processes: children that do to their memory what they are told. */
#include "memory_child.h"

#include <sys/resource.h>

/* ---- readings -------------------------------------------------------------------------------- */

static const struct {
    uint32_t tier;
    uint64_t fields;
} tiers[] = {
    {ABENCH_TIER_STATM, STATM_FIELDS},       {ABENCH_TIER_STATUS, STATUS_FIELDS},
    {ABENCH_TIER_ROLLUP, ROLLUP_FIELDS},     {ABENCH_TIER_FAULTS, FAULTS_FIELDS},
    {ABENCH_TIER_SCHEDULE, SCHEDULE_FIELDS},
};

#define TIERS (sizeof tiers / sizeof tiers[0])

static uint32_t tier_of(uint64_t bit)
{
    uint32_t tier = 0;

    for (size_t i = 0; i < TIERS; i++)
        if ((tiers[i].fields & bit) != 0)
            tier |= tiers[i].tier;
    return tier;
}

static void the_fields_are_listed_once_each(void **state)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    uint64_t bits = 0;
    uint32_t count = 0;

    (void)state;
    while (abench_memory_field_at(count, &field) == ABENCH_OK) {
        assert_int_equal(field.bit & (field.bit - 1), 0);
        assert_int_equal(bits & field.bit, 0);
        assert_int_equal(field.offset, offsetof(abench_memory, size_bytes) + 8 * count);
        assert_string_equal(field.unit, strstr(field.name, "_bytes") != NULL ? "bytes"
                                        : strstr(field.name, "_ns") != NULL  ? "ns"
                                                                             : "count");
        assert_int_equal(field.tier, tier_of(field.bit));
        bits |= field.bit;
        count++;
    }
    assert_int_equal(bits, ALL_FIELDS);
    assert_int_equal(bits, 0xfffffff);
    assert_int_equal(count, 28);
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
    expect_valid(&before, ALL_FIELDS);
    expect_valid(&after, ALL_FIELDS);
    assert_true(is_near(after.size_bytes - before.size_bytes, 50 * MB, MB));
    assert_true(is_near(after.rss_bytes - before.rss_bytes, 50 * MB, MB));
    assert_true(is_near(after.rss_anon_bytes - before.rss_anon_bytes, 50 * MB, MB));
    assert_true(is_near(after.pss_bytes - before.pss_bytes, 50 * MB, MB));
    assert_true(is_near(after.private_dirty_bytes - before.private_dirty_bytes, 50 * MB, MB));
    assert_true(is_near(after.rss_file_bytes, before.rss_file_bytes, MB));
    assert_true(is_near(after.shared_bytes, before.shared_bytes, MB));
    assert_true(is_near(after.minor_faults - before.minor_faults, 50 * MB / 4096, 200));
    assert_true(after.hwm_bytes >= after.rss_bytes);
    assert_int_equal(after.uss_bytes, after.private_clean_bytes + after.private_dirty_bytes);
    assert_true(is_near(after.rollup_rss_bytes - before.rollup_rss_bytes, 50 * MB, MB));
    assert_in_range(after.threads, 1, 2); /* a sanitizer's own */
    if ((after.valid & ABENCH_MEMORY_PSS_ANON) != 0)
        assert_true(is_near(after.pss_anon_bytes - before.pss_anon_bytes, 50 * MB, MB));
    if ((after.valid & ABENCH_MEMORY_PSS_DIRTY) != 0)
        assert_true(is_near(after.pss_dirty_bytes - before.pss_dirty_bytes, 50 * MB, MB));
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
    const child c = start_child();

    (void)state;
    for (size_t i = 0; i < TIERS * TIERS; i++) {
        const uint32_t both = tiers[i / TIERS].tier | tiers[i % TIERS].tier;
        const uint64_t fields = tiers[i / TIERS].fields | tiers[i % TIERS].fields;
        abench_memory memory = ABENCH_MEMORY_INIT;
        abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
        assert_int_equal(abench_memory_read(0, both, &memory), ABENCH_OK);
        expect_valid(&memory, fields);
        memory = read_child(&c, both);
        expect_valid(&memory, fields);
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
    expect_valid(&memory, ALL_FIELDS);
    assert_true(memory.pss_bytes > 0 && memory.pss_bytes <= memory.rss_bytes);
    assert_int_equal(abench_memory_reader_read(reader, ABENCH_TIER_ROLLUP, &memory), ABENCH_OK);
    abench_memory_reader_destroy(reader);
    end_child(&c);
}

static void a_kept_reader_that_cannot_open_again_has_not_lost_its_process(void **state)
{
    const child c = start_child();
    abench_memory_reader *reader;
    abench_memory memory = ABENCH_MEMORY_INIT;
    struct rlimit limit, none;
    abench_status status;

    (void)state;
    assert_int_equal(abench_memory_reader_create(c.pid, &reader), ABENCH_OK);
    order(&c, 'x');
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    status = abench_memory_reader_read(reader, ABENCH_TIER_ROLLUP, &memory);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(status, ABENCH_OK);
    assert_int_equal(memory.valid, 0);
    assert_int_equal(abench_memory_reader_read(reader, ABENCH_TIER_ROLLUP, &memory), ABENCH_OK);
    expect_valid(&memory, ROLLUP_FIELDS);
    abench_memory_reader_destroy(reader);
    end_child(&c);
}

/* All of it, what getrusage says of the own process too. */
static void an_own_reader_reads_the_parent_in_a_forked_child(void **state)
{
    const struct timespec moment = {0, 10000};
    abench_memory_reader *reader;
    struct rusage usage;
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(abench_memory_reader_create(0, &reader), ABENCH_OK);
    munmap(map_touched(50 * MB), 50 * MB);
    for (int i = 0; i < 100; i++)
        nanosleep(&moment, NULL);
    getrusage(RUSAGE_SELF, &usage);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        abench_memory memory = ABENCH_MEMORY_INIT;
        alarm(20);
        if (abench_memory_reader_read(reader, ALL, &memory) != ABENCH_OK)
            _exit(1);
        if ((memory.valid & FAULTS_FIELDS) != FAULTS_FIELDS ||
            memory.minor_faults < (uint64_t)usage.ru_minflt)
            _exit(2);
        if ((memory.valid & ABENCH_MEMORY_VOLUNTARY_SWITCHES) == 0 ||
            memory.voluntary_switches < 100)
            _exit(3);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    abench_memory_reader_destroy(reader);
}

static void a_vanished_process_is_not_found(void **state)
{
    const child c = start_child();
    abench_memory_reader *reader, *none;
    abench_memory memory = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_memory_reader_create(c.pid, &reader), ABENCH_OK);
    end_child(&c);
    for (size_t i = 0; i <= TIERS; i++) {
        const uint32_t tier = i < TIERS ? tiers[i].tier : ALL;
        assert_int_equal(abench_memory_reader_read(reader, tier, &memory), ABENCH_ERROR_NOT_FOUND);
        assert_int_equal(abench_memory_read(c.pid, tier, &memory), ABENCH_ERROR_NOT_FOUND);
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
    expect_valid(&memory, FAULTS_FIELDS | SCHEDULE_FIELDS | ABENCH_MEMORY_THREADS);
    end_child(&c);
}

static void arguments_out_of_their_domain_are_refused(void **state)
{
    abench_memory memory = ABENCH_MEMORY_INIT;
    abench_memory_reader *reader;

    (void)state;
    assert_int_equal(abench_memory_read(-1, FEW, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_read(0, 0, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_read(0, 32, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_read(0, FEW, NULL), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_reader_create(-1, &reader), ABENCH_ERROR_ARGUMENT);
    assert_null(reader);
    assert_int_equal(abench_memory_reader_create(0, &reader), ABENCH_OK);
    assert_int_equal(abench_memory_reader_read(reader, 0, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_memory_reader_read(reader, FEW | 32, &memory), ABENCH_ERROR_ARGUMENT);
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

/* ---- descriptors ----------------------------------------------------------------------------- */

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
        cmocka_unit_test(a_kept_reader_that_cannot_open_again_has_not_lost_its_process),
        cmocka_unit_test(an_own_reader_reads_the_parent_in_a_forked_child),
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
    find_unknown_fields();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
