/*
 * fuzz_probe.c - what the probe makes of a process: the text of ALLOCBENCH_PROBE, the settings of
 * its environment, and paths, which become one line of JSON. Lines of the input: the text, three
 * paths, then the environment's entries.
 */
#include "../../src/probe/probe.c" /* it exports nothing */

#include "fuzz.h"

#define ENTRIES_MOST 100u

/* Whether the text is one JSON value of what the probe writes: an object of strings and numbers. */
static int is_object(const char *at)
{
    int first = 1;

    if (*at++ != '{')
        return 0;
    for (; *at != '}'; first = 0) {
        if (!first && *at++ != ',')
            return 0;
        for (int part = 0; part < 2; part++) { /* name and value */
            if (part == 1 && *at++ != ':')
                return 0;
            if (*at == '"') {
                for (at++; *at != '"'; at++) {
                    if ((unsigned char)*at < 0x20)
                        return 0;
                    if (*at == '\\' && *++at == '\0')
                        return 0;
                }
                at++;
            } else if (part == 1 && *at >= '0' && *at <= '9') {
                at += strspn(at, "0123456789");
            } else {
                return 0;
            }
        }
    }
    return strcmp(at, "}\n") == 0;
}

static void check_place(const char *text)
{
    memset(&place, 0, sizeof place);
    if (setenv("ALLOCBENCH_PROBE", text, 1) != 0)
        abort();
    read_environment();
    unsetenv("ALLOCBENCH_PROBE");
    if (place.ready) {
        FUZZ_CHECK(place.path[0] == '/' && memchr(place.path, '\0', sizeof place.path) != NULL);
        FUZZ_CHECK(place.fd >= -1);
        FUZZ_CHECK(strlen(text) >= strlen(place.path));
        FUZZ_CHECK(strcmp(text + strlen(text) - strlen(place.path), place.path) == 0);
    }
}

static void check_settings(const struct settings *settings)
{
    const char *line = settings->text;

    FUZZ_CHECK(strlen(line) <= SETTINGS_BYTES && settings->count <= SETTINGS_MOST);
    while (*line != '\0') {
        const char *newline = strchr(line, '\n');
        FUZZ_CHECK(newline != NULL && memchr(line, '=', (size_t)(newline - line)) != NULL);
        for (; line != newline; line++)
            FUZZ_CHECK((unsigned char)*line < 128);
        line++;
    }
}

/* The line as say_start puts it together. */
static void check_line(const struct image *image, const abench_identity *identity)
{
    char data[LINE_BYTES];
    abench__text line;
    int detail = 3;

    put_start(&line, data, image, identity, detail);
    while (line.truncated && --detail >= 0)
        put_start(&line, data, image, identity, detail);
    FUZZ_CHECK(!line.truncated && line.length < LINE_BYTES && is_object(data));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct image image;
    abench_identity identity = ABENCH_IDENTITY_INIT;
    char *lines[ENTRIES_MOST + 4], *entries[ENTRIES_MOST + 1];
    char **const environment = environ;
    size_t count = 0, used = 0;

    while (count < 4 || (size > 0 && count < ENTRIES_MOST + 4))
        lines[count++] = fuzz_take_line(&data, &size);
    check_place(lines[0]);
    abench__copy(image.exe, sizeof image.exe, lines[1]);
    abench__copy(identity.file, sizeof identity.file, lines[2]);
    abench__copy(identity.others, sizeof identity.others, lines[3]);
    abench__copy(identity.version, sizeof identity.version, lines[3]);
    image.valid = (uint32_t)strlen(lines[1]) & 15;
    while (used < count - 4) {
        entries[used] = lines[used + 4];
        used++;
    }
    entries[used] = NULL;
    environ = entries;
    read_settings(&image.settings);
    environ = environment;
    check_settings(&image.settings);
    check_line(&image, &identity);
    while (count > 0)
        free(lines[--count]);
    return 0;
}
