"""cells.py - result directories as the tests look at them."""

import glob
import json
import os
import sys
import xml.dom.minidom


def check(good, text):
    if not good:
        sys.exit("check failed: " + text)


def records(path):
    """All records of a cell; it must be whole."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    check(lines and lines[0]["record"] == "manifest", path + ": no manifest")
    check(lines[-1]["record"] == "end", path + ": no end")
    return lines


def rounds(directory):
    """The finished rounds, by file name."""
    found = []
    for path in sorted(glob.glob(os.path.join(directory, "rounds", "*.json"))):
        with open(path, encoding="utf-8") as file:
            found.append(json.load(file))
    return found


def cells(directory):
    """(round, cell, records or None) of every cell of every finished round."""
    for one in rounds(directory):
        for cell in one["cells"]:
            file = cell["file"]
            yield one, cell, None if file is None else records(os.path.join(directory, file))


def matrix(directory):
    with open(os.path.join(directory, "matrix.json"), encoding="utf-8") as file:
        return json.load(file)


def metrics(lines):
    return {line["name"]: line["value"] for line in lines if line["record"] == "metric"}


def warnings(lines):
    return [line["message"] for line in lines if line["record"] == "warning"]


def check_whole(directory, count, arms):
    """count rounds, each of so many cells that did not fail; nothing is left of others."""
    found = rounds(directory)
    check(len(found) == count, "%d rounds, not %d" % (len(found), count))
    for one in found:
        check(len(one["cells"]) == arms, "a round of %d cells" % len(one["cells"]))
    for _, cell, lines in cells(directory):
        check(cell["status"] == "ok" and lines is not None, "a cell failed: %s" % cell)
    for folder, _, files in os.walk(directory):
        for name in files:
            check(not name.endswith((".part", ".tmp", ".probe")), "left over: %s/%s" % (folder, name))


def picture_text(path):
    """All that an SVG says in its text elements; it must be well-formed and hold no script."""
    document = xml.dom.minidom.parse(path)
    check(document.documentElement.tagName == "svg", path + " is no SVG")
    check(not document.getElementsByTagName("script"), path + " holds a script")

    def data(node):
        if node.nodeType == node.TEXT_NODE:
            return node.data
        return "".join(data(child) for child in node.childNodes)

    return "\n".join(data(element) for element in document.getElementsByTagName("text"))
