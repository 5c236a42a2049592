"""Isozaki, Kato and Ueno (2008): accuracy of parameters fitted on few rows, on seven datasets; tables 2, 3, figures 3, 4.

As in the paper, cut points and structure come from the full training set, parameters from a small sample of it, and
accuracy from the test set; the sizes of all three are the paper's. Its structures are general augmented naive Bayes by a PC
algorithm with unpublished thresholds; here they are those of ConstraintAugmented with its automatic thresholds, and
trees (TAN). To measure the effect of the density of a structure, the same with fewer parents and without any are included:
the paper's limit of five leaves four feature parents if the class, a parent of every feature, counts as one. A dataset with a
standard split keeps it; others are split at random in every repetition.

The authors "added a small positive number (0.0001) to all conditional frequencies". Whether frequencies are normalized
afterwards makes no difference for tempered frequencies and those with pseudo-counts, but it does for plain relative frequencies (ML),
because an unseen parent configuration has frequencies of zero: normalized, every value gets 1/r, whatever the class; otherwise
0.0001, which penalizes classes that were never seen with it. Both are shown; claims are evaluated with normalized frequencies,
which are probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import tables
from experiments.runner import Part, Results

VERSION = 2
ADDED = 1e-4


@dataclass(frozen=True)
class Sizes:
    """Number of rows for cut points and structure, for testing, and for parameters."""

    train: int
    test: int
    sample: int


#: Table 1 of the paper, and the sample sizes in its text.
TABLES = {
    "car": Sizes(1000, 500, 100),
    "chess": Sizes(2130, 1066, 250),
    "letter": Sizes(15000, 5000, 1000),
    "nursery": Sizes(8640, 4320, 250),
    "satimage": Sizes(4435, 2000, 250),
    "segment": Sizes(1540, 770, 100),
    "shuttle-small": Sizes(3866, 1934, 100),
}

#: Values of n_c as in figures 3 and 4; the defaults; and the ranges that table 3 recommends.
GRIDS = {
    "linear": (0.1, 0.2, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 10.0),
    "log": (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0),
}
DEFAULTS = {"linear": 1.0, "log": 2.0}
RANGES = {"linear": (1.0, 1.5), "log": (2.0, 4.0)}

#: Structures: the paper's kind, and trees; samples of a full run and of a quick one.
STRUCTURES = ("constraint-augmented", "tan")
DRAWS, SPARSER_DRAWS, QUICK_DRAWS, BLOCK = 20, 5, 3, 5
#: Structures that only measure the effect of density: maximum number of parents of the PC algorithm.
SPARSER = {f"constraint-augmented, {n} at most": n for n in (4, 3, 2, 1)} | {"naive": 0}
N_PARENTS = "parents"

#: Table 2 of the paper, for MFE with the best n_c.
PRINTED = {
    "car": (65.8, 74.4, 73.8, 70.2, 74.0, 74.0),
    "chess": (86.0, 88.6, 88.9, 86.1, 86.3, 86.0),
    "letter": (52.4, 62.2, 60.6, 52.0, 59.8, 60.6),
    "nursery": (66.2, 75.3, 76.5, 77.5, 76.7, 76.7),
    "satimage": (67.1, 64.2, 60.5, 52.7, 76.6, 76.8),
    "segment": (81.4, 80.2, 79.2, 69.7, 82.4, 82.4),
    "shuttle-small": (85.8, 97.9, 97.9, 86.6, 97.2, 97.4),
}
#: Table 3: values of n_c with at least 95 % of the best accuracy, linear and log.
PRINTED_RANGES = {
    "car": ("1 to 10", "2 to 10"),
    "chess": ("0.1 to 10", "0.5 to 10"),
    "letter": ("0.1 to 10", "0.5 to 10"),
    "nursery": ("1 to 10", "2 to 10"),
    "satimage": ("0.5 to 1.5", "2 to 5"),
    "segment": ("0.1 to 10", "0.5 to 10"),
    "shuttle-small": ("0.1 to 2", "0.5 to 4"),
}

ML, ML_NOT_DIVIDED = "ML", "ML, not divided"
BAYES = {f"Bayes {alpha:g}": alpha for alpha in (0.5, 1.0, 10.0)}


def mfe(degrees: str, n_c: float) -> str:
    """Return the name of a tempered method."""
    return f"MFE {degrees} {n_c:g}"


@dataclass(frozen=True)
class Coded:
    """An encoded dataset, with the structure found in its training set."""

    X: NDArray[np.int8]
    y: NDArray[np.intp]
    sizes: list[int]
    n_classes: int
    parents: list[list[int]]

    def fitted(self, parameters: Any, rows: NDArray[np.intp]) -> Any:
        """Fit parameters of the known structure on some rows, with all categories and classes of the dataset."""
        import tanager as tg

        arcs = [(parent, child) for child, found in enumerate(self.parents) for parent in found]
        structure = tg.structure.FixedStructure(arcs)
        clf = tg.BayesNetClassifier(structure, parameters, categories=[list(range(r)) for r in self.sizes])
        return clf.partial_fit(self.X[rows], self.y[rows], classes=range(self.n_classes))


def coded(name: str, structure: str, train: NDArray[np.intp]) -> Coded:
    """Discretize numbers and fit the structure, both on the training rows."""
    import tanager as tg

    cells, schema = tables.read(name), tables.schema(name)
    y = np.array([schema["class"].index(label) for label in cells[:, -1]])
    if schema["numeric"]:
        numbers = cells[:, :-1].astype(np.float64)
        discretizer = tg.MDLPDiscretizer().fit(numbers[train], y[train])
        X = np.asarray(discretizer.transform(numbers)).astype(np.int8)
        sizes = [int(r) + 1 for r in X.max(axis=0)]
    else:
        values = list(schema["nominal"].values())
        X = np.array([[v.index(c) for v, c in zip(values, row, strict=True)] for row in cells[:, :-1]], dtype=np.int8)
        sizes = [len(v) for v in values]
    learner = tg.structure.ConstraintAugmented(max_parents=SPARSER[structure]) if SPARSER.get(structure) else structure
    clf = tg.BayesNetClassifier(learner, categories=[list(range(r)) for r in sizes]).fit(X[train], y[train])
    features = clf.network_.feature_names
    parents = [[features.index(p) for p in clf.network_.parents(f) if p in features] for f in features]
    return Coded(X, y, sizes, len(schema["class"]), parents)


def frequencies_accuracy(
    table: Coded, rows: NDArray[np.intp], test: NDArray[np.intp], added: float, divided: bool
) -> float:
    """Return the accuracy of relative frequencies plus a constant, normalized or not."""

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


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: seven datasets, two kinds of structures."""
    names = ("car", "chess") if quick else tuple(TABLES)
    found = []
    for structure in (*STRUCTURES, *SPARSER):
        for name in names:
            draws = QUICK_DRAWS if quick else SPARSER_DRAWS if structure in SPARSER else DRAWS
            size = draws if structure in ("tan", "naive") else BLOCK
            for block in (range(k, min(k + size, draws)) for k in range(0, draws, size)):
                part = Part("mfe", name, (structure,), tuple(block), sources=(name,), seed=seed)
                found.append(part)
    return found


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    """Return the accuracy in percent of every method in every sample."""
    from tanager import parameters as pr

    methods: dict[str, Any] = {label: pr.Dirichlet(alpha=alpha) for label, alpha in BAYES.items()}
    for degrees, grid in GRIDS.items():
        methods.update({mfe(degrees, n_c): pr.DataTemperature(degrees, n_c, ADDED) for n_c in grid})
    (structure,) = part.methods
    sizes, standard = TABLES[part.data], "train_rows" in tables.schema(part.data)
    n_rows = len(tables.read(part.data))
    table: Coded | None = None
    for draw in part.splits:
        rng = part.random(draw)
        order = np.arange(n_rows) if standard else rng.permutation(n_rows)
        train, test = order[: sizes.train], order[sizes.train : sizes.train + sizes.test]
        if table is None or not standard:
            table = coded(part.data, structure, train)
        rows = rng.choice(train, sizes.sample, replace=False)
        yield N_PARENTS, structure, draw, float(np.mean([len(parents) for parents in table.parents]))
        for label, parameters in methods.items():
            predicted = table.fitted(parameters, rows).predict(table.X[test])
            yield label, structure, draw, 100 * float(np.mean(predicted == table.y[test]))
        for label, divided in ((ML, True), (ML_NOT_DIVIDED, False)):
            yield label, structure, draw, 100 * frequencies_accuracy(table, rows, test, ADDED, divided)


def mean_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean over samples and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def pooled(values: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """Return the mean over datasets and its standard error from the samples within them."""
    means, errors = zip(*map(mean_error, values), strict=True)
    return float(np.mean(means)), float(np.sqrt(np.sum(np.square(errors))) / len(means))


def differences(results: Results, structure: str, first: str, second: str) -> list[NDArray[np.float64]]:
    """Return the first method's accuracy minus the second's, by dataset and sample."""
    return [results.values(n, first, structure) - results.values(n, second, structure) for n in results.data()]
