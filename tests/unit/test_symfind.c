/* test_symfind.c - lookups agree with the loader's, and survive damaged files. */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <allocbench/random.h>

#include "allocator/symfind.h"

#define MARKER(style) IDENTITY_DIRECTORY "/libidentity-marker-" style ".so"

static uintptr_t address_of(const char *name)
{
    abench__object object;

    if (!abench__objects_find(name, &object))
        return 0;
    return object.base + abench__object_symbol(&object, name)->st_value;
}

static void finds_what_dlsym_finds(void **state)
{
    /* realpath, regexec and posix_spawn have two versions in glibc */
    static const char *const names[] = {
        "malloc",
        "free",
        "calloc",
        "realloc",
        "memalign",
        "aligned_alloc",
        "posix_memalign",
        "malloc_usable_size",
        "realpath",
        "regexec",
        "posix_spawn",
        "mmap",
        "getenv",
        "qsort",
        "printf",
        "pthread_create",
        "pthread_cond_wait",
        "mallinfo2",
        "dl_iterate_phdr",
        "exit",
    };

    (void)state;
    for (size_t at = 0; at < sizeof names / sizeof names[0]; at++) {
        const uintptr_t expected = (uintptr_t)dlsym(RTLD_DEFAULT, names[at]);

        if (expected == 0)
            fail_msg("dlsym does not know %s", names[at]);
        if (address_of(names[at]) != expected)
            fail_msg("%s: found %lx, dlsym found %lx", names[at], address_of(names[at]), expected);
    }
}

static void finds_nothing_that_is_not_defined(void **state)
{
    /* The last are data, and undefined in every object of this process. */
    static const char *const names[] = {"",        "mallo", "malloc_", "no_such_function",
                                        "environ", "stdout"};

    (void)state;
    for (size_t at = 0; at < sizeof names / sizeof names[0]; at++)
        if (address_of(names[at]) != 0)
            fail_msg("\"%s\" was found", names[at]);
}

/* ---- one library, loaded by the loader ------------------------------------------------------- */

struct named {
    const char *part;
    abench__object object;
};

static int stop_at_name(const abench__object *object, void *user)
{
    struct named *named = user;

    if (strstr(object->name, named->part) == NULL)
        return 0;
    named->object = *object;
    return 1;
}

static int call_version(const abench__object *object, const char *version)
{
    const abench__symbol *symbol = abench__object_bound(object, "marker_versioned", version);

    return symbol == NULL ? 0 : ((int (*)(void))(object->base + symbol->st_value))();
}

/* As a reference binds that carries a version. */
static void check_marker_versions(const abench__object *object)
{
    char version[ABENCH__VERSION_BYTES];

    assert_int_equal(call_version(object, "MARKER_1"), 4); /* though it is not the default */
    assert_int_equal(call_version(object, "MARKER_2"), 5);
    assert_int_equal(call_version(object, "MARKER_"), 0);
    assert_int_equal(call_version(object, "MARKER_11"), 0);
    assert_int_equal(call_version(object, ""), 5); /* a reference without one */
    assert_null(abench__object_bound(object, "marker_hidden", "MARKER_1"));
    assert_non_null(abench__object_bound(object, "marker_weak", "MARKER_1"));
    assert_null(abench__object_bound(object, "marker_weak", "MARKER_2"));
    abench__object_version(object, "marker_versioned", version);
    assert_string_equal(version, "MARKER_2");
    abench__object_version(object, "marker_public", version);
    assert_string_equal(version, "MARKER_1");
    abench__object_version(object, "malloc", version);
    assert_string_equal(version, "");
}

static void check_marker(const abench__object *object)
{
    const abench__function call = abench__object_function(object, "marker_public");
    const abench__function versioned = abench__object_function(object, "marker_versioned");

    assert_non_null(call);
    assert_int_equal(((int (*)(void))call)(), 1);
    assert_non_null(versioned);
    assert_int_equal(((int (*)(void))versioned)(), 5); /* of the default version */
    assert_non_null(abench__object_symbol(object, "marker_weak"));
    assert_non_null(abench__object_symbol(object, "marker_chosen"));
    assert_null(abench__object_function(object, "marker_chosen"));
    assert_null(abench__object_symbol(object, "marker_hidden"));
    assert_null(abench__object_symbol(object, "marker_data"));
    assert_null(abench__object_symbol(object, "malloc"));
    check_marker_versions(object);
    assert_int_equal(abench__object_mentions(object, "arker_pub"), 1);
    assert_int_equal(abench__object_mentions(object, "marker_hid"), 0);
    assert_int_equal(abench__object_mentions(object, "marker_dat"), 0);
    assert_int_equal(abench__object_mentions(object, "malloc_stats"), 1);
}

static void check_loaded_marker(const char *path, const char *part, int gnu)
{
    struct named named = {.part = part};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    assert_non_null(library);
    assert_int_equal(abench__objects_each(stop_at_name, &named), 1);
    assert_int_equal(named.object.gnu_hash != NULL, gnu);
    assert_int_equal(named.object.hash != NULL, !gnu);
    check_marker(&named.object);
    dlclose(library);
}

static void tells_symbols_apart_by_the_gnu_table(void **state)
{
    (void)state;
    check_loaded_marker(MARKER("gnu"), "identity-marker-gnu", 1);
}

static void tells_symbols_apart_by_the_old_table(void **state)
{
    (void)state;
    check_loaded_marker(MARKER("sysv"), "identity-marker-sysv", 0);
}

static int count_vdso(const abench__object *object, void *user)
{
    *(int *)user += strstr(object->name, "vdso") != NULL;
    return 0;
}

static int count_programs(const abench__object *object, void *user)
{
    *(int *)user += (object->flags & ABENCH__OBJECT_PROGRAM) != 0;
    return 0;
}

static void shows_the_program_once_and_the_vdso_never(void **state)
{
    int vdso = 0, programs = 0;

    (void)state;
    abench__objects_each(count_vdso, &vdso);
    abench__objects_each(count_programs, &programs);
    assert_int_equal(vdso, 0);
    assert_int_equal(programs, 1);
}

/* ---- a file laid out in memory, its addresses not relocated (as musl leaves them) ------------ */

#define IMAGE_BYTES    ((size_t)1 << 20)
#define GUARD_BYTES    ((size_t)1 << 16)
#define SEGMENTS_MAX   16
#define PAGE_UP(bytes) (((bytes) + 4095) & ~(size_t)4095)

struct image {
    unsigned char *whole; /* with a guard on either side */
    unsigned char *memory;
    unsigned char *kept; /* a second copy, to undo damage */
    size_t bytes;        /* laid out */
    abench__segment segments[SEGMENTS_MAX];
    abench__segment kept_segments[SEGMENTS_MAX];
    struct dl_phdr_info info;
};

static void lay_out(struct image *image, int fd)
{
    ElfW(Ehdr) header;
    size_t bytes;

    assert_true(pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header);
    assert_in_range(header.e_phnum, 1, SEGMENTS_MAX);
    bytes = header.e_phnum * sizeof(abench__segment);
    assert_true(pread(fd, image->segments, bytes, (off_t)header.e_phoff) == (ssize_t)bytes);
    memcpy(image->kept_segments, image->segments, bytes);
    for (size_t at = 0; at < header.e_phnum; at++) {
        const abench__segment *segment = &image->segments[at];

        if (segment->p_type != PT_LOAD)
            continue;
        assert_true(segment->p_vaddr + segment->p_memsz <= IMAGE_BYTES);
        assert_true(pread(fd, image->memory + segment->p_vaddr, segment->p_filesz,
                          (off_t)segment->p_offset) == (ssize_t)segment->p_filesz);
        image->bytes = segment->p_vaddr + segment->p_memsz;
    }
    image->info.dlpi_addr = (uintptr_t)image->memory;
    image->info.dlpi_name = "image";
    image->info.dlpi_phdr = image->segments;
    image->info.dlpi_phnum = header.e_phnum;
}

static void open_image(struct image *image, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    memset(image, 0, sizeof *image);
    image->whole =
        mmap(NULL, IMAGE_BYTES + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(image->whole, MAP_FAILED);
    image->memory = image->whole + GUARD_BYTES;
    assert_int_equal(mprotect(image->memory, IMAGE_BYTES, PROT_READ | PROT_WRITE), 0);
    lay_out(image, fd);
    close(fd);
    image->kept = malloc(image->bytes);
    assert_non_null(image->kept);
    memcpy(image->kept, image->memory, image->bytes);
    assert_int_equal(mprotect(image->memory + PAGE_UP(image->bytes),
                              IMAGE_BYTES - PAGE_UP(image->bytes), PROT_NONE),
                     0);
}

static void close_image(struct image *image)
{
    free(image->kept);
    munmap(image->whole, IMAGE_BYTES + 2 * GUARD_BYTES);
}

static void reads_an_object_that_is_not_relocated(void **state)
{
    struct image image;
    abench__object object;
    char hex[72];

    (void)state;
    open_image(&image, MARKER("gnu"));
    abench__object_open(&image.info, 0, &object);
    assert_non_null(abench__object_symbol(&object, "marker_public"));
    assert_null(abench__object_symbol(&object, "marker_hidden"));
    abench__object_build_id(&object, hex, sizeof hex);
    assert_true(strlen(hex) >= 16);
    assert_int_equal(strspn(hex, "0123456789abcdef"), strlen(hex));
    close_image(&image);
}

/* Everything that may be asked of an object; the answers of a damaged one mean nothing. */
static void ask_everything(const struct image *image)
{
    abench__object object;
    const char *end;
    char hex[72], version[ABENCH__VERSION_BYTES];

    abench__object_open(&image->info, 0, &object);
    abench__object_symbol(&object, "marker_public");
    abench__object_symbol(&object, "marker_versioned");
    abench__object_symbol(&object, "no_such_function");
    abench__object_bound(&object, "marker_versioned", "MARKER_1");
    abench__object_bound(&object, "marker_versioned", "MARKER_3");
    abench__object_version(&object, "marker_public", version);
    assert_true(strlen(version) < sizeof version);
    abench__object_function(&object, "marker_weak");
    abench__object_mentions(&object, "no such part");
    abench__object_text(&object, "no such text", &end);
    abench__object_build_id(&object, hex, sizeof hex);
    assert_true(strlen(hex) < sizeof hex);
}

/* Sizes and addresses that sums go wrong with, places at the very end, or anything. */
static uint64_t draw_value(abench_random *random, const struct image *image)
{
    static const uint64_t values[] = {0, 1, 0x7fffffff, 0xffffffff, ~0ull, ~0ull << 4};
    const uint64_t choice = abench_random_below(random, 9);
    const uint64_t small = abench_random_below(random, 64);

    if (choice < 6)
        return values[choice];
    if (choice == 6)
        return PAGE_UP(image->bytes) - small;
    if (choice == 7)
        return (uintptr_t)image->memory + image->bytes - small;
    return abench_random_next(random);
}

/* One word of the dynamic section, of the tables and notes that follow the headers, or of the
 * headers of the notes and the dynamic section (those of PT_LOAD are true of what is loaded). */
static void damage(abench_random *random, struct image *image)
{
    const uint64_t value = draw_value(random, image);
    const uint64_t choice = abench_random_below(random, 4);
    const size_t bytes = abench_random_below(random, 2) ? 4 : 8;
    const size_t at = abench_random_below(random, image->info.dlpi_phnum);
    abench__segment *segment = &image->segments[at];
    const size_t tables = sizeof(ElfW(Ehdr)) + image->info.dlpi_phnum * sizeof *segment;

    if (choice == 0 && (segment->p_type == PT_NOTE || segment->p_type == PT_DYNAMIC)) {
        if (abench_random_below(random, 2))
            segment->p_memsz = value;
        else
            segment->p_vaddr = value;
    } else if (choice == 1) {
        for (size_t other = 0; other < image->info.dlpi_phnum; other++)
            if (image->kept_segments[other].p_type == PT_DYNAMIC)
                memcpy(image->memory + image->kept_segments[other].p_vaddr +
                           8 * abench_random_below(random, 48),
                       &value, 8);
    } else {
        memcpy(image->memory + tables + 4 * abench_random_below(random, 400), &value, bytes);
    }
}

static void damage_many_times(const char *path)
{
    struct image image;
    abench_random random;

    open_image(&image, path);
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        abench_random_seed(&random, seed, 0, ABENCH_PURPOSE_USER);
        for (uint64_t count = 1 + abench_random_below(&random, 4); count > 0; count--)
            damage(&random, &image);
        ask_everything(&image);
        memcpy(image.memory, image.kept, image.bytes);
        memcpy(image.segments, image.kept_segments, sizeof image.segments);
    }
    close_image(&image);
}

static void calls_only_into_code(void **state)
{
    struct image image;
    abench__object object;
    abench__symbol *symbol;

    (void)state;
    open_image(&image, MARKER("gnu"));
    abench__object_open(&image.info, 0, &object);
    symbol = (abench__symbol *)(uintptr_t)abench__object_symbol(&object, "marker_public");
    assert_non_null(symbol);
    assert_non_null(abench__object_function(&object, "marker_public"));
    symbol->st_value = 64; /* the headers of the file */
    assert_non_null(abench__object_symbol(&object, "marker_public"));
    assert_null(abench__object_function(&object, "marker_public"));
    close_image(&image);
}

/* One note at the very end of what can be read, of sizes that may be wrong. */
static void read_note_at_the_end(unsigned char *page, size_t space, uint32_t name, uint32_t bytes,
                                 char *hex, uint32_t size)
{
    const ElfW(Nhdr) note = {name, bytes, NT_GNU_BUILD_ID};
    const abench__segment segments[] = {
        {.p_type = PT_LOAD, .p_flags = PF_R, .p_memsz = 4096},
        {.p_type = PT_NOTE, .p_flags = PF_R, .p_vaddr = 4096 - space, .p_memsz = space},
    };
    struct dl_phdr_info info = {
        .dlpi_addr = (uintptr_t)page, .dlpi_phdr = segments, .dlpi_phnum = 2};
    unsigned char *at = page + 4096 - space;
    abench__object object;

    memset(page, 0xab, 4096);
    memcpy(at, &note, space < sizeof note ? space : sizeof note);
    if (space >= sizeof note + 4)
        memcpy(at + sizeof note, "GNU", 4);
    abench__object_open(&info, 0, &object);
    abench__object_build_id(&object, hex, size);
}

static void reads_no_note_beyond_its_end(void **state)
{
    static const uint32_t sizes[] = {0, 1, 4, 20, 21, 0x7ffffffc, 0xfffffffc, 0xffffffff};
    unsigned char *page =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char hex[72];

    (void)state;
    assert_ptr_not_equal(page, MAP_FAILED);
    assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
    read_note_at_the_end(page, 12 + 4 + 20, 4, 20, hex, sizeof hex);
    assert_string_equal(hex, "abababababababababababababababababababab");
    read_note_at_the_end(page, 12 + 4 + 2000, 4, 2000, hex, sizeof hex);
    assert_int_equal(strlen(hex), 70);
    read_note_at_the_end(page, 12 + 4 + 20, 4, 20, hex, 8);
    assert_string_equal(hex, "ababab");
    for (size_t name = 0; name < 8; name++)
        for (size_t bytes = 0; bytes < 8; bytes++)
            for (size_t space = 0; space < 64; space++) {
                read_note_at_the_end(page, space, sizes[name], sizes[bytes], hex, sizeof hex);
                if (sizes[name] != 4 || sizes[bytes] + 16 > space)
                    assert_string_equal(hex, "");
            }
    munmap(page, 8192);
}

static void survives_a_damaged_gnu_table(void **state)
{
    (void)state;
    damage_many_times(MARKER("gnu"));
}

static void survives_a_damaged_old_table(void **state)
{
    (void)state;
    damage_many_times(MARKER("sysv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_dlsym_finds),
        cmocka_unit_test(finds_nothing_that_is_not_defined),
        cmocka_unit_test(tells_symbols_apart_by_the_gnu_table),
        cmocka_unit_test(tells_symbols_apart_by_the_old_table),
        cmocka_unit_test(shows_the_program_once_and_the_vdso_never),
        cmocka_unit_test(reads_an_object_that_is_not_relocated),
        cmocka_unit_test(calls_only_into_code),
        cmocka_unit_test(reads_no_note_beyond_its_end),
        cmocka_unit_test(survives_a_damaged_gnu_table),
        cmocka_unit_test(survives_a_damaged_old_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
