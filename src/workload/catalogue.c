/* catalogue.c - the list of workloads, and what can be asked about it. */
#include <string.h>

#include "base/options.h"
#include "workload/registered.h"

#define INFO_FIRST_RELEASE      48u
#define PARAMETER_FIRST_RELEASE 40u

_Static_assert(sizeof(abench_workload_info) == INFO_FIRST_RELEASE, "first release");
_Static_assert(sizeof(abench_workload_parameter) == PARAMETER_FIRST_RELEASE, "first release");

static const abench__workload_kind *const kinds[] = {
    &abench__churn_local,
    &abench__churn_cross,
    &abench__mixed,
    &abench__server,
    &abench__burst_idle,
    &abench__rails_synth,
    &abench__retained_strings,
    &abench__tokio_fanout,
    &abench__vec_growth,
    &abench__retain_third,
    &abench__larson,
    &abench__xmalloc,
    &abench__mstress,
    &abench__sh6,
    &abench__sh8,
    &abench__cache_scratch,
    &abench__cache_thrash,
    &abench__alloc_test,
    &abench__rptest,
    &abench__glibc_simple,
    &abench__glibc_thread,
    &abench__blowup,
    &abench__blowup_rotate,
    &abench__sizeclass_sweep,
    &abench__size_shift,
    &abench__robson,
    &abench__every_other,
    &abench__fleet,
};

const abench__workload_kind *abench__workload_kind_at(uint32_t index)
{
    const uint32_t built_in = sizeof kinds / sizeof kinds[0];

    return index < built_in ? kinds[index] : abench__registered_at(index - built_in);
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
        parameter.is_length = kind->parameters[index].is_length;
        parameter.quick = kind->parameters[index].quick != NULL ? kind->parameters[index].quick
                                                                : kind->parameters[index].preset;
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
