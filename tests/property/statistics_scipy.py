#!/usr/bin/python3
"""The statistics against scipy's and numpy's, and against whole numbers.

  statistics_scipy.py LIBRARY.so      random cases, the library against the oracles
  statistics_scipy.py --table         prints statistics_scipy.txt, which test_statistics_table.c reads

Exit: 0 equal, 1 not, or scipy is not here, 2 usage.
"""
import ctypes
import fractions
import math
import random
import sys
import time

try:
    import numpy
    import scipy
    import scipy.stats
except ImportError as error:
    print(f"statistics_scipy: {error}; scripts/install-deps brings python3-scipy")
    sys.exit(1)

# ---- oracles -------------------------------------------------------------------------------------


def ways_of(ranks):
    """How many of the ways to choose ranks have each sum: whole numbers, without any rounding."""
    ways = [1]
    for rank in ranks:
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    return ways


def interval(ratios, alpha):
    """Estimate, low, high, coverage; by all pairs and exact odds."""
    n = len(ratios)
    logs = numpy.log(ratios)
    means = numpy.sort(((logs[:, None] + logs[None, :]) / 2)[numpy.triu_indices(n)])
    ways, below, critical = ways_of(range(1, n + 1)), 0, 0
    while 2 * (below + ways[critical]) <= fractions.Fraction(alpha) * 2**n:
        below += ways[critical]
        critical += 1
    bounds = (math.nan, math.nan)
    if critical:
        bounds = math.exp(means[critical - 1]), math.exp(means[-critical])
    coverage = float(1 - fractions.Fraction(2 * below, 2**n)) if critical else 0.0
    return (math.exp(numpy.median(means)), *bounds, coverage)


def exact_p(ratios, center):
    """Two-sided, with ties and ones, by whole numbers over doubled ranks."""
    logs = numpy.log(numpy.array(ratios) / center)
    logs = logs[numpy.abs(logs) > 1e-9]
    if not len(logs):
        return 1.0
    ranks = [int(rank) for rank in 2 * scipy.stats.rankdata(numpy.round(numpy.abs(logs), 9))]
    ways, total = ways_of(ranks), sum(ranks)
    above = sum(rank for rank, log in zip(ranks, logs) if log > 0)
    least = min(above, total - above)
    return min(1.0, float(fractions.Fraction(2 * sum(ways[: least + 1]), 2 ** len(ranks))))


# ---- the table -----------------------------------------------------------------------------------

def draw(source, count, middle=1.03, spread=0.08, digits=5):
    return [round(middle * math.exp(source.gauss(0, spread)), digits) for _ in range(count)]


def has_ties(ratios, center):
    far = sorted(abs(math.log(ratio / center)) for ratio in ratios)
    return far[0] < 1e-9 or any(b - a < 1e-9 for a, b in zip(far, far[1:]))


def row(name, numbers, ratios):
    words = [f"{number:.17g}" if isinstance(number, float) else str(number) for number in numbers]
    lines, line = [], f"{name}({', '.join(words)}"
    for word in map(str, ratios):
        if len(line) + len(word) > 96:
            lines.append(line + ",")
            line = "    " + word
        else:
            line += ", " + word
    print("\n".join(lines + [line + ")"]))


def print_table():
    source = random.Random(1945)
    print(f"/* Printed by statistics_scipy.py --table; scipy {scipy.__version__}, numpy "
          f"{numpy.__version__}.\n *\n"
          " * SIGNED_RANK(p, center, ratios): scipy.stats.wilcoxon(log(ratios / center), exact).\n"
          " * WITH_TIES(p, center, ratios): whole numbers; scipy has no exact p for ties.\n"
          " * INTERVAL(alpha, estimate, low, high, coverage, ratios): all pairs, exact odds.\n"
          " * NORMAL(p, center, ratios): scipy.stats.wilcoxon, approx with correction. */")
    for count in (6, 8, 13, 20, 25, 40, 50):
        for center in (1.0, 1.05):
            ratios = draw(source, count)
            while has_ties(ratios, center):
                ratios = draw(source, count)
            logs = numpy.log(numpy.array(ratios) / center)
            row("SIGNED_RANK", (float(scipy.stats.wilcoxon(logs, mode="exact").pvalue), center),
                ratios)
    for count in (7, 15, 30, 60):
        ratios = draw(source, count, digits=2)
        row("WITH_TIES", (exact_p(ratios, 1.0), 1.0), ratios)
    for count, alpha in ((6, 0.05), (10, 0.05), (10, 0.01), (17, 0.01), (25, 0.05), (40, 0.001),
                         (64, 0.05), (100, 0.0033), (128, 0.05)):
        ratios = draw(source, count, digits=4)
        row("INTERVAL", (alpha, *interval(ratios, alpha)), ratios)
    for middle, spread, digits in ((1.01, 0.08, 5), (1.003, 0.02, 2)): # the second has ties
        ratios = [ratio for ratio in draw(source, 200, middle, spread, digits) if ratio != 1]
        logs = numpy.round(numpy.log(ratios), 11)
        row("NORMAL", (float(scipy.stats.wilcoxon(logs, mode="approx", correction=True).pvalue),
                       1.0), ratios)


# ---- the library ---------------------------------------------------------------------------------

class Interval(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("count", ctypes.c_uint32),
                *((name, ctypes.c_double) for name in ("estimate", "low", "high", "coverage"))]


class Library:
    def __init__(self, path):
        self.loaded = ctypes.CDLL(path)
        for name in ("signed_rank", "quantile", "cliff"):
            getattr(self.loaded, f"abench_{name}").restype = ctypes.c_double

    def hodges_lehmann(self, ratios, alpha):
        out = Interval(ctypes.sizeof(Interval))
        status = self.loaded.abench_hodges_lehmann(
            array(ratios), len(ratios), ctypes.c_double(alpha), ctypes.byref(out))
        if status != 0:
            sys.exit(f"statistics_scipy: abench_hodges_lehmann says {status}")
        return out.estimate, out.low, out.high, out.coverage

    def signed_rank(self, ratios, center):
        return self.loaded.abench_signed_rank(array(ratios), len(ratios), ctypes.c_double(center))

    def quantile(self, values, ppm):
        return self.loaded.abench_quantile(array(values), len(values), ppm)

    def cliff(self, a, b):
        return self.loaded.abench_cliff(array(a), len(a), array(b), len(b))


def array(values):
    return (ctypes.c_double * len(values))(*values)


def agree(what, mine, wanted, within):
    if math.isnan(mine) and math.isnan(wanted):
        return
    if not abs(mine - wanted) <= within * abs(wanted) + 1e-14:
        print(f"{what}: {mine!r}, and the oracle says {wanted!r}")
        sys.exit(1)


def compare_intervals(library, source):
    for _ in range(60):
        ratios = draw(source, source.randint(1, 128), digits=source.choice((2, 12)))
        alpha = 10 ** -source.uniform(0.5, 5)
        for name, mine, wanted in zip(("estimate", "low", "high", "coverage"),
                                      library.hodges_lehmann(ratios, alpha),
                                      interval(ratios, alpha)):
            agree(f"{name} of {len(ratios)} at {alpha}", mine, wanted, 1e-11)


def compare_p(library, source):
    for _ in range(60):
        count, center = source.randint(2, 60), source.uniform(0.9, 1.1)
        ratios = draw(source, count, digits=12)
        wanted = scipy.stats.wilcoxon(numpy.log(numpy.array(ratios) / center), mode="exact").pvalue
        agree(f"p of {count}", library.signed_rank(ratios, center), wanted, 1e-10)
    for _ in range(60):
        ratios = draw(source, source.randint(1, 128), digits=2)
        agree(f"p of {len(ratios)} with ties", library.signed_rank(ratios, 1.0),
              exact_p(ratios, 1.0), 1e-10)
    for _ in range(60):
        count, middle = source.randint(129, 400), source.uniform(0.98, 1.02)
        ratios = draw(source, count, middle, digits=source.choice((3, 12)))
        ratios = [ratio for ratio in ratios if ratio != 1]
        logs = numpy.round(numpy.log(ratios), 11)
        wanted = scipy.stats.wilcoxon(logs, mode="approx", correction=True).pvalue
        agree(f"normal p of {count}", library.signed_rank(ratios, 1.0), wanted, 1e-9)


def compare_values(library, source):
    for _ in range(100):
        a = draw(source, source.randint(1, 80), digits=source.choice((2, 12)))
        b = draw(source, source.randint(1, 80), 1.0, digits=source.choice((2, 12)))
        ppm = source.randint(0, 1000000)
        agree("quantile", library.quantile(a, ppm), float(numpy.quantile(a, ppm / 1e6)), 1e-12)
        wins = scipy.stats.mannwhitneyu(a, b, method="asymptotic").statistic
        agree("cliff", library.cliff(a, b), 2 * wins / (len(a) * len(b)) - 1, 1e-12)


def main():
    if sys.argv[1:] == ["--table"]:
        print_table()
        return
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.stderr.write(__doc__)
        sys.exit(2)
    seed = time.time_ns()
    print(f"scipy {scipy.__version__}, seed {seed}", flush=True)
    library, source = Library(sys.argv[1]), random.Random(seed)
    for comparison in (compare_intervals, compare_p, compare_values):
        comparison(library, source)


main()
