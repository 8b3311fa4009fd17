#include "allocator/object.h"

#include <string.h>
#include <sys/auxv.h>

typedef ElfW(Dyn) dynamic_entry;
typedef ElfW(Nhdr) note_header;

int abench__object_holds(const abench__object *object, uintptr_t address, size_t bytes,
                         uint32_t access)
{
    for (uint32_t at = 0; at < object->segments_count; at++) {
        const abench__segment *segment = &object->segments[at];
        const uintptr_t offset = address - (object->base + segment->p_vaddr);

        if (segment->p_type == PT_LOAD && (segment->p_flags & access) == access &&
            offset <= segment->p_memsz && bytes <= segment->p_memsz - offset)
            return 1;
    }
    return 0;
}

/* glibc has added the base to the addresses in the dynamic section, musl has not. 0 when what is
 * meant is not in the object, or not aligned as its type needs. */
static uintptr_t place_of(const abench__object *object, uintptr_t value, size_t bytes,
                          size_t alignment)
{
    if (!abench__object_holds(object, value, bytes, PF_R))
        value += object->base;
    if (!abench__object_holds(object, value, bytes, PF_R) || value % alignment != 0)
        return 0;
    return value;
}

static void read_entry(abench__object *object, const dynamic_entry *entry)
{
    const uintptr_t value = entry->d_un.d_ptr;

    switch (entry->d_tag) {
    case DT_SYMTAB:
        object->symbols = (const abench__symbol *)place_of(object, value, sizeof(abench__symbol),
                                                           _Alignof(abench__symbol));
        break;
    case DT_STRTAB:
        object->strings = (const char *)place_of(object, value, 1, 1);
        break;
    case DT_STRSZ:
        object->strings_size = entry->d_un.d_val;
        break;
    case DT_VERSYM:
        object->versions = (const uint16_t *)place_of(object, value, 2, 2);
        break;
    case DT_VERDEF:
        object->defined_versions = (const abench__version *)place_of(
            object, value, sizeof(abench__version), _Alignof(abench__version));
        break;
    case DT_GNU_HASH:
        object->gnu_hash = (const uint32_t *)place_of(object, value, 16, 4);
        break;
    case DT_HASH:
        object->hash = (const uint32_t *)place_of(object, value, 8, 4);
        break;
    default:
        break;
    }
}

static void read_dynamic(abench__object *object, const abench__segment *segment)
{
    const uintptr_t start = object->base + segment->p_vaddr;
    const size_t count = segment->p_memsz / sizeof(dynamic_entry);
    const dynamic_entry *entries = (const dynamic_entry *)start;

    if (start % sizeof(uintptr_t) != 0 ||
        !abench__object_holds(object, start, segment->p_memsz, PF_R))
        return;
    for (size_t at = 0; at < count && entries[at].d_tag != DT_NULL; at++)
        read_entry(object, &entries[at]);
    if (!abench__object_holds(object, (uintptr_t)object->strings, object->strings_size, PF_R))
        object->strings = NULL;
}

void abench__object_open(const struct dl_phdr_info *info, uint32_t flags, abench__object *out)
{
    memset(out, 0, sizeof *out);
    out->name = info->dlpi_name != NULL ? info->dlpi_name : "";
    out->base = info->dlpi_addr;
    out->segments = info->dlpi_phdr;
    out->segments_count = info->dlpi_phnum;
    out->flags = flags;
    for (uint32_t at = 0; at < out->segments_count; at++) {
        if (out->segments[at].p_type == PT_INTERP)
            out->flags |= ABENCH__OBJECT_INTERPRETED;
        if (out->segments[at].p_type == PT_DYNAMIC) {
            out->flags |= ABENCH__OBJECT_DYNAMIC;
            read_dynamic(out, &out->segments[at]);
        }
    }
}

const char *abench__object_text(const abench__object *object, const char *needle, const char **end)
{
    for (uint32_t at = 0; at < object->segments_count; at++) {
        const abench__segment *segment = &object->segments[at];
        const char *start = (const char *)(object->base + segment->p_vaddr);
        const size_t bytes =
            segment->p_filesz < segment->p_memsz ? segment->p_filesz : segment->p_memsz;
        const char *found;

        if (segment->p_type != PT_LOAD || (segment->p_flags & (PF_R | PF_X)) != PF_R)
            continue;
        found = memmem(start, bytes, needle, strlen(needle));
        if (found != NULL) {
            *end = start + bytes;
            return found;
        }
    }
    return NULL;
}

/* ---- build id -------------------------------------------------------------------------------- */

static size_t padded(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) & ~(alignment - 1);
}

static void put_hex(const unsigned char *bytes, size_t count, char *hex, uint32_t size)
{
    uint32_t length = 0;

    for (size_t at = 0; at < count && length + 2 < size; at++) {
        hex[length++] = "0123456789abcdef"[bytes[at] >> 4];
        hex[length++] = "0123456789abcdef"[bytes[at] & 15];
    }
    hex[length] = '\0';
}

/* Looks through one segment of notes; 1 when the build id is in it. */
static int read_notes(const unsigned char *notes, size_t bytes, size_t alignment, char *hex,
                      uint32_t size)
{
    while (bytes >= sizeof(note_header)) {
        note_header note;
        size_t described, next;

        memcpy(&note, notes, sizeof note);
        described = sizeof note + padded(note.n_namesz, alignment);
        next = described + padded(note.n_descsz, alignment);
        if (described > bytes || note.n_descsz > bytes - described)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + sizeof note, "GNU", 4) == 0) {
            put_hex(notes + described, note.n_descsz, hex, size);
            return 1;
        }
        if (next > bytes)
            return 0;
        notes += next;
        bytes -= next;
    }
    return 0;
}

void abench__object_build_id(const abench__object *object, char *hex, uint32_t size)
{
    hex[0] = '\0';
    for (uint32_t at = 0; at < object->segments_count; at++) {
        const abench__segment *segment = &object->segments[at];
        const uintptr_t start = object->base + segment->p_vaddr;

        if (segment->p_type == PT_NOTE &&
            abench__object_holds(object, start, segment->p_memsz, PF_R) &&
            read_notes((const unsigned char *)start, segment->p_memsz,
                       segment->p_align == 8 ? 8 : 4, hex, size))
            return;
    }
}

/* ---- load order ------------------------------------------------------------------------------ */

struct tour {
    int (*visit)(const abench__object *object, void *user);
    void *user;
    uintptr_t vdso;
    uint32_t flags; /* of the next object */
};

static int starts_at(const struct dl_phdr_info *info, uintptr_t address)
{
    for (uint32_t at = 0; at < info->dlpi_phnum; at++)
        if (info->dlpi_phdr[at].p_type == PT_LOAD)
            return info->dlpi_addr + info->dlpi_phdr[at].p_vaddr == address;
    return 0;
}

static int show(struct dl_phdr_info *info, size_t size, void *user)
{
    struct tour *tour = user;
    abench__object object;

    (void)size;
    if (tour->vdso != 0 && starts_at(info, tour->vdso))
        return 0;
    abench__object_open(info, tour->flags, &object);
    tour->flags = 0;
    return tour->visit(&object, tour->user);
}

int abench__objects_each(int (*visit)(const abench__object *object, void *user), void *user)
{
    struct tour tour = {visit, user, getauxval(AT_SYSINFO_EHDR), ABENCH__OBJECT_PROGRAM};

    return dl_iterate_phdr(show, &tour);
}
