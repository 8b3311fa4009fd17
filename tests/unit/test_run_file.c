/* Result files: whole, JSON throughout, and every metric's formula worked out again from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <allocbench/run.h>
#include <allocbench/workload.h>

#include "player.h"
#include "result.h"
#include "run_file.h"

/* ---- the file -------------------------------------------------------------------------------- */

static void a_result_begins_with_its_manifest_and_ends_with_its_receipt(void **state)
{
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;
    char digest[20];
    abench_run *run;
    result r;

    (void)state;
    setenv("MALLOC_ARENA_MAX", "\"2\"\xff\n", 1); /* of no effect any more; hostile to JSON */
    run = play(LOCAL, NULL);
    write_result(run, &r);
    unsetenv("MALLOC_ARENA_MAX");
    assert_int_equal(abench_workload_parse(LOCAL, 11, 0, &workload, NULL), ABENCH_OK);
    assert_int_equal(abench_workload_tape(workload, NULL, &tape, NULL), ABENCH_OK);

    assert_text(r.lines[0], "record", "manifest");
    assert_int_equal(number(r.lines[0], "schema"), 1);
    assert_text(r.lines[0], "library", abench_version_string());
    assert_text(r.lines[0], "name", abench_workload_spec(workload));
    assert_text(r.lines[0], "workload", abench_workload_spec(workload));
    assert_text(r.lines[0], "nonce", "n\\\"1");
    assert_int_equal(number(r.lines[0], "pid"), getpid());
    assert_int_equal(*json_find(r.lines[0], "command"), '[');
    snprintf(digest, sizeof digest, "%016llx",
             (unsigned long long)abench_workload_plan_digest(workload));
    assert_text(r.lines[0], "plan_digest", digest);
    assert_int_equal(number(r.lines[0], "seed"), 11);
    assert_int_equal(number(r.lines[0], "lanes"), 1);
    assert_text(r.lines[0], "touch", "a byte per page");
    assert_int_equal(number(r.lines[0], "slice_operations"), 8000);
    assert_int_equal(number(r.lines[0], "sample_us"), 1000);
    assert_non_null(json_find(r.lines[0], "allocator.family"));
    assert_non_null(json_find(r.lines[0], "allocator.file"));
    assert_text(r.lines[0], "environment.MALLOC_ARENA_MAX", "\\\"2\\\"\\ufffd\\u000a");
    assert_true(number(r.lines[0], "host.page_bytes") >= 4096);

    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)abench_tape_digest(tape));
    assert_text(r.lines[r.count - 1], "record", "end");
    assert_text(r.lines[r.count - 1], "work_digest", digest);
    assert_null(record_at(&r, "end", 1));
    assert_null(record_at(&r, "manifest", 1));
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    free_result(&r);
    abench_run_destroy(run);
}

static void the_receipt_is_in_the_end_record(void **state)
{
    abench_run *run = play(TWO, NULL);
    const char *end;
    result r;

    (void)state;
    write_result(run, &r);
    end = record_at(&r, "end", 0);
    /* phases and ends of two lanes, fill, steps, drain */
    assert_int_equal(number(end, "receipt.planned"), 2 * (4 + 2 * 256 + 2 * 20000));
    assert_int_equal(number(end, "receipt.executed"), number(end, "receipt.planned"));
    assert_int_equal(number(end, "receipt.failed"), 0);
    assert_int_equal(number(end, "receipt.live_bytes_end"), 0);
    assert_int_equal(number(end, "receipt.live_blocks_end"), 0);
    assert_true(number(end, "receipt.checksum") > 0);
    assert_int_equal(number(end, "receipt.checksum"), number(end, "receipt.checksum_planned"));
    assert_true(number(end, "receipt.bytes_requested") > 0);
    assert_true(has_number(end, "receipt.waits"));
    assert_true(has_number(end, "receipt.wait_ns"));
    assert_true(has_number(end, "receipt.pause_ns"));
    assert_int_equal(strncmp(json_find(end, "receipt.by_kind.malloc"), "[40512,40512]", 13), 0);
    assert_int_equal(strncmp(json_find(end, "receipt.by_kind.phase"), "[6,6]", 5), 0);
    assert_null(json_find(end, "receipt.by_kind.calloc"));
    free_result(&r);
    abench_run_destroy(run);
}

static void phases_slices_and_readings_are_in_the_file(void **state)
{
    static const char *const names[] = {"baseline", "fill", "steady", "drain"};
    abench_run *run = play(LOCAL, NULL);
    double operations[4] = {0}, before = -1;
    const char *record;
    result r;

    (void)state;
    write_result(run, &r);
    for (uint32_t at = 0; (record = record_at(&r, "slice", at)) != NULL; at++) {
        assert_int_equal(number(record, "index"), at);
        for (uint32_t phase = 1; phase < 4; phase++)
            if (is_text(record, "phase", names[phase]))
                operations[phase] += number(record, "operations");
        assert_true(number(record, "wall_ns") > 0);
        assert_true(has_number(record, "cpu_ns"));
        assert_true(has_number(record, "busy_ns"));
        assert_true(has_number(record, "wait_ns"));
    }
    for (uint32_t at = 0; at < 4; at++) {
        record = record_at(&r, "phase", at);
        assert_int_equal(number(record, "index") + 1, at); /* -1: the baseline */
        assert_text(record, "name", names[at]);
        assert_int_equal(strncmp(json_find(record, "timed"), "true", 4) == 0, at == 2);
        assert_int_equal(number(record, "operations"), operations[at]);
        assert_int_equal(number(record, "live_blocks"), at == 1 || at == 2 ? 256 : 0);
        if (at > 0) /* there was no block before */
            assert_true(number(record, "usable_bytes") >= number(record, "live_bytes"));
        assert_true(number(record, "memory.rss_bytes") > 0);
        assert_true(number(record, "memory.pss_bytes") > 0);
        assert_true(number(record, "time_ns") >= before);
        before = number(record, "time_ns");
    }
    assert_null(record_at(&r, "phase", 4));
    before = -1;
    for (uint32_t at = 0; (record = record_at(&r, "reading", at)) != NULL; at++) {
        assert_true(number(record, "time_ns") > before);
        before = number(record, "time_ns");
        assert_true(number(record, "rss_bytes") > 0);
    }
    assert_true(before >= 0); /* there was one */
    free_result(&r);
    abench_run_destroy(run);
}

static void a_result_file_and_a_written_result_are_the_same(void **state)
{
    char path[] = "/tmp/allocbench-result-XXXXXX";
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    const int fd = memfd_create("result", MFD_CLOEXEC), made = mkstemp(path);
    abench_run *run = NULL;
    char *one, *other;
    int file;

    (void)state;
    close(made);
    unlink(path);
    o.result_path = path;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_OK);
    assert_int_equal(abench_run_play(run, LOCAL, NULL), ABENCH_OK);
    assert_int_equal(abench_run_write(run, fd, ABENCH_FORMAT_JSONL), ABENCH_OK);
    file = open(path, O_RDONLY);
    one = read_whole(file);
    other = read_whole(fd);
    assert_string_equal(one, other);
    assert_non_null(strstr(one, "{\"record\":\"end\""));
    free(one);
    free(other);
    close(file);
    close(fd);
    unlink(path);
    abench_run_destroy(run);
}

/* ---- metrics --------------------------------------------------------------------------------- */

static double sum_of_steady(const result *r, const char *key)
{
    const char *record;
    double sum = 0;

    for (uint32_t at = 0; (record = record_at(r, "slice", at)) != NULL; at++)
        if (is_text(record, "phase", "steady"))
            sum += number(record, key);
    return sum;
}

static void assert_times(const abench_run *run, const result *r)
{
    const int one_lane = number(r->lines[0], "lanes") == 1;
    double each[256];
    uint32_t count = 0, steady = 0;
    const char *record;

    for (uint32_t at = 0; (record = record_at(r, "slice", at)) != NULL; at++) {
        if (!is_text(record, "phase", "steady"))
            continue;
        assert_true(count < 256);
        if (steady++ > 0) /* the first is cold */
            each[count++] =
                number(record, one_lane ? "cpu_ns" : "busy_ns") / number(record, "operations");
    }
    assert_true(count >= 4);
    assert_metric(run, "time_ns_per_operation", median(each, count));
    assert_metric(run, "operations", sum_of_steady(r, "operations"));
    assert_metric(run, "wall_ns", sum_of_steady(r, "wall_ns"));
    assert_metric(run, "cpu_ns", sum_of_steady(r, "cpu_ns"));
    assert_metric(run, "busy_ns", sum_of_steady(r, "busy_ns"));
    assert_metric(run, "wait_ns", sum_of_steady(r, "wait_ns"));
    assert_true(metric(run, "duration_ns") >=
                number(record_of(r, "phase", "name", "drain"), "time_ns"));
}

static double growth(const char *at, const char *base, const char *key)
{
    return number(at, key) - number(base, key);
}

/* VmHWM may lie below an exact reading. */
static double highest_rss(const result *r)
{
    double highest = 0;
    const char *record;

    for (uint32_t at = 1; (record = record_at(r, "phase", at)) != NULL; at++) {
        const double rss = number(record, "memory.rss_bytes");
        const double hwm = number(record, "memory.hwm_bytes");
        highest = rss > highest ? rss : highest;
        highest = hwm > highest ? hwm : highest;
    }
    for (uint32_t at = 0; (record = record_at(r, "slice", at)) != NULL; at++)
        if (number(record, "rss_bytes") > highest)
            highest = number(record, "rss_bytes");
    return highest;
}

static void assert_memory(const abench_run *run, const result *r)
{
    const char *base = record_of(r, "phase", "name", "baseline");
    const char *point = record_of(r, "phase", "name", "steady");
    const char *end = record_of(r, "phase", "name", "drain");
    const double live = number(point, "live_bytes");
    static double rss[RESULT_LINES_MAX];
    const char *record;
    uint32_t count = 0;

    assert_metric(run, "live_bytes", live);
    assert_metric(run, "usable_bytes", number(point, "usable_bytes"));
    assert_metric(run, "usable_per_live", number(point, "usable_bytes") / live);
    assert_metric(run, "rss_bytes", growth(point, base, "memory.rss_bytes"));
    assert_metric(run, "rss_per_live", growth(point, base, "memory.rss_bytes") / live);
    assert_metric(run, "pss_bytes", growth(point, base, "memory.pss_bytes"));
    assert_metric(run, "private_dirty_bytes", growth(point, base, "memory.private_dirty_bytes"));
    assert_metric(run, "lazyfree_bytes", number(point, "memory.lazyfree_bytes"));
    assert_metric(run, "rss_drained_bytes", growth(end, base, "memory.rss_bytes"));
    assert_metric(run, "rss_peak_bytes", highest_rss(r) - number(base, "memory.rss_bytes"));
    assert_metric(run, "rss_baseline_bytes", number(base, "memory.rss_bytes"));
    assert_metric(run, "minor_faults", growth(end, base, "memory.minor_faults"));
    assert_metric(run, "major_faults", growth(end, base, "memory.major_faults"));
    for (uint32_t at = 0; (record = record_at(r, "reading", at)) != NULL; at++)
        rss[count++] = number(record, "rss_bytes");
    assert_metric(run, "rss_median_bytes", median(rss, count) - number(base, "memory.rss_bytes"));
}

static void every_metric_is_what_its_formula_says(void **state)
{
    static const char *const specs[] = {LOCAL, TWO};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_run *run = play(specs[at], NULL);
        result r;
        write_result(run, &r);
        assert_times(run, &r);
        assert_memory(run, &r);
        free_result(&r);
        abench_run_destroy(run);
    }
}

static void a_phase_of_one_slice_is_timed_by_it(void **state)
{
    abench_run *run = make_run(1000000);
    const char *record;
    result r;

    (void)state;
    assert_int_equal(abench_run_play(run, "mixed:slots=64,steps=3000", NULL), ABENCH_OK);
    write_result(run, &r);
    record = record_of(&r, "slice", "phase", "steady");
    assert_metric(run, "time_ns_per_operation",
                  number(record, "cpu_ns") / number(record, "operations"));
    free_result(&r);
    abench_run_destroy(run);
}

/* Of a latency that too few samples lie behind, or of own work. */
static int is_of_latency(const char *name)
{
    return strncmp(name, "request", 7) == 0 || strstr(name, "_p50_ns") != NULL ||
           strstr(name, "_p99") != NULL;
}

/* Where RSS is largest when nothing is live any more, as with a sanitizer's malloc, which gives
 * nothing back. */
static int may_lack(const char *name)
{
    return strcmp(name, "fragmentation_at_rss_peak") == 0;
}

static void metrics_can_be_listed_and_stand_in_the_file(void **state)
{
    static const char *const directions[] = {"none", "lower", "higher"};
    abench_metric_info info = ABENCH_METRIC_INFO_INIT, other = ABENCH_METRIC_INFO_INIT;
    abench_run *run = play(LOCAL, NULL);
    uint32_t at = 0, present = 0, absent = 0;
    result r;

    (void)state;
    write_result(run, &r);
    for (; abench_metric_at(at, &info) == ABENCH_OK; at++) {
        const char *record = record_of(&r, "metric", "name", info.name);
        double value;
        assert_true(strlen(info.summary) > 10);
        assert_true(info.direction <= ABENCH_DIRECTION_HIGHER);
        assert_true(strcmp(info.unit, "ns") == 0 || strcmp(info.unit, "bytes") == 0 ||
                    strcmp(info.unit, "ratio") == 0 || strcmp(info.unit, "count") == 0 ||
                    strcmp(info.unit, "1/s") == 0);
        for (uint32_t before = 0; before < at; before++) {
            assert_int_equal(abench_metric_at(before, &other), ABENCH_OK);
            assert_string_not_equal(other.name, info.name);
        }
        if (abench_run_metric(run, info.name, &value) != ABENCH_OK) {
            absent += !is_of_latency(info.name) && !may_lack(info.name);
            continue;
        }
        present++;
        assert_text(record, "unit", info.unit);
        assert_text(record, "direction", directions[info.direction]);
        assert_true(number(record, "value") == value); /* 17 digits lose nothing */
    }
    assert_int_equal(at, 67);
    assert_int_equal(absent, 7); /* it had no peak, did not settle, and was not purged */
    assert_null(record_at(&r, "metric", present));
    assert_int_equal(abench_metric_at(at, &info), ABENCH_ERROR_NOT_FOUND);
    free_result(&r);
    abench_run_destroy(run);
}

static void a_second_play_does_not_relabel_the_first(void **state)
{
    abench_run *run = make_run(0);
    result r;

    (void)state;
    assert_int_equal(abench_run_play(run, "mixed:slots=16,steps=100", NULL), ABENCH_OK);
    assert_int_equal(abench_run_play(run, "churn-local:slots=16", NULL), ABENCH_ERROR_STATE);
    write_result(run, &r);
    assert_non_null(strstr(r.lines[0], "\"workload\":\"mixed/1:"));
    free_result(&r);
    abench_run_destroy(run);
}

static void what_was_not_measured_is_not_found_rather_than_0(void **state)
{
    static const char *const of_a_tape[] = {
        "time_ns_per_operation", "operations",      "busy_ns",      "live_bytes",
        "usable_bytes",          "usable_per_live", "rss_per_live", "rss_drained_bytes"};
    abench_allocator allocator = honest_allocator();
    abench_run *run = make_run(0);
    double value = 77;
    result r;

    (void)state;
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    write_result(run, &r);
    for (size_t at = 0; at < sizeof of_a_tape / sizeof of_a_tape[0]; at++) {
        assert_int_equal(abench_run_metric(run, of_a_tape[at], &value), ABENCH_ERROR_NOT_FOUND);
        assert_null(record_of(&r, "metric", "name", of_a_tape[at]));
    }
    assert_int_equal(abench_run_metric(run, "nonsense", &value), ABENCH_ERROR_NOT_FOUND);
    assert_true(value == 77);
    free_result(&r);
    abench_run_destroy(run);

    allocator.usable_size = NULL;
    run = play("mixed:slots=16,steps=100,sizes=fixed:64", &allocator);
    write_result(run, &r);
    assert_int_equal(abench_run_metric(run, "usable_bytes", &value), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_run_metric(run, "usable_per_live", &value), ABENCH_ERROR_NOT_FOUND);
    assert_metric(run, "live_bytes", 16 * 64);
    assert_null(json_find(record_at(&r, "phase", 1), "usable_bytes"));
    assert_int_equal(strncmp(json_find(r.lines[0], "own_allocator"), "true", 4), 0);
    free_result(&r);
    abench_run_destroy(run);
}

/* ---- results that are none ------------------------------------------------------------------- */

static void a_full_disk_is_an_error(void **state)
{
    const int fd = open("/dev/full", O_WRONLY);
    abench_run *run = play(LOCAL, NULL);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(abench_run_write(run, fd, ABENCH_FORMAT_JSONL), ABENCH_ERROR_SYSTEM);
    assert_int_equal(abench_run_error(run)->sys_errno, ENOSPC);
    assert_non_null(strstr(abench_run_error(run)->message, "the result cannot be written: "));
    assert_int_equal(abench_run_write(run, -1, ABENCH_FORMAT_JSONL), ABENCH_ERROR_SYSTEM);
    assert_int_equal(abench_run_error(run)->sys_errno, EBADF);
    close(fd);
    abench_run_destroy(run);
}

/* Plays into path with files limited to so many bytes; the exit code is minus the status. */
static int status_of_a_play_with_files_up_to(const char *path, rlim_t bytes)
{
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        const struct rlimit limit = {bytes, bytes};
        abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
        abench_run *run = NULL;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        o.result_path = path;
        if (abench_run_create(&o, &run) != ABENCH_OK)
            _exit(100);
        status = -abench_run_play(run, "mixed:slots=16,steps=1000", NULL);
        if (status != 0 && abench_run_error(run)->sys_errno != EFBIG)
            _exit(101);
        abench_run_destroy(run);
        _exit(status);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_result_that_does_not_fit_has_no_end_record(void **state)
{
    static const rlim_t limits[] = {100, 3500}; /* within the manifest; behind it */
    char path[] = "/tmp/allocbench-result-XXXXXX";

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        char *text;
        int fd;
        strcpy(path + sizeof path - 7, "XXXXXX");
        close(mkstemp(path));
        unlink(path);
        assert_int_equal(status_of_a_play_with_files_up_to(path, limits[at]), -ABENCH_ERROR_SYSTEM);
        fd = open(path, O_RDONLY);
        text = read_whole(fd);
        assert_true(strlen(text) > 0);
        assert_null(strstr(text, "\"record\":\"end\""));
        free(text);
        close(fd);
        unlink(path);
    }
}

static void *short_malloc(size_t size)
{
    return size == 64 ? NULL : honest_malloc(size);
}

static void a_run_whose_receipt_is_short_has_no_result(void **state)
{
    char path[] = "/tmp/allocbench-result-XXXXXX";
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_allocator allocator = honest_allocator();
    abench_run *run = NULL;
    double value;
    result r;

    (void)state;
    close(mkstemp(path));
    unlink(path);
    o.result_path = path;
    allocator.malloc = short_malloc;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_OK);
    assert_int_equal(
        abench_run_play(run, "mixed:slots=4,steps=10,sizes=mix:50%64,50%65", &allocator),
        ABENCH_ERROR_RECEIPT);
    assert_non_null(strstr(abench_run_error(run)->message, "allocations failed"));
    assert_int_equal(abench_run_metric(run, "live_bytes", &value), ABENCH_ERROR_STATE);
    assert_int_equal(abench_run_write(run, 1, ABENCH_FORMAT_JSONL), ABENCH_ERROR_STATE);
    abench_run_destroy(run);
    read_result_at(path, &r);
    assert_int_equal(r.count, 1); /* the manifest */
    free_result(&r);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_begins_with_its_manifest_and_ends_with_its_receipt),
        cmocka_unit_test(the_receipt_is_in_the_end_record),
        cmocka_unit_test(phases_slices_and_readings_are_in_the_file),
        cmocka_unit_test(a_result_file_and_a_written_result_are_the_same),
        cmocka_unit_test(every_metric_is_what_its_formula_says),
        cmocka_unit_test(a_phase_of_one_slice_is_timed_by_it),
        cmocka_unit_test(metrics_can_be_listed_and_stand_in_the_file),
        cmocka_unit_test(a_second_play_does_not_relabel_the_first),
        cmocka_unit_test(what_was_not_measured_is_not_found_rather_than_0),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(a_result_that_does_not_fit_has_no_end_record),
        cmocka_unit_test(a_run_whose_receipt_is_short_has_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
