"""The average over all TANs on published tables: predicting beside determinants, and learning beside TAN."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import cut_tables
from benchmarks.harness import best_within, race
from benchmarks.options import Options
from benchmarks.report import Report, number, print_columns, seconds
from benchmarks.tables import CodedTable

#: Those whose accuracy is checked as well; see papers/tbma_accuracy.py.
TABLES = (
    *("car", "nursery", "vote", "tic-tac-toe", "mushroom", "chess", "letter"),
    *("waveform-21", "soybean", "segment", "satimage"),
)
#: Enough to see that all works.
QUICK_TABLES = ("car", "vote", "letter")
#: Large ones, where much is asked.
JUDGED = ("chess", "letter")
#: Rows to predict, the table's own again and again, and determinants that NumPy gets at a time.
ROWS, MATRICES = 20_000, 1_000


def prediction(report: Report, options: Options) -> None:
    """Predict class probabilities, one sum over trees for every row and class, beside as many determinants."""
    report.begin("prediction", "predict_proba from int8 codes beside numpy.linalg.slogdet of matrices that are ready")
    lines = [
        ("", "n", "classes", "method", "edges", "steps", "a row and class", "its core", "slogdet", "rows/s", "ratio")
    ]
    for table in _tables(report, options):
        X = _repeated(table.X, 1_000 if options.quick else ROWS)
        clf = _average(table)
        n_sums = len(X) * len(clf.classes_)
        columns, n_rows = clf._encode(X)
        matrices = laplacians(table.X.shape[1], 100 if options.quick else MATRICES)
        contenders = {
            "whole": partial(clf.predict_proba, X),
            "core": partial(clf._predictor.predict, columns, n_rows, "posterior"),
            "slogdet": partial(np.linalg.slogdet, matrices),
        }
        times = race(contenders, options.repeats)
        whole, core = times["whole"].cpu / n_sums, times["core"].cpu / n_sums
        theirs = times["slogdet"].cpu / len(matrices)
        predictor: Any = clf._predictor
        how = (predictor.method, f"{predictor.n_edges}", f"{predictor.n_steps:,}")
        size = (str(table.X.shape[1]), str(len(clf.classes_)))
        speeds = (seconds(whole), seconds(core), seconds(theirs), number(n_rows / times["whole"].cpu))
        lines.append((table.name, *size, *how, *speeds, f"{number(theirs / whole)} x"))
        target = 20 if table.name in JUDGED else 1
        report.figure(f"{table.name}, determinants per second, times slogdet's", theirs / whole, "x", at_least=target)
        if table.name in JUDGED:
            report.figure(f"{table.name}, predict_proba", n_rows / times["whole"].cpu, "rows/s", at_least=1_000_000)
    print_columns(lines, "lrrlrrrrrrr")


def many_digits(report: Report, options: Options) -> None:
    """One determinant of as many digits as the weights are apart, beside one row and class of a prediction."""
    import mpmath

    backend = f"mpmath {mpmath.__version__} on {mpmath.libmp.BACKEND}"
    report.begin("mpmath", f"one determinant by {backend}, of the weights that were learned, beside a row and class")
    lines = [("", "digits", "mpmath", "a row and class", "ratio")]
    for table in _tables(report, options):
        clf = _average(table)
        X = _repeated(table.X, 1_000 if options.quick else ROWS)
        own = race({"": partial(clf.predict_proba, X)}, options.repeats)[""].cpu / len(X) / len(clf.classes_)
        context, matrix = _exact_laplacian(clf)
        theirs = best_within(partial(context.det, matrix), 2 * options.seconds, 3).cpu
        lines.append((table.name, f"{context.dps:,}", seconds(theirs), seconds(own), f"{number(theirs / own)} x"))
        if table.name in JUDGED:
            what = f"{table.name}, determinants per second, times mpmath's"
            report.figure(what, theirs / own, "x", at_least=100_000, remark=backend)
    print_columns(lines, "lrrrr")


def learning(report: Report, options: Options) -> None:
    """A whole fit beside that of a single TAN, which needs the same counts."""
    import tanager as tg

    report.begin("learning", "a whole fit from int8 codes")
    lines = [("", "rows", "n", "TBMATAN", "TAN", "ratio")]
    for table in _tables(report, options):
        average, single = tg.TBMATANClassifier(n_jobs=1), tg.TANClassifier(n_jobs=1)
        fits = {"average": partial(average.fit, table.X, table.y), "single": partial(single.fit, table.X, table.y)}
        times = race(fits, 3 * options.repeats)
        own, other = times["average"].cpu, times["single"].cpu
        rows, features = table.X.shape
        lines.append((table.name, f"{rows:,}", str(features), seconds(own), seconds(other), f"{number(own / other)} x"))
        report.figure(f"{table.name}, time of fit, times TAN's", own / other, "x", at_most=3)
    print_columns(lines, "lrrrrr")


def laplacians(n: int, times: int) -> NDArray[np.float64]:
    """Matrices of the size that n features need, from weights that are harmless: what they hold is not judged here."""
    weights = np.random.default_rng(n).uniform(0.5, 2.0, (times, n, n))
    weights += weights.transpose(0, 2, 1)
    diagonal = np.einsum("kij->ki", weights)
    full = np.eye(n) * diagonal[:, :, None] - weights * (1 - np.eye(n)) - np.eye(n) * weights
    return np.ascontiguousarray(full[:, :-1, :-1])


def _tables(report: Report, options: Options) -> list[CodedTable]:
    found = []
    for name in QUICK_TABLES if options.quick else TABLES:
        try:
            table = cut_tables.cut(name)
        except FileNotFoundError as error:
            report.begin(name, f"left out: {error}")
            continue
        found.append(table.thinned(500) if options.quick else table)
    return found


def _average(table: CodedTable) -> Any:
    import tanager as tg

    return tg.TBMATANClassifier(n_jobs=1).fit(table.X, table.y)


def _repeated(X: NDArray[np.int8], rows: int) -> NDArray[np.int8]:
    """At least so many rows: the fixed cost of a call is another matter."""
    return np.tile(X, (math.ceil(rows / len(X)), 1))


def _exact_laplacian(clf: Any) -> tuple[Any, Any]:
    """The Laplacian of the learned weights without its last row and column, in a context of the digits that it needs.

    A row multiplies every weight by a number of moderate size, which changes neither digits nor cost.
    """
    import mpmath

    from tanager import tree_sums

    mantissas, exponents = clf._core_model.edge_weights
    n = len(mantissas)
    smallest = min(int(exponents[u, v]) for u, v in tree_sums.map_tree((mantissas, exponents)).edges)
    context = mpmath.MPContext()
    # The determinant is known to about a hundred bits.
    context.prec = int(exponents.max()) - smallest + 4 * n.bit_length() + 132
    matrix = context.matrix(n - 1)
    for u in range(n):
        for v in range(n):
            weight = context.ldexp(float(mantissas[u, v]), int(exponents[u, v]))
            if u < n - 1 and u != v:
                matrix[u, u] += weight
                if v < n - 1:
                    matrix[u, v] -= weight
    return context, matrix
