"""AODE compared with other programs, and the average over all TANs: prediction, fitting and growth."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import cut_tables
from benchmarks.harness.machine import ROOT
from benchmarks.harness.memory import PeakMemory
from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, Row, number, print_columns, seconds, table_for
from benchmarks.harness.tables import CodedTable
from benchmarks.harness.timing import Timing, best_within, once, race
from benchmarks.harness.worker import child_environment
from benchmarks.harness.workloads import AODE, Workload, sample
from benchmarks.suites.structure import RECORDED

#: R's CPU seconds for fitting and predicting letter.
BNCLASSIFY_LETTER = 0.47
#: Weka 3.6.14 and scikit-bayes 1.2.1 on 100,000 x 30: seconds of fit, and rows predicted per second.
RECORDED_SPEED = {"Weka 3.6.14": (0.118, 224_000.0), "scikit-bayes 1.2.1": (1.45, 41_000.0)}


def aode(report: Report, options: Options) -> None:
    """Fit and predict_proba, on a dataset of 26 classes and on a large one."""
    import tanager as tg

    def fit_and_predict(X: Any, y: Any) -> Any:
        return tg.AODEClassifier(n_jobs=1).fit(X, y).predict_proba(X)

    table = table_for(report, options, "AODE", "letter")
    if table is not None:
        timing = best_within(partial(fit_and_predict, table.X, table.y), 20 * options.seconds, 3 * options.repeats)
        rows = [Row("tanager", timing), Row("bnclassify 0.4.8", Timing(*[BNCLASSIFY_LETTER] * 2), RECORDED)]
        report.table("fit and predict_proba, letter", rows if report.checks_targets else rows[:1])
        ratio = BNCLASSIFY_LETTER / timing.cpu
        report.figure("letter, times faster than bnclassify", ratio, "x", at_least=20, remark=RECORDED)

    work = options.size(AODE)
    report.begin("AODE", f"{work}, one thread")
    X, y = sample(work)
    clf = tg.AODEClassifier(n_jobs=1).fit(X, y)
    calls = {"fit": partial(clf.fit, X, y), "predict_proba": partial(clf.predict_proba, X)}
    times = race(calls, options.repeats)
    for position, what in enumerate(calls):
        rows = [Row("tanager", times[what], _rows_per_second(what, work.rows / times[what].cpu))]
        for name, recorded in RECORDED_SPEED.items() if report.checks_targets else ():
            seconds = recorded[position] if what == "fit" else work.rows / recorded[position]
            rows.append(
                Row(
                    name,
                    Timing(seconds, seconds),
                    "; ".join(filter(None, (RECORDED, _rows_per_second(what, work.rows / seconds)))),
                )
            )
        report.table(what, rows)
    fit, rate = RECORDED_SPEED["Weka 3.6.14"]
    report.figure("fit, times faster than Weka", fit / times["fit"].cpu, "x", at_least=10, remark=RECORDED)
    faster = work.rows / times["predict_proba"].cpu / rate
    report.figure("predict_proba, times Weka's rows per second", faster, "x", at_least=10, remark=RECORDED)


def _rows_per_second(what: str, rows_per_second: float) -> str:
    return f"{rows_per_second:,.0f} rows/s" if what == "predict_proba" else ""


#: Datasets whose accuracy is checked as well; see experiments/tbma/accuracy.py.
TABLES = (
    *("car", "nursery", "vote", "tic-tac-toe", "mushroom", "chess", "letter"),
    *("waveform-21", "soybean", "segment", "satimage"),
)
#: Datasets of a quick run.
QUICK_TABLES = ("car", "vote", "letter")
#: Large datasets, with a higher target.
LARGE = ("chess", "letter")
#: Rows to predict, by repeating those of the dataset, and determinants per NumPy call.
ROWS, MATRICES = 20_000, 1_000


def prediction(report: Report, options: Options) -> None:
    """Class probabilities, one sum over trees per row and class, compared with as many determinants."""
    report.begin("prediction", "predict_proba from int8 codes, and numpy.linalg.slogdet of precomputed matrices")
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
        target = 20 if table.name in LARGE else 1
        report.figure(f"{table.name}, determinants per second, times slogdet's", theirs / whole, "x", at_least=target)
        if table.name in LARGE:
            report.figure(f"{table.name}, predict_proba", n_rows / times["whole"].cpu, "rows/s", at_least=1_000_000)
    print_columns(lines, "lrrlrrrrrrr")


def many_digits(report: Report, options: Options) -> None:
    """One determinant with as many digits as the weights need, compared with one row and class of a prediction."""
    import mpmath

    backend = f"mpmath {mpmath.__version__} on {mpmath.libmp.BACKEND}"
    report.begin("mpmath", f"one determinant by {backend}, of the fitted weights, and a row and class")
    lines = [("", "digits", "mpmath", "a row and class", "ratio")]
    for table in _tables(report, options):
        clf = _average(table)
        X = _repeated(table.X, 1_000 if options.quick else ROWS)
        own = race({"": partial(clf.predict_proba, X)}, options.repeats)[""].cpu / len(X) / len(clf.classes_)
        context, matrix = _exact_laplacian(clf)
        theirs = best_within(partial(context.det, matrix), 2 * options.seconds, 3).cpu
        lines.append((table.name, f"{context.dps:,}", seconds(theirs), seconds(own), f"{number(theirs / own)} x"))
        if table.name in LARGE:
            what = f"{table.name}, determinants per second, times mpmath's"
            report.figure(what, theirs / own, "x", at_least=100_000, remark=backend)
    print_columns(lines, "lrrrr")


def learning(report: Report, options: Options) -> None:
    """Fit compared with a single TAN, which needs the same counts."""
    import tanager as tg

    report.begin("learning", "fit from int8 codes")
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
    """Return matrices of the size for n features; their values do not matter."""
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
            report.begin(name, f"skipped: {error}")
            continue
        found.append(table.thinned(500) if options.quick else table)
    return found


def _average(table: CodedTable) -> Any:
    import tanager as tg

    return tg.TBMATANClassifier(n_jobs=1).fit(table.X, table.y)


def _repeated(X: NDArray[np.int8], rows: int) -> NDArray[np.int8]:
    """Return at least this many rows, to make the fixed cost of a call negligible."""
    return np.tile(X, (math.ceil(rows / len(X)), 1))


def _exact_laplacian(clf: Any) -> tuple[Any, Any]:
    """Return the Laplacian of the fitted weights without its last row and column, and a context with enough digits.

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


#: Fit and predict must work for data this wide; for wider data they must work or raise an error that names the cost.
WIDE, WIDER = 200, 1_000
WIDE_ROWS, WIDE_PREDICTED = 1_000, 16
#: Rows whose predictions are timed.
GROWTH_ROWS = 2_000


def growth(report: Report, options: Options) -> None:
    """Increasing numbers of features, each dependent on an earlier one or only on the class, and of rows of real datasets."""
    head = ("", "rows", "n", "fit", "method", "edges", "steps", "a row and class")
    for tree in (True, False):
        kind = "each depends on an earlier one" if tree else "independent given the class, all edges may matter"
        report.begin("growth", f"with features: {kind}; 3 values, 2 classes")
        lines: list[tuple[str, ...]] = [head]
        for n in (10, 20, 40) if options.quick else (10, 20, 40, 80, 160):
            work = Workload(rows=1_000 if options.quick else 5_000, features=n, values=3, classes=2, tree=tree)
            lines.append(_growth_line("", *sample(work), options))
        print_columns(lines, "lrrrlrrr")
    for name in ("chess", "letter"):
        try:
            table = cut_tables.cut(name)
        except FileNotFoundError as error:
            report.begin("growth", f"{name} skipped: {error}")
            continue
        report.begin("growth", f"with rows: {table}")
        lines = [head]
        sizes = (100, 1_000) if options.quick else (100, 300, 1_000, 3_000, 10_000)
        for rows in (*(size for size in sizes if size < len(table.y)), len(table.y)):
            part = table.thinned(rows)
            lines.append(_growth_line(name, part.X, part.y, options))
        print_columns(lines, "lrrrlrrr")


def _growth_line(name: str, X: NDArray[Any], y: NDArray[Any], options: Options) -> tuple[str, ...]:
    import tanager as tg

    clf = tg.TBMATANClassifier(n_jobs=1)
    fit = best_within(partial(clf.fit, X, y), options.seconds, options.repeats)
    rows = np.resize(X, (GROWTH_ROWS, X.shape[1]))
    predict = best_within(partial(clf.predict_proba, rows), options.seconds, 3 * options.repeats)
    predictor: Any = clf._predictor
    n = X.shape[1]
    edges = f"{predictor.n_edges} of {n * (n - 1) // 2}"
    each = predict.cpu / len(rows) / len(clf.classes_)
    sizes = (f"{len(y):,}", str(n), seconds(fit.cpu))
    return (name, *sizes, predictor.method, edges, f"{predictor.n_steps:,}", seconds(each))


def wide(report: Report, options: Options) -> None:
    """Fit and predict wide data, each in a fresh process, and report time and memory or the error."""
    title = f"{WIDE_ROWS:,} rows x 2 values, 2 classes: each feature depends on an earlier one, or on the class alone"
    report.begin("wide", title)
    lines = [("", "n", "fit", "predict_proba, a row", "memory beyond the table", "")]
    for n in (100,) if options.quick else (WIDE, WIDER):
        for tree in (True, False):
            kind = "depends on an earlier one" if tree else "on the class alone"
            found = _wide_in_child(n, tree)
            if "error" in found:
                lines.append((kind, f"{n:,}", "-", "-", "-", found["error"]))
            else:
                memory = "n/a" if found["memory"] is None else f"{found['memory'] / 1e6:,.0f} MB"
                spent = seconds(found["fit"]), seconds(found["predict"] / WIDE_PREDICTED)
                lines.append((kind, f"{n:,}", *spent, memory, f"{found['method']}, {found['steps']:,} steps"))
            if n == WIDE:
                what = f"n = {n}, {kind}: fit and predict_proba of {WIDE_PREDICTED} rows"
                value = None if "error" in found else found["fit"] + found["predict"]
                report.figure(what, value, "s", remark=found.get("error", "works"))
    print_columns(lines, "lrrrrl")


def _wide_in_child(n: int, tree: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.suites.averaging", str(n), str(int(tree))]
    options = {"cwd": ROOT, "env": child_environment(), "capture_output": True, "text": True}
    try:
        done = subprocess.run(command, check=False, timeout=120, **options)  # type: ignore[call-overload]
    except subprocess.TimeoutExpired:
        return {"error": "stopped after 120 s"}
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return dict(json.loads(done.stdout))


def measure_wide(n: int, tree: bool) -> dict[str, Any]:
    """Fit and predict one wide dataset, and return times and memory."""
    import tanager as tg

    X, y = sample(Workload(rows=WIDE_ROWS, features=n, values=2, classes=2, tree=tree))
    tg.TBMATANClassifier(n_jobs=1).fit(X[:100, :5], y[:100]).predict_proba(X[:2, :5])  # triggers lazy imports
    clf = tg.TBMATANClassifier(n_jobs=1)
    peak = PeakMemory()
    with peak.watch():
        fit: Timing = once(partial(clf.fit, X, y))
        predict = once(partial(clf.predict_proba, X[:WIDE_PREDICTED]))
    predictor: Any = clf._predictor
    times = {"fit": fit.cpu, "predict": predict.cpu}
    return {**times, "memory": peak.extra, "method": predictor.method, "steps": predictor.n_steps}


BENCHMARKS = {
    "aode": aode,
    "tbmatan-predict": prediction,
    "tbmatan-mpmath": many_digits,
    "tbmatan-fit": learning,
    "tbmatan-growth": growth,
    "tbmatan-wide": wide,
}

if __name__ == "__main__":
    print(json.dumps(measure_wide(int(sys.argv[1]), sys.argv[2] == "1")))
