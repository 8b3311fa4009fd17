/*
 * account.c - prints what an allocator says of itself, as lines KEY=VALUE.
 *
 *   account settings [FAMILY [PREFIX]]  family, calls, and each setting as SOURCE:NAME=VALUE
 *   account stats [FAMILY [PREFIX]]     each statistic as NAME=VALUE UNIT
 *   account stream [FAMILY [PREFIX]]    the same with ABENCH_ACCOUNT_STREAM
 *   account work NAME...                64 MB in blocks of 64 KB: the first statistic NAME that
 *                                       there is, and RSS, before, with them, after their free, and
 *                                       after purge
 *   account allocated                   the bytes that the allocator has given to this thread,
 *                                       after an account was opened, read three times and closed
 *   account untouched                   the same without
 *   account calls FAMILY [stream]       with front.c: the calls of the malloc family between the
 *                                       begin and the end of an account's life
 *   account reading                     the same bytes around the opening of an account with a
 *                                       stream (taken), three readings (read), and its close (kept)
 */
#include <allocbench/allocator.h>

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS      1024u
#define BLOCK_BYTES 65536u

int mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size)
    __attribute__((weak));
int MallocExtension_GetNumericProperty(const char *name, size_t *value) __attribute__((weak));

static uint64_t allocated_bytes(void)
{
    uint64_t bytes = 0;
    size_t size = sizeof bytes;

    if (mallctl != NULL && mallctl("thread.allocated", &bytes, &size, NULL, 0) == 0)
        return bytes;
    if (MallocExtension_GetNumericProperty != NULL &&
        MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &size))
        return size;
    return mallinfo2().uordblks;
}

static abench_account *open_account(uint32_t flags, int argc, char **argv)
{
    abench_account_options options = ABENCH_ACCOUNT_OPTIONS_INIT;
    abench_account *account;
    abench_status status;

    options.flags = flags;
    options.family = argc > 2 ? argv[2] : NULL;
    options.prefix = argc > 3 ? argv[3] : NULL;
    status = abench_allocator_open(&options, &account);
    if (status != ABENCH_OK) {
        printf("status=%d\n", (int)status);
        exit(0);
    }
    return account;
}

static void print_settings(abench_account *account)
{
    abench_setting setting = ABENCH_SETTING_INIT;

    printf("status=0\nfamily=%s\npurge=%s\nflush=%s\n", abench_account_family(account),
           abench_account_purge_call(account), abench_account_flush_call(account));
    for (uint32_t at = 0; abench_account_setting_at(account, at, &setting) == ABENCH_OK; at++)
        printf("%u:%s=%s\n", (unsigned)setting.source, setting.name, setting.value);
    printf("flushed=%d\n", (int)abench_allocator_flush(account));
}

static void print_statistics(abench_account *account)
{
    abench_statistic statistic = ABENCH_STATISTIC_INIT;

    printf("status=%d\n", (int)abench_allocator_stats(account));
    printf("count=%u\n", (unsigned)abench_account_count(account));
    for (uint32_t at = 0; abench_account_at(account, at, &statistic) == ABENCH_OK; at++)
        printf("%s=%" PRIu64 " %s\n", statistic.name, statistic.value, statistic.unit);
}

/* ---- work ------------------------------------------------------------------------------------ */

static uint64_t rss_bytes(void)
{
    char text[128];
    unsigned long long size = 0, pages = 0;
    const int fd = open("/proc/self/statm", O_RDONLY);
    const ssize_t length = read(fd, text, sizeof text - 1);

    close(fd);
    text[length > 0 ? length : 0] = '\0';
    sscanf(text, "%llu %llu", &size, &pages);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void print_step(abench_account *account, const char *step, char **names)
{
    abench_statistic statistic = ABENCH_STATISTIC_INIT;
    const abench_status status = abench_allocator_stats(account);

    printf("%s.rss=%" PRIu64 "\n", step, rss_bytes());
    for (char **name = names; status == ABENCH_OK && *name != NULL; name++)
        for (uint32_t at = 0; abench_account_at(account, at, &statistic) == ABENCH_OK; at++)
            if (strcmp(statistic.name, *name) == 0) {
                printf("%s.name=%s\n%s.value=%" PRIu64 "\n", step, *name, step, statistic.value);
                return;
            }
}

static void work(abench_account *account, char **names)
{
    static char *blocks[BLOCKS];
    void *volatile pin;

    print_step(account, "empty", names);
    for (unsigned at = 0; at < BLOCKS; at++) {
        blocks[at] = malloc(BLOCK_BYTES);
        memset(blocks[at], 1, BLOCK_BYTES);
    }
    pin = malloc(1); /* above them, so that an allocator cannot give them back by itself */
    print_step(account, "filled", names);
    for (unsigned at = 0; at < BLOCKS; at++)
        free(blocks[at]);
    print_step(account, "freed", names);
    printf("status=%d\n", (int)abench_allocator_purge(account));
    print_step(account, "purged", names);
    free(pin);
}

static void read_thrice(void)
{
    abench_account *account;

    if (abench_allocator_open(NULL, &account) != ABENCH_OK)
        exit(1);
    for (int time = 0; time < 3; time++)
        abench_allocator_stats(account);
    abench_account_close(account);
}

static void weigh_stream(void)
{
    abench_account_options options = ABENCH_ACCOUNT_OPTIONS_INIT;
    uint64_t bytes[4];
    abench_account *account;

    free(malloc(1)); /* the first call makes this thread's cache */
    bytes[0] = allocated_bytes();
    options.flags = ABENCH_ACCOUNT_STREAM;
    if (abench_allocator_open(&options, &account) != ABENCH_OK)
        exit(1);
    bytes[1] = allocated_bytes();
    for (int time = 0; time < 3; time++)
        abench_allocator_stats(account);
    bytes[2] = allocated_bytes();
    abench_account_close(account);
    bytes[3] = allocated_bytes();
    printf("taken=%" PRIu64 "\nread=%" PRIu64 "\nkept=%" PRIu64 "\n", bytes[1] - bytes[0],
           bytes[2] - bytes[1], bytes[3] - bytes[0]);
}

extern long front_calls __attribute__((weak));

static void count_calls(const char *family, uint32_t flags)
{
    abench_account_options options = ABENCH_ACCOUNT_OPTIONS_INIT;
    abench_account *account;
    abench_status status;
    long calls;

    free(realloc(malloc(1), 100)); /* the first calls look for the functions behind */
    calls = front_calls;
    options.family = family;
    options.flags = flags;
    status = abench_allocator_open(&options, &account);
    if (status == ABENCH_OK) {
        for (int time = 0; time < 3; time++)
            abench_allocator_stats(account);
        abench_allocator_flush(account);
        abench_allocator_purge(account);
        abench_account_close(account);
    }
    calls = front_calls - calls;
    printf("status=%d\nseen=%ld\ncalls=%ld\n", (int)status, front_calls, calls);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    abench_account *account = NULL;

    if (strcmp(what, "allocated") == 0)
        read_thrice();
    if (strcmp(what, "allocated") == 0 || strcmp(what, "untouched") == 0) {
        const uint64_t bytes = allocated_bytes();
        printf("allocated=%" PRIu64 "\n", bytes);
        return 0;
    }
    if (strcmp(what, "calls") == 0 && argc > 2) {
        count_calls(argv[2], argc > 3 ? ABENCH_ACCOUNT_STREAM : 0);
        return 0;
    }
    if (strcmp(what, "reading") == 0) {
        weigh_stream();
        return 0;
    }
    if (strcmp(what, "work") == 0) {
        account = open_account(0, 2, argv);
        work(account, argv + 2);
        abench_account_close(account);
        return 0;
    }
    account = open_account(strcmp(what, "stream") == 0 ? ABENCH_ACCOUNT_STREAM : 0, argc, argv);
    if (strcmp(what, "settings") == 0)
        print_settings(account);
    else
        print_statistics(account);
    abench_account_close(account);
    return 0;
}
