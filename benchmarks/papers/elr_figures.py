"""Figures 8, 11 and 12 of Greiner, Su, Shen and Zhou (2005): structures that are too simple, and such that are too rich.

python -m benchmarks.papers.elr_figures                     everything
python -m benchmarks.papers.elr_figures --draws 3           a quick look
python -m benchmarks.papers.elr_figures --plot FOLDER       pictures, too

All variables are binary. In figure 8 the class and five features are those of equation 14, P(c) = 0.9, P(e|c) = 0.2 and
P(e|not c) = 0.8, except that the first m features are one and the same; 400 rows, of which (b) half of all cells are removed;
naive Bayes learns them. In figures 11 and 12 the truth is simpler than the model: (a) the class is the first of six features
(or agrees with it in 96 or 80 % of all rows), the others are coins, and naive Bayes learns it; (b) the truth is naive Bayes as
above, and a chain through all features learns it. In figure 12 a fifth of all cells is removed. Error rates are exact sums over
all rows there are, so that only the training rows are drawn.

ELR is shown twice: as in the paper, which stops after the median of the iterations with least error in five folds, and as
tanager does it by itself, by the likelihood of the rows held out. Claims are judged for both.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as a script: make the package importable, not its modules as top-level ones
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t, ttest_rel

from benchmarks.report import print_columns

Floats = NDArray[np.float64]
Errors = dict[str, Floats]  # of every draw, by method

PRIOR, GIVEN = 0.9, (0.8, 0.2)  # of the positive class; of a positive feature given the negative and the positive class
EQUAL = range(6)  # features that are the same, in figure 8: none or one, two, ..., five
FIGURE_8_ROWS, SIZES = 400, (10, 20, 30, 50, 100, 200)
CORRELATIONS = (1.0, 0.96, 0.8)
ELR, OWN = "ELR", "ELR (likelihood)"  # with the paper's stopping rule, and with tanager's
STYLES = {"OFE": "C0o-", "EM": "C0o-", "APN": "C1s--", ELR: "C3^-", OWN: "C2v-."}


class Truth:
    """A distribution over the class and k binary features, given as a table over all rows."""

    def __init__(self, joint: Mapping[tuple[int, ...], float]) -> None:
        self.rows = np.array([row[1:] for row in joint])
        self.classes = np.array([row[0] for row in joint])
        self.probabilities = np.array(list(joint.values()))

    def draw(self, rng: np.random.Generator, n: int, missing: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows at random; a missing cell is -1."""
        chosen = rng.choice(len(self.probabilities), n, p=self.probabilities)
        X = self.rows[chosen].copy()
        X[rng.random(X.shape) < missing] = -1
        return X, self.classes[chosen]

    def error(self, predicted: NDArray[Any]) -> float:
        """Percent of all rows that are predicted wrongly; one prediction for each of `rows`."""
        return 100 * float(self.probabilities[predicted != self.classes].sum())

    def best_error(self) -> float:
        """The least that any classifier can reach."""
        best: dict[tuple[int, ...], list[float]] = {}
        for row, label, p in zip(self.rows.tolist(), self.classes, self.probabilities, strict=True):
            best.setdefault(tuple(row), [0.0, 0.0])[label] += p
        return 100 * sum(min(pair) for pair in best.values())


def equal_features(m: int, k: int = 5) -> Truth:
    """Equation 14, where the first m features are one and the same."""
    joint: dict[tuple[int, ...], float] = {}
    for row in product((0, 1), repeat=k + 1):
        c, values = row[0], row[1:]
        p = PRIOR if c else 1 - PRIOR
        for i, value in enumerate(values):
            if 1 <= i < m:
                p *= value == values[0]
            else:
                p *= GIVEN[c] if value else 1 - GIVEN[c]
        if p > 0:
            joint[row] = p
    return Truth(joint)


def first_feature(agreement: float, k: int = 6) -> Truth:
    """The class agrees so often with the first feature; the others are coins."""
    joint: dict[tuple[int, ...], float] = {}
    for row in product((0, 1), repeat=k + 1):
        c, values = row[0], row[1:]
        p = (agreement if c == values[0] else 1 - agreement) * 0.5**k
        if p > 0:
            joint[row] = p
    return Truth(joint)


def learners(incomplete: bool) -> dict[str, Any]:
    from tanager import parameters as pr

    generative = {"APN": pr.APN(), "EM": pr.EM()} if incomplete else {"OFE": pr.Dirichlet()}
    return {**generative, ELR: pr.ELR(tune_by="error", tune_rule="median"), OWN: pr.ELR()}


def judge(truth: Truth, arcs: Sequence[tuple[int, int]], n: int, missing: float, draws: int, seed: int) -> Errors:
    """Error rates of all learners, each with the same training rows."""
    import tanager as tg

    found: dict[str, list[float]] = {}
    k = truth.rows.shape[1]
    for number in range(draws):
        rng = np.random.default_rng((seed, number, n))
        X, y = truth.draw(rng, n, missing)
        while len(np.unique(y)) < 2:
            X, y = truth.draw(rng, n, missing)
        cells = X.astype(object)
        cells[X < 0] = None
        for name, learner in learners(missing > 0).items():
            clf = tg.BayesNetClassifier(
                tg.structure.FixedStructure(list(arcs)), learner, categories=[[0, 1]] * k, random_state=number
            )
            found.setdefault(name, []).append(truth.error(clf.fit(cells, y).predict(truth.rows.astype(object))))
    return {name: np.array(values) for name, values in found.items()}


def beside(own: Floats, other: Floats) -> str:
    """How much the first is above the second, with a 95 % confidence interval and the p-value of a paired t-test."""
    difference = own - other
    if np.ptp(difference) == 0:
        return f"{difference.mean():+.2f} points in every draw"
    interval = t.ppf(0.975, len(difference) - 1) * difference.std(ddof=1) / np.sqrt(len(difference))
    p = float(ttest_rel(own, other, alternative="greater").pvalue)
    return f"{difference.mean():+.2f} ± {interval:.2f} points, p = {p:.2g}"


def print_curve(title: str, what: str, results: Mapping[Any, Errors], best: Mapping[Any, float]) -> None:
    """Print the mean error of every method at every point, with its standard error."""
    names = list(next(iter(results.values())))
    lines = [[what, *names, "Bayes"]]
    for point, errors in results.items():
        cells = [f"{e.mean():.2f} ± {e.std(ddof=1) / np.sqrt(len(e)):.2f}" for e in errors.values()]
        lines.append([str(point), *cells, f"{best[point]:.2f}"])
    print(f"\n{title}: error in percent\n")
    print_columns(lines, "l" + "r" * (len(names) + 1))


def plot_curves(folder: Path, name: str, title: str, what: str, panels: Mapping[str, tuple[Any, Any]]) -> None:
    """Write the panels of a figure, two side by side, as one picture as wide as a page."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    n_lines = (len(panels) + 1) // 2
    figure, grid = plt.subplots(n_lines, 2, figsize=(7.2, 0.6 + 2.7 * n_lines), layout="constrained", squeeze=False)
    for axes, (subtitle, (results, best)) in zip(grid.flat, panels.items(), strict=True):
        points = np.arange(len(results))
        methods = list(next(iter(results.values())))
        for k, method in enumerate(methods):
            errors = np.array([found[method] for found in results.values()])
            spread = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
            shift = 0.08 * (k - (len(methods) - 1) / 2)  # so that error bars do not hide each other
            axes.errorbar(
                points + shift, errors.mean(axis=1), spread, fmt=STYLES[method], label=method, ms=4, lw=1.2, capsize=2
            )
        axes.plot(points, list(best.values()), "k:", label="least possible")
        axes.set_xticks(points, [str(point) for point in results])
        axes.set_title(subtitle, fontsize=9)
        axes.set_ylim(bottom=-0.03 * axes.get_ylim()[1])
        axes.tick_params(labelsize=8)
        axes.grid(axis="y", alpha=0.3)
        axes.set_xlabel(what, fontsize=9)
        axes.set_ylabel("error in percent", fontsize=9)
        axes.legend(fontsize=7)
    figure.suptitle(title, fontsize=10)
    figure.savefig(folder / f"{name}.png", dpi=200)
    plt.close(figure)


def verdict(holds: bool, text: str) -> None:
    print(f"  {'holds' if holds else 'DOES NOT HOLD'}: {text}")


def figure_8(draws: int, seed: int, folder: Path | None) -> None:
    """Naive Bayes where features repeat each other."""
    truths = {m: equal_features(m) for m in EQUAL}
    best = {m: truth.best_error() for m, truth in truths.items()}
    panels = {}
    for part, missing in (("(a) complete", 0.0), ("(b) half of the cells missing", 0.5)):
        results = {m: judge(truth, [], FIGURE_8_ROWS, missing, draws, seed) for m, truth in truths.items()}
        panels[part] = (results, best)
        print_curve(f"Figure 8{part}", "equal features", results, best)
        if missing:
            continue
        ofe = results[5]["OFE"].mean()
        print()
        verdict(ofe > 18, f"at m = 5 the error of OFE is above 18 %: {ofe:.2f}")
        for name in (ELR, OWN):
            elr = results[5][name].mean()
            verdict(elr < 11, f"at m = 5 the error of {name} is below 11 %: {elr:.2f}")
            worst = max(errors[name].mean() - best[m] for m, errors in results.items())
            verdict(worst <= 0.6, f"{name} is within 0.6 of the Bayes error for all m: at most {worst:.2f} above")
    if folder:
        title = f"Figure 8: naive Bayes, {FIGURE_8_ROWS} rows, some of five features equal"
        plot_curves(folder, "figure-8", title, "equal features", panels)


def too_rich(number: int, missing: float, draws: int, seed: int, folder: Path | None) -> None:
    """Figures 11 and 12."""
    chain = [(i - 1, i) for i in range(1, 5)]
    studies: list[tuple[str, Truth, list[tuple[int, int]]]] = [
        (f"(a) naive Bayes; C = E1 in {100 * share:g} % of the rows", first_feature(share), [])
        for share in CORRELATIONS
    ]
    studies.append(("(b) a chain; the truth is naive Bayes", equal_features(0), chain))
    panels = {}
    for text, truth, arcs in studies:
        results = {n: judge(truth, arcs, n, missing, draws, seed) for n in SIZES}
        best = dict.fromkeys(SIZES, truth.best_error())
        panels[text] = (results, best)
        print_curve(f"Figure {number}{text}", "rows", results, best)
        print()
        pooled = {name: np.concatenate([errors[name] for errors in results.values()]) for name in results[SIZES[0]]}
        for method in (name for name in pooled if name not in (ELR, OWN)):
            for name in (ELR, OWN):
                holds = pooled[name].mean() >= pooled[method].mean()
                verdict(
                    holds, f"{method} is at least as good; above it, {name} is {beside(pooled[name], pooled[method])}"
                )
    if folder:
        cells = "complete rows" if not missing else f"{100 * missing:g} % of the cells missing"
        plot_curves(
            folder, f"figure-{number}", f"Figure {number}: models that are too rich, {cells}", "training rows", panels
        )


def main(arguments: list[str] | None = None) -> int:
    """Run the experiments."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.elr_figures", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--draws", type=int, default=20, help="training sets per point (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the training sets (default: 0)")
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="write pictures to this folder")
    options = parser.parse_args(arguments)
    if options.plot:
        options.plot.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure_8(options.draws, options.seed, options.plot)
        too_rich(11, 0.0, options.draws, options.seed, options.plot)
        too_rich(12, 0.2, options.draws, options.seed, options.plot)
    print(f"\n{options.draws} draws, {time.perf_counter() - start:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
