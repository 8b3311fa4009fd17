#include "tool/workloads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/workload.h>

#include "tool/commands.h"
#include "tool/length.h"
#include "tool/util.h"

#define WORKLOADS_MOST 200 /* at once; a result directory holds up to 1000 */

#define PACED_TIME "1m" /* that --paced plays, unless somebody says otherwise */

matrix_workload *workloads_add(matrix *m, char *label, char *spec)
{
    matrix_workload *w;

    m->workloads = xrealloc(m->workloads, (m->workloads_count + 1) * sizeof *m->workloads);
    w = &m->workloads[m->workloads_count];
    *w = (matrix_workload){.label = label, .spec = spec};
    w->id = xasprintf("w%02zu", m->workloads_count++);
    return w;
}

/* ---- a spec's text --------------------------------------------------------------------------- */

bool workloads_names(const char *spec, const char *parameter)
{
    const size_t length = strlen(parameter);

    for (const char *at = strchr(spec, ':'); at != NULL; at = strchr(at + 1, ','))
        if (strncmp(at + 1, parameter, length) == 0 && at[1 + length] == '=')
            return true;
    return false;
}

void workloads_set(char **spec, const char *words)
{
    const size_t name = strcspn(*spec, ":");
    const char *rest = (*spec)[name] == ':' ? *spec + name + 1 : "";
    char *longer =
        xasprintf("%.*s:%s%s%s", (int)name, *spec, words, *rest == '\0' ? "" : ",", rest);

    free(*spec);
    *spec = longer;
}

bool workloads_has_parameter(const char *spec, const char *parameter)
{
    abench_workload_parameter found = ABENCH_WORKLOAD_PARAMETER_INIT;
    char *name = xstrndup(spec, strcspn(spec, ":"));
    bool has = false;

    for (uint32_t at = 0; !has && abench_workload_parameter_at(name, at, &found) == ABENCH_OK; at++)
        has = strcmp(found.name, parameter) == 0;
    free(name);
    return has;
}

/* ---- --paced --------------------------------------------------------------------------------- */

/* In real time its length is its time: nothing has to be chosen for --duration. */
static int pace(char **spec, const arguments *a)
{
    const bool has_time = workloads_has_parameter(*spec, "time");
    const bool names_time = workloads_names(*spec, "time");

    if (!workloads_has_parameter(*spec, "paced"))
        return command_fail(EXIT_USAGE,
                            "workload '%.200s' cannot be played in real time (it has no parameter "
                            "'paced'): leave --paced out, or run it by itself",
                            *spec);
    if (a->duration_s > 0 && names_time)
        return command_fail(
            EXIT_USAGE, "workload '%.200s': --duration is its time; leave one of them out", *spec);
    if (has_time && a->duration_s > 0) {
        char *time = xasprintf("time=%.0fms", a->duration_s * 1000);
        workloads_set(spec, time);
        free(time);
    } else if (has_time && !names_time && !workloads_names(*spec, "scale")) {
        workloads_set(spec, "time=" PACED_TIME);
    }
    if (!workloads_names(*spec, "paced"))
        workloads_set(spec, "paced=1");
    return EXIT_OK;
}

/* ---- the kinds of workload ------------------------------------------------------------------- */

/* The canonical spec of text, or NULL when it is wrong, which is said. *paced: it plays in real
 * time. */
static char *canonical(const matrix *m, const char *text, bool *paced)
{
    abench_workload *workload = NULL;
    abench_error error = ABENCH_ERROR_INIT;
    char *spec;

    if (abench_workload_parse(text, m->seed, m->lanes, &workload, &error) != ABENCH_OK) {
        command_fail(EXIT_USAGE, "%s", error.message);
        return NULL;
    }
    *paced = abench_workload_integer(workload, "paced") != 0;
    spec = xstrdup(abench_workload_spec(workload));
    abench_workload_destroy(workload);
    return spec;
}

static int add_of_catalogue(matrix *m, const arguments *a, const char *text)
{
    bool paced = false;
    char *label = xstrdup(text), *spec = canonical(m, text, &paced);
    int status = spec == NULL ? EXIT_USAGE : EXIT_OK;

    /* What is wrong with the user's own words was said of them alone. */
    if (status == EXIT_OK && a->quick && !workloads_names(label, "scale"))
        workloads_set(&label, "scale=quick");
    if (status == EXIT_OK && (a->paced || (paced && a->duration_s > 0)))
        status = pace(&label, a);
    free(spec);
    spec = status == EXIT_OK ? canonical(m, label, &paced) : NULL;
    if (spec == NULL) {
        free(label);
        return EXIT_USAGE;
    }
    return length_plan(m, workloads_add(m, label, spec), paced ? LENGTH_SET : LENGTH_OPEN);
}

static int add_tape(matrix *m, const arguments *a, const char *text)
{
    const char *path = text + strlen(WORKLOAD_TAPE);
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;
    matrix_workload *w;
    abench_status status;
    uint64_t digest;

    if (a->paced)
        return command_fail(
            EXIT_USAGE, "workload '%.200s': a tape plays as it was made, --paced has no use", text);
    status = abench_tape_open(path, NULL, &tape, &error);
    if (status != ABENCH_OK)
        return command_fail(EXIT_USAGE, "workload '%.200s': %s", text,
                            error.message[0] != '\0' ? error.message
                                                     : abench_status_message(status));
    /* Goes through the whole of it: what is damaged is found before anything is timed. */
    status = abench_tape_get_summary(tape, &summary);
    digest = status == ABENCH_OK ? abench_tape_digest(tape) : 0;
    abench_tape_destroy(tape);
    if (status != ABENCH_OK)
        return command_fail(EXIT_USAGE, "workload '%.200s': the tape cannot be read to its end: %s",
                            text, abench_status_message(status));
    /* How much of a block is written is no part of the digest. */
    w = workloads_add(m, xstrdup(text),
                      xasprintf("%s (%u lane%s, touch %s)", text, summary.lanes,
                                summary.lanes == 1 ? "" : "s", abench_touch_name(summary.touch)));
    snprintf(w->digest, sizeof w->digest, "%016llx", (unsigned long long)digest);
    return length_plan(m, w, LENGTH_FIXED);
}

/* Each variant of one WORKLOAD. */
static int add_variants(matrix *m, const arguments *a, const char *text, sweeps *swept)
{
    const bool is_tape = strncmp(text, WORKLOAD_TAPE, strlen(WORKLOAD_TAPE)) == 0;
    char message[1024], reason[512];
    bool paced = false;
    char *spec = is_tape ? NULL : canonical(m, text, &paced);
    sweep_list list;
    int status = EXIT_OK;

    if (!is_tape && spec == NULL)
        return EXIT_USAGE; /* what is wrong with the user's own words is said of them alone */
    free(spec);
    if (!sweeps_specs(swept, text, !is_tape, &list, reason, sizeof reason, message, sizeof message))
        return command_fail(EXIT_USAGE, "%s", message);
    if (reason[0] != '\0')
        matrix_note(m, "%s", reason);
    for (size_t at = 0; at < list.count && status == EXIT_OK; at++) {
        if (m->workloads_count >= WORKLOADS_MOST)
            status = command_fail(EXIT_USAGE, "more than %d workloads", WORKLOADS_MOST);
        else
            status =
                is_tape ? add_tape(m, a, list.items[at]) : add_of_catalogue(m, a, list.items[at]);
    }
    sweep_list_clear(&list);
    return status;
}

int workloads_read(matrix *m, const arguments *a, sweeps *swept)
{
    char message[1024];
    int status = EXIT_OK;

    for (size_t at = 0; at < a->workloads_count && status == EXIT_OK; at++)
        status = add_variants(m, a, a->workloads[at], swept);
    if (status == EXIT_OK && !sweeps_all_used(swept, a, message, sizeof message))
        status = command_fail(EXIT_USAGE, "%s", message);
    return status;
}

uint32_t workloads_lanes(const matrix *m, const matrix_workload *w)
{
    abench_workload *workload = NULL;
    uint32_t lanes = 0;

    if (w->spec == NULL || w->digest[0] != '\0' ||
        abench_workload_parse(w->label, m->seed, m->lanes, &workload, NULL) != ABENCH_OK)
        return 0;
    lanes = (uint32_t)abench_workload_integer(workload, "lanes");
    abench_workload_destroy(workload);
    return lanes;
}
