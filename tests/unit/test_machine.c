/* The machine's counters, and what changed between two readings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include <allocbench/machine.h>

#include "machine/check.h"
#include "machine/spin.h"

#include "kernel_files.h"

/* ---- changes --------------------------------------------------------------------------------- */

static abench_machine before, after;
static char shown[512]; /* "steal:warn swap:warn " */
static abench_finding last;
static uint32_t stop_at; /* visits, from 1; 0: never */
static uint32_t visits;

static int32_t on_change(const abench_finding *finding, void *user)
{
    const size_t length = strlen(shown);

    assert_ptr_equal(user, shown);
    assert_true(finding->value[0] != '\0' && finding->why[0] != '\0');
    assert_true(finding->advice[0] != '\0');
    assert_true(strlen(finding->value) < sizeof finding->value - 1); /* not cut */
    assert_true(strlen(finding->why) < sizeof finding->why - 1);
    assert_true(strlen(finding->advice) < sizeof finding->advice - 1);
    snprintf(shown + length, sizeof shown - length, "%s:%s ", finding->name,
             abench_verdict_name(finding->verdict));
    last = *finding;
    return ++visits == stop_at ? 42 : 0;
}

static const char *changes(void)
{
    shown[0] = '\0';
    visits = 0;
    memset(&last, 0, sizeof last);
    assert_int_equal(abench_machine_changes(&before, &after, on_change, shown), ABENCH_OK);
    return shown;
}

/* A second apart, on a machine that did nothing. */
static int make_quiet(void **state)
{
    (void)state;
    abench_machine_init(&before);
    before.valid = 0x7ff;
    before.time_ns = 1000000000;
    before.cpu_total_ticks = 100000;
    before.cpu_idle_ticks = 90000;
    before.steal_ticks = 500;
    before.cpu_some_us = before.memory_some_us = before.io_some_us = 1000000;
    before.throttles = before.swapped_pages = before.oom_kills = 10;
    before.memory_limit_bytes = (uint64_t)1 << 30;
    before.spin_ns = 2000000;
    before.cpus_online = before.cpus_allowed = 8;
    strcpy(before.thp, "madvise");
    strcpy(before.governor, "performance");
    after = before;
    after.time_ns += 1000000000;
    after.cpu_total_ticks += 10000;
    stop_at = 0;
    return 0;
}

static void a_quiet_machine_shows_nothing(void **state)
{
    (void)state;
    assert_string_equal(changes(), "");
    after.runnable = 100; /* which is no change, but another look */
    assert_string_equal(changes(), "");
}

static void steal_is_weighed_against_all_cpu_time(void **state)
{
    (void)state;
    after.steal_ticks = before.steal_ticks + 101; /* one of them may be a rounding */
    assert_string_equal(changes(), "");
    after.steal_ticks = before.steal_ticks + 102;
    assert_string_equal(changes(), "steal:warn ");
    assert_string_equal(last.value, "1.0 % of the CPU time was stolen");
    after.steal_ticks = before.steal_ticks + 501;
    assert_string_equal(changes(), "steal:warn ");
    after.steal_ticks = before.steal_ticks + 502;
    assert_string_equal(changes(), "steal:refuse ");
    after.cpu_total_ticks = before.cpu_total_ticks + 4; /* a window so short that a tick is much */
    after.steal_ticks = before.steal_ticks + 1;
    assert_string_equal(changes(), "");
}

static void memory_pressure_is_weighed_against_the_wall_time(void **state)
{
    (void)state;
    after.memory_some_us = before.memory_some_us + 10000;
    assert_string_equal(changes(), "");
    after.memory_some_us++;
    assert_string_equal(changes(), "memory-pressure:refuse ");
    assert_string_equal(last.value, "tasks waited for memory 1.0 % of the time");
}

static void counters_that_should_stand_still_are_told(void **state)
{
    (void)state;
    after.swapped_pages += 3;
    assert_string_equal(changes(), "swap:warn ");
    assert_string_equal(last.value, "3 pages were swapped, somewhere on this machine");
    after.swapped_pages = before.swapped_pages + 256;
    assert_string_equal(changes(), "swap:warn ");
    after.swapped_pages++; /* more than 1 MiB of RSS may be gone */
    assert_string_equal(changes(), "swap:refuse ");
    after.swapped_pages = before.swapped_pages + 1;
    assert_string_equal(changes(), "swap:warn ");
    assert_string_equal(last.value, "1 page was swapped, somewhere on this machine");
    make_quiet(NULL);
    after.throttles++;
    assert_string_equal(changes(), "throttled:refuse ");
    assert_string_equal(last.value, "1 time the quota was used up");
    make_quiet(NULL);
    after.oom_kills++;
    assert_string_equal(changes(), "oom:refuse ");
    assert_string_equal(last.value, "1 process was killed for lack of memory");
}

static void what_was_set_differently_is_refused(void **state)
{
    (void)state;
    strcpy(after.thp, "always");
    assert_string_equal(changes(), "thp:refuse ");
    assert_string_equal(last.value, "from madvise to always");
    assert_int_equal(last.is_key, 1);
    make_quiet(NULL);
    strcpy(after.governor, "powersave");
    assert_string_equal(changes(), "governor:refuse ");
    assert_int_equal(last.is_key, 0);
    make_quiet(NULL);
    after.cpus_allowed = 4;
    assert_string_equal(changes(), "cpus:refuse ");
    assert_string_equal(last.value, "from 8 online, 8 allowed to 8, 4");
    make_quiet(NULL);
    after.cpus_online = 7;
    assert_string_equal(changes(), "cpus:refuse ");
    make_quiet(NULL);
    after.memory_limit_bytes = 0;
    assert_string_equal(changes(), "memory-limit:refuse ");
    assert_string_equal(last.value, "from 1 GiB to none");
}

static void speed_warns_in_both_directions_and_never_refuses(void **state)
{
    (void)state;
    after.spin_ns = 2060000;
    assert_string_equal(changes(), "");
    after.spin_ns = 2060001;
    assert_string_equal(changes(), "speed:warn ");
    assert_string_equal(last.value, "the CPU was 3.0 % slower afterwards");
    after.spin_ns = 1000000;
    assert_string_equal(changes(), "speed:warn ");
    assert_string_equal(last.value, "the CPU was 100.0 % slower before");
    after.spin_ns = 200000000000;
    assert_string_equal(changes(), "speed:warn ");
    after.spin_ns = 0;
    assert_string_equal(changes(), "");
}

static void the_worst_come_last(void **state)
{
    (void)state;
    after.oom_kills++;
    after.swapped_pages++;
    after.steal_ticks += 5000;
    after.spin_ns *= 2;
    after.throttles++;
    assert_string_equal(changes(),
                        "swap:warn speed:warn steal:refuse throttled:refuse oom:refuse ");
}

/* A counter that went backwards tells nothing: the CPU was switched off, the group made anew. */
static void what_went_backwards_or_is_absent_is_left_out(void **state)
{
    (void)state;
    after.steal_ticks = after.throttles = after.swapped_pages = after.oom_kills = 0;
    after.memory_some_us = 0;
    assert_string_equal(changes(), "");
    make_quiet(NULL);
    after.steal_ticks = UINT64_MAX;
    after.cpu_total_ticks = 0;
    after.memory_some_us = UINT64_MAX;
    after.time_ns = 0;
    assert_string_equal(changes(), "");
    make_quiet(NULL);
    after.steal_ticks = after.memory_some_us = after.throttles = after.swapped_pages = UINT64_MAX;
    after.cpu_total_ticks = after.time_ns = UINT64_MAX;
    assert_string_equal(changes(),
                        "steal:refuse swap:refuse throttled:refuse memory-pressure:refuse ");
    after.valid = 0;
    assert_string_equal(changes(), "");
    after.valid = 0x7ff;
    before.valid = 0;
    assert_string_equal(changes(), "");
}

static void a_visitor_may_stop(void **state)
{
    (void)state;
    after.oom_kills++;
    after.throttles++;
    after.swapped_pages++;
    stop_at = 2;
    shown[0] = '\0';
    visits = 0;
    assert_int_equal(abench_machine_changes(&before, &after, on_change, shown), 42);
    assert_int_equal(visits, 2);
    assert_int_equal(abench_machine_changes(NULL, &after, on_change, NULL), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_machine_changes(&before, NULL, on_change, NULL), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_machine_changes(&before, &after, NULL, NULL), ABENCH_ERROR_ARGUMENT);
    before.struct_size = 8; /* below what any release had */
    assert_int_equal(abench_machine_changes(&before, &after, on_change, NULL),
                     ABENCH_ERROR_ARGUMENT);
    before.struct_size = sizeof before;
    memset(after.thp, 'x', sizeof after.thp); /* does not end */
    assert_int_equal(abench_machine_changes(&before, &after, on_change, shown), ABENCH_OK);
}

/* ---- readings -------------------------------------------------------------------------------- */

static void a_recorded_machine_is_read_from_its_files(void **state)
{
    abench_machine machine;

    (void)state;
    abench__machine_take(recorded("guest"), 0, 0, &machine);
    assert_int_equal(machine.valid,
                     ABENCH_MACHINE_CPU | ABENCH_MACHINE_LOAD | ABENCH_MACHINE_PRESSURE |
                         ABENCH_MACHINE_THROTTLED | ABENCH_MACHINE_SWAP | ABENCH_MACHINE_OOM |
                         ABENCH_MACHINE_CPUS | ABENCH_MACHINE_THP | ABENCH_MACHINE_MEMORY_LIMIT);
    assert_int_equal(machine.steal_ticks, 121700);
    assert_int_equal(machine.cpu_total_ticks,
                     1534026 + 2 + 604820 + 1039090 + 5481 + 2965 + 121700);
    assert_int_equal(machine.cpu_idle_ticks, 1039090 + 5481);
    assert_int_equal(machine.runnable, 5);
    assert_int_equal(machine.oom_kills, 328);
    assert_int_equal(machine.cpus_online, 2);
    assert_int_equal(machine.cpus_allowed, 2);
    assert_true(machine.memory_limit_bytes == 4294967296u);
    assert_string_equal(machine.thp, "madvise");
    abench__machine_take(recorded("laptop"), 0, 0, &machine);
    assert_int_equal(machine.swapped_pages, 1020 + 4180);
    assert_string_equal(machine.governor, "powersave");
    assert_int_equal(machine.valid & ABENCH_MACHINE_THROTTLED, 0);
}

static void nothing_to_read_is_nothing_valid(void **state)
{
    abench_machine machine;

    (void)state;
    abench__machine_take(folder, 0, 0, &machine);
    assert_int_equal(machine.valid, 0);
    assert_true(machine.time_ns != 0);
    abench__machine_take(folder, 1, 0,
                         &machine); /* what system calls tell is there without files */
    assert_int_equal(machine.valid, ABENCH_MACHINE_CPUS);
}

static void half_a_counter_is_none(void **state)
{
    abench_machine machine;

    (void)state;
    write_file("proc/vmstat", "pswpin 5\noom_kill 3\n");
    write_file("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
    write_file("sys/devices/system/cpu/online", "0-1\n");
    abench__machine_take(folder, 0, 0, &machine);
    assert_int_equal(machine.valid, ABENCH_MACHINE_OOM);
    assert_int_equal(machine.swapped_pages, 0);
    assert_int_equal(machine.cpu_some_us, 0);
    assert_int_equal(machine.oom_kills, 3);
}

static void this_machine_is_read(void **state)
{
    abench_machine first = ABENCH_MACHINE_INIT, second = ABENCH_MACHINE_INIT;

    (void)state;
    assert_int_equal(abench_machine_read(1, &first), ABENCH_OK);
    assert_int_equal(abench_machine_read(0, &second), ABENCH_OK);
    assert_true((first.valid & ABENCH_MACHINE_SPIN) != 0 && first.spin_ns > 0);
    assert_true((second.valid & ABENCH_MACHINE_SPIN) == 0 && second.spin_ns == 0);
    assert_true((first.valid & ABENCH_MACHINE_CPUS) != 0);
    assert_int_equal(first.cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true((first.valid & ABENCH_MACHINE_CPU) != 0);
    assert_true(second.cpu_total_ticks >= first.cpu_total_ticks);
    assert_true(second.time_ns > first.time_ns);
    assert_true(first.cpu_idle_ticks < first.cpu_total_ticks);
    first.struct_size = 8;
    assert_int_equal(abench_machine_read(0, &first), ABENCH_ERROR_ARGUMENT);
}

/* A loop that a compiler had thrown away, or worked out, would take next to nothing: a step takes
 * at least six cycles, of which no CPU makes more than 10 a nanosecond. */
static void the_spin_is_real_work(void **state)
{
    (void)state;
    assert_true(abench__spin_ns() > 600000);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *percent(uint64_t part, uint64_t whole)
{
    static char field[32];
    abench__text text;

    abench__text_init(&text, field, sizeof field);
    abench__put_percent(&text, part, whole);
    return field;
}

static const char *bytes(uint64_t count)
{
    static char field[32];
    abench__text text;

    abench__text_init(&text, field, sizeof field);
    abench__put_bytes(&text, count);
    return field;
}

static void numbers_are_written_for_people(void **state)
{
    (void)state;
    assert_string_equal(percent(1, 3), "33.3 %");
    assert_string_equal(percent(0, 0), "0.0 %");
    assert_string_equal(percent(UINT64_MAX, UINT64_MAX), "100.0 %");
    assert_string_equal(percent(UINT64_MAX, 1), "0.0 %"); /* nothing is halved to nothing */
    assert_string_equal(percent(UINT64_MAX / 1024, UINT64_MAX), "0.1 %");
    assert_string_equal(bytes(0), "0 B");
    assert_string_equal(bytes(1023), "1023 B");
    assert_string_equal(bytes(1024), "1 KiB");
    assert_string_equal(bytes(1536), "1.5 KiB");
    assert_string_equal(bytes((uint64_t)24668168 * 1024), "23.5 GiB");
    assert_string_equal(bytes(UINT64_MAX), "15.9 EiB");
}

static void foreign_text_is_cut_and_made_readable(void **state)
{
    char field[32];
    abench__text text;

    (void)state;
    abench__text_init(&text, field, sizeof field);
    abench__put_foreign(&text, "a\x1b[1mb\nc", 20);
    assert_string_equal(field, "a?[1mb c");
    abench__text_init(&text, field, sizeof field);
    abench__put_foreign(&text, "0123456789", 10);
    assert_string_equal(field, "0123456789");
    abench__text_init(&text, field, sizeof field);
    abench__put_foreign(&text, "0123456789a", 10);
    assert_string_equal(field, "0123456...");
}

static void shares_compare_without_overflow(void **state)
{
    (void)state;
    assert_false(abench__exceeds(1, 100, 1));
    assert_true(abench__exceeds(2, 100, 1));
    assert_false(abench__exceeds(6, 150, 5)); /* of 7.5 */
    assert_false(abench__exceeds(7, 150, 5));
    assert_true(abench__exceeds(8, 150, 5));
    assert_true(abench__exceeds(1, 0, 5));
    assert_false(abench__exceeds(0, 0, 5));
    assert_false(abench__exceeds(UINT64_MAX / 100, UINT64_MAX, 1));
    assert_true(abench__exceeds(UINT64_MAX / 100 + 1, UINT64_MAX, 1));
    assert_true(abench__exceeds(UINT64_MAX, UINT64_MAX, 99));
}

#define QUIET(test) cmocka_unit_test_setup(test, make_quiet)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUIET(a_quiet_machine_shows_nothing),
        QUIET(steal_is_weighed_against_all_cpu_time),
        QUIET(memory_pressure_is_weighed_against_the_wall_time),
        QUIET(counters_that_should_stand_still_are_told),
        QUIET(what_was_set_differently_is_refused),
        QUIET(speed_warns_in_both_directions_and_never_refuses),
        QUIET(the_worst_come_last),
        QUIET(what_went_backwards_or_is_absent_is_left_out),
        QUIET(a_visitor_may_stop),
        cmocka_unit_test(a_recorded_machine_is_read_from_its_files),
        IN_FOLDER(nothing_to_read_is_nothing_valid),
        IN_FOLDER(half_a_counter_is_none),
        cmocka_unit_test(this_machine_is_read),
        cmocka_unit_test(the_spin_is_real_work),
        cmocka_unit_test(numbers_are_written_for_people),
        cmocka_unit_test(foreign_text_is_cut_and_made_readable),
        cmocka_unit_test(shares_compare_without_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
