"""How the cost of the average over all TANs grows with features and rows, and what wide tables take."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import cut_tables, harness
from benchmarks.harness import Timing, best_within
from benchmarks.options import Options
from benchmarks.report import Report, print_columns, seconds
from benchmarks.workloads import Workload, sample

#: A fit and predictions of a table this wide must work; a wider one must work or say what it takes.
WIDE, WIDER = 200, 1_000
WIDE_ROWS, WIDE_PREDICTED = 1_000, 16
#: Rows of which predictions are timed.
PREDICTED = 2_000


def growth(report: Report, options: Options) -> None:
    """Features of which each depends on an earlier one, or on the class alone; and more and more rows of real tables."""
    head = ("", "rows", "n", "fit", "method", "edges", "steps", "a row and class")
    for tree in (True, False):
        kind = "each depends on an earlier one" if tree else "independent given the class, so that all edges may matter"
        report.begin("growth", f"with features: {kind}; 3 values, 2 classes")
        lines: list[tuple[str, ...]] = [head]
        for n in (10, 20, 40) if options.quick else (10, 20, 40, 80, 160):
            work = Workload(rows=1_000 if options.quick else 5_000, features=n, values=3, classes=2, tree=tree)
            lines.append(_line("", *sample(work), options))
        print_columns(lines, "lrrrlrrr")
    for name in ("chess", "letter"):
        try:
            table = cut_tables.cut(name)
        except FileNotFoundError as error:
            report.begin("growth", f"{name} left out: {error}")
            continue
        report.begin("growth", f"with rows: {table}")
        lines = [head]
        sizes = (100, 1_000) if options.quick else (100, 300, 1_000, 3_000, 10_000)
        for rows in (*(size for size in sizes if size < len(table.y)), len(table.y)):
            part = table.thinned(rows)
            lines.append(_line(name, part.X, part.y, options))
        print_columns(lines, "lrrrlrrr")


def _line(name: str, X: NDArray[Any], y: NDArray[Any], options: Options) -> tuple[str, ...]:
    import tanager as tg

    clf = tg.TBMATANClassifier(n_jobs=1)
    fit = best_within(partial(clf.fit, X, y), options.seconds, options.repeats)
    rows = np.resize(X, (PREDICTED, X.shape[1]))
    predict = best_within(partial(clf.predict_proba, rows), options.seconds, 3 * options.repeats)
    predictor: Any = clf._predictor
    n = X.shape[1]
    edges = f"{predictor.n_edges} of {n * (n - 1) // 2}"
    each = predict.cpu / len(rows) / len(clf.classes_)
    sizes = (f"{len(y):,}", str(n), seconds(fit.cpu))
    return (name, *sizes, predictor.method, edges, f"{predictor.n_steps:,}", seconds(each))


def wide(report: Report, options: Options) -> None:
    """Fit and predict wide tables, each in a fresh process, and tell time and memory or the error."""
    title = f"{WIDE_ROWS:,} rows x 2 values, 2 classes: each feature depends on an earlier one, or on the class alone"
    report.begin("wide", title)
    lines = [("", "n", "fit", "predict_proba, a row", "memory beyond the table", "")]
    for n in (100,) if options.quick else (WIDE, WIDER):
        for tree in (True, False):
            kind = "depends on an earlier one" if tree else "on the class alone"
            found = _in_child(n, tree)
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


def _in_child(n: int, tree: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.tree_growth", str(n), str(int(tree))]
    options = {"cwd": harness.ROOT, "env": harness.child_environment(), "capture_output": True, "text": True}
    try:
        done = subprocess.run(command, check=False, timeout=120, **options)  # type: ignore[call-overload]
    except subprocess.TimeoutExpired:
        return {"error": "stopped after 120 s"}
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return dict(json.loads(done.stdout))


def measure(n: int, tree: bool) -> dict[str, Any]:
    """Fit and predict one wide table, and tell what it took."""
    import tanager as tg

    X, y = sample(Workload(rows=WIDE_ROWS, features=n, values=2, classes=2, tree=tree))
    tg.TBMATANClassifier(n_jobs=1).fit(X[:100, :5], y[:100]).predict_proba(X[:2, :5])  # loads what is loaded at first
    clf = tg.TBMATANClassifier(n_jobs=1)
    peak = harness.PeakMemory()
    with peak.watch():
        fit: Timing = harness.once(partial(clf.fit, X, y))
        predict = harness.once(partial(clf.predict_proba, X[:WIDE_PREDICTED]))
    predictor: Any = clf._predictor
    times = {"fit": fit.cpu, "predict": predict.cpu}
    return {**times, "memory": peak.extra, "method": predictor.method, "steps": predictor.n_steps}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2] == "1")))
