/*
 * fuzz_symfind.c - lookups in a damaged object. The input is four 16-bit numbers, where the dynamic
 * section and the notes begin and how long they are, then the object as it lies in memory, in one
 * segment. Whatever its tables say, nothing outside of it is read.
 */
#include "fuzz.h"

#include "allocator/symfind.h"

#define HEAD 8u

static void check_object(const abench__object *object)
{
    static const char *const names[] = {"marker_public", "marker_versioned", "no_such", ""};
    char version[ABENCH__VERSION_BYTES], hex[72];
    const char *end, *found;

    for (size_t at = 0; at < sizeof names / sizeof names[0]; at++) {
        const abench__symbol *symbol = abench__object_symbol(object, names[at]);
        const abench__function function = abench__object_function(object, names[at]);

        FUZZ_CHECK(symbol == NULL ||
                   abench__object_holds(object, (uintptr_t)symbol, sizeof *symbol, PF_R));
        FUZZ_CHECK(function == NULL ||
                   (symbol != NULL && abench__object_holds(object, (uintptr_t)function, 1, PF_X)));
        abench__object_bound(object, names[at], "MARKER_1");
        abench__object_bound(object, names[at], "MARKER_3");
        memset(version, 0xa5, sizeof version);
        abench__object_version(object, names[at], version);
        FUZZ_CHECK(memchr(version, '\0', sizeof version) != NULL);
    }
    abench__object_mentions(object, "no such part");
    abench__object_mentions(object, "arker_w");
    memset(hex, 0xa5, sizeof hex);
    abench__object_build_id(object, hex, sizeof hex);
    FUZZ_CHECK(memchr(hex, '\0', sizeof hex) != NULL);
    FUZZ_CHECK(hex[strspn(hex, "0123456789abcdef")] == '\0');
    found = abench__object_text(object, "MARKER_2", &end);
    FUZZ_CHECK(found == NULL || end - found >= 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint16_t head[HEAD / 2];
    abench__segment segments[4];
    struct dl_phdr_info info;
    abench__object object;
    fuzz_text image;

    if (size <= HEAD)
        return 0;
    memcpy(head, data, HEAD);
    image = fuzz_text_of(data + HEAD, size - HEAD);
    memset(&info, 0, sizeof info);
    memset(segments, 0, sizeof segments);
    for (size_t at = 0; at < 2; at++) { /* code and data in one: all of it may be asked for */
        segments[at].p_type = PT_LOAD;
        segments[at].p_flags = at == 0 ? PF_R : PF_R | PF_X;
        segments[at].p_memsz = segments[at].p_filesz = image.length;
    }
    segments[2].p_type = PT_DYNAMIC;
    segments[2].p_vaddr = head[0];
    segments[2].p_memsz = head[1];
    segments[3].p_type = PT_NOTE;
    segments[3].p_vaddr = head[2];
    segments[3].p_memsz = head[3];
    segments[3].p_align = 4;
    info.dlpi_addr = (uintptr_t)image.text;
    info.dlpi_name = "image";
    info.dlpi_phdr = segments;
    info.dlpi_phnum = 4;
    abench__object_open(&info, 0, &object);
    check_object(&object);
    fuzz_text_free(&image);
    return 0;
}
