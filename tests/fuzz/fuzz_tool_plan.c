/*
 * fuzz_tool_plan.c - plans that somebody else wrote. A fault is one line that names the file; what
 * is taken can be written and read again, and its words mean the same once more: no name in it
 * becomes an option, no word is lost.
 */
#include "fuzz.h"

#include "tool/plan.h"
#include "tool/util.h"

static json_t *parse(const char *text, size_t size)
{
    char message[512] = "";
    json_t *root = plan_parse("plan.json", text, size, message, sizeof message);

    if (root != NULL)
        return root;
    FUZZ_CHECK(strncmp(message, "plan.json", 9) == 0);
    for (const char *at = message; *at != '\0'; at++)
        FUZZ_CHECK((unsigned char)*at >= ' ');
    return NULL;
}

static void check_again(const json_t *root)
{
    char *text = plan_text(root);
    json_t *again = parse(text, strlen(text));

    FUZZ_CHECK(again != NULL && json_equal(root, again));
    json_decref(again);
    free(text);
}

static json_t *of_words(char **words, int count)
{
    plan_call call;
    json_t *root = plan_of_words(count, words, &call);

    FUZZ_CHECK(root != NULL && call.output == NULL && call.from == NULL);
    FUZZ_CHECK(json_object_size(call.passing) == 0);
    json_decref(call.passing);
    return root;
}

static size_t size_of(const json_t *root, const char *list)
{
    return json_array_size(json_object_get(root, list));
}

static void check_words(const json_t *root)
{
    int count, more;
    char **words = plan_words(root, "run", NULL, &count);
    json_t *first = of_words(words, count), *second;
    char **others = plan_words(first, "run", NULL, &more);

    FUZZ_CHECK(strcmp(words[0], "run") == 0 && words[count] == NULL);
    FUZZ_CHECK(
        json_equal(json_object_get(first, "workloads"), json_object_get(root, "workloads")) ||
        (size_of(root, "workloads") == 0 && size_of(first, "workloads") == 0));
    FUZZ_CHECK(size_of(first, "command") == size_of(root, "command"));
    FUZZ_CHECK(size_of(first, "targets") == size_of(root, "targets"));
    second = of_words(others, more);
    FUZZ_CHECK(more == count && json_equal(first, second));
    json_decref(first);
    json_decref(second);
    plan_words_free(words);
    plan_words_free(others);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);
    json_t *root = parse(input.text, input.length);

    if (root != NULL) {
        (void)plan_rounds(root);
        check_again(root);
        check_words(root);
    }
    json_decref(root);
    fuzz_text_free(&input);
    return 0;
}
