/*
 * show.c - prints what abench_allocator_identify says, as lines KEY=VALUE.
 *
 *   show              the identity
 *   show allocated    the bytes that the allocator has given to this thread, after identify
 *   show untouched    the same without identify
 *   show plugin FILE  loads FILE with RTLD_DEEPBIND and calls its plugin_hold; prints nothing
 */
#include <allocbench/allocator.h>

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef IDENTITY_STATIC
#include <dlfcn.h>
#endif

/* jemalloc's and gperftools' own accounts, where they are preloaded. */
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

static void show_address(void)
{
#ifndef IDENTITY_STATIC
    /* Taken in code of a non-PIE program, malloc's address is one within the program. */
    void *(*volatile taken)(size_t) = malloc;
    Dl_info info;

    if (dladdr((void *)(uintptr_t)taken, &info) != 0)
        printf("dladdr=%s\n", info.dli_fname);
#endif
}

static int hold_by_plugin(const char *file)
{
#ifndef IDENTITY_STATIC
    void *library = dlopen(file, RTLD_NOW | RTLD_DEEPBIND);
    void (*hold)(void) = NULL;

    if (library != NULL)
        *(void **)&hold = dlsym(library, "plugin_hold");
    if (hold != NULL) {
        hold();
        return 0;
    }
#endif
    (void)file;
    return 1;
}

int main(int argc, char **argv)
{
    abench_identity identity = ABENCH_IDENTITY_INIT;
    const int untouched = argc > 1 && strcmp(argv[1], "untouched") == 0;
    const abench_status status = untouched ? ABENCH_OK : abench_allocator_identify(&identity);

    if (argc > 2)
        return hold_by_plugin(argv[2]);
    if (argc > 1) {
        const uint64_t bytes = allocated_bytes();
        printf("allocated=%" PRIu64 "\n", bytes);
        return 0;
    }
    printf("status=%d\nfamily=%s\nversion=%s\nbuild_id=%s\nfile=%s\n", (int)status, identity.family,
           identity.version, identity.build_id, identity.file);
    printf("device=%" PRIu64 "\ninode=%" PRIu64 "\nmixed=%d\nstatic=%d\nothers=%s\n",
           identity.device, identity.inode, (identity.flags & ABENCH_IDENTITY_MIXED) != 0,
           (identity.flags & ABENCH_IDENTITY_STATIC) != 0, identity.others);
    show_address();
    return 0;
}
