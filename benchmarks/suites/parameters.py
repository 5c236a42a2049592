"""Parameter learners: from counts compared with Dirichlet smoothing, feature weights, and iterations of ELR, EM and APN."""

from __future__ import annotations

import csv
import importlib.util
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, Row, table_for
from benchmarks.harness.tables import CodedTable
from benchmarks.harness.timing import Timing, best_within, once, race_calls

Run = Callable[[], object]

#: Baseline of every learner.
BASE = "Dirichlet"

#: Learners by class, each with the structures it is measured on.
LEARNERS = {
    BASE: ("naive", "tan"),
    "DataTemperature": ("naive", "tan"),
    "Softened": ("naive", "tan"),
    "ModelAveraged": ("naive",),
}

#: Learners with a target of at most 1.2 times the cost of Dirichlet smoothing.
AS_FAST_AS_DIRICHLET = ("DataTemperature", "ModelAveraged")


def estimates(report: Report, options: Options) -> None:
    """Times of a fit, of a model from the same counts, and of its tables alone, as ratios to Dirichlet's."""
    table = table_for(report, options, "estimates", "chess")
    if table is None:
        return
    for structure in ("naive", "tan"):
        names = [name for name, structures in LEARNERS.items() if structure in structures]
        models, tables = _from_counts(table, structure, names)
        _compare_with_dirichlet(report, options, f"{structure}, fit", _fits(table, structure, names))
        _compare_with_dirichlet(report, options, f"{structure}, model from the same counts", models)
        _compare_with_dirichlet(report, options, f"{structure}, tables from the same counts", tables, checked=False)


def _compare_with_dirichlet(
    report: Report, options: Options, what: str, runs: Mapping[str, Run], checked: bool = True
) -> None:
    times = race_calls(runs, options.repeats)
    report.table(what, [Row(name, timing) for name, timing in times.items()])
    for name, timing in times.items():
        if name != BASE:
            target = {"at_most": 1.2} if checked and name in AS_FAST_AS_DIRICHLET else {}
            report.figure(f"{what}: {name}, times Dirichlet", timing.cpu / times[BASE].cpu, "x", **target)


def _fits(table: CodedTable, structure: str, names: list[str]) -> dict[str, Run]:
    import tanager as tg

    def fitting(name: str) -> Run:
        clf = tg.BayesNetClassifier(structure, getattr(tg.parameters, name)(), n_jobs=1)
        return partial(clf.fit, table.X, table.y)

    return {name: fitting(name) for name in names}


def _from_counts(table: CodedTable, structure: str, names: list[str]) -> tuple[dict[str, Run], dict[str, Run]]:
    """Return calls that create a complete model, and calls that only create its tables."""
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
        return _core.NetworkPredictor(make(parents, counts))

    return (
        {name: partial(model, makers[name]) for name in names},
        {name: partial(makers[name], parents, counts) for name in names},
    )


#: CPU seconds that bnclassify 0.4.8 (R 4.2.2) needs for WANBIA on this dataset with smoothing 1, measured once.
R_SECONDS = 32.0
#: The target relative to that.
TIMES_FASTER_THAN_R = 50.0


def weights(report: Report, options: Options) -> None:
    """Fit times, and the conditional log-likelihood reached."""
    import tanager as tg
    from tanager import parameters as pr

    table = table_for(report, options, "feature weights", "chess")
    if table is None:
        return
    learners = {
        "Dirichlet": pr.Dirichlet(),
        "AttributeWeighted": pr.AttributeWeighted(),
        "Wanbia": pr.Wanbia(),
        "Wanbia, renormalized": pr.Wanbia(renormalize=True),
        "Wanbia, squared error": pr.Wanbia(objective="mse"),
    }
    made = {name: tg.BayesNetClassifier(parameters=learner, random_state=0) for name, learner in learners.items()}
    times = race_calls({name: partial(clf.fit, table.X, table.y) for name, clf in made.items()}, options.repeats)
    fits = {name: clf.network_.conditional_log_likelihood(table.X, table.y) for name, clf in made.items()}
    rows = [Row(name, timing, f"CLL {fits[name]:.1f}") for name, timing in times.items()]
    report.table("fit, naive structure", rows)
    for name in ("Wanbia", "Wanbia, renormalized"):
        report.figure(f"{name}, times faster than R", R_SECONDS / times[name].cpu, "x", at_least=TIMES_FASTER_THAN_R)


#: Training rows of letter in its standard split.
LETTER_ROWS = 15_000
#: Share of values removed from chess.
MISSING = 0.25
#: Rows of chess for other libraries: pyAgrum processes two hundred per second, pgmpy five.
AGRUM_ROWS, PGMPY_ROWS = 400, 10
#: pgmpy's EM drops rows with missing values unless a feature is missing everywhere: every fourth is, for the same share.
LATENT = 4
#: Targets: speed of EM relative to other libraries, and time of ELR relative to scikit-learn's logistic regression.
TIMES_FASTER_EM, MOST_TIMES_REGRESSION = 100.0, 2.0


def elr(report: Report, options: Options) -> None:
    """Iterations of both optimizers on a tree over letter."""
    table = table_for(report, options, "ELR on letter", "letter")
    if table is None:
        return
    dataset, n_rows = _dataset(table.X[:LETTER_ROWS], table.y[:LETTER_ROWS]), min(len(table.y), LETTER_ROWS)
    parents = _tree(dataset)
    for optimizer in ("cg", "lbfgs"):
        timing = _iterations(partial(_core().estimate_elr, parents, dataset, optimizer=optimizer), options)
        report.table(f"TAN, {optimizer}, one iteration", [Row(optimizer, timing, f"{n_rows / timing.cpu:,.0f} rows/s")])
        report.figure(f"ELR on TAN, {optimizer}, rows per second and iteration", n_rows / timing.cpu, "rows/s")
    import tanager as tg

    clf = tg.BayesNetClassifier("tan", tg.parameters.ELR(), random_state=0)
    timing = best_within(partial(clf.fit, table.X[:LETTER_ROWS], table.y[:LETTER_ROWS]), options.seconds * 10, 3)
    report.table("whole fit, structure and five-fold tuning included", [Row("TAN+ELR", timing)])


def expectation(report: Report, options: Options) -> None:
    """EM and APN on a tree over chess, with a quarter of the values removed."""
    table = table_for(report, options, "EM on chess with missing values", "chess")
    if table is None:
        return
    X = np.where(np.random.default_rng(0).random(table.X.shape) < MISSING, np.int8(-1), table.X)
    dataset, n_rows = _dataset(X, table.y), len(table.y)
    parents = _tree(dataset)
    rows = []
    for name in ("em", "apn"):
        timing = _iterations(partial(getattr(_core(), f"estimate_{name}"), parents, dataset), options)
        rows.append(Row(name.upper(), timing, f"{n_rows / timing.cpu:,.0f} rows/s"))
        report.figure(f"{name.upper()}, rows per second and iteration", n_rows / timing.cpu, "rows/s")
    report.table("TAN, one iteration", rows)
    _compare_with(report, options, "pyagrum", _agrum, CodedTable("chess", X, table.y), parents)
    X = table.X.copy()
    X[:, ::LATENT] = -1
    _compare_with(report, options, "pgmpy", _pgmpy, CodedTable("chess", X, table.y), parents)


def _compare_with(
    report: Report,
    options: Options,
    who: str,
    task: Callable[[CodedTable, Any, list[int]], tuple[Timing, int]],
    table: CodedTable,
    parents: Any,
) -> None:
    """EM on the same structure and the same values, by tanager on all rows and by another library on some."""
    if importlib.util.find_spec(who) is None:
        report.figure(f"EM, times faster than {who}", None, "x", at_least=TIMES_FASTER_EM, remark="not installed")
        return
    sizes = [max(int(column.max()) + 1, 2) for column in table.X.T]
    dataset = _dataset(table.X, table.y, sizes)
    own = _iterations(partial(_core().estimate_em, parents, dataset), options).scaled(1 / len(table.y))
    theirs, n_rows = task(table, parents, sizes)
    share = float((table.X < 0).mean())
    report.table(
        f"{who}, one iteration, per row; {100 * share:.0f} % of the values missing",
        [Row("tanager", own, f"{len(table.y):,} rows"), Row(who, theirs, f"{n_rows} of them")],
    )
    report.figure(
        f"EM, times faster than {who}", theirs.cpu / own.cpu, "x", at_least=TIMES_FASTER_EM, remark=f"{n_rows} rows"
    )


def regression(report: Report, options: Options) -> None:
    """Naive Bayes with ELR, without tuning, until it is as good as scikit-learn's logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    for name in ("chess", "letter"):
        table = table_for(report, options, "logistic regression", name)
        if table is None:
            return
        X, y = table.X[:LETTER_ROWS], table.y[:LETTER_ROWS]
        hot = OneHotEncoder(sparse_output=False).fit_transform(X)
        rival = LogisticRegression(C=np.inf, tol=1e-4, max_iter=100)
        theirs = best_within(partial(_quiet, rival.fit, hot, y), options.seconds * 10, 3)
        with np.errstate(divide="ignore"):  # classes with probability zero
            goal = float(rival.predict_log_proba(hot)[np.arange(len(y)), y].sum())
        dataset = _dataset(X, y)
        rows = [Row("LogisticRegression", theirs, f"{int(rival.n_iter_[0])} iterations, CLL {goal:.2f}")]
        for optimizer in ("cg", "lbfgs"):
            n_iter = _iterations_to(dataset, goal, optimizer)
            fit = partial(_naive, dataset, n_iter, optimizer)
            ours = best_within(fit, options.seconds * 10, 5)
            reached = float(fit()["training"][-1])
            rows.append(Row(f"NB+ELR, {optimizer}", ours, f"{n_iter} iterations, CLL {reached:.2f}"))
            report.figure(
                f"{name}: NB+ELR, {optimizer}, times LogisticRegression",
                ours.cpu / theirs.cpu,
                "x",
                at_most=MOST_TIMES_REGRESSION,
            )
        report.table(f"{table}: the same conditional likelihood", rows)


def _core() -> Any:
    from tanager import _core as core

    return core


def _quiet(call: Callable[..., Any], *given: Any) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*given)


def _dataset(X: NDArray[np.int8], y: NDArray[np.int8], sizes: list[int] | None = None) -> Any:
    """Return all columns as codes; a missing value is -1, which is 255 as an unsigned integer."""
    columns = [np.ascontiguousarray(column).view(np.uint8) for column in X.T]
    sizes = sizes or [int(column.max()) + 1 for column in X.T]
    return _core().Dataset(columns, sizes, np.ascontiguousarray(y).view(np.uint8), int(y.max()) + 1)


def _tree(dataset: Any) -> Any:
    return _core().learn_chow_liu(_core().CountSet.count(dataset, "pairs"), "loglik")


def _iterations(fit: Callable[..., Any], options: Options, n_iter: int = 20) -> Timing:
    """Return the time of one iteration: that of many, minus the fixed cost."""
    start = best_within(partial(fit, max_iter=0), options.seconds, 5)
    done = len(fit(max_iter=n_iter, tol=0.0)["training"]) - 1
    whole = best_within(partial(fit, max_iter=n_iter, tol=0.0), options.seconds * 5, 5)
    return Timing((whole.wall - start.wall) / done, (whole.cpu - start.cpu) / done)


def _naive(dataset: Any, n_iter: int, optimizer: str) -> Any:
    parents: list[list[int]] = [[] for _ in dataset.cardinalities]
    return _core().estimate_elr(parents, dataset, optimizer=optimizer, max_iter=n_iter, tol=0.0)


def _iterations_to(dataset: Any, goal: float, optimizer: str) -> int:
    """Return the first iteration that reaches the goal."""
    values = _naive(dataset, 500, optimizer)["training"]
    return int(np.argmax(values >= goal)) if values[-1] >= goal else len(values) - 1


def _agrum(table: CodedTable, parents: Any, sizes: list[int]) -> tuple[Timing, int]:  # noqa: ARG001
    """Return the time per row and iteration of pyAgrum's EM on fewer rows, and their number."""
    import pyagrum as gum

    gum.setNumberOfThreads(1)
    part = table.thinned(AGRUM_ROWS)
    names = [f"f{i}" for i in range(part.X.shape[1])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*names, "class"])
            for row, label in zip(part.X.tolist(), part.y.tolist(), strict=True):
                writer.writerow([*("?" if value < 0 else value for value in row), label])
        learner: Any = gum.BNLearner(str(path), ["?"])
        learner.useSmoothingPrior(1)
        learner.useEM(1e-12)
        dag = gum.DAG()
        for node in range(len(names) + 1):
            dag.addNodeWithId(node)
        for child, found in enumerate(parents):
            dag.addArc(len(names), child)
            for parent in found:
                dag.addArc(parent, child)
        times = []
        for n_iter in (1, 3):
            learner.EMsetMaxIter(n_iter)
            times.append(once(partial(learner.learnParameters, dag)))
    n = 2 * len(part.y)
    return Timing((times[1].wall - times[0].wall) / n, (times[1].cpu - times[0].cpu) / n), len(part.y)


def _pgmpy(table: CodedTable, parents: Any, sizes: list[int]) -> tuple[Timing, int]:
    """Return the same for pgmpy; features that are missing everywhere are its latent variables."""
    import logging

    import pandas as pd
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteEM

    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    part = table.thinned(PGMPY_ROWS)
    names = [f"f{i}" for i in range(part.X.shape[1])]
    frame = pd.DataFrame(part.X, columns=names)
    frame["class"] = part.y
    latent = {name: size for name, size, column in zip(names, sizes, table.X.T, strict=True) if (column < 0).all()}
    states = {name: list(range(size)) for name, size in zip(names, sizes, strict=True)} | {"class": [0, 1]}
    arcs = [("class", name) for name in names]
    arcs += [(names[parent], names[child]) for child, found in enumerate(parents) for parent in found]
    times = []
    for n_iter in (1, 2):
        model = DiscreteBayesianNetwork(arcs, latents=set(latent))
        estimator = DiscreteEM(
            state_names=states, latent_card=latent, max_iter=n_iter, atol=0.0, seed=0, show_progress=False
        )
        times.append(once(partial(estimator.fit, model, frame.drop(columns=list(latent)))))
    n = len(part.y)
    return Timing((times[1].wall - times[0].wall) / n, (times[1].cpu - times[0].cpu) / n), n


BENCHMARKS = {
    "estimates": estimates,
    "weights": weights,
    "elr": elr,
    "em": expectation,
    "regression": regression,
}
