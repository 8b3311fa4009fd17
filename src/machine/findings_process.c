/* findings_process.c - what this process inherited that puts, or sets up, an allocator. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/allocator.h>

#include "machine/check.h"
#include "system/rooted.h"

#define NAMES_SHOWN 5u

#define PRELOAD_TEXT  4096u /* of ld.so.preload */
#define PRELOAD_SHOWN 120u

/* What the text of ld.so.preload names (ld.so(8)): names stand between blanks, newlines or
 * colons, and # begins a comment, to the line's end. Writes them with blanks between, in length
 * + 1 bytes. */
static void take_names(const char *text, size_t length, char *names)
{
    int in_comment = 0, in_name = 0;
    size_t written = 0;

    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const int is_blank = c == ' ' || c == '\t' || c == ':' || c == '\r' || c == '\n';
        if (c == '\n')
            in_comment = 0;
        else if (c == '#')
            in_comment = 1;
        if (in_comment || is_blank) {
            in_name = 0;
            continue;
        }
        if (!in_name && written > 0)
            names[written++] = ' ';
        in_name = 1;
        names[written++] = c == '\0' ? '?' : c;
    }
    names[written] = '\0';
}

static void look_preload(const abench__look *look, abench__found *found)
{
    char text[PRELOAD_TEXT], names[PRELOAD_TEXT + 1] = "";
    const ssize_t length = abench__rooted_read(look->root, "/etc/ld.so.preload", text, sizeof text);
    const char *variable = look->live ? getenv("LD_PRELOAD") : NULL;

    if (length > 0)
        take_names(text, (size_t)length, names);
    if (names[0] != '\0') {
        abench__text_put(&found->value, "/etc/ld.so.preload: ");
        abench__put_foreign(&found->value, names, PRELOAD_SHOWN);
        abench__found_judge(found, ABENCH_VERDICT_REFUSE,
                            "Empty /etc/ld.so.preload for the measurement: what it names comes "
                            "into every program, after LD_PRELOAD.");
        return;
    }
    if ((length < 0 && length != -ENOENT) || (size_t)length == sizeof text) { /* or not all of it */
        abench__found_unread(found, -1);
        return;
    }
    if (variable == NULL || variable[0] == '\0') {
        abench__text_put(&found->value, "nothing");
        return;
    }
    abench__text_put(&found->value, "LD_PRELOAD=");
    abench__put_foreign(&found->value, variable, PRELOAD_SHOWN);
    abench__found_judge(found, ABENCH_VERDICT_WARN, "Unset LD_PRELOAD: targets set their own.");
}

/* The names of the variables that steer an allocator. */
static void look_environment(const abench__look *look, abench__found *found)
{
    uint32_t count = 0;

    (void)look;
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        const char *equals = strchr(*at, '=');
        char name[64];
        if (equals == NULL || (size_t)(equals - *at) >= sizeof name)
            continue;
        memcpy(name, *at, (size_t)(equals - *at));
        name[equals - *at] = '\0';
        if (strcmp(name, "LD_PRELOAD") == 0 || !abench_allocator_environment(name))
            continue;
        if (count < NAMES_SHOWN) {
            abench__text_put(&found->value, count > 0 ? ", " : "");
            abench__put_foreign(&found->value, name, 32);
        }
        count++;
    }
    if (count == 0) {
        abench__text_put(&found->value, "nothing");
        return;
    }
    if (count > NAMES_SHOWN)
        abench__text_printf(&found->value, " and %u more", count - NAMES_SHOWN);
    abench__found_judge(found, ABENCH_VERDICT_WARN,
                        "Unset them, or name them as settings of a target, so that they are in the "
                        "result.");
}

/* jemalloc's, a symbolic link whose target is the text. */
static void look_malloc_conf(const abench__look *look, abench__found *found)
{
    char path[ABENCH__PATH_SIZE], target[160];
    abench__text text;
    ssize_t length;

    abench__text_init(&text, path, sizeof path);
    abench__text_put(&text, look->root);
    abench__text_put(&text, "/etc/malloc.conf");
    length = text.truncated ? -1 : readlink(path, target, sizeof target - 1);
    if (length < 0) {
        abench__text_put(&found->value, "none");
        return;
    }
    target[length] = '\0';
    abench__put_foreign(&found->value, target, 120);
    abench__found_judge(found, ABENCH_VERDICT_WARN,
                        "Remove /etc/malloc.conf for the measurement, and set MALLOC_CONF as a "
                        "target's setting.");
}

static const abench__check checks[] = {
    {"preload", 0, 0, look_preload,
     "A library that comes into every program may bring a malloc of its own: every target would be "
     "measured with it."},
    {"environment", 0, 1, look_environment,
     "Variables like MALLOC_ARENA_MAX or MALLOC_CONF change an allocator without being a part of "
     "its name in the report."},
    {"malloc-conf", 0, 0, look_malloc_conf,
     "jemalloc takes settings from the link /etc/malloc.conf: programs then run with other ones "
     "than the report knows."},
};

const abench__checks abench__checks_process = {checks, sizeof checks / sizeof checks[0]};
