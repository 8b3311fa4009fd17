#!/usr/bin/python3
"""How far off commands' CPU times are on this machine: in turns (--interleave) beside in sequence.

Usage: interleave.py ALLOCBENCH [SESSIONS] [COMMAND...]

A session is one round of a command with three cells: glibc, glibc again, jemalloc. Each is run twice
in turn, with its cells one after the other and with all of them alive and taking turns of 20 ms, the
first of the two drawn at random. COMMAND: sqlite3, python3, pipe (three processes); all of them
without one. Printed for each: the error of glibc against itself, |ratio - 1|, of user + system time
and of user time alone; the ratio of jemalloc, which must be the same in both ways, and its spread;
the CPU time of glibc, where the turns' cost shows; and how many other processes wanted a CPU
(/proc/stat, without our own).

30 sessions of all three take 8 minutes; `interleave.py ALLOCBENCH 5` gives a first look.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = """
keep = {}
for i in range(%d):
    key = i * 2654435761 %% 50021
    keep[key] = [str(i), "x" * (i %% 300), (i, key)]
    if i %% 7 == 0:
        keep.pop(i * 31 %% 50021, None)
print(len(keep))
"""
LINES = "for i in range(800000): print('%d %s' % (i * 7919 % 100003, 'y' * (i % 50)))"


def commands():
    with open(f"{HERE}/../../scripts/quickstart.sql", encoding="utf-8") as text:
        sql = text.read().split("\n", 1)[1]  # the shell takes a leading "--" for an option
    python = ["env", "PYTHONHASHSEED=0", "PYTHONMALLOC=malloc", "/usr/bin/python3", "-c"]
    return {"sqlite3": ["sqlite3", ":memory:", sql],
            "python3": python + [SCRIPT % 700000],
            "pipe": ["sh", "-c", f'/usr/bin/python3 -c "{LINES}" | LC_ALL=C sort -S 20M -k2 | md5sum']}


def cpu_seconds():
    """Of all that ran on this machine so far, less steal and idle time."""
    with open("/proc/stat", encoding="utf-8") as stat:
        ticks = [int(field) for field in stat.readline().split()[1:8]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def session(tool, mode, seed, command):
    """user_ns and system_ns of the three cells, and how many others wanted a CPU."""
    with tempfile.TemporaryDirectory() as folder:
        begin, busy, own = time.monotonic(), cpu_seconds(), os.times()
        subprocess.run([tool, "run", "-t", "glibc", "-t", "jemalloc", "--rounds", "1", "--seed",
                        str(seed), "--reruns", "0", "-o", folder] + mode + ["--"] + command,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ended = os.times()
        mine = ended[2] + ended[3] - own[2] - own[3]
        others = (cpu_seconds() - busy - mine) / (time.monotonic() - begin)
        with open(f"{folder}/rounds/w00.r000.json", encoding="utf-8") as text:
            record = json.load(text)
        wanted = "interleaved" if mode else "sequential"
        if record["mode"] != wanted:
            sys.exit(f"the round was run {record['mode']}, not {wanted}")
        found = {}
        for cell in record["cells"]:
            with open(f"{folder}/{cell['file']}", encoding="utf-8") as lines:
                metrics = {line["name"]: line["value"] for line in map(json.loads, lines)
                           if line["record"] == "metric"}
            found[cell["target"], cell["again"]] = (metrics["user_ns"], metrics["system_ns"])
        return [found["glibc", False], found["glibc", True], found["jemalloc", False]], others


def error(runs, of):
    errors = sorted(abs(of(again) / of(first) - 1) * 100 for (first, again, _), _ in runs)
    return "%6.2f%% %6.2f%% %6.2f%%" % (statistics.median(errors), errors[len(errors) * 9 // 10],
                                       errors[-1])


def row(name, mode, runs):
    def cpu(cell):
        return cell[0] + cell[1]

    ratios = sorted(2 * cpu(other) / (cpu(first) + cpu(again))
                    for (first, again, other), _ in runs)
    base = [cpu(cell) / 1e9 for cells, _ in runs for cell in cells[:2]]
    print(f"{name:8} {mode:11} {error(runs, cpu)}   {error(runs, lambda cell: cell[0])}   "
          f"{statistics.median(ratios):6.3f} {ratios[0]:6.3f} {ratios[-1]:6.3f}   "
          f"{statistics.median(base):6.3f} {statistics.mean(others for _, others in runs):6.2f}")


def main():
    tool = sys.argv[1]
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    chosen = {name: argv for name, argv in commands().items()
              if len(sys.argv) <= 3 or name in sys.argv[3:]}
    modes = [("sequence", []), ("interleaved", ["--interleave"])]
    runs = {(name, mode): [] for name in chosen for mode, _ in modes}
    for seed in range(1, sessions + 1):
        print(f"session {seed} of {sessions}", file=sys.stderr)
        for name, command in chosen.items():
            random.shuffle(modes)
            for mode, options in modes:
                runs[name, mode].append(session(tool, options, seed, command))
    print(f"{sessions} sessions, turns of 20 ms")
    print(f"{'':20} glibc against itself: user + system   and user alone            "
          f"jemalloc / glibc       cpu s  other")
    print(f"{'':20} {'median':>7} {'90 %':>7} {'worst':>7}   {'median':>7} {'90 %':>7} {'worst':>7}"
          f"   {'median':>6} {'from':>6} {'to':>6}   {'glibc':>6} {'load':>6}")
    for (name, mode), of in runs.items():
        row(name, mode, of)


if __name__ == "__main__":
    main()
