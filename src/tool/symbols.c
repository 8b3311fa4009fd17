/* symbols.c - see symbols.h. The file is hostile: each offset and count is checked against its size
 * and a limit before it is followed, and what is read may change at any time. */
#include "tool/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/util.h"

#define SECTIONS_MOST ((uint64_t)1 << 20)
#define SYMBOLS_MOST  ((uint64_t)1 << 24)
#define STRINGS_MOST  ((uint64_t)256 << 20)
#define NAME_MOST     256u /* a longer name is none that is looked for */
#define CHUNK         1024u
#define PREFIX_BYTES  33u
#define PREFIXES_MOST 4u

/* Functions of allocators that are called by these names, be they in the program or in a library
 * that it is linked with. */
static const char *const direct[] = {
    "_rjem_malloc", "je_malloc",       "mi_malloc", "sn_rust_alloc",
    "rpmalloc",     "scalable_malloc", "tc_malloc", "runtime.mallocgc", /* of Go */
};

#define DIRECT (sizeof direct / sizeof direct[0])

typedef struct findings {
    bool is_loaded; /* names a dynamic loader: its malloc can be another's */
    bool has_malloc;
    bool exports_malloc;
    bool has_rust_own;    /* __rg_alloc, to which Rust up to 1.86 leads a #[global_allocator] */
    bool has_rust_entry;  /* __rust_alloc under the mangled name of later ones, and */
    bool has_rust_marker; /* what stands beside it unless link-time optimisation took it */
    bool has_rust_std;    /* __rdl_alloc: the standard library's, which calls malloc */
    bool has_direct[DIRECT];
    char prefixes[PREFIXES_MOST][PREFIX_BYTES]; /* of functions PREFIXmallctl */
    bool is_prefixed[PREFIXES_MOST];            /* there is PREFIXmalloc too */
    size_t prefixes_count;
} findings;

typedef struct elf {
    int fd;
    uint64_t size;
    ElfW(Ehdr) header;
    ElfW(Shdr) * sections;
    uint64_t sections_count;
} elf;

/* ---- the file -------------------------------------------------------------------------------- */

static bool is_within(const elf *e, uint64_t offset, uint64_t bytes)
{
    return offset <= e->size && bytes <= e->size - offset;
}

static bool read_at(const elf *e, void *data, uint64_t bytes, uint64_t offset)
{
    return is_within(e, offset, bytes) &&
           pread(e->fd, data, (size_t)bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool open_elf(elf *e, const char *path, uint64_t device, uint64_t inode)
{
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    struct stat info;

    memset(e, 0, sizeof *e);
    e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (e->fd < 0 || fstat(e->fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0 ||
        info.st_dev != device || info.st_ino != inode)
        return false;
    e->size = (uint64_t)info.st_size;
    return read_at(e, &e->header, sizeof e->header, 0) &&
           memcmp(e->header.e_ident, ELFMAG, SELFMAG) == 0 &&
           e->header.e_ident[EI_CLASS] == class &&
           e->header.e_ident[EI_DATA] ==
               (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB) &&
           e->header.e_shentsize == sizeof(ElfW(Shdr)) && e->header.e_shoff != 0;
}

static bool read_sections(elf *e)
{
    ElfW(Shdr) first;

    e->sections_count = e->header.e_shnum;
    if (e->sections_count == 0 && read_at(e, &first, sizeof first, e->header.e_shoff))
        e->sections_count = first.sh_size; /* more than the header can count */
    if (e->sections_count > SECTIONS_MOST ||
        !is_within(e, e->header.e_shoff, e->sections_count * sizeof first))
        return false;
    e->sections = xcalloc((size_t)e->sections_count, sizeof first);
    return read_at(e, e->sections, e->sections_count * sizeof first, e->header.e_shoff);
}

static bool names_loader(const elf *e)
{
    ElfW(Phdr) segment;

    for (unsigned at = 0; at < e->header.e_phnum; at++)
        if (e->header.e_phentsize != sizeof segment ||
            !read_at(e, &segment, sizeof segment, e->header.e_phoff + at * sizeof segment))
            return false;
        else if (segment.p_type == PT_INTERP)
            return true;
    return false;
}

static void close_elf(elf *e)
{
    if (e->fd >= 0)
        close(e->fd);
    free(e->sections);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool ends_with(const char *name, size_t length, const char *end)
{
    const size_t end_length = strlen(end);

    return length >= end_length && memcmp(name + length - end_length, end, end_length) == 0;
}

static void look_at_rust(findings *f, const char *name, size_t length)
{
    f->has_rust_own |= strcmp(name, "__rg_alloc") == 0;
    f->has_rust_entry |= ends_with(name, length, "_7___rustc12___rust_alloc");
    f->has_rust_marker |= strstr(name, "__rust_no_alloc_shim_is_unstable") != NULL;
    f->has_rust_std |= ends_with(name, length, "__rdl_alloc");
}

static void keep_prefix(findings *f, const char *name, size_t length)
{
    const size_t prefix = length - strlen("mallctl");

    if (prefix == 0 || prefix >= PREFIX_BYTES || f->prefixes_count == PREFIXES_MOST)
        return;
    for (size_t at = 0; at < f->prefixes_count; at++)
        if (strlen(f->prefixes[at]) == prefix && memcmp(f->prefixes[at], name, prefix) == 0)
            return;
    memcpy(f->prefixes[f->prefixes_count++], name, prefix);
}

static void look_at(findings *f, const char *name, const ElfW(Sym) * symbol, bool is_dynamic)
{
    const size_t length = strnlen(name, NAME_MOST + 1);
    const unsigned type = symbol->st_info & 0xfu;

    if (length > NAME_MOST)
        return;
    if (strcmp(name, "malloc") == 0 && symbol->st_shndx != SHN_UNDEF &&
        (type == STT_FUNC || type == STT_GNU_IFUNC)) {
        f->has_malloc = true;
        f->exports_malloc |= is_dynamic;
    }
    for (size_t at = 0; at < DIRECT; at++)
        f->has_direct[at] |= strcmp(name, direct[at]) == 0;
    look_at_rust(f, name, length);
    if (ends_with(name, length, "mallctl"))
        keep_prefix(f, name, length);
}

/* The names of the first look make out what the second looks for. */
static void look_again(findings *f, const char *name)
{
    for (size_t at = 0; at < f->prefixes_count; at++) {
        const size_t length = strlen(f->prefixes[at]);
        f->is_prefixed[at] |=
            strncmp(name, f->prefixes[at], length) == 0 && strcmp(name + length, "malloc") == 0;
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static char *read_strings(const elf *e, const ElfW(Shdr) * table, uint64_t *size)
{
    const ElfW(Shdr) * strings;
    char *text;

    if (table->sh_link >= e->sections_count)
        return NULL;
    strings = &e->sections[table->sh_link];
    *size = strings->sh_size;
    if (strings->sh_type != SHT_STRTAB || *size > STRINGS_MOST ||
        !is_within(e, strings->sh_offset, *size))
        return NULL;
    text = xmalloc((size_t)*size + 1);
    text[*size] = '\0';
    if (read_at(e, text, *size, strings->sh_offset))
        return text;
    free(text);
    return NULL;
}

static void look_through(const elf *e, const ElfW(Shdr) * table, bool again, findings *f)
{
    const bool is_dynamic = table->sh_type == SHT_DYNSYM;
    const uint64_t count = table->sh_size / sizeof(ElfW(Sym));
    ElfW(Sym) symbols[CHUNK];
    uint64_t size = 0;
    char *strings;

    if (table->sh_entsize != sizeof symbols[0] || count > SYMBOLS_MOST)
        return;
    strings = read_strings(e, table, &size);
    for (uint64_t at = 0; strings != NULL && at < count; at += CHUNK) {
        const uint64_t here = count - at < CHUNK ? count - at : CHUNK;
        if (!read_at(e, symbols, here * sizeof symbols[0],
                     table->sh_offset + at * sizeof symbols[0]))
            break;
        for (uint64_t which = 0; which < here; which++) {
            if (symbols[which].st_name >= size)
                continue;
            if (again)
                look_again(f, strings + symbols[which].st_name);
            else
                look_at(f, strings + symbols[which].st_name, &symbols[which], is_dynamic);
        }
    }
    free(strings);
}

/* The first table of each kind: a linker makes no more. */
static void look_everywhere(const elf *e, bool again, findings *f)
{
    static const ElfW(Word) kinds[] = {SHT_DYNSYM, SHT_SYMTAB};

    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        uint64_t at = 0;
        while (at < e->sections_count && e->sections[at].sh_type != kinds[kind])
            at++;
        if (at < e->sections_count)
            look_through(e, &e->sections[at], again, f);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add(char **ways, const char *format, const char *what)
{
    char *way = xasprintf(format, what);
    char *more = *ways == NULL ? xstrdup(way) : xasprintf("%s, %s", *ways, way);

    free(way);
    free(*ways);
    *ways = more;
}

static char *name_ways(const findings *f)
{
    char *ways = NULL;

    if (f->has_rust_own || (f->has_rust_entry && f->has_rust_marker && !f->has_rust_std))
        add(&ways, "a Rust %s of its own", "global allocator");
    if (f->is_loaded && f->has_malloc && !f->exports_malloc)
        add(&ways, "a %s that it does not export", "malloc");
    for (size_t at = 0; at < DIRECT; at++)
        if (f->has_direct[at])
            add(&ways, "%s", direct[at]);
    for (size_t at = 0; at < f->prefixes_count; at++) {
        bool is_said = !f->is_prefixed[at];
        for (size_t which = 0; which < DIRECT && !is_said; which++)
            is_said = f->has_direct[which] &&
                      strncmp(direct[which], f->prefixes[at], strlen(f->prefixes[at])) == 0;
        if (!is_said)
            add(&ways, "%smalloc", f->prefixes[at]);
    }
    return ways;
}

char *symbols_note(const char *path, uint64_t device, uint64_t inode)
{
    findings f = {0};
    char *ways = NULL, *line = NULL;
    elf e;

    if (open_elf(&e, path, device, inode) && read_sections(&e)) {
        f.is_loaded = names_loader(&e);
        look_everywhere(&e, false, &f);
        if (f.prefixes_count > 0)
            look_everywhere(&e, true, &f);
        ways = name_ways(&f);
    }
    close_elf(&e);
    if (ways != NULL)
        line = util_one_line(xasprintf("%s can allocate by other ways than malloc (%s): no target "
                                       "serves those, unless they call malloc",
                                       path, ways));
    free(ways);
    return line;
}
