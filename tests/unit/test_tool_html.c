/* report.html: what stands in it, in which order, and that nothing from outside gets out of its
 * text. (tests/browser looks at it in a browser.) */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../data/report/fake_result.h"
#include "../data/report/has_text.h"

#include "tool/report/html.h"
#include "tool/report/html_parts.h"

static void print_page(const world *w, FILE *out)
{
    html_report(w->judged, out);
}

static char *page_of(const fake *f)
{
    world w = open_world(f);
    char *text = print(&w, print_page);
    close_world(&w);
    return text;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        n++;
    return n;
}

static void the_verdict_comes_first_and_the_way_to_repeat_it_last(void **state)
{
    static const char *const order[] = {"<!DOCTYPE html>",
                                        "<title>",
                                        "<h1>3 targets on 2 workloads</h1>",
                                        "id=\"verdict\"",
                                        "id=\"machine\"",
                                        "id=\"w00\"",
                                        "class=\"plot rss\"",
                                        "class=\"plot forest\"",
                                        "class=\"verdicts\"",
                                        "class=\"values\"",
                                        "id=\"w01\"",
                                        "id=\"notes\"",
                                        "LD_PRELOAD was cleared",
                                        "id=\"targets\"",
                                        "id=\"again\"",
                                        "<pre>",
                                        "</html>"};
    char *text = page_of(&fake_plain);
    const char *at = text;
    (void)state;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *next = strstr(at, order[i]);
        if (next == NULL)
            fail_msg("%s is missing, or before what should precede it", order[i]);
        at = next;
    }
    free(text);
}

static void the_page_needs_nothing_but_itself(void **state)
{
    static const char *const outside[] = {" src=",   "url(",      "@import", "href=\"http",
                                          "href='",  "fetch(",    "import(", "XMLHttpRequest",
                                          "<iframe", "innerHTML", "eval(",   "<object"};
    char *text = page_of(&fake_plain);
    (void)state;
    assert_has(text, "content=\"default-src 'none'; style-src 'unsafe-inline'; "
                     "script-src 'unsafe-inline'; img-src data:;");
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_lacks(text, outside[i]);
    free(text);
}

static void hostile_names_stay_text(void **state)
{
    static const fake nasty = {
        .names = {"<script>alert(1)</script>", "a|b\"c\t,\n*x*' onload=x",
                  "\x1b[31mred\xc2\x9b\xe2\x80\xae"},
        .label = "</style><b>&\"'`|\n# [X](y)",
        .command = "printf '</pre><img>'",
        .note = "- <img src=x> `code` _it_\x1b[2J",
        .reason = "crashed\nbadly | <b>",
        .warning = "odd\x07 \"warning\"<b>",
        .lanes = 1,
    };
    char *text = page_of(&nasty);
    (void)state;
    assert_int_equal(count(text, "<script"), 1);
    assert_int_equal(count(text, "</script"), 1);
    assert_int_equal(count(text, "</style"), 1);
    assert_lacks(text, "<img");
    assert_lacks(text, "<b>&");
    assert_lacks(text, "' onload=x");
    assert_lacks(text, "\xe2\x80\xae");
    assert_has(text, "&lt;script&gt;alert(1)&lt;/script&gt;");
    assert_has(text, "a|b&quot;c\\t,\\n*x*&#39; onload=x");
    for (const char *c = text; *c != '\0'; c++)
        assert_true(*c == '\n' || !iscntrl((unsigned char)*c));
    free(text);
}

static void every_value_of_every_round_is_there(void **state)
{
    char *text = page_of(&fake_plain);
    (void)state;
    /* Round 2: the baseline, its second cell, jemalloc; tcmalloc failed. */
    const char *at = strstr(text, "data-metric=\"rss_bytes\"><caption>");
    assert_non_null(at);
    const char *end = strstr(at, "</table>");
    const char *row = strstr(at, "<th scope=\"row\">2<td>23068672<td>23068672<td>25375539.2<td>\n");
    assert_true(row != NULL && row < end);
    /* Time as it is judged, of the slices: fake_result.h. */
    assert_has(text, "<th scope=\"row\">1<td>50<td>50<td>40<td>25<td>10\n");
    free(text);
}

static void a_failed_cell_and_a_missing_target_are_said(void **state)
{
    char *text = page_of(&fake_plain);
    (void)state;
    assert_has(text, "Segmentation fault");
    assert_has(text, "install libmimalloc3");
    free(text);
}

static void a_command_has_no_live_bytes_and_no_picture_of_what_came_back(void **state)
{
    char *text = page_of(&fake_plain);
    char *own = strstr(text, "id=\"w01\"");
    (void)state;
    assert_non_null(own);
    assert_has(text, "class=\"live\""); /* the tape's */
    *strstr(own, "</section>") = '\0';
    assert_lacks(own, "class=\"live\"");
    assert_lacks(own, "class=\"plot back\"");
    assert_has(own, "A command");
    free(text);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static void assert_html(const char *markdown, const char *expected)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    html_markdown(out, markdown);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void markdown_becomes_html(void **state)
{
    (void)state;
    assert_html("one *two* **three** `a*b`\n", "<p>one <em>two</em> <strong>three</strong> "
                                               "<code>a*b</code></p>\n");
    assert_html("- a\n- b\n\nc\n", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<p>c</p>\n");
    assert_html("## Head\n", "<h3>Head</h3>\n");
    assert_html("see [there](#x): y\n", "<p>see there: y</p>\n");
    assert_html("a\\_b \\*c\\* \\[d\\] \\| \\\\ &lt;e&gt; &amp;\n",
                "<p>a_b *c* [d] | \\ &lt;e&gt; &amp;</p>\n");
}

static void a_table_takes_the_paragraph_before_it_as_its_caption(void **state)
{
    (void)state;
    assert_html("What:\n\n| t | n, MiB |\n|---|---:|\n| a \\| b | 1 |\nbehind\n",
                "<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>What:</caption>\n"
                "<tr><th scope=\"col\">t</th><th scope=\"col\" class=\"num\">n, MiB</th></tr>\n"
                "<tr><th scope=\"row\">a | b</th><td class=\"num\">1</td></tr>\n"
                "</table></div>\n<p>behind</p>\n");
    assert_html("| | |\n|---|---|\n| a | b |\n",
                "<div class=\"scroll\" tabindex=\"0\"><table>\n"
                "<tr><th scope=\"row\">a</th><td>b</td></tr>\n</table></div>\n");
}

static void what_is_no_markup_of_ours_stays_text(void **state)
{
    (void)state;
    assert_html("<script>&quot;'\"\n", "<p>&lt;script&gt;&amp;quot;&#39;&quot;</p>\n");
    assert_html("*open `never\n", "<p><em>open <code>never</code></em></p>\n");
    assert_html("|\n", "<div class=\"scroll\" tabindex=\"0\"><table>\n</table></div>\n");
    assert_html("\\", "<p>\\</p>\n");
    assert_html("](", "<p>(</p>\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_comes_first_and_the_way_to_repeat_it_last),
        cmocka_unit_test(the_page_needs_nothing_but_itself),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(every_value_of_every_round_is_there),
        cmocka_unit_test(a_failed_cell_and_a_missing_target_are_said),
        cmocka_unit_test(a_command_has_no_live_bytes_and_no_picture_of_what_came_back),
        cmocka_unit_test(markdown_becomes_html),
        cmocka_unit_test(a_table_takes_the_paragraph_before_it_as_its_caption),
        cmocka_unit_test(what_is_no_markup_of_ours_stays_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
