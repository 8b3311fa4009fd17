#!/usr/bin/python3
"""Sees every gate of check.py fail: a gate that was never red is none.

usage: red.py CC SOURCE LIBRARY.a    Each test breaks one thing in a copy, and expects the gate to
say so. (That each gate holds for what is not broken is what abi.GATE is for.)
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CC = SOURCE = ARCHIVE = ""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class Red(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.list = os.path.join(HERE, "allocbench.symbols")
        self.include = os.path.join(self.folder, "include")
        shutil.copytree(os.path.join(SOURCE, "include"), self.include)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def change(self, path, old, new):
        """Replaces text that must be there once in a copied file."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count(old), 1, f"'{old}' is no longer in {path}: adapt this test")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))

    def must(self, *command, **options):
        done = run(*command, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def compile(self, name, text):
        source, out = self.write(name, text), os.path.join(self.folder, name + ".o")
        self.must(CC, "-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-builtin",
                  f"-I{self.include}", f"-I{SOURCE}/src", "-c", source, "-o", out)
        return out

    def copy_map(self):
        return shutil.copy(os.path.join(SOURCE, "src", "allocbench.map"), self.folder)

    def archive(self, *objects):
        out = shutil.copy(ARCHIVE, os.path.join(self.folder, "liballocbench.a"))
        self.must("ar", "r", out, *objects)
        return out

    def library(self, archive, version_script):
        out = os.path.join(self.folder, "liballocbench.so")
        self.must(CC, "-shared", "-o", out, "-Wl,--whole-archive", archive,
                  "-Wl,--no-whole-archive", f"-Wl,--version-script={version_script}", "-pthread")
        return out

    def gate_says(self, words, *arguments):
        done = run(sys.executable, os.path.join(HERE, "check.py"), *arguments)
        self.assertEqual(done.returncode, 1, f"the gate did not see it\n{done.stdout}{done.stderr}")
        self.assertIn(words, done.stdout + done.stderr)

    # ---- symbols --------------------------------------------------------------------------------

    def symbols_say(self, words, archive, version_script, base=None):
        self.gate_says(words, "symbols", self.library(archive, version_script), self.list,
                       base or os.path.join(self.include, "allocbench", "base.h"))

    def test_an_export_that_is_not_in_the_list(self):
        text = "__attribute__((visibility(\"default\"))) int abench_added(void) { return 0; }\n" \
               "int abench_added(void);\n"
        script = self.copy_map()
        self.change(script, "    global:\n", "    global:\n        abench_added;\n")
        self.symbols_say("abench_added@@ALLOCBENCH_0.1 is exported and not in the list",
                         self.archive(self.compile("added.c", text)), script)

    def test_an_export_that_is_gone(self):
        script = self.copy_map()
        self.change(script, "        abench_version_string;\n", "")
        self.symbols_say("abench_version_string@@ALLOCBENCH_0.1 is in the list and no longer",
                         ARCHIVE, script)

    def test_an_export_that_changed_its_version(self):
        script = self.copy_map()
        self.change(script, "ALLOCBENCH_0.1 {", "ALLOCBENCH_0.9 {")
        self.symbols_say("abench_version@@ALLOCBENCH_0.9 is exported and not in the list",
                         ARCHIVE, script)

    def test_a_release_without_a_node(self):
        base = os.path.join(self.include, "allocbench", "base.h")
        self.change(base, "#define ABENCH_VERSION_MINOR ", "#define ABENCH_VERSION_MINOR 77")
        self.symbols_say("has no node ALLOCBENCH_0.77", ARCHIVE, self.copy_map(), base)

    # ---- declared -------------------------------------------------------------------------------

    def declared_says(self, words, old, new):
        base = os.path.join(self.include, "allocbench", "base.h")
        self.change(base, old, new)
        headers = os.listdir(os.path.dirname(base))
        self.gate_says(words, "declared", self.list,
                       *(os.path.join(os.path.dirname(base), header) for header in headers))

    def test_a_declaration_that_is_not_exported(self):
        declaration = "ABENCH_API uint64_t abench_clock_ns(void);"
        self.declared_says("abench_forgotten is declared and not exported", declaration,
                           declaration + "\nABENCH_API const char *\nabench_forgotten(int a);")

    def test_an_export_that_no_header_declares(self):
        self.declared_says("abench_clock_ns is exported and no header declares it",
                           "ABENCH_API uint64_t abench_clock_ns(void);", "")

    # ---- prefix ---------------------------------------------------------------------------------

    def test_a_global_name_without_the_prefix(self):
        helper = self.compile("helper.c", "int helper(void);\nint helper(void) { return 0; }\n")
        self.gate_says("helper is a global name without the prefix", "prefix", self.archive(helper))

    # ---- imports --------------------------------------------------------------------------------

    def imports_say(self, words, name, text):
        archive = self.archive(self.compile(name, text))
        self.gate_says(words, "imports", self.library(archive, self.copy_map()), archive,
                       os.path.join(HERE, "imports.allow"))

    def test_a_call_of_malloc(self):
        self.imports_say("added.c.o calls malloc", "added.c",
                         "#include <stdlib.h>\nvoid *abench__added(void);\n"
                         "void *abench__added(void) { return malloc(9); }\n")

    def test_a_call_of_malloc_where_its_address_is_taken(self):
        with open(os.path.join(SOURCE, "src", "allocator", "process.c"), encoding="utf-8") as file:
            text = file.read()
        self.imports_say("process.c.o calls realloc", "process.c", text +
                         "void *abench__added(void *a);\n"
                         "void *abench__added(void *a) { return realloc(a, 9); }\n")

    def test_functions_that_allocate_behind_the_back(self):
        self.imports_say("qsort is imported and not in imports.allow", "added.c",
                         "#include <stdlib.h>\nvoid abench__added(int *a, int (*f)(const void *, "
                         "const void *));\nvoid abench__added(int *a, int (*f)(const void *, "
                         "const void *)) { qsort(a, 9, sizeof *a, f); }\n")

    def test_a_stream(self):
        self.imports_say("fopen is imported and not in imports.allow", "added.c",
                         "#include <stdio.h>\nvoid *abench__added(void);\n"
                         "void *abench__added(void) { return fopen(\"/\", \"r\"); }\n")

    # ---- layout ---------------------------------------------------------------------------------

    def layout_says(self, words, old, new, layout=os.path.join(HERE, "layout.c")):
        self.change(os.path.join(self.include, "allocbench", "tape.h"), old, new)
        self.gate_says(words, "layout", CC, layout, self.include)

    def test_a_field_inserted(self):
        self.layout_says("struct abench_phase has the fields",
                         "    uint64_t operations;      /* in it",
                         "    uint64_t inserted;\n    uint64_t operations;      /* in it")

    def test_a_field_appended_without_a_line(self):
        self.layout_says("struct abench_phase has the fields",
                         "    char name[32];\n} abench_phase;",
                         "    char name[32];\n    uint64_t appended;\n} abench_phase;")

    def test_fields_in_another_order(self):
        self.layout_says("struct abench_phase has the fields",
                         "    uint32_t struct_size;\n    uint32_t flags;\n    uint64_t operations;",
                         "    uint32_t flags;\n    uint32_t struct_size;\n    uint64_t operations;")

    def test_a_field_of_another_size(self):
        self.layout_says("place of name in abench_phase", "    char name[32];\n} abench_phase;",
                         "    char name[40];\n} abench_phase;")

    def test_a_hole(self):
        layout = shutil.copy(os.path.join(HERE, "layout.c"), self.folder)
        self.change(layout, "FIELD(abench_phase, flags, 4, 4);",
                    "FIELD(abench_phase, flags, 4, 2);")
        self.layout_says("struct abench_phase has a hole before operations",
                         "    uint32_t flags;\n    uint64_t operations;",
                         "    uint16_t flags;\n    uint64_t operations;", layout)

    def test_a_struct_without_a_line(self):
        self.layout_says("layout.c says nothing of struct abench_new",
                         "typedef struct abench_phase {",
                         "typedef struct abench_new {\n    uint64_t a;\n} abench_new;\n"
                         "typedef struct abench_phase {")

    # ---- tools ----------------------------------------------------------------------------------

    def test_a_tool_that_is_missing(self):
        done = run(sys.executable, os.path.join(HERE, "check.py"), "prefix", ARCHIVE,
                   env={"PATH": self.folder})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nm is not here", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    CC, SOURCE, ARCHIVE = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
