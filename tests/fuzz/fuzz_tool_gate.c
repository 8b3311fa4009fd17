/*
 * fuzz_tool_gate.c - a threshold as somebody typed it (--fail-if). What is taken is finite, names
 * metrics that can be looked up and says the same of a number each time; what is not is told in one
 * line with a column within the text.
 */
#include "fuzz.h"

#include <math.h>
#include <stdbool.h>

#include "tool/gate.h"

/* An interval that is all above a limit fails what fails above, and passes what fails below. */
static void check_judgement(const gate *g)
{
    gate_case c = {.unit = "bytes", .noise = 0};
    const double step = g->limit == 0 ? 1 : g->limit / 2;
    const char *why;

    abench_interval_init(&c.found);
    c.found.count = 9;
    c.found.estimate = c.found.low = c.found.high = g->limit + step;
    FUZZ_CHECK(gate_judge(g, &c, &why) == (g->above ? GATE_FAILED : GATE_PASSED));
    c.found.estimate = c.found.low = c.found.high = g->limit - step;
    FUZZ_CHECK(gate_judge(g, &c, &why) == (g->above ? GATE_PASSED : GATE_FAILED));
    c.found.low = g->limit - step;
    c.found.high = g->limit + step;
    FUZZ_CHECK(gate_judge(g, &c, &why) == GATE_UNKNOWN && why == NULL);
}

static void check_names(const gate *g)
{
    size_t count = 0;

    for (char *name; (name = gate_metric_name(g, count)) != NULL; count++) {
        FUZZ_CHECK(name[0] != '\0' && count < 10);
        free(name);
    }
    FUZZ_CHECK(count >= 4);
    FUZZ_CHECK(g->target == NULL || g->target[0] != '\0');
    FUZZ_CHECK(gate_is_of(g, g->workload == NULL ? "any" : g->workload, "w00"));
}

static void check_message(const char *text, const char *message)
{
    const char *column = strstr(message, "', column ");
    size_t number = 0;

    FUZZ_CHECK(column != NULL);
    for (const char *next = column; next != NULL; next = strstr(next + 1, "', column "))
        column = next; /* the text may hold these words */
    number = strtoul(column + strlen("', column "), NULL, 10);
    FUZZ_CHECK(number >= 1 && number <= strlen(text) + 1);
    for (const char *at = message; *at != '\0'; at++)
        FUZZ_CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_string_of(data, size);
    char message[2048] = "";
    gate g;
    const bool good = gate_parse(text, &g, message, sizeof message);

    if (good) {
        FUZZ_CHECK(strcmp(g.text, text) == 0);
        FUZZ_CHECK(isfinite(g.limit) && g.limit >= 0);
        check_names(&g);
        check_judgement(&g);
        gate_clear(&g);
    } else {
        FUZZ_CHECK(g.text == NULL && g.metric == NULL && g.target == NULL && g.workload == NULL);
        check_message(text, message);
    }
    free(text);
    return 0;
}
