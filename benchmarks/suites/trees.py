"""Trees by approximate conditional log-likelihood beside Chow-Liu's: whole fits, and learning from the same counts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.estimates import race_calls
from benchmarks.options import Options
from benchmarks.report import Report, Row
from benchmarks.searches import table_for
from benchmarks.tables import CodedTable

#: AcllTree promises to cost at most so many times what ChowLiu costs.
PROMISED = 1.5


def acll_tree(report: Report, options: Options) -> None:
    """Times of AcllTree under both assumptions, as ratios to ChowLiu's."""
    for name in ("chess", "letter"):
        table = table_for(report, options, "AcllTree against ChowLiu", name)
        if table is not None:
            _compare(report, options, table)
    table = _binary(options)
    report.begin("AcllTree against ChowLiu", f"{table}, one thread")
    _compare(report, options, table)


def _binary(options: Options) -> CodedTable:
    rng = np.random.default_rng(0)
    rows = 2_000 if options.quick else 100_000
    y = (rng.random(rows) < 0.3).astype(np.int8)
    return CodedTable("binary", (rng.random((rows, 100)) < 0.4 + 0.1 * y[:, None]).astype(np.int8), y)


def _compare(report: Report, options: Options, table: CodedTable) -> None:
    import tanager as tg
    from tanager import _core

    columns = [np.ascontiguousarray(column).view(np.uint8) for column in table.X.T]
    sizes = [int(column.max()) + 1 for column in columns]
    data = _core.Dataset(columns, sizes, table.y.view(np.uint8), int(table.y.max()) + 1)
    counts = _core.CountSet.count(data, "pairs")
    trees: dict[str, Any] = {
        "ChowLiu": tg.structure.ChowLiu(),
        "AcllTree, Dirichlet": tg.structure.AcllTree("dirichlet"),
        "AcllTree, uniform": tg.structure.AcllTree("uniform"),
    }
    learn = {
        "ChowLiu": partial(_core.learn_chow_liu, counts, "loglik"),
        "AcllTree, Dirichlet": partial(_core.learn_acll_tree, counts, "dirichlet", 1.0, None, 5.0),
        "AcllTree, uniform": partial(_core.learn_acll_tree, counts, "uniform", 1.0, None, 5.0),
    }
    fits = {name: partial(tg.BayesNetClassifier(tree, n_jobs=1).fit, table.X, table.y) for name, tree in trees.items()}
    for what, runs in (("learned from the same counts", learn), ("whole fit", fits)):
        times = race_calls(runs, options)
        report.table(f"{table.name}, {what}", [Row(name, timing) for name, timing in times.items()])
        for name in list(times)[1:]:
            ratio = times[name].cpu / times["ChowLiu"].cpu
            report.figure(f"{table.name}, {what}: {name}, times ChowLiu", ratio, "x", at_most=PROMISED)
