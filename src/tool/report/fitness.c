#include "tool/report/fitness.h"

#include <allocbench/machine.h>

#include "tool/report/format.h"

static void put_line(const model_finding *f, FILE *out)
{
    fprintf(out, "- **%s** ", abench_verdict_name(f->verdict));
    format_markdown(out, f->name);
    fputs(": ", out);
    format_markdown(out, f->value);
    if (f->advice[0] != '\0') {
        fputs(". What to do: ", out);
        format_markdown(out, f->advice);
    }
    fputc('\n', out);
}

void fitness_head(const model_machine *machine, FILE *out)
{
    static const uint32_t verdicts[] = {ABENCH_VERDICT_REFUSE, ABENCH_VERDICT_WARN};
    bool has_line = false;
    for (size_t v = 0; v < sizeof verdicts / sizeof *verdicts; v++) {
        for (size_t i = 0; i < machine->findings_count; i++) {
            if (machine->findings[i].verdict != verdicts[v])
                continue;
            if (!has_line)
                fputs("\nThe machine (`allocbench doctor`; all that was looked at: "
                      "[Machine](#machine)):\n\n",
                      out);
            has_line = true;
            put_line(&machine->findings[i], out);
        }
    }
    if (machine->findings_count > 0 && !has_line)
        fputs("\nThe machine: nothing speaks against a comparison (`allocbench doctor`).\n", out);
}

static void put_names(const model_machine *machine, uint32_t verdict, const char *head, FILE *out)
{
    const char *between = head;
    for (size_t i = 0; i < machine->findings_count; i++) {
        if (machine->findings[i].verdict != verdict)
            continue;
        fputs(between, out);
        format_markdown(out, machine->findings[i].name);
        between = ", ";
    }
    if (between != head)
        fputs(".\n", out);
}

void fitness_table(const model_machine *machine, FILE *out)
{
    if (machine->findings_count == 0)
        return;
    fputs("\n| looked at | verdict | found | why it matters |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < machine->findings_count; i++) {
        const model_finding *f = &machine->findings[i];
        if (f->verdict == ABENCH_VERDICT_UNKNOWN)
            continue;
        fputs("| ", out);
        format_markdown(out, f->name);
        fprintf(out, "%s | %s | ", f->is_key ? " (key)" : "", abench_verdict_name(f->verdict));
        format_markdown(out, f->value);
        fputs(" | ", out);
        format_markdown(out, f->why);
        fputs(" |\n", out);
    }
    put_names(machine, ABENCH_VERDICT_UNKNOWN, "\nNot known here: ", out);
    fputs("\n(key): results of machines that differ in it do not compare.\n", out);
}
