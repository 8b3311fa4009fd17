/* catalogue.c - the list of workloads, and what can be asked about it. */
#include <string.h>

#include "base/options.h"
#include "workload/workload.h"

#define INFO_FIRST_RELEASE      40u
#define PARAMETER_FIRST_RELEASE 32u

_Static_assert(sizeof(abench_workload_info) == INFO_FIRST_RELEASE, "first release");
_Static_assert(sizeof(abench_workload_parameter) == PARAMETER_FIRST_RELEASE, "first release");

static const abench__workload_kind *const kinds[] = {
    &abench__churn_local,
    &abench__churn_cross,
    &abench__mixed,
};

const abench__workload_kind *abench__workload_kind_at(uint32_t index)
{
    return index < sizeof kinds / sizeof kinds[0] ? kinds[index] : NULL;
}

abench_status abench_workload_at(uint32_t index, abench_workload_info *out)
{
    const abench__workload_kind *kind = abench__workload_kind_at(index);

    if (kind == NULL)
        return ABENCH_ERROR_NOT_FOUND;
    return abench__options_write(out, &kind->info, sizeof kind->info, INFO_FIRST_RELEASE);
}

abench_status abench_workload_parameter_at(const char *name, uint32_t index,
                                           abench_workload_parameter *out)
{
    const abench__workload_kind *kind;

    for (uint32_t at = 0; (kind = abench__workload_kind_at(at)) != NULL; at++) {
        abench_workload_parameter parameter = ABENCH_WORKLOAD_PARAMETER_INIT;
        if (strcmp(kind->info.name, name) != 0)
            continue;
        for (uint32_t before = 0; before <= index; before++)
            if (kind->parameters[before].name == NULL)
                return ABENCH_ERROR_NOT_FOUND;
        parameter.name = kind->parameters[index].name;
        parameter.preset = kind->parameters[index].preset;
        parameter.summary = kind->parameters[index].summary;
        return abench__options_write(out, &parameter, sizeof parameter, PARAMETER_FIRST_RELEASE);
    }
    return ABENCH_ERROR_NOT_FOUND;
}

void abench_workload_info_init(abench_workload_info *info)
{
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
}

void abench_workload_parameter_init(abench_workload_parameter *parameter)
{
    memset(parameter, 0, sizeof *parameter);
    parameter->struct_size = sizeof *parameter;
}
