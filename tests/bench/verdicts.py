#!/usr/bin/python3
"""How often the verdicts are false, and how often they find what is there.

Usage: verdicts.py ALLOCBENCH [MATRICES] [--planted N] [--rounds R] [--until-decided]
                   [--output DIR] [--waste LIBRARY]
       verdicts.py --table DIR          the table of what is there
       verdicts.py --self-check         the bounds against scipy's

An A/A matrix is glibc beside glibc with a variable that nobody reads: three workloads and a
command, short cells, 10 rounds. Each "better" or "worse" in it is false. A planted matrix is, a
workload each, glibc behind a library that only forwards (verdicts_waste.c) beside the same one
wasting 10 % of the workload's time, and 5 % of its memory: how much waste that takes is found out
first, and kept.

MATRICES A/A matrices (default 200) and N planted ones (default a quarter of them), spread among
them, take some 6 s each on a quiet machine. What each said is a line of DIR/matrices.jsonl (default
./allocbench-verdicts), its result directory is removed: the same command goes on after Ctrl-C or a
crash, with more matrices too, but only with the same build of the command. --until-decided: they
look at their rounds three times, at R, 2R and 4R of them: up to four times as long.

Exit status: 0; 1: more false verdicts than 5 % explains; 2 usage; 3 it could not measure; 130
Ctrl-C.
"""
import argparse
import csv
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys

import verdicts_table

# Ten slices or more each in 20 to 30 ms of work.
WORKLOADS = {"mixed": "mixed:lanes=1,steps=400000",
             "churn-local": "churn-local:lanes=1,slots=5000,rounds=24",
             "larson": "larson:lanes=1,slots=1000,round=100000,rounds=3"}
COMMAND = ["sh", "-c", "PYTHONMALLOC=malloc exec /usr/bin/python3 -S -c "
           "'kept = [str(i) * 4 for i in range(60000)]'"]
NAMES = [*WORKLOADS, "command"]
SAME = "glibc:SAME_AS_GLIBC=1"
SLICE = 20_000
SEEDS = 1000  # of a matrix: more than it has rounds
CALIBRATION = 1_000_000  # its first matrix

# Thousandths (verdicts_waste.c) to begin with, the share wanted, and the metrics that show it.
PLANTED = {"time": ("WASTE_TIME", 16000, 0.10, ("time_ns_per_operation", "cpu_ns", "wall_ns")),
           "memory": ("WASTE_MEMORY", 50, 0.05, ("rss_bytes", "peak_rss_bytes"))}
PASSES = 4
NEAR_ENOUGH = 0.1  # of the share wanted
FAILURES_MOST = 3  # one after the other
COUNTS = {"same": "matrices", "planted": "planted"}


class Failed(Exception):
    """allocbench did not measure; its last words."""


def stop(message, status=3):
    print(f"verdicts.py: {message}", file=sys.stderr)
    sys.exit(status)


def digest(*paths):
    """Of what there is of them: the same build is the same digest."""
    whole = hashlib.sha256()
    for path in paths:
        if os.path.exists(path):
            with open(path, "rb") as file:
                whole.update(file.read())
    return whole.hexdigest()


def build(tool):
    """Of the command, its library, which judges, and its cells."""
    folder = os.path.dirname(tool)
    return digest(tool, os.path.join(folder, "liballocbench.so"),
                  os.path.join(folder, "allocbench-cell"))


class State:
    """The lines of matrices.jsonl, of this program alone."""

    def __init__(self, folder, settings):
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, "matrices.jsonl")
        self.file = open(self.path, "a+b")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            stop(f"another one works in {folder}; give another --output")
        self.lines, size = verdicts_table.read_lines(self.path)
        self.file.truncate(size)  # a line that a crash cut off
        if not self.lines:
            self.add(settings)
        elif settings != self.lines[0]:
            other = [key for key in settings if settings[key] != self.lines[0].get(key)]
            stop(f"{self.path} is of another {' and '.join(other)}; give another --output", 2)

    def add(self, line):
        self.file.write(json.dumps(line).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.lines.append(line)

    def of(self, record):
        return [line for line in self.lines if line["record"] == record]


def read_number(text):
    return float(text) if text not in ("", "nan") else None


def read_summary(path):
    """The judged rows, by target: what the command makes of each metric of each workload."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wanted = ("verdict", "ratio", "ratio_low", "ratio_high", "aa_low", "aa_high", "threshold")
    missing = [name for name in wanted if rows and name not in rows[0]]
    if missing or not rows:
        stop(f"{path} has no column {', '.join(missing) or 'at all'}: it holds no verdicts")
    found = {}
    for row in rows:
        if row["verdict"] == "" or row["ratio"] == "":
            continue
        name = row["workload"].split(":")[0]
        found.setdefault(row["target"], []).append({
            "workload": name if name in WORKLOADS else "command", "metric": row["metric"],
            "verdict": verdicts_table.kind(row["verdict"]), "ratio": read_number(row["ratio"]),
            "low": read_number(row["ratio_low"]), "high": read_number(row["ratio_high"]),
            "aa_low": read_number(row["aa_low"]), "aa_high": read_number(row["aa_high"]),
            "threshold": read_number(row["threshold"])})
    return found


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = os.path.join(options.output, "matrix")

    def run(self, seed, names, baseline, targets):
        """One matrix of these workloads; what it says of each target but the baseline."""
        specs = [WORKLOADS[name] for name in names if name in WORKLOADS]
        command = [self.options.allocbench, "run", *specs, "--rounds", str(self.options.rounds),
                   "--seed", str(seed), "--slice", str(SLICE), "--no-floor", "-o", self.folder,
                   "--baseline", baseline]
        if self.options.until_decided:
            command.append("--until-decided")
        for target in targets:
            command += ["-t", target]
        if "command" in names:
            command += ["--", *COMMAND]
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, check=False)
            if done.returncode == 130:
                raise KeyboardInterrupt
            if done.returncode != 0:
                words = done.stderr.decode(errors="replace").strip().splitlines()
                raise Failed(f"exit status {done.returncode}: {words[-1] if words else 'no word'}")
            return read_summary(os.path.join(self.folder, "summary.tsv"))
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def same(self, number):
        return self.run(SEEDS * number + 1, NAMES, "glibc", ["glibc", SAME])[SAME]

    def wasteful(self, seed, name, waste):
        library = self.options.waste
        targets = [f"plain={library}"]
        targets += [f"{kind}={library},{PLANTED[kind][0]}={waste[kind]}" for kind in PLANTED]
        return self.run(seed, [name], "plain", targets)

    def planted(self, number, waste):
        rows = []
        for name in NAMES:
            found = self.wasteful(SEEDS * number + 1, name, waste[name])
            for kind in PLANTED:
                rows += [{**row, "planted": kind} for row in found[kind]
                         if row["metric"] in PLANTED[kind][3]]
        return rows

    def calibrate(self, name):
        """How many thousandths waste the share that is wanted of this workload."""
        waste = {kind: PLANTED[kind][1] for kind in PLANTED}
        for turn in range(PASSES):
            found = self.wasteful(SEEDS * (CALIBRATION + turn), name, waste)
            near = True
            for kind, (_, _, wanted, metrics) in PLANTED.items():
                share = next(row["ratio"] for metric in metrics for row in found[kind]
                             if row["metric"] == metric) - 1
                if abs(share - wanted) > NEAR_ENOUGH * wanted:
                    near = False
                    factor = wanted / max(share, wanted / 4)
                    waste[kind] = max(1, round(waste[kind] * factor))
            if near:
                break
        return waste


def schedule(matrices, planted):
    """What to do in which order: the planted ones evenly among the others."""
    for at in range(max(matrices, planted)):
        if at < matrices:
            yield "same", at
        before, after = (at * planted // max(matrices, planted, 1),
                         (at + 1) * planted // max(matrices, planted, 1))
        for number in range(before, after):
            yield "planted", number


def measure(bench, state, options):
    waste = {line["workload"]: line["waste"] for line in state.of("calibrated")}
    done = {(line["record"], line["number"]) for line in state.lines[1:] if "number" in line}
    failures = 0
    for kind, number in schedule(options.matrices, options.planted):
        if (kind, number) in done:
            continue
        load = os.getloadavg()[0]
        try:
            if kind == "planted":
                for name in NAMES:
                    if name not in waste:
                        print(f"how much waste is that of {name}", file=sys.stderr)
                        waste[name] = bench.calibrate(name)
                        state.add({"record": "calibrated", "workload": name, "waste": waste[name]})
            print(f"{kind} matrix {number + 1} of {getattr(options, COUNTS[kind])}",
                  file=sys.stderr)
            rows = bench.same(number) if kind == "same" else bench.planted(number, waste)
            state.add({"record": kind, "number": number, "load": load, "rows": rows})
            failures = 0
        except Failed as failed:
            failures += 1
            state.add({"record": "failed", "of": kind, "message": str(failed)})
            print(f"verdicts.py: {failed}", file=sys.stderr)
            if failures == FAILURES_MOST:
                stop(f"{failures} failures one after the other; the same command goes on")


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("allocbench", nargs="?")
    parser.add_argument("matrices", nargs="?", type=int, default=200)
    parser.add_argument("--planted", type=int)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--until-decided", action="store_true")
    parser.add_argument("--output", default="allocbench-verdicts")
    parser.add_argument("--waste")
    parser.add_argument("--table")
    parser.add_argument("--self-check", action="store_true")
    options = parser.parse_args()
    if options.planted is None:
        options.planted = options.matrices // 4
    if not options.allocbench and not options.table and not options.self_check:
        parser.error("the path of allocbench is wanted")
    if min(options.matrices, options.planted) < 0 or not 1 <= options.rounds < SEEDS:
        parser.error(f"numbers are 0 or more, rounds 1 to {SEEDS - 1}")
    return options


def main():
    options = arguments()
    if options.self_check:
        return verdicts_table.self_check()
    if options.table:
        return verdicts_table.show(options.table)
    options.allocbench = os.path.realpath(options.allocbench)
    if options.waste is None:
        options.waste = os.path.join(os.path.dirname(options.allocbench), "tests", "bench",
                                     "libverdicts-waste.so")
    options.waste = os.path.realpath(options.waste)
    for path in (options.allocbench, options.waste):
        if not os.path.exists(path):
            stop(f"there is no {path}: it is built with the tests", 2)
    state = State(options.output, {
        "record": "settings", "rounds": options.rounds, "looks": 3 if options.until_decided else 1,
        "workloads": WORKLOADS, "command": COMMAND,
        "slice": SLICE, "allocbench": build(options.allocbench), "waste": digest(options.waste)})
    status = 0
    try:
        measure(Bench(options), state, options)
    except KeyboardInterrupt:
        print("interrupted: the same command goes on", file=sys.stderr)
        status = 130
    return verdicts_table.show(options.output) or status


if __name__ == "__main__":
    sys.exit(main())
