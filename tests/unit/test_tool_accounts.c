/* What a report says of what allocators tell of themselves. */
#include "../data/report/cells.h"

#include "tool/report/accounts.h"

static void print_accounts(const world *w, FILE *out)
{
    accounts_markdown(&w->m, out);
}

static void statistics_stand_by_name_and_place(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    add_cell(&w, 0, 0)->failed = true;
    tell(&w.cells[0]);
    add_cell(&w, 0, 1); /* good, but it tells none */
    tell(add_cell(&w, 0, 2));
    finish(&w);
    char *text = print(&w, print_accounts);
    assert_has(text, "\n## What the allocators say of themselves (bytes, and counts as they name "
                     "them)\n");
    assert_has(text, "do not compare between allocators");
    assert_has(text, "\nglibc on mixed, round 3; reading it took 21.0us, 1.50us:\n\n"
                     "| statistic | measured | purged |\n|---|---:|---:|\n"
                     "| RSS (kernel), less baseline | 0 | 1,048,576 |\n"
                     "| uordblks | 1,234,567 | 0 |\n"
                     "| keepcost | 999 | \xe2\x80\x93 |\n"
                     "| a\\|b\\_\\* | 18,446,744,073,709,551,615 | \xe2\x80\x93 |\n"
                     "| trimmed | \xe2\x80\x93 | 1,000 |\n");
    assert_lacks(text, "jemalloc");
    free(text);
    clear(&w);
}

static void what_the_kernel_did_not_say_is_not_told(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    tell(cell);
    cell->phases[1].memory = rss(1.5); /* less than there was before */
    cell->afters[0].memory.valid = 0;
    finish(&w);
    assert_prints(&w, print_accounts,
                  "\n| RSS (kernel), less baseline | \\-524,288 | \xe2\x80\x93 |\n");
    cell->phases[0].memory.valid = 0;
    assert_prints(&w, print_accounts,
                  "\n| RSS (kernel), less baseline | \xe2\x80\x93 | \xe2\x80\x93 |\n");
    clear(&w);
}

static void families_that_tell_are_explained_and_the_others_named(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    w.targets[2].name = text_of("*tc*");
    tell(add_cell(&w, 0, 0));
    finish(&w);
    char *text = print(&w, print_accounts);
    assert_has(text, "\n- glibc: *fordblks* is free, but mostly still resident");
    assert_lacks(text, "\n- jemalloc: ");
    assert_lacks(text, "\n- tcmalloc: ");
    assert_lacks(text, "Nothing of the kind"); /* the others have no cell */
    free(text);
    clear(&w);
    add_cell(&w, 1, 0);
    add_cell(&w, 2, 0);
    finish(&w);
    text = print(&w, print_accounts);
    assert_has(text, "\nNothing of the kind is told by jemalloc, \\*tc\\*.\n");
    free(text);
    w.cells[1].failed = true;    /* who knows */
    w.cells[2].phases_count = 0; /* a command: it was not asked */
    assert_prints(&w, print_accounts, "as used.\n\nglibc on mixed");
    w.cells[1].failed = false;
    tell(&w.cells[1]);
    text = print(&w, print_accounts);
    assert_has(text, "as used.\n- jemalloc: *stats.retained* is address space only; ");
    free(text);
    clear(&w);
}

static void the_last_phase_is_drained_when_it_is_not_timed(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    cell->phases[2].account = (model_account){purged, 2, 900};
    finish(&w);
    assert_prints(&w, print_accounts, "\n| statistic | drained |\n");
    cell->phases[2].timed = true;
    assert_prints(&w, print_accounts, "\n| statistic | measured |\n");
    cell->phases_count = 2;
    assert_prints_nothing(&w, print_accounts);
    clear(&w);
}

static void the_floor_says_nothing(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    tell(add_cell(&w, MODEL_FLOOR, 0));
    finish(&w);
    assert_prints_nothing(&w, print_accounts);
    clear(&w);
}

static void a_dozen_settings_are_shown(void **state)
{
    static world w;
    static char names[14][8];
    (void)state;
    begin(&w);
    add_cell(&w, 1, 0)->failed = true;
    model_cell *cell = add_cell(&w, 1, 1);
    for (size_t at = 0; at < 14; at++) {
        snprintf(names[at], sizeof names[at], "n%zu", at);
        cell->settings[at] = (model_setting){names[at], text_of(at == 1 ? "a\nb" : "8")};
        w.cells[0].settings[at] = (model_setting){names[at], text_of("failed")};
    }
    w.cells[0].settings_count = 2;
    assert_null(accounts_settings(&w.m, 1));
    cell->settings_count = 3;
    char *text = accounts_settings(&w.m, 1);
    assert_string_equal(text, "n0=8, n1=a\\nb, n2=8");
    free(text);
    cell->settings[0].value = text_of("12345678901234567890123456789012345678901234567890");
    cell->settings_count = 14;
    text = accounts_settings(&w.m, 1);
    assert_has(text, "n0=1234567890123456789012345678901234567..., n1=");
    assert_has(text, ", n11=8 and 2 more");
    free(text);
    cell->settings_count = 12;
    text = accounts_settings(&w.m, 1);
    assert_lacks(text, "more");
    free(text);
    /* What nobody sets gives way to what somebody may have set. */
    cell->settings[0] = (model_setting){text_of("version"), text_of("5.3.0")};
    cell->settings[1] = (model_setting){text_of("config.stats"), text_of("true")};
    cell->settings[2] = (model_setting){text_of("opt.narenas"), text_of("8")};
    cell->settings_count = 13;
    text = accounts_settings(&w.m, 1);
    assert_has(text, "opt.narenas=8, n3=8, ");
    assert_has(text, ", n12=8, version=5.3.0 and 1 more");
    free(text);
    assert_null(accounts_settings(&w.m, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_stand_by_name_and_place),
        cmocka_unit_test(what_the_kernel_did_not_say_is_not_told),
        cmocka_unit_test(families_that_tell_are_explained_and_the_others_named),
        cmocka_unit_test(the_last_phase_is_drained_when_it_is_not_timed),
        cmocka_unit_test(the_floor_says_nothing),
        cmocka_unit_test(a_dozen_settings_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
