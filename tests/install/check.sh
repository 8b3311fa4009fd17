#!/bin/sh
# Uses what `cmake --install` put into a prefix the way its users do. CTest names are install.CASE.
# usage: check.sh CASE, with these in the environment:
#   SOURCE  the repository       BUILD  the build tree       WORK  a folder of the install tests
#   CMAKE   GENERATOR   CC   CXX   LIBDIR  of the prefix   VERSION
set -eu

case_name=$1
stage=$WORK/stage
here=$WORK/$case_name
example=$SOURCE/examples/01_quickstart.c
expect=$SOURCE/tests/install/expect.sh

fail() {
    echo "install.$case_name: $*" >&2
    exit 1
}

# Every tool that a case needs is asked for by name: a missing one is an error, not a skip.
for tool in "$CMAKE" "$CC" "$CXX" pkg-config readelf; do
    command -v "$tool" >/dev/null || fail "$tool is not here; scripts/install-deps brings it"
done

# Compiles the example with the flags that pkg-config tells for the given prefix, and only those.
# usage: by_pkg_config PREFIX OUTPUT COMPILER [PKG-CONFIG-OPTION...]
by_pkg_config() {
    # shellcheck disable=SC2034 # output: in the eval
    prefix=$1 output=$2 compiler=$3
    shift 3
    unset PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
    flags=$(PKG_CONFIG_PATH="$prefix/$LIBDIR/pkgconfig" pkg-config --cflags --libs "$@" allocbench)
    echo "flags: $flags"
    if [ "$prefix" != "$stage" ]; then
        case $flags in *"$stage/"*) fail "the moved package still names $stage" ;; esac
    fi
    # pkg-config quotes spaces for a shell: eval reads them.
    eval "$compiler -Wall -Wextra -Wpedantic -Werror \"\$example\" -o \"\$output\" $flags"
}

# The program's liballocbench is the one of the given prefix.
uses_library_of() {
    LD_LIBRARY_PATH=$1/$LIBDIR ldd "$2" | grep -F "liballocbench.so.0 => $1/$LIBDIR/" >/dev/null ||
        fail "$2 does not load liballocbench.so.0 from $1"
}

is_without_library() {
    if readelf -d "$1" | grep -F 'liballocbench'; then
        fail "$1 wants a shared liballocbench"
    fi
}

shared_from() {
    by_pkg_config "$1" "$here/example" "$CC"
    uses_library_of "$1" "$here/example"
    LD_LIBRARY_PATH=$1/$LIBDIR "$expect" "$here/example"
}

# usage: wants KIND PROGRAM
wants() {
    if [ "$1" = static ]; then
        is_without_library "$2"
    else
        readelf -d "$2" | grep -F 'liballocbench.so.0' >/dev/null ||
            fail "$2 does not want liballocbench.so.0"
    fi
}

# usage: by_cmake PROJECT LANGUAGE KIND
by_cmake() {
    "$CMAKE" -S "$SOURCE/tests/install/$1" -B "$here/build" -G "$GENERATOR" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_PREFIX_PATH="$stage" \
        -DLANGUAGE="$2" -DKIND="$3" -DWANTED="$VERSION" -DALLOCBENCH_SOURCE="$SOURCE" \
        -DEXAMPLE="$example"
    "$CMAKE" --build "$here/build"
    "$expect" "$here/build/consumer"
    wants "$3" "$here/build/consumer"
}

# A header is alone in its file, and there twice: it includes what it needs and guards itself.
# usage: headers LANGUAGE COMPILER OPTION...
headers() {
    language=$1
    shift
    for header in "$stage"/include/allocbench/*.h; do
        name=allocbench/${header##*/}
        printf '#include <%s>\n#include <%s>\ntypedef int is_not_empty;\n' "$name" "$name" \
            >"$here/alone.$language"
        "$@" -Wall -Wextra -Wpedantic -Wconversion -Werror -fsyntax-only -I"$stage/include" \
            "$here/alone.$language" || fail "$name does not stand alone under $*"
    done
}

rm -rf "$here"
mkdir -p "$here"
case $case_name in
    stage)
        rm -rf "$stage"
        "$CMAKE" --install "$BUILD" --prefix "$stage"
        ;;
    pkg_config_shared)
        shared_from "$stage"
        ;;
    pkg_config_static)
        by_pkg_config "$stage" "$here/example" "$CC -static" --static
        is_without_library "$here/example"
        "$expect" "$here/example"
        ;;
    pkg_config_moved)
        cp -a "$stage" "$here/moved"
        shared_from "$here/moved"
        ;;
    pkg_config_space)
        cp -a "$stage" "$here/a moved prefix"
        shared_from "$here/a moved prefix"
        ;;
    readme)
        example=$here/readme.c
        awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$SOURCE/README.md" >"$example"
        by_pkg_config "$stage" "$here/example" "$CC"
        LD_LIBRARY_PATH=$stage/$LIBDIR "$here/example" >"$here/output"
        cat "$here/output"
        grep -Eqx '[1-9][0-9.]+ ns an operation, [1-9][0-9.]+ MiB' "$here/output" ||
            fail "the program of README.md prints something else"
        ;;
    find_package_c_shared) by_cmake find_package C shared ;;
    find_package_c_static) by_cmake find_package C static ;;
    find_package_c_default) by_cmake find_package C allocbench ;;
    find_package_cxx_shared) by_cmake find_package CXX shared ;;
    find_package_cxx_static) by_cmake find_package CXX static ;;
    subdirectory)
        by_cmake subdirectory C allocbench
        "$expect" "$here/build/consumer-static"
        wants static "$here/build/consumer-static"
        ;;
    headers_c99) headers c "$CC" -std=c99 ;;
    headers_c11) headers c "$CC" -std=c11 ;;
    headers_cxx17) headers cpp "$CXX" -std=c++17 ;;
    tool_moved)
        cp -a "$stage" "$here/moved tool"
        tool="$here/moved tool/bin/allocbench"
        "$tool" --version
        "$tool" run mixed:steps=20000 --rounds 1 -t glibc -o "$here/result" >"$here/table"
        cat "$here/table"
        grep -q '^mixed:steps=20000' "$here/table" || fail "the table does not name the workload"
        test -s "$here/result/REPORT.md" || fail "there is no report"
        # Its parts are the installed ones, not those of the build tree.
        head -qn 1 "$here"/result/cells/*.jsonl >"$here/manifests"
        grep -qF "$here/moved tool/$LIBDIR/allocbench/allocbench-cell" "$here/manifests" ||
            fail "the cell that ran is not the installed one: $(cat "$here/manifests")"
        ;;
    *) fail "there is no such case" ;;
esac
