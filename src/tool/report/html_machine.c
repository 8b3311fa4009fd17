#include "tool/report/html_parts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include <allocbench/machine.h>

#include "tool/report/accounts.h"
#include "tool/report/fitness.h"
#include "tool/report/format.h"
#include "tool/report/machines.h"
#include "tool/util.h"

/* ---- the machine ----------------------------------------------------------------------------- */

static void put_fact(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<div><dt>%s</dt><dd>", name);
    html_text(out, *value != '\0' ? value : "n/a");
    fputs("</dd></div>\n", out);
}

static void put_bytes(FILE *out, const char *name, uint64_t bytes, const char *none)
{
    const format_unit unit = format_scale("bytes", (double)bytes);
    const double shown = (double)bytes / unit.divisor;
    char *text =
        bytes == 0 ? xstrdup(none) : xasprintf("%.*f %s", format_decimals(shown), shown, unit.name);
    put_fact(out, name, text);
    free(text);
}

static void put_facts(const abench_host *host, FILE *out)
{
    char *cpus =
        xasprintf("%" PRIu32 " online, %" PRIu32 " allowed", host->cpus_online, host->cpus_allowed);
    fputs("<dl class=\"facts\">\n", out);
    put_fact(out, "host", host->hostname);
    put_fact(out, "CPU", host->cpu);
    put_fact(out, "CPUs", cpus);
    put_fact(out, "governor", host->governor);
    put_bytes(out, "memory", host->memory_bytes, "n/a");
    put_bytes(out, "memory limit", host->memory_limit_bytes, "none");
    put_fact(out, "kernel", host->kernel);
    put_fact(out, "machine", host->machine);
    put_fact(out, "C library", host->libc);
    put_fact(out, "huge pages (THP)", host->thp);
    fputs("</dl>\n", out);
    free(cpus);
}

static size_t put_findings(const model_machine *machine, uint32_t kind, FILE *out)
{
    size_t n = 0;
    for (size_t i = 0; i < machine->findings_count; i++) {
        const model_finding *f = &machine->findings[i];
        if (f->verdict != kind)
            continue;
        fprintf(out, "%s<li><strong>%s</strong> ", n == 0 ? "<ul class=\"findings\">\n" : "",
                abench_verdict_name(kind));
        html_text(out, f->name);
        fputs(": ", out);
        html_text(out, f->value);
        if (f->advice[0] != '\0') {
            fputs(" <span>What to do: ", out);
            html_text(out, f->advice);
            fputs("</span>", out);
        }
        fputs("</li>\n", out);
        n++;
    }
    fputs(n > 0 ? "</ul>\n" : "", out);
    return n;
}

typedef void (*section)(const model *m, FILE *out);

static void put_section(const model *m, section from, const char *head, FILE *out)
{
    char *text;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    if (page == NULL)
        return;
    from(m, page);
    if (fclose(page) == 0 && size > 0) {
        fprintf(out, "<details><summary>%s</summary>\n", head);
        html_markdown(out, text);
        fputs("</details>\n", out);
    }
    free(text);
}

static void findings_section(const model *m, FILE *out)
{
    fitness_table(&m->machine, out);
}

void html_machine(const model *m, FILE *out)
{
    fputs("<section id=\"machine\"><h2>The machine</h2>\n", out);
    put_facts(&m->host, out);
    const size_t against = put_findings(&m->machine, ABENCH_VERDICT_REFUSE, out) +
                           put_findings(&m->machine, ABENCH_VERDICT_WARN, out);
    if (m->machine.findings_count > 0 && against == 0)
        fputs("<p>The doctor found nothing that speaks against a comparison.</p>\n", out);
    put_section(m, findings_section, "All that the doctor looked at", out);
    put_section(m, machines_list_markdown, "The machines that ran the rounds", out);
    fputs("</section>\n", out);
}

/* ---- the targets ----------------------------------------------------------------------------- */

static void put_target(const model *m, size_t target, FILE *out)
{
    const model_target *t = &m->targets[target];
    char *told = accounts_settings(m, target);
    const char *texts[] = {t->family,
                           t->version,
                           *t->settings != '\0' ? t->settings : "none",
                           told != NULL ? told : "",
                           *t->library != '\0' ? t->library : "the C library",
                           t->build_id};
    fputs("<tr><th scope=\"row\">", out);
    html_text(out, t->name);
    fputs(target == m->baseline ? " <small>baseline</small></th>" : "</th>", out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fputs("<td>", out);
        html_text(out, *texts[i] != '\0' ? texts[i] : "n/a");
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
    free(told);
}

void html_targets(const model *m, FILE *out)
{
    fputs("<section id=\"targets\"><h2>Targets</h2>\n"
          "<div class=\"scroll\" tabindex=\"0\"><table class=\"targets\"><caption>What was measured"
          "</caption><thead><tr><th scope=\"col\">target</th><th scope=\"col\">family</th>"
          "<th scope=\"col\">version</th><th scope=\"col\">settings</th>"
          "<th scope=\"col\">in force, as it tells</th><th scope=\"col\">library</th>"
          "<th scope=\"col\">build id</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < m->targets_count; i++) {
        if (m->targets[i].missing == NULL)
            put_target(m, i, out);
    }
    fputs("</tbody></table></div>\n", out);
    note_list missing = notes_missing(m);
    fputs(missing.count > 0 ? "<h3>Missing</h3>\n" : "", out);
    html_notes(out, missing);
    put_section(m, accounts_markdown, "What the allocators say of themselves", out);
    fputs("</section>\n", out);
}
