"""The experiment of Isozaki, Kato and Ueno (2008): accuracy of parameters learned from few rows, on seven tables.

python -m benchmarks.papers.mfe                       20 draws, TAN; under a minute
python -m benchmarks.papers.mfe --structure pc        the paper's kind of structure: general, by the PC algorithm; minutes
python -m benchmarks.papers.mfe --structure kdb       another structure learner, by its name
python -m benchmarks.papers.mfe --draws 3             a quick look

As in the paper, cut points and structure come from the whole training set, parameters from a small sample of it, and
accuracy from the test set; the sizes of all three are the paper's. Its structures are general augmented naive Bayes by a PC
algorithm whose thresholds it does not tell; here they are those of a learner that is chosen. A table that has a usual split keeps it; others are split anew in
every draw.

The authors "added a small positive number (0.0001) to all conditional frequencies". Tempered frequencies and those with
pseudo-counts do not care whether the sum is then brought back to one; plain relative frequencies (ML) do, since a parent
configuration never seen has frequencies zero: divided by their sum, every value gets 1/r, whatever the class; not divided,
0.0001, which counts against classes never seen in it. Both are shown; claims are judged by the first, which are
probabilities.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as a script: make the package importable, not its modules as top-level ones
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import numpy as np
from numpy.typing import NDArray

from benchmarks import tables
from benchmarks.report import print_columns

ADDED = 1e-4


@dataclass(frozen=True)
class Sizes:
    """Rows to learn cut points and structure from, to test on, and to learn parameters from."""

    train: int
    test: int
    sample: int


#: Table 1 of the paper, and the samples that its text names.
TABLES = {
    "car": Sizes(1000, 500, 100),
    "chess": Sizes(2130, 1066, 250),
    "letter": Sizes(15000, 5000, 1000),
    "nursery": Sizes(8640, 4320, 250),
    "satimage": Sizes(4435, 2000, 250),
    "segment": Sizes(1540, 770, 100),
    "shuttle-small": Sizes(3866, 1934, 100),
}

#: Values of n_c that are tried, as in figures 3 and 4; the defaults; and the ranges that table 3 recommends.
GRIDS = {
    "linear": (0.1, 0.2, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 10.0),
    "log": (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0),
}
DEFAULTS = {"linear": 1.0, "log": 2.0}
RANGES = {"linear": (1.0, 1.5), "log": (2.0, 4.0)}

ML, ML_NOT_DIVIDED = "ML", "ML, not divided"
BAYES = {f"Bayes {alpha:g}": alpha for alpha in (0.5, 1.0, 10.0)}

Accuracies = dict[str, NDArray[np.float64]]  # of every draw, by method


def mfe(degrees: str, n_c: float) -> str:
    """Name of a tempered method."""
    return f"MFE {degrees} {n_c:g}"


@dataclass(frozen=True)
class Coded:
    """A table as codes, with the structure found in its training set."""

    X: NDArray[np.int8]
    y: NDArray[np.intp]
    sizes: list[int]
    n_classes: int
    parents: list[list[int]]

    def fitted(self, parameters: Any, rows: NDArray[np.intp]) -> Any:
        """Learn parameters of the known structure from some rows; values and classes they lack are known, too."""
        import tanager as tg

        arcs = [(parent, child) for child, found in enumerate(self.parents) for parent in found]
        structure = tg.structure.FixedStructure(arcs)
        clf = tg.BayesNetClassifier(structure, parameters, categories=[list(range(r)) for r in self.sizes])
        return clf.partial_fit(self.X[rows], self.y[rows], classes=range(self.n_classes))


def coded(name: str, structure: str, train: NDArray[np.intp]) -> Coded:
    """Cut numbers and learn the structure, both by the training rows."""
    import tanager as tg

    cells, schema = tables.read(name), tables.schema(name)
    y = np.array([schema["class"].index(label) for label in cells[:, -1]])
    if schema["numeric"]:
        numbers = cells[:, :-1].astype(np.float64)
        cutter = tg.MDLPDiscretizer().fit(numbers[train], y[train])
        X = np.asarray(cutter.transform(numbers)).astype(np.int8)
        sizes = [int(r) + 1 for r in X.max(axis=0)]
    else:
        values = list(schema["nominal"].values())
        X = np.array([[v.index(c) for v, c in zip(values, row, strict=True)] for row in cells[:, :-1]], dtype=np.int8)
        sizes = [len(v) for v in values]
    clf = tg.BayesNetClassifier(structure, categories=[list(range(r)) for r in sizes]).fit(X[train], y[train])
    features = clf.network_.feature_names
    parents = [[features.index(p) for p in clf.network_.parents(f) if p in features] for f in features]
    return Coded(X, y, sizes, len(schema["class"]), parents)


def frequencies_accuracy(
    table: Coded, rows: NDArray[np.intp], test: NDArray[np.intp], added: float, divided: bool
) -> float:
    """Accuracy of relative frequencies to which a number was added, divided by their new sum or not."""

    def logs(counts: NDArray[np.float64]) -> NDArray[np.float64]:  # [configuration][value][class]
        totals = counts.sum(axis=1, keepdims=True)
        frequencies = counts / np.where(totals > 0, totals, 1) + added
        return np.asarray(np.log(frequencies / (frequencies.sum(axis=1, keepdims=True) if divided else 1)))

    classes = np.bincount(table.y[rows], minlength=table.n_classes).astype(float)
    joint = np.tile(logs(classes[None, :, None])[0, :, 0], (len(test), 1))
    for feature, parents in enumerate(table.parents):
        configuration = np.zeros(len(table.y), dtype=np.intp)
        for parent in parents:
            configuration = configuration * table.sizes[parent] + table.X[:, parent]
        n = int(np.prod([table.sizes[p] for p in parents], dtype=int))
        counts = np.zeros((n, table.sizes[feature], table.n_classes))
        np.add.at(counts, (configuration[rows], table.X[rows, feature], table.y[rows]), 1.0)
        joint += logs(counts)[configuration[test], table.X[test, feature]]
    return float(np.mean(joint.argmax(axis=1) == table.y[test]))


def judge(name: str, structure: str, draws: int, seed: int) -> Accuracies:
    """Accuracy in percent of every method in every draw."""
    from tanager import parameters as pr

    methods: dict[str, Any] = {label: pr.Dirichlet(alpha=alpha) for label, alpha in BAYES.items()}
    for degrees, grid in GRIDS.items():
        methods.update({mfe(degrees, n_c): pr.DataTemperature(degrees, n_c, ADDED) for n_c in grid})
    sizes, usual = TABLES[name], "train_rows" in tables.schema(name)
    rng = np.random.default_rng(seed)
    n_rows = len(tables.read(name))
    found: dict[str, list[float]] = {label: [] for label in (ML, ML_NOT_DIVIDED, *methods)}
    table: Coded | None = None
    for _ in range(draws):
        order = np.arange(n_rows) if usual else rng.permutation(n_rows)
        train, test = order[: sizes.train], order[sizes.train : sizes.train + sizes.test]
        if table is None or not usual:
            table = coded(name, structure, train)
        rows = rng.choice(train, sizes.sample, replace=False)
        for label, parameters in methods.items():
            predicted = table.fitted(parameters, rows).predict(table.X[test])
            found[label].append(float(np.mean(predicted == table.y[test])))
        found[ML].append(frequencies_accuracy(table, rows, test, ADDED, divided=True))
        found[ML_NOT_DIVIDED].append(frequencies_accuracy(table, rows, test, ADDED, divided=False))
    return {label: 100 * np.array(values) for label, values in found.items()}


def mean_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean over draws, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def pooled(values: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """Mean over tables, and its standard error by the draws within them."""
    means, errors = zip(*map(mean_error, values), strict=True)
    return float(np.mean(means)), float(np.sqrt(np.sum(np.square(errors))) / len(means))


def print_accuracies(results: dict[str, Accuracies]) -> None:
    labels = [ML, ML_NOT_DIVIDED, *BAYES, *(mfe(degrees, n_c) for degrees, n_c in DEFAULTS.items())]
    lines: list[list[str]] = [["", *labels]]
    for name, found in results.items():
        lines.append([name, *("{:.1f} ± {:.1f}".format(*mean_error(found[label])) for label in labels)])
    lines.append(
        ["mean", *("{:.2f} ± {:.2f}".format(*pooled([f[label] for f in results.values()])) for label in labels)]
    )
    print("\nAccuracy in percent, mean over draws ± standard error\n")
    print_columns(lines, "l" + "r" * len(labels))


def print_grid(results: dict[str, Accuracies], degrees: str) -> float:
    """Print accuracy over the grid, and return the least share of the best one within the recommended range."""
    grid, (low, high) = GRIDS[degrees], RANGES[degrees]
    lines = [["", *(f"{n_c:g}" for n_c in grid), ">= 95 % of the best"]]
    least = np.inf
    for name, found in results.items():
        means = np.array([found[mfe(degrees, n_c)].mean() for n_c in grid])
        shares = means / means.max()
        good = [n_c for n_c, share in zip(grid, shares, strict=True) if share >= 0.95]
        least = min(least, *(share for n_c, share in zip(grid, shares, strict=True) if low <= n_c <= high))
        lines.append([name, *(f"{mean:.1f}" for mean in means), f"{min(good):g} to {max(good):g}"])
    overall = [np.mean([found[mfe(degrees, n_c)].mean() for found in results.values()]) for n_c in grid]
    lines.append(["mean", *(f"{mean:.2f}" for mean in overall), ""])
    print(f"\nMFE {degrees}: accuracy by n_c\n")
    print_columns(lines, "l" + "r" * (len(grid) + 1))
    return float(least)


def print_verdicts(results: dict[str, Accuracies], shares: dict[str, float]) -> None:
    """Say of every claim whether it holds."""
    print("\nClaims")

    def verdict(holds: bool, text: str) -> None:
        print(f"  {'holds' if holds else 'DOES NOT HOLD'}: {text}")

    for degrees, n_c in DEFAULTS.items():
        own = mfe(degrees, n_c)
        for label, least in ((ML, 1.0), ("Bayes 10", 3.0)):
            gain, error = pooled([found[own] - found[label] for found in results.values()])
            verdict(gain > least, f"{own} is above {label} by more than {least:g}: {gain:+.2f} ± {error:.2f}")
        gain, error = pooled([found[own] - found["Bayes 1"] for found in results.values()])
        verdict(abs(gain) <= 1, f"{own} is level with Bayes 1 (within one point): {gain:+.2f} ± {error:.2f}")
        low, high = RANGES[degrees]
        text = f"MFE {degrees} keeps 95 % of its best accuracy on every table for n_c from {low:g} to {high:g}"
        verdict(shares[degrees] >= 0.95, f"{text}: {100 * shares[degrees]:.1f} %")
    gains = {name: mean_error(found[ML_NOT_DIVIDED] - found[ML])[0] for name, found in results.items()}
    name = max(gains, key=lambda key: abs(gains[key]))
    mean = np.mean(list(gains.values()))
    print(f"  not dividing changes ML by {mean:+.2f} on average, and by {gains[name]:+.1f} on {name}")
    for degrees, n_c in DEFAULTS.items():
        gain, error = pooled([found[mfe(degrees, n_c)] - found[ML_NOT_DIVIDED] for found in results.values()])
        print(f"  {mfe(degrees, n_c)} over ML that is not divided: {gain:+.2f} ± {error:.2f}")


def main(arguments: list[str] | None = None) -> int:
    """Run the experiment."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.mfe", description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=20, help="samples per table (default: 20)")
    parser.add_argument("--structure", default="tan", help="name of a structure learner (default: tan)")
    parser.add_argument("--seed", type=int, default=0, help="seed of splits and samples (default: 0)")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    results = {name: judge(name, options.structure, options.draws, options.seed) for name in TABLES}
    print(f"structure {options.structure}, {options.draws} draws, {ADDED:g} added to all relative frequencies")
    print_accuracies(results)
    shares = {degrees: print_grid(results, degrees) for degrees in GRIDS}
    print_verdicts(results, shares)
    print(f"\n{time.perf_counter() - start:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
