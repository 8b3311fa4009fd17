"""A page of hostile names: nothing of them is run or loaded, all of them is shown."""

import json
import os

from common import check, fits, is_quiet, is_readable, make_matrix, run, test

NAMES = ["<script>alert(1)</script>", "|", "\"", "'", "&amp;<img src=x onerror=alert(2)>",
         "javascript:alert(3)//\u202egnol\u202c" + "x" * 200]
LABELS = ["</title></style></script><script>alert(4)</script>",
          "a|b`*_[x](javascript:alert(5))\n# h"]
# Marks that turn the writing direction are shown as what they are.
SHOWN = [name.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c") for name in NAMES]


def edit(path, change):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    change(content)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


def spoil(folder):
    """Gives a result other names, everywhere that they stand."""
    new = {}

    def matrix(m):
        present = [t for t in m["targets"] if not t.get("missing")]
        for target, name in zip(present, NAMES):
            new[target["name"]] = name
            target["name"] = target["settings"] = name
            target["version"] = "</td><svg onload=alert(6)>"
        m["baseline"] = new[m["baseline"]]
        for workload, label in zip(m["workloads"], LABELS):
            workload["label"] = label
        m["command_line"] = "</pre><script>alert(7)</script>"
        m["notes"] = ["<img src=http://127.0.0.1:9/x onerror=alert(8)> ]]> --> \u0001\u2028"]

    def round_(r):
        for cell in r["cells"]:
            cell["target"] = new.get(cell["target"], cell["target"])

    edit(folder + "/matrix.json", matrix)
    for name in os.listdir(folder + "/rounds"):
        edit(folder + "/rounds/" + name, round_)


def body(tool, folder, browser):
    result = folder + "/result"
    make_matrix(tool, result, ["mixed:scale=quick,lanes=1,steps=20000,slots=512",
                               "churn-local:scale=quick,lanes=1,slots=500"], 2)
    spoil(result)
    run(tool, "report", result)
    page = browser.page()
    url = "file://" + result + "/report.html"
    page.open(url)
    is_quiet(page, url)
    scripts = page.evaluate("document.querySelectorAll('script').length")
    check(scripts == 1, "scripts that are not ours", scripts)
    loaded = page.evaluate("document.querySelectorAll('img,iframe,object,embed,[onload],[onerror],"
                           "a[href^=javascript],base,form,input').length")
    check(loaded == 0, "elements that are not ours", loaded)
    for i, label in enumerate(LABELS):
        there = page.evaluate("document.querySelector('#w%02d h2').textContent" % i)
        check(there == label.replace("\n", "\\n"), "a label as it is", there, label)
    heads = page.evaluate("[...document.querySelectorAll('table.targets tbody th')]"
                          ".map(h => h.textContent.replace(/ baseline$/, ''))")
    check(heads == SHOWN, "the names as they are", heads)
    names = page.evaluate("[...new Set([...document.querySelectorAll('#w00 .series')]"
                          ".map(s => s.dataset.name))].sort()")
    check(set(SHOWN) <= set(names), "the names of lines", names)
    fits(page, "hostile names")
    page.size(1280, 900)
    is_readable(page, "hostile names")
    is_quiet(page, url)
    print("ok: %d hostile names" % len(NAMES))


test(body)
