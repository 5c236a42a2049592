"""The trees or the score? All rooted trees over the first five positions of every dataset, scored without the library.

NumPy computes the conditional log-likelihood (CLL) of the training rows, the log-likelihood and the aCLL of each of the 625 trees
from their definitions (equations 25, 26 and 28 of the paper). Only the constants come from tanager; they are tested separately.
This shows whether tanager's trees are the best under either score and have the CLL that it reports, and, independently of the
learner, how well either score ranks trees by CLL. The last columns measure the approximation itself: the correlation over rows
between ln P(class | row) and its approximation, in the assumed distributions and in the best trees of these datasets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from experiments.acll import experiment as acll
from experiments.acll.experiment import DIRICHLET, LL, PSEUDO_COUNTS, ROWS, THREE, TWO, UNIFORM
from experiments.page import Page
from experiments.runner import Floats, Part, Results

VERSION = 1
POSITIONS, BLOCK, DRAWN = 5, 10, 100_000
#: Differences of sums of a thousand logarithms that are due to rounding.
TOLERANCE = 1e-8
SHORT, CLL_OFF, ORDER, PLACE, CORRELATION = "below the best", "CLL off", "order", "place", "correlation"
ASSUMED = "assumed"

Parents = tuple[int, ...]  # of every position; -1: none


def rooted_trees(n: int) -> list[Parents]:
    """Return all rooted trees over n positions, as acyclic tuples of parents with one root."""

    def is_tree(parents: Parents) -> bool:
        for start in range(n):
            at, steps = start, 0
            while parents[at] >= 0 and steps <= n:
                at, steps = parents[at], steps + 1
            if steps > n:
                return False
        return parents.count(-1) == 1

    return [found for found in product(range(-1, n), repeat=n) if is_tree(found)]


def counted(X: NDArray[Any], y: NDArray[Any], child: int, parent: int, n_classes: int) -> Floats:
    """Return counts [value of the parent][value of the child][class]; without a parent the first axis has length one."""
    counts = np.zeros((4 if parent >= 0 else 1, 4, n_classes))
    np.add.at(counts, (X[:, parent] if parent >= 0 else 0, X[:, child], y), 1.0)
    return counts


def log_likelihood(counts: Floats) -> float:
    """Return the sum of N ln(N / sum over values of N)."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return float((counts * np.log(np.where(counts > 0, shares, 1))).sum())


def acll_term(counts: Floats, beta: float) -> float:
    """Return a family's term of equation 28."""
    weights = (1 + beta) * counts + beta * (counts.sum(axis=-1, keepdims=True) - counts)
    clipped = np.maximum(weights, PSEUDO_COUNTS)
    return float((weights * np.log(clipped / clipped.sum(axis=1, keepdims=True))).sum())


def constants(n_classes: int) -> dict[str, tuple[float, float]]:
    import tanager as tg

    return {
        UNIFORM: tuple(tg.acll_constants(n_classes, "uniform")),
        DIRICHLET: tuple(tg.acll_constants(n_classes, "dirichlet", b=ROWS)),
    }


def correlation(logs: Floats, truth: NDArray[Any], beta: float) -> float:
    """Return the correlation of ln P(class | row) with alpha ln P(class, row) + beta sum over other classes ln P(class', row)."""
    own = logs[np.arange(len(truth)), truth]
    exact = own - np.logaddexp.reduce(logs, axis=1)
    return float(np.corrcoef(exact, own + beta * logs.sum(axis=1))[0, 1])


class Families:
    """Scores and log-probabilities by row and class, for every position with every parent or without one."""

    def __init__(self, X: NDArray[Any], y: NDArray[Any], n_classes: int) -> None:
        betas = {score: beta for score, (beta, _) in constants(n_classes).items()}
        classes = np.bincount(y, minlength=n_classes).astype(float)
        self.class_logs = np.log((classes + PSEUDO_COUNTS) / (classes + PSEUDO_COUNTS).sum())
        self.scores: dict[str, Floats] = {s: np.zeros((POSITIONS, POSITIONS + 1)) for s in (LL, *betas)}
        self.logs = np.zeros((POSITIONS, POSITIONS + 1, len(y), n_classes))  # no parent: index -1, the last
        for child in range(POSITIONS):
            for parent in (p for p in range(-1, POSITIONS) if p != child):
                counts = counted(X, y, child, parent, n_classes)
                self.scores[LL][child, parent] = log_likelihood(counts)
                for score, beta in betas.items():
                    self.scores[score][child, parent] = acll_term(counts, beta)
                smoothed = counts + PSEUDO_COUNTS
                table = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
                self.logs[child, parent] = table[X[:, parent] if parent >= 0 else 0, X[:, child]]
        self.y = y

    def joint(self, tree: Parents) -> Floats:
        """Return ln P(class, row)."""
        return np.asarray(self.class_logs + sum(self.logs[child, parent] for child, parent in enumerate(tree)))

    def cll(self, tree: Parents) -> float:
        joint = self.joint(tree)
        return float((joint[np.arange(len(self.y)), self.y] - np.logaddexp.reduce(joint, axis=1)).sum())

    def score(self, score: str, tree: Parents) -> float:
        return float(sum(self.scores[score][child, parent] for child, parent in enumerate(tree)))


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: datasets with two and with three classes, ten at a time, and the assumed distributions."""
    n = acll.QUICK_TABLES if quick else acll.N_TABLES
    blocks = [tuple(range(k, min(k + BLOCK, n))) for k in range(0, n, BLOCK)]
    found = [
        Part("acll_trees", data, (LL, UNIFORM, DIRICHLET), block, sources=("make_tfbs",), seed=seed)
        for data in (TWO, THREE)
        for block in blocks
    ]
    return [*found, Part("acll_trees", ASSUMED, (UNIFORM, DIRICHLET), seed=seed)]


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    if part.data == ASSUMED:
        yield from assumed(part.random(0))
        return
    for index in part.splits:
        letters, labels = acll.table_of(part.data, index)
        letters = letters[:, :POSITIONS]
        X = np.searchsorted(np.array(list("ACGT")), letters)
        names, y = np.unique(labels, return_inverse=True)
        yield from evaluated(letters, labels, Families(X, y, len(names)), index)


def evaluated(letters: NDArray[Any], labels: NDArray[Any], families: Families, index: int) -> Iterator[Any]:
    """Return the position of tanager's trees among all trees, and how well each score ranks them."""
    import tanager as tg
    from tanager.evaluation import conditional_log_likelihood

    trees = rooted_trees(POSITIONS)
    cll = np.array([families.cll(tree) for tree in trees])
    for name, learner in acll.structures().items():
        scores = np.array([families.score(name, tree) for tree in trees])
        parameters = tg.parameters.Dirichlet(alpha=PSEUDO_COUNTS)
        clf = tg.BayesNetClassifier(learner, parameters, categories=[list("ACGT")] * POSITIONS).fit(letters, labels)
        features = clf.network_.feature_names
        arcs = {child: parent for parent, child in clf.network_.feature_arcs}
        tree = tuple(features.index(arcs[f]) if f in arcs else -1 for f in features)
        own = conditional_log_likelihood(labels, clf.predict_proba(letters))
        yield name, SHORT, index, scores.max() - families.score(name, tree)
        yield name, CLL_OFF, index, abs(own - families.cll(tree))
        yield name, PLACE, index, 100 * float((cll < families.cll(tree) - TOLERANCE).mean())
        yield name, ORDER, index, float(spearmanr(scores, cll).statistic)
    best = families.joint(trees[int(cll.argmax())])
    for name, (beta, _) in constants(best.shape[1]).items():
        yield name, CORRELATION, index, correlation(best, families.y, beta)


def assumed(rng: np.random.Generator) -> Iterator[tuple[str, str, int, float]]:
    """Return the correlations of the approximation under its assumptions."""
    from tanager.scores import dirichlet_sampler, uniform_sampler

    for n_classes in (2, 3):
        for name, draw in ((UNIFORM, uniform_sampler(n_classes)), (DIRICHLET, dirichlet_sampler(n_classes, b=ROWS))):
            logs = np.log(draw(rng, DRAWN))
            truth = np.zeros(DRAWN, dtype=np.intp)
            yield name, f"{n_classes} classes", 0, correlation(logs, truth, constants(n_classes)[name][0])


def summary(results: Results, data: str) -> dict[str, dict[str, float]]:
    """Return the means over datasets of every measure of every score, and the number of datasets."""
    found: dict[str, dict[str, float]] = {}
    for name in (LL, UNIFORM, DIRICHLET):
        short, off = (results.values(data, name, measure) for measure in (SHORT, CLL_OFF))
        found[name] = {
            "datasets": len(short),
            "best": int((short <= TOLERANCE).sum()),
            CLL_OFF: float(off.max()),
            PLACE: results.mean(data, name, PLACE),
            ORDER: results.mean(data, name, ORDER),
            CORRELATION: results.mean(data, name, CORRELATION),
        }
    return found


def report(results: Results, page: Page) -> None:
    page.heading("Check without the library", 3)
    page.text((__doc__ or "").partition("\n\n")[2])
    rows = []
    for data, classes in ((TWO, 2), (THREE, 3)):
        for name, found in summary(results, data).items():
            expected = results.mean(ASSUMED, name, f"{classes} classes")
            correlations = ["-", "-"] if name == LL else [f"{expected:.2f}", f"{found[CORRELATION]:.2f}"]
            cells = (
                f"{found['best']:.0f} of {found['datasets']:.0f}",
                f"{found[CLL_OFF]:.0e}",
                f"{found[PLACE]:.1f} %",
            )
            rows.append([data, name, *cells, f"{found[ORDER]:+.2f}", *correlations])
    header = (
        *("", "score", "tanager's tree is the best", "its CLL differs by at most"),
        *("trees with lower CLL", "rank correlation of score and CLL over trees"),
        *("approximation, as assumed", "in these datasets"),
    )
    page.table(header, rows, "llrrrrrr")
