#include "machine/check.h"

#include <errno.h>
#include <string.h>

#include "system/scan.h"

void abench__found_judge(abench__found *found, uint32_t verdict, const char *advice)
{
    found->verdict = verdict;
    abench__text_put(&found->advice, advice);
}

void abench__found_unread(abench__found *found, int error)
{
    found->verdict = ABENCH_VERDICT_UNKNOWN;
    abench__text_put(&found->value, error == -ENOENT ? "not in this kernel" : "cannot be read");
}

void abench__put_percent(abench__text *text, uint64_t part, uint64_t whole)
{
    uint64_t tenths;

    while (part > UINT64_MAX / 2000 || whole > UINT64_MAX / 2) { /* too little is lost to show */
        part /= 2;
        whole /= 2;
    }
    tenths = whole > 0 ? (part * 1000 + whole / 2) / whole : 0;
    abench__text_printf(text, "%llu.%llu %%", (unsigned long long)(tenths / 10),
                        (unsigned long long)(tenths % 10));
}

void abench__put_bytes(abench__text *text, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    uint64_t tenths;
    uint32_t unit = 0;

    for (; unit + 1 < sizeof units / sizeof units[0] && bytes >> (10 * (unit + 1)) != 0; unit++)
        ;
    if (unit == 0) {
        abench__text_printf(text, "%llu B", (unsigned long long)bytes);
        return;
    }
    tenths = (bytes >> (10 * (unit - 1))) * 10 / 1024;
    if (tenths % 10 == 0 || tenths >= 1000)
        abench__text_printf(text, "%llu %s", (unsigned long long)(tenths / 10), units[unit]);
    else
        abench__text_printf(text, "%llu.%llu %s", (unsigned long long)(tenths / 10),
                            (unsigned long long)(tenths % 10), units[unit]);
}

void abench__put_foreign(abench__text *text, const char *string, uint32_t letters)
{
    const uint32_t dots = 3;

    for (uint32_t i = 0; string[i] != '\0'; i++) {
        if (i + dots >= letters && strlen(string + i) > dots) {
            abench__text_put(text, "...");
            return;
        }
        if (string[i] == '\n' || string[i] == '\t')
            abench__text_put_char(text, ' ');
        else
            abench__text_put_char(text, string[i] >= ' ' && string[i] <= '~' ? string[i] : '?');
    }
}

int abench__exceeds(uint64_t part, uint64_t whole, uint32_t percent)
{
    const uint64_t hundredth = whole / 100, rest = whole % 100;

    /* whole * percent / 100, rounded down, without the product. */
    return part > hundredth * percent + rest * percent / 100;
}

uint64_t abench__steal_that_counts(uint64_t steal_ticks)
{
    return steal_ticks > 0 ? steal_ticks - 1 : 0;
}

int abench__grew(uint64_t before, uint64_t after, uint64_t *by)
{
    if (after < before)
        return 0;
    *by = after - before;
    return 1;
}

int abench__look_list(const abench__look *look, const char *key, uint64_t *count)
{
    const char *rest, *end;

    return abench__scan_keyed(look->status, look->status_length, key, &rest, &end) &&
           abench__scan_list(rest, (size_t)(end + 1 - rest), count); /* with the newline */
}
