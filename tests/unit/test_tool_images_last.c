/* test_tool_images_last.c - the last program of the command's own process: when nothing but its
 * name is known of it. */
#include "image_lines.h"

#define ENDED_AS_CAT                                                                               \
    "/bin/sh (pid 10) ended as cat, which did not report who serves its malloc: its environment "  \
    "was emptied, or it is static"

static images_wanted want_last(const char *name)
{
    images_wanted wanted = want_jemalloc;

    wanted.last_name = name;
    return wanted;
}

/* What the command's own process ran last was too short to be seen, and did not report. */
static void a_last_image_that_did_not_report_is_known_by_its_name(void **state)
{
    const tree_image seen[] = {seen_image(10, "/bin/sh", 500)};
    images_wanted cat = want_last("cat"), sh = want_last("sh"), unknown = want_last("");

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    add_start(11, "/bin/cat", 600, JEMALLOC, 0); /* a child vouches for itself only */
    judge(seen, 1, &cat, ENDED_AS_CAT, 1, 1);
    judge(NULL, 0, &cat, ENDED_AS_CAT, 2, 1);
    judge(seen, 1, &sh, NULL, 1, 0);
    judge(seen, 1, &unknown, NULL, 1, 0);
    cat.may_be_silent = true;
    judge(seen, 1, &cat, NULL, 1, 1);
    cat.may_be_silent = false;
    add_start(10, "/bin/cat", 700, JEMALLOC, 0);
    judge(seen, 1, &cat, NULL, 2, 0);
}

static void a_last_image_that_was_seen_and_silent_is_counted_once(void **state)
{
    const tree_image seen[] = {seen_image(10, "/bin/sh", 500), seen_image(10, "/gone/cat", 600)};
    const images_wanted cat = want_last("cat");

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    judge(seen, 2, &cat,
          "/gone/cat (pid 10) did not report who serves its malloc: its environment was emptied, "
          "or it is static",
          0, 1);
}

/* A program may give itself another name. */
static void a_program_that_exits_or_was_seen_under_its_last_name_was_not_replaced(void **state)
{
    tree_image seen[] = {seen_image(10, "/bin/sh", 500)};
    const images_wanted cat = want_last("cat"), odd = want_last("c t");
    const size_t length = strlen(lines);

    (void)state;
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    strcat(lines, "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":11,\"start_stack\":500}\n");
    strcat(lines, "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":10,\"start_stack\":400}\n");
    judge(seen, 1, &cat, ENDED_AS_CAT, 0, 1); /* a forked child's, another image's */
    judge(seen, 1, &odd, NULL, 0, 0);         /* may have come through JSON otherwise */
    strcat(lines, "{\"record\":\"probe\",\"event\":\"exit\",\"pid\":10,\"start_stack\":500}\n");
    judge(seen, 1, &cat, NULL, 0, 0);
    lines[length] = '\0';
    add_start(10, "/bin/sh", 500, JEMALLOC, 0);
    judge(seen, 1, &cat, ENDED_AS_CAT, 0, 1);
    snprintf(seen[0].name, sizeof seen[0].name, "cat");
    judge(seen, 1, &cat, NULL, 0, 0);
    seen[0].pid = 11;
    judge(seen, 1, &cat, ENDED_AS_CAT, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_last_image_that_did_not_report_is_known_by_its_name),
        TEST(a_last_image_that_was_seen_and_silent_is_counted_once),
        TEST(a_program_that_exits_or_was_seen_under_its_last_name_was_not_replaced),
    };

    return cmocka_run_group_tests_name("tool_images_last", tests, NULL, NULL);
}
