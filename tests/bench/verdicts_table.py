"""verdicts_table.py - what the matrices of verdicts.py say together."""
import json
import math
import os
import statistics
import sys

KINDS = ("same", "open", "too few", "refused", "better", "worse")
NOMINAL = 0.05  # of false verdicts, at most
# Paired Hodges-Lehmann clear of 1 %, cells one after the other on a loaded machine: the share of
# +10 % that 10, 20 and 40 rounds found in the experiment that this procedure was chosen by.
EXPECTED_POWER = {10: 0.21, 20: 0.41, 40: 0.65}


def kind(text):
    """One of KINDS, from the command's words."""
    for start, name in (("better", "better"), ("worse", "worse"), ("same", "same"),
                        ("not told apart", "open"), ("not enough rounds", "too few"),
                        ("refused", "refused")):
        if text.startswith(start):
            return name
    sys.exit(f"verdicts.py: a verdict that is not known here: {text}")


def read_lines(path):
    """The whole lines of a file, and how many bytes they are."""
    lines, size = [], 0
    with open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            lines.append(json.loads(line))
            size += len(line)
    return lines, size


def at_most(found, count, share):
    """The probability of so many of count, or fewer, when each has this share of chances."""
    if share <= 0 or share >= 1:
        return 1.0 if share <= 0 or found >= count else 0.0
    rest, own = math.log1p(-share), math.log(share)
    return min(1.0, math.fsum(
        math.exp(math.lgamma(count + 1) - math.lgamma(at + 1) - math.lgamma(count - at + 1)
                 + at * own + (count - at) * rest) for at in range(found + 1)))


def clopper_pearson(found, count, level=0.95):
    """The exact bounds of a share of which found of count were seen (Clopper and Pearson 1934)."""
    tail = (1 - level) / 2

    def crossing(falls_below):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if falls_below(middle) else (middle, high)
        return (low + high) / 2

    low = 0.0 if found == 0 else crossing(
        lambda share: 1 - at_most(found - 1, count, share) >= tail)
    high = 1.0 if found == count else crossing(lambda share: at_most(found, count, share) <= tail)
    return low, high


def self_check():
    from scipy.stats import beta
    worst = 0.0
    for count in (1, 2, 7, 20, 200, 1000):
        for found in sorted({0, 1, count // 20, count // 2, count - 1, count}):
            low, high = clopper_pearson(found, count)
            least = beta.ppf(.025, found, count - found + 1) if found else 0
            most = beta.ppf(.975, found + 1, count - found) if found < count else 1
            worst = max(worst, abs(low - least), abs(high - most))
    print(f"the bounds differ from scipy's by {worst:.1e} at most")
    return 0 if worst < 1e-9 else 1


def share_text(found, count):
    if count == 0:
        return "none"
    low, high = clopper_pearson(found, count)
    return (f"{found} of {count} = {100 * found / count:.1f} % "
            f"[{100 * low:.1f} {100 * high:.1f}]")


def threshold_text(rows):
    values = [row["threshold"] for row in rows if row["threshold"] is not None]
    return f"{100 * statistics.median(values):8.1f} %" if values else f"{'':10}"


def title(row):
    return f"{row['workload']} {row['metric']}"


def groups(rows, key):
    found = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def head(width, *columns):
    return (" " * width + "".join(f"{name:>8}" for name in KINDS) + " threshold   "
            + "".join(f"{column:33}" for column in columns))


def counts(rows):
    """How many of each kind, and the middle threshold."""
    return ("".join(f"{sum(row['verdict'] == one for row in rows):8}" for one in KINDS)
            + threshold_text(rows) + "   ")


def intervals(rows, truth, holding, low="low", high="high"):
    """How many of the intervals that there are hold the truth, or do not."""
    told = [row for row in rows if row[low] is not None]
    held = sum(row[low] <= truth <= row[high] for row in told)
    return f"{share_text(held if holding else len(told) - held, len(told)):33}"


def same_table(matrices):
    """The false verdicts of the A/A matrices; whether they are more than NOMINAL explains."""
    rows = [row for matrix in matrices for row in matrix["rows"]]
    false = sum(any(row["verdict"] in ("better", "worse") for row in matrix["rows"])
                for matrix in matrices)
    refused = sum(any(row["verdict"] == "refused" for row in matrix["rows"])
                  for matrix in matrices)
    print(head(36, "intervals without 1", "A/A intervals without 1"))
    for name, group in [*groups(rows, title).items(), ("all", rows)]:
        print(f"{name:36}{counts(group)}{intervals(group, 1, False)}"
              + intervals(group, 1, False, "aa_low", "aa_high"))
    print('\nA/A matrices with a false "better" or "worse" over all metrics: '
          + share_text(false, len(matrices)))
    print(f"A/A matrices with a metric that was refused: {share_text(refused, len(matrices))}")
    low, high = clopper_pearson(false, len(matrices))
    word = ("more than 5 %" if low > NOMINAL else
            "5 % or less" if high <= NOMINAL else "consistent with 5 % or less")
    print(f"false verdicts: {word}")
    return low > NOMINAL


def planted_table(matrices, waste, rounds):
    rows = [row for matrix in matrices for row in matrix["rows"]]
    print("  truth".rjust(49) + head(0, "found", "intervals with the truth"))
    for (planted, name), group in groups(rows, lambda row: (row["planted"], title(row))).items():
        truth = statistics.median(row["ratio"] for row in group)
        found = share_text(sum(row["verdict"] == "worse" for row in group), len(group))
        print(f"{planted:7}{name:35}{truth:7.3f}{counts(group)}{found:33}"
              + intervals(group, truth, True))
    print("\ntruth: the median of the matrices' ratios; found: told to be worse; threshold: the "
          "median")
    for line in waste:
        print(f"wasted of {line['workload']}: " + ", ".join(
            f"{what} {amount} thousandths" for what, amount in line["waste"].items()))
    if rounds in EXPECTED_POWER:
        print(f"for comparison: cells one after the other on a loaded machine found "
              f"{100 * EXPECTED_POWER[rounds]:.0f} % of +10 % time in {rounds} rounds")


def show(folder):
    path = os.path.join(folder, "matrices.jsonl")
    if not os.path.exists(path):
        sys.exit(f"verdicts.py: there is no {path}")
    lines, _ = read_lines(path)
    found = groups(lines, lambda line: line["record"])
    rounds = lines[0]["rounds"] if lines else 0
    loads = sorted(line["load"] for line in lines if "load" in line)
    bad = False
    for record, text in (("same", "A/A: glibc beside glibc"),
                         ("planted", "planted: 10 % time, 5 % memory")):
        if record in found:
            print(f"\n{text}, {len(found[record])} matrices of {rounds} rounds; [ ]: exact 95 %\n")
        if record == "same" and record in found:
            bad = same_table(found[record])
        elif record in found:
            planted_table(found[record], found.get("calibrated", []), rounds)
    if loads:
        print(f"\nload of the machine before a matrix: {statistics.median(loads):.1f} "
              f"(median; {loads[0]:.1f} to {loads[-1]:.1f})")
    for line in found.get("failed", []):
        print(f"failed and not counted: {line['of']}: {line['message']}")
    return 1 if bad else 0
