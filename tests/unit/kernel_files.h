/*
 * kernel_files.h - files that look like the kernel's: in a folder that a test makes, or recorded
 * below tests/data/machine. Included after cmocka.h.
 */
#ifndef TESTS_UNIT_KERNEL_FILES_H
#define TESTS_UNIT_KERNEL_FILES_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/allocbench-test-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static inline int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) != 0;
}

/* Writes folder/path, making the folders on the way. */
static inline void write_file(const char *path, const char *text)
{
    char whole[512];
    FILE *file;

    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    for (char *at = whole + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The folder that stands for / of a recorded machine. */
static inline const char *recorded(const char *machine)
{
    static char path[512];
    const int length = (int)(strrchr(__FILE__, '/') - __FILE__);

    snprintf(path, sizeof path, "%.*s/../data/machine/%s", length, __FILE__, machine);
    return path;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

#endif
