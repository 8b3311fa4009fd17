/*
 * fuzz_mi_json.c - mimalloc's statistics in JSON. Every number that is shown stands in the text as
 * a whole one, under a name of its names.
 */
#include "fuzz.h"

#include "allocator/mi_json.h"

typedef struct shown {
    const fuzz_text *input;
    uint64_t count;
    uint64_t digest;
} shown;

static void show(const char *name, uint64_t value, void *user)
{
    shown *s = user;
    const char *last = strrchr(name, '.');
    const size_t length = strlen(name);

    FUZZ_CHECK(length > 0 && length < ABENCH__MI_JSON_NAME);
    last = last != NULL ? last + 1 : name;
    FUZZ_CHECK(memmem(s->input->text, s->input->length, last, strlen(last)) != NULL);
    FUZZ_CHECK(fuzz_has_number(s->input->text, s->input->length, value, ""));
    for (size_t at = 0; at < length; at++)
        s->digest = s->digest * 31 + (unsigned char)name[at];
    s->digest = s->digest * 31 + value;
    s->count++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);
    shown first = {&input, 0, 0}, second = {&input, 0, 0};
    const int is_whole = abench__mi_json_walk(input.text, input.length, show, &first);

    FUZZ_CHECK(is_whole == 0 || is_whole == 1);
    FUZZ_CHECK(abench__mi_json_walk(input.text, input.length, show, &second) == is_whole);
    FUZZ_CHECK(first.count == second.count && first.digest == second.digest);
    if (is_whole) { /* and a cut one is not */
        const char *end = input.text + input.length;
        while (strchr(" \t\r\n", end[-1]) != NULL && end[-1] != '\0')
            end--;
        FUZZ_CHECK(end[-1] == '}');
        FUZZ_CHECK(
            !abench__mi_json_walk(input.text, (size_t)(end - input.text) - 1, show, &second));
    }
    fuzz_text_free(&input);
    return 0;
}
