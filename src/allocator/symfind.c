#include "allocator/symfind.h"

#include <string.h>

#define VERSION_HIDDEN 0x8000u /* bound only by who asks for this very version */
#define VERSION_INDEX  0x7fffu

/* The GNU hash table: bucket count, first symbol that is hashed, words of the Bloom filter and its
 * shift; then the filter, the buckets, and a word a hashed symbol. */
struct gnu_table {
    uint32_t buckets_count;
    uint32_t first;
    uint32_t filter_count;
    uint32_t filter_shift;
    const uintptr_t *filter;
    const uint32_t *buckets;
    const uint32_t *chain; /* of symbol first */
};

static int holds(const abench__object *object, const void *at, size_t bytes)
{
    return abench__object_holds(object, (uintptr_t)at, bytes, PF_R);
}

static int open_gnu_table(const abench__object *object, struct gnu_table *table)
{
    const uint32_t *words = object->gnu_hash;
    size_t filter_bytes, bytes;

    if (words == NULL)
        return 0;
    table->buckets_count = words[0];
    table->first = words[1];
    table->filter_count = words[2];
    table->filter_shift = words[3] & 31;
    filter_bytes = table->filter_count * sizeof(uintptr_t);
    bytes = 16 + filter_bytes + (size_t)table->buckets_count * 4;
    if (table->buckets_count == 0 || table->filter_count == 0 || !holds(object, words, bytes) ||
        (uintptr_t)(words + 4) % sizeof(uintptr_t) != 0)
        return 0;
    table->filter = (const uintptr_t *)(words + 4);
    table->buckets = words + 4 + filter_bytes / 4;
    table->chain = table->buckets + table->buckets_count;
    return 1;
}

/* The word of the chain that belongs to a symbol from first on; NULL outside of the object. */
static const uint32_t *link_of(const abench__object *object, const struct gnu_table *table,
                               uint32_t index)
{
    const uintptr_t at = (uintptr_t)table->chain + (size_t)(index - table->first) * 4;

    return abench__object_holds(object, at, 4, PF_R) ? (const uint32_t *)at : NULL;
}

static const abench__symbol *symbol_at(const abench__object *object, size_t index)
{
    const uintptr_t at = (uintptr_t)object->symbols + index * sizeof(abench__symbol);

    return abench__object_holds(object, at, sizeof(abench__symbol), PF_R)
               ? (const abench__symbol *)at
               : NULL;
}

static int is_defined(const abench__symbol *symbol)
{
    const unsigned type = symbol->st_info & 15u;
    const unsigned binding = symbol->st_info >> 4;
    const unsigned visibility = symbol->st_other & 3u;

    if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0)
        return 0;
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return 0;
    if (binding != STB_GLOBAL && binding != STB_WEAK)
        return 0;
    return visibility != STV_HIDDEN && visibility != STV_INTERNAL;
}

static int is_text(const abench__object *object, size_t offset, const char *text, size_t length)
{
    return offset < object->strings_size && length < object->strings_size - offset &&
           memcmp(object->strings + offset, text, length + 1) == 0;
}

static int is_named(const abench__object *object, const abench__symbol *symbol, const char *name,
                    size_t length)
{
    return is_text(object, symbol->st_name, name, length);
}

/* ---- versions -------------------------------------------------------------------------------- */

/* 1 with the symbol's version index and flag; 0 when the object has none. */
static int read_version(const abench__object *object, const abench__symbol *symbol, uint16_t *word)
{
    const size_t index = (size_t)(symbol - object->symbols);

    if (object->versions == NULL || !holds(object, object->versions + index, 2))
        return 0;
    *word = object->versions[index];
    return 1;
}

/* Where the name of the version with this index stands among the strings. 0: it has none, as those
 * symbols of a versioned object have that are listed under no version. */
static int find_version_name(const abench__object *object, uint32_t index, size_t *offset)
{
    uintptr_t at = (uintptr_t)object->defined_versions;

    for (uint32_t steps = 0; at != 0 && steps <= VERSION_INDEX; steps++) {
        const abench__version *version = (const abench__version *)at;
        const abench__version_name *name;

        if (at % _Alignof(abench__version) != 0 || !holds(object, version, sizeof *version))
            return 0;
        name = (const abench__version_name *)(at + version->vd_aux);
        if ((version->vd_ndx & VERSION_INDEX) == index) {
            if ((version->vd_flags & VER_FLG_BASE) != 0 || version->vd_cnt == 0 ||
                (uintptr_t)name % _Alignof(abench__version_name) != 0 ||
                !holds(object, name, sizeof *name))
                return 0;
            *offset = name->vda_name;
            return 1;
        }
        at = version->vd_next == 0 ? 0 : at + version->vd_next;
    }
    return 0;
}

/* wanted "": a reference without a version. */
static int has_version(const abench__object *object, const abench__symbol *symbol,
                       const char *wanted)
{
    uint16_t word;
    size_t offset;

    if (!read_version(object, symbol, &word))
        return 1;
    if (wanted[0] == '\0' || !find_version_name(object, word & VERSION_INDEX, &offset))
        return (word & VERSION_HIDDEN) == 0;
    return is_text(object, offset, wanted, strlen(wanted));
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static const abench__symbol *find_gnu(const abench__object *object, const struct gnu_table *table,
                                      const char *name, const char *version)
{
    const uint32_t bits = 8 * sizeof(uintptr_t);
    const uint32_t hash = gnu_hash_of(name);
    const uintptr_t word = table->filter[hash / bits % table->filter_count];
    const size_t length = strlen(name);
    uint32_t index = table->buckets[hash % table->buckets_count];

    if (((word >> hash % bits) & (word >> (hash >> table->filter_shift) % bits) & 1) == 0 ||
        index < table->first)
        return NULL;
    for (;; index++) {
        const uint32_t *link = link_of(object, table, index);
        const abench__symbol *symbol = symbol_at(object, index);

        if (symbol == NULL || link == NULL)
            return NULL;
        if ((*link | 1) == (hash | 1) && is_named(object, symbol, name, length) &&
            is_defined(symbol) && has_version(object, symbol, version))
            return symbol;
        if ((*link & 1) != 0 || index == UINT32_MAX)
            return NULL;
    }
}

/* ---- the older hash table: bucket count, symbol count, buckets, chains ----------------------- */

static int hash_is_whole(const abench__object *object)
{
    const uint32_t *words = object->hash;

    return words != NULL && words[0] != 0 &&
           holds(object, words, ((size_t)words[0] + words[1] + 2) * sizeof *words);
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 0;

    for (; *name != '\0'; name++) {
        hash = (hash << 4) + (unsigned char)*name;
        hash ^= (hash & 0xf0000000u) >> 24;
        hash &= 0x0fffffffu;
    }
    return hash;
}

static const abench__symbol *find_old(const abench__object *object, const char *name,
                                      const char *version)
{
    const uint32_t *buckets = object->hash + 2;
    const uint32_t *chain = buckets + object->hash[0];
    const uint32_t count = object->hash[1];
    const size_t length = strlen(name);
    uint32_t index = buckets[hash_of(name) % object->hash[0]];

    for (uint32_t steps = 0; index != 0 && index < count && steps < count; steps++) {
        const abench__symbol *symbol = symbol_at(object, index);

        if (symbol == NULL)
            return NULL;
        if (is_named(object, symbol, name, length) && is_defined(symbol) &&
            has_version(object, symbol, version))
            return symbol;
        index = chain[index];
    }
    return NULL;
}

/* ---- questions ------------------------------------------------------------------------------- */

const abench__symbol *abench__object_bound(const abench__object *object, const char *name,
                                           const char *version)
{
    struct gnu_table table;

    if (object->symbols == NULL || object->strings == NULL)
        return NULL;
    if (open_gnu_table(object, &table))
        return find_gnu(object, &table, name, version);
    return hash_is_whole(object) ? find_old(object, name, version) : NULL;
}

const abench__symbol *abench__object_symbol(const abench__object *object, const char *name)
{
    return abench__object_bound(object, name, "");
}

void abench__object_version(const abench__object *object, const char *name,
                            char version[ABENCH__VERSION_BYTES])
{
    const abench__symbol *symbol = abench__object_symbol(object, name);
    uint16_t word;
    size_t offset, length;

    version[0] = '\0';
    if (symbol == NULL || !read_version(object, symbol, &word) ||
        !find_version_name(object, word & VERSION_INDEX, &offset) || offset >= object->strings_size)
        return;
    length = strnlen(object->strings + offset, object->strings_size - offset);
    if (length >= ABENCH__VERSION_BYTES || length == object->strings_size - offset)
        return;
    memcpy(version, object->strings + offset, length + 1);
}

abench__function abench__object_function(const abench__object *object, const char *name)
{
    const abench__symbol *symbol = abench__object_symbol(object, name);

    if (symbol == NULL || (symbol->st_info & 15) == STT_GNU_IFUNC ||
        !abench__object_holds(object, object->base + symbol->st_value, 1, PF_X))
        return NULL;
    return (abench__function)(object->base + symbol->st_value);
}

static int mentions(const abench__object *object, const abench__symbol *symbol, const char *part)
{
    const char *name;
    size_t length;

    if (symbol->st_name >= object->strings_size || !is_defined(symbol) ||
        !has_version(object, symbol, ""))
        return 0;
    name = object->strings + symbol->st_name;
    length = strnlen(name, object->strings_size - symbol->st_name);
    return memmem(name, length, part, strlen(part)) != NULL;
}

/* The chains of the GNU table lie one behind the other: the last symbol is in the chain that begins
 * last. */
static size_t symbols_end(const abench__object *object, const struct gnu_table *table)
{
    uint32_t last = 0;

    for (uint32_t at = 0; at < table->buckets_count; at++)
        if (table->buckets[at] > last)
            last = table->buckets[at];
    if (last < table->first)
        return 0;
    for (; last != UINT32_MAX; last++) {
        const uint32_t *link = link_of(object, table, last);

        if (link == NULL)
            return last;
        if ((*link & 1) != 0)
            break;
    }
    return (size_t)last + 1;
}

int abench__object_mentions(const abench__object *object, const char *part)
{
    struct gnu_table table;
    size_t at = 0, end = 0;

    if (object->symbols == NULL || object->strings == NULL)
        return 0;
    if (open_gnu_table(object, &table)) {
        at = table.first;
        end = symbols_end(object, &table);
    } else if (hash_is_whole(object)) {
        end = object->hash[1];
    }
    for (; at < end; at++) {
        const abench__symbol *symbol = symbol_at(object, at);

        if (symbol == NULL)
            return 0; /* nor are those behind it in the object */
        if (mentions(object, symbol, part))
            return 1;
    }
    return 0;
}

struct quest {
    const char *name;
    abench__object *found;
};

static int stop_at_definition(const abench__object *object, void *user)
{
    struct quest *quest = user;

    if (abench__object_symbol(object, quest->name) == NULL)
        return 0;
    *quest->found = *object;
    return 1;
}

int abench__objects_find(const char *name, abench__object *out)
{
    struct quest quest = {name, out};

    return abench__objects_each(stop_at_definition, &quest);
}

int abench__objects_libc(abench__object *out)
{
    return abench__objects_find("gnu_get_libc_version", out);
}
