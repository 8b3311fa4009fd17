"""The report of a 6-target, 5-workload matrix, in Chromium: every picture is drawn, what a pointer
is told are the data, nothing is asked of a network, and it reads at 360 pixels, in light, in dark
and without a script."""

import collections
import json
import re

from common import (MIB, OPEN_ALL, TINY, Failed, check, fits, is_near, is_quiet, is_readable,
                    make_matrix, median, read_table, test)

ROUNDS = 3


class Data:
    """The tables beside the page."""

    def __init__(self, folder):
        self.summary = read_table(folder + "/summary.tsv", "\t")
        self.raw = read_table(folder + "/raw.tsv", "\t")
        self.samples = read_table(folder + "/samples.csv", ",")
        self.workloads = list(dict.fromkeys(row["workload"] for row in self.raw))
        self.targets = [t for t in dict.fromkeys(row["target"] for row in self.raw)
                        if t != "(floor)"]

    def lines(self):
        """The workloads of which some run was read often enough to be drawn."""
        counts = collections.Counter((s["workload"], s["target"], s["round"], s["again"])
                                     for s in self.samples if s["rss_bytes"])
        return {run[0] for run, count in counts.items()
                if count >= 3 and run[3] == "0" and run[1] != "(floor)"}

    def judged(self, workload):
        return [r for r in self.summary if r["workload"] == workload and r["verdict"]]

    def values(self, workload, target, metric, again="0"):
        return {int(r["round"]): float(r["value"]) for r in self.raw
                if (r["workload"], r["target"], r["metric"], r["again"]) ==
                (workload, target, metric, again)}


def every_picture_is_drawn(page, data):
    page.evaluate(OPEN_ALL)
    page.settle()
    boxes = page.evaluate("""[...document.querySelectorAll('figure svg')].map(s => {
        const r = s.getBoundingClientRect(); return [s.getAttribute('class'), r.width, r.height,
        s.querySelectorAll('.line, .point').length, s.getAttribute('role'),
        (s.getAttribute('aria-label') || '').length]; })""")
    for box in boxes:
        check(box[1] > 100 and box[2] > 60, "a picture without size", box)
        check(box[3] > 0, "a picture with nothing in it", box)
        check(box[4] == "img" and box[5] > 10, "a picture without a name", box)
    kinds = [box[0] for box in boxes]
    for kind in ("forest", "back"):
        check(kinds.count(kind) == len(data.workloads), "pictures: " + kind, kinds)
    check(0 < kinds.count("rss") <= len(data.lines()), "pictures: rss", kinds, data.lines())
    check(kinds.count("scaling") == 2, "of scaling", kinds)
    check(kinds.count("latency") >= 2 * len(data.workloads), "of latencies", kinds)
    lost = page.evaluate("""[...document.querySelectorAll('svg .mark, svg .point, svg .line')]
        .filter(e => /NaN|inf|nan/.test(e.getAttribute('d') || '')).length""")
    check(lost == 0, "places that are no number", lost)


def headings_are_in_order(page):
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
    check(levels[0] == 1 and levels.count(1) == 1, "one h1, first", levels)
    check(all(b <= a + 1 for a, b in zip(levels, levels[1:])), "a level is left out", levels)
    check(page.evaluate("document.documentElement.lang") == "en", "no language")
    bare = page.evaluate("""[...document.querySelectorAll('table')]
        .filter(t => !t.caption && !t.closest('details')).length""")
    check(bare == 0, "tables without caption", bare)


def forests_are_the_summary(page, data):
    for i, workload in enumerate(data.workloads):
        marks = page.evaluate("""[...document.querySelectorAll('#w%02d svg.forest .m')].map(m =>
            [m.dataset.target, m.dataset.metric, m.dataset.ratio])""" % i)
        judged = {(r["target"], r["metric"]): r for r in data.judged(workload) if r["ratio"]}
        own = [m for m in marks if m[0] != "A/A"]
        check(len(judged) >= 5 * 2, "too little is judged", len(judged))
        check(len(own) == len(judged), "marks of " + workload, len(own), len(judged))
        for target, metric, ratio in own:
            check(is_near(float(ratio), float(judged[target, metric]["ratio"])),
                  "a ratio that is not in summary.tsv", target, metric, ratio)


def lines_are_the_samples(page, data):
    long = 0
    for i, workload in enumerate(data.workloads):
        if page.evaluate("document.querySelector('#w%02d figure.rss') === null" % i):
            continue
        rounds = page.evaluate(
            "document.querySelector('#w%02d figure.rss').textContent.match(/Round (\\d+)/)[1]" % i)
        number = int(rounds) - 1
        series = page.evaluate("""[...document.querySelectorAll('#w%02d svg.rss .series')].map(s =>
            [s.dataset.name, s.dataset.x, s.dataset.y])""" % i)
        check(len(series) == len(data.targets), "lines of " + workload, [s[0] for s in series])
        long += sum(len(xs.split()) > 3 for _, xs, _ in series)
        for name, xs, ys in series:
            base = data.values(workload, name, "rss_baseline_bytes")[number]
            there = {(int(s["time_ns"]), float(s["rss_bytes"]) - base) for s in data.samples
                     if (s["workload"], s["target"], s["again"]) == (workload, name, "0") and
                     int(s["round"]) == number and s["rss_bytes"]}
            times = {t: max(v, 0) for t, v in there}
            for x, y in zip(xs.split(), ys.split()):
                t = round(float(x) * 1e9)
                check(t in times and is_near(times[t], float(y)), "no such reading", name, x, y)
    check(long >= len(data.targets), "lines of more than a few points", long)


def buckets_of(data, folder, workload, target, kind):
    """Of all rounds together: what the largest value of each bucket is, and how many are in it."""
    counts, maximum = {}, 0
    for file in {r["file"] for r in data.raw if (r["workload"], r["target"], r["again"]) ==
                 (workload, target, "0")}:
        with open(folder + "/" + file, encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                if record["record"] == "histogram" and record["name"] == kind:
                    maximum = max(maximum, record["maximum"])
                    for _, high, n in record["buckets"]:
                        counts[high] = counts.get(high, 0) + n
    return counts, maximum


def latencies_are_the_histograms(page, data, folder):
    seen = 0
    for i, workload in enumerate(data.workloads):
        series = page.evaluate("""[...document.querySelectorAll('#w%02d svg.latency .series')]
            .map(s => [s.ownerSVGElement.getAttribute('aria-label').match(/Latency of (\\w+)/)[1],
            s.dataset.name, s.dataset.x, s.dataset.y])""" % i)
        for kind, name, xs, ys in series:
            if name == "control":
                continue
            counts, maximum = buckets_of(data, folder, workload, name, kind)
            total = sum(counts.values())
            for x, y in zip(map(float, xs.split()), map(float, ys.split())):
                check(y in counts or y == maximum, "no such latency", workload, name, kind, y)
                above = sum(n for high, n in counts.items() if high > y and y < maximum)
                place = total / above if above else total
                check(abs(x / place - 1) < 1e-6, "not at its percentile", name, kind, x, place)
                seen += 1
    check(seen > 500, "points of latencies", seen)


def what_came_back_is_the_raw_data(page, data):
    metric = {"peak": "rss_peak_bytes", "measured": "rss_bytes", "drained": "rss_drained_bytes",
              "purged": "rss_purged_bytes"}
    for i, workload in enumerate(data.workloads):
        marks = page.evaluate("""[...document.querySelectorAll('#w%02d svg.back .m')].map(m =>
            [m.dataset.target, m.dataset.point, m.dataset.value])""" % i)
        expected = sum(1 for t in data.targets for p in metric
                       if data.values(workload, t, metric[p]))
        check(len(marks) == expected > 0, "points of " + workload, len(marks), expected)
        for target, point, value in marks:
            own = median(data.values(workload, target, metric[point]).values())
            check(is_near(own, float(value)), "a point", target, point, value, own)


def every_value_is_there(page, data):
    """The tables of raw values hold raw.tsv; time, which is judged by its slices, has the median
    of summary.tsv."""
    found = page.evaluate("""[...document.querySelectorAll('section.workload')].map(s =>
        [...s.querySelectorAll('table.raw')].map(t => [t.dataset.metric,
        [...t.tHead.rows[0].cells].map(c => c.textContent.trim()),
        [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent.trim()))]))""")
    for workload, tables in zip(data.workloads, found):
        there = {(m, name, int(row[0]) - 1): row[i] for m, head, rows in tables for row in rows
                 for i, name in enumerate(head) if i > 0}
        seen = 0
        for r in data.raw:
            if r["workload"] != workload or r["metric"] == "time_ns_per_operation":
                continue
            name = "no allocator" if r["target"] == "(floor)" else r["target"]
            name += " (A/A)" if r["again"] == "1" else ""
            value = there.get((r["metric"], name, int(r["round"])))
            check(value == r["value"], "a raw value", r, value)
            seen += 1
        check(seen > 1000, "values of " + workload, seen)
        for r in data.summary:
            if r["workload"] != workload or r["metric"] != "time_ns_per_operation":
                continue
            name = "no allocator" if r["target"] == "(floor)" else r["target"]
            own = [float(v) for k, v in there.items() if k[:2] == (r["metric"], name) and v]
            check(abs(median(own) / float(r["median"]) - 1) < 1e-9, "times", name, own, r["median"])


NEAREST = """(() => {
  const tip = document.getElementById('tip');
  return tip.hidden ? null : [tip.textContent, [...tip.querySelectorAll('[data-value]')].map(r =>
    [r.dataset.name, r.dataset.value, (r.querySelector('em') || r).textContent])];
})()"""


def hover(page, find):
    """Moves the pointer to the middle of what find gives; returns what the tip says."""
    x, y = page.evaluate("""(() => { const [svg, x, y] = %s; svg.scrollIntoView({block: 'center'});
        const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [p.x, p.y]; })()"""
                         % find)
    page.point_at(1, 1)
    page.frame()
    page.point_at(x, y)
    page.frame()
    told = page.evaluate(NEAREST)
    check(told, "no tip at %s" % find)
    return told


def shown_number(text, units):
    found = re.search(r"([\d.]+) (%s)$" % "|".join(units), text)
    check(found, "no number in: " + text)
    return float(found[1]) * units[found[2]], 10.0 ** -len(found[1].partition(".")[2]) * \
        units[found[2]]


BYTES = {"GiB": 1024 * MIB, "MiB": MIB, "KiB": 1024, "B": 1}
TIMES = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}


def hover_tells_ratios(page, data):
    judged = {(r["target"], r["metric"]): r for r in data.judged(data.workloads[0]) if r["ratio"]}
    for n in range(0, len(judged), 3):
        at = """(() => { const m = [...document.querySelectorAll('#w00 svg.forest .m')]
            .filter(m => m.dataset.target !== 'A/A')[%d], b = m.querySelector('.point').getBBox();
            return [m.ownerSVGElement, b.x + b.width / 2, b.y + b.height / 2]; })()""" % n
        key = page.evaluate("""(() => { const m = [...document.querySelectorAll('#w00 svg.forest .m')]
            .filter(m => m.dataset.target !== 'A/A')[%d];
            return [m.dataset.target, m.dataset.metric]; })()""" % n)
        text, rows = hover(page, at)
        own = judged[tuple(key)]
        check(rows[0][0] == own["target"] and is_near(float(rows[0][1]), float(own["ratio"])),
              "hover on a ratio", rows, own)
        shown = float(re.search(r": x([\d.]+)", text)[1])
        check(abs(shown / float(own["ratio"]) - 1) < 0.01, "its text", text, own["ratio"])


def hover_tells_lines(page, kind, units):
    count = page.evaluate("document.querySelectorAll('#w00 svg.%s .series').length" % kind)
    check(count > 5, "series of " + kind, count)
    for n in range(count):
        series = "document.querySelectorAll('#w00 svg.%s .series')[%d]" % (kind, n)
        name, xs, ys = page.evaluate("(s => [s.dataset.name, s.dataset.x, s.dataset.y])(%s)"
                                     % series)
        i = len(xs.split()) // 2
        at = """(() => { const s = %s, d = s.querySelector('.line').getAttribute('d')
            .match(/-?[\\d.]+/g).map(Number); return [s.ownerSVGElement, d[%d], d[%d]]; })()""" % (
            series, 2 * i, 2 * i + 1)
        rows = [r for r in hover(page, at)[1] if r[0] == name]
        exact = [float(y) for y in ys.split()]
        check(len(rows) == 1, "one row a line", name, rows)
        check(float(rows[0][1]) in exact or kind == "latency", "no value of the line", rows)
        near, step = shown_number(rows[0][2], units)
        check(abs(near - float(rows[0][1])) <= step * 0.5001, "its text", rows[0])


def it_reads_without_script(page, url, counts):
    page.scripts(False)
    page.open(url)
    page.settle()
    check(page.evaluate("document.getElementById('tip')") is None, "a script ran")
    check(page.evaluate(COUNTS) == counts, "less than with a script", page.evaluate(COUNTS), counts)
    page.evaluate(OPEN_ALL)
    empty = page.evaluate("""[...document.querySelectorAll('figure svg, table')]
        .filter(e => e.getBoundingClientRect().height < 20).length""")
    check(empty == 0, "pictures or tables without size", empty)
    titles = page.evaluate("document.querySelectorAll('.m > title, .series > title').length")
    check(titles > 100, "values in titles", titles)
    page.scripts(True)


COUNTS = """['figure svg', 'table', 'svg .line', 'svg .point', 'svg .m', 'svg .tick', 'td']
    .map(s => document.querySelectorAll(s).length)"""


def body(tool, folder, browser):
    result = folder + "/result"
    make_matrix(tool, result, TINY, ROUNDS)
    data = Data(result)
    check(len(data.targets) == 6 and len(data.workloads) == 5, "the matrix", data.targets)
    page = browser.page()
    url = "file://" + result + "/report.html"
    page.size(1280, 900)
    page.open(url)
    is_quiet(page, url)
    counts = page.evaluate(COUNTS)
    every_picture_is_drawn(page, data)
    headings_are_in_order(page)
    forests_are_the_summary(page, data)
    lines_are_the_samples(page, data)
    latencies_are_the_histograms(page, data, result)
    what_came_back_is_the_raw_data(page, data)
    every_value_is_there(page, data)
    page.open(url)
    page.evaluate(OPEN_ALL)
    hover_tells_ratios(page, data)
    hover_tells_lines(page, "rss", BYTES)
    hover_tells_lines(page, "latency", TIMES)
    is_quiet(page, url)
    is_readable(page, "the report")
    fits(page, "the report")
    it_reads_without_script(page, url, counts)
    with open(result + "/report.html", "rb") as file:
        check(len(file.read()) < 3 * MIB, "the page is too large")
    print("ok: %d targets, %d workloads, pictures, tables, lines, points, marks, ticks, cells: %s"
          % (len(data.targets), len(data.workloads), counts))


test(body)
