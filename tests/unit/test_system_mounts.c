/* Where control groups are mounted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "system/mounts.h"

#include "kernel_files.h"

static abench__mount mount;

static void search(const char *text, const char *controller, const char *group)
{
    abench__mount_init(&mount, controller, group);
    assert_int_equal(abench__mount_feed(&mount, text, strlen(text)), strlen(text));
}

static const char hybrid[] =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:4 master:1 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

static void a_controller_is_found_among_the_options(void **state)
{
    (void)state;
    search(hybrid, "memory", "/a");
    assert_true(mount.found && mount.holds);
    assert_string_equal(mount.point, "/sys/fs/cgroup/memory");
    assert_string_equal(mount.root, "/");
    search(hybrid, "cpuacct", "/a");
    assert_string_equal(mount.point, "/sys/fs/cgroup/cpu,cpuacct");
    search(hybrid, "", "/a");
    assert_string_equal(mount.point, "/sys/fs/cgroup/unified");
    search(hybrid, "cpuset", "/a");
    assert_false(mount.found);
    search(hybrid, "acct", "/a");
    assert_false(mount.found);
}

static void of_several_mounts_the_one_that_shows_most_above_the_group_is_kept(void **state)
{
    static const char text[] = "1 0 0:1 /other /m0 rw - cgroup2 c rw\n"
                               "1 0 0:1 /a/b /m1 rw - cgroup2 c rw\n"
                               "1 0 0:1 /a /m2 rw - cgroup2 c rw\n"
                               "1 0 0:1 /a/b/c /m3 rw - cgroup2 c rw\n";

    (void)state;
    search(text, "", "/a/b/c");
    assert_string_equal(mount.point, "/m2");
    search(text, "", "/a/bc");
    assert_string_equal(mount.point, "/m2");
    search(text, "", "/elsewhere");
    assert_true(mount.found && !mount.holds);
}

static void a_group_lies_below_whole_names_only(void **state)
{
    (void)state;
    assert_string_equal(abench__mount_below("/", "/"), "");
    assert_string_equal(abench__mount_below("/", "/a"), "/a");
    assert_string_equal(abench__mount_below("/a", "/a"), "");
    assert_string_equal(abench__mount_below("/a", "/a/b"), "/b");
    assert_null(abench__mount_below("/a", "/ab"));
    assert_null(abench__mount_below("/a/b", "/a"));
    assert_null(abench__mount_below("/..", "/"));
}

static void a_path_is_written_with_octal_escapes(void **state)
{
    (void)state;
    search("1 0 0:1 /a\\134b\\040c /m\\011n\\012 rw - cgroup2 c rw\n", "", "/a\\b c/d");
    assert_true(mount.found && mount.holds);
    assert_string_equal(mount.root, "/a\\b c");
    assert_string_equal(mount.point, "/m\tn\n");
    search("1 0 0:1 / /m\\9\\04 rw - cgroup2 c rw\n", "", "/");
    assert_string_equal(mount.point, "/m\\9\\04");
    search("1 0 0:1 / /m\\000 rw - cgroup2 c rw\n", "", "/");
    assert_false(mount.found);
}

static void a_damaged_line_is_no_mount(void **state)
{
    static const char *const lines[] = {
        "",
        "\n",
        "1 0 0:1 / /m rw cgroup2 c rw\n",
        "1 0 0:1 / /m rw -\n",
        "1 0 0:1 / /m\n",
        "1 0 0:1 a /m rw - cgroup2 c rw\n",
        "1 0 0:1 / m rw - cgroup2 c rw\n",
        "1 0 0:1 / /m rw - cgroup22 c rw\n",
        "- - - - - - - - - -\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        search(lines[i], "", "/");
        assert_false(mount.found);
    }
    abench__mount_init(&mount, "", "/");
    assert_int_equal(abench__mount_feed(&mount, "1 0 0:1 / /m rw - cgroup2 c rw", 30), 0);
    assert_false(mount.found);
}

/* Longer than any buffer that the reader may have, and lines that lie across its ends. */
static void a_long_table_is_read_in_pieces(void **state)
{
    char path[128];
    FILE *file;

    (void)state;
    write_file("proc/self/mountinfo", "");
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%d 1 0:%d / /mnt/volume-%d rw,relatime - ext4 /dev/sd rw\n", i, i, i);
    fputs("8 1 0:9", file); /* any end of this line looks like a mount */
    for (int i = 0; i < 20000; i++)
        fputs(" /x", file);
    fputs(" - cgroup2 cgroup2 rw\n", file);
    fputs("9 1 0:9 / /memory rw - cgroup cgroup rw,memory\n", file);
    assert_int_equal(fclose(file), 0);
    abench__mount_init(&mount, "", "/");
    assert_int_equal(abench__mount_read(&mount, folder), 0);
    assert_false(mount.found);
    abench__mount_init(&mount, "memory", "/");
    assert_int_equal(abench__mount_read(&mount, folder), 0);
    assert_string_equal(mount.point, "/memory");
}

static void a_table_that_is_not_there_gives_its_errno(void **state)
{
    (void)state;
    abench__mount_init(&mount, "", "/");
    assert_int_equal(abench__mount_read(&mount, folder), -ENOENT);
    assert_false(mount.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_controller_is_found_among_the_options),
        cmocka_unit_test(of_several_mounts_the_one_that_shows_most_above_the_group_is_kept),
        cmocka_unit_test(a_group_lies_below_whole_names_only),
        cmocka_unit_test(a_path_is_written_with_octal_escapes),
        cmocka_unit_test(a_damaged_line_is_no_mount),
        IN_FOLDER(a_long_table_is_read_in_pieces),
        IN_FOLDER(a_table_that_is_not_there_gives_its_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
