/* pressure_read.c - the public calls about pressure. */
#include <errno.h>
#include <string.h>

#include <allocbench/memory.h>

#include "base/options.h"
#include "system/cgroup.h"
#include "system/pressure.h"

#define FIRST_RELEASE       ((uint32_t)(offsetof(abench_pressure, io_full_us) + sizeof(uint64_t)))
#define FIELD_FIRST_RELEASE ((uint32_t)(offsetof(abench_memory_field, unit) + sizeof(const char *)))

/* In the order of abench_pressure. */
static const struct {
    uint64_t bit;
    uint32_t offset;
    uint32_t index; /* of the parser's values */
    const char *machine_file;
    const char *group_file;
    const char *name;
} fields[] = {
#define FIELD(bit, field, value, file)                                                             \
    {                                                                                              \
        ABENCH_PRESSURE_##bit, (uint32_t)offsetof(abench_pressure, field),                         \
            ABENCH__PRESSURE_##value, "/proc/pressure/" file, file ".pressure", #field             \
    }
    FIELD(CPU_SOME, cpu_some_us, SOME, "cpu"),
    FIELD(CPU_FULL, cpu_full_us, FULL, "cpu"),
    FIELD(MEMORY_SOME, memory_some_us, SOME, "memory"),
    FIELD(MEMORY_FULL, memory_full_us, FULL, "memory"),
    FIELD(IO_SOME, io_some_us, SOME, "io"),
    FIELD(IO_FULL, io_full_us, FULL, "io"),
};

#define FIELDS (sizeof fields / sizeof fields[0])

void abench_pressure_init(abench_pressure *pressure)
{
    memset(pressure, 0, sizeof *pressure);
    pressure->struct_size = sizeof *pressure;
}

abench_status abench_pressure_field_at(uint32_t index, abench_memory_field *out)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;

    if (index >= FIELDS)
        return ABENCH_ERROR_NOT_FOUND;
    field.bit = fields[index].bit;
    field.offset = fields[index].offset;
    field.name = fields[index].name;
    field.unit = "us";
    return abench__options_write(out, &field, sizeof field, FIELD_FIRST_RELEASE);
}

void abench__pressure_take(const char *root, const abench__group *group, abench_pressure *pressure)
{
    abench_pressure_init(pressure);
    for (size_t i = 0; i < FIELDS; i += 2) { /* some and full of one file */
        char text[512];
        uint64_t values[ABENCH__PRESSURE_FIELDS];
        const ssize_t length =
            group == NULL
                ? abench__rooted_read(root, fields[i].machine_file, text, sizeof text)
                : abench__group_read(root, group, 0, fields[i].group_file, text, sizeof text);
        const uint32_t mask = length > 0 ? abench__parse_pressure(text, (size_t)length, values) : 0;
        for (size_t field = i; field < i + 2; field++) {
            if ((mask >> fields[field].index & 1) == 0)
                continue;
            memcpy((char *)pressure + fields[field].offset, &values[fields[field].index],
                   sizeof values[0]);
            pressure->valid |= fields[field].bit;
        }
    }
}

abench_status abench_pressure_read(int32_t pid, abench_pressure *out)
{
    const uint64_t begun_ns = abench_clock_ns();
    abench_pressure pressure;

    if (pid < -1)
        return ABENCH_ERROR_ARGUMENT;
    if (pid == -1) {
        abench__pressure_take("", NULL, &pressure);
    } else {
        abench__group group;
        char process[16];
        abench_status status;
        abench__process_name(pid, process);
        status = abench__group_find("", process, "", &group);
        if (status != ABENCH_OK)
            return status;
        if (group.version != 2 || group.hidden)
            return ABENCH_ERROR_UNSUPPORTED;
        abench__pressure_take("", &group, &pressure);
    }
    if (pressure.valid == 0)
        return ABENCH_ERROR_UNSUPPORTED;
    pressure.time_ns = begun_ns;
    return abench__options_write(out, &pressure, sizeof pressure, FIRST_RELEASE);
}
