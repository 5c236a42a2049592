"""The experiment of Carvalho, Adão and Mateus (2013): which tree has the highest conditional log-likelihood (CLL).

python -m benchmarks.papers.acll                89 tables of two classes and of three, CLL of the training rows; a minute
python -m benchmarks.papers.acll --folds 10     CLL of rows left out, which the paper does not look at
python -m benchmarks.papers.acll --tables 10    a quick look

Optimal trees (TAN) under log-likelihood (LL) and under approximate conditional log-likelihood (aCLL), the latter with the
constants of the uniform and of the Dir(1, ..., 1, 1000) assumption and pseudo-counts of 5; then the CLL that each attains on
the rows it was learned from, and Wilcoxon's signed-rank test over the tables, with z, the one-sided p of the better one, and
an arrow that points to it, as in tables 1 and 2 of the paper.

The paper's 89 sets of binding sites (TRANSFAC) are not public; the program make_tfbs.py beside the other tables makes
stand-ins. For three classes every table gets the sites of the next one as a third class, and both are cut to the positions
that they share.

What parameters the trees have is not clear: estimates were "smoothed according to a Dirichlet prior" with a parameter of 5,
while aCLL comes with parameters of its own. All readings are shown: 5 added to every cell, 5 added to every table or to
every distribution in the proportions of the feature alone, the same for all trees; and for aCLL its own parameters.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as a script: make the package importable, not its modules as top-level ones
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from benchmarks import tables
from benchmarks.report import print_columns

LL, UNIFORM, DIRICHLET = "LL", "aCLL uniform", "aCLL Dirichlet"
#: Rows and columns of the paper's tables: which is compared with which.
PAIRS = ((DIRICHLET, LL), (DIRICHLET, UNIFORM), (UNIFORM, LL))
PSEUDO_COUNTS, ROWS = 5.0, 1000.0

Table = tuple[NDArray[Any], NDArray[Any]]
Scores = dict[str, NDArray[np.float64]]  # of every table, by the score that found the tree


def binding_sites() -> list[Table]:
    """Make the 89 tables."""
    path = tables.folder() / "make_tfbs.py"
    if not path.is_file():
        raise FileNotFoundError(
            f"expected the program {path}; TANAGER_SHARED names another folder that has data/{path.name}"
        )
    spec = importlib.util.spec_from_file_location("make_tfbs", path)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return [(np.array(X), np.array(y)) for X, y in map(program.make, range(program.N_SETS))]


def with_third_class(table: Table, other: Table) -> Table:
    """Add the sites of another table, class "1", as class "2"."""
    sites = other[0][other[1] == "1"]
    length = min(table[0].shape[1], sites.shape[1])
    X = np.concatenate([table[0][:, :length], sites[:, :length]])
    return X, np.concatenate([table[1], np.full(len(sites), "2")])


def structures() -> dict[str, Any]:
    """Return the learners of trees."""
    from tanager import structure as st

    return {
        LL: st.ChowLiu(),
        UNIFORM: st.AcllTree("uniform", pseudo_counts=PSEUDO_COUNTS),
        DIRICHLET: st.AcllTree("dirichlet", b=ROWS, pseudo_counts=PSEUDO_COUNTS),
    }


def readings() -> dict[str, Callable[[str], Any]]:
    """Return what the paper may mean by its parameters: a function of the score for each."""
    from tanager import parameters as pr

    own = {
        LL: pr.Dirichlet(alpha=PSEUDO_COUNTS),
        UNIFORM: pr.AcllOptimal("uniform", pseudo_counts=PSEUDO_COUNTS),
        DIRICHLET: pr.AcllOptimal("dirichlet", b=ROWS, pseudo_counts=PSEUDO_COUNTS),
    }
    return {
        "5 added to every cell": lambda _: pr.Dirichlet(alpha=PSEUDO_COUNTS),
        "5 added to every table": lambda _: pr.Dirichlet(equivalent_sample_size=PSEUDO_COUNTS),
        "5 added to every distribution, as the feature is distributed alone": lambda _: pr.Softened(PSEUDO_COUNTS),
        "aCLL's own parameters, 5 added to every cell for LL": lambda score: own[score],
    }


def judge(given: Sequence[Table], parameters: Callable[[str], Any], folds: int | None) -> Scores:
    """Return the CLL of every tree on every table: of the rows it was learned from, or of rows left out."""
    import tanager as tg
    from tanager.evaluation import conditional_log_likelihood, cross_validate

    found: dict[str, list[float]] = {score: [] for score in structures()}
    for X, y in given:
        for score, structure in structures().items():
            clf = tg.BayesNetClassifier(structure, parameters(score))
            if folds is None:
                found[score].append(conditional_log_likelihood(y, clf.fit(X, y).predict_proba(X)))
            else:
                result = cross_validate(clf, X, y, cv=folds, scoring="cll", random_state=1)
                found[score].append(float(result["cll"].sum()))
    return {score: np.array(values) for score, values in found.items()}


def wilcoxon(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    """Return z of the signed-rank test, positive where the first is larger, and the one-sided p of the larger one."""
    differences = first - second
    differences = differences[differences != 0]
    n = len(differences)
    if n == 0:
        return 0.0, 0.5
    ranks = rankdata(np.abs(differences))
    z = (ranks[differences > 0].sum() - n * (n + 1) / 4) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return float(z), float(norm.sf(abs(z)))


def print_scores(title: str, scores: Scores) -> None:
    lines = [["", "z", "p", "better", "wins-ties-losses", "mean difference"]]
    for first, second in PAIRS:
        a, b = scores[first], scores[second]
        z, p = wilcoxon(a, b)
        counts = f"{(a > b).sum()}-{(a == b).sum()}-{(a < b).sum()}"
        arrow = f"← {first}" if z > 0 else f"↑ {second}"
        lines.append([f"{first} | {second}", f"{abs(z):.2f}", f"{p:.2e}", arrow, counts, f"{(a - b).mean():+.2f}"])
    print(f"\n{title}")
    print("  mean CLL: " + ", ".join(f"{score} {values.mean():.2f}" for score, values in scores.items()) + "\n")
    print_columns(lines, "lrrlrr")


def main(arguments: list[str] | None = None) -> int:
    """Run the experiment."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.acll", description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, help="how many of the tables (default: all)")
    parser.add_argument("--folds", type=int, help="judge rows left out by so many folds (default: the training rows)")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    two = binding_sites()
    three = [with_third_class(table, two[(i + 1) % len(two)]) for i, table in enumerate(two)]
    judged = "training rows" if options.folds is None else f"rows left out by {options.folds} folds"
    print(f"CLL of {judged}, {len(two[: options.tables])} tables; z, p and arrows of Wilcoxon's signed-rank test")
    for name, given in (("two classes (table 1)", two), ("three classes (table 2)", three)):
        for reading, parameters in readings().items():
            scores = judge(given[: options.tables], parameters, options.folds)
            print_scores(f"{name}, {reading}", scores)
    print(f"\n{time.perf_counter() - start:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
