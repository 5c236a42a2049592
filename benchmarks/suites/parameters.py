"""Parameter learners that work from counts beside Dirichlet's smoothing: whole fits, and their parts on the same counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Timing, best_of, race
from benchmarks.options import Options
from benchmarks.report import Report, Row
from benchmarks.searches import table_for
from benchmarks.tables import CodedTable

Run = Callable[[], object]

#: What every learner is compared with.
BASE = "Dirichlet"

#: Learners by class, each with the structures it is measured on.
LEARNERS = {
    BASE: ("naive", "tan"),
    "DataTemperature": ("naive", "tan"),
    "Softened": ("naive", "tan"),
    "ModelAveraged": ("naive",),
}

#: Those that promise to cost at most 1.2 times Dirichlet's smoothing.
PROMISED = ("DataTemperature", "ModelAveraged")


def estimates(report: Report, options: Options) -> None:
    """Times of a fit, of all that comes after the counts, and of the tables alone, as ratios to Dirichlet's."""
    table = table_for(report, options, "estimates", "chess")
    if table is None:
        return
    for structure in ("naive", "tan"):
        names = [name for name, structures in LEARNERS.items() if structure in structures]
        models, tables = _from_counts(table, structure, names)
        _compare(report, options, f"{structure}, fit", _fits(table, structure, names))
        _compare(report, options, f"{structure}, model from the same counts", models)
        _compare(report, options, f"{structure}, tables from the same counts", tables, judged=False)


def _compare(report: Report, options: Options, what: str, runs: Mapping[str, Run], judged: bool = True) -> None:
    times = race_calls(runs, options)
    report.table(what, [Row(name, timing) for name, timing in times.items()])
    for name, timing in times.items():
        if name != BASE:
            target = {"at_most": 1.2} if judged and name in PROMISED else {}
            report.figure(f"{what}: {name}, times Dirichlet", timing.cpu / times[BASE].cpu, "x", **target)


def race_calls(runs: Mapping[str, Run], options: Options) -> dict[str, Timing]:
    """Time short calls in turns, so many at a time that the clock can tell; the best turn of each counts."""
    calls = {name: _calls_per_turn(run) for name, run in runs.items()}
    batches = {name: partial(_repeat, run, calls[name]) for name, run in runs.items()}
    return {name: timing.scaled(1 / calls[name]) for name, timing in race(batches, 5 * options.repeats).items()}


def _calls_per_turn(run: Run, seconds: float = 3e-3) -> int:
    return max(1, round(seconds / max(best_of(run, 3).cpu, 1e-6)))


def _repeat(run: Run, times: int) -> None:
    for _ in range(times):
        run()


def _fits(table: CodedTable, structure: str, names: list[str]) -> dict[str, Run]:
    import tanager as tg

    def fitting(name: str) -> Run:
        clf = tg.BayesNetClassifier(structure, getattr(tg.parameters, name)(), n_jobs=1)
        return partial(clf.fit, table.X, table.y)

    return {name: fitting(name) for name in names}


def _from_counts(table: CodedTable, structure: str, names: list[str]) -> tuple[dict[str, Run], dict[str, Run]]:
    """Calls that make a model ready to predict, and calls that only make its tables."""
    from tanager import _core

    columns = [np.ascontiguousarray(column).view(np.uint8) for column in table.X.T]
    sizes = [int(column.max()) + 1 for column in columns]
    data = _core.Dataset(columns, sizes, table.y.view(np.uint8), int(table.y.max()) + 1)
    counts = _core.CountSet.count(data, "pairs")
    parents: list[Any] = _core.learn_chow_liu(counts, "loglik") if structure == "tan" else [[] for _ in sizes]
    makers = {
        "Dirichlet": _core.estimate_dirichlet,
        "DataTemperature": _core.estimate_data_temperature,
        "Softened": _core.estimate_softened,
        "ModelAveraged": lambda *given: _core.estimate_model_averaged(*given)[0],
    }

    def model(make: Callable[..., Any]) -> object:
        return _core.Predictor(make(parents, counts))

    return (
        {name: partial(model, makers[name]) for name in names},
        {name: partial(makers[name], parents, counts) for name in names},
    )
