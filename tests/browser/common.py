"""What the tests of report.html share: a small real matrix, its tables, and the page."""

import csv
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from cdp import Browser, Failed

MIB = 1048576
TINY = ["mixed:scale=quick,lanes=1,steps=600000,slots=512",
        "mixed:scale=quick,lanes=2,steps=600000,slots=512",
        "churn-local:scale=quick,lanes=1,slots=500",
        "size-shift:scale=quick,live=1m",
        "vec-growth:scale=quick,lanes=1,steps=20000"]
LIBRARIES = ["jemalloc", "tcmalloc", "mimalloc"]
STAND_INS = ["glibc:MALLOC_ARENA_MAX=1", "glibc:MALLOC_TOP_PAD_=65536",
             "glibc:MALLOC_TRIM_THRESHOLD_=65536"]


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    print("chromium is not here; scripts/install-deps brings it")
    sys.exit(1)


def check(ok, what, *details):
    if not ok:
        raise Failed(what + "".join("\n  %s" % (d,) for d in details))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    check(done.returncode == 0, "%s: status %d" % (" ".join(command), done.returncode),
          done.stderr[-2000:])
    return done.stdout


def targets(tool):
    """Six: what is missing here is stood in for by glibc with another setting."""
    listed = run(tool, "list", "targets").split("\n")
    chosen = ["glibc", "glibc-arena2", "glibc-trim"]
    for library, other in zip(LIBRARIES, STAND_INS):
        at = [i for i, line in enumerate(listed) if line.split()[:1] == [library]][0]
        chosen.append(library if listed[at + 1].strip().startswith("/") else other)
    return chosen


def make_matrix(tool, folder, workloads, rounds):
    named = [word for name in targets(tool) for word in ("-t", name)]
    run(tool, "run", *workloads, *named, "--rounds", str(rounds), "--slice", "50000",
        "--latency", "8", "--cooldown", "0", "-o", folder)


def read_table(path, delimiter):
    with open(path, newline="", encoding="utf-8") as lines:
        quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
        return list(csv.DictReader(lines, delimiter=delimiter, quoting=quoting))


def is_near(a, b):
    return abs(a - b) <= 1e-12 * max(abs(a), abs(b))


def median(values):
    return statistics.median(values)


def test(body):
    """body(tool, folder, browser) in a folder of its own."""
    tool = os.path.abspath(sys.argv[1])
    chromium = find_chromium()
    sys.stdout.reconfigure(line_buffering=True)
    folder = tempfile.mkdtemp(prefix="allocbench-page.")
    try:
        with Browser(chromium) as browser:
            body(tool, folder, browser)
    except Failed as failure:
        print("FAILED: %s" % failure)
        sys.exit(1)
    finally:
        if "ALLOCBENCH_KEEP" in os.environ:
            print("kept: " + folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def is_quiet(page, url):
    """No word on the console, nothing thrown, nothing asked of anyone, no dialog."""
    page.settle()
    said = page.seen("Runtime.consoleAPICalled") + page.seen("Runtime.exceptionThrown")
    said += [e for e in page.seen("Log.entryAdded") if e["entry"]["level"] in ("error", "warning")]
    check(not said, "the page complains", *said[:3])
    check(not page.seen("Page.javascriptDialogOpening"), "a dialog")
    asked = [e["request"]["url"] for e in page.seen("Network.requestWillBeSent")]
    others = [a for a in asked if a.split("#")[0] != url and not a.startswith("data:")]
    check(asked and not others, "requests of others than the page itself", *others)


OPEN_ALL = "document.querySelectorAll('details').forEach(d => d.open = true)"


def fits(page, what):
    """360 pixels wide, everything opened: nothing makes the page scroll sideways."""
    page.size(360, 800, mobile=True, scale=2)
    page.evaluate(OPEN_ALL)
    page.settle()
    width = page.evaluate("document.scrollingElement.scrollWidth")
    wide = page.evaluate("""[...document.querySelectorAll('body *')]
        .filter(e => e.getBoundingClientRect().right > 361 && !e.closest('.scroll, nav, svg'))
        .slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 60))""")
    check(width <= 360, "%s: %d pixels wide at 360" % (what, width), *wide)
    check(not wide, what + ": sticks out", *wide)


# Text against what lies behind it, by WCAG 2: elements that hold text themselves.
CONTRAST = """(() => {
  const parse = c => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const over = (a, b) => { const k = a.length > 3 ? a[3] : 1;
    return [0, 1, 2].map(i => a[i] * k + b[i] * (1 - k)); };
  const light = c => c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const behind = e => { if (!e) return [255, 255, 255];
    const c = parse(getComputedStyle(e).backgroundColor);
    return c.length > 3 && c[3] < 1 ? over(c, behind(e.parentElement)) : c.slice(0, 3); };
  const bad = []; let seen = 0;
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (e.closest('script, style, title') || !e.getClientRects().length) continue;
    const ground = behind(e), style = getComputedStyle(e);
    const ink = over(parse(e.closest('svg') ? style.fill : style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    seen++;
    if ((a + .05) / (b + .05) < 4.5)
      bad.push(((a + .05) / (b + .05)).toFixed(2) + ' ' + e.tagName + '.' +
        (e.getAttribute('class') || '') + ' ' + e.textContent.slice(0, 40));
  }
  return {seen, bad: bad.slice(0, 8)};
})()"""


def is_readable(page, what):
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        page.settle()
        found = page.evaluate(CONTRAST)
        check(found["seen"] > 50, "too little text was looked at")
        check(not found["bad"], "%s, %s: contrast below 4.5" % (what, scheme), *found["bad"])
    grounds = []
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    check(grounds[0] != grounds[1], "dark looks like light", *grounds)
