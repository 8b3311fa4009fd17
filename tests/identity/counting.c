/*
 * counting.c - a program that counts every call of its malloc family.
 *
 *   counting identify     prints the calls that identify made
 *   counting start        prints the calls before main; exits with 97 if there is one after it
 *   counting errno        prints errno as main finds it
 *   counting descriptors  prints which of the descriptors 0 ... 255 are open
 *   counting fork         forks a child that exits; both exit with 0
 *   counting again N      replaces itself N times by exec
 *   counting reuse FD TO  makes descriptor FD one of the file TO, and exits
 */
#include <allocbench/allocator.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc's own functions under the names that its malloc.c exports beside the usual ones. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static long calls;
static int armed;

static void count(void)
{
    calls++;
    if (armed)
        _exit(97);
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    count();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block != NULL ? 0 : ENOMEM;
}

void free(void *block)
{
    __libc_free(block);
}

static void count_identify(void)
{
    abench_identity identity = ABENCH_IDENTITY_INIT;
    const long before = calls;
    const abench_status status = abench_allocator_identify(&identity);
    const long after = calls;
    void *const block = malloc(1);

    printf("status=%d\ncalls=%ld\nseen=%ld\nfamily=%s\n", (int)status, after - before,
           calls - after, identity.family);
    free(block);
}

static void list_descriptors(void)
{
    printf("open=");
    for (int fd = 0; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d,", fd);
    printf("\n");
}

static int fork_once(void)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0)
        exit(0);
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

static int again(const char *program, int times)
{
    char text[16];
    char *argv[] = {(char *)program, "again", text, NULL};

    if (times == 0)
        return 0;
    snprintf(text, sizeof text, "%d", times - 1);
    execv("/proc/self/exe", argv);
    return 1;
}

static int reuse(int fd, const char *path)
{
    const int other = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

    return other < 0 || dup2(other, fd) != fd;
}

int main(int argc, char **argv)
{
    const int error = errno;
    const long before = calls;
    const char *what = argc > 1 ? argv[1] : "";
    int result = 0;

    if (strcmp(what, "identify") == 0)
        count_identify();
    else if (strcmp(what, "errno") == 0)
        printf("errno=%d\n", error);
    else if (strcmp(what, "descriptors") == 0)
        list_descriptors();
    else if (strcmp(what, "fork") == 0)
        result = fork_once();
    else if (strcmp(what, "again") == 0 && argc > 2)
        result = again(argv[0], atoi(argv[2]));
    else if (strcmp(what, "reuse") == 0 && argc > 3)
        result = reuse(atoi(argv[2]), argv[3]);
    if (strcmp(what, "start") == 0) {
        printf("calls=%ld\n", before);
        fflush(stdout);
        armed = 1;
    }
    return result;
}
