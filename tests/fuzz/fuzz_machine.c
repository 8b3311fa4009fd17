/*
 * fuzz_machine.c - what /proc says of the whole machine: stat, meminfo, loadavg, vmstat, swaps,
 * cpuinfo's flags, and of the limits of a process. Each parser gets every text.
 */
#include "fuzz.h"

#include "system/proc.h"
#include "system/stat.h"

/* Fields that are numbers of the text. */
static void check_numbers(const fuzz_text *input)
{
    uint64_t values[ABENCH__VMSTAT_FIELDS], load[ABENCH__LOAD_FIELDS];
    uint64_t memory[ABENCH__MEMINFO_FIELDS];
    uint32_t valid = fuzz_fields(abench__parse_vmstat, ABENCH__VMSTAT_FIELDS, input, values);

    for (uint32_t field = 0; field < ABENCH__VMSTAT_FIELDS; field++)
        FUZZ_CHECK((valid >> field & 1) == 0 || fuzz_has_token(input, values[field]));
    if (fuzz_fields(abench__parse_load, ABENCH__LOAD_FIELDS, input, load) != 0)
        FUZZ_CHECK(fuzz_has_token(input, load[ABENCH__LOAD_TASKS]) &&
                   fuzz_has_number(input->text, input->length, load[ABENCH__LOAD_RUNNABLE], "/"));
    valid = fuzz_fields(abench__parse_meminfo, ABENCH__MEMINFO_FIELDS, input, memory);
    for (uint32_t field = 0; field < ABENCH__MEMINFO_FIELDS; field++)
        FUZZ_CHECK((valid >> field & 1) == 0 ||
                   (memory[field] % 1024 == 0 &&
                    fuzz_has_number(input->text, input->length, memory[field] / 1024, " kB")));
}

/* Sums: no parts of them are more than they are. */
static void check_sums(const fuzz_text *input)
{
    uint64_t ticks[ABENCH__TICKS_FIELDS], swaps[ABENCH__SWAPS_FIELDS];
    const uint32_t is_there = fuzz_fields(abench__parse_ticks, ABENCH__TICKS_FIELDS, input, ticks);
    const uint32_t all = (1u << ABENCH__SWAPS_FIELDS) - 1;
    uint32_t valid;

    FUZZ_CHECK(
        (is_there & 1u << ABENCH__TICKS_TOTAL) == 0 ||
        (ticks[ABENCH__TICKS_IDLE] <= ticks[ABENCH__TICKS_TOTAL] &&
         ticks[ABENCH__TICKS_STEAL] <= ticks[ABENCH__TICKS_TOTAL] - ticks[ABENCH__TICKS_IDLE]));
    valid = fuzz_fields(abench__parse_swaps, ABENCH__SWAPS_FIELDS, input, swaps);
    FUZZ_CHECK(valid == 0 || valid == all);
    FUZZ_CHECK(swaps[ABENCH__SWAPS_AREAS] != 0 ||
               (swaps[ABENCH__SWAPS_SIZE] == 0 && swaps[ABENCH__SWAPS_USED] == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const limits[] = {"Max address space", "Max locked memory", "Max"};
    fuzz_text input = fuzz_text_of(data, size);
    int flag;

    check_sums(&input);
    check_numbers(&input);
    for (size_t at = 0; at < sizeof limits / sizeof limits[0]; at++) {
        uint64_t limit;
        if (abench__parse_limit(input.text, input.length, limits[at], &limit))
            FUZZ_CHECK(limit == UINT64_MAX || fuzz_has_token(&input, limit));
    }
    flag = abench__parse_cpu_flag(input.text, input.length, "constant_tsc");
    FUZZ_CHECK(flag >= -1 && flag <= 1);
    FUZZ_CHECK(flag != 1 || memmem(input.text, input.length, "constant_tsc", 12) != NULL);
    fuzz_text_free(&input);
    return 0;
}
