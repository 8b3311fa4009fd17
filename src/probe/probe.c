/*
 * probe.c - liballocbench-probe.so: says from inside a process who serves its malloc.
 *
 * It stands last in LD_PRELOAD, defines no malloc and exports nothing. At the start and at the exit
 * of every process image it appends one line of JSON to a file of the tool's, by one write of less
 * than 4096 bytes, so that lines of many processes do not mix. It is silent when anything is not as
 * the tool left it. It allocates nothing, leaves errno as it was and keeps no descriptor open.
 *
 *   ALLOCBENCH_PROBE=FD:DEVICE:INODE:PATH
 *
 * names an existing regular file: an inherited descriptor in append mode, the st_dev and st_ino
 * that it must have, and the absolute path to open where the descriptor is gone. Programs close and
 * reuse descriptors that they do not know: nothing is ever written before device and inode agree.
 *
 *   {"record":"probe","event":"start","pid":N,"ppid":N,"exe":"...","exe_device":N,"exe_inode":N,
 *    "start_code":N,"start_stack":N,"name":"...","family":"...","version":"...","build_id":"...",
 *    "file":"...","device":N,"inode":N,"mixed":0|1,"static":0|1,"others":"...",
 *    "settings":"NAME=VALUE\n...","settings_cut":1}
 *   {"record":"probe","event":"exit","pid":N,"start_stack":N,"hwm_bytes":N,"libc_bytes":N}
 *
 * start_code and start_stack (fields 26 and 28 of /proc/PID/stat) are the image's mark: a forked
 * child shares them, an exec changes them. name is the process's (comm), which exec made of the
 * program's. A number that cannot be read is left out; exe, file and others are "" where the line
 * would be too long with them. A forked child that exits writes an exit line of its own; one that
 * is killed or calls _exit writes none.
 *
 * settings: the environment's variables that steer an allocator (abench_allocator_environment),
 * LD_PRELOAD and LD_AUDIT left out: the first 64 in the order of strcmp, whole ones up to 1500
 * bytes, each followed by a newline; a byte that is a newline or not ASCII stands as '?'. Where one
 * is left out settings_cut is there; in a line that would be too long all are.
 *
 * libc_bytes: what the C library's own malloc holds at the exit, where another one serves: a
 * library that was loaded with RTLD_DEEPBIND binds to it all the same.
 */
#include <allocbench/allocator.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocator/symfind.h"
#include "base/text.h"
#include "system/file.h"
#include "system/proc.h"

#define LINE_BYTES     4096u
#define SETTINGS_MOST  64u
#define SETTINGS_BYTES 1500u

extern char **environ;

/* Taken from the environment at the start: programs rewrite theirs. */
static struct {
    int ready;
    int fd;
    uint64_t device;
    uint64_t inode;
    char path[PATH_MAX];
    int is_libc_replaced; /* something else than glibc serves malloc */
} place;

static int take_number(const char **at, uint64_t *value)
{
    if (!abench__parse_u64(at, value) || **at != ':')
        return 0;
    ++*at;
    return 1;
}

static void read_environment(void)
{
    const char *at = secure_getenv("ALLOCBENCH_PROBE");
    uint64_t fd;
    size_t length;

    if (at == NULL || !take_number(&at, &fd) || !take_number(&at, &place.device) ||
        !take_number(&at, &place.inode))
        return;
    length = strnlen(at, sizeof place.path);
    if (*at != '/' || length == sizeof place.path)
        return;
    memcpy(place.path, at, length + 1);
    place.fd = fd <= INT_MAX ? (int)fd : -1;
    place.ready = 1;
}

/* ---- settings -------------------------------------------------------------------------------- */

struct settings {
    const char *found[SETTINGS_MOST]; /* in the order of strcmp */
    uint32_t count;
    int cut;
    char text[SETTINGS_BYTES + 1];
};

static int is_setting(const char *entry)
{
    char name[64]; /* longer than any name that is no pattern */
    const size_t length = strcspn(entry, "=");

    abench__copy(name, length < sizeof name ? (uint32_t)length + 1 : sizeof name, entry);
    return entry[length] == '=' && abench_allocator_environment(name) != 0 &&
           strcmp(name, "LD_PRELOAD") != 0 && strcmp(name, "LD_AUDIT") != 0;
}

static void insert_setting(struct settings *settings, const char *entry)
{
    uint32_t at = settings->count;

    if (at == SETTINGS_MOST) {
        settings->cut = 1;
        if (strcmp(settings->found[--at], entry) <= 0)
            return;
    } else {
        settings->count++;
    }
    for (; at > 0 && strcmp(settings->found[at - 1], entry) > 0; at--)
        settings->found[at] = settings->found[at - 1];
    settings->found[at] = entry;
}

static void read_settings(struct settings *settings)
{
    uint32_t length = 0;

    settings->count = 0;
    settings->cut = 0;
    for (char *const *entry = environ; entry != NULL && *entry != NULL; entry++)
        if (is_setting(*entry))
            insert_setting(settings, *entry);
    for (uint32_t at = 0; at < settings->count; at++) {
        const char *entry = settings->found[at];

        if (strlen(entry) + 1 > SETTINGS_BYTES - length) {
            settings->cut = 1;
            break;
        }
        for (; *entry != '\0'; entry++)
            settings->text[length++] = (unsigned char)*entry > 127 || *entry == '\n' ? '?' : *entry;
        settings->text[length++] = '\n';
    }
    settings->text[length] = '\0';
}

/* ---- the C library's own malloc -------------------------------------------------------------- */

/* As mallinfo2 returns it. */
struct heap_account {
    size_t arena;
    size_t free_chunks;
    size_t fast_chunks;
    size_t mapped_chunks;
    size_t mapped;
    size_t others[5];
};

static uint64_t libc_bytes(void)
{
    abench__object libc;
    abench__function mallinfo;
    struct heap_account account;

    if (!place.is_libc_replaced || !abench__objects_libc(&libc))
        return 0;
    mallinfo = abench__object_function(&libc, "mallinfo2");
    if (mallinfo == NULL)
        return 0;
    account = ((struct heap_account(*)(void))mallinfo)();
    return (uint64_t)account.arena + account.mapped;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int is_ours(int fd, off_t *size)
{
    const int mode = fcntl(fd, F_GETFL);
    struct stat status;

    if (mode < 0 || (mode & O_APPEND) == 0 || (mode & O_ACCMODE) == O_RDONLY ||
        fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    *size = status.st_size;
    return status.st_dev == place.device && status.st_ino == place.inode;
}

/* A write beyond the limit would be answered with a deadly signal. */
static int may_grow(off_t size, size_t length)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY ||
            (limit.rlim_cur >= length && (rlim_t)size <= limit.rlim_cur - length));
}

static void write_line(abench__text *line)
{
    int fd = place.fd, opened = -1;
    off_t size = 0;

    if (!is_ours(fd, &size)) {
        opened = open(place.path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        fd = opened;
    }
    if (fd >= 0 && (opened < 0 || is_ours(fd, &size)) && may_grow(size, line->length)) {
        const ssize_t written = write(fd, line->data, line->length);
        (void)written; /* there is nobody to tell */
    }
    if (opened >= 0)
        close(opened);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void put_key(abench__text *line, const char *key)
{
    abench__text_put(line, ",\"");
    abench__text_put(line, key);
    abench__text_put(line, "\":");
}

static void put_number(abench__text *line, const char *key, uint64_t value)
{
    put_key(line, key);
    abench__text_put_u64(line, value);
}

static void put_string(abench__text *line, const char *key, const char *value)
{
    put_key(line, key);
    abench__text_put_json(line, value);
}

static void put_event(abench__text *line, char *data, const char *event)
{
    abench__text_init(line, data, LINE_BYTES);
    abench__text_put(line, "{\"record\":\"probe\"");
    put_string(line, "event", event);
    put_number(line, "pid", (uint64_t)getpid());
}

static void put_mark(abench__text *line, const char *key, uint32_t valid, const uint64_t *values,
                     uint32_t field)
{
    if ((valid >> field & 1) != 0)
        put_number(line, key, values[field]);
}

/* What a start line says of the process, beside its identity. */
struct image {
    char exe[1024];
    struct stat status;
    int has_status;
    uint32_t valid; /* of the fields */
    uint64_t fields[ABENCH__STAT_FIELDS];
    char name[16];
    struct settings settings;
};

static uint32_t read_stat(uint64_t *fields)
{
    char text[1024];
    const ssize_t length = abench__file_read("/proc/self/stat", text, sizeof text);

    return length > 0 ? abench__parse_stat(text, (size_t)length, fields) : 0;
}

static void read_image(struct image *image)
{
    const ssize_t length = readlink("/proc/self/exe", image->exe, sizeof image->exe - 1);

    image->exe[length > 0 ? length : 0] = '\0';
    image->has_status = stat("/proc/self/exe", &image->status) == 0;
    image->valid = read_stat(image->fields);
    if (prctl(PR_GET_NAME, image->name) != 0)
        image->name[0] = '\0';
    read_settings(&image->settings);
}

/* detail: 3 all, 2 without others, 1 without any path, 0 without settings too. */
static void put_start(abench__text *line, char *data, const struct image *image,
                      const abench_identity *identity, int detail)
{
    put_event(line, data, "start");
    put_number(line, "ppid", (uint64_t)getppid());
    put_string(line, "exe", detail > 1 ? image->exe : "");
    if (image->has_status) {
        put_number(line, "exe_device", image->status.st_dev);
        put_number(line, "exe_inode", image->status.st_ino);
    }
    put_mark(line, "start_code", image->valid, image->fields, ABENCH__STAT_START_CODE);
    put_mark(line, "start_stack", image->valid, image->fields, ABENCH__STAT_START_STACK);
    put_string(line, "name", image->name);
    put_string(line, "family", identity->family);
    put_string(line, "version", identity->version);
    put_string(line, "build_id", identity->build_id);
    put_string(line, "file", detail > 1 ? identity->file : "");
    put_number(line, "device", identity->device);
    put_number(line, "inode", identity->inode);
    put_number(line, "mixed", (identity->flags & ABENCH_IDENTITY_MIXED) != 0);
    put_number(line, "static", (identity->flags & ABENCH_IDENTITY_STATIC) != 0);
    put_string(line, "others", detail > 2 ? identity->others : "");
    put_string(line, "settings", detail > 0 ? image->settings.text : "");
    if (image->settings.cut || detail == 0)
        put_number(line, "settings_cut", 1);
    abench__text_put(line, "}\n");
}

__attribute__((constructor)) static void say_start(void)
{
    const int error = errno;

    read_environment();
    if (place.ready) {
        abench_identity identity = ABENCH_IDENTITY_INIT;
        struct image image;
        char data[LINE_BYTES];
        abench__text line;

        if (abench_allocator_identify(&identity) != ABENCH_OK)
            abench__copy(identity.family, sizeof identity.family, "unknown");
        place.is_libc_replaced = strcmp(identity.family, "glibc") != 0;
        read_image(&image);
        put_start(&line, data, &image, &identity, 3);
        for (int detail = 2; line.truncated && detail >= 0; detail--)
            put_start(&line, data, &image, &identity, detail);
        write_line(&line);
    }
    errno = error;
}

__attribute__((destructor)) static void say_exit(void)
{
    const int error = errno;

    if (place.ready) {
        char data[LINE_BYTES]; /* of /proc/self/status, then of the line: stacks may be small */
        uint64_t fields[ABENCH__STAT_FIELDS], memory[ABENCH__STATUS_FIELDS];
        const ssize_t length = abench__file_read("/proc/self/status", data, sizeof data);
        const uint32_t valid = length > 0 ? abench__parse_status(data, (size_t)length, memory) : 0;
        abench__text line;

        put_event(&line, data, "exit");
        put_mark(&line, "start_stack", read_stat(fields), fields, ABENCH__STAT_START_STACK);
        put_mark(&line, "hwm_bytes", valid, memory, ABENCH__STATUS_HWM);
        if (place.is_libc_replaced)
            put_number(&line, "libc_bytes", libc_bytes());
        abench__text_put(&line, "}\n");
        write_line(&line);
    }
    errno = error;
}
