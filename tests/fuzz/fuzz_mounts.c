/*
 * fuzz_mounts.c - the text of /proc/self/mountinfo: the first line is the group that is looked for,
 * its first byte says how long the pieces are in which the rest comes. What is found does not
 * depend on them.
 */
#include "fuzz.h"

#include "system/mounts.h"

/* As abench__mount_read does it: what was no whole line comes again before the next piece. */
static void search(abench__mount *mount, const uint8_t *data, size_t size, size_t piece)
{
    size_t used = 0, come = 0;

    while (come < size) {
        fuzz_text input;
        size_t taken;
        come = piece < size - come ? come + piece : size;
        input = fuzz_text_of(data + used, come - used);
        taken = abench__mount_feed(mount, input.text, input.length);
        FUZZ_CHECK(taken <= input.length && (taken == 0 || input.text[taken - 1] == '\n'));
        FUZZ_CHECK(memchr(input.text + taken, '\n', input.length - taken) == NULL);
        used += taken;
        fuzz_text_free(&input);
    }
}

static void check_found(const abench__mount *mount)
{
    const char *below;

    FUZZ_CHECK(mount->found <= 1 && mount->holds <= mount->found);
    if (!mount->found)
        return;
    FUZZ_CHECK(mount->point[0] == '/' && mount->root[0] == '/');
    FUZZ_CHECK(memchr(mount->point, '\0', sizeof mount->point) != NULL);
    FUZZ_CHECK(memchr(mount->root, '\0', sizeof mount->root) != NULL);
    below = abench__mount_below(mount->root, mount->group);
    FUZZ_CHECK((below != NULL) == mount->holds);
    FUZZ_CHECK(below == NULL || below[0] == '\0' || below[0] == '/');
}

static void check(const char *controller, const char *group, size_t piece, const uint8_t *data,
                  size_t size)
{
    static abench__mount whole, pieces;

    abench__mount_init(&whole, controller, group);
    abench__mount_init(&pieces, controller, group);
    search(&whole, data, size, size);
    search(&pieces, data, size, piece);
    FUZZ_CHECK(whole.found == pieces.found && whole.holds == pieces.holds);
    FUZZ_CHECK(strcmp(whole.point, pieces.point) == 0 && strcmp(whole.root, pieces.root) == 0);
    check_found(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *group = fuzz_take_line(&data, &size);
    const size_t piece = 1 + (size_t)(unsigned char)group[0];

    if (group[0] != '\0') {
        group[0] = '/'; /* as abench__cgroup_path gives it */
        check("", group, piece, data, size);
        check("memory", group, piece, data, size);
    }
    free(group);
    return 0;
}
