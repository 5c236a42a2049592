"""The tour of ``tanager demo``: comparisons, a saved model and a report on bundled datasets."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder

from .. import _core, datasets
from .._encoding.encoder import encode_labels
from .._model_file import load
from .._report import report_html
from .._utils.files import write_text
from ..classifiers._shortcuts import NaiveBayesClassifier, TANClassifier
from ..discretize import MDLPDiscretizer
from ..evaluation import CrossValidation, cross_validate
from ..evaluation._held_out import held_out_scores
from .tables.training import NamedLabels

TABLES = ("tic-tac-toe", "balance-scale", "monks-1", "led7", "iris", "wine", "digits", "breast-cancer")
PEER = "CategoricalNB"  # scikit-learn's

Array = npt.NDArray[Any]


class CategoricalNBPeer(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """scikit-learn's naive Bayes, with features encoded from the same categories or MDLP bins."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    @classmethod
    def for_table(cls, X: Array) -> CategoricalNBPeer:
        """Return one that knows all categories, since it does not support unseen ones; bins are found in each fit."""
        if X.dtype.kind == "f":
            return cls(MDLPDiscretizer())
        return cls(OrdinalEncoder(categories=[np.unique(column) for column in X.T]))

    def fit(self, X: Array, y: Array) -> CategoricalNBPeer:
        """Fit on training rows."""
        self.encoder_ = clone(self.encoder).fit(X, y)
        if hasattr(self.encoder_, "cut_points_"):
            sizes = [len(cuts) + 1 for cuts in self.encoder_.cut_points_]
        else:
            sizes = [len(categories) for categories in self.encoder_.categories_]
        self.nb_ = CategoricalNB(min_categories=sizes).fit(self._encode(X), y)
        self.classes_ = self.nb_.classes_
        return self

    def predict(self, X: Array) -> Array:
        """Return the most probable class of every row."""
        predicted: Array = self.nb_.predict(self._encode(X))
        return predicted

    def predict_proba(self, X: Array) -> Array:
        """Return the class probabilities."""
        proba: Array = self.nb_.predict_proba(self._encode(X))
        return proba

    def _encode(self, X: Array) -> Array:
        codes: Array = self.encoder_.transform(X).astype(int)
        return codes


def run_demo(output: Path, *, folds: int = 10, seed: int = 0, tables: Sequence[str] | None = None) -> None:
    """Fit, compare, save, load, predict and write a report.

    Parameters
    ----------
    output : Path
        Folder for the model file, predictions, comparison and report; created if necessary.
    folds, seed : int
        Number of stratified cross-validation folds, and their random seed.
    tables : sequence of str or None
        Names for `tanager.datasets.load`.
    """
    names = list(tables or TABLES)
    if folds < 2:
        raise ValueError(f"expected at least 2 folds, got {folds}")
    data = {name: datasets.load(name) for name in names}  # an unknown name fails before anything is written
    output.mkdir(parents=True, exist_ok=True)
    console = Console()
    console.print(f"[bold]tanager demo[/bold]: {len(names)} datasets, {folds}-fold cross-validation, seed {seed}\n")
    results = _compare(console, data, folds, seed)
    _show(console, data, results)
    network, written = _save_and_reload(console, data[names[0]], output, seed)
    comparison = output / "comparison.md"
    comparison.write_text(_comparison(data, results, folds, seed, network), encoding="utf-8")
    report = written.pop("report")
    written |= {"comparison": comparison, "report": report}
    console.print()
    for label, path in written.items():
        console.print(f"{label:12} {path}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"\nOpen {report} in a browser to explore the model.", markup=False, soft_wrap=True)


def _methods(X: Array) -> dict[str, Any]:
    return {
        "naive Bayes": NaiveBayesClassifier(),
        "TAN": TANClassifier(),
        "TAN (BIC)": TANClassifier(structure_score="bic"),
        PEER: CategoricalNBPeer.for_table(X),
    }


def _compare(console: Console, data: dict[str, datasets.Dataset], folds: int, seed: int) -> dict[str, CrossValidation]:
    columns = TextColumn("{task.description:14}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    results: dict[str, CrossValidation] = {}
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(data))
        for name, table in data.items():
            progress.update(task, description=name)
            results[name] = cross_validate(_methods(table.X), table.X, table.y, cv=folds, random_state=seed)
            progress.advance(task)
    return results


def _rows(
    data: dict[str, datasets.Dataset], results: dict[str, CrossValidation]
) -> Iterator[tuple[str, str, list[tuple[str, bool]]]]:
    """Yield (dataset, shape, cells): accuracy and log loss of every method, and whether it is the best."""
    for name, table in data.items():
        means = results[name].mean.values()
        best = min(round(mean["log_loss"], 3) for mean in means)
        cells = [
            (f"{100 * mean['accuracy']:.1f} / {mean['log_loss']:.3f}", round(mean["log_loss"], 3) == best)
            for mean in means
        ]
        yield name, f"{table.X.shape[0]} x {table.X.shape[1]}", cells


def _seconds(results: dict[str, CrossValidation]) -> dict[str, tuple[float, float]]:
    methods = next(iter(results.values())).names
    return {
        method: (
            sum(result.fit_seconds[method].sum() for result in results.values()),
            sum(result.predict_seconds[method].sum() for result in results.values()),
        )
        for method in methods
    }


def _plain_table(**options: Any) -> Table:
    # No lines, to fit all columns into 80 characters.
    return Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", **options)


def _show(console: Console, data: dict[str, datasets.Dataset], results: dict[str, CrossValidation]) -> None:
    title = "accuracy in percent / log loss; the best log loss is bold"
    table = _plain_table(title=title, title_justify="left")
    table.add_column("dataset")
    table.add_column("size", justify="right")
    for method in next(iter(results.values())).names:
        table.add_column(method, justify="right")
    for name, shape, cells in _rows(data, results):
        table.add_row(name, shape, *(f"[bold]{text}[/bold]" if best else text for text, best in cells))
    table.add_row("fit + predict", "seconds", *(f"{f:.2f} + {p:.2f}" for f, p in _seconds(results).values()))
    console.print(table)


def _save_and_reload(console: Console, table: datasets.Dataset, output: Path, seed: int) -> tuple[str, dict[str, Path]]:
    console.print(f"\nTAN fitted on two thirds of {table.name}, saved and loaded; predictions of the first rows:")
    model, predictions, report = output / f"{table.name}.tng", output / "predictions.csv", output / "report.html"
    X = pa.table({name: table.X[:, i] for i, name in enumerate(table.feature_names)})
    train, held_out = _train_test_split(table.y, seed)
    labels = NamedLabels(table.y[train], table.target_name)
    TANClassifier().fit(X.take(train), labels).save(model)
    clf: Any = load(model)  # a TANClassifier again
    proba, predicted = clf.predict_proba(X), clf.predict(X)
    with predictions.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["row", table.target_name, "predicted", *(f"P({c})" for c in clf.classes_)])
        for i, row in enumerate(proba):
            writer.writerow([i, table.y[i], predicted[i], *(f"{p:.6f}" for p in row)])
    what = f"the held-out third of {table.name}"
    outcome = held_out_scores(clf, X.take(held_out), table.y[held_out], what)
    write_text(report, report_html(clf, outcome, model.name))
    preview = _plain_table()
    for heading in ("row", table.target_name, "predicted", *(f"P({c})" for c in clf.classes_)):
        preview.add_column(str(heading), justify="right")
    for i in range(min(5, len(proba))):
        preview.add_row(str(i), str(table.y[i]), str(predicted[i]), *(f"{p:.3f}" for p in proba[i]))
    console.print(preview)
    console.print(repr(clf.network_), markup=False, highlight=False)
    return repr(clf.network_), {"model": model, "predictions": predictions, "report": report}


def _train_test_split(y: Array, seed: int) -> tuple[Array, Array]:
    """Return training rows and a held-out third, stratified by class."""
    classes, codes = encode_labels(y)
    fold = _core.stratified_folds(codes, len(classes), 3, seed)
    return np.flatnonzero(fold > 0), np.flatnonzero(fold == 0)


def _comparison(
    data: dict[str, datasets.Dataset], results: dict[str, CrossValidation], folds: int, seed: int, network: str
) -> str:
    methods = next(iter(results.values())).names
    lines = [
        "# tanager demo",
        "",
        f"{folds}-fold stratified cross-validation, seed {seed}. Accuracy in percent / log loss; the best log loss is bold.",
        "CategoricalNB is scikit-learn's, with the same categories or MDLP bins.",
        "",
        f"| dataset | rows x features | {' | '.join(methods)} |",
        f"|---|---|{'---:|' * len(methods)}",
    ]
    for name, shape, cells in _rows(data, results):
        lines.append(f"| {name} | {shape} | {' | '.join(f'**{t}**' if best else t for t, best in cells)} |")
    seconds = " | ".join(f"{f:.2f} + {p:.2f} s" for f, p in _seconds(results).values())
    lines += [f"| time, fit + predict | | {seconds} |", "", f"Saved model: `{network}`", ""]
    return "\n".join(lines)
