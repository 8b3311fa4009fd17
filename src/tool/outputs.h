/*
 * outputs.h - what run, report and compare do with a result beside showing it: thresholds and
 * exports. A verb puts OUTPUTS_OPTIONS into its list of options and OUTPUTS_USAGE into its help.
 */
#ifndef ABENCH_TOOL_OUTPUTS_H
#define ABENCH_TOOL_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/gate.h"

struct comparison;
struct model;

enum {
    OUTPUTS_FIRST = 1000, /* above every verb's own */
    OUTPUTS_FAIL_IF = OUTPUTS_FIRST,
    OUTPUTS_FAIL_IF_UNKNOWN,
    OUTPUTS_JSON,
    OUTPUTS_CSV,
    OUTPUTS_MARKDOWN
};

#define OUTPUTS_OPTIONS                                                                            \
    {"fail-if", required_argument, NULL, OUTPUTS_FAIL_IF},                                         \
        {"fail-if-unknown", no_argument, NULL, OUTPUTS_FAIL_IF_UNKNOWN},                           \
        {"export-json", required_argument, NULL, OUTPUTS_JSON},                                    \
        {"export-csv", required_argument, NULL, OUTPUTS_CSV},                                      \
    {                                                                                              \
        "export-markdown", required_argument, NULL, OUTPUTS_MARKDOWN                               \
    }

#define OUTPUTS_USAGE                                                                              \
    "      --fail-if LIMIT   exit with 1 when it is proven: METRIC[@TARGET[@WORKLOAD]] > +5%\n"    \
    "                        (or <, >=, <=; -5%, 1.05x, 100MiB, 20ms); may be repeated. The\n"     \
    "                        metric: time, rss, peak, drained, or one of allocbench list "         \
    "metrics\n"                                                                                    \
    "      --fail-if-unknown exit with 1 also when the rounds cannot tell\n"                       \
    "      --export-json FILE, --export-csv FILE, --export-markdown FILE\n"                        \
    "                        verdicts, intervals and every round's values, for other programs;\n"  \
    "                        '-' is standard output, where nothing else is printed then\n"

typedef struct outputs {
    const char *json; /* a file, "-", or NULL */
    const char *csv;
    const char *markdown;
    gate *gates;
    size_t gates_count;
    bool fail_unknown;
} outputs;

/* Is that option one of these? */
bool outputs_has(int option);

/* Takes it. false: its value is wrong, and that is said. */
bool outputs_take(outputs *o, int option, const char *value);

/* Is standard output an export's, so that no table goes there? */
bool outputs_own_stdout(const outputs *o);

void outputs_clear(outputs *o);

/* Writes a file whole, or into what is no file of its own: '-', a pipe, a device. What a result
 * directory is made of is refused. false: what was wrong is said. */
bool outputs_write(const char *file, const char *data, size_t size);

/* Judges the thresholds and says what became of them, on standard output where it is free; writes
 * the exports. Returns EXIT_OK, EXIT_THRESHOLD, EXIT_USAGE for a threshold of nothing that is
 * there, EXIT_ENVIRONMENT when a file cannot be written; what is wrong is said. */
int outputs_report(const outputs *o, const struct model *m);
int outputs_compare(const outputs *o, struct comparison *c);

#endif
