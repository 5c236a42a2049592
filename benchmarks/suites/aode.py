"""AODE: fitting and predicting beside Weka, R's bnclassify and scikit-bayes, as recorded elsewhere."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.harness import Timing, best_within, race
from benchmarks.options import Options
from benchmarks.report import Report, Row
from benchmarks.searches import RECORDED, table_for
from benchmarks.workloads import AODE, sample

#: R's CPU seconds for fitting and predicting the letter table.
BNCLASSIFY_LETTER = 0.47
#: Weka 3.6.14 and scikit-bayes 1.2.1 on 100,000 x 30: seconds of fit, and rows predicted per second.
RECORDED_SPEED = {"Weka 3.6.14": (0.118, 224_000.0), "scikit-bayes 1.2.1": (1.45, 41_000.0)}


def aode(report: Report, options: Options) -> None:
    """Fit and predict_proba, on a table of 26 classes and on a large one."""
    import tanager as tg

    def fit_and_predict(X: Any, y: Any) -> Any:
        return tg.AODEClassifier(n_jobs=1).fit(X, y).predict_proba(X)

    table = table_for(report, options, "AODE", "letter")
    if table is not None:
        timing = best_within(partial(fit_and_predict, table.X, table.y), 20 * options.seconds, 3 * options.repeats)
        rows = [Row("tanager", timing), Row("bnclassify 0.4.8", Timing(*[BNCLASSIFY_LETTER] * 2), RECORDED)]
        report.table("fit and predict_proba, letter", rows if report.judge else rows[:1])
        ratio = BNCLASSIFY_LETTER / timing.cpu
        report.figure("letter, times faster than bnclassify", ratio, "x", at_least=20, remark=RECORDED)

    work = options.size(AODE)
    report.begin("AODE", f"{work}, one thread")
    X, y = sample(work)
    clf = tg.AODEClassifier(n_jobs=1).fit(X, y)
    calls = {"fit": partial(clf.fit, X, y), "predict_proba": partial(clf.predict_proba, X)}
    times = race(calls, options.repeats)
    for position, what in enumerate(calls):
        rows = [Row("tanager", times[what], _speed(what, work.rows / times[what].cpu))]
        for name, recorded in RECORDED_SPEED.items() if report.judge else ():
            seconds = recorded[position] if what == "fit" else work.rows / recorded[position]
            rows.append(
                Row(
                    name,
                    Timing(seconds, seconds),
                    "; ".join(filter(None, (RECORDED, _speed(what, work.rows / seconds)))),
                )
            )
        report.table(what, rows)
    fit, rate = RECORDED_SPEED["Weka 3.6.14"]
    report.figure("fit, times faster than Weka", fit / times["fit"].cpu, "x", at_least=10, remark=RECORDED)
    faster = work.rows / times["predict_proba"].cpu / rate
    report.figure("predict_proba, times Weka's rows per second", faster, "x", at_least=10, remark=RECORDED)


def _speed(what: str, rows_per_second: float) -> str:
    return f"{rows_per_second:,.0f} rows/s" if what == "predict_proba" else ""
