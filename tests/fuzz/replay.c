/*
 * replay.c - goes through kept inputs without libFuzzer: each file as it is, and cut short, since
 * texts of the kernel are read into fixed memory.
 *
 *   fuzz_NAME FILE|DIRECTORY...
 *
 * Exit: 0 all went well; 2 usage, or nothing was there. A finding aborts, and the last line says
 * which input it was.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

#define LENGTHS 24u /* that a file is cut to */

static uint32_t inputs;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    uint8_t *data;
    size_t size;

    if (file == NULL || fstat(fileno(file), &info) != 0) {
        perror(path);
        exit(2);
    }
    size = (size_t)info.st_size;
    data = malloc(size + 1);
    if (data == NULL || fread(data, 1, size, file) != size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    for (size_t cut = 0; cut < LENGTHS; cut++)
        LLVMFuzzerTestOneInput(data, size * cut / LENGTHS);
    free(data);
    inputs++;
}

static void replay_directory(const char *path)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, NULL, alphasort);

    if (count < 0) {
        perror(path);
        exit(2);
    }
    for (int at = 0; at < count; at++) {
        char whole[4096];
        if (entries[at]->d_name[0] != '.') {
            snprintf(whole, sizeof whole, "%s/%s", path, entries[at]->d_name);
            replay_file(whole);
        }
        free(entries[at]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int at = 1; at < argc; at++) {
        struct stat info;
        if (stat(argv[at], &info) == 0 && S_ISDIR(info.st_mode))
            replay_directory(argv[at]);
        else
            replay_file(argv[at]);
    }
    if (inputs == 0) {
        fprintf(stderr, "usage: %s FILE|DIRECTORY...; there was no input\n", argv[0]);
        return 2;
    }
    printf("%u inputs\n", inputs);
    return 0;
}
