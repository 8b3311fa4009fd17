#!/bin/bash
# Traps that lie in the program: it has another malloc, or more than one. The list is in traps.sh.
. "$(dirname "$0")/common.sh"
. "$HERE/traps.sh"
needs_jemalloc

PROGRAM=$HERE/trap_program.c
SECOND=$(library libmimalloc.so.3 libmimalloc.so.2)

static() {
    build static "$PROGRAM" -static || return 0
    outcome jemalloc ./static
    is 'refused *./static is static: a preloaded allocator cannot reach it: ' \
        'under target jemalloc its*'
    outcome glibc ./static
    is 'ok unproven; *images that are not proven: 1; *'
    shows "measured from outside only, who serves its malloc is not proven"
    outcome jemalloc sh -c ./static
    is 'failed */static (pid *) did not report who serves its malloc: *is static*'
    # However short: the last that the command's own process runs is known by its name.
    build short -x c - -static <<<'int main(void) { return 0; }' || return 0
    outcome jemalloc sh -c 'exec ./short'
    is 'failed *short*did not report who serves its malloc*'
}

musl() {
    CC=musl-gcc build musl "$PROGRAM" || return 0
    outcome jemalloc ./musl
    is 'refused *./musl runs on another C library (*musl*): ' \
        'a preloaded allocator made for this one*'
    # musl's loader may take the probe, which names musl, or not take it, and say so.
    outcome glibc ./musl
    is 'failed *'
    outcome jemalloc sh -c ./musl
    is 'failed *'
    CC=musl-gcc build musl-static "$PROGRAM" -static || return 0
    outcome jemalloc ./musl-static
    is 'refused *./musl-static is static*'
    outcome glibc ./musl-static
    is 'ok unproven; *'
}

own_jemalloc_library() {
    build library "$PROGRAM" -Wl,--no-as-needed "$JEMALLOC" || return 0
    outcome glibc ./library
    is 'failed *library (pid *): malloc is served by */libjemalloc.so.2 (jemalloc 5*), ' \
        'not by the C library (glibc)'
    outcome jemalloc ./library
    is 'ok jemalloc */libjemalloc.so.2*'
    if [ -n "$SECOND" ]; then
        outcome mimalloc ./library
        is "ok mimalloc $(realpath "$SECOND")*"
    fi
}

# Of a statically linked one the symbols that would tell its family are not exported.
own_jemalloc_static() {
    build whole "$PROGRAM" "$ARCHIVE" -lm -lpthread || return 0
    outcome glibc ./whole
    is 'failed */whole (pid *): malloc is served by */whole (unknown), not by the C library (glibc)'
    outcome jemalloc ./whole
    is 'failed */whole (pid *): malloc is served by */whole (unknown), not by */libjemalloc.so.2'
}

own_jemalloc_hidden() {
    build hidden "$PROGRAM" "$ARCHIVE" -lm -lpthread -Wl,--exclude-libs,ALL || return 0
    outcome jemalloc ./hidden
    is 'ok jemalloc */libjemalloc.so.2; */hidden can allocate by other ways than malloc ' \
        '(a malloc that it does not export): ' \
        'no target serves those, unless they call malloc*'
    # A wrapper does not hide it; a program that is plain is not told of.
    outcome jemalloc env ./hidden
    is 'ok jemalloc *; */hidden can allocate by other ways than malloc (a malloc that it does not*'
    build plain "$PROGRAM" || return 0
    outcome jemalloc ./plain
    is 'ok jemalloc */libjemalloc.so.2*'
    is_not '*can allocate by other ways*'
}

# As a Rust program carries it: a real jemalloc whose functions have the prefix _rjem_.
prefixed_jemalloc() {
    nm "$ARCHIVE" 2>/dev/null | awk '$2 ~ /^[TDBRWV]$/ { print $3, "_rjem_" $3 }' | sort -u >names
    if ! objcopy --redefine-syms=names "$ARCHIVE" prefixed.a 2>/dev/null; then
        echo "no $ARCHIVE: its part is left out"
        return
    fi
    build prefixed "$PROGRAM" -DMALLOC=_rjem_malloc -DFREE=_rjem_free prefixed.a -lm -lpthread ||
        return 0
    outcome jemalloc ./prefixed
    is 'ok jemalloc */libjemalloc.so.2; */prefixed can allocate by other ways than malloc ' \
        '(_rjem_malloc): no target serves*'
    outcome glibc ./prefixed
    is 'ok glibc */libc.so.6; */prefixed can allocate by other ways than malloc (_rjem_malloc): no*'
}

rust() {
    if [ -z "$(type -P rustc)" ]; then
        echo "no rustc: its part is left out"
        return
    fi
    rustc -O --cfg own -o own "$HERE/trap_rust.rs" 2>build.log || fail "rustc: $(cat build.log)"
    rustc -O -o std "$HERE/trap_rust.rs" 2>build.log || fail "rustc: $(cat build.log)"
    outcome jemalloc ./own
    is 'ok jemalloc */libjemalloc.so.2; */own can allocate by other ways than malloc ' \
        '(a Rust global allocator of its own): no target serves*'
    outcome glibc ./own
    is 'ok glibc */libc.so.6; */own can allocate by other ways than malloc (a Rust global*'
    outcome jemalloc ./std
    is 'ok jemalloc */libjemalloc.so.2*'
    is_not '*can allocate by other ways*'
}

# The address of malloc, taken in such a program, lies in the program: dladdr would name it.
non_pie() {
    build non-pie "$PROGRAM" -DADDRESS -fno-pie -no-pie -ldl || return 0
    outcome jemalloc ./non-pie
    is 'ok jemalloc */libjemalloc.so.2*'
    grep -q 'non-pie$' trap.d/cells/*.out || fail "no trap: $(cat trap.d/cells/*.out)"
    outcome glibc ./non-pie
    is 'ok glibc */libc.so.6*'
}

ARCHIVE=$(cc -print-file-name=libjemalloc.a 2>/dev/null || true)
case $ARCHIVE in
    /*) ;;
    *) ARCHIVE=/no/libjemalloc.a ;;
esac
run_traps static musl own_jemalloc_library own_jemalloc_static own_jemalloc_hidden \
    prefixed_jemalloc rust non_pie
