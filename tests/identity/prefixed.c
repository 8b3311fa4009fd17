/* prefixed.c - what a program exports that carries a jemalloc under a prefix. */
#include <stddef.h>

int _rjem_mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size);
void _rjem_malloc_stats_print(void);

int _rjem_mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size)
{
    (void)name, (void)old, (void)old_size, (void)new_value, (void)new_size;
    return 1;
}

void _rjem_malloc_stats_print(void) {}
