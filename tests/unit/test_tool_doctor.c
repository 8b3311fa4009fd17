#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/doctor_print.h"
#include "tool/report/format.h"
#include "tool/terminal.h"

#define FINDINGS 5

static abench_finding findings[FINDINGS];

static void find(size_t at, uint32_t verdict, const char *name, const char *value)
{
    abench_finding *f = &findings[at];

    abench_finding_init(f);
    f->verdict = verdict;
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->value, sizeof f->value, "%s", value);
    snprintf(f->why, sizeof f->why, "because of %s", name);
    if (verdict == ABENCH_VERDICT_WARN || verdict == ABENCH_VERDICT_REFUSE)
        snprintf(f->advice, sizeof f->advice, "change %s", name);
}

static int set_up(void **state)
{
    (void)state;
    find(0, ABENCH_VERDICT_OK, "thp", "madvise");
    findings[0].is_key = 1;
    find(1, ABENCH_VERDICT_UNKNOWN, "turbo", "cannot be read");
    find(2, ABENCH_VERDICT_WARN, "governor", "powersave");
    find(3, ABENCH_VERDICT_UNKNOWN, "smt", "cannot be read");
    find(4, ABENCH_VERDICT_REFUSE, "steal", "7 % of the CPU time");
    return 0;
}

/* What doctor_print writes; free() it. */
static char *printed(doctor_style style)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    doctor_print(findings, FINDINGS, &style, out);
    fclose(out);
    return text;
}

static void assert_prints(doctor_style style, const char *expected)
{
    char *text = printed(style);

    assert_string_equal(text, expected);
    free(text);
}

static void warnings_come_with_why_and_what_to_do(void **state)
{
    (void)state;
    assert_prints((doctor_style){.width = 80},
                  "ok      thp       madvise\n"
                  "warn    governor  powersave\n"
                  "        why:  because of governor\n"
                  "        do:   change governor\n"
                  "refuse  steal     7 % of the CPU time\n"
                  "        why:  because of steal\n"
                  "        do:   change steal\n"
                  "unknown turbo, smt (this machine does not tell; --verbose says more)\n");
}

static void verbose_tells_all_of_each(void **state)
{
    (void)state;
    assert_prints((doctor_style){.width = 80, .is_verbose = true},
                  "ok      thp       madvise\n"
                  "        why:  because of thp\n"
                  "unknown turbo     cannot be read\n"
                  "        why:  because of turbo\n"
                  "warn    governor  powersave\n"
                  "        why:  because of governor\n"
                  "        do:   change governor\n"
                  "unknown smt       cannot be read\n"
                  "        why:  because of smt\n"
                  "refuse  steal     7 % of the CPU time\n"
                  "        why:  because of steal\n"
                  "        do:   change steal\n");
}

static void colour_is_beside_the_word(void **state)
{
    char *text = printed((doctor_style){.width = 80, .color = true});

    (void)state;
    assert_non_null(strstr(text, "\033[33mwarn   \033[0m governor"));
    assert_non_null(strstr(text, "\033[1;31mrefuse \033[0m steal"));
    free(text);
}

static void no_line_passes_the_width(void **state)
{
    (void)state;
    memset(findings[2].why, 'w', 200);
    for (size_t at = 7; at < 200; at += 8)
        findings[2].why[at] = ' ';
    for (size_t width = 40; width <= 160; width += 7) {
        char *text = printed((doctor_style){.width = width});
        for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
            if (format_width(line) > width)
                fail_msg("more than %zu columns: %s", width, line);
        free(text);
    }
}

static void what_a_file_holds_cannot_move_the_cursor(void **state)
{
    char *text;

    (void)state;
    snprintf(findings[0].value, sizeof findings[0].value, "a\033[2Jb\nc\xff");
    text = printed((doctor_style){.width = 80});
    assert_non_null(strstr(text, "ok      thp       a\\x1b[2Jb\\nc\\xff\n"));
    free(text);
}

static void each_verdict_is_counted(void **state)
{
    const doctor_counts counts = doctor_count(findings, FINDINGS);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_int_equal(counts.ok, 1);
    assert_int_equal(counts.warn, 1);
    assert_int_equal(counts.refuse, 1);
    assert_int_equal(counts.unknown, 2);
    doctor_print_counts(findings, FINDINGS, out);
    fclose(out);
    assert_string_equal(text, "1 ok, 1 warn, 1 refuse, 2 unknown\n");
    free(text);
}

static void json_has_every_field(void **state)
{
    json_t *list, *item;

    (void)state;
    snprintf(findings[2].value, sizeof findings[2].value, "no utf-8: \xff");
    list = doctor_json(findings, FINDINGS);
    assert_int_equal(json_array_size(list), FINDINGS);
    item = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(item, "name")), "thp");
    assert_string_equal(json_string_value(json_object_get(item, "verdict")), "ok");
    assert_true(json_is_true(json_object_get(item, "is_key")));
    assert_string_equal(json_string_value(json_object_get(item, "value")), "madvise");
    assert_string_equal(json_string_value(json_object_get(item, "why")), "because of thp");
    assert_string_equal(json_string_value(json_object_get(item, "advice")), "");
    item = json_array_get(list, 2);
    assert_true(json_is_false(json_object_get(item, "is_key")));
    assert_string_equal(json_string_value(json_object_get(item, "advice")), "change governor");
    assert_string_equal(json_string_value(json_object_get(item, "value")), "no utf-8: \\xff");
    json_decref(list);
}

static void the_doctor_is_asked_for_all_that_it_found(void **state)
{
    abench_doctor_options how = ABENCH_DOCTOR_OPTIONS_INIT;
    abench_doctor *doctor = NULL;
    abench_finding last = ABENCH_FINDING_INIT;
    abench_finding *all;
    size_t count;

    (void)state;
    how.window_ms = 1;
    assert_int_equal(abench_doctor_create(&how, &doctor), ABENCH_OK);
    all = doctor_findings(doctor, &count);
    assert_true(count > 10);
    assert_int_equal(abench_doctor_at(doctor, (uint32_t)count - 1, &last), ABENCH_OK);
    assert_string_equal(all[count - 1].name, last.name);
    assert_int_equal(abench_doctor_at(doctor, (uint32_t)count, &last), ABENCH_ERROR_NOT_FOUND);
    free(all);
    abench_doctor_destroy(doctor);
}

static void text_is_wrapped_at_blanks(void **state)
{
    char *text = terminal_wrap("  aa  bb cc dddddddddd e", 7, 2);

    (void)state;
    assert_string_equal(text, "aa bb\n  cc\n  dddddddddd\n  e");
    free(text);
    text = terminal_wrap("", 7, 2);
    assert_string_equal(text, "");
    free(text);
    text = terminal_wrap("\xc3\xa4\xc3\xa4\xc3\xa4 b", 7, 2); /* five columns, eight bytes */
    assert_string_equal(text, "\xc3\xa4\xc3\xa4\xc3\xa4 b");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(warnings_come_with_why_and_what_to_do, set_up),
        cmocka_unit_test_setup(verbose_tells_all_of_each, set_up),
        cmocka_unit_test_setup(colour_is_beside_the_word, set_up),
        cmocka_unit_test_setup(no_line_passes_the_width, set_up),
        cmocka_unit_test_setup(what_a_file_holds_cannot_move_the_cursor, set_up),
        cmocka_unit_test_setup(each_verdict_is_counted, set_up),
        cmocka_unit_test_setup(json_has_every_field, set_up),
        cmocka_unit_test(the_doctor_is_asked_for_all_that_it_found),
        cmocka_unit_test(text_is_wrapped_at_blanks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
