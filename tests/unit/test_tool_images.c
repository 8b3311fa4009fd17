#include "image_lines.h"

/* ---- judging --------------------------------------------------------------------------------- */

static void all_reported_the_wanted_one(void **state)
{
    const tree_image seen[] = {seen_image(10, "/bin/sh", 500), seen_image(11, "/bin/cat", 600)};

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    add_start(11, "/bin/cat", 600, JEMALLOC, 0);
    judge(seen, 2, &want_jemalloc, NULL, 0, 0);
}

static void images_too_short_to_be_seen_are_counted(void **state)
{
    const tree_image seen[] = {seen_image(10, "/bin/sh", 500)};

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    add_start(11, "/bin/cat", 600, JEMALLOC, 0);
    add_start(12, "/bin/cat", 700, JEMALLOC, 0);
    judge(seen, 1, &want_jemalloc, NULL, 2, 0);
}

static void an_image_that_did_not_report_is_named(void **state)
{
    const tree_image seen[] = {seen_image(10, "/bin/sh", 500), seen_image(11, "/gone/cat", 600),
                               seen_image(12, "/gone/tr", 700)};

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    judge(seen, 3, &want_jemalloc,
          "/gone/cat (pid 11) did not report who serves its malloc: its environment was emptied, "
          "or it is static (and 1 more)",
          0, 2);
}

/* Each part of the key alone makes another image. */
static void another_image_of_the_same_process_does_not_vouch(void **state)
{
    tree_image seen[] = {seen_image(10, "/gone/sh", 500)};

    (void)state;
    add_start(10, "/gone/sh", 500, JEMALLOC, 0);
    judge(seen, 1, &want_jemalloc, NULL, 0, 0);
    seen[0].start_stack++;
    judge(seen, 1, &want_jemalloc,
          "/gone/sh (pid 10) did not report who serves its malloc: its environment was emptied, "
          "or it is static",
          1, 1);
    seen[0].start_stack--;
    seen[0].start_code++;
    judge(seen, 1, &want_jemalloc,
          "/gone/sh (pid 10) did not report who serves its malloc: its environment was emptied, "
          "or it is static",
          1, 1);
    seen[0].start_code--;
    seen[0].inode++;
    judge(seen, 1, &want_jemalloc,
          "/gone/sh (pid 10) did not report who serves its malloc: its environment was emptied, "
          "or it is static",
          1, 1);
    seen[0].inode--;
    seen[0].device++;
    judge(seen, 1, &want_jemalloc,
          "/gone/sh (pid 10) did not report who serves its malloc: its environment was emptied, "
          "or it is static",
          1, 1);
}

static void a_forked_child_is_vouched_for_by_its_parents_image(void **state)
{
    const tree_image seen[] = {seen_image(44, "/bin/sh", 500)}; /* first seen in the child */

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    judge(seen, 1, &want_jemalloc, NULL, 0, 0);
}

static void silence_can_be_allowed(void **state)
{
    const tree_image seen[] = {seen_image(10, "/gone/sh", 500)};
    images_wanted wanted = want_libc;
    images *reported;
    images_verdict verdict;

    (void)state;
    wanted.may_be_silent = true;
    judge(seen, 1, &wanted, NULL, 0, 1);
    reported = read_lines();
    images_judge(reported, seen, 1, &wanted, 10, &verdict);
    assert_non_null(strstr(verdict.silence, "/gone/sh (pid 10)"));
    assert_null(verdict.root);
    images_verdict_clear(&verdict);
    images_free(reported);
}

static void another_provider_is_refused_even_when_silence_is_allowed(void **state)
{
    images_wanted wanted = want_libc;

    (void)state;
    wanted.may_be_silent = true;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    judge(NULL, 0, &wanted,
          "/bin/sh (pid 10): malloc is served by /lib/je.so (jemalloc 5.3.0), not by the C library "
          "(glibc)",
          1, 0);
}

static void the_wrong_provider_is_named(void **state)
{
    const tree_image seen[] = {seen_image(10, "/bin/sh", 500), seen_image(11, "/bin/cat", 600)};

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    add_start(11, "/bin/cat", 600, GLIBC, 0);
    judge(seen, 2, &want_jemalloc,
          "/bin/cat (pid 11): malloc is served by /lib/libc.so.6 (glibc 2.36), not by /lib/je.so",
          0, 0);
    /* and too short to be seen does not help */
    judge(seen, 1, &want_jemalloc,
          "/bin/cat (pid 11): malloc is served by /lib/libc.so.6 (glibc 2.36), not by /lib/je.so",
          1, 0);
}

static void another_file_of_the_same_family_is_wrong(void **state)
{
    images_wanted wanted = want_jemalloc;

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    wanted.inode = 78;
    wanted.provider = "/opt/je.so";
    judge(NULL, 0, &wanted,
          "/bin/sh (pid 10): malloc is served by /lib/je.so (jemalloc 5.3.0), not by /opt/je.so", 1,
          0);
}

static void a_mixed_allocator_is_refused(void **state)
{
    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 1);
    judge(NULL, 0, &want_jemalloc,
          "/bin/sh (pid 10): malloc is not served by /lib/je.so alone: malloc by /lib/je.so; "
          "calloc by /lib/other.so",
          1, 0);
    lines[0] = '\0';
    add_start(10, "/bin/sh", 500, GLIBC, 1);
    judge(NULL, 0, &want_libc,
          "/bin/sh (pid 10): malloc is not served by the C library (glibc) alone: malloc by "
          "/lib/libc.so.6; calloc by /lib/other.so",
          1, 0);
}

/* env reports, then execs a setuid program in the same process: nothing that the process said
 * vouches for what may not be looked at. */
static void a_hidden_image_is_not_vouched_for_by_its_process(void **state)
{
    tree_image seen[] = {seen_image(10, "/usr/bin/env", 500), seen_image(10, "?", 0)};

    (void)state;
    seen[1].hidden = true;
    seen[1].start_code = 1;
    add_start(10, "/usr/bin/env", 500, JEMALLOC, 0);
    judge(seen, 1, &want_jemalloc, NULL, 0, 0);
    judge(seen, 2, &want_jemalloc,
          "? (pid 10) did not report who serves its malloc: it runs as another user, or forbids to "
          "be looked at (PR_SET_DUMPABLE); allocbench as root could look",
          0, 1);
}

/* Without address randomisation two runs of one program look the same. */
static void images_that_look_alike_are_all_seen(void **state)
{
    const tree_image seen[] = {seen_image(10, "/bin/sh", 500)};

    (void)state;
    for (int pid = 10; pid < 14; pid++)
        add_start(pid, "/bin/sh", 500, JEMALLOC, 0);
    judge(seen, 1, &want_jemalloc, NULL, 0, 0);
}

static void a_report_without_a_mark_is_matched_by_its_process(void **state)
{
    const tree_image seen[] = {seen_image(10, "/gone/sh", 500), seen_image(11, "/gone/sh", 600)};

    (void)state;
    strcpy(lines, "{\"record\":\"probe\",\"event\":\"start\",\"pid\":10,\"ppid\":1,\"exe\":\"\","
                  "\"exe_device\":1,\"exe_inode\":1008," JEMALLOC
                  ",\"mixed\":0,\"static\":0,\"others\":\"\"}\n");
    judge(seen, 2, &want_jemalloc,
          "/gone/sh (pid 11) did not report who serves its malloc: its environment was emptied, "
          "or it is static",
          0, 1);
}

static void the_roots_first_report_is_the_cells(void **state)
{
    images *reported;
    images_verdict verdict;

    (void)state;
    add_start(9, "/bin/a", 400, GLIBC, 0);
    add_start(10, "/bin/env", 500, JEMALLOC, 0);
    add_start(10, "/bin/prog", 600, GLIBC, 0);
    reported = read_lines();
    images_judge(reported, NULL, 0, &want_jemalloc, 10, &verdict);
    assert_non_null(verdict.root);
    assert_string_equal(verdict.root->exe, "/bin/env");
    assert_string_equal(verdict.root->identity.version, "5.3.0");
    assert_string_equal(verdict.root->identity.build_id, "ab");
    assert_string_equal(verdict.root->identity.file, "/lib/je.so");
    assert_int_equal(verdict.root->identity.inode, 77);
    images_verdict_clear(&verdict);
    images_free(reported);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void settings_are_the_allocators_variables_in_order(void **state)
{
    char *envp[] = {(char *)"MALLOC_ARENA_MAX=2",
                    (char *)"HOME=/",
                    (char *)"LD_PRELOAD=x",
                    (char *)"GLIBC_TUNABLES=\xff\n",
                    (char *)"LD_AUDIT=x",
                    (char *)"MALLOC_",
                    NULL};
    char *none[] = {NULL};
    bool cut = true;
    char *text = images_settings(envp, &cut);

    (void)state;
    assert_string_equal(text, "GLIBC_TUNABLES=\?\?\nMALLOC_ARENA_MAX=2\n");
    assert_false(cut);
    free(text);
    text = images_settings(none, &cut);
    assert_string_equal(text, "");
    free(text);
}

static void settings_are_cut_where_the_probe_cuts_them(void **state)
{
    char value[1600], many[100][16];
    char *envp[101] = {value, (char *)"MALLOC_Z=1", NULL};
    bool cut = false;
    char *text;

    (void)state;
    memset(value, 'x', sizeof value);
    memcpy(value, "MALLOC_A=", 9);
    value[1499] = '\0';
    text = images_settings(envp, &cut);
    assert_int_equal(strlen(text), 1500);
    assert_true(cut);
    free(text);
    for (int at = 0; at < 100; at++) {
        snprintf(many[at], sizeof many[at], "MALLOC_%02d=1", 99 - at);
        envp[at] = many[at];
    }
    text = images_settings(envp, &cut);
    assert_non_null(strstr(text, "MALLOC_63=1\n"));
    assert_null(strstr(text, "MALLOC_64=1\n"));
    assert_true(cut);
    free(text);
}

/* Judges one report, /bin/sh, that has the settings (JSON) against those given; NULL: no change. */
static void judge_settings(const char *found, const char *given, const char *change)
{
    images_wanted wanted = want_libc;
    images *reported;
    images_verdict verdict;

    lines[0] = '\0';
    add_start(10, "/bin/sh", 500, GLIBC, 0);
    snprintf(lines + strlen(lines) - 2, 512, ",%s}\n", found);
    wanted.settings = given;
    reported = read_lines();
    images_judge(reported, NULL, 0, &wanted, 10, &verdict);
    assert_null(verdict.refusal);
    assert_int_equal(verdict.changed, change != NULL);
    if (change == NULL)
        assert_null(verdict.change);
    else
        assert_string_equal(verdict.change, change);
    images_verdict_clear(&verdict);
    images_free(reported);
}

static void changed_settings_are_named(void **state)
{
    (void)state;
    judge_settings("\"settings\":\"A=1\\nB=2\\n\"", "A=1\nB=2\n", NULL);
    judge_settings("\"settings\":\"A=1\\n\"", NULL, NULL);
    judge_settings("\"settings\":\"A=1\\n\"", "A=1\nB=2\n", "B is gone in /bin/sh");
    judge_settings("\"settings\":\"A=1\\nB=3\\n\"", "A=1\nB=2\n", "B has another value in /bin/sh");
    judge_settings("\"settings\":\"A=1\\nB=22\\n\"", "A=1\nB=2\n",
                   "B has another value in /bin/sh");
    judge_settings("\"settings\":\"A=1\\nB=2\\n\"", "A=1\n", "B is set in /bin/sh");
    judge_settings("\"settings\":\"AB=1\\n\"", "A=1\n", "A is gone in /bin/sh");
    judge_settings("\"settings\":\"\",\"settings_cut\":1", "A=1\n",
                   "they are too long to be compared in /bin/sh");
    judge_settings("\"settings\":\"garbage\"", "", "garbage is set in /bin/sh");
    judge_settings("\"mixed_\":0", "A=1\n", "A is gone in /bin/sh");
}

/* ---- reading --------------------------------------------------------------------------------- */

static void an_empty_file_has_no_images(void **state)
{
    images *reported = read_lines();

    (void)state;
    assert_int_equal(reported->count, 0);
    assert_int_equal(reported->peak_hwm_bytes, 0);
    images_free(reported);
    images_free(NULL);
}

static void exits_tell_the_peak(void **state)
{
    images *reported;

    (void)state;
    strcpy(lines,
           "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":1,\"start_stack\":5,\"hwm_bytes\":7}\n"
           "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":2,\"start_stack\":6,\"hwm_bytes\":9}\n"
           "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":3}\n");
    reported = read_lines();
    assert_int_equal(reported->peak_hwm_bytes, 9);
    assert_int_equal(reported->count, 0);
    images_free(reported);
}

static void exits_tell_what_the_c_librarys_malloc_held_and_where(void **state)
{
    images *reported;

    (void)state;
    add_start(1, "/bin/a", 5, JEMALLOC, 0);
    add_start(2, "/bin/b", 6, JEMALLOC, 0);
    strcat(
        lines,
        "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":1,\"start_stack\":5,\"libc_bytes\":7}\n"
        "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":9,\"start_stack\":6,\"libc_bytes\":9}\n"
        "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":1,\"start_stack\":5,\"libc_bytes\":8}\n");
    reported = read_lines();
    assert_int_equal(reported->libc_bytes, 9);
    assert_string_equal(reported->libc_exe, "/bin/b"); /* a forked child of it */
    images_free(reported);
    strcat(lines, "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":1,\"libc_bytes\":10}\n");
    reported = read_lines();
    assert_string_equal(reported->libc_exe, "/bin/a");
    images_free(reported);
    strcat(lines, "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":3,\"libc_bytes\":11}\n");
    reported = read_lines();
    assert_string_equal(reported->libc_exe, "?");
    images_free(reported);
}

static void a_damaged_line_is_named(void **state)
{
    static const struct {
        const char *line;
        const char *says;
    } bad[] = {
        {"garbage\n", ":2:"},
        {"{\"record\":\"probe\",\"event\":\"exit\",\"pid\":1", ":2:1: the line is cut off"},
        {"{\"record\":\"other\",\"event\":\"exit\",\"pid\":1}\n", ":2:11:"},
        {"{\"record\":\"probe\",\"event\":\"middle\",\"pid\":1}\n", "not \"start\" or \"exit\""},
        {"{\"record\":\"probe\",\"event\":\"exit\",\"pid\":1,\"hwm_bytes\":-1}\n", "hwm_bytes"},
        {"{\"record\":\"probe\",\"event\":\"start\",\"pid\":1}\n", ":2:"},
        {"\n", ":2:"},
        {"[1]\n", ":2:"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof bad / sizeof *bad; at++) {
        char message[512] = "";
        lines[0] = '\0';
        add_start(10, "/bin/sh", 500, JEMALLOC, 0);
        strcat(lines, bad[at].line);
        assert_true(util_write_file(file, lines, strlen(lines), message, sizeof message));
        assert_null(images_read(file, message, sizeof message));
        if (strncmp(message, file, strlen(file)) != 0 || strstr(message, bad[at].says) == NULL)
            fail_msg("line %zu: \"%s\" does not say %s", at, message, bad[at].says);
        assert_null(strchr(message, '\n'));
    }
}

static void a_missing_file_is_an_error(void **state)
{
    char message[512] = "";

    (void)state;
    assert_null(images_read("/no/such/file", message, sizeof message));
    assert_non_null(strstr(message, "/no/such/file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_reported_the_wanted_one),
        TEST(images_too_short_to_be_seen_are_counted),
        TEST(an_image_that_did_not_report_is_named),
        TEST(another_image_of_the_same_process_does_not_vouch),
        TEST(a_forked_child_is_vouched_for_by_its_parents_image),
        TEST(silence_can_be_allowed),
        TEST(another_provider_is_refused_even_when_silence_is_allowed),
        TEST(the_wrong_provider_is_named),
        TEST(another_file_of_the_same_family_is_wrong),
        TEST(a_mixed_allocator_is_refused),
        TEST(a_hidden_image_is_not_vouched_for_by_its_process),
        TEST(images_that_look_alike_are_all_seen),
        TEST(a_report_without_a_mark_is_matched_by_its_process),
        TEST(the_roots_first_report_is_the_cells),
        TEST(settings_are_the_allocators_variables_in_order),
        TEST(settings_are_cut_where_the_probe_cuts_them),
        TEST(changed_settings_are_named),
        TEST(an_empty_file_has_no_images),
        TEST(exits_tell_the_peak),
        TEST(exits_tell_what_the_c_librarys_malloc_held_and_where),
        TEST(a_damaged_line_is_named),
        TEST(a_missing_file_is_an_error),
    };

    return cmocka_run_group_tests_name("tool_images", tests, NULL, NULL);
}
