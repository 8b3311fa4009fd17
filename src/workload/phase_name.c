/* phase_name.c - names of phases. */
#include "workload/phase_name.h"

#include "base/text.h"

const char *abench__phase_of_size(char name[ABENCH__PHASE_NAME_MAX], const char *prefix,
                                  uint64_t bytes)
{
    static const char suffixes[] = {'\0', 'k', 'm', 'g'};
    abench__text text;
    uint32_t unit = 0;

    while (unit + 1 < sizeof suffixes && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    abench__text_init(&text, name, ABENCH__PHASE_NAME_MAX);
    abench__text_printf(&text, "%s-%llu", prefix, (unsigned long long)bytes);
    if (unit > 0)
        abench__text_put_char(&text, suffixes[unit]);
    return name;
}

const char *abench__phase_of_number(char name[ABENCH__PHASE_NAME_MAX], const char *prefix,
                                    uint64_t number)
{
    abench__text text;

    abench__text_init(&text, name, ABENCH__PHASE_NAME_MAX);
    abench__text_printf(&text, "%s-%llu", prefix, (unsigned long long)number);
    return name;
}
