/* commands.c - what the verbs share. */
#include "tool/commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/model.h"
#include "tool/report/report.h"
#include "tool/util.h"

int command_fail(int status, const char *format, ...) {
    va_list list;
    char *line;

    va_start(list, format);
    line = util_one_line(xvasprintf(format, list));
    va_end(list);
    fprintf(stderr, "allocbench: %s\n", line);
    free(line);
    return status;
}

bool command_color(const char *word, bool *color) {
    const char *no_color = getenv("NO_COLOR");

    *color = isatty(STDOUT_FILENO) == 1 && (no_color == NULL || no_color[0] == '\0');
    if (word == NULL || strcmp(word, "auto") == 0)
        return true;
    *color = strcmp(word, "always") == 0;
    return *color || strcmp(word, "never") == 0;
}

int command_show(const char *directory, bool color) {
    char message[1024];
    model *m = model_load(directory, message, sizeof message);
    bool written;

    if (m == NULL)
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    report_table(m, stdout, color);
    written = report_write_all(m, message, sizeof message);
    model_free(m);
    if (!written)
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    printf("Report: %s/REPORT.md\n", directory);
    if (fflush(stdout) != 0)
        return command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
    return EXIT_OK;
}
