#include "tool/fitness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/doctor_print.h"
#include "tool/json_text.h"
#include "tool/util.h"

/* In the place of what was not looked at. */
static abench_finding blind_finding(abench_status status)
{
    abench_finding finding = ABENCH_FINDING_INIT;

    finding.verdict = ABENCH_VERDICT_REFUSE;
    snprintf(finding.name, sizeof finding.name, "doctor");
    snprintf(finding.value, sizeof finding.value, "the machine cannot be looked at: %s",
             abench_status_message(status));
    snprintf(finding.why, sizeof finding.why,
             "What makes a comparison of allocators wrong is then not known.");
    snprintf(finding.advice, sizeof finding.advice, "See what allocbench doctor says.");
    return finding;
}

void fitness_look(fitness *f)
{
    abench_doctor *doctor;
    const abench_status status = abench_doctor_create(NULL, &doctor);

    memset(f, 0, sizeof *f);
    if (status != ABENCH_OK) {
        f->findings = xcalloc(1, sizeof *f->findings);
        f->findings[f->count++] = blind_finding(status);
        return;
    }
    f->findings = doctor_findings(doctor, &f->count);
    abench_doctor_destroy(doctor);
}

void fitness_clear(fitness *f)
{
    free(f->findings);
    memset(f, 0, sizeof *f);
}

char *fitness_names(const fitness *f, uint32_t verdict)
{
    char *names = xstrdup("");

    for (size_t at = 0; at < f->count; at++) {
        char *more;
        if (f->findings[at].verdict != verdict)
            continue;
        more = xasprintf("%s%s%s", names, names[0] == '\0' ? "" : ", ", f->findings[at].name);
        free(names);
        names = more;
    }
    return names;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

json_t *fitness_json(const fitness *f)
{
    return doctor_json(f->findings, f->count);
}

json_t *fitness_key(const fitness *f)
{
    json_t *key = json_object();

    for (size_t at = 0; at < f->count; at++)
        if (f->findings[at].is_key)
            json_object_set_new(key, f->findings[at].name, json_text(f->findings[at].value));
    return key;
}

/* ---- meanwhile ------------------------------------------------------------------------------- */

static int32_t keep_change(const abench_finding *change, void *user)
{
    fitness_watch *w = user;
    json_t *list = doctor_json(change, 1);

    json_array_extend(w->changes, list);
    json_decref(list);
    if (change->verdict < ABENCH_VERDICT_REFUSE)
        return 0;
    free(w->worst);
    w->worst = xasprintf("%s: %s", change->name, change->value);
    return 0;
}

void fitness_begin(fitness_watch *w)
{
    memset(w, 0, sizeof *w);
    abench_machine_init(&w->before);
    abench_machine_read(1, &w->before);
}

void fitness_end(fitness_watch *w)
{
    abench_machine after = ABENCH_MACHINE_INIT;

    w->changes = json_array();
    abench_machine_read(1, &after);
    abench_machine_changes(&w->before, &after, keep_change, w);
}

void fitness_watch_clear(fitness_watch *w)
{
    json_decref(w->changes);
    free(w->worst);
    memset(w, 0, sizeof *w);
}
