/* The machine in results: what the doctor found and what changed, written, read back, and told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "../data/report/fake_result.h"

#include "tool/fitness.h"
#include "tool/model.h"
#include "tool/report/fitness.h"
#include "tool/report/notes.h"
#include "tool/util.h"

static char message[1024];

/* Puts a list "machine" into one of the directory's files. */
static void put_machine(const fake *f, const char *file, json_t *list)
{
    char *path = xasprintf("%s/%s", f->path, file);
    json_t *root = json_load_file(path, 0, NULL);

    assert_non_null(root);
    json_object_set_new(root, "machine", list);
    fake_write_json(f, file, root);
    free(path);
}

static json_t *change(const char *name, const char *worst, const char *value)
{
    return json_pack("[{s:s,s:s,s:s}]", "name", name, "verdict", worst, "value", value);
}

static bool has_note(const model *m, const char *wanted)
{
    note_list list = notes_make(m);
    bool found = false;

    for (size_t i = 0; i < list.count; i++)
        found = found || strstr(list.items[i].text, wanted) != NULL;
    notes_free(&list);
    return found;
}

static char *print_machine(void (*put)(const model_machine *machine, FILE *out), const model *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    put(&m->machine, out);
    fclose(out);
    return text;
}

/* ---- a doctor that may be out ---------------------------------------------------------------- */

static bool is_out;

/* In front of the library's. */
abench_status abench_doctor_create(const abench_doctor_options *options, abench_doctor **out)
{
    abench_status (*create)(const abench_doctor_options *, abench_doctor **);

    if (is_out) {
        *out = NULL;
        return ABENCH_ERROR_MEMORY;
    }
    *(void **)&create = dlsym(RTLD_NEXT, "abench_doctor_create");
    return create(options, out);
}

/* ---- what the tool writes -------------------------------------------------------------------- */

static void a_look_finds_what_the_doctor_finds(void **state)
{
    abench_doctor *doctor;
    abench_finding finding = ABENCH_FINDING_INIT;
    json_t *list, *key;
    fitness f;
    size_t keys = 0;

    (void)state;
    fitness_look(&f);
    list = fitness_json(&f);
    key = fitness_key(&f);
    assert_int_equal(abench_doctor_create(NULL, &doctor), ABENCH_OK);
    for (uint32_t at = 0; abench_doctor_at(doctor, at, &finding) == ABENCH_OK; at++) {
        const json_t *item = json_array_get(list, at);
        assert_string_equal(json_string_value(json_object_get(item, "name")), finding.name);
        assert_string_equal(json_string_value(json_object_get(item, "why")), finding.why);
        keys += finding.is_key != 0;
        if (finding.is_key) /* the same machine has the same key */
            assert_string_equal(json_string_value(json_object_get(key, finding.name)),
                                finding.value);
    }
    assert_true(f.count > 10);
    assert_int_equal(json_array_size(list), f.count);
    assert_true(keys > 3);
    assert_int_equal(json_object_size(key), keys);
    abench_doctor_destroy(doctor);
    json_decref(list);
    json_decref(key);
    fitness_clear(&f);
    assert_int_equal(f.count, 0);
}

/* With --strict that must not pass for a fit machine. */
static void a_machine_that_cannot_be_looked_at_is_refused(void **state)
{
    fitness f;
    char *names;

    (void)state;
    is_out = true;
    fitness_look(&f);
    is_out = false;
    names = fitness_names(&f, ABENCH_VERDICT_REFUSE);
    assert_string_equal(names, "doctor");
    assert_non_null(strstr(f.findings[0].value, "cannot be looked at: "));
    assert_true(f.findings[0].why[0] != '\0' && f.findings[0].advice[0] != '\0');
    free(names);
    fitness_clear(&f);
}

static void names_are_those_of_the_verdict(void **state)
{
    fitness f = {.count = 3};
    char *names;

    (void)state;
    f.findings = xcalloc(3, sizeof *f.findings);
    snprintf(f.findings[0].name, sizeof f.findings[0].name, "steal");
    f.findings[0].verdict = ABENCH_VERDICT_WARN;
    snprintf(f.findings[1].name, sizeof f.findings[1].name, "thp");
    f.findings[1].verdict = ABENCH_VERDICT_REFUSE;
    snprintf(f.findings[2].name, sizeof f.findings[2].name, "load");
    f.findings[2].verdict = ABENCH_VERDICT_WARN;
    names = fitness_names(&f, ABENCH_VERDICT_WARN);
    assert_string_equal(names, "steal, load");
    free(names);
    names = fitness_names(&f, ABENCH_VERDICT_OK);
    assert_string_equal(names, "");
    free(names);
    fitness_clear(&f);
}

/* The machine that is looked at has not changed its swap between two looks; one counter is turned
 * back in the look before, as if it had. */
static void a_change_that_spoils_is_kept_as_the_worst(void **state)
{
    fitness_watch w;

    (void)state;
    fitness_begin(&w);
    assert_null(w.changes);
    snprintf(w.before.thp, sizeof w.before.thp, "other");
    w.before.valid |= ABENCH_MACHINE_THP;
    fitness_end(&w);
    if (w.worst == NULL) { /* a kernel without THP has none to change */
        fitness_watch_clear(&w);
        skip();
    }
    assert_non_null(strstr(w.worst, "thp: "));
    assert_true(json_array_size(w.changes) >= 1);
    fitness_watch_clear(&w);
    assert_null(w.worst);
}

/* ---- what is read back ----------------------------------------------------------------------- */

static void findings_are_read_and_told(void **state)
{
    json_t *list = json_pack(
        "[{s:s,s:s,s:s,s:b,s:s,s:s},{s:s,s:s,s:s,s:b,s:s,s:s},{s:s,s:s,s:s},{s:s,s:s,s:s,s:s}]",
        "name", "thp", "verdict", "ok", "value", "madvise", "is_key", 1, "why", "huge | pages",
        "advice", "", "name", "overcommit", "verdict", "refuse", "value", "mode 2", "is_key", 0,
        "why", "reserves", "advice", "set it to 0", "name", "turbo", "verdict", "unknown", "value",
        "absent", "name", "load", "verdict", "warn", "value", "7 on 2 CPUs", "advice", "stop them");
    model *m;
    char *text;

    put_machine(*state, "matrix.json", list);
    m = model_load(((fake *)*state)->path, message, sizeof message);
    if (m == NULL)
        fail_msg("%s", message);
    assert_int_equal(m->machine.findings_count, 4);
    assert_true(m->machine.findings[0].is_key);
    assert_int_equal(m->machine.findings[1].verdict, ABENCH_VERDICT_REFUSE);
    assert_true(has_note(m, "overcommit, mode 2: set it to 0"));
    assert_false(has_note(m, "7 on 2 CPUs"));
    text = print_machine(fitness_head, m);
    assert_non_null(strstr(text, "- **refuse** overcommit: mode 2. What to do: set it to 0\n"
                                 "- **warn** load: 7 on 2 CPUs. What to do: stop them\n"));
    assert_null(strstr(text, "madvise"));
    free(text);
    text = print_machine(fitness_table, m);
    assert_non_null(strstr(text, "| thp (key) | ok | madvise | huge \\| pages |\n"));
    assert_non_null(strstr(text, "Not known here: turbo.\n"));
    free(text);
    model_free(m);
}

static void a_fit_machine_is_told_so(void **state)
{
    model *m;
    char *text;

    put_machine(*state, "matrix.json", change("thp", "ok", "madvise"));
    m = model_load(((fake *)*state)->path, message, sizeof message);
    assert_non_null(m);
    text = print_machine(fitness_head, m);
    assert_non_null(strstr(text, "nothing speaks against a comparison"));
    free(text);
    model_free(m);
}

/* Results of before the doctor say nothing of the machine. */
static void no_findings_say_nothing(void **state)
{
    model *m = model_load(((fake *)*state)->path, message, sizeof message);
    char *text;

    assert_non_null(m);
    text = print_machine(fitness_head, m);
    assert_string_equal(text, "");
    free(text);
    text = print_machine(fitness_table, m);
    assert_string_equal(text, "");
    free(text);
    model_free(m);
}

static void changes_are_told_once_a_kind(void **state)
{
    model *m;

    put_machine(*state, "rounds/w00.r000.json", change("swap", "refuse", "3 MiB"));
    put_machine(*state, "rounds/w00.r001.json", change("swap", "refuse", "5 MiB"));
    put_machine(*state, "rounds/w01.r000.json", change("speed", "warn", "12 %"));
    fake_edit(*state, "rounds/w00.r001.json", "\"schema\": 1", "\"schema\": 1, \"tries\": 2");
    m = model_load(((fake *)*state)->path, message, sizeof message);
    if (m == NULL)
        fail_msg("%s", message);
    assert_int_equal(m->machine.changes_count, 3);
    assert_int_equal(m->machine.reruns, 1);
    assert_true(has_note(m, "changed in 2 rounds, which spoils them: swap, for instance 3 MiB"));
    assert_false(has_note(m, "5 MiB"));
    assert_true(has_note(m, "changed in 1 round: speed, for instance 12 %"));
    assert_true(has_note(m, "1 round was played again"));
    model_free(m);
}

/* A cell that ran by itself has changes of its own; its round counts once. */
static void changes_of_cells_count_their_round_once(void **state)
{
    const fake *f = *state;
    char *path = xasprintf("%s/rounds/w00.r000.json", f->path);
    json_t *root = json_load_file(path, 0, NULL);
    size_t index;
    json_t *cell;
    model *m;

    json_array_foreach(json_object_get(root, "cells"), index, cell)
        json_object_set_new(cell, "machine", change("steal", "warn", "2 %"));
    fake_write_json(f, "rounds/w00.r000.json", root);
    m = model_load(f->path, message, sizeof message);
    if (m == NULL)
        fail_msg("%s", message);
    assert_true(m->machine.changes_count > 1);
    assert_true(has_note(m, "changed in 1 round: steal, for instance 2 %"));
    model_free(m);
    free(path);
}

static void hostile_machines_are_refused(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        const char *why;
    } damages[] = {
        {"\"refuse\"", "\"REFUSE\"", "machine[0].verdict: not \"ok\""},
        {"\"swap\"", "7", "machine[0].name"},
        {"\"3 MiB\"", "null", "machine[0].value"},
        {"[{", "[7,{", "machine[0]"},
    };

    for (size_t at = 0; at < sizeof damages / sizeof damages[0]; at++) {
        char *path = xasprintf("%s/matrix.json", ((fake *)*state)->path), *text, *place;
        json_t *root;
        model *m;
        put_machine(*state, "matrix.json", change("swap", "refuse", "3 MiB"));
        root = json_load_file(path, 0, NULL);
        text = json_dumps(root, JSON_COMPACT);
        json_decref(root);
        place = strstr(strstr(text, "\"machine\":[{"), damages[at].from);
        assert_non_null(place);
        free(path);
        path = xasprintf("%.*s%s%s", (int)(place - text), text, damages[at].to,
                         place + strlen(damages[at].from));
        fake_write(*state, "matrix.json", path, strlen(path));
        m = model_load(((fake *)*state)->path, message, sizeof message);
        assert_null(m);
        if (strstr(message, damages[at].why) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", message, damages[at].why);
        free(path);
        free(text);
        fake_remove(*state);
        fake_make(*state);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_look_finds_what_the_doctor_finds),
        TEST(a_machine_that_cannot_be_looked_at_is_refused),
        TEST(names_are_those_of_the_verdict),
        TEST(a_change_that_spoils_is_kept_as_the_worst),
        TEST(findings_are_read_and_told),
        TEST(a_fit_machine_is_told_so),
        TEST(no_findings_say_nothing),
        TEST(changes_are_told_once_a_kind),
        TEST(changes_of_cells_count_their_round_once),
        TEST(hostile_machines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
