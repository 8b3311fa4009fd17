/* fuzz_host.c - the texts of /proc/cpuinfo, of a choice of /sys, and of a file of one line. */
#include "fuzz.h"

#include "system/host.h"

typedef void (*text_parser)(const char *text, size_t length, char *field, uint32_t size);

/* What is found is terminated, is a part of the input, and is cut to any size at its end only. */
static void check(text_parser parse, const fuzz_text *input)
{
    static const uint32_t sizes[] = {256, 8, 1};
    char whole[256];

    for (size_t at = 0; at < sizeof sizes / sizeof sizes[0]; at++) {
        const uint32_t size = sizes[at];
        char *field = malloc(size);

        if (field == NULL)
            abort();
        memset(field, 0xa5, size);
        parse(input->text, input->length, field, size);
        FUZZ_CHECK(memchr(field, '\0', size) != NULL);
        FUZZ_CHECK(field[0] == '\0' ||
                   memmem(input->text, input->length, field, strlen(field)) != NULL);
        FUZZ_CHECK(field[0] != ' ' && field[0] != '\t');
        if (at == 0)
            memcpy(whole, field, size);
        FUZZ_CHECK(strncmp(whole, field, size - 1) == 0);
        free(field);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);

    check(abench__parse_cpu_model, &input);
    check(abench__parse_choice, &input);
    check(abench__parse_first_line, &input);
    fuzz_text_free(&input);
    return 0;
}
