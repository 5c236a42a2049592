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
from scipy.stats import ttest_rel

from benchmarks.report import print_columns

Floats = NDArray[np.float64]
Errors = dict[str, Floats]  # of every draw, by method

PRIOR, GIVEN = 0.9, (0.8, 0.2)  # of the positive class; of a positive feature given the negative and the positive class
EQUAL = range(6)  # features that are the same, in figure 8: none or one, two, ..., five
FIGURE_8_ROWS, SIZES = 400, (10, 20, 30, 50, 100, 200)
CORRELATIONS = (1.0, 0.96, 0.8)
LEVEL = 0.05


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
    return {**generative, "ELR": pr.ELR()}


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


def p_value(better: Floats, worse: Floats) -> float:
    """One-sided paired t-test that the first has the lower error."""
    if np.ptp(better - worse) == 0:
        return 0.5 if better.mean() == worse.mean() else float(better.mean() > worse.mean())
    return float(ttest_rel(better, worse, alternative="less").pvalue)


def print_curve(title: str, what: str, results: Mapping[Any, Errors], best: Mapping[Any, float]) -> None:
    """Print the mean error of every method at every point, with its standard error."""
    names = list(next(iter(results.values())))
    lines = [[what, *names, "Bayes"]]
    for point, errors in results.items():
        cells = [f"{e.mean():.2f} ± {e.std(ddof=1) / np.sqrt(len(e)):.2f}" for e in errors.values()]
        lines.append([str(point), *cells, f"{best[point]:.2f}"])
    print(f"\n{title}: error in percent\n")
    print_columns(lines, "l" + "r" * (len(names) + 1))


def plot_curve(
    folder: Path, name: str, title: str, what: str, results: Mapping[Any, Errors], best: Mapping[Any, float]
) -> None:
    """Write the curves as a picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for method in next(iter(results.values())):
        means = [errors[method].mean() for errors in results.values()]
        spread = [errors[method].std(ddof=1) / np.sqrt(len(errors[method])) for errors in results.values()]
        axes.errorbar(list(results), means, spread, label=method, capsize=2)
    axes.plot(list(best), list(best.values()), "k:", label="Bayes")
    axes.set(title=title, xlabel=what, ylabel="error in percent")
    axes.legend()
    figure.savefig(folder / f"{name}.svg", bbox_inches="tight")
    plt.close(figure)


def verdict(holds: bool, text: str) -> None:
    print(f"  {'holds' if holds else 'DOES NOT HOLD'}: {text}")


def figure_8(draws: int, seed: int, folder: Path | None) -> None:
    """Naive Bayes where features repeat each other."""
    truths = {m: equal_features(m) for m in EQUAL}
    best = {m: truth.best_error() for m, truth in truths.items()}
    for part, missing in (("a", 0.0), ("b", 0.5)):
        results = {m: judge(truth, [], FIGURE_8_ROWS, missing, draws, seed) for m, truth in truths.items()}
        title = f"Figure 8({part}), {'complete' if not missing else 'half of the cells missing'}"
        print_curve(title, "equal features", results, best)
        if folder:
            plot_curve(folder, f"figure-8{part}", title, "equal features", results, best)
        if missing:
            continue
        ofe, elr = results[5]["OFE"].mean(), results[5]["ELR"].mean()
        print()
        verdict(ofe > 18, f"at m = 5 the error of OFE is above 18 %: {ofe:.2f}")
        verdict(elr < 11, f"at m = 5 the error of ELR is below 11 %: {elr:.2f}")
        worst = max(errors["ELR"].mean() - best[m] for m, errors in results.items())
        verdict(worst <= 0.6, f"ELR is within 0.6 of the Bayes error for all m: at most {worst:.2f} above")


def too_rich(number: int, missing: float, draws: int, seed: int, folder: Path | None) -> None:
    """Figures 11 and 12."""
    chain = [(i - 1, i) for i in range(1, 5)]
    studies: list[tuple[str, Truth, list[tuple[int, int]]]] = [
        (f"(a) model naive, the class agrees with E1 in {100 * share:g} % of the rows", first_feature(share), [])
        for share in CORRELATIONS
    ]
    studies.append(("(b) model a chain, truth naive", equal_features(0), chain))
    for i, (text, truth, arcs) in enumerate(studies):
        results = {n: judge(truth, arcs, n, missing, draws, seed) for n in SIZES}
        best = dict.fromkeys(SIZES, truth.best_error())
        title = f"Figure {number}{text}"
        print_curve(title, "rows", results, best)
        if folder:
            plot_curve(folder, f"figure-{number}-{i + 1}", title, "rows", results, best)
        print()
        for method in (name for name in next(iter(results.values())) if name != "ELR"):
            own = np.concatenate([errors[method] for errors in results.values()])
            elr = np.concatenate([errors["ELR"] for errors in results.values()])
            gap, worse = elr.mean() - own.mean(), p_value(elr, own)
            p = p_value(own, elr)
            verdict(
                gap >= 0 or worse >= LEVEL, f"{method} is no worse than ELR: {gap:+.2f} points, better with p = {p:.2g}"
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
