/*
 * faults.h - mmap, mprotect and pthread_create that fail when a test wants it, and the count of
 * what is held.
 *
 * They stand before the C library's because the program defines them; the library's own calls come
 * here, those inside the C library do not.
 */
#ifndef TESTS_FAULT_FAULTS_H
#define TESTS_FAULT_FAULTS_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ThreadSanitizer cannot start when these functions are not its own. */
#if defined(__SANITIZE_THREAD__)
#define FAULTS_POSSIBLE 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAULTS_POSSIBLE 0
#endif
#endif
#ifndef FAULTS_POSSIBLE
#define FAULTS_POSSIBLE 1
#endif

enum fault { FAULT_MMAP, FAULT_MPROTECT, FAULT_THREAD, FAULTS };

/* The next calls until one fails, by kind; 0: none will. */
static uint32_t fault_in[FAULTS];
static uint64_t bytes_held; /* by mappings */

#if FAULTS_POSSIBLE
static inline int fault_now(enum fault fault)
{
    return fault_in[fault] > 0 && --fault_in[fault] == 0;
}

static inline void *next_function(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t);
    void *memory;

    *(void **)&real = next_function("mmap");
    if (fault_now(FAULT_MMAP)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    memory = real(address, bytes, protection, flags, fd, offset);
    if (memory != MAP_FAILED)
        bytes_held += bytes;
    return memory;
}

int munmap(void *address, size_t bytes)
{
    int (*real)(void *, size_t);

    *(void **)&real = next_function("munmap");
    bytes_held -= bytes;
    return real(address, bytes);
}

int mprotect(void *address, size_t bytes, int protection)
{
    int (*real)(void *, size_t, int);

    *(void **)&real = next_function("mprotect");
    if (fault_now(FAULT_MPROTECT)) {
        errno = ENOMEM;
        return -1;
    }
    return real(address, bytes, protection);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    *(void **)&real = next_function("pthread_create");
    if (fault_now(FAULT_THREAD))
        return EAGAIN;
    return real(thread, attributes, start, argument);
}

#endif

/* ---- what is held ---------------------------------------------------------------------------- */

typedef struct held {
    uint64_t bytes;
    uint32_t descriptors;
    uint32_t threads;
} held;

static inline uint32_t open_descriptors(void)
{
    uint32_t count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static inline uint32_t living_threads(void)
{
    char text[4096];
    const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t got = read(fd, text, sizeof text - 1);
    const char *line;

    close(fd);
    text[got > 0 ? got : 0] = '\0';
    line = strstr(text, "\nThreads:");
    return line == NULL ? 0 : (uint32_t)strtoul(line + 9, NULL, 10);
}

static inline held held_now(void)
{
    return (held){bytes_held, open_descriptors(), living_threads()};
}

static inline void assert_nothing_new_is_held(held before)
{
    held now = held_now();

    /* The kernel counts a thread for a moment after it was joined. */
    for (int patience = 5000; now.threads > before.threads && patience > 0; patience--) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        now = held_now();
    }
    assert_int_equal(now.bytes, before.bytes);
    assert_int_equal(now.descriptors, before.descriptors);
    assert_true(now.threads <= before.threads);
}

#endif
