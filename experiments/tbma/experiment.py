"""Cerquides and Lopez de Mantaras (2003): averages over all TANs and a single TAN, on sixteen datasets; tables 2 and 3.

Ten folds; the models are fitted on 10, 50 or 100 % of the training rows, the same for all classifiers. Numbers are discretized into five
bins of equal frequency on these rows; missing values are a separate category; categories and classes of the
full dataset are known. TAN+MS is the tree of Chow and Liu with multinomial sampling's parameters (lambda 10), TBMATAN the average
(lambda 10), SSTBMATAN the same with a stubbornness of 5. In addition to the paper, the single most probable tree
under TBMATAN's posterior shows how much of the gain is due to a better tree, and how much to averaging.

A difference is significant if a paired t-test over the ten folds has p < 0.05 (two-sided). The number of datasets with significant
differences depends on the folds; everything is repeated with ten random assignments of folds, and numbers of datasets are means over
these, also in the claims. Log loss, the paper's LogScore, is the mean over test rows of
-ln P(true class). The paper omitted TBMATAN on datasets of more than 5,000 rows because its arithmetic was too slow. Where the paper is
unclear: BREAST has 9 features here (10 in the paper, perhaps with the identifier), FLARE predicts the flares
of class M (four values, as in the paper), GLASS has its six classes (two in the paper), SOYBEAN all 683 rows (316 in the paper).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from benchmarks.harness import cut_tables
from experiments.page import Page
from experiments.paired import ROUNDING
from experiments.runner import Floats, Part, Results

VERSION = 3
#: The paper's names and ours. The paper does not name the class of flares that it predicts; only this one has four values.
TABLES = {
    "ADULT": "adult",
    "BREAST": "breast-all",
    "CAR": "car",
    "CHESS": "chess",
    "CLEVE": "cleve-all",
    "CRX": "crx-all",
    "FLARE": "flare-323-m",
    "GLASS": "glass",
    "HEP": "hep",
    "IRIS": "iris",
    "LETTER": "letter",
    "MUSHROOM": "mushroom",
    "NURSERY": "nursery",
    "PIMA": "pima",
    "SOYBEAN": "soybean",
    "VOTES": "vote",
}
SHARES = (0.1, 0.5, 1.0)
TBMATAN, SSTBMATAN, TAN, MAP = "TBMATAN", "SSTBMATAN", "TAN+MS", "MAP tree"
METHODS = (TBMATAN, SSTBMATAN, TAN, MAP)
ERROR, LOG_LOSS = "error rate", "log loss"
LAMBDA, STUBBORNNESS, LEVEL = 10.0, 5.0, 0.05

#: Tables 2 and 3 of the paper: number of datasets on which the first is significantly better than the second, by share.
PRINTED = {
    ERROR: {
        (TBMATAN, SSTBMATAN): (1, 1, 1),
        (TBMATAN, TAN): (5, 5, 3),
        (SSTBMATAN, TBMATAN): (2, 2, 1),
        (SSTBMATAN, TAN): (8, 8, 4),
        (TAN, TBMATAN): (0, 0, 1),
        (TAN, SSTBMATAN): (1, 2, 2),
    },
    LOG_LOSS: {
        (TBMATAN, SSTBMATAN): (1, 1, 4),
        (TBMATAN, TAN): (11, 7, 5),
        (SSTBMATAN, TBMATAN): (7, 7, 6),
        (SSTBMATAN, TAN): (14, 11, 6),
        (TAN, TBMATAN): (0, 0, 2),
        (TAN, SSTBMATAN): (2, 3, 4),
    },
}

NAMES = {ours: printed for printed, ours in TABLES.items()}
FOLDS, REPEATS = 10, 10
QUICK_TABLES = ("breast-all", "car", "hep", "iris", "vote")
raw = cache(cut_tables.raw)


@dataclass(frozen=True)
class Split:
    """Training rows, test rows, and all rows as codes."""

    X: NDArray[np.int8]
    n_values: list[int]
    y: NDArray[np.int8]
    n_classes: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]

    def fitted(self, clf: Any) -> Any:
        """Fit with all categories and classes of the dataset."""
        clf.set_params(categories=[list(range(r)) for r in self.n_values])
        return clf.partial_fit(self.X[self.train], self.y[self.train], classes=range(self.n_classes))

    def log_posteriors(self) -> dict[str, Floats]:
        """Return ln P(class | row) of the test rows by method."""
        import tanager as tg

        parameters = tg.parameters.Dirichlet(equivalent_sample_size=LAMBDA)
        single = self.fitted(tg.BayesNetClassifier(tg.structure.ChowLiu(), parameters))
        average = self.fitted(tg.TBMATANClassifier(LAMBDA))
        stubborn = self.fitted(tg.TBMATANClassifier(LAMBDA, stubbornness=STUBBORNNESS))
        rows = self.X[self.test]
        found = {m: c.predict_log_proba(rows) for m, c in ((TBMATAN, average), (SSTBMATAN, stubborn), (TAN, single))}
        arcs = average.posterior_.map_tree.feature_arcs
        names = average.posterior_.feature_names
        positions = [(names.index(parent), names.index(child)) for parent, child in arcs]
        best = self.fitted(tg.BayesNetClassifier(tg.structure.FixedStructure(positions), parameters))
        return {**found, MAP: best.predict_log_proba(rows)}


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: sixteen datasets, three shares, ten assignments of folds."""
    return [
        Part("tbma", name, METHODS, tuple(range(FOLDS * r, FOLDS * (r + 1))), share, sources=(name,), seed=seed)
        for name in (QUICK_TABLES if quick else TABLES.values())
        for share in SHARES
        for r in range(1 if quick else REPEATS)
    ]


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    """Return the error rate and the log loss of every method in every fold."""
    from sklearn.model_selection import StratifiedKFold

    table = raw(part.data)
    first = part.splits[0]
    seed = int(part.random(-1 - first).integers(2**31))  # of the folds
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(table.codes, table.y)
    for fold, (rest, test) in enumerate(folds, start=first):
        order = part.random(fold).permutation(rest)
        train = order[: max(1, round(part.fraction * len(order)))]
        X, n_values = table.cut(train)
        split = Split(X, n_values, table.y, table.n_classes, train, test)
        truth = table.y[test]
        for method, logs in split.log_posteriors().items():
            yield method, LOG_LOSS, fold, float(-logs[np.arange(len(test)), truth].mean())
            yield method, ERROR, fold, float(np.mean(logs.argmax(axis=1) != truth))


def significantly_lower(results: Results, name: str, measure: str, first: str, second: str, share: float) -> Floats:
    """Whether the first method is significantly lower (paired t-test over folds), for every assignment of folds."""
    both = (results.values(name, method, measure, fraction=share).reshape(-1, FOLDS) for method in (first, second))
    difference = np.subtract(*both)
    mean, error = difference.mean(axis=1), difference.std(axis=1, ddof=1) / np.sqrt(FOLDS)
    return np.asarray((mean < -ROUNDING) & (mean < -t.ppf(1 - LEVEL / 2, FOLDS - 1) * error))


def wins(results: Results, measure: str, first: str, second: str) -> Floats:
    """Return the number of datasets on which the first method is significantly better, by share and assignment of folds."""
    return np.array(
        [
            np.sum([significantly_lower(results, n, measure, first, second, share) for n in results.data()], axis=0)
            for share in SHARES
        ]
    )


def shown_counts(counts: Floats) -> str:
    """Return the mean number of datasets, and its range."""
    low, high = int(counts.min()), int(counts.max())
    return f"{counts.mean():.1f} ({low} to {high})" if high > low else f"{low}"


def gains(results: Results, measure: str, method: str) -> tuple[float, ...]:
    """Return by how many percent a method's mean over datasets is better than that of TAN+MS, by share."""

    def mean(which: str, share: float) -> float:
        return float(np.mean([results.mean(name, which, measure, fraction=share) for name in results.data()]))

    return tuple(100 * (1 - mean(method, share) / mean(TAN, share)) for share in SHARES)


def measures(page: Page, results: Results, share: float) -> None:
    """Add the means over folds of one share."""
    columns = [(method, measure) for measure in (ERROR, LOG_LOSS) for method in METHODS]

    def shown(values: list[float]) -> list[str]:
        half = len(METHODS)
        return [*(f"{100 * value:.2f}" for value in values[:half]), *(f"{value:.4f}" for value in values[half:])]

    found = {n: [results.mean(n, *column, fraction=share) for column in columns] for n in results.data()}
    rows = [[NAMES[name], *shown(values)] for name, values in found.items()]
    rows.append(["mean", *shown(np.mean(list(found.values()), axis=0).tolist())])
    page.text(f"Error rate in percent, then log loss, fitted on {100 * share:g} % of the training rows")
    page.table(["", *METHODS, *METHODS], rows)


def table_of_wins(page: Page, results: Results, measure: str, number: int) -> None:
    """Add a table of the paper, with its figures in parentheses."""
    rows = []
    for first in METHODS:
        cells = []
        for second in METHODS:
            printed = PRINTED[measure].get((first, second))
            beside = f" ({' '.join(map(str, printed))})" if printed else ""
            counts = " ".join(f"{count:.1f}" for count in wins(results, measure, first, second).mean(axis=1))
            cells.append("-" if first == second else counts + beside)
        rows.append([first, *cells])
    page.text(
        f"Table {number}: number of the {len(results.data())} datasets on which the row has a significantly lower {measure} than the column, "
        f"at {', '.join(f'{100 * share:g} %' for share in SHARES)} of the rows; the paper's, of 16, in parentheses"
    )
    page.table(["", *METHODS], rows)


def claims(page: Page, results: Results) -> None:
    """Evaluate every claim."""
    line = "TBMA, tables 2 and 3"
    for method in (TBMATAN, SSTBMATAN):
        for k in (0, 1):
            at = f"at {100 * SHARES[k]:g} %"
            for measure, number in ((ERROR, 2), (LOG_LOSS, 3)):
                better, worse = wins(results, measure, method, TAN)[k], wins(results, measure, TAN, method)[k]
                paper = f"{PRINTED[measure][method, TAN][k]} and {PRINTED[measure][TAN, method][k]}"
                ours = f"{shown_counts(better)} and {shown_counts(worse)}"
                met = better.mean() > worse.mean()
                what = f"table {number}: {method} wins more than it loses, {measure} {at}"
                if measure == LOG_LOSS:
                    what = (
                        f"table {number}: {method} better than TAN+MS on 6 or more, worse on 2 or fewer, {measure} {at}"
                    )
                    met = better.mean() >= 6 and worse.mean() <= 2
                page.claim(line, what, paper, ours, bool(met), why_not(results, method, measure, k))
        for measure, number in ((ERROR, 2), (LOG_LOSS, 3)):
            gain = gains(results, measure, method)
            ours = ", ".join(f"{g:.1f} %" for g in gain)
            what = f"table {number}: {method} gains more with fewer rows, {measure} at 10, 50, 100 %"
            paper = "about 10 % overall" if measure == ERROR else "slightly more than 10 % overall"
            page.claim(line, what, paper, ours, gain[0] > gain[1] > gain[2])
    for measure, number in ((ERROR, 2), (LOG_LOSS, 3)):
        tree, average = gains(results, measure, MAP), gains(results, measure, TBMATAN)
        ours = ", ".join(f"{t:.1f} of {a:.1f} %" for t, a in zip(tree, average, strict=True))
        what = f"table {number}: gain of the single most probable tree out of TBMATAN's, {measure} at 10, 50, 100 %"
        page.claim(line, what, "not shown", ours, None, "beyond the paper")


def why_not(results: Results, method: str, measure: str, k: int) -> str:
    """Return the datasets where the average is worse than the tree, in how many assignments of folds, and the paper's number."""
    off = {
        NAMES[n]: int(significantly_lower(results, n, measure, TAN, method, SHARES[k]).sum()) for n in results.data()
    }
    named = ", ".join(f"{name} ({count})" for name, count in off.items() if count)
    repeats = len(results.values(results.data()[0], method, measure, fraction=SHARES[k])) // FOLDS
    paper = PRINTED[measure][TAN, method][k]
    return (
        f"at {100 * SHARES[k]:g} % {method} is significantly worse than TAN+MS on {named} (in this many of {repeats} "
        f"assignments of folds); the paper reports {paper} datasets"
    )


def report(results: Results, page: Page) -> None:
    page.heading("Averages over all trees (Cerquides and López de Màntaras, 2003)")
    page.text((__doc__ or "").partition("\n\n")[2])
    for share in SHARES:
        measures(page, results, share)
    for number, measure in enumerate((ERROR, LOG_LOSS), start=2):
        table_of_wins(page, results, measure, number)
    claims(page, results)
