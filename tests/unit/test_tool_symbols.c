/* test_tool_symbols.c - what a program's symbol tables tell of its ways to allocate; of files that
 * are made up here, and of such as no linker would make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allocbench/random.h>

#include "tool/symbols.h"

#define SYMBOLS 64
#define STRINGS 8192

enum { NONE, SYMTAB, STRTAB, DYNSYM, DYNSTR, SECTIONS };

/* As it stands in the file. */
static struct program {
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    ElfW(Shdr) sections[SECTIONS];
    ElfW(Sym) symbols[2][SYMBOLS]; /* of SYMTAB, of DYNSYM */
    char strings[2][STRINGS];
} made;

static size_t symbols_count[2], strings_size[2];
static int file; /* in memory */
static char path[64];

static void put_section(int which, ElfW(Word) type, size_t offset, size_t size, int strings)
{
    ElfW(Shdr) *section = &made.sections[which];

    section->sh_type = type;
    section->sh_offset = offset;
    section->sh_size = size;
    section->sh_link = (ElfW(Word))strings;
    section->sh_entsize = strings == NONE ? 0 : sizeof(ElfW(Sym));
}

static void set_interpreter(bool is_there)
{
    made.segment.p_type = is_there ? PT_INTERP : PT_LOAD;
}

static int set_up(void **state)
{
    (void)state;
    memset(&made, 0, sizeof made);
    memcpy(made.header.e_ident, ELFMAG, SELFMAG);
    made.header.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    made.header.e_ident[EI_DATA] = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
    made.header.e_phoff = offsetof(struct program, segment);
    made.header.e_phentsize = sizeof made.segment;
    made.header.e_phnum = 1;
    made.header.e_shoff = offsetof(struct program, sections);
    made.header.e_shentsize = sizeof made.sections[0];
    made.header.e_shnum = SECTIONS;
    put_section(SYMTAB, SHT_SYMTAB, offsetof(struct program, symbols[0]), 0, STRTAB);
    put_section(STRTAB, SHT_STRTAB, offsetof(struct program, strings[0]), STRINGS, NONE);
    put_section(DYNSYM, SHT_DYNSYM, offsetof(struct program, symbols[1]), 0, DYNSTR);
    put_section(DYNSTR, SHT_STRTAB, offsetof(struct program, strings[1]), STRINGS, NONE);
    set_interpreter(true);
    for (int table = 0; table < 2; table++) {
        symbols_count[table] = 0;
        strings_size[table] = 1;
    }
    file = memfd_create("program", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return file < 0;
}

static int tear_down(void **state)
{
    (void)state;
    return close(file);
}

static void add_to(int table, const char *name, bool is_defined)
{
    ElfW(Sym) *symbol = &made.symbols[table][symbols_count[table]++];
    const size_t size = strlen(name) + 1;

    assert_true(symbols_count[table] <= SYMBOLS && strings_size[table] + size <= STRINGS);
    symbol->st_name = (ElfW(Word))strings_size[table];
    symbol->st_info = STB_GLOBAL << 4 | STT_FUNC;
    symbol->st_shndx = is_defined ? 1 : SHN_UNDEF;
    memcpy(made.strings[table] + strings_size[table], name, size);
    strings_size[table] += size;
    made.sections[table == 0 ? SYMTAB : DYNSYM].sh_size = symbols_count[table] * sizeof *symbol;
}

/* Defined in the program. */
static void add(const char *name)
{
    add_to(0, name, true);
}

/* What is found in the made file's first size bytes; free() it. */
static char *look(size_t size)
{
    struct stat info;
    char *note;

    assert_int_equal(pwrite(file, &made, size, 0), size);
    assert_int_equal(ftruncate(file, (off_t)size), 0);
    assert_int_equal(fstat(file, &info), 0);
    note = symbols_note(path, info.st_dev, info.st_ino);
    assert_true(note == NULL || strncmp(note, path, strlen(path)) == 0);
    return note;
}

/* The ways that are named; NULL: no note. */
static void assert_ways(const char *ways)
{
    char expected[512];
    char *note = look(sizeof made);

    snprintf(expected, sizeof expected,
             "%s can allocate by other ways than malloc (%s): no target serves those, unless they "
             "call malloc",
             path, ways == NULL ? "" : ways);
    if (ways == NULL)
        assert_null(note);
    else
        assert_string_equal(note == NULL ? "(none)" : note, expected);
    free(note);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void a_plain_program_is_told_nothing_of(void **state)
{
    (void)state;
    assert_ways(NULL);
    add("main");
    add("_rjem_mallocx"); /* longer than a name that is known */
    add("my_malloc");
    add_to(1, "malloc", false);
    add_to(0, "malloc", false);
    assert_ways(NULL);
}

static void each_function_is_named(void **state)
{
    static const char *const names[] = {"_rjem_malloc",  "je_malloc",       "mi_malloc",
                                        "sn_rust_alloc", "rpmalloc",        "scalable_malloc",
                                        "tc_malloc",     "runtime.mallocgc"};

    for (size_t at = 0; at < sizeof names / sizeof names[0]; at++) {
        set_up(state);
        add(names[at]);
        assert_ways(names[at]);
        tear_down(state);
    }
    set_up(state);
    add_to(1, "mi_malloc", false); /* from a library */
    assert_ways("mi_malloc");
    add("main");
    add("rpmalloc");
    assert_ways("mi_malloc, rpmalloc");
}

static void a_prefix_of_jemalloc_is_made_out(void **state)
{
    (void)state;
    add("other_malloc");
    add("pre_malloc"); /* before the function that gives the prefix away */
    add("pre_mallctl");
    add("alone_mallctl");
    add("mallctl");
    assert_ways("pre_malloc");
    add("_rjem_mallctl");
    add("_rjem_malloc"); /* named once */
    assert_ways("_rjem_malloc, pre_malloc");
}

static void prefixes_are_limited(void **state)
{
    char name[128];

    (void)state;
    memset(name, 'p', sizeof name);
    memcpy(name + 40, "mallctl", sizeof "mallctl");
    add(name);
    memcpy(name + 40, "malloc", sizeof "malloc");
    add(name);
    assert_ways(NULL);
    for (int at = 0; at < 6; at++) {
        snprintf(name, sizeof name, "p%d_mallctl", at);
        add(name);
        snprintf(name, sizeof name, "p%d_malloc", at);
        add(name);
    }
    assert_ways("p0_malloc, p1_malloc, p2_malloc, p3_malloc");
}

static void a_malloc_that_is_not_exported_is_told(void **state)
{
    (void)state;
    add("malloc");
    assert_ways("a malloc that it does not export");
    set_interpreter(false); /* static: nobody else could serve it */
    assert_ways(NULL);
    set_interpreter(true);
    add_to(1, "malloc", false); /* it takes another's beside */
    assert_ways("a malloc that it does not export");
    add_to(1, "malloc", true); /* the process's malloc: identity names it */
    assert_ways(NULL);
}

static void data_called_malloc_is_none(void **state)
{
    (void)state;
    add("malloc");
    made.symbols[0][0].st_info = STB_LOCAL << 4 | STT_OBJECT;
    assert_ways(NULL);
}

static void a_rust_allocator_is_told(void **state)
{
    (void)state;
    add("__rust_alloc");
    add("__rdl_alloc");
    assert_ways(NULL);
    add("__rg_alloc");
    assert_ways("a Rust global allocator of its own");
}

/* Since Rust 1.87 the entry is mangled, and is the allocator itself. */
static void a_rust_allocator_of_later_ones_is_told(void **state)
{
    (void)state;
    add("_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc");
    assert_ways(NULL); /* after optimisation at link time it may be the standard library's */
    add("_RNvCsfLfy6EI15iL_7___rustc35___rust_no_alloc_shim_is_unstable_v2");
    assert_ways("a Rust global allocator of its own");
    add("_RNvCsfLfy6EI15iL_7___rustc11___rdl_alloc");
    assert_ways(NULL);
}

/* ---- files that lie -------------------------------------------------------------------------- */

static void it_must_be_that_file(void **state)
{
    struct stat info;

    (void)state;
    add("mi_malloc");
    assert_ways("mi_malloc");
    assert_int_equal(stat(path, &info), 0);
    assert_null(symbols_note(path, info.st_dev + 1, info.st_ino));
    assert_null(symbols_note(path, info.st_dev, info.st_ino + 1));
    assert_null(symbols_note("/no/such/file", info.st_dev, info.st_ino));
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_null(symbols_note("/dev/null", info.st_dev, info.st_ino));
}

static void more_sections_than_the_header_can_count_are_read(void **state)
{
    (void)state;
    add("mi_malloc");
    made.header.e_shnum = 0;
    assert_ways(NULL);
    made.sections[0].sh_size = SECTIONS;
    assert_ways("mi_malloc");
    made.sections[0].sh_size = UINT64_MAX / sizeof made.sections[0] + 2;
    assert_ways(NULL);
    made.sections[0].sh_size = (1u << 20) + 1;
    assert_ways(NULL);
}

static void tables_that_lie_are_left_alone(void **state)
{
    (void)state;
    add("mi_malloc");
    made.sections[SYMTAB].sh_link = SECTIONS;
    assert_ways(NULL);
    made.sections[SYMTAB].sh_link = SYMTAB; /* no table of strings */
    assert_ways(NULL);
    made.sections[SYMTAB].sh_link = STRTAB;
    made.sections[STRTAB].sh_type = SHT_PROGBITS;
    assert_ways(NULL);
    made.sections[STRTAB].sh_type = SHT_STRTAB;
    made.sections[STRTAB].sh_offset = UINT64_MAX - 4;
    assert_ways(NULL);
    made.sections[STRTAB].sh_offset = offsetof(struct program, strings[0]);
    made.sections[STRTAB].sh_size = UINT64_MAX;
    assert_ways(NULL);
    made.sections[STRTAB].sh_size = STRINGS;
    made.sections[SYMTAB].sh_size = UINT64_MAX;
    assert_ways(NULL);
    made.sections[SYMTAB].sh_size = sizeof(ElfW(Sym));
    made.sections[SYMTAB].sh_entsize = 1;
    assert_ways(NULL);
    made.sections[SYMTAB].sh_entsize = sizeof(ElfW(Sym));
    made.symbols[0][0].st_name = STRINGS; /* one beyond the last */
    assert_ways(NULL);
    made.symbols[0][0].st_name = 1;
    assert_ways("mi_malloc");
}

/* The table's last string has no end of its own. */
static void a_string_ends_with_its_table(void **state)
{
    (void)state;
    add("mi_mallocs");
    made.sections[STRTAB].sh_size = 1 + strlen("mi_malloc");
    assert_ways("mi_malloc");
}

static void any_part_of_a_file_may_be_missing(void **state)
{
    const size_t step = 37;

    (void)state;
    add("pre_malloc");
    add("pre_mallctl");
    add_to(1, "malloc", true);
    for (size_t size = 0; size < sizeof made; size += step)
        free(look(size));
    assert_ways("pre_malloc");
}

static void anything_may_stand_in_it(void **state)
{
    abench_random random;

    (void)state;
    add("pre_malloc");
    add("pre_mallctl");
    abench_random_seed(&random, 1, 0, ABENCH_PURPOSE_USER);
    for (int round = 0; round < 2000; round++) {
        const struct program before = made;
        unsigned char *bytes = (unsigned char *)&made;
        for (int spoilt = 0; spoilt < 4; spoilt++)
            bytes[abench_random_below(&random, offsetof(struct program, symbols))] =
                (unsigned char)abench_random_below(&random, 256);
        free(look(sizeof made));
        made = before;
    }
    assert_ways("pre_malloc");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_plain_program_is_told_nothing_of),
        cmocka_unit_test_teardown(each_function_is_named, tear_down),
        TEST(a_prefix_of_jemalloc_is_made_out),
        TEST(prefixes_are_limited),
        TEST(a_malloc_that_is_not_exported_is_told),
        TEST(data_called_malloc_is_none),
        TEST(a_rust_allocator_is_told),
        TEST(a_rust_allocator_of_later_ones_is_told),
        TEST(it_must_be_that_file),
        TEST(more_sections_than_the_header_can_count_are_read),
        TEST(tables_that_lie_are_left_alone),
        TEST(a_string_ends_with_its_table),
        TEST(any_part_of_a_file_may_be_missing),
        TEST(anything_may_stand_in_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
