#!/bin/bash
# Names of targets and words of commands that would break a format that does not escape them.
. "$(dirname "$0")/common.sh"
needs_jemalloc

evil='<script>|"\`*_&amp;'\''</text>'
tool run -t "$evil=$JEMALLOC" -t $'caf\u00e9=own.so' -t glibc --skip-bad --rounds 2 -o here "$SMALL" \
    -- sh -c 'sleep 0.1; true "$@"' $'tab\tand\nline' '<b>|x|</b>' '"quoted" \ '"'single'" $'\033[31mred' $'\377' ';$(x)`y`'
expect 0
! grep -q $'\033' out err here/REPORT.md here/*.svg || fail "an escape"
shows "$evil"
py "$evil" <<'PY'
from cells import *
import csv
evil = sys.argv[1]
check(len(rounds("here")) == 4, "rounds")
check(evil in {cell["target"] for _, cell, _ in cells("here")}, "the name in the rounds")
for name, delimiter in (("samples.csv", ","), ("raw.tsv", "\t"), ("summary.tsv", "\t")):
    text = open("here/" + name, newline="", encoding="utf-8").read()
    quoting = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
    rows = list(csv.reader(text.splitlines() if delimiter == "\t" else open("here/" + name, newline=""),
                           delimiter=delimiter, quoting=quoting))
    check(all(len(row) == len(rows[0]) for row in rows), name + " is not rectangular")
    check(any("script" in field for row in rows for field in row), name + " lacks the target")
for name in os.listdir("here"):
    check(all(c.isalnum() or c in "-._" for c in name), "a file's name: " + name)
    if name.endswith(".svg"):
        text = picture_text("here/" + name)
        check("<script>" in text, name + ": the label")
report = "".join(open("here/REPORT.md", encoding="utf-8").read().split("```")[0::2])
for line in report.splitlines():
    if line.startswith("|"):
        bare = line.replace("\\\\", "").replace("\\|", "")
        check(bare.endswith("|") and "<script>" not in bare, "a row of REPORT.md: " + line)
check("<script>" not in report and "<b>" not in report, "HTML in REPORT.md")
words = [lines[0]["command"] for one, _, lines in cells("here") if one["workload"] == "w01"][0]
check(words[3] == "tab\tand\nline", "the words as they are: %s" % words)
PY
cp out table
tool report here
expect 0
cmp out table || fail "another table"

# Names that no format can hold are refused.
for name in $'a\nb' $'a\033b' $'a\377b' ''; do
    tool run -t "$name=$JEMALLOC" --rounds 1 -o refused "$SMALL"
    expect 2
    one_line
    says "name"
    untouched refused
done

# Lines that nobody would read whole are cut; every one of these results can be read.
long=$(head -c 50000 /dev/zero | tr '\0' x)
escape=$'\033'
tool run -t glibc --rounds 1 -o long -- sh -c "exit 1 #$escape $long"
expect 4
! grep -aq "$escape" out err || fail "an escape"
[ "$(wc -c <err)" -lt 1000 ] || fail "messages of $(wc -c <err) bytes"
shows "failed: glibc"
for more in 0 1 2 3 4 5; do
    tool run -t glibc --rounds 1 -o "edge$more" -- true "${long:0:15990}" "${long:0:more}"
    expect 0
done
# shellcheck disable=SC2046
tool run -t glibc --rounds 1 -o many -- true $(seq 1 30000)
expect 0
shows "true 1 2 3"
tool report many
expect 0
py "$long" <<'PY'
from cells import *
check(matrix("long")["key"]["command"][2] == "exit 1 #\033 " + sys.argv[1], "the key is whole")
check(len(matrix("many")["command_line"]) < 20000, "the command line is cut")
PY
tool run -t "glibc:A=$long" --rounds 1 -o refused "$SMALL"
expect 2
one_line
says "is longer than 16000 bytes"
untouched refused

# A library whose path is no UTF-8.
cp "$JEMALLOC" $'je\351.so'
tool run -t own=$'je\351.so' --rounds 1 -o latin "$SMALL"
expect 0
tool report latin
expect 0

# The directory's own name.
tool run -t glibc --rounds 1 -o 'a b%s$(x)' "$SMALL"
expect 0
[ "$(tail -n 1 out)" = 'Report: a b%s$(x)/report.html' ] || fail "the report's path"
