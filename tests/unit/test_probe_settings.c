/* test_probe_settings.c - the probe and the environment that it finds: the settings that it
 * reports, and its own variable. */
#include "probe_lines.h"

static void says_which_settings_it_found(void **state)
{
    struct bench *b = *state;
    char *envp[] = {b->preload,        b->variable,         (char *)"MALLOC_ARENA_MAX=2",
                    (char *)"HOME=/",  (char *)"LD_AUDIT=", (char *)"GLIBC_TUNABLES=a\"b\nc\xff",
                    (char *)"MALLOC_", (char *)"MALLOC_=",  NULL};
    child c;

    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    assert_int_equal(count_lines(b, ",\"settings\":\"GLIBC_TUNABLES=a\\\"b?c?\\u000a"
                                    "MALLOC_=\\u000aMALLOC_ARENA_MAX=2\\u000a\"}"),
                     1);
}

static void says_that_it_left_settings_out(void **state)
{
    struct bench *b = *state;
    char value[1600], many[100][16];
    char *envp[103] = {b->preload, b->variable, value, (char *)"MALLOC_Z=1", NULL};
    child c;

    memset(value, 'x', sizeof value);
    memcpy(value, "MALLOC_A=", 9);
    value[1499] = '\0'; /* fits, and nothing behind it does */
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(count_lines(b, "xxx\\u000a\",\"settings_cut\":1}"), 1);
    memset(value, 1, 1499); /* six letters each in JSON */
    memcpy(value, "MALLOC_A=", 9);
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(count_lines(b, ",\"settings\":\"\",\"settings_cut\":1}"), 1);
    for (int at = 0; at < 100; at++) {
        snprintf(many[at], sizeof many[at], "MALLOC_%02d=1", 99 - at);
        envp[2 + at] = many[at];
    }
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(count_lines(b, "MALLOC_62=1\\u000aMALLOC_63=1\\u000a\",\"settings_cut\":1}"),
                     1);
    assert_lines(b, 3, 3);
    for (const char *line = b->text; *line != '\0'; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") < 4096);
}

static void is_silent_without_a_sound_variable(void **state)
{
    static const char *const values[] = {
        "",       "x",         ":::",         "100",         "100:",
        "100:1",  "100:1:2",   "100:1:2:",    "100:1:2:rel", "-1:1:2:/x",
        "1:2:/x", "100:1:x:/", "100:1:2:/no", " 100:1:2:/x", "99999999999999999999:1:2:/x",
    };
    struct bench *b = *state;
    char variable[256];
    char *envp[] = {b->preload, variable, NULL};
    child c;

    for (size_t at = 0; at < sizeof values / sizeof values[0]; at++) {
        snprintf(variable, sizeof variable, "ALLOCBENCH_PROBE=%s", values[at]);
        start(b, &c, start_counting, envp, give_descriptor);
        assert_int_equal(c.status, 0);
        assert_lines(b, 0, 0);
    }
    envp[1] = NULL;
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 0, 0);
}

static void bears_huge_environment_values(void **state)
{
    const size_t size = 100000;
    struct bench *b = *state;
    char *huge = malloc(size), *path = malloc(size);
    char *envp[] = {b->preload, huge, b->variable, NULL};
    child c;

    assert_true(huge != NULL && path != NULL);
    memset(huge, 'x', size - 1);
    huge[size - 1] = '\0';
    memcpy(huge, "HUGE=", 5);
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    memset(path, 'x', size - 1);
    path[size - 1] = '\0';
    path[snprintf(path, size, "%s", b->variable)] = '/'; /* a path beyond any limit */
    envp[2] = path;
    start(b, &c, start_counting, envp, give_descriptor);
    assert_int_equal(c.status, 0);
    assert_lines(b, 1, 1);
    free(huge);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROBE_TEST(says_which_settings_it_found),
        PROBE_TEST(says_that_it_left_settings_out),
        PROBE_TEST(is_silent_without_a_sound_variable),
        PROBE_TEST(bears_huge_environment_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
