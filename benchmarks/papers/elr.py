"""Tables II and III of Greiner, Su, Shen and Zhou (2005): ELR beside generative parameters, on twenty-five tables.

python -m benchmarks.papers.elr                          everything, some minutes
python -m benchmarks.papers.elr --only chess vote        some tables
python -m benchmarks.papers.elr --partitions 1           a quick look

Small tables are tested by five folds of floor(N/5) rows, large ones by one split of the paper's sizes; those that have a usual
split keep it, all others are drawn anew in every partition. Numbers are cut by Fayyad and Irani's method, by the training rows
alone; parameters start from Laplace's smoothing. TAN is the tree of Chow and Liu, its root the first column. For table III a
quarter of the cells of all rows, tested ones included, is removed at random. General networks (GBN) have the arcs that the
three-phase algorithm finds with G² tests in the training rows, or for table III, as in the paper, in all rows before cells are
removed. The paper's accuracies stand in brackets; another program learned its general networks, so that their levels are not
judged.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as a script: make the package importable, not its modules as top-level ones
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from benchmarks import tables
from benchmarks.papers.elr_printed import COMPLETE, GAINS, GENERAL, GENERAL_MISSING, INCOMPLETE, NOT_JUDGED, PRINTED
from benchmarks.report import print_columns

Rows = NDArray[np.intp]
Accuracies = dict[str, list[float]]  # of every partition, in percent, by method

STRUCTURES = ("NB", "TAN", "GBN")
MISSING = 0.25
#: Fewer iterations for general networks with missing cells, where every row has an inference of its own.
MOST_PARAMETERS = 1_000_000  # of general networks
SHORT: dict[str, Any] = {"max_iter": 20, "patience": 5}


def read(name: str) -> tuple[NDArray[Any], NDArray[Any], list[int]]:
    """Cells, classes and the columns of numbers; missing cells are None."""
    cells, schema = tables.read(name), tables.schema(name)
    with (tables.folder() / f"{name}.csv").open(encoding="utf-8") as file:
        header = file.readline().strip().replace('"', "").split(",")
    numeric = [k for k, title in enumerate(header[:-1]) if title in schema["numeric"]]
    X = np.array(cells[:, :-1], dtype=object)
    for k in numeric:
        X[:, k] = [None if cell == "" else float(cell) for cell in X[:, k]]
    X[X == ""] = None
    return X, cells[:, -1], numeric


def splits(name: str, n_rows: int, rng: np.random.Generator) -> Iterator[tuple[Rows, Rows]]:
    """Training and test rows, as the paper has them."""
    printed, usual = PRINTED[name], "train_rows" in tables.schema(name)
    order = np.arange(n_rows) if usual else rng.permutation(n_rows)
    if printed.train is not None:
        yield order[: printed.train], order[printed.train :]
        return
    size = n_rows // 5
    for fold in range(5):
        test = order[fold * size : (fold + 1) * size]
        yield np.setdiff1d(order, test), test


def general(X: NDArray[Any], y: NDArray[Any], numeric: list[int]) -> Any:
    """The arcs that the three-phase algorithm finds, with as many parents as do not make tables too large."""
    import tanager as tg

    for max_parents in (5, 4, 3, 2):
        learner = tg.structure.ThreePhase(test="g2", max_parents=max_parents)
        network = tg.BayesNetClassifier(learner, numeric_features=numeric).fit(X, y).network_
        if network.n_parameters <= MOST_PARAMETERS:
            break
    return tg.structure.FixedStructure(network.arcs, class_arcs="listed")


def judge(name: str, missing: bool, partitions: int, seed: int, methods: Sequence[str]) -> Accuracies:
    """Accuracy of every method in every partition."""
    import tanager as tg
    from tanager import parameters as pr

    X, y, numeric = read(name)
    learners = {"OFE": pr.Dirichlet(), "ELR": pr.ELR(), "EM": pr.EM(), "APN": pr.APN()}
    structures: dict[str, Any] = {"NB": "naive", "TAN": "tan"}
    short = {"ELR": pr.ELR(**SHORT), "EM": pr.EM(max_iter=20), "APN": pr.APN(max_iter=20)} if missing else {}
    needs_general = any(method.startswith("GBN") for method in methods)
    if needs_general and missing:
        structures["GBN"] = general(X, y, numeric)
    n_partitions = 1 if "train_rows" in tables.schema(name) and not missing else partitions
    found: Accuracies = {method: [] for method in methods}
    for number in range(n_partitions):
        rng = np.random.default_rng((seed, number))
        cells = X.copy()
        if missing:
            cells[rng.random(X.shape) < MISSING] = None
        right: dict[str, list[float]] = {method: [] for method in methods}
        for train, test in splits(name, len(y), rng):
            if needs_general and not missing:
                structures["GBN"] = general(X[train], y[train], numeric)
            for method in methods:
                structure, learner = method.split("+")
                clf = tg.BayesNetClassifier(
                    structures[structure],
                    (short if structure == "GBN" else {}).get(learner, learners[learner]),
                    numeric_features=numeric,
                    random_state=number,
                )
                right[method].append(clf.fit(cells[train], y[train]).score(cells[test], y[test]))
        for method, shares in right.items():
            found[method].append(100 * float(np.mean(shares)))
    return found


def quietly(judged: Any, name: str) -> tuple[Accuracies, float]:
    """What a table leads to, without warnings, and the seconds it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judged(name), time.perf_counter() - start


def one_sided(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """P-value of the paired t-test that the first is above the second."""
    return float(ttest_rel(first, second, alternative="greater").pvalue)


def verdict(holds: bool, text: str) -> None:
    print(f"  {'holds' if holds else 'DOES NOT HOLD'}: {text}")


def print_table(results: dict[str, Accuracies], missing: bool, methods: Sequence[str]) -> None:
    """Print mean accuracies beside the paper's."""
    lines = [["", *methods]]
    for name, found in results.items():
        printed = dict(
            zip(INCOMPLETE, PRINTED[name].incomplete, strict=True)
            if missing
            else zip(COMPLETE, PRINTED[name].complete, strict=True)
        )
        lines.append([name, *(f"{np.mean(found[m]):6.2f} ({printed[m]:6.2f})" if m in found else "-" for m in methods)])
    lines.append(
        [
            "mean",
            *(
                f"{np.mean([np.mean(found[m]) for found in results.values() if m in found]):6.2f}         "
                for m in methods
            ),
        ]
    )
    print(f"\nTable {'III, a quarter of the cells missing' if missing else 'II'}: accuracy in percent (the paper's)\n")
    print_columns(lines, "l" + "r" * len(methods))


def means_of(results: dict[str, Accuracies]) -> dict[str, NDArray[np.float64]]:
    methods = [m for m in next(iter(results.values())) if not m.startswith("GBN")]
    return {m: np.array([np.mean(found[m]) for found in results.values()]) for m in methods}


def pairs(results: dict[str, Accuracies], first: str, second: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean accuracies of two methods on the tables that both have."""
    both = [found for found in results.values() if first in found and second in found]
    return np.array([np.mean(found[first]) for found in both]), np.array([np.mean(found[second]) for found in both])


def print_general(results: dict[str, Accuracies], missing: bool) -> None:
    """Paired t-tests of general networks beside those of the paper's tables IV and V."""
    print(f"\nGeneral networks, one-sided paired t-tests (p-values of the paper's table {'V' if missing else 'IV'})")
    for first, second, p_printed in GENERAL_MISSING if missing else GENERAL:
        one, two = pairs(results, first, second)
        if not len(one):  # its structure was not asked for
            continue
        p = one_sided(one, two)
        print(
            f"  {first} over {second}: {(one - two).mean():+.2f} points on {len(one)} tables, p = {p:.2g} ({p_printed})"
        )


def print_claims(results: dict[str, Accuracies]) -> None:
    """Say of every claim of table II whether it holds."""
    print("\nClaims of table II")
    names, means = list(results), means_of(results)
    gain = means["NB+ELR"] - means["NB+OFE"]
    p = one_sided(means["NB+ELR"], means["NB+OFE"])
    verdict(1.5 <= gain.mean() <= 3.5 and p < 0.02, f"NB+ELR over NB+OFE: {gain.mean():+.2f} points, p = {p:.2g}")
    printed = np.array([PRINTED[n].complete[1] - PRINTED[n].complete[0] for n in names])
    r = float(np.corrcoef(gain, printed)[0, 1])
    verdict(r > 0.8, f"gains go with the paper's: correlation {r:.2f}")
    for name, least in GAINS.items():
        own = gain[names.index(name)]
        verdict(own >= least, f"NB+ELR gains at least {least:g} on {name}: {own:+.2f}")
    tree = means["TAN+ELR"] - means["TAN+OFE"]
    p = one_sided(means["TAN+ELR"], means["TAN+OFE"])
    verdict(tree.mean() > 0, f"TAN+ELR over TAN+OFE: {tree.mean():+.2f} points, p = {p:.2g}")
    chess = tree[names.index("chess")]
    verdict(chess > 2.5, f"TAN+ELR gains more than 2.5 on chess: {chess:+.2f}")
    for i, method in ((0, "NB+OFE"), (2, "TAN+OFE")):
        off = []
        for name, found in results.items():
            own, n = np.array(found[method]), len(found[method])
            error = np.hypot(PRINTED[name].errors[i], own.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0)
            if name not in NOT_JUDGED and abs(own.mean() - PRINTED[name].complete[i]) > 2 * error + 1e-9:
                off.append(f"{name} ({own.mean() - PRINTED[name].complete[i]:+.2f})")
        judged = len(results) - len(set(NOT_JUDGED) & set(results))
        verdict(
            not off, f"{method} is within two standard errors of the paper on {judged} tables; off: {off or 'none'}"
        )


def print_claims_of_missing(results: dict[str, Accuracies]) -> None:
    """Say of every claim of table III whether it holds."""
    print("\nClaims of table III")
    means = means_of(results)
    gain, p = (means["NB+ELR"] - means["NB+EM"]).mean(), one_sided(means["NB+ELR"], means["NB+EM"])
    verdict(gain > 0.3 and p < 0.05, f"NB+ELR over NB+EM: {gain:+.2f} points, p = {p:.2g}")
    for other in ("TAN+EM", "TAN+APN"):
        difference = means["TAN+ELR"] - means[other]
        p = float(ttest_rel(means["TAN+ELR"], means[other]).pvalue)
        verdict(p > 0.05, f"TAN+ELR beside {other}: {difference.mean():+.2f} points, two-sided p = {p:.2g}")
    same = all(found["NB+EM"] == found["NB+APN"] for found in results.values())
    widest = float(np.abs(means["NB+EM"] - means["NB+APN"]).max())
    verdict(same or widest < 0.1, f"NB+EM and NB+APN are the same: at most {widest:.2f} points apart")


def main(arguments: list[str] | None = None) -> int:
    """Run the experiment."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.elr", description=__doc__.partition("\n")[0])
    parser.add_argument("--partitions", type=int, default=5, help="random partitions per table (default: 5)")
    parser.add_argument("--only", nargs="+", choices=PRINTED, metavar="TABLE", help=", ".join(PRINTED))
    parser.add_argument("--table", choices=("2", "3"), help="only one of both tables")
    parser.add_argument("--structures", nargs="+", choices=STRUCTURES, default=STRUCTURES, help="only some structures")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tables at a time (default: all cores)")
    parser.add_argument("--seed", type=int, default=0, help="seed of partitions (default: 0)")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    for missing in (False, True):
        if options.table == ("2" if missing else "3"):
            continue
        methods = [m for m in (INCOMPLETE if missing else COMPLETE) if m.split("+")[0] in options.structures]
        judged = partial(judge, missing=missing, partitions=options.partitions, seed=options.seed, methods=methods)
        results: dict[str, Accuracies] = {}
        names = list(options.only or PRINTED)
        with ProcessPoolExecutor(options.jobs) as pool:
            for name, (found, seconds) in zip(names, pool.map(partial(quietly, judged), names), strict=True):
                results[name] = found
                print(f"{name} took {seconds:.0f} s", file=sys.stderr, flush=True)
        print_table(results, missing, methods)
        if len(results) < len(PRINTED):
            continue
        if {"NB", "TAN"} <= set(options.structures):
            (print_claims_of_missing if missing else print_claims)(results)
        if "GBN" in options.structures:
            print_general(results, missing)
    print(f"\n{options.partitions} partitions, {time.perf_counter() - start:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
