/* commands.c - what the verbs share. */
#include "tool/commands.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/matrix.h"
#include "tool/model.h"
#include "tool/outputs.h"
#include "tool/report/report.h"
#include "tool/util.h"

int command_fail(int status, const char *format, ...)
{
    va_list list;
    char *line;

    va_start(list, format);
    line = util_one_line(xvasprintf(format, list));
    va_end(list);
    util_say(line);
    free(line);
    return status;
}

char *command_find_part(const char *name)
{
    static const char *const folders[] = {"", "/" ABENCH_PARTS_FROM_BIN};
    char *self = realpath("/proc/self/exe", NULL);
    char *found = NULL;

    if (self == NULL)
        return NULL;
    *strrchr(self, '/') = '\0';
    for (size_t at = 0; at < sizeof folders / sizeof folders[0] && found == NULL; at++) {
        char *path = xasprintf("%s%s/%s", self, folders[at], name);
        if (access(path, R_OK) == 0)
            found = realpath(path, NULL);
        free(path);
    }
    free(self);
    return found;
}

int command_bad_option(char **argv, int answer, const struct option *options)
{
    const char *text = argv[optind - 1];
    const size_t length = strcspn(text, "=");
    const struct option *nearest = options;
    char *name;

    if (answer == ':')
        return command_fail(EXIT_USAGE, "option %s wants a value (allocbench %s --help)", text,
                            argv[0]);
    if (strncmp(text, "--", 2) != 0)
        return command_fail(EXIT_USAGE, "there is no option '-%c' (allocbench %s --help)", optopt,
                            argv[0]);
    if (optopt != 0)
        return command_fail(EXIT_USAGE, "option %.*s takes no value", (int)length, text);
    name = xstrndup(text + 2, length - 2);
    for (const struct option *at = options; at->name != NULL; at++)
        if (abench_text_distance(at->name, name) < abench_text_distance(nearest->name, name))
            nearest = at;
    command_fail(EXIT_USAGE,
                 "there is no option '--%s'; did you mean '--%s'? (allocbench %s --help)", name,
                 nearest->name, argv[0]);
    free(name);
    return EXIT_USAGE;
}

bool command_seconds(const char *text, double plain, double *seconds)
{
    const struct {
        const char *name;
        double seconds;
    } units[] = {{"", plain}, {"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}};
    const size_t length = strspn(text, "0123456789.");
    char *end;
    const double number = strtod(text, &end);

    if (text[0] < '0' || text[0] > '9' || end != text + length || !isfinite(number))
        return false; /* strtod takes hexadecimal and infinity, too */
    for (size_t at = 0; at < sizeof units / sizeof units[0]; at++)
        if (strcmp(end, units[at].name) == 0) {
            *seconds = number * units[at].seconds;
            return true;
        }
    return false;
}

bool command_number(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                    uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value >= minimum &&
        *value <= maximum)
        return true;
    command_fail(EXIT_USAGE, "%s '%s': a whole number from %llu to %llu is wanted", option, text,
                 (unsigned long long)minimum, (unsigned long long)maximum);
    return false;
}

bool command_color(const char *word, bool *color)
{
    const char *no_color = getenv("NO_COLOR");

    *color = isatty(STDOUT_FILENO) == 1 && (no_color == NULL || no_color[0] == '\0');
    if (word == NULL || strcmp(word, "auto") == 0)
        return true;
    *color = strcmp(word, "always") == 0;
    return *color || strcmp(word, "never") == 0;
}

static size_t count_failed(const model *m)
{
    size_t count = 0;

    for (size_t at = 0; at < m->cells_count; at++)
        count += m->cells[at].failed;
    for (size_t at = 0; at < m->tails_count; at++)
        count += m->tails[at].failed;
    return count;
}

int command_show(const char *directory, bool color, const struct outputs *o, size_t *failed)
{
    char message[1024];
    model *m = model_load(directory, message, sizeof message);
    int status;

    if (m == NULL)
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    if (failed != NULL)
        *failed = count_failed(m);
    else
        m->is_busy = matrix_is_held(directory);
    if (!outputs_own_stdout(o))
        report_table(m, stdout, color);
    if (!report_write_all(m, message, sizeof message)) {
        model_free(m);
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    }
    if (!outputs_own_stdout(o))
        printf("Report: %s/report.html\n", directory);
    status = outputs_report(o, m);
    model_free(m);
    if (fflush(stdout) != 0)
        return command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
    return status;
}
