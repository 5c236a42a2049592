"""Parameter learners that work from counts beside Dirichlet's smoothing: whole fits, and their parts on the same counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Timing, best_call
from benchmarks.options import Options
from benchmarks.report import Report, Row
from benchmarks.searches import table_for
from benchmarks.tables import CodedTable

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
        _compare(report, options, f"{structure}, fit", _fits(table, structure, names))
        models, tables = _from_counts(table, structure, names)
        _compare(report, options, f"{structure}, model from the same counts", models)
        _compare(report, options, f"{structure}, tables from the same counts", tables, judged=False)


def _compare(
    report: Report, options: Options, what: str, runs: Mapping[str, Callable[[], object]], judged: bool = True
) -> None:
    times = _race_calls(runs, options)
    report.table(what, [Row(name, timing) for name, timing in times.items()])
    for name in times:
        if name != BASE:
            target = {"at_most": 1.2} if judged and name in PROMISED else {}
            report.figure(f"{what}: {name}, times Dirichlet", times[name].cpu / times[BASE].cpu, "x", **target)


def _race_calls(runs: Mapping[str, Callable[[], object]], options: Options) -> dict[str, Timing]:
    """Short calls in turns: the speed of a machine drifts, and all must have their share of its best moments."""
    best = {name: Timing(float("inf"), float("inf")) for name in runs}
    for _ in range(options.repeats):
        for name, run in runs.items():
            timing = best_call(run, options.seconds / options.repeats)
            best[name] = Timing(min(best[name].wall, timing.wall), min(best[name].cpu, timing.cpu))
    return best


def _fits(table: CodedTable, structure: str, names: list[str]) -> dict[str, Callable[[], object]]:
    import tanager as tg

    def fitting(name: str) -> Callable[[], object]:
        clf = tg.BayesNetClassifier(structure, getattr(tg.parameters, name)(), n_jobs=1)
        return partial(clf.fit, table.X, table.y)

    return {name: fitting(name) for name in names}


def _from_counts(
    table: CodedTable, structure: str, names: list[str]
) -> tuple[dict[str, Callable[[], object]], dict[str, Callable[[], object]]]:
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
