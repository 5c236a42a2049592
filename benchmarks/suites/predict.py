"""Naive Bayes and TAN end to end, as called by users, compared with other libraries."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, Row, table_for
from benchmarks.harness.timing import Timing, best_call, best_within, race
from benchmarks.harness.worker import find_program, run_child
from benchmarks.harness.workloads import NAIVE_BAYES, TAN, Workload, sample
from benchmarks.peers import Contender, make, peers_for
from benchmarks.peers.onehot_blas import OneHotTan

#: Seconds of Weka 3.6.14's TAN on this dataset, measured once on other hardware: an order of magnitude.
WEKA_TAN_FIT = 4.8
#: Share of values removed from chess, and the target in rows per second.
MISSING, PREDICTED = 0.25, 300_000


def naive_bayes(report: Report, options: Options) -> None:
    """Fit and predict_proba compared with CategoricalNB."""
    work = options.size(NAIVE_BAYES)
    report.begin("naive Bayes", f"{work}, one thread")
    X, y = sample(work)
    times, models = _race_fast("naive_bayes", X, y, options.repeats)
    slow = _time_slow("naive_bayes", work, options)
    _tables(report, work, times, slow)
    reference = "scikit-learn CategoricalNB"
    for what, target in (("fit", 25), ("predict_proba", 20)):
        ratio = times[reference, what].cpu / times["tanager", what].cpu
        report.figure(f"{what}, times faster than CategoricalNB", ratio, "x", at_least=target)
    _agreement(report, models, X)

    # CategoricalNB works on 64-bit integers: it converts int8, but not int64.
    X, y = sample(work, np.int64)
    times, _ = _race_fast("naive_bayes", X, y, max(2, options.repeats // 2))
    for what in ("fit", "predict_proba"):
        rows = [Row(name, timing) for (name, kind), timing in times.items() if kind == what]
        report.table(f"{what} from int64 arrays", rows)


def tan(report: Report, options: Options) -> None:
    """Fit compared with one-hot BLAS and other libraries, and predict_proba in rows per second."""
    work = options.size(TAN)
    report.begin("TAN", f"{work}, one thread")
    X, y = sample(work)
    # The baseline again with an unusual optimization: for information, without a target.
    extra = {"the same, last value by subtraction": OneHotTan(drop_last=True)}
    times, models = _race_fast("tan", X, y, options.repeats, extra)
    slow = _time_slow("tan", work, options)
    weka = {("Weka 3.6.14 TAN", "fit"): (Timing(WEKA_TAN_FIT, WEKA_TAN_FIT), "constant, measured elsewhere")}
    _tables(report, work, times, {**slow, **(weka if work == TAN else {})})

    own = times["tanager", "fit"].cpu
    floor = peers_for("tan")["onehot_blas"].name
    report.figure("fit, times faster than one-hot BLAS", times[floor, "fit"].cpu / own, "x", at_least=8)
    if work == TAN:
        report.figure("fit, times faster than Weka's 4.8 s", WEKA_TAN_FIT / own, "x", at_least=200, remark="a constant")
    for name, peer in peers_for("tan").items():
        if peer.slow:
            timing, remark = slow.get((peer.name, "fit"), (None, "no figure within the time limit"))
            ratio = timing.cpu / own if timing else None
            report.figure(f"fit, times faster than {name}", ratio, "x", at_least=1000, remark=remark)
    rows_per_second = work.rows / times["tanager", "predict_proba"].cpu
    report.figure("predict_proba", rows_per_second, "rows/s", at_least=5_000_000)
    _agreement(report, models, X)


def one_row(report: Report, options: Options) -> None:
    """predict_proba of a single row, in Python and inside C++."""
    report.begin("one row", "a NumPy row of int8 codes")
    for model, title, work in (("naive_bayes", "naive Bayes", NAIVE_BAYES), ("tan", "TAN", TAN)):
        X, y = sample(work.with_rows(20_000))
        own = make("tanager", model)
        contenders = {"tanager": own}
        contenders.update({p.name: make(n, model) for n, p in peers_for(model).items() if not p.slow})
        rows = []
        for name, fitted in contenders.items():
            fitted.fit(X, y)
            rows.append(Row(name, best_call(partial(fitted.predict_proba, X[:1]), options.seconds)))
        report.table(f"predict_proba of one row, {title} with {work.features} features", rows)
        in_python = next(row.timing.cpu for row in rows if row.timing)
        report.figure(f"{title}, predict_proba of one row in Python", in_python * 1e6, "us", at_most=80)
        inside = _seconds_inside(own, X[0])
        how = "timed in the extension"
        if inside is None and options.programs:
            label = f"{'TAN' if work.tree else 'NB'} {work.features},{work.values},{work.classes}"
            inside, how = _seconds_of_program(options.programs, label), "timed by the program benchmark_prediction"
        how = (
            "no timing hook; --programs DIR lets the program benchmark_prediction measure it" if inside is None else how
        )
        value = None if inside is None else inside * 1e6
        report.figure(f"{title}, the C++ call", value, "us", at_most=0.3, remark=how)


def missing_values(report: Report, options: Options) -> None:
    """Rows of chess with a quarter of the values removed, predicted by a tree; missing values are marginalized."""
    import tanager as tg

    table = table_for(report, options, "prediction with missing values", "chess")
    if table is None:
        return
    X = np.where(np.random.default_rng(0).random(table.X.shape) < MISSING, np.nan, table.X)
    clf = tg.TANClassifier(discretizer=None).fit(X, table.y)
    many = np.tile(X, (10, 1))
    timing = best_within(partial(clf.predict_proba, many), options.seconds * 5, 3)
    speed = len(many) / timing.cpu
    report.table("TAN, predict_proba from floats with NaN", [Row("tanager", timing, f"{len(many):,} rows")])
    report.figure("TAN, a quarter of the values missing", speed, "rows/s", at_least=PREDICTED)


def _seconds_inside(fitted: Any, row: NDArray[Any]) -> float | None:
    """Return the seconds of one call of the C++ predictor, timed inside C++, if the extension supports it."""
    hook = getattr(getattr(fitted, "_predictor", None), "seconds_per_row", None)
    if hook is None:
        return None
    return min(float(hook(row.astype(np.uint16), 20_000)) for _ in range(20))


def _seconds_of_program(folder: Path, label: str) -> float | None:
    """Return the same from the benchmark program, which prints "LABEL  ns-per-row ..." for several models."""
    try:
        program = find_program(folder, "benchmark_prediction")
    except FileNotFoundError:
        return None
    lines = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    times = [line[len(label) :].split()[0] for line in lines if line.startswith(label)]
    return float(times[0]) * 1e-9 if times else None


def _race_fast(
    model: str, X: NDArray[Any], y: NDArray[Any], repeats: int, extra: Mapping[str, Contender] | None = None
) -> tuple[dict[tuple[str, str], Timing], dict[str, Contender]]:
    """Return times of tanager and the fast libraries by (name, "fit" or "predict_proba"), and the fitted models."""
    models: dict[str, Contender] = {"tanager": make("tanager", model)}
    for name, peer in peers_for(model).items():
        if not peer.slow:
            models[peer.name] = make(name, model)
    models.update(extra or {})
    fits = race({n: partial(m.fit, X, y) for n, m in models.items()}, repeats)
    predictions = race({n: partial(m.predict_proba, X) for n, m in models.items()}, repeats)
    times = {(n, "fit"): t for n, t in fits.items()} | {(n, "predict_proba"): t for n, t in predictions.items()}
    return times, models


def _time_slow(model: str, work: Workload, options: Options) -> dict[tuple[str, str], tuple[Timing | None, str]]:
    """Return times of the slow libraries, extrapolated to all rows, with remarks."""
    times: dict[tuple[str, str], tuple[Timing | None, str]] = {}
    for name, peer in peers_for(model).items():
        if peer.slow:
            request = {"who": name, "model": model, "work": asdict(work), "seconds": options.peer_seconds}
            # Additional time for starting Python, imports, sampling, and one underestimated step.
            answers, why = run_child("time_peer", request, options.peer_seconds * 1.5 + 30)
            for what, key in (("fit", "fit"), ("predict", "predict_proba")):
                points = [(a["rows"], Timing(a["wall"], a["cpu"])) for a in answers if a["what"] == what]
                times[peer.name, key] = _at_rows(work.rows, points) if points else (None, why)
    return times


def _at_rows(rows: int, points: list[tuple[int, Timing]]) -> tuple[Timing, str]:
    """Return the time for all rows, extrapolated linearly from the two largest sizes."""
    last_rows, last = points[-1]
    if last_rows == rows:
        return last, ""
    if len(points) == 1:
        return last, f"at least: this is for {last_rows:,} rows"
    first_rows, first = points[-2]
    factor = (rows - last_rows) / (last_rows - first_rows)

    def extend(a: float, b: float) -> float:
        return b + max(b - a, 0.0) * factor

    timing = Timing(extend(first.wall, last.wall), extend(first.cpu, last.cpu))
    return timing, f"measured {last_rows:,} rows ({last.cpu:.3g} s), scaled with rows"


def _tables(
    report: Report,
    work: Workload,
    times: dict[tuple[str, str], Timing],
    slow: dict[tuple[str, str], tuple[Timing | None, str]],
) -> None:
    for what in ("fit", "predict_proba"):
        rows = []
        for (name, kind), (timing, remark) in {**{k: (t, "") for k, t in times.items()}, **slow}.items():
            if kind == what:
                whole = timing is not None and what == "predict_proba" and not remark.startswith("at least")
                speed = f"{work.rows / timing.cpu:,.0f} rows/s" if timing and whole else ""
                rows.append(Row(name, timing, "; ".join(filter(None, (speed, remark)))))
        report.table(what, rows)


def _agreement(report: Report, models: dict[str, Contender], X: NDArray[Any]) -> None:
    """Check that libraries that fit the same model have the same posteriors."""
    own = models["tanager"].predict_proba(X[:10_000])
    limits = {peer.name: peer.agrees_to for kind in ("naive_bayes", "tan") for peer in peers_for(kind).values()}
    for name, model in models.items():
        limit = limits.get(name)
        if limit is not None:
            difference = float(np.abs(model.predict_proba(X[:10_000]) - own).max())
            report.figure(f"largest difference of posteriors from {name}", difference, "", at_most=limit, checked=True)


BENCHMARKS = {"naive-bayes": naive_bayes, "tan": tan, "one-row": one_row, "missing-values": missing_values}
