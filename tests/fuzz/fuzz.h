/*
 * fuzz.h - what the fuzz targets share: inputs as a parser gets them, and promises that are checked
 * beyond "it does not crash".
 *
 * A target is one file fuzz_NAME.c with LLVMFuzzerTestOneInput. A build with clang's libFuzzer
 * (preset fuzz, scripts/fuzz) searches for inputs that break it; every other build links replay.c
 * instead and goes through corpus/NAME.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Tries one input. Returns 0; a promise that is broken aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(promise)                                                                        \
    ((promise) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #promise)) /* also with NDEBUG */

static inline void fuzz_broken(const char *file, int line, const char *promise)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* A block of exactly size bytes, so that AddressSanitizer sees whoever reads behind them. An empty
 * one is the end of a block. */
typedef struct fuzz_text {
    char *block;
    const char *text;
    size_t length;
} fuzz_text;

static inline fuzz_text fuzz_text_of(const void *data, size_t size)
{
    const size_t spare = size == 0 ? 8 : 0;
    fuzz_text copy = {malloc(size + spare), NULL, size};

    if (copy.block == NULL)
        abort();
    if (size != 0)
        memcpy(copy.block, data, size);
    copy.text = copy.block + spare;
    return copy;
}

static inline void fuzz_text_free(fuzz_text *copy)
{
    free(copy->block);
}

/* The same with a terminator; what follows a NUL of the input is lost. The caller frees it. */
static inline char *fuzz_string_of(const void *data, size_t size)
{
    const size_t length = size == 0 ? 0 : strnlen(data, size);
    char *string = malloc(length + 1);

    if (string == NULL)
        abort();
    if (length != 0)
        memcpy(string, data, length);
    string[length] = '\0';
    return string;
}

/* Takes the next line of the input, without its newline, as a string; "" behind the last. The
 * caller frees it. */
static inline char *fuzz_take_line(const uint8_t **data, size_t *size)
{
    const uint8_t *newline = *size == 0 ? NULL : memchr(*data, '\n', *size);
    const size_t length = newline == NULL ? *size : (size_t)(newline - *data);
    const size_t used = newline == NULL ? length : length + 1;
    char *line = fuzz_string_of(*data, length);

    *data += used;
    *size -= used;
    return line;
}

/* A file in memory that holds the input, for what takes a path. */
typedef struct fuzz_file {
    int fd;
    char path[32];
} fuzz_file;

static inline fuzz_file fuzz_file_of(const void *data, size_t size)
{
    fuzz_file file;

    file.fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (file.fd < 0 || (size != 0 && write(file.fd, data, size) != (ssize_t)size))
        abort();
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static inline void fuzz_file_close(const fuzz_file *file)
{
    close(file->fd);
}

/* ---- texts of numbers ------------------------------------------------------------------------ */

/* Whether value stands in text as a whole number, with behind following it ("": any byte that is no
 * digit). No parser may make it of a part of a number, or of the cut end of a text. */
static inline int fuzz_has_number(const char *text, size_t length, uint64_t value,
                                  const char *behind)
{
    const size_t wanted = strlen(behind);

    for (size_t at = 0; at < length;) {
        uint64_t sum = 0;
        int fits = 1;
        if (text[at] < '0' || text[at] > '9') {
            at++;
            continue;
        }
        for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
            fits &= !__builtin_mul_overflow(sum, 10, &sum) &&
                    !__builtin_add_overflow(sum, (uint64_t)(text[at] - '0'), &sum);
        if (fits && sum == value && at < length && length - at >= wanted &&
            memcmp(text + at, behind, wanted) == 0)
            return 1;
    }
    return 0;
}

/* The same, with a blank or the line's end behind it. */
static inline int fuzz_has_token(const fuzz_text *input, uint64_t value)
{
    return fuzz_has_number(input->text, input->length, value, " ") ||
           fuzz_has_number(input->text, input->length, value, "\t") ||
           fuzz_has_number(input->text, input->length, value, "\n");
}

/* A parser of fixed fields (system/proc.h). */
typedef uint32_t (*fuzz_parser)(const char *text, size_t length, uint64_t *values);

/* Runs it, twice with different garbage in the values, and checks its contract: bits of fields
 * only, values of others 0, the same each time. values has room for count. Returns the mask. */
static inline uint32_t fuzz_fields(fuzz_parser parse, uint32_t count, const fuzz_text *input,
                                   uint64_t *values)
{
    uint64_t *again = malloc(count * sizeof *again);
    uint32_t valid;

    if (again == NULL)
        abort();
    memset(values, 0xa5, count * sizeof *values);
    memset(again, 0x5a, count * sizeof *again);
    valid = parse(input->text, input->length, values);
    FUZZ_CHECK(count == 32 || valid >> count == 0);
    FUZZ_CHECK(parse(input->text, input->length, again) == valid);
    FUZZ_CHECK(memcmp(values, again, count * sizeof *values) == 0);
    for (uint32_t field = 0; field < count; field++)
        FUZZ_CHECK((valid >> field & 1) != 0 || values[field] == 0);
    free(again);
    return valid;
}

#endif
