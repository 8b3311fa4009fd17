#include "sampler/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/options.h"
#include "base/text.h"
#include "sampler/schedule.h"
#include "system/file.h"
#include "system/proc.h"

/* ---- fields ---------------------------------------------------------------------------------- */

/* In the order of abench_memory. source and index: where a field's value comes from. */
static const struct {
    uint64_t bit;
    uint32_t offset;
    uint32_t source;
    uint32_t index;
    const char *name;
    const char *unit;
} fields[] = {
#define FIELD(bit, source, index, name, unit)                                                      \
    {                                                                                              \
        ABENCH_MEMORY_##bit, (uint32_t)offsetof(abench_memory, name), source, index, #name, unit   \
    }
#define STATM  0u
#define STATUS 1u
#define ROLLUP 2u
#define STAT   3u
#define OTHER  4u /* not one value of one file */
    FIELD(SIZE, STATM, ABENCH__STATM_SIZE, size_bytes, "bytes"),
    FIELD(RSS, STATM, ABENCH__STATM_RSS, rss_bytes, "bytes"),
    FIELD(SHARED, STATM, ABENCH__STATM_SHARED, shared_bytes, "bytes"),
    FIELD(RSS_ANON, STATUS, ABENCH__STATUS_RSS_ANON, rss_anon_bytes, "bytes"),
    FIELD(RSS_FILE, STATUS, ABENCH__STATUS_RSS_FILE, rss_file_bytes, "bytes"),
    FIELD(RSS_SHMEM, STATUS, ABENCH__STATUS_RSS_SHMEM, rss_shmem_bytes, "bytes"),
    FIELD(HWM, STATUS, ABENCH__STATUS_HWM, hwm_bytes, "bytes"),
    FIELD(SWAP, STATUS, ABENCH__STATUS_SWAP, swap_bytes, "bytes"),
    FIELD(PSS, ROLLUP, ABENCH__ROLLUP_PSS, pss_bytes, "bytes"),
    FIELD(PRIVATE_CLEAN, ROLLUP, ABENCH__ROLLUP_PRIVATE_CLEAN, private_clean_bytes, "bytes"),
    FIELD(PRIVATE_DIRTY, ROLLUP, ABENCH__ROLLUP_PRIVATE_DIRTY, private_dirty_bytes, "bytes"),
    FIELD(LAZYFREE, ROLLUP, ABENCH__ROLLUP_LAZYFREE, lazyfree_bytes, "bytes"),
    FIELD(HUGE, ROLLUP, ABENCH__ROLLUP_HUGE, huge_bytes, "bytes"),
    FIELD(MINOR_FAULTS, STAT, ABENCH__STAT_MINOR_FAULTS, minor_faults, "count"),
    FIELD(MAJOR_FAULTS, STAT, ABENCH__STAT_MAJOR_FAULTS, major_faults, "count"),
    FIELD(PAGE_TABLES, STATUS, ABENCH__STATUS_PAGE_TABLES, page_tables_bytes, "bytes"),
    FIELD(THREADS, STATUS, ABENCH__STATUS_THREADS, threads, "count"),
    FIELD(PSS_ANON, ROLLUP, ABENCH__ROLLUP_PSS_ANON, pss_anon_bytes, "bytes"),
    FIELD(PSS_FILE, ROLLUP, ABENCH__ROLLUP_PSS_FILE, pss_file_bytes, "bytes"),
    FIELD(PSS_SHMEM, ROLLUP, ABENCH__ROLLUP_PSS_SHMEM, pss_shmem_bytes, "bytes"),
    FIELD(PSS_DIRTY, ROLLUP, ABENCH__ROLLUP_PSS_DIRTY, pss_dirty_bytes, "bytes"),
    FIELD(SWAP_PSS, ROLLUP, ABENCH__ROLLUP_SWAP_PSS, swap_pss_bytes, "bytes"),
    FIELD(LOCKED, ROLLUP, ABENCH__ROLLUP_LOCKED, locked_bytes, "bytes"),
    FIELD(USS, OTHER, 0, uss_bytes, "bytes"),
    FIELD(ROLLUP_RSS, ROLLUP, ABENCH__ROLLUP_RSS, rollup_rss_bytes, "bytes"),
    FIELD(VOLUNTARY_SWITCHES, OTHER, 0, voluntary_switches, "count"),
    FIELD(INVOLUNTARY_SWITCHES, OTHER, 0, involuntary_switches, "count"),
    FIELD(RUN_WAIT, OTHER, 0, run_wait_ns, "ns"),
};

#define FIELDS (sizeof fields / sizeof fields[0])

#define FIELD_FIRST_RELEASE ((uint32_t)(offsetof(abench_memory_field, unit) + sizeof(const char *)))

static const struct {
    uint32_t tier;
    const char *file;
    uint32_t (*parse)(const char *text, size_t length, uint64_t *values);
} sources[ABENCH__SOURCES] = {
    {ABENCH_TIER_STATM, "statm", abench__parse_statm},
    {ABENCH_TIER_STATUS, "status", abench__parse_status},
    {ABENCH_TIER_ROLLUP, "smaps_rollup", abench__parse_rollup},
    {ABENCH_TIER_FAULTS, "stat", abench__parse_stat},
};

void abench_memory_init(abench_memory *memory)
{
    memset(memory, 0, sizeof *memory);
    memory->struct_size = sizeof *memory;
}

void abench_memory_field_init(abench_memory_field *field)
{
    memset(field, 0, sizeof *field);
    field->struct_size = sizeof *field;
}

static uint32_t tier_of(uint32_t index)
{
    if (fields[index].source != OTHER)
        return sources[fields[index].source].tier;
    return fields[index].bit == ABENCH_MEMORY_USS ? ABENCH_TIER_ROLLUP : ABENCH_TIER_SCHEDULE;
}

abench_status abench_memory_field_at(uint32_t index, abench_memory_field *out)
{
    abench_memory_field field;

    if (index >= FIELDS)
        return ABENCH_ERROR_NOT_FOUND;
    abench_memory_field_init(&field);
    field.bit = fields[index].bit;
    field.offset = fields[index].offset;
    field.tier = tier_of(index);
    field.name = fields[index].name;
    field.unit = fields[index].unit;
    return abench__options_write(out, &field, sizeof field, FIELD_FIRST_RELEASE);
}

/* ---- a reader -------------------------------------------------------------------------------- */

/* The directory of process pid (0: this one) in /proc, or minus an errno. */
static int open_directory(int32_t pid)
{
    char path[32];
    abench__text name;
    int fd;

    abench__text_init(&name, path, sizeof path);
    abench__text_put(&name, "/proc/");
    if (pid == 0)
        abench__text_put(&name, "self");
    else
        abench__text_put_u64(&name, (uint64_t)pid);
    fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int is_out_of_descriptors(int fd)
{
    return fd == -EMFILE || fd == -ENFILE;
}

abench_status abench__reader_open(abench_memory_reader *reader, int32_t pid, uint32_t tiers)
{
    if (pid < 0 || tiers == 0 || (tiers & ~ABENCH__TIERS) != 0)
        return ABENCH_ERROR_ARGUMENT;
    reader->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    reader->pid = pid;
    reader->owner = getpid();
    for (uint32_t source = 0; source < ABENCH__SOURCES; source++)
        reader->files[source] = -1;
    reader->directory = open_directory(pid);
    if (is_out_of_descriptors(reader->directory))
        return ABENCH_ERROR_SYSTEM;
    if (reader->directory < 0) /* this process is there even where /proc is not */
        return pid == 0 ? ABENCH_OK : ABENCH_ERROR_NOT_FOUND;
    for (uint32_t source = 0; source < ABENCH__SOURCES; source++) {
        int fd;
        if ((tiers & sources[source].tier) == 0 || (source == STAT && pid == 0))
            continue;
        fd = abench__file_open(reader->directory, sources[source].file);
        if (is_out_of_descriptors(fd)) {
            abench__reader_close(reader);
            return ABENCH_ERROR_SYSTEM;
        }
        reader->files[source] = fd;
    }
    return ABENCH_OK;
}

int abench__reader_is_own(const abench_memory_reader *reader)
{
    return reader->pid == 0 && reader->owner == getpid();
}

void abench__reader_close(abench_memory_reader *reader)
{
    for (uint32_t source = 0; source < ABENCH__SOURCES; source++)
        if (reader->files[source] >= 0)
            close(reader->files[source]);
    if (reader->directory >= 0)
        close(reader->directory);
}

/* smaps_rollup shows the address space that the process had when the file was opened: after its
 * exec that is gone and the file must be opened again. */
static ssize_t read_again_after_exec(abench_memory_reader *reader)
{
    const int fd = abench__file_open(reader->directory, sources[ROLLUP].file);

    if (fd < 0) /* -ENOENT: it was its end; else it lives, but is not ours to read any more */
        return fd == -ENOENT ? -ESRCH : fd;
    close(reader->files[ROLLUP]);
    reader->files[ROLLUP] = fd;
    return abench__file_again(fd, reader->text, sizeof reader->text);
}

static void store(uint32_t source, uint64_t scale, uint32_t mask, const uint64_t *values,
                  abench_memory *memory)
{
    for (size_t i = 0; i < FIELDS; i++) {
        const uint32_t index = fields[i].index;
        uint64_t value;
        if (fields[i].source != source || (mask >> index & 1) == 0 ||
            __builtin_mul_overflow(values[index], scale, &value))
            continue;
        memcpy((char *)memory + fields[i].offset, &value, sizeof value);
        memory->valid |= fields[i].bit;
    }
}

/* Returns 1 when the process, or its memory, is gone. */
static int take_source(abench_memory_reader *reader, uint32_t source, abench_memory *memory)
{
    uint64_t values[ABENCH__PROC_FIELDS_MAX];
    ssize_t length;
    uint32_t mask;

    if (reader->files[source] < 0) /* gone already, or not ours to read and gone since */
        return reader->files[source] == -ESRCH ||
               (!abench__reader_is_own(reader) &&
                faccessat(reader->directory, "stat", F_OK, 0) != 0);
    length = abench__file_again(reader->files[source], reader->text, sizeof reader->text);
    if (length == -ESRCH && source == ROLLUP)
        length = read_again_after_exec(reader);
    if (length < 0)
        return length == -ESRCH;
    mask = sources[source].parse(reader->text, (size_t)length, values);
    if (source == STATM && (mask & 1u << ABENCH__STATM_SIZE) != 0 &&
        values[ABENCH__STATM_SIZE] == 0)
        return 1; /* a zombie: no address space is not one of 0 bytes */
    store(source, source == STATM ? reader->page_bytes : 1, mask, values, memory);
    return 0;
}

/* Without a file. In a forked child that would be the child's, so the parent's file is opened. */
static int take_own_faults(abench_memory_reader *reader, abench_memory *memory)
{
    struct rusage usage;

    if (!abench__reader_is_own(reader)) {
        if (reader->files[STAT] < 0)
            reader->files[STAT] = abench__file_open(reader->directory, sources[STAT].file);
        return take_source(reader, STAT, memory);
    }
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    memory->minor_faults = (uint64_t)usage.ru_minflt;
    memory->major_faults = (uint64_t)usage.ru_majflt;
    memory->valid |= ABENCH_MEMORY_MINOR_FAULTS | ABENCH_MEMORY_MAJOR_FAULTS;
    return 0;
}

/* ---- a reading ------------------------------------------------------------------------------- */

static void derive_uss(abench_memory *memory)
{
    const uint64_t parts = ABENCH_MEMORY_PRIVATE_CLEAN | ABENCH_MEMORY_PRIVATE_DIRTY;

    if ((memory->valid & parts) == parts &&
        !__builtin_add_overflow(memory->private_clean_bytes, memory->private_dirty_bytes,
                                &memory->uss_bytes))
        memory->valid |= ABENCH_MEMORY_USS;
    else
        memory->uss_bytes = 0;
}

abench_status abench__reader_take(abench_memory_reader *reader, uint32_t tiers,
                                  abench_memory *memory)
{
    int gone = 0;

    abench_memory_init(memory);
    memory->time_ns = abench_clock_ns();
    for (uint32_t source = 0; source < ABENCH__SOURCES; source++) {
        if ((tiers & sources[source].tier) == 0)
            continue;
        if (source == STAT && reader->pid == 0)
            gone |= take_own_faults(reader, memory);
        else
            gone |= take_source(reader, source, memory);
    }
    if ((tiers & ABENCH_TIER_ROLLUP) != 0)
        derive_uss(memory);
    if ((tiers & ABENCH_TIER_SCHEDULE) != 0)
        gone |= abench__schedule_take(reader, memory);
    memory->cost_ns = abench_clock_ns() - memory->time_ns;
    return gone && memory->valid == 0 ? ABENCH_ERROR_NOT_FOUND : ABENCH_OK;
}

/* ---- the public calls ------------------------------------------------------------------------ */

abench_status abench_memory_read(int32_t pid, uint32_t tiers, abench_memory *out)
{
    abench_memory_reader reader;
    abench_memory memory;
    const uint64_t begun_ns = abench_clock_ns();
    abench_status status = abench__reader_open(&reader, pid, tiers);

    if (status != ABENCH_OK)
        return status;
    status = abench__reader_take(&reader, tiers, &memory);
    abench__reader_close(&reader);
    if (status != ABENCH_OK)
        return status;
    memory.time_ns = begun_ns;
    memory.cost_ns = abench_clock_ns() - begun_ns;
    return abench__options_write(out, &memory, sizeof memory, ABENCH__MEMORY_FIRST_RELEASE);
}

/* Whether the process whose directory this is has an address space. */
static int has_memory(int directory)
{
    uint64_t values[ABENCH__STATM_FIELDS];
    char text[128];
    ssize_t length;
    const int fd = abench__file_open(directory, "statm");

    if (fd < 0)
        return 0;
    length = abench__file_again(fd, text, sizeof text);
    close(fd);
    return length > 0 && abench__parse_statm(text, (size_t)length, values) != 0 &&
           values[ABENCH__STATM_SIZE] != 0;
}

abench_status abench_memory_reset_peak(int32_t pid)
{
    int directory, fd, error;
    ssize_t written;

    if (pid < 0)
        return ABENCH_ERROR_ARGUMENT;
    directory = open_directory(pid);
    if (directory < 0)
        return pid == 0 || is_out_of_descriptors(directory) ? ABENCH_ERROR_SYSTEM
                                                            : ABENCH_ERROR_NOT_FOUND;
    if (!has_memory(directory)) { /* a zombie: the kernel would take the 5 and do nothing */
        close(directory);
        return ABENCH_ERROR_NOT_FOUND;
    }
    fd = openat(directory, "clear_refs", O_WRONLY | O_CLOEXEC);
    error = errno;
    close(directory);
    if (fd < 0)
        return error == ESRCH ? ABENCH_ERROR_NOT_FOUND : ABENCH_ERROR_SYSTEM;
    do
        written = write(fd, "5", 1);
    while (written < 0 && errno == EINTR);
    error = errno;
    close(fd);
    if (written == 1)
        return ABENCH_OK;
    return error == ESRCH ? ABENCH_ERROR_NOT_FOUND : ABENCH_ERROR_SYSTEM;
}

abench_status abench_memory_reader_create(int32_t pid, abench_memory_reader **out)
{
    abench_memory_reader *reader = abench__map(NULL, sizeof *reader, 1);
    abench_status status;

    *out = NULL;
    if (reader == NULL)
        return ABENCH_ERROR_MEMORY;
    status = abench__reader_open(reader, pid, ABENCH__TIERS);
    if (status != ABENCH_OK) {
        abench__unmap(NULL, reader, sizeof *reader);
        return status;
    }
    *out = reader;
    return ABENCH_OK;
}

abench_status abench_memory_reader_read(abench_memory_reader *reader, uint32_t tiers,
                                        abench_memory *out)
{
    abench_memory memory;
    abench_status status;

    if (tiers == 0 || (tiers & ~ABENCH__TIERS) != 0)
        return ABENCH_ERROR_ARGUMENT;
    status = abench__reader_take(reader, tiers, &memory);
    if (status != ABENCH_OK)
        return status;
    return abench__options_write(out, &memory, sizeof memory, ABENCH__MEMORY_FIRST_RELEASE);
}

void abench_memory_reader_destroy(abench_memory_reader *reader)
{
    if (reader == NULL)
        return;
    abench__reader_close(reader);
    abench__unmap(NULL, reader, sizeof *reader);
}
