"""Structure search and cross-validation compared with R's bnclassify, and AcllTree compared with ChowLiu."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, Row, table_for
from benchmarks.harness.tables import CodedTable
from benchmarks.harness.timing import Timing, best_within, race_calls
from benchmarks.harness.worker import find_program
from benchmarks.suites.counting import two_threads

#: Settings of R's runs: five folds, a gain of at least one percent per step, Laplace smoothing.
SETTINGS: dict[str, Any] = {"cv": 5, "epsilon": 0.01, "alpha": 1.0}

RECORDED = "constant, recorded elsewhere"


@dataclass(frozen=True)
class Search:
    """A search as named in the papers, its learner, and R's recorded CPU seconds by dataset."""

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

#: R's CPU seconds of ten-fold cross-validation of TAN, with the structure fitted in every fold.
CROSS_VALIDATION = {"chess": 2.6, "letter": 3.0}


def chess(report: Report, options: Options) -> None:
    """Searches on a dataset with many features and two classes."""
    _searches(report, options, "chess", at_least=400)


def letter(report: Report, options: Options) -> None:
    """Searches on a dataset with many rows and 26 classes."""
    _searches(report, options, "letter", at_least=60)


def cross_validation(report: Report, options: Options) -> None:
    """Ten-fold cross-validation of TAN, including its structure."""
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
            # R reports only the accuracy.
            recorded = seconds if len(scoring) == 1 else None
            _compare(report, f"{what}: {', '.join(scoring)}", row, recorded, at_least=200)


def wide(report: Report, options: Options) -> None:
    """Hill climbing with 20 steps over 2,000 features: four million candidate arcs."""
    rows, features = 500, 200 if options.quick else 2_000
    report.begin("wide", f"a hill climb of 20 steps, {rows} x {features:,} x 2 values, 2 classes, one thread")
    # Only noise: no search reaches an accuracy of one, where it would stop.
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
        two_threads(report, options, "BSEJ on chess", single, double, at_least=1.4)


def fitted(learner: str, X: Any, y: Any, n_jobs: int = 1, **settings: Any) -> Any:
    """Return a classifier fitted with a learner of `tanager.structure`."""
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
    """Return the time of a fit and its result."""
    clf = run()
    steps = len(clf.search_trace_) - 1
    arcs = len(clf.network_.feature_arcs)
    remark = f"accuracy {clf.search_trace_[-1].score:.4f} after {steps} steps, {arcs} arcs"
    return best_within(run, 20 * options.seconds, 3 * options.repeats), remark


def _compare(report: Report, what: str, row: Row, recorded: float | None, at_least: float) -> None:
    rows = [row]
    if recorded is not None and report.checks_targets:  # R's seconds are for all rows
        rows.append(Row("bnclassify 0.4.8", Timing(recorded, recorded), RECORDED))
    report.table(what, rows)
    if row.timing and recorded is not None:
        ratio = recorded / row.timing.cpu
        report.figure(f"{what}, times faster than bnclassify", ratio, "x", at_least=at_least, remark=RECORDED)


#: Names of the searches in the program.
PROGRAM_METHODS = {
    "TAN-HC": "hill-climb-symmetric",
    "TAN-HC, both directions": "hill-climb",
    "TAN-HCSP": "super-parent",
    "BSEJ": "backward-join",
    "FSSJ": "forward-join",
    "wrapper k-DB": "k-db",
}


def instructions(report: Report, options: Options) -> None:
    """Millions of instructions of every search on both datasets."""
    for name in ("chess", "letter"):
        table = table_for(report, options, "instructions", name)
        if table is None:
            continue
        try:
            counts = _all_instructions(options.programs, table)
        except OSError as error:
            print(f"  skipped: {error}")
            return
        for what, count in counts.items():
            report.figure(f"{what}, {name}, in the core", count / 1e6, "million instructions")


def _all_instructions(programs: Path | None, table: CodedTable) -> dict[str, int]:
    program = find_program(programs, "benchmark_search")
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise FileNotFoundError("valgrind is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.txt"
        write_table(table, path)
        return {
            what: _instructions_of(valgrind, [str(program), str(path), method])
            for what, method in PROGRAM_METHODS.items()
        }


def _instructions_of(valgrind: str, command: list[str]) -> int:
    """Return the instructions of the function `measured` of the program, including its callees."""
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured*"]
    done = subprocess.run([valgrind, *options, *command], capture_output=True, text=True, check=False)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise OSError(f"{' '.join(command)} failed under valgrind: {done.stderr.strip().splitlines()[-1]}")
    return int(found[1])


def write_table(table: CodedTable, path: Path) -> None:
    """Write the input of benchmark_search: the sizes, then every column with its number of values, the class last."""
    rows, features = table.X.shape
    columns = [[int(column.max()) + 1, *column.tolist()] for column in (*table.X.T, table.y)]
    lines = [" ".join(map(str, numbers)) for numbers in ([rows, features], *columns)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


#: Target for the time of AcllTree relative to ChowLiu.
MOST_TIMES_CHOW_LIU = 1.5


def acll_tree(report: Report, options: Options) -> None:
    """Times of AcllTree under both assumptions, relative to ChowLiu."""
    for name in ("chess", "letter"):
        table = table_for(report, options, "AcllTree against ChowLiu", name)
        if table is not None:
            _beside_chow_liu(report, options, table)
    table = _binary_table(options)
    report.begin("AcllTree against ChowLiu", f"{table}, one thread")
    _beside_chow_liu(report, options, table)


def _binary_table(options: Options) -> CodedTable:
    rng = np.random.default_rng(0)
    rows = 2_000 if options.quick else 100_000
    y = (rng.random(rows) < 0.3).astype(np.int8)
    return CodedTable("binary", (rng.random((rows, 100)) < 0.4 + 0.1 * y[:, None]).astype(np.int8), y)


def _beside_chow_liu(report: Report, options: Options, table: CodedTable) -> None:
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
        times = race_calls(runs, options.repeats)
        report.table(f"{table.name}, {what}", [Row(name, timing) for name, timing in times.items()])
        for name in list(times)[1:]:
            ratio = times[name].cpu / times["ChowLiu"].cpu
            report.figure(f"{table.name}, {what}: {name}, times ChowLiu", ratio, "x", at_most=MOST_TIMES_CHOW_LIU)


BENCHMARKS = {
    "chess": chess,
    "letter": letter,
    "cross-validation": cross_validation,
    "wide": wide,
    "threads": search_threads,
    "instructions": instructions,
    "acll-tree": acll_tree,
}
