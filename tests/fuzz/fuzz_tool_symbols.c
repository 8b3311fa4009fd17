/*
 * fuzz_tool_symbols.c - the symbol tables of a damaged program's file. What is told is one line,
 * and the same each time.
 */
#include "fuzz.h"

#include <sys/stat.h>

#include "tool/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz_file file = fuzz_file_of(data, size);
    struct stat info;
    char *note, *again;

    if (fstat(file.fd, &info) != 0)
        abort();
    FUZZ_CHECK(symbols_note(file.path, info.st_dev, info.st_ino + 1) == NULL); /* another file */
    note = symbols_note(file.path, info.st_dev, info.st_ino);
    again = symbols_note(file.path, info.st_dev, info.st_ino);
    FUZZ_CHECK((note == NULL) == (again == NULL));
    if (note != NULL) {
        FUZZ_CHECK(strcmp(note, again) == 0);
        FUZZ_CHECK(strncmp(note, file.path, strlen(file.path)) == 0);
        for (const char *at = note; *at != '\0'; at++)
            FUZZ_CHECK((unsigned char)*at >= ' ');
    }
    free(note);
    free(again);
    fuzz_file_close(&file);
    return 0;
}
