#!/usr/bin/python3
"""The gates of the library's binary interface; CTest names are abi.GATE, red.py sees each one fail.

  check.py symbols  LIBRARY.so SYMBOLS BASE_H [--update]
      exports, with their versions, are the committed list; its newest node is the release's
  check.py declared SYMBOLS HEADER...
      what the headers declare with ABENCH_API is what the list exports
  check.py prefix   LIBRARY.a
      every global name of the static library, which hides nothing, begins with abench_
  check.py imports  LIBRARY.so LIBRARY.a ALLOW
      what the library takes from outside is in the list; malloc and its kin are taken by one
      object, by their address, and never called
  check.py layout   CC LAYOUT_C INCLUDE
      layout.c compiles, names every field of every public struct, and leaves no hole between them

Exit: 0 holds, 1 broken, 2 usage or a tool that is not here.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

FAMILY = {
    "malloc", "free", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign", "valloc",
    "pvalloc", "reallocarray", "malloc_usable_size", "strdup", "strndup", "asprintf", "vasprintf",
    "free_sized", "free_aligned_sized", "cfree",
}


def run(*command, **options):
    """The standard output of a tool. A tool that is missing or fails is an error, never a skip."""
    if shutil.which(command[0]) is None:
        sys.exit(f"check.py: {command[0]} is not here; scripts/install-deps brings it")
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(f"check.py: {' '.join(command)}: status {done.returncode}")
    return done.stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def lines(path):
    """The lines of a list, without comments."""
    stripped = (line.split("#")[0].strip() for line in read(path).splitlines())
    return [line for line in stripped if line]


def without_comments(path):
    return re.sub(r"/\*.*?\*/", " ", read(path), flags=re.S)


def finish(problems):
    for problem in problems:
        print(f"broken: {problem}")
    if problems:
        sys.exit(1)


def difference(wanted, found, missing, added):
    """One problem for each name that only one of the two has."""
    return [missing.format(name) for name in sorted(set(wanted) - set(found))] + [
        added.format(name) for name in sorted(set(found) - set(wanted))]


# ---- names ---------------------------------------------------------------------------------------

def symbols(library, symbols_list, base_h, update=None):
    exports, nodes = [], []
    for line in run("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        kind, name = line.split()[-2:]
        if kind == "A":
            nodes.append(name.split("@")[0])
        else:
            exports.append(name)
    if not exports:
        sys.exit(f"check.py: {library} exports nothing: is it the library?")
    if update:
        with open(symbols_list, "w", encoding="utf-8") as file:
            file.write("# Exports of liballocbench.so; check.py symbols ... --update writes them\n")
            file.writelines(f"{name}\n" for name in sorted(exports))
        return
    problems = difference(lines(symbols_list), exports,
                          "{} is in the list and no longer exported",
                          "{} is exported and not in the list")
    version = dict(re.findall(r"#define ABENCH_VERSION_(\w+) (\d+)", read(base_h)))
    node = f"ALLOCBENCH_{version['MAJOR']}.{version['MINOR']}"
    if node not in nodes:
        problems.append(f"release {node[11:]} has no node {node} in src/allocbench.map")
    finish(problems)


def declared(symbols_list, *headers):
    listed = [name.split("@")[0] for name in lines(symbols_list)]
    names = []
    for header in headers:
        text = re.sub(r"^\s*#.*$", "", without_comments(header), flags=re.M)
        names += re.findall(r"ABENCH_API\b[^;(]*?\b(\w+)\s*\(", text)
    finish(difference(names, listed,
                      "{} is declared and not exported: add it to src/allocbench.map",
                      "{} is exported and no header declares it"))


def prefix(archive):
    names = [line.split()[-1] for line in run("nm", "-g", "--defined-only", archive).splitlines()
             if len(line.split()) == 3]
    if not names:
        sys.exit(f"check.py: {archive} defines nothing: is it the library?")
    finish([f"{name} is a global name without the prefix abench_" for name in sorted(names)
            if not name.startswith("abench_")])


# ---- imports -------------------------------------------------------------------------------------

def plain(name):
    """memcpy for memcpy@GLIBC_2.14 and for the __memcpy_chk of -D_FORTIFY_SOURCE."""
    name = name.split("@")[0]
    fortified = re.fullmatch(r"__(\w+)_chk", name)
    return fortified.group(1) if fortified else name


def undefined(*arguments):
    fields = (line.split() for line in run("nm", "--undefined-only", *arguments).splitlines())
    return {plain(field[-1]) for field in fields if len(field) >= 2}


def calls(member):
    """Names of the family that an object file uses otherwise than by loading their address."""
    found = set()
    for line in run("readelf", "--relocs", "--wide", member).splitlines():
        field = line.split()
        if len(field) < 5 or not field[2].startswith("R_") or plain(field[4]) not in FAMILY:
            continue
        # GOTPCRELX without REX is an indirect call or jump (-fno-plt).
        if "GOT" not in field[2] or "PLT" in field[2] or field[2] == "R_X86_64_GOTPCRELX":
            found.add(plain(field[4]))
    return found


def imports(library, archive, allow):
    allowed, by_address, taker = set(), set(), None
    for line in lines(allow):
        words = line.split()
        if words[0] == "address":
            taker = words[1]
            by_address.update(words[2:])
        else:
            allowed.add(words[0])
    problems = [f"{name} is imported and not in {os.path.basename(allow)}"
                for name in sorted(undefined("-D", library) - allowed - by_address)]
    with tempfile.TemporaryDirectory() as folder:
        run("ar", "x", os.path.abspath(archive), cwd=folder)
        members = sorted(os.listdir(folder))
        if taker not in members:
            sys.exit(f"check.py: {archive} has no {taker}: is it the library?")
        for member in members:
            path = os.path.join(folder, member)
            used = undefined(path) & FAMILY
            if member == taker:
                used = (used - by_address) | calls(path)
            problems += [f"{member} calls {name}" for name in sorted(used)]
    finish(problems)


# ---- layout --------------------------------------------------------------------------------------

def fields_of(body):
    names = []
    for declaration in body.split(";"):
        declaration = declaration.strip()
        if declaration:
            pointer = re.search(r"\(\*(\w+)\)\s*\(", declaration)
            names.append((pointer or re.search(r"(\w+)\s*(?:\[\w+\])?$", declaration)).group(1))
    return names


def layout(compiler, layout_c, include):
    structs, problems = {}, []
    folder = os.path.join(include, "allocbench")
    for header in sorted(os.listdir(folder)):
        text = without_comments(os.path.join(folder, header))
        for name, body in re.findall(r"struct (\w+) \{(.*?)\}\s*\1;", text, flags=re.S):
            structs[name] = fields_of(body)
    if not structs:
        sys.exit(f"check.py: no public struct below {include}")

    text = without_comments(layout_c)
    sizes = {name: int(size) for name, size in re.findall(r"^SIZE\((\w+), (\d+)\);", text, re.M)}
    asserted = {name: [] for name in sizes}
    line = re.compile(r"^FIELD\((\w+), (\w+), (\d+), (\d+)\);", re.M)
    for name, field, offset, size in line.findall(text):
        asserted.setdefault(name, []).append((field, int(offset), int(size)))
    problems += difference(structs, asserted, "layout.c says nothing of struct {}",
                           "layout.c speaks of struct {}, which no header has")
    for name in sorted(set(structs) & set(asserted)):
        if [field[0] for field in asserted[name]] != structs[name]:
            problems.append(f"struct {name} has the fields {' '.join(structs[name])}, "
                            f"layout.c {' '.join(field[0] for field in asserted[name])}")
        end = 0
        for field, offset, size in asserted[name]:
            if offset != end:
                problems.append(f"struct {name} has a hole before {field}")
            end = offset + size
        if end != sizes.get(name):
            problems.append(f"struct {name} has a hole at its end, or no SIZE line")
    finish(problems)
    run(compiler, "-std=c11", "-fsyntax-only", "-Werror", f"-I{include}", layout_c)


GATES = {gate.__name__: gate for gate in (symbols, declared, prefix, imports, layout)}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in GATES:
        sys.stderr.write(__doc__)
        sys.exit(2)
    GATES[sys.argv[1]](*sys.argv[2:])
