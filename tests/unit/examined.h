/*
 * examined.h - asking the doctor of a machine, in tests. Included after cmocka.h.
 */
#ifndef TESTS_UNIT_EXAMINED_H
#define TESTS_UNIT_EXAMINED_H

#include <string.h>

#include <allocbench/machine.h>

#include "machine/check.h"

#include "kernel_files.h"

static abench_doctor *doctor;

static inline void examine(const char *root)
{
    abench_doctor_options options = ABENCH_DOCTOR_OPTIONS_INIT;

    abench_doctor_destroy(doctor);
    options.root = root;
    options.window_ms = 1;
    assert_int_equal(abench_doctor_create(&options, &doctor), ABENCH_OK);
    assert_int_equal(abench__doctor_truncated(doctor), 0);
}

static inline int discharge(void **state)
{
    (void)state;
    abench_doctor_destroy(doctor);
    doctor = NULL;
    return 0;
}

/* Looks for a finding by name. */
static inline int has_finding(const char *name, abench_finding *finding)
{
    abench_finding_init(finding);
    for (uint32_t i = 0; abench_doctor_at(doctor, i, finding) == ABENCH_OK; i++)
        if (strcmp(finding->name, name) == 0)
            return 1;
    return 0;
}

typedef struct expected {
    const char *name;
    uint32_t verdict;
    const char *value;
} expected;

static inline void check(const expected *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        abench_finding finding;
        if (!has_finding(list[i].name, &finding))
            fail_msg("no finding %s", list[i].name);
        if (finding.verdict != list[i].verdict || strcmp(finding.value, list[i].value) != 0)
            fail_msg("%s: %s, \"%s\"; expected %s, \"%s\"", list[i].name,
                     abench_verdict_name(finding.verdict), finding.value,
                     abench_verdict_name(list[i].verdict), list[i].value);
    }
}

#define CHECK(list) check(list, sizeof(list) / sizeof(list)[0])
#define OK          ABENCH_VERDICT_OK
#define UNKNOWN     ABENCH_VERDICT_UNKNOWN
#define WARN        ABENCH_VERDICT_WARN
#define REFUSE      ABENCH_VERDICT_REFUSE

static inline int leave_folder(void **state)
{
    discharge(state);
    return remove_folder(state);
}

#define EXAMINED(test)     cmocka_unit_test_teardown(test, discharge)
#define MADE_MACHINE(test) cmocka_unit_test_setup_teardown(test, make_folder, leave_folder)

#endif
