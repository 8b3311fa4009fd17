#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/oom.h"
#include "tool/util.h"

static void the_machines_count_is_that_of_vmstat(void **state)
{
    char *text = util_read_file("/proc/vmstat", 1 << 20, NULL);
    const char *line = text == NULL ? NULL : strstr(text, "\noom_kill ");
    unsigned long long expected = 0;
    oom_counts counts;

    (void)state;
    oom_read(&counts);
    if (line != NULL)
        expected = strtoull(line + strlen("\noom_kill "), NULL, 10);
    free(text);
    assert_int_equal(counts.has_machine, line != NULL);
    assert_true(counts.machine >= expected); /* another may have died since */
    assert_true(counts.machine < expected + 1000);
}

static void what_grew_is_said(void **state)
{
    const oom_counts before = {.group = 3, .machine = 7, .has_group = true, .has_machine = true};
    oom_counts after = before;

    (void)state;
    assert_string_equal(oom_between(&before, &after), "");
    after.machine = 8;
    assert_string_equal(oom_between(&before, &after),
                        " - out of memory: the machine counts 1 oom kill");
    after.group = 5;
    assert_string_equal(oom_between(&before, &after),
                        " - out of memory: the cgroup counts 2 oom kills");
}

static void a_count_that_could_not_be_read_says_nothing(void **state)
{
    const oom_counts nothing = {0}, something = {.group = 3, .machine = 7, .has_group = true};

    (void)state;
    assert_string_equal(oom_between(&nothing, &something), "");
    assert_string_equal(oom_between(&something, &nothing), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machines_count_is_that_of_vmstat),
        cmocka_unit_test(what_grew_is_said),
        cmocka_unit_test(a_count_that_could_not_be_read_says_nothing),
    };

    return cmocka_run_group_tests_name("tool_oom", tests, NULL, NULL);
}
