/* image_lines.h - for the tests of images: lines as the probe writes them, images as they are seen,
 * and what is judged of both. */
#ifndef ABENCH_TESTS_UNIT_IMAGE_LINES_H
#define ABENCH_TESTS_UNIT_IMAGE_LINES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/images.h"
#include "tool/util.h"

static char file[64];
static char lines[16384];

static inline int set_up(void **state)
{
    int fd;

    (void)state;
    snprintf(file, sizeof file, "/tmp/allocbench-images-XXXXXX");
    fd = mkstemp(file);
    lines[0] = '\0';
    return fd < 0 || close(fd) != 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    return unlink(file);
}

#define JEMALLOC                                                                                   \
    "\"family\":\"jemalloc\",\"version\":\"5.3.0\",\"build_id\":\"ab\",\"file\":\"/lib/je.so\","   \
    "\"device\":1,\"inode\":77"
#define GLIBC                                                                                      \
    "\"family\":\"glibc\",\"version\":\"2.36\",\"build_id\":\"cd\",\"file\":\"/lib/libc.so.6\","   \
    "\"device\":1,\"inode\":5"

/* As exec makes it of the program's name. */
static inline const char *image_name(const char *exe)
{
    const char *slash = strrchr(exe, '/');

    return slash == NULL ? exe : slash + 1;
}

/* A start line: pid and exe tell the image, whose mark is made from them. */
static inline void add_start(int pid, const char *exe, int mark, const char *identity, int mixed)
{
    char line[1024];

    snprintf(line, sizeof line,
             "{\"record\":\"probe\",\"event\":\"start\",\"pid\":%d,\"ppid\":1,\"exe\":\"%s\","
             "\"exe_device\":1,\"exe_inode\":%d,\"start_code\":4096,\"start_stack\":%d,"
             "\"name\":\"%s\",%s,"
             "\"mixed\":%d,\"static\":0,\"others\":\"%s\"}\n",
             pid, exe, 1000 + (int)strlen(exe), mark, image_name(exe), identity, mixed,
             mixed != 0 ? "calloc by /lib/other.so" : "");
    strcat(lines, line);
}

static inline tree_image seen_image(int pid, const char *exe, int mark)
{
    tree_image image = {0};

    image.device = 1;
    image.inode = 1000 + strlen(exe);
    image.start_code = 4096;
    image.start_stack = (uint64_t)mark;
    image.pid = pid;
    snprintf(image.name, sizeof image.name, "%s", image_name(exe));
    image.path = (char *)(uintptr_t)exe;
    return image;
}

static const images_wanted want_jemalloc = {
    .provider = "/lib/je.so", .device = 1, .inode = 77, .family = NULL};
static const images_wanted want_libc = {.family = "glibc"};

static inline images *read_lines(void)
{
    char message[512] = "";
    images *reported;

    assert_true(util_write_file(file, lines, strlen(lines), message, sizeof message));
    reported = images_read(file, message, sizeof message);
    if (reported == NULL)
        fail_msg("%s", message);
    return reported;
}

/* Judges, and checks the refusal (NULL: none). */
static inline void judge(const tree_image *seen, size_t count, const images_wanted *wanted,
                         const char *refusal, size_t unseen, size_t silent)
{
    images *reported = read_lines();
    images_verdict verdict;

    images_judge(reported, seen, count, wanted, 10, &verdict);
    if (refusal == NULL)
        assert_null(verdict.refusal);
    else
        assert_string_equal(verdict.refusal == NULL ? "(none)" : verdict.refusal, refusal);
    assert_int_equal(verdict.unseen, unseen);
    assert_int_equal(verdict.silent, silent);
    images_verdict_clear(&verdict);
    images_free(reported);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
