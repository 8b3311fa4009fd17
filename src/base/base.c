/* base.c - version, status texts, clock, edit distance: the small public parts of base.h. */
#include <allocbench/base.h>

#include <string.h>
#include <time.h>

#define STRING_OF(x) #x
#define TEXT_OF(x)   STRING_OF(x)

uint32_t abench_version(void)
{
    return ABENCH_VERSION_MAJOR * 10000u + ABENCH_VERSION_MINOR * 100u + ABENCH_VERSION_PATCH;
}

const char *abench_version_string(void)
{
    return TEXT_OF(ABENCH_VERSION_MAJOR) "." TEXT_OF(ABENCH_VERSION_MINOR) "." TEXT_OF(
        ABENCH_VERSION_PATCH);
}

static const struct {
    abench_status status;
    const char *name;
    const char *message;
} statuses[] = {
    {ABENCH_OK, "ABENCH_OK", "no error"},
    {ABENCH_ERROR_ARGUMENT, "ABENCH_ERROR_ARGUMENT", "an argument is out of its domain"},
    {ABENCH_ERROR_MEMORY, "ABENCH_ERROR_MEMORY", "no memory could be mapped"},
    {ABENCH_ERROR_SYSTEM, "ABENCH_ERROR_SYSTEM", "a system call failed"},
    {ABENCH_ERROR_SYNTAX, "ABENCH_ERROR_SYNTAX", "the text does not parse"},
    {ABENCH_ERROR_NOT_FOUND, "ABENCH_ERROR_NOT_FOUND", "there is none of that name or number"},
    {ABENCH_ERROR_STATE, "ABENCH_ERROR_STATE", "the call does not fit the object's state"},
    {ABENCH_ERROR_TAPE, "ABENCH_ERROR_TAPE", "no program could make these operations"},
    {ABENCH_ERROR_STUCK, "ABENCH_ERROR_STUCK", "lanes wait for something that does not come"},
    {ABENCH_ERROR_RECEIPT, "ABENCH_ERROR_RECEIPT", "other work was done than was planned"},
    {ABENCH_ERROR_UNSUPPORTED, "ABENCH_ERROR_UNSUPPORTED", "this machine or allocator cannot"},
    {ABENCH_ERROR_STOPPED, "ABENCH_ERROR_STOPPED", "a callback asked to stop"},
    {ABENCH_ERROR_LIMIT, "ABENCH_ERROR_LIMIT", "a fixed capacity is used up"},
};

#define STATUSES (sizeof statuses / sizeof statuses[0])

const char *abench_status_name(abench_status status)
{
    for (size_t at = 0; at < STATUSES; at++)
        if (statuses[at].status == status)
            return statuses[at].name;
    return "ABENCH_ERROR_UNKNOWN";
}

const char *abench_status_message(abench_status status)
{
    for (size_t at = 0; at < STATUSES; at++)
        if (statuses[at].status == status)
            return statuses[at].message;
    return "an unknown error";
}

void abench_error_init(abench_error *error)
{
    memset(error, 0, sizeof *error);
    error->struct_size = sizeof *error;
}

void abench_memory_hooks_init(abench_memory_hooks *hooks)
{
    memset(hooks, 0, sizeof *hooks);
    hooks->struct_size = sizeof *hooks;
}

uint64_t abench_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define DISTANCE_MAX 63u

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t abench_text_distance(const char *a, const char *b)
{
    uint32_t rows[3][DISTANCE_MAX + 1];
    const uint32_t a_length = (uint32_t)strnlen(a, DISTANCE_MAX);
    const uint32_t b_length = (uint32_t)strnlen(b, DISTANCE_MAX);

    for (uint32_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            const char x = lower(a[i - 1]), y = lower(b[j - 1]);
            row[j] = smaller(above[j - 1] + (x != y), smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}
