"""Wrapper searches and cross-validation on the tables that R's bnclassify was timed on, and a search in a wide table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import tables
from benchmarks.harness import Timing, best_within
from benchmarks.kernels import two_threads
from benchmarks.options import Options
from benchmarks.report import Report, Row

#: Settings of all of R's runs: five folds, at least one percent gained per step, Laplace's smoothing.
SETTINGS: dict[str, Any] = {"cv": 5, "epsilon": 0.01, "alpha": 1.0}

RECORDED = "constant, recorded elsewhere"


@dataclass(frozen=True)
class Search:
    """A search as the papers name it, the learner that makes it, and R's CPU seconds on a table, if recorded."""

    name: str
    learner: str
    settings: dict[str, Any]
    recorded: dict[str, float]


SEARCHES = (
    Search("TAN-HC", "HillClimb", {"symmetric": True}, {"chess": 17.6, "letter": 13.4}),
    Search("TAN-HC, both directions", "HillClimb", {}, {}),
    Search("TAN-HCSP", "SuperParent", {}, {"chess": 2.0}),
    Search("BSEJ", "BackwardJoin", {}, {"chess": 14.4, "letter": 45.0}),
    Search("FSSJ", "ForwardJoin", {}, {"letter": 118.0}),
    Search("wrapper k-DB", "HillClimb", {"max_parents": 2}, {"chess": 36.0, "letter": 30.0}),
)

#: R's CPU seconds of ten-fold cross-validation of TAN, structure relearned in every fold.
CROSS_VALIDATION = {"chess": 2.6, "letter": 3.0}


def chess(report: Report, options: Options) -> None:
    """The searches in a table of many features and two classes."""
    _searches(report, options, "chess", at_least=500)


def letter(report: Report, options: Options) -> None:
    """The searches in a table of many rows and 26 classes."""
    _searches(report, options, "letter", at_least=60)


def cross_validation(report: Report, options: Options) -> None:
    """Ten-fold cross-validation of TAN, structure and all."""
    from tanager import TANClassifier
    from tanager.evaluation import cross_validate

    for name, seconds in CROSS_VALIDATION.items():
        table = table_for(report, options, "cross-validation of TAN", name)
        if table is None:
            continue
        what = f"ten-fold cross-validation of TAN, {name}"
        for scoring in (("accuracy",), ("accuracy", "log_loss")):
            run = partial(cross_validate, TANClassifier(n_jobs=1), table.X, table.y, scoring=scoring, random_state=0)
            row = Row("tanager", best_within(run, 20 * options.seconds, 3 * options.repeats))
            # R tells the accuracy and nothing else.
            recorded = seconds if len(scoring) == 1 else None
            _compare(report, f"{what}: {', '.join(scoring)}", row, recorded, at_least=200)


def wide(report: Report, options: Options) -> None:
    """A hill climb of 20 steps among 2,000 features: four million arcs to choose from."""
    rows, features = 500, 200 if options.quick else 2_000
    report.begin("wide", f"a hill climb of 20 steps, {rows} x {features:,} x 2 values, 2 classes, one thread")
    # Noise all over: no search can reach an accuracy of one, where it would stop.
    rng = np.random.default_rng(7)
    X, y = rng.integers(0, 2, (rows, features), dtype=np.int8), rng.integers(0, 2, rows, dtype=np.int8)
    run = partial(fitted, "HillClimb", X, y, **{**SETTINGS, "epsilon": 0.0, "max_steps": 20})
    timing, remark = _measure(run, options)
    report.table("hill climb", [Row("tanager", timing, remark)])
    report.figure("hill climb of 20 steps", timing.cpu, "s", at_most=10)


def search_threads(report: Report, options: Options) -> None:
    """One search on one thread and on two."""
    table = table_for(report, options, "two threads", "chess")
    if table is not None:
        single = partial(fitted, "BackwardJoin", table.X, table.y, **SETTINGS)
        double = partial(fitted, "BackwardJoin", table.X, table.y, n_jobs=2, **SETTINGS)
        two_threads(report, options, "BSEJ on chess", single, double, at_least=1.7)


def table_for(report: Report, options: Options, benchmark: str, name: str) -> tables.CodedTable | None:
    """Begin a benchmark of a real table, or say why it is left out."""
    try:
        table = {"chess": tables.chess, "letter": tables.letter}[name]()
    except FileNotFoundError as error:
        report.begin(benchmark, f"{name} left out: {error}")
        return None
    table = table.thinned(500) if options.quick else table
    report.begin(benchmark, f"{table}, one thread" if benchmark != "two threads" else str(table))
    return table


def fitted(learner: str, X: Any, y: Any, n_jobs: int = 1, **settings: Any) -> Any:
    """A classifier whose structure was found by a learner of `tanager.structure`."""
    import tanager as tg

    structure = getattr(tg.structure, learner)(**settings)
    return tg.BayesNetClassifier(structure=structure, n_jobs=n_jobs, random_state=0).fit(X, y)


def _searches(report: Report, options: Options, name: str, at_least: float) -> None:
    table = table_for(report, options, f"{name} searches", name)
    if table is None:
        return
    for search in SEARCHES:
        run = partial(fitted, search.learner, table.X, table.y, **SETTINGS, **search.settings)
        timing, remark = _measure(run, options)
        row = Row("tanager", timing, remark)
        _compare(report, f"{search.name}, {name}", row, search.recorded.get(name), at_least)


def _measure(run: Callable[[], Any], options: Options) -> tuple[Timing, str]:
    """The time of a fit, and what it found."""
    clf = run()
    steps = len(clf.search_trace_) - 1
    arcs = len(clf.network_.feature_arcs)
    remark = f"accuracy {clf.search_trace_[-1].score:.4f} after {steps} steps, {arcs} arcs"
    return best_within(run, 20 * options.seconds, 3 * options.repeats), remark


def _compare(report: Report, what: str, row: Row, recorded: float | None, at_least: float) -> None:
    rows = [row]
    if recorded is not None and report.judge:  # R's seconds are those of the whole table
        rows.append(Row("bnclassify 0.4.8", Timing(recorded, recorded), RECORDED))
    report.table(what, rows)
    if row.timing and recorded is not None:
        ratio = recorded / row.timing.cpu
        report.figure(f"{what}, times faster than bnclassify", ratio, "x", at_least=at_least, remark=RECORDED)
