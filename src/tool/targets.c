#include "tool/targets.h"

#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/util.h"

#define TARGETS_MOST 200 /* at once; a result directory holds up to 1000 */

/* settings: of a variant; NULL: the target itself. */
static int add_target(matrix *m, const char *spec, const char *settings)
{
    char message[1024];
    target t;

    if (settings == NULL ? !target_parse(spec, &t, message, sizeof message)
                         : !target_parse_variant(spec, settings, &t, message, sizeof message))
        return command_fail(EXIT_USAGE, "%s", message);
    for (size_t at = 0; at < m->targets_count; at++)
        if (strcmp(m->targets[at].spec, t.spec) == 0) {
            target_clear(&t);
            return EXIT_OK;
        }
    if (m->cpus != NULL)
        target_pin(&t, m->cpus);
    for (size_t at = 0; at < m->targets_count; at++)
        if (strcmp(m->targets[at].name, t.name) == 0) {
            command_fail(EXIT_USAGE, "two targets are called '%s'", t.name);
            target_clear(&t);
            return EXIT_USAGE;
        }
    if (m->targets_count == TARGETS_MOST) {
        target_clear(&t);
        return command_fail(EXIT_USAGE, "more than %d targets", TARGETS_MOST);
    }
    m->targets = xrealloc(m->targets, (m->targets_count + 1) * sizeof *m->targets);
    m->targets[m->targets_count++] = t;
    return EXIT_OK;
}

/* A built-in target that is the same library as one before it says nothing new. */
static bool is_repeated(const matrix *m, const target *t)
{
    if (t->library == NULL)
        return false;
    for (size_t at = 0; at < m->targets_count; at++)
        if (m->targets[at].library != NULL && strcmp(m->targets[at].library, t->library) == 0)
            return true;
    return false;
}

static int add_all_found(matrix *m)
{
    size_t count;
    target *all = target_all(&count);
    int status = EXIT_OK;

    for (size_t at = 0; at < count && status == EXIT_OK; at++)
        if (!is_repeated(m, &all[at]))
            status = add_target(m, all[at].name, NULL);
    target_list_free(all, count);
    return status;
}

/* Each variant of one -t, of which none may be what is swept already. */
static int add_variants(matrix *m, const char *spec, const sweeps *swept, const sweep_list *list)
{
    char message[1024];
    target t;
    int status = EXIT_OK;

    if (!target_parse(spec, &t, message, sizeof message))
        return command_fail(EXIT_USAGE, "%s", message);
    for (size_t at = 0; at < swept->count && status == EXIT_OK; at++)
        if (swept->items[at].of_targets && target_sets(&t, swept->items[at].key))
            status = command_fail(
                EXIT_USAGE, "target '%s' sets %s, which --sweep varies: leave one of them out",
                t.name, swept->items[at].key);
    target_clear(&t);
    for (size_t at = 0; at < list->count && status == EXIT_OK; at++)
        status = add_target(m, spec, list->items[at]);
    return status;
}

static bool is_baseline(const char *spec, const char *baseline)
{
    char *name = target_spec_name(spec);
    const bool is = strcmp(spec, baseline) == 0 || strcmp(name, baseline) == 0;

    free(name);
    return is;
}

/* All of -t; the baseline is swept only when it is alone. */
static int add_asked(matrix *m, const arguments *a, const char *baseline, const sweeps *swept)
{
    char message[256];
    sweep_list list;
    int status = EXIT_OK;

    if (!sweeps_of_targets(swept)) {
        for (size_t at = 0; at < a->targets_count && status == EXIT_OK; at++)
            status = add_target(m, a->targets[at], NULL);
        return status;
    }
    if (a->targets_count == 0)
        return command_fail(EXIT_USAGE, "--sweep of targets: which? Name them with -t");
    if (!sweeps_settings(swept, &list, message, sizeof message))
        return command_fail(EXIT_USAGE, "%s", message);
    for (size_t at = 0; at < a->targets_count && status == EXIT_OK; at++)
        status = a->targets_count > 1 && is_baseline(a->targets[at], baseline)
                     ? add_target(m, a->targets[at], NULL)
                     : add_variants(m, a->targets[at], swept, &list);
    sweep_list_clear(&list);
    return status;
}

int targets_read(matrix *m, const arguments *a, const sweeps *swept)
{
    const char *baseline = a->baseline == NULL ? "glibc" : a->baseline;
    target none = {0};
    int status = EXIT_OK;

    if (m->cpus != NULL && !target_pin(&none, m->cpus))
        status = command_fail(EXIT_USAGE, "--cpus '%s': a list like 0-1,3 is wanted", m->cpus);
    target_clear(&none);
    if (status == EXIT_OK)
        status = add_asked(m, a, baseline, swept);
    if (status == EXIT_OK && a->targets_count == 0)
        status = add_all_found(m);
    for (m->baseline = 0; m->baseline < m->targets_count; m->baseline++)
        if (strcmp(m->targets[m->baseline].name, baseline) == 0 ||
            strcmp(m->targets[m->baseline].spec, baseline) == 0)
            break;
    if (status == EXIT_OK && m->baseline == m->targets_count)
        status = add_target(m, baseline, NULL);
    return status;
}
