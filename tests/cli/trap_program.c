/* trap_program.c - the program of test_traps_*.sh: it allocates, and lasts long enough to be seen.
 * -DADDRESS: it prints the object that malloc's address is in, as dladdr tells it.
 * -DMALLOC=name -DFREE=name: it calls these instead. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ADDRESS
#include <dlfcn.h>
#include <stdint.h>

static void print_address(void)
{
    void *(*volatile taken)(size_t) = malloc;
    Dl_info info;

    if (dladdr((void *)(uintptr_t)taken, &info) != 0)
        printf("%s\n", info.dli_fname);
}
#endif

#ifdef MALLOC
void *MALLOC(size_t size);
void FREE(void *block);
#else
#define MALLOC malloc
#define FREE   free
#endif

int main(void)
{
    for (size_t at = 0; at < 1000; at++) {
        void *volatile block = MALLOC(1000 + at);

        if (block == NULL)
            return 1;
        memset(block, 1, 1000);
        FREE(block);
    }
#ifdef ADDRESS
    print_address();
#endif
    return usleep(60000) != 0;
}
