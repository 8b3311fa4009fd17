# traps.sh - what the tests of traps share; sourced after common.sh.
#
# A trap is a way to measure another allocator than the one that is asked for. In none may a cell
# hold that names a wrong one: it is refused, or tells the truth, or says that it cannot tell.
#
#   trap                                 where                         what is told
#   static program                       program: static               refused; glibc: not proven
#   musl program, dynamic and static     program: musl                 refused, failed or not proven
#   jemalloc linked in, by library       program: own_jemalloc_library who served
#   jemalloc linked in, static           program: own_jemalloc_static  failed, the program is named
#   jemalloc linked in, not exported     program: own_jemalloc_hidden  a warning: own malloc
#   jemalloc linked in, under a prefix   program: prefixed_jemalloc    a warning: _rjem_malloc
#   Rust, an allocator of its own        program: rust                 a warning: global allocator
#   non-PIE, malloc's address taken      program: non_pie              who served
#   env -i                               environment: env_i            failed, however short
#   sudo's reset of the environment      environment: sudo             failed, however short
#   shell wrapper                        environment: shell_wrapper    who served
#   mistyped path                        environment: mistyped         refused; within: failed
#   library deleted in the middle        environment: deleted          failed
#   two preloads                         environment: two_preloads     the first of them
#   a preload that wraps malloc in front environment: wrapper_in_front failed, the wrapper is named
#   setuid                               environment: setuid           refused; within: failed
#   /etc/ld.so.preload                   environment: ld_so_preload    refused, the library is named
#
# Further: test_proven.sh (images of a command), test_refused_program.sh (what preflight sees),
# test_refused_cell.sh (what only a cell can see), unit.allocator (identity itself), unit.probe.

# Runs COMMAND under TARGET alone (it is its own baseline) and sets $outcome to what the tool makes
# of TARGET:
#   refused MESSAGES                      before anything was timed
#   failed REASON                         its cell
#   ok FAMILY FILE; WARNING; WARNING...   its cell; "ok unproven; ..." where nobody is named
# options: words for the command line before COMMAND.
options=
outcome() {
    local target=$1
    shift
    rm -rf trap.d
    # shellcheck disable=SC2086 # words
    tool run -t "$target" --baseline "${target%%=*}" $options --rounds 1 -o trap.d -- "$@"
    outcome=$(/usr/bin/python3 - "${target%%=*}" <<'PY'
from cells import *
found = [(cell, lines) for _, cell, lines in cells("trap.d")
         if cell["target"] == sys.argv[1] and not cell["again"]]
if not found:
    print("refused", open("err").read().strip())
elif found[0][0]["status"] != "ok":
    print("failed", found[0][0]["reason"])
else:
    lines = found[0][1]
    served = lines[0].get("allocator")
    who = "unproven" if served is None else "%s %s" % (served["family"], served["file"])
    print("; ".join(["ok " + who] + warnings(lines)))
PY
    ) || fail "no outcome"
    case $outcome in
        refused*) untouched trap.d ;;
    esac
    case $outcome in
        ok*) ;;
        *) expect 4 ;;
    esac
}

# The outcome is as the pattern says, which may come in pieces.
is() {
    local pattern
    printf -v pattern %s "$@"
    # shellcheck disable=SC2254 # a pattern
    case $outcome in
        $pattern) ;;
        *) fail "outcome \"$outcome\", not \"$pattern\"" ;;
    esac
}

is_not() {
    # shellcheck disable=SC2254 # a pattern
    case $outcome in
        $1) fail "outcome \"$outcome\"" ;;
    esac
}

# build OUTPUT OPTIONS...: compiles; false where that cannot be done here.
build() {
    local output=$1
    shift
    "${CC:-cc}" -o "$output" "$@" >build.log 2>&1 && return
    echo "$output cannot be built: its part is left out"
    return 1
}

# Each trap by itself: the name of one may be given, to run that alone.
run_traps() {
    local trap
    for trap in "$@"; do
        [ -z "${TRAP-}" ] || [ "$TRAP" = "$trap" ] || continue
        options=
        echo "trap: $trap"
        "$trap"
    done
}
