#include "system/host.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <allocbench/machine.h>

#include "base/options.h"
#include "base/text.h"
#include "system/cgroup.h"
#include "system/file.h"
#include "system/proc.h"

#define FIRST_RELEASE                                                                              \
    ((uint32_t)(offsetof(abench_host, hostname) + sizeof((abench_host *)0)->hostname))

#define TEXT_SIZE 4096u

/* Of glibc; other C libraries have none. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

void abench_host_init(abench_host *host)
{
    memset(host, 0, sizeof *host);
    host->struct_size = sizeof *host;
}

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Copies [at, end) without spaces at its ends, cut to the field and at the first NUL. */
static void copy_trimmed(const char *at, const char *end, char *field, uint32_t size)
{
    size_t length;

    while (at != end && is_space(*at))
        at++;
    while (at != end && is_space(end[-1]))
        end--;
    length = strnlen(at, (size_t)(end - at));
    if (length > size - 1)
        length = size - 1;
    memcpy(field, at, length);
    field[length] = '\0';
}

void abench__parse_cpu_model(const char *text, size_t length, char *model, uint32_t size)
{
    static const char name[] = "model name";
    const char *line = text, *const end = text + length;

    model[0] = '\0';
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *colon;
        if (newline == NULL)
            return;
        colon = memchr(line, ':', (size_t)(newline - line));
        if (colon != NULL && (size_t)(colon - line) >= sizeof name - 1 &&
            memcmp(line, name, sizeof name - 1) == 0) {
            copy_trimmed(colon + 1, newline, model, size);
            return;
        }
        line = newline + 1;
    }
}

void abench__parse_choice(const char *text, size_t length, char *word, uint32_t size)
{
    const char *open = memchr(text, '[', length);
    const char *close = open != NULL ? memchr(open, ']', length - (size_t)(open - text)) : NULL;

    word[0] = '\0';
    if (close != NULL)
        copy_trimmed(open + 1, close, word, size);
}

void abench__parse_first_line(const char *text, size_t length, char *line, uint32_t size)
{
    const char *newline = memchr(text, '\n', length);

    copy_trimmed(text, newline != NULL ? newline : text + length, line, size);
}

typedef void (*text_parser)(const char *text, size_t length, char *field, uint32_t size);

static void read_text(const char *path, text_parser parse, char *field, uint32_t size)
{
    char text[TEXT_SIZE];
    const ssize_t length = abench__file_read(path, text, sizeof text);

    if (length > 0)
        parse(text, (size_t)length, field, size);
}

static uint64_t read_memory_bytes(void)
{
    char text[TEXT_SIZE];
    uint64_t values[ABENCH__MEMINFO_FIELDS];
    const ssize_t length = abench__file_read("/proc/meminfo", text, sizeof text);

    return length > 0 && abench__parse_meminfo(text, (size_t)length, values) != 0
               ? values[ABENCH__MEMINFO_TOTAL]
               : 0;
}

static uint64_t read_memory_limit(void)
{
    abench_cgroup cgroup;

    return abench__cgroup_take("", "self", &cgroup) == ABENCH_OK ? cgroup.limit_bytes : 0;
}

static uint32_t read_sysconf(int name)
{
    const long value = sysconf(name);

    return value > 0 ? (uint32_t)value : 0;
}

uint32_t abench__cpus_allowed(void)
{
    cpu_set_t sets[8192 / CPU_SETSIZE]; /* one set is too small for the largest machines */

    memset(sets, 0, sizeof sets);
    if (sched_getaffinity(0, sizeof sets, sets) != 0)
        return 0;
    return (uint32_t)CPU_COUNT_S(sizeof sets, sets);
}

uint32_t abench__cpus_online(void)
{
    return read_sysconf(_SC_NPROCESSORS_ONLN);
}

static void read_uname(abench_host *host)
{
    struct utsname names;

    if (uname(&names) != 0)
        return;
    abench__copy(host->kernel, sizeof host->kernel, names.release);
    abench__copy(host->machine, sizeof host->machine, names.machine);
    abench__copy(host->hostname, sizeof host->hostname, names.nodename);
}

static void read_libc(abench_host *host)
{
    abench__text text;

    if (gnu_get_libc_version == NULL)
        return;
    abench__text_init(&text, host->libc, sizeof host->libc);
    abench__text_put(&text, "glibc ");
    abench__text_put(&text, gnu_get_libc_version());
}

abench_status abench_host_read(abench_host *out)
{
    abench_host host;

    abench_host_init(&host);
    read_uname(&host);
    read_libc(&host);
    host.cpus_online = abench__cpus_online();
    host.cpus_allowed = abench__cpus_allowed();
    host.page_bytes = read_sysconf(_SC_PAGESIZE);
    host.memory_bytes = read_memory_bytes();
    host.memory_limit_bytes = read_memory_limit();
    read_text("/proc/cpuinfo", abench__parse_cpu_model, host.cpu, sizeof host.cpu);
    read_text("/sys/kernel/mm/transparent_hugepage/enabled", abench__parse_choice, host.thp,
              sizeof host.thp);
    read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", abench__parse_first_line,
              host.governor, sizeof host.governor);
    return abench__options_write(out, &host, sizeof host, FIRST_RELEASE);
}
