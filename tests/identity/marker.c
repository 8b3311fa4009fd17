/* marker.c - symbols of every kind that a lookup must tell apart. mallctl and malloc_stats_print
 * stand here without a malloc. */
int marker_public(void);
int marker_weak(void);
int marker_hidden(void);
int marker_old(void);
int marker_new(void);
int marker_chosen(void);
int mallctl(void);
void malloc_stats_print(void);

extern int marker_data;
int marker_data = 1;

int marker_public(void)
{
    return 1;
}

__attribute__((weak)) int marker_weak(void)
{
    return 2;
}

__attribute__((visibility("hidden"))) int marker_hidden(void)
{
    return 3;
}

/* Two versions of one name; the second is the default. */
int marker_old(void)
{
    return 4;
}
__asm__(".symver marker_old,marker_versioned@MARKER_1");

int marker_new(void)
{
    return 5;
}
__asm__(".symver marker_new,marker_versioned@@MARKER_2");

static int chosen(void)
{
    return 6;
}

__attribute__((used)) static int (*choose(void))(void)
{
    return chosen;
}

int marker_chosen(void) __attribute__((ifunc("choose")));

int mallctl(void)
{
    return 7;
}

void malloc_stats_print(void) {}
