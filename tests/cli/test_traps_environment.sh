#!/bin/bash
# Traps that lie around the program: what it is started by, and with. The list is in traps.sh.
. "$(dirname "$0")/common.sh"
. "$HERE/traps.sh"
needs_jemalloc

SECOND=$(library libmimalloc.so.3 libmimalloc.so.2 libtcmalloc_minimal.so.4)

# script NAME LINE: a shell script of one line.
script() {
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}

env_i() {
    outcome jemalloc env -i sleep 0.1
    is 'failed *sleep*did not report who serves its malloc: its environment was emptied*'
    # Programs that end before anybody can look.
    outcome jemalloc env -i true
    is 'failed *true*did not report who serves its malloc: its environment was emptied*'
    outcome glibc env -i true
    is 'failed *true*did not report who serves its malloc: its environment was emptied*'
    script drops 'exec env -i sleep 0.001'
    outcome jemalloc ./drops
    is 'failed *sleep*did not report who serves its malloc: its environment was emptied*'
    script drops-below 'env -i sleep 0.1; exit 0'
    outcome jemalloc ./drops-below
    is 'failed *sleep*did not report who serves its malloc: its environment was emptied*'
}

sudo() {
    script as-sudo 'exec env -i PATH="$PATH" HOME="$HOME" "$@"'
    script as-su 'unset LD_PRELOAD; exec "$@"'
    for wrapper in ./as-sudo ./as-su; do
        outcome jemalloc $wrapper sleep 0.1
        is 'failed *sleep*did not report who serves its malloc: its environment was emptied*'
        outcome jemalloc $wrapper true
        is 'failed *true*did not report who serves its malloc: its environment was emptied*'
        outcome jemalloc sh -c "$wrapper sleep 0.1; :"
        is 'failed *sleep*did not report who serves its malloc: its environment was emptied*'
    done
    # One that leaves the allocator and takes the probe away: nobody is there to prove it.
    script half-sudo 'LD_PRELOAD=${LD_PRELOAD%:*} exec "$@"'
    outcome jemalloc ./half-sudo sleep 0.1
    is 'failed *sleep*did not report who serves its malloc*'
}

shell_wrapper() {
    script wrapper 'exec "$@"'
    outcome jemalloc ./wrapper ./wrapper sleep 0.05
    is 'ok jemalloc */libjemalloc.so.2*'
    outcome jemalloc sh -c 'sleep 0.05; true'
    is 'ok jemalloc */libjemalloc.so.2*'
    outcome jemalloc sh -c '(sleep 0.05) & wait'
    is 'ok jemalloc */libjemalloc.so.2*'
    # A program that gives itself another name is not taken for a second one.
    outcome jemalloc /usr/bin/python3 -c 'import os, time
open("/proc/self/comm", "w").write("another")
time.sleep(0.5)
os._exit(0)'
    is 'ok jemalloc */libjemalloc.so.2*'
}

mistyped() {
    outcome "typo=/usr/lib/libjemaloc.so.2" true
    is "refused *target typo: there is no library '/usr/lib/libjemaloc.so.2': No such file*"
    rm -rf trap.d
    tool run -t jemaloc --rounds 1 -o trap.d -- true
    expect 2
    says "there is no target 'jemaloc'; did you mean 'jemalloc'?"
    untouched trap.d
    # The loader only complains of one, and goes on with the C library.
    script typo 'LD_PRELOAD=/usr/lib/libjemaloc.so.2 exec "$@"'
    outcome jemalloc ./typo sleep 0.1
    is 'failed *sleep*did not report who serves its malloc*'
    outcome jemalloc ./typo true
    is 'failed *true*did not report who serves its malloc*'
}

deleted() {
    cp "$JEMALLOC" copy.so
    outcome copy=copy.so rm -f copy.so
    is "failed *$SCRATCH/copy.so*"
}

two_preloads() {
    if [ -z "$SECOND" ]; then
        echo "no second allocator: that part is left out"
        return
    fi
    script behind "LD_PRELOAD=\$LD_PRELOAD:$SECOND exec \"\$@\""
    outcome jemalloc ./behind sleep 0.05
    is 'ok jemalloc */libjemalloc.so.2*'
    outcome glibc ./behind sleep 0.05
    is "failed *sleep (pid *): malloc is served by $SECOND (*), not by the C library (glibc)"
    script before "LD_PRELOAD=$SECOND:\$LD_PRELOAD exec \"\$@\""
    outcome jemalloc ./before sleep 0.05
    is "failed *sleep (pid *): malloc is served by $SECOND (*), not by */libjemalloc.so.2"
    # The user's own: cleared, unless it is asked to be kept.
    export LD_PRELOAD=$SECOND
    outcome glibc sleep 0.05
    is 'ok glibc */libc.so.6*'
    options=--keep-env
    outcome glibc sleep 0.05
    is "refused *target glibc: malloc is served by $SECOND (*), which is no glibc*"
    outcome jemalloc sleep 0.05
    is 'ok jemalloc */libjemalloc.so.2*'
    unset LD_PRELOAD
}

wrapper_in_front() {
    build half.so "$HERE/trap_wrapper.c" -shared -fPIC -fno-builtin -ldl || return 0
    build whole.so "$HERE/trap_wrapper.c" -DWHOLE -shared -fPIC -fno-builtin -ldl || return 0
    build part.so "$HERE/trap_wrapper.c" -DPART -shared -fPIC -fno-builtin -ldl || return 0
    for wrapper in half part whole; do
        script $wrapper "LD_PRELOAD=$SCRATCH/$wrapper.so:\$LD_PRELOAD exec \"\$@\""
    done
    outcome jemalloc ./half sleep 0.05
    is "failed *malloc is not served by */libjemalloc.so.2 alone: " \
        "malloc by $SCRATCH/half.so; calloc by */libjemalloc.so.2; *"
    outcome jemalloc ./part sleep 0.05
    is "failed *malloc is not served by */libjemalloc.so.2 alone: " \
        "malloc by */libjemalloc.so.2; calloc by $SCRATCH/part.so"
    outcome jemalloc ./whole sleep 0.05
    is "failed *malloc is served by $SCRATCH/whole.so (unknown), not by */libjemalloc.so.2"
    outcome glibc ./whole sleep 0.05
    is "failed *malloc is served by $SCRATCH/whole.so (unknown), not by the C library (glibc)"
    outcome half=half.so sleep 0.05
    is "refused *malloc is served by $SCRATCH/half.so (unknown), but calloc by *: " \
        "an allocator must*"
    outcome whole=whole.so sleep 0.05
    is "ok unknown $SCRATCH/whole.so*"
}

setuid() {
    if [ "$(id -u)" -ne 0 ] || findmnt -no OPTIONS -T "$SCRATCH" | grep -q nosuid; then
        echo "only root can make a program setuid to another user: that part is left out"
        return
    fi
    cp "$(realpath "$(type -P sleep)")" hers
    chown nobody hers
    chmod u+s hers
    outcome jemalloc ./hers 0.05
    is 'refused *./hers is setuid to another user*: the loader keeps preloaded allocators out*'
    for length in 0.001 0.1; do
        outcome jemalloc env ./hers $length
        is 'failed *hers*did not report who serves its malloc*'
    done
    outcome glibc ./hers 0.05
    is 'ok unproven; *'
}

# The command in a mount namespace of its own, where /etc holds what the loader and the C library
# want, and a preload for everybody.
ld_so_preload() {
    local how
    if unshare -m true 2>/dev/null; then
        how=-m
    elif unshare -rm true 2>/dev/null; then
        how=-rm
    else
        echo "no mount namespace of one's own is allowed here: that part is left out"
        return
    fi
    mkdir etc
    for file in ld.so.cache passwd group nsswitch.conf; do
        [ ! -e "/etc/$file" ] || cp "/etc/$file" etc
    done
    printf '#!/bin/sh\nexec unshare %s sh -c %s "%s" "%s" "$@"\n' $how \
        "'mount --bind \"\$0\" /etc && exec \"\$@\"'" "$SCRATCH/etc" "$ALLOCBENCH" >inside
    chmod +x inside
    ALLOCBENCH=$SCRATCH/inside
    echo "$JEMALLOC" >etc/ld.so.preload
    outcome glibc sleep 0.05
    is 'refused *target glibc: malloc is served by */libjemalloc.so.2 (jemalloc 5*), ' \
        'which is no glibc'
    outcome jemalloc sleep 0.05
    is 'ok jemalloc */libjemalloc.so.2*'
    # The empty environment does not keep it out, only the proof.
    outcome jemalloc env -i true
    is 'failed *true*did not report who serves its malloc*'
    if [ -n "$SECOND" ]; then
        outcome other="$SECOND" sleep 0.05
        is "ok * $(realpath "$SECOND")*"
    fi
    if [ -e half.so ]; then
        echo "$SCRATCH/half.so" >etc/ld.so.preload
        outcome glibc sleep 0.05
        is "refused *malloc is served by $SCRATCH/half.so (unknown), but calloc by */libc.so.6*"
    fi
}

run_traps env_i sudo shell_wrapper mistyped deleted two_preloads wrapper_in_front setuid \
    ld_so_preload
