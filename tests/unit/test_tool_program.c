#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <allocbench/random.h>

#include "tool/program.h"
#include "tool/util.h"

#define NOBODY 65534

static char folder[64];
static program found;

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/abXXXXXX");
    return mkdtemp(folder) == NULL || chmod(folder, 0755) != 0;
}

static int tear_down(void **state)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    (void)state;
    while ((entry = readdir(dir)) != NULL)
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    program_clear(&found);
    return rmdir(folder);
}

/* A file in the folder, with the rights given; its path lives until the next call. */
static const char *make(const char *name, const void *data, size_t size, mode_t mode)
{
    static char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_true(util_write_all(fd, data, size));
    close(fd);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static const char *make_text(const char *name, const char *text)
{
    return make(name, text, strlen(text), 0755);
}

/* A copy of this program's ELF header and what follows, to be spoilt by a test. */
static unsigned char *own_bytes(size_t *size)
{
    unsigned char *data = (unsigned char *)util_read_file("/proc/self/exe", 64 << 20, size);

    assert_non_null(data);
    return data;
}

static ElfW(Phdr) * interpreter_segment(unsigned char *data)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) * segments;

    memcpy(&header, data, sizeof header);
    segments = (ElfW(Phdr) *)(void *)(data + header.e_phoff);
    for (unsigned at = 0; at < header.e_phnum; at++)
        if (segments[at].p_type == PT_INTERP)
            return &segments[at];
    fail_msg("this test is static itself");
    return NULL;
}

static void assert_state(const char *name, program_state state, const char *reason)
{
    program_clear(&found);
    program_inspect(name, &found);
    if (found.state != state)
        fail_msg("%s: state %d: %s", name, (int)found.state,
                 found.reason == NULL ? "(no reason)" : found.reason);
    assert_true((found.reason == NULL) == (state == PROGRAM_OK));
    if (reason != NULL && strstr(found.reason, reason) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", found.reason, reason);
}

/* ---- finding --------------------------------------------------------------------------------- */

static void a_program_in_path_is_fine(void **state)
{
    (void)state;
    assert_state("sh", PROGRAM_OK, NULL);
    assert_int_equal(found.path[0], '/');
    assert_state("/proc/self/exe", PROGRAM_OK, NULL);
    assert_string_equal(found.path, "/proc/self/exe");
}

static void what_cannot_be_found_is_broken(void **state)
{
    (void)state;
    assert_state("no-such-program", PROGRAM_BROKEN, "no-such-program: no such program in PATH");
    assert_state("/no/such", PROGRAM_BROKEN, "/no/such: No such file or directory");
    assert_state("", PROGRAM_BROKEN, "no such program");
    assert_state(folder, PROGRAM_BROKEN, "Is a directory");
    assert_state(make("plain", "#!/bin/sh\n", 10, 0644), PROGRAM_BROKEN, "Permission denied");
}

static void path_is_searched_as_exec_does(void **state)
{
    char *before = xstrdup(getenv("PATH")), *path = xasprintf("/nowhere:%s:%s", folder, before);

    (void)state;
    make("sh", "", 0, 0644); /* not executable: passed over */
    make_text("ours-only", "#!/bin/sh\n");
    setenv("PATH", path, 1);
    assert_state("ours-only", PROGRAM_OK, NULL);
    assert_non_null(strstr(found.path, folder));
    assert_state("sh", PROGRAM_OK, NULL);
    assert_null(strstr(found.path, folder));
    setenv("PATH", folder, 1);
    assert_state("sh", PROGRAM_BROKEN, "Permission denied");
    setenv("PATH", before, 1);
    free(path);
    free(before);
}

/* ---- scripts --------------------------------------------------------------------------------- */

static void a_script_is_judged_by_its_interpreter(void **state)
{
    (void)state;
    assert_state(make_text("s", "#!/bin/sh -e\nexit\n"), PROGRAM_OK, NULL);
    assert_string_equal(found.image, "/bin/sh");
    assert_state(make_text("s", "#! \t/usr/bin/env python3"), PROGRAM_OK, NULL);
    assert_string_equal(found.image, "/usr/bin/env");
    assert_state(make_text("s", "echo no mark\n"), PROGRAM_OK, NULL);
    assert_string_equal(found.image, "/bin/sh");
    assert_state(make_text("s", ""), PROGRAM_OK, NULL);
    assert_state(make_text("s", "#!/no/such\n"), PROGRAM_BROKEN,
                 "its interpreter \"/no/such\": No such file");
    assert_state(make_text("s", "#!\n"), PROGRAM_BROKEN, "its interpreter \"\"");
    assert_state(make("s", "\1\2\0\3", 4, 0755), PROGRAM_BROKEN, "neither an ELF program");
}

static void scripts_of_scripts_are_followed_to_a_limit(void **state)
{
    char text[160], name[2] = "a";

    (void)state;
    snprintf(text, sizeof text, "#!/bin/sh\n");
    for (; name[0] <= 'd'; name[0]++)
        snprintf(text, sizeof text, "#!%s\n", make_text(name, text));
    snprintf(text, sizeof text, "%s/d", folder);
    assert_state(text, PROGRAM_OK, NULL);
    assert_string_equal(found.image, "/bin/sh");
    snprintf(text, sizeof text, "#!%s/loop\n", folder);
    assert_state(make_text("loop", text), PROGRAM_BROKEN, "too many interpreters");
}

static void a_static_interpreter_is_no_better(void **state)
{
    size_t size;
    unsigned char *data = own_bytes(&size);
    char text[160];

    (void)state;
    interpreter_segment(data)->p_type = PT_NULL;
    snprintf(text, sizeof text, "#!%s\n", make("static", data, size, 0755));
    assert_state(make_text("s", text), PROGRAM_UNREACHED, "/static is static");
    free(data);
}

/* ---- ELF ------------------------------------------------------------------------------------- */

static void a_static_program_is_out_of_reach(void **state)
{
    size_t size;
    unsigned char *data = own_bytes(&size);
    char *reason;

    (void)state;
    assert_state(make("p", data, size, 0755), PROGRAM_OK, NULL);
    interpreter_segment(data)->p_type = PT_NULL;
    assert_state(make("p", data, size, 0755), PROGRAM_UNREACHED,
                 "is static: a preloaded allocator cannot reach it");
    reason = program_unreached(found.path);
    assert_string_equal(reason, found.reason);
    free(reason);
    free(data);
}

static void another_machine_is_out_of_reach(void **state)
{
    size_t size;
    unsigned char *data = own_bytes(&size);

    (void)state;
    data[offsetof(ElfW(Ehdr), e_machine)] ^= 0x55;
    assert_state(make("p", data, size, 0755), PROGRAM_UNREACHED, "another kind of machine");
    data[offsetof(ElfW(Ehdr), e_machine)] ^= 0x55;
    data[EI_CLASS] ^= ELFCLASS32 ^ ELFCLASS64;
    assert_state(make("p", data, size, 0755), PROGRAM_UNREACHED, "another kind of machine");
    free(data);
}

static void another_c_library_is_out_of_reach(void **state)
{
    size_t size;
    unsigned char *data = own_bytes(&size);
    const ElfW(Phdr) *segment = interpreter_segment(data);
    char *loader = xstrdup(make_text("ld-musl", ""));

    (void)state;
    assert_true(strlen(loader) < segment->p_filesz);
    memset(data + segment->p_offset, 0, segment->p_filesz);
    memcpy(data + segment->p_offset, loader, strlen(loader));
    assert_state(make("p", data, size, 0755), PROGRAM_UNREACHED, "another C library");
    assert_non_null(strstr(found.reason, "/ld-musl"));
    assert_int_equal(unlink(loader), 0);
    assert_state(make("p", data, size, 0755), PROGRAM_BROKEN, "ld-musl: No such file");
    free(loader);
    free(data);
}

static void the_loader_itself_may_be_called(void **state)
{
    size_t size;
    unsigned char *data = own_bytes(&size);
    char *loader = xstrdup((const char *)data + interpreter_segment(data)->p_offset);

    (void)state;
    assert_state(loader, PROGRAM_OK, NULL);
    free(loader);
    free(data);
}

static void a_damaged_program_is_no_crash(void **state)
{
    const uint64_t seed = 1;
    abench_random random;
    size_t size;
    unsigned char *data = own_bytes(&size);
    const char *path;

    (void)state;
    abench_random_seed(&random, seed, 0, ABENCH_PURPOSE_USER);
    for (int round = 0; round < 500; round++) {
        unsigned char bytes[1024];
        const size_t length = (size_t)abench_random_below(&random, sizeof bytes) + 1;
        memcpy(bytes, data, sizeof bytes);
        for (int at = 0; at < 3; at++) /* the head and the segments behind it */
            bytes[4 + abench_random_below(&random, 700)] =
                (unsigned char)abench_random_next(&random);
        path = make("p", bytes, length, 0755);
        program_clear(&found);
        program_inspect(path, &found);
        assert_true((found.reason == NULL) == (found.state == PROGRAM_OK));
    }
    free(data);
}

/* ---- privileges ------------------------------------------------------------------------------ */

static bool keeps_privileges(void)
{
    return geteuid() == 0;
}

static void setuid_to_another_is_out_of_reach(void **state)
{
    size_t size;
    unsigned char *data = own_bytes(&size);
    const char *path = make("p", data, size, 0755);

    (void)state;
    free(data);
    if (!keeps_privileges())
        skip();
    assert_int_equal(chmod(path, 04755), 0);
    assert_state(path, PROGRAM_OK, NULL); /* setuid to ourselves changes nothing */
    assert_int_equal(chown(path, NOBODY, getegid()), 0);
    assert_int_equal(chmod(path, 04755), 0);
    assert_state(path, PROGRAM_UNREACHED, "is setuid to another user (65534)");
    assert_int_equal(chmod(path, 0755), 0);
    assert_state(path, PROGRAM_OK, NULL);
    assert_int_equal(chown(path, getuid(), NOBODY), 0);
    assert_int_equal(chmod(path, 02755), 0);
    assert_state(path, PROGRAM_UNREACHED, "is setgid to another group (65534)");
}

static void file_capabilities_are_out_of_reach_of_others_than_root(void **state)
{
    struct vfs_cap_data capability = {0};
    size_t size;
    unsigned char *data = own_bytes(&size);
    const char *path = make("p", data, size, 0755);

    (void)state;
    free(data);
    capability.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
    capability.data[0].permitted = 1u << CAP_NET_RAW;
    if (!keeps_privileges() ||
        setxattr(path, "security.capability", &capability, XATTR_CAPS_SZ_2, 0) != 0)
        skip();
    assert_state(path, PROGRAM_OK, NULL);
    assert_int_equal(seteuid(NOBODY), 0);
    program_clear(&found);
    program_inspect(path, &found);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(found.state, PROGRAM_UNREACHED);
    assert_non_null(strstr(found.reason, "has file capabilities"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_in_path_is_fine),
        TEST(what_cannot_be_found_is_broken),
        TEST(path_is_searched_as_exec_does),
        TEST(a_script_is_judged_by_its_interpreter),
        TEST(scripts_of_scripts_are_followed_to_a_limit),
        TEST(a_static_interpreter_is_no_better),
        TEST(a_static_program_is_out_of_reach),
        TEST(another_machine_is_out_of_reach),
        TEST(another_c_library_is_out_of_reach),
        TEST(the_loader_itself_may_be_called),
        TEST(a_damaged_program_is_no_crash),
        TEST(setuid_to_another_is_out_of_reach),
        TEST(file_capabilities_are_out_of_reach_of_others_than_root),
    };

    return cmocka_run_group_tests_name("tool_program", tests, NULL, NULL);
}
